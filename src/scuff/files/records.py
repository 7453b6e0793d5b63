"""Any data as records: files, Hugging Face data sets, pandas, lists. A record is a dict of what the source calls its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from .conll import Conllu, Tokens, split
from .csv import Csv, Tsv
from .job import Input
from .jsonl import Jsonl
from .parquet import pyarrow
from .streams import BadInput, Source

Record = dict[str, Any]
UPOS, XPOS = 3, 4  # columns of CoNLL-U


def records_of_file(path: str, format: str | None = None) -> list[Record]:
    """All records of a file, by its format."""
    found = list(read_records(Input(path, format)))
    if not found:
        raise BadInput(f"{path}: expected examples, got none")
    return found


def read_records(file: Input) -> Iterator[Record]:
    """The records of a file, one by one."""
    path, kind = file.path, file.kind
    if kind in ("lines", "whole"):
        raise BadInput(f"{path}: expected labelled data (csv, tsv, jsonl, parquet, conllu, tokens), got plain text")
    with closing(Source(path, file.content)) as source:
        readers = {"csv": _rows, "tsv": _rows, "jsonl": _objects, "parquet": _parquet}
        yield from readers.get(kind, _sentences)(source, kind)


def _rows(source: Source, kind: str) -> Iterator[Record]:
    rows = (Csv if kind == "csv" else Tsv)(source).rows()
    header = next(rows, None)
    if header is None or not header.fields:
        raise source.error(1, "expected a header, got nothing")
    if len(set(header.fields)) < len(header.fields):
        raise source.error(1, f"expected a name of its own for each column, got {', '.join(header.fields)}")
    for row in rows:
        if len(row.fields) not in (0, len(header.fields)):
            raise source.error(row.at, f"expected {len(header.fields)} fields, got {len(row.fields)}")
        if row.fields:
            yield dict(zip(header.fields, row.fields, strict=True))


def _objects(source: Source, kind: str) -> Iterator[Record]:
    for chunk in Jsonl(source, columns=("",)).chunks():
        yield from (record.fields for record in chunk if record.fields is not None)


def _parquet(source: Source, kind: str) -> Iterator[Record]:
    pa, pq = pyarrow()
    try:
        file = pq.ParquetFile(source.seekable())
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise BadInput(f"{source.name}: expected Parquet, got: {error}") from None
    for batch in file.iter_batches(1 << 14):
        yield from batch.to_pylist()


def _sentences(source: Source, kind: str) -> Iterator[Record]:
    """Token files: `tokens` with their `tags`; of CoNLL-U the universal tags, the treebank's as `xpos`."""
    reader = (Conllu if kind == "conllu" else Tokens)(source)
    for chunk in reader.chunks():
        for sentence in chunk:
            lines = [sentence.lines[i] for i in sentence.at]
            rows = [split(line) for line in lines]
            if kind == "conllu":
                rows = [line.rstrip("\r\n").split("\t") for line in sentence.lines if Conllu.is_row(line)]
                rows = [row for row in rows if row[0].isdigit()]
                if any(len(row) <= XPOS for row in rows):
                    raise BadInput(
                        f"{source.name}: expected CoNLL-U with tags, got a line of {min(map(len, rows))} columns"
                    )
                if rows:
                    tags, other = ([row[at] for row in rows] for at in (UPOS, XPOS))
                    yield {"tokens": [row[1] for row in rows], "tags": tags, "xpos": other}
            elif rows:
                lone = next((row[0] for row in rows if len(row) < 2), None)
                if lone is not None:
                    raise BadInput(f"{source.name}: expected a tag behind each token, got {lone[:40]!r} without one")
                yield {"tokens": [row[0] for row in rows], "tags": [row[-1] for row in rows]}


def records_of_hub(name: str, split_name: str | None) -> tuple[list[Record], dict[str, tuple[str, ...]]]:
    """A Hugging Face data set, by id or folder, and the names behind its label numbers."""
    try:
        import datasets
    except ImportError:
        raise BadInput("expected datasets for Hugging Face data, got none: pip install 'scuff[datasets]'") from None
    folder = Path(name)
    try:
        saved = folder.is_dir() and any((folder / mark).exists() for mark in ("state.json", "dataset_dict.json"))
        found: Any = datasets.load_from_disk(name) if saved else datasets.load_dataset(name)
    except Exception as error:  # whatever the library raises for data that it cannot read or reach
        raise BadInput(f"{name}: expected a Hugging Face data set, got: {str(error).splitlines()[0][:200]}") from None
    if isinstance(found, dict):
        wanted = split_name or next((s for s in ("test", "validation", "dev") if s in found), next(iter(found)))
        if wanted not in found:
            raise BadInput(f"{name}: expected one of the splits {', '.join(found)}, got {wanted!r}")
        found = found[wanted]
    return records_of_object(found)


def records_of_object(data: Any) -> tuple[list[Record], dict[str, tuple[str, ...]]]:
    """pandas, a Hugging Face data set, a list of dicts or of tuples (text, label) or (first, second, label)."""
    names: dict[str, tuple[str, ...]] = {}
    if hasattr(data, "features") and hasattr(data, "column_names"):  # a Hugging Face data set
        for column, feature in data.features.items():
            inner = getattr(feature, "feature", feature)
            if getattr(inner, "names", None):
                names[column] = tuple(inner.names)
        return [_bare(dict(row)) for row in data], names
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # pandas
        known = data.astype(object).where(data.notna(), None)  # None for all that pandas has for nothing
        return [_bare(row) for row in known.to_dict("records")], names
    rows = list(data) if isinstance(data, Iterable) else []
    if rows and all(isinstance(row, dict) for row in rows):
        return [_bare(row) for row in rows], names
    sizes = {len(row) if isinstance(row, Sequence) and not isinstance(row, str) else 0 for row in rows}
    if sizes not in ({2}, {3}):
        raise BadInput(
            "expected a file, a Hugging Face data set, a DataFrame, or a list of dicts or of tuples (text, label), got "
            + (f"a list of {type(rows[0]).__name__}" if rows else f"{type(data).__name__}")
        )
    columns = ("text", "label") if sizes == {2} else ("first", "second", "label")
    return [_bare(dict(zip(columns, row, strict=True))) for row in rows], names


def _bare(record: Record) -> Record:
    """NumPy's numbers and arrays (tensors, too) as Python's."""
    return {key: value.tolist() if hasattr(value, "tolist") else value for key, value in record.items()}
