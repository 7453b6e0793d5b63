"""Every program in examples/ runs as it stands, without arguments, and is short."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_site import plugin_site

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NEEDS = {"augment.py": "sklearn", "perturb_dataframe.py": "pandas"}
STUDY = "augment.py"  # makes the table of docs/results/augment.md
QUICK = {"evaluate_function.py", "own_perturbation.py"}  # that `make test` runs, too


@pytest.mark.parametrize(
    "path",
    [path if path.name in QUICK else pytest.param(path, marks=pytest.mark.slow) for path in EXAMPLES],
    ids=lambda path: path.name,
)
def test_an_example_runs(path: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    if path.name in NEEDS:
        pytest.importorskip(NEEDS[path.name])
    environment = {**os.environ, **plugin_site(tmp_path_factory.mktemp("plugin"))}
    done = subprocess.run([sys.executable, path], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_examples_are_short() -> None:
    short = [path for path in EXAMPLES if path.name != STUDY]
    assert 5 <= len(short) <= 8
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 40 for path in short)
