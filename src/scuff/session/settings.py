"""Settings in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def read_config(path: str) -> dict[str, Any]:
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
