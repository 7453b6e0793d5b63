"""The engine of Ray: what is told where there is no cluster; and runs on clusters, in a network that nobody else reaches."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runs.loopback import inside
from scuff.cli.main import main
from scuff.resources import MissingResource
from scuff.runs.engines import open as opening
from scuff.runs.engines.open import open_engine

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("file", ["test_engines.py", "on_ray.py", "files_on_ray.py"])
def test_in_a_network_without_others(file: str) -> None:
    """The tests of a file that need Ray. Ray listens on all interfaces, so that these are started where there is only one."""
    pytest.importorskip("ray")
    command = [sys.executable, "-m", "pytest", str(HERE / file), "-k", "ray", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(inside(*command), capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout[-8000:] + done.stderr[-2000:]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(
        MissingResource, match=r"expected the package ray for engine ray, got none: pip install 'scuff\[ray\]'"
    ):
        open_engine("ray")


def test_an_address_needs_the_engine(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["attack", "toy:sentiment", "toy:sentiment", "--address", "auto"]) == 2
    assert capfd.readouterr().err.endswith("scuff: expected engine ray for address auto, got local\n")


@pytest.mark.slow
def test_no_cluster_is_told_in_one_line_and_at_once(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address, told in (
        (
            f"127.0.0.1:{port}",
            f"expected a Ray cluster at 127.0.0.1:{port}, got: Connection refused; `ray start --head`",
        ),
        (f"ray://127.0.0.1:{port}", "Connection refused"),
        ("somewhere", "expected auto, local, HOST:PORT or ray://HOST:PORT for address, got 'somewhere'"),
        ("auto", "expected a Ray cluster that was started on this machine, got none: `ray start --head` starts one"),
    ):
        begun = time.monotonic()
        small = ["--examples", "4", "--encoder", "chrf", "-o", "run", "--recipe", "deepwordbug"]
        assert main(["attack", "toy:sentiment", "toy:sentiment", *small, "--engine", "ray", "--address", address]) == 2
        err = capfd.readouterr().err
        assert told in err.splitlines()[-1] and "Traceback" not in err, err
        assert time.monotonic() - begun < 30 and not Path("run").exists()


def test_a_token_that_may_be_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a cluster that is named, Ray takes no token unless RAY_AUTH_MODE says so, and tells only that it could not connect."""
    pytest.importorskip("ray")
    from scuff.runs.engines import cluster

    def refused(address: str, **given: object) -> None:
        raise ConnectionError(f"Failed to connect to Ray cluster at {address}")

    monkeypatch.setattr("ray.init", refused)
    monkeypatch.setattr(cluster, "_reach", lambda address: None)
    with pytest.raises(
        cluster.NoCluster, match=r"at 10\.0\.0\.5:6379; does it ask for a token \(RAY_AUTH_MODE=token\)"
    ):
        cluster.connect("10.0.0.5:6379", 1)
    with pytest.raises(cluster.NoCluster, match=r"at local$"):
        cluster.connect("local", 1)
