"""`name(option=value, ...)`: how things are named on the command line, in files and in signatures."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from typing import Any, TypeVar

T = TypeVar("T")


def made(spec: str, kinds: Mapping[str, type[T]], what: str) -> T:
    """The thing that a spec names: one of some dataclasses, with options by name. A wrong name suggests the near ones."""
    name, bracket, rest = (part.strip() for part in spec.strip().partition("("))
    kind = kinds[checked(name, kinds, what)]
    options: dict[str, Any] = {}
    if bracket:
        try:
            call = ast.parse(f"f({rest}", mode="eval").body
            if not isinstance(call, ast.Call) or call.args:
                raise ValueError
            options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        except (SyntaxError, ValueError):
            raise ValueError(f"expected name(option=value, ...), got {spec.strip()!r}") from None
    short = getattr(kind, "short", {})
    options = {short.get(option, option): value for option, value in options.items()}
    known = [field.name for field in _options(kind)]
    for option in options:
        if option not in known:
            raise ValueError(f"expected {' or '.join(known) or 'no option'} for {name}, got {option!r}")
    return kind(**options)


def checked(name: str, known: Mapping[str, Any], what: str) -> str:
    """The name, if it is known."""
    if name in known:
        return name
    near = get_close_matches(name, known, 2, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    raise ValueError(f"expected the name of {what}, got {name!r}; {hint}")


def spec_of(thing: Any, full: bool = False) -> str:
    """The spec that `made` reads: its name and the options that are not at their default; full: all that are set."""
    options = [(f.name, getattr(thing, f.name), _default(f)) for f in _options(thing)]
    given = [(name, value) for name, value, usual in options if (value not in (None, {}) if full else value != usual)]
    return str(thing.name) + (f"({', '.join(f'{key}={value!r}' for key, value in given)})" if given else "")


def usage(kind: type) -> str:
    """What can be set, with the defaults: `name(option=default, ...)`; an option without one as `option=...`."""
    options = [(f.name, _default(f)) for f in _options(kind)]
    given = [f"{name}={'...' if usual is MISSING else repr(usual)}" for name, usual in options]
    return str(kind.name) + (f"({', '.join(given)})" if given else "")  # type: ignore[attr-defined]


def _options(thing: Any) -> list[Field[Any]]:
    return [field for field in fields(thing) if field.init]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
