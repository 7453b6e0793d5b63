"""A run folder on disk: run.json, examples, trials in parts, and the files computed from them.

A part is a NumPy archive (.npz): a zip of plain arrays, one per column, which numpy, and anything that reads .npy, opens.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


Arrays = dict[str, npt.NDArray[Any]]

SCHEMA = 1


class BadRun(ValueError):
    """A folder is no run of Scuff, or a damaged one."""


class NoAnswers(RuntimeError):
    """Not one case of a run was answered."""


def write_atomically(path: Path, content: bytes) -> None:
    """Written, flushed and renamed: after a crash the file is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


class Folder:
    """A run folder: run.json, examples.jsonl, trials/, and the files that are computed from them."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def started(self) -> bool:
        return (self.path / "run.json").is_file()

    def start(self, run: dict[str, Any], examples: Iterable[dict[str, Any]]) -> None:
        """Make the folder; run.json comes last, so a folder that has it has everything."""
        (self.path / "trials").mkdir(parents=True, exist_ok=True)
        self.write_lines("examples.jsonl", examples)
        self.write_json("run.json", run)

    def _unborn(self) -> bool:
        """Empty, or what a start that was killed leaves."""
        names = [entry.name for entry in self.path.iterdir()] if self.path.is_dir() else [""]
        return all(name in ("trials", "examples.jsonl", "lock") or name.endswith(".part") for name in names)

    def write(self, name: str, text: str) -> None:
        write_atomically(
            self.path / name, text.encode("utf-8", "backslashreplace")
        )  # half a character is escaped as in JSON

    def write_json(self, name: str, content: Any) -> None:
        self.write(name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def write_lines(self, name: str, lines: Iterable[Any]) -> None:
        self.write(name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))

    def read_json(self, name: str) -> Any:
        try:
            found = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise BadRun(f"{self.path}: expected a run folder with {name}, got none") from None
        except ValueError as error:
            raise BadRun(f"{self.path / name}: expected JSON, got: {error}") from None
        if name in ("run.json", "summary.json") and (not isinstance(found, dict) or found.get("schema") != SCHEMA):
            raise BadRun(f"{self.path / name}: expected a file that this version of Scuff wrote, got another")
        return found

    def timings(self) -> Any:
        """How long each session took; nothing if the run was stopped before that was written."""
        return self.read_json("timings.json") if (self.path / "timings.json").is_file() else []

    def read_lines(self, name: str) -> Iterator[Any]:
        try:
            with open(self.path / name, encoding="utf-8") as lines:
                yield from map(json.loads, lines)
        except (FileNotFoundError, ValueError) as error:
            raise BadRun(f"{self.path / name}: expected JSON lines, got: {error}") from None

    def usable(self) -> None:
        """Refuse what is neither new nor a run."""
        if self.path.exists() and not self.started and not self._unborn():
            raise BadRun(f"{self.path}: expected a new folder or a run of Scuff, got something else")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process at a time works on a folder; the lock goes with the process, however it ends. Makes the folder."""
        self.usable()
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            import fcntl
        except ImportError:  # not a Unix
            yield
            return
        with open(self.path / "lock", "ab") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadRun(
                    f"{self.path}: expected a run that nobody works on, got one that another process is busy with"
                ) from None
            for rest in (*self.path.glob(".*.part"), *(self.path / "trials").glob(".*.part")):
                rest.unlink(missing_ok=True)  # of a process that was killed
            yield

    def part_path(self, name: str) -> Path:
        return self.path / "trials" / f"{name}.npz"

    def has_part(self, name: str) -> bool:
        return self.part_path(name).is_file()

    def write_part(self, name: str, arrays: Arrays) -> None:
        """Same arrays, same bytes: no times, no compression settings that could differ."""
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
            archive.comment = _listed(arrays)
            for key in sorted(arrays):
                column = io.BytesIO()
                np.lib.format.write_array(column, np.ascontiguousarray(arrays[key]), allow_pickle=False)
                entry = zipfile.ZipInfo(f"{key}.npy")
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, column.getvalue(), compresslevel=4)
        write_atomically(self.part_path(name), raw.getvalue())

    def parts(self) -> list[str]:
        return sorted(path.stem for path in (self.path / "trials").glob("*.npz"))

    def read_part(self, name: str, columns: Iterable[str] | None = None) -> Arrays:
        """Some columns of a part, or all."""
        path = self.part_path(name)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                # the directory at the end of a zip has no checksum
                if not archive.files or archive.zip.comment != _listed(archive.files):
                    raise ValueError("other columns than were written")
                return {
                    key: archive[key] for key in (archive.files if columns is None else columns) if key in archive.files
                }
        except Exception as error:  # damaged bytes make zipfile, zlib and NumPy raise all kinds
            raise BadRun(
                f"{path}: expected a part of the trials, got: damaged bytes ({type(error).__name__}); delete it to have it made "
                "again"
            ) from None


def _listed(columns: Iterable[str]) -> bytes:
    return ",".join(sorted(columns)).encode()


WAITING = 2  # parts that may wait to be written, so that memory does not fill up where the disk is slow


class WriteBehind(Folder):
    """Compresses and writes parts in a thread, while the victim is asked about the next ones.

    Whoever looks at the parts waits for those that are on their way; what went wrong with one is raised there, or with the next.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._thread: ThreadPoolExecutor | None = None
        self._coming: list[Future[None]] = []

    def write_part(self, name: str, arrays: Arrays) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._wait(WAITING - 1)
        self._thread = self._thread or ThreadPoolExecutor(1)
        self._coming.append(self._thread.submit(super().write_part, name, arrays))

    def has_part(self, name: str) -> bool:
        self._wait()
        return super().has_part(name)

    def parts(self) -> list[str]:
        self._wait()
        return super().parts()

    def read_part(self, name: str, columns: Iterable[str] | None = None) -> Arrays:
        self._wait()
        return super().read_part(name, columns)

    def settle(self) -> None:
        """Wait until nothing is being written any more; what went wrong with it does not matter now."""
        while self._coming:
            self._coming.pop(0).exception()

    def _wait(self, left: int = 0) -> None:
        while len(self._coming) > left:
            self._coming.pop(0).result()
