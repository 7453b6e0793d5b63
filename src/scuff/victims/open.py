"""Any model as a victim, by name or as it is: no wrapper class."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import CellType
from typing import Any

from ..data.dataset import Task
from ..huggingface.loading import BadModel
from ..specs import import_object
from .base import Victim
from .plain import Plain, of_sklearn

WAYS = (
    "a folder or id of a Hugging Face model, file.py:name, module:name, an http(s):// address, "
    "chat:http(s)://.../v1#model, toy:sentiment or toy:tone"
)


def open_victim(model: Any, task: Task, labels: Sequence[str], options: dict[str, Any] | None = None) -> Victim:
    """`labels`: names of the model's classes in its order, as the user gives them, or () to take the model's own."""
    options = options or {}
    if isinstance(model, Victim):
        return model
    if not isinstance(model, str | Path):
        return _of_object(model, task, labels, options, "")
    name = str(model)
    kind, _, rest = name.partition(":")
    if kind == "toy":
        from .toy import Toy

        return _built(Toy, name, rest, **options)
    if kind in ("http", "https"):
        from .remote.http import Http

        return _built(Http, name, name, task=task, labels=labels, **options)
    if kind == "chat":
        from .remote.chat import Chat

        url, _, served = rest.partition("#")
        return _built(Chat, name, url, options.pop("model", served), task=task, labels=labels, **options)
    path, _, attribute = name.rpartition(":")
    if name.endswith(".py") and not Path(name).is_dir():
        raise BadModel(f"{name}: expected the name of a function in it, as in {name}:predict, got none")
    module = path and kind != "hf" and attribute.isidentifier() and not Path(name).exists() and "/" not in name
    if path.endswith(".py") or module:
        try:
            found, digest = import_object(path, attribute)
        except ValueError as error:
            raise BadModel(str(error)) from error
        victim = _of_object(found, task, labels, options, name, f"{name}:{digest}")
        victim.sees_through_files = True
        return victim
    from .huggingface import load

    return _built(load, name, name.removeprefix("hf:"), task, labels=labels or None, **options)


def _built(kind: Any, name: str, *arguments: Any, **options: Any) -> Victim:
    """An option that a kind of victim does not have is the user's mistake."""
    known = inspect.signature(kind).parameters
    wrong = [option for option in options if option not in known]
    if wrong:
        raise BadModel(
            f"expected {', '.join(list(known)[len(arguments) :]) or 'no options'} for {name.partition('?')[0]}, "
            f"got {wrong[0]!r}"
        )
    return kind(*arguments, **options)


def _of_object(
    model: Any, task: Task, labels: Sequence[str], options: dict[str, Any], name: str, identity: str = ""
) -> Victim:
    if isinstance(model, Victim):
        return model
    if all(hasattr(model, part) for part in ("model", "tokenizer", "task", "framework")) or (
        hasattr(model, "tokenizer") and hasattr(getattr(model, "model", None), "config")
    ):
        from .huggingface import of_pipeline

        return _built(of_pipeline, name or "pipeline", model, task, labels=labels or None, **options)
    if options:
        raise BadModel(f"expected no options for {name or type(model).__name__}, got {', '.join(options)}")
    if hasattr(model, "predict") and hasattr(model, "fit"):
        return of_sklearn(model, task, labels, name, identity)
    if callable(model):
        return Plain(model, task, labels, name=name, identity=identity or _source(model))
    raise BadModel(f"expected {WAYS}; or in Python a callable, pipeline or Victim, got {type(model).__name__}")


def _source(model: Any) -> str:
    """Where a callable comes from and what it says, as far as Python can tell."""
    name = f"{getattr(model, '__module__', '')}:{getattr(model, '__qualname__', type(model).__qualname__)}"
    try:
        code = inspect.getsource(model if inspect.isroutine(model) else type(model))
    except (OSError, TypeError):
        return name
    cells = [cell.cell_contents for cell in getattr(model, "__closure__", None) or () if cell != CellType()]
    fixed = [
        v for v in cells if isinstance(v, str | int | float) and not isinstance(v, bool)
    ]  # others may change under way
    return f"{name}:{sha256(repr((code, fixed)).encode('utf-8', 'replace')).hexdigest()[:16]}"
