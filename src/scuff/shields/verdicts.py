"""The detector, applied to texts or tokens block by block: whether each was tampered with, and by what kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ..perturbations.blocks import Tally, Work
from ..perturbations.protect import Protect
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..version import __version__
from .detect import Detector, Verdict


@dataclass(frozen=True)
class Detecting(Work[Verdict]):
    """A detector as work on texts, of which it changes none."""

    detector: Detector = field(default_factory=Detector)
    protect: Protect = field(default_factory=Protect)

    noun: ClassVar[str] = "detector"

    @property
    def spec(self) -> str:
        return f"detector(false_alarms={self.detector.false_alarms:g})"

    @property
    def signature(self) -> str:
        """All that decides the verdicts except the data."""
        return f"scuff:{__version__}|{self.spec}"

    def protecting(self, protect: Protect) -> Detecting:
        return replace(self, protect=protect)

    def changes(
        self, corpus: Corpus, part: slice, draw: int, tally: Tally | None
    ) -> tuple[Edits, Callable[[], list[list[Verdict]]]]:
        verdicts = self.detector(corpus.strings())
        if tally:
            tally.texts += len(corpus)
            tally.changed_texts += sum(verdict.tampered for verdict in verdicts)
        return Edits.join([]), lambda: [[verdict] for verdict in verdicts]
