"""Repeats ToxicTrap's Tables 7, 8, 12 and 13 (Bespalov et al. 2023): adversarial training, with and without a shield in front.

  python benchmarks/papers/toxictrap_training.py run [TASK ...] --vectors FILE [--device cuda] [--jobs 7] [--limit 530]
  python benchmarks/papers/toxictrap_training.py run davidson --vectors FILE --tiny --only none AT1-unk           (to try it)
  python benchmarks/papers/toxictrap_training.py page [--runs FOLDER]

Algorithm 2: MiniLM is trained for CLEAN_EPOCHS on clean text (`none`), its training texts are attacked by each recipe, and it is
trained on for ADVERSARIAL_EPOCHS on clean and adversarial texts. AT1-unk and AT1-delete: ToxicTrap with that search. AT2: the
five ToxicTraps Extend recipes, for which ToxicTrap is unseen; AT2-without-R: four of them, for which R is unseen, too. Attacks
are those of the rows `unk pos` and `delete pos` of toxictrap.py; shields stand in front of the trained model, and the attacker
asks both (aware). Further ways to train AT2 (toxictrap_training_plan.py): behind a shield, longer, with a second round.

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
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from cells import Cell, Runner, versions, write
from toxictrap import BATCH, LONGEST, TASKS
from toxictrap_training_plan import (
    ADVERSARIAL_EPOCHS,
    CLEAN_EPOCHS,
    GAMMA,
    SHIELDS,
    TINY,
    TRAININGS,
    TRAP,
    WAYS,
    Sizes,
    all_cells,
    name_of,
)
from zeroe_training import keep_rows, rows_of

LABELS = {
    "davidson": ("hate", "neither", "offensive"),
    "jigsaw": ("benign", "identity_hate", "insult", "obscene", "severe_toxic", "threat", "toxic"),
    "jigsaw-bl": ("benign", "toxic"),
}
SINGLE = ("davidson", "jigsaw-bl")
BENIGN = {"davidson": "neither", "jigsaw": "benign", "jigsaw-bl": "benign"}
SPARE = 1.03  # times as many adversarial examples as are trained on, at which a recipe has enough
HELD_OUT = 10  # one of so many adversarial examples is not trained on
RATE = 2e-4
PIECES = 128  # the paper's, too
SEED = 0


@dataclass(frozen=True)
class Work:
    """What a process needs for its cells."""

    out: Path
    minilm: str
    device: str
    vectors: str
    sizes: Sizes


# ---- data ----


@cache
def dataset(task: str, part: str, count: int | None = None, toxic: bool = False) -> Any:
    """Examples of at most 80 words in an order that is shuffled once; toxic: only those of them with a toxic label."""
    from scuff.data.dataset import Dataset

    rows = rows_of(TASKS[task], part)
    order = np.random.default_rng(SEED).permutation(len(rows)).tolist()
    kept = [at for at in order if len(rows[at]["text"].split()) <= LONGEST][:count]
    targets = {at: _target(task, rows[at]) for at in kept}
    if toxic:
        kept = [at for at in kept if targets[at] not in (BENIGN[task], (BENIGN[task],))]
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


def folder_of(work: Work, task: str, training: str, way: str = "") -> Path:
    return work.out / "models" / name_of(task, "model", training, way=way)


def train(cell: Cell, work: Work) -> dict[str, Any]:
    """Trains a model, from MiniLM on clean texts or from that one on clean and adversarial ones, and scores it."""
    from scuff.training.schedule import Schedule
    from scuff.training.trainer import fine_tune

    task, training, way = (cell.given[key] for key in ("task", "training", "way"))
    begin, first = time.time(), training == "none"
    feed, dev, counts = examples_of(work, task, training, way)
    start = work.minilm if first else folder_of(work, task, training if WAYS[way].of else "none", WAYS[way].of)
    rate, folder = RATE if first else RATE / 2, folder_of(work, task, training, way)
    schedule = Schedule(
        rate=rate, epochs=CLEAN_EPOCHS if first else WAYS[way].epochs, batch_tokens=work.sizes.tokens, smoothing=0.0, patience=99
    )  # fmt: skip
    metrics = fine_tune(
        start, feed, dev, folder, schedule=schedule, device=work.device, seed=SEED, max_length=PIECES, checkpoint_seconds=None
    )  # fmt: skip
    training_time = time.time() - begin
    scores = scored(cell, work, WAYS[way].shield)
    speed = len(feed) * len(metrics["epochs"]) / training_time
    return {
        **scores, "examples": len(feed) - sum(counts.values()), "adversarial": counts, "epoch": metrics["dev"].get("epoch"),
        "training": round(training_time, 1), "said": f"{told(scores)}, epoch {metrics['dev'].get('epoch')}, {speed:.0f}/s",
    }  # fmt: skip


def examples_of(work: Work, task: str, training: str, way: str) -> tuple[Any, Any, dict[str, int]]:
    """What a model is trained on, what chooses the epoch, and how many adversarial examples each recipe gives to the first."""
    from scuff.shields.names import parse
    from scuff.training.attacked import joined
    from scuff.training.stages import mended

    feed, dev = dataset(task, "train", work.sizes.train), dataset(task, "dev", work.sizes.dev)
    if training == "none":
        return feed, dev, {}
    found = collected(work, task, training, way, len(feed))
    held = np.arange(len(found)) % HELD_OUT == 0  # they choose the epoch, together with clean texts
    counts = Counter(recipe for recipe, away in zip(found.recipes, held, strict=True) if not away)
    feed, dev = joined(feed, part_of(found, ~held).data), joined(dev, part_of(found, held).data)
    if WAYS[way].shield:
        feed, dev = (mended(data, parse(WAYS[way].shield)) for data in (feed, dev))
    return feed, dev, dict(counts)


def told(scores: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value:.3f}" for key, value in scores["scores"].items())


def part_of(found: Any, chosen: Any) -> Any:
    """Some of the adversarial examples."""
    from dataclasses import replace

    at = np.flatnonzero(chosen)
    names = {name: tuple(getattr(found, name)[row] for row in at) for name in ("sources", "recipes", "rounds")}
    return replace(found, data=found.data.take(at), **names)


def collected(work: Work, task: str, training: str, way: str, size: int) -> Any:
    """The adversarial examples of a training, of each recipe at most gamma |D| in a round, and no text twice."""
    from scuff.data.dataset import Dataset
    from scuff.training.attacked import AdversarialExamples

    lines: list[dict[str, Any]] = []
    seen, rounds = set[str](), [("none", "", work.sizes.parts)]
    if WAYS[way].again:
        rounds.append((training, way, work.sizes.again_parts))
    for number, (model, by, parts) in enumerate(rounds, 1):
        for recipe in TRAININGS[training]:
            mine: list[dict[str, Any]] = []
            for line in lines_of(work, task, recipe, parts, model, by):
                if line["text"] not in seen and len(mine) < most(size):
                    seen.add(line["text"])
                    mine.append(
                        {**line, "recipe": recipe, "round": number, "id": f"{line['source']}~{recipe}~{number}"}
                    )
            lines += mine
    targets = tuple(line["label"] if task in SINGLE else tuple(line["label"]) for line in lines)
    sources, recipes, numbers = (tuple(line[name] for line in lines) for name in ("source", "recipe", "round"))
    data = Dataset(
        f"{task}-adversarial", "single" if task in SINGLE else "multi", (tuple(line["text"] for line in lines),), targets,
        tuple(line["id"] for line in lines), known=LABELS[task],
    )  # fmt: skip
    return AdversarialExamples(data, sources, recipes, numbers)


def most(size: int) -> int:
    """How many adversarial examples of a recipe are trained on."""
    return int(np.ceil(GAMMA * size))


def lines_of(
    work: Work, task: str, recipe: str, parts: int, training: str = "none", way: str = ""
) -> list[dict[str, Any]]:
    """What a recipe found in the first parts, as far as they are done."""
    names = [name_of(task, "found", training, recipe, part=part, way=way) for part in range(parts)]
    files = [file for name in names if (file := work.out / "found" / f"{name}.jsonl").is_file()]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def find(cell: Cell, work: Work) -> dict[str, Any]:
    """Attacks a part of the toxic training texts; what fools the model is written to a file, which stays on the machine."""
    from scuff.training.attacked import adversarial_examples

    task, training, recipe, part, way = (cell.given[key] for key in ("task", "training", "recipe", "part", "way"))
    data = dataset(task, "train", work.sizes.train, toxic=True)
    order = np.random.default_rng([SEED, *recipe.encode()]).permutation(len(data))  # each recipe walks in its own order
    size = work.sizes.part if task == "davidson" else work.sizes.part * 3 // 5  # comments are longer than tweets
    if way:  # from the other end, where the first round hardly came
        order, size = order[::-1], work.sizes.again_part
    rows = order[part * size : (part + 1) * size]
    # a few more than needed, since a text that two recipes found counts once
    enough = SPARE * most(len(dataset(task, "train", work.sizes.train)))
    if not len(rows) or len(lines_of(work, task, recipe, part, training, way)) >= enough:
        write(work.out / "found" / f"{cell.name}.jsonl", "")
        return {"found": 0, "attacked": 0, "queries": 0, "seconds": 0.0, "said": "enough, or no texts left"}
    name, settings = recipe_of(recipe, work.vectors)
    if way:
        settings["shield"] = WAYS[way].shield
    begin = time.time()
    found = adversarial_examples(
        opened(task, str(folder_of(work, task, training, WAYS[way].of)), work.device), data.take(rows), name, gamma=1.0,
        seed=SEED, encoder=work.minilm, **settings,
    )  # fmt: skip
    lines = "".join(json.dumps(line) + "\n" for line in found.lines())
    write(work.out / "found" / f"{cell.name}.jsonl", lines)
    (counts,) = found.counts.values()
    rate = counts["queries"] / max(time.time() - begin, 1e-9)
    return {**counts, "said": f"{counts['found']} of {counts['attacked']} attacked, {rate:.0f} queries/s"}


def attack(cell: Cell, work: Work) -> dict[str, Any]:
    """Attacks a part of the toxic test texts."""
    import scuff

    names = ("task", "training", "recipe", "shield", "part", "way")
    task, training, recipe, shield, part, way = (cell.given[key] for key in names)
    data = dataset(task, "test", toxic=True)
    rows = np.arange(len(data))[part * work.sizes.test_part : (part + 1) * work.sizes.test_part]
    name, settings = recipe_of(recipe, work.vectors)
    begin = time.time()
    result = scuff.attack(
        opened(task, str(folder_of(work, task, training, way)), work.device), data.take(rows), name, examples=len(rows),
        seed=SEED, encoder=work.minilm, **({"shield": shield} if shield else {}), **settings,
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
    found = scored(cell, work, cell.given["shield"])
    return {**found, "said": told(found)}


def door(work: Work, task: str, training: str, way: str, shield: str) -> Any:
    """A model, behind a shield if one is named."""
    from scuff.victims.shielded import Shielded

    victim = opened(task, str(folder_of(work, task, training, way)), work.device)
    return Shielded(victim, shield) if shield else victim


def scores_of(task: str, victim: Any, data: Any) -> tuple[Any, Any]:
    """The scores of a model for all labels, in the order of LABELS, and which labels are right."""
    answers = victim(*(list(column) for column in data.columns)).answers
    place = [list(victim.labels).index(label) for label in LABELS[task]]
    truth = np.array([[label in target for label in LABELS[task]] for target in map(_as_set, data.targets)])
    return np.asarray(answers, np.float64)[:, place], truth


def scored(cell: Cell, work: Work, shield: str) -> dict[str, Any]:
    """Accuracy (exact match of label sets) and the paper's macro averages on the test part; keeps the scores of all texts."""
    task, training, way = (cell.given[key] for key in ("task", "training", "way"))
    data = dataset(task, "test", work.sizes.test)
    scores, truth = scores_of(task, door(work, task, training, way, shield), data)
    keep_rows(work.out, cell.name, {"scores": scores.astype(np.float32)}, {"truth": truth.astype(np.uint8)})
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
        if args.ways is None or cell.given["way"] in ("", *args.ways)
    ]  # fmt: skip
    if args.only:  # adversarial texts that no chosen training needs
        needed = {need for cell in cells for need in cell.needs}
        cells = [cell for cell in cells if cell.given["kind"] != "found" or cell.name in needed]
    about = {
        "sizes": asdict(sizes), "gamma": GAMMA, "epochs": [CLEAN_EPOCHS, ADVERSARIAL_EPOCHS], "seed": SEED,
        "words": LONGEST, "pieces": PIECES, **versions(),
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
    runs.add_argument("--ways", nargs="*", choices=[way for way in WAYS if way], help="only these further ways")
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
