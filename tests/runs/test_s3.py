"""Runs in a bucket of S3: killed, with workers, few requests, and errors that are one line."""

from __future__ import annotations

import gzip
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import scuff
from buckets import DATA, FEW, S3_ONLY, Requests, content, keyword, wait_for
from scuff.cli.main import main
from scuff.data.reading import read_dataset
from scuff.runs.folder import Folder
from scuff.stores import StorePath, as_path

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'scuff[stores]'")


@pytest.mark.slow
@pytest.mark.parametrize("place", S3_ONLY, indirect=True)
def test_a_killed_run_on_s3_goes_on_with_two_workers(place: str) -> None:
    scuff.evaluate("model.py:predict", "data.jsonl", "local", **FEW)
    small_blocks = (
        "import sys; from scuff.cli.main import main; from scuff.victims.base import Victim; Victim.cases_at_once = 20; "
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [
        sys.executable, "-c", small_blocks, "evaluate", "model.py:predict", "data.jsonl", "--dimensions", "keyboard", "--degrees",
        "0.3", "--cases", "2", "--workers", "2", "-o", place,
    ]  # fmt: skip
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: sum(name.startswith("round0") for name in Folder(place).parts()) > 1, "parts are written")
    finally:
        job.send_signal(signal.SIGKILL)
        job.communicate()
    assert Folder(place).has("lock") and not Folder(place).has("summary.json")
    written = as_path(place)
    assert isinstance(written, StorePath)
    (written / "trials/round0-00000.npz").write(
        b"PK"
    )  # a worker makes it again; what this process read of it is forgotten
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "takes over the lock of process" in done.stderr and "blocks were done before" in done.stderr
    assert content(place) == content("local")
    assert not [line for line in done.stderr.splitlines() if "Unclosed" in line or "Traceback" in line]


@pytest.mark.slow
@pytest.mark.parametrize("place", S3_ONLY, indirect=True)
def test_data_on_s3(place: str) -> None:
    """In plain, compressed and column files, of several blocks."""
    path, rows = as_path(place), [{"text": text, "label": label} for text, label in DATA] * 50
    assert isinstance(path, StorePath)
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    table = io.BytesIO()
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), table)
    Path("here.jsonl").write_bytes(raw)
    for name, file in {"a.jsonl": raw, "b.jsonl.gz": gzip.compress(raw), "c.parquet": table.getvalue()}.items():
        (path / name).write(file)
        assert read_dataset(str(path / name)).columns == read_dataset("here.jsonl").columns


@pytest.mark.slow
@pytest.mark.parametrize("place", S3_ONLY, indirect=True)
def test_few_requests(place: str, s3: Requests) -> None:
    """About one PUT for each block, and beside them a number of requests that does not grow with the blocks."""
    found = []
    for count in (10, 20):
        s3.take()
        scuff.evaluate(keyword, DATA[: 2 * count], f"{place}/{count}", **FEW)
        found.append((len(Folder(f"{place}/{count}").parts()), s3.take()))
    (few, one), (many, two) = found
    assert many > few + 1
    assert two["PUT"] - one["PUT"] == many - few and {**one, "PUT": 0} == {**two, "PUT": 0}
    assert sum(two.values()) <= many + 30
    scuff.report(f"{place}/20")
    again = s3.take()
    assert again["GET"] <= many + 5 and again["PUT"] == 3 and sum(again.values()) <= many + 20


@pytest.mark.slow
@pytest.mark.parametrize("place", S3_ONLY, indirect=True)
def test_s3_that_refuses_is_one_line(
    place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*command: str) -> str:
        fsspec.filesystem("s3").clear_instance_cache()
        assert main([*command, "-q"]) == 2
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1, lines
        return lines[0]

    small = ["evaluate", "toy:tone", "toy:tone", "--dimensions", "keyboard", "--examples", "10", "-o"]
    assert "s3://nowhere/run: expected a bucket that is there, got: The specified bucket" in told(
        *small, "s3://nowhere/run"
    )
    assert "s3://bucket/none: expected a run folder with run.json, got none" in told("report", "s3://bucket/none")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert f"{place}: expected credentials in the environment" in told(*small, place)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert f"{place}: expected a store that answers, got: " in told(*small, place)
