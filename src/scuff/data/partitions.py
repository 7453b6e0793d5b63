"""Which files a command reads and writes: one file, or the partitions of a data set in a folder."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from .formats.files import Input
from .formats.streams import BadInput


class Partition(NamedTuple):
    """A file to read, the file that becomes of it, and the one for what is told about each text, if wanted."""

    source: Input
    target: str
    edits_to: str | None = None


def partitions(
    inputs: Sequence[str], output: str, edits_to: str | None, open_input: Callable[[str], Input]
) -> list[Partition]:
    """Returns the files that are meant: each input is a file, `-`, a folder, or a pattern such as `parts/*.csv`.

    A single file has the output itself; of several, each has a file of its own name in the folder `output`, and so has `edits_to`
    (with .jsonl behind the name). Raises BadInput if there are none, or two would have the same name.
    """
    if len(inputs) == 1 and not _is_several(inputs[0]):
        return [Partition(open_input(inputs[0]), output, edits_to)]
    found = [one for each in inputs for one in _found(each)]
    for folder, flag in ((output, "--output"), (edits_to, "--edits")):
        if folder is not None and (folder == "-" or (os.path.exists(folder) and not os.path.isdir(folder))):
            raise BadInput(f"expected a folder for {flag}, since the input is several files, got {folder}")
    if twice := next((name for name, times in Counter(name for _, name in found).items() if times > 1), None):
        raise BadInput(f"{output}: expected inputs of different names, got {twice} twice")
    for folder in (output, edits_to):
        if folder is not None:
            _make_folder(folder)
    inside = os.path.realpath(output)
    if lost := next((path for path, _ in found if os.path.realpath(path).startswith(inside + os.sep)), None):
        raise BadInput(f"{output}: expected a folder without inputs, got one with {lost}")
    return [
        Partition(
            open_input(path),
            os.path.join(output, name),
            None if edits_to is None else os.path.join(edits_to, f"{name}.jsonl"),
        )
        for path, name in found
    ]


def _is_several(path: str) -> bool:
    return os.path.isdir(path) or (any(mark in path for mark in "*?[") and not os.path.exists(path))


def _found(path: str) -> list[tuple[str, str]]:
    """Returns files in the order of their names, with the name that each has in the output."""
    if path == "-":
        raise BadInput("expected files, since the input is several, got standard input among them")
    if not _is_several(path):
        return [(path, os.path.basename(path))]
    if os.path.isdir(path):
        files = [each for each in sorted(Path(path).rglob("*")) if each.is_file()]
        named = [(str(each), str(each.relative_to(path))) for each in files]
        # what begins with . or _ is not data: .crc, _SUCCESS
        named = [(each, name) for each, name in named if not any(part[0] in "._" for part in Path(name).parts)]
        what = "a folder with files"
    else:
        named = [
            (each, os.path.basename(each)) for each in sorted(glob.glob(path, recursive=True)) if os.path.isfile(each)
        ]
        what = "a pattern that some files match"
    if not named:
        raise BadInput(f"{path}: expected {what}, got one without")
    return named


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: expected a folder that can be made, got: {error.strerror}") from None
