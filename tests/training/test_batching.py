"""Batches by tokens: each example once, little padding; each distinct text is cut once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.training.batching import Cutter, joined_rows, token_batches

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=300).map(lambda each: np.array(each, np.int64))


@given(LENGTHS, st.integers(1, 200), st.one_of(st.none(), st.integers(0, 9)))
def test_each_example_is_in_one_batch(length: Any, tokens: int, seed: int | None) -> None:
    chance = None if seed is None else np.random.default_rng(seed)
    batches = token_batches(length, tokens, chance)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(length)))
    for rows in batches:
        each = length[rows]
        assert (np.diff(each) <= 0).all()  # the longest first
        assert len(rows) * each[0] <= tokens or len(rows) == 1


def test_batches_are_new_in_each_epoch_and_little_is_padding() -> None:
    length = np.random.default_rng(0).integers(3, 100, size=20_000)
    one, same, other = (token_batches(length, 2048, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert {tuple(sorted(rows.tolist())) for rows in one} != {tuple(sorted(rows.tolist())) for rows in other}
    padded = sum(len(rows) * int(length[rows].max()) for rows in one)
    assert padded < 1.06 * length.sum()
    assert token_batches(np.empty(0, np.int64), 10) == []


@pytest.mark.parametrize(("step", "most", "wide"), [(1, 512, 5), (8, 512, 8), (8, 7, 5)])
def test_rows_are_padded_to_the_longest(step: int, most: int, wide: int) -> None:
    rows = [
        {"input_ids": np.arange(1, 6), "target": np.arange(5)},
        {"input_ids": np.array([7]), "target": np.array([3])},
    ]
    batch = joined_rows(rows, np.array([5, 1]), {"input_ids": 0, "target": -100, "none": 0}, False, step, most)
    assert batch.inputs["input_ids"].tolist() == [[1, 2, 3, 4, 5] + [0] * (wide - 5), [7] + [0] * (wide - 1)]
    assert batch.inputs["target"][1].tolist() == [3] + [-100] * (wide - 1)
    assert batch.inputs["attention_mask"].sum(1).tolist() == [5, 1] and "none" not in batch.inputs
    left = joined_rows(rows, np.array([5, 1]), {"input_ids": 0}, True, step, most)
    assert left.inputs["input_ids"][1].tolist() == [0] * (wide - 1) + [7]


def test_a_text_is_cut_once(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    import transformers as hf

    from training.toys import save_start

    tokenizer = hf.AutoTokenizer.from_pretrained(save_start(tmp_path))
    cutter, seen = Cutter(tokenizer, 8), []
    cut = cutter._cut
    cutter._cut = lambda examples: seen.append(examples) or cut(examples)  # type: ignore[method-assign,func-returns-value]
    first = cutter([["the dog", "a cat was very old and it was red", "the dog"]])
    again = cutter([["a dog", "the dog"]])
    third = cutter([["a cat was very old and it was red"]])  # forgotten, since the epoch before did not have it
    assert seen == [
        [("the dog",), ("a cat was very old and it was red",)],
        [("a dog",)],
        [("a cat was very old and it was red",)],
    ]
    assert first[0] is first[2] is again[1] and len(first[1]["input_ids"]) == 8
    for row, text in (
        (first[0], "the dog"),
        (first[1], "a cat was very old and it was red"),
        (third[0], "a cat was very old and it was red"),
    ):
        assert row["input_ids"].tolist() == tokenizer(text, truncation=True, max_length=8)["input_ids"]
