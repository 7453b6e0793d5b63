"""The runs folder: runs are listed, their pages are read, and nothing else is, by whatever path."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scuff.web.messages import Refused
from scuff.web.playground import Playground
from scuff.web.runs import RunsFolder
from web.served import app_of, client_of


@pytest.fixture
def client(playground: Playground, runs: Path) -> TestClient:
    return client_of(app_of(playground, runs))


def test_runs_are_listed(client: TestClient) -> None:
    found = {entry["run"]: entry for entry in client.get("/api/runs").json()["runs"]}
    assert set(found) == {"typos-1", "typos-2", "kept/attacked", "begun"}
    assert found["typos-1"]["kind"] == "evaluate" and found["typos-1"]["what"].startswith("clean ")
    assert found["kept/attacked"]["kind"] == "attack" and "attacks succeeded" in found["kept/attacked"]["what"]
    assert (found["begun"]["what"], found["begun"]["report"], found["begun"]["comparable"]) == (
        "not finished",
        None,
        False,
    )


def test_reports_are_served_without_an_origin(client: TestClient, runs: Path) -> None:
    answer = client.get("/runs/kept/attacked/report.html")
    assert answer.status_code == 200 and answer.content == (runs / "kept/attacked/report.html").read_bytes()
    policy = answer.headers["content-security-policy"]
    assert (
        policy.startswith("sandbox allow-scripts;") and "connect-src" not in policy and "default-src 'none'" in policy
    )
    assert "allow-same-origin" not in policy  # a page in the folder cannot ask this server


@pytest.mark.parametrize(
    "path",
    [
        "/runs/typos-1/run.json", "/runs/typos-1/examples.jsonl", "/runs/typos-1/trials/clean-00000.npz",
        "/runs/../typos-1/report.html", "/runs/%2e%2e/typos-1/report.html", "/runs/..%2ftypos-1/report.html",
        "/runs/typos-1/..%2f..%2freport.html", "/runs/typos-1%00/report.html", "/runs//report.html",
        "/runs/%2Fetc/report.html", "/runs/typos-1%5c..%5cx/report.html",
        "/runs/begun/report.html", "/runs/nothing/report.html", "/runs/a/b/c/report.html", "/runs/" + "x" * 5000 + "/report.html",
        "/report.html", "/runs/typos-1", "/runs/typos-1/", "/static/page.html", "/../pyproject.toml",
    ],
)  # fmt: skip
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    answer = client.get(f"http://127.0.0.1:8421{path}")
    assert answer.status_code == 404 and "error" in answer.json()


@pytest.mark.parametrize(
    "run",
    ["..", ".", "", "/", "./typos-1", "typos-1/", "/typos-1", "kept/../typos-1", "kept//attacked", "typos-1\0", "kept\\attacked",
     "kept/attacked/trials", "\ud800", "x" * 5000],
)  # fmt: skip
def test_names_that_lead_elsewhere(runs: Path, run: str) -> None:
    with pytest.raises(Refused, match="expected a run of the runs folder") as refused:
        RunsFolder(runs).page(run, "report.html")
    assert refused.value.status == 404


def test_links_do_not_lead_out(playground: Playground, tmp_path: Path, runs: Path) -> None:
    """A run that is a link to elsewhere, a page that is one, and a folder that leads to itself."""
    inside, secret = tmp_path / "runs", tmp_path / "secret"
    secret.mkdir()
    for name in ("run.json", "summary.json", "report.html"):
        (secret / name).write_bytes((runs / "typos-1" / name).read_bytes())
    (inside / "own").mkdir(parents=True)
    os.symlink(secret, inside / "linked")
    os.symlink(secret / "report.html", inside / "own" / "report.html")
    os.symlink(inside, inside / "loop")
    (inside / "own" / "run.json").write_bytes((runs / "typos-1" / "run.json").read_bytes())
    (inside / "read").mkdir()
    os.symlink(secret / "run.json", inside / "read" / "run.json")
    client = client_of(app_of(playground, inside))
    found = client.get("/api/runs").json()["runs"]
    assert [(entry["run"], entry["report"]) for entry in found] == [("own", None)]
    for path in ("linked", "own", "loop/own", "read"):
        assert client.get(f"/runs/{path}/report.html").status_code == 404


def test_runs_are_compared(client: TestClient) -> None:
    """Runs that differ in more than the model are compared only if the reader wants it."""
    answer = client.get("/compare", params={"run": ["typos-1", "typos-2"]})
    assert (
        answer.status_code == 409
        and "anyway=1" in answer.text
        and "unsafe" not in answer.headers["content-security-policy"]
    )
    answer = client.get("/compare", params={"run": ["typos-1", "typos-2"], "anyway": "1"})
    assert answer.status_code == 200 and "typos-2" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts;")


@pytest.mark.parametrize(
    ("names", "status", "why"),
    [
        ([], 422, "expected 2 to 20 runs to compare, got 0"),
        (["typos-1"], 422, "got 1"),
        (["typos-1", "typos-1"], 422, "expected"),
        (["typos-1", "kept/attacked"], 422, "expected runs of one kind"),
        (["typos-1", "begun"], 422, "expected a finished run"),
        (["typos-1", "../secret"], 404, "expected a run of the runs folder"),
        (["typos-1", "<script>alert(1)</script>"], 404, "&lt;script&gt;"),
    ],
)
def test_what_cannot_be_compared_is_told(client: TestClient, names: list[str], status: int, why: str) -> None:
    answer = client.get("/compare", params={"run": names})
    assert answer.status_code == status and why in answer.text and "<script" not in answer.text


def test_damaged_runs_are_told_not_hidden(tmp_path: Path) -> None:
    for name, content in (
        ("no-json", b"{"),
        ("other", b"[]"),
        ("broken", b"\xff\xfe"),
        ("<script>", b"{}"),
        ("deep", b"[" * 100_000),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_bytes(content)
    found = RunsFolder(tmp_path).list()["runs"]
    assert {entry["run"] for entry in found} == {"no-json", "other", "broken", "<script>", "deep"}
    assert all("expected" in entry["what"] for entry in found)


def test_reports_of_runs_with_odd_names_open(playground: Playground, tmp_path: Path, runs: Path) -> None:
    name = "a#b?c d é"
    shutil.copytree(runs / "typos-1", tmp_path / name)
    client = client_of(app_of(playground, tmp_path))
    (entry,) = client.get("/api/runs").json()["runs"]
    assert entry["run"] == name and client.get(entry["report"]).status_code == 200


def test_no_folder_is_no_runs(client: TestClient, playground: Playground) -> None:
    assert client_of(app_of(playground)).get("/api/runs").json() == {"runs": [], "left_out": 0}
