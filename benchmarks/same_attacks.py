"""Attacks by two versions of the sources, and whether their run folders have the same bytes.

  python benchmarks/same_attacks.py --against SOURCES DATA [DATA ...] [--vectors FILE] [--examples 60] [--only WORD]

DATA: files of labelled texts; of each a linear model is trained and attacked by many recipes and searches, with budgets,
protected text, users' searches that break the rules, and victims that fail on single rows. Further attacks need no file: pairs of
texts, tags, label sets, translations, shields. --against SOURCES: the folder `src` of the other version. Ends with 1 if a run
differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import scuff
from by_heart import Linear, digest
from scuff.attacks.attack import Attack
from scuff.attacks.search.base import Dice, Search, Try, Walk
from scuff.attacks.space import View
from scuff.data.reading import read_dataset
from scuff.data.toy import toy_data
from scuff.victims.base import Access, Column, Outputs, Victim, as_objects
from scuff.victims.toy import Toy

LETTERS = ("typo(operations='delete', layout='any')", "2*typo(operations='swap replace', layout='any')", "homoglyph")
RECIPES = (
    "deepwordbug",
    "pwws",
    "textfooler",
    "textbugger",
    "toxictrap",
    "tt-deepwordbug",
    "tt-pwws",
    "input-reduction",
)
SEARCHES = ("unk", "delete", "head-tail", "weighted-saliency", "random", "greedy", "beam(width=3)", "best-of(n=30)",
            "genetic(population=6, generations=3)")  # fmt: skip
Given = dict[str, Any]


@dataclass(frozen=True)
class Odd(Search):
    """Breaks rules in turn: repeats states, orders edits wrongly, tries overlapping ones, returns what it did not try, raises."""

    name: ClassVar[str] = "odd"
    summary: ClassVar[str] = "breaks rules"

    def walk(self, view: View, dice: Dice) -> Walk:
        edits = [edit for site in view.sites for edit in view.options(site)]
        if len(edits) < 4:
            return ()
        told = yield Try([view.hides(site) for site in view.sites] * 2, free=True)
        told = yield Try([(edits[-1], edits[0]), (edits[0], edits[-1]), (edits[0],), (), (edits[0],)])
        kind = view.row % 7
        if kind == 1:
            yield Try([tuple(edits[:2])])  # two edits of one site overlap
        if kind == 2:
            return (edits[1], edits[2], edits[3])
        if kind == 3:
            raise RuntimeError("a search that raises")
        if kind == 4:
            yield Try([(10**9,)])
        told = yield Try([(edits[0], view.hides(view.sites[-1])[0])])
        more = view.further((edits[0],))
        told = yield Try([*more, *more[::-1]])
        best = told.best()
        return () if best is None else [*more, *more[::-1]][best]


class Failing(Victim):
    """A victim that raises, refuses, or has no numbers, on some texts."""

    access = Access.SCORE
    rows_at_once = 64

    def __init__(self, victim: Victim) -> None:
        self.victim, self.name, self.task, self.labels = victim, "failing", victim.task, victim.labels

    def __call__(self, *columns: Column) -> Outputs:
        size = np.array([len(str(text)) for text in columns[0]])
        if (size % 61 == 0).any():
            raise RuntimeError("a text of 61 characters, or of twice as many")
        found = self.victim(*columns)
        answers = found.answers.copy()
        answers[size % 37 == 1] = np.nan
        return Outputs.of(answers, ["refused" if at % 41 == 2 else "" for at in size.tolist()])


class Pairs(Victim):
    """Three labels for pairs of texts, by the toy's opinion of both."""

    access = Access.SCORE
    name, task, labels = "pairs", "single", ("same", "better", "worse")
    rows_at_once = 512

    def __call__(self, *columns: Column) -> Outputs:
        one, other = (Toy("sentiment")(list(column)).answers[:, 1] for column in columns)
        scores = np.stack([1 - np.abs(one - other), np.maximum(other - one, 0), np.maximum(one - other, 0)], 1)
        return Outputs.of(scores / scores.sum(1, keepdims=True))


class Tagger(Victim):
    """Tags tokens by their last letter."""

    access = Access.DECISION
    name, task, labels = "tagger", "tokens", ("A", "B", "C")

    def __call__(self, *columns: Column) -> Outputs:
        tags = [np.array([ord(token[-1:] or "a") % 3 for token in tokens], np.int64) for tokens in columns[0]]
        return Outputs.of(as_objects(tags))


def from_files(args: argparse.Namespace) -> Iterator[tuple[str, Any, Any, Given]]:
    """Attacks on the files: a name, the victim, the data, keywords of scuff.attack."""
    for path in args.data:
        name, read = Path(path).parent.name, read_dataset(path).sample(2000, 0)
        victim = Linear(list(map(str, read.columns[0])), read.targets, sorted(read.labels), read.task == "multi")
        data, few = read.sample(args.examples, 1), read.sample(args.examples // 3, 2)
        benign = next((label for label in victim.labels if label in ("neither", "positive", "benign")), None)
        goal = f"toxictrap(benign={benign!r})" if benign else "toxictrap"
        vectors = {"vectors": args.vectors} if args.vectors else {}
        for recipe in RECIPES:
            if (not args.vectors and recipe in ("textfooler", "textbugger", "toxictrap")) or (
                recipe == "input-reduction" and read.task == "multi"
            ):
                continue
            usual = {"recipe": recipe, "without": ["word-vectors"], **vectors}
            usual |= (
                {"goal": goal}
                if recipe.startswith("t") and "toxic" in recipe + "toxic" * recipe.startswith("tt-")
                else {}
            )
            yield f"{name} {recipe}", victim, data, usual
            yield f"{name} {recipe} budget", victim, data, {**usual, "max_queries": 17, "seed": 3}
        for search in SEARCHES:
            mine = {"recipe": "deepwordbug", "search": search, "perturbations": [*LETTERS, "synonym"]}
            limits = {"constraint": ["changed(share=0.2, floor=1)", "chrf(least=0.7)", "edit-distance(most=4)"]}
            yield f"{name} {search}", victim, few, {**mine, "max_queries": 300}
            yield (
                f"{name} {search} constraints",
                victim,
                few,
                {**mine, **limits, "protect": ["word:the"], "max_queries": 60},
            )
            yield f"{name} {search} failing", Failing(victim), few, {**mine, "max_queries": 200}
        odd = Attack.of("odd", "", "untargeted", LETTERS, Odd(), ("changed(share=0.5)",))
        yield f"{name} odd", victim, data, {"recipe": odd}
        yield f"{name} odd budget", victim, data, {"recipe": odd, "max_queries": 20}


def embedded(args: argparse.Namespace) -> Iterator[tuple[str, Any, Any, Given]]:
    """Attacks that need no file."""
    texts, targets = toy_data("sentiment", "test")
    rows, size = list(zip(texts, targets, strict=True)), args.examples
    for attacker in ("aware", "unaware"):
        yield (
            f"shield {attacker}",
            "toy:sentiment",
            rows[:size],
            {"recipe": "deepwordbug", "shield": "normalise", "attacker": attacker},
        )
    tone = list(zip(*toy_data("tone", "test"), strict=True))[:size]
    yield (
        "tone",
        "toy:tone",
        [{"text": text, "labels": list(labels)} for text, labels in tone],
        {"recipe": "deepwordbug"},
    )
    yield (
        "translate",
        "toy:translate",
        "toy:translate",
        {"recipe": "deepwordbug", "goal": "decrease", "examples": size // 2},
    )
    yield "teapot", "toy:translate", "toy:translate", {"recipe": "teapot", "examples": size // 4}
    pairs = [{"premise": a, "hypothesis": b, "label": ("same", "better", "worse")[len(a) % 3]}
             for a, b in zip(texts[:size], texts[size : 2 * size], strict=True)]  # fmt: skip
    for side in ("first", "second"):
        for search in ("delete", "weighted-saliency", "beam(width=2)"):
            given = {"text": ["premise", "hypothesis"], "side": side, "recipe": "deepwordbug", "search": search}
            yield f"pairs {side} {search}", Pairs(), pairs, given
    words = [str(text).split() for text in texts[:size]]
    tagged = [{"tokens": one, "tags": ["ABC"[ord(token[-1]) % 3] for token in one]} for one in words]
    for search in ("unk", "delete", "greedy"):
        yield f"tags {search}", Tagger(), tagged, {"recipe": "deepwordbug", "goal": "tags(share=0.3)", "search": search}
    bad = ["", " ", "!?", "👩‍👩‍👧‍👦👍🏽", "שלום עולם, הסרט היה נורא", "e\u0301te\u0301 ne\u0301 good", "\x00\r\n\u2028", "good",
           "a" * 300,
           "good " * 400]  # fmt: skip
    for search in SEARCHES[:7]:
        yield (
            f"bad {search}",
            "toy:sentiment",
            [(text, "positive") for text in bad],
            {"recipe": "deepwordbug", "search": search, "max_queries": 400},
        )


def runs(args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Does every attack with the sources of this process: its name, and a digest of its run folder or the error."""
    for name, victim, data, given in (*from_files(args), *embedded(args)):
        if args.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = scuff.attack(
                    victim, data, output=Path(folder) / "run", encoder="chrf", max_errors=10**6, **given
                )
                yield (
                    name,
                    f"{digest(Path(folder) / 'run')} {done.summary['queries']['total']} {done.summary['status']}",
                )
            except (ValueError, RuntimeError) as error:
                yield name, f"{type(error).__name__}: {error}".replace(folder, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*")
    parser.add_argument("--against", required=True)
    parser.add_argument("--vectors")
    parser.add_argument("--examples", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--lines", action="store_true")
    args = parser.parse_args()
    if args.lines:
        warnings.simplefilter("ignore")
        for name, found in runs(args):
            print(json.dumps([name, found]), flush=True)
        return
    sides: list[list[Any]] = []
    for source in (Path(args.against).resolve(), Path(scuff.__file__).parent.parent):
        command = [sys.executable, __file__, *sys.argv[1:], "--lines"]
        out = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, check=True, stdout=subprocess.PIPE)
        sides.append([json.loads(line) for line in out.stdout.splitlines() if line.startswith(b"[")])
    differ = [(name, old, new) for (name, old), (_, new) in zip(*sides, strict=True) if old != new]
    for name, old, new in differ:
        print(f"{name}\n  {old}\n  {new}")
    print(f"{len(sides[0])} runs, {len(differ)} differ")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
