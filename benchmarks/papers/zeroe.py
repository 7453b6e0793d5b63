"""Repeats Tables 5 and 6 and Figures 1 and 5 of Zéroe (Eger and Benz 2020) on the shared models, beside the paper's figures.

  python benchmarks/papers/zeroe.py --out WORK [--tasks pos nli tc] [--examples 1000] [--device cuda]
  python benchmarks/papers/zeroe.py --page                  only writes the page again, from docs/results/zeroe.json

All ten perturbations x low, mid, high x POS (UD EWT), NLI (SNLI, both sentences are perturbed), TC (Jigsaw), test parts: with
our defaults, as published, and with one departure at a time. WORK/TASK-EXAMPLES/ has a file with what the scores of each row and
level are computed from; what is there is not run again. The scores of each task that was run go to docs/results/zeroe.json, from
which the tables of docs/results/zeroe.md and the two figures are written. Needs the shared data and models (SCUFF_SHARED,
default ../shared).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parent))
import zeroe_page

from scuff.metrics.classification import Accuracy, Auc, TokenAccuracy
from scuff.metrics.edit import edit_distance
from scuff.metrics.interval import percentile_interval, resamples
from scuff.perturbations import LEVELS, ZEROE, Visual, parse
from scuff.perturbations.blocks import Tally
from scuff.perturbations.plan import Plan
from scuff.perturbations.published import PUBLISHED, THESIS, as_published
from scuff.version import __version__
from scuff.victims.open import open_victim

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).resolve().parents[3] / "shared"))
ERRORS = SHARED / "data" / "natural_errors" / "en.tsv"  # the list of Belinkov and Bisk
SEED, RESAMPLES = 0, 1000
MODELS = {"pos": "ud_ewt", "nli": "nli", "tc": "jigsaw"}
DATA = {"pos": "ud_ewt", "nli": "snli", "tc": "jigsaw"}
KINDS: dict[str, Any] = {"pos": "tokens", "nli": "single", "tc": "multi"}
TOXIC = (
    "toxic",
    "severe_toxic",
    "obscene",
    "threat",
    "insult",
    "identity_hate",
)  # the model's "benign" is none of the data's

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One way to perturb: a perturbation, what is special about it, its spec, and how words are chosen (None: our default)."""

    name: str
    variant: str
    spec: str
    selection: str | None = None

    @property
    def key(self) -> str:
        """Names its entry in the JSON."""
        return f"{self.name}, {self.variant}"

    @property
    def file(self) -> str:
        """Names its files. Rows that do the same share them."""
        return re.sub(r"[^\w=-]+", "-", f"{self.shown} {self.selection or 'default'}").strip("-")

    @property
    def shown(self) -> str:
        """The spec without the folder of the list of errors."""
        return self.spec.replace(str(ERRORS.parent) + "/", "")


def all_rows() -> list[Row]:
    """All rows, those of the main tables first."""
    listed = f"natural(errors={str(ERRORS)!r}, listed=True)"  # as published, for who has the list
    ours = [Row(name, "ours", name) for name in ZEROE]
    published = [
        Row(name, "published", listed if name == "natural" else as_published(name), PUBLISHED[name].selection)
        for name in ZEROE
    ]
    told = {name: dict(PUBLISHED[name].elsewhere).get(THESIS) for name in ZEROE}
    thesis = [Row(row.name, "thesis", told[row.name] or row.spec) for row in published]
    departures = [
        Row("disemvowel", "words of 3 letters, too (published code)", "disemvowel(min_letters=3)"),
        Row("intrude", "words of 2 letters, too (published code)", "intrude(min_letters=2)"),
        Row("visual", "letters of chosen words", "visual(scope='words')", "quota"),
        Row("visual", "the same, each letter alone", "visual(scope='words', at_least_one=False)", "quota"),
        Row("visual", "by likeness (published code)", "visual(choice='likeness')"),
        Row("natural", "our list alone", "natural(listed=True)"),
        Row("natural", "the paper's list alone", listed),
        Row("phonetic", "the likeliest respelling", "phonetic(choice='best')"),
        Row("phonetic", "only words of the lexicon", "phonetic(listed=True)"),
        Row("phonetic", "both", "phonetic(listed=True, choice='best')"),
        Row("intrude", "each gap alone", "intrude(at_least_one=False)"),
        Row("keyboard", "each letter alone", "keyboard(at_least_one=False)"),
        Row("keyboard", "one letter, any key (published code)", "keyboard(phi=0, keys='all')"),
        Row("truncate", "words of 3 letters, too", "truncate(keep=2)"),
    ]
    coins = [Row(name, "a coin about each word", name, "coin") for name in ZEROE if name not in ("segment", "visual")]
    return [*ours, *published, *thesis, *departures, *coins]


@dataclass(frozen=True)
class Examples:
    """The examples of a task: columns of texts or tokens, and targets as numbers of the model's labels."""

    task: str
    columns: list[list[Any]]
    ids: list[str]
    truth: list[Any]

    @classmethod
    def read(cls, task: str, count: int) -> Examples:
        """The first `count` of the test part in an order that is shuffled once; 0: all of it."""
        with gzip.open(SHARED / "data" / DATA[task] / "test.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        order = np.random.default_rng(SEED).permutation(len(rows))[: count or None].tolist()
        chosen = [rows[at] for at in order]
        names = {"pos": ["tokens"], "nli": ["premise", "hypothesis"], "tc": ["text"]}[task]
        truth = {"pos": "tags", "nli": "label", "tc": "labels"}[task]
        return cls(
            task,
            [[row[name] for row in chosen] for name in names],
            [str(at) for at in order],
            [row[truth] for row in chosen],
        )

    def perturbed(self, row: Row, level: str) -> tuple[list[list[Any]], Tally]:
        """All columns after the perturbation, each text with draws of its own, and what changed."""
        part = parse(row.spec)
        plan = Plan(part.for_tokens() if self.task == "pos" else part, LEVELS[level], SEED, row.selection)
        tally, new = Tally(), []
        for number, column in enumerate(self.columns):
            ids = [f"{number}:{each}" for each in self.ids]
            made: list[Any] = (plan.tokens if self.task == "pos" else plan.texts)(column, ids=ids, tally=tally)
            new.append(made)
        return new, tally

    def distance(self, new: list[list[Any]]) -> tuple[int, int]:
        """Edit distance and characters, of all texts together."""
        joined = (lambda column: [" ".join(text) for text in column]) if self.task == "pos" else list
        pairs = [(joined(old), joined(after)) for old, after in zip(self.columns, new, strict=True)]
        far = sum(int(edit_distance(old, after).sum()) for old, after in pairs)
        return far, sum(len(text) for old, _ in pairs for text in old)

    def rows_of(self, answers: npt.NDArray[Any], labels: Sequence[str]) -> Floats:
        """What the score is computed from, one row per example."""
        if self.task == "pos":
            number = {label: at for at, label in enumerate(labels)}
            tags = np.empty(len(self.truth), object)
            tags[:] = [np.array([number[tag] for tag in row]) for row in self.truth]
            return np.asarray(TokenAccuracy().statistics(answers, tags, labels))
        if self.task == "nli":
            target = np.array([list(labels).index(label) for label in self.truth])
            return np.asarray(Accuracy().statistics(answers.argmax(1), target, labels))
        has = np.array([[label in row for label in TOXIC] for row in self.truth])
        scores = answers[:, [list(labels).index(label) for label in TOXIC]]
        return np.asarray(Auc().statistics(scores, has, TOXIC))

    @cached_property
    def metric(self) -> Any:
        return {"pos": TokenAccuracy(), "nli": Accuracy(), "tc": Auc()}[self.task]

    @property
    def worst(self) -> float:
        """What guessing reaches: the share of the most frequent label; for AUC one half."""
        if self.task == "tc":
            return 0.5
        flat = [tag for row in self.truth for tag in row] if self.task == "pos" else self.truth
        return float(np.unique(flat, return_counts=True)[1].max() / len(flat))


def answer(examples: Examples, victim: Any, columns: list[list[Any]], file: Path, about: dict[str, Any]) -> None:
    """Asks the model and writes the rows that scores are computed from, with what is known about the texts."""
    found = victim(*columns)
    if bad := [why for why in found.problem if why]:
        raise RuntimeError(f"{file.name}: {len(bad)} texts without an answer, the first: {bad[0]}")
    rows = examples.rows_of(found.answers, victim.labels).astype(np.float32)
    part = file.with_suffix(".part.npz")
    np.savez_compressed(part, rows=rows, about=json.dumps(about))
    part.replace(file)


def run_task(task: str, args: argparse.Namespace) -> dict[str, Any]:
    """Runs what is missing and returns the scores of a task."""
    examples = Examples.read(task, args.examples)
    folder = args.out / f"{task}-{len(examples.ids)}"
    folder.mkdir(parents=True, exist_ok=True)
    some = [row for row in all_rows() if not (args.main and row.variant not in zeroe_page.WAYS)]
    wanted = [(row, level) for row in some for level in LEVELS if task != "pos" or row.name != "segment"]
    files = {(row.key, level): folder / f"{row.file}.{level}.npz" for row, level in wanted}
    clean = folder / "clean.npz"
    missing = list(
        {files[row.key, level]: (row, level) for row, level in wanted if not files[row.key, level].is_file()}.values()
    )
    if not args.score and (missing or not clean.is_file()):
        options = {name: value for name in ("device", "dtype") if (value := getattr(args, name))}
        victim = open_victim(str(restored(MODELS[task], args.out)), KINDS[task], (), options)
        if not clean.is_file():
            answer(examples, victim, examples.columns, clean, {"undone": undone(victim)})
        for number, (row, level) in enumerate(missing, 1):
            begin = time.monotonic()
            new, tally = examples.perturbed(row, level)
            far, length = examples.distance(new)
            about = {"spec": row.shown, "selection": row.selection, "reached": tally.reached, "distance": far / length}
            answer(examples, victim, new, files[row.key, level], about)
            print(f"{task} {number}/{len(missing)} {row.key} {level}: {time.monotonic() - begin:.1f} s", flush=True)
    return scored(examples, clean, files)


def undone(victim: Any) -> float:
    """The share of the look-alikes of a to z that the model's tokenizer turns back into the letter, such as accents."""
    if (normaliser := victim.tokenizer.backend_tokenizer.normalizer) is None:
        return 0.0
    choices = Visual().choices()
    number = choices.of(np.array([ord(letter) for letter in ascii_lowercase], np.uint32)).tolist()
    near = [choices.near.codes[choices.near.offsets[at] : choices.near.offsets[at + 1]].tolist() for at in number]
    pairs = [(letter, chr(code)) for letter, codes in zip(ascii_lowercase, near, strict=True) for code in codes]
    return float(np.mean([normaliser.normalize_str(other) == letter for letter, other in pairs]))


def restored(name: str, out: Path) -> Path:
    """The folder of a shared model."""
    folder = out / "models"
    if not (folder / name / "model.safetensors").is_file():
        subprocess.run([sys.executable, str(SHARED / "models" / "restore.py"), str(folder), name], check=True)
    return folder / name


def scored(examples: Examples, clean: Path, files: dict[tuple[str, str], Path]) -> dict[str, Any]:
    """Scores, intervals by a bootstrap over examples, and resampled scores, from the files of answers that are there."""
    draws = resamples(len(examples.ids), SEED, RESAMPLES)

    def load(file: Path) -> tuple[float, Floats, dict[str, Any]]:
        with np.load(file) as held:
            rows = held["rows"].astype(np.float64)
            about = json.loads(str(held["about"]))
        again = np.asarray(examples.metric.score(draws.astype(np.float64) @ rows))
        return float(examples.metric.score(rows.sum(0))), again, about

    base, base_again, told = load(clean)
    cells: dict[str, Any] = {}
    again: dict[str, list[float]] = {}
    done = {key for key, _ in files if all(files[key, level].is_file() for level in LEVELS)}
    for (key, level), file in files.items():
        if key not in done:
            continue
        value, scores, about = load(file)
        ratio = scores / base_again
        row = cells.setdefault(key, {"spec": about["spec"], "selection": about["selection"], "levels": {}})
        row["levels"][level] = {
            "score": rounded(value), "interval": [rounded(end) for end in percentile_interval(scores)],
            "relative": rounded(value / base), "relative interval": [rounded(end) for end in percentile_interval(ratio)],
            "reached": rounded(about["reached"]), "distance": rounded(about["distance"]),
        }  # fmt: skip
        if key.rpartition(", ")[2] in zeroe_page.WAYS:
            again[f"{key}.{level}"] = scores[: zeroe_page.KEPT].round(4).tolist()
    return {
        "scuff": __version__, "seed": SEED, "examples": len(examples.ids), "model": MODELS[examples.task],
        "metric": examples.metric.title if examples.task == "tc" else "accuracy", "clean": rounded(base),
        "clean interval": [rounded(end) for end in percentile_interval(base_again)], "worst": rounded(examples.worst),
        "undone": rounded(told["undone"]),
        "rows": cells, "resampled": {"clean": base_again[: zeroe_page.KEPT].round(4).tolist(), **again},
    }  # fmt: skip


def rounded(value: float) -> float:
    return round(float(value), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("runs/zeroe"), help="folder of the answers and restored models"
    )
    parser.add_argument("--tasks", nargs="+", choices=tuple(MODELS), default=list(MODELS))
    parser.add_argument("--examples", type=int, default=0, help="of each test part; default: all")
    parser.add_argument("--dtype", help="of the models, such as float16 on a GPU; default: float32")
    parser.add_argument("--device", help="of the models, such as cuda; default: what is there")
    parser.add_argument(
        "--main",
        action="store_true",
        help="our defaults and as published, and as the thesis, without single departures",
    )
    parser.add_argument("--score", action="store_true", help="run nothing: score what a run has done so far")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    args = parser.parse_args()
    kept = zeroe_page.read()
    for task in [] if args.page else args.tasks:
        kept["tasks"][task] = run_task(task, args)
        zeroe_page.keep(kept)
    zeroe_page.write(kept)


if __name__ == "__main__":
    main()
