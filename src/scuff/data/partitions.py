"""Which files a command reads and writes: one file, or the partitions of a data set in a folder."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..stores import is_url, on_this_disk, without_query
from .formats.files import Input
from .formats.streams import BadInput, is_stream

MAGIC = re.compile(r"[*?[]")  # what makes a name a pattern


class Partition(NamedTuple):
    """A file to read, the file that becomes of it, and the one for what is told about each text, if wanted."""

    source: Input
    target: str
    edits_to: str | None = None


def partitions(
    inputs: Sequence[str],
    output: str,
    edits_to: str | None,
    open_input: Callable[[str], Input],
    *,
    report: str | None = None,
    suffix: str = "",
) -> list[Partition]:
    """Returns the files that are meant: each input is a file, `-`, a folder, or a pattern such as `parts/*.csv`.

    A single file has the output itself; of several, each has a file of its own name in the folder `output`, and so has `edits_to`
    (with .jsonl behind the name). report: another file that is to be written. suffix: stands behind the names of outputs in a
    folder. Raises BadInput if there are no files, or one would be written that is read or written already.
    """
    output, edits_to = _local(output, "--output"), edits_to and _local(edits_to, "--edits")
    inputs = [_local(each, "an input") if each.startswith("file:") else each for each in inputs]
    if "" in inputs:
        raise BadInput("expected the name of a file, got none")
    several = len(inputs) > 1 or _is_several(inputs[0])
    if not several:
        files = [Partition(open_input(inputs[0]), output, edits_to)]
    else:
        found = _several(inputs, output, edits_to)
        files = [
            Partition(
                _named(path, open_input),
                os.path.join(output, name + suffix),
                None if edits_to is None else os.path.join(edits_to, f"{name}.jsonl"),
            )
            for path, name in found
        ]
    _check_apart(files, report)
    if several:
        for folder in (output, edits_to):
            if folder is not None:
                make_folder(folder)
    return files


def _several(inputs: Sequence[str], output: str, edits_to: str | None) -> list[tuple[str, str]]:
    """Returns the files that are read, with the name of what becomes of each. Raises BadInput if the folders do not fit."""
    folders = [(folder, flag) for folder, flag in ((output, "--output"), (edits_to, "--edits")) if folder is not None]
    for folder, flag in folders:
        if folder == "-" or (os.path.exists(folder) and not os.path.isdir(folder)):
            raise BadInput(f"expected a folder for {flag}, since the input is several files, got {folder}")
    found = [one for each in inputs for one in _found(each)]
    if twice := next((name for name, times in Counter(name for _, name in found).items() if times > 1), None):
        raise BadInput(f"{output}: expected inputs of different names, got {twice} twice")
    for folder, flag in folders:
        if lost := next((path for path, _ in found if _is_inside(path, folder)), None):
            raise BadInput(f"{folder}: expected a folder without inputs, got one with {lost}")
        for above in filter(None, map(_searched, inputs)):
            if _is_inside(folder, above):
                raise BadInput(f"{folder}: expected a folder outside the input {above} for {flag}, got one inside")
    return found


def _local(path: str, what: str) -> str:
    """Returns a path on this disk. Raises BadInput for the URL of anything else."""
    try:
        return str(on_this_disk(path, what)) if is_url(path) else path
    except ValueError as error:
        raise BadInput(str(error)) from None


def _named(path: str, open_input: Callable[[str], Input]) -> Input:
    """Opens one of several inputs. Raises BadInput that names it."""
    try:
        return open_input(path)
    except BadInput as error:
        told = str(error)
        raise BadInput(told if told.startswith(path) else f"{path}: {told}") from None


def _is_several(path: str) -> bool:
    return os.path.isdir(path) or (not is_url(path) and bool(MAGIC.search(path)) and not os.path.exists(path))


def _searched(path: str) -> str | None:
    """Returns the folder in which all files, at any depth, are inputs, so that an output in it would become one."""
    if os.path.isdir(path):
        return path
    if _is_several(path) and "**" in path:
        return os.path.dirname(path[: MAGIC.search(path).start()]) or "."  # type: ignore[union-attr]
    return None


def _is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder, or something in it."""
    inner, outer = os.path.realpath(path), os.path.realpath(folder)
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)


def _found(path: str) -> list[tuple[str, str]]:
    """Returns files in the order of their names, with the name that each has in the output."""
    if path == "-":
        raise BadInput("expected files, since the input is several, got standard input among them")
    if is_url(path):
        raise BadInput(f"expected files on this disk, since the input is several, got {without_query(path)} among them")
    if not _is_several(path):
        if is_stream(path):
            raise BadInput(f"{path}: expected files, since the input is several, got a pipe or a device among them")
        return [(path, os.path.basename(path))]
    if os.path.isdir(path):
        named = [(each, Path(each).relative_to(path).as_posix()) for each in sorted(_inside(path))]
        what = "a folder with files"
    else:
        named = [
            (each, os.path.basename(each)) for each in sorted(glob.glob(path, recursive=True)) if os.path.isfile(each)
        ]
        what = "a pattern that some files match"
    if not named:
        raise BadInput(f"{path}: expected {what}, got one without")
    return named


def _inside(folder: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields all files in a folder and those inside it, or that it links to. What begins with . or _ is no data: .crc, _SUCCESS.

    above: the folders that lead there. Raises BadInput for what cannot be read, so that no part of the data is left out.
    """
    here = os.path.realpath(folder)
    if here in above:
        raise BadInput(f"{folder}: expected a folder, got a link that leads back to one around it")
    try:
        entries = [entry for entry in os.scandir(folder) if not entry.name.startswith((".", "_"))]
    except OSError as error:
        raise BadInput(f"{folder}: expected a folder that can be read, got: {error.strerror}") from None
    for entry in entries:
        if os.path.isdir(entry.path):
            yield from _inside(entry.path, (*above, here))
        elif os.path.isfile(entry.path):
            yield str(Path(entry.path))
        elif entry.is_symlink():
            raise BadInput(f"{entry.path}: expected a file, got a link to nothing that can be read")


def _check_apart(files: Sequence[Partition], report: str | None) -> None:
    """Raises BadInput if a file that is written is read, too, or written twice, under whatever name."""
    read = {_identity(each.source.path) for each in files if each.source.path != "-"}
    outputs = [(flag, path) for each in files for flag, path in (("--output", each.target), ("--edits", each.edits_to))]
    written: dict[object, str] = {}
    for flag, path in [*outputs, ("--report", report)]:
        if path is None or is_stream(path):
            continue
        if (one := _identity(path)) in read:
            raise BadInput(f"{path}: expected an output other than the input, got the same file")
        if one in written:
            other = written[one] if written[one] != flag else "the others"
            raise BadInput(f"{path}: expected {flag} to name another file than {other}, got the same")
        written[one] = flag


def _identity(path: str) -> object:
    """Returns what is the same for all names of a file."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def make_folder(path: str | Path) -> None:
    """Makes a folder and those above it. Raises BadInput if that fails."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: expected a folder that can be made, got: {error.strerror}") from None
