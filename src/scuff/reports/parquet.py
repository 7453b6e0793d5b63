"""A run as one Parquet table: a row per case of an evaluation, per example of an attack."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..data.formats.parquet import pyarrow
from ..data.formats.streams import replacing
from ..evaluation.setup import EvaluationSetup
from ..runs.display import Shown, in_words, said, wanted
from ..runs.folder import Folder
from ..runs.pack import unpack_answers, unpack_texts
from ..runs.run import ATTACK, kind_of

OURS = (
    "id",
    "dimension",
    "setting",
    "degree",
    "draw",
    "reached",
    "distance",
    "target",
    "answer",
    "score",
    "problem",
    "scores",
)


def write_parquet(run_folder: str, path: str) -> int:
    """All that was tried; gives the number of rows."""
    return (_write_examples if kind_of(run_folder) == ATTACK else _write_cases)(run_folder, path)


def _write_cases(run_folder: str, path: str) -> int:
    """Example, dimension, degree, draw, texts, score, answer and problem of every case."""
    pa, pq = pyarrow()
    folder = Folder(run_folder)
    work = EvaluationSetup.read(folder)
    protocol, rows, writer = work.protocol, 0, None
    number = pa.float64()
    kinds = {"draw": pa.int32(), "reached": number, "distance": number, "score": pa.float32(), "degree": number,
             "scores": pa.list_(pa.float32())}  # fmt: skip
    names = [dimension.name for dimension in protocol.parsed]
    parts = folder.parts()
    scored = any("scores" in folder.read_part(name, ["scores"]) for name in parts)
    with replacing(path) as out:
        for name in parts:
            part = folder.read_part(name)
            cases, count = Shown(part, work.data, work.truth), part["example"].size
            shown = [cases.texts(at) for at in range(count)]
            answers = unpack_answers(part)
            reasons = ["", *unpack_texts("reason", part)]
            clean = part["dimension"] < 0
            columns: dict[str, Any] = {
                "id": [work.data.ids[at] for at in part["example"].tolist()],
                "dimension": ["clean" if c else names[d] for c, d in zip(clean, part["dimension"].tolist(), strict=True)],
                "setting": ["clean" if c else "rule" for c in clean],
                "degree": [0.0 if c else protocol.degrees[d] for c, d in zip(clean, part["degree"].tolist(), strict=True)],
                "draw": part["draw"], "reached": part["reached"], "distance": part["distance"],
                **{_free(field): [_cell(texts[at]) for texts in shown] for at, field in enumerate(work.data.fields)},
                "target": [_cell(wanted(work.truth, at)) for at in part["example"].tolist()],
                "answer": [_cell(said(answer, work.truth)) for answer in answers],
                "score": [None if np.isnan(score) else score for score in part["score"].tolist()],
                "problem": [reasons[number] for number in part["problem"].tolist()],
                **({"scores": part["scores"].tolist() if "scores" in part else [None] * count} if scored else {}),
            }  # fmt: skip
            table = pa.table({key: pa.array(value, kinds.get(key, pa.string())) for key, value in columns.items()})
            writer = writer or pq.ParquetWriter(out, table.schema)
            writer.write_table(table)
            rows += count
        if writer:
            writer.close()
    return rows


def _write_examples(run_folder: str, path: str) -> int:
    """What results.jsonl tells of every example of an attack; what the search did not settle on is null."""
    pa, pq = pyarrow()
    folder = Folder(run_folder)
    fields = folder.read_json("run.json")["data"]["fields"]
    lines = list(folder.read_lines("results.jsonl"))
    tried = [line["adversarial"] or {} for line in lines]
    columns: dict[str, Any] = {
        "id": pa.array([line["id"] for line in lines], pa.string()),
        "status": [line["status"] for line in lines], "reason": [line["reason"] for line in lines],
        **{name: pa.array([line[name] for line in lines], pa.int32()) for name in ("queries", "reached")},
        "target": [_cell(line["target"]) for line in lines],
        "answer": [_cell(line["clean"]["answer"]) for line in lines],
        "adversarial_answer": [_cell(entry.get("answer")) for entry in tried],
        **{name: pa.array([entry.get(name) for entry in tried], pa.float64()) for name in ("margin", "changed", "similarity")},
        "valid": pa.array([entry.get("valid") for entry in tried], pa.bool_()),
    }  # fmt: skip
    for at, field in enumerate(fields):
        free = f"text_{field}" if field in columns else field
        columns[free] = [_cell(line["texts"][at]) for line in lines]
        columns[f"adversarial_{free}"] = [_cell(entry["texts"][at]) if entry else None for entry in tried]
    kept = {name: pa.array(value, pa.string()) if isinstance(value, list) else value for name, value in columns.items()}
    with replacing(path) as out:
        pq.write_table(pa.table(kept), out)
    return len(lines)


def _free(field: str) -> str:
    """A name for a column of texts that none of ours has."""
    return f"text_{field}" if field in OURS else field


def _cell(answer: Any) -> str | None:
    """A label or a text; label sets, tags and tokens as JSON lists, since they may hold blanks."""
    return json.dumps(answer, ensure_ascii=False) if isinstance(answer, list | tuple) else in_words(answer)
