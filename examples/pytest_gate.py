"""A gate in a test suite: `pytest examples/pytest_gate.py` fails when the model gets less robust."""

from __future__ import annotations

import scuff


def test_slips_of_the_finger_do_not_break_the_model() -> None:
    scuff.assert_robust(
        "toy:sentiment",  # your model: a function, a pipeline, a folder
        "toy:sentiment",  # your data: a file, a DataFrame, a list
        dimensions=["typo-g", "keyboard"],
        degrees=[0.1, 0.2],
        cases=5,
        examples=100,
        min={"average": 0.8, "keyboard.worst": 0.6},
        max_drop=0.1,  # from the clean score to each dimension's average
    )


if __name__ == "__main__":
    test_slips_of_the_finger_do_not_break_the_model()
    print("the model is robust enough")
