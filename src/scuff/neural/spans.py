"""Spans of texts as pieces of a tokenizer, with as many pieces around them as a model takes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from .library import BadModel
from .loading import Loaded

Span = tuple[int, int, int]  # the number of a text, start, stop


class Place(NamedTuple):
    """The pieces of a span and those around it."""

    before: list[int]
    inside: list[int]
    behind: list[int]


def places(loaded: Loaded, texts: Sequence[str], spans: Sequence[Span], size: int, *, lead: str = "") -> list[Place]:
    """Cut each text into pieces once, and take `size` of them around each of its spans, on both sides alike if there are enough.

    lead: goes before every text, such as a space so that its first word looks like every other.
    """
    wanted = sorted({text for text, _, _ in spans})
    encoded = _backend(loaded).encode_batch([lead + texts[text] for text in wanted], add_special_tokens=False)
    known = {
        text: (one.ids, [start for start, _ in one.offsets], [stop for _, stop in one.offsets])
        for text, one in zip(wanted, encoded, strict=True)
    }
    found = []
    for text, start, stop in spans:
        ids, starts, stops = known[text]
        first, last = bisect_right(stops, start + len(lead)), bisect_left(starts, stop + len(lead))
        last = max(first, last)  # what the tokenizer drops (a control character, say) has no pieces
        right = min(len(ids) - last, max(size // 2, size - first))  # what one side does not need the other gets
        left = min(first, size - right)
        found.append(Place(ids[first - left : first], ids[first:last], ids[last : last + right]))
    return found


def _backend(loaded: Loaded) -> Any:
    if not loaded.tokenizer.is_fast:
        raise BadModel(f"expected a fast tokenizer for {loaded.name}, got {type(loaded.tokenizer).__name__}")
    backend = loaded.tokenizer.backend_tokenizer
    backend.no_padding()  # some tokenizers are stored with both
    backend.no_truncation()
    return backend
