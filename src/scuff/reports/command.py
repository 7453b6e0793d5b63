"""The command, or the call in Python, that repeats a run."""

from __future__ import annotations

import ast
import shlex
from dataclasses import fields
from typing import Any

from ..attacks.constraints import CONSTRAINTS
from ..attacks.settings import AttackSettings
from ..evaluation.settings import EvaluationSettings
from ..runs.schema import RunFile
from ..runs.settings import BY_THE_WAY, SIDES, Settings
from ..specs import can_be_rebuilt

UNNEEDED = {*BY_THE_WAY, "cache"}  # settings that decide no byte of a run


def repeating(run: RunFile, **other: Any) -> tuple[str, str]:
    """Returns what repeats a run, from its run.json, and what must be given to it; "" if nothing. other: settings that it shall
    have instead.

    That is a shell command, or a call in Python if model, data or parts were objects, which no command can name.
    """
    attack = "kind" in run["key"]
    kind: type[Settings] = AttackSettings if attack else EvaluationSettings
    given = {name: value for name, value in kind.renamed(run["config"]).items() if name not in UNNEEDED}
    if attack:
        given = {"recipe": AttackSettings().recipe, **given}  # which the command may choose otherwise
    given |= _side(run, given) | other
    verb, answered = "attack" if attack else "evaluate", bool(given.get("predictions"))
    model, data = (run[what]["spec"] for what in ("model", "data"))
    lost = [
        what for what, spec in (("model", model), ("data", data)) if spec is None and not (what == "model" and answered)
    ]
    own = [spec for spec in kind.parts_in(run["config"]) if not can_be_rebuilt(spec)]
    if lost or own or set(given.get("without", ())) - set(CONSTRAINTS):
        first = [repr(spec) if spec is not None else what for what, spec in (("model", model), ("data", data))]
        options = [f"{name}={value!r}" for name, value in given.items()]
        objects = " and ".join([*lost, *own])
        needs = f"{objects}: objects in Python, or an address that may hold a key" if objects else ""
        return f"scuff.{verb}({', '.join([*first, *options])})", needs
    words = ["scuff", verb, *([model] if model is not None and not answered else []), str(data)]
    for field in fields(kind):
        if field.name in given:
            words += _flags(field.name, field.metadata, given[field.name])
    return shlex.join(words), ""


# settings about data and model that all commands on a model have
SHARED = (
    "text",
    "format",
    "delimiter",
    "no_header",
    "encoding",
    "label",
    "id",
    "task",
    "labels",
    "map",
    "none",
    "side",
)
ASKED = ("split", "options", "shield")  # and that attacks have, too


def command_for(run: RunFile, verb: str, **flags: str) -> str:
    """Returns another command on the model and data of a run, which must have specs: `scuff harden MODEL DATA ...`.

    flags: with their values; settings about the data and its labels are those of the run.
    """
    given = EvaluationSettings.renamed(run["config"])
    words = ["scuff", verb, str(run["model"]["spec"]), str(run["data"]["spec"])]
    for field in fields(EvaluationSettings):
        if field.name in given and field.name in (SHARED if verb == "harden" else (*SHARED, *ASKED)):
            words += _flags(field.name, field.metadata, given[field.name])
    if verb == "harden" and given.get("options"):  # whose --with is the method
        words += _flags("options", {"flags": ("--option",)}, given["options"])
    return shlex.join([*words, *(word for pair in flags.items() for word in pair)])


def _side(run: RunFile, given: dict[str, Any]) -> dict[str, str]:
    """Returns the side of a run that did not name it and perturbed others than is usual now: Zéroe's of pairs, up to 0.2."""
    key = run["key"]
    if "kind" in key or given.get("side"):
        return {}
    usual = list(range(len(run["data"]["fields"]))) if given.get("protocol") == "zeroe" else [0]
    named = [name for name, sides in SIDES.items() if list(sides) == key["sides"] != usual]
    return {"side": named[0]} if named else {}


def _flags(name: str, about: Any, value: Any) -> list[str]:
    """Returns the words of the command line that give a setting its value."""
    if name == "without":
        return [f"--no-{constraint}" for constraint in value]
    flag = next((one for one in about["flags"] if one.startswith("--")), f"--{name.replace('_', '-')}")
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(value, dict):
        read = _literal if name == "options" else str
        return [flag, *(f"{key}={read(one)}" for key, one in value.items())]
    if not isinstance(value, list):
        return [flag, str(value)] if not str(value).startswith("-") else [f"{flag}={value}"]
    if about["many"] == "repeated" or any(str(one).startswith("-") for one in value):
        return [f"{flag}={one}" for one in value]
    return [flag, *map(str, value)]


def _literal(value: Any) -> str:
    """Returns a value as `--with NAME=VALUE` reads it: text as it is, unless it would be read as something else."""
    if not isinstance(value, str):
        return repr(value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return repr(value)
