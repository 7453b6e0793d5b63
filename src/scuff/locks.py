"""A lock on a folder: only one process works on it. The system releases it when the process ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from warnings import warn

LOCK = "lock"  # the file in the folder that is locked


class Busy(Exception):
    """Another process has locked the folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks a folder, which is made if it is not there, also on a shared file system that has locks. Raises Busy.

    Does nothing on Windows, which has no such lock, and warns where a file system has none.
    """
    try:
        import fcntl
    except ImportError:
        folder.mkdir(exist_ok=True)
        yield
        return
    while True:
        folder.mkdir(exist_ok=True)
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


def _is_there(file: int, path: Path) -> bool:
    """Whether a file that was opened still has its name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
