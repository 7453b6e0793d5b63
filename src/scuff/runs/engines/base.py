"""What an engine is, so that nothing above knows which one runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from ...victims.service import Door, Service

Job = TypeVar("Job")
Tell = Callable[[int], None]  # called with the number of answers after every batch
Do = Callable[[Any], Any]  # does a job and returns its result
Open = Callable[[Tell], Do]  # opens the work in a worker
Say = Callable[[str], None]


class WorkerLost(RuntimeError):
    """Raised if workers ended by themselves or were killed, again and again."""


class Hosted(NamedTuple):
    """A model that workers ask. door: how they reach it. figures: as `Service.figures`, where they can be had."""

    door: Door
    figures: Callable[[], dict[str, float]] | None = None


class Engine(Protocol):
    """Does jobs, in this process or in several workers."""

    @property
    def workers(self) -> int:
        """How many jobs are done at the same time, at most."""
        ...

    @property
    def threads(self) -> int:
        """How many threads the model of one worker may use."""
        ...

    @property
    def apart(self) -> bool:
        """Whether workers are processes of their own, which have to open the work for themselves."""
        ...

    def run(
        self,
        jobs: Iterable[Job],
        open_work: Open,
        *,
        ordered: bool = False,
        tell: Tell | None = None,
        say: Say | None = None,
    ) -> Iterator[tuple[Job, Any]]:
        """Yields each job with its result, in the order in which they finish; if ordered, in that in which they come.

        jobs: are taken only when a worker is free, or soon will be: at most two for each worker are under way (if ordered, four,
        with those whose results wait for an earlier one), so that neither jobs nor results fill the memory.
        open_work: is called once in each worker, with a function that counts answers, and returns the function that does a job.
        Where `apart`, it, jobs and results travel between processes. The same object in another call finds its workers open.
        tell: is called here with the answers that workers count. say: is told of each worker that is lost.

        A worker that dies costs no more than the job that it was doing: another one does it again. Raises WorkerLost, with the
        name of the job, if that happens three times. An exception of a job or of `open_work` is raised here; then, and if the
        iterator is closed, all workers end.
        """
        ...

    def host(self, service: Service) -> AbstractContextManager[Hosted]:
        """Lets workers ask a model that this process has open, as long as the context lasts. Raises ValueError if they cannot."""
        ...

    def keep(self, open_service: Callable[[], Service]) -> Door | None:
        """Opens a model where workers have GPUs, and returns how they and this process reach it; None if they have none of their
        own. It is open until the engine is closed.
        """
        ...

    def close(self) -> None:
        """Ends all workers."""
        ...
