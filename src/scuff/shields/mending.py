"""A shield with all that decides its result, applied to texts or tokens block by block, and the counts of what it found."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..perturbations.blocks import Tally, Work
from ..perturbations.protect import Protect, inside
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Mask, Ragged, spread
from ..text.unicode import is_white
from ..text.words import Spans
from ..version import __version__
from .base import Repairs, Shield
from .names import parse

if TYPE_CHECKING:
    from typing_extensions import Self

EXAMPLES = 5  # of each kind, in a report
TRIED = 20  # repairs of a kind in one block among which examples are looked for
AROUND = 30  # characters on each side of a repair that an example shows at most


class Repair(NamedTuple):
    """One repair of one text, for people: text[start:stop] was `old` and became `new`; `kinds` says what was wrong with it."""

    start: int
    stop: int
    old: str
    new: str
    kinds: tuple[str, ...]


@dataclass
class Findings(Tally):
    """Counts of what a shield found: repairs and texts of each kind, odd characters that went, words before and after."""

    repairs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # repairs
    texts_of: Counter[str] = field(default_factory=Counter)  # texts, by kind
    # beyond ASCII, or invisible, that were replaced or removed
    characters: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # (before, after) by kind, the first ones

    def add(self, other: Tally) -> None:
        super().add(other)
        if not isinstance(other, Findings):
            return
        self.repairs += other.repairs
        self.kinds += other.kinds
        self.texts_of += other.texts_of
        self.characters += other.characters
        for kind, pairs in other.examples.items():
            self._show(kind, pairs)

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Self:
        counters = {name: Counter(saved[name]) for name in ("kinds", "texts_of", "characters")}
        examples = {kind: [(old, new) for old, new in pairs] for kind, pairs in saved["examples"].items()}
        return super().restored({**saved, **counters, "examples": examples})

    def count(self, corpus: Corpus, found: Repairs, *, detail: bool) -> None:
        """Counts the repairs of some texts. detail: characters and examples, too."""
        table = found.counts(len(corpus))
        self.texts += len(corpus)
        self.changed_texts += int(np.unique(found.edits.row).size)
        self.repairs += len(found)
        for kind, repairs, texts in zip(found.kinds, table.sum(0).tolist(), (table > 0).sum(0).tolist(), strict=True):
            if repairs:
                self.kinds[kind] += repairs
                self.texts_of[kind] += texts
        if detail and len(found):
            code, many = np.unique(_gone(corpus, found.edits), return_counts=True)
            self.characters.update(dict(zip(map(chr, code.tolist()), many.tolist(), strict=True)))
            self._look(corpus, found)

    def _look(self, corpus: Corpus, found: Repairs) -> None:
        """Adds examples of the kinds that have too few."""
        few = [bit for bit, kind in enumerate(found.kinds) if len(self.examples.get(kind, ())) < EXAMPLES]
        which = {found.kinds[bit]: np.flatnonzero(found.kind >> np.uint64(bit) & np.uint64(1))[:TRIED] for bit in few}
        if any(at.size for at in which.values()):
            before, after = _words(corpus, found.edits, np.unique(np.concatenate(list(which.values()))))
            for kind, at in which.items():
                self._show(kind, [(before[i], after[i]) for i in at.tolist()])

    def _show(self, kind: str, pairs: Iterable[tuple[str, str]]) -> None:
        for pair in pairs:
            shown = self.examples.setdefault(kind, [])
            if len(shown) < EXAMPLES and pair not in shown:
                shown.append(pair)

    def summary(self) -> dict[str, Any]:
        """All counts, as `scuff shield --report FILE.json` writes them."""
        return {
            "texts": self.texts,
            "changed_texts": self.changed_texts,
            "failed_texts": self.failures.count,
            "repairs": self.repairs,
            "kinds": {
                kind: {
                    "repairs": repairs,
                    "texts": self.texts_of[kind],
                    "examples": [list(pair) for pair in self.examples.get(kind, ())],
                }
                for kind, repairs in sorted(self.kinds.items(), key=lambda each: (-each[1], each[0]))
            },
            "characters": [
                {"character": char, "code": f"U+{ord(char):04X}", "name": name_of(char), "count": count}
                for char, count in sorted(self.characters.items(), key=lambda each: (-each[1], each[0]))
            ],
        }


@dataclass(frozen=True)
class Mending(Work[Repair]):
    """A shield with everything that decides its result. only: kinds of text outside which nothing is mended, as for protect."""

    shield: Shield
    protect: Protect = field(default_factory=Protect)
    only: tuple[str, ...] = ()
    detail: bool = False  # whether characters and examples are collected

    noun: ClassVar[str] = "shield"
    blocks_at_once: ClassVar[int] = 4  # more than a perturbation takes: a word that comes again is looked up once

    @classmethod
    def of(
        cls,
        shield: str | Shield,
        protect: Sequence[str] | Protect = (),
        *,
        only: Sequence[str] = (),
        detail: bool = False,
    ) -> Mending:
        """Raises ValueError for a shield that does not exist, or a wrong rule of what to protect or to keep to."""
        return cls(parse(shield), Protect.of(protect), Protect.of(only).what, detail)

    @property
    def spec(self) -> str:
        return self.shield.spec

    @property
    def signature(self) -> str:
        """All that decides the result except the data."""
        kept = f"|only:{','.join(self.only)}" if self.only else ""
        return f"scuff:{__version__}|shield:{self.spec}|protect:{','.join(self.protect.what) or 'nothing'}{kept}"

    def protecting(self, protect: Protect) -> Mending:
        return replace(self, protect=protect)

    def new_tally(self) -> Findings:
        return Findings()

    def texts(
        self,
        texts: Sequence[str],
        *,
        ids: Sequence[object] | None = None,
        draw: int = 0,
        edits: list[list[Repair]] | None = None,
        tally: Tally | None = None,
    ) -> list[str]:
        odd = self.shield.in_doubt(texts)
        if len(odd) == len(texts):
            return super().texts(texts, ids=ids, draw=draw, edits=edits, tally=tally)
        self._blocks(np.zeros(len(texts), np.int64), ids)  # checks what is given for each text
        spans = self.protect.spans
        some = self if spans is None else self.protecting(replace(self.protect, spans=tuple(spans[at] for at in odd)))
        repairs: list[list[Repair]] = []
        try:
            mended = super(Mending, some).texts(
                [texts[at] for at in odd], edits=None if edits is None else repairs, tally=tally
            )
        except ValueError:  # which counts texts: those that are left, too
            return super().texts(texts, ids=ids, draw=draw, edits=edits, tally=tally)
        new = list(map(str, texts))
        for at, text in zip(odd, mended, strict=True):
            new[at] = text
        if edits is not None:
            found = dict(zip(odd, repairs, strict=True))
            edits += [found.get(at, []) for at in range(len(texts))]
        if tally is not None:
            tally.texts += len(texts) - len(odd)
        return new

    def changes(
        self, corpus: Corpus, part: slice, draw: int, tally: Tally | None
    ) -> tuple[Edits, Callable[[], list[list[Repair]]]]:
        found = self.repairs(corpus, self.guard(part))
        if isinstance(tally, Findings):
            tally.count(corpus, found, detail=self.detail)
        return found.edits, partial(_listed, found, corpus)

    def repairs(self, corpus: Corpus, protect: Protect) -> Repairs:
        """The repairs of a corpus, none of them in protected text."""
        found = self.shield.repairs(corpus, protect.find(corpus) if protect else None)
        if self.only and len(found):
            found = found.where(inside(Protect(self.only).find(corpus), found.edits.spans(corpus.offsets)))
        if protect.what and len(found):
            numbered = replace(found.edits, cost=np.arange(len(found)))  # so that it is seen which ones are left
            kept = np.zeros(len(found), np.bool_)
            kept[protect.settle(corpus, numbered).cost] = True
            found = found if kept.all() else found.where(kept)
        return found


def _listed(found: Repairs, corpus: Corpus) -> list[list[Repair]]:
    return [[Repair(*edit, kinds) for edit, kinds in text] for text in found.listed(corpus)]


def name_of(char: str) -> str:
    """The name of a character; of one that Unicode names not, what it is."""
    kinds = {"Cc": "<control>", "Co": "<private use>", "Cn": "<unassigned>"}
    return unicodedata.name(char, kinds.get(unicodedata.category(char), "<no name>"))


def _gone(corpus: Corpus, edits: Edits) -> Ints:
    """The characters beyond ASCII, and invisible ones, that stand in what edits replace and not in what they write."""
    old = edits.spans(corpus.offsets).cut(corpus)
    was, now = _of_each(old), _of_each(edits.text)
    code = old.codes.astype(np.int64)
    odd: Mask = (code > 126) | ((code < 32) & ~np.isin(code, (9, 10, 13)))
    gone: Ints = code[odd & ~np.isin(was, now)]
    return gone


def _of_each(texts: Ragged) -> Ints:
    """A number for each character that tells it, and which text it stands in, from all others."""
    return np.repeat(np.arange(len(texts)), texts.lengths) * 0x200000 + texts.codes


def _words(corpus: Corpus, edits: Edits, which: Ints) -> tuple[dict[int, str], dict[int, str]]:
    """The words that some edits change, before and after all edits: from white space that stays to white space that stays."""
    every = edits.spans(corpus.offsets)
    stays = is_white(corpus.codes)
    stays[spread(every.start, every.stop - every.start)] = False
    spans = every.where(which)
    start, stop = spans.start.copy(), spans.stop.copy()
    first, last = corpus.offsets[spans.row], corpus.offsets[spans.row + 1]
    for i in range(len(spans)):
        low, high = max(first[i], start[i] - AROUND), min(last[i], stop[i] + AROUND)
        left, right = np.flatnonzero(stays[low : start[i]]), np.flatnonzero(stays[stop[i] : high])
        start[i] = low + left[-1] + 1 if left.size else low
        stop[i] = stop[i] + right[0] if right.size else high
    around = Spans(spans.row, start, stop)
    before, after = corpus.cut(around), corpus.apply(edits).cut(edits.carry(around, corpus.offsets))
    numbers = which.tolist()
    return dict(zip(numbers, before.strings(), strict=True)), dict(zip(numbers, after.strings(), strict=True))
