"""Measures what an evaluation costs beside its model: making cases, asking, writing, and computing the results.

  python benchmarks/cases.py [DATA] [--examples N] [--cases K] [--meaning chrf|minilm] [--only columns growth finish]
  python benchmarks/cases.py --full [--workers W] [--examples 1000] [--cases 100] [--keep FOLDER]

The model answers at once: a score by the length of a text. So what is measured is everything else. Prints

columns   cases a second of one core for each of RobTest's columns: made, and made, asked and written
growth    how many times as much an evaluation costs with twice (--times 10: ten times) the examples, cases, words, degrees
finish    seconds and memory to read the trials, compute the summary and write results and report, for 1, 2, 4 times the trials

--full runs the whole protocol (1,000 examples x 100 cases x 7 degrees x all columns) with W workers, and prints when each
phase was over, cases a second, the memory of this process, and the milliseconds that it spends on one block. Seconds are those of
the processor (all threads) unless said otherwise, since other programs may run. DATA: sst2's test part of the project's shared
folder, if that is there, else the embedded reviews.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from scuff.data.dataset import Dataset, joined
from scuff.evaluation.block import make_cases, try_block
from scuff.evaluation.dimensions import COLUMNS
from scuff.evaluation.plan import choose_dimensions, make_protocol
from scuff.evaluation.protocol import Protocol
from scuff.evaluation.settings import EvaluationSettings
from scuff.evaluation.setup import EvaluationSetup
from scuff.metrics.meaning import distance_in_meaning
from scuff.perturbations import replace as replacing
from scuff.perturbations import syntax as rewording
from scuff.reports.evaluation import write_report
from scuff.runs.folder import Folder
from scuff.runs.inputs import open_data
from scuff.victims.base import Outputs, Victim
from scuff.victims.query import Query
from scuff.victims.truth import Truth

MODEL = "cases:AtOnce"  # this file, as workers import it
BLOCK = 1 << 16  # cases of a block, as for a model on a GPU


def at_once(texts: list[str]) -> np.ndarray[Any, Any]:
    """Scores texts by their lengths, at once."""
    length = np.fromiter(map(len, texts), np.int64, len(texts))
    share = 0.05 + 0.15 * (length % 7)
    return np.stack([share, 1 - share], 1)


class AtOnce(Victim):
    """The same as an object, with the block size of a model on a GPU."""

    name, task, labels, rows_at_once, cases_at_once = "at once", "single", ("negative", "positive"), 8192, BLOCK

    def __call__(self, *columns: Any) -> Outputs:
        return Outputs.of(at_once(columns[0]))


def default_data() -> str:
    shared = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
    path = shared / "data" / "sst2" / "test.jsonl.gz"
    return str(path) if path.is_file() else "toy:sentiment"


def memory() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def timed(seconds: list[float]) -> Iterator[None]:
    """Appends the processor's seconds of a block of code."""
    begin = time.process_time()
    yield
    seconds.append(time.process_time() - begin)


class Bench:
    """Makes, asks and writes the cases of blocks of examples, one dimension after the other."""

    def __init__(self, data: Dataset, meaning: str, folder: Path) -> None:
        self.data, self.meaning, self.folder = data, meaning, Folder(folder)
        (folder / "trials").mkdir(parents=True, exist_ok=True)
        usual = EvaluationSettings.of(encoder=meaning)
        specs, left_out = choose_dimensions(usual, data)
        self.specs = dict(zip([name for name in COLUMNS if name not in left_out], specs, strict=True))

    def protocol(self, names: list[str], cases: int, **more: Any) -> Protocol:
        specs = [self.specs[name] for name in names]
        settings = EvaluationSettings.of(dimensions=specs, cases=cases, encoder=self.meaning, **more)
        return make_protocol(settings, self.data, BLOCK)[0]

    def cost(self, data: Dataset, protocol: Protocol) -> tuple[int, float, float]:
        """Returns the cases of some examples, the seconds to make them, and the seconds to ask and write them."""
        making, rest, count = list[float](), list[float](), 0
        replacing._recent.clear()  # what is known of the texts of a measurement before
        rewording._kept.clear()
        distance_in_meaning.cache_clear()
        victim = AtOnce()
        truth, query = Truth.of(data, victim.labels, {}, None), Query(victim)
        blocks = protocol.blocks(data, len(protocol.cells), protocol.cases)
        for number, (rows, _) in enumerate(blocks):
            with timed(making):
                made = make_cases(data.take(rows), protocol, protocol.cells, 0, protocol.cases)
            with timed(rest):
                part = try_block(made, truth.take(np.array(rows)), query, rows.start)
                query.forget()
                self.folder.write_part(f"part-{number}", part)
            count += part["example"].size
        return count, sum(making), sum(rest)

    def warm(self) -> None:
        """Loads word lists and models, which the costs of a case must not hold."""
        make_cases(self.data.take(range(1)), protocol := self.protocol(list(self.specs), 2), protocol.cells, 0, 2)


def columns(bench: Bench, data: Dataset, cases: int) -> None:
    """Prints cases a second of one core by column, and of all columns together."""
    print(f"\none core, {len(data)} examples x {cases} cases x 7 degrees, meaning by {bench.meaning}")
    print(f"{'column':12} {'cases':>9} {'made/s':>9} {'all in/s':>9} {'us/case':>9}")
    total = [0, 0.0, 0.0]
    for name in bench.specs:
        count, making, rest = bench.cost(data, bench.protocol([name], cases))
        total = [total[0] + count, total[1] + making, total[2] + rest]
        _row(name, count, making, rest)
    _row("all", *total)


def _row(name: str, count: float, making: float, rest: float) -> None:
    both = making + rest
    print(f"{name:12} {count:9,.0f} {count / making:9,.0f} {count / both:9,.0f} {1e6 * both / count:9.1f}", flush=True)


def growth(bench: Bench, data: Dataset, cases: int, times: int) -> None:
    """Prints how the cost of all columns grows when one thing is so many times as much."""
    names, some = list(bench.specs), data.take(range(max(1, len(data) // times)))
    cases = max(2, cases // times)
    long = replace(some, columns=(tuple(" ".join([joined(text)] * times) for text in some.columns[0]),))
    few, many = (tuple(np.linspace(0.05, 0.6, count).round(3).tolist()) for count in (3, 3 * times))
    base = _seconds(bench, some, bench.protocol(names, cases))
    print(
        f"\n{times} times the ...   seconds    cases   seconds of a case  ({len(some)} examples x {cases} cases: {base[1]:.1f} s)"
    )
    _ratio("examples", _seconds(bench, data, bench.protocol(names, cases)), base)
    _ratio("cases", _seconds(bench, some, bench.protocol(names, times * cases)), base)
    _ratio("words", _seconds(bench, long, bench.protocol(names, cases)), base)
    base = _seconds(bench, some, bench.protocol(names, cases, degrees=few))
    _ratio("degrees", _seconds(bench, some, bench.protocol(names, cases, degrees=many)), base)


def _seconds(bench: Bench, data: Dataset, protocol: Protocol) -> tuple[int, float]:
    count, making, rest = bench.cost(data, protocol)
    return count, making + rest


def _ratio(what: str, found: tuple[int, float], base: tuple[int, float]) -> None:
    seconds, count = found[1] / base[1], found[0] / base[0]
    print(f"{what:14} x {seconds:7.2f} x {count:6.2f} x {seconds / count:6.2f}", flush=True)


def finish(source: Path, folder: Path, times: tuple[int, ...] = (1, 2, 4)) -> None:
    """Prints what the end of a run costs, for a run and for the same with its trials several times over."""
    print("\nfinish     cases   seconds of all cores   of the first   wall   us/case   MB")
    for many in times:
        shutil.copytree(source, folder / f"x{many}", copy_function=os.link)
        home = Folder(folder / f"x{many}")
        for name in [name for name in home.parts() if name.startswith("round0")]:
            part = home.read_part(name)
            for copy in range(1, many):
                home.write_part(f"{name}x{copy}", part)
        begin = time.process_time(), time.thread_time(), time.perf_counter()
        work = EvaluationSetup.read(home)
        cases = work.finish(home.run())["queries"]["cases"]
        write_report(home)
        spent = [time.process_time() - begin[0], time.thread_time() - begin[1], time.perf_counter() - begin[2]]
        row = f"{spent[0]:20.2f} {spent[1]:14.2f} {spent[2]:6.2f} {1e6 * spent[1] / cases:9.2f} {memory():6.0f}"
        print(f"{'':6}{cases:10,} {row}", flush=True)


def full(args: argparse.Namespace, data: str, folder: Path) -> None:
    """Runs the whole protocol with workers, and prints the phases."""
    sys.path.insert(0, str(Path(__file__).parent))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    marks: list[tuple[Any, float, float]] = []  # when blocks were done: by the clock, and in seconds of this process

    def show(progress: Any) -> None:
        known = sum(1 for mark in marks if mark[0] is progress)  # the pre-flight has a progress of its own
        if progress.done >= known:
            marks.append((progress, time.perf_counter() - begin, time.process_time() - own))

    settings = {"examples": args.examples, "cases": args.cases, "workers": args.workers, "encoder": args.meaning}
    begin, own = time.perf_counter(), time.process_time()
    result = scuff.evaluate(args.model, data, folder / "run", show=show, **settings)
    seconds = time.perf_counter() - begin
    cases, left_out = result.summary["queries"]["cases"], result.summary["left_out"]
    parts = [path.stat().st_size for path in (folder / "run" / "trials").glob("round*.npz")]
    clean = [mark for mark in marks if mark[0] is marks[0][0]][-1][1]
    (_, first, busy), (_, last, spent) = next(mark for mark in marks if mark[0] is marks[-1][0]), marks[-1]
    print(f"{cases:,} cases in {seconds:.1f} s: {cases / seconds:,.0f}/s with {args.workers} workers")
    print(f"opened and asked about the clean texts {clean:.1f} s; first answers after {first:.1f} s")
    print(f"all {len(parts)} blocks done after {last:.1f} s; summary, results and report {seconds - last:.1f} s")
    each = 1000 * (spent - busy) / max(1, len(parts))
    print(
        f"this process: {memory():.0f} MB, {each:.1f} ms of the processor for a block; {sum(parts) / 1e6:,.0f} MB on disk"
    )
    if left_out:
        print(f"left out: {', '.join(left_out)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?")
    parser.add_argument("--model", default=MODEL, help="for --full; default: answers at once")
    parser.add_argument("--examples", type=int, help="default 16, with --full 1,000")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument(
        "--meaning", default="chrf", help="chrf (default), or minilm, which encodes about three texts for a case"
    )
    parser.add_argument("--times", type=int, default=2, help="for growth: how many times as much; default 2")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="for --full")
    parser.add_argument("--full", action="store_true")
    parser.add_argument(
        "--only", nargs="*", default=["columns", "growth", "finish"], choices=["columns", "growth", "finish"]
    )
    parser.add_argument("--keep", type=Path, help="where the run of --full stays")
    args = parser.parse_args()
    args.examples = args.examples or (1000 if args.full else 16)
    data = args.data or default_data()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if args.full:
            full(args, data, folder)
            return
        some = open_data(data, EvaluationSettings.of()).sample(args.examples, 0)
        bench = Bench(some, args.meaning, folder)
        bench.warm()
        if "columns" in args.only:
            columns(bench, some, args.cases)
        if "growth" in args.only:
            growth(bench, some, args.cases, args.times)
        if "finish" in args.only:
            scuff.evaluate(
                AtOnce(),
                some,
                folder / "run",
                cases=args.cases,
                encoder=args.meaning,
                dimensions=list(bench.specs.values()),
            )
            finish(folder / "run", folder)


if __name__ == "__main__":
    main()
