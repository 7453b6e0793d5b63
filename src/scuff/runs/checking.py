"""Checks values read from JSON against the types in `runs/schema.py`."""

from __future__ import annotations

import types
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


def mismatch(value: Any, kind: Any, where: str = "", *, exact: bool = True) -> str:
    """Returns where a value read from JSON first differs from a type, and how; "" if nowhere.

    exact: a key that the type does not have is a difference, too; without it, such keys are ignored, as a file of another
    version may have them.
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return ""
    if is_typeddict(kind):
        return _keys(value, kind, where, exact)
    if origin in (Union, types.UnionType):
        found = [mismatch(value, one, where, exact=exact) for one in args]
        return "" if "" in found else max(found, key=lambda text: text.count("."))  # of the type that fits best
    if origin is Literal:
        return "" if value in args else _unlike(value, kind, where)
    if origin is dict and isinstance(value, dict):
        return _first(mismatch(part, args[1], f"{where}.{name}", exact=exact) for name, part in value.items())
    if origin is tuple and isinstance(value, list) and len(value) == len(args):
        return _first(
            mismatch(part, one, f"{where}.{at}", exact=exact)
            for at, (part, one) in enumerate(zip(value, args, strict=True))
        )
    if origin in (list, Sequence) and isinstance(value, list):
        return _first(mismatch(part, args[0], f"{where}.{at}", exact=exact) for at, part in enumerate(value))
    plain = {float: (int, float), int: (int,), str: (str,), bool: (bool,), types.NoneType: (types.NoneType,)}
    fits = isinstance(value, plain.get(kind, ())) and isinstance(value, bool) == (kind is bool)
    return "" if fits else _unlike(value, kind, where)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of the keys of a TypedDict, which take long to find out."""
    return get_type_hints(kind)


def _keys(value: Any, kind: Any, where: str, exact: bool) -> str:
    """Returns how a value differs from a TypedDict."""
    if not isinstance(value, dict):
        return _unlike(value, kind, where)
    hints = _hints(kind)
    for name in sorted(kind.__required_keys__ - value.keys()):
        return f"{where}.{name} is missing"
    for name in sorted(value.keys() - hints.keys()) if exact else ():
        return f"{where}.{name} is unknown"
    return _first(
        mismatch(value[name], hint, f"{where}.{name}", exact=exact) for name, hint in hints.items() if name in value
    )


def _unlike(value: Any, kind: Any, where: str) -> str:
    return f"{where} is no {getattr(kind, '__name__', kind)}: {value!r:.60}"


def _first(found: Any) -> str:
    return next(filter(None, found), "")
