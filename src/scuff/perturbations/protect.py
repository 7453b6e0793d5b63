"""Protected text: found before edits are chosen, checked after they are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Mask, spread
from ..text.words import Spans

UNITS = (  # what may be written right behind a number, in any case
    "km/h|m/s|st|nd|rd|th|s|k|m|mn|bn|tn|b|d|g|x|am|pm|h|hr|hrs|min|mins|sec|secs|ms|ns|yr|yrs|yo|mm|cm|km|nm|ft|in|inch|yd|yds|mi|mph|kph|kmh"
    "|kt|kn|mg|kg|t|lb|lbs|oz|ml|cl|dl|l|gal|kcal|cal|kj|j|w|kw|mw|gw|kwh|v|mv|kv|a|ma|mah|hz|khz|mhz|ghz|db|bit|kb|mb|gb|tb|pb"
    "|kib|mib|gib|tib|kbps|mbps|gbps|bps|fps|rpm|dpi|ppi|px|pt|em|rem|p|i|mp|c|f|bp|ppm|pc|pcs|usd|eur|gbp"
)
KINDS = {
    "urls": r"(?:https?|ftp)://[^\s<>\"]*[^\s<>\".,;:!?')\]}]|\bwww\.[^\s<>\"]*[^\s<>\".,;:!?')\]}]",
    "emails": r"(?<![\w.+-])[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+",
    "mentions": r"(?<!\w)@\w+",
    "hashtags": r"(?<!\w)#\w+",
    # with signs, currencies, units and endings: -3, $40.3M, 7.4bn, 21st, 3/4, 12:30pm, 50%, 100km, 30°C, 1990s, 16GB, 1080p, 3D
    "numbers": rf"(?<!\w)[-+]?[$€£¥]?\d+(?:[.,:/]\d+)*(?:%|°[CFK]?|(?i:{UNITS}))?(?!\w)",
    "placeholders": r"\{\{[^{}]*\}\}|\$?\{[^{}]*\}|%\(\w+\)[a-z]|%[sd]|<\w+>|\[\w+\]",
}


@dataclass(frozen=True)
class Protect:
    """What to leave alone: kinds (urls, emails, mentions, hashtags, numbers, placeholders), `word:...`, `re:...`, and spans.

    A word is protected as a whole word, whatever its case; it may be a phrase. `spans` gives (start, stop) pairs per text.
    """

    what: tuple[str, ...] = ()
    spans: tuple[tuple[tuple[int, int], ...], ...] | None = None

    def __post_init__(self) -> None:
        self.patterns  # noqa: B018 - raises for a wrong rule

    @classmethod
    def of(cls, protect: Sequence[str] | Protect) -> Protect:
        """Protection from rules, or one rule, or as it is. Raises TypeError for anything else."""
        rules = (protect,) if isinstance(protect, str) else protect
        if not isinstance(rules, Protect | Iterable):
            raise TypeError(f'expected kinds of text, such as ["urls"], for protect, got {protect!r}')
        return rules if isinstance(rules, Protect) else cls(tuple(rules))

    def __bool__(self) -> bool:
        return bool(self.what) or self.spans is not None

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The rules as regular expressions; raises ValueError for a wrong one."""
        return tuple(_pattern(rule) for rule in self.what)

    def matches(self, text: str) -> set[tuple[int, int]]:
        """(start, stop) of everything in a text that the rules match."""
        return {m.span() for pattern in self.patterns for m in pattern.finditer(text) if m.end() > m.start()}

    def find(self, corpus: Corpus) -> Spans:
        """The spans to guard, overlapping ones merged."""
        if self.spans is not None and len(self.spans) != len(corpus):
            raise ValueError(f"expected protected spans for each of {len(corpus)} texts, got {len(self.spans)}")
        found = np.array(list(self._spans(corpus.strings())), np.int64).reshape(-1, 3)
        row = found[:, 0]
        start, stop = (corpus.offsets[row] + found[:, i] for i in (1, 2))
        reach = np.maximum.accumulate(stop)
        first = np.flatnonzero(np.append(True, start[1:] >= reach[:-1])[: row.size])
        last = np.append(first[1:] - 1, row.size - 1)[: first.size]
        return Spans(row[first], start[first], reach[last])

    def _spans(self, texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        for at, text in enumerate(texts):
            given = self.spans[at] if self.spans is not None else ()
            for start, stop in given:
                if not 0 <= start <= stop <= len(text):
                    raise ValueError(
                        f"expected a span inside the {len(text)} characters of text {at}, got ({start}, {stop})"
                    )
            yield from ((at, start, stop) for start, stop in sorted({*self.matches(text), *given}))

    def settle(self, corpus: Corpus, edits: Edits) -> Edits:
        """Drops edits until all that the rules matched before is matched after the edits, too.

        An edit outside a guarded span can still break it, because a pattern may look at what stands around the span. Each round
        drops the edits nearest to what broke, twice as many as the round before, so that even a pattern that looks at the whole
        text takes few rounds.
        """
        edits, many = edits.in_order(), 1
        found = [(row, *span) for row, text in enumerate(corpus.strings()) for span in sorted(self.matches(text))]
        row, start, stop = np.array(found, np.int64).reshape(-1, 3).T
        held = watched = Spans(row, corpus.offsets[row] + start, corpus.offsets[row] + stop)
        while len(edits) and len(watched):
            after = corpus.apply(edits)
            moved, begin = edits.carry(watched, corpus.offsets), after.offsets[watched.row]
            places = zip(
                watched.row.tolist(), (moved.start - begin).tolist(), (moved.stop - begin).tolist(), strict=True
            )
            texts = after.strings()
            still = {(at, *span) for at in set(watched.row.tolist()) for span in self.matches(texts[at])}
            broken = watched.where(np.array([place not in still for place in places], np.bool_))
            edits = edits.where(~_around(corpus, edits, broken, many))
            watched, many = held.where(np.isin(held.row, broken.row)), many * 2
        return edits


def inside(spans: Spans, some: Spans) -> Mask:
    """Which of some spans lie inside one of these, which are in order and do not overlap."""
    at = np.searchsorted(spans.stop, some.start, "right")  # the first span that ends behind this start
    after = np.append(spans.start, some.start.max(initial=0) + 1)[at] <= some.start
    return after & (some.stop <= np.append(spans.stop, 0)[at])


def _around(corpus: Corpus, edits: Edits, spans: Spans, many: int) -> Mask:
    """The `many` edits of the same text to the left of each span, and one fewer to its right."""
    right = np.searchsorted(edits.spans(corpus.offsets).start, spans.start)
    first, last = np.maximum(right - many, 0), np.minimum(right + many - 1, len(edits))
    index, row = spread(first, last - first), np.repeat(spans.row, last - first)
    near = np.zeros(len(edits), np.bool_)
    near[index[edits.row[index] == row]] = True
    return near


def _pattern(rule: str) -> re.Pattern[str]:
    if not isinstance(rule, str):
        raise TypeError(f"expected {', '.join(KINDS)}, word:... or re:... to protect, got {rule!r}")
    kind, _, value = rule.partition(":")
    if rule in KINDS:
        return re.compile(KINDS[rule])
    if kind == "word" and value:
        return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    if kind == "re" and value:
        try:
            return re.compile(value)
        except re.error as error:
            raise ValueError(f"expected a regular expression to protect, got {value!r}: {error}") from None
    raise ValueError(f"expected {', '.join(KINDS)}, word:... or re:... to protect, got {rule!r}")
