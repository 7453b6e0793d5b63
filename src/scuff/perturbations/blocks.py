"""Work on many texts block by block: what plans of perturbations and shields have in common, and the counts of what changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from ..isolation import Failures
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, bounds, text_lengths
from .protect import Protect

if TYPE_CHECKING:
    from typing_extensions import Self

BLOCK = 1 << 17  # code points that are worked on at once: arrays of this size stay in the processor's cache

Note = TypeVar("Note")  # what is told about a text: each of its edits, each of its repairs, or a verdict


@dataclass
class Tally:
    """Counts of texts, of units (words, or what the strength is a share of), and of those that changed."""

    texts: int = 0
    changed_texts: int = 0
    units: int = 0
    changed_units: int = 0
    failures: Failures = field(
        default_factory=Failures
    )  # texts that the perturbation raised on, which stay as they are

    def add(self, other: Tally) -> None:
        """Adds other counts to these."""
        self.texts += other.texts
        self.changed_texts += other.changed_texts
        self.units += other.units
        self.changed_units += other.changed_units
        self.failures.extend(other.failures)

    def saved(self) -> dict[str, Any]:
        """The counts in plain types, as JSON has them."""
        return {**vars(self), "failures": vars(self.failures)}

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Self:
        """The counts that `saved` returned, also after they were JSON."""
        return cls(**{**saved, "failures": Failures(**saved["failures"])})

    @property
    def reached(self) -> float:
        """The share of units that changed."""
        return self.changed_units / self.units if self.units else 0.0


class Work(ABC, Generic[Note]):
    """What is done with texts or tokens, block by block: a plan of a perturbation, or a shield. A subclass writes `changes`."""

    protect: Protect
    noun: ClassVar[str] = "perturbation"  # what messages call it
    blocks_at_once: ClassVar[int] = 1

    @property
    @abstractmethod
    def spec(self) -> str:
        """Names what does the work, in messages."""

    @abstractmethod
    def changes(
        self, corpus: Corpus, part: slice, draw: int, tally: Tally | None
    ) -> tuple[Edits, Callable[[], list[list[Note]]]]:
        """Returns the edits of one block of texts, in order, and a function that lists what is told about each text."""

    @abstractmethod
    def protecting(self, protect: Protect) -> Work[Note]:
        """Returns this work with other protected text."""

    def new_tally(self) -> Tally:
        """Returns counts of nothing, in the type that `changes` adds to."""
        return Tally()

    def guard(self, part: slice) -> Protect:
        """What is protected in one block of texts."""
        spans = self.protect.spans
        return self.protect if spans is None else Protect(self.protect.what, spans[part])

    def texts(
        self,
        texts: Sequence[str],
        *,
        ids: Sequence[object] | None = None,
        draw: int = 0,
        edits: list[list[Note]] | None = None,
        tally: Tally | None = None,
    ) -> list[str]:
        """Returns the new texts; fills `edits` and `tally` where given."""
        new: list[str] = []
        for part in self._blocks(text_lengths(texts), ids):
            corpus = Corpus.of(texts[part], ids=None if ids is None else ids[part])
            chosen, listed = self.changes(corpus, part, draw, tally)
            new += corpus.apply(chosen).strings()
            if edits is not None:
                edits += listed()
        return new

    def tokens(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        ids: Sequence[object] | None = None,
        draw: int = 0,
        edits: list[list[Note]] | None = None,
        tally: Tally | None = None,
    ) -> list[list[str]]:
        """The same for sentences in tokens; every token stays one. Positions count in the tokens joined by one space."""
        new: list[list[str]] = []
        sizes = np.array([sum(map(len, tokens)) + len(tokens) for tokens in sentences], np.int64)
        for part in self._blocks(sizes, ids):
            corpus, spans = Corpus.of_tokens(sentences[part], ids=None if ids is None else ids[part])
            chosen, listed = self.changes(corpus, part, draw, tally)
            flat = corpus.apply(chosen).cut(chosen.carry(spans, corpus.offsets)).strings()
            edges = bounds(spans.per_row(len(corpus))).tolist()
            new += [flat[a:b] for a, b in pairwise(edges)]
            if edits is not None:
                edits += listed()
        return new

    def _blocks(self, sizes: Ints, ids: Sequence[object] | None) -> Iterator[slice]:
        check_each("ids", ids, sizes.size)
        check_each("protected spans", self.protect.spans, sizes.size)
        return blocks(sizes, self.blocks_at_once)


def check_each(what: str, given: Any, texts: int) -> None:
    """Raises ValueError if something is given, but not once for each text."""
    if given is not None and (isinstance(given, str) or not isinstance(given, Sized) or len(given) != texts):
        raise ValueError(f"expected {what} for each of {texts} texts, got {given!r:.60}")


def blocks(sizes: Ints, at_once: int = 1) -> Iterator[slice]:
    """Stretches of texts of about BLOCK code points each, or several times that. Where they are cut changes nothing but time."""
    block = np.cumsum(sizes) // (BLOCK * at_once)
    edges = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), sizes.size]
    return (slice(a, b) for a, b in pairwise(edges) if a < b)
