"""Rank correlation and the likelihood of texts, beside the plain ways to compute them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.metrics.fluency import EDGE, LETTERS, ORDER, CharacterModel
from scuff.metrics.rank import ranks, spearman

values = st.lists(st.integers(-3, 3), min_size=2, max_size=12)


@given(values)
def test_ranks_share_what_is_equal(each: list[int]) -> None:
    expected = [sum(other < one for other in each) + (sum(other == one for other in each) + 1) / 2 for one in each]
    assert ranks(each).tolist() == expected


@given(values)
def test_spearman_is_pearson_of_ranks(each: list[int]) -> None:
    other = each[::-1]
    found = spearman(each, other)
    if len(set(each)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(np.corrcoef(ranks(each), ranks(other))[0, 1])
        assert spearman(each, [10 * value for value in each]) == pytest.approx(1)


def test_spearman_needs_pairs() -> None:
    with pytest.raises(ValueError, match="as many values on both sides, got 2 and 3"):
        spearman([1, 2], [1, 2, 3])
    assert math.isnan(spearman([1], [1]))


def by_recursion(texts: list[str], context: str, letter: str) -> float:
    """Witten-Bell as the textbook writes it, counting again for each probability."""
    follow = [
        padded[at] for text in texts for padded in [EDGE * (ORDER - 1) + text + EDGE] for at in range(ORDER - 1, len(padded))
        if padded[at - len(context) : at] == context
    ]  # fmt: skip
    shorter = by_recursion(texts, context[1:], letter) if context else 1 / LETTERS
    if not follow:
        return shorter
    kinds = len(set(follow))
    return (follow.count(letter) + kinds * shorter) / (len(follow) + kinds)


@given(st.lists(st.text("abc ", max_size=8), min_size=1, max_size=4), st.text("abcd ", max_size=7))
def test_character_model_is_the_textbooks(texts: list[str], text: str) -> None:
    padded = EDGE * (ORDER - 1) + text + EDGE
    logs = [
        math.log(by_recursion(texts, padded[at - ORDER + 1 : at], padded[at])) for at in range(ORDER - 1, len(padded))
    ]
    assert CharacterModel.learn(texts).perplexity([text])[0] == pytest.approx(math.exp(-sum(logs) / len(logs)))


def test_garbled_text_is_less_likely() -> None:
    model = CharacterModel.learn(["a good film", "a great film", "the film is good", "what a bad movie it is"] * 3)
    good, typo, noise = model.perplexity(["a good movie", "a goid movie", "q8#zz ~~"])
    assert good < typo < noise
