"""The tagger: tokens where the text has them, tags as CRFsuite gives them, mostly the right ones."""

from __future__ import annotations

import gzip
import json
import sys
from base64 import b64encode
from pathlib import Path
from string import punctuation
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff import resources
from scuff.english import tagger
from scuff.english.tagger import REMEMBERED, UNIVERSAL, Crf, Token, tag_words, tagged, word_tags
from scuff.english.tokens import LONGEST, sentences
from scuff.text.corpus import Corpus
from strategies import text, texts

MODEL = resources.package_file("gruut-lang-en", "gruut_lang_en/pos/model.crf", extra="english")


def cut(text: str) -> str:
    """Tokens between spaces, sentences between bars."""
    return " | ".join(" ".join(text[a:b] for a, b in tokens) for tokens in sentences(text))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I can't; it's don’t", "I ca n't ; it 's do n’t"),
        ("We cannot. You're gonna!", "We can not . | You 're gon na !"),
        ("it 's a film that does n't work . i loved it", "it 's a film that does n't work . | i loved it"),
        ("a state-of-the-art film (really)", "a state - of - the - art film ( really )"),
        ("Mr. Smith of the U.S. paid $3.50, e.g. at 10:30.", "Mr. Smith of the U.S. paid $ 3.50 , e.g. at 10:30 ."),
        ("Well... maybe. Or... Not!!! ok", "Well ... maybe . | Or ... | Not !!! | ok"),
        ('He said "Go." Then left.', 'He said " Go . " | Then left .'),
        ("see https://example.org/a?b=c. @user #tag :-) <3", "see https://example.org/a?b=c . | @user #tag :-) <3"),
        ("One line\nTwo line\nand on\n\nthree", "One line | Two line and on | three"),
        ("no space.Here it is.5", "no space . | Here it is . 5"),
        ("rock'n'roll O'Brien's dogs' 'tis", "rock'n'roll O'Brien 's dogs ' 'tis"),
        ("me@example.org, -lrb- x -rrb-", "me@example.org , -lrb- x -rrb-"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_tokens_and_sentences(text: str, tokens: str) -> None:
    assert cut(text) == tokens


@given(text)
def test_tokens_cover_all_but_white_space(text: str) -> None:
    tokens = tagged([text])[0]
    at = 0
    for token in tokens:
        assert token.text == text[token.start : token.stop] != "" and not text[at : token.start].strip()
        at = token.stop
    assert not text[at:].strip()
    numbers = [token.sentence for token in tokens]
    assert numbers == sorted(numbers) and set(numbers) == set(range(len(set(numbers))))
    assert all(token.tag in UNIVERSAL for token in tokens)


@given(texts)
def test_every_word_has_a_tag(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    assert len(word_tags(corpus)) == len(corpus.words)


@given(texts)
def test_neighbours_and_memory_do_not_matter(texts: list[str]) -> None:
    together = tagged(texts)
    tagger._remembered.clear()
    assert [tagged([text])[0] for text in reversed(texts)] == together[::-1]


def tags(text: str) -> str:
    return " ".join(token.tag for token in tagged([text])[0])


def test_known_sentences() -> None:
    assert tagged(["I run.  Go"]) == [
        [
            Token(0, 1, "I", "PRP", 0),
            Token(2, 5, "run", "VBP", 0),
            Token(5, 6, ".", ".", 0),
            Token(8, 10, "Go", "VB", 1),
        ]
    ]
    assert tags("She watched the funniest films yesterday.") == "PRP VBD DT JJS NNS NN ."
    assert tags("John can't have been eating his friend’s apples!") == "NNP MD RB VB VBN VBG PRP$ NN POS NNS ."
    assert tags("THIS FILM WAS NOT FUNNY") == tags("this film was not funny") == "DT NN VBD RB JJ"


def test_tags_of_words() -> None:
    corpus = Corpus.of(["", "I don't watch ten-year-old films, John's too", "?!"])
    assert word_tags(corpus) == ["PRP", "VBP", "VB", "JJ", "NNS", "NNP", "RB"]
    given, _ = Corpus.of_tokens([["He", "does", "n't", "care"], [], ["New York", "-"]])
    assert word_tags(given)[:4] == ["PRP", "VBZ", "RB", "VB"] and len(word_tags(given)) == 5


def test_long_sentences_are_cut_and_the_memory_is_bounded() -> None:
    long = "word " * 3000
    tokens = tagged([long])[0]
    assert len(tokens) == 3000 and tokens[-1].sentence == 3000 // LONGEST - 1
    tagged(["x" * (REMEMBERED // 2 + each) for each in range(3)])
    assert sum(map(len, tagger._remembered)) <= REMEMBERED


def slow_features(words: list[str], at: int) -> dict[str, float | str]:
    """gruut/pos.py in short."""
    found: dict[str, float | str] = {"BOS": float(at == 0), "EOS": float(at == len(words) - 1)}
    for shift, place in ((0, ""), (-1, "-1:"), (-2, "-2:"), (1, "+1:"), (2, "+2:")):
        if 0 <= at + shift < len(words):
            word = words[at + shift]
            found |= {place + "bias": 1.0, place + "word": b64encode(word.encode()).decode()}
            found |= {place + "len(word)": len(word), place + "word.ispunctuation": float(word in punctuation)}
            found |= {place + "word.isdigit()": float(word.isdigit())}
            found |= {place + f"word[:{size}]": word[:size] for size in (2, 3)}
            found |= {place + f"word[-{size}:]": word[-size:] for size in (2, 3)}
    return found


words = st.sampled_from(
    ["The", "a", "big", "dogs", "bark", "barked", ".", ",", "not", "Paris", "12", "it", "'s", "n't"]
) | st.text(st.characters(codec="utf-8", exclude_characters="\x00’‘“”"), min_size=1, max_size=5)


@given(st.lists(st.lists(words, max_size=12), max_size=5))
def test_same_as_crfsuite(sentences: list[list[str]]) -> None:
    library = pytest.importorskip("pycrfsuite")
    slow = library.Tagger()
    slow.open(str(MODEL))
    expected = [
        slow.tag([slow_features(words, at) for at in range(len(words))]) if words else [] for words in sentences
    ]
    tagger._against.cache_clear()
    with mock.patch.object(tagger, "AGAINST", (0, 0)):  # the model alone, without the dictionary of forms
        assert tag_words(sentences) == expected
    tagger._against.cache_clear()


def test_other_files_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a CRFsuite model"):
        Crf.read(b"something else entirely")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", _nothing)
    tagger._model.cache_clear()
    tagger._features.cache_clear()
    with pytest.raises(resources.MissingResource, match=r"expected the package gruut-lang-en.*scuff\[english\]"):
        tagged(["a text that no test has tagged"])


def _nothing(name: str) -> None:
    raise sys.modules["importlib.metadata"].PackageNotFoundError(name)


@pytest.mark.shared
def test_mostly_right_on_the_web_treebank(shared: Path) -> None:
    with gzip.open(shared / "data" / "ud_ewt" / "test.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][::8]
    found = tag_words([row["tokens"] for row in rows])
    pairs = [
        (UNIVERSAL[a], b) for row, tags in zip(rows, found, strict=True) for a, b in zip(tags, row["tags"], strict=True)
    ]
    content = {"NOUN": "n", "PROPN": "n", "VERB": "v", "AUX": "v", "ADJ": "a", "ADV": "r"}
    assert sum(a == b for a, b in pairs) / len(pairs) > 0.88
    assert sum(content.get(a) == content.get(b) for a, b in pairs) / len(pairs) > 0.96
