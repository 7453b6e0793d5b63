"""The evidence for shields: how restored words are counted, and that the page has the numbers that were kept."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
measures: Any = importlib.import_module("restoration_measures")
texts: Any = importlib.import_module("restoration_texts")
cells: Any = importlib.import_module("restoration_cells")
page: Any = importlib.import_module("restoration_page")
sys.path.remove(str(BENCHMARKS))

SOME = st.lists(st.sampled_from(["a", "b", "c", "A", "it's"]), max_size=8)
COLUMN = {name: at for at, name in enumerate(measures.COLUMNS)}


def slow_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, from its definition."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + slow_common(one[1:], other[1:])
    return max(slow_common(one[1:], other), slow_common(one, other[1:]))


@given(SOME, SOME, SOME)
def test_words_are_counted_as_the_slow_twin_does(one: list[str], two: list[str], three: list[str]) -> None:
    row = measures.row(" ".join(one), " ".join(two), " ".join(three))
    assert row[COLUMN["words"]] == len(one)
    assert row[COLUMN["restored"]] == slow_common(one, three)
    assert row[COLUMN["changed"]] == len(one) - slow_common(one, two)
    assert row[COLUMN["noisy"]] == len(two) - slow_common(one, two)
    # every word of the original is changed or not, and back or not
    lost = row[COLUMN["words"]] - row[COLUMN["restored"]]
    assert row[COLUMN["changed"]] - row[COLUMN["mended"]] + row[COLUMN["harmed"]] == lost
    assert row[COLUMN["exact"]] == (one == three)


@pytest.mark.parametrize(
    ("original", "attacked", "mended", "expected"),
    [
        ("The cat sat", "Teh cat sat", "The cat sat", {"restored": 3, "changed": 1, "mended": 1, "harmed": 0, "exact": 1}),
        ("The cat sat", "Teh cat sat", "Teh cat sat", {"restored": 2, "changed": 1, "mended": 0, "harmed": 0, "left": 1}),
        ("The cat sat", "Teh cat sat", "The bat sat", {"restored": 2, "changed": 1, "mended": 1, "harmed": 1, "left": 0}),
        ("The cat sat", "Teh cat sat", "the cat sat", {"restored": 2, "mended": 0, "left": 0, "alike": 1, "exact": 0}),
        ("a b", "ab", "a b", {"changed": 2, "mended": 2, "noisy": 1, "left": 0}),
        ("don’t go", "don’t go", "don't go", {"restored": 2, "harmed": 0, "exact": 0}),
        ("", "x", "", {"words": 0, "noisy": 1, "left": 0, "exact": 1}),
    ],
)  # fmt: skip
def test_a_row_says_what_happened(original: str, attacked: str, mended: str, expected: dict[str, int]) -> None:
    row = dict(zip(measures.COLUMNS, measures.row(original, attacked, mended), strict=True))
    assert {name: row[name] for name in expected} == expected


@given(st.lists(st.integers(0, 4), min_size=1), st.lists(st.integers(0, 4), min_size=1))
def test_auc_is_the_share_of_pairs_in_the_right_order(clean: list[int], attacked: list[int]) -> None:
    pairs = [(high > low) + (high == low) / 2 for high in attacked for low in clean]
    assert measures.auc(clean, attacked) == pytest.approx(np.mean(pairs))


def test_intervals_resample_texts_of_all_cells_together() -> None:
    rows = np.array([measures.row("a b", "x b", "a b"), measures.row("a b", "x b", "x b")])
    low, high = measures.interval([rows, rows])
    assert (low, high) == (0.5, 1.0)  # one text or the other twice
    assert measures.interval([rows[:1]]) == (1.0, 1.0)


def test_nothing_is_chosen_on_domains_for_reporting() -> None:
    for name in texts.UNSEEN:
        with pytest.raises(ValueError, match="reporting only"):
            texts.domain(name, "dev")


def test_lists_of_disguises_and_of_odd_right_texts() -> None:
    rows = texts.listed("disguises")
    assert len(rows) >= 150 and len({row["written"] for row in rows}) == len(rows)
    assert all(row["written"] != row["meant"] and row["meant"].isascii() for row in rows)
    batch = texts.legitimate()
    assert len(batch.original) >= 100 and batch.original == batch.attacked


def _measured(folder: Path) -> None:
    """What a tool that mends the first of two texts, and nothing, would leave."""
    pairs = [("reviews", "The cat sat", "Teh cat sta"), ("tweets", "a dog", "a dgo")]
    for tool in ("nothing", "fast"):
        for group, name, level in [*texts.attacks(), ("clean", "clean", 0.0), ("real", "disguises", 0.0)]:
            some = [(kind, old, old if group == "clean" else new) for kind, old, new in pairs]
            now = [old if tool == "fast" and kind == "reviews" else new for kind, old, new in some]
            kept = {
                "mark": "", "tool": tool, "group": group, "name": name, "level": level, "seconds": 0.0, "ascii": [True, True],
                "sure": [0, 0],
                "domain": [kind for kind, _, _ in some], "unstable": 1 if tool == "fast" else None,
                "rows": [measures.row(old, new, mended) for (_, old, new), mended in zip(some, now, strict=True)],
            }  # fmt: skip
            file = folder / tool / f"{group}-{name.replace(' ', '-').replace('%', '')}-{level}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(kept))


def test_numbers_of_the_page_come_from_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "RESAMPLES", 10)
    _measured(tmp_path)
    kept = cells.summary(
        tmp_path, ["nothing", "fast", "context"], {"part": "test", "scuff": "1", "seed": 0, "peers": {}}
    )
    assert kept["about"]["tools"] == ["nothing", "fast"]
    assert kept["means"]["nothing"]["published"]["all"]["restored"] == pytest.approx(2 / 5)
    assert kept["means"]["fast"]["pairs"]["0.5"]["restored"] == pytest.approx(4 / 5)
    assert kept["means"]["fast"]["ours"]["all"]["mended"] == pytest.approx(2 / 3, abs=1e-4)
    assert kept["domains"]["tweets"] == {"nothing": 0.5, "fast": 0.5}
    assert kept["clean"]["reviews"]["fast"]["harmed"] == 0 and kept["clean ascii"]["fast"] == 1
    assert kept["twice"]["fast"]["clean"] == (1, 2)
    again = json.loads(json.dumps(kept))
    shown = page.aims(again)
    assert "| 85 % | 80.0 [50.0, 100.0] | **missed** |" in shown and "`context` | 95 % | - | - |" in shown
    empty = "\n".join(f"{page.MADE.format(name)}\nold\n{page.END}" for name in page.TABLES)
    made = page.filled(empty, again)
    assert "old" not in made and page.filled(made, again) == made


def test_what_was_not_measured_again_stays() -> None:
    before = {"cells": {"more": {"typo": 1, "glyph": 2}, "pairs": {"a+b": 3}}, "speed": {"tables": [1]}, "seed": 17}
    new = {"cells": {"more": {"typo": 5}, "others": {}}, "speed": {"tables": [2, 3]}}
    assert page.merged(before, new) == {
        "cells": {"more": {"typo": 5, "glyph": 2}, "pairs": {"a+b": 3}, "others": {}},
        "speed": {"tables": [2, 3]},
        "seed": 17,
    }


def test_page_is_made_of_the_kept_numbers() -> None:
    shown = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(shown, page.read()) == shown, "run benchmarks/restoration.py page"
    assert "<!-- shielded: " in shown
    assert '"text"' not in page.DATA.read_text(encoding="utf-8")
