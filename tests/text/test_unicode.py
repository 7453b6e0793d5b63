"""Grapheme clusters and words against the regex package and lines of the Unicode test file."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference import slow
from scuff.text.corpus import Corpus

# Lines of GraphemeBreakTest.txt (Unicode 16) for rule GB9c, which no release of the regex package has right: a list per cluster.
CONJUNCTS = [
    ["\u0915", "\u0924"],
    ["\u0915\u094d\u0924"],
    ["\u0915\u094d\u094d\u0924"],
    ["\u0915\u094d\u200d\u0924"],
    ["\u0915\u093c\u200d\u094d\u0924"],
    ["\u0915\u093c\u094d\u200d\u0924"],
    ["\u0915\u094d\u0924\u094d\u092f"],
    ["\u0915\u094d", "a"],
    ["a\u094d", "\u0924"],
    ["?\u094d", "\u0924"],
]

PIECES = (
    "a \u0301\u200d\u200c\u0915\u0924\u094d\u093c\u0903\u1100\u1161\u11a8\uac00\uac01\r\n\u0600\u0d4e\u200b\u0e33\u2764\ufe0f©"
    "\U0001f468\U0001f1e9\U0001f1ea\U0001f3fb"
)


def found_clusters(text: str) -> list[str]:
    corpus = Corpus.of([text])
    head = np.setdiff1d(np.arange(len(text)), corpus.tail)
    return [text[a:b] for a, b in itertools.pairwise([*head, len(text)])]


@pytest.mark.parametrize("clusters", CONJUNCTS, ids=[ascii("|".join(c)) for c in CONJUNCTS])
def test_conjuncts_follow_the_unicode_test_file(clusters: list[str]) -> None:
    assert found_clusters("".join(clusters)) == clusters


@given(st.text(alphabet=PIECES, max_size=14))
@example("\u200d©")
@example("©\u200d\u200d©")
def test_clusters_are_those_of_the_regex_package(text: str) -> None:
    assert found_clusters(text) == slow.clusters(text)


@given(st.lists(st.text(alphabet=PIECES, max_size=5), max_size=5))
def test_clusters_never_cross_documents(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    joined = [at for text, offset in zip(texts, corpus.offsets, strict=False) for at in offset + tails(text)]
    assert corpus.tail.tolist() == joined


def tails(text: str) -> np.ndarray:
    return Corpus.of([text]).tail
