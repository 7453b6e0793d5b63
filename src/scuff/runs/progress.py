"""How far a run is: counts queries and jobs, estimates what is left, and shows it as a bar or as lines of a log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TextIO

PRIOR = 0.1  # of all jobs: as much as that counts what was expected of them, against what finished ones needed
SURE = 0.1  # of all queries: from then on only the speed so far decides the time left


@dataclass(frozen=True)
class Forecast:
    """What a run will need: queries, and seconds by part (the model, dimensions, ...).

    scale: queries that are expected, over the sum of what its jobs say. Jobs say the most that they may need.
    """

    queries: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    scale: float = 1.0

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


@dataclass(eq=False)
class Progress:
    """The queries and jobs that are done and left. `show` is called after every batch of answers, and after every job."""

    forecast: Forecast = field(default_factory=Forecast)
    show: Callable[[Progress], None] | None = None
    total: int = 0  # jobs
    done: int = 0
    queries: int = 0  # answers, those from a cache, too
    begun: float = field(default_factory=lambda: time.monotonic())
    _planned: float = 0.0  # queries that all jobs need at most
    _finished: float = 0.0  # queries that finished jobs needed at most
    _needed: int = 0  # queries when the last job finished

    def add_jobs(self, jobs: Iterable[Any]) -> None:
        """Adds jobs that are to be done; each says in `queries` how many it needs at most."""
        for job in jobs:
            self.total += 1
            self._planned += job.queries

    def answered(self, count: int) -> None:
        """Counts answers."""
        self.queries += count
        self._show()

    def step(self, job: Any) -> None:
        """Counts a job that is done."""
        self.done += 1
        self._finished += job.queries
        self._needed = self.queries
        self._show()

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    @property
    def expected(self) -> int:
        """Queries of all jobs: the forecast, corrected by what finished jobs needed."""
        return self.queries if self.finished else max(self._estimate, self.queries + 1)

    @property
    def _estimate(self) -> int:
        prior = PRIOR * self._planned
        scale = (self.forecast.scale * prior + self._needed) / max(prior + self._finished, 1e-9)
        return round(scale * self._planned)

    @property
    def beyond(self) -> bool:
        """Whether more was asked than was expected, so that nobody knows how much is left."""
        return not self.finished and self.queries > self._estimate

    @property
    def share(self) -> float:
        """How much of the queries is done, in [0, 1]."""
        return self.queries / self.expected if self.expected else float(self.finished)

    @property
    def seconds_left(self) -> float:
        """By the forecast at first, later by the speed so far."""
        if self.finished:
            return 0.0
        share = self.share
        at_this_speed = (time.monotonic() - self.begun) * (1 - share) / share if share else 0.0
        sure = min(1.0, share / SURE)
        return sure * at_this_speed + (1 - sure) * self.forecast.total * (1 - share)

    @property
    def rate(self) -> float:
        """Queries a second."""
        return self.queries / max(time.monotonic() - self.begun, 1e-3)

    def _show(self) -> None:
        if self.show:
            self.show(self)


def duration(seconds: float) -> str:
    """Returns a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


WIDTH, NARROW = 24, 8  # of the bar, in characters: usually, and at least
OFTEN, SELDOM = 0.2, 30.0  # seconds between two changes of a bar, and between two lines of a log


class Bar:
    """Shows a Progress on a stream: a bar that changes in its line in a terminal or notebook; elsewhere, a line now and then.

    `tell` shows other texts in the same way.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.last, self.written = stream, time.monotonic(), 0
        self.moves = stream.isatty() or in_notebook(stream)

    def __call__(self, progress: Progress) -> None:
        if self.moves and progress.finished:
            self.clear()
        else:
            self.tell(lambda: line(progress, bar=self.moves))

    def tell(self, text: Callable[[], str]) -> None:
        """Shows a text in the place of the one before, if that is not too new."""
        now = time.monotonic()
        if now - self.last >= (OFTEN if self.moves else SELDOM):
            self.last = now
            self._write(text())

    def clear(self) -> None:
        """Deletes the bar, so that something else can be written in its line."""
        if self.moves and self.written:
            self._write("")

    def _write(self, text: str) -> None:
        if not self.moves:
            self.stream.write(f"{text}\n")
        else:  # blanks delete the line before: notebooks know no other way
            self.stream.write(f"\r{text.ljust(self.written)}\r{text}")
            self.written = len(text)
        self.stream.flush()


def line(progress: Progress, bar: bool) -> str:
    """Returns `43% [##########--------------] 13,940 of about 32,400 queries, 312/s, 1 min left`; without the bar if it does not
    fit into the line. A run that needs more than was expected says so instead of a time that would be made up.
    """
    share = min(progress.share, 0.99)
    queries = f"{progress.queries:,} of about {progress.expected:,} queries, {progress.rate:,.0f}/s"
    text = f"{queries}, {duration(progress.seconds_left)} left"
    if progress.beyond:
        text = f"{progress.queries:,} queries, more than expected, {progress.rate:,.0f}/s"
    if not bar:
        return text if progress.beyond else f"{share:.0%} {text}"
    columns = _columns()
    width = min(WIDTH, columns - len(text) - len("100% [] "))
    done = round(width * share)
    drawn = f"[{'#' * done}{'-' * (width - done)}] " if width >= NARROW else ""
    return f"{share:4.0%} {drawn}{text}"[:columns]


def _columns() -> int:
    """The width of the terminal, less one: a longer line would not be overwritten."""
    try:
        return os.get_terminal_size(2).columns - 1
    except OSError:
        return 119


def in_notebook(stream: TextIO) -> bool:
    """Returns whether what is written to the stream appears in a notebook."""
    return type(stream).__module__.startswith("ipykernel")
