"""Which English words may give way to which."""

from __future__ import annotations

import pytest

pytest.importorskip("lemminflect")

from scuff.english.substitutes import has_content, in_phrase, may_replace, opposed, related, takes_an


def test_words_with_content() -> None:
    assert has_content("films", "NNS") and has_content("Watched", "VBD") and has_content("deeply", "RB")
    assert not has_content("is", "VBZ") and not has_content("not", "RB") and not has_content("the", "DT")
    assert not has_content("drama", "NNS")  # the tagger was wrong
    assert not has_content("qwertz", "NN") and not has_content("hardly", "RB") and not has_content("k-19", "NN")


def test_same_form_other_lemma_no_opposite() -> None:
    assert may_replace("viewed", "watched", "VBD") and may_replace("Movies", "films", "NNS")
    assert not may_replace("view", "watched", "VBD")  # another form
    assert not may_replace("funnier", "funny", "JJ") and not may_replace("watched", "watched", "VBD")
    assert not may_replace("attackers", "attacks", "NNS") and not may_replace(
        "end", "ending", "NN"
    )  # one made from the other
    assert not may_replace("bad", "good", "JJ") and not may_replace("slow", "fast", "JJ")
    assert opposed("great", "bad", "JJ") and not opposed("great", "excellent", "JJ")


def test_synonyms_take_the_form_of_the_word() -> None:
    assert "movies" in related("films", "NNS", 10) and "film" not in related("film", "NN", 10)
    assert related("stayed", "VBD", 3)[0].endswith("ed") and len(related("made", "VBD", 3)) == 3


def test_fixed_phrases_stay() -> None:
    assert in_phrase(["in", "the"], "end", "NN", [",", "it"]) and in_phrase([], "ripping", "VBG", ["off"])
    assert in_phrase(["a", "high"], "school", "NN", ["production"]) and in_phrase([], "special", "JJ", ["effects"])
    assert not in_phrase(["the", "old"], "house", "NN", ["is", "red"]) and not in_phrase([], "film", "NN", [])


@pytest.mark.parametrize("word", ["apple", "hour", "honest", "uninteresting", "Idea", "unimportant", "heir"])
def test_an(word: str) -> None:
    assert takes_an(word)


@pytest.mark.parametrize(
    "word", ["film", "unit", "European", "university", "one", "useful", "house", "union", "uniform"]
)
def test_a(word: str) -> None:
    assert not takes_an(word)
