"""The door to a service on the same machine: arrays in shared memory, and a socket or pipe that says they are there.

`Host` runs a service in a thread of the process that has the model. Each worker has a slab of shared memory of its own, which the
host makes and removes, so that a worker that is killed leaves nothing behind. A request that needs more gets a larger slab. Where
shared memory does not suffice (containers often have 64 MB of it), arrays travel through the socket.
"""

from __future__ import annotations

import os
import secrets
import selectors
import time
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener, Pipe, wait
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np

from ..exceptions import failure, raised
from .huggingface import Arrays
from .service import Service, ServiceLost

# of arrays: name, type, shape, and the byte where each begins
Layout = tuple[tuple[str, str, tuple[int, ...], int], ...]

ALIGNED = 64
FIRST = 1 << 22  # bytes of a slab: 8192 rows of 40 pieces with their types
NAP = 5e-5  # seconds between two looks at the GPU, while it works and nobody asks
SHARED = Path("/dev/shm")  # where Linux shows what is shared
LOST = "expected an answer from the process that holds the model, got none: it has ended"
GONE = (EOFError, OSError)  # what a connection raises when the other side has ended


def room_for(arrays: Arrays) -> int:
    """The bytes that arrays take in a slab."""
    return sum(-(-array.nbytes // ALIGNED) * ALIGNED for array in arrays.values())


def write(arrays: Arrays, slab: SharedMemory) -> Layout:
    """Writes arrays into a slab."""
    layout, at = [], 0
    for name, array in arrays.items():
        np.ndarray(array.shape, array.dtype, slab.buf, at)[...] = array
        layout.append((name, array.dtype.str, array.shape, at))
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    return tuple(layout)


def read(layout: Layout, slab: SharedMemory) -> Arrays:
    """Copies of the arrays in a slab."""
    return {name: np.array(np.ndarray(shape, kind, slab.buf, at)) for name, kind, shape, at in layout}


class LocalDoor:
    """A door to a `Host` of this machine. Connects when it is first used; a copy in another process connects for itself."""

    def __init__(self, address: Any, key: bytes) -> None:
        self.address, self.key = address, key
        self._line: Connection | None = None
        self._slab: SharedMemory | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"address": self.address, "key": self.key, "_line": None, "_slab": None}

    def answer(self, request: Arrays, encoder: str = "") -> Arrays:
        slab = self._room(room_for(request))
        found = self._ask("answer", write(request, slab) if slab else request, encoder)
        return read(found, slab) if slab and not isinstance(found, dict) else found

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._ask("call", method, args, kwargs)

    def close(self) -> None:
        for part in (self._line, self._slab):
            if part is not None:
                part.close()
        self._line = self._slab = None

    def _room(self, size: int) -> SharedMemory | None:
        """A slab of so many bytes at least; None if there is no room for it."""
        if self._slab is None or self._slab.size < size:
            name = self._ask("slab", max(FIRST, 1 << (size - 1).bit_length()))
            if self._slab is not None:
                self._slab.close()
            try:
                self._slab = SharedMemory(name) if name else None
            except FileNotFoundError:
                raise ServiceLost(LOST) from None
        return self._slab

    def _ask(self, *message: Any) -> Any:
        try:
            if self._line is None:
                self._line = Client(self.address, authkey=self.key)
            self._line.send(message)
            failed, found = self._line.recv()
        except GONE:
            raise ServiceLost(LOST) from None
        if failed:
            raise raised(*failed)
        return found


class Host:
    """Runs a service in a thread, until it is closed. `door` is for the workers."""

    def __init__(self, service: Service) -> None:
        key = secrets.token_bytes(16)
        self.service, self.idle, self._begun = service, 0.0, time.perf_counter()
        self._folder: TemporaryDirectory[str] | None = None
        try:
            self._listener = Listener(authkey=key, backlog=128)
        except OSError:
            # a socket's name has about 100 characters at most, and batch systems have long temporary folders
            self._folder = TemporaryDirectory(prefix="scuff-", dir="/tmp")
            self._listener = Listener(f"{self._folder.name}/door", backlog=128, authkey=key)
        self.door = LocalDoor(self._listener.address, key)
        self._slabs: dict[Connection, SharedMemory | None] = {}
        self._ears, self._bell = Pipe(duplex=False)  # brings new connections to the thread that answers
        # far faster than `wait`, if there are many connections
        self._lines = selectors.DefaultSelector() if os.name == "posix" else None
        self._come: list[Connection] = []
        self._open, self._closed = True, False  # answers; takes new connections no more
        self._threads = [Thread(target=self._accept, daemon=True), Thread(target=self._serve, daemon=True)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the service. Workers that still ask get ServiceLost."""
        self._closed, self._open = True, False
        with suppress(*GONE):  # if the thread has ended by itself
            self._bell.send_bytes(b"end")
        with suppress(*GONE):
            Client(self.door.address).close()  # wakes `accept`
        for thread in self._threads:
            thread.join()
        self._listener.close()
        if self._folder:
            self._folder.cleanup()

    def figures(self) -> dict[str, float]:
        """Those of the service, and how many seconds it had nothing to do."""
        all_of_it = time.perf_counter() - self._begun
        return {**self.service.figures(), "seconds": round(all_of_it, 3), "idle_seconds": round(self.idle, 3)}

    def _accept(self) -> None:
        while not self._closed:
            try:
                line = self._listener.accept()
            except Exception:  # a worker that died while it knocked, or somebody without the key
                continue
            self._come.append(line)
            try:
                self._bell.send_bytes(b"come")
            except GONE:  # nobody answers any more
                line.close()

    def _serve(self) -> None:
        """Answers until `close`. However it ends, nobody is left waiting."""
        if self._lines is not None:
            self._lines.register(self._ears, selectors.EVENT_READ)
        try:
            with self.service.ready():
                while self._open:
                    heard = self._listen(0 if self.service.busy else None)
                    done = self.service.step()
                    for line, found in done:
                        self._reply(line, self._written(line, found))
                    if self.service.busy and not heard and not done:
                        self._ready(NAP)
        finally:
            self._open = False
            self._ears.close()  # first: `_accept` closes what comes from now on
            for line in [*self._slabs, *self._come]:
                self._drop(line)
            if self._lines is not None:
                self._lines.close()

    def _ready(self, timeout: float | None) -> list[Any]:
        """The connections on which something has come, within so many seconds."""
        if self._lines is None:
            return wait([self._ears, *self._slabs], timeout)
        return [key.fileobj for key, _ in self._lines.select(timeout)]

    def _listen(self, timeout: float | None) -> bool:
        """Takes what workers have sent. Returns whether there was anything."""
        begin = time.perf_counter()
        ready = self._ready(timeout)
        if timeout is None:
            self.idle += time.perf_counter() - begin
        for line in ready:
            if line is self._ears:
                self._ears.recv_bytes()
                while self._come:
                    self._welcome(self._come.pop())
            elif isinstance(line, Connection):
                try:
                    message = line.recv()
                except Exception:  # the worker has ended, or sent what cannot be rebuilt here
                    self._drop(line)
                else:
                    self._hear(line, *message)
        return bool(ready)

    def _welcome(self, line: Connection) -> None:
        self._slabs[line] = None
        if self._lines is not None:
            self._lines.register(line, selectors.EVENT_READ)

    def _hear(self, line: Connection, what: str, *more: Any) -> None:
        slab = self._slabs[line]
        try:
            if what == "answer":
                sent, encoder = more
                self.service.put(line, sent if slab is None else read(sent, slab), encoder)
                return
            found = self._new_slab(line, *more) if what == "slab" else self.service.call(*more)
        except Exception as error:
            found = error
        self._reply(line, found)

    def _new_slab(self, line: Connection, size: int) -> str | None:
        """Makes a slab in place of the one that a worker has. Returns its name; None if there is no room for it."""
        old, self._slabs[line] = self._slabs[line], None
        self._remove(old)
        try:
            slab = SharedMemory(create=True, size=size)
        except OSError:
            return None
        if not _has_room(slab):
            self._remove(slab)
            return None
        self._slabs[line] = slab
        return slab.name

    def _written(self, line: Connection, found: Arrays | Exception) -> Any:
        """Where an answer stands in the worker's slab, if there is room; else the answer itself."""
        slab = self._slabs.get(line)
        if isinstance(found, Exception) or slab is None or room_for(found) > slab.size:
            return found
        return write(found, slab)

    def _reply(self, line: Connection, found: Any) -> None:
        """Sends an answer. A worker that has ended gets none."""
        try:
            if line in self._slabs:
                line.send((failure(found), None) if isinstance(found, Exception) else (None, found))
        except GONE:
            self._drop(line)
        except Exception as error:  # of what cannot travel
            self._reply(line, RuntimeError(f"{type(error).__name__}: {error}; {found}"))

    def _drop(self, line: Connection) -> None:
        """Forgets a worker that has ended."""
        if line in self._slabs and self._lines is not None:
            self._lines.unregister(line)
        self._remove(self._slabs.pop(line, None))
        line.close()

    def _remove(self, slab: SharedMemory | None) -> None:
        if slab is not None:
            slab.close()
            with suppress(FileNotFoundError):  # the system removes what is shared when its user logs out
                slab.unlink()


def _has_room(slab: SharedMemory) -> bool:
    """Takes the memory of a new slab. Without that, the process that writes where there is none is killed (SIGBUS)."""
    try:
        memory = os.open(SHARED / slab.name, os.O_RDWR)
    except OSError:  # not Linux
        return True
    try:
        os.posix_fallocate(memory, 0, slab.size)
    except OSError:
        return False
    finally:
        os.close(memory)
    return True
