"""All settings of an evaluation: from Python, the command line, or a YAML or TOML file. Unknown names are errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any

from ..attack import SETTINGS, TAGS, Dimension, distance_in_meaning, usual_meaning
from ..evaluate import CASES, DEGREES, Protocol
from ..perturb import LEVELS
from ..text.dataset import Dataset, Task
from ..victims.base import Access
from .dimensions import choose_dimensions

SIDES = {"first": (0,), "second": (1,), "both": (0, 1)}
LISTS = ("text", "label", "labels", "dimensions", "degrees", "protect", "predictions", "setting")


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
    tag: str | None = None
    setting: tuple[str, ...] = ("rule",)
    mlm: str | None = None
    encoder: str | None = None
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
            elif name in ("id", "format", "split", "none", "cache", "max_errors", "mlm", "encoder"):
                given[name] = str(value)
        config = cls(**given)
        for name, value, choices in (
            ("protocol", config.protocol, ("robtest", "zeroe")),
            ("side", config.side, tuple(SIDES)),
            *(("setting", setting, SETTINGS) for setting in config.setting),
            *((("tag", config.tag, tuple(TAGS)),) if config.tag else ()),
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
    def guided(self) -> bool:
        """Whether some dimension wants more than answers to its cases."""
        return any(s != "rule" for s in (*self.setting, *(Dimension.parse(name).setting for name in self.dimensions)))

    @property
    def secret(self) -> bool:
        """Whether an option of the model may hold a key."""
        return any(
            name == "headers" or re.search("key|token|secret|passw|auth", str(value), re.I)
            for name, value in self._risky()
        )

    def _risky(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in self.options.items() if name in ("headers", "request")]

    def protocol_for(
        self, data: Dataset, at_once: int, access: Access = Access.GRADIENT
    ) -> tuple[Protocol, dict[str, str]]:
        """The protocol, and why some dimensions or settings are left out. Zéroe's: one case at each of its levels."""
        zeroe = self.protocol == "zeroe"
        if zeroe and self.setting != ("rule",):
            raise ValueError("expected the setting rule for the protocol zeroe, got others: it has levels, not degrees")
        dimensions, left_out = choose_dimensions(self, data, access)
        degrees = self.degrees or (tuple(LEVELS.values()) if zeroe else DEGREES)
        cases = (1 if zeroe else CASES) if self.cases is None else self.cases
        protocol = Protocol(
            dimensions, degrees, max(1, cases), self.seed, SIDES[self.side], self.protect, self.width, self.beta,
            self.meaning_for(map(Dimension.parse, dimensions)) or "chrf", at_once,
        )  # fmt: skip
        protocol.usable(data)
        most = self._affordable(protocol, data)
        return replace(protocol, cases=min(cases, most)), left_out

    def meaning_for(self, dimensions: Iterable[Dimension]) -> str | None:
        """How the degree of sentence-level dimensions is measured, if there are any. An encoder that cannot be opened is told
        here.
        """
        if not any(dimension.measure == "meaning" for dimension in dimensions):
            return None
        found = self.encoder or usual_meaning()
        distance_in_meaning(found)(["one"], ["other"])
        return found

    def _affordable(self, protocol: Protocol, data: Dataset) -> int:
        """The cases per cell that the budget of queries allows: every example gets its share."""
        if self.max_queries is None:
            return sys.maxsize
        cells, beforehand = len(protocol.cells), protocol.probes(data)
        most = ((self.max_queries - beforehand) // len(data) - 1) // cells
        if most < 1:
            least = f"{len(data) * (1 + cells) + beforehand:,} for one case of {len(data):,} examples in each of {cells} cells"
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
