"""RobTest's Figure 5: how well degree, grammar, similarity and perplexity predict which cases are valid.

  python benchmarks/papers/robtest_validity.py [--model FOLDER] [--mlm FOLDER] [--examples 200] [--cases 4] [--out FOLDER]
  python benchmarks/papers/robtest_validity.py --page [--evidence FILE]              (the page alone, from numbers that are there)

Evaluates sst2 by rules on its test part at the degrees of the paper's Table 3, takes 50 cases of each cell that broke the model,
as the paper did, and computes the measures for each (`scuff.evaluation.validity`). The paper's annotators saw other cases: their
share of valid cases by column and degree, Table 3, is the only label at hand. Writes docs/results/robtest-validity.json and the
tables between the marks of docs/results/robtest.md.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from robtest import data_file
from robtest_page import PAGE, RESULTS, Lines, put, table

import scuff
from scuff.evaluation.dimensions import COLUMNS
from scuff.evaluation.evaluation import Evaluation
from scuff.evaluation.score import VALIDITY_DEGREES
from scuff.evaluation.setup import EvaluationSetup
from scuff.evaluation.validity import (
    LEVELS,
    SampledCases,
    predicted_validity,
    published_validity,
    sample_trials,
    validity_levels,
)
from scuff.metrics.interval import percentile_interval
from scuff.metrics.rank import spearman
from scuff.runs.folder import Folder
from scuff.text.ragged import Floats
from victims import examples, minilm_folder, restore

EVIDENCE = RESULTS / "robtest-validity.json"
SHOWN = 50  # cases of each cell that the paper's annotators saw
RESAMPLES = 1000


def cell_numbers(cases: SampledCases) -> Any:
    """Returns the number of each case's cell, from 0 in the order of dimension and degree."""
    return np.unique(np.stack([cases.dimension, cases.degree], 1), axis=0, return_inverse=True)[1].reshape(-1)


def rank_correlation(predicted: Floats, labels: Floats, cell: Any, dimension: Any, rng: Any) -> dict[str, Any]:
    """Returns Spearman's correlation of a measure's mean by cell and Table 3: over all cells, and the mean within dimensions.

    The intervals resample the cases of each cell, and Table 3 as shares of 50 cases each.
    """
    count = cell.max() + 1
    of_cell, label = np.zeros(count, np.int64), np.zeros(count)
    of_cell[cell], label[cell] = dimension, labels

    def both(means: Floats, shares: Floats) -> tuple[float, float]:
        inside = [spearman(means[of_cell == each], shares[of_cell == each]) for each in np.unique(of_cell)]
        known = [each for each in inside if np.isfinite(each)]
        return spearman(means, shares), float(np.mean(known)) if known else float("nan")

    def means(rows: Any) -> Floats:
        return np.bincount(cell[rows], predicted[rows], count) / np.bincount(cell[rows], minlength=count)

    order = np.argsort(cell, kind="stable")
    size = np.bincount(cell)
    first = np.cumsum(size) - size
    value = both(means(order), label)
    again = []
    for _ in range(RESAMPLES):
        drawn = np.repeat(first, size) + (rng.random(cell.size) * np.repeat(size, size)).astype(np.int64)
        again.append(both(means(order[drawn]), rng.binomial(SHOWN, label) / SHOWN))
    ends = [percentile_interval(np.array(each)) for each in zip(*again, strict=True)]
    return {name: [round(float(x), 3) for x in (value[at], *ends[at])] for at, name in enumerate(("all", "within"))}


def measure(run: Evaluation, args: argparse.Namespace) -> dict[str, Any]:
    """Returns the evidence: by measure, the mean label of the cases in five levels, and the rank correlations."""
    cases = sample_trials(run, args.each)
    labels = published_validity(run, cases)
    clean = [row["text"] for row in examples("sst2", "train_sentences")]
    predicted = predicted_validity(cases, encoder=str(minilm_folder(args.minilm)), mlm=args.mlm, clean=clean)
    if args.mlm:
        predicted["perplexity, characters"] = predicted_validity(cases, encoder="chrf", clean=clean)["perplexity"]
    cell, rng = cell_numbers(cases), np.random.default_rng(0)
    found = {}
    for name, values in predicted.items():
        level = validity_levels(values)
        share = [float(labels[level == each].mean()) if (level == each).any() else None for each in range(LEVELS)]
        found[name] = {
            "levels": [each if each is None else round(each, 3) for each in share],
            "sizes": np.bincount(level, minlength=LEVELS).tolist(),
            "order": rank_correlation(values, labels, cell, cases.dimension, rng),
        }
    names = [dimension.name for dimension in run.protocol.parsed]
    cells = {
        f"{names[dimension]} {run.protocol.degrees[degree]:g}": {
            "cases": int(here.sum()), "table3": round(float(labels[here][0]), 3),
            **{name: round(float(values[here].mean()), 4) for name, values in predicted.items()},
        }
        for dimension, degree in sorted(set(zip(cases.dimension.tolist(), cases.degree.tolist(), strict=True)))
        for here in [(cases.dimension == dimension) & (cases.degree == degree)]
    }  # fmt: skip
    return {"signature": run.folder.run()["signature"], "cases": len(cases), "measures": found, "cells": cells}


def by_degree(measures: dict[str, Any], which: str) -> str:
    """Returns whether the degree orders cells as people did, with an interval above 0, and no other measure does better."""
    value, low, _ = measures["degree"]["order"][which]
    best = max(measures, key=lambda name: measures[name]["order"][which][0])
    if low <= 0:
        return f"**no**: {value:+.2f}, its interval reaches {low:+.2f}"
    return "yes" if measures[best]["order"][which][0] <= value else f"**no**: {best}"


def tables(evidence: dict[str, Any]) -> Lines:
    measures = evidence["measures"]
    rows = []
    for name, found in measures.items():
        known = [each for each in found["levels"] if each is not None]
        rises = sum(after > before for before, after in pairwise(known))
        cells = ["-" if each is None else f"{each:.2f}" for each in found["levels"]]
        rows.append([name, *cells, f"{rises} of {len(known) - 1}", f"{known[-1] - known[0]:+.2f}"])
    header = [
        "measure",
        "level 1, least valid",
        *map(str, range(2, LEVELS)),
        f"{LEVELS}, most valid",
        "steps up",
        "5 less 1",
    ]
    lines = [*table(header, rows), ""]
    rows = [
        [name, *("{:+.2f} [{:+.2f}, {:+.2f}]".format(*found["order"][which]) for which in ("all", "within"))]
        for name, found in measures.items()
    ]
    lines += [*table(["measure", "all cells of Table 3", "within a dimension, mean"], rows), ""]
    degree = measures["degree"]["levels"]
    steps = all(after > before for before, after in pairwise(each for each in degree if each is not None))
    rows = [
        ["validity by degree rises from level to level", "yes, Figure 5", "yes" if steps else "**no**"],
        ["degree orders the cells, and best of all measures", "yes, Figure 5", by_degree(measures, "all")],
        ["and within a dimension", "-", by_degree(measures, "within")],
    ]
    return [*lines, *table(["finding", "paper", "here"], rows, left=3)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="default: sst2, restored from the shared models")
    parser.add_argument(
        "--mlm", help="for perplexity; default: restored from the shared models, if there; else by characters"
    )
    parser.add_argument("--minilm", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--each", type=int, default=SHOWN, help="cases of each cell")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/robtest-validity"))
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="where the numbers go")
    parser.add_argument("--page", action="store_true", help="only rewrite the page from the numbers that are there")
    args = parser.parse_args()
    if args.page:
        lines = tables(json.loads(args.evidence.read_text(encoding="utf-8")))
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), "validity", lines), encoding="utf-8")
        return
    args.out.mkdir(parents=True, exist_ok=True)
    for name, given in (("sst2", args.model), ("mlm", args.mlm)):
        if not given and not (args.out / name / "config.json").is_file():
            restore(name, minilm_folder(args.minilm), args.out)
    args.mlm = args.mlm or (str(args.out / "mlm") if (args.out / "mlm").is_dir() else None)
    mlm = {"mlm": args.mlm} if args.mlm else {}
    names = [column for column in COLUMNS if args.mlm or column != "contextual"]
    folder, options = args.out / "run", {"device": args.device}
    if args.device.startswith("cuda"):
        options["dtype"] = "float16"
    scuff.evaluate(
        str(args.model or args.out / "sst2"), str(data_file("sst2", args.out)), folder, dimensions=names,
        degrees=VALIDITY_DEGREES, examples=args.examples, cases=args.cases, workers=args.workers,
        encoder=str(minilm_folder(args.minilm)), options=options, **mlm,
    )  # fmt: skip
    evidence = measure(EvaluationSetup.read(Folder(folder)), args)
    args.evidence.write_text(json.dumps(evidence, indent=1) + "\n", encoding="utf-8")
    lines = tables(evidence)
    print("\n".join(lines))
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), "validity", lines), encoding="utf-8")


if __name__ == "__main__":
    main()
