"""A chat model as a classifier: what it is asked, and what its words mean."""

from __future__ import annotations

from typing import Any

import pytest

from scuff.victims.base import Access
from scuff.victims.remote.chat import Chat
from scuff.victims.remote.words import Verdicts
from victims.scripted import Say, Scripted, serving

LABELS = ("negative", "neutral", "positive")


def reply(content: Any, reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": reason}]}


def chat(server: Scripted, **options: Any) -> Chat:
    fast = {"timeout": 5, "backoff": 0.01, "retries": 1, "labels": LABELS}
    return Chat(server.url + "/v1", "tiny", **{**fast, **options})


def asked(body: Any) -> str:
    return str(body["messages"][-1]["content"])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("negative", 0), ("Negative", 0), (' "NEGATIVE."\n', 0), ("**Negative**", 0), ("`negative`", 0), ("# Negative!", 0),
        ("- negative", 0), ("“Negative”", 0), ("_negative_", 0), ("Label: positive", 2), ("<think>negative?</think>positive", 2),
        ("The sentiment is **Negative**.", 0), ("The label is _neutral_.", 1), ("Sentiment:\n\nneutral\n", 1),
        ("positive. It is so positive!", 2), ("negative\n\nI'm sorry about that.", 0), ("It's a 'positive' review", 2),
    ],
)  # fmt: skip
def test_labels_are_found(text: str, number: int) -> None:
    assert Verdicts(LABELS, "chat").one(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that.", "I can’t help with that", "I'm sorry, but I cannot classify this as negative.",
        "I’m really sorry, but no.", "I am sorry.", "Sorry, I can't do that.", "I cannot assist with negative content.",
        "Unfortunately, I am unable to answer.", "As an AI language model, I do not judge.", "I won't do this.",
        "I apologize, but this is harmful.", "I'm not able to help.", "I must decline.",
    ],
)  # fmt: skip
def test_refusals(text: str) -> None:
    assert Verdicts(LABELS, "chat").one(text) == Verdicts(LABELS, "chat").several(text) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "bad", "positive or negative", "Not positive", "It isn't a **positive** one", "It's non-negative.",
        "positively", "pos", "<think>It may be positive, because", "neither positive nor negative", "🤷",
    ],
)  # fmt: skip
def test_no_label_or_several(text: str) -> None:
    found = Verdicts(LABELS, "chat").one(text)
    assert isinstance(found, str) and found.startswith("unparsed: ") and (text.strip()[:5] in found)


@pytest.mark.parametrize(
    ("labels", "text", "number"),
    [
        (("hate", "not hate"), "Not hate.", 1), (("hate", "not hate"), "This is hate", 0),
        (("hate", "not hate"), "I'd say this is not hate speech.", 1), (("hate", "not_hate"), "Answer: not-hate", 1),
        (("hate", "hate speech"), "It is hate speech", 1), (("toxic", "non-toxic"), "clearly non-toxic", 1),
        (("OFF", "NOT"), "The label is NOT.", 1), (("yes", "no"), "No, it does not.", 1), (("C", "C++"), "It is C++!", 1),
        (("-1", "0", "1"), "-1", 0), (("-1", "0", "1"), "The score is -1.", 0), (("-1", "0", "1"), "score: 1", 2),
        (("1", "2", "4"), "4 stars", 2), (("+", "-"), "-", 1), (("正面", "负面"), "情感是负面。", 1),
        (("LABEL_0", "LABEL_1"), "label_1", 1), (("Sci/Tech", "World"), "**Sci/Tech**", 0),
        (("ja", "nein"), "NEIN", 1), (("straße", "weg"), "STRASSE", 0),
    ],
)  # fmt: skip
def test_labels_of_all_sorts(labels: tuple[str, ...], text: str, number: int) -> None:
    assert Verdicts(labels, "chat").one(text) == number


@pytest.mark.parametrize(("labels", "text"), [(("1", "4"), "4.5"), (("0", "1"), "about -1"), (("4", "5"), "4/5")])
def test_numbers_inside_numbers(labels: tuple[str, ...], text: str) -> None:
    assert Verdicts(labels, "chat").one(text) == f"unparsed: {text}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("toxic", {0}), ("Toxic, insult", {0, 1}), ("- toxic\n- insult", {0, 1}), ("none", set()), ("None.", set()),
        ("None of the labels apply.", set()), ("Labels: **toxic**; insult.", {0, 1}), ("toxic and threat", {0, 2}),
        ("none, toxic", None), ("It is not toxic.", None), ("", None), ("fine", None),
    ],
)  # fmt: skip
def test_sets_of_labels(text: str, found: set[int] | None) -> None:
    said = Verdicts(("toxic", "insult", "threat"), "chat").several(text)
    assert said == found if found is not None else str(said).startswith("unparsed: ")


def test_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(lambda body, _: reply("Neutral")) as server:
        victim = chat(server)
        assert victim(["a {labels} {second} text"]).answers.tolist() == [1] and victim.access == Access.DECISION
        seen = server.seen[0]
        assert seen.path == "/v1/chat/completions" and "Authorization" not in seen.headers
        want = "Classify the text. Answer with exactly one of these labels and nothing else: negative, neutral, positive\n\n"
        message = {"role": "user", "content": want + "Text: a {labels} {second} text"}
        assert seen.body == {"model": "tiny", "temperature": 0, "max_tokens": 16, "messages": [message]}
        victim(["one"], ["two"])
        assert asked(server.bodies[-1]).endswith("First text: one\n\nSecond text: two")
        own = chat(
            server, prompt="{first} => {second}? {labels}", system="Be brief.", temperature=None, max_tokens=None
        )
        own(["p"], [("h", "i")])
        system = {"role": "system", "content": "Be brief."}
        message = {"role": "user", "content": "p => h i? negative, neutral, positive"}
        assert server.bodies[-1] == {"model": "tiny", "messages": [system, message]}
        with pytest.raises(ValueError, match=r"expected as many columns of texts as chat.prompt has, got 1"):
            own(["p"])
        slash = Chat(server.url + "/v1/chat/completions/?api-version=1", "tiny", labels=LABELS)
        slash(["x"])
        assert server.seen[-1].path == "/v1/chat/completions?api-version=1"
        assert slash.name == victim.name == f"chat:{server.url}/v1#tiny" and victim([]).answers.shape == (0,)


def test_texts_come_through_unharmed() -> None:
    texts = ['say "hi"', "two\nlines\t\\", "{text}{labels}", "😀👩‍👩‍👧", "שלום ‏עולם", "e\u0301", ""]
    with serving(lambda body, _: reply("positive")) as server:
        chat(server, prompt="<{text}>")(texts)
        assert sorted(map(asked, server.bodies)) == sorted(f"<{text}>" for text in texts)


SAID: dict[str, tuple[Any, int, str]] = {
    "good": (reply("Positive."), 2, ""),
    "parts": (reply([{"type": "text", "text": "nega"}, {"type": "text", "text": "tive"}]), 0, ""),
    "filter": (reply("", "content_filter"), -1, "refused"),
    "refusal": (reply(None, refusal="I will not."), -1, "refused"),
    "sorry": (reply("I'm sorry, but I can't."), -1, "refused"),
    "azure": (Say({"error": {"code": "content_filter", "message": "no"}}, status=400), -1, "refused"),
    "both": (reply("positive, negative"), -1, "unparsed: positive, negative"),
    "null": (reply(None), -1, 'unparsed: {"message": '),
    "number": (reply(3), -1, "unparsed: 3"),
    "empty": ({"choices": []}, -1, 'unparsed: {"choices": []}'),
    "list": ([], -1, "unparsed: []"),
    "text": ("negative", -1, "unparsed: negative"),
    "message": ({"choices": [{"message": "negative"}]}, -1, "unparsed: "),
    "hidden": ({"error": {"message": "overloaded"}}, -1, 'error: {"error": {"message": "overloaded"}}'),
    "status": (Say(raw=b"<html>oops</html>", status=500), -1, "error: status 500: <html>oops</html>"),
    "unknown": (Say({"error": "no model"}, status=404), -1, 'error: status 404: {"error": "no model"}'),
    "late": (Say(stall=0.4), -1, "error: timeout after 0.2 s"),
    "garbage": (Say(raw=b"\xff{"), -1, "error: not JSON: \ufffd{"),
    "cut": (Say(reply("negative"), cut=5), -1, "error: no answer: IncompleteRead"),
    "gone": (Say(drop=True), -1, "error: no answer: "),
}


def test_outcomes_side_by_side() -> None:
    with serving(lambda body, _: SAID[asked(body)][0]) as server:
        out = chat(server, prompt="{text}", concurrency=4, timeout=0.2)(list(SAID))
        again = chat(server, prompt="{text}", concurrency=20, timeout=0.2)(list(SAID))
    for at, (name, (_, number, problem)) in enumerate(SAID.items()):
        assert out.answers[at] == number, name
        assert out.problem[at].startswith(problem) and bool(out.problem[at]) == bool(problem), name
    assert out.answers.dtype == "int64" and again.answers.tolist() == out.answers.tolist()
    assert server.peak <= 20


def test_shaky_servers_change_nothing() -> None:
    def script(body: Any, before: int) -> Any:
        number = int(asked(body))
        return (
            Say(status=429, headers={"Retry-After": "0.01"})
            if before % 2 == 0 and number % 5 == 0
            else reply(LABELS[number % 3])
        )

    with serving(script) as server:
        out = chat(server, prompt="{text}")([str(n) for n in range(40)])
    assert out.answers.tolist() == [n % 3 for n in range(40)] and not out.problem.any()


THOUGHT = "Is it negative? It says bread, so perhaps not."
THINKERS = {
    "marks": reply(f"<think>{THOUGHT}</think>\n\nPositive"),
    "no opening mark": reply(f"{THOUGHT}</think>positive"),
    "another mark": reply(f"<reasoning>{THOUGHT}</reasoning> positive"),
    "apart": reply("positive", reasoning_content=THOUGHT),
}
CUT = {
    "marks": reply("<think>Is it negative? It says", "length"),
    "no opening mark": reply("Is it negative? It says", "length"),
    "another mark": reply("<reasoning>Is it negative?", "length"),
    "apart": reply("", "length", reasoning_content="Is it negative? It says"),
}


@pytest.mark.parametrize("kind", THINKERS)
def test_a_model_that_thinks_gets_room_and_its_final_answer_counts(kind: str) -> None:
    with serving(lambda body, _: CUT[kind] if body["max_tokens"] == 16 else THINKERS[kind]) as server:
        assert chat(server)(["x"]).answers.tolist() == [2]
        assert [body["max_tokens"] for body in server.bodies] == [16, 4096]
        assert chat(server, max_tokens=900)(["x"]).answers.tolist() == [2] and len(server.bodies) == 3, "enough at once"
        assert chat(server, thinking=300)(["x"]).answers.tolist() == [2] and server.bodies[-1]["max_tokens"] == 300
        before = len(server.bodies)
        chat(server, thinking=None)(["x"])
        assert len(server.bodies) == before + 1, "no second request"
    with serving(lambda body, _: CUT[kind]) as server:
        out = chat(server, max_tokens=None)(["x"])
        assert "max_tokens" not in server.bodies[0] and len(server.bodies) == 1, "the server's own limit: no more helps"
        assert (out.problem[0] == "") == (kind == "no opening mark")


def test_an_answer_that_begins_with_its_label_is_not_asked_again() -> None:
    with serving(lambda body, _: reply("**Positive**. The text says that the", "length")) as server:
        assert chat(server)(["x"]).answers.tolist() == [2] and len(server.bodies) == 1


def test_a_server_that_has_another_name_for_the_limit() -> None:
    error = {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead of 'max_tokens'"}}
    with serving(lambda body, _: Say(error, status=400) if "max_tokens" in body else reply("neutral")) as server:
        victim = chat(server, concurrency=1)
        assert victim(["a", "b"]).answers.tolist() == [1, 1] and victim(["c"]).answers.tolist() == [1]
        assert len(server.bodies) == 5 and server.bodies[-1]["max_completion_tokens"] == 16, "learnt once"


def test_multi() -> None:
    said = {
        "a": reply("negative, positive"),
        "b": reply("none"),
        "c": reply("negative, po", "length"),
        "d": Say(status=500),
    }
    with serving(lambda body, _: said[asked(body)]) as server:
        out = chat(server, task="multi", prompt="{text}")(list(said))
        assert out.answers.tolist() == [[True, False, True], [False] * 3, [False] * 3, [False] * 3]
        assert out.problem.tolist() == ["", "", "unparsed: negative, po", "error: status 500: null"]
        with serving(lambda body, _: reply("none")) as other:
            chat(other, task="multi")(["x"])
            assert "negative, neutral, positive? Answer with those that apply" in asked(other.bodies[0])


def test_the_key_is_sent_and_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-topsecret-1234"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    says = [Say({"error": f"Incorrect key {key}"}, status=401), reply(f"your key is {key}"), {"odd": key}]
    with serving(lambda body, _: says[int(asked(body))]) as server:
        victim = chat(server, prompt="{text}")
        out = victim(["0", "1", "2"])
        assert all(seen.headers["Authorization"] == f"Bearer {key}" for seen in server.seen)
        assert out.problem.tolist() == [
            'error: status 401: {"error": "Incorrect key ***"}', "unparsed: your key is ***", 'unparsed: {"odd": "***"}',
        ]  # fmt: skip
        assert "secret" not in repr([victim, victim.name, victim.identity, vars(victim), vars(victim.endpoint)])
        chat(server, prompt="{text}", key_env=None)(["1"])
        assert "Authorization" not in server.seen[-1].headers


def test_texts_come_as_they_are() -> None:
    replies = {
        "a": reply("Der Hund. "),
        "b": reply("cut", "length"),
        "c": reply(None),
        "d": reply("", refusal="no"),
        "e": reply(""),
    }

    def script(body: Any, number: int) -> Any:
        return replies[asked(body)]

    with serving(script) as server:
        found = chat(server, task="text", labels=(), prompt="{text}")(list("abcde"))
    assert found.answers.tolist() == ["Der Hund.", None, None, None, ""]
    kinds = [problem.partition(":")[0] for problem in found.problem.tolist()]
    assert kinds == ["", "unparsed", "unparsed", "refused", ""]


def test_identity() -> None:
    def identity(url: str = "https://host/v1", model: str = "m", **options: Any) -> str:
        return Chat(url, model, **{"labels": LABELS, **options}).identity

    others = [
        identity(), identity("https://other/v1"), identity(model="n"), identity(labels=LABELS[::-1]), identity(task="multi"),
        identity(prompt="{text}"), identity(system="x"), identity(temperature=1), identity(max_tokens=17),
        identity("https://host/v1?v=2"), identity(thinking=100), identity(scores=True),
    ]  # fmt: skip
    assert len(set(others)) == 12 and identity("https://host/v1/?api_key=abc", timeout=1, key_env=None) == identity()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "tokens"}, "expected single, multi or text for chat.task, got 'tokens'"),
        (
            {"task": "text"},
            "expected a prompt that says what to write, with {text} in it, for chat.prompt and task text",
        ),
        (
            {"task": "text", "prompt": "{text}"},
            "expected no labels for chat.labels and task text, got negative, neutral",
        ),
        ({"prompt": "hello"}, "expected {text}, or {first} and {second}, in chat.prompt, got 'hello'"),
        ({"labels": ()}, "expected labels that differ in more than case and punctuation for chat.labels, got []"),
        (
            {"labels": ("a", "A.")},
            "expected labels that differ in more than case and punctuation for chat.labels, got ['a'",
        ),
        ({"max_tokens": 0}, "expected a whole number from 1 for chat.max_tokens, got 0"),
        ({"thinking": 0}, "expected a whole number from 1 for chat.thinking, got 0"),
        ({"scores": 1}, "expected True or False for chat.scores, got 1"),
        ({"temperature": -1}, "expected a number from 0 for chat.temperature, got -1"),
        ({"url": "host/v1"}, "expected a URL such as https://host/path for chat.url, got 'host/v1/chat/completions'"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        Chat(**{"url": "http://127.0.0.1", "model": "m", "labels": LABELS, **options})
    assert str(caught.value).startswith(message)
