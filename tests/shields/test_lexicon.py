"""The lexicon: which words it knows, what it thinks of pairs, and that it is fast arrays of what a plain dictionary would say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.shields.hashes import HashTable, word_bits
from scuff.shields.lexicon import lexicon
from scuff.text.ragged import Ragged
from scuff.text.random import span_bits

RIGHT = (
    "the The THE don't Don’t it's you're John's dogs' colour color realise realize well-being state-of-the-art 1990s 5th 2004 x "
    "gonna lol thx u omg wanna London Microsoft Zürich running children iPod vs etc pre-trial mother-in-law's"
)
WRONG = "teh recieve definately thier becuase goverment wich hous dont didnt occured alot untill acheive wierd xqzt"


@pytest.mark.parametrize("word", RIGHT.split())
def test_knows_what_people_write_on_purpose(word: str) -> None:
    assert lexicon().known(Ragged.of([word])).all()


@pytest.mark.parametrize("word", WRONG.split())
def test_does_not_know_misspellings(word: str) -> None:
    assert not lexicon().known(Ragged.of([word])).any()


def test_numbers_fall_with_frequency_and_are_found_again() -> None:
    words = lexicon()
    assert (np.diff(words.cost) >= 0).all()
    assert 80_000 <= len(words) <= 120_000
    np.testing.assert_array_equal(words.number(words.words), np.arange(len(words)))
    assert words.words.take(np.arange(4)).strings() == ["the", "a", "of", "to"]
    assert {"don't", "it's", "i'm", "you're"} <= set(words.words.take(np.arange(2000)).strings())
    assert 0.9 < np.exp2(-words.cost.astype(np.float64)).sum() < 1.1


def test_pairs_say_what_follows_what() -> None:
    words = lexicon()

    def cost(left: str, right: str) -> float:
        a, b = words.number(Ragged.of([left, right]))
        return float(words.pair_cost(np.array([a]), np.array([b]))[0])

    assert cost("of", "the") < cost("of", "teh")
    assert cost("united", "states") < cost("united", "stares") - 5
    assert (
        cost("xqzt", "states") == words.cost[words.number(Ragged.of(["states"]))[0]]
    )  # nothing is known of the left word
    assert cost("the", "xqzt") == 20
    assert words.pair_cost(np.zeros((3, 1), np.int64), np.zeros((1, 4), np.int64)).shape == (3, 4)


def test_what_follows_a_word_has_a_probability_of_one_at_most() -> None:
    words = lexicon()
    for left in words.number(Ragged.of(["of", "united", "new", "i'm"])).tolist():
        total = np.exp2(-words.pair_cost(np.full(len(words), left), np.arange(len(words))).astype(np.float64)).sum()
        assert 0.85 < total < 1.15


@given(st.lists(st.text(max_size=12), max_size=20))
def test_any_text_can_be_asked(texts: list[str]) -> None:
    words = Ragged.of([text.encode("utf-8", "ignore").decode() for text in texts])
    known, number = lexicon().known(words), lexicon().number(words)
    assert known.shape == number.shape == (len(texts),)
    assert known[number >= 0].all()


@given(st.lists(st.integers(0, 50), max_size=60), st.lists(st.integers(0, 60), max_size=60))
def test_a_hash_table_is_a_dictionary_of_lists(keys: list[int], asked: list[int]) -> None:
    spread_out = np.array(keys, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    table = HashTable.of(spread_out)
    wanted = np.array(asked, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    slow = [[at for at, key in enumerate(keys) if key == ask] for ask in asked]
    which, value = table.all(wanted)
    assert [value[which == at].tolist() for at in range(len(asked))] == slow
    assert table.get(wanted).tolist() == [each[0] if each else -1 for each in slow]


def test_blocks_do_not_change_hashes() -> None:
    words = lexicon().words
    one = word_bits(words)
    few = np.arange(0, len(words), 997)
    np.testing.assert_array_equal(one[few], word_bits(words.take(few)))


@given(st.lists(st.text("aéz'", max_size=8), min_size=1, max_size=5), st.data())
def test_hashes_of_spans_are_those_of_the_texts(texts: list[str], data: st.DataObject) -> None:
    words, endings = Ragged.of(texts), ("", "e", "le")
    start = [data.draw(st.integers(0, len(text))) for text in texts]
    which = np.array([data.draw(st.integers(0, 2)) for _ in texts])
    found = span_bits(words.codes, words.offsets[:-1] + start, words.offsets[1:], endings, which)
    cut = [text[at:] + endings[number] for text, at, number in zip(texts, start, which.tolist(), strict=True)]
    np.testing.assert_array_equal(found, word_bits(Ragged.of(cut)))


def test_keys_that_differ_in_their_last_bits_only_are_in_order() -> None:
    table = HashTable.of(np.array([7, 1, 7, 2, 6], np.uint64))
    assert table.keys.tolist() == [1, 2, 6, 7, 7]
    assert table.value.tolist() == [1, 3, 4, 0, 2]
