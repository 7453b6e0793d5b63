"""Texts as a Python user holds them: a string, a list, a NumPy array, a pandas Series or a column of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def is_frame(data: object) -> bool:
    """Whether data is a DataFrame of pandas."""
    return _is_pandas(data) and hasattr(data, "columns")


def _is_pandas(data: object) -> bool:
    return any(kind.__module__.split(".")[0] == "pandas" for kind in type(data).__mro__)


def frame_columns(frame: Any, column: str | Sequence[str] | None) -> list[Any]:
    """Returns the columns of a DataFrame that are meant. Raises TypeError if none is named, ValueError if one does not exist."""
    seen = list(frame.columns)
    if column is None:
        raise TypeError(f"expected column=NAME for a DataFrame, one or more of {', '.join(map(str, seen))}, got none")
    wanted = [column] if isinstance(column, str) or not isinstance(column, Sequence) else list(column)
    for name in wanted:
        if seen.count(name) != 1:
            found = "it twice" if name in seen else ", ".join(map(str, seen))
            raise ValueError(f"expected a column {name!r} of the DataFrame, got {found}")
    return list(dict.fromkeys(wanted))


def held_texts(texts: Any) -> list[str | None]:
    """Returns texts as a list of strings, and of None for those that are missing: None, NaN, pandas.NA.

    Raises TypeError for what is no column of texts.
    """
    if isinstance(texts, str):
        return [texts]
    wrong = hasattr(texts, "columns") or isinstance(texts, Mapping | bytes) or not isinstance(texts, Iterable)
    if wrong or getattr(texts, "ndim", 1) != 1:
        shape = f" of {texts.ndim} dimensions" if isinstance(texts, np.ndarray) else ""
        raise TypeError(f"expected a string or a list of strings, such as a column, got {type(texts).__name__}{shape}")
    found = list(texts)
    if all(isinstance(text, str) for text in found):
        return found
    found = [None if is_missing(text) else text for text in found]
    for at, text in enumerate(found):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"expected str for text {at}, got {type(text).__name__}")
    return found


def is_missing(text: object) -> bool:
    """Whether an entry stands for no text: None, a number that is not equal to itself, or what pandas has for it."""
    if text is None or type(text).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(text, float | np.floating) and bool(text != text)


def like(texts: Any, new: Sequence[str | None]) -> Any:
    """Returns new texts in the type of the old: a string, a Series with its index and name, an array, else a list.

    What was missing is what it was.
    """
    if isinstance(texts, str):
        return new[0]
    kept = [old if text is None else text for old, text in zip(texts, new, strict=True)] if None in new else list(new)
    if _is_pandas(texts) and hasattr(texts, "index") and hasattr(texts, "name"):
        # new texts may be no categories of the old
        kind = None if str(texts.dtype) == "category" else texts.dtype
        return type(texts)(kept, index=texts.index, name=texts.name, dtype=kind)
    if isinstance(texts, np.ndarray):
        return np.array(kept, None if texts.dtype.kind == "U" else texts.dtype)  # as wide as the longest new text
    return kept
