"""Repeats ToxicTrap's Tables 7, 8, 12 and 13 (Bespalov et al. 2023): adversarial training, with and without a shield in front.

  python benchmarks/papers/toxictrap_training.py run [TASK ...] --vectors FILE [--device cuda] [--jobs 7] [--limit 530]
  python benchmarks/papers/toxictrap_training.py run davidson --vectors FILE --tiny --only none AT1-unk           (to try it)
  python benchmarks/papers/toxictrap_training.py page [--runs FOLDER]

Algorithm 2: MiniLM is trained for CLEAN_EPOCHS on clean text (`none`), its training texts are attacked by each recipe, and it is
trained on for ADVERSARIAL_EPOCHS on clean and adversarial texts. AT1-unk and AT1-delete: ToxicTrap with that search. AT2: the
five ToxicTraps Extend recipes, for which ToxicTrap is unseen; AT2-without-R: four of them, for which R is unseen, too. Attacks
are those of the rows `unk pos` and `delete pos` of toxictrap.py; shields stand in front of the trained model, and the attacker
asks both (aware).

Each cell (a training, a part of the training texts attacked by a recipe, a part of the test texts) is a file of numbers in
FOLDER/cells; what is there is not run again. Adversarial texts stay in FOLDER/found, models in FOLDER/models: `page` needs cells
and rows alone. It writes docs/results/toxictrap-training.json, the evidence, and the tables of
docs/results/toxictrap-training.md. VECTORS: word_vectors.py makes them.
"""

from __future__ import annotations

import argparse
import json
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
from toxictrap import BATCH, LONGEST, TASKS
from zeroe_training import keep_rows, rows_of

LABELS = {
    "davidson": ("hate", "neither", "offensive"),
    "jigsaw": ("benign", "identity_hate", "insult", "obscene", "severe_toxic", "threat", "toxic"),
    "jigsaw-bl": ("benign", "toxic"),
}
SINGLE = ("davidson", "jigsaw-bl")
BENIGN = {"davidson": "neither", "jigsaw": "benign", "jigsaw-bl": "benign"}
TRAP = ("unk", "delete")  # ToxicTrap, by its search
EXTEND = ("tt-deepwordbug", "tt-textbugger", "tt-a2t", "tt-pwws", "tt-textfooler")  # Table 14
SHIELDS = ("fast", "context")
CLEAN_EPOCHS, ADVERSARIAL_EPOCHS = 3, 3
GAMMA = 0.2  # of |D|, for each recipe; A2T's
HELD_OUT = 10  # one of so many adversarial examples is not trained on
RATE = 2e-4
PIECES = 128  # the paper's, too
SEED = 0
TRAININGS = {
    "none": (), "AT1-unk": ("unk",), "AT1-delete": ("delete",), "AT2": EXTEND,
    **{f"AT2-without-{name}": tuple(each for each in EXTEND if each != name) for name in EXTEND},
}  # fmt: skip
KEPT = {"davidson": tuple(TRAININGS), "jigsaw": ("none", "AT1-unk"), "jigsaw-bl": ("none", "AT1-unk")}


@dataclass(frozen=True)
class Sizes:
    """Examples to train on, training texts that a recipe attacks and test texts that are attacked, both in parts, and tests."""

    train: int = 20000
    parts: int = 25
    part: int = 400
    test_parts: int = 5
    test_part: int = 50
    dev: int = 1000
    test: int = 2500
    tokens: int = 4096  # of a batch


TINY = Sizes(train=90, parts=1, part=4, test_parts=1, test_part=3, dev=30, test=40)


@dataclass(frozen=True)
class Work:
    """What a process needs for its cells."""

    out: Path
    minilm: str
    device: str
    vectors: str
    sizes: Sizes


# ---- the cells ----


def name_of(task: str, kind: str, training: str, recipe: str = "", shield: str = "", part: int | None = None) -> str:
    """The name of a cell, with gamma and epochs where they decide its numbers: those of others are never taken for it."""
    mark = "" if training == "none" and kind != "found" else f"gamma-{GAMMA:g}"
    mark += f"-epochs-{ADVERSARIAL_EPOCHS}" if training != "none" else ""
    parts = [task, kind, training, recipe, shield, mark, "" if part is None else f"{part}"]
    return "--".join(each for each in parts if each)


def all_cells(tasks: Iterable[str], sizes: Sizes) -> list[Cell]:
    """All cells. Turns: training, adversarial texts, Table 8 by parts of the texts, shields, unseen recipes, Jigsaw between."""
    cells = []
    for task in tasks:
        late = 0.0 if task == "davidson" else 1.6  # the tweets first, where the paper has all rows
        long = 1.0 if task == "davidson" else 2.0
        cells.append(_cell(task, "model", "none", turn=late / 100, cost=9))
        needed = {recipe for training in KEPT[task] for recipe in TRAININGS[training]}
        for recipe in sorted(needed):
            cells += [
                _cell(task, "found", "none", recipe, part=part, turn=1 + late + part / 100, cost=_cost(recipe) * long,
                      needs=(name_of(task, "model", "none"),))
                for part in range(sizes.parts)
            ]  # fmt: skip
        for training in KEPT[task][1:]:
            needs = tuple(
                name_of(task, "found", "none", recipe, part=part)
                for recipe in TRAININGS[training]
                for part in range(sizes.parts)
            )
            turn = (1.9 if "without" not in training else 2.4) + late
            cells.append(_cell(task, "model", training, turn=turn, cost=9, needs=needs))
        cells += _attacks(task, sizes, late, long)
    return cells


def _attacks(task: str, sizes: Sizes, late: float, long: float) -> list[Cell]:
    """The cells of attacks and of clean scores behind shields."""
    cells = []
    for part in range(sizes.test_parts):
        rows = [("none", recipe, "", 2.0) for recipe in TRAP] + [(f"AT1-{recipe}", recipe, "", 2.0) for recipe in TRAP]
        rows += [("AT2", recipe, "", 2.0) for recipe in TRAP]
        rows += [
            (training, recipe, shield, 2.3) for training in ("AT2", "none") for recipe in TRAP for shield in SHIELDS
        ]
        rows += [("AT1-unk", "unk", shield, 3.5) for shield in SHIELDS]
        for recipe in EXTEND:
            without = f"AT2-without-{recipe}"
            rows += [("none", recipe, "", 2.5), (without, recipe, "", 2.5)]
            rows += [(without, recipe, shield, 2.5) for shield in SHIELDS]
        for training, recipe, shield, turn in rows:
            if training in KEPT[task] and (task == "davidson" or recipe == "unk"):
                slow = {"": 1.0, "fast": 1.5, "context": 4.0}[shield]
                cells.append(_cell(
                    task, "attack", training, recipe, shield, part, turn=turn + late + 0.3 * part,
                    cost=_cost(recipe) * slow * long, needs=(name_of(task, "model", training),),
                ))  # fmt: skip
    for training in KEPT[task]:
        cells += [
            _cell(
                task,
                "score",
                training,
                shield=shield,
                turn=2.35 + late,
                cost=5,
                needs=(name_of(task, "model", training),),
            )
            for shield in SHIELDS
            if "without" not in training
        ]
    return cells


def _cost(recipe: str) -> float:
    return {"tt-textfooler": 3.0, "tt-pwws": 2.0, "tt-deepwordbug": 0.5}.get(recipe, 1.0)


def _cell(
    task: str, kind: str, training: str, recipe: str = "", shield: str = "", part: int | None = None, *, turn: float, cost: float,
    needs: tuple[str, ...] = (),
) -> Cell:  # fmt: skip
    given = {"task": task, "kind": kind, "training": training, "recipe": recipe, "shield": shield, "part": part}
    like = f"{task} {kind} {recipe} {shield}"
    return Cell(name_of(task, kind, training, recipe, shield, part), like, given, turn, cost, needs)


# ---- data ----


@cache
def dataset(task: str, part: str, count: int | None = None, toxic: bool = False) -> Any:
    """Examples of at most 80 words in an order that is shuffled once; toxic: only those with a toxic label."""
    from scuff.data.dataset import Dataset

    rows = rows_of(TASKS[task], part)
    order = np.random.default_rng(SEED).permutation(len(rows)).tolist()
    kept = [at for at in order if len(rows[at]["text"].split()) <= LONGEST]
    targets = {at: _target(task, rows[at]) for at in kept}
    if toxic:
        kept = [at for at in kept if targets[at] not in (BENIGN[task], (BENIGN[task],))]
    kept = kept[:count]
    return Dataset(
        f"{task}-{part}", "single" if task in SINGLE else "multi", (tuple(rows[at]["text"] for at in kept),),
        tuple(targets[at] for at in kept), tuple(map(str, kept)), known=LABELS[task],
    )  # fmt: skip


def _target(task: str, row: dict[str, Any]) -> Any:
    if task == "davidson":
        return row["label"]
    if task == "jigsaw-bl":
        return "toxic" if row["labels"] else "benign"
    return tuple(row["labels"]) or ("benign",)


def recipe_of(recipe: str, vectors: str) -> tuple[str, dict[str, Any]]:
    """The name of a recipe and the settings that make it the paper's. Lists of neighbours have no angles to limit."""
    from scuff.attacks.published import PUBLISHED

    if recipe in TRAP:
        return "toxictrap", {
            "perturbations": list(PUBLISHED["toxictrap"].perturbations),
            "search": recipe,
            "vectors": vectors,
        }
    given: dict[str, Any] = {} if recipe in ("tt-deepwordbug", "tt-pwws") else {"vectors": vectors}
    if recipe in ("tt-textfooler", "tt-a2t"):
        given["without"] = ["word-vectors"]
    return recipe, given


@cache
def opened(task: str, folder: str, device: str) -> Any:
    """A model, opened once in each process."""
    from scuff.victims.open import open_victim

    tokens = BATCH["cuda" if device.startswith("cuda") else "cpu"]
    kind: Any = "single" if task in SINGLE else "multi"
    return open_victim(folder, kind, (), {"device": device, "batch_tokens": tokens})


# ---- what a cell does ----


def do(cell: Cell, work: Work) -> dict[str, Any]:
    return {"model": train, "found": find, "attack": attack, "score": score}[cell.given["kind"]](cell, work)


def folder_of(work: Work, task: str, training: str) -> Path:
    return work.out / "models" / name_of(task, "model", training)


def train(cell: Cell, work: Work) -> dict[str, Any]:
    """Trains a model, from MiniLM on clean texts or from that one on clean and adversarial ones, and scores it."""
    from scuff.training.attacked import attacked_feed, joined
    from scuff.training.schedule import Schedule
    from scuff.training.trainer import fine_tune

    task, training = cell.given["task"], cell.given["training"]
    begin, first = time.time(), training == "none"
    data = dataset(task, "train", work.sizes.train)
    counts: dict[str, int] = {}
    feed: Any = data
    dev = dataset(task, "dev", work.sizes.dev)
    if not first:
        found, counts = collected(work, task, TRAININGS[training], len(data))
        held = np.arange(len(found)) % HELD_OUT == 0  # they choose the epoch, together with clean texts
        feed, dev = attacked_feed(data, part_of(found, ~held)), joined(dev, part_of(found, held).data)
    epochs = CLEAN_EPOCHS if first else ADVERSARIAL_EPOCHS
    rate, folder = RATE if first else RATE / 2, folder_of(work, task, training)
    metrics = fine_tune(
        work.minilm if first else folder_of(work, task, "none"), feed, dev, folder,
        schedule=Schedule(rate=rate, epochs=epochs, batch_tokens=work.sizes.tokens, smoothing=0.0, patience=99),
        device=work.device, seed=SEED, max_length=PIECES, checkpoint_seconds=None,
    )  # fmt: skip
    training_time = time.time() - begin
    scores = scored(task, opened(task, str(folder), work.device), work, cell.name)
    speed = (len(data) + sum(counts.values())) * len(metrics["epochs"]) / training_time
    return {
        **scores, "examples": len(data), "adversarial": counts, "epoch": metrics["dev"].get("epoch"),
        "training": round(training_time, 1),
        "said": f"{', '.join(f'{key} {value:.3f}' for key, value in scores['scores'].items())}, {speed:.0f}/s",
    }  # fmt: skip


def part_of(found: Any, chosen: Any) -> Any:
    """Some of the adversarial examples."""
    from dataclasses import replace

    at = np.flatnonzero(chosen)
    names = {name: tuple(getattr(found, name)[row] for row in at) for name in ("sources", "recipes", "rounds")}
    return replace(found, data=found.data.take(at), **names)


def collected(work: Work, task: str, recipes: Sequence[str], size: int) -> tuple[Any, dict[str, int]]:
    """The adversarial examples of recipes, each at most gamma |D| and no text twice, and how many there are of each."""
    from scuff.data.dataset import Dataset
    from scuff.training.attacked import AdversarialExamples

    lines: list[dict[str, Any]] = []
    seen, counts = set[str](), {}
    for recipe in recipes:
        mine: list[dict[str, Any]] = []
        for line in lines_of(work, task, recipe, work.sizes.parts):
            if line["text"] not in seen and len(mine) < most(size):
                seen.add(line["text"])
                mine.append(line)
        counts[recipe] = len(mine)
        lines += [{**line, "id": f"{line['source']}~{recipe}"} for line in mine]
    targets = tuple(line["label"] if task in SINGLE else tuple(line["label"]) for line in lines)
    data = Dataset(
        f"{task}-adversarial", "single" if task in SINGLE else "multi", (tuple(line["text"] for line in lines),), targets,
        tuple(line["id"] for line in lines), known=LABELS[task],
    )  # fmt: skip
    sources, names = tuple(line["source"] for line in lines), tuple(line["id"].split("~")[1] for line in lines)
    return AdversarialExamples(data, sources, names, (1,) * len(lines)), counts


def most(size: int) -> int:
    """Of how many adversarial examples of a recipe are trained on."""
    return int(np.ceil(GAMMA * size))


def lines_of(work: Work, task: str, recipe: str, parts: int) -> list[dict[str, Any]]:
    """What a recipe found in the first parts, as far as they are done."""
    names = [name_of(task, "found", "none", recipe, part=part) for part in range(parts)]
    files = [file for name in names if (file := work.out / "found" / f"{name}.jsonl").is_file()]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def find(cell: Cell, work: Work) -> dict[str, Any]:
    """Attacks a part of the toxic training texts; what fools the model is written to a file, which stays on the machine."""
    from scuff.training.attacked import adversarial_examples

    task, recipe, part = (cell.given[key] for key in ("task", "recipe", "part"))
    data = dataset(task, "train", work.sizes.train, toxic=True)
    order = np.random.default_rng([SEED, *recipe.encode()]).permutation(len(data))  # each recipe walks in its own order
    size = work.sizes.part if task == "davidson" else work.sizes.part * 3 // 5  # comments are longer than tweets
    rows = order[part * size : (part + 1) * size]
    # a few more than needed, since a text that two recipes found counts once
    enough = 1.2 * most(len(dataset(task, "train", work.sizes.train)))
    if not len(rows) or len(lines_of(work, task, recipe, part)) >= enough:
        write(work.out / "found" / f"{cell.name}.jsonl", "")
        return {"found": 0, "attacked": 0, "queries": 0, "seconds": 0.0, "said": "enough, or no texts left"}
    name, settings = recipe_of(recipe, work.vectors)
    begin = time.time()
    found = adversarial_examples(
        opened(task, str(folder_of(work, task, "none")), work.device), data.take(rows), name, gamma=1.0, seed=SEED,
        encoder=work.minilm, **settings,
    )  # fmt: skip
    lines = "".join(json.dumps(line) + "\n" for line in found.lines())
    write(work.out / "found" / f"{cell.name}.jsonl", lines)
    (counts,) = found.counts.values()
    rate = counts["queries"] / max(time.time() - begin, 1e-9)
    return {**counts, "said": f"{counts['found']} of {counts['attacked']} attacked, {rate:.0f} queries/s"}


def attack(cell: Cell, work: Work) -> dict[str, Any]:
    """Attacks a part of the toxic test texts."""
    import scuff

    task, training, recipe, shield, part = (cell.given[key] for key in ("task", "training", "recipe", "shield", "part"))
    data = dataset(task, "test", toxic=True)
    rows = np.arange(len(data))[part * work.sizes.test_part : (part + 1) * work.sizes.test_part]
    name, settings = recipe_of(recipe, work.vectors)
    begin = time.time()
    result = scuff.attack(
        opened(task, str(folder_of(work, task, training)), work.device), data.take(rows), name, examples=len(rows), seed=SEED,
        encoder=work.minilm, **({"shield": shield} if shield else {}), **settings,
    )  # fmt: skip
    lines = [line for line in result.lines if line["status"] in ("succeeded", "failed")]
    won = [int(line["status"] == "succeeded") for line in lines]
    rate = sum(line["queries"] for line in lines) / max(time.time() - begin, 1e-9)
    return {
        "examples": len(rows), "id": [line["id"] for line in lines], "won": won,
        "queries": [line["queries"] for line in lines], "words": [_changed(line) for line in lines],
        "said": f"{sum(won)} of {len(won)}, {rate:.0f} queries/s",
    }  # fmt: skip


def _changed(line: Any) -> float | None:
    """The share of words that a success changed."""
    found = line["adversarial"]
    return round(float(found["changed"]), 4) if line["status"] == "succeeded" and found else None


def score(cell: Cell, work: Work) -> dict[str, Any]:
    """The scores of a model behind a shield on clean texts."""
    from scuff.victims.shielded import Shielded

    task, training, shield = (cell.given[key] for key in ("task", "training", "shield"))
    found = scored(
        task, Shielded(opened(task, str(folder_of(work, task, training)), work.device), shield), work, cell.name
    )
    return {**found, "said": ", ".join(f"{key} {value:.3f}" for key, value in found["scores"].items())}


def scored(task: str, victim: Any, work: Work, name: str) -> dict[str, Any]:
    """Accuracy (exact match of label sets) and the paper's macro averages on the test part; keeps the scores of all texts."""
    data = dataset(task, "test", work.sizes.test)
    answers = victim(*(list(column) for column in data.columns)).answers
    place = [list(victim.labels).index(label) for label in LABELS[task]]
    scores = np.asarray(answers, np.float64)[:, place]
    truth = np.array([[label in target for label in LABELS[task]] for target in map(_as_set, data.targets)])
    keep_rows(work.out, name, {"scores": scores.astype(np.float32)}, {"truth": truth.astype(np.uint8)})
    return {
        "scores": {key: round(value, 5) for key, value in metrics_of(task, scores, truth).items()},
        "tested": len(data),
    }


def _as_set(target: Any) -> tuple[str, ...]:
    return (target,) if isinstance(target, str) else tuple(target)


def metrics_of(task: str, scores: Any, truth: Any) -> dict[str, float]:
    from scuff.metrics import Auc, AveragePrecision, MacroF1, MacroRecall

    labels = LABELS[task]
    if task in SINGLE:
        target, said = truth.argmax(1), scores.argmax(1)
        right = said == target
    else:
        target, said = truth.astype(bool), scores > 0.5
        right = (said == target).all(1)
    return {
        "accuracy": float(right.mean()), "auc": Auc()(scores, target, labels), "ap": AveragePrecision()(scores, target, labels),
        "f1": MacroF1()(said, target, labels), "recall": MacroRecall()(said, target, labels),
    }  # fmt: skip


# ---- the command ----


def run(args: argparse.Namespace) -> int:
    from victims import minilm_folder

    args.out.mkdir(parents=True, exist_ok=True)
    sizes = TINY if args.tiny else Sizes()
    cells = [
        cell for cell in all_cells(args.tasks, sizes)
        if not args.only or cell.given["training"] in args.only
        if not args.shields or cell.given["shield"] in ("", *args.shields)
    ]  # fmt: skip
    if args.only:  # adversarial texts that no chosen training needs
        needed = {need for cell in cells for need in cell.needs}
        cells = [cell for cell in cells if cell.given["kind"] != "found" or cell.name in needed]
    about = {
        "sizes": asdict(sizes), "gamma": GAMMA, "epochs": [CLEAN_EPOCHS, ADVERSARIAL_EPOCHS], "seed": SEED, "words": LONGEST,
        "pieces": PIECES, **versions(),
    }  # fmt: skip
    write(args.out / "about.json", json.dumps(about))
    minilm = str(minilm_folder(Path(args.minilm) if args.minilm else None))
    work = Work(args.out, minilm, args.device, str(args.vectors.resolve()), sizes)
    return 3 if Runner(do, work, args.out, args.jobs, args.limit).run(cells) else 0


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run the cells")
    runs.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; default all")
    runs.add_argument("--vectors", type=Path, required=True, help="word vectors or lists of neighbours")
    runs.add_argument("--device", default="cpu")
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--limit", type=float, default=float("inf"), metavar="SECONDS")
    runs.add_argument("--only", nargs="+", choices=tuple(TRAININGS), help="only these trainings")
    runs.add_argument("--shields", nargs="+", choices=SHIELDS, help="only these")
    runs.add_argument("--tiny", action="store_true", help="a few examples and queries, to try it")
    runs.add_argument("--minilm", help="all-MiniLM-L6-v2 as a Hugging Face folder; default: the installed package's")
    runs.add_argument("--out", type=Path, default=Path("runs/toxictrap-training"), metavar="FOLDER")
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
        from toxictrap_training_page import write as write_page

        return write_page(args.runs)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
