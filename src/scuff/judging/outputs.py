"""Checks what `scuff judge import` is to write before it reads anything: ratings are weeks of work that nothing may overwrite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..data.formats.streams import STDOUT, BadInput

PathLike = str | Path


def check_outputs(outputs: Mapping[str, PathLike | None], inputs: Sequence[PathLike]) -> None:
    """Raises BadInput if an output is one of the inputs, or two outputs are the same. outputs: by flag, None: not wanted."""
    found: dict[str, str] = {}
    for flag, path in outputs.items():
        if path is None:
            continue
        target = "-" if str(path) in STDOUT else str(Path(path).resolve())
        if any(Path(target).exists() and Path(given).exists() and Path(target).samefile(given) for given in inputs):
            raise BadInput(f"{path}: expected an output other than the inputs for {flag}, got one of them")
        if target in found:
            raise BadInput(f"expected different files for {found[target]} and {flag}, got {path} for both")
        found[target] = flag
