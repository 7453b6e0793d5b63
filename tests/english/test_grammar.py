"""What the count of mistakes finds, and what it leaves alone."""

from __future__ import annotations

import pytest

pytest.importorskip("lemminflect")
pytest.importorskip("gruut_lang_en")

from scuff.english.grammar import faults, in_dictionary, new_faults

RIGHT = [
    "The actors are good.", "She has an apple and a university degree.", "They were very good friends.", "It is a film.",
    "Do n't you like those films ?", "He can not come to the party.", "That that is true is known.", "",
]  # fmt: skip
WRONG = {
    "The actrs are good.": 1, "She has a apple.": 1, "They is good.": 1, "It is the the film.": 1, "These film are good.": 1,
    "He cn hrdly speak.": 2, "The fi1m is good.": 1, "The of film is good.": 1,
}  # fmt: skip


def test_right_sentences_have_no_mistakes() -> None:
    assert dict(zip(RIGHT, faults(RIGHT).tolist(), strict=True)) == dict.fromkeys(RIGHT, 0)


def test_wrong_sentences_have_as_many_as_they_should() -> None:
    assert dict(zip(WRONG, faults(list(WRONG)).tolist(), strict=True)) == WRONG


def test_names_and_contractions_need_no_dictionary() -> None:
    assert faults(["Quentinius did n't see it 's over.", "@someone likes #xyzzy"]).tolist() == [0, 0]
    assert in_dictionary("films") and in_dictionary("The") and not in_dictionary("flims")


def test_mistakes_of_the_original_do_not_count() -> None:
    before = ["teh film is good", "teh film is good", "the film is good"]
    after = ["teh flim is good", "the film is good", "the film is good"]
    assert new_faults(before, after).tolist() == [1, 0, 0]
