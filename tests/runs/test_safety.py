"""Run folders are safe: swapped, damaged and edited files are named, failures say what to do, nothing is lost or mixed."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import scuff
from scuff.cli.main import main
from scuff.evaluation.setup import EvaluationSetup
from scuff.runs.folder import BadRun, CannotWrite, Folder
from scuff.runs.run import WholeJobs, open_worker
from scuff.victims.base import Victim
from scuff.victims.cache import DiskCache

DATA = [(f"a {word} day, number {n}", label) for n in range(20) for word, label in (("good", "yes"), ("bad", "no"))]
FEW: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.3], "cases": 2}
SMALL = ["--dimensions", "keyboard", "--degrees", "0.3", "--cases", "2"]
MODEL = "def predict(texts):\n    return ['yes' if 'good' in text else 'no' for text in texts]\n"


def keyword(texts: list[str]) -> list[str]:
    return ["yes" if "good" in text else "no" for text in texts]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with model.py and data.jsonl, and small blocks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Victim, "cases_at_once", 20)
    Path("model.py").write_text(MODEL)
    Path("data.jsonl").write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in DATA))
    return tmp_path


def content(folder: str | Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in Path(folder).rglob("*") if p.is_file() and p.name != "timings.json"}


def swap(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def test_swapped_parts_are_noticed(here: Path) -> None:
    scuff.evaluate(keyword, DATA, "run", **FEW)
    before, parts = content("run"), [Path("run", "trials", f"round0-0000{at}.npz") for at in (0, 1)]
    swap(*parts)
    with pytest.raises(
        BadRun, match=r"round0-0000\d\.npz: expected the part of that name of this run, got one of another"
    ):
        scuff.report("run")
    said: list[str] = []
    scuff.evaluate(keyword, DATA, "run", say=said.append, **FEW)
    told = [line for line in said if "expected the part of that name" in line]
    assert len(told) == 2 and all(line.endswith("another name or run: its block is done again") for line in told)
    assert content("run") == before


def test_a_part_of_another_run_is_noticed(here: Path) -> None:
    scuff.evaluate(keyword, DATA, "run", **FEW)
    scuff.evaluate(keyword, DATA, "other", seed=1, **FEW)
    before = content("run")
    name = "trials/round0-00000.npz"
    Path("run", name).write_bytes(Path("other", name).read_bytes())
    with pytest.raises(BadRun, match=r"round0-00000\.npz: expected the part of that name of this run"):
        scuff.report("run")
    scuff.evaluate(keyword, DATA, "run", **FEW)
    assert content("run") == before


def test_edited_examples_are_noticed(here: Path) -> None:
    scuff.evaluate("model.py:predict", "data.jsonl", "run", **FEW)
    path = Path("run", "examples.jsonl")
    path.write_text(path.read_text().replace("good day, number 3", "great day, number 3"))
    for again in (
        scuff.report,
        lambda folder: scuff.evaluate("model.py:predict", "data.jsonl", folder, workers=2, **FEW),
    ):
        with pytest.raises(BadRun, match=r"examples\.jsonl: expected the examples that the run began with, got others"):
            again("run")


def test_a_broken_timings_file_stops_nothing(here: Path) -> None:
    few: dict[str, Any] = {"recipe": "deepwordbug", "max_queries": 20, "encoder": "chrf"}
    model = "toy:sentiment"
    scuff.attack(model, model, output="run", examples=4, **few)
    for broken in ("{", '{"seconds": 1}', '[{"seconds": "x"}]', "[1]"):
        Path("run", "timings.json").write_text(broken)
        assert "time          not known" in str(scuff.report("run"))
        assert "time          not known" in str(scuff.attack(model, model, output="run", examples=4, **few))


LIMITED = """
import resource, sys
from scuff.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="this system has no limit on files")
def test_a_full_disk_is_told_with_the_path_and_the_run_goes_on(here: Path) -> None:
    command = ["evaluate", "model.py:predict", "data.jsonl", "-o", "run", *SMALL]
    done = subprocess.run([sys.executable, "-c", LIMITED, "5000", *command], capture_output=True, text=True)
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert line.startswith("scuff: run/") and "bytes, got: File too large; what was written before stays" in line
    assert not list(Path("run").rglob("*.part"))
    done = subprocess.run([sys.executable, "-c", LIMITED, str(1 << 30), *command], capture_output=True, text=True)
    assert done.returncode == 0 and Path("run", "summary.json").is_file(), done.stderr


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"gone/a\.json: expected to write \d+ bytes, got: No such file or directory"):
        Folder(tmp_path / "gone").write_json("a.json", {})


KILLED = """
import os, signal
from multiprocessing import parent_process
def predict(texts):
    if parent_process() is not None and not os.path.exists("spare"):
        os.kill(os.getpid(), signal.SIGKILL)
    return ['yes' if 'good' in text else 'no' for text in texts]
"""


def test_a_killed_worker_is_told_in_one_line(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("model.py").write_text(KILLED)
    command = ["evaluate", "model.py:predict", "data.jsonl", "-o", "run", *SMALL, "--workers", "2"]
    assert main(command) == 3
    err = capfd.readouterr().err
    assert "Traceback" not in err and "abruptly" not in err
    line = err.strip().splitlines()[-1]
    assert line.startswith(
        "scuff: a worker process was killed, perhaps because memory ran out, while it did block round0-0000"
    )
    assert "finished blocks stay: the same command or --resume goes on" in line
    Path("spare").touch()
    assert main(command) == 0


UNOPENED = """
from multiprocessing import parent_process
if parent_process() is not None:
    raise RuntimeError("no weights here")
def predict(texts):
    return ['yes' if 'good' in text else 'no' for text in texts]
"""


def test_a_worker_that_cannot_open_the_model_says_why(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("model.py").write_text(UNOPENED)
    assert main(["evaluate", "model.py:predict", "data.jsonl", "-o", "run", *SMALL, "--workers", "2"]) == 2
    err = capfd.readouterr().err
    assert "Traceback" not in err and err.strip().splitlines()[-1].endswith("got RuntimeError: no weights here")


HOOK = """
import os, signal, sys
class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == "scuff.evaluation":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Hook())
"""


@pytest.mark.parametrize("way", ["module", "script"])
def test_ctrl_c_during_the_start_is_one_line(way: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    (tmp_path / "scuff").write_text("import sys\nfrom scuff.cli.main import main\nsys.exit(main())\n")
    command = ["-m", "scuff"] if way == "module" else [str(tmp_path / "scuff")]
    path = ":".join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, *command, "evaluate", "toy:tone", "toy:tone"],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "scuff: interrupted before anything was done\n")


def test_ctrl_c_is_as_usual_where_scuff_is_a_library() -> None:
    code = "import signal, scuff; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("command", [["evaluate"], ["attack"]])
def test_resume_from_another_folder(
    command: list[str], here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths in run.json are relative to the folder where the run was started."""
    rest = SMALL if command == ["evaluate"] else ["--recipe", "deepwordbug", "--search", "best-of", "--encoder", "chrf"]
    assert main([*command, "model.py:predict", "data.jsonl", "-o", "deep/run", "--examples", "10", *rest, "-q"]) == 0
    before = content("deep/run")
    for part in Path("deep/run/trials").glob("[ra]*.npz"):
        part.unlink()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "model.py").write_text(
        "def predict(texts):\n    return ['no' for text in texts]\n"
    )  # another of that name
    monkeypatch.chdir(elsewhere)
    assert main([*command, "--resume", str(here / "deep" / "run"), "--cache", "answers.db"]) == 0
    assert content(here / "deep" / "run") == before and Path.cwd() == elsewhere
    assert (elsewhere / "answers.db").is_file(), "a path that is given now is meant from here"


def test_a_run_that_was_moved_is_resumed_where_its_files_are(here: Path) -> None:
    scuff.evaluate("model.py:predict", "data.jsonl", "deep/run", **FEW)
    Path("deep/run").rename("run")
    next(Path("run/trials").glob("round*")).unlink()
    result = scuff.resume("run")
    assert result.folder == "run" and "model.py:predict" in str(result)


def test_contradictory_predictions_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last one won, and nobody was told."""
    rows = [{"text": text, "prediction": label} for text, label in DATA]
    Path("same.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *rows]))
    Path("more.jsonl").write_text(json.dumps({"text": DATA[2][0], "prediction": "no"}) + "\n")
    few = ["evaluate", "data.jsonl", *SMALL, "-q", "-o", "run"]
    assert main([*few, "--predictions", "same.jsonl"]) in (0, 3), "twice the same is no contradiction"
    assert "expected one answer" not in capsys.readouterr().err
    assert main([*few, "--predictions", "same.jsonl", "more.jsonl"]) == 2
    assert (
        "more.jsonl: expected one answer for a text, got 'yes' in row 3 of same.jsonl and 'no' in row 1 of more.jsonl: "
        f"{DATA[2][0]}" in capsys.readouterr().err
    )


def test_fresh_is_a_switch_in_files_and_python(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.yaml").write_text("model: model.py:predict\ndata: data.jsonl\noutput: run\nfresh: true\n")
    assert main(["evaluate", "--config", "run.yaml", *SMALL]) == 0 == main(["evaluate", "--config", "run.yaml", *SMALL])
    assert "fresh   the run that was in run is now in run-old" in capsys.readouterr().err
    assert "fresh" not in json.loads(Path("run", "run.json").read_text())["config"]
    scuff.evaluate("model.py:predict", "data.jsonl", "run", fresh=True, **FEW)
    assert Path("run-old2").is_dir()
    with pytest.raises(ValueError, match="expected True or False for fresh, got 'yes'"):
        scuff.evaluate("model.py:predict", "data.jsonl", fresh="yes", **FEW)  # type: ignore[arg-type]
    assert main(["evaluate", "--resume", "run", "--fresh"]) == 2


def test_fresh_reaches_the_workers(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They read the cache, too, and know of the setting only by the time that the run began."""
    for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # which a worker sets
    scuff.evaluate("model.py:predict", "data.jsonl", "one", cache="answers.db", **FEW)
    for since, asked in ((lambda: 0.0, len(DATA)), (lambda: 0.0, 0), (time.time, len(DATA))):
        worker = open_worker(EvaluationSetup, "one", True, 1, since(), None, lambda answers: None)
        assert isinstance(worker, WholeJobs)
        worker.setup.query([text for text, _ in DATA])
        assert worker.setup.query.asked == asked
        worker.setup.close()


def test_a_cache_of_the_last_version_is_read(tmp_path: Path) -> None:
    import sqlite3

    from scuff.victims.cache import digest

    with sqlite3.connect(tmp_path / "old.db") as file:
        file.execute("CREATE TABLE answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")
        file.execute("INSERT INTO answers VALUES (?, ?)", (digest("model", ("a",)), '["", "yes", ""]'))
    file.close()
    cache = DiskCache(str(tmp_path / "old.db"))
    assert cache.get("model", [("a",), ("b",)]) == {("a",): ("yes", "")} and cache.oldest == 0
    cache.put("model", {("b",): ("no", "")})
    cache.close()
    fresh = DiskCache(str(tmp_path / "old.db"), since=1)
    assert fresh.get("model", [("a",), ("b",)]) == {("b",): ("no", "")}
    fresh.close()


def test_a_folder_without_its_trials_is_done_again(here: Path) -> None:
    whole = scuff.evaluate(keyword, DATA, "run", **FEW).summary
    shutil.rmtree("run/trials")
    assert scuff.evaluate(keyword, DATA, "run", **FEW).summary == whole
