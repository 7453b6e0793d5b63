"""A folder beside an output in which the blocks of it are collected, so that a killed command goes on where it was.

It holds what decides the output (key.json), a line for each block that is done (done.jsonl), and the blocks that wait for those
before them. It is removed at the end.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from ..interrupts import Resumable
from ..locks import LOCK, Busy, locked
from .formats.parquet import join_parts
from .formats.streams import BadInput, CannotWrite, open_output

KEY, DONE = "key.json", "done.jsonl"
PRIVATE = 0o700  # of the folder: the output that is replaced may be hidden from others
GOES_ON = "; the same command goes on from "

Entry = dict[str, Any]  # what is known of a block that is done, or of a file all blocks of which are


class Parts:
    """The folder of an output: NAME.parts beside a file, .parts inside a folder."""

    def __init__(self, output: str | Path, step: str = "") -> None:
        """step: names one of several folders of the same output."""
        target = Path(os.path.realpath(output))
        name = target.name if len(os.fsencode(target.name)) < 200 else f"{zlib.crc32(os.fsencode(target.name)):08x}"
        self.path = target / f"{step}.parts" if target.is_dir() else target.with_name(f"{name}{step}.parts")
        # by the number of the file, then the start of the block
        self.done: dict[int, dict[int, Entry]] = defaultdict(dict)
        self.finished: dict[int, Entry] = {}  # files that are complete, by number

    @contextmanager
    def opened(self, key: Mapping[str, Any], stays: type[Exception] = OSError) -> Iterator[None]:
        """Makes the folder, or goes on with it if it has the same key. Raises BadInput if another process is busy with it.

        If a block is done it stays where the same command can go on: after Ctrl-C, if the disk is full, and after errors of the
        type `stays`. Else it is removed at the end.
        """
        with self._locked():
            if self._known() != (wanted := json.loads(json.dumps(key))):
                self._clear()
                (self.path / KEY).write_text(json.dumps(wanted, indent=1), encoding="utf-8")
            self._read()
            try:
                yield
            except (OSError, MemoryError, KeyboardInterrupt, stays) as error:
                if not any(self.done.values()):
                    self.remove()
                    raise
                if isinstance(error, KeyboardInterrupt):
                    raise Resumable(self.path) from None
                if isinstance(error, CannotWrite):  # with several folders, the last that is told is the outermost
                    raise CannotWrite(f"{str(error).partition(GOES_ON)[0]}{GOES_ON}{self.path}") from None
                raise
            except BaseException:
                self.remove()
                raise
            self.remove()

    def note(self, entry: Entry) -> None:
        """Writes down that a block is done, or, if it has no start, that a file is complete."""
        with open_output(self.path / DONE, mode="ab") as log:
            log.write(json.dumps(entry).encode() + b"\n")
        self._keep(entry)

    def of(self, file: int) -> dict[int, Entry]:
        """Returns the blocks of a file that are done, by their start, in order."""
        return dict(sorted(self.done[file].items()))

    def place(self, file: int, start: int, suffix: str = "part") -> Path:
        """Returns the name of a block."""
        return self.path / f"{file}-{start}.{suffix}"

    def joined(self, file: int, suffix: str = "part") -> Path:
        """Returns the name of the file in which blocks are joined."""
        return self.path / f"{file}.{suffix}"

    def remove(self) -> None:
        """Removes the folder. What says whose it is goes last, so that the next command can go on if this one is killed."""
        with suppress(OSError):
            last = [self.path / name for name in (DONE, KEY, LOCK)]
            for entry in {*self.path.iterdir()} - {*last}:
                entry.unlink()
            for entry in last:
                entry.unlink(missing_ok=True)
            self.path.rmdir()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        held = self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir()))
        if held and not (self.path / LOCK).exists():
            raise BadInput(f"{self.path}: expected a folder for the parts of the output, got something else")
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path, PRIVATE))
            except Busy:
                raise BadInput(
                    f"{self.path}: expected an output that nobody writes, got one that another process is busy with"
                ) from None
            except OSError as error:
                raise BadInput(f"{self.path}: expected a folder that can be made, got: {error.strerror}") from None
            yield

    def _known(self) -> Any:
        with suppress(OSError, ValueError):
            return json.loads((self.path / KEY).read_text(encoding="utf-8"))
        return None

    def _clear(self) -> None:
        for entry in self.path.iterdir():
            if entry.name != LOCK:
                entry.unlink()

    def _read(self) -> None:
        """Reads which blocks are done. Cuts off a line that was being written when the command was killed, and whatever begins
        with a line that is no JSON: a power cut may leave zeros.
        """
        log, whole = self.path / DONE, 0
        if not log.exists():
            return
        with open(log, "rb") as lines, suppress(ValueError):
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._keep(json.loads(line))
                whole += len(line)
        os.truncate(log, whole)

    def _keep(self, entry: Entry) -> None:
        if "start" in entry:
            self.done[entry["file"]][entry["start"]] = entry
        else:
            self.finished[entry["file"]] = entry


class Part:
    """A part that is being written: under another name first, so that what a killed worker left is not taken for it."""

    size = 0

    def __init__(self, path: str | Path, zipped: bool = False) -> None:
        self.path, self.zipped = Path(path), zipped
        self.name = self.path.with_name(f"{self.path.name}.{os.getpid()}")

    def __enter__(self) -> Part:
        self.raw = open_output(self.name, self.path)
        # without name and time, as `replacing` does
        self.file: IO[bytes] = (
            cast(IO[bytes], gzip.GzipFile("", "wb", 6, self.raw, mtime=0)) if self.zipped else self.raw
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if self.zipped:
                self.file.close()
            self.raw.close()  # writes the rest
            if kind is None:
                self.size = self.name.stat().st_size
                os.replace(self.name, self.path)
        finally:
            self.name.unlink(missing_ok=True)


def append(part: Path, joined: Path) -> None:
    """Moves what a file holds to the end of another one."""
    if not joined.exists():
        os.replace(part, joined)
        return
    with open_output(joined, mode="rb+") as target:
        target.seek(0, os.SEEK_END)
        _copy(part, target)
    part.unlink()


def _copy(part: Path, target: io.BufferedWriter) -> None:
    """Writes what a file holds to another one, inside the system where it can do that."""
    target.flush()
    with open(part, "rb", 0) as source:
        try:
            while os.copy_file_range(source.fileno(), target.fileno(), 1 << 30):  # type: ignore[attr-defined,unused-ignore]
                pass
        except (AttributeError, OSError):  # not on this system, not on this file system, or the disk is full
            pass
        shutil.copyfileobj(source, target, 1 << 20)  # the rest, which raises the error of a full disk


def join_pieces(path: Path, pieces: Iterable[Path | bytes]) -> None:
    """Writes files, or bytes, one behind the other. The files stay."""
    with open_output(path) as out:
        for piece in pieces:
            if isinstance(piece, Path):
                _copy(piece, out)
            else:
                out.write(piece)


def join_tables(path: Path, parts: Iterable[Path], kept: Sequence[Any] | None = None) -> None:
    """Writes parts of a Parquet table as one. The parts stay. kept: of each part, a mask of the rows that are written."""
    with open_output(path) as out:
        join_parts((file for part in parts for file in _opened(part)), out, kept)


def _opened(path: Path) -> Iterator[IO[bytes]]:
    with open(path, "rb") as file:
        yield file
