"""Respelling by sound."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import scuff
from scuff.metrics.edit import word_distance
from scuff.perturbations.channel import _apart
from scuff.perturbations.natural import Natural
from scuff.perturbations.phonetic import Phonetic, _distances, _farthest, _rows, _table
from scuff.text.corpus import Corpus
from scuff.text.ragged import Ragged
from scuff.text.random import Rng
from strategies import seed as seeds
from strategies import texts

TEXT = "Although the restaurant is extremely popular , nobody knows whether the chef really cooks there himself ."
TRIPLE = re.compile(r"([a-z])\1\1")
LONG_WORD = "Pneumonoultramicroscopicsilicovolcanoconiosis" * 3


def test_respellings_come_from_the_table_in_the_words_case() -> None:
    for seed in range(60):
        plain, title, shout = scuff.perturb("great Great GREAT", Phonetic(listed=True), 1, seed=seed).split()
        assert plain.islower() and title[0].isupper() and title[1:].islower() and shout.isupper()
    seen = {scuff.perturb("night", "phonetic", 1, seed=seed) for seed in range(60)}
    assert {"nite", "nyte", "knight"} <= seen and "night" not in seen


def test_likely_spellings_are_drawn_more_often() -> None:
    words = scuff.perturb(["through"] * 2000, "phonetic", 1, ids=range(2000))
    assert words.count("thru") > words.count("threw") > 0


def test_both_apostrophes_are_found() -> None:
    straight, curly = (scuff.perturb(f"you{mark}ll", Phonetic(listed=True), 1) for mark in "'’")
    assert straight != "you'll" and curly != "you’ll" and "'" not in curly


def test_names_in_mixed_case_are_not_flattened() -> None:
    for seed in range(20):
        assert scuff.perturb("iPhone eBay", Phonetic(listed=True), 1, seed=seed) == "iPhone eBay"
        assert scuff.perturb("McDonald", "phonetic", 1, seed=seed)[0] == "M"


def test_words_outside_the_table_get_rules_unless_told() -> None:
    assert scuff.perturb("Zorblattic", "phonetic", 1) != "Zorblattic"
    assert scuff.perturb("Zorblattic", Phonetic(listed=True), 1) == "Zorblattic"
    assert len(_table().words) > 100_000


def test_slight_respellings_are_one_letter_away() -> None:
    for number in range(60):
        for old, new in zip(
            TEXT.split(), scuff.perturb(TEXT, Phonetic(slight=True), 1, seed=number).split(), strict=True
        ):
            assert Levenshtein.distance(old, new) <= 1
    seen = {scuff.perturb("Zorblattic", Phonetic(slight=True), 1, seed=number) for number in range(30)}
    assert len(seen) > 2 and all(Levenshtein.distance("Zorblattic", new) == 1 for new in seen)  # by the rules
    assert scuff.perturb("blue", Phonetic(slight=True), 1) != "blue"


def test_words_without_a_slight_respelling_stay() -> None:
    far = scuff.perturb("queue", "phonetic", 1)
    assert far != "queue" and all(
        Levenshtein.distance("queue", scuff.perturb("queue", Phonetic(slight=True), 1, seed=number)) <= 1
        for number in range(20)
    )


def test_the_table_knows_how_far_its_spellings_are() -> None:
    table, distances = _table(), _distances()
    rows = [row for row in _rows()[::997] if not TRIPLE.search(row[1].split(" ")[-1]) or " " in row[1]]
    entries = table.exact(Ragged.of([word for word, _, _ in rows])).tolist()
    spellings = table.spellings.strings()
    for (word, listed, _), entry in zip(rows, entries, strict=True):
        own = range(table.first[entry], table.first[entry + 1])
        assert [spellings[n] for n in own] == [each for each in listed.split(" ") if not TRIPLE.search(each)]
        assert [Levenshtein.distance(word, spellings[n]) for n in own] == distances[own].tolist()
        assert distances[_farthest()[entry]] == max(distances[own]) and _farthest()[entry] in own
    few = table.only(distances == 1)
    found, missed = few.exact(Ragged.of(["night", "colonel"])).tolist()
    assert found >= 0 > missed and "nigt" not in few.spellings.strings()


def test_the_farther_the_more_letters_change() -> None:
    away = [
        np.mean([
            Levenshtein.distance(TEXT, scuff.perturb(TEXT, Phonetic(phi=phi), 1, seed=number)) for number in range(30)
        ])
        for phi in (0.0, 0.3, 0.6, 1.0)
    ]  # fmt: skip
    assert away == sorted(away) and away[-1] > 1.3 * away[0]
    assert Phonetic().for_characters() == Phonetic(phi=None) and Phonetic(phi=None).at(0.5) == Phonetic(phi=1.0)
    assert Phonetic(slight=True).for_characters() == Phonetic(slight=True)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=12), max_size=6), st.randoms())
def test_rules_lie_apart(open_to: list[list[bool]], random: random.Random) -> None:
    """No two in a word within two letters of each other, and no letter left out without such a neighbour."""
    word = np.repeat(np.arange(len(open_to)), np.array(list(map(len, open_to)), np.int64))
    flat = np.array([is_open for each in open_to for is_open in each], np.bool_)
    order = np.array([random.getrandbits(64) for _ in flat], np.uint64)
    taken = _apart(flat, word, order)
    assert flat[taken].all()
    assert not any((word[a] == word[b]) and b - a <= 2 for a, b in itertools.pairwise(taken))
    assert all(any(word[a] == word[b] and abs(a - b) <= 2 for b in taken) for a in np.flatnonzero(flat))


@pytest.mark.parametrize("perturbation", [Phonetic(), Phonetic(phi=0.6), Phonetic(slight=True), Natural()])
@given(texts, seeds)
def test_costs_are_exact(perturbation: scuff.Perturbation, texts: list[str], seed: int) -> None:
    texts = [*texts, TEXT, LONG_WORD]
    corpus = Corpus.of(texts)
    edits = perturbation.propose(corpus, Rng.of(corpus.keys, seed), k=2)
    old, new = corpus.cut(edits.spans(corpus.offsets)).strings(), edits.text.strings()
    assert edits.cost.tolist() == [Levenshtein.distance(*pair) for pair in zip(old, new, strict=True)]


few = st.text("ab", max_size=9)
word = st.one_of(few, st.text("abé\u0301👍", max_size=20), st.text("abc", min_size=55, max_size=200))


@given(st.lists(st.tuples(word, word), max_size=30))
def test_distances_are_exact_at_any_length(pairs: list[tuple[str, str]]) -> None:
    old, new = ([pair[side] for pair in pairs] for side in (0, 1))
    wanted = [Levenshtein.distance(*pair) for pair in pairs]
    assert word_distance(Ragged.of(old), Ragged.of(new)).tolist() == wanted


def test_distances_of_very_long_words() -> None:
    long = "abcdefghij" * 1000
    new = [long[:50] + "XYZ" + long[51:], long[:10] + "-" + long[11:5000] + "-" + long[5001:], long + "!"]
    assert word_distance(Ragged.of([long] * 3), Ragged.of(new)).tolist() == [3, 2, 1]


def test_slight_and_far_exclude_each_other() -> None:
    with pytest.raises(ValueError, match=r"expected phi=0 for phonetic.slight=True, got 0.5"):
        scuff.parse("phonetic(slight=True, phi=0.5)")


WORDS = [
    "bidding", "hitting", "agreement", "off", "adding", "backup", "app", "success", "hiss", "keenness", "committee", "buzzing",
    "Jess", "wooly", "Abruzzo",
]  # fmt: skip


@pytest.mark.parametrize("spec", ["phonetic", "phonetic(slight=True)", "phonetic(phi=1.0)", "natural"])
def test_no_letter_is_written_three_times(spec: str) -> None:
    texts = [" ".join([*WORDS, *(word + end for word in WORDS for end in ("ull", "ixx"))])]
    for seed in range(40):
        assert not TRIPLE.search(scuff.perturb(texts, spec, 1, seed=seed)[0].lower())


def test_acronyms_stay() -> None:
    for seed in range(5):
        assert scuff.perturb("PC NATO GPU USA", "phonetic", 1, seed=seed) == "PC NATO GPU USA"
    assert scuff.perturb("CAPITALS", "phonetic", 1) != "CAPITALS"
