"""The verdict: three sentences with honest numbers for every task, one broken text, and commands that can be run."""

from __future__ import annotations

import json
import shlex
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import scuff
from reports.made import with_summary
from scuff.cli.main import main
from scuff.reports.advice import Step
from scuff.reports.command import command_for
from scuff.reports.verdict import Broken, Verdict, verdict_of
from scuff.reports.ways import WAYS, perturbation
from scuff.runs.folder import Folder
from strategies import text as nasty_text

TOY = "toy:sentiment"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = tmp_path_factory.mktemp("verdict") / "run"
    scuff.evaluate(
        TOY, TOY, folder, examples=20, cases=3, degrees=[0.1, 0.5], access=["rule", "score"],
        dimensions=["keyboard@edits", "homoglyph", "synonym"],
    )  # fmt: skip
    return Folder(folder)


def test_three_sentences(run: Folder) -> None:
    summary, said = run.evaluation_summary(), verdict_of(run)
    right = round(20 * (summary["clean"]["score"]["value"] or 0))
    cell = summary["dimensions"]["keyboard@edits"]["degrees"][0]
    mistyped = f"{20 * (cell['average']['value'] or 0):.0f}"
    first, second, third = said.sentences
    assert first == (
        f"Right on {right} of 20 clean texts; on {mistyped}, on average, with up to 10 % of the letters mistyped "
        "(keyboard@edits)."
    )
    weakest = next(e["dimension"] for e in summary["harm"] if "@score" not in e["dimension"])
    assert second.startswith("Weakest: ") and f"({weakest})" in second
    assert third.startswith("An attacker who sees its scores leaves it right on ")
    assert said.caution.startswith("20 texts: few")


def test_the_broken_text_is_one_that_was_right(run: Folder) -> None:
    broken = verdict_of(run).broken
    assert broken and broken.edits
    line = next(line for line in run.evaluation_results() if list(line["texts"]) == list(broken.texts))
    assert line["clean"]["score"] == 1 and broken.before == line["clean"]["answer"] != broken.after
    assert "[-" in broken.line() and "->" in broken.line()


def test_the_steps_can_be_run(run: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that is shown is one that Scuff accepts."""
    monkeypatch.chdir(tmp_path)
    steps = verdict_of(run).steps
    assert [step.command.split()[1] for step in steps] == ["evaluate", "harden"], "the attacker was measured"
    assert "--shield fast" in steps[0].command and "augment(" in steps[1].command
    for step in steps:
        assert main([*shlex.split(step.command)[1:], "--dry-run", "-q"]) == 0, step.command


@pytest.mark.slow
def test_the_steps_after_an_attack_can_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = scuff.attack(TOY, TOY, "deepwordbug", tmp_path / "run", examples=10, encoder="chrf").verdict
    assert [step.command.split()[1] for step in said.steps] == ["attack", "harden"]
    for step in said.steps:
        assert main([*shlex.split(step.command)[1:], "--dry-run", "-q"]) == 0, step.command


def test_a_shielded_model_keeps_its_shield(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not told to get one, and what is recommended is about the model behind it."""
    monkeypatch.chdir(tmp_path)
    said = scuff.evaluate(
        TOY, TOY, tmp_path / "run", examples=10, cases=1, degrees=[0.5], dimensions="inner-shuffle", shield="normalise"
    ).verdict
    training, attack = (step.command for step in said.steps)
    assert training.startswith("scuff harden") and ",shield(normalise)" in training
    assert attack == f"scuff attack {TOY} {TOY} --shield normalise"
    assert main([*shlex.split(training)[1:], "--dry-run", "-q"]) == 0


def test_options_of_the_model_are_in_the_steps(run: Folder) -> None:
    about = run.run()
    about["config"] = {**about["config"], "options": {"timeout": 5}}
    assert command_for(about, "attack").endswith("--with timeout=5")
    assert command_for(about, "harden").endswith("--option timeout=5")  # whose --with is the method


def test_labels_show_as_text(attacked: Folder, tmp_path: Path) -> None:
    """A label may control a terminal or have line ends, and a set of labels may be empty."""
    for label, shown in (("a\x1b[2J\n\u202eb", "a\\u001b[2J↵\\u202eb"), ("", "no label")):
        labels = {label: {"of": 40, "count": 30}, "one of chance": {"of": 1, "count": 1}, "c": {"of": 24, "count": 6}}
        said = verdict_of(with_summary(attacked, tmp_path, labels=labels))
        assert said.sentences[1].startswith(f"Weakest: {shown}; 30 of its 40 texts fell. In all, ")


def test_an_attack(attacked: Folder, nothing_attacked: Folder) -> None:
    said = verdict_of(attacked)
    assert said.sentences[0] == "Right on 65 of 70 clean texts; on 28 after toxictrap."
    assert said.sentences[1] == (
        "Weakest: offensive; 37 of its 60 texts fell. In all, 37 of 65 attacked texts fell; 27 of these stay near in "
        "meaning."
    )
    reached = sorted(line["reached"] for line in attacked.attack_results() if line["status"] == "succeeded")
    assert f"An attacker who sees scores needs {reached[len(reached) // 2]} questions" in said.sentences[2]  # type: ignore[str-bytes-safe]
    assert "65 attacked texts: few" in said.caution and "2 attacks ended in an error" in said.caution
    assert said.broken and said.broken.how == "toxictrap"
    nothing = verdict_of(nothing_attacked)
    assert nothing.sentences[1] == "No text was attacked: the goal applies to none." and nothing.broken is None
    assert nothing.steps == () and "nothing is known" in nothing.sentences[2]


def _nothing(value: Any, key: str = "") -> Any:
    """A summary in which no number is known."""
    if isinstance(value, dict):
        return {name: _nothing(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_nothing(inner, key) for inner in value]
    return None if key in ("value", "interval", "relative", "rate", "reached", "edit_distance", "left") else value


def test_nothing_known(run: Folder, tmp_path: Path) -> None:
    summary = _nothing(json.loads((run.path / "summary.json").read_text(encoding="utf-8")))
    said = verdict_of(with_summary(run, tmp_path, **summary))
    assert said.sentences[0] == "Nothing is known of 20 clean texts." and "none was answered" in said.sentences[1]
    assert "None" not in said.text() and "nan" not in said.text()


def test_a_model_that_is_never_right_is_not_said_to_be_silent(tmp_path: Path) -> None:
    """No share of a clean score of 0 can be left, though all was answered; and there is nothing to attack."""
    wrong = {"a good film in a quiet cinema": "bad", "a poor film in a loud cinema": "good"}
    folder = tmp_path / "wrong"
    scuff.evaluate(
        lambda texts: ["bad"] * len(texts), [(text, "good") for text in wrong], str(folder), dimensions=["keyboard"],
        degrees=[0.3], cases=1, labels=["good", "bad"],
    )  # fmt: skip
    said = verdict_of(Folder(folder))
    assert said.sentences[1] == "Its clean accuracy is 0 %, which no change can lower: are labels and columns right?"
    assert "none was answered" not in said.text() and said.steps == ()


def test_missing_answers_are_no_counts(run: Folder, tmp_path: Path) -> None:
    """Where answers are missing, scores are over fewer texts, so that a count of all of them would lie."""
    summary: Any = deepcopy(run.evaluation_summary())
    summary["clean"]["answered"] = 15
    for content in summary["dimensions"].values():
        for cell in content["degrees"]:
            cell["error"] = 5
    said = verdict_of(with_summary(run, tmp_path, **summary))
    assert "of the 15 of 20 clean texts that it answered" in said.sentences[0] and " %, on average" in said.sentences[0]
    assert "changed texts have no answer" in said.caution


def test_a_summary_of_an_older_version(run: Folder, tmp_path: Path) -> None:
    """Without the worst of each degree alone, which came later."""
    summary: Any = deepcopy(run.evaluation_summary())
    for content in summary["dimensions"].values():
        del content["worst_alone"]
    assert verdict_of(with_summary(run, tmp_path, **summary)).sentences == verdict_of(run).sentences


def test_other_tasks(tmp_path: Path) -> None:
    small: dict[str, Any] = {"degrees": [0.5], "cases": 2}
    tags = [{"tokens": ["Anna", "saw", "the", f"dog{n}"], "tags": ["N", "V", "O", "O"]} for n in range(6)]

    def tagger(rows: list[list[str]]) -> list[list[str]]:
        return [[{"Anna": "N", "saw": "V"}.get(token, "O") for token in row] for row in rows]

    said = scuff.evaluate(tagger, tags, tmp_path / "tags", dimensions=["keyboard"], **small).verdict
    assert said.sentences[0].startswith("Token accuracy 100.0 % on 6 clean texts; ") and said.steps
    assert said.steps[-1].command.startswith("scuff augment TRAIN.csv --dimensions keyboard "), (
        "no command trains a function"
    )
    pairs = [(f"the first text of {n}", f"a second text of {n}", "yes" if n % 2 else "no") for n in range(6)]

    def same(first: list[str], second: list[str]) -> list[str]:
        return ["yes" if a[-1] in "135" else "no" for a in first]

    said = scuff.evaluate(same, pairs, tmp_path / "pairs", dimensions=["full-shuffle"], side="second", **small).verdict
    assert said.sentences[0].startswith("Right on 6 of 6 clean texts") and said.sentences[1].startswith("No weak spot")
    assert said.broken is None and "Broken" not in said.text()
    said = scuff.evaluate(
        "toy:tone", "toy:tone", tmp_path / "sets", dimensions=["keyboard"], examples=12, **small
    ).verdict
    assert "macro AUC" in said.sentences[1] and "Right on" in said.sentences[0]
    copy = [(f"say this {n} again", f"say this {n} again") for n in range(5)]
    said = scuff.evaluate(
        lambda texts: list(texts), copy, tmp_path / "texts", dimensions=["keyboard"], task="text", **small
    ).verdict  # fmt: skip
    assert said.sentences[0].startswith("chrF 100.0 % on 5 clean texts; ") and "chrF" in said.sentences[1]
    assert not any("--shield fast" in step.command for step in said.steps), "which restores English words alone"


def test_zeroe_counts_what_falls_below_the_red_line(tmp_path: Path) -> None:
    result = scuff.evaluate(
        TOY, TOY, tmp_path / "run", protocol="zeroe", dimensions=["truncate", "visual"], examples=15
    )
    red = result.summary["red_line"]["left"] or 0
    below = sum((c["degrees"][-1]["left"]["value"] or 0) < red for c in result.summary["dimensions"].values())
    assert result.verdict.sentences[2].endswith(f"(Zéroe's red line): {below} of 2 perturbations.")
    assert "at level low" in result.verdict.sentences[0] and "at level high" in result.verdict.sentences[1]


def test_the_terminal_opens_with_the_verdict(run: Folder, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run.path)]) == 0
    shown = capfd.readouterr().out
    said = verdict_of(run)
    assert shown.startswith(said.text()) and shown.index("accuracy in %, 95 % intervals") > len(said.text())
    assert max(len(line) for line in said.text().splitlines() if not line.startswith("     ")) <= 175


@given(nasty_text, nasty_text)
def test_no_text_steers_terminal_or_markdown(text: str, command: str) -> None:
    broken = Broken("a way", [text], [(0, 0, min(1, len(text)), "x")], "a", "b")
    said = Verdict(("One.", "Two.", "Three."), "", broken, (Step("Do this:", " ".join(command.split()) or "true"),))
    line = broken.line()
    assert line.isprintable() and line in said.text()
    ticks = said.markdown().split("Broken by a way:\n\n")[1].split(" ", 1)[0]
    assert set(ticks) == {"`"} and ticks not in line, "more backticks than the text has"


def test_sentences_are_text_in_markdown() -> None:
    said = Verdict(("Right on <b>1</b> *of* [1](x).", "", ""), "", None, ())
    assert said.markdown() == "Right on \\<b\\>1\\</b\\> \\*of\\* \\[1\\](x).\n"


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("typo@edits", "typo"), ("keyboard", "keyboard"), ("phonetic(slight=True)", "phonetic"),
        ("mine=homoglyph@edits", "homoglyph"), ("3*typo(operations='insert')", "typo"),
        ("keyboard+visual", ""), ("my_module:Shout(loud=True)", ""), ("", ""),
    ],
)  # fmt: skip
def test_specs_are_understood(spec: str, name: str) -> None:
    assert perturbation(spec) == name


def test_every_perturbation_has_plain_words() -> None:
    assert set(WAYS) == set(scuff.NAMES)
