"""Tells folders of translators from others, without loading torch."""

from __future__ import annotations

import json
from pathlib import Path

MODEL_TYPE = "scuff-translator"  # in config.json


def is_translator(folder: str | Path) -> bool:
    """Whether a folder says that a translator is in it."""
    try:
        config = json.loads((Path(folder).expanduser() / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # ValueError: no JSON, or a name that no path can have
        return False
    return isinstance(config, dict) and config.get("model_type") == MODEL_TYPE
