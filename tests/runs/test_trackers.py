"""Logging to trackers (`--log`): what they are told, real MLflow and W&B on this machine; and no run is lost for one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.cli.main import main
from scuff.evaluation import EvaluationSettings
from scuff.reports.entries import begun
from scuff.runs import trackers
from scuff.runs.folder import append_line
from scuff.runs.progress import Progress
from scuff.runs.trackers import Beginning, Outcome, Status, Tracker, plain_names

TOY = "toy:sentiment"
SMALL: dict[str, Any] = {
    "examples": 10,
    "cases": 2,
    "degrees": [0.2, 0.5],
    "dimensions": ["keyboard", "mine=homoglyph@edits"],
}
WORDS = [
    "--examples",
    "10",
    "--cases",
    "2",
    "--degrees",
    "0.2",
    "0.5",
    "--dimensions",
    "keyboard",
    "mine=homoglyph@edits",
    "-q",
]


def lines(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def content(folder: Path) -> dict[str, bytes]:
    """All files of a run but its times."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "timings.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"half": ')
    for line in ("one", "two"):
        append_line(log, line)
    assert log.read_text() == '{"half": \none\ntwo\n'


def test_a_line_has_settings_scores_and_files(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    result = scuff.evaluate(TOY, TOY, tmp_path / "run", log=f"jsonl:{log}", **SMALL)
    attacked = scuff.attack(TOY, TOY, "deepwordbug", examples=8, encoder="chrf", log=[f"jsonl:{log}"])
    one, other = lines(log)
    assert (one["status"], one["kind"], one["name"]) == ("finished", "evaluate", "toy:sentiment on toy:sentiment")
    assert (
        one["params"]["dimensions"] == SMALL["dimensions"] and one["params"]["seed"] == 0 and "log" not in one["params"]
    )
    assert one["signature"] == json.loads((tmp_path / "run" / "run.json").read_text())["signature"]
    low, high = result.summary["dimensions"]["keyboard"]["degrees"][1]["worst"]["interval"]
    metrics = one["metrics"]
    assert metrics["clean/score"] == result.clean and metrics["overall/worst"] == result.worst
    assert (metrics["dimension/keyboard/at 0.5/worst_low"], metrics["dimension/keyboard/at 0.5/worst_high"]) == (
        low,
        high,
    )
    assert one["files"] == [str(tmp_path / "run" / name) for name in ("report.html", "summary.json")]
    assert other["kind"] == "attack" and other["metrics"]["attack/success"] == attacked.success
    assert other["metrics"]["queries/total"] == attacked.summary["queries"]["total"]


def test_logging_changes_no_byte_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scuff.evaluate(TOY, TOY, "plain", **SMALL)
    scuff.evaluate(TOY, TOY, "logged", log="jsonl", **SMALL)
    assert content(tmp_path / "plain") == content(tmp_path / "logged")
    assert Path("scuff-log.jsonl").is_file(), "beside the run"


def test_a_run_that_fails_is_logged_as_failed(tmp_path: Path) -> None:
    def model(texts: list[str]) -> list[str]:
        raise RuntimeError("no\nconnection")

    asked = []

    def stopped(texts: list[str]) -> list[str]:
        asked.append(texts)
        if len(asked) > 2:
            raise KeyboardInterrupt
        return ["yes" if "good" in text else "no" for text in texts]

    log, data = tmp_path / "log.jsonl", [("a good day", "yes"), ("a bad day", "no")] * 4
    with pytest.raises(
        (RuntimeError, ValueError), match="expected answers to two examples, got error: RuntimeError: no"
    ):
        scuff.evaluate(model, data, log=f"jsonl:{log}", dimensions=["keyboard"])
    with pytest.raises(KeyboardInterrupt):
        scuff.evaluate(stopped, data, log=f"jsonl:{log}", dimensions=["keyboard"])
    failed, interrupted = lines(log)
    assert failed["status"] == "failed" and "RuntimeError: no" in failed["reason"] and failed["metrics"] == {}
    assert interrupted["status"] == "interrupted"


class Recorded(Tracker):
    """A tracker that remembers what it is told, or fails on purpose at a time."""

    told: list[Any]
    fails_at = ""

    def _tell(self, when: str, *what: Any) -> None:
        if when == self.fails_at:
            raise ConnectionError(f"broke\nwhen asked to {when}")
        self.told.append((when, *what))

    def begin(self, run: Beginning) -> None:
        self._tell("begin", run)

    def look(self, progress: Progress) -> None:
        self._tell("look", progress.queries, progress.share)

    def end(self, status: Status, outcome: Outcome, reason: str) -> None:
        self._tell("end", status, outcome, reason)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> type[Recorded]:
    monkeypatch.setattr(trackers, "OFTEN", 0.0)
    kind = type("Ours", (Recorded,), {"told": [], "fails_at": ""})
    monkeypatch.setitem(trackers.TRACKERS, "ours", kind)
    return kind


def test_the_progress_is_told(recorded: type[Recorded]) -> None:
    scuff.evaluate(TOY, TOY, log="ours", **SMALL)
    times = [told[0] for told in recorded.told]
    assert times[0] == "begin" and times[-1] == "end" and set(times[1:-1]) == {"look"}
    assert all(0 <= share <= 1 for _, _, share in recorded.told[1:-1])
    assert recorded.told[-1][1] == "finished"


@pytest.mark.parametrize("when", ["begin", "look", "end"])
def test_a_tracker_that_fails_costs_one_line(when: str, recorded: type[Recorded]) -> None:
    recorded.fails_at = when
    with pytest.warns(RuntimeWarning) as caught:
        result = scuff.evaluate(TOY, TOY, log="ours", **SMALL)
    assert [str(each.message) for each in caught] == [
        f"log ours failed, the run goes on without it: ConnectionError: broke when asked to {when}"
    ]
    assert result.clean > 0.5


def test_not_even_where_warnings_are_errors(recorded: type[Recorded]) -> None:
    recorded.fails_at = "end"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        assert scuff.evaluate(TOY, TOY, log="ours", **SMALL).clean > 0.5
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("mlfow", "expected the name of a tracker for log, got 'mlfow'; did you mean mlflow?"),
        ("jsonl:", "expected jsonl or jsonl:WHERE for log, got 'jsonl:'"),
        (["jsonl", "jsonl"], "expected each tracker once for log, got"),
    ],
)
def test_wrong_trackers_are_errors_before_any_work(log: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        scuff.evaluate(lambda texts: pytest.fail("the model was asked"), [("a", "b"), ("c", "d")], log=log)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda name: None)
    assert main(["attack", TOY, TOY, "--log", "wandb"]) == 2
    assert (
        capfd.readouterr().err
        == "scuff: expected the package wandb for log wandb, got none: pip install 'scuff[wandb]'\n"
    )


def test_settings_files_and_resumed_runs_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.yaml").write_text("log: [jsonl:one.jsonl]\nexamples: 8\ncases: 1\ndimensions: keyboard\ndegrees: 0.3\n")
    assert main(["evaluate", TOY, TOY, "--config", "run.yaml", "-q", "-o", "run"]) == 0
    assert lines("one.jsonl")[0]["params"]["cases"] == 1
    assert "log" not in json.loads(Path("run/run.json").read_text())["config"]
    part = next(Path("run/trials").glob("*round*.npz"), None) or sorted(Path("run/trials").glob("*.npz"))[-1]
    part.unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["evaluate", "--resume", "../run", "--log", "jsonl:two.jsonl", "-q"]) == 0
    line = lines(tmp_path / "elsewhere" / "two.jsonl")[0]
    assert line["status"] == "finished" and line["params"]["examples"] == 8
    assert line["metrics"] == lines(tmp_path / "one.jsonl")[0]["metrics"]


def test_a_hardening_is_one_entry(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    result = scuff.harden(
        TOY, TOY, tmp_path / "out", methods="shield(normalise)", dimensions="homoglyph", examples=10, cases=1, degrees=0.3,
        log=f"jsonl:{log}",
    )  # fmt: skip
    (line,) = lines(log)
    assert (line["kind"], line["status"], line["verdict"]) == ("harden", "finished", result.words[0])
    assert line["metrics"]["clean/score_difference"] == result.clean["difference"]
    assert line["params"]["methods"] == ["shield(normalise)"]
    assert [Path(path).name for path in line["files"]] == ["comparison.html", "proof.json"]
    assert "log" not in json.loads((tmp_path / "out" / "harden.json").read_text())


def test_a_secret_is_not_logged() -> None:
    settings = EvaluationSettings.of(options={"headers": {"Authorization": "hidden"}, "timeout": 5})
    told = begun("evaluate", "a model", "data", settings, settings.asdict().get("options"))
    assert "hidden" not in repr(told) and told.params["options"] == {"timeout": 5}


@given(st.lists(st.text(min_size=1), unique=True, max_size=8))
def test_names_are_those_that_mlflow_takes(names: list[str]) -> None:
    validation = pytest.importorskip("mlflow.utils.validation") if "mlflow" in sys.modules else None
    found = plain_names(names)
    assert list(found) == names and len(set(found.values())) == len(names)
    for name in found.values():
        assert len(name) <= 250 and ".." not in name.split("/") and "//" not in name
        if validation:
            validation._validate_metric_name(name)


def run_logged(folder: Path, tracker: str, **environment: str) -> None:
    """Runs the command in a process of its own: trackers start threads and warn of their own packages."""
    done = subprocess.run(
        [sys.executable, "-m", "scuff", "evaluate", TOY, TOY, *WORDS, "-o", "run", "--log", tracker],
        cwd=folder, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0 and "failed" not in done.stderr, done.stderr


READ = """
import json, sys, mlflow
client = mlflow.MlflowClient(tracking_uri=sys.argv[1])
runs = client.search_runs([client.get_experiment_by_name(sys.argv[2]).experiment_id])
print(json.dumps([{"name": run.info.run_name, "status": run.info.status, "params": run.data.params, "metrics": run.data.metrics,
    "tags": run.data.tags, "files": sorted(each.path for each in client.list_artifacts(run.info.run_id))} for run in runs]))
"""


def from_mlflow(store: str, experiment: str, **environment: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-c", READ, store, experiment],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_mlflow_on_this_machine(store: str, tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="pip install 'scuff[mlflow]'", exc_type=ImportError)
    if store == "sqlite":
        pytest.importorskip("sqlalchemy")
        pytest.importorskip("alembic")
    place = f"sqlite:///{tmp_path}/mlflow.db" if store == "sqlite" else (tmp_path / "mlruns").as_uri()
    environment = {"MLFLOW_TRACKING_URI": place, "MLFLOW_ALLOW_FILE_STORE": "true"}
    run_logged(tmp_path, "mlflow:robustness", **environment)
    summary = scuff.report(tmp_path / "run").summary
    (run,) = from_mlflow(place, "robustness", **environment)
    assert (run["name"], run["status"]) == ("toy:sentiment on toy:sentiment", "FINISHED")
    assert run["params"]["cases"] == "2" and run["tags"]["signature"] == summary["signature"]
    assert run["metrics"]["clean/score"] == pytest.approx(summary["clean"]["score"]["value"])  # type: ignore[typeddict-item]
    low = summary["dimensions"]["mine"]["worst"]["interval"][0]  # type: ignore[typeddict-item]
    assert run["metrics"]["dimension/mine/worst_low"] == pytest.approx(low)
    assert run["files"] == ["report.html", "summary.json"]


@pytest.mark.slow
def test_wandb_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="pip install 'scuff[wandb]'")
    run_logged(tmp_path, "wandb:robustness", WANDB_MODE="offline", WANDB_DIR=str(tmp_path))
    (file,) = (tmp_path / "wandb").glob("offline-run-*/*.wandb")
    raw = file.read_bytes()
    for word in ("robustness", "dimension/mine/worst_low", "clean/score_high", "scuff:", "report.html", "summary.json"):
        assert word.encode() in raw, word
    assert not list((tmp_path / "run").rglob("*wandb*"))
