"""The choice among edits: budgets, alternatives, overlaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged
from scuff.text.random import Rng
from scuff.text.words import Spans

corpora = Corpus.of(["x" * 40, "y" * 40])


def edits_of(rows: list[tuple[int, int, int, int, int]]) -> Edits:
    row, start, stop, site, cost = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Edits(row, start, stop, Ragged.of([f"{i}" for i in range(len(rows))]), site, cost)


some = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 9), st.integers(0, 12), st.integers(0, 5)).map(
        lambda t: (t[0], t[1], t[1] + t[2], t[3], t[4])
    ),
    min_size=1,
    max_size=25,
).map(edits_of)
rng_of = st.integers(0, 2**32).map(lambda seed: Rng.of(corpora.keys, seed))


@given(some, rng_of, st.integers(0, 9), st.sampled_from(["sites", "letters"]))
def test_choice_keeps_its_rules(edits: Edits, rng: Rng, budget: int, unit: str) -> None:
    chosen = edits.within(budget, rng, unit=unit)  # type: ignore[arg-type]
    for row in (0, 1):
        mine = chosen.row == row
        assert len(set(chosen.site[mine].tolist())) == mine.sum(), "one edit per site"
        assert (chosen.start[mine][1:] >= chosen.stop[mine][:-1]).all(), "no overlaps"
        spent = mine.sum() if unit == "sites" else np.maximum(chosen.cost[mine], 1).sum()
        assert spent <= budget


@given(some, rng_of)
def test_choice_takes_whole_edits_as_they_were_proposed(edits: Edits, rng: Rng) -> None:
    chosen = edits.within(None, rng)
    assert len(chosen) > 0
    fields = ("row", "start", "stop", "site", "cost")
    proposed = set(zip(*(getattr(edits, f).tolist() for f in fields), edits.text.strings(), strict=True))
    assert set(zip(*(getattr(chosen, f).tolist() for f in fields), chosen.text.strings(), strict=True)) <= proposed


@given(rng_of, st.integers(0, 12), st.integers(0, 12))
def test_a_larger_budget_chooses_what_a_smaller_one_does(rng: Rng, small: int, more: int) -> None:
    edits = edits_of([(row, at, at + 1, at, 1) for row in (0, 1) for at in range(20)])
    few, many = edits.within(small, rng), edits.within(small + more, rng)
    assert set(zip(few.row, few.site, strict=True)) <= set(zip(many.row, many.site, strict=True))
    assert len(few) == 2 * small


def test_letters_budget_is_filled_as_far_as_it_goes() -> None:
    edits = edits_of([(0, at, at + 1, at, cost) for at, cost in enumerate([5, 4, 3, 2, 1, 1])])
    for seed in range(50):
        chosen = edits.within(6, Rng.of(corpora.keys, seed), unit="letters")
        left = 6 - chosen.cost.sum()
        assert left == 0 or left < min(c for s, c in zip(edits.site, edits.cost, strict=True) if s not in chosen.site)


def test_alternatives_are_equally_likely() -> None:
    edits = edits_of([(0, 3, 4, 3, 1)] * 4)
    picks = [edits.within(None, Rng.of(corpora.keys, seed)).text.strings()[0] for seed in range(4000)]
    counts = [picks.count(str(i)) for i in range(4)]
    assert sum(counts) == 4000
    assert max(abs(count - 1000) for count in counts) < 5 * (4000 * 0.25 * 0.75) ** 0.5


def test_insertions_at_one_place_stay_in_the_order_of_their_sites() -> None:
    edits = edits_of([(0, 40, 40, 42, 1), (0, 40, 40, 40, 1), (1, 0, 0, 3, 1), (0, 39, 40, 39, 1), (1, 0, 0, 0, 1)])
    assert edits.in_order().text.strings() == ["3", "1", "0", "4", "2"]
    assert corpora.apply(edits).strings() == ["x" * 39 + "310", "42" + "y" * 40]
    moved = edits.in_order().carry(corpora.words, corpora.offsets)
    assert corpora.apply(edits).cut(moved).strings() == ["x" * 39 + "3", "y" * 40]


@given(st.lists(st.integers(0, 4), min_size=3, max_size=3), st.integers(0, 5))
def test_each_insertion_hits_one_of_the_empty_spans_at_its_place(count: list[int], room: int) -> None:
    places = [(0, 0), (0, 40), (1, 0)]  # the last two are the same position in the array of all codes
    edits = edits_of(
        [(row, at, at, at + turn, 1) for (row, at), many in zip(places, count, strict=True) for turn in range(many)]
        + [(1, 20, 22, 20, 1)]
    )
    row = np.repeat([row for row, _ in places], room)
    at = corpora.offsets[row] + np.repeat([at for _, at in places], room)
    spans = Spans(np.append(row, [1, 1]), np.append(at, [60, 61]), np.append(at, [61, 62]))
    hit = edits.touched(spans, corpora.offsets)
    assert hit[:-2].reshape(3, room).sum(1).tolist() == [min(many, room) for many in count]
    assert hit[-2:].all()


def test_a_deletion_hits_what_it_glues_together_and_not_the_neighbours_of_a_whole_word() -> None:
    corpus = Corpus.of(["one two three", "one two"])
    nothing = Ragged.blank(1)

    def hit(row: int, start: int, stop: int) -> list[bool]:
        where = (np.array([number]) for number in (row, start, stop))
        return Edits(*where, nothing, np.array([start]), np.array([1])).touched(corpus.words, corpus.offsets).tolist()

    assert hit(0, 3, 4) == [True, True, False, False, False]
    assert hit(0, 3, 7) == [False, True, False, False, False] and hit(0, 4, 8) == hit(0, 4, 7) == hit(0, 3, 7)
    assert hit(0, 3, 8) == [True, True, True, False, False], "the words on both sides come together"
    assert hit(1, 0, 4) == [False, False, False, True, False]
