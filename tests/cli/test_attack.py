"""`scuff attack` as a user meets it, with `report` and `check`: output, exit codes, interruptions, mistakes."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.runs import CSV, ROWS, SCUFF, a_users_folder, begun, content, fails, left_alone, slow_model, stopped
from scuff.attacks.recipes import RECIPES
from scuff.cli.attack import _live
from scuff.cli.main import main, parser

MODEL = """
def predict(texts):
    sure = [0.8 if "good" in text.split() else 0.3 for text in texts]
    return [{"positive": score, "negative": 1 - score} for score in sure]

def decide(texts):
    return ["positive" if "good" in text.split() else "negative" for text in texts]
"""
SLOW = slow_model(
    64,
    'sure = [0.8 if "good" in text.split() else 0.3 for text in texts]',
    'return [{"positive": score, "negative": 1 - score} for score in sure]',
)
RECIPE = ["--recipe", "deepwordbug", "--encoder", "chrf"]
PLAIN = ["attack", "model.py:predict", "data.csv", *RECIPE]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return a_users_folder(tmp_path, monkeypatch, MODEL, SLOW)


def read(path: Path) -> Any:
    return json.loads(path.read_text())


# what is printed


def test_the_table_is_on_stdout_and_messages_on_stderr(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    assert main([*PLAIN, "-o", "run"]) == 0
    out, err = capfd.readouterr()
    assert "attack success rate         50.0 [28.0, 72.0]   8 of 16 attacked" in out
    assert "accuracy, clean             100.0" in out and "8 succeeded, 8 failed, 0 ended in an error, 0 skipped" in out
    assert out.endswith("\nreport: run/report.html\ntexts:  run/results.jsonl\n")
    assert "clean   100.0 %" in err and "goal untargeted; search unk" in err and "unlike the paper: words matter" in err
    assert "success" not in err and "\r" not in err, "no progress where no terminal is"
    first = content(here / "run")
    assert main([*PLAIN, "-o", "quiet", "-q"]) == 0
    assert capfd.readouterr().err == "" and content(here / "quiet") == first
    times = read(here / "run" / "timings.json")
    assert main([*PLAIN, "-o", "run"]) == 0
    again, err = capfd.readouterr()
    assert again == out and err.count("resumed: 1 of 1 blocks were done before") == 1 and content(here / "run") == first
    assert read(here / "run" / "timings.json") == times, "a session that did nothing is none"


def test_the_embedded_models(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    for toy, recipe in (("toy:sentiment", "deepwordbug"), ("toy:tone", "tt-deepwordbug")):
        assert main(["attack", toy, toy, "--recipe", recipe, "--encoder", "chrf", "--examples", "40", "-q"]) == 0
        assert f"{recipe} against {toy} on {toy}: 40 examples" in capfd.readouterr().out
    assert len(list((here / "runs").iterdir())) == 2, "each run has a folder of its own"


def test_successes_as_they_come(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAIN, "-o", "run", "--live", "-q"]) == 0
    lines = capfd.readouterr().out.split("\n\n")[0].splitlines()
    assert len(lines) == 8 and all(line.startswith("positive (0.80) -> negative (0.70)  ") for line in lines)
    assert all("was [-good-]{+" in line for line in lines)
    assert "expected 1 worker where successes are shown" in fails(
        capfd, *PLAIN, "-o", "two", "--live", "--workers", "2"
    )
    assert main(["attack", "--resume", "run", "--live", "-q"]) == 0
    shown = capfd.readouterr().out
    assert shown.count("->") == 1 and shown.index("Broken by") < shown.index("->"), (
        "nothing new came: that of the verdict"
    )


def test_a_dry_run_writes_nothing(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    before = sorted(here.rglob("*"))
    assert main([*PLAIN, "--dry-run", "--max-queries", "30"]) == 0
    out, err = capfd.readouterr()
    assert out == "" and re.search(r"plan    16 examples: about \d+ queries, about \d s", err)
    assert sorted(here.rglob("*")) == before


def test_the_parts(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "--parts"]) == 0
    out = capfd.readouterr().out
    for name in ("toxictrap:", "tt-a2t:", "targeted(", "weighted-saliency\n", "best-of(", "word-vectors(", "meaning("):
        assert f"\n  {name}" in out
    for constant in (
        "neighbours=20",
        "changed(share=0.1, floor=4)",
        "meaning(least=0.84, by='angular', encoder='minilm', window=15",
    ):
        assert constant in out, "nothing of a recipe is hidden"


def test_the_parts_of_one_recipe_as_published(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "--parts", "--as-published", "--recipe", "textbugger"]) == 0
    out = capfd.readouterr().out
    assert "textbugger: TextBugger (Li et al. 2019); as published: the five bugs\n" in out and "toxictrap" not in out
    assert (
        "homoglyph(scripts='ascii'); keyboard(" in out and "unlike the paper: all words of the text are ranked" in out
    )
    assert main(["attack", "--parts", "--as-published"]) == 0
    out = capfd.readouterr().out
    assert out.count("; as published: ") == len(RECIPES) and "search      head-tail(" in out and "\ngoals" in out
    assert main(["attack", "--parts", "--recipe", "pwws"]) == 0
    assert "--as-published: stop words may change, too" in capfd.readouterr().out
    assert main(["attack", "--parts", "--recipe", "textbuger"]) == 2 and capfd.readouterr().out == ""


def test_every_constraint_can_be_left_out() -> None:
    from scuff.attacks.constraints import CONSTRAINTS

    for name in CONSTRAINTS:
        args = parser("attack").parse_args(["attack", "MODEL", "DATA", f"--no-{name}"])
        assert args.without == [name]


def test_options_reach_the_run(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "odd.tsv").write_text(
        "nr\tbody\tmood\n" + "".join(f"n{n}\t{text}\t{label[:3]}\n" for n, (text, label) in enumerate(ROWS))
    )
    options = [
        "--goal", "targeted(label='negative')", "--transform", "3*typo", "--transform", "synonym", "--search", "beam(width=2)",
        "--constraint", "changed(share=0.2)", "--constraint", "chrf(least=0.2)", "--no-stop-words", "--no-edit-distance",
        "--max-queries", "40", "--max-time", "500", "--valid", "0.5", "--protect", "numbers", "--seed", "3",
        "--text", "body", "--label", "mood", "--id", "nr", "--map", "neg=negative", "pos=positive",
        "--labels", "negative", "positive", "--examples", "6", "--cache", "answers.db", "--max-errors", "5%",
    ]  # fmt: skip
    assert main(["attack", "model.py:predict", "odd.tsv", "-o", "run", "-q", *RECIPE, *options]) == 0
    run = read(here / "run" / "run.json")
    assert run["config"] == {
        "text": ["body"], "label": ["mood"], "id": "nr", "labels": ["negative", "positive"],
        "map": {"neg": "negative", "pos": "positive"}, "examples": 6, "encoder": "chrf", "protect": ["numbers"], "seed": 3,
        "cache": "answers.db", "max_errors": "5%", "max_queries": 40, "recipe": "deepwordbug",
        "goal": "targeted(label='negative')", "transform": ["3*typo", "synonym"], "search": "beam(width=2)",
        "constraint": ["changed(share=0.2)", "chrf(least=0.2)"], "without": ["stop-words", "edit-distance"],
        "max_time": 500.0, "valid": 0.5,
    }  # fmt: skip
    assert run["key"]["constraints"] == ["changed(share=0.2)", "chrf(least=0.2)"] and run["key"]["most"] == 0.5
    assert (
        run["recipe"]["deviations"][-1]
        == "chosen otherwise: goal, transform, search, no stop-words, no edit-distance, changed, chrf"
    )
    assert "chosen otherwise: goal" in capfd.readouterr().out


# settings in a file

YAML = """
model: model.py:predict
data: data.csv
output: from-file
recipe: deepwordbug
search: beam(width=2)
transform: [2*typo, synonym]
constraint: changed(share=0.3)
no-stop-words: true
encoder: chrf
max-queries: 50
"""
TOML = """
model = "model.py:predict"
data = "data.csv"
output = "from-file"
recipe = "deepwordbug"
search = "beam(width=2)"
transform = ["2*typo", "synonym"]
constraint = "changed(share=0.3)"
without = ["stop-words"]
encoder = "chrf"
max_queries = 50
"""


@pytest.mark.parametrize(("name", "text"), [("s.yaml", YAML), ("s.toml", TOML)])
def test_settings_in_a_file(name: str, text: str, here: Path) -> None:
    (here / name).write_text(text)
    assert main(["attack", "--config", name, "-q"]) == 0
    key = read(here / "from-file" / "run.json")["key"]
    assert (key["search"], key["transform"], key["max_queries"]) == ("beam(width=2)", ["2*typo", "synonym"], 50)
    assert key["constraints"] == ["changed(share=0.3)", "edit-distance"]
    assert main(["attack", "--config", name, "-q", "-o", "flags", "--search", "unk", "--max-queries", "9"]) == 0
    key = read(here / "flags" / "run.json")["key"]
    assert (key["search"], key["max_queries"], key["transform"]) == ("unk", 9, ["2*typo", "synonym"]), "flags win"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipes: pwws\n", "expected a setting, got 'recipes'; did you mean recipe?"),
        ("dimensions: [keyboard]\n", "expected a setting, got 'dimensions'"),
        ("max_time: soon\n", "expected a number for max_time, got 'soon'"),
        ("search: unkk\n", "expected the name of a search, got 'unkk'; did you mean unk?"),
        ("goal: tags(share=7)\n", "expected a number in (0, 1] for tags.share, got 7"),
        ("max_queries: 2.5\n", "expected a whole number for max_queries, got 2.5"),
    ],
)
def test_bad_settings(text: str, message: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "s.yaml").write_text(text)
    assert message in fails(capfd, "attack", "--config", "s.yaml"), "told before the missing model"
    (here / "s.yaml").write_text(f"model: model.py:predict\ndata: data.csv\n{text}")
    assert message in fails(capfd, "attack", "--config", "s.yaml")


# breaking in

COMMAND = [*SCUFF, "attack", "slow.py:predict", "data.csv", "-o", "run", *RECIPE]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the run leaves when nobody breaks in."""
    found = left_alone(tmp_path_factory.mktemp("undisturbed"), SLOW, COMMAND)
    assert sum(name.startswith("trials/attack") for name in found) == 16
    assert {"summary.json", "results.jsonl", "report.html"} <= set(found)
    return found


@pytest.mark.slow  # `evaluate` stops and resumes in the same way, in test_evaluate.py
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_goes_on_after_it_was_stopped(
    number: signal.Signals, workers: int, here: Path, undisturbed: dict[str, bytes]
) -> None:
    half = stopped(COMMAND, number, workers)
    assert "summary.json" not in half and 3 <= sum(name.startswith("trials/") for name in half) < 9
    assert half.items() <= undisturbed.items()
    again = [*SCUFF, "attack", "--resume", "run"] if number == signal.SIGTERM else [*COMMAND, "--workers", str(workers)]
    done = subprocess.run(again, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"blocks were done before" in done.stderr and b"8 of 16 attacked" in done.stdout
    assert content(here / "run") == undisturbed


def test_only_one_process_works_on_a_folder(here: Path) -> None:
    job = begun(COMMAND)
    second = subprocess.run(COMMAND, capture_output=True)
    assert second.returncode == 2 and second.stdout == b"" and b"Traceback" not in second.stderr
    assert b"run: expected a run that nobody works on, got one that another process is busy with" in second.stderr
    (here / "hold").unlink()
    assert b"8 of 16 attacked" in job.communicate(timeout=30)[0] and job.returncode == 0


# mistakes


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "expected MODEL DATA, got too little: try `scuff attack toy:tone toy:tone --recipe tt-deepwordbug`"),
        (["a", "b", "c"], "expected MODEL DATA, got 3 names: a b c"),
        (["gone.py:predict", "data.csv", *RECIPE], "gone.py: expected a Python file, got nothing of that name"),
        (["model.py:predict", "gone.csv", *RECIPE], "gone.csv: expected a file, got nothing of that name"),
        (["model.py:predict", "binary.csv", *RECIPE], "binary.csv: line 1: expected UTF-8, got byte 0x80 at byte 0"),
        (["model.py:predict", "data.csv", "--recipe", "toxictrap"], "toxictrap needs word vectors: --vectors FILE"),
        (["model.py:predict", "data.csv", "--recipe", "textfooler"], "Without: --recipe tt-pwws, tt-deepwordbug, pwws or"),
        (["model.py:predict", "data.csv", "--vectors", "gone.txt"], "got no file of the name gone.txt"),
        (["model.py:predict", "data.csv", "--vectors", "notes.txt"], "notes.txt: expected a word and 2 numbers in each line"),
        (["model.py:predict", "data.csv", "--recipe", "deepwordbag"], "got 'deepwordbag'; did you mean deepwordbug"),
        (["model.py:predict", "data.csv", *RECIPE, "--goal", "untarget"], "expected the name of a goal, got 'untarget'"),
        (["model.py:predict", "data.csv", *RECIPE, "--goal", "targeted(label='x')"], "for targeted.label, got 'x'"),
        (["model.py:predict", "data.csv", *RECIPE, "--goal", "toxictrap"], "expected the label that means benign among"),
        (["model.py:predict", "data.csv", *RECIPE, "--goal", "tags"], "for the goal tags, got one label"),
        (["model.py:predict", "data.csv", *RECIPE, "--search", "beem"], "got 'beem'; did you mean beam?"),
        (["model.py:predict", "data.csv", *RECIPE, "--search", "beam(width=0)"], "for beam.width, got 0"),
        (["model.py:predict", "data.csv", *RECIPE, "--search", "beam(2)"], "expected name(option=value, ...), got 'beam(2)'"),
        (["model.py:predict", "data.csv", *RECIPE, "--search", "gradient"], "--search unk or delete need only scores"),
        (["model.py:decide", "data.csv", *RECIPE], "which has decision access: --search best-of needs only decisions"),
        (["model.py:predict", "data.csv", *RECIPE, "--transform", "tpyo"], "got 'tpyo'; did you mean typo"),
        (["model.py:predict", "data.csv", *RECIPE, "--transform", "0*typo"], "expected 1 or more proposals, got '0*typo'"),
        (["model.py:predict", "data.csv", *RECIPE, "--transform", "typo+omit"], "got the sequence 'typo+omit'"),
        (["model.py:predict", "data.csv", *RECIPE, "--transform", "embedding"], "embedding needs word vectors"),
        (["model.py:predict", "data.csv", *RECIPE, "--constraint", "word-vectors"], "out: --no-word-vectors"),
        (["model.py:predict", "data.csv", *RECIPE, "--constraint", "changd"], "got 'changd'; did you mean changed?"),
        (["model.py:predict", "data.csv", *RECIPE, "--constraint", "changed(share=2)"], "for changed.share, got 2"),
        (["model.py:predict", "data.csv", *RECIPE, "--max-queries", "0"], "expected 1 or more for max_queries, got 0"),
        (["model.py:predict", "data.csv", *RECIPE, "--max-time", "nan"], "expected a number above 0 for max_time, got nan"),
        (["model.py:predict", "data.csv", *RECIPE, "--valid", "2"], "expected a number in [0, 1] for valid, got 2"),
        (["model.py:predict", "data.csv", *RECIPE, "--side", "both"], "a search changes one text of a pair"),
        (["model.py:predict", "data.csv", *RECIPE, "--side", "second"], "expected data with two texts for side second"),
        (["model.py:predict", "data.csv", *RECIPE, "--cache", "notes.txt"], "expected a cache file that Scuff wrote"),
        (["model.py:predict", "data.csv", *RECIPE, "-o", "full"], "full: expected a new folder or a run of Scuff"),
        (["--resume", "full"], "full: expected a run folder with run.json, got none"),
        (["--resume", "full", "--search", "beam"], "expected --resume RUN alone"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(argv: list[str], message: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "binary.csv").write_bytes(b"\x80\x04\x95\x00\xff" * 50)
    (here / "notes.txt").write_text("a few notes\n" * 100)
    (here / "full").mkdir()
    (here / "full" / "thesis.tex").write_text("precious")
    before = {path for path in here.rglob("*") if "__pycache__" not in path.parts}
    assert message in fails(capfd, "attack", *argv)
    assert {path for path in here.rglob("*") if "__pycache__" not in path.parts} == before, "nothing is left behind"


def test_exit_code_3_when_no_attack_is_answered(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A model that fails on every new text must not look robust."""
    (here / "flaky.py").write_text(
        "from pathlib import Path\nfrom model import predict as answer\n"
        "CLEAN = {line.rpartition(',')[0] for line in Path('data.csv').read_text().splitlines()}\n"
        "def predict(texts):\n"
        "    if not CLEAN.issuperset(texts):\n        raise RuntimeError('the server\\nis down')\n"
        "    return answer(texts)\n"
    )
    command = ["attack", "flaky.py:predict", "data.csv", *RECIPE]
    line = fails(capfd, *command, "-o", "few", "--max-errors", "3", code=3)
    assert line == "scuff: expected at most 3 errors, got 4; the last: RuntimeError: the server is down"
    assert "few: expected a finished run, got 1 of 1 blocks left to do: `scuff attack --resume few`" in fails(
        capfd, "report", "few"
    )
    line = fails(capfd, *command, "-o", "many", "--max-errors", "10000", code=3)
    assert line == "scuff: expected answers to some of 16 attacks, got none: error: RuntimeError: the server"
    capfd.readouterr()
    assert main(["report", "many"]) == 0
    assert "0 succeeded, 0 failed, 16 ended in an error" in capfd.readouterr().out


# report and check


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of `scuff attack`, and one of `scuff evaluate`."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "model.py").write_text(MODEL)
    (folder / "data.csv").write_text(CSV)
    what = [f"{folder}/model.py:predict", f"{folder}/data.csv", "-q"]
    assert main(["attack", *what, "-o", f"{folder}/attack", *RECIPE]) == 0
    small = ["--dimensions", "keyboard", "--degrees", "0.5", "--cases", "1"]
    assert main(["evaluate", *what, "-o", f"{folder}/evaluate", *small]) == 0
    return folder / "attack", folder / "evaluate"


def test_report(finished: tuple[Path, Path], here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = str(finished[0])
    before = content(finished[0])
    for name in ("summary.json", "results.jsonl", "report.html"):
        (finished[0] / name).unlink()
    capfd.readouterr()
    assert main(["report", run, "--parquet", "trials.parquet", "--paper", "table.md"]) == 0
    out, err = capfd.readouterr()
    assert "attack success rate         50.0" in out and err == "" and content(finished[0]) == before
    assert out.endswith(f"report: {run}/report.html\npaper: table.md\ntrials: trials.parquet\n")
    table = (here / "table.md").read_text()
    assert table.splitlines()[0].startswith("| Task | Search | POS | Attack Success Rate | Average Number of Queries |")
    assert "| unk |  | 50.0 [28.0, 72.0] | 18.0 |" in table and (here / "trials.parquet").stat().st_size > 1000
    assert main(["report", run, "--paper", "-"]) == 0
    assert capfd.readouterr().out == table
    assert main(["report", run, "-q"]) == 0 and capfd.readouterr() == ("", "")


def test_a_run_of_the_other_command(finished: tuple[Path, Path], here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    attack, evaluate = map(str, finished)
    for command, run, other in (("evaluate", attack, "attack"), ("attack", evaluate, "evaluate")):
        assert fails(capfd, command, "--resume", run) == (
            f"scuff: {run}: expected a run of `scuff {command}`, got one of `scuff {other}`: "
            f"`scuff {other} --resume {run}` goes on with it"
        )
    line = fails(capfd, "evaluate", "model.py:predict", "data.csv", "-o", attack, "--dimensions", "keyboard")
    assert line.endswith("expected the run that began there, got another command: choose another folder")


def checked(capfd: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    capfd.readouterr()
    try:
        code = main(["check", *argv])
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else -1
    out, err = capfd.readouterr()
    return code, out + err


def test_check(finished: tuple[Path, Path], capfd: pytest.CaptureFixture[str]) -> None:
    attack, evaluate = map(str, finished)
    assert checked(capfd, attack, "--max-success", "0.5") == (0, "ok   success: 50.0, at most 50.0\n")
    assert checked(capfd, attack, "--max-success", "0.4") == (1, "FAIL success: 50.0, at most 40.0\n")
    assert checked(capfd, attack, "--min", "after=0.6", "--min", "clean=1")[0] == 1
    assert checked(capfd, attack, "--max-drop", "0.5", "--max-success", "1")[0] == 0
    assert checked(capfd, attack, "--max-drop", "0", "--baseline", attack)[0] == 0
    for argv, message in (
        ([attack], "expected something to check (--min NAME=VALUE or --max-success VALUE), got nothing"),
        ([attack, "--min", "worst=0.5"], "got 'worst'; there are clean, after, answered"),
        ([attack, "--max-drop", "0", "--baseline", evaluate], "expected a baseline of the same data and settings"),
        ([evaluate, "--max-success", "0.5"], "expected a run of `scuff attack` for --max-success"),
    ):
        code, said = checked(capfd, *argv)
        assert code == 2 and message in said and said.count("\n") == 1


def test_no_text_steers_or_stops_the_terminal(here: Path) -> None:
    rows = "".join(f'"\x1b[31m\x07 \u0416 {text}",{label}\n' for text, label in ROWS)
    (here / "data.csv").write_text("text,label\n" + rows, encoding="utf-8")
    done = subprocess.run(
        [*SCUFF, *PLAIN, "-o", "run", "--live"], capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout + done.stderr and b"\x07" not in done.stdout + done.stderr
    assert b"\\u001b[31m\\u0007 \\u0416" in done.stderr


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_no_color_is_honoured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], no_colour: str
) -> None:
    """https://no-color.org: then marks show what changed."""
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show = _live(argparse.Namespace(quiet=False))
    show({"texts": ["a bad day"], "edits": [[0, 2, 5, "bda"]], "before": {"label": "x"}, "after": {"label": "y"}})
    line = capsys.readouterr().out
    assert ("\033[" in line) != bool(no_colour) and ("[-bad-]{+bda+}" in line) == bool(no_colour)
    assert "[-bad-]" in line and "{+bda+}" in line, "colour is never the only sign"
