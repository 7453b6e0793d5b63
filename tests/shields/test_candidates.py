"""Candidates against slow obvious twins: a loop over the whole lexicon finds the same words."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.perturbations.keyboard import neighbours
from scuff.shields.lexicon import lexicon
from scuff.shields.restore.candidates import (
    CUT,
    KEYBOARD,
    KINDS,
    MOST,
    SHUFFLED,
    TYPO,
    VOWELS,
    Candidates,
    _by_keys,
    _memory,
    _near,
    candidates,
)
from scuff.shields.restore.channels import FAR, edit_costs, edits
from scuff.shields.restore.keys import Spelt
from scuff.text.ragged import Ragged

LETTERS = "abcdefghijklmnopqrstuvwxyz'-"


@cache
def words() -> list[str]:
    return lexicon().words.strings()


def found(noisy: str, kind: int) -> set[str]:
    pairs = _near(Spelt.of(Ragged.of([noisy])))
    return {
        words()[at] for at, of_kind in zip(pairs.word.tolist(), pairs.kind.tolist(), strict=True) if of_kind == kind
    }


def meant(noisy: str) -> list[str]:
    """The candidates of a word, the likeliest first."""
    pairs = candidates(Ragged.of([noisy]))
    return [words()[at] for at in pairs.word[np.argsort(lexicon().cost[pairs.word] - pairs.channel, kind="stable")]]


@pytest.mark.parametrize(
    ("noisy", "word", "kind"),
    [
        ("recieve", "receive", "misspelt"), ("attaxks", "attacks", "typo"), ("runing", "running", "typo"),
        ("st*pid", "stupid", "typo"),
        ("aacttks", "attacks", "shuffled"), ("sktacat", "attacks", "shuffled"), ("hrmlss", "harmless", "vowels"),
        ("adversaria", "adversarial", "cut"), ("atacs", "attacks", "sound"), ("fonetic", "phonetic", "sound"),
        ("rhw", "the", "keyboard"), ("ayyavja", "attacks", "keyboard"), ("gvrmnt", "government", "mixed"),
        ("attkaxs", "attacks", "mixed"),
    ],
)  # fmt: skip
def test_every_kind_of_error_is_found(noisy: str, word: str, kind: str) -> None:
    pairs = candidates(Ragged.of([noisy]))
    kinds = {words()[at]: KINDS[of_kind] for at, of_kind in zip(pairs.word.tolist(), pairs.kind.tolist(), strict=True)}
    assert meant(noisy)[0] == word
    assert kinds[word] == kind


@pytest.mark.parametrize("noisy", ["nihgt", "psot"])
def test_shuffles_are_all_words_of_the_same_letters(noisy: str) -> None:
    slow = {word for word in words() if len(word) == len(noisy) and Counter(word) == Counter(noisy)}
    assert slow <= {words()[at] for at in _near(Spelt.of(Ragged.of([noisy]))).word.tolist()}
    assert found(noisy, SHUFFLED) <= slow


@pytest.mark.parametrize("noisy", ["wrng", "dvrsrl"])
def test_skeletons_are_all_words_with_these_consonants(noisy: str) -> None:
    slow = {word for word in words() if word != noisy and "".join(c for c in word if c not in "aeiou") == noisy}
    assert found(noisy, VOWELS) <= slow
    frequent = sorted(slow, key=words().index)[:8]
    assert set(frequent) <= found(noisy, VOWELS) | found(noisy, TYPO)


@pytest.mark.parametrize("noisy", ["adversar", "harmles"])
def test_cut_words_begin_so(noisy: str) -> None:
    slow = {word for word in words() if word.startswith(noisy) and word != noisy and len(noisy) >= 0.4 * len(word)}
    got = found(noisy, CUT)
    assert got <= slow
    assert len(slow) > 15 or slow - got <= found(noisy, TYPO)


@pytest.mark.parametrize("noisy", ["harmlss", "nkow"])
def test_all_words_one_edit_away_are_found(noisy: str) -> None:
    def one_edit(word: str) -> bool:
        near = {word[:at] + word[at + 1 :] for at in range(len(word))}
        near |= {word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in range(len(word) - 1)}
        near |= {word[:at] + noisy[at] + word[at + 1 :] for at in range(min(len(word), len(noisy)))}
        return noisy in near or any(noisy[:at] + noisy[at + 1 :] == word for at in range(len(noisy)))

    slow = {word for word in words()[:30_000] if abs(len(word) - len(noisy)) < 2 and one_edit(word)}
    pairs = _near(Spelt.of(Ragged.of([noisy])))
    assert slow <= {words()[at] for at in pairs.word.tolist()}


@pytest.mark.parametrize("noisy", ["rhw", "jrllo", "ayyavja"])
def test_slips_on_the_keyboard_are_all_words_of_neighbours(noisy: str) -> None:
    near = neighbours("qwerty")
    slow = [
        word
        for word in words()
        if len(word) == len(noisy) and all(a == b or b in near.get(a, "") for a, b in zip(word, noisy, strict=True))
    ]
    pairs = _by_keys(Spelt.of(Ragged.of([noisy])), range(2, 17))
    assert [words()[at] for at in sorted(pairs.word.tolist())] == slow[:MOST]
    assert set(pairs.kind.tolist()) <= {KEYBOARD}


def slow_edits(meant: str, written: str) -> float:
    """The same edits as a plain table without a band."""
    replace, omit, insert, swap = edit_costs()
    a, b = (Spelt.of(Ragged.of([word])).letters.tolist() for word in (meant, written))
    best = {(0, 0): 0.0}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            first = 1.5 if min(i, j) <= 1 else 0.0
            ways = [best[0, 0]] if i == j == 0 else []
            if i and j:
                cost = float(replace[a[i - 1], b[j - 1]])
                ways.append(best[i - 1, j - 1] + cost + first * (cost > 0))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                ways.append(best[i - 2, j - 2] + float(swap[a[i - 2], a[i - 1]]))
            if i:
                ways.append(best[i - 1, j] + float(omit[a[i - 2] if i > 1 else 29, a[i - 1]]) + first)
            if j:
                ways.append(best[i, j - 1] + float(insert[b[j - 2] if j > 1 else 29, b[j - 1]]) + first)
            best[i, j] = min(ways)
    return best[len(a), len(b)]


def test_edits_cost_what_a_plain_table_says() -> None:
    dice = random.Random(5)
    pairs = []
    for _ in range(60):
        word = words()[dice.randrange(20_000)]
        other = list(word)
        for _ in range(dice.randrange(3)):
            at = dice.randrange(len(other) + 1)
            other[at : at + dice.randrange(2)] = [dice.choice(LETTERS)] * dice.randrange(2)
        pairs.append((word, "".join(other) or "a"))
    got = edits(Spelt.of(Ragged.of([a for a, _ in pairs])), Spelt.of(Ragged.of([b for _, b in pairs])))
    np.testing.assert_allclose(got, [min(slow_edits(a, b), FAR) for a, b in pairs], atol=1e-3)


@given(st.lists(st.text(LETTERS, min_size=1, max_size=9), min_size=1, max_size=8))
def test_a_word_has_the_same_candidates_in_any_company(noisy: list[str]) -> None:
    _memory.cache_clear()
    together, again = candidates(Ragged.of(noisy)), candidates(Ragged.of(noisy))
    for name in ("of", "word", "channel", "kind"):
        np.testing.assert_array_equal(getattr(together, name), getattr(again, name))
    assert (np.diff(together.of) >= 0).all()
    for at, word in enumerate(noisy):
        _memory.cache_clear()
        alone, mine = candidates(Ragged.of([word.upper()])), together.where(together.of == at)
        assert len(mine) <= MOST
        np.testing.assert_array_equal(alone.word, mine.word)
        np.testing.assert_array_equal(alone.channel, mine.channel)


@given(st.text(LETTERS, min_size=3, max_size=12))
def test_keys_without_letters_are_hashes_of_shorter_words(word: str) -> None:
    spelt = Spelt.of(Ragged.of([word]))

    def hashes(shorter: set[str]) -> set[int]:
        return set(Spelt.of(Ragged.of(sorted(shorter))).hashes().tolist())

    one = {word[:at] + word[at + 1 :] for at in range(len(word))}
    assert set(spelt.without_one()[1].tolist()) == hashes(one)
    if len(word) > 3:
        assert set(spelt.without_two()[1].tolist()) == hashes(
            {each[:at] + each[at + 1 :] for each in one for at in range(len(each))}
        )
    shuffled = "".join(sorted(word))
    assert Spelt.of(Ragged.of([shuffled])).unordered() == spelt.unordered()


def test_of_equal_pairs_the_best_stays() -> None:
    one = Candidates(np.array([0, 1]), np.array([5, 5]), np.array([-3, -2], np.float32), np.array([TYPO, TYPO]))
    other = Candidates(np.array([0]), np.array([5]), np.array([-1], np.float32), np.array([CUT]))
    joined = Candidates.join([one, other])
    assert joined.of.tolist() == [0, 1]
    assert joined.channel.tolist() == [-1, -2]
    assert joined.kind.tolist() == [CUT, TYPO]
    assert len(Candidates.join([])) == 0
