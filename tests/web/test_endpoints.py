"""The endpoints give what the functions of Python give, and refuse in one line what they cannot do."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

import scuff
from scuff.victims.open import open_victim
from scuff.web import app as bounds
from scuff.web.playground import Playground
from web.served import TEXT, Words, app_of, client_of, events_of


@pytest.fixture
def client(playground: Playground) -> TestClient:
    return client_of(app_of(playground))


@pytest.fixture
def words() -> Words:
    return Words()


def post(client: TestClient, path: str, **body: Any) -> Any:
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


def refused(client: TestClient, path: str, **body: Any) -> tuple[int, str]:
    answer = client.post(f"/api/{path}", json=body)
    return answer.status_code, answer.json()["error"]


def wait_for_end(client: TestClient, job: str) -> Any:
    for _ in range(500):
        found = client.get(f"/api/attack/{job}").json()
        if found["state"] != "running":
            return found
        time.sleep(0.02)
    raise AssertionError("the attack did not end")


def test_about_says_what_may_be_named(client: TestClient) -> None:
    about = client.get("/api/about").json()
    assert (about["model"], about["labels"], about["shield"]) == ("toy:sentiment", ["negative", "positive"], "fast")
    parts = {part["name"]: part for part in about["perturbations"]}
    assert parts["keyboard"]["missing"] is None and parts["keyboard"]["quick"]
    assert "embedding(file='FILE')" in parts["embedding"]["missing"]  # listed with what it needs, no error
    recipes = {part["name"]: part["missing"] for part in about["recipes"]}
    assert recipes["deepwordbug"] is None and "--vectors" in recipes["textfooler"] and "decrease" in recipes["teapot"]


def test_predict(client: TestClient) -> None:
    bad, good = post(client, "predict", texts=["awful and cold", TEXT])["answers"]
    assert (bad["said"], good["said"], good["problem"]) == ("negative", "positive", None)
    assert set(good["scores"]) == {"negative", "positive"} and sum(good["scores"].values()) == pytest.approx(
        1, abs=1e-3
    )


@pytest.mark.parametrize(("strength", "seed"), [(0.5, 0), (0.2, 7), (1.0, 3)])
def test_perturb_is_what_python_gives(client: TestClient, playground: Playground, strength: float, seed: int) -> None:
    found = post(client, "perturb", text=TEXT, strength=strength, seed=seed)
    assert [row["perturbation"] for row in found["rows"]] == playground.quick and len(found["rows"]) >= 17
    asked = client.post("/api/predict", json={"texts": [row["text"] for row in found["rows"]]}).json()["answers"]
    for row, answer in zip(found["rows"], asked, strict=True):
        text, edits = scuff.perturb(TEXT, row["perturbation"], strength, seed=seed, return_edits=True)
        assert row["text"] == text and row["problem"] is None
        assert [(e["start"], e["stop"], e["old"], e["new"]) for e in row["edits"]] == [tuple(edit) for edit in edits]
        assert row["answer"] == answer and row["changed"] == (answer["said"] != found["answer"]["said"])


def test_all_perturbations_are_one_batch(words: Words) -> None:
    words.rows_at_once = 100
    client = client_of(app_of(Playground(words)))
    names = ["keyboard", "omit", "truncate", "typo"]
    post(client, "perturb", text="a good and nice day", perturbations=names)
    assert words.asked == [5]
    post(client, "perturb", text="a good and nice day", perturbations=names)
    assert words.asked == [5]  # remembered
    assert post(client, "perturb", text="x", perturbations=names, predict=False)["answer"] is None
    assert words.asked == [5]


def test_perturb_behind_a_shield(client: TestClient) -> None:
    found = post(client, "perturb", text=TEXT, perturbations=["homoglyph"], shield="normalise", marked=True)
    (row,) = found["rows"]
    assert row["mended"]["text"] == scuff.shield(row["text"], "normalise")
    assert row["mended"]["repairs"][0]["kinds"] and "<ins>" in row["mended"]["marked"]
    assert row["answer"] == post(client, "predict", texts=[row["text"]], shield="normalise")["answers"][0]
    assert found["mended"]["repairs"] == [] and "U+" in row["characters"][0]


def test_shield(client: TestClient) -> None:
    text = "The st\u0430ff were fr\u200biendly"
    found = post(client, "shield", text=text, marked=True)
    mended, repairs = scuff.shield(text, return_edits=True)
    assert found["shield"] == "fast" and found["mended"]["text"] == mended == "The staff were friendly"
    assert [tuple(one["kinds"]) for one in found["mended"]["repairs"]] == [one.kinds for one in repairs]
    assert found["before"]["said"] and found["after"]["said"] and "200B" in found["mended"]["marked"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "\u202eevil\u202c \u2066x",
         "سلام دنیا و همه مردم", "שלום עולם", "👩‍👩‍👧‍👦 👍🏽 good", "", "   ",
        "\0\x01\x1b[31m", "line\nline\r\n\tx", "\ufeff\u200b", "a" * 20_000, "good " * 4000, "̀" * 300, "&lt;b&gt; &amp;",
    ],
)  # fmt: skip
def test_hostile_texts(client: TestClient, text: str) -> None:
    found = post(client, "perturb", text=text, marked=True, shield="fast", perturbations=["keyboard", "visual", "omit"])
    for row in found["rows"]:
        assert row["problem"] is None and "<script" not in row["marked"] and "\u202e" not in row["marked"]
    post(client, "shield", text=text, marked=True)
    post(client, "predict", texts=[text], shield="fast")


def test_half_characters_are_refused_in_words(client: TestClient) -> None:
    body = b'{"text": "a\\ud800b"}'
    for path in ("perturb", "shield", "attack"):
        answer = client.post(f"/api/{path}", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["error"] == "expected Unicode text, got the lone surrogate U+D800 at character 1"


def test_refusals(client: TestClient) -> None:
    assert refused(client, "perturb", text="a", perturbations=["keybord"]) == (
        422, "expected the name of a perturbation, got 'keybord'; did you mean keyboard?",
    )  # fmt: skip
    assert refused(client, "perturb", text="a", perturbations=["embedding"])[0] == 422
    assert refused(client, "predict", texts=["a"], shield="fats")[1].endswith("did you mean fast?")
    assert refused(client, "perturb", text="a" * 100_000) == (
        413, "expected at most 20,000 characters for text, got 100,000",
    )  # fmt: skip
    assert client.get("/api/perturb").status_code == 405
    assert client.get("/api/attack/nothing").json()["error"].startswith("expected the id of one of the last")
    assert client.delete("/api/attack/nothing").status_code == 404
    assert client.get("/nowhere").json()["error"] == "expected an address that /docs lists, got '/nowhere'"


@pytest.mark.parametrize("name", ["os:system", "secret.py:Shout", "keyboard(layout='qwertz')", "typo|keyboard"])
def test_a_request_cannot_name_code_or_files(client: TestClient, tmp_path: Path, name: str) -> None:
    """A spec may name a module, a file, a folder with a model: requests name only what the server offers."""
    (tmp_path / "secret.py").write_text("raise SystemExit('imported')")
    for body in ({"perturbations": [name]}, {"shield": name}):
        assert refused(client, "perturb", text="a", **body)[0] == 422
    assert refused(client, "attack", text="a good day", recipe=name)[0] == 422


def test_a_recipe_that_does_not_fit_is_an_error_of_the_attack(client: TestClient) -> None:
    job = post(client, "attack", text=TEXT, recipe="textfooler")
    events = events_of(client.get(f"/api/attack/{job['id']}/events").text)
    assert events[-1][0] == "error" and "textfooler needs word vectors" in events[-1][1]["error"]
    assert client.get(f"/api/attack/{job['id']}").json()["state"] == "error"


def test_own_perturbations_are_offered(words: Words) -> None:
    spec = "keyboard(layout='qwertz')"
    client = client_of(app_of(Playground(words, [spec], "normalise+restore")))
    (row,) = post(client, "perturb", text="Das ist gut", perturbations=[spec])["rows"]
    assert row["text"] == scuff.perturb("Das ist gut", spec, 0.5)
    assert post(client, "shield", text="x")["shield"] == "normalise+restore"


# bounds


def test_too_many_at_once(words: Words) -> None:
    go, app = Event(), app_of(Playground(words))
    words.hold = lambda: go.wait(20)
    client = client_of(app)
    app.busy = bounds.AT_ONCE
    assert refused(client, "predict", texts=["a"]) == (
        429,
        "expected at most 8 requests at once, got one more: try again",
    )
    app.busy = 0
    go.set()
    assert post(client, "predict", texts=["a"])["answers"][0]["said"] == "bad"
    assert app.busy == 0


def test_time_is_bounded(words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that hangs: the request is refused, and its thread counts as busy until it ends."""
    monkeypatch.setattr(bounds, "SECONDS", 0.2)
    monkeypatch.setattr(bounds, "GRACE", 0.1)
    go, app = Event(), app_of(Playground(words))
    words.hold = lambda: go.wait(20)
    with client_of(app) as client:  # one event loop for all requests
        begin = time.monotonic()
        assert refused(client, "predict", texts=["a"])[0] == 504
        assert time.monotonic() - begin < 5
        assert app.busy == 1
        assert refused(client, "predict", texts=["b"]) == (  # waits for the door, no longer than it may
            504, "expected an answer within 0.2 seconds, got none: try a shorter text",
        )  # fmt: skip
        go.set()
        for _ in range(200):
            if not app.busy:
                break
            client.get("/api/about")
            time.sleep(0.01)
        assert app.busy == 0
        assert post(client, "predict", texts=["a"])["answers"][0]["said"] == "bad"


def test_a_model_that_fails_is_told_apart(words: Words) -> None:
    def fail() -> None:
        raise ZeroDivisionError("no")

    words.hold = fail
    client = client_of(app_of(Playground(words)))
    (answer,) = post(client, "predict", texts=["a"])["answers"]
    assert answer["said"] is None and "ZeroDivisionError" in answer["problem"]
    words.labels = ("one", "two", "three")  # more than it has columns: all answers are wrong
    words.hold = None
    status, why = refused(client, "predict", texts=["a"])
    assert status == 502 and "expected answers from words" in why


# attacks


def test_attack_with_events(client: TestClient) -> None:
    job = post(client, "attack", text=TEXT, recipe="deepwordbug")
    assert job["state"] == "running" and job["max_queries"] == 500
    events = events_of(client.get(f"/api/attack/{job['id']}/events").text)
    names = [name for name, _ in events]
    assert names[0] == "clean" and names[-1] == "done" and set(names[1:-1]) == {"tried"}
    done, tried = events[-1][1], [one for name, data in events if name == "tried" for one in data["tries"]]
    assert done["state"] == "succeeded" and done["before"]["said"] == "positive" and done["after"]["said"] == "negative"
    assert done["text"] != TEXT and "<ins>" in done["marked"]
    for one in tried:
        assert one["words"] and all(TEXT[word["start"] : word["stop"]].strip() for word in one["words"])
        assert 0 <= one["score"] <= 1
    assert client.get(f"/api/attack/{job['id']}").json()["outcome"] == done
    assert post(client, "predict", texts=[done["text"]])["answers"] == [done["after"]]
    again = client.get(f"/api/attack/{job['id']}/events", headers={"last-event-id": str(len(events) - 2)}).text
    assert events_of(again) == events[-1:]  # a browser that was cut off goes on where it was


def test_attack_is_what_a_run_finds(client: TestClient) -> None:
    job = post(client, "attack", text=TEXT, recipe="pwws", seed=3)
    found = wait_for_end(client, job["id"])["outcome"]
    run = scuff.attack("toy:sentiment", [(TEXT, "positive")], "pwws", seed=3, encoder="chrf", examples=1)
    (line,) = run.lines
    assert (found["state"], found["queries"]) == (line["status"], line["queries"])
    assert [[0, e["start"], e["stop"], e["new"]] for e in found["edits"]] == [
        list(edit) for edit in line["adversarial"]["edits"]
    ]


def test_attack_behind_a_shield_and_with_a_label(client: TestClient) -> None:
    job = post(client, "attack", text=TEXT, shield="fast")
    found = wait_for_end(client, job["id"])
    assert found["state"] in ("failed", "succeeded")
    job = post(client, "attack", text=TEXT, label="negative")
    assert wait_for_end(client, job["id"])["outcome"]["reason"] == "already wrong"
    assert refused(client, "attack", text=TEXT, label="positiv") == (
        422, "expected the name of a label, got 'positiv'; did you mean positive?",
    )  # fmt: skip


def test_attacks_are_bounded_and_cancelled(words: Words) -> None:
    words.hold = lambda: time.sleep(0.05)
    client = client_of(app_of(Playground(words)))
    text = "a good and great and fine and nice day " * 5
    jobs = [post(client, "attack", text=text, seconds=60)["id"] for _ in range(2)]
    assert refused(client, "attack", text=text) == (
        429, "expected at most 2 attacks at once, got one more: wait, or cancel one",
    )  # fmt: skip
    for job in jobs:
        assert client.delete(f"/api/attack/{job}").status_code == 200
    assert {wait_for_end(client, job)["state"] for job in jobs} == {"cancelled"}
    events = events_of(client.get(f"/api/attack/{jobs[0]}/events").text)
    assert events[-1][0] == "done" and events[-1][1]["state"] == "cancelled"
    asked = len(words.asked)
    time.sleep(0.2)
    assert len(words.asked) == asked  # it really stopped
    job = post(client, "attack", text=text, seconds=0.3)["id"]
    outcome = wait_for_end(client, job)["outcome"]
    assert outcome["reason"] == "no time was left" or outcome["state"] == "succeeded"


def tags_of(texts: list[str]) -> list[list[str]]:
    return [[name for name in ("goose", "spam") if name in text.lower()] for text in texts]


def shouted(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


@pytest.mark.parametrize(("model", "task", "labels"), [(tags_of, "multi", ("goose", "spam")), (shouted, "text", ())])
def test_other_tasks(model: Any, task: Any, labels: Any) -> None:
    """Label sets, and texts."""
    client = client_of(app_of(Playground(open_victim(model, task, labels))))
    text = "you silly goose, buy my spam now"
    found = post(client, "perturb", text=text, perturbations=["omit"], strength=1.0)
    assert found["answer"]["said"] == ("goose spam" if labels else text.upper()) and found["rows"][0]["changed"]
    assert found["answer"]["labels"] == list(labels) and found["answer"]["scores"] is None
    job = post(client, "attack", text=text, recipe="deepwordbug", max_queries=100)
    assert wait_for_end(client, job["id"])["state"] in ("succeeded", "failed", "error")


def test_taggers_take_what_stands_between_blanks() -> None:
    def tag(sentences: list[list[str]]) -> list[list[str]]:
        return [["NAME" if token[:1].isupper() else "O" for token in tokens] for tokens in sentences]

    client = client_of(app_of(Playground(open_victim(tag, "tokens", ("O", "NAME")))))
    found = post(client, "perturb", text="Ada  met\nBob", perturbations=["keyboard"])
    assert found["answer"]["labels"] == ["NAME", "O", "NAME"] and found["answer"]["said"] == "NAME O NAME"
    job = post(client, "attack", text="Ada  met\nBob", recipe="deepwordbug", max_queries=60)
    assert wait_for_end(client, job["id"])["state"] in ("succeeded", "failed")


def test_documents(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0" and set(document["paths"]["/api/attack/{id}"]) == {"get", "delete"}
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert all(path in page.text for path in document["paths"])
