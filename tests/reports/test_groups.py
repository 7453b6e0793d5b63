"""What a report tells beside the numbers: notes on dimensions that could not be changed as far as was asked."""

from __future__ import annotations

import pytest

import scuff
from scuff.reports.groups import notes


@pytest.mark.parametrize(("share", "told"), [(0.0, True), (0.55, True), (0.65, False), (1.0, False)])
def test_a_dimension_that_reaches_much_less_than_was_asked_is_named(share: float, told: bool) -> None:
    data = [("the cat sat on the mat", "positive"), ("a dog ran over the hill", "negative")]
    summary = scuff.evaluate(
        lambda texts: ["positive"] * len(texts), data, dimensions=["keyboard", "truncate"], degrees=[0.2, 0.5], cases=1
    ).summary
    for name, reached in (("keyboard", share), ("truncate", 1.0)):
        cell = summary["dimensions"][name]["degrees"][-1]
        cell["reached"] = reached * cell["degree"]
    found = [note for note in notes(summary) if note.startswith("reach much less")]
    if told:
        assert found[0].endswith(f": keyboard {50 * share:.1f}") and "asked for, 50.0 %," in found[0]
    else:
        assert not found
