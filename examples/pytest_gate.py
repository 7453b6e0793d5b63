"""Gates in a test suite: `pytest examples/pytest_gate.py --scuff-runs runs` fails when the model gets less robust."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from scuff.pytest_plugin import Robustness

MODEL = "toy:sentiment"  # your model: a function, a pipeline, a folder
DATA = "toy:sentiment"  # your data: a file, a DataFrame, a list
pytestmark = pytest.mark.robustness(MODEL, DATA, examples=100)


def test_slips_of_the_finger_do_not_break_the_model(robustness: Robustness) -> None:
    bounds = {"average": 0.8, "keyboard.worst": 0.6}
    robustness(dimensions=["typo-g", "keyboard"], degrees=[0.1, 0.2], cases=5, min=bounds, max_drop=0.1)


def test_an_attacker_must_ask_often(robustness: Robustness) -> None:
    robustness(recipe="deepwordbug", encoder="chrf", max_queries=15, max_success=0.6, min={"after": 0.3})


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
