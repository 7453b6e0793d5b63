"""What runs must have in common to be compared, and in what they differ, a line each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ..text.ragged import Bits
from ..text.random import mix, name_bits
from .folder import BadRun, Folder
from .schema import ExampleLine, RunFile, Summary

SHOWN = 4  # runs, or values of a list, that a line names
LETTERS = 60  # of a value that are shown
# parts of an attack's key that decide what it tries, beside its recipe
ATTACK_KEYS = ("seed", "side", "protect", "max_time", "meaning", "most")


class Differing(BadRun):
    """Raised for runs that differ in more than the model. lines: what differs."""

    def __init__(self, lines: Sequence[str]) -> None:
        count = f"{len(lines)} {'difference' if len(lines) == 1 else 'differences'}"
        begin, end = (
            f"expected runs that differ in nothing but the model, got {count}",
            "anyway compares what is common",
        )
        super().__init__(f"{begin} ({'; '.join(lines)}): {end}")
        self.lines, self.short = list(lines), f"{begin}: --{end}"


def finished(folder: Folder) -> None:
    """Raises BadRun if a folder is no run, or one that is not finished."""
    run = folder.run()
    for name in ("summary.json", "results.jsonl"):
        if not folder.has(name):
            command = "attack" if run["key"].get("kind") == "attack" else "evaluate"
            again = f"`scuff {command} --resume {folder.path}` goes on"
            raise BadRun(f"{folder.path}: expected a finished run, got one without {name}: {again}")


def agreed(summary: Summary) -> dict[str, Any]:
    """Returns what two runs must have in common, by name: kind, data and what decides their cases."""
    if "kind" in summary:
        recipe, limit = summary["recipe"], summary["queries"]["limit"]
        return {"kind": summary["kind"], "data": summary["data"]["digest"], "recipe": recipe, "limit": limit}
    in_meaning = any(content["unit"] == "meaning" for content in summary["dimensions"].values())
    # meaning: if no dimension uses it
    ignored = {"at_once", "all_queries", *(() if in_meaning else ("meaning",))}
    same = {"kind": None, "data": summary["data"]["digest"], "metric": summary["metric"]}
    return {**same, **{name: value for name, value in summary["protocol"].items() if name not in ignored}}


def terms(run: RunFile, summary: Summary) -> dict[str, Any]:
    """Returns what decides the cases of a run, by name, so that a line about each can be understood."""
    same = agreed(summary)
    count = summary["examples"] if "kind" in summary else summary["clean"]["examples"]
    same["data"] = {"name": summary["data"]["name"], "examples": count, "digest": summary["data"]["digest"]}
    if "kind" in summary:
        recipe = same.pop("recipe")
        same |= {name: run["key"].get(name) for name in ATTACK_KEYS}
        same |= {f"recipe's {part}": value for part, value in recipe.items() if part != "paper"}
        if "shield" in summary:  # a model without a shield has no attacker of one
            same["attacker"] = summary["shield"]["attacker"]
    return same


def differences(names: Sequence[str], found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns in what runs differ beside the model, a line each. names: of the runs; found: their terms."""
    keys = list(dict.fromkeys(key for each in found for key in each))
    lines = []
    for key in keys:
        has = [at for at, each in enumerate(found) if key in each or key != "attacker"]
        line = _line(key, [names[at] for at in has], [found[at].get(key) for at in has])
        lines += [line] if line else []
    return lines


def _line(key: str, names: Sequence[str], values: Sequence[Any]) -> str:
    """Returns a line such as "seed: 0 in a, 1 in b"; "" if all values are the same."""
    sets = [tuple(value) for value in values if isinstance(value, list | tuple)]
    everywhere = set(sets[0]).intersection(*sets[1:]) if len(sets) == len(values) else set()
    groups: dict[str, list[str]] = {}
    called: dict[str, str] = {}
    for name, value in zip(names, values, strict=True):
        same = value["digest"] if key == "data" else _shown(value, everywhere)
        called.setdefault(
            same, f"{value['name']} ({value['examples']:,} examples, {same[:8]})" if key == "data" else same
        )
        groups.setdefault(same, []).append(name)
    if len(groups) < 2:
        return ""
    said = []
    for same, where in groups.items():
        runs = ", ".join(where) if len(where) <= SHOWN else f"{len(where)} runs"
        said.append(f"{called[same]} in {runs}")
    more = [f"{len(said) - SHOWN} more values"] if len(said) > SHOWN else []
    beside = f" (beside {len(everywhere)} in all runs)" if everywhere else ""
    return f"{key}: {', '.join([*said[:SHOWN], *more])}{beside}"


def _shown(value: Any, everywhere: set[Any]) -> str:
    """Returns a value in few letters; of a list, what not all runs have."""
    if isinstance(value, list | tuple):
        own = [f"{each:g}" if isinstance(each, float) else str(each) for each in value if each not in everywhere]
        value = " ".join([*own[:SHOWN], *([f"and {len(own) - SHOWN} more"] if len(own) > SHOWN else [])]) or "none"
    text = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def other_cases(names: Sequence[str], folders: Sequence[Folder]) -> list[str]:
    """Returns a line if evaluations with the same settings, of several versions of Scuff or of own parts, tried other cases."""
    runs = [folder.run() for folder in folders]
    makers = [(run["versions"].get("scuff"), run["key"].get("parts"), run["key"].get("files")) for run in runs]
    if all(maker == makers[0] for maker in makers) or "kind" in runs[0]["key"]:
        return []
    versions = " and ".join(dict.fromkeys(str(maker[0]) for maker in makers))
    if lost := [name for name, folder in zip(names, folders, strict=True) if not folder.parts()]:
        return [f"cases: cannot be compared, since {lost[0]} has no trials (made by scuff {versions})"]
    found = [case_bits(folder, folder.summary()) for folder in folders]
    other = [name for name, bits in zip(names, found, strict=True) if bits != found[0]]
    where = ", ".join(other) if len(other) <= SHOWN else f"{len(other)} runs"
    return [f"cases: {where} tried other texts than {names[0]} (made by scuff {versions})"] if other else []


def case_bits(folder: Folder, summary: Summary) -> dict[str, int]:
    """Returns for each dimension 64 bits that stand for its cases in the trials of an evaluation, in whatever order: example,
    degree, draw, reached degree and edit distance. Dimensions whose cases the model chooses are left out.
    """
    dimensions = {} if "kind" in summary else summary["dimensions"]
    total: Bits = np.zeros(len(dimensions), np.uint64)
    for name in folder.parts():
        if name.startswith(("clean", "unshielded")):
            continue
        part = folder.read_part(name, ("example", "dimension", "degree", "draw", "reached", "distance"))
        bits: Bits = np.zeros(part["example"].size, np.uint64)
        for column in ("example", "degree", "draw", "reached", "distance"):
            value = np.round(part[column].astype(np.float64), 6) + 0.0  # + 0.0: one zero
            bits = mix(bits ^ value.view(np.uint64) ^ name_bits(column))
        np.add.at(total, part["dimension"], bits)
    chosen = [at for at, content in enumerate(dimensions.values()) if content["setting"] == "rule"]
    return {list(dimensions)[at]: int(total[at]) for at in chosen}


def same_examples(one: Mapping[bytes, int], keys: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Returns the places in two runs of the examples that both have. one: the place of each key in the first."""
    pairs = [(one[key], at) for at, key in enumerate(keys) if key in one]
    return [first for first, _ in pairs], [second for _, second in pairs]


def key_of(line: ExampleLine) -> bytes:
    """What tells an example from others: a digest of its texts and its target."""
    return blake2b(json.dumps([line["texts"], line["target"]]).encode(), digest_size=12).digest()


def numbered(keys: Sequence[bytes]) -> list[bytes]:
    """Keys with a number behind them, which differs between equal examples."""
    seen: Counter[bytes] = Counter()
    out = []
    for key in keys:
        out.append(key + seen[key].to_bytes(4, "big"))
        seen[key] += 1
    return out
