"""Reads and writes a run folder: run.json, examples.jsonl, the trials in parts, and the files computed from them.

`schema.py` has the types of all of them. A part is a NumPy archive (.npz): a zip of plain arrays, one per column.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..data.formats.streams import CannotWrite
from ..readahead import ahead
from ..stores import StoreError, StorePath, as_path
from .checking import mismatch
from .disk import BadRun, DiskFiles, Files, append_line, write_atomically
from .schema import (
    SCHEMA,
    AttackLine,
    AttackSummary,
    EvaluationLine,
    EvaluationSummary,
    ExampleLine,
    RunFile,
    Summary,
    Timing,
)
from .store import StoreFiles

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = [
    "Arrays", "BadRun", "CannotWrite", "Folder", "Home", "NoAnswers", "WriteBehind", "append_line", "write_atomically",
]  # fmt: skip

Arrays = dict[str, npt.NDArray[Any]]  # the columns of a part, by name
Read = TypeVar("Read")

TRIALS, PART = "trials", ".npz"  # the folder of the parts, and how their names end
OTHER_VERSION = "expected a file that this version of Scuff wrote, got another"


class NoAnswers(RuntimeError):
    """Raised if the model answered none of the cases of a run."""


class Home:
    """Where the files of a run are. A temporary one is deleted when nobody refers to it any more, or when the program ends."""

    def __init__(self, path: Path | StorePath) -> None:
        self.path = path.absolute()

    @classmethod
    def temporary(cls) -> Home:
        above = tempfile.mkdtemp(prefix="scuff-")
        home = cls(Path(above) / "run")
        weakref.finalize(home, _delete, above, os.getpid())
        return home


def _delete(folder: str, process: int) -> None:
    if os.getpid() == process:  # a copy of the process ends without it
        shutil.rmtree(folder, ignore_errors=True)


class Folder:
    """Reads and writes the files of one run."""

    def __init__(self, path: str | Path | StorePath | Files) -> None:
        self.files = open_files(as_path(path)) if isinstance(path, str | Path | StorePath) else path

    @property
    def path(self) -> Path | StorePath:
        return self.files.path

    @property
    def started(self) -> bool:
        """Whether run.json was written."""
        return self.files.has("run.json")

    def start(self, run: RunFile, examples: Iterable[ExampleLine]) -> None:
        """Makes the folder and writes examples.jsonl, then run.json: a folder that has run.json is complete."""
        self.files.make(TRIALS)
        self.write_lines("examples.jsonl", examples)
        self.write_json("run.json", run)

    def usable(self) -> None:
        """Raises BadRun if the folder holds anything but a run, or what an interrupted `start` leaves."""
        names = self.files.names()
        unstarted = all(name in (TRIALS, "examples.jsonl", "lock") or name.endswith(".part") for name in names)
        if "run.json" not in names and not unstarted:
            raise BadRun(f"{self.path}: expected a new folder or a run of Scuff, got something else")

    def check_shared(self) -> None:
        """Raises ValueError if other processes could not see the folder."""
        if not self.files.shared:
            raise ValueError(
                f"{self.path}: expected a folder that worker processes see, got one in memory: use 1 worker"
            )

    def set_aside(self) -> Path | StorePath:
        """Renames the folder, so that a new run can begin under its name. Returns the new name: RUN-old, RUN-old2, ..."""
        with self.locked():
            numbers = chain([""], map(str, count(2)))
            return next(new for number in numbers if (new := self.files.renamed(number)) is not None)

    def has(self, name: str) -> bool:
        """Returns whether there is a file of that name."""
        return self.files.has(name)

    def modified(self, name: str) -> float:
        """Returns when a file was written, in seconds."""
        return self.files.modified(name)

    def changed(self) -> float:
        """Returns when the last part was written, in seconds; 0 if there is none."""
        times = self.files.times(TRIALS)
        return max((time for name, time in times.items() if name.endswith(PART)), default=0.0)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Makes the folder and locks it against other processes. Raises BadRun if one has locked it."""
        self.usable()
        self.files.make("")
        with self.files.locked():
            yield

    # JSON and HTML files

    def write(self, name: str, text: str) -> None:
        raw = text.encode("utf-8", "backslashreplace")  # half a surrogate pair becomes \udXXX, as JSON escapes it
        self.files.write(name, raw)

    def read_text(self, name: str) -> str:
        """Returns the text of a file. Raises BadRun if it is missing."""
        try:
            return self.files.read(name).decode()
        except FileNotFoundError:
            raise BadRun(f"{self.path}: expected a run folder with {name}, got none") from None

    def write_json(self, name: str, content: Any) -> None:
        self.write(name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def write_lines(self, name: str, lines: Iterable[Any]) -> None:
        self.write(name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))

    def read_json(self, name: str) -> Any:
        """Returns what a file holds. Raises BadRun if it is missing, no JSON, or of another version."""
        try:
            found = json.loads(self.files.read(name).decode())
        except (FileNotFoundError, NotADirectoryError):
            raise BadRun(f"{self.path}: expected a run folder with {name}, got none") from None
        except (ValueError, RecursionError) as error:
            raise BadRun(f"{self.path / name}: expected JSON, got: {error}") from None
        if name in ("run.json", "summary.json") and (not isinstance(found, dict) or found.get("schema") != SCHEMA):
            raise BadRun(f"{self.path / name}: {OTHER_VERSION}")
        return found

    def read_lines(self, name: str) -> Iterator[Any]:
        """Yields the lines of a file. Raises BadRun if it is missing or a line is no JSON."""
        try:
            yield from map(json.loads, self.files.lines(name))
        except (FileNotFoundError, ValueError, RecursionError) as error:
            raise BadRun(f"{self.path / name}: expected JSON lines, got: {error}") from None

    def run(self) -> RunFile:
        found: RunFile = self.read_json("run.json")
        if wrong := mismatch(found, RunFile, exact=False):
            raise BadRun(f"{self.path / 'run.json'}: {OTHER_VERSION}: {wrong.removeprefix('.')}")
        return found

    def examples(self) -> Iterator[ExampleLine]:
        return self.read_lines("examples.jsonl")

    def timings(self) -> list[Timing]:
        """Returns an entry for each time that the run was started or resumed; [] if none was written yet, or it is damaged.

        No result depends on the times.
        """
        try:
            found = self.read_json("timings.json")
        except (BadRun, OSError):
            return []
        return [] if mismatch(found, list[Timing], exact=False) else found

    def summary(self) -> Summary:
        """Returns summary.json of an evaluation or an attack. Raises BadRun if it does not have the type in `schema.py`."""
        return self.attack_summary() if "kind" in self.read_json("summary.json") else self.evaluation_summary()

    def evaluation_summary(self) -> EvaluationSummary:
        return cast(EvaluationSummary, self._read_summary(EvaluationSummary))

    def attack_summary(self) -> AttackSummary:
        return cast(AttackSummary, self._read_summary(AttackSummary))

    def _read_summary(self, kind: Any) -> Any:
        """Returns summary.json. Raises BadRun if a key is missing or of another type, as in a file of another version."""
        found = self.read_json("summary.json")
        if wrong := mismatch(found, kind, exact=False):
            raise BadRun(f"{self.path / 'summary.json'}: {OTHER_VERSION}: {wrong.removeprefix('.')}")
        return found

    def evaluation_results(self) -> Iterator[EvaluationLine]:
        """Yields the lines of results.jsonl of an evaluation."""
        return self.read_lines("results.jsonl")

    def attack_results(self) -> Iterator[AttackLine]:
        """Yields the lines of results.jsonl of an attack."""
        return self.read_lines("results.jsonl")

    # trials

    def part_path(self, name: str) -> Path | StorePath:
        return self.path / _part(name)

    def has_part(self, name: str) -> bool:
        return self.files.has(_part(name))

    def write_part(self, name: str, arrays: Arrays) -> None:
        """Writes a part. The same arrays give the same bytes: the archive holds no times and sorts its columns."""
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
            archive.comment = self._mark(name, arrays)
            for key in sorted(arrays):
                column = io.BytesIO()
                np.lib.format.write_array(column, np.ascontiguousarray(arrays[key]), allow_pickle=False)
                entry = zipfile.ZipInfo(f"{key}.npy")
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, column.getvalue(), compresslevel=4)
        self.files.write(_part(name), raw.getvalue())

    def parts(self) -> list[str]:
        """Returns the names of all parts, sorted."""
        return sorted(name.removesuffix(PART) for name in self.files.listed(TRIALS) if name.endswith(PART))

    def read_part(self, name: str, columns: Collection[str] | None = None) -> Arrays:
        """Returns these columns of a part, by default all; those that it lacks are left out.

        Raises BadRun if it is damaged, StoreError if the store does not answer.
        """
        path = self.part_path(name)
        try:
            for _ in range(AGAIN):
                with suppress(SystemError):
                    return self._arrays(name, columns)
            return self._arrays(name, columns)
        except _Misplaced:
            raise BadRun(
                f"{path}: expected the part of that name of this run, got one of another name or run; delete it to have it made "
                "again"
            ) from None
        except StoreError:  # which says nothing of the part
            raise
        except Exception as error:  # damaged bytes make zipfile, zlib and NumPy raise errors of many types
            raise BadRun(
                f"{path}: expected a part of the trials, got: damaged bytes ({type(error).__name__}); delete it to have it made "
                "again"
            ) from None

    def _arrays(self, name: str, columns: Collection[str] | None) -> Arrays:
        """As `read_part`. Raises _Misplaced for a part of another name or run, and errors of many types for damaged bytes."""
        with self.files.opened(_part(name)) as file, np.load(file, allow_pickle=False) as archive:
            # zip has no checksum for its list of files, so the comment repeats the names
            if not archive.files or archive.zip.comment.split(b"|")[0] != _listed(archive.files):
                raise ValueError("other columns than were written")
            if b"|" in archive.zip.comment and archive.zip.comment != self._mark(name, archive.files):
                raise _Misplaced  # parts of earlier versions have no mark
            return {
                key: archive[key] for key in (archive.files if columns is None else columns) if key in archive.files
            }

    def read_parts(self, names: Sequence[str], columns: Iterable[str] | None = None) -> Iterator[Arrays]:
        """Yields what `read_part` returns of each of some parts."""
        wanted = None if columns is None else tuple(columns)
        return _read_ahead(lambda name: self.read_part(name, wanted), names)

    def fault(self, name: str) -> str:
        """Returns what is wrong with a part; "" if nothing is."""
        try:
            self.read_part(name)
        except BadRun as error:
            self.files.forget(_part(name))
            return str(error).partition("; delete it")[0]
        return ""

    def faults(self, names: Sequence[str]) -> Iterator[str]:
        """Yields what is wrong with each of some parts."""
        return _read_ahead(self.fault, names)

    def _mark(self, name: str, columns: Iterable[str]) -> bytes:
        """Returns the comment of a part: its columns, its name, and a digest of the run's key, so that it cannot be mistaken."""
        return _listed(columns) + f"|{name}|{self._run_digest}".encode()

    @cached_property
    def _run_digest(self) -> str:
        with suppress(OSError, ValueError):
            run = json.loads(self.files.read("run.json"))
            return sha256(json.dumps(run["key"], sort_keys=True).encode()).hexdigest()[:16] if "key" in run else ""
        return ""


def open_files(path: Path | StorePath) -> Files:
    """Returns the files of a run folder. Raises BadRun for a URL with an empty name (bucket//run), which s3fs does not list."""
    if isinstance(path, Path):
        return DiskFiles(path)
    if path.object_store and "//" in path.key:
        raise BadRun(f"{path}: expected a run folder with one slash between names, got several")
    return StoreFiles(path)


def _part(name: str) -> str:
    """Returns the file of a part."""
    return f"{TRIALS}/{name}{PART}"


class _Misplaced(Exception):
    """A part is sound, but not the one that it is named."""


def _listed(columns: Iterable[str]) -> bytes:
    """Returns the names of columns as the comment of an archive."""
    return ",".join(sorted(columns)).encode()


READERS = 16  # parts that are read at the same time, at most
AGAIN = 5  # times that a part is read again: Python before 3.11.8 may raise SystemError where threads read headers (gh-106905)


def _read_ahead(read: Callable[[str], Read], names: Sequence[str]) -> Iterator[Read]:
    """Yields what a function returns for each name, in their order. Reading a part is mostly decompressing: other cores do it."""
    readers = min(READERS, os.cpu_count() or 1, len(names))
    return ahead(read, names, readers) if readers > 1 else map(read, names)


WAITING = 2  # parts that may wait for each thread that writes: a limit, so that a slow disk does not fill the memory


class WriteBehind(Folder):
    """Compresses and writes parts in a thread, while the victim is asked about the next ones.

    The methods that read parts wait until all are written. If writing one fails, they raise its error, or the next write does.
    """

    def __init__(self, path: str | Path | StorePath | Files) -> None:
        super().__init__(path)
        self._thread: ThreadPoolExecutor | None = None
        self._pending: list[Future[None]] = []

    def write_part(self, name: str, arrays: Arrays) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._wait(WAITING * self.files.writers - 1)
        self._thread = self._thread or ThreadPoolExecutor(self.files.writers)
        self._pending.append(self._thread.submit(super().write_part, name, arrays))

    def has_part(self, name: str) -> bool:
        self._wait()
        return super().has_part(name)

    def parts(self) -> list[str]:
        self._wait()
        return super().parts()

    def read_part(self, name: str, columns: Collection[str] | None = None) -> Arrays:
        self._wait()
        return super().read_part(name, columns)

    def read_parts(self, names: Sequence[str], columns: Iterable[str] | None = None) -> Iterator[Arrays]:
        self._wait()  # here: the threads that read must find nothing to wait for
        return super().read_parts(names, columns)

    def faults(self, names: Sequence[str]) -> Iterator[str]:
        self._wait()
        return super().faults(names)

    def settle(self) -> None:
        """Waits until all parts are written. Ignores errors."""
        while self._pending:
            self._pending.pop(0).exception()

    def _wait(self, left: int = 0) -> None:
        """Waits until at most `left` parts are not written. Raises the error of one that could not be written."""
        while len(self._pending) > left:
            self._pending.pop(0).result()
