"""Endpoints through the whole of `scuff evaluate`: a server that fails, talks and refuses costs answers, never the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scuff.cli.main import main
from victims.scripted import Say, serving

KINDS = {"good": "yes", "bad": "no"}
SMALL = ["--dimensions", "keyboard", "--degrees", "0.3", "--cases", "3"]


@pytest.fixture
def data(tmp_path: Path) -> str:
    soups = [(f"the {kind} soup number {n} came late", label) for n in range(15) for kind, label in KINDS.items()]
    rows = [{"text": text, "label": label} for text, label in soups]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def verdict(text: str) -> str:
    return "yes" if "good" in text else "no"


def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "summary.json").read_text()))


def test_a_json_endpoint_that_has_bad_days(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOUP_KEY", "sk-very-secret-soup")

    def script(body: Any, number: int) -> Any:
        texts = body["inputs"]
        if number == 0 and len(texts[0]) % 2:  # the second try is answered
            return Say(status=503) if "good" in texts[0] else Say(raw=b"<html>oops")
        return {"predictions": [{"label": None if "number 4" in text else verdict(text)} for text in texts]}

    with serving(script) as server:
        options = [
            "request={'inputs': '{texts}'}",
            "answer=predictions.*.label",
            "batch=8",
            "backoff=0.01",
            "key_env=SOUP_KEY",
        ]
        command = ["evaluate", server.url, data, *SMALL, "-o", str(tmp_path / "run"), "--with", *options]
        assert main(command) == 0
        asked = len(server.bodies)
        assert main(command) == 0 and len(server.bodies) < 2 * asked, "a finished run asks only for the pre-flight"
    found = summary(tmp_path / "run")
    assert found["clean"]["score"]["value"] == 1 and found["clean"]["unparsed"] == 2
    assert found["dimensions"]["keyboard"]["degrees"][0]["unparsed"] > 0 and found["answered"] > 50
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or b"very-secret" not in path.read_bytes(), path


def test_a_chat_that_talks_and_refuses(data: str, tmp_path: Path) -> None:
    def script(body: Any, number: int) -> Any:
        text = body["messages"][-1]["content"]
        answer = f"I would say **{verdict(text).title()}**."
        if "number 2 " in text:
            answer = "I'm sorry, but I can't help with that."
        if "number 5 " in text:
            answer = "Hard to tell: yes and no."
        return {"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]}

    with serving(script) as server:
        model = f"chat:{server.url}/v1#tiny"
        assert main(["evaluate", model, data, *SMALL, "-o", str(tmp_path / "run")]) == 0
    found = summary(tmp_path / "run")
    assert found["clean"]["score"]["value"] == 1 and found["clean"]["refused"] == 2 and found["clean"]["unparsed"] == 2
    assert found["model"].endswith("#tiny")


def test_a_dead_server_is_told_at_once(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda body, number: Say("down", status=500)) as server:
        quick = ["--with", "retries=0", "backoff=0.01"]
        assert main(["evaluate", server.url, data, *SMALL, "-o", str(tmp_path / "run"), *quick]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1 and "status 500: down" in error[0] and not (tmp_path / "run").exists()
