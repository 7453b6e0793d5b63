"""Opens any model as a victim, by name or as an object; most need no wrapper class."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import CellType
from typing import Any

from .. import specs
from ..data.dataset import TASKS, Task
from ..huggingface.loading import BadModel
from ..specs import some
from ..translators.folder import is_translator
from .base import OTHER, Victim
from .plain import Plain, of_sklearn

FAMILY: specs.Family[Victim] = specs.Family("a victim", "scuff.victims", Victim, {})

WAYS = (
    "a folder or id of a Hugging Face model, a folder of a translator, file.py:name, module:name, an http(s):// address, "
    "chat:http(s)://.../v1#model, toy:sentiment, toy:tone or toy:translate"
)
ADDRESSES = ("http", "https", "chat")  # how the names of endpoints begin


def open_victim(
    model: Any,
    task: Task,
    labels: Sequence[str],
    options: dict[str, Any] | None = None,
    *,
    data_labels: Sequence[str] | None = None,
) -> Victim:
    """Opens a model by its name; an object is taken as it is.

    labels: names of the model's classes in its order, as the user gives them, or () to take the model's own. data_labels: the
    labels of the data as the model calls them. Endpoints do not tell their labels, so these are what they are read with.
    """
    options = options or {}
    if not isinstance(model, str | Path):
        return _of_object(model, task, labels, options, "")
    name = str(model)
    kind, _, rest = name.partition(":")
    if name == "toy:translate":
        from .toy_translator import ToyTranslator

        return _built(ToyTranslator, name, **options)
    if kind == "toy":
        from .toy import Toy

        return _built(Toy, name, rest, **options)
    if kind in ADDRESSES:
        return _endpoint(name, task, labels, options, data_labels)
    if name.endswith(".py") and not Path(name).is_dir():
        raise BadModel(f"{name}: expected the name of a function in it, as in {name}:predict, got none")
    own = _own(name, task, labels, options)
    if own is not None:
        return own
    from .toy import Toy, is_toy_folder

    if is_toy_folder(name):
        return _built(Toy.of_folder, name, name, **options)
    if is_translator(name):
        from .translator import TranslatorVictim

        return _built(TranslatorVictim, name, name, **options)
    from .exported import load

    return _built(load, name, name.removeprefix("hf:"), task, labels=labels or None, **options)


def is_transformer(name: str) -> bool:
    """Whether a name is that of a Hugging Face model, as far as it tells: any that is of no other form."""
    from .toy import is_toy_folder

    if name.startswith("hf:"):
        return True
    own = ":" in name or name.endswith((".py", ")")) or name in specs.entry_points(FAMILY.group)
    return not (own and not os.path.isdir(name)) and not is_toy_folder(name) and not is_translator(name)


def _endpoint(
    name: str, task: Task, labels: Sequence[str], options: dict[str, Any], data_labels: Sequence[str] | None
) -> Victim:
    """A model behind an address. Without the user's labels, any answer but the data's labels is a wrong one."""
    if not name.startswith("chat:"):
        from .remote.http import Http

        if not labels and data_labels is not None and task != "text":
            labels = (*data_labels, OTHER)
        return _built(Http, name, name, task=task, labels=labels, **options)
    from .remote.chat import Chat

    if not labels and data_labels is not None and task != "text":
        if len(data_labels) < 2:
            raise ValueError(f"expected --labels to ask for, got one label in the data: {some(data_labels)}")
        labels = data_labels
    url, _, served = name.removeprefix("chat:").partition("#")
    return _built(Chat, name, url, options.pop("model", served), task=task, labels=labels, **options)


def _own(name: str, task: Task, labels: Sequence[str], options: dict[str, Any]) -> Victim | None:
    """A user's own model: file.py:name, module:name or an entry point; None if the name is of no such form.

    A Victim class, and whatever is followed by (option=value, ...), is called with the options.
    """
    call, given = (name, {}) if os.path.exists(name) or not name.endswith(")") else specs.parse_call(name)
    path, _, attribute = call.rpartition(":")
    module = path and path.partition(":")[0] != "hf" and attribute.isidentifier() and "/" not in call
    if path.endswith(".py") or (module and not os.path.exists(call)):
        try:
            found, version = specs.import_object(path, attribute)
        except ValueError as error:
            raise BadModel(str(error)) from error
    elif call in specs.entry_points(FAMILY.group) and not os.path.exists(call):
        found = FAMILY.find(call)
        version = _source(found)
    elif call != name:
        raise BadModel(f"expected file.py:Name, module:Name or an installed victim before the brackets, got {name!r}")
    else:
        return None
    identity = f"{name}:{version}"
    if call != name or (isinstance(found, type) and issubclass(found, Victim)):
        given, options = {**given, **options}, {}
        found = _built(found, call, **given)
        identity += f":{sha256(repr(sorted(given.items())).encode()).hexdigest()[:16]}" if given else ""
    victim = _of_object(found, task, labels, options, name, identity)
    object.__setattr__(victim, "sees_through_files", True)  # which a frozen dataclass allows
    return victim


def _built(kind: Any, name: str, *arguments: Any, **options: Any) -> Any:
    """Calls a class or function. Raises BadModel for an option that it does not have, and for one that it needs."""
    signature = inspect.signature(kind)
    known = [option for option in signature.parameters.values() if option.kind is not option.VAR_KEYWORD]
    names = [option.name for option in known]
    wrong = [option for option in options if option not in names] if len(known) == len(signature.parameters) else []
    missing = [
        option.name
        for option in known[len(arguments) :]
        if option.default is option.empty and option.kind is not option.VAR_POSITIONAL and option.name not in options
    ]
    if wrong or missing:
        raise BadModel(
            f"expected {', '.join(names[len(arguments) :]) or 'no options'} for {name.partition('?')[0]}, "
            f"got {repr(wrong[0]) if wrong else f'no {missing[0]}'}"
        )
    if inspect.isabstract(kind):
        raise BadModel(f"expected a Victim with a method __call__ from {name}, got one without")
    return kind(*arguments, **options)


def _own_victim(victim: Victim, labels: Sequence[str], name: str, identity: str) -> Victim:
    """Checks a user's Victim and sets what it leaves open: name, identity, and labels if the user gives some."""
    shown, task = name or type(victim).__name__, getattr(victim, "task", None)
    if task not in TASKS:
        raise BadModel(f"expected one of {', '.join(TASKS)} as the task of {shown}, got {task!r}")
    takes_any = type(victim).assume is Victim.assume  # others have a use of their own for labels
    usual = {"name": shown, "_identity": identity, "labels": tuple(labels) if takes_any else ()}
    for attribute, value in usual.items():
        if value and not getattr(victim, attribute, None):
            object.__setattr__(victim, attribute, value)  # which a frozen dataclass allows
    return victim


def _of_object(
    model: Any, task: Task, labels: Sequence[str], options: dict[str, Any], name: str, identity: str = ""
) -> Victim:
    """Takes an object as a victim: a Victim, a pipeline of Hugging Face or scikit-learn, any callable."""
    if isinstance(model, Victim):
        return _own_victim(model, labels, name, identity)
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


def hub_commit(name: str) -> str:
    """The commit of a model of the Hub in the local cache; "" if there is none."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return ""
    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent.name if isinstance(found, str) else ""


def _source(model: Any) -> str:
    """The module and name of a callable, and a digest of its source if Python can find it."""
    name = f"{getattr(model, '__module__', '')}:{getattr(model, '__qualname__', type(model).__qualname__)}"
    try:
        code = inspect.getsource(model if inspect.isroutine(model) or inspect.isclass(model) else type(model))
    except (OSError, TypeError):
        return name
    cells = [cell.cell_contents for cell in getattr(model, "__closure__", None) or () if cell != CellType()]
    # values of other types may change while it runs
    fixed = [v for v in cells if isinstance(v, str | int | float) and not isinstance(v, bool)]
    return f"{name}:{sha256(repr((code, fixed)).encode('utf-8', 'replace')).hexdigest()[:16]}"
