"""What requests ask and what answers hold: the types that are checked, and that the OpenAPI document is made of.

A request is a dataclass: a field is a key of the JSON object, with its bounds and what it is. An answer is a TypedDict.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

LONGEST = 20_000  # characters of a text
LONGEST_ATTACKED = 5_000  # of one that is attacked: a search makes hundreds of it
LONG = (LONGEST, LONGEST_ATTACKED)  # what is longer is too large; a name that is too long is only wrong
MOST_TEXTS = 32  # in one request
LARGEST_SEED = 2**53 - 1  # the largest whole number that every program reads alike from JSON
NAME = 200  # characters of a name

Request = TypeVar("Request")


class Refused(Exception):
    """A request that is not answered. status: of HTTP; the message says what was expected."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def asked(
    about: str, *, default: Any = MISSING, least: float | None = None, most: float | None = None, names: str = ""
) -> Any:
    """Returns a field of a request. least, most: of a number, or of the length of a text or list. names: what kind of parts it
    names, whose names the OpenAPI document lists.
    """
    metadata = {"about": about, "least": least, "most": most, "names": names}
    return field(default=default, metadata=metadata)


def _shield() -> Any:
    about = "a shield of `about.shields` that mends texts before the model sees them"
    return asked(about, default=None, most=NAME, names="shields")


def _seed() -> Any:
    return asked("of all random choices", default=0, least=0, most=LARGEST_SEED)


@dataclass(frozen=True)
class PredictRequest:
    texts: list[str] = asked("texts for the model", least=1, most=MOST_TEXTS)
    shield: str | None = _shield()


@dataclass(frozen=True)
class PerturbRequest:
    text: str = asked("the text to perturb", most=LONGEST)
    perturbations: list[str] | None = asked(
        "names of `about.perturbations`; default: all that are quick",
        default=None,
        least=1,
        most=100,
        names="perturbations",
    )
    strength: float = asked("the share that is changed", default=0.5, least=0, most=1)
    seed: int = _seed()
    shield: str | None = _shield()
    predict: bool = asked("whether the model is asked", default=True)
    marked: bool = asked("whether rows have `marked`, HTML that shows the changes", default=False)


@dataclass(frozen=True)
class ShieldRequest:
    text: str = asked("the text to mend", most=LONGEST)
    shield: str | None = asked(
        "a shield of `about.shields`; default: the server's", default=None, most=NAME, names="shields"
    )
    predict: bool = asked("whether the model is asked, before and after", default=True)
    marked: bool = asked("whether the answer has `marked`, HTML that shows the repairs", default=False)


@dataclass(frozen=True)
class AttackRequest:
    text: str = asked("the text to attack", least=1, most=LONGEST_ATTACKED)
    recipe: str = asked("a recipe of `about.recipes`", default="deepwordbug", most=NAME, names="recipes")
    label: str | None = asked(
        "the right label; default: what the model says of the text", default=None, most=NAME, names="labels"
    )
    max_queries: int = asked("how often the search may ask the model", default=500, least=2, most=5000)
    seconds: float = asked("after which the search ends with the best text so far", default=30.0, least=0.1, most=120)
    seed: int = _seed()
    shield: str | None = _shield()


class Failure(TypedDict):
    error: str


class Answer(TypedDict):
    """said: what the model says, in words; null if it gave no answer, for which `problem` is the reason. labels: of which `said`
    is made. scores: of the likeliest labels, if the model gives them.
    """

    said: str | None
    labels: list[str]
    scores: dict[str, float] | None
    problem: str | None


class Change(TypedDict):
    """text[start:stop] was `old` and became `new`. kinds: what a shield found wrong there."""

    start: int
    stop: int
    old: str
    new: str
    kinds: list[str]


class Mended(TypedDict):
    """What a shield made of a text. marked: HTML, "" unless asked for."""

    text: str
    repairs: list[Change]
    marked: str


class Row(TypedDict):
    """One perturbation of the text. changed: whether the model's answer is another than to the text. mended: what the shield
    made of it, null without a shield. characters: names of those that were put in and cannot be told by looking. problem: why the
    text stayed as it is.
    """

    perturbation: str
    text: str
    edits: list[Change]
    marked: str
    characters: list[str]
    answer: Answer | None
    changed: bool
    mended: Mended | None
    problem: str | None


class PredictAnswer(TypedDict):
    answers: list[Answer]


class PerturbAnswer(TypedDict):
    """answer: to the text itself; mended: what the shield made of it."""

    answer: Answer | None
    mended: Mended | None
    rows: list[Row]


class ShieldAnswer(TypedDict):
    """before, after: the model's answers to the text and to the mended one."""

    shield: str
    mended: Mended
    before: Answer | None
    after: Answer | None


AttackState = Literal["running", "succeeded", "failed", "skipped", "error", "cancelled"]


class Outcome(TypedDict):
    """How an attack ended. reason: why it found nothing. text: the best text; marked: it as HTML, with its changes."""

    state: AttackState
    reason: str
    queries: int
    text: str
    edits: list[Change]
    marked: str
    characters: list[str]
    before: Answer
    after: Answer


class AttackAnswer(TypedDict):
    """An attack, running or done. queries: so far. outcome: null while it runs."""

    id: str
    state: AttackState
    queries: int
    max_queries: int
    outcome: Outcome | None


class RunEntry(TypedDict):
    """A run in the runs folder. kind: evaluate, attack or harden. what: one line about its result, or what is wrong with it.
    report: the address of its page, null if it has none. comparable: whether it can be compared.
    """

    run: str
    kind: str
    model: str
    data: str
    what: str
    report: str | None
    comparable: bool


class RunsAnswer(TypedDict):
    runs: list[RunEntry]
    left_out: int


class Part(TypedDict):
    """A perturbation, shield or recipe. missing: what must be installed or given before it works, null if nothing. quick: whether
    it is fast enough to follow the typing.
    """

    name: str
    summary: str
    missing: str | None
    quick: bool


class AboutAnswer(TypedDict):
    """live: whether the page asks the model at every keystroke; not if answers cost money. shield: the one that is used where a
    request of `shield` names none. limits: by name, of requests.
    """

    version: str
    model: str
    task: str
    labels: list[str]
    live: bool
    perturbations: list[Part]
    shields: list[Part]
    shield: str
    recipes: list[Part]
    limits: dict[str, float]


# JSON to requests


def read(kind: type[Request], content: bytes) -> Request:
    """Returns the request that a JSON object stands for. Raises Refused: 400 if it is no JSON, 413 for a text that is too long,
    422 if a key is unknown, missing, of another type or out of bounds.
    """
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"expected a JSON object, got: {str(error) or type(error).__name__}") from None
    if not isinstance(found, dict):
        raise Refused(422, f"expected a JSON object, got {_kind(found)}")
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    for name in found:
        if name not in known:
            raise Refused(422, f"expected {', '.join(known)}, got the key {name[:60]!r}")
    hints = get_type_hints(kind)
    for name, each in known.items():
        if name in found:
            if hints[name] is int and isinstance(found[name], float) and found[name].is_integer():
                found[name] = int(found[name])  # JSON knows no other whole numbers: 7.0 is one
            _check(found[name], hints[name], name, each.metadata["least"], each.metadata["most"])
        elif each.default is MISSING:
            raise Refused(422, f"expected {name} ({each.metadata['about']}), got none")
    return kind(**found)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _check(value: Any, hint: Any, name: str, least: float | None, most: float | None) -> None:
    """Raises Refused if a value is not of a type or out of its bounds."""
    if get_origin(hint) in (Union, types.UnionType):
        if value is None:
            return
        (hint,) = (one for one in get_args(hint) if one is not types.NoneType)
    if get_origin(hint) is list:
        if not isinstance(value, list):
            raise Refused(422, f"expected a list for {name}, got {_kind(value)}")
        _within(len(value), f"entries for {name}", least, most)
        for at, one in enumerate(value):
            _check(one, get_args(hint)[0], f"{name}[{at}]", None, LONGEST)
        return
    plain: Any = {str: (str,), bool: (bool,), int: (int,), float: (int, float)}[hint]
    if not isinstance(value, plain) or (isinstance(value, bool) and hint is not bool):
        wanted = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}[hint]
        raise Refused(422, f"expected {wanted} for {name}, got {_kind(value)}")
    if isinstance(value, str):
        _within(len(value), f"characters for {name}", least, most, 413 if most in LONG else 422)
    elif not isinstance(value, bool):
        _within(value, f"for {name}", least, most)


def _within(size: float, what: str, least: float | None, most: float | None, too_long: int = 422) -> None:
    if isinstance(size, float) and not math.isfinite(size):
        raise Refused(422, f"expected a finite number {what}, got {size}")
    if least is not None and size < least:
        raise Refused(422, f"expected at least {least:,} {what}, got {_shown(size)}")
    if most is not None and size > most:
        raise Refused(too_long, f"expected at most {most:,} {what}, got {_shown(size)}")


def _shown(number: float) -> str:
    return f"{number:,}" if abs(number) < 1e15 else "a larger one" if number > 0 else "a smaller one"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


# types to JSON schemas


@dataclass
class Schemas:
    """Makes JSON schemas of types. named: those of dataclasses and TypedDicts, which the others refer to. choices: the names of
    parts that requests may name, by kind.
    """

    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict)

    def of(self, kind: Any) -> dict[str, Any]:
        """Returns the schema of a type."""
        origin, args = get_origin(kind), get_args(kind)
        if isinstance(kind, type) and (is_typeddict(kind) or hasattr(kind, "__dataclass_fields__")):
            if kind.__name__ not in self.named:
                self.named[kind.__name__] = {}  # so that a type may hold itself
                self.named[kind.__name__] = self._object(kind)
            return {"$ref": f"#/components/schemas/{kind.__name__}"}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(one) for one in args]}
        if origin is Literal:
            return {"type": "string", "enum": list(args)}
        if origin is list:
            return {"type": "array", "items": self.of(args[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(args[1])}
        names = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}
        return {"type": names[kind]}

    def _object(self, kind: Any) -> dict[str, Any]:
        hints, request = get_type_hints(kind), not is_typeddict(kind)
        own = {each.name: each for each in fields(kind)} if request else {}
        about = "" if request else " ".join((kind.__doc__ or "").split())
        return {
            "type": "object",
            **({"description": about} if about else {}),
            "properties": {
                name: self._property(hint, own[name]) if request else self.of(hint) for name, hint in hints.items()
            },
            "required": [name for name in hints if not request or own[name].default is MISSING],
            "additionalProperties": False,
        }

    def _property(self, hint: Any, own: Any) -> dict[str, Any]:
        """Returns the schema of a field of a request, with its bounds."""
        optional = types.NoneType in get_args(hint)
        (inner,) = (one for one in get_args(hint) if one is not types.NoneType) if optional else (hint,)
        schema = self.of(inner)
        ends = {"array": ("minItems", "maxItems"), "string": ("minLength", "maxLength")}
        for end, bound in zip(ends.get(schema["type"], ("minimum", "maximum")), ("least", "most"), strict=True):
            schema |= {} if own.metadata[bound] is None else {end: own.metadata[bound]}
        choices = list(self.choices.get(own.metadata["names"], ()))
        if schema["type"] == "array":
            schema["items"] |= {"enum": choices} if choices else {"maxLength": LONGEST}
        elif choices:
            schema = {"type": "string", "enum": choices}
        schema = {"anyOf": [schema, {"type": "null"}]} if optional else schema
        return {**schema, "description": own.metadata["about"], **_default(own)}


def _default(own: Any) -> dict[str, Any]:
    return {} if own.default is MISSING else {"default": own.default}
