"""Pieces straight from the tokenizer's rows, beside the lists that `tokenizer(...)` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

hf = pytest.importorskip("transformers")

from tokenizers import Tokenizer, models, pre_tokenizers, processors

from scuff.huggingface.batches import encode

LETTERS = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4, "##a": 5, "##b": 6}
TEMPLATES = {  # of one text and of a pair; the third numbers types as XLNet does
    "none": None,
    "bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
    "xlnet": ("$A [SEP] [CLS]:2", "$A [SEP] $B:1 [SEP]:1 [CLS]:2"),
}


def tokenizer(kind: str) -> Any:
    letters = Tokenizer(models.WordPiece(LETTERS, unk_token="[UNK]"))
    letters.pre_tokenizer = pre_tokenizers.Whitespace()
    if template := TEMPLATES[kind]:
        marks = [("[CLS]", 1), ("[SEP]", 2)]
        letters.post_processor = processors.TemplateProcessing(
            single=template[0], pair=template[1], special_tokens=marks
        )
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return hf.PreTrainedTokenizerFast(tokenizer_object=letters, model_input_names=inputs, unk_token="[UNK]")


MADE = {kind: tokenizer(kind) for kind in TEMPLATES}
texts = st.text("ab x😀", max_size=12)


@given(
    kind=st.sampled_from(list(MADE)),
    rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=8),
    pairs=st.booleans(),
)
def test_rows_equal_those_of_the_library(kind: str, rows: list[tuple[str, str]], pairs: bool) -> None:
    made = MADE[kind]
    columns = [list(column) for column in zip(*rows, strict=True)][: 1 + pairs]
    plain = made(*columns, truncation=True, max_length=7)
    found = encode(made, columns, 7, places=True)
    assert found.length.tolist() == sorted(found.length.tolist(), reverse=True)
    for name in ("input_ids", "token_type_ids"):
        for pieces in (found, encode(made, columns, 7)):
            parts = np.split(pieces.flat[name], pieces.start[1:-1])
            assert pieces.back([part.tolist() for part in parts]) == [row or [0] for row in plain[name]]
    row, at = found.order.repeat(found.length).tolist(), range(int(found.length.sum()))
    side, begin, end = (found.flat[name].tolist() for name in ("side", "begin", "end"))
    spelling = {number: piece.removeprefix("##") for piece, number in LETTERS.items()}
    for piece in at:
        if side[piece] >= 0:
            text, number = columns[side[piece]][row[piece]][begin[piece] : end[piece]], found.flat["input_ids"][piece]
            assert text == spelling[number] or (text and spelling[number] == "[UNK]")


def test_no_rows() -> None:
    assert len(encode(MADE["bert"], [[]], 7)) == 0


@given(rows=st.lists(texts, min_size=1, max_size=8), left=st.booleans(), step=st.sampled_from([1, 8]))
def test_padding_is_the_librarys(rows: list[str], left: bool, step: int) -> None:
    made, found = MADE["bert"], encode(MADE["bert"], [rows], 7)
    longest_first = [made(rows[row], truncation=True, max_length=7) for row in found.order.tolist()]
    made.pad_token, made.padding_side = "[UNK]", "left" if left else "right"
    plain = made.pad(longest_first, pad_to_multiple_of=step, return_tensors="np")
    batch = found.pad(0, len(found), {"input_ids": 0, "token_type_ids": made.pad_token_type_id}, left, step)
    for name in ("input_ids", "token_type_ids", "attention_mask"):
        assert batch.inputs[name].tolist() == plain[name].tolist()
    assert batch.mask.tolist() == (plain["attention_mask"] > 0).tolist()
