"""Typing errors of five kinds, in words and anywhere."""

from __future__ import annotations

from collections import Counter
from string import ascii_lowercase, ascii_uppercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import scuff
from scuff.perturbations.keyboard import neighbours
from scuff.perturbations.typo import OPERATIONS, Typo
from scuff.text.corpus import Corpus
from scuff.text.random import Rng
from strategies import seed, texts

NEAR = neighbours("qwerty")


def kind(old: str, new: str) -> str:
    """Which operation makes one word of another; a repetition is an insertion of the letter itself."""
    for at in range(len(old)):
        before, letter, after = old[:at], old[at], old[at + 1 :]
        ways = {
            "delete": [before + after] if len(old) > 1 else [],
            "repeat": [before + letter * 2 + after],
            "replace": [before + key + after for key in NEAR.get(letter, "")],
            "insert": [before + pair + after for key in NEAR.get(letter, "") for pair in (key + letter, letter + key)],
            "swap": [before + after[:1] + letter + after[1:]] if after and after[0] != letter else [],
        }
        for name, results in ways.items():
            if new in results:
                return name
    return "none"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_operation_does_what_its_name_says(operation: str) -> None:
    for number in range(200):
        new = scuff.perturb("Typing", Typo(operations=operation), 1, seed=number)
        assert kind("Typing", new) == operation


def test_all_five_happen_about_equally_often() -> None:
    words = scuff.perturb(["keyboards"] * 4000, "typo", 1, ids=range(4000))
    found = Counter(kind("keyboards", word) for word in words)
    assert set(found) == set(OPERATIONS) and min(found.values()) > 600
    assert len(set(words)) > 80


def test_case_is_kept_where_a_letter_comes_in() -> None:
    for number in range(200):
        shout = scuff.perturb("LOUD", Typo(operations="insert replace"), 1, seed=number)
        assert shout.isupper()


def test_letters_at_random() -> None:
    """DeepWordBug: any other letter comes in, in the same case; what is not from a to z stays."""
    words = scuff.perturb(["e"] * 3000, Typo(operations="replace", layout="any"), 1, ids=range(3000))
    found = Counter(words)
    assert set(found) == set(ascii_lowercase) - {"e"} and min(found.values()) > 70, "120 of each by chance"
    words = scuff.perturb(["Eé"] * 2000, Typo(operations="insert", layout="any"), 1, ids=range(2000))
    assert set(words) == {pair + "é" for key in ascii_uppercase if key != "E" for pair in (key + "E", "E" + key)}
    assert scuff.perturb("Привет 漢字 é", Typo(operations="insert replace", layout="any"), 1) == "Привет 漢字 é"


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["words", "text"])
def test_ends_that_are_kept(scope: str) -> None:
    """TextBugger: the first and the last letter of a word stay; a word needs letters between them."""
    typo = Typo(keep="ends", scope=scope)
    for number in range(200):
        for operations in (" ".join(OPERATIONS), "swap", "delete"):
            new = scuff.perturb("Typing", Typo(operations, keep="ends", scope=scope), 1, seed=number)
            assert (new[0], new[-1]) == ("T", "g") and (new != "Typing" or scope == "text")
        assert scuff.perturb("a is I it", typo, 1, seed=number) == "a is I it"
        assert scuff.perturb("cat", Typo("swap", keep="ends"), 1, seed=number) == "cat", "one inner letter"
        assert scuff.perturb("door", Typo("swap", keep="ends"), 1, seed=number) == "door", "two equal ones"
        assert scuff.perturb("word", Typo("swap", keep="ends"), 1, seed=number) == "wrod"


def test_words_never_vanish_and_never_reach_over_their_borders() -> None:
    for number in range(100):
        assert scuff.perturb("a I", Typo(operations="delete swap"), 1, seed=number) == "a I"
        new = scuff.perturb("aa bb", Typo(operations="swap"), 1, seed=number)
        assert new == "aa bb"  # equal letters are not swapped
        first, second = scuff.perturb("ab cd", Typo(operations="swap"), 1, seed=number).split()
        assert (first, second) == ("ba", "dc")
        assert scuff.perturb("don't", Typo(operations="swap"), 1, seed=number)[3] == "'"
        assert len(scuff.perturb("it is so", Typo(operations="delete", scope="text"), 1, seed=number).split()) == 3


def test_other_scripts_get_what_is_possible() -> None:
    for text in ("Привет", "שלום", "नमस्ते", "한국어", "e\u0301e\u0300"):
        seen = {scuff.perturb(text, "typo", 1, seed=number) for number in range(30)}
        assert len(seen) > 2 and text not in seen
        assert scuff.perturb(text, Typo(operations="replace"), 1) == text
    assert scuff.perturb("Привет", Typo(operations="replace", layout="russian"), 1) != "Привет"


@pytest.mark.parametrize("scope", ["words", "text"])
@given(texts, seed)
def test_costs_are_exact(scope: str, texts: list[str], seed: int) -> None:
    corpus = Corpus.of(texts)
    edits = Typo(scope=scope).propose(corpus, Rng.of(corpus.keys, seed), k=3)
    old, new = corpus.cut(edits.spans(corpus.offsets)).strings(), edits.text.strings()
    assert edits.cost.tolist() == [Levenshtein.distance(*pair) for pair in zip(old, new, strict=True)]
    assert all(edits.cost > 0)


@given(texts, seed)
def test_in_a_whole_text_no_word_is_deleted_even_if_all_edits_are_made(texts: list[str], seed: int) -> None:
    corpus = Corpus.of(texts)
    after = corpus.apply(Typo(scope="text").edits(corpus, 1, seed=seed, selection="all"))
    assert len(after.words) == len(corpus.words)


def test_six_of_ten_characters_can_change() -> None:
    text = "The staff were friendly , the room was spotless and the view of the harbour was worth every penny ."
    assert Typo().for_characters() == Typo(scope="text")
    for number in range(20):
        new = scuff.perturb(text, Typo(scope="text"), 1, seed=number, selection="all")
        assert Levenshtein.distance(text, new) / len(text) > 0.6
        few = scuff.perturb(text, Typo(scope="text"), 0.2, seed=number, selection="edits")
        assert 0.1 < Levenshtein.distance(text, few) / len(text) <= 0.2


def test_sites_are_single_letters_and_the_gaps_behind_them() -> None:
    corpus = Corpus.of(["abc de"])
    edits = Typo(scope="text").propose(corpus, Rng.of(corpus.keys, 0))
    assert np.diff(edits.site).min() > 0 and edits.site.size == 5 + 3
    assert (edits.stop - edits.start).max() <= 2


@pytest.mark.parametrize(
    ("given_", "read"),
    [(("swap", "delete"), "swap delete"), ("delete", "delete"), ("repeat  insert", "repeat  insert")],
)
def test_operations_as_a_string_or_a_tuple(given_: str, read: str) -> None:
    perturbation = Typo(operations=given_)
    assert perturbation.operations == read and scuff.parse(perturbation.spec) == perturbation
    assert scuff.parse("typo(operations=('swap',))") == Typo(operations="swap")


@pytest.mark.parametrize(
    "spec",
    ["typo(operations='jump')", "typo(operations=' ')", "typo(operations=())", "typo(scope='x')", "typo(layout='x')"],
)
def test_wrong_options(spec: str) -> None:
    with pytest.raises(ValueError, match=r"expected .* for typo\."):
        scuff.parse(spec)


@given(st.text(max_size=30))
def test_huge_and_odd_words(text: str) -> None:
    word = text + "x" * 3000
    assert scuff.perturb(word, "typo", 1) != word
