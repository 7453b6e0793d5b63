"""All that is left to do of a run, round by round, in this process or in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..evaluate import Evaluation, Folder
from ..evaluate.attacking import Attacking
from ..evaluate.evaluation import Job
from ..run import Progress, Work, WriteBehind, run_jobs
from .preflight import Say
from .session import Session

Show = Callable[[Progress], None]


@contextmanager
def begun(session: Session, folder: Folder) -> Iterator[tuple[dict[str, Any], Folder]]:
    """What run.json says, and the folder to work on, which is ours alone and writes behind our back."""
    with folder.locked():
        run, behind = session.start(folder), WriteBehind(folder.path)
        try:
            yield run, behind
        finally:
            behind.settle()  # nothing is written after the lock is gone


def do_rounds(
    session: Session,
    work: Evaluation | Attacking,
    rounds: Iterable[list[Job]],
    open_worker: Callable[[str, bool, int], Work] | None,
    say: Say,
    show: Show | None,
) -> None:
    """The clean texts, which come first, in this process. How long all took is written even if it is interrupted.

    open_worker: by folder, whether with a victim, and number of threads; None: this process does everything.
    """
    workers, whole, any_left = session.config.workers, session.reopens, False
    threads = max(1, (os.cpu_count() or 1) // workers)
    opened = partial(open_worker, str(work.folder.path), whole, threads) if open_worker else None
    session.query.errors = 0  # the pre-flight met those of the clean texts, which are asked again
    try:
        for at, jobs in enumerate(rounds):
            left = work.left(jobs)
            if len(left) < len(jobs):
                say(f"resumed: {len(jobs) - len(left)} of {len(jobs)} blocks were done before")
            any_left = any_left or bool(left)
            many = workers if at else 1
            options: dict[str, Any] = {"whole": whole, "heard": session.hear, "progress": Progress(len(left), show)}
            run_jobs(work, left, workers=many, open_work=opened, **options)
    finally:
        if any_left:
            session.write_timings(work.folder)
