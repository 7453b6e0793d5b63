"""Locks on folders and files: only one process works on them. The system releases a lock when its process ends, in any way."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from warnings import warn

LOCK = "lock"  # the file in the folder that is locked
FRESH = 2.0  # seconds in which a new file may be in nobody's hand yet


class Busy(Exception):
    """Another process has locked the folder."""


@contextmanager
def locked(folder: Path, mode: int = 0o777) -> Iterator[None]:
    """Locks a folder, also on a shared file system that has locks. If it is not there, it is made, with this mode. Raises Busy.

    Does nothing on Windows, which has no such lock, and warns where a file system has none.
    """
    try:
        import fcntl
    except ImportError:
        folder.mkdir(mode, exist_ok=True)
        yield
        return
    while True:
        folder.mkdir(mode, exist_ok=True)
        try:
            lock = open(folder / LOCK, "ab")  # noqa: SIM115  closed below
        except FileNotFoundError:  # the process that had locked the folder has just removed it
            continue
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                raise Busy from None
            except OSError as error:
                told = f"{folder}: cannot be locked ({error.strerror}): see to it that nobody else works on it"
                warn(told, stacklevel=4)
            if _is_there(lock.fileno(), folder / LOCK):
                yield
                return


@contextmanager
def in_hand(file: int) -> Iterator[None]:
    """Shows other processes that an open file is in use, also after it was closed here; see `is_left_over`."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    own = os.dup(file)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(own)


def is_left_over(path: Path) -> bool:
    """Whether the process that had a file in hand was killed; False where that cannot be known."""
    try:
        import fcntl

        with open(path, "rb+") as file:  # its owner may rename or remove it now: it must not be made again
            if time.time() - os.fstat(file.fileno()).st_mtime < FRESH:
                return False
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except (ImportError, OSError):
        return False


def _is_there(file: int, path: Path) -> bool:
    """Whether a file that was opened still has its name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
