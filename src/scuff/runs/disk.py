"""The files of a run by their names, such as trials/clean-00000.npz: on a disk here, in a store in `store.py`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

from ..data.formats.streams import CannotWrite
from ..locks import Busy, locked
from ..stores import StorePath

BUSY = "expected a run that nobody works on, got one that another process is busy with"


class BadRun(ValueError):
    """Raised if a folder is no run of Scuff, its files are damaged, or it does not fit what is asked of it."""


def cannot_write(path: Path | StorePath, content: bytes, why: str | OSError) -> CannotWrite:
    return CannotWrite(f"{path}: expected to write {len(content):,} bytes, got: {why}; what was written before stays")


def write_atomically(path: Path, content: bytes) -> None:
    """Writes to a temporary file, flushes it and renames it, so that after a crash the file is complete or absent.

    Raises CannotWrite, with the path, if that fails.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise cannot_write(path, content, error.strerror or error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str) -> None:
    """Adds a line to a text file, in one write, so that lines of several processes do not mix. A last line without an end, as a
    full disk may leave one, gets it.
    """
    with open(path, "ab+") as out:
        size = out.seek(0, os.SEEK_END)
        out.seek(max(0, size - 1))
        start = b"" if out.read(1) in (b"", b"\n") else b"\n"
        out.write(start + line.encode("utf-8", "backslashreplace") + b"\n")


class Files(Protocol):
    """Reads and writes the files of one run. Names are relative to its folder; missing files raise FileNotFoundError."""

    writers: int  # threads that write parts at the same time

    @property
    def path(self) -> Path | StorePath: ...
    @property
    def shared(self) -> bool:
        """Whether other processes see the files."""
        ...

    def read(self, name: str) -> bytes: ...
    def opened(self, name: str) -> IO[bytes]:
        """Returns a file, to be read in parts and closed."""
        ...

    def lines(self, name: str) -> Iterator[str]: ...
    def has(self, name: str) -> bool: ...
    def forget(self, name: str) -> None:
        """Drops what is remembered of a file, which another process will write again."""
        ...

    def modified(self, name: str) -> float:
        """Returns when a file was written, in seconds."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Writes a file, whole or not at all. Raises CannotWrite if that fails."""
        ...

    def make(self, folder: str) -> None:
        """Makes a folder with those above it, if it is not there."""
        ...

    def names(self) -> list[str]:
        """Returns the names in the folder itself; [] if it does not exist, [""] if it is none."""
        ...

    def times(self, folder: str) -> dict[str, float]:
        """Returns the files in a folder by name, without the folder's, with the time at which each was written."""
        ...

    def listed(self, folder: str) -> list[str]:
        """Returns the names of `times`."""
        ...

    def renamed(self, number: str) -> Path | StorePath | None:
        """Renames the whole folder to FOLDER-oldNUMBER. Returns the new path; None if there is one of that name."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Locks the folder, which exists, against other processes. Raises BadRun if one has locked it."""
        ...


class DiskFiles:
    """The files of a run on a disk, or on a file system that several machines share."""

    writers = 1
    shared = True

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def opened(self, name: str) -> IO[bytes]:
        return open(self.path / name, "rb")

    def lines(self, name: str) -> Iterator[str]:
        with open(self.path / name, encoding="utf-8") as lines:
            yield from lines

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def forget(self, name: str) -> None:
        """Nothing is remembered."""

    def modified(self, name: str) -> float:
        return (self.path / name).stat().st_mtime

    def write(self, name: str, content: bytes) -> None:
        if "/" in name:
            (self.path / name).parent.mkdir(exist_ok=True)
        write_atomically(self.path / name, content)

    def make(self, folder: str) -> None:
        (self.path / folder).mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        if not self.path.exists():
            return []
        return [entry.name for entry in self.path.iterdir()] if self.path.is_dir() else [""]

    def times(self, folder: str) -> dict[str, float]:
        return {name: self.modified(f"{folder}/{name}") for name in self.listed(folder)}

    def listed(self, folder: str) -> list[str]:
        inside = self.path / folder
        return os.listdir(inside) if inside.is_dir() else []

    def renamed(self, number: str) -> Path | None:
        new = Path(f"{self.path}-old{number}")
        if new.exists():
            return None
        os.rename(self.path, new)
        return new

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Files that a killed process left half written are deleted: an earlier command, or in the end a worker of this one."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path))
            except Busy:
                raise BadRun(f"{self.path}: {BUSY}") from None
            self._delete_unfinished()
            try:
                yield
            finally:
                with suppress(OSError):
                    self._delete_unfinished()

    def _delete_unfinished(self) -> None:
        for unfinished in (*self.path.glob(".*.part"), *(self.path / "trials").glob(".*.part")):
            unfinished.unlink(missing_ok=True)
