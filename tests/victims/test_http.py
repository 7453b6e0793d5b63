"""Any JSON endpoint as a victim: what is sent, what is understood, and what becomes of rows that fail."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest

from scuff.victims.answers import begin
from scuff.victims.base import Access
from scuff.victims.remote.client import EndpointDown
from scuff.victims.remote.http import Http
from victims.scripted import Say, Scripted, serving

NASTY = [
    'say "hi"',
    "back\\slash",
    "two\nlines\t",
    "{texts} {text} {second}",
    "😀👩‍👩‍👧",
    "שלום ‏עולם",
    "e\u0301",
    "",
    "a" * 5000,
]
FAST = {"timeout": 5, "backoff": 0.01, "retries": 1}


def http(server: Scripted, **options: Any) -> Http:
    return Http(server.url, **{"labels": ("neg", "pos"), **FAST, **options})


def ask(response: Any, *columns: Any, **options: Any) -> Any:
    """Outputs of a victim whose server always says the same to one text."""
    with serving(lambda body, _: response) as server:
        return http(server, **{"request": '{"inputs": "{text}"}', **options})(*(columns or (["a"],)))


def test_texts_come_through_unharmed() -> None:
    for request, sent in [
        ('"{text}"', lambda text: text),
        ('{"a": ["{text}", 1, null], "{text}": true}', lambda text: {"a": [text, 1, None], "{text}": True}),
        ('{"prompt": "Is \\"{text}\\" {good}? {text}"}', lambda text: {"prompt": f'Is "{text}" {{good}}? {text}'}),
        ('{"inputs": "{texts}"}', lambda text: {"inputs": [text]}),
    ]:
        with serving(lambda body, _: ["echo"]) as server:
            victim = http(server, task="text", labels=(), request=request, answer="*", batch=1)
            assert victim(NASTY).answers.tolist() == ["echo"] * len(NASTY)
            found = sorted(json.dumps(body) for body in server.bodies)
            assert found == sorted(json.dumps(sent(text)) for text in NASTY), request


def test_texts_come_back_unharmed() -> None:
    with serving(lambda body, _: {"out": [{"t": text} for text in body["inputs"]]}) as server:
        victim = http(server, task="text", labels=(), answer="out.*.t", batch=4)
        assert victim(NASTY).answers.tolist() == NASTY and len(server.seen) == 3
        assert victim([]).answers.shape == (0,) and victim(["half \ud83d"]).answers.tolist() == ["half \ufffd"]


def test_pairs_and_tokens() -> None:
    first, second = ["a", "b", "{second}"], ["x", "y", "{first}"]
    pairs = list(zip(first, second, strict=True))
    for request, sent in [
        ('{"in": "{pairs}"}', [{"in": [list(pair) for pair in pairs]}]),
        ('["{firsts}", "{seconds}"]', [[first, second]]),
        ('{"p": "{first}", "h": "{second}"}', [{"p": p, "h": h} for p, h in pairs]),
        ('"{first}|{second}|{first}"', [f"{p}|{h}|{p}" for p, h in pairs]),
    ]:
        many = len(sent) == 1
        with serving(lambda body, _, many=many: [1, 0, 1] if many else 1) as server:
            victim = http(server, request=request, concurrency=1)
            assert victim(first, second).answers.tolist() == ([1, 0, 1] if many else [1, 1, 1])
            assert server.bodies == sent
            with pytest.raises(ValueError, match=r"expected 2 columns of texts for http.request, got 1"):
                victim(first)
    with serving(lambda body, _: [["B", "a"], ["a"], [1], [2, 0]]) as server:
        victim = http(server, task="tokens", labels=("A", "B"))
        out = victim([("x", "y"), ("x", "y"), ("z",), ("x", "y")])
        assert server.bodies == [{"inputs": [["x", "y"], ["x", "y"], ["z"], ["x", "y"]]}]
        assert out.answers[0].tolist() == [1, 0] and out.answers[2].tolist() == [1]
        assert out.problem.tolist() == ["", 'unparsed: expected 2 tags, got ["a"]', "", ""]
        assert out.answers[3].tolist() == [-1, 0], "a tag that there is not is a wrong one"
        assert out.answers[1] is None


LABEL = [
    ("pos", ""), (" POS ", ""), (1, ""), (True, ""), ({"label": "Pos"}, ""),
    ([{"label": "pos", "score": "high"}], ""), ({"preds": [{"y": 1}]}, "preds.0.y"), ([["pos"]], "0.0"), ([["pos"]], "*.-1"),
]  # fmt: skip
SCORES = [
    ([0.25, 0.75], ""), ({"pos": 0.75, "NEG": 0.25}, ""), ({"a": {"b": [[0.25, 0.75]]}}, "a.b.*"),
    ([{"label": "POS", "score": 0.75}, {"label": "neg", "score": 0.25}], ""),
    ([[{"label": "POS", "score": 0.75}, {"label": "neg", "score": 0.25}]], ""),
    ({"sequence": "a", "labels": ["pos", "neg"], "scores": [0.75, 0.25]}, ""), ({"0": {"scores": [0.25, 0.75]}}, "0.scores"),
]  # fmt: skip


@pytest.mark.parametrize(("response", "answer"), LABEL)
def test_labels(response: Any, answer: str) -> None:
    out = ask(response, answer=answer)
    assert out.answers.tolist() == [1] and out.answers.dtype == np.int64 and out.problem.tolist() == [""]


@pytest.mark.parametrize(("response", "answer"), SCORES)
@pytest.mark.parametrize("task", ["single", "multi"])
def test_scores(response: Any, answer: str, task: str) -> None:
    out = ask(response, answer=answer, task=task)
    assert out.answers.tolist() == [[0.25, 0.75]] and out.answers.dtype == np.float32 and out.problem.tolist() == [""]


@pytest.mark.parametrize(
    ("response", "wanted"),
    [(["POS"], [False, True]), ([], [False, False]), ("neg", [True, False]), ([True, True], [True] * 2)],
)
def test_sets(response: Any, wanted: list[bool]) -> None:
    out = ask(response, task="multi")
    assert out.answers.tolist() == [wanted] and out.answers.dtype == np.bool_ and out.problem.tolist() == [""]


def test_numbers_that_are_names() -> None:
    assert ask(5, labels=("1", "3", "5")).answers.tolist() == [2]
    assert ask(1, labels=("one", "two")).answers.tolist() == [1]


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("maybe", ""), (2, ""), (-1, ""), (1.0, ""), (None, ""), ([], ""), ({}, ""), ([0.1, 0.2, 0.7], ""),
        ([0.5, "x"], ""), ([0.5, None], ""), ([float("nan"), 1.0], ""), ([10**400, 0], ""),
        ([True, False], ""), ({"pos": 1}, ""), ({"pos": 1, "neg": 0, "x": 0}, ""), ({"pos": 1, "POS": 0}, ""),
        ([{"label": "pos", "score": 1}, {}], ""), ({"label": "other"}, ""), ({"error": "loading"}, "label"), ("x", "a.b"),
        ([1], "5"), ([1], "x"), ([[1]], "*.y"), ({"labels": ["pos"], "scores": 3}, ""), ([[[[[]]]]], ""),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_shown(response: Any, answer: str) -> None:
    out = ask(response, answer=answer)
    assert out.problem[0].startswith("unparsed: ") and out.answers.tolist() == [None]
    assert begin(response if "*" not in answer else response[0]) in out.problem[0]
    assert len(out.problem[0]) < 200


def test_the_first_answered_row_settles_the_kind() -> None:
    rows: list[Any] = [{"error": "?"}, [0.2, 0.8], "pos", [1, 0], {"neg": 0.5, "pos": 0.5}]
    with serving(lambda body, _: rows) as server:
        victim = http(server)
        assert victim.access == Access.DECISION, "not known before"
        out = victim(["?"] * 5)
        assert victim.access == Access.SCORE and out.answers.dtype == np.float32
        assert out.problem.tolist() == [
            'unparsed: {"error": "?"}',
            "",
            "unparsed: expected scores, as before, got pos",
            "",
            "",
        ]
        assert np.isnan(out.answers[[0, 2]]).all() and out.answers[3].tolist() == [1, 0]
        rows[:] = ["pos"] * 5
        again = victim(["?"] * 5)
        assert again.answers.shape == (5, 2) and not again.answered.any()
        said = http(server, scores=False)
        rows[0] = [0, 1]
        assert said(["?"] * 5).answers.tolist() == [-1, 1, 1, 1, 1]
        assert http(server, scores=True).access == Access.SCORE


@pytest.mark.parametrize("request_", ['{"inputs": "{texts}"}', '{"inputs": "{text}"}'])
@pytest.mark.parametrize(
    "bad",
    [
        Say(raw=b"no", status=500), Say(raw=b"no", status=422), Say({"a": 1}, status=413), Say(raw=b"x", status=400),
    ],
)  # fmt: skip
def test_one_bad_row_costs_no_other(request_: str, bad: Say) -> None:
    """A server that cannot take one text says so for the whole batch: the others are asked again without it."""

    def script(body: Any, _: int) -> Any:
        texts = body["inputs"] if isinstance(body["inputs"], list) else [body["inputs"]]
        answers = [len(text) % 2 for text in texts]
        return bad if "bad" in texts else answers if isinstance(body["inputs"], list) else answers[0]

    texts = [f"{'x' * n}" for n in range(20)]
    texts[7] = "bad"
    with serving(script) as server:
        out = http(server, request=request_, batch=8)(texts)
        assert out.answers.tolist() == [-1 if text == "bad" else len(text) % 2 for text in texts]
        assert out.problem[7].startswith(f"error: status {bad.status}: ") and sum(out.problem != "") == 1
        assert len(server.seen) <= (11 + 4 if "texts" in request_ else 21)


POISON = {
    "timeout": Say(stall=0.6), "dropped": Say(drop=True), "garbage": Say(raw=b"\xff"), "cut": Say({"a": 1}, cut=3),
    "forbidden": Say(status=403), "wrong count": Say([1, 0, 1, 0, 1]), "error in JSON": Say({"error": "?"}),
    **{str(status): Say(raw=b"no", status=status) for status in (502, 503, 504)},
}  # fmt: skip


@pytest.mark.parametrize("name", POISON)
def test_a_poisonous_text_costs_no_other(name: str) -> None:
    """However a server fails on two of 40 texts: they alone have no answer, and finding them takes few requests."""
    bad, texts = POISON[name], [f"text {n}" for n in range(40)]
    texts[7] = texts[33] = "bad"
    with serving(lambda body, _: bad if "bad" in body["inputs"] else [1] * len(body["inputs"])) as server:
        out = http(server, batch=32, timeout=0.3 if bad.stall else 5)(texts)
        assert out.answers.tolist() == [-1 if text == "bad" else 1 for text in texts]
        kind = (
            "unparsed: expected a list of 1 answers, got"
            if bad.status == 200 and bad.value and not bad.cut
            else "error: "
        )
        assert all(reason.startswith(kind) for reason in out.problem[[7, 33]])
        assert len(server.seen) <= 2 + 8 + 4 + 8 + 2 * 3, "two batches, eight parts and their texts, a retry of each"
        nothing = http(server, batch=32, timeout=0.3 if bad.stall else 5)(["bad"])
        assert nothing.answers.tolist() == [None], "of a kind that is not known yet"


def test_a_text_that_hangs_costs_four_timeouts() -> None:
    with serving(lambda body, _: Say(stall=5) if "bad" in body["inputs"] else [1] * len(body["inputs"])) as server:
        begun = time.monotonic()
        out = http(server, batch=32, timeout=0.15, retries=4)([*"abcdefghijklmnopqrstuvwxyz", "bad"])
        assert time.monotonic() - begun < 4 * 0.15 + 0.5
        assert out.problem.tolist() == [""] * 26 + ["error: timeout after 0.15 s"]
        assert sum("bad" in body["inputs"] for body in server.bodies) == 4


@pytest.mark.parametrize(
    "fault", [Say(status=500), Say(drop=True), Say(status=401), Say(status=429), Say(raw=b"<html>")]
)
def test_an_endpoint_that_dies_is_left_alone_soon(fault: Say) -> None:
    """It answers 64 texts, then nothing: no more than the requests under way, and one that it answered before, are sent."""
    up = [True]
    with serving(lambda body, _: [1] * len(body["inputs"]) if up[0] else fault) as server:
        victim = http(server, batch=32)
        assert victim([f"good {n}" for n in range(64)]).answered.all()
        up[0] = False
        with pytest.raises(EndpointDown, match=r"^expected answers from http://127.*, got none any more: .*goes on"):
            victim([f"later {n}" for n in range(256)])
        assert len(server.seen) <= 2 + 16 + 2 + 8


def test_a_server_that_speaks_of_refused_connections_is_there() -> None:
    said = Say(raw=b"upstream: ConnectionRefusedError", status=502)
    with serving(lambda body, _: said if "bad" in body["inputs"] else [1] * len(body["inputs"])) as server:
        assert http(server)(["a", "bad", "b"]).answered.tolist() == [True, False, True]


def test_many_poisonous_texts_are_no_dead_endpoint() -> None:
    """A server that fails on all of 64 texts one after the other still answers others: it is asked to show it."""
    with serving(lambda body, _: Say(status=500) if "bad" in str(body) else [1] * len(body["inputs"])) as server:
        victim = http(server, batch=2, concurrency=2)
        assert victim(["good"]).answered.all()
        out = victim([f"bad {n}" for n in range(64)])
        assert out.problem.tolist() == ["error: status 500: null"] * 64
        assert sum(body["inputs"] == ["good"] for body in server.bodies) >= 8, "the sign of life"


def test_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shaky servers and many threads change nothing in the answers."""
    texts = [f"text {n}" for n in range(60)]

    def script(body: Any, before: int) -> Any:
        number = int(body["inputs"].split()[1])
        return Say(raw=b"", status=503) if number % 7 == 0 and before % 2 == 0 else [number / 60, 1 - number / 60]

    with serving(script) as server:
        victim = http(server, request='{"inputs": "{text}"}')
        first, second = victim(texts), http(server, request='{"inputs": "{text}"}', concurrency=1)(texts)
    assert np.array_equal(first.answers, second.answers) and not first.problem.any() and not second.problem.any()
    assert victim.rows_at_once == 256


def test_names_and_identity_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-topsecret-1234"
    monkeypatch.setenv("MY_KEY", key)

    def victim(url: str = f"https://host/predict?key={key}&v=1", **options: Any) -> Http:
        return Http(url, **{"labels": ("a", "b"), "key_env": "MY_KEY", "headers": {"X-Key": key}, **options})

    one = victim()
    assert one.name == "http:https://host/predict"
    assert "secret" not in repr([one, one.name, one.identity, vars(one)])
    assert one.identity == victim().identity == victim("https://host/predict?v=1&key=another", key_env=None).identity
    others = [
        victim("https://host/predict?v=2"), victim("https://host/other?v=1"), victim(labels=("b", "a")), victim(answer="x"),
        victim(task="multi"), victim(request='"{text}"'),
    ]  # fmt: skip
    assert len({one.identity, *(other.identity for other in others)}) == 7
    says = [Say(raw=f"{key} is wrong".encode(), status=401), {"echo": key}, f"pos {key}"]
    with serving(lambda body, _: says[int(body)]) as server:
        out = http(server, request='"{text}"', key_env="MY_KEY", headers={"X-Key": key})(["0", "1", "2"])
        assert all(seen.headers["Authorization"] == f"Bearer {key}" for seen in server.seen)
        wanted = ["error: status 401: *** is wrong", 'unparsed: {"echo": "***"}', "unparsed: pos ***"]
        assert out.problem.tolist() == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"request": "{texts}"}, "expected JSON for http.request, got '{texts}': "),
        ({"request": '{"a": 1}'}, "expected one of {text}, {texts}, {pairs}, {first} with {second}, "),
        ({"request": '["{text}", "{texts}"]'}, "expected one of {text}, {texts}, {pairs}, {first} with {second}, "),
        ({"request": '"{first}"'}, "expected one of {text}, {texts}, {pairs}, {first} with {second}, "),
        (
            {"request": '"all: {texts}"'},
            "expected a list such as {texts} as a string of its own for http.request, got 'all: ",
        ),
        (
            {"answer": "a..b"},
            "expected keys and places with dots between, and at most one *, for http.answer, got 'a..b'",
        ),
        (
            {"answer": "*.*"},
            "expected keys and places with dots between, and at most one *, for http.answer, got '*.*'",
        ),
        ({"labels": ()}, "expected the names of the labels for http.labels and task single, got []"),
        ({"labels": ("a", "A")}, "expected labels that differ in more than case for http:"),
        ({"task": "text"}, "expected no labels for http.labels and task text, got ['a', 'b']"),
        ({"task": "tokens", "scores": True}, "expected single or multi as the task of http:"),
        ({"task": "pairs"}, "expected one of single, multi, tokens, text for http.task, got 'pairs'"),
        ({"batch": 0}, "expected a whole number from 1 for http.batch, got 0"),
        ({"timeout": -1}, "expected a number above 0 for http.timeout, got -1"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        Http("http://127.0.0.1", **{"labels": ("a", "b"), **options})
    assert str(caught.value).startswith(message)
