"""A function for pipelines of others, `datasets` and Ray Data: new texts in one batch of rows, whatever the batch is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..perturbations.blocks import Work
from ..perturbations.languages import warn_of_language
from ..perturbations.plan import Plan
from ..specs import check_count
from .dataset import joined
from .formats.base import Value
from .held import is_frame, is_missing, like
from .perturbing import Texts

DRAW = "draw"  # the column that says which copy of a row another row is


@dataclass(frozen=True)
class Mapper:
    """Perturbs or mends texts in batches of rows; other columns stay. The result does not depend on where batches are cut.

    It takes and returns a dict of lists or arrays, a DataFrame of pandas, a table of pyarrow, a row as a dict, or a text. It
    travels to other processes, where it is built again from what it was made of.
    """

    make: Callable[[], Work[Any]]
    columns: tuple[str, ...]
    id: str | None = None  # the column that names each row; without it, equal texts are perturbed alike
    copies: int = 1
    skip_errors: bool = False

    def __post_init__(self) -> None:
        check_count(self.copies, 1, "mapper.copies")
        _ = self.work  # raises ValueError for a wrong one

    @cached_property
    def work(self) -> Work[Any]:
        return self.make()

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __call__(self, batch: Any) -> Any:
        """Returns a batch with new texts, in its type."""
        if isinstance(batch, str) or is_missing(batch):
            return self._alone({"": batch}, ("",))[""]
        if is_frame(batch):
            return self._frame(batch)
        if hasattr(batch, "column_names") and hasattr(batch, "set_column"):
            return self._table(batch)
        if not isinstance(batch, Mapping):
            raise TypeError(
                f"expected a batch as a dict, a DataFrame or a pyarrow table, a row or a text, got {type(batch).__name__}"
            )
        self._check(batch)
        if all(isinstance(batch[column], str) or is_missing(batch[column]) for column in self.columns):
            return self._alone(batch, self.columns)
        self._check_sizes(batch)
        return self._dict(batch)

    def _alone(self, row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
        if self.copies > 1:
            raise ValueError(f"expected batches of rows for {self.copies} copies, got one text or row")
        name = None if self.id is None or columns == ("",) else [row[self.id]]
        new = {column: self._new(column, [row[column]], name, 0)[0] for column in columns}
        return {**row, **{column: text for column, text in new.items() if text is not None}}

    def _dict(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        new = {
            column: self._copied(column, batch[column], batch[self.id] if self.id else None) for column in self.columns
        }
        size = len(batch[self.columns[0]])
        out = {}
        for name, values in batch.items():
            many = self._repeated(values)
            out[name] = _like(many, new[name]) if name in new else many
        return {**out, **({DRAW: np.tile(np.arange(self.copies), size)} if self.copies > 1 else {})}

    def _repeated(self, values: Any) -> Any:
        if self.copies == 1:
            return values
        if isinstance(values, np.ndarray):
            return np.repeat(values, self.copies, axis=0)
        return [value for value in values for _ in range(self.copies)]

    def _frame(self, frame: Any) -> Any:
        self._check(list(frame.columns))
        ids = frame[self.id] if self.id else None
        new = {column: self._copied(column, frame[column], ids) for column in self.columns}
        out = frame.iloc[np.repeat(np.arange(len(frame)), self.copies)].copy()
        if type(frame.index).__name__ == "RangeIndex":  # rows that had mere numbers have them again; names stay
            out = out.reset_index(drop=True)
        for column, texts in new.items():
            out[column] = like(out[column], texts).array
        if self.copies > 1:
            out[DRAW] = np.tile(np.arange(self.copies), len(frame))
        return out

    def _table(self, table: Any) -> Any:
        import pyarrow as pa

        self._check(table.column_names)
        ids = table[self.id].to_pylist() if self.id else None
        old = {column: table[column].to_pylist() for column in self.columns}
        if self.copies > 1:
            rows = table.num_rows
            table = table.take(np.repeat(np.arange(rows), self.copies))
            table = table.append_column(DRAW, pa.array(np.tile(np.arange(self.copies), rows), pa.int32()))
        for column, values in old.items():
            at = table.column_names.index(column)
            field = table.schema.field(at)
            table = table.set_column(at, field, pa.array(self._copied(column, values, ids), field.type))
        return table

    def _check(self, names: Any) -> None:
        held = list(names)
        for column in (*self.columns, *([self.id] if self.id else [])):
            if held.count(column) != 1:
                found = "it twice" if column in held else ", ".join(map(str, held))
                raise ValueError(f"expected a column {column!r} in the batch, got {found}")
        if self.copies > 1 and DRAW in names:
            raise ValueError(f"expected no column {DRAW!r}, which is to be added for copies, got one")

    def _check_sizes(self, batch: Mapping[str, Any]) -> None:
        """Raises ValueError if a dict has one value for each row in one column, but not in another."""
        sizes = {name: _size(values) for name, values in batch.items() if not isinstance(values, Mapping)}
        first = self.columns[0]
        for name, size in sizes.items():
            if size is None or size != sizes.get(first):
                found = type(batch[name]).__name__ if size is None else f"{size} values"
                many = type(batch[first]).__name__ if sizes.get(first) is None else f"{sizes[first]} values"
                raise ValueError(
                    f"expected a batch with a value for each row in every column, or a row with a text, got {many} in column "
                    f"{first!r}, {found} in {name!r} (a row with a list of tokens: give it in a batch)"
                )

    def _copied(self, column: str, values: Any, ids: Any) -> list[Any]:
        """Returns the new texts of a column, all copies of a row one after the other; None for what is missing."""
        made = [self._new(column, values, ids, draw) for draw in range(self.copies)]
        return [text for copies in zip(*made, strict=True) for text in copies]

    def _new(self, column: str, values: Any, ids: Any, draw: int) -> list[Value]:
        texts = [_value(value, at) for at, value in enumerate(values)]
        names = None if ids is None else [_plain(each) for each in ids]
        if names is not None and len(self.columns) > 1:  # so that columns are perturbed differently
            names = [f"{column}:{each}" for each in names]
        self._warn(texts)
        tally, out = self.work.new_tally(), list(texts)
        held = Texts(texts, f"row {{}} of the batch, column {column!r}".format, names)
        for part in held.treated(self.work, draw, strict=not self.skip_errors):
            tally.add(part.tally)
            for row, new in zip(part.rows, part.new, strict=True):
                out[row] = new
        if (failures := tally.failures).count:
            told = f"{failures.count} of {len(texts)} texts stay as they are: {'; '.join(failures.lines)}"
            warnings.warn(told, RuntimeWarning, 4)
        return out

    def _warn(self, texts: Sequence[Value]) -> None:
        """Warns of a language that the perturbation is not made for, once in each process."""
        if isinstance(self.work, Plan) and not self.__dict__.get("warned"):
            found = warn_of_language([self.work.perturbation], (joined(text) for text in texts if text), 5)
            self.__dict__["warned"] = found


def _size(values: Any) -> int | None:
    """Returns how many values a column of a batch has, None for what is one value itself."""
    single = isinstance(values, str | bytes) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0
    return None if single else len(values)


def _value(value: Any, at: int) -> Value:
    """Returns a text or a list of tokens, None for what is missing. Raises TypeError for anything else."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    tokens = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(tokens, list | tuple) and all(isinstance(token, str) for token in tokens):
        return list(tokens)
    raise TypeError(f"expected a text or a list of tokens in row {at} of the batch, got {type(value).__name__}")


def _like(values: Any, new: list[Any]) -> Any:
    """Returns new texts or lists of tokens in the type of the old."""
    if not isinstance(values, np.ndarray) or not any(isinstance(each, list) for each in new):
        return like(values, new)
    out = np.empty(len(new), object)  # np.array would make a table of lists that are equally long
    for at, each in enumerate(new):
        out[at] = each
    return out


def _plain(name: Any) -> Any:
    """Returns an id as Python has it, so that the number 7 of any array is the same: pandas makes it 7.0 beside a missing one."""
    if is_missing(name):
        return None
    name = name.item() if isinstance(name, np.generic) else name
    return int(name) if isinstance(name, float) and name.is_integer() else name
