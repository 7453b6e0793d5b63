"""The WordNet table: synonyms in the order of senses, opposites, phrases; what it says agrees with other lists."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scuff.english.wordnet import antonyms, familiar, is_phrase, synonyms, table


@pytest.mark.parametrize(
    ("lemma", "pos", "wanted", "unwanted"),
    [
        ("film", "n", ["movie", "picture", "motion picture", "cinema"], ["shoot"]),
        ("film", "v", ["shoot", "take"], ["movie"]),
        ("watch", "v", ["observe", "follow", "view", "see"], ["ticker"]),
        ("happy", "a", ["felicitous", "glad"], ["unhappy"]),
        ("quickly", "r", ["rapidly", "speedily"], ["slowly"]),
        ("begin", "v", ["start", "commence"], ["end"]),
    ],
)
def test_synonyms(lemma: str, pos: str, wanted: list[str], unwanted: list[str]) -> None:
    found = synonyms(lemma, pos)
    assert set(wanted) <= set(found) and not set(unwanted) & set(found)
    assert lemma not in found and len(set(found)) == len(found)
    assert sorted(wanted, key=found.index) == wanted, "the most frequent sense first"


def test_fewer_senses_are_a_part_of_more() -> None:
    for word in table().words[::97]:
        for pos in "nvar":
            whole = synonyms(word, pos)
            parts = [synonyms(word, pos, count) for count in (1, 2, 3)]
            assert set(parts[0]) <= set(parts[1]) <= set(parts[2]) <= set(whole)
            assert set(synonyms(word, pos, 3, 0.9)) <= set(parts[2]) and synonyms(word, pos, 3, 2.1) == ()


def test_the_senses_count_for_both_words() -> None:
    assert "floor" in synonyms("story", "n", 3) and "floor" not in synonyms("story", "n", 2)
    assert "clip" in synonyms("time", "n", 2) and "clip" not in synonyms("time", "n", 1), "clip in its second sense"
    assert "girl" in synonyms("daughter", "n") and "girl" not in synonyms("daughter", "n", 9), "girl rarely means that"


def test_what_fits_most_contexts() -> None:
    assert synonyms("story", "n", 3, 0.65) == ("narrative", "narration", "tale")
    assert "celluloid" in synonyms("film", "n") and "celluloid" not in synonyms("film", "n", 3, 0.65)
    assert synonyms("house", "n", 3, 0.65) == (), "a firm is called a house rarely"
    assert "view" in synonyms("watch", "v", 3, 0.65)


def test_adjectives_of_a_cluster() -> None:
    assert (
        "wonderful" in synonyms("great", "a") and "terrible" in synonyms("bad", "a") and "huge" in synonyms("big", "a")
    )
    assert "blue" not in synonyms("red", "a") and "two" not in synonyms("three", "a")


def test_being_synonyms_is_mutual() -> None:
    for word in table().words[::53]:
        for pos in "nvar":
            assert all(word in synonyms(other, pos) for other in synonyms(word, pos))


def test_what_is_not_there() -> None:
    assert synonyms("qwertz", "n") == synonyms("", "v") == synonyms("london", "n") == synonyms("thee", "n") == ()
    assert antonyms("qwertz") == antonyms("") == frozenset() and familiar("qwertz") == familiar("") == 0
    with pytest.raises(KeyError):
        synonyms("film", "noun")


def test_antonyms() -> None:
    pairs = (
        "good bad, hot cold, love hate, buy sell, quickly slowly, man woman, rise fall, increase decrease, begin end"
    )
    for pair in pairs.split(", "):
        one, other = pair.split()
        assert other in antonyms(one) and one in antonyms(other)
    assert {"slow", "sluggish"} <= antonyms("speedy") and "speedy" in antonyms("sluggish"), "through the head"
    assert "awful" in antonyms("good") and "good" in antonyms("awful") and "fast" not in antonyms("fast")
    assert antonyms("watch") == frozenset()


def test_few_words_are_synonyms_and_opposites() -> None:
    """`used`, `leeward` and `anthropoid` mean both to WordNet; the perturbations drop those."""
    clash = {(w, o) for w in table().words for pos in "nvar" for o in synonyms(w, pos, 1) if o in antonyms(w)}
    assert len(clash) < 40, clash


def test_phrases() -> None:
    assert all(map(is_phrase, ("of course", "new york", "look at", "high school", "by and large", "motion picture")))
    assert not any(map(is_phrase, ("film", "good film", "", " ", "the movie was")))


def test_familiar_words() -> None:
    assert familiar("water") == 255 and familiar("celluloid") < 20 < familiar("movie") and familiar("mulct") < 4


def test_lower_case_and_no_marks() -> None:
    net = table()
    assert all(word == word.lower() and "_" not in word and "(" not in word for word in net.words)
    assert sorted(net.words) == net.words and net.words and net.rank.min() == 1
    assert net.first[-1] == net.word.size == net.rank.size and net.alike.size == net.first_pair[-1]


def test_the_licence_is_on_the_copy() -> None:
    root = Path(__file__).parents[2]
    with np.load(root / "src/scuff/resources/data/wordnet.npz") as file:
        licence = file["licence"].tobytes().decode()
    line = "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved."
    assert line in licence and line.replace("  ", " ") in " ".join(
        (root / "NOTICE").read_text(encoding="utf-8").split()
    )


def test_nothing_is_loaded_before_it_is_needed() -> None:
    check = "import scuff; from scuff.english import wordnet; assert not wordnet.table.cache_info().currsize"
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.shared
def test_agrees_with_lists_of_others(shared: Path) -> None:
    """PPDB's synonyms are hardly ever our antonyms; the antonyms that the counter-fitting project drew from WordNet mostly are
    (the others are inflected forms).
    """

    def pairs(name: str) -> list[tuple[str, str]]:
        with gzip.open(shared / "data/counterfitted" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
            return [(a, b) for a, b in (line.split() for line in lines)]

    known = set(table().words)
    alike = [pair for pair in pairs("ppdb_synonyms") if known.issuperset(pair)]
    opposed = [pair for pair in pairs("wordnet_antonyms") if known.issuperset(pair)]
    assert len(alike) > 2000 and sum(b in antonyms(a) for a, b in alike) < 0.002 * len(alike)
    assert len(opposed) > 2000 and sum(b in antonyms(a) or a in antonyms(b) for a, b in opposed) > 0.6 * len(opposed)
