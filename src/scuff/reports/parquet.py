"""Writes a run as one Parquet table: a row per case of an evaluation, per example of an attack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from ..data.formats.parquet import pyarrow
from ..data.formats.streams import replacing
from ..runs.display import Shown, in_words, said, wanted
from ..runs.folder import Arrays, Folder
from ..runs.inputs import saved_data
from ..runs.pack import unpack_texts
from ..runs.schema import Answer, Target
from ..runs.settings import Settings

# the columns of an evaluation's table, beside those of texts
COLUMNS = (
    "id", "dimension", "setting", "degree", "draw", "reached", "distance", "target", "answer", "score", "problem", "scores",
)  # fmt: skip


# the columns that only attacks on texts have, and their keys in results.jsonl
HALVES: dict[str, Literal["source", "before", "after", "decrease", "success"]] = {
    "source_likeness": "source", "score_before": "before", "score_after": "after", "relative_decrease": "decrease",
    "tradeoff": "success",
}  # fmt: skip


def write_parquet(run_folder: str, path: str) -> int:
    """Writes all trials of a finished run. Returns the number of rows."""
    folder = Folder(run_folder)
    return _write_examples(folder, path) if "kind" in folder.run()["key"] else _write_cases(folder, path)


def _write_cases(folder: Folder, path: str) -> int:
    """Writes a row per case, with its texts, answer and score, part by part. Returns the number of rows."""
    pa, pq = pyarrow()
    rows, writer = 0, None
    number = pa.float64()
    kinds = {"draw": pa.int32(), "reached": number, "distance": number, "score": pa.float32(), "degree": number,
             "scores": pa.list_(pa.float32())}  # fmt: skip
    with replacing(path) as out:
        for columns in case_columns(folder):
            table = pa.table({key: pa.array(value, kinds.get(key, pa.string())) for key, value in columns.items()})
            writer = writer or pq.ParquetWriter(out, table.schema)
            writer.write_table(table)
            rows += table.num_rows
        if writer:
            writer.close()
    return rows


def case_columns(folder: Folder) -> Iterator[dict[str, Any]]:
    """Yields the columns of each part of an evaluation's trials, by name: a row per case."""
    cases = _Cases(folder)
    for name in folder.parts():
        yield cases.columns(folder.read_part(name))


class _Cases:
    """Turns parts of an evaluation's trials into columns. Holds what they share: examples, names of dimensions, degrees."""

    def __init__(self, folder: Folder) -> None:
        run, summary = folder.run(), folder.evaluation_summary()
        self.data, self.truth = saved_data(folder, run, Settings(map=run["key"]["map"], none=run["key"]["none"]))
        self.dimensions, self.degrees = list(summary["dimensions"]), summary["protocol"]["degrees"]
        self.accesses = [content["setting"] for content in summary["dimensions"].values()]
        self.scored = any("scores" in folder.read_part(name, ["scores"]) for name in folder.parts())

    def columns(self, part: Arrays) -> dict[str, Any]:
        """Returns the columns of a part's table, by name."""
        cases, count = Shown(part, self.data, self.truth), part["example"].size
        texts = [cases.texts(at) for at in range(count)]
        reasons = ["", *unpack_texts("reason", part)]
        examples, dimensions, degrees = (part[name].tolist() for name in ("example", "dimension", "degree"))
        clean = part["dimension"] < 0
        return {
            "id": [self.data.ids[at] for at in examples],
            "dimension": ["clean" if c else self.dimensions[d] for c, d in zip(clean, dimensions, strict=True)],
            "setting": ["clean" if c else self.accesses[d] for c, d in zip(clean, dimensions, strict=True)],
            "degree": [0.0 if c else self.degrees[d] for c, d in zip(clean, degrees, strict=True)],
            "draw": part["draw"], "reached": part["reached"], "distance": part["distance"],
            **{
                _free(field, COLUMNS): [_cell(columns[at]) for columns in texts]
                for at, field in enumerate(self.data.fields)
            },
            "target": [_cell(wanted(self.truth, at)) for at in examples],
            "answer": [_cell(said(answer, self.truth)) for answer in cases.answers],
            "score": [None if np.isnan(score) else score for score in part["score"].tolist()],
            "problem": [reasons[number] for number in part["problem"].tolist()],
            **({"scores": part["scores"].tolist() if "scores" in part else [None] * count} if self.scored else {}),
        }  # fmt: skip


def _write_examples(folder: Folder, path: str) -> int:
    """Writes a row per line of results.jsonl. Returns the number of rows."""
    pa, pq = pyarrow()
    columns = example_columns(folder)
    number = pa.float64()
    kinds = {"queries": pa.int32(), "reached": pa.int32(), "margin": number, "changed": number, "similarity": number,
             "valid": pa.bool_(), "found": pa.bool_(), **dict.fromkeys(HALVES, number)}  # fmt: skip
    with replacing(path) as out:
        pq.write_table(
            pa.table({key: pa.array(value, kinds.get(key, pa.string())) for key, value in columns.items()}), out
        )
    return len(columns["id"])


def example_columns(folder: Folder) -> dict[str, list[Any]]:
    """Returns the columns of an attack's results, by name: a row per example, with None if the search ended without a text."""
    lines = list(folder.attack_results())
    found = [line["adversarial"] for line in lines]
    columns: dict[str, list[Any]] = {
        "id": [line["id"] for line in lines], "status": [line["status"] for line in lines],
        "reason": [line["reason"] for line in lines], "queries": [line["queries"] for line in lines],
        "reached": [line["reached"] for line in lines], "target": [_cell(line["target"]) for line in lines],
        "answer": [_cell(line["clean"]["answer"]) for line in lines],
        "adversarial_answer": [_cell(entry["answer"]) if entry else None for entry in found],
        "margin": [entry and entry["margin"] for entry in found], "changed": [entry and entry["changed"] for entry in found],
        "similarity": [entry and entry["similarity"] for entry in found], "valid": [entry and entry["valid"] for entry in found],
    }  # fmt: skip
    if any("tradeoff" in line for line in lines):
        halves = [line.get("tradeoff") for line in lines]
        columns |= {name: [entry and entry[half] for entry in halves] for name, half in HALVES.items()}
    if "shield" in folder.run():
        columns["mended"] = [entry.get("mended") if entry else None for entry in found]
    if any("found" in line for line in lines):
        columns["found"] = [line.get("found") for line in lines]
    for at, field in enumerate(folder.run()["data"]["fields"]):
        free = _free(field, {*columns, *HALVES, "found"})
        columns[free] = [_cell(line["texts"][at]) for line in lines]
        columns[f"adversarial_{free}"] = [_cell(entry["texts"][at]) if entry else None for entry in found]
    return columns


def _free(field: str, taken: Any) -> str:
    """Returns a name for a column of texts that no other column has."""
    return f"text_{field}" if field in taken else field


def _cell(content: Answer | Target) -> str | None:
    """Returns a label or a text; label sets, tags and tokens as JSON lists, since they may hold blanks."""
    return json.dumps(content, ensure_ascii=False) if isinstance(content, list | tuple) else in_words(content)
