"""What a callable may answer: every usual shape is read, everything else is refused with a line that says what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from scuff.data.dataset import Task
from scuff.victims.answers import BadAnswer, begin
from scuff.victims.base import Access, Outputs
from scuff.victims.plain import Plain, Predictions, of_sklearn
from scuff.victims.query import Query

LABELS = ("negative", "neutral", "positive")
TWO = ("negative", "positive")


def answered(answers: Any, task: Task = "single", labels: Sequence[str] = TWO, assumed: bool = False) -> Outputs:
    """What becomes of the answers to as many texts."""
    victim = Plain(lambda texts: answers, task, () if assumed else labels, name="mine")
    if assumed:
        victim.assume(labels)
    return victim(["a text"] * len(answers))


class Tensor:
    """Behaves as torch's do as far as we look."""

    def __init__(self, content: Any) -> None:
        self.content = np.asarray(content)

    def __len__(self) -> int:
        return len(self.content)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.content


# scores

ROWS = [[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]]
SHAPES: dict[str, Callable[[], Any]] = {
    "list": lambda: ROWS,
    "tuples": lambda: tuple(map(tuple, ROWS)),
    "array": lambda: np.array(ROWS),
    "half precision": lambda: np.array(ROWS, np.float16),
    "list of arrays": lambda: [np.array(row) for row in ROWS],
    "tensor": lambda: Tensor(ROWS),
    "list of tensors": lambda: [Tensor(row) for row in ROWS],
    "DataFrame": lambda: pd.DataFrame(ROWS),
    "positive class": lambda: [row[1] for row in ROWS],
    "positive class, array": lambda: np.array([row[1] for row in ROWS]),
    "positive class, tensor": lambda: Tensor([row[1] for row in ROWS]),
    "positive class, column": lambda: np.array([[row[1]] for row in ROWS]),
    "name -> score": lambda: [{"positive": row[1], "Negative": row[0]} for row in ROWS],
    "all labels of a pipeline": lambda: [
        [{"label": "POSITIVE", "score": row[1]}, {"label": "NEGATIVE", "score": row[0]}] for row in ROWS
    ],
    "zero-shot pipeline": lambda: [
        {"sequence": "?", "labels": ["positive", "negative"], "scores": [row[1], row[0]]} for row in ROWS
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_probabilities(shape: str) -> None:
    outputs = answered(SHAPES[shape]())
    assert outputs.answers.dtype == np.float32 and outputs.answered.all()
    assert outputs.answers.tolist() == ROWS


def test_logits_become_probabilities() -> None:
    logits = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, 0.0]])
    outputs = answered(logits, labels=LABELS)
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert np.allclose(outputs.answers, expected, atol=1e-6)
    sets = answered(logits, "multi", LABELS)
    assert np.allclose(sets.answers, 1 / (1 + np.exp(-logits)), atol=1e-6)


def test_one_logit_of_two_labels_is_above_zero_for_the_second() -> None:
    outputs = answered([3.0, -2.0, 0.2])
    assert outputs.answers.argmax(1).tolist() == [1, 0, 1]
    assert np.allclose(outputs.answers[:, 1], 1 / (1 + np.exp([-3.0, 2.0, -0.2])))


def test_whether_they_are_logits_shows_in_the_first_answers() -> None:
    """A later batch that could be taken for probabilities is read as the first one was."""
    answers = iter([[[4.0, -4.0]], [[0.6, 0.4]]])
    victim = Plain(lambda texts: next(answers), "single", TWO)
    victim(["a"])
    assert victim(["b"]).answers[0].tolist() == pytest.approx([0.549834, 0.450166])


def test_label_sets_may_have_scores_that_sum_to_anything() -> None:
    outputs = answered([[0.9, 0.8, 0.7], [0.1, 0.0, 0.2]], "multi", LABELS)
    assert np.allclose(outputs.answers, [[0.9, 0.8, 0.7], [0.1, 0.0, 0.2]])


def test_scores_that_are_no_numbers_are_errors_of_their_rows() -> None:
    outputs = answered([[0.1, 0.9], [float("nan"), 0.5], [0.2, float("inf")], [0.7, 0.3]])
    assert outputs.problem.tolist() == ["", *["error: scores that are no numbers"] * 2, ""]
    assert np.isnan(outputs.answers[1:3]).all() and outputs.answers[[0, 3]].argmax(1).tolist() == [1, 0]


# labels


@pytest.mark.parametrize(
    "answers",
    [
        ["positive", "Negative", "POSITIVE"], ["positive ", " negative\n", "positive"],
        np.array(["positive", "negative", "positive"]),
        [1, 0, 1], np.array([1, 0, 1]), np.array([1, 0, 1], np.uint8), [True, False, True], Tensor([1, 0, 1]),
        pd.Series(["positive", "negative", "positive"]), ("positive", "negative", "positive"),
        [{"label": "POSITIVE"}, {"label": "NEGATIVE"}, {"label": "positive", "score": None}],
    ],
)  # fmt: skip
def test_labels(answers: Any) -> None:
    outputs = answered(answers)
    assert outputs.answers.tolist() == [1, 0, 1] and outputs.answers.dtype == np.int64 and outputs.answered.all()


def test_labels_that_are_numbers_by_name() -> None:
    stars = ("1", "2", "5")
    assert answered([5, 1, "2"], labels=stars).answers.tolist() == [2, 0, 1]
    assert answered([5, 1, 2], labels=stars, assumed=True).answers.tolist() == [2, 0, 1], "the numbers are the names"


@pytest.mark.parametrize("wrong", ["mixed", "", "LABEL_1", None, 7, -1, ["positive"]])
def test_an_unknown_label_is_unparsed(wrong: Any) -> None:
    outputs = answered(["positive", wrong])
    assert outputs.answers.tolist() == [1, -1]
    assert outputs.problem.tolist() == ["", f"unparsed: {begin(wrong)}"]


def test_nothing_is_not_the_label_none() -> None:
    assert answered(["none", None], labels=("none", "some")).problem.tolist() == ["", "unparsed: null"]


# numbers without names


@pytest.mark.parametrize(
    ("answers", "task"),
    [
        ([[0.1, 0.9]], "single"), ([0.9], "single"), ([1], "single"), (np.array([1]), "single"), ([True], "single"),
        ([[0.2, 0.9]], "multi"), ([[0, 1]], "multi"), (np.array([[True, False]]), "multi"), ([[0]], "multi"),
        ([[1, 0, 0]], "tokens"),
    ],
)  # fmt: skip
def test_nameless_numbers_are_refused(answers: Any, task: Task) -> None:
    with pytest.raises(BadAnswer, match=r"names for the labels that mine only numbers.*--labels.*negative, positive"):
        answered(answers, task, assumed=True)


@pytest.mark.parametrize(
    ("answers", "task"),
    [
        (["positive"], "single"), ([{"positive": 0.9, "negative": 0.1}], "single"),
        ([{"label": "positive", "score": 0.9}], "single"),
        ([["positive"]], "multi"), ([[{"label": "positive", "score": 0.9}, {"label": "negative", "score": 0.1}]], "multi"),
        ([["positive", "negative"]], "tokens"),
    ],
)  # fmt: skip
def test_names_need_no_order(answers: Any, task: Task) -> None:
    assert answered(answers, task, assumed=True).answered.all()


# label sets, tags, texts


@pytest.mark.parametrize(
    "answers",
    [
        [["neutral"], [], ["Positive", "negative"]],
        [("neutral",), (), ("positive", "negative")],
        [{"neutral"}, set(), {"positive", "negative"}],
        ["neutral", [], ["positive", "negative"]],
        [[1], [], [2, 0]],
        [[0, 1, 0], [0, 0, 0], [1, 0, 1]],
        [[False, True, False], [False, False, False], [True, False, True]],
        np.array([[0, 1, 0], [0, 0, 0], [1, 0, 1]]),
        np.array([[False, True, False], [False, False, False], [True, False, True]]),
        Tensor([[0, 1, 0], [0, 0, 0], [1, 0, 1]]),
    ],
)
def test_label_sets(answers: Any) -> None:
    outputs = answered(answers, "multi", LABELS)
    assert outputs.answers.dtype == np.bool_ and outputs.answered.all()
    assert outputs.answers.tolist() == [[False, True, False], [False, False, False], [True, False, True]]


def test_a_pipeline_that_gives_only_its_best_label() -> None:
    found = [{"label": "neutral", "score": 0.9}, {"label": "Positive", "score": 0.4}]
    outputs = answered(found, "multi", LABELS)
    assert outputs.answers.tolist() == [[False, True, False], [False, False, True]]


def test_a_set_with_an_unknown_label_is_unparsed() -> None:
    outputs = answered([["neutral", "angry"], ["neutral"]], "multi", LABELS)
    assert outputs.problem.tolist() == ['unparsed: ["neutral", "angry"]', ""]
    assert outputs.answers.tolist() == [[False] * 3, [False, True, False]]


def test_scores_of_a_single_label() -> None:
    assert answered([0.25, 0.75], "multi", ("toxic",)).answers.tolist() == [[0.25], [0.75]]


def test_tags() -> None:
    tags = [
        ["negative", "POSITIVE"],
        [],
        [1, 0],
        np.array([1]),
        [{"label": "positive", "score": 0.5}],
        ["strange", "positive"],
    ]
    outputs = answered(tags, "tokens")
    assert [row.tolist() for row in outputs.answers] == [[0, 1], [], [1, 0], [1], [1], [-1, 1]]
    assert outputs.answered.all(), "a tag that nobody knows is wrong, the others still count"


def test_texts() -> None:
    found = ["ein Text", "", {"translation_text": "noch einer"}, {"generated_text": "und einer"}, np.str_("x"), None]
    outputs = answered(found, "text", ())
    assert outputs.answers.tolist() == ["ein Text", "", "noch einer", "und einer", "x", None]
    assert outputs.problem.tolist() == [""] * 5 + ["unparsed: null"]


# what is refused


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[0.1, 0.9], [1.0]], "expected as many scores for every text from mine, got [0.1, 0.9]"),
        ([[0.1, "x"]], 'mine: [0.1, "x"]'),
        ([[0.1, 0.2, 0.7]], "expected 2 scores from mine (negative, positive), got 3: [0.1, 0.2, 0.7]; name the model's labels"),
        (np.zeros((2, 2, 2)), "expected 2 scores from mine (negative, positive), got 2 x 2"),
        ([{"positive": 0.7}], 'mine: expected a score for negative, got {"positive": 0.7}'),
        ([{}], "mine: {}"),
    ],
)  # fmt: skip
def test_wrong_shapes(answers: Any, message: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        answered(answers)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("answers", "got"),
    [
        (["positive"], "1 answers"), ([], "0 answers"), (np.zeros((3, 2)), "3 answers"),
    ],
)  # fmt: skip
def test_wrong_number_of_answers(answers: Any, got: str) -> None:
    with pytest.raises(BadAnswer, match=f"^expected 2 answers from mine, got {got}$"):
        Plain(lambda texts: answers, "single", TWO, name="mine")(["a", "b"])


@pytest.mark.parametrize(
    ("answers", "got"),
    [
        (None, "NoneType"), ("positive", "str"), (0.5, "float"), ({"positive": 0.5}, "dict"),
        ((t for t in "ab"), "generator"),
    ],
)  # fmt: skip
def test_a_function_of_one_text_is_told_what_is_expected(answers: Any, got: str) -> None:
    message = f"^expected a list with an answer to each text of a list from mine, got {got}$"
    with pytest.raises(BadAnswer, match=message):
        Plain(lambda texts: answers, "single", TWO, name="mine")(["a", "b"])


def test_answers_may_not_change_their_kind() -> None:
    answers = iter([[[0.1, 0.9]], ["positive"]])
    victim = Plain(lambda texts: next(answers), "single", TWO, name="mine")
    assert victim.access == Access.DECISION, "before the first answer"
    victim(["a"])
    assert victim.access == Access.SCORE
    with pytest.raises(BadAnswer, match="mine: expected scores, as before, got positive"):
        victim(["b"])


def test_a_row_that_cannot_be_read_costs_only_itself() -> None:
    def ask(texts: list[str]) -> list[Any]:
        return [None if text == "bad" else [0.2, 0.8] for text in texts]

    outputs = Query(Plain(ask, "single", TWO))([*"abcd", "bad", "e"])
    assert outputs.answered.tolist() == [True] * 4 + [False, True]
    assert outputs.problem[4] == "unparsed: null"


def test_what_a_callable_is_given() -> None:
    seen: list[Any] = []

    def ask(*columns: Any) -> list[str]:
        seen.append(columns)
        return ["positive"] * len(columns[0])

    victim = Plain(ask, "single", TWO)
    victim(("a", "b"))
    victim(("a",), ("b",))
    victim((("two", "tokens"),))
    assert seen == [(["a", "b"],), (["a"], ["b"]), ([["two", "tokens"]],)]


# scikit-learn

TEXTS = ["a good film", "good and nice", "so nice", "a bad film", "bad and dull", "so dull"]
TARGETS = ["positive"] * 3 + ["negative"] * 3


def test_a_pipeline_with_probabilities() -> None:
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, TARGETS)
    victim = of_sklearn(model, "single", ())
    assert victim.labels == TWO and victim.name == "sklearn:Pipeline"
    assert np.allclose(victim(TEXTS).answers, model.predict_proba(TEXTS), atol=1e-6)
    assert victim.access is Access.SCORE


def test_a_pipeline_that_only_predicts() -> None:
    model = make_pipeline(CountVectorizer(), OutputCodeClassifier(LinearSVC(), random_state=0)).fit(TEXTS, TARGETS)
    victim = of_sklearn(model, "single", ())
    assert victim.access is Access.DECISION, "before the first answer"
    assert [victim.labels[at] for at in victim(TEXTS).answers] == TARGETS
    assert victim.access is Access.DECISION


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_names_of_the_user_for_classes_that_are_numbers(kind: Any) -> None:
    numbers = [int(target == "positive") + 3 for target in TARGETS]
    model = make_pipeline(CountVectorizer(), kind()).fit(TEXTS, numbers)
    assert of_sklearn(model, "single", ()).labels == ("3", "4")
    victim = of_sklearn(model, "single", TWO)
    answers = victim(TEXTS).answers
    numbers_said = answers if answers.ndim == 1 else answers.argmax(1)
    assert [victim.labels[at] for at in numbers_said] == TARGETS


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_a_pipeline_for_label_sets(kind: Any) -> None:
    sets = [["good"], ["good", "nice"], ["nice"], [], ["dull"], ["dull"]]
    coder = MultiLabelBinarizer()
    model = make_pipeline(CountVectorizer(), OneVsRestClassifier(kind(C=100))).fit(TEXTS, coder.fit_transform(sets))
    victim = of_sklearn(model, "multi", coder.classes_)
    assert victim.labels == ("dull", "good", "nice")
    answers = victim(TEXTS).answers
    said = answers > 0.5 if answers.dtype.kind == "f" else answers
    assert [[name for name, on in zip(victim.labels, row, strict=True) if on] for row in said] == sets


# answers collected before


def test_predictions() -> None:
    answers: dict[tuple[Any, ...], Any] = {("a",): [0.9, 0.1], ("b",): [0.3, 0.7]}
    victim = Predictions(answers, "single", TWO, name="file.csv")
    assert victim.name == "predictions:file.csv" and victim.access is Access.BLIND
    outputs = victim(["b", "gone", "a", "b"])
    assert outputs.problem.tolist() == ["", "unanswered", "", ""]
    assert outputs.answers[[0, 2, 3]].argmax(1).tolist() == [1, 0, 1] and np.isnan(outputs.answers[1]).all()
    nothing = victim(["gone", "lost"])
    assert nothing.problem.tolist() == ["unanswered"] * 2


def test_predictions_for_pairs_and_tokens() -> None:
    pairs: dict[tuple[Any, ...], Any] = {("a", "b"): "positive"}
    assert Predictions(pairs, "single", TWO, name="x")(["a", "b"], ["b", "a"]).problem.tolist() == ["", "unanswered"]
    tags: dict[tuple[Any, ...], Any] = {(("a", "b"),): ["positive", "negative"]}
    found = Predictions(tags, "tokens", TWO, name="x")([("b",), ("a", "b")])
    assert found.answers[0] is None and found.answers[1].tolist() == [1, 0]


def test_predictions_are_known_by_their_content() -> None:
    def identity(answers: dict[tuple[Any, ...], Any]) -> str:
        return Predictions(answers, "single", TWO, name="x").identity

    assert identity({("a",): 0, ("b",): 1}) == identity({("b",): 1, ("a",): 0}) != identity({("a",): 0, ("b",): 0})


def test_predictions_that_are_numbers_need_names() -> None:
    with pytest.raises(BadAnswer, match="--labels"):
        Predictions({("a",): 1}, "single", TWO, name="x", assumed=True)(["a"])
    assert Predictions({("a",): "Positive"}, "single", TWO, name="x", assumed=True)(["a"]).answers.tolist() == [1]
