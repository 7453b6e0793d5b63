"""What a search attack's summary counts, beside its lines: the curve of queries and the most frequent replacements."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import scuff


@pytest.fixture(scope="module")
def result() -> scuff.AttackResult:
    return scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", examples=60, encoder="chrf")


def test_the_curve_counts_what_holds_after_so_many_queries(result: scuff.AttackResult) -> None:
    spent = [line["reached"] or np.inf for line in result.lines if line["status"] != "skipped"]
    curve = result.summary["curve"]
    assert set(curve["queries"]) & set(spent), "some example falls with the very last of so many queries"
    held = [np.mean([each > budget for each in spent]) for budget in curve["queries"]]
    assert curve["left"] == pytest.approx(held, abs=1e-6)


def test_the_thirty_most_frequent_replacements_are_listed(result: scuff.AttackResult) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for line in result.lines:
        if line["status"] == "succeeded":
            found.update((line["texts"][0][start:stop], new) for _, start, stop, new in line["adversarial"]["edits"])
    assert len(found) > 30
    ranked = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:30]
    listed = [((word["old"], word["new"]), word["count"]) for word in result.summary["words"]]
    assert listed == ranked
