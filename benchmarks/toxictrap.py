"""Repeats tables 5 and 6 of ToxicTrap (Bespalov et al. 2023) on the shared toxicity models, beside the paper's figures.

  python benchmarks/toxictrap.py davidson --vectors VECTORS [--examples 500] [--few 100] [--device cuda] [--out FOLDER]

Table 5 compares searches with and without the part-of-speech constraint, Table 6 sources of replacements. Only texts that are
labelled toxic and have at most 80 words are used; `--few`: how many for beam and genetic, which need ten times the queries. Three
more rows show the effect of the constraints; one more, with `--lists`, that of the original counter-fitted vectors, of which
the nearest words are published (Jia et al. 2019, counterfitted_neighbors.json, here as `word<TAB>word word ...`). Every row is a
run of `scuff attack` with its folder in FOLDER; a row whose folder is finished is not run again. Writes FOLDER/TASK.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import scuff
from scuff.runs.folder import Folder

BENIGN = {"davidson": "neither", "jigsaw": "benign"}
SYNONYMS = {
    "wordnet": "synonym(loose=True)", "glove 5": "embedding(n=5, tagger=False)", "glove 20": "embedding(n=20, tagger=False)",
    "glove 50": "embedding(n=50, tagger=False)", "mlm 20": "contextual(mlm={args.mlm!r}, top=20, tagger=False)",
    "glove 5, original lists": "embedding(n=5, tagger=False, file={args.lists!r})",
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {  # rows that are not in the paper
    "unk pos, whole texts": {"constraint": ["meaning"]},
    "unk pos, any meaning": {"without": ["meaning"]},
    "unk pos, no limits": {"without": ["meaning", "changed"]},
}
COSTLY = ("genetic", "beam")  # searches that run on --few examples
LONGEST = 80  # words: the paper's models see the first 128 pieces of a text
# success rate, queries, changed words in %: the paper's HTweet-MC and Jigsaw-ML
PAPER = {
    "davidson": {
        "gradient": (67.16, 63.51, 24.13), "gradient pos": (67.56, 49.67, 24.08), "delete": (71.46, 58.78, 18.96),
        "delete pos": (71.46, 48.17, 19.37), "unk": (72.38, 58.99, 18.80), "unk pos": (72.23, 48.04, 19.43),
        "weighted-saliency pos": (74.71, 178.91, 18.81), "genetic pos": (80.49, 1025.66, 21.86),
        "beam pos": (90.07, 442.18, 18.76), "wordnet": (56.66, 32.08, 17.94), "glove 5": (33.65, 21.82, 23.06),
        "glove 20": (66.70, 41.06, 18.85), "glove 50": (69.99, 81.14, 18.18), "mlm 20": (65.23, 33.66, 21.30),
    },
    "jigsaw": {
        "gradient": (97.62, 38.45, 8.36), "gradient pos": (97.72, 29.78, 7.56), "delete": (98.71, 57.60, 7.54),
        "delete pos": (98.63, 49.93, 6.99), "unk": (98.75, 57.08, 7.70), "unk pos": (98.75, 49.38, 6.96),
        "weighted-saliency pos": (98.51, 419.58, 6.91), "genetic pos": (88.91, 876.81, 8.82),
        "beam pos": (99.54, 756.05, 7.19), "wordnet": (87.72, 37.01, 6.81), "glove 5": (84.33, 32.15, 7.47),
        "glove 20": (95.92, 43.84, 6.89), "glove 50": (97.91, 67.09, 6.68), "mlm 20": (92.73, 41.33, 6.62),
    },
}  # fmt: skip


def toxic_part(task: str, shared: Path, out: Path) -> Path:
    """Writes the test texts with a toxic label to a file and returns its path."""
    rows = []
    with gzip.open(shared / "data" / task / "test.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            short = len(row["text"].split()) <= LONGEST
            if short and row.get("label", "") != BENIGN[task] and row.get("labels", ["one"]):
                rows.append(row)
    path = out / f"{task}-toxic.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def settings_of(row: str, args: argparse.Namespace) -> dict[str, Any]:
    """Returns the settings of `scuff.attack` for a row."""
    if row in OTHERS:
        return OTHERS[row]
    if row in SYNONYMS:
        return {"transform": [SYNONYMS[row].format(args=args)]}
    search, _, pos = row.partition(" ")
    return {"search": search, "without": [] if pos else ["pos"]}


def run(task: str, row: str, model: str, data: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Returns summary and timings of a row, which is run unless its folder is finished."""
    folder = args.out / f"{task}-{row.replace(' ', '-')}"
    if (folder / "summary.json").is_file():
        opened = Folder(folder)
        return {"summary": opened.read_json("summary.json"), "timings": opened.read_json("timings.json")}
    options = {"device": args.device} if args.device else {}
    more = {"vectors": str(args.vectors), **({"encoder": args.encoder} if args.encoder else {})}
    size = args.few if row.split()[0] in COSTLY else args.examples
    begin = time.monotonic()
    result = scuff.attack(
        model,
        str(data),
        "toxictrap",
        folder,
        examples=size,
        options=options,
        workers=args.workers,
        **settings_of(row, args),
        **more,
    )
    print(f"{task} {row}: {time.monotonic() - begin:.0f} s\n{result}\n", flush=True)
    return {"summary": result.summary, "timings": result.timings}


def table(task: str, rows: dict[str, dict[str, Any]], names: list[str]) -> list[str]:
    """Returns the lines of a Markdown table."""
    lines = [
        f"| {task} | success % [95 %] | of | queries | words % | queries/s | paper: success % | queries | words % |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        if name not in rows:
            continue
        found, spent = rows[name]["summary"], rows[name]["timings"]
        success, seconds = found["success"], sum(part["seconds"] for part in spent)
        low, high = (100 * edge for edge in success["interval"])
        rate = sum(part["queries"] for part in spent) / seconds
        paper = [f"{figure:.1f}" for figure in PAPER[task].get(name, ())]
        cells = (
            name, f"{100 * success['value']:.1f} [{low:.1f}, {high:.1f}]", success["of"], f"{found['queries']['mean']:.1f}",
            f"{100 * (found['changed']['mean'] or 0):.1f}", f"{rate:,.0f}", *paper,
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |" + "  |" * (9 - len(cells)))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=tuple(BENIGN))
    parser.add_argument("--model", help="default: restored from the shared models")
    parser.add_argument("--mlm", help="masked language model for the row mlm; without it the row is left out")
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--lists", help="neighbours in the original vectors; without them the row is left out")
    parser.add_argument("--encoder")
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--device")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rows", nargs="+", help="only these, as in the first column")
    parser.add_argument("--data", type=Path, help="toxic texts; default: the shared test part")
    parser.add_argument("--out", type=Path, default=Path("toxictrap"))
    args = parser.parse_args()
    shared = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
    args.out.mkdir(parents=True, exist_ok=True)
    model = args.model or str(shared / "models" / args.task)
    data = args.data or toxic_part(args.task, shared, args.out)
    absent = {"mlm 20": not args.mlm, "glove 5, original lists": not args.lists}
    names = args.rows or [
        name for name in dict.fromkeys((*PAPER[args.task], *OTHERS, *SYNONYMS)) if not absent.get(name)
    ]
    rows = {}
    for name in sorted(names, key=lambda name: name.split()[0] in COSTLY):
        rows[name] = run(args.task, name, model, data, args)
        searches = [*(name for name in PAPER[args.task] if name not in SYNONYMS), *OTHERS]
        parts = [*table(args.task, rows, searches), "", *table(args.task, rows, list(SYNONYMS))]
        (args.out / f"{args.task}.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
    print("\n".join(parts))


if __name__ == "__main__":
    main()
