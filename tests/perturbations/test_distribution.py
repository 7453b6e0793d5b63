"""Random choices have the frequencies that the papers' rules give, by a chi-square test that fails once in 10^6."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from string import punctuation

import numpy as np
import pytest

import scuff
from scuff.perturbations.intrude import Intrude
from scuff.perturbations.keyboard import Keyboard, neighbours
from scuff.perturbations.segment import Segment

N = 6000


def versions(
    text: str, perturbation: str | scuff.Perturbation, level: float = 1.0, n: int = N, **options: object
) -> list[str]:
    """n texts that differ in their id alone."""
    return scuff.perturb([text] * n, perturbation, level, ids=range(n), **options)  # type: ignore[call-overload, no-any-return]


def assert_frequencies(found: list[str], wanted: dict[str, float]) -> None:
    counts = Counter(found)
    assert set(counts) <= set(wanted)
    expected = np.array([len(found) * share for share in wanted.values()])
    statistic = float((((np.array([counts[k] for k in wanted]) - expected) ** 2) / expected).sum())
    freedom = len(wanted) - 1
    # Wilson and Hilferty's approximation of the chi-square quantile at 1 - 10^-6
    limit = freedom * (1 - 2 / (9 * freedom) + 4.753 * math.sqrt(2 / (9 * freedom))) ** 3
    assert statistic < limit


@pytest.mark.parametrize("word", ["abc", "abcd", "aabb", "aab", "abcde"])
def test_every_other_arrangement_is_equally_likely(word: str) -> None:
    others = {"".join(p) for p in itertools.permutations(word)} - {word}
    assert_frequencies(versions(word, "full-shuffle"), dict.fromkeys(others, 1 / len(others)))
    others = {f"x{other}y" for other in others}
    assert_frequencies(versions(f"x{word}y", "inner-shuffle"), dict.fromkeys(others, 1 / len(others)))


def test_two_letters_always_swap() -> None:
    assert set(versions("ab", "full-shuffle", n=50)) == {"ba"}


def test_every_symbol_is_equally_likely() -> None:
    symbols = punctuation + " "
    found = [text.replace("a", "")[0] for text in versions("aaa", Intrude(phi=0.7))]
    assert_frequencies(found, dict.fromkeys(symbols, 1 / len(symbols)))


@pytest.mark.parametrize("phi", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_each_gap_is_hit_with_phi_given_that_one_is(phi: float) -> None:
    wanted = {}
    for hits in itertools.product((0, 1), repeat=3):
        weight = phi ** sum(hits) * (1 - phi) ** (3 - sum(hits))
        if phi == 0:
            weight = float(sum(hits) == 1)  # the limit
        if sum(hits) and weight:
            wanted["a" + "".join("." * hit + "a" for hit in hits)] = weight
    total = sum(wanted.values())
    found = versions("aaaa", Intrude(phi=phi, symbols="."))
    if len(wanted) == 1:
        assert set(found) == set(wanted)
    else:
        assert_frequencies(found, {text: weight / total for text, weight in wanted.items()})


def test_every_neighbour_is_equally_likely_and_upper_case_stays() -> None:
    near = neighbours("qwerty")
    assert set(near["s"]) == set("adwezx") and set(near["S"]) == set("ADWEZX")
    assert_frequencies(versions("s", "keyboard"), dict.fromkeys(near["s"], 1 / 6))
    assert_frequencies(versions("G", "keyboard"), dict.fromkeys(near["G"], 1 / len(near["G"])))
    found = versions("gg", Keyboard(phi=0.5))
    first = Counter(a != "g" for a, _ in found)
    assert abs(first[True] / N - 2 / 3) < 5 * math.sqrt(2 / 9 / N)  # 0.5 / (1 - 0.5^2)


@pytest.mark.parametrize(("selection", "share"), [("quota", 0.5), ("coin", None), ("each", 0.5)])
def test_share_of_words_at_one_half(selection: str, share: float | None) -> None:
    n, words = 3000, 10
    text = " ".join(["word"] * words)
    changed = [
        sum(w != "word" for w in t.split(" ")) for t in versions(text, "inner-shuffle", 0.5, n, selection=selection)
    ]
    if selection == "quota":
        assert set(changed) == {5}
        return
    law = {k: math.comb(words, k) / 2**words for k in range(words + 1)}
    if selection == "coin":  # stops at five
        law = {k: law[k] if k < 5 else sum(law[j] for j in range(5, 11)) for k in range(6)}
    mean = sum(k * p for k, p in law.items())
    spread = math.sqrt(sum((k - mean) ** 2 * p for k, p in law.items()) / n)
    assert abs(np.mean(changed) - mean) < 5 * spread
    assert max(changed) == max(law)


def test_quota_hits_every_word_equally_often() -> None:
    hits = Counter(
        at
        for text in versions("aabb aabb aabb aabb aabb", "full-shuffle", 0.4)
        for at, w in enumerate(text.split())
        if w != "aabb"
    )
    assert sum(hits.values()) == 2 * N
    assert all(abs(hits[at] - 0.4 * N) < 5 * math.sqrt(N * 0.24) for at in range(5))


def test_chain_of_joined_words() -> None:
    """Two words with phi, a third with phi^2; then a new chain."""
    phi = 0.6
    wanted = {
        "abcd": phi * phi**2 * phi**3,
        "abc d": phi * phi**2 * (1 - phi**3),
        "ab cd": phi * (1 - phi**2) * phi,
        "ab c d": phi * (1 - phi**2) * (1 - phi),
        "a bcd": (1 - phi) * phi * phi**2,
        "a bc d": (1 - phi) * phi * (1 - phi**2),
        "a b cd": (1 - phi) ** 2 * phi,
        "a b c d": (1 - phi) ** 3,
    }
    assert sum(wanted.values()) == pytest.approx(1)
    assert_frequencies(versions("a b c d", Segment(phi=phi)), wanted)


def test_draws_and_seeds_are_independent() -> None:
    text = "abcdefgh"
    seen = {scuff.perturb(text, "full-shuffle", 1, seed=seed, draw=draw) for seed in range(30) for draw in range(30)}
    assert len(seen) > 880  # 900 of 40,319 arrangements: about ten coincide
