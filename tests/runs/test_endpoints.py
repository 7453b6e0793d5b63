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
        assert main(["evaluate", server.url, data, *SMALL, "-o", str(tmp_path / "run"), *quick]) == 3
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1 and "status 500: down" in error[0] and not (tmp_path / "run").exists()


def poisoned(body: Any, number: int) -> Any:
    """Hangs on "number 3", breaks on "number 7", whatever else is in the batch, and quotes a text when it breaks."""
    texts = body["inputs"]
    if any("number 3 " in text for text in texts):
        return Say(stall=2)
    if any("number 7 " in text for text in texts):
        return Say({"detail": f"cannot take {texts}"}, status=500)
    return [{"label": verdict(text), "score": 0.9} for text in texts]


FAST = ["--with", "timeout=0.1", "retries=1", "backoff=0.01"]


@pytest.mark.slow
def test_why_cases_have_no_answer_stands_in_table_and_report(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = "4 errors (2 status 500, 2 timed out after 0.1 s)"
    with serving(poisoned) as server:
        words = ["--dimensions", "homoglyph", "--degrees", "0.1", "--cases", "1", "--protect", "re:number \\d+ "]
        assert main(["evaluate", server.url, data, *words, "-o", str(tmp_path / "run"), *FAST]) == 0
        table = capsys.readouterr().out
        assert "30 cases, of which without an answer: " + clean in table
        assert "clean texts without an answer: " + clean in table
        page = (tmp_path / "run" / "report.html").read_text()
        assert clean in page and "cannot take" not in table + page, "a server may quote texts: its words do not show"
        found = summary(tmp_path / "run")
        assert found["reasons"] == found["clean"]["reasons"] == {"status 500": 2, "timed out after 0.1 s": 2}


@pytest.mark.slow
def test_why_queries_of_an_attack_have_no_answer(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def script(body: Any, number: int) -> Any:
        odd = [text for text in body["inputs"] if "late" not in text and "good" in text]
        return Say({"detail": f"cannot take {odd}"}, status=500) if odd else poisoned(body, number)

    few = ["--examples", "8", "--max-queries", "12", "--encoder", "chrf"]
    command = ["--recipe", "deepwordbug", *few, "--max-errors", "1000", *FAST]
    with serving(script) as server:
        assert main(["attack", server.url, data, "-o", str(tmp_path / "run"), *command]) == 0
    table, page = capsys.readouterr().out, (tmp_path / "run" / "report.html").read_text()
    found = summary(tmp_path / "run")["queries"]
    assert found["unanswered"] == sum(found["reasons"].values()) > 0 and list(found["reasons"]) == ["status 500"]
    note = f"{found['unanswered']} queries had no answer, counted as not fooling the model: {found['unanswered']} status 500"
    assert note in table and note in page and "cannot take" not in table


def test_a_server_that_dies_ends_the_run_soon_and_it_goes_on_later(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between the clean texts and the cases it dies: one line, exit code 3, few requests; the same command then goes on."""
    up = [True]

    def script(body: Any, number: int) -> Any:
        if up[0] is True and any("soup" not in text for text in body["inputs"]):
            up[0] = False
        return [verdict(text) for text in body["inputs"]] if up[0] else Say(status=503)

    run = tmp_path / "run"
    many = ["--dimensions", "keyboard", "--degrees", "0.5", "--cases", "60", "-o", str(run), *FAST]
    with serving(script) as server:
        assert main(["evaluate", server.url, data, *many]) == 3
        error = capsys.readouterr().err.strip().splitlines()
        assert "scuff: expected answers" in error[-1] and "got none any more: status 503" in error[-1]
        assert len(server.seen) < 60
        assert not (run / "summary.json").exists()
        server.script = lambda body, number: [verdict(text) for text in body["inputs"]]
        assert main(["evaluate", server.url, data, *many]) == 0
    assert summary(run)["answered"] == summary(run)["queries"]["cases"]


def test_nothing_listens(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda body, number: None) as server:
        pass
    assert main(["evaluate", server.url, data, *SMALL, "-o", str(tmp_path / "run"), *FAST]) == 3
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1 and "ConnectionRefusedError" in error[0] and not (tmp_path / "run").exists()


def test_a_chat_is_asked_for_scores(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def script(body: Any, number: int) -> Any:
        said = verdict(body["messages"][-1]["content"])
        tops = [{"token": said, "logprob": -0.2}, {"token": {"yes": "no", "no": "yes"}[said], "logprob": -1.7}]
        return {
            "choices": [{"message": {"content": said}, "logprobs": {"content": [{**tops[0], "top_logprobs": tops}]}}]
        }

    with serving(script) as server:
        model = f"chat:{server.url}/v1#tiny"
        guided = ["--access", "score", "--examples", "4", "--encoder", "chrf"]
        assert main(["attack", model, data, "--recipe", "deepwordbug", "--encoder", "chrf"]) == 2
        assert "--search best-of needs only decisions; --with scores=true asks for scores" in capsys.readouterr().err
        command = ["evaluate", model, data, *SMALL, *guided, "-o", str(tmp_path / "run"), "--with", "scores=true"]
        assert main([*command, "thinking=null"]) == 0
    assert summary(tmp_path / "run")["clean"]["auc"]["value"] == 1
