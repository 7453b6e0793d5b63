"""What engines cost: a fixed list of jobs done by plain processes, by the local engine and by Ray.

    python benchmarks/engines.py --seconds 60 --workers 2
    unshare -rn python tests/runs/loopback.py python benchmarks/engines.py --ray     (Ray listens on all interfaces)

Plain processes: `imap_unordered` of a multiprocessing.Pool. All take turns, so that what else the machine does disturbs all of
them alike. Start-up is told apart. `--evaluate` also times an evaluation by 1 worker and by several.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from scuff.runs.engines.open import open_engine

Round = Callable[[int], None]  # does so many jobs
Way = Callable[[ExitStack, int, int], Round]


def burn(times: int) -> float:
    """Computes in Python and NumPy, about half and half."""
    total, numbers = 0.0, np.arange(2000.0)
    for at in range(times):
        total += float(np.sqrt(numbers + at).sum())
        total += sum(each * 0.5 for each in range(150))
    return total


def open_burn(times: int, tell: Any) -> Callable[[int], float]:
    def do(number: int) -> float:
        tell(1)
        return burn(times)

    return do


def calibrate(seconds: float) -> int:
    """How often `burn` must loop to take so long, here and now."""
    begun, times = time.perf_counter(), 0
    while time.perf_counter() - begun < 1.0:
        burn(100)
        times += 100
    return max(1, round(times * seconds))


def plain(stack: ExitStack, workers: int, times: int) -> Round:
    pool = stack.enter_context(get_context("spawn").Pool(workers))

    def do(jobs: int) -> None:
        assert sum(1 for _ in pool.imap_unordered(burn, [times] * jobs)) == jobs

    do(workers)
    return do


def engine(name: str, stack: ExitStack, workers: int, times: int) -> Round:
    opened = stack.enter_context(closing(open_engine(name, workers)))
    work, told = partial(open_burn, times), list[int]()

    def do(jobs: int) -> None:
        assert sum(1 for _ in opened.run(range(jobs), work, tell=told.append)) == jobs

    do(workers)  # so that all are open
    return do


def compare(ways: dict[str, Way], args: argparse.Namespace) -> None:
    times = calibrate(args.job)
    jobs = max(1, round(args.seconds / args.job / args.rounds)) * args.workers
    taken: dict[str, list[float]] = {name: [] for name in ways}
    with ExitStack() as stack:
        rounds = {}
        for name, way in ways.items():
            begun = time.perf_counter()
            rounds[name] = way(stack, args.workers, times)
            print(f"{name:6} ready after {time.perf_counter() - begun:.2f} s")
        for at in range(args.rounds):
            names = list(ways)
            for name in names[at % len(names) :] + names[: at % len(names)]:
                begun = time.perf_counter()
                rounds[name](jobs)
                taken[name].append(time.perf_counter() - begun)
    print(f"{args.rounds} rounds of {jobs} jobs of about {args.job * 1000:.0f} ms, {args.workers} workers")
    for name, seconds in taken.items():
        over = [mine / base - 1 for mine, base in zip(seconds, taken["plain"], strict=True)]
        whole = sum(seconds) / sum(taken["plain"]) - 1
        print(f"{name:6} {sum(seconds):7.2f} s, {whole:+6.1%} of plain (rounds: median {statistics.median(over):+.1%})")


def evaluations(workers: int) -> None:
    """An evaluation of the toy model, whose cost is almost all in making cases, by one worker and by several."""
    given: dict[str, Any] = {"dimensions": ["typo-m", "glyph-m", "phonetic-m"], "cases": 20, "encoder": "chrf"}
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, workers):
            begun = time.perf_counter()
            scuff.evaluate("toy:sentiment", "toy:sentiment", Path(folder) / str(number), workers=number, **given)
            print(f"evaluate toy:sentiment, {number} workers: {time.perf_counter() - begun:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0, help="of work for each way")
    parser.add_argument("--job", type=float, default=0.2, help="seconds of a job")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--ray", action="store_true", help="Ray, too")
    parser.add_argument("--evaluate", action="store_true", help="an evaluation by 1 and by several workers, too")
    args = parser.parse_args()
    ways: dict[str, Way] = {"plain": plain, "local": partial(engine, "local")}
    compare(ways | ({"ray": partial(engine, "ray")} if args.ray else {}), args)
    if args.evaluate:
        evaluations(args.workers)


if __name__ == "__main__":
    main()
