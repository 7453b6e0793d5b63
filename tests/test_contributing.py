"""CONTRIBUTING shows the files of examples/parts, and each part plugs in: in Python, by its file, as an entry point."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import scuff
from scuff.cli.main import main
from test_rooms import MAY_IMPORT

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "examples" / "parts"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FAMILIES = ("perturbation", "constraint", "search", "goal", "metric", "victim", "recipe", "shield")
ATTACK = {"encoder": "chrf", "examples": 60, "max_queries": 60}
FLAGS = ["--encoder", "chrf", "--examples", "60", "--max-queries", "60", "-q"]


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> object:
    """Imports a part as a user's program does."""
    monkeypatch.syspath_prepend(PARTS)
    yield import_module
    for family in FAMILIES:
        sys.modules.pop(family, None)


def lines(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def attacked(run: Path, *flags: str) -> list[dict[str, object]]:
    """The successes of an attack on the command line."""
    assert main(["attack", "toy:sentiment", "toy:sentiment", "-o", str(run), *flags, *FLAGS]) == 0
    won = [line for line in lines(run) if line["status"] == "succeeded"]
    assert won
    return won


def test_the_files_are_shown() -> None:
    shown = re.findall(r"^```python\n(.*?)^```", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    assert shown == [(PARTS / f"{family}.py").read_text(encoding="utf-8") for family in FAMILIES]
    assert sorted(path.stem for path in PARTS.glob("*.py")) == sorted(FAMILIES)


def test_the_rooms_are_shown() -> None:
    table = CONTRIBUTING.partition("## Where things are")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", table, re.MULTILINE))
    assert set(rows) == set(MAY_IMPORT)
    for room in ("english", "huggingface", "metrics", "specs"):
        assert set(re.findall(r"`(\w+)`", rows[room])) == MAY_IMPORT[room]
    named = re.findall(r"`(\w+/\w+\.py|\w+\.py)`", CONTRIBUTING.partition("## Where to look")[2].partition("\n## ")[0])
    assert len(named) > 8 and all((ROOT / "src" / "scuff" / path).is_file() for path in named)


def test_a_perturbation(part: type[ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shout = part("perturbation").Shout
    assert scuff.perturb("write this LOUD", shout(), 1) == "WRITE THIS LOUD"
    assert scuff.perturb("write this", shout(loud=True), 1) == "WRITE! THIS!"
    assert scuff.perturb("keep this", shout(), 1, protect=["word:this"]) == "KEEP this"
    result = scuff.evaluate("toy:sentiment", "toy:sentiment", dimensions=[shout()], degrees=[0.5], cases=2, examples=30)
    assert [name.rpartition(":")[2] for name in result.summary["dimensions"]] == ["Shout"]
    (tmp_path / "in.txt").write_text("write this\n", encoding="utf-8")
    spec = f"{PARTS / 'perturbation.py'}:Shout(loud=True)"
    assert main(["perturb", str(tmp_path / "in.txt"), "-a", spec, "-l", "1", "-q"]) == 0
    assert capsys.readouterr().out == "WRITE! THIS!\n"


def test_a_perturbation_in_workers(tmp_path: Path) -> None:
    spec = f"loud={PARTS / 'perturbation.py'}:Shout"
    settings = {"dimensions": [spec], "degrees": [0.5], "cases": 2, "examples": 30}
    one = scuff.evaluate("toy:sentiment", "toy:sentiment", **settings)
    two = scuff.evaluate("toy:sentiment", "toy:sentiment", workers=2, **settings)
    assert one.summary == two.summary and list(one.summary["dimensions"]) == ["loud"]


def test_a_constraint(part: type[ModuleType], tmp_path: Path) -> None:
    same = part("constraint").SameLength
    result = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", constraint=[same()], **ATTACK)
    assert result.adversarial and all(len(before) == len(after) for before, after in result.adversarial)
    free = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", **ATTACK)
    assert any(len(before) != len(after) for before, after in free.adversarial)
    spec = f"{PARTS / 'constraint.py'}:SameLength(most=1)"
    won = attacked(tmp_path / "run", "--recipe", "deepwordbug", "--constraint", spec)
    for line in won:
        before, after = line["texts"][0], line["adversarial"]["texts"][0]  # type: ignore[index]
        assert abs(len(before) - len(after)) <= 1


def test_a_search(part: type[ModuleType], tmp_path: Path) -> None:
    one = part("search").OneEdit
    result = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", search=one(), **ATTACK)
    won = [line for line in result.lines if line["status"] == "succeeded"]
    assert won and all(len(line["adversarial"]["edits"]) == 1 for line in won)
    spec = f"{PARTS / 'search.py'}:OneEdit(most=5)"
    for line in attacked(tmp_path / "run", "--recipe", "deepwordbug", "--search", spec):
        assert line["queries"] <= 6  # type: ignore[operator]


def test_a_goal(part: type[ModuleType], tmp_path: Path) -> None:
    unsure = part("goal").Unsure
    result = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", goal=unsure(below=0.9), **ATTACK)
    usual = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", **ATTACK)
    assert result.success > usual.success
    spec = f"{PARTS / 'goal.py'}:Unsure(below=0.9)"
    won = attacked(tmp_path / "run", "--recipe", "deepwordbug", "--goal", spec)
    assert len(won) == sum(line["status"] == "succeeded" for line in result.lines)


def test_a_metric(part: type[ModuleType], tmp_path: Path) -> None:
    balanced = part("metric").BalancedAccuracy
    data = [("good", "positive")] * 9 + [("bad", "negative")]
    result = scuff.evaluate(
        lambda texts: ["positive" for _ in texts],
        data,
        metric=balanced(),
        dimensions=["keyboard"],
        degrees=[0.5],
        cases=1,
    )
    assert result.clean == pytest.approx(0.5), "nine of ten are right, but of one label none"
    spec = f"{PARTS / 'metric.py'}:BalancedAccuracy"
    flags = ["--metric", spec, "--dimensions", "keyboard", "--degrees", "0.5", "--cases", "1", "--examples", "30", "-q"]
    assert main(["evaluate", "toy:sentiment", "toy:sentiment", "-o", str(tmp_path / "run"), *flags]) == 0


def test_a_victim(part: type[ModuleType], tmp_path: Path) -> None:
    keywords = part("victim").Keywords
    data = [("a good day", "positive"), ("a bad day", "negative")] * 5
    settings = {"dimensions": ["keyboard"], "degrees": [0.5], "cases": 2}
    assert scuff.evaluate(keywords(), data, **settings).clean == 1
    assert scuff.evaluate(keywords(good="bad", bad="good"), data, **settings).clean == 0
    (tmp_path / "data.csv").write_text("text,label\na fine day,positive\na bad day,negative\n", encoding="utf-8")
    spec = f"{PARTS / 'victim.py'}:Keywords(good='fine')"
    flags = ["--dimensions", "keyboard", "--degrees", "0.5", "--cases", "2", "-q"]
    assert main(["evaluate", spec, str(tmp_path / "data.csv"), "-o", str(tmp_path / "run"), *flags]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["clean"]["score"]["value"] == 1


def test_a_recipe(part: type[ModuleType], tmp_path: Path) -> None:
    hasty = part("recipe").hasty
    result = scuff.attack("toy:sentiment", "toy:sentiment", hasty(proposals=2), **ATTACK)
    spec = f"{PARTS / 'recipe.py'}:hasty(proposals=2)"
    won = attacked(tmp_path / "run", "--recipe", spec)
    assert len(won) == len(result.adversarial)


def test_a_shield(part: type[ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entities = part("shield").Entities
    text = "R&amp;D &#9829; &unknown; AT&T"
    assert scuff.shield(text, entities()) == "R&D ♥ &unknown; AT&T"
    new, repairs = scuff.shield(text, entities(numbers=True), return_edits=True)
    assert new == "R&amp;D ♥ &unknown; AT&T" and repairs == [(8, 15, "&#9829;", "♥", ("entity",))]
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    assert main(["shield", str(tmp_path / "in.txt"), "--shield", f"{PARTS / 'shield.py'}:Entities", "-q"]) == 0
    assert capsys.readouterr().out == "R&D ♥ &unknown; AT&T"


GROUPS = {
    "perturbations": "shout = perturbation:Shout", "constraints": "same-length = constraint:SameLength",
    "searches": "one-edit = search:OneEdit", "goals": "unsure = goal:Unsure", "recipes": "hasty = recipe:hasty",
    "metrics": "balanced-accuracy = metric:BalancedAccuracy", "victims": "keywords = victim:Keywords",
    "shields": "entities = shield:Entities",
}  # fmt: skip


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which a package publishes all parts as entry points."""
    info = tmp_path / "site" / "parts-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parts\nVersion: 1.0\n", encoding="utf-8")
    groups = [f"[scuff.{group}]\n{entry}\n" for group, entry in GROUPS.items()]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    paths = [str(info.parent), str(PARTS), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def scuff_run(environment: dict[str, str], *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "scuff", *arguments], env=environment, input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_entry_points(installed: dict[str, str], tmp_path: Path) -> None:
    assert scuff_run(installed, "perturb", "-", "-a", "shout", "-l", "1", "-q", text="say it\n") == "SAY IT\n"
    parts = ["--recipe", "hasty", "--search", "one-edit", "--goal", "unsure", "--constraint", "same-length"]
    scuff_run(installed, "attack", "toy:sentiment", "toy:sentiment", *parts, "-o", str(tmp_path / "run"), *FLAGS)
    assert scuff_run(installed, "shield", "--shield", "entities", "-q", text="&lt;3\n") == "<3\n"
    summary = (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")
    assert all(name in summary for name in ("hasty", "one-edit", "unsure", "same-length"))


def test_entry_points_are_listed(installed: dict[str, str]) -> None:
    listed = scuff_run(installed, "list")
    missing = [entry.split()[0] for entry in GROUPS.values() if entry.split()[0] not in listed]
    assert not missing
