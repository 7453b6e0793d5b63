"""Where scores come from beside probabilities: margins of SVMs, {"label", "score"} answers, tokens of a chat model."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import SVC, LinearSVC

import scuff
from scuff.data.toy import toy_data
from scuff.victims.answers import BadAnswer
from scuff.victims.base import Access, Outputs
from scuff.victims.plain import Plain, of_sklearn, squashed
from scuff.victims.remote.chat import Chat
from scuff.victims.remote.logprobs import label_scores
from victims.scripted import serving

LABELS = ("bad", "fair", "good")
ATTACK: dict[str, Any] = {"recipe": "deepwordbug", "goal": "untargeted", "encoder": "chrf", "max_queries": 30}
SEARCH: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.3], "cases": 1, "access": ["rule", "score"]}


def answered(answers: Any, task: Any = "single", labels: tuple[str, ...] = LABELS) -> Outputs:
    return Plain(lambda texts: answers, task, labels, name="mine")(["a text"] * len(answers))


# margins

TEXTS, TARGETS = toy_data("sentiment", "train")
TEXTS, TARGETS = TEXTS[:400], TARGETS[:400]
THREE = [("bad", "fair", "good")[len(text) % 3] for text in TEXTS]


def fitted(model: Any, targets: Any = TARGETS) -> Pipeline:
    return make_pipeline(TfidfVectorizer(), model).fit(TEXTS, targets)


@pytest.mark.parametrize(
    "model",
    [LinearSVC(), SVC(kernel="linear"), SGDClassifier(random_state=0), RidgeClassifier(),
     GridSearchCV(LinearSVC(), {"C": [1]}, cv=2)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
@pytest.mark.parametrize("targets", [TARGETS, THREE], ids=["two", "three"])
def test_margins_answer_as_the_model_predicts(model: Any, targets: Any) -> None:
    whole = fitted(model, targets)
    victim = of_sklearn(whole, "single", ())
    out = victim(TEXTS)
    assert victim.access is Access.SCORE and out.answers.shape == (400, len(set(targets)))
    assert [victim.labels[at] for at in out.answers.argmax(1)] == whole.predict(TEXTS).tolist()
    margins = whole.decision_function(TEXTS)
    if margins.ndim == 1:
        assert (
            np.argsort(out.answers[:, 1], kind="stable") == np.argsort(squashed(margins), kind="stable")
        ).mean() > 0.9


def test_margins_never_saturate() -> None:
    margins = np.array([-1e4, -1e3, -3.0, 0.0, 1e-6, 3.0, 20.0, 21.0, 1e3, 1e4])
    scores = squashed(margins).astype(np.float32)
    assert (np.diff(scores) > 0).all() and scores[3] == 0.5 and scores[0] > 0 and scores[-1] < 1


def test_an_svc_that_votes_answers_by_its_votes_and_pairs_of_classes_are_no_scores() -> None:
    votes = fitted(SVC(kernel="rbf", gamma=5), THREE)
    out = of_sklearn(votes, "single", ())(TEXTS)
    assert [LABELS[at] for at in out.answers.argmax(1)] == votes.predict(TEXTS).tolist()
    pairs = of_sklearn(fitted(SVC(decision_function_shape="ovo"), THREE), "single", ())
    assert pairs(TEXTS).answers.dtype == np.int64 and pairs.access is Access.DECISION


def test_margins_of_label_sets() -> None:
    sets = [["good"] if target == "positive" else ["bad", "dull"] for target in TARGETS]
    coder = MultiLabelBinarizer()
    model = fitted(OneVsRestClassifier(LinearSVC()), coder.fit_transform(sets))
    out = of_sklearn(model, "multi", coder.classes_)(TEXTS)
    assert ((out.answers > 0.5) == (model.predict(TEXTS) > 0)).all() and out.answers.dtype == np.float32


def test_an_svm_is_searched_and_attacked_by_its_margins() -> None:
    model = fitted(LinearSVC())
    result = scuff.evaluate(model, "toy:sentiment", examples=20, **SEARCH)
    by_rule, by_score = (
        result.summary["dimensions"][name]["average"]["value"] for name in ("keyboard", "keyboard@score")
    )
    assert by_score < by_rule and "|scores:margins, no probabilities|" in result.summary["signature"]
    found = scuff.attack(model, "toy:sentiment", examples=10, **ATTACK).summary
    assert found["success"]["count"] > 0 and "|scores:margins, no probabilities|" in found["signature"]
    plain = scuff.evaluate(
        "toy:sentiment", "toy:sentiment", examples=4, dimensions=["keyboard"], cases=1, degrees=[0.1]
    )
    assert "|scores:" not in plain.summary["signature"], "probabilities need no word"


# {"label": ..., "score": ...}


def best(label: str, score: Any) -> dict[str, Any]:
    return {"label": label, "score": score}


@pytest.mark.parametrize(
    ("row", "scores"),
    [
        (best("good", 0.8), [0.1, 0.1, 0.8]),
        ([best("Good", 0.8)], [0.1, 0.1, 0.8]),
        ([[best("good", 0.8)]], [0.1, 0.1, 0.8]),
        ([best("good", 0.5), best("bad", 0.4)], [0.4, 0.1, 0.5]),
        ([best("good", 0.45), best("bad", 0.05)], [0.05, 0.04995, 0.45]),  # less than any that is named
        (best("good", 0.2), [0.1998, 0.1998, 0.2]),
        (best("good", 0.0), [0, 0, 1e-6]),
        (best("good", 1), [0, 0, 1]),
        ([best("fair", 0.5), best("good", 0.3), best("bad", 0.2)], [0.2, 0.5, 0.3]),
    ],
)
def test_the_rest_is_shared_out(row: Any, scores: list[float]) -> None:
    out = answered([row, row])
    assert np.allclose(out.answers, [scores] * 2, atol=1e-7) and out.answered.all()
    assert out.answers.argmax(1).tolist() == [int(np.argmax(scores))] * 2


def test_what_is_no_score() -> None:
    for score in (None, "high", 4.2, -1, True):
        assert answered([best("good", score)]).answers.tolist() == [2], "the label alone"
    with pytest.raises(BadAnswer, match="expected a score for fair, good"):
        answered([{"bad": 0.7}])
    assert answered([best("good", 0.9), best("bad", 4.2)]).problem.tolist()[1].startswith("unparsed")


def test_labels_and_scores_of_sets() -> None:
    """Labels that are not listed have 0; one label alone is a set, since nothing is known of the others."""
    out = answered([[best("good", 0.9), best("fair", 0.6)], [best("bad", 0.3), best("good", 0.2)]], "multi")
    assert np.allclose(out.answers, [[0, 0.6, 0.9], [0.3, 0, 0.2]])
    assert answered([best("good", 0.9), [best("bad", 0.2)]], "multi").answers.tolist() == [
        [False, False, True],
        [True, False, False],
    ]


def positive(text: str) -> float:
    """A small model: the share of good words, smoothly."""
    words = text.casefold().split()
    good = sum(word.strip(".,!") in GOOD for word in words) - sum(word.strip(".,!") in BAD for word in words)
    return 1 / (1 + math.exp(-good))


GOOD = {"good", "great", "fine", "lovely", "excellent"}
BAD = {"bad", "poor", "awful", "dull", "terrible"}
DATA = [
    (f"the {word} soup and the {other} bread came at {n} today", "positive" if word in GOOD else "negative")
    for n, (word, other) in enumerate([*pairwise(sorted(GOOD)), *pairwise(sorted(BAD))])
]
DIALECTS = {
    "one": lambda p: best("positive", p) if p > 0.5 else best("negative", 1 - p),
    "all": lambda p: [best("positive", p), best("negative", 1 - p)],
    "mapping": lambda p: {"positive": p, "negative": 1 - p},
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_endpoint_is_searched_and_attacked_by_its_scores(dialect: str) -> None:
    with serving(lambda body, _: [DIALECTS[dialect](positive(text)) for text in body["inputs"]]) as server:
        result = scuff.evaluate(server.url, DATA, **SEARCH)
        by_rule, by_score = (
            result.summary["dimensions"][name]["average"]["value"] for name in ("keyboard", "keyboard@score")
        )
        assert by_score < by_rule and result.clean == 1
        # without its words a positive text is negative, but not the other way round
        assert scuff.attack(server.url, DATA, **ATTACK).summary["success"]["value"] == 0.5


# tokens of a chat model


SENTIMENTS = ("negative", "neutral", "positive")


def tokens(*places: dict[str, float]) -> list[dict[str, Any]]:
    """What a server says of each token: the first of each place was written, the others were likely, too."""
    out = []
    for place in places:
        tops = [{"token": token, "logprob": math.log(p)} for token, p in place.items()]
        out.append({**tops[0], "top_logprobs": tops})
    return out


@pytest.mark.parametrize(
    ("labels", "content", "said", "scores"),
    [
        (("no", "yes"), tokens({"yes": 0.6, "no": 0.2, "maybe": 0.2}), 1, [0.25, 0.75]),
        (("no", "yes"), tokens({" Yes": 0.5, "yes": 0.1, "YES": 0.15, "No": 0.25}, {".": 1}), 1, [0.25, 0.75]),
        (("no", "yes"), tokens({"The": 1}, {" label": 1}, {" is": 1}, {" **": 1}, {"Yes": 0.75, "No": 0.25}), 1, [0.25, 0.75]),
        (("no", "yes"), tokens({"<think>": 1}, {"no": 0.9, "yes": 0.1}, {"</think>": 1}, {"yes": 0.6, "no": 0.4}), 1, [0.4, 0.6]),
        (("negative", "positive"), tokens({"pos": 0.7, "neg": 0.3}, {"itive": 1}), 1, [0.3, 0.7]),
        (SENTIMENTS, tokens({"ne": 0.8, "pos": 0.2}, {"utral": 0.75, "gative": 0.25}), 1, [0.2, 0.6, 0.2]),
        (SENTIMENTS, tokens({"positive": 0.6, "ne": 0.4}), 2, [0.2, 0.2, 0.6]),
        (("hate", "hate speech", "fine"), tokens({"hate": 0.8, "fine": 0.2}, {" speech": 0.75, ".": 0.25}), 1, [0.2, 0.6, 0.2]),
        (("hate", "hate speech", "fine"), tokens({"hate": 0.8, "fine": 0.2}, {".": 0.75, " speech": 0.25}), 0, [0.6, 0.2, 0.2]),
        (("non-hate", "non-toxic"), tokens({"non": 1.0}, {"-": 1.0}, {"toxic": 0.7, "hate": 0.3}), 1, [0.3, 0.7]),
        (("LABEL_0", "LABEL_1"), tokens({"LABEL": 1.0}, {"_": 1.0}, {"1": 0.7, "0": 0.3}), 1, [0.3, 0.7]),
        (("a", "b", "c"), tokens({"b": 0.4, "a": 0.6}), 1, [0.3996, 0.4, 0]),  # what was said wins
        (("no", "yes"), tokens({"oui": 1.0}), 1, None),
        (("no", "yes"), [{"token": "yes"}], 1, None),
        (("no", "yes"), None, 1, None),
    ],
)  # fmt: skip
def test_probabilities_of_labels(labels: tuple[str, ...], content: Any, said: int, scores: list[float] | None) -> None:
    found = label_scores(content, labels, said)
    assert (found is None) == (scores is None)
    if found is not None and scores is not None:
        assert np.allclose(found, np.array(scores), atol=1e-9) and found.argmax() == said


def reply(text: str, content: Any, reason: str = "stop", **message: Any) -> dict[str, Any]:
    choice: dict[str, Any] = {"message": {"content": text, **message}, "finish_reason": reason}
    return {"choices": [choice if content is None else {**choice, "logprobs": {"content": content}}]}


def talker(body: Any, _: int) -> Any:
    """A chat model that thinks: it needs more than 16 tokens, and weighs both labels."""
    assert body["logprobs"] is True and body["top_logprobs"] == 20
    p = positive(body["messages"][-1]["content"].partition("Text: ")[2])
    said, other = ("positive", "negative") if p > 0.5 else ("negative", "positive")
    if body["max_tokens"] == 16:
        return reply("<think>Is it negative", tokens({"<think>": 1}, {"Is": 1}, {" it": 1}, {" negative": 1}), "length")
    places = tokens(
        {"<think>": 1}, {" negative?": 1}, {"</think>": 1}, {f" {said}": max(p, 1 - p), f" {other}": min(p, 1 - p)}
    )
    return reply(f"<think> negative?</think> {said}", places)


@pytest.mark.slow
def test_a_chat_model_is_searched_and_attacked_by_its_tokens() -> None:
    with serving(talker) as server:
        model = f"chat:{server.url}/v1#tiny"
        result = scuff.evaluate(model, DATA, options={"scores": True}, **SEARCH)
        by_rule, by_score = (
            result.summary["dimensions"][name]["average"]["value"] for name in ("keyboard", "keyboard@score")
        )
        assert by_score < by_rule and result.clean == 1
        assert (
            scuff.attack(model, DATA, options={"scores": True, "max_tokens": 900}, **ATTACK).summary["success"]["value"]
            == 0.5
        )


def test_scores_of_a_chat_model() -> None:
    says = {
        "sure": reply("yes", tokens({"yes": 0.9, "no": 0.1})),
        "odd tokens": reply("yes", tokens({"\ufffd": 1.0})),
        "refusal": reply("I'm sorry, but no.", tokens({"I": 1.0})),
        "none": reply("yes", None),
    }
    with serving(lambda body, _: says[body["messages"][-1]["content"]]) as server:
        victim = Chat(server.url, "tiny", labels=("no", "yes"), prompt="{text}", scores=True)
        assert victim.access is Access.SCORE, "known before the first answer"
        out = victim(list(says))
    assert np.allclose(out.answers[:2], [[0.1, 0.9], [0, 1]]) and np.isnan(out.answers[2:]).all()
    assert out.problem.tolist() == [
        "",
        "",
        "refused",
        "unparsed: expected logprobs, got none: this server does not give scores",
    ]
    with pytest.raises(ValueError, match=r"expected task single for chat.scores, got multi"):
        Chat(server.url, "tiny", labels=("no", "yes"), task="multi", scores=True)
    plain, scored = (Chat(server.url, "tiny", labels=("no", "yes"), scores=scores).identity for scores in (False, True))
    assert plain != scored
