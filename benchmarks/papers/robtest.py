"""Repeats RobTest's reports (Chen et al. 2023, Figures 2 and 10 to 15) and writes docs/results/robtest.md. Victims: victims.py.

  python benchmarks/papers/robtest.py run [NAME ...] [--device cuda] [--at-once 4] [--workers 4] [--minutes 7]
  python benchmarks/papers/robtest.py run --examples 5 --cases 3                             (to try it)
  python benchmarks/papers/robtest.py page [--runs FOLDER]

`run` does the evaluations in RUNS, the most important first, several at once, each in a process of its own with `--workers`
workers. An evaluation whose victim is still being trained waits for it. A finished one is not run again; one that was cut by
--minutes goes on where it stopped. Of each finished run the numbers (summary.json, and the scores of each example by degree) are
copied to FOLDER/summaries, which is all that `page` needs. `page` puts them into docs/results/robtest.json, the evidence, and
rewrites the tables of docs/results/robtest.md from it and from figures/robtest.json, the paper's rows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scuff.evaluation.dimensions import COLUMNS
from scuff.evaluation.setup import EvaluationSetup
from scuff.runs.folder import Folder
from victims import VICTIMS, examples, minilm_folder

SLOW = ("contextual", "syntax", "distraction")  # ask a language model or an encoder about each case
FAST = tuple(name for name in COLUMNS if name not in SLOW)
LONGEST = {"jigsaw-bl": 80}  # words: its victims see 128 pieces, and changes behind them would count as harmless


@dataclass(frozen=True)
class Run:
    """An evaluation. extra: further settings; dimensions and settings may name {mlm}."""

    name: str
    victim: str
    examples: int
    cases: int
    dimensions: tuple[str, ...]
    access: tuple[str, ...] = ("rule", "score")
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def task(self) -> str:
        return VICTIMS[self.victim].data


VARIANTS = (  # of the columns that harm little: what the paper's perturbations take and ours do not
    "synonym",
    "synonym-wordnet=synonym(source='wordnet')",
    "synonym-loose=synonym(source='wordnet', loose=True)",
    "contextual",
    "contextual-loose={loose}",
)
RUNS = (  # the most important first; long texts have fewer examples by scores, which ask about every letter first
    Run("sst2", "sst2", 150, 100, FAST),
    Run("sst2-slow", "sst2", 150, 40, SLOW),
    Run("agnews", "agnews", 150, 30, tuple(COLUMNS), ("rule",)),
    Run("jigsaw-bl", "jigsaw-bl", 150, 30, tuple(COLUMNS), ("rule",)),
    Run("sst2-published", "sst2", 100, 50, (*FAST, "contextual", "distraction"), extra=(("as_published", True),)),
    Run("sst2-variants", "sst2", 100, 50, VARIANTS),
    Run("sst2-3", "sst2-3", 150, 100, FAST),
    Run("sst2-3-slow", "sst2-3", 150, 40, SLOW),
    Run("agnews-3", "agnews-3", 150, 30, tuple(COLUMNS), ("rule",)),
    Run("jigsaw-bl-3", "jigsaw-bl-3", 150, 30, tuple(COLUMNS), ("rule",)),
    Run("agnews-score", "agnews", 40, 30, tuple(COLUMNS)),
    Run("jigsaw-bl-score", "jigsaw-bl", 40, 30, tuple(COLUMNS)),
    Run("sst2-gradient", "sst2", 60, 30, FAST, ("score", "gradient")),
    Run("agnews-3-score", "agnews-3", 40, 30, tuple(COLUMNS)),
    Run("jigsaw-bl-3-score", "jigsaw-bl-3", 40, 30, tuple(COLUMNS)),
)


def loose_contextual(mlm: str) -> str:
    """Returns the spec of the likeliest words of a masked language model without our filters."""
    return f"contextual(mlm={mlm!r}, original=False, loose=True)"


def data_file(task: str, out: Path) -> Path:
    """Writes the test part of a task, in the form that `scuff evaluate` reads, unless it is there. Returns its path."""
    path = out / "data" / f"{task}.jsonl"
    if not path.is_file():
        rows = examples(task, "test")
        kept = [row for row in rows if len(row["text"].split()) <= LONGEST.get(task, 1 << 30)]
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
        part.replace(path)
    return path


def do_run(run: Run, args: argparse.Namespace) -> None:
    """Runs one evaluation, and copies its numbers to the folder of summaries."""
    import scuff

    folder, mlm = args.out / "runs" / run.name, str(args.victims / "mlm")
    named = [spec.format(loose=loose_contextual(mlm)) for spec in run.dimensions]
    if not Path(mlm).is_dir():  # what needs it is left out of this run
        named = [spec for spec in named if not spec.startswith("contextual")]
    options = {"device": args.device, **({"dtype": "float16"} if args.device.startswith("cuda") else {})}
    settings: dict[str, Any] = {
        "dimensions": named, "access": run.access,
        "examples": min(run.examples, args.examples or run.examples), "cases": min(run.cases, args.cases or run.cases),
        "workers": args.workers, "options": options, **({"mlm": mlm} if Path(mlm).is_dir() else {}), **dict(run.extra),
    }  # fmt: skip
    settings["encoder"] = args.meaning if "meaning" in args else str(minilm_folder(args.minilm))
    scuff.evaluate(str(args.victims / run.victim), str(data_file(run.task, args.out)), folder, **settings)
    copy_numbers(folder, args.out / "summaries" / run.name, args.victims / run.victim / "metrics.json")


def copy_numbers(folder: Path, target: Path, metrics: Path) -> None:
    """Copies what `page` needs of a finished run: its summary, the scores of each example, and its victim's metrics."""
    table = EvaluationSetup.read(Folder(folder)).table()
    target.mkdir(parents=True, exist_ok=True)
    scores = (table.clean_score, table.mean_score, table.worst_score, table.alone_score)
    clean, mean, worst, alone = (array.astype(np.float32) for array in scores)
    np.savez_compressed(target / "scores.npz", clean=clean, mean=mean, worst=worst, alone=alone)
    shutil.copy(metrics, target)
    for file in ("timings.json", "summary.json"):  # the summary last: it says that all is there
        shutil.copy(folder / file, target)


def finished(run: Run, out: Path) -> bool:
    return (out / "summaries" / run.name / "summary.json").is_file()


def possible(run: Run, args: argparse.Namespace) -> str:
    """Returns why a run cannot be done here; "" if it can."""
    if not args.wait and not (args.victims / run.victim / "metrics.json").is_file():
        return f"needs the victim {run.victim} in {args.victims}"
    return ""


class Schedule:
    """Runs evaluations in processes of their own, several at once, until all are done or the time is over."""

    def __init__(self, runs: Sequence[Run], args: argparse.Namespace) -> None:
        self.waiting, self.args, self.begin = list(runs), args, time.monotonic()
        self.running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
        self.failed = 0

    def go(self) -> int:
        """Returns how many runs failed or were not done."""
        end = self.begin + 60 * self.args.minutes if self.args.minutes else float("inf")
        while (self.waiting or self.running) and time.monotonic() < end:
            self._start()
            self._reap()
            time.sleep(0.2)
        for name, (process, _) in self.running.items():
            print(f"{name}: cut by the time limit; the same command goes on with it", flush=True)
            os.killpg(process.pid, signal.SIGTERM)
        for run in self.waiting:
            print(f"{run.name}: not begun in time", flush=True)
        return self.failed + len(self.running) + len(self.waiting)

    def _start(self) -> None:
        ready = [run for run in self.waiting if (self.args.victims / run.victim / "metrics.json").is_file()]
        for run in ready[: max(0, self.args.at_once - len(self.running))]:
            self.waiting.remove(run)
            command = [sys.executable, __file__, "one", run.name, *self.args.given]
            log = self.args.out / "logs" / f"{run.name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as file:  # in a session of its own, so that it can be ended with its workers
                process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
            self.running[run.name] = (process, time.monotonic())

    def _reap(self) -> None:
        for name, (process, begin) in list(self.running.items()):
            if process.poll() is None:
                continue
            del self.running[name]
            now = time.monotonic()
            took = f"{now - begin:.0f} s, at {now - self.begin:.0f} s"
            if process.returncode:
                self.failed += 1
                tail = (self.args.out / "logs" / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-1500:]
                print(f"{name}: FAILED after {took}\n{tail}", flush=True)
                continue
            summary = json.loads((self.args.out / "summaries" / name / "summary.json").read_text(encoding="utf-8"))
            clean = summary["clean"]["score"]["value"]
            print(f"{name}: {summary['queries']['cases']:,} cases, clean {clean:.3f}, {took}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "one", "page"), help="one: do a single run in this process")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(run.name for run in RUNS))
    parser.add_argument("--out", "--runs", type=Path, default=Path("runs/robtest"))
    parser.add_argument("--victims", type=Path, default=Path("runs/victims"))
    parser.add_argument("--minilm", type=Path, help="measures meaning; default: the installed package's")
    parser.add_argument("--meaning", default=argparse.SUPPRESS, help="chrf, to measure meaning without MiniLM")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="stop after so long")
    parser.add_argument("--wait", action="store_true", help="for victims that are being trained")
    parser.add_argument("--examples", type=int, help="at most so many, to try it")
    parser.add_argument("--cases", type=int, help="at most so many, to try it")
    args = parser.parse_args()
    args.given = [each for each in sys.argv[2:] if each not in args.names]
    if args.examples or args.cases:  # a trial, which must not pass for the run
        args.out = args.out / "trial"
    if unknown := set(args.names) - {run.name for run in RUNS}:
        sys.exit(f"expected {', '.join(run.name for run in RUNS)}, got {', '.join(sorted(unknown))}")
    if args.what == "page":
        from robtest_page import write_page

        write_page(args.out / "summaries")
        return
    wanted = [run for run in RUNS if (not args.names or run.name in args.names) and not finished(run, args.out)]
    for run in wanted:
        if why := possible(run, args):
            print(f"{run.name}: left out, {why}", flush=True)
    wanted = [run for run in wanted if not possible(run, args)]
    if args.what == "one":
        for run in wanted:
            do_run(run, args)
        return
    sys.exit(1 if Schedule(wanted, args).go() else 0)


if __name__ == "__main__":
    main()
