"""`scuff guide`: the topics, commands that can be copied, and figures that agree with the code and the documents."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from scuff.cli.main import main, parser
from scuff.evaluation.dimensions import COLUMNS, TAGS
from scuff.evaluation.score import VALIDITY, VALIDITY_DEGREES
from scuff.perturbations.names import NAMES
from scuff.resources import load

GUIDE = load("guide.md").decode()
TOPICS = re.findall(r"^## (\w+): ", GUIDE, re.MULTILINE)
USES = ("moderation", "search", "support", "translation", "speech", "forms", "llm")
COMMANDS = [
    re.sub(r"\\\n\s+", "", command).strip()
    for command in re.findall(r"^ {4,}(scuff (?:.*\\\n)*.*)", GUIDE, re.MULTILINE)
]


def guide(capsys: pytest.CaptureFixture[str], *topic: str) -> str:
    assert main(["guide", *topic]) == 0
    return capsys.readouterr().out


def test_the_start_names_all_topics(capsys: pytest.CaptureFixture[str]) -> None:
    out = guide(capsys)
    assert {*USES, "dimensions", "access", "degrees", "report", "repair"} == set(TOPICS)
    assert all(f"  scuff guide {topic} " in out for topic in TOPICS) and "\n## " not in out
    assert all(re.search(rf"^\| .* \| {topic} +\|$", out, re.MULTILINE) for topic in USES)
    assert max(map(len, guide(capsys, "all").splitlines())) <= 115, "fits into a window"


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = guide(capsys, topic)
    assert out.startswith(f"## {topic}: ") and out.count("\n## ") == 0 and out.rstrip() in GUIDE
    if topic in USES:
        assert f"-o runs/{topic}" in out, "with the command"


def test_an_unknown_topic(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "moderatoin"]) == 2
    assert capsys.readouterr().err == "scuff: expected a topic, got 'moderatoin'; did you mean moderation?\n"
    assert main(["guide", "xyz"]) == 2
    assert "known are dimensions, access, degrees, moderation," in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_can_be_copied(command: str) -> None:
    args = parser().parse_args(shlex.split(command)[1:])
    assert all(name in COLUMNS or name in NAMES for name in getattr(args, "dimensions", None) or ())


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 13 and all(command.startswith("scuff ") for command in COMMANDS)


def test_flags_exist() -> None:
    known = set()
    for action in parser()._subparsers._group_actions[0].choices.values():  # type: ignore[union-attr]
        known |= set(action._option_string_actions)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE)) <= known


def test_figures_and_tags_are_those_of_the_paper() -> None:
    rows = re.findall(
        r"^\| ([\w-]+) .*\| (words|characters|meaning) +\| ([\d.]+) +([\d.]+) +([\d.]+) +\|$", GUIDE, re.MULTILINE
    )
    assert {name for name, *_ in rows} == set(COLUMNS) == set(VALIDITY)
    for name, _, *valid in rows:
        assert [float(each) for each in valid] == np.interp([0.1, 0.3, 0.5], VALIDITY_DEGREES, VALIDITY[name]).tolist()
    said = re.search(r"- General: (.*?)\. Malicious:\s+(.*?)\.\n- ", GUIDE, re.DOTALL)
    assert said
    assert [re.split(r",\s+", part) for part in said.groups()] == [TAGS["general"], TAGS["malicious"]]


def test_the_document_is_the_same_text() -> None:
    document = Path(__file__).parents[2] / "docs" / "guide.md"
    assert document.read_bytes() == load("guide.md"), "copy src/scuff/resources/data/guide.md to docs/guide.md"
