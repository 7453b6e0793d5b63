"""Words: spans on the original text."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from reference import slow
from scuff.text.corpus import Corpus
from strategies import text, texts

CASES = {
    "Don't panic, it's 42 o'clock - OK?": ["Don't", "panic", "it's", "42", "o'clock", "OK"],
    "mother-in-law's e-mail": ["mother-in-law's", "e-mail"],
    "'quoted' -dash- a--b": ["quoted", "dash", "a", "b"],
    "l·l ‘naïve’ cafe\u0301s": ["l·l", "naïve", "cafe\u0301s"],
    "Привет, мир!": ["Привет", "мир"],
    "漢字かな ไทย": ["漢字かな", "ไทย"],
    "नमस्ते दुनिया": ["नमस्ते", "दुनिया"],
    "שלום؟ مرحبا": ["שלום", "مرحبا"],
    "می‌خواهم": ["می‌خواهم"],
    "👩‍👩‍👧 🇩🇪 ok❤️": ["ok"],
    "snake_case 3.14": ["snake", "case", "3", "14"],
    "": [],
    "...": [],
}


@pytest.mark.parametrize("given_text", CASES, ids=ascii)
def test_words_of(given_text: str) -> None:
    corpus = Corpus.of([given_text])
    assert corpus.cut(corpus.words).strings() == CASES[given_text]


@given(text)
def test_words_and_letters_are_those_of_the_slow_version(text: str) -> None:
    corpus = Corpus.of([text])
    letters = corpus.letters
    units = [corpus.codes[a:b].tobytes().decode("utf-32-le") for a, b in zip(letters.start, letters.stop, strict=True)]
    found = [
        (int(start), units[a:b])
        for start, a, b in zip(corpus.words.start, letters.first, letters.first[1:], strict=False)
    ]
    assert found == slow.words(text)
    assert [not joins for joins in letters.joiner] == [slow.is_letter(unit) for unit in units]


@given(texts)
@example(["rock'", "n", "'roll"])  # what joins two words does not join two documents
def test_a_document_has_the_same_words_whatever_its_neighbours(texts: list[str]) -> None:
    together = Corpus.of(texts)
    words = together.cut(together.words).strings()
    alone = [word for one in map(Corpus.of, [[t] for t in texts]) for word in one.cut(one.words).strings()]
    assert words == alone


def test_tokens_are_given_words() -> None:
    sentences = [["Do", "n't", "(panic)", "..."], [], ["U.S.", "a b"]]
    corpus, tokens = Corpus.of_tokens(sentences)
    assert corpus.cut(tokens).strings() == ["Do", "n't", "(panic)", "...", "U.S.", "a b"]
    assert corpus.cut(corpus.words).strings() == ["Do", "n't", "(panic)", "U.S.", "a b"]
    assert corpus.strings() == ["Do n't (panic) ...", "", "U.S. a b"]
