"""The settings of a run, each declared once with its help and its checks, from which flags, keywords and YAML keys come."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar

from ..data.dataset import Task
from ..specs import as_spec, check_switch, some
from .engines.base import Engine
from .engines.open import ADDRESS, ENGINE, ENGINES, LOCAL, WORKERS, check_engine, open_engine

SIDES = {"first": (0,), "second": (1,), "both": (0, 1)}
EXAMPLES = 500  # that are sampled, by default
DATA, MODEL, PLAN = "the data", "the model", "the plan"  # groups of settings, as the help of a command shows them
BY_THE_WAY = ("engine", "address", "workers", "fresh", "log")  # settings that decide no byte of a run
LOG = "also log settings, scores and report to mlflow[:EXPERIMENT], wandb[:PROJECT] or jsonl[:FILE]; may be repeated"

Self = TypeVar("Self", bound="Settings")


def setting(
    default: Any,
    help: str,
    *,
    group: str = PLAN,
    metavar: str | None = None,
    choices: Iterable[str] = (),
    least: int | None = None,
    bounds: tuple[float, float] | None = None,
    many: Literal["together", "repeated"] = "together",
    flags: tuple[str, ...] = (),
    alias: str = "",
    old_name: str = "",
    names_parts: bool = False,
) -> Any:
    """Returns a field of a settings class, whose metadata has what flags, checks and help texts need.

    choices, least, bounds: which values are allowed. many: whether the flag of a list takes all values together (`--degrees
    0.1 0.2`) or is repeated. flags: if they are not `--name`. alias: a name that is accepted, too. old_name: one that is
    also written to run.json.
    names_parts: whether the values are specs of parts.
    """
    about = {
        "help": help, "group": group, "metavar": metavar, "choices": tuple(choices), "least": least, "bounds": bounds,
        "many": many, "flags": flags, "alias": alias, "old_name": old_name, "names_parts": names_parts,
    }  # fmt: skip
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=about)
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class FileSettings:
    """How to read a file of examples."""

    text: tuple[str, ...] = setting(
        (), "column of texts, a.b.text for a field inside others; twice for sentence pairs", group=DATA, metavar="COLUMN",
        many="repeated", flags=("--text", "--column", "-c"), alias="column",
    )  # fmt: skip
    format: str | None = setting(
        None, "csv, tsv, jsonl, json, parquet, conllu or tokens; default: by the file's name", group=DATA
    )
    delimiter: str | None = setting(
        None, "what separates the columns of a csv or tsv file: a character or tab", group=DATA, metavar="CHAR"
    )
    no_header: bool = setting(False, "a csv or tsv file without a header: columns are named 1, 2, ...", group=DATA)
    encoding: str | None = setting(
        None, "of a text file, such as latin-1 or utf-16; default UTF-8", group=DATA, metavar="NAME"
    )


@dataclass(frozen=True)
class Settings(FileSettings):
    """The settings that evaluations and attacks share: the data, the model, and how the run is done."""

    label: tuple[str, ...] = setting(
        (), "column of labels, tags or translations; repeated: a 0/1 column each", group=DATA, metavar="COLUMN", many="repeated"
    )  # fmt: skip
    id: str | None = setting(None, "column that names each example", group=DATA, metavar="COLUMN")
    task: Task | None = setting(
        None, "single, multi, tokens or text; default: by what the columns hold", group=DATA, metavar="TASK"
    )
    split: str | None = setting(None, "split of a Hugging Face data set; default test, else validation", group=DATA)
    labels: tuple[str, ...] = setting((), "names of the model's labels, in its order", group=MODEL, metavar="NAME")
    map: dict[str, str] = setting({}, "labels that data and model name differently", group=MODEL, metavar="DATA=MODEL")
    none: str | None = setting(
        None, "the model's label for texts without any other (label sets)", group=MODEL, metavar="NAME"
    )
    options: dict[str, Any] = setting(
        {}, "options of the model, e.g. device=cpu timeout=5", group=MODEL, metavar="KEY=VALUE", flags=("--with",)
    )  # fmt: skip
    shield: str | None = setting(
        None, "mend texts before the model sees them, e.g. fast, normalise+restore (`scuff list shields`)", group=MODEL,
        metavar="SPEC", names_parts=True,
    )  # fmt: skip
    predictions: tuple[str, ...] = setting((), "answers collected before, instead of a model", group="", metavar="FILE")
    examples: int | None = setting(
        None, f"how many to sample, in the shares of their labels; default {EXAMPLES}", group=DATA, metavar="N", least=1
    )
    mlm: str | None = setting(
        None, "masked language model for contextual: a Hugging Face folder or id", metavar="MODEL"
    )
    encoder: str | None = setting(
        None, "sentence encoder; default: MiniLM if installed (scuff[meaning])", metavar="MODEL"
    )
    side: str | None = setting(
        None, "which text of a pair to perturb; default first (evaluate --protocol zeroe: both)", group=DATA, choices=SIDES
    )  # fmt: skip
    protect: tuple[str, ...] = setting(
        (), "text that must not change, named as for `scuff perturb`; may be repeated", metavar="WHAT", many="repeated"
    )
    seed: int = setting(0, "seed of all random choices; default 0")
    engine: str = setting(LOCAL, ENGINE, group=MODEL, choices=ENGINES)
    address: str | None = setting(None, ADDRESS, group=MODEL, metavar="HOST:PORT")
    workers: int | None = setting(None, WORKERS, group=MODEL, metavar="N", least=1)
    cache: str | None = setting(
        None, "keep the model's answers in this file, for all runs", group=MODEL, metavar="FILE"
    )
    fresh: bool = setting(
        False, "ask again: use no answers of an earlier run or of the cache; an old run folder is kept under another name",
        group=MODEL,
    )  # fmt: skip
    max_errors: str = setting(
        "100", "stop after more errors than this, or than a share such as 5%; default 100", group=MODEL, metavar="N"
    )
    max_queries: int | None = setting(None, "how many texts the model may be asked about", metavar="N", least=1)
    log: tuple[str, ...] = setting((), LOG, group=MODEL, metavar="TRACKER", many="repeated")

    @classmethod
    def of(cls: type[Self], **settings: Any) -> Self:
        """Returns the settings with these names; a single value stands for a list of one, None for the default.

        Raises ValueError for unknown names and wrong values.
        """
        known = {field.name: field for field in fields(cls)}
        given: dict[str, Any] = {}
        for name, value in cls.renamed(settings).items():
            if name not in known:
                near = get_close_matches(name, [*known, "model", "data", "output"], 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                raise ValueError(f"expected a setting, got {name!r}; {hint}")
            if value is not None:
                given[name] = _read(known[name], value)
        made = cls(**given)
        made.check()
        return made

    @classmethod
    def renamed(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings by field name, whatever they are called. Raises ValueError if one comes twice."""
        return by_field_name(cls, settings)

    def check(self) -> None:
        """Raises ValueError for values that are not allowed."""
        for each in fields(self):
            _check(each, getattr(self, each.name))
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"expected each of the labels once, got {some(self.labels)}")
        self.error_limit(1)
        check_log(self.log)
        check_engine(self.engine, self.address, self.workers)
        if self.shield:
            from ..shields.names import parse  # here: the help of a command need not load shields

            parse(self.shield)
            if self.predictions:
                raise ValueError(
                    f"expected a model for shield {self.shield}, got predictions: a shield mends texts before a model is asked"
                )

    @property
    def alone(self) -> bool:
        """Whether there are no workers."""
        return self.engine == LOCAL and self.workers in (None, 1)

    def open_engine(self) -> Engine:
        return open_engine(self.engine, self.workers, self.address)

    @property
    def sides(self) -> tuple[int, ...]:
        """The numbers of the columns that are perturbed, where no protocol decides it."""
        return SIDES[self.side or "first"]

    @property
    def parts(self) -> list[str]:
        """The specs of parts, which a user may have given as objects."""
        return [
            spec
            for field in fields(self)
            if field.metadata["names_parts"]
            for spec in _listed(getattr(self, field.name))
        ]

    @classmethod
    def parts_in(cls, config: Mapping[str, Any]) -> list[str]:
        """The same from run.json, where no part need be found."""
        names = [field.name for field in fields(cls) if field.metadata["names_parts"]]
        return [spec for name, value in cls.renamed(config).items() if name in names for spec in _listed(value)]

    def error_limit(self, cases: int) -> int:
        """Returns how many errors are allowed: `max_errors`, or if that is a share such as 0.05 or 5%, that share of `cases`.

        Raises ValueError if it is neither.
        """
        text = self.max_errors.strip()
        try:
            number = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
            if not 0 <= number < 1e15 or (text.endswith("%") and number > 1):
                raise ValueError
        except ValueError:
            raise ValueError(
                f"expected a number or a share such as 5% for max_errors, got {self.max_errors!r}"
            ) from None
        share = text.endswith("%") or 0 < number < 1
        return int(number * cases) if share else int(number)

    @property
    def secret(self) -> bool:
        """Whether an option of the model may hold a secret, such as an API key: headers, or a request that mentions one."""
        return any(
            name == "headers" or re.search("key|token|secret|passw|auth", str(value), re.I)
            for name, value in self._risky()
        )

    def _risky(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in self.options.items() if name in ("headers", "request")]

    def asdict(self) -> dict[str, Any]:
        """Returns the settings that differ from the defaults, in plain types, under the names that they have in run.json.

        Leaves out options that may hold a secret, and what does not decide the result.
        """
        plain, names = asdict(type(self)()), {field.name: field.metadata["old_name"] for field in fields(self)}
        hidden = [name for name, _ in self._risky()] if self.secret else []
        options = {name: value for name, value in self.options.items() if name not in hidden}
        return {
            names[name] or name: list(value) if isinstance(value, tuple) else value
            for name, value in {**asdict(self), "options": options}.items()
            if value != plain[name] and name not in BY_THE_WAY
        }


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Returns the names of settings that two runs do not have in common, sorted."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def by_field_name(kind: type[Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings by the names of the fields of a class, whether given as a flag is spelt, by an alias or an old name.

    Raises ValueError if one comes twice.
    """
    names = {field.name: field.name for field in fields(kind)} | {"with": "options"}
    for other in ("alias", "old_name"):
        names |= {field.metadata[other]: field.name for field in fields(kind) if field.metadata[other]}
    out: dict[str, Any] = {}
    for key, value in settings.items():
        name = names.get(key.replace("-", "_"), key)
        if name in out and None not in (value, out[name]):
            raise ValueError(f"expected {name} once, got it as {key}, too")
        out[name] = value if value is not None else out.get(name)
    return out


def check_log(log: Iterable[str]) -> None:
    """Raises ValueError for trackers that do not exist or come twice, and MissingResource for one that is not installed."""
    if not (log := tuple(log)):
        return
    from .trackers import read_tracker  # here: few runs are logged

    if len(set(log)) < len(log):
        raise ValueError(f"expected each tracker once for log, got {some(log)}")
    for spec in log:
        read_tracker(spec)


def _listed(value: Any) -> list[str]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _read(field: Field[Any], value: Any) -> Any:
    """Returns a value in the type of its setting. A part that is given as an object becomes its spec.

    Raises ValueError if the value does not have that type.
    """
    name, kind = field.name, str(field.type)
    if kind.startswith("tuple"):
        many = list(value) if isinstance(value, list | tuple) else [value]
        return tuple(_number(name, v) if "float" in kind else _text(name, v) for v in many)
    if kind.startswith("float"):
        return _number(name, value)
    if kind == "bool":
        check_switch(value, name)
        return value
    if kind.startswith("int"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"expected a whole number for {name}, got {value!r}")
        return value
    if kind == "bool":
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false for {name}, got {value!r}")
        return value
    if kind.startswith("dict"):
        if not isinstance(value, dict):
            raise ValueError(f"expected names and values for {name}, got {value!r}")
        return {str(key): str(v) for key, v in value.items()} if kind == "dict[str, str]" else value
    return _text(name, value)


def _text(name: str, value: Any) -> str:
    value = value.item() if hasattr(value, "item") and not isinstance(value, type) else value  # of NumPy and torch
    if isinstance(value, list | tuple | dict | set):
        raise ValueError(f"expected text, such as name(option=value), for {name}, got {value!r:.80}")
    return str(value) if isinstance(value, str | int | float | Path) else as_spec(value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number for {name}, got {value!r}") from None


def _check(field: Field[Any], value: Any) -> None:
    """Raises ValueError if a value is not among the choices or outside the bounds of its setting."""
    choices, least, bounds = (field.metadata[name] for name in ("choices", "least", "bounds"))
    if value is None or value == field.default:
        return
    for one in value if isinstance(value, tuple) and choices else (value,):
        if choices and one not in choices:
            raise ValueError(f"expected {' or '.join(choices)} for {field.name}, got {one!r}")
    if least is not None and value < least:
        raise ValueError(f"expected {least} or more for {field.name}, got {value}")
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        raise ValueError(f"expected a number in [{bounds[0]:g}, {bounds[1]:g}] for {field.name}, got {value}")


def read_settings(path: str) -> dict[str, Any]:
    """Returns the settings in a YAML or TOML file. Raises ValueError if it cannot be read."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a file of settings, got nothing of that name") from None
    except (UnicodeDecodeError, IsADirectoryError) as error:
        raise ValueError(f"{path}: expected a text file of settings, got: {error}") from None
    if file.suffix.lower() not in (".yaml", ".yml", ".toml"):
        raise ValueError(f"{path}: expected .yaml, .yml or .toml, got {file.suffix or 'no suffix'!r}")
    try:
        if file.suffix.lower() == ".toml":
            if sys.version_info >= (3, 11):
                import tomllib
            else:
                import tomli as tomllib
            found: Any = tomllib.loads(text)
        else:
            import yaml

            found = yaml.safe_load(text) or {}
    except Exception as error:  # the parsers' own errors have no common class
        raise ValueError(
            f"{path}: expected {file.suffix[1:].upper()}, got: {' '.join(str(error).split())[:200]}"
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected names and values, got {type(found).__name__}")
    if strange := [name for name in found if not isinstance(name, str)]:
        raise ValueError(f"{path}: expected names of settings, got {strange[0]!r}")
    return found
