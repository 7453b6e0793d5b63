"""Shields a file in chunks, so that memory does not grow with its size."""

from __future__ import annotations

from ..shields.mending import Findings, Mending
from .formats.files import Input
from .perturbing import ShowProgress, rewrite_file


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
