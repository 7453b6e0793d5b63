"""Real runs on small models: what the tests of pages, tables and gates read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import scuff
from scuff.runs.folder import Folder

EVIL = "<script>alert('&amp;')</script> $title ${body}\u200b"
SEARCH: dict[str, Any] = {
    "goal": "untargeted", "transform": ["homoglyph", "3*typo(operations='insert')"], "constraint": ["stop-words"],
    "without": ["changed", "meaning"], "encoder": "chrf",
}  # fmt: skip


def notes() -> list[dict[str, Any]]:
    """70 texts, of which most can be broken by changing two words. Some have more such words than a search may ask about, some
    are not rude at all, two make the model raise once they are changed, some have another label than the model gives; two more
    rows have no text.
    """
    rows: list[dict[str, Any]] = []
    for number in range(70):
        text, label = f"What a silly note {number}, full of rubbish and {EVIL}", "offensive"
        if number % 8 == 3:
            text = text.replace("note", "note, thick as bricks, thick as stones, thick as walls, thick as fog, thick")
        elif number in (14, 34):
            text = f"That silly rubbish {number} !!!"
        elif number % 10 == 7:
            label = "neither"
        elif number % 10 == 9:
            text, label = f"A plain note {number} about the garden", "neither"
        elif number % 5 == 1:
            text = f"You silly rubbish {number}"
        rows.append({"id": f"n{number}", "text": text, "label": label})
    return [*rows, *({"id": f"e{number}", "text": None, "label": "neither"} for number in range(2))]


KNOWN = {row["text"] for row in notes()}


def rude_or_not(texts: list[str]) -> list[dict[str, float]]:
    """Knows three words, and cannot stand three exclamation marks in a text that is not from the data."""
    out = []
    for text in texts:
        if text.endswith("!!!") and text not in KNOWN:
            raise RuntimeError("timed out")
        hits = sum(text.count(word) for word in ("silly", "rubbish")) + 2 * text.count("thick")
        rude = (0.02, 0.61, 0.98)[min(hits, 2)]
        out.append({"offensive": rude, "neither": 1 - rude})
    return out


def attack_notes(folder: Path, **settings: Any) -> Folder:
    """An attack with successes, failures, errors and examples that are skipped; the texts look like markup."""
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in notes()), encoding="utf-8")
    usual = {**SEARCH, "max_queries": 60, "valid": 0.12, "id": "id"}
    scuff.attack(rude_or_not, str(folder / "notes.jsonl"), "toxictrap", folder / "run", **{**usual, **settings})
    return Folder(folder / "run")


def attack_nothing(folder: Path) -> Folder:
    """An attack on texts that the model gets wrong, so that none is attacked."""
    data = [("a silly and rubbish note", "neither"), ("a note", "offensive")] * 3
    scuff.attack(rude_or_not, data, "toxictrap", folder / "run", **SEARCH, max_queries=100)
    return Folder(folder / "run")


def with_summary(folder: Folder, path: Path, **parts: Any) -> Folder:
    """A copy of a run in which some fields of its summary are others."""
    for name in ("run.json", "results.jsonl"):
        (path / name).write_bytes((folder.path / name).read_bytes())
    Folder(path).write_json("summary.json", {**folder.read_json("summary.json"), **parts})
    return Folder(path)
