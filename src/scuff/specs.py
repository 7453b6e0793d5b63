"""Specs: how parts are named on the command line, in settings files, in signatures and by worker processes.

`name(option=value)` is a shipped part or an installed entry point, `package.module:Class(option=value)` or
`file.py:Class(option=value)` a user's own. A part is a frozen dataclass: its options are its fields.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from importlib import import_module, util
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

T = TypeVar("T")


class Part:
    """The base class of all parts: a name and a spec. A class `MySearch` that sets no `name` gets the name my-search."""

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""  # one line for `scuff list`

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__.strip("_")).lower()

    @property
    def spec(self) -> str:
        """The spec that builds the part again: `name(option=value)` with the options that are not at their default."""
        return spec_of(self)


@dataclass(frozen=True, eq=False)
class Family(Generic[T]):
    """A kind of part that users can add to: constraints, searches, ...

    what: for error messages, with its article ("a constraint"). group: of the entry points under which packages publish
    members. base: the base class of all members. shipped: by name, a class, or a function that returns a part. aliases: other
    names of shipped parts.
    """

    what: str
    group: str
    base: type
    shipped: Mapping[str, Any]
    aliases: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""  # how to write an own one, behind the error about a class that is none

    def build(self, spec: str | T) -> T:
        """Returns the part that a spec names, or an object of this family as it is.

        Raises ValueError for a wrong name or option, TypeError for an object of another kind.
        """
        if isinstance(spec, self.base):
            return spec  # type: ignore[return-value]
        if not isinstance(spec, str):
            raise TypeError(f"expected the name of {self.what} or an object of that kind, got {_kind_of(spec)}")
        if (given := self.given(spec)) is not None:
            return given
        name, options = parse_call(spec)
        kind = self.find(name)
        if isinstance(kind, type) and not issubclass(kind, self.base):
            raise ValueError(
                f"expected {self.what} ({self.base.__name__}) from {name}, got the class {kind.__name__}{self.hint}"
            )
        if isinstance(kind, type) and issubclass(kind, Part):
            check_options(kind)
        made = _construct(name, kind, options)
        if not isinstance(made, self.base):
            raise ValueError(f"expected {self.what} ({self.base.__name__}) from {name}, got {type(made).__name__}")
        return made  # type: ignore[return-value]

    def given(self, spec: str) -> T | None:
        """Returns the object that `as_spec` was given for a spec in this process, if any."""
        found = _GIVEN.get(spec.strip())
        return found if isinstance(found, self.base) else None  # type: ignore[return-value]

    def find(self, name: str) -> Any:
        """Returns the class or function of a name or of `module:Class`. Raises ValueError, with similar names, if unknown."""
        if ":" in name:
            return import_object(*name.rsplit(":", 1))[0]
        if name not in self.shipped and name in (found := entry_points(self.group)):
            kind, fault = _loaded(found[name])
            if fault:
                raise ValueError(
                    f"{name}: expected an entry point that can be imported ({found[name].value}), got {fault}"
                )
            return kind
        known = {**dict.fromkeys(entry_points(self.group)), **self.shipped, **self.aliases}
        return self.shipped[self.aliases.get(name) or known_name(name, known, self.what)]

    def members(self) -> dict[str, Any]:
        """Returns all members by name: the shipped ones, then those of installed packages."""
        return {**self.shipped, **{name: kind for name, (kind, fault) in self._published().items() if not fault}}

    def broken(self) -> dict[str, str]:
        """Returns the entry points of installed packages that cannot be imported, with the reason."""
        return {name: fault for name, (_, fault) in self._published().items() if fault}

    def _published(self) -> dict[str, tuple[Any, str]]:
        return {name: _loaded(entry) for name, entry in entry_points(self.group).items() if name not in self.shipped}


@cache
def entry_points(group: str) -> dict[str, Any]:
    """Returns the entry points that installed packages publish under a group, by name."""
    from importlib.metadata import entry_points as installed  # takes a tenth of `import scuff`

    return {entry.name: entry for entry in installed(group=group)}


def _loaded(entry: Any) -> tuple[Any, str]:
    """What an entry point names, and why it cannot be imported; "" if it can."""
    try:
        return entry.load(), ""
    except Exception as error:  # anything may go wrong in a user's module
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}"


def parse_call(spec: str) -> tuple[str, dict[str, Any]]:
    """Splits `name(option=value, ...)` into name and options. Values are Python literals; nothing is evaluated.

    Raises ValueError if the spec has another form.
    """
    name, bracket, rest = (part.strip() for part in spec.strip().partition("("))
    if not bracket:
        return name, {}
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return name, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        quoted = re.sub(r"=\s*([A-Za-z_][\w-]*)\s*(?=[,)])", _quoted, spec.strip())
        hint = f"; text is quoted: {quoted}" if quoted != spec.strip() else ""
        raise ValueError(f"expected name(option=value, ...), got {spec.strip()!r}{hint}") from None


def _quoted(value: re.Match[str]) -> str:
    return value.group() if value.group(1) in ("True", "False", "None") else f"='{value.group(1)}'"


def _construct(name: str, kind: Any, options: dict[str, Any]) -> Any:
    """Calls a class or function with options; anything else is the part itself. Raises ValueError for unknown options."""
    if not callable(kind):
        return kind
    short = getattr(kind, "short", {})
    options = {short.get(option, option): value for option, value in options.items()}
    known = [field.name for field in _options(kind)] if is_dataclass(kind) else list(inspect.signature(kind).parameters)
    for option in options:
        if option not in known:
            raise ValueError(f"expected {' or '.join(known) or 'no option'} for {name}, got {option!r}")
    try:
        inspect.signature(kind).bind(**options)
    except TypeError as error:
        raise ValueError(f"expected name(option=value) for {name}, got too few options: {error}") from None
    return kind(**options)


def known_name(name: str, known: Mapping[str, Any], what: str) -> str:
    """Returns the name if it is known. Raises ValueError, with similar names, if not."""
    if name in known:
        return name
    near = get_close_matches(name, known, 2, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    raise ValueError(f"expected the name of {what}, got {name!r}; {hint}")


def spec_of(part: Any, full: bool = False) -> str:
    """Returns the spec that builds a part again: its name and the options that are not at their default; full: all options
    that have a value.
    """
    options = [(f.name, getattr(part, f.name), _default(f)) for f in _options(part)] if is_dataclass(part) else []
    given = [(name, value) for name, value, usual in options if (value not in (None, {}) if full else value != usual)]
    return name_of(type(part)) + (f"({', '.join(f'{key}={value!r}' for key, value in given)})" if given else "")


def name_of(kind: type) -> str:
    """Returns the name of a class in specs: its own if it ships with Scuff or is an entry point, else `module:Class`."""
    if kind.__module__.partition(".")[0] == "scuff":
        return str(kind.name)  # type: ignore[attr-defined]
    for group in GROUPS:
        for name, entry in entry_points(group).items():
            if entry.value == f"{kind.__module__}:{kind.__qualname__}":
                return name
    module = sys.modules.get(kind.__module__)
    origin = _FILES.get(kind.__module__) or (
        getattr(module, "__file__", None) if kind.__module__ == "__main__" else None
    )
    return f"{origin or kind.__module__}:{kind.__qualname__}"


FAMILIES = ("perturbations", "constraints", "searches", "goals", "metrics", "victims", "recipes", "shields")
GROUPS = tuple(f"scuff.{family}" for family in FAMILIES)  # of entry points

_GIVEN: dict[str, Any] = {}  # parts given as objects, by spec: their class may exist in this process only


def as_spec(part: Any) -> str:
    """Returns the spec of a part that is given as an object. `Family.build` returns that object for it, in this process."""
    if isinstance(part, str):
        return part
    if isinstance(part, type) or inspect.isroutine(part):
        raise TypeError(f"expected an object, got {_kind_of(part)}")
    check_options(type(part))
    for inner in getattr(part, "parts", ()):  # of combined parts
        as_spec(inner)
    spec = str(getattr(part, "spec", "") or spec_of(part))
    return spec if type(part).__module__.startswith("scuff.") else remember(part, spec)


def remember(part: Any, spec: str) -> str:
    """Keeps an object for `Family.build`. Returns the spec, with a number added if the spec already names another object."""
    try:
        parse_call(spec)
        name, number = spec, 1
    except ValueError:  # an option that is no literal, such as a function
        name, number = f"{spec}#1", 1
    while not _same(_GIVEN.setdefault(name, part), part):
        number += 1
        name = f"{spec}#{number}"
    return name


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(one == other and getattr(one, "__dict__", None) == getattr(other, "__dict__", None))


def check_options(kind: type) -> None:
    """Raises TypeError if a user's part has an __init__ of its own: neither a spec nor a run could tell its options."""
    owner = next((each for each in kind.__mro__ if "__init__" in vars(each)), object)
    code = getattr(vars(owner).get("__init__"), "__code__", None)
    if code is not None and code.co_filename != "<string>" and not kind.__module__.startswith("scuff."):
        raise TypeError(
            f"expected a frozen dataclass, whose fields are its options, got {kind.__name__} with an __init__ of its own"
        )


OWN = re.compile(r"([\w./\\-]+):([A-Za-z_]\w*)")


def digests(specs: Iterable[str]) -> dict[str, str]:
    """A digest of the file of each user's part in some specs, by `module:Class`: another one means other results."""
    out = {}
    for path, attribute in dict.fromkeys(found for spec in specs for found in OWN.findall(spec)):
        with suppress(ValueError):  # text inside an option that only looks like a part
            out[f"{path}:{attribute}"] = import_object(path, attribute)[1]
    return out


def can_be_rebuilt(spec: str) -> bool:
    """Whether another process can build a spec. A class defined in an interpreter or inside a function exists only here."""
    return not any(mark in spec for mark in ("__main__:", "<locals>", "<stdin>:")) and not re.search(r"#\d+(@|$)", spec)


def usage(kind: type) -> str:
    """Returns the options of a class with their defaults: `name(option=default, ...)`, or `option=...` without a default."""
    options = [(f.name, _default(f)) for f in _options(kind)] if is_dataclass(kind) else []
    given = [f"{name}={'...' if usual is MISSING else repr(usual)}" for name, usual in options]
    return name_of(kind) + (f"({', '.join(given)})" if given else "")


def _options(part: Any) -> list[Field[Any]]:
    """The fields that the constructor takes."""
    return [field for field in fields(part) if field.init]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _kind_of(value: Any) -> str:
    """The type of a wrong value, for error messages; a class was probably meant to be called."""
    if isinstance(value, type) or inspect.isroutine(value):
        return f"the {'class' if isinstance(value, type) else 'function'} {value.__name__} itself: add ()"
    return type(value).__name__


_FILES: dict[str, str] = {}  # paths of imported files, by module name
_LOADED: dict[tuple[str, int, int], Any] = {}  # their modules, by path, time stamp and size


def import_object(path: str, attribute: str) -> tuple[Any, str]:
    """Returns an attribute of a module or of a .py file, and a digest of that file.

    Raises NoSuchFile if the file does not exist, ValueError if it cannot be imported or has no such attribute.
    """
    try:
        module = _import_file(Path(path)) if path.endswith(".py") else _import_module(path)
    except NoSuchFile:
        raise
    except (Exception, SystemExit) as error:  # anything may go wrong in a user's file
        said = " ".join(str(error).split())
        raise ValueError(
            f"{path}: expected a module that can be imported, got {type(error).__name__}: {said}"
        ) from error
    if not hasattr(module, attribute):
        near = ", ".join(name for name in vars(module) if not name.startswith("_")) or "nothing"
        raise ValueError(f"{path}: expected {attribute!r} in it, got {near:.200}")
    origin = Path(getattr(module, "__file__", None) or "")
    digest = sha256(origin.read_bytes()).hexdigest()[:16] if origin.is_file() else ""
    return getattr(module, attribute), digest


class NoSuchFile(ValueError):
    """A .py file that a spec names does not exist."""


def _import_file(file: Path) -> Any:
    """Returns the module in a file. Imports it once, unless the file changes, so that equal specs have the same class."""
    if not file.is_file():
        raise NoSuchFile(f"{file}: expected a Python file, got nothing of that name in {Path.cwd()}")
    key = (str(file.resolve()), file.stat().st_mtime_ns, file.stat().st_size)
    if key in _LOADED:
        return _LOADED[key]
    # the name must not replace another module
    name = file.stem if file.stem not in sys.modules else f"{file.stem}_{len(_FILES)}"
    spec = util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, "a name that ends in .py has a loader"
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    _FILES[name] = str(file)
    folder = str(file.resolve().parent)  # so that it can import files beside it, as with `python file.py`
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name], _FILES[name]
        raise
    _LOADED[key] = module
    return module


def _import_module(name: str) -> Any:
    sys.path.insert(0, "")  # as `python -m` does
    try:
        return import_module(name)
    finally:
        sys.path.remove("")


def split_outside(text: str, mark: str) -> Iterator[str]:
    """Yields the parts of a text between marks, except marks inside brackets or quotes."""
    depth, quote, begin, escaped = 0, "", 0, False
    for at, char in enumerate(text):
        if quote:
            quote, escaped = ("", False) if char == quote and not escaped else (quote, char == "\\" and not escaped)
        elif char in "'\"":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == mark and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def some(names: Iterable[Any], most: int = 8) -> str:
    """Returns names for a message: all if they are few, else the first ones and how many there are. Long names are cut."""
    every = [str(name) for name in names]
    few = every if len(every) <= most + 2 else every[:most]
    shown = ", ".join(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…" for name in few)
    return shown if len(few) == len(every) else f"{shown}, ... ({len(every):,} in all)"


LONGEST_NAME = 60  # letters of a name that a message shows


def check_number(value: Any, low: float, high: float, what: str) -> None:
    """Raises ValueError if an option is not a number in [low, high]."""
    if type(value) not in (int, float) or not low <= value <= high:
        raise ValueError(f"expected a number in [{low:g}, {high:g}] for {what}, got {value!r}")


def check_count(value: Any, least: int, what: str) -> None:
    """Raises ValueError if an option is not a whole number of at least `least`."""
    if type(value) is not int or value < least:
        raise ValueError(f"expected a whole number from {least} for {what}, got {value!r}")


def check_positive(value: Any, what: str, *, zero: bool = False) -> None:
    """Raises ValueError if an option is not a finite number above 0; zero: 0 is allowed, too."""
    if type(value) not in (int, float) or not 0 <= value < math.inf or not (value or zero):
        raise ValueError(f"expected a number {'from' if zero else 'above'} 0 for {what}, got {value!r}")


def check_switch(value: Any, what: str) -> None:
    """Raises ValueError if an option is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"expected True or False for {what}, got {value!r}")
