"""`Clock`: how long a piece of work may still take, and whether anybody waits for it. Threads look at it and stop themselves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from .messages import Refused


class Stopped(Exception):
    """Nobody waits for the work any more."""


class Clock:
    """Runs for some seconds, or until it is stopped."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.stopped = False
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def stop(self) -> None:
        self.stopped = True

    def check(self) -> None:
        """Raises Stopped, or Refused with status 504 if the time is up."""
        if self.stopped:
            raise Stopped
        if not self.left:
            raise self.late()

    def late(self) -> Refused:
        return Refused(504, f"expected an answer within {self.seconds:g} seconds, got none: try a shorter text")

    @contextmanager
    def holding(self, lock: RLock) -> Iterator[None]:
        """Waits for a lock, at most for the time that is left, and holds it."""
        if not lock.acquire(timeout=self.left):
            raise self.late()
        try:
            self.check()
            yield
        finally:
            lock.release()
