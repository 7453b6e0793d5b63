"""Repeats Tables 3 and 7 to 10 and Figures 2 to 4 of Zéroe (Eger and Benz 2020), and PLM and PP of the thesis, on MiniLM.

  python benchmarks/papers/zeroe_training.py run [TASK ...] [--device cuda] [--jobs 9] [--limit 530] [--out FOLDER]
  python benchmarks/papers/zeroe_training.py run pos --tiny --only 1-1 loo --perturbations keyboard truncate     (to try it)
  python benchmarks/papers/zeroe_training.py page [--runs FOLDER]

TASK: pos (UD EWT), nli (SNLI, both sentences are perturbed), tc (Jigsaw, comments of at most 80 words). All models are trained
by `scuff.training.trainer.fine_tune` from the same MiniLM on as many examples for as many epochs; they differ in what they see:
none: clean text; 1-1: one perturbation at low, mid and high; loo (leave-one-out): all but the one that it is tested on; plm and
pp: clean text, from an encoder that was pretrained on perturbed text. wide: loo with four more perturbations, without kin of the
tested one. long: loo, for three times as many epochs. Shields: loo and none, with a shield in front of them.

Each cell is a file with numbers in FOLDER/cells and one with answers (no texts) in FOLDER/rows; what is there is not run again.
The most important cells come first; after `--limit` seconds what still runs is stopped and goes on from its checkpoint next
time. `page` writes docs/results/zeroe-training.json, the evidence, and the tables of docs/results/zeroe-training.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from cells import Cell, Runner, versions, write
from zeroe import DATA, KINDS, SHARED, TOXIC, Examples, Row

from scuff.perturbations import LEVELS, ZEROE

TASKS = tuple(DATA)
FIELDS = {"pos": ("tokens",), "nli": ("premise", "hypothesis"), "tc": ("text",)}
TARGET = {"pos": "tags", "nli": "label", "tc": "labels"}
METHODS = ("none", "1-1", "loo", "plm", "pp", "wide", "long", "shield")
LONG = 3  # times as many epochs
SHIELDS = ("fast", "context")
LONGEST = 80  # words of a comment
PIECES = 128  # of a text that a model sees
# perturbations beside Zéroe's ten, and the ones of the ten that they are kin to: these never meet in training and test
MORE = {
    "typo": ("keyboard", "natural", "truncate"), "homoglyph": ("visual",), "glyph": ("visual",), "invisible": ("intrude",),
}  # fmt: skip
FEWEST = 10  # comments with a label, without which its AUC is no part of the average: one comment decided a sixth of the score
SEED = 0


@dataclass(frozen=True)
class Sizes:
    """How many examples are trained on, for how many epochs, and tested on."""

    train: dict[str, int]
    epochs: dict[str, int]
    test: dict[str, int]
    dev: int
    shielded: dict[str, int]  # test examples behind a shield
    pretrain: int  # sentences
    pretrain_epochs: int
    tokens: int = 4096  # of a batch


FULL = Sizes(
    {"pos": 12544, "nli": 20000, "tc": 15000}, {"pos": 6, "nli": 5, "tc": 4}, {"pos": 1000, "nli": 1500, "tc": 1500}, 500,
    {"pos": 1000, "nli": 400, "tc": 1500}, 40000, 6,
)  # fmt: skip
TINY = Sizes(
    dict.fromkeys(TASKS, 120), dict.fromkeys(TASKS, 1), dict.fromkeys(TASKS, 60), 30, dict.fromkeys(TASKS, 12), 60, 1
)


@dataclass(frozen=True)
class Work:
    """What a process needs for its cells."""

    out: Path
    minilm: str
    device: str
    sizes: Sizes
    pretrain_seconds: float


# ---- the cells ----


def perturbations_of(task: str) -> list[str]:
    return [name for name in ZEROE if task != "pos" or name != "segment"]  # segment joins tokens


def name_of(task: str, method: str, perturbation: str = "", seed: int = 0, shield: str = "") -> str:
    """The name of a cell."""
    parts = [task, method, perturbation, shield, f"seed-{seed}" if seed else ""]
    return "--".join(part for part in parts if part)


def all_cells(tasks: Iterable[str]) -> list[Cell]:
    """All cells. Turns: models without mending, pretraining, loo, PLM and PP, 1-1, shields, wider and longer loo, more seeds."""
    cells = [_cell("", method, turn=0, cost=9) for method in ("plm", "pp")]
    for task in tasks:
        cost = {"pos": 1.0, "nli": 2.0, "tc": 3.0}[task]
        names = perturbations_of(task)
        cells.append(_cell(task, "none", turn=0, cost=cost))
        cells += [_cell(task, method, turn=1.2, cost=cost, needs=(name_of("", method),)) for method in ("plm", "pp")]
        for at, name in enumerate(names):
            late = 3 + list(TASKS).index(task) / 5  # the longest ones: a task whole before the next
            ways = (("loo", 1), ("1-1", 1.5), ("wide", 2.5), ("long", late))
            cells += [_cell(task, method, name, turn=turn + at / 100, cost=cost) for method, turn in ways]
            needs = (name_of(task, "none"), name_of(task, "loo", name))
            for turn, shield in zip((2, 4), ("context", "fast"), strict=True):
                cells.append(_cell(task, "shield", name, shield=shield, turn=turn + at / 100, cost=cost, needs=needs))
            cells += [
                _cell(task, method, name, seed=1, turn=turn + at / 100, cost=cost)
                for turn, method in ((5, "loo"), (6, "1-1"))
            ]
        cells.append(_cell(task, "none", seed=1, turn=4.99, cost=cost))
    return cells


def _cell(
    task: str, method: str, perturbation: str = "", *, turn: float, cost: float, seed: int = 0, shield: str = "",
    needs: tuple[str, ...] = (),
) -> Cell:  # fmt: skip
    given = {"task": task, "method": method, "perturbation": perturbation, "seed": seed, "shield": shield}
    name = name_of(task, method, perturbation, seed, shield)
    return Cell(name, f"{task or 'pretrain'} {method}", given, turn, cost, needs)


# ---- data ----


@cache
def rows_of(data: str, part: str) -> list[dict[str, Any]]:
    with gzip.open(SHARED / "data" / data / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def chosen(task: str, part: str, count: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The first rows of a part in an order that is shuffled once, and their ids."""
    rows = rows_of(DATA[task], part)
    order = np.random.default_rng(SEED).permutation(len(rows)).tolist()
    kept = [at for at in order if task != "tc" or len(rows[at]["text"].split()) <= LONGEST][:count]
    return [rows[at] for at in kept], [str(at) for at in kept]


def dataset(task: str, part: str, count: int) -> Any:
    from scuff.data.dataset import Dataset

    rows, ids = chosen(task, part, count)
    columns = tuple(tuple(tuple(row[name]) if task == "pos" else row[name] for row in rows) for name in FIELDS[task])
    targets = tuple(row["label"] if task == "nli" else tuple(row[TARGET[task]]) for row in rows)
    return Dataset(
        f"{DATA[task]}-{part}",
        KINDS[task],
        columns,
        targets,
        tuple(ids),
        FIELDS[task],
        known=TOXIC if task == "tc" else (),
    )


@cache
def tests(task: str, count: int) -> Examples:
    rows, ids = chosen(task, "test", count)
    return Examples(
        task, [[row[name] for row in rows] for name in FIELDS[task]], ids, [row[TARGET[task]] for row in rows]
    )


@cache
def perturbed(task: str, count: int, name: str, level: str) -> list[list[Any]]:
    """The columns of the test part, perturbed with our defaults."""
    return tests(task, count).perturbed(Row(name, "ours", name), level)[0]


def mixture_of(method: str, name: str) -> Any:
    from scuff.training.mixtures import Mixture, leave_one_out, low_mid_high

    if method == "1-1":
        return low_mid_high(name)
    if method in ("loo", "long"):
        return leave_one_out(name)
    more = [each for each, kin in MORE.items() if name not in kin]
    return Mixture.of([*(each for each in ZEROE if each != name), *more])


def feed_of(task: str, method: str, name: str, data: Any, seed: int, **options: Any) -> Any:
    """What a model is trained on."""
    from scuff.training.feeds import Clean, Mixed

    if method not in ("1-1", "loo", "long", "wide"):
        return Clean(data)
    mixture = mixture_of(method, name)
    if task == "pos":
        from dataclasses import replace

        kept = tuple(entry for entry in mixture.entries if entry.perturbation.facts.keeps_tokens)
        mixture = replace(mixture, entries=kept)
    return Mixed(data, mixture, seed, side="both" if task == "nli" else "first", **options)


# ---- what a cell does ----


def do(cell: Cell, work: Work) -> dict[str, Any]:
    method = cell.given["method"]
    if not cell.given["task"]:
        return pretrained(method, work)
    return shielded(cell, work) if method == "shield" else trained(cell, work)


def pretrained(method: str, work: Work) -> dict[str, Any]:
    """Pretrains MiniLM on perturbed sentences of Wikipedia: all of Zéroe's perturbations at low, mid and high."""
    from scuff.training.pretraining import pretrain
    from scuff.training.schedule import Schedule

    rows = rows_of("wikitext", "train")[: work.sizes.pretrain]
    texts = [row["text"] for row in rows]
    schedule = Schedule(rate=2e-4, epochs=work.sizes.pretrain_epochs, batch_tokens=2 * work.sizes.tokens, smoothing=0.0)
    found = pretrain(
        work.minilm, texts, work.out / "models" / method, method=method, perturbations="all", schedule=schedule,
        device=work.device, seed=SEED, seconds=work.pretrain_seconds, max_length=PIECES,
    )  # fmt: skip
    done = found["steps"] * schedule.batch_tokens / found["seconds"]["training"]
    return {
        "dev": found["dev"], "steps": found["steps"], "epochs": len(found["epochs"]), "sentences": len(texts),
        "said": f"{found['steps']} steps, {len(found['epochs'])} epochs, about {done:.0f} tokens/s, dev {found['dev']}",
    }  # fmt: skip


def trained(cell: Cell, work: Work) -> dict[str, Any]:
    """Trains a model, tests it and keeps what the scores are computed from."""
    from scuff.training.schedule import Schedule
    from scuff.training.trainer import fine_tune

    task, method, name, seed = (cell.given[key] for key in ("task", "method", "perturbation", "seed"))
    sizes, begin = work.sizes, time.time()
    data, dev = dataset(task, "train", sizes.train[task]), dataset(task, "dev", sizes.dev)
    seen = feed_of(task, method, name, dev, SEED + 1, beside=True) if name else None
    start = work.out / "models" / method if method in ("plm", "pp") else Path(work.minilm)
    epochs = sizes.epochs[task] * (LONG if method == "long" else 1)
    schedule = Schedule(rate=2e-4, epochs=epochs, batch_tokens=sizes.tokens, smoothing=0.0, patience=99)
    folder = work.out / "models" / cell.name
    metrics = fine_tune(
        start, feed_of(task, method, name, data, seed), seen.epoch(0) if seen else dev, folder, schedule=schedule,
        device=work.device, seed=seed, max_length=PIECES, checkpoint_seconds=None,
    )  # fmt: skip
    training = time.time() - begin
    conditions = [(name, level) for level in LEVELS] if method in ("loo", "long", "wide") else [
        (each, level) for each in perturbations_of(task) for level in LEVELS
    ]  # fmt: skip
    examples = tests(task, sizes.test[task])
    columns = {"clean": examples.columns} | {
        f"{each}.{level}": perturbed(task, sizes.test[task], each, level) for each, level in conditions
    }
    found = answers(examples, opened(task, folder, work.device), columns)
    keep_rows(work.out, cell.name, found, {"truth": truth(examples)} if method == "none" else {})
    scores = {key: round(score(examples, rows), 5) for key, rows in found.items()}
    passes = len(data) * len(metrics.get("epochs", ()))
    speed = round(passes / max(training, 1e-9))
    return {
        "scores": scores, "dev": metrics.get("dev"), "examples": len(data), "tested": len(examples.ids),
        "epochs": len(metrics.get("epochs", ())), "training": round(training, 1), "examples_per_second": speed,
        "said": f"clean {scores['clean']:.3f}, mean {np.mean(list(scores.values())[1:]):.3f}, {speed}/s",
    }  # fmt: skip


def shielded(cell: Cell, work: Work) -> dict[str, Any]:
    """Tests the model without mending and the one of loo behind a shield; texts are mended once for both."""
    from scuff.victims.shielded import Shielded

    task, name, shield = (cell.given[key] for key in ("task", "perturbation", "shield"))
    count = min(work.sizes.shielded[task], work.sizes.test[task])
    examples = tests(task, count)
    columns = {"clean": examples.columns} | {level: perturbed(task, count, name, level) for level in LEVELS}
    models = {method: opened(task, work.out / "models" / cell_name, work.device) for method, cell_name in (
        ("none", name_of(task, "none")), ("loo", name_of(task, "loo", name)),
    )}  # fmt: skip
    door = Shielded(models["none"], shield)
    mended = {key: [door.mended(column) for column in each] for key, each in columns.items()}
    found: dict[str, Any] = {}
    for method, model in models.items():
        for way, texts in (("shield", mended), ("alone", columns)):
            found |= {f"{method}.{way}.{key}": rows for key, rows in answers(examples, model, texts).items()}
    keep_rows(work.out, cell.name, found, {"truth": truth(examples)})
    scores = {key: round(score(examples, rows), 5) for key, rows in found.items()}
    high = ", ".join(
        f"{way} {scores[f'{way}.high']:.3f}" for way in ("none.alone", "none.shield", "loo.alone", "loo.shield")
    )
    return {"scores": scores, "tested": len(examples.ids), "said": f"high: {high}"}


def opened(task: str, folder: Path, device: str) -> Any:
    from scuff.victims.open import open_victim

    tokens = 32768 if device.startswith("cuda") else 2048
    return open_victim(str(folder), KINDS[task], (), {"device": device, "batch_tokens": tokens})


def answers(examples: Examples, victim: Any, columns: dict[str, list[list[Any]]]) -> dict[str, Any]:
    """Of each example what a score needs: right tags, right or not, ranks of the scores of each label."""
    out = {}
    for key, texts in columns.items():
        found = victim(*texts)
        if bad := [why for why in found.problem if why]:
            raise RuntimeError(f"{key}: {len(bad)} texts without an answer, the first: {bad[0]}")
        if examples.task == "tc":
            scores = found.answers[:, [list(victim.labels).index(label) for label in TOXIC]]
            ranks = [np.unique(column, return_inverse=True)[1] for column in scores.T]
            out[key] = np.stack(ranks, 1).astype(np.uint16)
        else:
            out[key] = examples.rows_of(found.answers, victim.labels)[:, 0].astype(np.uint16)
    return out


def truth(examples: Examples) -> Any:
    """What the rows are compared with: the tokens of each sentence, which labels a comment has, or ones."""
    if examples.task == "pos":
        return np.array([len(tags) for tags in examples.truth], np.uint16)
    if examples.task == "nli":
        return np.ones(len(examples.ids), np.uint16)
    return np.array([[label in row for label in TOXIC] for row in examples.truth], np.uint16)


def frequent(known: Any) -> Any:
    """Which labels of toxic comments are scored: those of at least FEWEST comments."""
    return known.sum(0) >= min(FEWEST, known.sum(0).max())


def score(examples: Examples, rows: Any) -> float:
    known = truth(examples)
    if examples.task == "tc":
        from scuff.metrics.classification import Auc

        kept = frequent(known)
        return float(Auc()(rows[:, kept].astype(float), known[:, kept].astype(bool), TOXIC))
    return float(rows.sum() / known.sum())


def keep_rows(out: Path, name: str, rows: dict[str, Any], more: dict[str, Any]) -> None:
    path = out / "rows" / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{name}.{os.getpid()}.part.npz")
    np.savez_compressed(part, **rows, **more)
    part.replace(path)


# ---- the command ----


def run(args: argparse.Namespace) -> int:
    from victims import minilm_folder

    args.out.mkdir(parents=True, exist_ok=True)
    minilm = str(minilm_folder(Path(args.minilm) if args.minilm else None))
    sizes = TINY if args.tiny else FULL
    cells = [
        cell for cell in all_cells(args.tasks)
        if not args.only or cell.given["method"] in (*args.only, *(["none"] if "shield" in args.only else ()))
        if not args.perturbations or cell.given["perturbation"] in ("", *args.perturbations)
        if args.seeds > cell.given["seed"]
    ]  # fmt: skip
    worst = {task: tests(task, sizes.test[task]).worst for task in args.tasks}
    about = {"sizes": asdict(sizes), "seed": SEED, "worst": worst, "words": LONGEST, "pieces": PIECES, **versions()}
    write(args.out / "about.json", json.dumps(about))
    work = Work(args.out, minilm, args.device, sizes, args.pretrain_seconds)
    return 3 if Runner(do, work, args.out, args.jobs, args.limit).run(cells) else 0


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run the cells")
    runs.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; default all")
    runs.add_argument("--device", default="cpu")
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--limit", type=float, default=float("inf"), metavar="SECONDS")
    runs.add_argument("--pretrain-seconds", type=float, default=120, metavar="SECONDS", help="for each of plm and pp")
    runs.add_argument("--only", nargs="+", choices=METHODS, help="only these methods")
    runs.add_argument("--perturbations", nargs="+", choices=ZEROE, help="only these")
    runs.add_argument("--seeds", type=int, default=2, help="1: no second models of 1-1 and loo")
    runs.add_argument("--tiny", action="store_true", help="a few examples and one epoch, to try it")
    runs.add_argument("--minilm", help="all-MiniLM-L6-v2 as a Hugging Face folder; default: the installed package's")
    runs.add_argument("--out", type=Path, default=Path("runs/zeroe-training"), metavar="FOLDER")
    page = commands.add_parser("page", help="write the evidence and the page")
    page.add_argument("--runs", type=Path, metavar="FOLDER", help="take cells from there; default: only the evidence")
    args = parser.parse_args(given)
    if args.command == "run":
        if strange := [task for task in args.tasks if task not in TASKS]:
            parser.error(f"expected some of {', '.join(TASKS)}, got {', '.join(strange)}")
        args.tasks = args.tasks or list(TASKS)
    return args


def main() -> int:
    args = arguments()
    if args.command == "page":
        from zeroe_training_page import write as write_page

        return write_page(args.runs)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
