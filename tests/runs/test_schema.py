"""Every file of a real run is of the type that `runs/schema.py` gives it, for every task; and the check of that bites."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints, is_typeddict

import pytest

import scuff
from scuff.reports import write_attack_report, write_report
from scuff.runs import schema
from scuff.runs.checking import mismatch
from scuff.runs.folder import BadRun, Folder
from scuff.runs.schema import (
    ANSWER_COLUMNS,
    ATTACK_COLUMNS,
    CASE_COLUMNS,
    LOST_COLUMNS,
    SHIELD_COLUMNS,
    TEXT_COLUMNS,
    UNAWARE_COLUMN,
    UNFIT_COLUMN,
    AttackKey,
    AttackLine,
    AttackSummary,
    Edit,
    EvaluationKey,
    EvaluationLine,
    EvaluationSummary,
    ExampleLine,
    RunFile,
    Timing,
)
from victims.stripping import Strip

SMALL: dict[str, Any] = {
    "examples": 20,
    "cases": 2,
    "degrees": [0.2, 0.6],
    "dimensions": ["keyboard", "typo-m"],
    "encoder": "chrf",
}
ATTACK: dict[str, Any] = {
    "examples": 20, "recipe": "deepwordbug", "goal": "untargeted", "encoder": "chrf", "without": ["edit-distance"],
}  # fmt: skip
OTHER = r"summary\.json: expected a file that this version of Scuff wrote, got another"
PAIRS = [(f"the first text of {n}", f"a second text of {n}", "yes" if n % 2 else "no") for n in range(6)]
TAGS = [{"tokens": ["Anna", "saw", "the", f"{n}"], "tags": ["N", "V", "O", "O"]} for n in range(4)]
VOWELS = Strip("aeiou")  # a shield
TEXTS = [(f"a text about number {n}", f"ein Text über Nummer {n}") for n in range(4)]


def same(first: list[str], second: list[str]) -> list[str]:
    return ["yes" if "second" in b and a[-1] in "135" else "no" for a, b in zip(first, second, strict=True)]


def tagger(rows: list[list[str]]) -> list[list[str]]:
    known = {"Anna": "N", "saw": "V"}
    return [[known.get(token, "O") for token in row] for row in rows]


def translator(texts: list[str]) -> list[str]:
    return [text.replace("a text about number", "ein Text über Nummer") for text in texts]


def refusing(texts: list[str]) -> list[Any]:
    """Gives scores, but not for every text."""
    return [None if "2" in text or "rs" not in text else {"yes": 0.9, "no": 0.1} for text in texts]


EVALUATIONS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "scores": ("toy:sentiment", "toy:sentiment", {"setting": ["rule", "score"], "dimensions": ["keyboard", "syntax"]}),
    "sets": ("toy:tone", "toy:tone", {"width": 0.2, "cases": 6}),
    "pairs": (same, PAIRS, {}),
    "tags": (tagger, TAGS, {}),
    "texts": (translator, TEXTS, {"task": "text"}),
    "refusing": (refusing, [(text, label) for text, _, label in PAIRS], {}),
    "shielded": ("toy:sentiment", "toy:sentiment", {"shield": VOWELS}),
}
ATTACKS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "scores": ("toy:sentiment", "toy:sentiment", {}),
    "sets": ("toy:tone", "toy:tone", {"recipe": "tt-deepwordbug", "goal": "toxictrap", "max_queries": 20}),
    "pairs": (same, PAIRS, {"side": "second", "search": "best-of"}),
    "tags": (tagger, TAGS, {"goal": "tags(share=0.2)"}),
    "texts": (translator, TEXTS, {"task": "text"}),
    "refusing": (refusing, [(text, label) for text, _, label in PAIRS], {}),
    "shielded": ("toy:sentiment", "toy:sentiment", {"shield": VOWELS}),
    "unaware": ("toy:sentiment", "toy:sentiment", {"shield": VOWELS, "attacker": "unaware"}),
    "shielded tags": (tagger, TAGS, {"goal": "tags(share=0.2)", "shield": VOWELS, "attacker": "unaware"}),
    "shielded texts": (translator, TEXTS, {"task": "text", "shield": Strip("q"), "attacker": "unaware"}),
}


@pytest.fixture(scope="module", params=EVALUATIONS)
def evaluated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    model, data, settings = EVALUATIONS[request.param]
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    scuff.evaluate(model, data, folder, **{**SMALL, **settings})
    return Folder(folder)


@pytest.fixture(scope="module", params=ATTACKS)
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    model, data, settings = ATTACKS[request.param]
    folder = tmp_path_factory.mktemp("attacked") / "run"
    scuff.attack(model, data, output=folder, **{**ATTACK, **settings})
    return Folder(folder)


def check(folder: Folder, key: Any, summary: Any, line: Any) -> None:
    for name, kind in (("run.json", RunFile), ("summary.json", summary), ("timings.json", list[Timing])):
        assert mismatch(folder.read_json(name), kind) == "", name
    assert mismatch(folder.read_json("run.json")["key"], key) == ""
    for name, kind in (("examples.jsonl", ExampleLine), ("results.jsonl", line)):
        lines = list(folder.read_lines(name))
        assert lines and {mismatch(found, kind) for found in lines} == {""}, name


def columns(folder: Folder, part: str) -> dict[str, str]:
    return {name: str(array.dtype) for name, array in folder.read_part(part).items()}


def test_files_of_an_evaluation(evaluated: Folder) -> None:
    check(evaluated, EvaluationKey, EvaluationSummary, EvaluationLine)
    assert "left_out" in evaluated.run() and "recipe" not in evaluated.run()
    assert "kind" not in evaluated.summary() and "kind" not in evaluated.run()["key"]
    with pytest.raises(BadRun, match=OTHER):
        write_attack_report(evaluated)
    for part in evaluated.parts():
        more = {} if part.startswith("clean") else UNFIT_COLUMN
        assert columns(evaluated, part) in [{**CASE_COLUMNS, **more, **answers} for answers in ANSWER_COLUMNS], part


def test_files_of_an_attack(attacked: Folder) -> None:
    check(attacked, AttackKey, AttackSummary, AttackLine)
    assert "recipe" in attacked.run() and "left_out" not in attacked.run()
    assert "kind" in attacked.summary() and "kind" in attacked.run()["key"]
    with pytest.raises(BadRun, match=OTHER):
        write_report(attacked)
    for part in attacked.parts():
        kind = ATTACK_COLUMNS if part.startswith("attack") else CASE_COLUMNS
        if kind is ATTACK_COLUMNS and "shield" in attacked.run():
            unaware = UNAWARE_COLUMN if "attacker" in attacked.run()["key"] else {}
            kind = {**kind, **SHIELD_COLUMNS, **unaware}
        lost = LOST_COLUMNS if kind is not CASE_COLUMNS and attacked.read_part(part)["unanswered"].any() else {}
        halves = TEXT_COLUMNS if kind is not CASE_COLUMNS and attacked.summary()["task"] == "text" else {}
        assert columns(attacked, part) in [{**kind, **lost, **halves, **answers} for answers in ANSWER_COLUMNS], part


def places(value: Any, kind: Any) -> Iterator[tuple[Any, str]]:
    """All (dict, required key) in a value of some type, the first entry of each list or dict only."""
    if is_typeddict(kind):
        for name, hint in get_type_hints(kind).items():
            if name in value:
                yield from ((value, key) for key in [name] if name in kind.__required_keys__)
                yield from places(value[name], hint)
    elif isinstance(value, dict | list) and value:
        first = next(iter(value.values())) if isinstance(value, dict) else value[0]
        for part in getattr(kind, "__args__", ()):
            if is_typeddict(part):
                yield from places(first, part)


def test_no_key_may_be_missing_or_new_or_of_another_type(tmp_path: Path) -> None:
    """Whatever one takes from a real summary, or adds, is found."""
    scuff.attack("toy:tone", "toy:tone", "tt-deepwordbug", tmp_path / "a", examples=20, encoder="chrf")
    scuff.evaluate("toy:tone", "toy:tone", tmp_path / "e", **SMALL)
    for name, kind, least in (("a", AttackSummary, 60), ("e", EvaluationSummary, 80)):
        whole = Folder(tmp_path / name).read_json("summary.json")
        found = list(places(whole, kind))
        assert len(found) > least
        for inside, key in found:
            kept = inside.pop(key)
            assert f".{key} is missing" in mismatch(whole, kind)
            inside[key] = {"no": object()}
            assert mismatch(whole, kind), key
            inside[key] = kept
            inside["strange"] = 1
            assert ".strange is unknown" in mismatch(whole, kind)
            del inside["strange"]
        assert mismatch(whole, kind) == ""


class Inner(TypedDict):
    name: str


class Outer(TypedDict, total=False):
    inner: Inner | None
    numbers: list[float | None]
    kind: Literal["a", "b"]
    by_name: dict[str, int]
    edits: list[Edit]
    flag: bool
    count: int


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, ""),
        ({"inner": None, "numbers": [1, 0.5, None], "kind": "b", "by_name": {"x": 1}, "flag": True, "count": 3}, ""),
        ({"inner": {"name": "x"}, "edits": [[0, 1, 2, "new"]]}, ""),
        ([], " is no Outer: []"),
        ({"inner": {"name": 1}}, ".inner.name is no str: 1"),
        ({"inner": {}}, ".inner.name is missing"),
        ({"numbers": [1, "2"]}, ".numbers.1 is no "),
        ({"numbers": "12"}, ".numbers is no list: '12'"),
        ({"kind": "c"}, ".kind is no "),
        ({"by_name": {"x": 0.5}}, ".by_name.x is no int: 0.5"),
        ({"edits": [[0, 1, "new"]]}, ".edits.0 is no tuple: [0, 1, 'new']"),
        ({"edits": [[0, 1, 2, None]]}, ".edits.0.3 is no str: None"),
        ({"flag": 1}, ".flag is no bool: 1"),
        ({"count": True}, ".count is no int: True"),
        ({"other": 1}, ".other is unknown"),
    ],
)
def test_mismatches(value: Any, said: str) -> None:
    found = mismatch(value, Outer)
    assert found.startswith(said) and bool(found) == bool(said)


def test_the_version_is_defined_once() -> None:
    source = Path(schema.__file__).parents[1]
    runs = [path for room in ("runs", "evaluation", "attacks", "reports") for path in (source / room).rglob("*.py")]
    assert sum("\nSCHEMA = " in path.read_text(encoding="utf-8") for path in runs) == 1


def test_another_version_is_refused(tmp_path: Path) -> None:
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", **SMALL)
    folder = Folder(tmp_path / "run")
    for name in ("run.json", "summary.json"):
        kept = folder.read_json(name)
        folder.write_json(name, {**deepcopy(kept), "schema": schema.SCHEMA + 1})
        with pytest.raises(BadRun, match=f"{name}: expected a file that this version of Scuff wrote, got another$"):
            folder.summary() if name == "summary.json" else folder.run()
        (folder.path / name).write_text(json.dumps(kept), encoding="utf-8")
