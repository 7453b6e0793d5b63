"""Shields a file in chunks, so that memory does not grow with its size; or tells which of its texts were tampered with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import IO, ClassVar

from ..perturbations.blocks import Tally
from ..shields.detect import Detecting, Detector
from ..shields.mending import Mending
from .formats.files import Input
from .perturbing import Rewriting, ShowProgress, Treatment, chunks


@dataclass(frozen=True)
class Telling(Treatment):
    """Writes a JSON line for each text: row, column, whether it is called tampered with, how likely it was, and by what kind.

    The texts that are called tampered with are the changed_texts of its counts.
    """

    work: Detecting
    same_format: ClassVar[bool] = False

    def __call__(
        self, source: Input, out: IO[bytes], log: IO[bytes] | None = None, progress: ShowProgress | None = None
    ) -> Tally:
        tally, reader = self.work.new_tally(), source.open()
        with closing(reader.source):
            for chunk in chunks(source, reader, 2):
                names = reader.columns or [""]
                _, told = chunk.run(self.work, 0, tally, edits=True)
                lines = [
                    {
                        "row": chunk.first_row + row,
                        **({"column": name} if name else {}),
                        "tampered": verdict.tampered,
                        "probability": round(verdict.probability, 4),
                        "kinds": {kind: round(share, 4) for kind, share in verdict.kinds.items()},
                    }
                    for row, columns in enumerate(told)
                    for name, verdicts in zip(names, columns, strict=False)
                    for verdict in verdicts  # none of a text that is missing or no Unicode
                ]
                out.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
                if progress:
                    progress(reader.source.done(), tally.texts)
        return tally


def open_mending(shield: str, protect: Sequence[str], only: Sequence[str], detail: bool) -> Rewriting:
    """Returns a treatment of plain values, from which a worker builds it again."""
    return Rewriting(Mending.of(shield, protect, only=only, detail=detail))


def open_telling(false_alarms: float | None) -> Telling:
    """Returns a treatment of plain values, from which a worker builds it again. false_alarms: None for the default."""
    return Telling(Detecting(Detector() if false_alarms is None else Detector(false_alarms)))
