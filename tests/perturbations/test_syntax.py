"""Sentences reworded by rules, as a perturbation: its units, its strength, its draws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from english.reworded import any_text
from scuff.english.tagger import tagged
from scuff.perturbations.syntax import Syntax
from scuff.text.corpus import Corpus
from scuff.text.random import Rng
from strategies import seed, texts


@given(st.lists(any_text, max_size=4), seed, st.integers(1, 3))
def test_repeated_texts_are_the_same_work(texts: list[str], seed: int, k: int) -> None:
    """What is proposed for a text does not depend on the texts around it."""
    many = Corpus.of(texts * 3)
    edits = Syntax().propose(many, Rng.of(many.keys, seed), k=k)
    for row, one in enumerate(texts * 3):
        alone = Corpus.of([one])
        mine, wanted = edits.where(edits.row == row), Syntax().propose(alone, Rng.of(alone.keys, seed), k=k)
        assert mine.start.tolist() == wanted.start.tolist() and mine.text.strings() == wanted.text.strings()


@given(texts)
def test_sentences_are_the_units(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    units = Syntax().units(corpus)
    assert (units.stop > units.start).all() and (units.start[1:] >= units.stop[:-1]).all()
    assert set(units.row.tolist()) == {row for row, text in enumerate(texts) if tagged([text])[0]}


def test_strength_is_a_share_of_sentences() -> None:
    text = "She left in the morning. It is slow, but it is fun. I stayed because it rained. He gave her a book."
    for strength, most in ((0.25, 1), (0.5, 2), (1, 4)):
        new, edits = scuff.perturb([text], Syntax(), strength, return_edits=True)
        assert 1 <= len(edits[0]) <= most and new != [text]


def test_draws_differ() -> None:
    text = "The cast saves the film."
    assert len({scuff.perturb(text, Syntax(), 1, draw=draw) for draw in range(20)}) == 3


def test_several_rewordings_of_one_site() -> None:
    corpus = Corpus.of(["The cast saves the film."])
    edits = Syntax().propose(corpus, Rng.of(corpus.keys, 0), k=9)
    assert sorted(edits.text.strings()) == [
        "It is the cast that saves the film", "The film is saved by the cast", "What the cast does is save the film",
    ]  # fmt: skip
    assert len(set(edits.site.tolist())) == 1


@pytest.mark.parametrize("end", ["", ",", ";", " -", " (", " and", "'"])
def test_sentences_that_end_anywhere_are_no_error(end: str) -> None:
    """Texts are cut off anywhere, also right behind a comma."""
    whole = ("We left by noon, with a fine cast", "He said that, in 1990, the team, which was large, won the game")
    cut = [" ".join(text.split()[:count]) + end for text in whole for count in range(1, len(text.split()) + 1)]
    assert len(scuff.perturb(cut, "syntax", 1.0)) == len(cut)
