"""Any data as records, one dict per row: files, Hugging Face data sets, pandas, lists, the embedded data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from .columns import Columns
from .dataset import Dataset
from .formats.base import Lines, Record
from .formats.conll import Conllu, TokenColumns, split
from .formats.csv import Csv
from .formats.files import Input
from .formats.jsonl import JsonArray, Jsonl
from .formats.parquet import BATCH, open_parquet
from .formats.streams import BadInput, Source
from .tables import is_dataset, is_polars, is_splits, split_name
from .toy import TOY, is_toy, toy_dataset

HUB = "hf:"  # the prefix of Hugging Face data sets

SAVED = ("state.json", "dataset_dict.json")  # what a folder of a saved Hugging Face data set holds

UPOS, XPOS = 3, 4  # columns of CoNLL-U

Names = dict[str, tuple[str, ...]]  # by column, the names behind label numbers


def records_of_file(file: Input, texts: bool = False) -> list[Record]:
    """Returns all records of a file. Raises BadInput if there are none. texts: a text per line will do, too."""
    found = list(read_records(file, texts))
    if not found:
        raise BadInput(f"{file.path}: expected examples, got none")
    return found


def input_file(path: str, columns: Columns, content: bytes | None = None) -> Input:
    """Returns a file of labelled data, which the user has described."""
    return Input(
        path, columns.format, content=content, delimiter=columns.delimiter, no_header=columns.no_header,
        encoding=columns.encoding, labelled=True,
    )  # fmt: skip


def read_records(file: Input, texts: bool = False) -> Iterator[Record]:
    """Yields the records of a table or a token file. Raises BadInput for plain text, which has no labels, unless `texts` says
    that none are needed: then each line is one.
    """
    if file.kind == "whole" or (file.kind == "lines" and not texts):
        raise BadInput(
            f"{file.path}: expected labelled data (csv, tsv, jsonl, json, parquet, conllu, tokens), got plain text"
        )
    reader = file.open()
    with closing(reader.source) as source:
        if isinstance(reader, Lines):
            for chunk in reader.chunks():
                yield from ({"text": reader.values(line)[0]} for line in chunk)
        elif isinstance(reader, Csv):
            yield from _rows(reader)
        elif isinstance(reader, Jsonl):
            yield from _objects(reader)
        elif isinstance(reader, TokenColumns):
            yield from _sentences(reader)
        else:
            for batch in open_parquet(source).iter_batches(BATCH):
                yield from batch.to_pylist()


def _rows(reader: Csv) -> Iterator[Record]:
    source, rows = reader.source, reader.rows()
    names: list[str] = []
    if reader.headed:
        header = next(rows, None)
        if header is None or not header.fields:
            raise source.error(1, "expected a header, got nothing")
        names = header.fields
    if len(set(names)) < len(names):
        raise source.error(1, f"expected a name of its own for each column, got {', '.join(names)}")
    for row in rows:
        names = names or [str(number) for number in range(1, len(row.fields) + 1)]
        if len(row.fields) not in (0, len(names)):
            raise source.error(row.at, f"expected {len(names)} fields, got {len(row.fields)}")
        if row.fields:
            yield dict(zip(names, row.fields, strict=True))


def _objects(reader: Jsonl) -> Iterator[Record]:
    reader.columns = [""]  # so that none is guessed
    for chunk in reader.chunks():
        if isinstance(reader, JsonArray) and reader.bare:
            raise BadInput(f"{reader.source.name}: expected a JSON array of objects, got one of texts")
        yield from (record.fields for record in chunk if record.fields is not None)


def _sentences(reader: TokenColumns) -> Iterator[Record]:
    """Yields `tokens` with their `tags`; of CoNLL-U the universal tags, and the treebank's own as `xpos`."""
    source, kind = reader.source, "conllu" if isinstance(reader, Conllu) else "tokens"
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


def records_of_hub(name: str, split_name: str | None) -> tuple[list[Record], Names]:
    """Returns the records of a Hugging Face data set, by id or folder, and the names behind its label numbers.

    split_name: which split; default test, else validation, else the first. Raises BadInput if it cannot be loaded.
    """
    try:
        import datasets
    except ImportError:
        raise BadInput("expected datasets for Hugging Face data, got none: pip install 'scuff[datasets]'") from None
    folder = Path(name)
    try:
        saved = folder.is_dir() and any((folder / mark).exists() for mark in SAVED)
        found: Any = datasets.load_from_disk(name) if saved else datasets.load_dataset(name)
    except Exception as error:  # the errors of the library have no common class
        raise BadInput(f"{name}: expected a Hugging Face data set, got: {str(error).splitlines()[0][:200]}") from None
    if isinstance(found, dict):
        wanted = split_name or next((s for s in ("test", "validation", "dev") if s in found), next(iter(found)))
        if wanted not in found:
            raise BadInput(f"{name}: expected one of the splits {', '.join(found)}, got {wanted!r}")
        found = found[wanted]
    return records_of_object(found)


def records_of_object(data: Any, texts: bool = False) -> tuple[list[Record], Names]:
    """Returns the records of an object, and the names behind its label numbers if it has them.

    data: a DataFrame, a Hugging Face data set, a list of dicts or of tuples (text, label) or (first, second, label), a dict of
    lists.
    texts: a list of mere texts will do, too.
    """
    names: Names = {}
    if is_dataset(data):
        for column, feature in (data.features or {}).items():
            inner = getattr(feature, "feature", feature)
            if getattr(inner, "names", None):
                names[column] = tuple(inner.names)
        # without columns that are hidden, or tensors; what a user's function makes of rows stays
        shown = getattr(data, "format", None)
        plain = data.with_format(None) if shown and shown["type"] != "custom" else data
        return [_bare(dict(row)) for row in plain], names
    if is_polars(data):
        return data.to_dicts(), names
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # pandas
        known = data.astype(object).where(data.notna(), None)  # None for each of the missing values of pandas
        return [_bare(row) for row in known.to_dict("records")], names
    if isinstance(data, Mapping) and data:
        return _of_columns(data), names
    rows = list(data) if isinstance(data, Iterable) else []
    if rows and all(isinstance(row, dict) for row in rows):
        return [_bare(row) for row in rows], names
    if texts and rows and all(isinstance(row, str) for row in rows):
        return [{"text": row} for row in rows], names
    sizes = {len(row) if isinstance(row, Sequence) and not isinstance(row, str) else 0 for row in rows}
    if sizes not in ({2}, {3}):
        raise BadInput(
            "expected a file, a Hugging Face data set, a DataFrame, or a list of dicts or of tuples (text, label), got "
            + (f"a list of {type(rows[0]).__name__}" if rows else f"{'an empty ' * (data == [])}{type(data).__name__}")
        )
    columns = ("text", "label") if sizes == {2} else ("first", "second", "label")
    return [_bare(dict(zip(columns, row, strict=True))) for row in rows], names


def _of_columns(data: Mapping[str, Any]) -> list[Record]:
    """Returns the rows of a dict of columns. Raises BadInput if the columns are no lists of one length."""
    columns = {name: column.tolist() if hasattr(column, "tolist") else column for name, column in data.items()}
    wrong = next((name for name, column in columns.items() if not isinstance(column, list | tuple)), None)
    if wrong is not None:
        raise BadInput(f"expected a list for each column of a dict, got {type(columns[wrong]).__name__} for {wrong!r}")
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{size} of {name}" for name, size in sizes.items())
        raise BadInput(f"expected columns of one length in a dict of lists, got {said}")
    return [_bare(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def _bare(record: Record) -> Record:
    """Converts NumPy numbers, arrays and tensors to Python objects."""
    return {key: value.tolist() if hasattr(value, "tolist") else value for key, value in record.items()}


def are_files(names: Sequence[str]) -> bool:
    """Whether names are those of files, of folders with files or of patterns, not of other data, or of a pipe."""
    if len(names) > 1:
        return True
    name = Path(names[0])
    if (
        names[0] == "-"
        or names[0].startswith((TOY, HUB))
        or (name.exists() and not name.is_file() and not name.is_dir())
    ):
        return False
    return not any((name / mark).exists() for mark in SAVED)


def training_file(data: Any, columns: Columns) -> Input:
    """Returns data for training as an input file; what is not a file becomes JSON lines in memory.

    A pipe is read into memory, since augmentation reads its input twice.
    """
    if (path := _path(data)) is not None:
        is_pipe = path == "-" or (Path(path).exists() and not Path(path).is_file())
        return input_file(path, columns, Source(path).stream.read() if is_pipe else None)
    name, records = training_records(data, columns)
    lines = [json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in records]
    return Input(name, "jsonl", content="".join(lines).encode("utf-8", "surrogatepass"))


def training_records(data: Any, columns: Columns) -> tuple[str, list[Record]]:
    """Returns a name for the data and its records; of several splits, train by default."""
    name = str(data) if isinstance(data, str | Path) else type(data).__name__
    if _path(data) is not None:
        return name, list(read_records(training_file(data, columns)))
    if is_toy(data):
        data = toy_dataset(name, columns.split or "train")
    if is_splits(data):
        data = data[split_name(data, columns.split)]
    if isinstance(data, Dataset):
        fields = dict(zip(data.fields, data.columns, strict=True)) | {
            "target" if data.task == "text" else "label": data.targets
        }
        return data.name, [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]
    if isinstance(data, str | Path):
        return name, records_of_hub(name.removeprefix(HUB), columns.split or "train")[0]
    return name, records_of_object(data)[0]


def _path(data: Any) -> str | None:
    """Returns the path of a file, None for other data."""
    named = isinstance(data, str | Path) and not str(data).startswith((TOY, HUB)) and not Path(data).is_dir()
    return str(data) if named else None
