"""Texts in, texts out; edits apply, invert and compose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import slow
from scuff.text import random
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged, bounds, filled, rows_of, sums
from scuff.text.random import _text_bits, bits_of_sum, letter_bits, text_bits
from strategies import plain, text, texts

Plain = tuple[int, int, int, str]  # row, start, stop, new


def make(edits: list[Plain]) -> Edits:
    row, start, stop = (np.array([e[i] for e in edits], np.int64) for i in range(3))
    return Edits(row, start, stop, Ragged.of([e[3] for e in edits]), start, np.ones_like(row))


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=5), st.integers(0, 2))
def test_rows_are_filled_up(rows: list[list[int]], least: int) -> None:
    out = filled(rows, -100, least)
    width = max([least, *map(len, rows)])
    assert out.dtype == np.int64 and out.shape == (len(rows), width)
    assert out.tolist() == [row + [-100] * (width - len(row)) for row in rows]


@given(st.lists(st.integers(0, 4), max_size=6).map(np.array), st.data())
def test_positions_are_in_their_rows(lengths: np.ndarray, data: st.DataObject) -> None:
    edges = bounds(lengths.astype(np.int64))
    at = sorted(data.draw(st.sets(st.integers(0, max(int(edges[-1]) - 1, 0))))) if edges[-1] else []
    rows = rows_of(np.array(at, np.int64), edges)
    assert all(edges[row] <= place < edges[row + 1] for row, place in zip(rows.tolist(), at, strict=True))


@given(st.lists(text, min_size=1, max_size=4))
def test_what_letters_add_makes_the_hash_of_a_text(some: list[str]) -> None:
    given_ = Ragged.of(some)
    place = np.concatenate([np.arange(len(text)) for text in some]).astype(np.int64)
    total = sums(letter_bits(given_.codes, place), given_.offsets)
    assert bits_of_sum(total, given_.lengths).tolist() == text_bits(given_).tolist()


@given(st.lists(text, max_size=9), st.integers(1, 9))
def test_the_hash_of_a_text_depends_on_the_text_alone(some: list[str], together: int) -> None:
    """Many texts are hashed in several parts."""
    alone = [_text_bits(Ragged.of([one]).codes, bounds(np.array([len(one)])))[0] for one in some]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "TOGETHER", together)
        assert text_bits(Ragged.of(some)).tolist() == alone


@st.composite
def edited(draw: st.DrawFn, lengths: list[int]) -> list[Plain]:
    """Edits that do not overlap; some are insertions, some touch, in any order."""
    out: list[Plain] = []
    for row, length in enumerate(lengths):
        cuts = sorted(draw(st.lists(st.integers(0, length), max_size=8)))
        pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
        kept = [pair for at, pair in enumerate(pairs) if pair not in pairs[:at]]
        out += [(row, start, stop, draw(plain)) for start, stop in kept]
    return draw(st.permutations(out))


@given(st.lists(text, min_size=1, max_size=4), st.data())
def test_edits_that_change_something(some: list[str], data: st.DataObject) -> None:
    edits = data.draw(edited([len(text) for text in some]))
    same = [(row, start, stop, some[row][start:stop]) for row, start, stop, _ in edits]
    both = [pair[data.draw(st.integers(0, 1))] for pair in zip(edits, same, strict=True)]
    found = make(both).changing(Ragged.of(some)).tolist()
    assert found == [some[row][start:stop] != new for row, start, stop, new in both]


@given(texts)
def test_strings_come_back(texts: list[str]) -> None:
    assert Corpus.of(texts).strings() == texts


@given(st.data(), texts)
def test_apply_is_the_slow_splice_and_inverts(data: st.DataObject, texts: list[str]) -> None:
    plans = data.draw(edited(list(map(len, texts))))
    corpus, edits = Corpus.of(texts), make(plans)
    after = corpus.apply(edits)
    wanted = [
        slow.splice(text, [(start, stop, new) for r, start, stop, new in plans if r == row])
        for row, text in enumerate(texts)
    ]
    assert after.strings() == wanted
    assert after.apply(edits.inverse(corpus)).strings() == texts
    assert (after.keys == corpus.keys).all()


@given(st.data(), texts)
def test_two_sets_of_edits_become_one(data: st.DataObject, texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    first = make(data.draw(edited(list(map(len, texts)))))
    middle = corpus.apply(first)
    second = make(data.draw(edited(middle.lengths.tolist())))
    both = first.then(second, corpus)
    assert corpus.apply(both).strings() == middle.apply(second).strings()
    places = list(zip(both.row.tolist(), both.start.tolist(), both.stop.tolist(), strict=True))
    assert len(set(places)) == len(places)  # what is put in at one place is one edit


def test_edits_that_only_touch_are_not_merged() -> None:
    corpus = Corpus.of(["one two"])
    first = make([(0, 3, 4, ""), (0, 7, 7, "!")])  # onetwo!
    second = make([(0, 0, 3, "1"), (0, 3, 6, "2"), (0, 6, 6, "?")])  # 12?!
    both = first.then(second, corpus)
    assert [tuple(edit) for edit in both.listed(corpus)[0]] == [
        (0, 3, "one", "1"),
        (3, 4, " ", ""),
        (4, 7, "two", "2"),
        (7, 7, "", "?!"),
    ]


def test_words_are_carried_and_never_found_again() -> None:
    corpus = Corpus.of(["one two three", "four"])
    # one -> "o.n e" stays one word; the gap after "two" goes, both words stay; "four" is deleted
    after = corpus.apply(make([(0, 0, 3, "o.n e"), (0, 7, 8, ""), (1, 0, 4, "")]))
    assert after.strings() == ["o.n e twothree", ""]
    assert after.cut(after.words).strings() == ["o.n e", "two", "three"]


@given(st.data(), texts)
def test_taking_documents_takes_their_words_along(data: st.DataObject, texts: list[str]) -> None:
    rows = data.draw(st.lists(st.sampled_from(range(len(texts))), max_size=8)) if texts else []
    corpus = Corpus.of(texts)
    corpus = corpus.apply(make(data.draw(edited(list(map(len, texts))))))
    part = corpus.take(np.array(rows, np.int64))
    words = [corpus.cut(corpus.words.where(corpus.words.row == row)).strings() for row in rows]
    assert part.strings() == [corpus.strings()[row] for row in rows]
    assert [part.cut(part.words.where(part.words.row == new)).strings() for new in range(len(rows))] == words
    assert part.keys.tolist() == [corpus.keys[row] for row in rows]


def test_lone_surrogates_are_refused_with_their_place() -> None:
    with pytest.raises(ValueError, match=r"lone surrogate U\+D83D at character 2 of text 1"):
        Corpus.of(["fine", "ab\ud83dcd"])


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="expected str for text 1, got int"):
        Corpus.of(["a", 3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="1 ids for 2 texts"):
        Corpus.of(["a", "b"], ids=[1])


def test_keys_follow_text_or_id() -> None:
    texts = ["same", "same", "other"]
    first, second, third = Corpus.of(texts).keys.tolist()
    assert first == second != third
    assert first == slow.text_key("same")
    named = Corpus.of(texts, ids=[1, 2, 1]).keys.tolist()
    assert named[0] == named[2] == slow.text_key("1") != named[1]
