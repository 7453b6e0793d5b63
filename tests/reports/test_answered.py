"""The gate: scores of few answers say little, so too few answers fail it even where nobody asked."""

from __future__ import annotations

import pytest

import scuff
from scuff.reports.gate import check_summary


@pytest.mark.parametrize(("share", "told"), [(0.85, True), (0.89, True), (0.9, False), (1.0, False)])
def test_less_than_nine_tenths_of_answers_fail(share: float, told: bool) -> None:
    data = [("the cat sat on the mat", "positive"), ("a dog ran over the hill", "negative")]
    summary = scuff.evaluate(
        lambda texts: ["positive"] * len(texts), data, dimensions=["keyboard"], degrees=[0.5], cases=1
    ).summary
    summary["queries"]["cases"], summary["answered"] = 100, round(100 * share)
    lines = check_summary(summary, {"clean": 0.0})
    assert [(line.name, line.passed) for line in lines] == [("clean", True), *[("answered", False)] * told]
    lines = check_summary(summary, {"answered": 0.5})
    assert [(line.name, line.passed) for line in lines] == [("answered", True)], "unless a bound is given"
