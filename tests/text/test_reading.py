"""How far a model reads, against a slow version."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged
from scuff.text.reading import Reading
from strategies import text as nasty


def slowly(text: str, pieces: int) -> str:
    """The text up to its word number pieces + 1."""
    words = text.split(" ")
    count = 0
    for at, word in enumerate(words):
        count += any(letter.isascii() and letter.isalnum() for letter in word)
        if count > pieces:
            return " ".join(words[: at + 1])
    return text


@given(st.lists(nasty, min_size=1, max_size=4), st.integers(0, 5))
def test_the_end_is_that_of_the_last_word_that_is_read(texts: list[str], pieces: int) -> None:
    reading = Reading.of(Corpus.of(texts), pieces)
    for row, text in enumerate(texts):
        assert reading.first(text) == slowly(text, pieces)
        end = int(reading.end(np.array([row]))[0])
        if reading.long[row]:
            assert text[:end] == slowly(text, pieces)
            more = int(reading.end(np.array([row]), 1)[0])
            assert text[:more] == slowly(text, pieces + 1)
    cut = reading.cut(Ragged.of(texts), 1).strings()
    assert cut == [
        slowly(text, pieces + 1) if long else text for text, long in zip(texts, reading.long.tolist(), strict=True)
    ]


@given(nasty, st.data())
def test_an_edit_takes_no_more_words_than_it_says(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    where = (np.array([number]) for number in (0, start, stop))
    edits = Edits(
        *where, Ragged.of([data.draw(st.sampled_from(["", " ", "x", "!"]))]), np.array([start]), np.array([1])
    )
    corpus = Corpus.of([text])
    reading = Reading.of(corpus, 0)
    before, after = (Reading.of(texts, 0).stop.size for texts in (corpus, corpus.apply(edits)))
    assert before - after <= int(reading.hit(edits)[0])
