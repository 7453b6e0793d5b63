"""Our chrF by arrays against sacrebleu."""

from __future__ import annotations

import numpy as np
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from scuff.metrics.chrf import chrf_distance
from strategies import text

# texts that share beginnings, ends and many n-grams
alike = st.tuples(st.text("ab \t", max_size=12), st.text("ab c", max_size=12), st.text("ab é😀", max_size=12))


@given(st.lists(st.tuples(text, text), max_size=5), st.lists(st.tuples(alike, alike), max_size=5))
def test_the_same_as_sacrebleu(
    pairs: list[tuple[str, str]], parts: list[tuple[tuple[str, ...], tuple[str, ...]]]
) -> None:
    pairs = pairs + [("".join(one), one[0] + other[1] + one[2]) for one, other in parts]
    found = chrf_distance([before for before, _ in pairs], [after for _, after in pairs])
    for (before, after), away in zip(pairs, found.tolist(), strict=True):
        wanted = 0.0 if before == after else 1 - sacrebleu.sentence_chrf(after, [before]).score / 100
        assert np.isclose(away, wanted)


def test_nothing() -> None:
    assert chrf_distance([], []).size == 0
    assert chrf_distance(["", "a", ""], ["", "", "a"]).tolist() == [0, 1, 1]
