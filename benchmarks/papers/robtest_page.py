"""The evidence (docs/results/robtest.json) and the tables of docs/results/robtest.md, from the runs of robtest.py."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from robtest_findings import RUNS, dimension, findings

from scuff.evaluation.dimensions import COLUMNS
from scuff.evaluation.score import degree_weights
from scuff.metrics.interval import percentile_interval, resamples
from scuff.metrics.rank import spearman
from scuff.text.ragged import Floats

RESULTS = Path(__file__).parents[2] / "docs" / "results"
EVIDENCE, PAGE = RESULTS / "robtest.json", RESULTS / "robtest.md"
FIGURES = Path(__file__).parent / "figures" / "robtest.json"
WAYS = {"average": "mean", "worst": "worst", "alone": "alone"}  # final scores, and the arrays of scores.npz
# task: the runs of the larger model, and those of the smaller one
LARGER = RUNS
SMALLER = {
    "sst2": ("sst2-3", "sst2-3-slow"), "agnews": ("agnews-3", "agnews-3-score"), "jigsaw": ("jigsaw-bl-3", "jigsaw-bl-3-score"),
}  # fmt: skip
TITLES = {"sst2": "SST-2", "agnews": "AG News", "jigsaw": "Jigsaw, toxic or not"}


# access, the paper's row, and which of our scores stands beside it
ACCESS_ROWS = [
    (access, row, way) for access in ("rule", "score") for row, way in (("average", "average"), ("worst", "alone"))
]


class Scores(NamedTuple):
    """A run's scores of each example: [dimensions, degrees, examples], and the weights of the degrees in final scores."""

    names: list[str]
    arrays: dict[str, Floats]
    weight: Floats
    draws: Any

    @classmethod
    def read(cls, folder: Path) -> Scores:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        arrays = dict(np.load(folder / "scores.npz"))
        arrays["alone"] = np.minimum(arrays["alone"], arrays["clean"])  # the clean text counts, as in `worst_alone`
        weight = degree_weights(summary["protocol"]["degrees"], published=True)
        return cls(list(summary["dimensions"]), arrays, weight, resamples(arrays["clean"].size, 0))

    def finals(self, dimension: str, way: str) -> Floats:
        """The final score of each example, as published; nan where a degree has no answer."""
        return self.weight @ self.arrays[WAYS[way]][self.names.index(dimension)]


def mean_with_interval(values: Floats, draws: Any) -> list[float]:
    """The mean over examples in %, and its 95 % interval by resampled examples."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0) @ draws.T, known.astype(np.float64) @ draws.T
    low, high = percentile_interval(total / np.maximum(count, 1e-9))
    return [round(100 * float(each), 3) for each in (values[known].mean(), low, high)]


def read_run(folder: Path) -> dict[str, Any]:
    """Returns what the evidence keeps of a run."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    timings = json.loads((folder / "timings.json").read_text(encoding="utf-8"))
    scores = Scores.read(folder)
    clean = [
        round(100 * each, 3) for each in (summary["clean"]["score"]["value"], *summary["clean"]["score"]["interval"])
    ]
    dimensions = {}
    for at, (name, content) in enumerate(summary["dimensions"].items()):
        cells = content["degrees"]
        dimensions[name] = {
            "spec": content["spec"], "base": content["base"], "access": content["setting"], "clean": clean[0],
            **{way: [percent(scores.arrays[array][at, degree]) for degree in range(len(cells))] for way, array in WAYS.items()},
            "final": {way: mean_with_interval(scores.finals(name, way), scores.draws) for way in WAYS},
            "unchanged": [round(100 * cell["unchanged_examples"] / max(cell["examples"], 1), 1) for cell in cells],
            "reached": [cell["reached"] for cell in cells],
            "cases_each": [cell["cases_each"] for cell in cells],
        }  # fmt: skip
    return {
        "signature": summary["signature"], "data": summary["data"]["name"], "degrees": summary["protocol"]["degrees"],
        "examples": summary["clean"]["examples"], "cases": summary["protocol"]["cases"],
        "cases_made": summary["queries"]["cases"], "seconds": round(sum(each["seconds"] for each in timings), 1),
        "clean": clean,
        "victim": json.loads((folder / "metrics.json").read_text(encoding="utf-8")),
        "dimensions": dimensions,
    }  # fmt: skip


def percent(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return round(100 * float(known.mean()), 3) if known.size else None


# ---- paired differences ----


def pairs(summaries: Path) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Returns differences of final scores on the same examples, in points, with intervals: {comparison: {column: {row: ...}}}.

    larger-TASK: the larger model less the smaller one. score-rule-TASK: access to scores less none. gradient-score: access to
    gradients less that to scores.
    """
    known = {
        folder.name: Scores.read(folder)
        for folder in sorted(summaries.iterdir())
        if (folder / "summary.json").is_file()
    }
    found: dict[str, dict[str, dict[str, list[float]]]] = {}

    def add(what: str, column: str, row: str, one: tuple[Scores, str], other: tuple[Scores, str], way: str) -> None:
        known_already = row in found.get(what, {}).get(column, {})  # from a run before, which has more examples
        same = one[0].draws.shape == other[0].draws.shape
        if not known_already and same and one[1] in one[0].names and other[1] in other[0].names:
            difference = one[0].finals(one[1], way) - other[0].finals(other[1], way)
            found.setdefault(what, {}).setdefault(column, {})[row] = mean_with_interval(difference, one[0].draws)

    for task in LARGER:
        for big, small in zip(LARGER[task], SMALLER[task], strict=True):
            for column in COLUMNS:
                for way in WAYS:
                    if big in known:
                        run = known[big]
                        add(f"score-rule-{task}", column, way, (run, f"{column}@score"), (run, column), way)
                    for access in ("rule", "score") if big in known and small in known else ():
                        name = column if access == "rule" else f"{column}@score"
                        add(f"larger-{task}", column, f"{access}-{way}", (known[big], name), (known[small], name), way)
    if run := known.get("sst2-gradient"):  # type: ignore[assignment]
        for column in COLUMNS:
            for way in WAYS:
                add("gradient-score", column, way, (run, f"{column}@gradient"), (run, f"{column}@score"), way)
    return found


def ranks(summaries: Path, paper: Mapping[str, Any]) -> dict[str, dict[str, list[float]]]:
    """Returns Spearman's correlation of the columns' final scores, the paper's and ours, with its interval and how often chance
    does as well: by task and row.

    The interval resamples our examples; the paper's scores are taken as they are.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for task, runs in LARGER.items():
        known = [Scores.read(summaries / name) for name in runs if (summaries / name / "summary.json").is_file()]
        for access, row, way in ACCESS_ROWS if known else ():
            theirs, ours = [], []
            for column in COLUMNS:
                name, cells = column if access == "rule" else f"{column}@score", paper["reports"][task]["base"][column]
                run = next((run for run in known if name in run.names), None)  # the first has the most examples
                if run and cells[f"{access}-{row}"]:
                    values = run.finals(name, way)
                    there = np.isfinite(values)
                    total, count = np.where(there, values, 0) @ run.draws.T, there.astype(np.float64) @ run.draws.T
                    ours.append(np.append(values[there].mean(), total / np.maximum(count, 1e-9)))
                    theirs.append(cells[f"{access}-{row}"][-1])
            each = [spearman(np.array(theirs), sample) for sample in np.array(ours).T]
            found.setdefault(task, {})[f"{access}-{row}"] = [
                round(float(x), 3)
                for x in (
                    each[0],
                    *percentile_interval(np.array(each[1:])),
                    by_chance(theirs, [one[0] for one in ours]),
                )
            ]
    return found


def by_chance(one: Sequence[float], other: Sequence[float]) -> float:
    """Returns how often columns in a random order agree as well as these, by Spearman's correlation."""
    rng, rho = np.random.default_rng(0), spearman(np.array(one), np.array(other))
    drawn = [spearman(np.array(one), rng.permutation(other)) for _ in range(2000)]
    return (1 + sum(each >= rho for each in drawn)) / (1 + len(drawn))


# ---- tables ----

Lines = list[str]


def number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Lines:
    """Returns the lines of a Markdown table whose first `left` columns are text."""
    marks = ["---"] * left + ["---:"] * (len(header) - left)
    return [f"| {' | '.join(cells)} |" for cells in (header, marks, *rows)]


def column_rows(name: str, column: Mapping[str, Any], paper: Mapping[str, Any] | None, label: str = "") -> Lines:
    """Returns the lines of one column: the paper's row above ours, for both accesses, with what was changed."""
    lines = []
    for access, found in column.items():
        for row, ways in (("average", ("average",)), ("worst", ("alone", "worst"))):
            theirs = (paper or {}).get(f"{access}-{row}")
            if theirs:
                lines.append([f"paper: {access}, {row}", *map(number, theirs[:-1]), f"{theirs[-1]:.1f}"])
            for way in ways:
                said = {"average": "average", "alone": "worst at the degree", "worst": "worst up to it"}[way]
                final, low, high = found["final"][way]
                cells = [found["clean"], *found[way]]
                lines.append(
                    [f"ours{label}: {access}, {said}", *map(number, cells), f"{final:.1f} [{low:.1f}, {high:.1f}]"]
                )
        lines.append([f"{access}: texts that did not change, %", "", *map(number, found["unchanged"]), ""])
        lines.append([f"{access}: degree reached", "", *(number(each, 2) for each in found["reached"]), ""])
    return [f"| {name if not at else ''} | {' | '.join(cells)} |" for at, cells in enumerate(lines)]


def task_table(task: str, evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Lines:
    """Returns the table of a task: the paper's RoBERTa-base beside our larger model, column by column."""
    runs = [evidence["runs"][name] for name in LARGER[task] if name in evidence["runs"]]
    if not runs:
        return ["Not run yet."]
    degrees = [f"{degree:g}" for degree in runs[0]["degrees"]]
    lines = table(["column", "row", "0", *degrees, "final score"], [], left=2)
    for column in COLUMNS:
        both = {
            access: found
            for access, name in (("rule", column), ("score", f"{column}@score"))
            if (found := dimension(evidence, task, name))
        }
        lines += column_rows(column, both, paper["reports"][task]["base"][column])
    sizes = "; ".join(
        f"{name}: {run['examples']} examples x {run['cases']} cases, {run['cases_made']:,} in all, {run['seconds']:.0f} s"
        for name in LARGER[task]
        if (run := evidence["runs"].get(name))
    )
    return [*fill(f"Our runs, of which a column is in the first that has it: {sizes}.", 100).split("\n"), "", *lines]


def victims_table(evidence: Mapping[str, Any]) -> Lines:
    rows, seen = [], set()
    for task in LARGER:
        for name in (*LARGER[task], *SMALLER[task]):
            run = evidence["runs"].get(name)
            victim = name.removesuffix("-slow").removesuffix("-score")
            if run is None or victim in seen:
                continue
            seen.add(victim)
            about = run["victim"]
            parts = [about.get(part, {}) for part in ("dev", "test")]
            scores = [number(part.get("accuracy", part.get("acc")), 3) for part in parts]
            more = [number(parts[1].get(name), 3) for name in ("auc", "f1")]
            rows.append([victim, TITLES[task], str(about.get("layers", 6)), *scores, *more])
    header = ["victim", "data", "layers", "accuracy, dev", "accuracy, test", "macro AUC, test", "macro F1, test"]
    return table(header, rows, left=2)


def sizes_table(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Lines:
    """Returns the table of the larger model's lead over the smaller one: the paper's, and ours with its interval."""
    rows = []
    for task in LARGER:
        leads = evidence["pairs"].get(f"larger-{task}", {})
        reports = paper["reports"][task]
        for column in COLUMNS if leads else ():
            cells = [TITLES[task], column]
            for row in ("rule-average", "rule-worst", "score-average", "score-worst"):
                base, large = (reports[size][column][row] for size in ("base", "large"))
                theirs = f"{large[-1] - base[-1]:+.1f}" if base else "-"
                ours = leads.get(column, {}).get(row.replace("worst", "alone"))
                cells += [theirs, f"{ours[0]:+.1f} [{ours[1]:+.1f}, {ours[2]:+.1f}]" if ours else "-"]
            rows.append(cells)
    header = ["data", "column"]
    for row in ("rule, average", "rule, worst", "score, average", "score, worst"):
        header += [f"paper: {row}", "ours"]
    return table(header, rows, left=2) if rows else ["Not run yet."]


def gradient_table(evidence: Mapping[str, Any]) -> Lines:
    run, leads = evidence["runs"].get("sst2-gradient"), evidence["pairs"].get("gradient-score", {})
    if not run:
        return ["Not run yet."]
    rows = []
    for column, ways in leads.items():
        cells = [column]
        for way in ("average", "alone"):
            cells += [
                number(run["dimensions"][f"{column}@{access}"]["final"][way][0]) for access in ("score", "gradient")
            ]
            cells.append("{:+.1f} [{:+.1f}, {:+.1f}]".format(*ways[way]))
        rows.append(cells)
    header = [
        "column",
        "score, average",
        "gradient, average",
        "gradient - score",
        "score, worst",
        "gradient, worst",
        "difference",
    ]
    return table(header, rows)


VARIANTS = {
    "synonym": ("synonym", "synonym-wordnet", "synonym-loose"), "contextual": ("contextual", "contextual-loose"),
}  # fmt: skip


def muted_table(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Lines:
    """Returns rows of the columns that harm little, with what the paper takes and our defaults do not."""
    runs = evidence["runs"]
    header = ["column", "row", "0", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "final score"]
    lines = table(header, [], left=2)
    for column, names in VARIANTS.items():
        theirs: Mapping[str, Any] | None = paper["reports"]["sst2"]["base"][column]
        for run, variants in (("sst2-variants", names), ("sst2-published", (column,))):
            for name in variants if run in runs else ():
                found = runs[run]["dimensions"]
                both = {
                    access: found[each]
                    for access, each in (("rule", name), ("score", f"{name}@score"))
                    if each in found
                }
                label = f" ({'as published' if run == 'sst2-published' else name})"
                lines += column_rows(column, both, theirs, label) if both else []
                theirs = None
    return lines if len(lines) > 2 else ["Not run yet."]


def published_table(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Lines:
    """Returns final scores by our defaults and as published (rounding up, the paper's presets) beside the paper's."""
    run = evidence["runs"].get("sst2-published")
    if not run:
        return ["Not run yet."]
    rows = []
    for column in COLUMNS:
        cells = [column]
        for access, row, way in ACCESS_ROWS:
            theirs = paper["reports"]["sst2"]["base"][column][f"{access}-{row}"]
            name = column if access == "rule" else f"{column}@{access}"
            usual = dimension(evidence, "sst2", name)
            here = run["dimensions"].get(name)
            cells += [
                number(theirs[-1]) if theirs else "-",
                *(number(each["final"][way][0]) if each else "-" for each in (usual, here)),
            ]
        rows.append(cells)
    header = ["column"]
    for access, row, _ in ACCESS_ROWS:
        header += [f"paper: {access}, {row}", "ours", "as published"]
    return table(header, rows)


def findings_table(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Lines:
    rows = [[each.claim, each.paper, each.here, each.verdict] for each in findings(evidence, paper)]
    return table(["the paper says", "in its figures", "here", "holds here"], rows, left=4)


def earlier_table(name: str) -> Lines:
    """Returns the table of an earlier run from its summary: final scores of the columns with intervals."""
    content = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    degrees = [f"{degree:g}" for degree in content["protocol"]["degrees"]]
    rows, clean = [], 100 * content["clean"]["score"]["value"]
    for each in content["dimensions"].values():
        for way in ("average", "worst"):
            cells = [100 * cell[way]["value"] for cell in each["degrees"]]
            row = f"{each['setting']}, {way}"
            rows.append([each["base"], row, *map(number, [clean, *cells, 100 * each[way]["value"]])])
    rows.sort(key=lambda row: list(COLUMNS).index(row[0]))
    return table(["column", "row", "0", *degrees, "final score"], rows, left=2)


# ---- the page ----

MARK = "<!-- {name}: made by benchmarks/papers/robtest.py page -->\n{content}\n<!-- end -->"


def put(page: str, name: str, lines: Lines) -> str:
    """Returns the page with the lines between the marks of a name. Raises ValueError if the page lacks the marks."""
    pattern = re.compile(rf"<!-- {re.escape(name)}: .*? -->.*?<!-- end -->", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"expected the mark <!-- {name}: ... --> in the page, got none")
    content = MARK.format(name=name, content="\n".join(lines))
    return pattern.sub(lambda _: content, page, count=1)


def write_page(summaries: Path) -> None:
    """Refreshes the evidence from the runs that are there, and rewrites the page's tables from it."""
    paper = json.loads(FIGURES.read_text(encoding="utf-8"))
    evidence: dict[str, Any] = {"runs": {}, "pairs": {}, "ranks": {}}
    if EVIDENCE.is_file():
        evidence = json.loads(EVIDENCE.read_text(encoding="utf-8"))
    if summaries.is_dir():
        for folder in sorted(summaries.iterdir()):
            if (folder / "summary.json").is_file():
                evidence["runs"][folder.name] = read_run(folder)
        evidence["pairs"].update(pairs(summaries))
        evidence["ranks"].update(ranks(summaries, paper))
    text = json.dumps(evidence, indent=1, ensure_ascii=False)
    text = re.sub(r"\[\s+([^\[\]{}\"]+?)\s+\]", lambda match: "[" + re.sub(r",\s+", ", ", match[1]) + "]", text)
    EVIDENCE.write_text(text + "\n", encoding="utf-8")
    sections: dict[str, Callable[[], Lines]] = {
        "findings": lambda: findings_table(evidence, paper),
        "victims": lambda: victims_table(evidence),
        **{task: (lambda task=task: task_table(task, evidence, paper)) for task in LARGER},  # type: ignore[misc]
        "muted": lambda: muted_table(evidence, paper),
        "published": lambda: published_table(evidence, paper),
        "sizes": lambda: sizes_table(evidence, paper),
        "gradients": lambda: gradient_table(evidence),
        **{f"earlier-{name}": (lambda name=name: earlier_table(name)) for name in ("sst2", "davidson")},  # type: ignore[misc]
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in sections.items():
        page = put(page, name, lines())
    PAGE.write_text(page, encoding="utf-8")
