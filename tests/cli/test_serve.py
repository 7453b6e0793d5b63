"""`scuff serve`: starts, answers, ends on Ctrl-C; what cannot be is told in one line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs scuff[web]")
pytest.importorskip("uvicorn", reason="needs scuff[web]")

from scuff.cli.main import main

MODEL = """
import time

def predict(texts):
    time.sleep(0.2)
    return ["good" if "good" in text else "bad" for text in texts]
"""


@contextmanager
def started(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own process, and the address that it printed."""
    command = [sys.executable, "-m", "scuff", "serve", "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as server:
        assert server.stderr is not None
        try:
            line = next((line for line in server.stderr if "open http" in line or "expected" in line), "")
            assert "open http" in line, line
            yield server, line.split("open ")[1].split()[0]
        finally:
            if server.poll() is None:
                server.kill()


def ask(address: str, body: object = None, **headers: str) -> object:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, content, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_ends(tmp_path: Path, number: int) -> None:
    """Also while an attack is running and is being watched."""
    (tmp_path / "model.py").write_text(MODEL)
    with started(tmp_path, "model.py:predict", "--labels", "bad", "good") as (server, address):
        assert address.startswith("http://127.0.0.1:")
        found = ask(f"{address}api/predict", {"texts": ["good"]})
        assert isinstance(found, dict) and found["answers"][0]["said"] == "good"
        text = "a good day, all is good, good, good " * 10
        job = ask(f"{address}api/attack", {"text": text, "recipe": "input-reduction"})
        assert isinstance(job, dict)
        with urllib.request.urlopen(f"{address}api/attack/{job['id']}/events", timeout=60) as events:
            assert events.readline().startswith(b"id: 0")
            server.send_signal(number)
            assert server.wait(20) == 0
        assert server.stderr is not None and server.stderr.read() == "scuff: stopped\n"


@pytest.mark.slow
def test_other_machines_need_the_token_that_is_printed(tmp_path: Path) -> None:
    with started(tmp_path, "--host", "0.0.0.0", "-p", "keyboard(layout='qwertz')") as (_, address):
        bare, _, token = address.partition("?token=")
        assert len(token) >= 24
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(f"{bare}api/about")
        assert refused.value.code == 401
        refused.value.close()
        about = ask(f"{bare}api/about", Authorization=f"Bearer {token}")
        assert isinstance(about, dict) and about["perturbations"][-1]["name"] == "keyboard(layout='qwertz')"


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line that a command ends with, whose exit code is 2."""
    assert main(["serve", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_port_in_use_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert failed(capsys, "--port", str(port)) == (
            f"scuff: expected a free port, got {port}, which is in use: --port 0 takes any free one"
        )


def test_answers_are_sent_at_once() -> None:
    """asyncio turns off the waiting for more to send (some 40 ms an answer) only on sockets that say that they are TCP."""
    from scuff.web.server import listen

    with listen("127.0.0.1", 0, None).port as port:
        assert port.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--host", "0.0.0.0", "--token", "short"], "expected at least 16 characters for --token"),
        (["--token", "has blanks in it, which cookies have not"], "expected letters, digits and _ . ~ - for --token"),
        (["--port", "70000"], "expected 0 to 65535 for --port, got 70000"),
        (["--host", "no.such.host.invalid", "--token", "x" * 20], "expected an address of this machine for --host"),
        (["--port", "0", "toy:sentimental"], "expected sentiment, tone or translate for toy, got 'sentimental'"),
        (["--port", "0", "--shield", "fats"], "expected the name of a shield, got 'fats'; did you mean fast?"),
        (
            ["--port", "0", "-p", "keybord"],
            "expected the name of a perturbation, got 'keybord'; did you mean keyboard?",
        ),
        (["--port", "0", "--runs", "no-such-folder/deep"], "expected a folder for --runs, got no-such-folder/deep"),
    ],
)
def test_what_cannot_be_is_one_line(capsys: pytest.CaptureFixture[str], words: list[str], why: str) -> None:
    assert why in failed(capsys, *words)


def test_without_the_extra(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert failed(capsys) == "scuff: expected the package starlette, got none: pip install 'scuff[web]'"
