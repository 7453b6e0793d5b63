"""Digests of what a Python model holds: arrays, fitted attributes, closures, the globals and functions that it uses.

They tell a model that was trained again from the one before, although name and source are the same. A digest depends on values
alone, never on an address or on the order of a set, so it is the same in the next process. Where an object shows nothing, only
its type counts.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

Contents = dict[str, str]  # a digest by the name of what is held

# in place of a digest: None, a mere number, which may be a time or a count, and text, which may be a path or a secret
NOTHING = ""

DEEP = 5  # objects inside of objects whose attributes have digests of their own
MANY = 100  # names; if there are more, parts of a part are taken together
FEW = 16  # items of a list or dict that have digests of their own, if they are objects
MOST = 1 << 21  # values that are looked at: beyond, only types count
LARGE = 1 << 24  # bytes of an array beyond which its bits are summed, which is faster than a digest

SECRET = re.compile(r"key|secret|passw|auth|header|credential|(^|_)tokens?$", re.I)
PLAIN = (str, int, float, bool, complex, bytes, type(None), np.number, np.bool_)
TENSORS = attrgetter("Tensor", "nn.Module")  # of torch
RANDOM = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)  # change whenever they are used
LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def contents(model: Any) -> Contents:
    """Returns a digest for everything that a callable or object holds, by name: "model.coef_", "vectorizer.vocabulary_"."""
    found: Contents = {}
    _Walk(found).look(model, "", DEEP)
    for deep in range(DEEP, 0, -1):
        if len(found) > MANY:
            found = _merged(found, deep)
    return found


def _merged(found: Contents, deep: int) -> Contents:
    """One digest for all names that begin with the same `deep` parts."""
    groups: dict[str, list[str]] = {}
    for name in sorted(found):
        if found[name] != NOTHING:
            groups.setdefault(".".join(name.split(".")[:deep]), []).append(f"{name}={found[name]}")
    return {name: _hash(*parts).hex()[:16] for name, parts in groups.items()}


def differing(one: Contents, other: Contents) -> list[str]:
    """Returns the names under which two models hold something else. What only one of them holds may be a cache."""
    return [name for name, digest in one.items() if other.get(name, digest) != digest]


class _Walk:
    """Finds what functions and objects of a user's own code hold, and gives each a digest."""

    def __init__(self, found: Contents) -> None:
        self.found, self.seen = found, _Seen()
        self.walked: dict[int, Any] = {}  # kept, so that no other object gets the same id

    def look(self, value: Any, name: str, deep: int) -> None:
        if id(value) in self.walked or SECRET.search(name.rpartition(".")[2]):
            return
        if isinstance(value, partial):
            self.walked[id(value)] = value
            self.look(value.func, name, deep)
            for key, part in [*enumerate(value.args), *value.keywords.items()]:
                self.look(part, _joined(name, str(key)), deep)
        elif isinstance(value, MethodType):
            self.look(value.__self__, name, deep)
            self.look(value.__func__, name, deep)
        elif isinstance(value, FunctionType):
            self.walked[id(value)] = value
            if _own(value.__module__):
                last = name.rpartition(".")[2] == value.__name__
                self.found[f"{name if last else _joined(name, value.__name__)}()"] = self.seen.code(value.__code__)
                for key, part in _used(value):
                    self.look(part, _joined(name, key), deep)
        elif isinstance(value, type | ModuleType | BuiltinFunctionType):
            pass
        elif deep and ((parts := _parts(value)) or _is_own_object(value)):  # its methods may use globals
            self.walked[id(value)] = value
            self._inside(value, parts, name, deep - 1)
        else:
            self.found[name] = NOTHING if isinstance(value, (*PLAIN, Path)) else self.seen.digest(value).hex()[:16]

    def _inside(self, value: Any, parts: dict[Any, Any], name: str, deep: int) -> None:
        """Each part by itself, so that a counter or a cache among them does not hide the rest."""
        own = _own(type(value).__module__)
        for key, part in parts.items():
            if own or not isinstance(part, PLAIN):  # the options of a library's object say less than what it learnt
                self.look(part, _joined(name, str(key)), deep)
        for kind in type(value).__mro__ if own else ():
            if _own(kind.__module__):
                for part in vars(kind).values():
                    if isinstance(part := getattr(part, "__func__", part), FunctionType):
                        self.look(part, name, deep)


def _joined(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _own(module: str | None) -> bool:
    """Whether a module is a user's own: neither of Python, nor installed, nor of Scuff."""
    if not module or module.partition(".")[0] in ("scuff", "builtins"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    installed = file is not None and (str(Path(file).resolve()).startswith(LIBRARIES) or "-packages" in file)
    return module not in sys.builtin_module_names and not installed


def _is_own_object(value: Any) -> bool:
    """Whether an object is of a user's own class."""
    return not isinstance(value, (*PLAIN, np.ndarray, dict, list, tuple, set)) and _own(type(value).__module__)


def _used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function refers to, by name: defaults, variables around it, globals, and what it takes from own modules."""
    for key, part in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        if part != CellType():
            yield key, part.cell_contents
    for at, part in enumerate(function.__defaults__ or ()):
        yield f"default {at}", part
    yield from (function.__kwdefaults__ or {}).items()
    names = set(_names(function.__code__))
    for key in sorted(names & function.__globals__.keys()):
        part = function.__globals__[key]
        if not isinstance(part, ModuleType):
            yield key, part
        elif _own(part.__name__):
            yield from ((f"{key}.{inner}", vars(part)[inner]) for inner in sorted(names & vars(part).keys()))
    if wrapped := getattr(function, "__wrapped__", None):
        yield "wrapped", wrapped


def _names(code: CodeType) -> Iterable[str]:
    """The names that code refers to, also inside of inner functions."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _parts(value: Any) -> dict[Any, Any]:
    """The attributes of an object, or the items of a short list or dict that has objects among them; {} for all else."""
    torch = sys.modules.get("torch")
    if isinstance(value, (*PLAIN, np.ndarray)) or (torch is not None and isinstance(value, TENSORS(torch))):
        return {}
    if isinstance(value, dict | list | tuple):
        items = dict(value if isinstance(value, dict) else enumerate(value)) if len(value) <= FEW else {}
        return items if any(map(_parts, items.values())) else {}
    return dict(sorted(getattr(value, "__dict__", {}).items()))


class _Seen:
    """Digests of values, each computed once."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, bytes]] = {}
        self.open: set[int] = set()
        self.left = MOST

    def digest(self, value: Any) -> bytes:
        if isinstance(value, PLAIN):
            return _hash(type(value).__name__, repr(value))
        if id(value) in self.known:
            return self.known[id(value)][1]
        self.left -= 1
        if id(value) in self.open or self.left < 0:
            return _hash("again", type(value).__qualname__)
        self.open.add(id(value))
        try:
            found = self._of(value)
        except Exception:  # what cannot be read shows only its type
            found = _hash("opaque", type(value).__qualname__)
        self.open.discard(id(value))
        self.known[id(value)] = (value, found)
        return found

    def _of(self, value: Any) -> bytes:
        if isinstance(value, np.ndarray | np.generic):
            return self._array(np.asarray(value))
        if isinstance(value, dict):
            return self._pairs("dict", value.items())
        if isinstance(value, list | tuple | set | frozenset):
            return self._items(value)
        if isinstance(value, FunctionType):
            around = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
            return _hash("function", self.code(value.__code__), self.digest([around, value.__defaults__]))
        if isinstance(value, MethodType):
            return _hash("method", self.digest(value.__self__), value.__func__.__qualname__)
        if isinstance(value, type | ModuleType | BuiltinFunctionType):
            return _hash("name", getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
        if isinstance(value, RANDOM):
            return _hash("random", type(value).__qualname__)
        return self._tensors(value) or self._object(value)

    def _array(self, array: np.ndarray[Any, Any]) -> bytes:
        if array.dtype.hasobject:
            return _hash("objects", array.shape, self.digest(array.ravel().tolist()))
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        if flat.size <= LARGE:
            return _hash("array", array.dtype.str, array.shape, flat.tobytes())
        whole = flat[: flat.size // 8 * 8].view(np.uint64)
        sums = [int(whole[at : at + (1 << 16)].sum()) for at in range(0, whole.size, 1 << 16)]
        return _hash("array", array.dtype.str, array.shape, sums, flat[whole.size * 8 :].tobytes())

    def _items(self, values: Any) -> bytes:
        ordered = isinstance(values, list | tuple)
        if all(isinstance(part, PLAIN) for part in values):  # fast: word lists may be long
            return _hash(type(values).__name__, repr(list(values)) if ordered else repr(sorted(map(repr, values))))
        parts = [self.digest(part) for part in values]
        return _hash(type(values).__name__, *(parts if ordered else sorted(parts)))

    def _pairs(self, kind: str, pairs: Iterable[tuple[Any, Any]]) -> bytes:
        """In any order."""
        known = list(pairs)
        if all(isinstance(key, PLAIN) and isinstance(part, PLAIN) for key, part in known):
            return _hash(kind, repr(sorted(map(repr, known))))
        return _hash(kind, *sorted(self.digest(key) + self.digest(part) for key, part in known))

    def code(self, code: CodeType) -> str:
        """What a function does, whatever its file and lines."""
        consts = [self.code(part) if isinstance(part, CodeType) else self.digest(part) for part in code.co_consts]
        return _hash("code", code.co_code, code.co_names, *consts).hex()[:16]

    def _tensors(self, value: Any) -> bytes:
        """Of a tensor or module of torch; b"" for anything else."""
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(value, TENSORS(torch)):
            return b""
        if isinstance(value, torch.nn.Module):
            return _hash("module", type(value).__qualname__, self._pairs("tensors", value.state_dict().items()))
        if value.dtype == torch.bfloat16:
            value = value.view(torch.int16)
        return _hash("tensor", self._array(value.detach().cpu().contiguous().numpy()))

    def _object(self, value: Any) -> bytes:
        """By what would be written of it to copy it; by its attributes if it refuses."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        with suppress(Exception):  # locks, files, sessions and the like
            made = value.__reduce_ex__(4)
            if isinstance(made, str):
                return _hash("global", made)
            build, arguments, state, items, pairs = (*made, None, None, None)[:5]
            if isinstance(state, dict):  # some libraries keep the address of an object, to see whether it is another
                state = {key: part for key, part in state.items() if not str(key).endswith("_id")}
            parts = [self.digest(arguments), self.digest(state), self.digest(list(items or ()))]
            return _hash("object", kind, getattr(build, "__qualname__", ""), *parts, self._pairs("", pairs or ()))
        return _hash("object", kind, self._pairs("", getattr(value, "__dict__", {}).items()))


def _hash(*parts: Any) -> bytes:
    total = blake2b(digest_size=16)
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return total.digest()
