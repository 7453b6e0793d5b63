"""The page that a rater fills in: one file without network, which holds the texts and says nothing about what they are."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from unicodedata import bidirectional

from .items import Item, Key
from .studies import STUDIES

HEADS = {"meaning": ["Sentence 1", "Sentence 2"], "validity": ["Original", "Changed"], "readability": []}


def page_of(key: Key, kit: str, turn: str = "") -> str:
    """Returns the page. kit: the kit that its ratings are of. turn: keeps its work apart from that of other pages of the kit."""
    study = STUDIES[key.study]
    content = {
        "kit": kit, "turn": turn, "study": key.study, "title": study.title, "question": study.question,
        "scale": study.wording(key.language), "instructions": study.instructions, "warning": key.warning,
        "heads": HEADS[key.study], "tests": sum(item.part == "qualification" for item in key.items), "steps": _steps(key),
    }  # fmt: skip
    # neither a tag nor a placeholder can begin inside the data
    data = (
        json.dumps(content, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )
    page = Template((Path(__file__).with_name("templates") / "rate.html").read_text(encoding="utf-8"))
    return page.substitute(title=escape(study.title), data=data)


def _steps(key: Key) -> list[dict[str, Any]]:
    """Returns what raters see at a time: a pair, or a set of versions."""
    if key.study != "readability":
        return [_pair(item, key.study == "validity") for item in key.items]
    sets: dict[int, dict[str, Any]] = {}
    for item in key.items:
        step = sets.setdefault(item.group, {"items": [], "dir": direction(item.before)})
        step["items"].append({"id": item.id, "text": item.after})
    return list(sets.values())


def _pair(item: Item, labelled: bool) -> dict[str, Any]:
    texts = [item.after, item.before] if item.flipped else [item.before, item.after]
    label = {"label": item.label} if labelled and item.label else {}
    return {"id": item.id, "texts": texts, "dir": direction(item.before), **label}


def direction(original: str) -> str:
    """Returns the direction of a text by its first letter, for the attribute `dir` of the text and of all its versions.

    A version must not be asked itself: one with an Arabic or Hebrew homoglyph in front would be turned around.
    """
    for character in original:
        kind = bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "ltr" if kind == "L" else "rtl"
    return "auto"
