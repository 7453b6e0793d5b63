"""Respelling by sound."""

from __future__ import annotations

import scuff
from scuff.perturb import Phonetic
from scuff.perturb.phonetic import _table


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
