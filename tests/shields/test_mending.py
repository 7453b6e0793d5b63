"""Mending: repairs outside protected text, blocks that do not matter, and counts that add up."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.perturbations import blocks
from scuff.perturbations.protect import Protect
from scuff.shields import Corpus, Repairs, Shield
from scuff.shields.mending import EXAMPLES, Findings, Mending

ODD = {"\u0430": ("a", "look-alike"), "\u200b": ("", "invisible"), "+": (" ", "gap"), "\x07": ("", "control")}
TEXTS = st.lists(st.text("ab \u0430\u200b+\x07#é", max_size=14), max_size=6)


@dataclass(frozen=True)
class Plain(Shield):
    """Writes a few characters plainly."""

    kinds = ("look-alike", "invisible", "gap", "control")

    def mend(self, corpus: Corpus) -> Repairs:
        places = [
            (row, at, at + 1, *ODD[char])
            for row, text in enumerate(corpus.strings())
            for at, char in enumerate(text)
            if char in ODD
        ]
        return Repairs.at(places, self.kinds)


MENDING = Mending(Plain(), detail=True)


def plain(text: str) -> str:
    return "".join(ODD[char][0] if char in ODD else char for char in text)


@given(TEXTS, st.integers(1, 20))
def test_texts_repairs_and_counts_agree(texts: list[str], block: int) -> None:
    usual, blocks.BLOCK = blocks.BLOCK, block
    try:
        found, notes = Findings(), []  # type: ignore[var-annotated]
        assert MENDING.texts(texts, edits=notes, tally=found) == [plain(text) for text in texts]
    finally:
        blocks.BLOCK = usual
    for text, repairs in zip(texts, notes, strict=True):
        assert all(text[r.start : r.stop] == r.old and plain(r.old) == r.new for r in repairs)
        places = {at: kind for r in repairs for at in range(r.start, r.stop) for kind in [r.kinds]}
        assert list(places) == [at for at, char in enumerate(text) if char in ODD]
        assert all(ODD[text[at]][1] in kinds for at, kinds in places.items())
    joined = "".join(texts)
    assert found.repairs == sum(map(len, notes)) <= sum(joined.count(char) for char in ODD), "a run of deletions is one"
    assert found.kinds == Counter(kind for repairs in notes for r in repairs for kind in r.kinds)
    assert found.texts_of == {
        kind: sum(char in text for text in texts) for char, (_, kind) in ODD.items() if char in joined
    }
    assert (found.texts, found.changed_texts) == (len(texts), sum(text != plain(text) for text in texts))
    assert found.characters == {char: joined.count(char) for char in ODD if char in joined and char != "+"}
    for kind, pairs in found.examples.items():
        assert 0 < len(pairs) <= EXAMPLES and kind in found.kinds
        assert all(new == plain(old) and old in joined for old, new in pairs)
    json.dumps(found.summary())


@given(TEXTS, TEXTS)
def test_counts_of_parts_add_up(some: list[str], more: list[str]) -> None:
    whole, parts = Findings(), Findings()
    MENDING.texts([*some, *more], tally=whole)
    for texts in (some, more):
        part = Findings()
        MENDING.texts(texts, tally=part)
        parts.add(part)
    assert whole == parts


@given(TEXTS)
def test_protected_text_stays(texts: list[str]) -> None:
    new = Mending.of(Plain(), ["re:#[^ ]+"]).texts(texts)
    again = Mending.of(Plain(), only=["re:#[^ ]+"]).texts(texts)
    for text, kept, changed in zip(texts, new, again, strict=True):
        hashed = [part for part in text.split(" ") if "#" in part]
        for part in hashed:
            assert "#" + part.partition("#")[2] in kept
        assert len(hashed) or changed == text


def test_words_in_examples_are_whole_and_short() -> None:
    found = Findings()
    MENDING.texts(["one tw\u0430 h+e+l+l+o", "x" * 100 + "\u0430" + "y" * 100], tally=found)
    assert found.examples["look-alike"] == [
        ("tw\u0430", "twa"),
        ("x" * 30 + "\u0430" + "y" * 30, "x" * 30 + "a" + "y" * 30),
    ]
    assert found.examples["gap"] == [("h+e+l+l+o", "h e l l o")], "one example of a word, however many repairs it takes"


def test_the_signature_says_all() -> None:
    mending = replace(Mending.of(Plain(), ["urls", "word:x"]), only=("hashtags",))
    assert mending.signature.endswith("test_mending:Plain|protect:urls,word:x|only:hashtags")
    with pytest.raises(ValueError, match="to protect, got 'nothing'"):
        Mending.of(Plain(), only=["nothing"])


@given(st.lists(st.text("ab e\n\u0430\u200b\x07\x7f\xe9", max_size=9), max_size=8))
def test_plain_ascii_and_accents_pass_normalise_without_arrays_and_nothing_else_changes(texts: list[str]) -> None:
    mending = Mending.of("normalise", detail=True)
    found, slow, notes, slow_notes = Findings(), Findings(), [], []  # type: ignore[var-annotated]
    new = mending.texts(texts, edits=notes, tally=found)
    assert new == super(Mending, mending).texts(texts, edits=slow_notes, tally=slow)
    assert (notes, found.summary()) == (slow_notes, slow.summary())
    left = [text for text in texts if mending.shield.leaves(text)]
    plain = [text for text in texts if text.isascii() and not set(text) - set("ab e\n")]
    assert [text for text in left if text.isascii()] == plain
    assert not set("".join(left)) - set("ab e\n\xe9") and set(left) <= set(new)


def test_spans_and_errors_count_the_texts_that_are_left_too() -> None:
    mending = Mending.of("normalise", Protect(spans=((), ((0, 4),), ())))
    assert mending.texts(["plain", "p\u0430ge p\u0430ge", "p\u0430ge"]) == ["plain", "p\u0430ge page", "page"]
    with pytest.raises(ValueError, match="character 2 of text 1"):
        Mending.of("normalise").texts(["plain", "a \ud800"])
    with pytest.raises(ValueError, match="expected ids for each of 2 texts"):
        Mending.of("normalise").texts(["plain", "plain"], ids=[1])
