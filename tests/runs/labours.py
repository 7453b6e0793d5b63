"""Work for engines: functions that open it in a worker, and the jobs that they take."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Tell = Callable[[int], None]


@dataclass(frozen=True)
class Block:
    """A job that has a name."""

    name: str
    number: int = 0


class NoTravel(Exception):
    """An exception that cannot be rebuilt in another process."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def squares(tell: Tell) -> Callable[[int], int]:
    """Counts as many answers as the number says, and returns its square."""

    def do(number: int) -> int:
        tell(number)
        return number * number

    return do


def raises(tell: Tell) -> Callable[[Any], Any]:
    def do(job: Any) -> Any:
        if isinstance(job, Exception):
            raise job
        if job == "no travel":
            raise NoTravel(1, 2)
        return threading.Lock() if job == "no result" else job

    return do


def unopened(tell: Tell) -> Callable[[Any], Any]:
    raise FileNotFoundError("no weights here")


def bytes_of(tell: Tell) -> Callable[[bytes], bytes]:
    """Returns what it is given, which may be far more than a pipe holds."""
    return bytes


def kills(marks: str, tell: Tell) -> Callable[[Block], str]:
    """Writes a mark for each time that a block is begun, and kills its worker as often as the block's number says."""

    def do(block: Block) -> str:
        path = Path(marks)
        before = len(list(path.glob(f"{block.name}-*")))
        (path / f"{block.name}-{before}").touch()
        if before < block.number:
            os.kill(os.getpid(), signal.SIGKILL)
        return block.name

    return do


def killed_while_opening(marks: str, times: int, tell: Tell) -> Callable[[Any], Any]:
    for number in range(times):  # whoever writes a mark first dies: so many do, in any order
        try:
            (Path(marks) / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)
    return bytes_of(tell)


def leaves(tell: Tell) -> Callable[[Any], Any]:
    os._exit(7)


def naps(marks: str, tell: Tell) -> Callable[[float], float]:
    """Writes the number of its process when it begins. Sleeps as many seconds as a job says."""
    (Path(marks) / str(os.getpid())).touch()

    def do(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    return do


def deaf(marks: str, tell: Tell) -> Callable[[float], float]:
    """As `naps`, with another use for SIGTERM, as some libraries have."""
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    return naps(marks, tell)


def masks(tell: Tell) -> Callable[[Any], set[int]]:
    """Returns the signals that its process does not hear."""
    return lambda job: set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


class Doubling:
    """A model that doubles numbers, slowly, so that requests gather; one number it does not like."""

    def __init__(self, pids: str) -> None:
        (Path(pids) / str(os.getpid())).touch()
        self.largest = self.asked = 0

    def answer(self, requests: Sequence[tuple[dict[str, Any], str]]) -> list[Any]:
        time.sleep(0.02)
        self.asked += len(requests)
        self.largest = max(self.largest, len(requests))
        wrong = ValueError("expected no 13, got one")
        return [wrong if -13 in request["ids"] else {"ids": request["ids"] * 2} for request, _ in requests]

    def call(self, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return getattr(self, method)


def unopened_service() -> Any:
    raise FileNotFoundError("no weights here")


def service_opened_once(pids: str) -> Any:
    """A model that cannot be opened again."""
    if any(Path(pids).iterdir()):
        raise FileNotFoundError("no weights there")
    return Doubling(pids)


def asks_a_door(door: Any, *more: Any) -> Callable[[int], list[int]]:
    """Asks a model that another process holds. more: a number that it does not like, and what counts answers."""

    def do(number: int) -> list[int]:
        sign = -1 if len(more) > 1 and number == more[0] else 1
        both = np.array([sign * number, sign * number])
        return [int(answer) + at for at, answer in enumerate(door.answer({"ids": both})["ids"].tolist())]

    return do
