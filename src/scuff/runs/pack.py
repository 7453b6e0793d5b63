"""Packs texts, edits and answers into the flat columns of a part (`schema.py` has their types), and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text.edits import Edits
from ..text.ragged import bounds
from ..victims.base import as_objects
from .folder import Arrays


def pack_texts(name: str, texts: Sequence[str]) -> Arrays:
    """Returns the UTF-8 bytes of all texts, and the offsets at which each text begins and the last one ends."""
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    edges = bounds(np.fromiter(map(len, raw), np.int64, len(raw)))
    return {f"{name}_bytes": np.frombuffer(b"".join(raw), np.uint8), f"{name}_offsets": edges}


def unpack_texts(name: str, arrays: Arrays) -> list[str]:
    """Returns the texts that `pack_texts` packed under a name."""
    raw = arrays[f"{name}_bytes"].tobytes()
    edges = arrays[f"{name}_offsets"].tolist()
    return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(edges)]


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
    texts = [text for _, _, e in parts for text in e.text.strings()]
    return {
        "edit_case": case[order].astype(np.int32),
        "edit_column": join([np.full(len(e), column) for column, _, e in parts])[order].astype(np.uint8),
        "edit_start": join([e.start for _, _, e in parts])[order].astype(np.int32),
        "edit_stop": join([e.stop for _, _, e in parts])[order].astype(np.int32),
        **pack_texts("edit_text", [texts[at] for at in order.tolist()]),
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


def unpack_answers(arrays: Arrays) -> npt.NDArray[Any]:
    """Returns the answers of a part, one per row; a missing text or missing tags are returned as empty."""
    for name in ("scores", "sets", "label"):
        if name in arrays:
            return arrays[name]
    if "tags" in arrays:
        return as_objects([arrays["tags"][a:b] for a, b in pairwise(arrays["tags_offsets"].tolist())])
    return as_objects(unpack_texts("answer", arrays))
