"""Every command and program in the README runs as it stands, and the documents agree with the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scuff.attacks.constraints import CONSTRAINTS
from scuff.attacks.goals import GOALS
from scuff.attacks.recipes import RECIPES
from scuff.attacks.search import SEARCHES
from scuff.perturbations.base import LEVELS
from scuff.perturbations.names import NAMES, ZEROE

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_shell_commands_run(tmp_path: Path) -> None:
    script = "\n".join(block for block in blocks(README, "sh") if "pip install" not in block)
    assert "scuff zeroe" in script and "scuff perturb" in script
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "noisy.csv").read_text().startswith("review,stars\n")
    assert len((tmp_path / "three.csv").read_text().splitlines()) == 4
    assert (tmp_path / "shuffled.txt").read_text().startswith("review,stars\n")
    assert (tmp_path / "run" / "report.html").is_file() and (tmp_path / "checks.xml").is_file()
    printed, shown = done.stdout.decode().splitlines(), blocks(README, "text")[0].splitlines()
    assert "attack success rate" in "".join(shown) and set(shown) - {"..."} <= set(printed), "the output is real"
    assert len(list((tmp_path / "benchmark").iterdir())) == 2 + len(ZEROE) * (len(LEVELS) + 2) + 1


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/attack.md"])
def test_python_runs(document: str) -> None:
    for block in blocks((ROOT / document).read_text(encoding="utf-8"), "python"):
        exec(compile(block, document, "exec"), {})


def test_a_contributed_perturbation_keeps_the_contract() -> None:
    import scuff

    names: dict[str, type[scuff.Perturbation]] = {}
    exec(blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python")[0], names)
    assert scuff.perturb("write this LOUD", names["Shout"](), 1) == "WRITE THIS LOUD"


def test_the_table_of_attacks_is_complete() -> None:
    shown = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", README, re.MULTILINE))
    assert shown == {name: kind.facts.example for name, kind in NAMES.items()}
    described = re.findall(r"^\| `([\w-]+)` ", (ROOT / "docs/attacks.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert described == ["full-shuffle", "inner-shuffle", *(name for name in ZEROE if "shuffle" not in name)]


def test_the_guide_to_attacks_is_complete() -> None:
    from scuff.attacks.settings import AttackSettings

    text = (ROOT / "docs/attack.md").read_text(encoding="utf-8")
    missing = [name for name in (*RECIPES, *GOALS, *SEARCHES, *CONSTRAINTS) if not re.search(rf"`{name}[`(]", text)]
    assert not missing
    settings = yaml.safe_load(blocks(text, "yaml")[0])
    config = AttackSettings.of(
        **{key: value for key, value in settings.items() if key not in ("model", "data", "output")}
    )
    assert config.search == "beam(width=4)" and config.without == ("pos",)


def test_links_lead_somewhere() -> None:
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/*.md")]:
        for link in re.findall(r"\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            assert link.startswith("http") or (document.parent / link.split("#")[0]).exists(), (
                f"{document.name}: {link}"
            )
