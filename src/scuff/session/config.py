"""All settings of an evaluation: from Python, the command line, or a YAML or TOML file. Unknown names are errors."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from ..evaluate import CASES, DEGREES, Protocol
from ..perturb import LEVELS, NAMES, ZEROE, Plan
from ..resources import MissingResource
from ..text.dataset import Dataset, Task

SIDES = {"first": (0,), "second": (1,), "both": (0, 1)}
LISTS = ("text", "label", "labels", "dimensions", "degrees", "protect", "predictions")


@dataclass(frozen=True)
class Config:
    """What can be set; `scuff evaluate --help` explains each."""

    text: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    id: str | None = None
    task: Task | None = None
    format: str | None = None
    split: str | None = None
    labels: tuple[str, ...] = ()
    map: dict[str, str] = field(default_factory=dict)
    none: str | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of the model
    predictions: tuple[str, ...] = ()
    examples: int = 500
    protocol: str = "robtest"
    dimensions: tuple[str, ...] = ()
    degrees: tuple[float, ...] = ()
    cases: int | None = None
    width: float | None = None
    side: str = "first"
    protect: tuple[str, ...] = ()
    beta: float = 0.5
    seed: int = 0
    workers: int = 1
    cache: str | None = None
    max_errors: str = "100"
    max_queries: int | None = None

    @classmethod
    def of(cls, **settings: Any) -> Config:
        """Check names and kinds of values; a single value stands for a list of one."""
        known = {field.name: field for field in fields(cls)}
        settings = {name.replace("-", "_"): value for name, value in settings.items()}  # as the flags are written
        if "with" in settings:
            settings["options"] = settings.pop("with")
        for name in settings:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                raise ValueError(f"expected a setting, got {name!r}; {hint}")
        given = {name: value for name, value in settings.items() if value is not None}
        for name, value in given.items():
            if name in LISTS:
                many = list(value) if isinstance(value, list | tuple) else [value]
                given[name] = tuple(_number(name, v) if name == "degrees" else str(v) for v in many)
            elif name in ("width", "beta"):
                given[name] = _number(name, value)
            elif name in ("examples", "cases", "seed", "workers", "max_queries"):
                if isinstance(value, bool) or not isinstance(value, int):
                    raise ValueError(f"expected a whole number for {name}, got {value!r}")
            elif name in ("map", "options"):
                if not isinstance(value, dict):
                    raise ValueError(f"expected names and values for {name}, got {value!r}")
                given[name] = {str(key): str(v) for key, v in value.items()} if name == "map" else value
            elif name in ("id", "format", "split", "none", "cache", "max_errors"):
                given[name] = str(value)
        config = cls(**given)
        for name, value, choices in (
            ("protocol", config.protocol, ("robtest", "zeroe")),
            ("side", config.side, tuple(SIDES)),
        ):
            if value not in choices:
                raise ValueError(f"expected {' or '.join(choices)} for {name}, got {value!r}")
        for name, least in (("examples", 1), ("workers", 1), ("max_queries", 1)):
            if (found := getattr(config, name)) is not None and found < least:
                raise ValueError(f"expected {least} or more for {name}, got {found}")
        config.error_limit(1)
        return config

    def error_limit(self, cases: int) -> int:
        """How many errors are too many: a number, or a share of all cases such as 0.05 or 5%."""
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
        """Whether an option of the model may hold a key."""
        return any(
            name == "headers" or re.search("key|token|secret|passw|auth", str(value), re.I)
            for name, value in self._risky()
        )

    def _risky(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in self.options.items() if name in ("headers", "request")]

    def protocol_for(self, data: Dataset, at_once: int) -> tuple[Protocol, dict[str, str]]:
        """The protocol, and why attacks that would be in it by default are left out. Zéroe's: one case at each of its levels."""
        zeroe = self.protocol == "zeroe"
        dimensions, left_out = self.dimensions, {}
        if zeroe:
            dimensions = tuple(name if "@" in name else f"{name}@level" for name in dimensions)
        if not dimensions:
            names = ZEROE if zeroe else tuple(NAMES)
            left_out = {name: reason for name in names if (reason := _unusable(name, data))}
            dimensions = tuple(name + ("@level" if zeroe else "") for name in names if name not in left_out)
        degrees = self.degrees or (tuple(LEVELS.values()) if zeroe else DEGREES)
        cases = (1 if zeroe else CASES) if self.cases is None else self.cases
        protocol = Protocol(
            dimensions, degrees, min(cases, self._affordable(len(dimensions) * len(degrees), len(data))), self.seed,
            SIDES[self.side], self.protect, self.width, self.beta, at_once,
        )  # fmt: skip
        protocol.usable(data)
        return protocol, left_out

    def _affordable(self, cells: int, examples: int) -> int:
        """The cases per cell that the budget of queries allows: every example gets its share."""
        if self.max_queries is None:
            return sys.maxsize
        most = (self.max_queries // examples - 1) // cells
        if most < 1:
            least = f"{examples * (1 + cells):,} for one case of {examples:,} examples in each of {cells} cells"
            raise ValueError(f"expected a max_queries of at least {least}, got {self.max_queries:,}")
        return most

    def asdict(self) -> dict[str, Any]:
        """Only what differs from the default, in plain types."""
        plain = asdict(Config())
        hidden = [name for name, _ in self._risky()] if self.secret else []
        options = {name: value for name, value in self.options.items() if name not in hidden}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in {**asdict(self), "options": options}.items()
            if value != plain[name] and name != "workers"  # which change nothing but time
        }


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number for {name}, got {value!r}") from None


def _unusable(name: str, data: Dataset) -> str:
    """Why an attack cannot run here; "" if it can."""
    if data.task == "tokens" and not NAMES[name].facts.keeps_tokens:
        return "joins words, whose tags would be lost"
    try:
        Plan(NAMES[name](), 1.0).texts(["a"])
    except MissingResource as missing:
        return str(missing)
    return ""
