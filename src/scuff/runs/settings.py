"""Settings that all runs have in common, and settings files in YAML or TOML."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from ..data.dataset import Task

SIDES = {"first": (0,), "second": (1,), "both": (0, 1)}

Self = TypeVar("Self", bound="Settings")


@dataclass(frozen=True)
class Settings:
    """What can be set about the data, the model and how a run goes on."""

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
    mlm: str | None = None
    encoder: str | None = None
    side: str = "first"
    protect: tuple[str, ...] = ()
    seed: int = 0
    workers: int = 1
    cache: str | None = None
    max_errors: str = "100"
    max_queries: int | None = None

    @classmethod
    def of(cls: type[Self], **settings: Any) -> Self:
        """Check names and kinds of values; a single value stands for a list of one."""
        known = {field.name: str(field.type) for field in fields(cls)}
        settings = {name.replace("-", "_"): value for name, value in settings.items()}  # as the flags are written
        if "with" in settings:
            settings["options"] = settings.pop("with")
        for name in settings:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                raise ValueError(f"expected a setting, got {name!r}; {hint}")
        given = {name: _read(name, known[name], value) for name, value in settings.items() if value is not None}
        config = cls(**given)
        config.check()
        return config

    def check(self) -> None:
        """Values that no run can have are told at once."""
        for name, value, choices in self.choices():
            if value not in choices:
                raise ValueError(f"expected {' or '.join(choices)} for {name}, got {value!r}")
        for name in ("examples", "workers", "max_queries"):
            if (found := getattr(self, name)) is not None and found < 1:
                raise ValueError(f"expected 1 or more for {name}, got {found}")
        self.error_limit(1)

    def choices(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Settings with few values: name, value, what it may be."""
        return [("side", self.side, tuple(SIDES))]

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

    def asdict(self) -> dict[str, Any]:
        """Only what differs from the default, in plain types."""
        plain = asdict(type(self)())
        hidden = [name for name, _ in self._risky()] if self.secret else []
        options = {name: value for name, value in self.options.items() if name not in hidden}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in {**asdict(self), "options": options}.items()
            if value != plain[name] and name != "workers"  # which change nothing but time
        }


def _read(name: str, kind: str, value: Any) -> Any:
    """A value of the kind that a setting has."""
    if kind.startswith("tuple"):
        many = list(value) if isinstance(value, list | tuple) else [value]
        return tuple(_number(name, v) if "float" in kind else str(v) for v in many)
    if kind.startswith("float"):
        return _number(name, value)
    if kind.startswith("int"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"expected a whole number for {name}, got {value!r}")
        return value
    if kind.startswith("dict"):
        if not isinstance(value, dict):
            raise ValueError(f"expected names and values for {name}, got {value!r}")
        return {str(key): str(v) for key, v in value.items()} if kind == "dict[str, str]" else value
    return str(value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number for {name}, got {value!r}") from None


def read_settings(path: str) -> dict[str, Any]:
    """The settings in a YAML or TOML file."""
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
    return found
