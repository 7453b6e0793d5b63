"""What a report tells beside the numbers: notes on dimensions that could not be changed as far as was asked."""

from __future__ import annotations

from typing import Any

import pytest

import scuff
from scuff.reports.notes import evaluation_notes


def small_run() -> dict[str, Any]:
    data = [("the cat sat on the mat", "positive"), ("a dog ran over the hill", "negative")]
    summary: dict[str, Any] = scuff.evaluate(
        lambda texts: ["positive"] * len(texts), data, dimensions=["keyboard", "truncate"], degrees=[0.2, 0.5], cases=1
    ).summary
    return summary


@pytest.mark.parametrize(("share", "told"), [(0.0, True), (0.55, True), (0.65, False), (1.0, False)])
def test_a_dimension_that_reaches_much_less_than_was_asked_is_named(share: float, told: bool) -> None:
    summary = small_run()
    for name, reached in (("keyboard", share), ("truncate", 1.0)):
        cell = summary["dimensions"][name]["degrees"][-1]
        cell["reached"] = reached * cell["degree"]
    found = [note for note in evaluation_notes(summary) if note.startswith("reach much less")]
    if told:
        assert found[0].endswith(f": keyboard {0.5 * share:.2f}") and "asked for, 0.5," in found[0]
    else:
        assert not found


@pytest.mark.parametrize(("examples", "told"), [(99, True), (100, False)])
def test_less_than_a_hundred_examples_are_few(examples: int, told: bool) -> None:
    summary = small_run()
    summary["clean"]["examples"] = examples
    assert (
        f"few examples ({examples}): the intervals are wide and only roughly right" in evaluation_notes(summary)
    ) == told


def test_intervals_that_stayed_wider_than_was_wanted_are_counted() -> None:
    summary = small_run()
    summary["protocol"]["width"], summary["queries"]["saved"] = 0.1, 0
    cells = [cell for content in summary["dimensions"].values() for cell in content["degrees"]]
    for cell, high in zip(cells, (0.55, 0.59, 0.61, 0.65), strict=True):
        cell["average"]["interval"] = [0.5, high]
    assert "2 of 4 intervals are wider than 0.1: more examples would narrow them" in evaluation_notes(summary)
