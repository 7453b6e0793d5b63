"""Repeats ToxicTrap's Tables 5, 6, 10 and 11 (Bespalov et al. 2023) for three tasks and writes docs/results/toxictrap.md.

  python benchmarks/papers/toxictrap.py run [TASK ...] --vectors FILE [--device cuda] [--jobs 14] [--limit 450]
  python benchmarks/papers/toxictrap.py run --vectors FILE --examples 10 --few 3 --only 'unk pos' 'gradient pos'   (to try it)
  python benchmarks/papers/toxictrap.py page [--runs FOLDER]

Tasks: davidson (the paper's HTweet-MC), jigsaw (Jigsaw-ML: label sets), jigsaw-bl (Jigsaw-BL: labels benign and toxic; trained by
victims.py). Every row is a run of `scuff attack --recipe toxictrap` with the paper's perturbations, its folder in
FOLDER/TASK/ROW; a finished row is not run again, an unfinished one goes on. Rows run side by side in `--jobs` processes, those of
the paper first; after `--limit` seconds no other row begins. Only texts that are labelled toxic and have at most 80 words are
used; `--few`: how many for beam and genetic, which need ten times the queries. Of each finished row the numbers, without any
text, are kept in FOLDER/summaries, which is all that `page` needs: it writes docs/results/toxictrap.json, the evidence, and the
tables of docs/results/toxictrap.md. VECTORS: word_vectors.py makes them.
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
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TASKS = {"davidson": "davidson", "jigsaw": "jigsaw", "jigsaw-bl": "jigsaw"}  # the folder of its data
NONE = {"davidson": "neither", "jigsaw": None, "jigsaw-bl": None}  # the label of the data that is not toxic
LONGEST = 80  # words: the paper's models see the first 128 pieces of a text
SEARCHES = {
    "gradient": "gradient(norm='l1')", "delete": "delete", "unk": "unk", "weighted-saliency": "weighted-saliency",
    "genetic": "genetic", "beam": "beam",
}  # fmt: skip
COSTLY = ("genetic", "beam")  # run on --few examples
SOURCES = {
    "wordnet": "synonym(loose=True)", "glove 5": "embedding(n=5, tagger=False)", "glove 20": "embedding(n=20, tagger=False)",
    "glove 50": "embedding(n=50, tagger=False)", "mlm 20": "contextual(mlm={mlm!r}, top=20, tagger=False)",
}  # fmt: skip
TABLE_5 = (
    "gradient",
    "gradient pos",
    "delete",
    "delete pos",
    "unk",
    "unk pos",
    "weighted-saliency pos",
    "genetic pos",
    "beam pos",
)
TABLE_10 = tuple(f"{search}, {source}" for search in ("delete", "unk", "weighted-saliency") for source in SOURCES)
KEPT = ("signature", "recipe", "examples", "skipped", "success", "valid", "queries", "changed")  # of a summary
BATCH = {"cpu": 2048, "cuda": 32768}  # tokens of a batch: not tried out anew for each row
WHOLE = ", whole texts"  # the other form of the limit on meaning


@dataclass(frozen=True)
class Row:
    """A row of a table: the settings of `scuff.attack`, and its turn. cost: about how long; of a turn the long ones begin."""

    name: str
    settings: dict[str, Any] = field(hash=False)
    turn: int = 0
    cost: float = 50.0

    @property
    def few(self) -> bool:
        return self.name.startswith(COSTLY)


def rows(lists: str | None = None) -> list[Row]:
    """All rows of a task, the paper's first."""
    from scuff.attacks.published import PUBLISHED

    mixed = list(PUBLISHED["toxictrap"].perturbations)
    cost = {"weighted-saliency": 300.0, "genetic": 400.0, "beam": 400.0}
    made = []
    for name in TABLE_5:
        search, _, pos = name.partition(" ")
        settings = {"perturbations": mixed, "search": SEARCHES[search], "without": [] if pos else ["pos"]}
        made.append(Row(name, settings, 0, cost.get(search, 50.0)))
    for name in TABLE_10:
        search, source = name.split(", ")
        settings = {"perturbations": [SOURCES[source]], "search": SEARCHES[search]}
        many = 2.5 if source == "glove 50" else 1.0
        made.append(Row(name, settings, 0 if search == "unk" else 2, many * cost.get(search, 50.0)))
    twins = [
        Row(f"{row.name}{WHOLE}", {**row.settings, "constraint": ["meaning"]}, 1, row.cost)
        for row in made
        if not row.turn
    ]
    unk = {"perturbations": mixed, "search": "unk"}
    more = [
        Row("integrated gradient", {"perturbations": mixed, "search": "gradient", "without": ["pos"]}, 1),
        Row("integrated gradient pos", {"perturbations": mixed, "search": "gradient"}, 1),
        Row("as published", {"as_published": True}, 1),
        Row("as published, but for the meaning", {"as_published": True, "without": ["meaning"]}, 3),
        Row("Scuff's recipe", {}, 1),
        Row("unk pos, any meaning", {**unk, "without": ["meaning"]}, 1),
        Row("unk pos, no limits", {**unk, "without": ["meaning", "changed"]}, 1),
    ]
    if lists:
        original = f"embedding(n=5, tagger=False, file={lists!r})"
        more.append(Row("unk, glove 5, original lists", {"perturbations": [original], "search": "unk"}, 3))
    return [*made, *twins, *more]


def toxic_part(task: str, shared: Path, out: Path) -> Path:
    """Writes the test texts with a toxic label to a file and returns its path."""
    path = out / f"{task}-toxic.jsonl"
    found = []
    with gzip.open(shared / "data" / TASKS[task] / "test.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            toxic = row["label"] != NONE[task] if "label" in row else bool(row["labels"])
            if toxic and len(row["text"].split()) <= LONGEST:
                found.append({"text": row["text"], "label": "toxic"} if task == "jigsaw-bl" else row)
    text = "".join(json.dumps(row) + "\n" for row in found)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Work:
    """What a process needs to run a row."""

    task: str
    row: Row
    model: str
    data: str
    out: Path
    examples: int
    device: str | None
    vectors: str
    mlm: str
    encoder: str | None
    until: float  # no row begins after that

    @property
    def folder(self) -> Path:
        return self.out / self.task / self.row.name.replace("'", "").replace(", ", "--").replace(" ", "-")

    @property
    def kept(self) -> Path:
        """Where its numbers are kept."""
        return self.out / "summaries" / self.task / f"{self.folder.name}.json"


def do(work: Work) -> str:
    """Runs a row unless it is done. Returns a line that says what happened."""
    import scuff

    name, begin = f"{work.task}: {work.row.name}", time.time()
    if work.kept.is_file():
        return f"{name}: done before"
    if begin > work.until:
        return f"{name}: no time left"
    given = dict(work.row.settings)
    given["perturbations"] = [spec.format(mlm=work.mlm) for spec in given.get("perturbations", ())]
    tokens = BATCH["cuda" if (work.device or "").startswith("cuda") else "cpu"]
    options: dict[str, Any] = {"batch_tokens": tokens} if Path(work.model).is_dir() else {}
    options |= {"device": work.device} if work.device else {}
    files: dict[str, Any] = {"vectors": work.vectors, "encoder": work.encoder, "mlm": work.mlm}
    try:
        result = scuff.attack(
            work.model, work.data, "toxictrap", work.folder, examples=work.examples, options=options,
            **{name: value for name, value in files.items() if value}, **given,
        )  # fmt: skip
    except Exception as error:  # the other rows go on
        return f"{name}: FAILED: {type(error).__name__}: {error}"
    keep(work, result)
    success = result.summary["success"]
    share = "-" if success["value"] is None else f"{100 * success['value']:.1f} %"
    return f"{name}: {share} of {success['of']}, {time.time() - begin:.0f} s"


def keep(work: Work, result: Any) -> None:
    """Writes a row's numbers; of each attacked text its id, success, queries, length and the model's first score."""
    attacked = [line for line in result.lines if line["status"] in ("succeeded", "failed")]
    summary = result.summary
    kept = {
        "task": work.task, "row": work.row.name,
        **{name: summary[name] for name in KEPT},
        "seconds": sum(part["seconds"] for part in result.timings), "asked": sum(part["queries"] for part in result.timings),
        "attacked": {
            "id": [line["id"] for line in attacked], "won": [int(line["status"] == "succeeded") for line in attacked],
            "queries": [line["queries"] for line in attacked], "words": [len(line["texts"][0].split()) for line in attacked],
            "score": [first_score(line["clean"]) for line in attacked],
        },
    }  # fmt: skip
    work.kept.parent.mkdir(parents=True, exist_ok=True)
    part = work.kept.with_suffix(".part")
    part.write_text(json.dumps(kept), encoding="utf-8")
    part.rename(work.kept)


def first_score(clean: dict[str, Any]) -> float | None:
    """The model's highest score of a toxic label for the original text."""
    scores = clean.get("scores")
    if scores:
        return max(value for label, value in scores.items() if label != "benign")
    answer = clean["answer"]
    return float(answer["score"]) if isinstance(answer, dict) and "score" in answer else None


def planned(args: argparse.Namespace, shared: Path) -> list[Work]:
    """The rows to run, in their order. Leaves out tasks without a model, and rows without their file, and says so."""
    models = {task: args.models / task for task in args.tasks} | {
        task: Path(folder) for task, _, folder in (given.partition("=") for given in args.model)
    }
    lists = shared / "data" / "counterfitted" / "neighbours.tsv.gz"
    chosen = [row for row in rows(str(lists) if lists.is_file() else None) if not args.only or row.name in args.only]
    mlm, work = args.mlm or args.models / "mlm", []
    for task in args.tasks:
        if not (models[task] / "config.json").is_file():
            print(f"{task}: left out, no model in {models[task]}", flush=True)
            continue
        data = toxic_part(task, shared, args.out)
        for row in chosen:
            if "mlm" in row.name and not (mlm / "config.json").is_file():
                print(f"{task}: {row.name}: left out, no masked language model in {mlm}", flush=True)
                continue
            size = args.few if row.few else args.examples
            work.append(
                Work(
                    task, row, str(models[task]), str(data), args.out, size, args.device, str(args.vectors), str(mlm),
                    args.encoder, time.time() + args.limit,
                )
            )  # fmt: skip
    return sorted(work, key=lambda each: (each.row.turn, -each.row.cost))


def run(args: argparse.Namespace, shared: Path) -> int:
    """Runs rows side by side. Returns an exit code."""
    args.out.mkdir(parents=True, exist_ok=True)
    begin, work = time.time(), planned(args, shared)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if args.jobs > 1:
        os.environ["OMP_NUM_THREADS"] = "1"
    failed = 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.jobs, context) as pool:
        for at, done in enumerate(as_completed([pool.submit(do, each) for each in work]), 1):
            line = done.result()
            failed += "FAILED" in line
            print(f"{time.time() - begin:5.0f} s  {at}/{len(work)}  {line}", flush=True)
    return 3 if failed else 0


def arguments(given: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run the rows")
    runs.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; default all")
    runs.add_argument("--vectors", type=Path, required=True, help="word vectors or lists of neighbours")
    runs.add_argument("--models", type=Path, help="folder of the victims and of mlm; default: SCUFF_SHARED/models")
    runs.add_argument("--model", nargs="+", default=[], metavar="TASK=FOLDER", help="victims that are elsewhere")
    runs.add_argument("--mlm", type=Path, help="masked language model; default: mlm among the models")
    runs.add_argument("--encoder", help="sentence encoder; default: MiniLM as installed")
    runs.add_argument("--examples", type=int, default=600)
    runs.add_argument("--few", type=int, default=100)
    runs.add_argument("--only", nargs="+", metavar="ROW", help="only these rows")
    runs.add_argument("--device")
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--limit", type=float, default=float("inf"), metavar="SECONDS")
    runs.add_argument("--out", type=Path, default=Path("toxictrap"), metavar="FOLDER")
    page = commands.add_parser("page", help="write the evidence and the page")
    page.add_argument(
        "--runs", type=Path, metavar="FOLDER", help="take summaries from there; default: only the evidence"
    )
    args = parser.parse_args(given)
    if args.command == "run":
        strange = [task for task in args.tasks if task not in TASKS]
        if strange:
            parser.error(f"expected some of {', '.join(TASKS)}, got {', '.join(strange)}")
        args.tasks = args.tasks or list(TASKS)
    return args


def main() -> int:
    args = arguments()
    if args.command == "page":
        from toxictrap_page import write

        return write(args.runs)
    shared = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[3] / "shared"))
    args.models = args.models or shared / "models"
    return run(args, shared)


if __name__ == "__main__":
    sys.exit(main())
