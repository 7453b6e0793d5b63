"""The playground of the embedded model, which is made once, and real runs to browse."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs scuff[web]")
pytest.importorskip("uvicorn", reason="needs scuff[web]")
pytest.importorskip("httpx", reason="needs httpx, for Starlette's test client")

import scuff
from scuff.victims.open import open_victim
from scuff.web.playground import Playground


@pytest.fixture(scope="session")
def playground() -> Playground:
    made = Playground(open_victim("toy:sentiment", "single", ()))
    made.warm()
    return made


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two evaluations, an attack, and a run that is not finished."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        scuff.evaluate(
            "toy:sentiment", "toy:sentiment", folder / f"typos-{seed}", dimensions=["typo-m"], access="rule", degrees=[0.3],
            cases=1, examples=6, encoder="chrf", seed=seed,
        )  # fmt: skip
    scuff.attack(
        "toy:sentiment", "toy:sentiment", "deepwordbug", folder / "kept" / "attacked", examples=4, encoder="chrf"
    )
    (folder / "begun").mkdir()
    (folder / "begun" / "run.json").write_bytes((folder / "typos-1" / "run.json").read_bytes())
    return folder
