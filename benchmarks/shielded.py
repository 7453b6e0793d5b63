"""Measures what shields give back to five models: accuracy under perturbations, and success rates of five attacks.

  python benchmarks/shielded.py run [MODEL ...] [--device cuda] [--jobs 16] [--limit 330] [--out FOLDER]
  python benchmarks/shielded.py run sst2 --examples 20 --attacked 4 --only keyboard deepwordbug       (to try it)
  python benchmarks/shielded.py page [--runs FOLDER]

Models: sst2, davidson, jigsaw (macro AUC), nli (SNLI), ud_ewt (tags), of the shared folder. Accuracy: `scuff.evaluate` with each
low-level perturbation at three strengths on `--examples` texts of the test part, the same texts for every shield: none, fast and
context. Attacks: `scuff.attack` on up to `--attacked` texts of at most 60 words, at most 200 queries for each text, against the
model alone, and against the shielded one by an attacker that is unaware of the shield and by one that is aware of it.

Each cell is a file with numbers, and no text, in FOLDER/cells; what is there is not run again. Cells run side by side in `--jobs`
processes, the most important ones first; after `--limit` seconds what still runs is stopped. `page` needs FOLDER/cells alone: it
writes docs/results/shielded.json, the evidence, and the part of docs/results/shields.md that is about shielded models.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "papers")]

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[1].parent / "shared"))
STRENGTHS = (0.2, 0.5, 0.8)
LOW = (
    "inner-shuffle", "full-shuffle", "intrude", "disemvowel", "truncate", "segment", "keyboard", "natural", "phonetic", "visual",
    "homoglyph", "invisible", "typo", "glyph",
)  # fmt: skip
HIGH = {"synonym": "synonym(loose=True)", "inflection": "inflection", "omit": "omit"}  # what no shield can see
RECIPES = ("deepwordbug", "textbugger", "tt-deepwordbug", "pwws", "textfooler")
TOXIC = ("davidson", "jigsaw")  # the models that tt-deepwordbug applies to
SHIELDS = ("none", "fast", "context")
ATTACKERS = ("unaware", "aware")
TAGS = "tags(share=0.3)"  # the goal for tags
CHUNK = 20  # texts of a cell of an attack: small, so that all cells have some when time is short
LONGEST, QUERIES = 60, 200  # words of an attacked text, queries for it
SEED = 17
BATCH = {"cpu": 2048, "cuda": 32768}  # tokens of a batch: not tried out anew for each cell
KEPT = ("value", "interval")


@dataclass(frozen=True)
class Model:
    """A model of the shared folder, and the columns of its data."""

    data: str
    text: tuple[str, ...] = ("text",)
    label: str = "label"
    task: str = "single"
    none: str = ""  # the label of texts that are not toxic
    sides: Literal["first", "both"] = "first"  # that are perturbed

    @property
    def metric(self) -> str:
        return "auc" if self.task == "multi" else "score"


MODELS = {
    "sst2": Model("sst2"),
    "davidson": Model("davidson", none="neither"),
    "jigsaw": Model("jigsaw", label="labels", task="multi"),
    "nli": Model("snli", ("premise", "hypothesis"), sides="both"),
    "ud_ewt": Model("ud_ewt", ("tokens",), "tags", "tokens"),
}


@dataclass(frozen=True)
class Cell:
    """A cell of a table. what: a perturbation or a recipe. attacker: "" for accuracy and for attacks on the model alone."""

    kind: str
    model: str
    what: str
    shield: str
    attacker: str = ""
    chunk: int = 0

    @property
    def name(self) -> str:
        parts = [
            self.kind,
            self.model,
            self.what,
            self.shield,
            self.attacker,
            f"{self.chunk}" if self.kind == "attack" else "",
        ]
        return "--".join(part for part in parts if part)

    @property
    def turn(self) -> int:
        """Which cells come first: accuracy, then attacks by parts of the texts, then what shields cannot help."""
        if self.kind == "accuracy":
            return 0 if self.what in LOW else 2
        return 1 + self.chunk

    @property
    def cost(self) -> float:
        """About how long it takes: of a turn the long ones begin."""
        long = {"jigsaw": 6.0, "davidson": 2.0}.get(self.model, 1.0)
        slow = {"none": 1.0, "fast": 1.5, "context": 4.0}[self.shield if self.attacker != "unaware" else "none"]
        return long * slow * {"textfooler": 2.0, "pwws": 2.0, "textbugger": 2.0}.get(self.what, 1.0)


def all_cells(models: Iterable[str], attacked: int) -> list[Cell]:
    """All cells, in the order in which they begin."""
    cells = []
    for model in models:
        cells += [Cell("accuracy", model, what, shield) for what in (*LOW, *HIGH) for shield in SHIELDS]
        for recipe in RECIPES:
            if recipe.startswith("tt-") and model not in TOXIC:
                continue
            for chunk in range(-(-attacked // CHUNK)):
                cells.append(Cell("attack", model, recipe, "none", "", chunk))
                cells += [
                    Cell("attack", model, recipe, shield, attacker, chunk)
                    for shield in SHIELDS[1:]
                    for attacker in ATTACKERS
                ]
    return sorted(cells, key=lambda cell: (cell.turn, -cell.cost))


@dataclass(frozen=True)
class Work:
    """What a process needs for its cells."""

    out: Path
    models: Path
    minilm: str
    device: str
    examples: int
    attacked: int


@cache
def rows_of(model: str) -> list[dict[str, Any]]:
    with gzip.open(SHARED / "data" / MODELS[model].data / "test.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_data(cell: Cell, work: Work) -> Path:
    """Writes the texts of a cell to a file, which is not kept among the results, and returns its path."""
    about, toxic = MODELS[cell.model], cell.what.startswith("tt-")
    name = (
        f"{cell.model}{'-toxic' if toxic else ''}-{cell.kind}{f'-{cell.chunk}' if cell.kind == 'attack' else ''}.jsonl"
    )
    path = work.out / "data" / name
    if path.is_file():
        return path
    rows = rows_of(cell.model)
    chosen = [rows[at] for at in np.random.default_rng(SEED).permutation(len(rows)).tolist()]
    if cell.kind == "attack":
        if toxic:
            chosen = [
                row for row in chosen if (row[about.label] != about.none if about.none else bool(row[about.label]))
            ]
        chosen = [row for row in chosen if _words(row, about) <= LONGEST][cell.chunk * CHUNK : (cell.chunk + 1) * CHUNK]
        chosen = chosen[: work.attacked - cell.chunk * CHUNK]
    else:
        chosen = chosen[: work.examples]
    part = path.with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_text("".join(json.dumps(row) + "\n" for row in chosen), encoding="utf-8")
    part.replace(path)
    return path


def _words(row: dict[str, Any], about: Model) -> int:
    return max(len(row[name] if about.task == "tokens" else row[name].split()) for name in about.text)


@cache
def opened(model: str, folder: str, device: str) -> Any:
    """A model, opened once in each process."""
    from scuff.victims import open_victim

    tokens = BATCH["cuda" if device.startswith("cuda") else "cpu"]
    options = {"device": device, "batch_tokens": tokens}
    return open_victim(folder, MODELS[model].task, (), options)  # type: ignore[arg-type]


def settings_of(cell: Cell, work: Work) -> dict[str, Any]:
    about = MODELS[cell.model]
    given: dict[str, Any] = {
        "text": about.text,
        "label": about.label,
        "task": about.task,
        "examples": 10**6,
        "seed": SEED,
    }
    return given | ({"shield": cell.shield} if cell.shield != "none" else {})


def measure(cell: Cell, work: Work) -> dict[str, Any]:
    """The numbers of a cell of accuracy."""
    import scuff

    about = MODELS[cell.model]
    model = opened(cell.model, str(work.models / cell.model), work.device)
    dimension = f"{HIGH.get(cell.what, cell.what)}@level"
    summary = scuff.evaluate(
        model, str(write_data(cell, work)), dimensions=[dimension], degrees=list(STRENGTHS), cases=1,
        side=about.sides, encoder="chrf", **settings_of(cell, work),
    ).summary  # fmt: skip
    (found,) = summary["dimensions"].values()
    clean = summary["clean"]
    return {
        "examples": clean["examples"],
        "mended": summary.get("shield", {}).get("mended"),
        "clean": _estimate(clean, about.metric, "score"),
        "strengths": [
            {"strength": each["degree"], "reached": each["reached"], **_estimate(each, about.metric, "average")}
            for each in found["degrees"]
        ],
        "without_an_answer": sum(each["error"] + each["unparsed"] + each["refused"] for each in found["degrees"]),
    }


def _estimate(entry: Any, metric: str, usual: str) -> dict[str, Any]:
    found = entry["auc" if metric == "auc" else usual]
    return {name: found[name] for name in KEPT}


def attack(cell: Cell, work: Work) -> dict[str, Any]:
    """The numbers of a cell of an attack."""
    import scuff

    about = MODELS[cell.model]
    lists = {"vectors": str(SHARED / "data" / "counterfitted" / "neighbours.tsv.gz")}
    given: dict[str, Any] = lists if cell.what in ("textbugger", "textfooler") else {}
    if cell.what == "textfooler":
        given = {**given, "without": ["word-vectors"]}  # lists of neighbours have no angles
    if len(about.text) > 1:
        given = {**given, "side": "second"}
    if about.task == "tokens":
        given = {**given, "goal": TAGS}
    if cell.attacker:
        given = {**given, "attacker": cell.attacker}
    summary = scuff.attack(
        opened(cell.model, str(work.models / cell.model), work.device), str(write_data(cell, work)), cell.what,
        max_queries=QUERIES, encoder=work.minilm, **given, **settings_of(cell, work),
    ).summary  # fmt: skip
    shield = summary.get("shield", {})
    return {
        "examples": summary["examples"],
        "status": summary["status"],
        **{name: {part: summary[name][part] for part in ("count", "of")} for name in ("success", "valid")},
        **{
            name: {part: shield[name][part] for part in ("count", "of")}
            for name in ("found", "survived")
            if name in shield
        },
        "queries": {name: summary["queries"][name] for name in ("total", "cut")},
    }


def do(cell: Cell, work: Work) -> str:
    """Runs a cell and writes its file. Returns a line that says what happened; a cell that is not defined says why."""
    import warnings

    begin = time.time()
    warnings.simplefilter("ignore")
    try:
        found = measure(cell, work) if cell.kind == "accuracy" else attack(cell, work)
    except ValueError as error:  # such as a perturbation that joins tokens
        found = {"not_defined": f"{error}"[:200]}
    except Exception as error:  # the other cells go on
        return f"{cell.name}: FAILED: {type(error).__name__}: {error}"
    kept = {"cell": asdict(cell), **found, "seconds": round(time.time() - begin, 2)}
    path = work.out / "cells" / f"{cell.name}.json"
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(kept), encoding="utf-8")
    part.replace(path)
    return f"{cell.name}: {told(found)}, {kept['seconds']:.0f} s"


def told(found: dict[str, Any]) -> str:
    if "not_defined" in found:
        return f"not defined: {found['not_defined']}"
    if "success" in found:
        return f"{found['success']['count']} of {found['success']['of']}"
    return ", ".join(f"{100 * each['value']:.1f}" for each in (found["clean"], *found["strengths"]))


def restored(args: argparse.Namespace) -> None:
    """Writes the shared models as Hugging Face folders, where they are not yet."""
    from victims import minilm_folder, restore

    args.minilm = str(minilm_folder(Path(args.minilm) if args.minilm else None))
    for name in args.names:
        if not (args.models / name / "model.safetensors").is_file() and not restore(
            name, Path(args.minilm), args.models
        ):
            sys.exit(f"expected {name} in {SHARED / 'models'} or {args.models}, got nothing of that name")


def run(args: argparse.Namespace) -> int:
    """Runs cells side by side until they are done or time is up. Returns an exit code: 3 if some failed."""
    begin = time.time()
    (args.out / "cells").mkdir(parents=True, exist_ok=True)
    restored(args)
    if args.restore:
        return 0
    work = Work(args.out, args.models, args.minilm, args.device, args.examples, args.attacked)
    cells = [cell for cell in all_cells(args.names, args.attacked) if not args.only or cell.what in args.only]
    cells = [cell for cell in cells if cell.shield in args.shields]
    left = [cell for cell in cells if not (args.out / "cells" / f"{cell.name}.json").is_file()]
    print(f"{len(cells)} cells, {len(left)} to do, in {args.jobs} processes", flush=True)
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    about = {"examples": args.examples, "attacked": args.attacked, "seed": SEED, "queries": QUERIES, "words": LONGEST}
    (args.out / "about.json").write_text(json.dumps({**about, **versions()}), encoding="utf-8")
    failed = done = 0
    pool = ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn"))
    waiting: set[Future[str]] = {pool.submit(do, cell, work) for cell in left}
    while waiting and time.time() - begin < args.limit:
        finished, waiting = wait(waiting, max(0.1, min(5.0, args.limit - (time.time() - begin))), "FIRST_COMPLETED")
        for future in finished:
            done, line = done + 1, outcome(future)
            failed += "FAILED" in line
            print(f"{time.time() - begin:5.0f} s  {done}/{len(left)}  {line}", flush=True)
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=not waiting, cancel_futures=True)
    for process in processes if waiting else ():  # each cell is written at once, so nothing is half done
        process.terminate()
    print(f"{time.time() - begin:5.0f} s  {done} done, {failed} failed, {len(left) - done} left", flush=True)
    return 3 if failed else 0


def outcome(future: Future[str]) -> str:
    """The line of a cell, also if its process died."""
    try:
        return future.result()
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error}"


def versions() -> dict[str, str]:
    from importlib.metadata import version

    from scuff.version import __version__

    return {"scuff": __version__, **{name: version(name) for name in ("torch", "transformers", "numpy")}}


def arguments(given: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run the cells")
    runs.add_argument("names", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}; default all")
    runs.add_argument("--device", default="cpu")
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--limit", type=float, default=float("inf"), metavar="SECONDS")
    runs.add_argument("--examples", type=int, default=300, help="texts of a cell of accuracy")
    runs.add_argument("--attacked", type=int, default=80, help="texts of an attack, those that it skips included")
    runs.add_argument("--only", nargs="+", metavar="WHAT", help="only these perturbations and recipes")
    runs.add_argument("--shields", nargs="+", default=list(SHIELDS), choices=SHIELDS, help="only these")
    runs.add_argument("--models", type=Path, help="where restored models are or go; default FOLDER/models")
    runs.add_argument("--minilm", help="all-MiniLM-L6-v2 as a Hugging Face folder; default: the installed package's")
    runs.add_argument("--restore", action="store_true", help="only write the models as Hugging Face folders, and stop")
    runs.add_argument("--out", type=Path, default=Path("runs/shielded"), metavar="FOLDER")
    page = commands.add_parser("page", help="write the evidence and its part of the page")
    page.add_argument("--runs", type=Path, metavar="FOLDER", help="take cells from there; default: only the evidence")
    args = parser.parse_args(given)
    if args.command == "run":
        strange = [name for name in args.names if name not in MODELS]
        if strange:
            parser.error(f"expected some of {', '.join(MODELS)}, got {', '.join(strange)}")
        args.names = args.names or list(MODELS)
        args.models = args.models or args.out / "models"
    return args


def main() -> int:
    args = arguments()
    if args.command == "page":
        from shielded_page import write

        return write(args.runs)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
