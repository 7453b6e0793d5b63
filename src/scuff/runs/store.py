"""The files of a run in a store by URL, such as s3://bucket/run, with few requests; and the lock of a run there.

A store has no locks. So the lock is a file that only one process can create, with its owner's name and a time that the owner
renews. Who finds a lock that was not renewed for long, or whose owner has died on this machine, takes it over.
"""

from __future__ import annotations

import io
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Event, RLock, Thread
from typing import IO, Any
from uuid import uuid4
from warnings import warn

from ..data.formats.streams import CannotWrite
from ..stores import NOT_THERE, StoreError, StorePath
from .disk import BUSY, BadRun, cannot_write

BEAT = 60.0  # seconds after which the owner renews its lock
DEAD = 300.0  # seconds without a sign after which others may take the lock over
GRACE = 5.0  # seconds that a store has to answer at the end
KEPT = 1 << 27  # bytes of files that were read or written here and are kept in memory, since a run reads them again
AHEAD = 16  # files that are asked for at once when they are read one after the other


class StoreFiles:
    """The files of a run in a store.

    What was read, or written by the process that has the lock, is kept in memory, up to a limit, and not asked for again.
    """

    writers = 4  # a request takes long, but not the processor

    def __init__(self, path: StorePath) -> None:
        self.path = path
        self.lock: StoreLock | None = None
        self._kept: dict[str, bytes] = {}
        self._size = 0
        self._order: list[str] = []  # the files of the folder that was listed last
        self._places: dict[str, int] = {}  # in it
        self._last = -1  # the place of the file that was read last
        self._ahead: dict[str, bytes] = {}  # files that were read before they were asked for
        self._reading = RLock()  # held while any of these change: threads read and write parts

    @property
    def shared(self) -> bool:
        return "memory" not in self.path.kinds

    def read(self, name: str) -> bytes:
        with self._reading:  # of threads that read one after the other, the first reads for the others, too
            found = self._kept.get(name)
            if found is None:
                found = self._ahead.pop(name, None)
            if found is None:
                found = self._read_on(name)
            self._last = self._places.get(name, -1)
        self._keep(name, found)
        return found

    def _read_on(self, name: str) -> bytes:
        """Reads a file; with those that follow in its folder, if one shortly before it was read last."""
        last = self._order[self._last] if self._last >= 0 else ""
        if last and name not in self._places and os.path.dirname(name) == os.path.dirname(last):
            self.listed(os.path.dirname(name))  # others have written it since
            self._last = self._places.get(last, -1)
        at = self._places.get(name, -1)
        if self._last >= 0 and 0 < at - self._last <= AHEAD:
            wanted = [
                each for each in self._order[at : at + AHEAD] if each not in self._kept and each not in self._ahead
            ]
            if len(self._ahead) > AHEAD:  # nobody asked for them
                self._ahead.clear()
            self._ahead |= self.path.read_many(wanted)
            if name in self._ahead:
                return self._ahead.pop(name)
        return (self.path / name).read()

    def _keep(self, name: str, content: bytes) -> None:
        """Keeps a file, if there is room. Runs read all parts in the same order again, so the first ones are as good as any."""
        with self._reading:
            self.forget(name)
            if self._size + len(content) <= KEPT:
                self._kept[name] = content
                self._size += len(content)

    def opened(self, name: str) -> IO[bytes]:
        return io.BytesIO(self.read(name))

    def lines(self, name: str) -> Iterator[str]:
        yield from io.TextIOWrapper(self.opened(name), encoding="utf-8")

    def has(self, name: str) -> bool:
        return name in self._kept or (self.path / name).is_file()

    def forget(self, name: str) -> None:
        with self._reading:
            self._ahead.pop(name, None)
            self._size -= len(self._kept.pop(name, b""))

    def modified(self, name: str) -> float:
        return (self.path / name).modified()

    def write(self, name: str, content: bytes) -> None:
        if self.lock:
            self.lock.check()
        try:
            (self.path / name).write(content)
        except OSError as error:
            why = str(error).partition(", got: ")[2] or error
            raise cannot_write(self.path / name, content, why) from error
        self.forget(name)
        if self.lock:  # a worker does not read its parts again
            self._keep(name, content)

    def make(self, folder: str) -> None:
        (self.path / folder if folder else self.path).make()

    def names(self) -> list[str]:
        return self.path.names()

    def times(self, folder: str) -> dict[str, float]:
        return (self.path / folder).files()

    def listed(self, folder: str) -> list[str]:
        names = sorted(self.times(folder))
        self._order = [f"{folder}/{name}" for name in names]
        self._places = {name: at for at, name in enumerate(self._order)}
        self._last, self._ahead = -1, {}
        return names

    def renamed(self, number: str) -> StorePath | None:
        """Copies all files and deletes them here, run.json last: if that is interrupted, it can be done again."""
        new = StorePath(self.path.system, f"{self.path.key}-old{number}", f"{self.path.url}-old{number}")
        if new.names():
            return None
        names = [name for name in self.path.files() if name != "lock"]
        for folder in sorted({name.rpartition("/")[0] for name in names}):
            (new / folder if folder else new).make()
        self.path.copy(names, new)
        self.path.delete([name for name in names if name != "run.json"])
        self.path.delete(["run.json"])
        self._kept, self._size, self._order, self._places, self._ahead, self._last = {}, 0, [], {}, {}, -1
        return new

    @contextmanager
    def locked(self) -> Iterator[None]:
        with StoreLock(self.path).held() as self.lock:
            try:
                self._delete_unfinished()
                yield
            finally:
                if not self.lock.lost:
                    with suppress(OSError):
                        self._delete_unfinished()  # of workers that were killed
                self.lock = None

    def _delete_unfinished(self) -> None:
        """Deletes what a killed process left half written, where files are renamed."""
        if not self.path.object_store:
            self.path.delete([name for name in self.path.files() if name.endswith(".part")])


class StoreLock:
    """The lock of a run in a store, as long as this process renews it."""

    def __init__(self, folder: StorePath) -> None:
        self.folder, self.path = folder, folder / "lock"
        self.owner = uuid4().hex
        self.lost = ""  # who has taken it over

    @contextmanager
    def held(self) -> Iterator[StoreLock]:
        """Holds the lock. Raises BadRun if another process does."""
        self._take()
        ended = Event()
        beat = Thread(target=self._renew, args=(ended,), daemon=True)
        beat.start()
        try:
            yield self
        finally:
            ended.set()
            beat.join(GRACE)
            if not self.lost and not beat.is_alive():  # else it would write the lock again
                with suppress(OSError):
                    self.folder.delete(["lock"])

    def check(self) -> None:
        """Raises CannotWrite if another process has taken the lock over."""
        if self.lost:
            raise CannotWrite(
                f"{self.folder}: expected the lock of this run, got one that {self.lost} took over, since nothing was heard of "
                "this process for a while; what was written before stays"
            )

    def _take(self) -> None:
        found = self._read()
        if found is not None:
            return self._take_over(found)
        try:
            self.path.write(self._content(), new=True)
        except (FileExistsError, StoreError) as error:  # two at the same time
            found = self._read()
            if found is None:
                raise StoreError(str(error)) from error
            raise self._busy(found) from None

    def _take_over(self, found: dict[str, Any]) -> None:
        """Takes the lock of a process that is dead. Of several that try, the one that can create a second file gets it."""
        if time.time() - found["time"] < DEAD and not _died_here(found):
            raise self._busy(found)
        warn(f"{self.folder}: takes over the lock of {_named(found)}, heard of {_ago(found)}", stacklevel=2)
        claim = f"lock-{found['owner']}.part"
        try:
            (self.folder / claim).write(self._content(), new=True)
        except (FileExistsError, StoreError):
            raise BadRun(
                f"{self.folder}: {BUSY}, which takes over the lock of one that has ended; if nothing works on it, delete "
                f"{self.folder / claim}"
            ) from None
        try:
            now = self._read()
            if now is not None and now["owner"] != found["owner"]:  # another one was quicker
                raise self._busy(now)
            self.path.write(self._content(), new=now is None)
        except FileExistsError:
            raise self._busy(self._read() or found) from None
        finally:
            self.folder.delete([claim])

    def _busy(self, found: dict[str, Any]) -> BadRun:
        return BadRun(
            f"{self.folder}: {BUSY}: {_named(found)}, heard of {_ago(found)}; if it has died, its run can be taken over "
            f"{DEAD:,.0f} seconds after that"
        )

    def _content(self) -> bytes:
        about = {
            "owner": self.owner, "process": os.getpid(), "host": socket.gethostname(), "machine": _machine(), "time": time.time(),
        }  # fmt: skip
        return (json.dumps(about) + "\n").encode()

    def _read(self) -> dict[str, Any] | None:
        """Returns what the lock says; None if there is none. One that is damaged has no owner and is very old."""
        unknown = {"owner": "unknown", "process": 0, "host": "an unknown machine", "machine": "", "time": 0.0}
        try:
            found = json.loads(self.path.read())
        except NOT_THERE:
            return None
        except ValueError:
            return unknown
        fits = isinstance(found, dict) and all(isinstance(found.get(name), type(unknown[name])) for name in unknown)
        return found if fits else unknown

    def _renew(self, ended: Event) -> None:
        """Renews the lock until the run ends or another process has it."""
        while not ended.wait(BEAT):
            with suppress(OSError):  # the store may answer again the next time
                found = self._read()
                if found is not None and found["owner"] != self.owner:
                    self.lost = _named(found)
                    return
                self.path.write(self._content())


def _named(found: dict[str, Any]) -> str:
    return f"process {found['process']} on {found['host']}"


def _ago(found: dict[str, Any]) -> str:
    """Returns when the owner of a lock was last heard of, in words."""
    return f"{max(0.0, time.time() - found['time']):,.0f} seconds ago" if found["time"] else "at an unknown time"


def _machine() -> str:
    """Returns what tells the processes of this machine, since it was started, from all others; "" if that is not known."""
    with suppress(OSError):
        started = Path("/proc/sys/kernel/random/boot_id").read_text()
        return sha256(f"{started} {os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:16]
    return ""


def _died_here(found: dict[str, Any]) -> bool:
    """Returns whether the owner of a lock was a process of this machine that has ended."""
    if not found["machine"] or found["machine"] != _machine():
        return False
    try:
        os.kill(found["process"], 0)  # on Linux, where alone machines are known, this only asks
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
