"""Rows made of data in memory, given back in the type of the data: a DataFrame, a Hugging Face data set, a list, a dict of lists.

What was not made anew comes from the data itself, so that dtypes, features, categories and missing values are what they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .dataset import Dataset
from .formats.base import Record
from .formats.streams import BadInput
from .held import is_frame, like


@dataclass(frozen=True, eq=False)
class Made:
    """Rows made of data: the records, the number of the row of the data that each comes from, and whose texts are new.

    columns: those that hold texts. extra: those that were added, by name, with the type of their values.
    """

    rows: Sequence[Record]
    sources: Sequence[int]
    columns: Sequence[str]
    extra: Mapping[str, type]

    def roots(self, known: Iterable[str]) -> list[str]:
        """Returns the columns of the data that hold the texts: of a path, such as `turns.0.text`, the first part."""
        names = set(known)
        return list(dict.fromkeys(name if name in names else name.partition(".")[0] for name in self.columns))

    def values(self, column: str) -> list[Any]:
        return [row.get(column) for row in self.rows]


def is_dataset(data: Any) -> bool:
    """Whether data is a Hugging Face data set (of one split)."""
    return hasattr(data, "features") and hasattr(data, "column_names")


def is_splits(data: Any) -> bool:
    """Whether data is a Hugging Face data set of several splits, by their names."""
    return isinstance(data, Mapping) and bool(data) and all(map(is_dataset, data.values()))


def split_name(data: Mapping[str, Any], wanted: str | None) -> str:
    """Returns the split to train on: by default train. Raises BadInput if there is none of that name."""
    name = wanted or "train"
    if name not in data:
        raise BadInput(f"expected one of the splits {', '.join(data)}, got {name!r}")
    return name


def is_polars(data: Any) -> bool:
    """Whether data is a DataFrame of Polars."""
    return type(data).__module__.partition(".")[0] == "polars" and hasattr(data, "to_dicts")


def give_back(data: Any, made: Made) -> Any:
    """Returns rows made of data in its type; records, as dicts, of what is no container in memory, such as the path of a file.

    The index of a DataFrame of pandas is repeated: a row made of another one has its label, as after `DataFrame.explode`.
    """
    if is_frame(data):
        return _pandas(data, made)
    if is_polars(data):
        return _polars(data, made)
    if is_dataset(data):
        return _hugging_face(data, made)
    if isinstance(data, Dataset):
        return _dataset(data, made) if not made.extra else list(made.rows)
    if isinstance(data, Mapping):
        names = [*data, *made.extra]
        return {name: made.values(name) for name in names}
    first = data[0] if isinstance(data, list | tuple) else None
    if isinstance(first, list | tuple) and not made.extra:
        rows = (row.values() for row in made.rows)
        return [first._make(row) if hasattr(first, "_make") else type(first)(row) for row in rows]
    return list(made.rows)


def _pandas(data: Any, made: Made) -> Any:
    out = data.iloc[list(made.sources)].copy()
    for column in made.roots(data.columns):
        texts = out[column]
        new = [None if _is_same(value, old) else value for value, old in zip(made.values(column), texts, strict=True)]
        out[column] = like(texts, new)
    for column, kind in made.extra.items():
        out[column] = made.values(column)
        if kind is float:
            out[column] = out[column].astype(kind)
    return out


def _is_same(value: Any, old: Any) -> bool:
    """Whether a cell is what it was; a cell may be an array, a list or a missing value."""
    return value is None or (type(value) is type(old) and bool(value == old))


def _polars(data: Any, made: Made) -> Any:
    out = data[list(made.sources)]
    series = type(data.to_series(0))
    for column in made.roots(data.columns):
        kind = data.schema[column]
        text = type(kind).__name__ in ("Categorical", "Enum")  # new texts may be no categories of the old
        out = out.with_columns(series(column, made.values(column), None if text else kind))
    return out.with_columns([series(column, made.values(column), kind) for column, kind in made.extra.items()])


def _hugging_face(data: Any, made: Made) -> Any:
    """With the features, the split and the format of the data. A stream becomes one of rows in memory."""
    import datasets
    import pyarrow

    extra = {name: datasets.Value("float64" if kind is float else "string") for name, kind in made.extra.items()}
    columns = made.roots(data.column_names or ())
    # a stream, or texts made by a transform
    if not hasattr(data, "select") or not set(columns) <= set(data.column_names):
        known = datasets.Features({**data.features, **extra}) if data.features and not hasattr(data, "select") else None
        new = datasets.Dataset.from_list(list(made.rows), features=known)
        return new if hasattr(data, "select") else new.to_iterable_dataset()
    table = data.with_format("arrow")[list(made.sources)]
    for column in columns:
        at = table.schema.get_field_index(column)
        table = table.set_column(at, column, pyarrow.array(made.values(column), table.schema.field(at).type))
    for column, feature in extra.items():
        table = table.append_column(column, pyarrow.array(made.values(column), feature.pa_type))
    info = data.info.copy()
    info.features = datasets.Features({**data.features, **extra})
    table = table.replace_schema_metadata(None)  # features are those of `info`
    out = datasets.Dataset(datasets.table.InMemoryTable(table), info=info, split=data.split)
    shown = {**data.format}
    if shown["columns"] == data.column_names:
        shown["columns"] = None  # all, the added ones too
    return out.with_format(shown["type"], shown["columns"], shown["output_all_columns"], **shown["format_kwargs"])


def _dataset(data: Dataset, made: Made) -> Dataset:
    """A row made of another one has its target, and its id with a number behind it."""
    seen: dict[int, int] = {}
    ids = []
    for at, row in zip(made.sources, made.rows, strict=True):
        clean = all(row[name] == column[at] for name, column in zip(data.fields, data.columns, strict=True))
        seen[at] = seen.get(at, 0) + (not clean)
        ids.append(data.ids[at] if clean and not seen[at] else f"{data.ids[at]}~{seen[at]}")
    return replace(
        data,
        columns=tuple(tuple(_text(row[name]) for row in made.rows) for name in data.fields),
        targets=tuple(data.targets[at] for at in made.sources),
        ids=tuple(ids),
    )


def _text(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
