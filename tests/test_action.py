"""The GitHub Action: valid by GitHub's schema, and its shell steps really run, as far as they do not need GitHub."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}
GATE = (ROOT / "docs" / "how-to" / "gate.md").read_text(encoding="utf-8")
WORKFLOW = next(
    block for block in re.findall(r"^```yaml\n(.*?)^```", GATE, re.MULTILINE | re.DOTALL) if "\non:" in block
)
SMALL = "--dimensions keyboard --degrees 0.3 --examples 20 --cases 1 -q"
GH = """#!/bin/bash
# In place of GitHub's command: notes what it is called with, keeps the text, and knows the comments that $KNOWN names.
printf '%s\\n' "$*" >> "$CALLS"
for word in "$@"; do [[ "$word" == body=@* ]] && cp "${word#body=@}" "$SENT"; done
if [[ "$*" == *--jq* ]]; then printf '%s' "$KNOWN"; else exit "${REFUSED:-0}"; fi
"""


class Job:
    """Runs steps of the action in a folder, in order, with what GitHub gives to a step."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder, self.outputs = folder, dict[str, str]()
        known = {name: str(given.get("default", "")) for name, given in ACTION["inputs"].items()}
        assert set(inputs) <= {name.replace("-", "_") for name in known}
        self.values = {f"inputs.{name}": inputs.get(name.replace("-", "_"), default) for name, default in known.items()}
        self.values |= {"github.repository": "me/mine", "github.event.pull_request.number": "7"}
        self.values |= {"github.token": "secret", "github.action_path": str(ROOT)}
        self.summary = folder / "summary.md"
        tools = folder / "tools"
        tools.mkdir(exist_ok=True)
        scuff = f'#!/bin/bash\nexec {sys.executable} -m scuff "$@"\n'
        for name, content in {"gh": GH, "scuff": scuff}.items():
            (tools / name).write_text(content, encoding="utf-8")
            (tools / name).chmod(0o755)

    def filled(self, text: str) -> str:
        """A text of the action with what GitHub puts into ${{ }}."""
        return re.sub(
            r"\$\{\{ (.+?) \}\}", lambda found: self.values.get(found[1], self.outputs.get(found[1], "")), text
        )

    def run(self, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        step, output = STEPS[name], self.folder / f"output-{name}"
        output.touch()
        path = os.pathsep.join([str(self.folder / "tools"), str(Path(sys.executable).parent), os.environ["PATH"]])
        given = {key: self.filled(value) for key, value in step.get("env", {}).items()}
        own = {"PATH": path, "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary)}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],  # as GitHub does
            cwd=self.folder, env={**os.environ, **own, **given, **environment}, capture_output=True, text=True,
        )  # fmt: skip
        for line in output.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            self.outputs[f"steps.{name}.outputs.{key}"] = value
        return done

    def passed(self, *names: str) -> None:
        for name in names:
            done = self.run(name)
            assert done.returncode == 0, f"{name}: {done.stderr}"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("vendor.github-actions", (ROOT / "action.yml").read_text(encoding="utf-8")),
        ("vendor.github-workflows", WORKFLOW),
        ("vendor.github-workflows", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")),
    ],
    ids=["action.yml", "docs/how-to/gate.md", "ci.yml"],
)
def test_valid_by_the_schema(schema: str, text: str, tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    (tmp_path / "file.yml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(tmp_path / "file.yml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_used_is_known() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    assert set(re.findall(r"steps\.(\w+)\.outputs", text)) <= set(STEPS)
    for step in STEPS.values():
        assert "${{" not in step.get("run", ""), "inputs reach the shell as variables: their text is never run"


def test_the_workflow_in_the_documents_uses_the_inputs() -> None:
    steps = [step for job in yaml.safe_load(WORKFLOW)["jobs"].values() for step in job["steps"]]
    given: dict[str, Any] = next(step["with"] for step in steps if step.get("uses", "").startswith("scuff-nlp/scuff@"))
    needed = {name for name, about in ACTION["inputs"].items() if about.get("required")}
    assert needed <= set(given) <= set(ACTION["inputs"])


@pytest.mark.slow
def test_a_gate_that_passes(tmp_path: Path) -> None:
    job = Job(
        tmp_path, model="toy:sentiment", data="toy:sentiment", arguments=SMALL, min="average=0.5\n\n  worst = 10% \n"
    )
    job.passed("measure", "check", "keep", "gate")
    assert job.outputs == {"steps.measure.outputs.run": ".scuff/runs/robustness", "steps.check.outputs.passed": "true"}
    run = tmp_path / ".scuff" / "runs" / "robustness"
    assert (run / "report.html").is_file() and (tmp_path / ".scuff" / "last" / "robustness" / "summary.json").is_file()
    assert job.summary.read_text() == (run / "comment.md").read_text()
    assert job.summary.read_text().startswith("### Robustness of toy:sentiment on toy:sentiment: passed\n")
    assert "Change against" not in job.summary.read_text(), "there was no last run"
    assert ElementTree.parse(run / "checks.xml").getroot().get("failures") == "0"


@pytest.mark.slow
def test_the_change_against_the_last_run_and_the_comment(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text("def predict(texts):\n    return ['positive' if len(t) % 2 else 'negative' for t in texts]\n")
    job = Job(
        tmp_path, model="toy:sentiment", data="toy:sentiment", arguments=SMALL, min="clean=0.1", against_last="true"
    )
    done = job.run("measure"), job.run("check")
    assert [each.returncode for each in done] == [0, 0] and "no last run yet" in done[1].stdout
    job.passed("keep")
    worse = Job(
        tmp_path, model="model.py:predict", data="toy:sentiment", arguments=SMALL, against_last="true", max_drop="5%"
    )
    worse.passed("measure", "check")
    told = (tmp_path / ".scuff" / "runs" / "robustness" / "comment.md").read_text(encoding="utf-8")
    assert worse.outputs["steps.check.outputs.passed"] == "false" and "❌ **fail**" in told
    assert re.search(r"^\| clean \| 9\d\.\d \[.*\] \| \d\d\.\d \| \*\*▼ -\d\d\.\d\*\* \|$", told, re.MULTILINE), told
    worse.outputs["steps.upload.outputs.artifact-url"] = "https://example.org/artifact"
    sent, calls = tmp_path / "sent", tmp_path / "calls"
    quiet = {"CALLS": str(calls), "SENT": str(sent)}
    assert worse.run("comment", KNOWN="", **quiet).returncode == 0
    assert "-X POST repos/me/mine/issues/7/comments" in calls.read_text()
    assert sent.read_text(encoding="utf-8").startswith("<!-- scuff: robustness -->\n### Robustness of ")
    assert sent.read_text(encoding="utf-8").endswith("[The whole report](https://example.org/artifact)\n")
    assert worse.run("comment", KNOWN="41\n42\n", **quiet).returncode == 0
    assert "-X PATCH repos/me/mine/issues/comments/41 " in calls.read_text(), "the old comment is written anew"
    refused = worse.run("comment", KNOWN="", REFUSED="1", **quiet)
    assert refused.returncode == 0 and "::warning::the comment was not written" in refused.stdout
    gate = worse.run("gate")
    assert gate.returncode == 1 and "less robust than asked" in gate.stdout


@pytest.mark.slow
def test_a_gate_against_the_last_run_begins_and_survives_other_settings(tmp_path: Path) -> None:
    """A job that failed for want of a fitting last run would keep none, and fail for ever."""
    gate = {"model": "toy:sentiment", "data": "toy:sentiment", "against_last": "true", "max_drop": "1%"}
    first = Job(tmp_path, **gate, arguments=SMALL)
    first.passed("measure", "check", "keep", "gate")
    first.passed("measure", "check", "gate")
    assert "baseline" in first.summary.read_text(encoding="utf-8"), "the second time there is a last run"
    other = Job(tmp_path, **gate, arguments=SMALL.replace("--examples 20", "--examples 10"))
    other.passed("measure")
    done = other.run("check")
    assert done.returncode == 0 and "::warning::max-drop is not checked this time: expected a baseline" in done.stdout
    other.passed("keep", "gate")


@pytest.mark.slow
def test_max_drop_is_below_the_clean_score_although_there_is_a_last_run(tmp_path: Path) -> None:
    gate = {"model": "toy:sentiment", "data": "toy:sentiment", "max_drop": "90%"}
    job = Job(tmp_path, **gate, arguments=SMALL)
    job.passed("measure", "check", "keep")
    first = job.summary.read_text(encoding="utf-8")
    job.summary.unlink()
    job.passed("measure", "check", "gate")
    assert job.summary.read_text(encoding="utf-8").startswith(first.rstrip())
    bounds, _, change = job.summary.read_text(encoding="utf-8").partition("#### Change against the last run")
    assert "(baseline" not in bounds and "| keyboard | " in bounds and "| keyboard | " in change
    other = Job(tmp_path, **gate, arguments=SMALL.replace("--examples 20", "--examples 10"))
    other.passed("measure", "check", "gate")
    assert "Not compared: " in other.summary.read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_attack(tmp_path: Path) -> None:
    job = Job(
        tmp_path, model="toy:sentiment", data="toy:sentiment", recipe="deepwordbug", max_success="0.1", name="attacked",
        arguments="--encoder chrf --examples 10 -q --constraint 'changed(share=0.5)'",
    )  # fmt: skip
    job.passed("measure", "check")
    assert job.outputs["steps.check.outputs.passed"] == "false"
    assert "| success | " in (tmp_path / ".scuff" / "runs" / "attacked" / "comment.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "step", "message"),
    [
        ({"name": "../../etc"}, "measure", "expected letters, digits, - and _ for name, got ../../etc"),
        ({"model": "toy:none"}, "measure", "got 'none'"),
        (
            {"arguments": "--examples 5 --dimensions keyboard --cases 1 -q"},
            "check",
            "expected min, max-drop or max-success",
        ),
        (
            {"arguments": "--examples 5 --dimensions keyboard --cases 1 -q", "min": "keybord=1"},
            "check",
            "got 'keybord'",
        ),
    ],
)
def test_mistakes_end_the_job(inputs: dict[str, str], step: str, message: str, tmp_path: Path) -> None:
    job = Job(tmp_path, **{"model": "toy:sentiment", "data": "toy:sentiment", "max_drop": "", **inputs})
    if step == "check":
        job.passed("measure")
    done = job.run(step)
    assert done.returncode == 2 and message in done.stderr


def test_inputs_are_never_run(tmp_path: Path) -> None:
    hostile = "$(touch ran) `touch ran`; touch ran"
    job = Job(
        tmp_path, model="toy:sentiment", data="toy:sentiment", min=hostile, arguments=f"'{hostile}'", recipe=hostile
    )
    assert job.run("measure").returncode == 2 and job.run("check").returncode == 2
    assert not (tmp_path / "ran").exists()


def test_install(tmp_path: Path) -> None:
    job = Job(tmp_path, extras="english,transformers")
    python = tmp_path / "tools" / "python"
    python.write_text('#!/bin/bash\nprintf "%s\\n" "$@" > "$CALLS"\n', encoding="utf-8")
    python.chmod(0o755)
    assert job.run("install", CALLS=str(tmp_path / "calls")).returncode == 0
    assert (tmp_path / "calls").read_text().splitlines()[-1] == f"{ROOT}[english,transformers]"
