"""Edits up to a degree: never above it, and no more would fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import scuff
from scuff.evaluation.degrees import by_characters, by_meaning, ranked
from scuff.metrics.chrf import chrf_distance
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Ints, Ragged
from strategies import texts

degrees = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0])
attacks = st.sampled_from(["visual", "keyboard(phi=0)", "homoglyph", "phonetic", "intrude(phi=0)"])


def sites(corpus: Corpus, attack: str, seed: int) -> tuple[Edits, Ints]:
    edits = scuff.parse(attack).edits(corpus, 0.5, seed=seed, selection="all").in_order()
    return edits, ranked(edits.row, np.random.default_rng(seed).random(len(edits)))


def with_first(text: str, mine: list[tuple[int, int, int, str]], count: int) -> str:
    for _, start, stop, new in sorted(mine[:count], key=lambda edit: -edit[1]):
        text = text[:start] + new + text[stop:]
    return text


@settings(max_examples=60)
@given(texts, attacks, degrees, st.integers(0, 9))
def test_characters(texts: list[str], attack: str, degree: float, seed: int) -> None:
    corpus = Corpus.of(texts)
    edits, rank = sites(corpus, attack, seed)
    after = corpus.apply(by_characters(corpus, edits, rank, degree)[0]).strings()
    new = edits.text.strings()
    for row, text in enumerate(texts):
        mine = sorted(
            (int(rank[i]), int(edits.start[i]), int(edits.stop[i]), new[i])
            for i in range(len(edits))
            if edits.row[i] == row
        )
        versions = [with_first(text, mine, count) for count in range(len(mine) + 1)]
        limit = int(degree * len(text) + 1e-9)
        away = [Levenshtein.distance(text, version) for version in versions]
        assert after[row] in versions, "the first edits in order of rank"
        count = len(versions) - 1 - versions[::-1].index(after[row])
        assert away[count] <= limit, "never above the degree"
        assert away[count] == limit or count == len(mine) or away[count + 1] > limit, "one more would not fit"


@settings(max_examples=40)
@given(texts, attacks, degrees, st.integers(0, 9))
def test_meaning(texts: list[str], attack: str, degree: float, seed: int) -> None:
    corpus = Corpus.of(texts)
    edits, rank = sites(corpus, attack, seed)
    chosen, reached = by_meaning(corpus, edits, rank, degree, chrf_distance)
    after = corpus.apply(chosen).strings()
    new = edits.text.strings()
    for row, text in enumerate(texts):
        kept: list[tuple[int, int, int, str]] = []
        mine = np.flatnonzero(edits.row == row)
        for number, i in enumerate(mine[np.argsort(rank[mine])][:10].tolist(), 1):
            more = [*kept, (number, int(edits.start[i]), int(edits.stop[i]), new[i])]
            if chrf_distance([text], [with_first(text, more, len(more))])[0] <= degree + 1e-9:
                kept = more
            elif kept or number >= 4:
                break
        assert after[row] == with_first(text, kept, len(kept))
        assert np.isclose(reached[row], chrf_distance([text], [after[row]])[0]) and reached[row] <= degree + 1e-9


def test_the_degree_is_reached_closely() -> None:
    text = "The quick brown fox jumps over the lazy dog, while seven wizards quietly mix a dozen liquid potions."
    for degree in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        corpus = Corpus.of([text] * 20)
        edits = scuff.parse("visual").edits(corpus, degree, draw=np.arange(20), selection="all").in_order()
        rank = ranked(edits.row, edits.start)
        after = corpus.apply(by_characters(corpus, edits, rank, degree)[0]).strings()
        assert {Levenshtein.distance(text, each) for each in after} == {int(degree * len(text) + 1e-9)}


@pytest.mark.parametrize(("fitting", "found"), [(127, 127), (255, 254)])
def test_the_number_of_edits_is_searched_for_in_eight_rounds(fitting: int, found: int) -> None:
    """Each edit but the last changes one character and costs by its own account too much; the last does go too far."""
    size = 2000
    start = np.arange(fitting + 1)
    stop = np.append(start[1:], size)
    new = Ragged.of(["b" * count for count in (stop - start).tolist()])
    edits = Edits(np.zeros_like(start), start, stop, new, start, np.full_like(start, size))
    chosen, _ = by_characters(Corpus.of(["a" * size]), edits, start, 0.25)
    assert len(chosen) == found


@pytest.mark.parametrize(("fits", "kept"), [(3, "abcDEF"), (4, "abcdef")])
def test_three_edits_that_go_too_far_are_passed_over(fits: int, kept: str) -> None:
    place = np.arange(6)
    edits = Edits(np.zeros_like(place), place, place + 1, Ragged.of(list("ABCDEF")), place, np.ones_like(place))
    corpus = Corpus.of(["abcdef"])
    chosen, reached = by_meaning(
        corpus, edits, place, 0.5, lambda before, after: np.array([0.25 if "ABCDEF"[fits] in new else 1.0 for new in after])
    )  # fmt: skip
    assert corpus.apply(chosen).strings() == [kept] and reached.tolist() == [0.25 if fits < 4 else 0.0]
