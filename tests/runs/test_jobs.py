"""Workers end when they are told to, and only then."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from scuff.runs.jobs import run_jobs


class Asks:
    """Work that reports which signals its process does not hear."""

    def make(self, job: Any) -> Any:
        return job

    def do(self, job: Any, made: Any = None) -> None:
        pass

    def report(self) -> set[int]:
        return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no signal masks")
def test_workers_are_deaf_to_ctrl_c_from_their_first_instruction_and_this_process_is_not() -> None:
    heard: list[set[int]] = []
    run_jobs(Asks(), range(4), workers=2, open_work=Asks, whole=True, heard=heard.append)
    assert len(heard) == 4 and all(signal.SIGINT in blocked for blocked in heard)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
