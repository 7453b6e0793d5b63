"""Measures what a search attack costs by itself: queries per second on one core, with a victim that knows all answers by heart.

  python benchmarks/by_heart.py DATA [DATA ...] [--train FILE ...] [--recipes deepwordbug pwws ...] [--against SOURCES]

Of each file DATA a linear model is trained (on --train, a file for each DATA; default: on DATA) and attacked once. Its answers
are stored; then the attack is repeated with a victim that looks them up: one look-up in a dictionary for each text, whose share
is printed. Two times are measured, in seconds of the processor: `Engine.run`, the search loop alone, and `scuff.attack`,
everything included (reading the data, proposals, run folder, report). Meaning is not constrained (the encoder is another
network), and measured by chrF. --forget: parts of speech are found anew in each run, as in a first attack on new data; else those
of the run before are known, as the answers are.

--against SOURCES: the folder `src` of another version, which does the same in turn; the results of both must have the same
bytes. --repeat: the best of so many runs counts. --options: more keywords of scuff.attack, as JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from scuff.attacks import engine
from scuff.attacks.constraints import speech
from scuff.data.reading import read_dataset
from scuff.victims.base import Access, Column, Outputs, Victim, sigmoid
from scuff.victims.toy import BUCKETS, Features

RECIPES = ("deepwordbug", "pwws", "textfooler", "textbugger", "toxictrap", "tt-deepwordbug", "input-reduction")
NETWORKS = ["meaning", "word-vectors"]  # constraints that need a network, or vectors that are not at hand
TRAINED, EPOCHS, RATE, BATCH = 6000, 3, 2.0, 256


class Linear(Victim):
    """Logistic regression on hashed words and letters, one sigmoid for each label: answers for any data in no time."""

    access = Access.SCORE
    rows_at_once = 2048
    cases_at_once = 100_000

    def __init__(self, texts: Sequence[str], targets: Sequence[Any], labels: Sequence[str], multi: bool) -> None:
        self.name, self.labels, self.task = "linear", tuple(labels), "multi" if multi else "single"
        self.weights = np.zeros((len(labels), BUCKETS + 1))
        squares = np.ones_like(self.weights)
        sets = [{target} if isinstance(target, str) else set(target) for target in targets]
        for _ in range(EPOCHS):
            for at in range(0, len(texts), BATCH):
                batch = Features.of(texts[at : at + BATCH])
                for row, label in enumerate(labels):
                    right = np.array([label in one for one in sets[at : at + BATCH]], np.float64)
                    gradient = batch.gradient(sigmoid(batch.score(self.weights[row])) - right)
                    squares[row] += gradient**2
                    self.weights[row] -= RATE * gradient / np.sqrt(squares[row])

    def __call__(self, *columns: Column) -> Outputs:
        features = Features.of(list(map(str, columns[0])))
        scores = sigmoid(np.stack([features.score(row) for row in self.weights], 1))
        return Outputs.of(scores if self.task == "multi" else scores / scores.sum(1, keepdims=True))


class Store:
    """Answers by text. A run takes no digest of it: it is no part of a model."""

    __slots__ = ("answers", "place", "seconds", "teacher")

    def __init__(self, teacher: Victim) -> None:
        self.teacher, self.seconds = teacher, 0.0
        self.place: dict[Any, int] = {}
        self.answers: Any = np.zeros((0, len(teacher.labels)), np.float32)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("nothing to copy")

    def find(self, texts: Column) -> Any:
        try:
            at = np.fromiter(map(self.place.__getitem__, texts), np.int64, len(texts))
        except KeyError:
            new = [text for text in dict.fromkeys(texts) if text not in self.place]
            self.place.update(zip(new, range(len(self.place), len(self.place) + len(new)), strict=True))
            self.answers = np.concatenate([self.answers, self.teacher(new).answers])
            at = np.array([self.place[text] for text in texts], np.int64)
        return self.answers[at]


class ByHeart(Victim):
    """Looks answers up; asks a teacher what it does not know."""

    access = Access.SCORE

    def __init__(self, teacher: Victim) -> None:
        self.name, self.task, self.labels, self.store = teacher.name, teacher.task, teacher.labels, Store(teacher)
        self.rows_at_once, self.cases_at_once = teacher.rows_at_once, teacher.cases_at_once

    def __call__(self, *columns: Column) -> Outputs:
        begin = time.process_time()
        found = Outputs.of(self.store.find(columns[0]))
        self.store.seconds += time.process_time() - begin
        return found


class Clock:
    """Adds up the seconds inside `Engine.run`, without those of whoever takes its results."""

    def __init__(self) -> None:
        self.seconds, plain = 0.0, engine.Engine.run

        def run(mine: Any, *given: Any, **more: Any) -> Iterator[Any]:
            walk = plain(mine, *given, **more)
            while True:
                begin = time.process_time()
                try:
                    found = next(walk)
                except StopIteration:
                    return
                finally:
                    self.seconds += time.process_time() - begin
                yield found

        engine.Engine.run = run  # type: ignore[method-assign, assignment]


def digest(folder: Path) -> str:
    """A hash of what came of each example. The other files of a run name the version that wrote them."""
    return hashlib.sha256((folder / "results.jsonl").read_bytes()).hexdigest()[:16]


def measured(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Attacks each DATA by each recipe with the sources of this process; yields what was measured."""
    clock = Clock()
    for data, train in zip(args.data, args.train or args.data, strict=True):
        read = read_dataset(train)
        read = read.sample(TRAINED, 0)
        texts = [str(text) for text in read.columns[0]]
        teacher = Linear(texts, read.targets, sorted(read.labels), read.task == "multi")
        for recipe in args.recipes:
            try:
                row = best_of(args, data, recipe, ByHeart(teacher), clock)
            except ValueError as error:  # a goal that does not suit the labels
                print(f"{recipe} on {data}: {error}", file=sys.stderr)
            else:
                yield {"data": Path(data).parent.name, "recipe": recipe, **row}


def best_of(args: argparse.Namespace, data: str, recipe: str, victim: ByHeart, clock: Clock) -> dict[str, Any]:
    """What was measured in the fastest of some runs, after one in which the victim learns."""
    best: dict[str, Any] = {}
    for turn in range(args.repeat + 1):
        with tempfile.TemporaryDirectory() as folder:
            clock.seconds = victim.store.seconds = 0.0
            if args.forget:
                speech._known.clear()
            begin = time.process_time()
            done = scuff.attack(
                victim, data, recipe, Path(folder) / "run", examples=args.examples, encoder="chrf", vectors=args.vectors,
                without=NETWORKS, **json.loads(args.options),
            )  # fmt: skip
            whole = time.process_time() - begin
            if turn and (not best or clock.seconds < best["loop"]):
                best = {"loop": clock.seconds, "victim": victim.store.seconds, "whole": whole}
                best |= {"queries": done.summary["queries"]["total"], "digest": digest(Path(folder) / "run")}
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--train", nargs="*")
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--vectors", help="word vectors or lists of neighbours, for the recipes that need them")
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--against", help="the folder src of another version")
    parser.add_argument("--options", default="{}")
    parser.add_argument("--forget", action="store_true", help="parts of speech are found anew in each run")
    parser.add_argument("--lines", action="store_true", help="print JSON lines, for a process that compares")
    args = parser.parse_args()
    if args.lines:
        for row in measured(args):
            print(json.dumps(row), flush=True)
        return
    mine = Path(scuff.__file__).parent.parent
    sources = [Path(args.against).resolve(), mine] if args.against else [mine]
    given = [
        "--recipes", *args.recipes, "--examples", str(args.examples), "--repeat", str(args.repeat), "--options",
        args.options, *(["--vectors", args.vectors] if args.vectors else []), *["--forget"] * args.forget, "--lines",
    ]  # fmt: skip
    print("| data | recipe | queries | " + ("loop before | " if args.against else "") + "loop/s | victim's share | attack/s |"
          + (" attack before | same bytes |" if args.against else ""))  # fmt: skip
    for data, train in zip(args.data, args.train or args.data, strict=True):
        found = []
        for source in sources:
            command = [sys.executable, __file__, data, "--train", train, *given]
            one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(source)}
            out = subprocess.run(
                command, env={**os.environ, **one}, check=True, stdout=subprocess.PIPE, text=True
            ).stdout
            found.append([json.loads(line) for line in out.splitlines() if line.startswith("{")])
        for rows in zip(*found, strict=True):
            new, old = rows[-1], rows[0]
            line = [new["data"], new["recipe"], f"{new['queries']:,}"]
            line += [f"{old['queries'] / old['loop']:,.0f}"] if args.against else []
            line += [f"{new['queries'] / new['loop']:,.0f}", f"{new['victim'] / new['loop']:.0%}"]
            line += [f"{new['queries'] / new['whole']:,.0f}"]
            if args.against:
                line += [f"{old['queries'] / old['whole']:,.0f}", "yes" if new["digest"] == old["digest"] else "NO"]
            print("| " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    main()
