"""`scuff evaluate`, `report`, `check` and `demo` as a user meets them: output, exit codes, interruptions, mistakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cli.runs import ROWS, SCUFF, a_users_folder, begun, content, fails, left_alone, slow_model, stopped
from scuff.cli.main import main

MODEL = """
def predict(texts):
    return ["positive" if "good" in text.split() else "negative" for text in texts]
"""
SLOW = slow_model(20, 'return ["positive" if "good" in text.split() else "negative" for text in texts]')
SMALL = ["--dimensions", "keyboard", "--degrees", "0.2", "0.5", "--cases", "3"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return a_users_folder(tmp_path, monkeypatch, MODEL, SLOW)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs: of a model, and of one that is more robust."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "model.py").write_text(MODEL)
    (folder / "better.py").write_text(MODEL.replace('"good" in text.split()', '"poor" not in text.split()'))
    (folder / "data.csv").write_text(
        "text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS if label == "positive")
    )
    both = (folder / "run", folder / "better")
    for name, run in zip(("model", "better"), both, strict=True):
        labels = ["--labels", "positive", "negative"]
        assert (
            main(
                ["evaluate", f"{folder}/{name}.py:predict", f"{folder}/data.csv", "-o", str(run), "-q", *labels, *SMALL]
            )
            == 0
        )
    return both


# what is printed


def test_the_table_is_on_stdout_and_messages_on_stderr(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["evaluate", "model.py:predict", "data.csv", "-o", "run", *SMALL]) == 0
    out, err = capfd.readouterr()
    assert "keyboard" in out and "overall" in out and out.endswith("report: run/report.html\n")
    assert "model   model.py:predict" in err and "clean   100.0 %" in err and "about 96 queries" in err
    assert "overall" not in err and "\r" not in err, "no progress where no terminal is"
    assert main(["evaluate", "model.py:predict", "data.csv", "-o", "quiet", "-q", *SMALL]) == 0
    quiet, nothing = capfd.readouterr()
    assert nothing == "" and quiet == out.replace("run/report", "quiet/report")
    first, second = content(here / "run"), content(here / "quiet")
    assert first == second
    assert main(["evaluate", "model.py:predict", "data.csv", "-o", "run", *SMALL]) == 0
    again, err = capfd.readouterr()
    assert again == out and "resumed: 1 of 1 blocks were done before" in err and content(here / "run") == first


def test_a_folder_is_named_by_its_settings(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    for seed in ("0", "0", "1"):
        assert main(["evaluate", "model.py:predict", "data.csv", "-q", "--seed", seed, *SMALL]) == 0
    runs = sorted(path.name for path in (here / "runs").iterdir())
    assert len(runs) == 2 and all(name.startswith("model.py-predict-data-") for name in runs)
    assert f"report: runs/{runs[0]}/report.html" in capfd.readouterr().out


def test_a_dry_run_writes_nothing(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    before = sorted(here.rglob("*"))
    assert main(["evaluate", "model.py:predict", "data.csv", "--dry-run", *SMALL]) == 0
    out, err = capfd.readouterr()
    assert out == "" and "plan    1 dimensions x 2 degrees x 3 cases" in err
    assert sorted(here.rglob("*")) == before


def test_options_reach_the_run(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "odd.tsv").write_text(
        "nr\tbody\tmood\n" + "".join(f"n{n}\t{text}\t{label[:3]}\n" for n, (text, label) in enumerate(ROWS))
    )
    options = [
        "--text", "body", "--label", "mood", "--id", "nr", "--labels", "negative", "positive",
        "--map", "neg=negative", "pos=positive", "--examples", "6", "--seed", "3", "--beta", "0.3", "--protect", "word:good",
        "--protect", "numbers", "--cache", "answers.db", "--max-errors", "5%", "--width", "0.2", "--workers", "1",
    ]  # fmt: skip
    assert main(["evaluate", "model.py:predict", "odd.tsv", "-o", "run", "-q", *SMALL, *options]) == 0
    run = json.loads((here / "run" / "run.json").read_text())
    assert run["config"] == {
        "text": ["body"], "label": ["mood"], "id": "nr", "labels": ["negative", "positive"],
        "map": {"neg": "negative", "pos": "positive"}, "examples": 6, "dimensions": ["keyboard"], "degrees": [0.2, 0.5],
        "cases": 3, "width": 0.2, "protect": ["word:good", "numbers"], "beta": 0.3, "seed": 3, "cache": "answers.db",
        "max_errors": "5%",
    }  # fmt: skip
    assert run["data"]["total"] == len(ROWS) and (here / "answers.db").is_file()
    ids = [json.loads(line)["id"] for line in (here / "run" / "examples.jsonl").read_text().splitlines()]
    assert len(ids) == 6 and all(name.startswith("n") for name in ids)


def test_cases_and_predictions(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["evaluate", "data.csv", "--write-cases", "cases.jsonl", *SMALL]) == 0
    assert "put each answer into a field `prediction`, then --predictions" in capfd.readouterr().err
    asked = [json.loads(line) for line in (here / "cases.jsonl").read_text().splitlines()]
    for line in asked:
        line["prediction"] = "positive" if "good" in line["text"].split() else "negative"
    (here / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in asked))
    assert main(["evaluate", "data.csv", "--predictions", "answers.jsonl", "-o", "told", "-q", *SMALL]) == 0
    assert main(["evaluate", "model.py:predict", "data.csv", "-o", "asked", "-q", *SMALL]) == 0
    told, direct = (json.loads((here / name / "summary.json").read_text()) for name in ("told", "asked"))
    assert told["dimensions"] == direct["dimensions"] and told["clean"] == direct["clean"]
    (here / "told" / "trials" / "round0-00000.npz").unlink()
    assert main(["evaluate", "--resume", "told", "-q"]) == 0
    assert json.loads((here / "told" / "summary.json").read_text()) == told
    assert "expected DATA alone" in fails(
        capfd, "evaluate", "model.py:predict", "data.csv", "--predictions", "answers.jsonl"
    )


# settings in a file

YAML = """
model: model.py:predict
data: data.csv
output: from-file
dimensions: [keyboard]
degrees: [0.2, 0.5]
cases: 2
map: {positive: positive}
"""
TOML = """
model = "model.py:predict"
data = "data.csv"
output = "from-file"
dimensions = ["keyboard"]
degrees = [0.2, 0.5]
cases = 2
[map]
positive = "positive"
"""


@pytest.mark.parametrize(("name", "text"), [("s.yaml", YAML), ("s.yml", YAML), ("s.toml", TOML)])
def test_settings_in_a_file(name: str, text: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / name).write_text(text)
    assert main(["evaluate", "--config", name, "-q"]) == 0
    assert json.loads((here / "from-file" / "run.json").read_text())["key"]["cases"] == 2
    assert main(["evaluate", "--config", name, "-q", "--cases", "3", "--degrees", "0.4", "-o", "flags"]) == 0
    key = json.loads((here / "flags" / "run.json").read_text())["key"]
    assert (key["cases"], key["degrees"], key["dimensions"]) == (3, [0.4], ["keyboard"]), "flags win"
    (here / "other.csv").write_text((here / "data.csv").read_text())
    assert main(["evaluate", "other.csv", "--config", name, "-q", "-o", "other"]) == 0
    assert json.loads((here / "other" / "run.json").read_text())["data"]["name"].endswith("other.csv")


def test_numbers_as_labels_in_yaml(here: Path) -> None:
    """YAML reads 0 and 1 as numbers; they are names all the same."""
    (here / "numbers.csv").write_text(
        "text,label\n" + "".join(f"{text},{int(label == 'positive')}\n" for text, label in ROWS)
    )
    (here / "s.yaml").write_text(
        "model: model.py:predict\ndata: numbers.csv\ndimensions: keyboard\ndegrees: 0.5\ncases: 1\n"
        "labels: [negative, positive]\nmap: {0: negative, 1: positive}\noutput: run\n"
    )
    assert main(["evaluate", "--config", "s.yaml", "-q"]) == 0
    assert json.loads((here / "run" / "summary.json").read_text())["clean"]["score"]["value"] == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.yaml", YAML + "dimension: x\n", "expected a setting, got 'dimension'; did you mean dimensions?"),
        ("s.yaml", "a: [1,\n", "s.yaml: expected YAML, got: "),
        ("s.yaml", "- a\n- b\n", "s.yaml: expected names and values, got list"),
        ("s.yaml", "cases: many\nmodel: m\ndata: d\n", "expected a whole number for cases, got 'many'"),
        ("s.yaml", "width: small\nmodel: m\ndata: d\n", "expected a number for width, got 'small'"),
        ("s.toml", "cases = \n", "s.toml: expected TOML, got: Invalid value"),
        ("s.json", "{}", "s.json: expected .yaml, .yml or .toml, got '.json'"),
        ("s.yaml", "", "expected MODEL DATA, got too little"),
    ],
)
def test_bad_settings(name: str, text: str, message: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / name).write_text(text)
    assert message in fails(capfd, "evaluate", "--config", name)
    assert "nothing of that name" in fails(capfd, "evaluate", "--config", "gone.yaml")
    (here / "bad.yaml").write_bytes(b"\xff\xfe")
    assert "bad.yaml: expected a text file of settings" in fails(capfd, "evaluate", "--config", "bad.yaml")


# breaking in

COMMAND = [*SCUFF, "evaluate", "slow.py:predict", "data.csv", "-o", "run", *SMALL]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the run leaves when nobody breaks in."""
    found = left_alone(tmp_path_factory.mktemp("undisturbed"), SLOW, COMMAND)
    assert sum(name.startswith("trials/round0") for name in found) > 3
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGKILL, 1), (signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGINT, 2)]
)
def test_a_run_goes_on_after_it_was_stopped(
    number: signal.Signals, workers: int, here: Path, undisturbed: dict[str, bytes]
) -> None:
    half = stopped(COMMAND, number, workers)
    assert "summary.json" not in half and 3 <= sum(name.startswith("trials/") for name in half) < 7
    command = COMMAND if number != signal.SIGTERM else [*SCUFF, "evaluate", "--resume", "run"]
    again = subprocess.run(command, capture_output=True)
    assert again.returncode == 0, again.stderr
    assert b"blocks were done before" in again.stderr and b"overall" in again.stdout
    assert content(here / "run") == undisturbed and half.items() <= undisturbed.items()


@pytest.mark.slow
def test_workers_end_with_the_run(here: Path, undisturbed: dict[str, bytes]) -> None:
    job = begun([*COMMAND, "--workers", "2"])
    end = time.monotonic() + 30
    while len(list(here.glob("pid-*"))) < 3 and time.monotonic() < end:  # the run itself and both workers
        time.sleep(0.02)
    workers = {int(path.name[4:]) for path in here.glob("pid-*")} - {job.pid}
    assert len(workers) == 2
    job.kill()
    job.communicate(timeout=20)
    end = time.monotonic() + 10
    while any(map(_lives, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_lives, workers)), "a killed run leaves no process behind"
    again = subprocess.run([*COMMAND, "--workers", "2"], capture_output=True)
    assert again.returncode == 0 and content(here / "run") == undisturbed


def _lives(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_only_one_process_works_on_a_folder(here: Path) -> None:
    job = begun(COMMAND)
    second = subprocess.run(COMMAND, capture_output=True)
    assert second.returncode == 2 and second.stdout == b""
    assert b"run: expected a run that nobody works on, got one that another process is busy with" in second.stderr
    assert b"Traceback" not in second.stderr
    (here / "hold").unlink()
    assert b"overall" in job.communicate(timeout=30)[0] and job.returncode == 0


# mistakes


def test_exit_code_3_when_the_run_fails(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "flaky.py").write_text(
        "from pathlib import Path\n"
        "CLEAN = {line.rpartition(',')[0] for line in Path('data.csv').read_text().splitlines()}\n"
        "def predict(texts):\n"
        "    if not CLEAN.issuperset(texts):\n        raise RuntimeError('the server\\nis down')\n"
        "    return ['positive' if 'good' in t else 'negative' for t in texts]\n"
    )
    line = fails(capfd, "evaluate", "flaky.py:predict", "data.csv", "-o", "run", "--max-errors", "3", *SMALL, code=3)
    assert line == "scuff: expected at most 3 errors, got 4; the last: RuntimeError: the server is down"
    assert (here / "run" / "trials" / "clean-00000.npz").is_file() and not (here / "run" / "summary.json").exists()
    assert "expected a finished run, got 1 of 1 blocks left to do" in fails(capfd, "report", "run")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["gone.py:predict", "data.csv"], "gone.py: expected a Python file, got nothing of that name"),
        (["model.py", "data.csv"], "model.py: expected the name of a function in it, as in model.py:predict, got none"),
        (["model.py:gone", "data.csv"], "model.py: expected 'gone' in it, got predict"),
        (["broken.py:predict", "data.csv"], "a module that can be imported, got NameError: name 'y' is not defined"),
        (["toy:mood", "toy:sentiment"], "expected sentiment, tone or translate for toy, got 'mood'"),
        (["toy:sentiment", "toy:mood"], "expected toy:sentiment, toy:tone or toy:translate for embedded data, got 'toy:mood'"),
        (["toy:sentiment", "toy:tone"], "expected a model for multi data, got toy:sentiment, which is for single"),
        (["garbage.py:nothing", "data.csv"], "expected answers to two examples, got error: BadAnswer: expected a list with"),
        (["garbage.py:words", "data.csv"], "garbage.py:words: expected the labels of the data (negative, positive), got others"),
        (["garbage.py:short", "data.csv"], "got error: BadAnswer: expected 1 answers from garbage.py:short, got 0 answers"),
        (["garbage.py:numbers", "data.csv"], "give them in its order with --labels (the data has negative, positive)"),
        (["garbage.py:raises", "data.csv"], "expected answers to two examples, got error: RuntimeError: first line"),
        (["garbage.py:dicts", "data.csv"], 'garbage.py:dicts: expected a score for negative, positive, got {"a": 1}'),
        (["model.py:predict", "gone.csv"], "gone.csv: expected a file, got nothing of that name"),
        (["model.py:predict", "binary.csv"], "binary.csv: line 1: expected UTF-8, got byte 0x80 at byte 0 of the file"),
        (["model.py:predict", "binary.parquet"], "binary.parquet: expected Parquet"),
        (["model.py:predict", "binary.jsonl"], "binary.jsonl: line 1: expected UTF-8"),
        (["model.py:predict", "empty.csv"], "empty.csv: line 1: expected a header, got nothing"),
        (["model.py:predict", "empty.jsonl"], "empty.jsonl: expected examples, got none"),
        (["model.py:predict", "header.csv"], "header.csv: expected examples, got none"),
        (["model.py:predict", "headless.csv"], "--text NAME (twice for sentence pairs), one of: it was fine, positive"),
        (["model.py:predict", "notes.txt"], "notes.txt: expected labelled data (csv, tsv, jsonl, json, "),
        (["model.py:predict", "data.csv", "--text", "review"], "data.csv: expected a column 'review', got text, label"),
        (["model.py:predict", "data.csv", "--labels", "good", "bad"], "(good, bad), got negative, positive in the data"),
        (["model.py:predict", "data.csv", "--dimensions", "keybord"], "got 'keybord'; did you mean keyboard"),
        (["model.py:predict", "data.csv", "--degrees", "2"], "expected degrees in (0, 1], got 2.0"),
        (["model.py:predict", "data.csv", "--with", "device=cpu"], "expected no options for model.py:predict, got device"),
        (["model.py:predict", "data.csv", "--with", "device"], "expected NAME=VALUE for --with, got 'device'"),
        (["model.py:predict", "data.csv", "--map", "positive"], "expected NAME=VALUE for --map, got 'positive'"),
        (["model.py:predict", "data.csv", "--max-queries", "10"], "max_queries"),
        (["model.py:predict", "data.csv", "--cache", "notes.txt"], "notes.txt: expected a cache file that Scuff wrote"),
        (["model.py:predict", "data.csv", "-o", "notes.txt"], "notes.txt: expected a new folder or a run of Scuff"),
        (["model.py:predict", "data.csv", "-o", "full"], "full: expected a new folder or a run of Scuff, got something else"),
        (["model.py:predict"], "expected MODEL DATA, got too little: try `scuff evaluate toy:sentiment toy:sentiment`"),
        ([], "expected MODEL DATA, got too little"),
        (["a", "b", "c"], "expected MODEL DATA, got 3 names: a b c"),
        (["--resume", "full"], "full: expected a run folder with run.json, got none"),
        (["--resume", "full", "--seed", "3"], "expected --resume RUN alone"),
        (["data.csv", "--write-cases", "no/such/folder.jsonl"], "expected a folder to write to"),
        (["data.csv", "--predictions", "gone.jsonl"], "gone.jsonl: expected a file, got nothing of that name"),
        (["data.csv", "--predictions", "data.csv"], "data.csv: expected one column of answers"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(argv: list[str], message: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "broken.py").write_text("x = y\n")
    (here / "garbage.py").write_text(
        "nothing = lambda texts: None\nwords = lambda texts: ['lorem'] * len(texts)\nshort = lambda texts: []\n"
        "numbers = lambda texts: [[0.1, 0.9]] * len(texts)\ndicts = lambda texts: [{'a': 1}] * len(texts)\n"
        "def raises(texts):\n    raise RuntimeError('first line\\nsecond line')\n"
    )
    for name in ("binary.csv", "binary.parquet", "binary.jsonl"):
        (here / name).write_bytes(b"\x80\x04\x95\x00\xff" * 50)
    for name, text in {
        "empty.csv": "", "empty.jsonl": "", "header.csv": "text,label\n",
        "headless.csv": "it was fine,positive\nit was bad,negative\n", "notes.txt": "a few notes\n" * 100,
    }.items():  # fmt: skip
        (here / name).write_text(text)
    (here / "full").mkdir()
    (here / "full" / "thesis.tex").write_text("precious")
    before = {path for path in here.rglob("*") if "__pycache__" not in path.parts}
    assert message in fails(capfd, "evaluate", *argv)
    assert {path for path in here.rglob("*") if "__pycache__" not in path.parts} == before, "nothing is left behind"


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCUFF_DEBUG", "1")
    with pytest.raises(ValueError, match="expected a Python file"):
        main(["evaluate", "gone.py:predict", "data.csv"])


def test_usage_errors_exit_with_2(capfd: pytest.CaptureFixture[str]) -> None:
    for argv in (["--cases", "x"], ["--protocol", "glue"], ["--side", "third"], ["--no-such"]):
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", "toy:sentiment", "toy:sentiment", *argv])
        assert stop.value.code == 2


# the gate

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(finished: tuple[Path, Path], capfd: pytest.CaptureFixture[str]) -> Check:
    def run(*options: str, of: int = 0) -> tuple[int, str]:
        capfd.readouterr()
        try:
            code = main(["check", str(finished[of]), *options])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else -1
        out, err = capfd.readouterr()
        return code, out + err

    return run


def summary(folder: Path) -> Any:
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize(
    "name", ["clean", "average", "worst", "keyboard", "keyboard.worst", "keyboard@0.2", "keyboard@0.5.worst"]
)
def test_check_against_a_minimum(name: str, check: Check, finished: tuple[Path, Path]) -> None:
    from scuff.reports.gate import named_scores

    value = named_scores(summary(finished[0]))[name]
    assert value is not None
    shown = f"{name}: {100 * value:.1f}, at least "
    assert check("--min", f"{name}={value}") == (0, f"ok   {shown}{100 * value:.1f}\n")
    if value < 1:
        assert check("--min", f"{name}={value + 0.001}") == (1, f"FAIL {shown}{100 * (value + 0.001):.1f}\n")


def test_check_several_and_each(check: Check) -> None:
    code, said = check("--min", "clean=1", "--min", "worst=1", "--min", "each=0")
    assert code == 1 and [line.split(":")[0] for line in said.splitlines()] == [
        "ok   clean",
        "FAIL worst",
        "ok   keyboard",
    ]


def test_check_the_drop(check: Check, finished: tuple[Path, Path]) -> None:
    drop = 1 - summary(finished[0])["dimensions"]["keyboard"]["average"]["value"]
    assert drop > 0.05
    code, said = check("--max-drop", f"{drop + 0.001}")
    assert code == 0 and said.startswith("ok   keyboard: ") and "(clean 100.0 - " in said
    assert check("--max-drop", f"{drop - 0.001}")[0] == 1
    code, said = check("--max-drop", "0.01", "--baseline", str(finished[1]))
    assert code == 1 and "FAIL average: " in said and "ok   clean: 100.0" in said and "(baseline 100.0 - 1.0)" in said
    assert [line.split(":")[0][5:] for line in said.splitlines()] == [
        "clean",
        "average",
        "worst",
        "worst_alone",
        "keyboard",
        "keyboard.worst",
        "keyboard.worst_alone",
    ]
    assert check("--max-drop", "0.01", "--baseline", str(finished[0]), of=1)[0] == 0, "better is fine"
    assert check("--max-drop", "0", "--baseline", str(finished[0]))[0] == 0


def test_check_writes_junit_and_markdown(check: Check, here: Path, finished: tuple[Path, Path]) -> None:
    code, said = check("--min", "clean=1", "--min", "worst=1", "--junit", "out.xml", "--markdown", "out.md")
    assert code == 1 and said.count("\n") == 2
    root = ElementTree.parse(here / "out.xml").getroot()
    assert root.tag == "testsuite" and (root.get("tests"), root.get("failures")) == ("2", "1")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    failure = cases["worst"].find("failure")
    assert (
        cases["clean"].find("failure") is None
        and failure is not None
        and failure.get("message", "").startswith("FAIL worst: ")
    )
    head, _, *lines = (here / "out.md").read_text().splitlines()
    assert head.startswith(f"### Robustness of {finished[0].parent}/model.py:predict on ")
    assert lines[0].startswith("Right on 8 of 8 clean texts"), "the verdict comes first"
    table = lines[lines.index("| score | is | at least | |") :]
    assert table[:3] == ["| score | is | at least | |", "|---|---|---|---|", "| clean | 100.0 | 100.0 | ✅ pass |"]
    assert table[3].startswith("| worst | ") and table[3].endswith(" | ❌ **fail** |")
    code, said = check("--min", "clean=1", "--markdown", "-")
    assert code == 0 and said.startswith("### Robustness of ") and "ok  " not in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected something to check (--min NAME=VALUE or --max-drop VALUE), got nothing"),
        (["--min", "keybord=0.5"], "expected the name of a score, got 'keybord'; there are keyboard"),
        (["--min", "keyboard@0.3=0.5"], "got 'keyboard@0.3'; there are keyboard@0.5, keyboard@0.2"),
        (["--min", "keyboard"], "expected NAME=VALUE with a value in [0, 1] for --min, got 'keyboard'"),
        (["--min", "keyboard=80"], "got 'keyboard=80'"),
        (["--min", "keyboard=much"], "got 'keyboard=much'"),
        (["--min", "=0.5"], "got '=0.5'"),
        (["--baseline", "x"], "expected --max-drop VALUE with --baseline, got none: how far may a score fall?"),
        (["--max-drop", "0.1", "--baseline", "gone"], "gone: expected a run folder with summary.json, got none"),
        (["--min", "clean=0", "--junit", "no/such/out.xml"], "expected a folder to write to"),
    ],
)
def test_mistakes_in_checks(options: list[str], message: str, check: Check) -> None:
    code, said = check(*options)
    assert code == 2 and message in said and said.count("\n") == 1


# report and demo


def test_report(finished: tuple[Path, Path], here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = content(finished[0])
    capfd.readouterr()
    assert main(["report", str(finished[0]), "--parquet", "trials.parquet"]) == 0
    out, err = capfd.readouterr()
    assert (
        "overall" in out
        and f"report: {finished[0]}/report.html" in out
        and "trials: trials.parquet" in out
        and err == ""
    )
    assert content(finished[0]) == before and (here / "trials.parquet").stat().st_size > 1000
    assert main(["report", str(finished[0]), "-q"]) == 0
    assert capfd.readouterr() == ("", "")


def holding(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "run.json").write_text(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: None, "other: expected a run folder with run.json, got none"),
        (lambda folder: folder.mkdir(), "other: expected a run folder with run.json, got none"),
        (lambda folder: folder.write_text("a file"), "other: expected a run folder with run.json, got none"),
        (lambda folder: holding(folder, "{"), "run.json: expected JSON"),
        (
            lambda folder: holding(folder, "{}"),
            "run.json: expected a file that this version of Scuff wrote, got another",
        ),
        (
            lambda folder: holding(folder, "[]"),
            "run.json: expected a file that this version of Scuff wrote, got another",
        ),
    ],
)
def test_report_on_what_is_no_run(make: Any, message: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(here / "other")
    assert message in fails(capfd, "report", "other")
    assert "expected" in fails(capfd, "check", "other", "--min", "worst=0.5")
    assert message in fails(capfd, "evaluate", "--resume", "other")


@pytest.mark.slow
def test_the_demo_needs_nothing(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As it is, but with fewer examples and cases."""
    session = import_module("scuff.api")
    whole, asked = session.evaluate, dict[str, Any]()

    def smaller(*what: Any, **settings: Any) -> Any:
        asked.update(settings)
        return whole(*what, **{**settings, "examples": 60, "cases": 2})

    monkeypatch.setattr(session, "evaluate", smaller)
    empty = tmp_path_factory.mktemp("empty")
    monkeypatch.chdir(empty)
    assert main(["demo"]) == 0
    out, err = capfd.readouterr()
    assert asked["examples"] == 200 and asked["cases"] == 10
    assert (
        "toy:sentiment on toy:sentiment" in out and out.endswith("report: scuff-demo/report.html\n") and "clean" in err
    )
    assert os.listdir(empty) == ["scuff-demo"]
    found = summary(empty / "scuff-demo")
    assert len(found["dimensions"]) > 10 and 0.85 < found["clean"]["score"]["value"] <= 1
    assert found["overall"]["worst"]["value"] < found["overall"]["average"]["value"] < found["clean"]["score"]["value"]
