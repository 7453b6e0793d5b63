"""Edit distances of many pairs at once, against RapidFuzz."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from scuff.text.distance import edit_distance
from scuff.text.ragged import Ragged

few = st.text("ab", max_size=9)
word = st.one_of(few, st.text("abé\u0301👍", max_size=20), st.text("abc", min_size=55, max_size=64))


@given(st.lists(st.tuples(word, word), max_size=30))
def test_same_as_rapidfuzz(pairs: list[tuple[str, str]]) -> None:
    old, new = ([pair[side] for pair in pairs] for side in (0, 1))
    wanted = [Levenshtein.distance(*pair) for pair in pairs]
    assert edit_distance(Ragged.of(old), Ragged.of(new)).tolist() == wanted


def test_long_texts_are_exact_where_little_differs_and_bounded_where_much_does() -> None:
    long = "abcdefghij" * 1000
    new = [long[:50] + "XYZ" + long[51:], long[:10] + "-" + long[11:5000] + "-" + long[5001:], long + "!"]
    old = Ragged.of([long] * 3)
    assert edit_distance(old, Ragged.of(new)).tolist() == [3, 4990 + 1, 1]
    assert edit_distance(old, Ragged.of(new), bound=np.array([9, 2, 9])).tolist() == [3, 2, 1]
