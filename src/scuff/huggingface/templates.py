"""What a tokenizer does to pieces after it has cut a text: shortens rows that are too long and sets marks around them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..text.ragged import Ints, bounds, spread

Cut = tuple[Ints, Ints]  # the pieces of many texts, one text after the other, and how many each text has
PLAIN = ("ByteLevel",)  # post-processors that set no marks


@dataclass(frozen=True)
class Part:
    """A part of a row: marks, or the pieces of text number `side`."""

    type: int
    marks: tuple[int, ...] = ()
    side: int = -1


@dataclass(frozen=True)
class Rows:
    """Rows with their marks, the longest first: row `order[i]` of the caller stands at i."""

    order: Ints
    length: Ints
    ids: Ints
    types: Ints


@dataclass(frozen=True)
class Template:
    """The parts of a row for one text or for a pair."""

    parts: tuple[Part, ...]

    @property
    def added(self) -> int:
        """Marks of a row."""
        return sum(len(part.marks) for part in self.parts)

    def rows(self, cuts: Sequence[Cut], max_length: int, left: bool) -> Rows:
        """Returns rows of at most `max_length` pieces. left: pieces are taken away at the beginning of a text."""
        lengths = [length for _, length in cuts]
        kept = _longest_first(lengths, max_length - self.added)
        total = sum(kept, np.zeros(lengths[0].size, np.int64)) + self.added
        order = np.argsort(-total, kind="stable")
        at = bounds(total[order])[:-1]
        ids, types = np.empty(int(total.sum()), np.int64), np.zeros(int(total.sum()), np.int64)
        for part in self.parts:
            if part.side < 0:
                for mark in part.marks:
                    ids[at], types[at] = mark, part.type
                    at = at + 1
                continue
            flat, length = cuts[part.side]
            start, stay = bounds(length)[:-1], kept[part.side]
            if left:
                start = start + length - stay
            target = spread(at, stay[order])
            ids[target] = flat[spread(start[order], stay[order])]
            if part.type:
                types[target] = part.type
            at = at + stay[order]
        return Rows(order, total[order], ids, types)


def _longest_first(lengths: Sequence[Ints], room: int) -> list[Ints]:
    """Returns how many pieces stay of each text: of a pair the longer text is shortened first, as the strategy `longest_first` of
    the tokenizers library does it.
    """
    if len(lengths) == 1:
        return [np.minimum(lengths[0], room)]
    short, long = np.minimum(*lengths), np.maximum(*lengths)
    fits = np.maximum(short, room - short)
    both = short + fits > room  # each is longer than half of the room
    one, other = np.where(both, room // 2, short), np.where(both, room // 2 + room % 2, fits)
    swapped, whole = lengths[0] > lengths[1], short + long <= room
    first, second = np.where(swapped, other, one), np.where(swapped, one, other)
    return [np.where(whole, lengths[0], first), np.where(whole, lengths[1], second)]


def template_of(backend: Any, texts: int) -> Template | None:
    """Returns the template of a fast tokenizer's backend for one text or a pair; None if its post-processor is not known here."""
    processor = backend.post_processor
    state = b"null" if processor is None else processor.__getstate__()
    # texts of a pair, too, are cut one by one, and a template for one may repeat it
    return _read(state, texts) if _read(state, 1) else None


@lru_cache(64)
def _read(state: bytes, texts: int) -> Template | None:
    parts = _parts(json.loads(state), texts)
    sides = [part.side for part in parts or () if part.side >= 0]
    return Template(parts) if parts is not None and sorted(sides) == list(range(texts)) else None


def _parts(state: Any, texts: int) -> tuple[Part, ...] | None:
    if state is None or state["type"] in PLAIN:
        return tuple(Part(side, side=side) for side in range(texts))
    if state["type"] == "Sequence":
        marking = [one for one in state["processors"] if one["type"] not in PLAIN]
        return _parts(marking[0] if marking else None, texts) if len(marking) < 2 else None
    if state["type"] in ("BertProcessing", "RobertaProcessing"):
        cls, sep = Part(0, (state["cls"][1],)), (state["sep"][1],)
        if texts == 1:
            return (cls, Part(0, side=0), Part(0, sep))
        if state["type"] == "BertProcessing":
            return (cls, Part(0, side=0), Part(0, sep), Part(1, side=1), Part(1, sep))
        return (cls, Part(0, side=0), Part(0, sep * 2), Part(0, side=1), Part(0, sep))
    if state["type"] != "TemplateProcessing":
        return None
    found = []
    for piece in state["single" if texts == 1 else "pair"]:
        ((kind, about),) = piece.items()
        if kind == "Sequence":
            found.append(Part(about["type_id"], side="AB".index(about["id"])))
        else:
            found.append(Part(about["type_id"], tuple(state["special_tokens"][about["id"]]["ids"])))
    return tuple(found)
