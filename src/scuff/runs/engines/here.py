"""The engine of a run without workers: does one job after the other in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from .base import Hosted, Job, Open, Say, Tell

if TYPE_CHECKING:
    from ...victims.service import Service


class Here:
    """Does jobs in this process, in their order."""

    workers = 1
    apart = False

    @property
    def threads(self) -> int:
        return os.cpu_count() or 1

    def run(
        self,
        jobs: Iterable[Job],
        open_work: Open,
        *,
        ordered: bool = False,
        tell: Tell | None = None,
        say: Say | None = None,
    ) -> Iterator[tuple[Job, Any]]:
        do = None
        for job in jobs:
            do = do or open_work(tell or _uncounted)
            yield job, do(job)

    def host(self, service: Service) -> AbstractContextManager[Hosted]:
        raise AssertionError("no model is hosted where there are no workers")

    def keep(self, open_service: Callable[[], Service]) -> None:
        return None

    def close(self) -> None:
        """Does nothing: there are no workers."""


def _uncounted(answers: int) -> None:
    """Ignores a number of answers."""
