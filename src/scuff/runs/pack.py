"""Packs texts, edits and answers into the flat columns of a part (`schema.py` has their types), and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text.edits import Edits
from ..text.ragged import Ragged, bounds
from ..victims.base import as_objects
from .folder import Arrays

LONGER = np.array([1 << 7, 1 << 11, 1 << 16], np.uint32)  # code points from which on UTF-8 takes one byte more


def pack_texts(name: str, texts: Sequence[str]) -> Arrays:
    """Returns the UTF-8 bytes of all texts, and the offsets at which each text begins and the last one ends."""
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    edges = bounds(np.fromiter(map(len, raw), np.int64, len(raw)))
    return {f"{name}_bytes": np.frombuffer(b"".join(raw), np.uint8), f"{name}_offsets": edges}


def unpack_texts(name: str, arrays: Arrays, first: int = 0, last: int | None = None) -> list[str]:
    """Returns the texts that `pack_texts` packed under a name; of a slice, only texts `first` to `last` (exclusive)."""
    edges = arrays[f"{name}_offsets"][first : None if last is None else last + 1].tolist()
    begin = edges[0] if edges else 0
    raw = arrays[f"{name}_bytes"][begin : edges[-1] if edges else 0].tobytes()
    return [raw[a - begin : b - begin].decode("utf-8", "surrogatepass") for a, b in pairwise(edges)]


def pack_edits(edits: Sequence[tuple[int, int, Edits]]) -> Arrays:
    """Returns the columns of edits, in the order of cases.

    edits: tuples of a text column, a case number that is added to the rows of the edits, and the edits.
    """
    parts = [(column, first, e) for column, first, e in edits if len(e)]
    none = np.empty(0, np.int64)

    def join(arrays: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.concatenate([none, *arrays])

    case = join([e.row + first for _, first, e in parts])
    order = np.argsort(case, kind="stable")
    texts = Ragged.join([Ragged.blank(0), *(e.text for _, _, e in parts)]).take(order)
    return {
        "edit_case": case[order].astype(np.int32),
        "edit_column": join([np.full(len(e), column) for column, _, e in parts])[order].astype(np.uint8),
        "edit_start": join([e.start for _, _, e in parts])[order].astype(np.int32),
        "edit_stop": join([e.stop for _, _, e in parts])[order].astype(np.int32),
        "edit_text_bytes": np.frombuffer(texts.codes.tobytes().decode("utf-32-le").encode("utf-8"), np.uint8),
        "edit_text_offsets": bounds(np.searchsorted(LONGER, texts.codes, "right") + 1)[texts.offsets],
    }


def pack_answers(answers: npt.NDArray[Any]) -> Arrays:
    """Returns the columns of answers: scores, label numbers, label sets, tags or texts, each under a name of its own."""
    if answers.dtype.kind == "f":
        return {"scores": answers.astype(np.float32)}
    if answers.dtype.kind == "b":
        return {"sets": answers}
    if answers.dtype.kind == "i":
        return {"label": answers.astype(np.int32)}
    if any(isinstance(value, np.ndarray) for value in answers):
        tags = [np.empty(0, np.int64) if value is None else value for value in answers]
        edges = bounds(np.fromiter(map(len, tags), np.int64, len(tags)))
        return {"tags": np.concatenate(tags).astype(np.int16), "tags_offsets": edges}
    return pack_texts("answer", ["" if value is None else str(value) for value in answers])


def unpack_answers(arrays: Arrays, first: int = 0, last: int | None = None) -> npt.NDArray[Any]:
    """Returns the answers of a part, one per row; a missing text or missing tags are returned as empty. Of a slice, only those of
    rows `first` to `last` (exclusive).
    """
    for name in ("scores", "sets", "label"):
        if name in arrays:
            return arrays[name][first:last]
    if "tags" in arrays:
        edges = arrays["tags_offsets"][first : None if last is None else last + 1]
        return as_objects([arrays["tags"][a:b] for a, b in pairwise(edges.tolist())])
    return as_objects(unpack_texts("answer", arrays, first, last))
