"""The documents agree with the code: flags, names, tables, links. `test_docs.py` runs what they show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from scuff.attacks.constraints import CONSTRAINTS
from scuff.attacks.goals import GOALS
from scuff.attacks.recipes import RECIPES
from scuff.attacks.search import SEARCHES
from scuff.perturbations.base import SELECTIONS
from scuff.perturbations.names import NAMES, ZEROE

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])
OLD = {  # names of flags that stay as aliases, by the command
    "perturb": {"-p": "-a", "--perturbation": "--attack", "--copies": "--draws"},
    "zeroe": {"-p": "-a"},
    "evaluate": {"--access": "--setting"},
    "attack": {"-p": "--transform", "--perturbations": "--transform"},
}
WORDS = ["old", "new"]  # of the flags: as they were called before, and as they are documented


def text_of(document: str | Path) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def renamed(script: str, words: str) -> str:
    """Commands, each on one line; with words="old" by the old names of their flags."""
    lines = re.sub(r"\\\n\s+", "", script).splitlines()
    for at, line in enumerate(lines):
        old = OLD.get(line.split()[1], {}) if words == "old" and line.startswith("scuff ") else {}
        for new, name in old.items():
            lines[at] = re.sub(rf"(?<!\S){new}(?!\S)", name, lines[at])
    return "\n".join(lines)


@pytest.mark.slow
def test_the_old_names_of_flags_work(tmp_path: Path) -> None:
    """`test_docs.py` runs the page about files with the new ones."""
    script = "\n".join(blocks(text_of("docs/how-to/perturb.md"), "sh"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-c", renamed(script, "old")]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "noisy.csv").read_text().startswith("review,stars\n")
    assert len((tmp_path / "three.csv").read_text().splitlines()) == 4


def commands() -> Iterator[tuple[Path, str]]:
    """Every `scuff ...` command in a block of a document; what follows several blanks is an explanation."""
    for path in DOCUMENTS:
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text_of(path), re.MULTILINE | re.DOTALL):
            if language not in ("", "sh"):
                continue
            for line in re.sub(r"\\\n\s+", "", block).splitlines():
                if re.match(r"(\$ )?scuff [a-z]+ ", line):
                    line = re.split(r"\s{3,}|\s[|>]\s", line.removeprefix("$ "))[0]
                    yield path.relative_to(ROOT), line.removesuffix(" ...")


@pytest.mark.parametrize("words", WORDS)
def test_commands_in_all_documents_can_be_parsed(words: str) -> None:
    from scuff.cli.main import parser

    found = list(commands())
    assert len(found) > 40
    for path, command in found:
        try:
            parser().parse_args(shlex.split(renamed(command, words))[1:])
        except SystemExit:
            pytest.fail(f"{path}: {command}")


def test_the_reference_has_every_flag() -> None:
    from scuff.cli.main import parser

    text = text_of("docs/reference/settings.md") + text_of("docs/how-to/augment.md")
    flags = set()
    for command in parser()._subparsers._group_actions[0].choices.values():  # type: ignore[union-attr]
        flags |= set(command._option_string_actions)
    missing = {flag for flag in flags if not re.search(rf"`{re.escape(flag)}(?![\w-])", text)}
    assert missing <= {"-h", "--help", *(f"--no-{name}" for name in CONSTRAINTS)}


def test_the_settings_say_which_flags_zeroe_has() -> None:
    from scuff.cli.main import parser

    table = text_of("docs/reference/settings.md").split("## `scuff perturb` and `scuff zeroe`")[1].split("\n## ")[0]
    known = parser()._subparsers._group_actions[0].choices["zeroe"]._option_string_actions  # type: ignore[union-attr, index, call-overload]
    for row in re.findall(r"^\| `-.*", table, re.MULTILINE):
        for flag in re.findall(r"`(--[a-z-]+)", row.split(" | ")[0]):
            assert (flag in known) != ("*perturb only:*" in row), flag
    assert all(f"`{name}`" in table for name in SELECTIONS)


def test_the_table_of_perturbations_is_complete() -> None:
    table = text_of("docs/reference/perturbations.md")
    shown = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", table, re.MULTILINE))
    assert shown == {name: kind.facts.example for name, kind in NAMES.items()}
    described = re.findall(r"^\| `([\w-]+)` ", text_of("docs/papers.md"), re.MULTILINE)
    assert described == ["full-shuffle", "inner-shuffle", *(name for name in ZEROE if "shuffle" not in name)]


def test_the_reference_of_attacks_is_complete() -> None:
    from scuff.attacks.settings import AttackSettings

    text = text_of("docs/reference/attacks.md")
    missing = [name for name in (*RECIPES, *GOALS, *SEARCHES, *CONSTRAINTS) if not re.search(rf"`{name}[`(]", text)]
    assert not missing
    settings = yaml.safe_load(blocks(text_of("docs/how-to/attack.md"), "yaml")[0])
    config = AttackSettings.of(
        **{key: value for key, value in settings.items() if key not in ("model", "data", "output")}
    )
    assert config.search == "beam(width=4)" and config.without == ("pos",)


def test_the_settings_of_an_evaluation_can_be_read() -> None:
    from scuff.evaluation.settings import EvaluationSettings

    settings = yaml.safe_load(blocks(text_of("docs/how-to/evaluate.md"), "yaml")[0])
    config = EvaluationSettings.of(
        **{key: value for key, value in settings.items() if key not in ("model", "data", "output")}
    )
    assert config.dimensions == ("keyboard", "natural", "visual@edits") and config.cases == 20


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_rows_of_tables_have_as_many_cells_as_their_heads() -> None:
    for document in DOCUMENTS:
        for table in re.findall(r"(?:^\|.*\n)+", text_of(document), re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
            assert len(cells) == 1, f"{document.relative_to(ROOT)}: {table.splitlines()[0]}"


def test_links_lead_somewhere() -> None:
    wrong = []
    for document in DOCUMENTS:
        prose = re.sub(r"^```.*?^```", "", text_of(document), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "", prose)):
            if link.startswith(("http:", "https:")):
                continue
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            if not target.exists() or (anchor and anchor not in anchors(text_of(target))):
                wrong.append(f"{document.relative_to(ROOT)}: {link}")
    assert not wrong, "\n".join(wrong)


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        left += [(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", text_of(page))]
    pages = {path.resolve() for path in DOCUMENTS if ".github" not in path.parts}
    assert {path.relative_to(ROOT) for path in pages - seen} <= {Path("CHANGELOG.md"), Path("CODE_OF_CONDUCT.md")}


def test_the_face_is_short() -> None:
    readme = text_of("README.md")
    assert len(readme.split()) < 700
    assert re.match(r"# Scuff\n\n.*\n\n```\nmake demo .*\nmake test .*\n```\n", readme), "the two commands come first"


def test_prose_wraps_at_100() -> None:
    """Tables, code and headings aside; in the spot checks so are the texts that were read."""
    wrong = []
    for document in DOCUMENTS:
        prose = re.sub(r"^```.*?^```", "", text_of(document), flags=re.MULTILINE | re.DOTALL)
        samples = "spot-checks" in document.parts
        for line in prose.splitlines():
            code = line.startswith(("|", "#", "    ", "       ")) or (
                samples and re.match(r"\s*([-→*]|\d+\.)|\s", line)
            )
            if len(line) > 100 and not code:
                wrong.append(f"{document.relative_to(ROOT)}: {line}")
    assert not wrong, "\n".join(wrong)


def test_the_project_says_one_version() -> None:
    from scuff import __version__

    cited = yaml.safe_load(text_of("CITATION.cff"))
    assert str(cited["version"]) == __version__
    newest = re.search(r"^## (.+)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert newest and newest[1] == f"{__version__} ({cited['date-released']})"
