"""A rate that all threads keep together."""

from __future__ import annotations

import threading
import time


class Pace:
    """Gives out turns, so that all threads together keep a rate."""

    def __init__(self, rate: float | None) -> None:
        self._gap, self._free, self._lock = 1 / rate if rate else 0.0, 0.0, threading.Lock()

    def turn(self) -> float:
        """Take the next free turn: the seconds until then."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._free)
            self._free = start + self._gap
            return start - now

    def hold(self, seconds: float) -> None:
        """No turn for anybody before that."""
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)
