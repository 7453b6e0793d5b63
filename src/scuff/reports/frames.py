"""Results as pandas DataFrames: scores by dimension or degree, cases, examples, differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.dataset import joined
from ..resources import MissingResource
from ..runs.display import in_words
from ..runs.folder import Folder
from ..runs.proof import Change, Proof
from ..runs.schema import Estimate, EvaluationSummary, Pair
from .examples import Found
from .formatting import alone
from .groups import degrees
from .parquet import case_columns, example_columns

Row = dict[str, Any]


def frame(rows: Any) -> Any:
    """Returns a DataFrame of rows or columns. Raises MissingResource if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise MissingResource("expected the package pandas for to_pandas, got none: pip install pandas") from None
    return pandas.DataFrame(rows)


def dimensions_frame(summary: EvaluationSummary) -> Any:
    """Returns a row per dimension: final scores with intervals, what is left of the clean score, the average at each degree."""
    left = {entry["dimension"]: entry["left"] for entry in summary["harm"]}
    rows = []
    for name, content in summary["dimensions"].items():
        row: Row = {"dimension": name, "access": content["setting"], "tag": content["tag"], **_pair(content)}
        row["left"] = left.get(name)
        row |= {f"{cell['degree']:g}": cell["average"]["value"] for cell in content["degrees"]}
        rows.append(row)
    names = ["dimension", "access", "tag", *(key for what in _SCORES for key in _ends(what)), "left"]
    return frame(rows)[[*names, *(f"{degree:g}" for degree in degrees(summary))]]


def degrees_frame(summary: EvaluationSummary) -> Any:
    """Returns a row per dimension and degree, with every number of the cell; the clean texts first, at degree 0."""
    clean = summary["clean"]
    first: Row = {
        "dimension": "clean",
        "degree": 0.0,
        **_estimate("average", clean["score"]),
        "cases": clean["examples"],
    }
    rows = [first]
    for name, content in summary["dimensions"].items():
        for cell in content["degrees"]:
            rows.append({
                "dimension": name, "access": content["setting"], "tag": content["tag"], "degree": cell["degree"],
                **_pair(cell), "broken": cell["success"]["rate"], "broken_of": cell["success"]["of"],
                "reached": cell["reached"], "edit_distance": cell["edit_distance"], "cases": cell["cases"],
                "unchanged_examples": cell["unchanged_examples"], "examples": cell["examples"],
            })  # fmt: skip
    return frame(rows)


_SCORES = ("average", "worst", "worst_alone")


def _ends(what: str) -> tuple[str, str, str]:
    return what, f"{what}_low", f"{what}_high"


def _pair(pair: Pair) -> Row:
    found = zip(_SCORES, (pair["average"], pair["worst"], alone(pair)), strict=True)
    return {key: value for what, entry in found for key, value in _estimate(what, entry).items()}


def _estimate(what: str, entry: Estimate) -> Row:
    return dict(zip(_ends(what), (entry["value"], *entry["interval"]), strict=True))


def cases_frame(folder: Folder) -> Any:
    """Returns a row per case of an evaluation, as the Parquet file has them."""
    parts = list(case_columns(folder))
    return frame({name: [value for part in parts for value in part[name]] for name in parts[0]} if parts else {})


def attack_frame(folder: Folder) -> Any:
    """Returns a row per example of an attack, as the Parquet file has them."""
    return frame(example_columns(folder))


def examples_frame(found: Found) -> Any:
    """Returns a row per example; a data set with several texts has a column for each, named as in the data."""
    examples, one = found.examples, len(found.fields) == 1
    columns: dict[str, list[Any]] = {"id": [each.id for each in examples]}
    if not examples or examples[0].dimension is not None:
        columns |= {"dimension": [each.dimension for each in examples], "degree": [each.degree for each in examples]}
    columns |= {
        "outcome": [each.outcome for each in examples], "target": [in_words(each.target) for each in examples],
        "answer": [in_words(each.answer) for each in examples], "new_answer": [in_words(each.new_answer) for each in examples],
    }  # fmt: skip
    for at, field in enumerate(found.fields):
        name, new = ("text", "changed") if one else (field, f"changed_{field}")
        columns[name] = [joined(each.texts[at]) for each in examples]
        columns[new] = [None if each.changed is None else joined(each.changed[at]) for each in examples]
    return frame(columns)


def changes_frame(proof: Proof) -> Any:
    """Returns a row per dimension of a hardening, then the means and the clean score: before, after, difference, interval."""
    found = proof["comparison"]
    rows = [
        {"dimension": name, "seen": each["seen"], **_change(each["average"])}
        for name, each in found["dimensions"].items()
    ]
    groups: Mapping[str, Any] = {
        "mean, seen": found["seen"],
        "mean, never seen": found["unseen"],
        "mean, all": found["all"],
    }
    rows += [{"dimension": name, "seen": None, **_change(group["average"])} for name, group in groups.items() if group]
    return frame([*rows, {"dimension": "clean", "seen": None, **_change(found["clean"])}])


def _change(change: Change) -> Row:
    low, high = change["interval"]
    return {
        "before": change["before"], "after": change["after"], "difference": change["difference"], "low": low, "high": high,
    }  # fmt: skip
