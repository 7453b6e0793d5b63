"""Metrics as rows and scores of their sums: against scikit-learn, against slow resampling, and a user's own."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.metrics import (
    FAMILY,
    METRICS,
    Accuracy,
    Auc,
    AveragePrecision,
    MacroF1,
    MacroRecall,
    Mean,
    Metric,
    parse_metric,
    usual_metric,
)
from scuff.metrics.base import Task
from scuff.metrics.classification import placements
from scuff.metrics.interval import mean_interval, resamples, wilson

LABELS = ("no", "maybe", "yes")


@dataclass(frozen=True)
class FBeta(Metric):
    """F-beta of one label."""

    name: ClassVar[str] = "f-beta"
    tasks: ClassVar[tuple[Task, ...]] = ("single",)
    label: str = "yes"
    beta: float = 1.0

    def statistics(self, answers: Any, targets: Any, labels: Sequence[str]) -> npt.NDArray[np.float64]:
        said, due = answers == labels.index(self.label), targets == labels.index(self.label)
        return np.stack([said & due, said, due], 1).astype(np.float64)

    def score(self, total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        both, said, due = np.moveaxis(total, -1, 0)
        return np.asarray((1 + self.beta**2) * both / (said + self.beta**2 * due))


def objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    out = np.full(len(values), None, object)
    for at, value in enumerate(values):
        out[at] = value
    return out


def made(task: str, size: int, seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Answers (scores for `auc`) and targets."""
    random = np.random.default_rng(seed)
    if task == "single":
        return random.integers(-1, 3, size), random.integers(0, 3, size)
    if task == "multi":
        return random.random((size, 3)) < 0.4, random.random((size, 3)) < 0.4
    if task == "tokens":
        lengths = random.integers(0, 6, size)
        return tuple(objects([random.integers(0, 3, length) for length in lengths]) for _ in range(2))  # type: ignore
    words = np.array(["ab", "abc", "b", "ca", "d"])
    said, due = (objects([" ".join(random.choice(words, 4)) for _ in range(size)]) for _ in range(2))
    said[::5] = due[::5]  # some are right
    return said, due


ALL = [(metric, task) for metric in (*(kind() for kind in METRICS.values()), FBeta()) for task in metric.tasks]


def case_of(metric: Metric, task: str, size: int, seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    answers, targets = made(task, size, seed)
    if metric.needs_scores:
        answers = np.random.default_rng(seed).dirichlet(np.ones(3), size).round(1)
    return answers, targets


# --- scikit-learn -----------------------------------------------------------------------------------------------------

answer = st.tuples(st.integers(-1, 2), st.integers(0, 2))


def quietly(score: Any, *given: Any, **options: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of labels that do not occur
        return float(score(*given, **options))


@given(st.lists(answer, min_size=1, max_size=30))
def test_of_one_label(pairs: list[tuple[int, int]]) -> None:
    theirs = pytest.importorskip("sklearn.metrics")
    answers, targets = np.array(pairs).T
    assert Accuracy()(answers, targets, LABELS) == pytest.approx(theirs.accuracy_score(targets, answers))
    known = sorted({*answers.tolist(), *targets.tolist()} - {-1})  # no answer is no label
    wanted = quietly(theirs.f1_score, targets, answers, labels=known, average="macro")
    assert MacroF1()(answers, targets, LABELS) == pytest.approx(wanted)
    due = sorted(set(targets.tolist()))
    wanted = quietly(theirs.recall_score, targets, answers, labels=due, average="macro")
    assert MacroRecall()(answers, targets, LABELS) == pytest.approx(wanted)
    for beta in (0.5, 2.0):
        wanted = quietly(theirs.fbeta_score, targets == 2, answers == 2, beta=beta, zero_division=np.nan)
        with np.errstate(invalid="ignore"):
            assert FBeta(beta=beta)(answers, targets, LABELS) == pytest.approx(wanted, nan_ok=True)


@given(st.lists(st.tuples(*[st.booleans()] * 6), min_size=1, max_size=30))
def test_of_label_sets(rows: list[tuple[bool, ...]]) -> None:
    theirs = pytest.importorskip("sklearn.metrics")
    answers, targets = np.split(np.array(rows), 2, axis=1)
    assert parse_metric("exact-match")(answers, targets) == pytest.approx(theirs.accuracy_score(targets, answers))
    wanted = quietly(theirs.f1_score, targets, answers, average="macro", zero_division=np.nan)
    assert MacroF1()(answers, targets, LABELS) == pytest.approx(wanted, nan_ok=True), (
        "labels that nobody has are left out"
    )
    wanted = quietly(theirs.recall_score, targets, answers, average="macro", zero_division=np.nan)
    assert MacroRecall()(answers, targets, LABELS) == pytest.approx(wanted, nan_ok=True)


def test_of_tags() -> None:
    theirs = pytest.importorskip("sklearn.metrics")
    answers, targets = made("tokens", 40)
    metric = usual_metric("tokens")
    flat = [np.concatenate(list(some)) for some in (targets, answers)]
    assert metric(answers, targets, LABELS) == pytest.approx(theirs.accuracy_score(*flat)), (
        "by tokens, not by sentences"
    )
    values = metric.values(answers, targets, LABELS)
    assert all(value == 1 for value, tags in zip(values, targets, strict=True) if not len(tags))


def test_of_texts() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra scuff[translation]")
    answers, targets = made("text", 20)
    wanted = [sacrebleu.sentence_chrf(out, [ref]).score / 100 for out, ref in zip(answers, targets, strict=True)]
    assert usual_metric("text").values(answers, targets) == pytest.approx(wanted)
    assert usual_metric("text")(answers, targets) == pytest.approx(np.mean(wanted))


# --- what holds for all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "task"), ALL, ids=str)
def test_rows_add_up(metric: Metric, task: str) -> None:
    answers, targets = case_of(metric, task, 50)
    rows = metric.statistics(answers, targets, LABELS)
    assert rows.shape[0] == 50 and rows.ndim == 2 and np.isfinite(rows).all()
    whole = metric(answers, targets, LABELS)
    assert whole == float(metric.score(rows.sum(0))) and 0 < whole < 1
    stacked = metric.score(np.stack([[rows.sum(0)] * 3] * 2))
    assert stacked.shape == (2, 3) and (stacked == whole).all(), "vectorised"
    again = metric.example_rows(answers, targets, LABELS, np.arange(50), 50)
    assert again == pytest.approx(rows), "one case each"
    if task != "tokens":
        nothing = metric.estimate(np.full((4, 2, rows.shape[1]), np.nan), resamples(2, 0))
        assert np.isnan(nothing[0]).all() and nothing[0].shape == (4,) and nothing[1].shape == (4, 1000)
    if not metric.needs_scores:
        with np.errstate(invalid="ignore"):
            alone = [metric(answers[at : at + 1], targets[at : at + 1], LABELS) for at in range(50)]
            values = metric.values(answers, targets, LABELS)
        full = [at for at in range(50) if task != "tokens" or len(targets[at])]  # no token, no share of tokens
        assert values[full] == pytest.approx(np.array(alone)[full], nan_ok=True)


@pytest.mark.parametrize(("metric", "task"), [case for case in ALL if not case[0].needs_scores], ids=str)
def test_a_resample_is_the_score_of_the_drawn_examples(metric: Metric, task: str) -> None:
    """The slow twin: for each resample all answers of the drawn examples are put together and scored anew."""
    examples, cases = 12, 3
    answers, targets = case_of(metric, task, examples)
    example = np.repeat(np.arange(examples), cases)
    answers = np.concatenate([case_of(metric, task, examples, seed)[0] for seed in range(cases)])
    if task == "tokens":
        answers = objects([np.resize(some, len(targets[at % examples])) for at, some in enumerate(answers)])
    order = np.concatenate([np.arange(cases) * examples + at for at in range(examples)])
    rows = metric.example_rows(answers[order], targets[example], LABELS, example, examples)
    draws = resamples(examples, 3, count=40)
    value, again = metric.estimate(rows, draws)
    with np.errstate(invalid="ignore"):
        assert float(value) == pytest.approx(metric(answers[order], targets[example], LABELS))
        for drawn, found in zip(draws.astype(np.int64), again, strict=True):
            taken = np.concatenate([np.tile(np.flatnonzero(example == at), drawn[at]) for at in range(examples)])
            assert found == pytest.approx(metric(answers[order][taken], targets[example[taken]], LABELS), nan_ok=True)


def test_a_resampled_auc_moves_with_both_kinds() -> None:
    """The slow twin of the first order: drawn texts with the label and drawn texts without it, each at its old placement."""
    random = np.random.default_rng(1)
    targets, scores = random.random(30) < 0.4, random.random(30).round(1)
    placed = placements(scores, targets, np.ones(30))
    area = placed[targets].mean()
    draws = resamples(30, 0, count=50)
    value, again = Auc().estimate(Auc().statistics(scores[:, None], targets[:, None], ("a",)), draws)
    assert float(value) == pytest.approx(area)
    for drawn, found in zip(draws, again, strict=True):
        moved = sum(np.average(placed[kind], weights=drawn[kind]) - area for kind in (targets, ~targets))
        assert found == pytest.approx(np.clip(area + moved, 0, 1))


def test_a_resampled_average_precision_moves_with_every_text() -> None:
    """The slow twin of the first order: the change of scikit-learn's number when one text counts a little more."""
    theirs = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(1)
    targets, scores = random.random(30) < 0.4, random.random(30).round(1)
    metric, small = AveragePrecision(), 1e-6
    rows = metric.statistics(scores[:, None], targets[:, None], ("a",))
    whole = theirs.average_precision_score(targets, scores)
    assert metric.score(rows.sum(0)) == pytest.approx(whole)
    for at in range(30):
        weight = np.ones(30) + small * (np.arange(30) == at)
        wanted = (theirs.average_precision_score(targets, scores, sample_weight=weight) - whole) / small
        assert (metric.score(weight @ rows) - whole) / small == pytest.approx(wanted, abs=1e-4)
    targets, draws = random.random(300) < 0.4, resamples(300, 0, count=100)
    scores = (random.random(300) + targets).round(1)
    exact = [theirs.average_precision_score(targets, scores, sample_weight=draw) for draw in draws]
    again = metric.estimate(metric.statistics(scores[:, None], targets[:, None], ("a",)), draws)[1]
    assert np.std(again) == pytest.approx(np.std(exact), rel=0.15) and np.corrcoef(again, exact)[0, 1] > 0.95


class Spared(FBeta):
    """Says 1 where there is nothing to score."""

    def score(self, total: Any) -> Any:
        return np.where(total[..., 2] == 0, 1.0, total[..., 0] / np.maximum(total[..., 2], 1))


def test_what_nothing_is_known_of_has_no_score_whatever_the_metric_says() -> None:
    rows = np.full((3, 5, 3), np.nan)
    rows[0] = 1
    rows[1, 2] = 1  # one example
    draws = resamples(5, 0, count=60)
    value, again = Spared().estimate(rows, draws)
    assert value[:2].tolist() == [1, 1] and np.isnan(value[2]) and np.isnan(again[2]).all()
    assert np.isnan(again[1]).tolist() == (draws[:, 2] == 0).tolist() and np.isnan(again[1]).any()


@pytest.mark.parametrize("metric", [Accuracy(), MacroF1(), FBeta()], ids=str)
def test_examples_without_an_answer_are_left_out(metric: Metric) -> None:
    answers, targets = made("single", 30)
    known = np.arange(30) % 3 > 0
    rows = metric.example_rows(answers[known], targets[known], LABELS, np.flatnonzero(known), 30)
    assert np.isnan(rows[~known]).all()
    draws = resamples(30, 0, count=20)
    value, again = metric.estimate(rows, draws)
    part, part_again = metric.estimate(rows[known], draws[:, known])
    assert value == part == metric(answers[known], targets[known], LABELS) and again == pytest.approx(part_again)
    seldom = np.where(np.arange(30)[:, None] == 1, rows[1], np.nan)
    drawn = draws[:, 1] > 0
    assert np.isnan(metric.estimate(seldom, draws)[1][~drawn]).all() and not drawn.all(), "nothing is known there"


def test_intervals() -> None:
    """A share of right answers has Wilson's, an AUC never, all others the bootstrap's."""
    again = np.linspace(0.4, 0.6, 1000)
    assert Accuracy().interval(0.5, again, 50, one_each=True) == wilson(0.5, 50)
    for metric in (Accuracy(), usual_metric("text"), MacroF1(), FBeta(), Auc()):
        assert metric.interval(0.5, again, 50) == pytest.approx((0.405, 0.595))
        assert metric.interval(0.9, again, 50) == pytest.approx((0.405, 0.9)), "never without the value itself"
    for metric in (Accuracy(), MacroF1()):
        assert metric.interval(1.0, np.ones(1000), 50) == wilson(1.0, 50)
    assert Auc().interval(1.0, np.ones(1000), 50) == (1, 1)
    assert mean_interval(57.3, np.full(1000, 57.3), 50) == (57.3, 57.3), "no share: Wilson's interval would be wrong"


# --- by name ----------------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert list(METRICS) == [
        "accuracy", "exact-match", "macro-f1", "macro-recall", "auc", "average-precision", "token-accuracy", "chrf", "bleu",
        "meteor",
    ]  # fmt: skip
    assert FAMILY.members()["auc"] is Auc and parse_metric("macro-f1") == MacroF1() and MacroF1().spec == "macro-f1"
    for kind in METRICS.values():
        assert kind.name and kind.summary and kind.title and kind.tasks and FAMILY.build(kind().spec) == kind()
    assert [usual_metric(task).title for task in ("single", "multi", "tokens", "text")] == [
        "accuracy", "exact match", "token accuracy", "chrF",
    ]  # fmt: skip
    assert all(task in usual_metric(task).tasks for task in ("single", "multi", "tokens", "text"))
    with pytest.raises(ValueError, match="expected the name of a metric, got 'macro-f2'; did you mean macro-f1"):
        parse_metric("macro-f2")
    with pytest.raises(ValueError, match=r"expected no option for auc, got 'speed'"):
        parse_metric("auc(speed=3)")


def test_a_users_metric_by_its_spec() -> None:
    mine = parse_metric(f"{__name__}:FBeta(label='no', beta=2.0)")
    assert type(mine).__name__ == "FBeta" and mine.spec == f"{__name__}:FBeta(label='no', beta=2.0)"
    assert parse_metric(mine) is mine and parse_metric(mine.spec) == mine
    assert mine(np.array([0, 0, 1]), np.array([0, 1, 1]), LABELS) == pytest.approx(5 / (2 + 4))


def test_what_does_not_fit_is_refused() -> None:
    Auc().check("multi", LABELS, scores=True)
    MacroF1().check("single", LABELS, scores=False)
    with pytest.raises(ValueError, match="expected a metric for text, got macro-f1, which is for single and multi"):
        MacroF1().check("text", (), scores=False)
    with pytest.raises(
        ValueError, match="expected a model that gives a score for every label for auc, got decisions only"
    ):
        Auc().check("single", LABELS, scores=False)


class Wrong(FBeta):
    def statistics(self, answers: Any, targets: Any, labels: Sequence[str]) -> Any:
        return super().statistics(answers, targets, labels).sum(0)


class Narrow(FBeta):
    def score(self, total: Any) -> Any:
        return total[..., 0].sum()


def test_a_users_mistakes_are_told() -> None:
    answers, targets = made("single", 5)
    with pytest.raises(ValueError, match=r"expected statistics of shape \(5, k\), one row per answer, got \(3,\)"):
        Wrong().example_rows(answers, targets, LABELS, np.arange(5), 5)
    rows = np.ones((2, 5, 3))
    with pytest.raises(ValueError, match=r"expected scores of shape \(2,\) from .*Narrow.score, got \(\)"):
        Narrow().estimate(rows, resamples(5, 0))


@dataclass(frozen=True)
class Length(Mean):
    """The easiest kind: a value for each answer."""

    name: ClassVar[str] = "length"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    def values(self, answers: Any, targets: Any, labels: Sequence[str] = ()) -> Any:
        return np.array([len(said) / len(due) for said, due in zip(answers, targets, strict=True)])


def test_a_users_mean() -> None:
    assert Length()(objects(["ab", "a"]), objects(["abcd", "a"])) == 0.75
