"""Shields a file in chunks, so that memory does not grow with its size; or tells which of its texts were tampered with."""

from __future__ import annotations

import json
from contextlib import ExitStack

from ..perturbations.blocks import Tally
from ..shields.detect import Detecting
from ..shields.mending import Findings, Mending
from .formats.files import Input
from .formats.streams import replacing
from .perturbing import ShowProgress, chunks, rewrite_file


def shield_file(
    source: Input,
    target: str,
    mending: Mending,
    *,
    edits_to: str | None = None,
    progress: ShowProgress | None = None,
) -> Findings:
    """Writes each record with mended texts, and returns the counts of what was found.

    edits_to: a file for the repairs as JSON lines with row, column, [start, stop, old, new, kinds]; only texts that changed.
    """
    found = rewrite_file(source, target, mending, edits_to=edits_to, progress=progress)
    assert isinstance(found, Findings), "the type of new_tally"
    return found


def detect_file(source: Input, target: str, detecting: Detecting, *, progress: ShowProgress | None = None) -> Tally:
    """Writes a JSON line for each text: row, column, whether it is called tampered with, how likely it was, and by what kind.

    Returns the counts; the texts that are called tampered with are its changed_texts.
    """
    tally, reader = detecting.new_tally(), source.open()
    with ExitStack() as stack:
        stack.callback(reader.source.close)
        out = stack.enter_context(replacing(target, source.path))
        for chunk in chunks(source, reader, 2):
            names = reader.columns or [""]
            _, told = chunk.run(detecting, 0, tally, edits=True)
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
                progress(reader.source, tally)
    return tally
