"""Memory: what is kept is what would be found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.shields import memory
from scuff.shields.memory import Memory
from scuff.text.ragged import Ints, spread


@pytest.mark.parametrize("kept", [5, 1000])
@given(calls=st.lists(st.lists(st.integers(0, 12), max_size=9), max_size=6))
def test_what_is_kept_is_what_would_be_found(kept: int, calls: list[list[int]]) -> None:
    asked: list[int] = []

    def numbers(keys: Ints) -> tuple[Ints, Ints]:
        """Of a key k, k % 4 numbers from 10 * k on."""
        count = keys % 4
        return np.repeat(np.arange(keys.size), count), spread(10 * keys, count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "KEPT", kept)
        store = Memory()
        for call in calls:
            keys = np.array(call, np.int64)

            def find(which: Ints, keys: Ints = keys) -> tuple[Ints, Ints]:
                asked.extend(keys[which].tolist())
                return numbers(keys[which])

            found, wanted = store.get(keys.astype(np.uint64), find), numbers(keys)
            np.testing.assert_array_equal(found[0], wanted[0])
            np.testing.assert_array_equal(found[1], wanted[1])
            assert len(store.kept) <= kept
    if kept > 100:
        assert len(asked) == len(set(asked)), "no key is looked for twice"
