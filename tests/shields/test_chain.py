"""Repairs and chains: edits of a chain lead from the first text to the last, and say what was found at each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scuff.shields import Chain, Corpus, Repairs, Shield, parse
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged
from scuff.text.words import Spans


@dataclass(frozen=True)
class Swap(Shield):
    """Replaces each occurrence of one character by a text."""

    old: str
    new: str

    kinds: ClassVar[tuple[str, ...]] = ("odd", "even")

    def mend(self, corpus: Corpus) -> Repairs:
        at = np.flatnonzero(corpus.codes == ord(self.old))
        row = np.searchsorted(corpus.offsets, at, "right") - 1
        edits = Edits.of(corpus, Spans(row, at, at + 1), Ragged.of([self.new] * at.size))
        return Repairs.of(edits, at % 2, self.kinds)


@dataclass(frozen=True)
class Drop(Swap):
    """As Swap, but its repairs have a kind of their own."""

    kinds: ClassVar[tuple[str, ...]] = ("dropped", "dropped twice")


@dataclass(frozen=True)
class Turn(Shield):
    """Turns whole texts round."""

    kinds: ClassVar[tuple[str, ...]] = ("turned",)

    def mend(self, corpus: Corpus) -> Repairs:
        places = [(row, 0, len(text), text[::-1], "turned") for row, text in enumerate(corpus.strings()) if text]
        return Repairs.at(places, self.kinds)


CHAIN = Chain((Swap("a", "bb"), Drop("b", ""), Swap("c", "ad")))


@given(st.lists(st.text("abcd x", max_size=12), max_size=5))
def test_a_chain_does_what_its_parts_do(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    repairs = CHAIN.repairs(corpus)
    wanted = [text.replace("a", "bb").replace("b", "").replace("c", "ad") for text in texts]
    assert CHAIN(corpus).strings() == wanted
    assert corpus.apply(repairs.edits).strings() == wanted
    assert all(repairs.kind), "every edit has a kind"
    for text, edits in zip(texts, repairs.listed(corpus), strict=True):
        for edit, kinds in edits:
            assert text[edit.start : edit.stop] == edit.old != edit.new
            assert ("dropped" in kinds or "dropped twice" in kinds) <= (set("ab") & set(edit.old) != set())


def test_a_place_that_two_shields_change_has_the_kinds_of_both() -> None:
    corpus = Corpus.of(["xxc"])
    found = Chain((Swap("c", "b"), Drop("b", "y"))).repairs(corpus).listed(corpus)
    assert [(edit, kinds) for text in found for edit, kinds in text] == [((2, 3, "c", "y"), ("odd", "dropped"))]


def test_counts_are_by_text_and_kind() -> None:
    corpus = Corpus.of(["aa", "x", "a"])
    assert Swap("a", "b").repairs(corpus).counts(3).tolist() == [[1, 1], [0, 0], [0, 1]]


def test_tokens_stay_tokens() -> None:
    corpus, _ = Corpus.of_tokens([["a", "ba", "c"]])
    assert Swap("a", " ")(corpus).strings() == ["a ba c"]
    assert Swap("a", "")(corpus).strings() == ["a b c"]


def test_a_guard_keeps_text() -> None:
    corpus = Corpus.of(["a a a"])
    guard = Spans(np.array([0]), np.array([2]), np.array([3]))
    assert corpus.apply(Swap("a", "b").repairs(corpus, guard).edits).strings() == ["b a b"]


@given(st.lists(st.text("abcd x", max_size=12), max_size=5))
def test_the_repairs_of_a_text_do_not_depend_on_its_neighbours(texts: list[str]) -> None:
    """Not even in how many there are: a run of deletions is one repair, whatever the shields behind it find elsewhere."""
    chain = Chain((Drop("a", ""), Swap("b", ""), Swap("c", "ad"), Drop("d", "")))
    corpus = Corpus.of(texts)
    together = [[edit for edit, _ in text] for text in chain.repairs(corpus).listed(corpus)]
    alone = [chain.repairs(one).edits.listed(one)[0] for one in (Corpus.of([text]) for text in texts)]
    assert together == alone


@given(st.lists(st.lists(st.text("ab/\\", min_size=1, max_size=4), max_size=5), max_size=4))
def test_a_repair_does_not_reach_from_token_to_token(sentences: list[list[str]]) -> None:
    """Not one that leaves as many blanks as before, either, as turning a text round does."""
    corpus, _ = Corpus.of_tokens(sentences)
    new = Turn()(corpus).strings()
    assert [text.count(" ") for text in new] == [text.count(" ") for text in corpus.strings()]
    wanted = [" ".join(token[::-1] if len(tokens) == 1 else token for token in tokens) for tokens in sentences]
    assert new == wanted


def test_specs() -> None:
    spec = f"{__file__}:Swap(old='a', new='b')+{__file__}:Drop(old='b', new='')"
    assert isinstance(made := parse(spec), Chain)
    assert made(Corpus.of(["ca"])).strings() == ["c"]
