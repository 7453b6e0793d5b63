"""Metrics against the tools that people trust: scikit-learn, sacrebleu, and the textbook's edit distance."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scuff.metrics import Auc, AveragePrecision
from scuff.metrics.bleu import Bleu, MissingMetric, _sacrebleu
from scuff.metrics.chrf import chrf
from scuff.metrics.classification import placements
from scuff.metrics.edit import edit_distance
from strategies import text as nasty_text


def sklearn_auc(targets: Any, scores: Any, **options: Any) -> float:
    metrics = pytest.importorskip("sklearn.metrics")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where there is only one class
        return float(metrics.roc_auc_score(targets, scores, **options))


def auc(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> float:
    """Of one label."""
    return Auc()(scores[:, None], positive[:, None], ("a",))


@st.composite
def scored(draw: st.DrawFn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Scores with many ties, targets of both kinds, weights of which some are 0."""
    size = draw(st.integers(2, 30))
    scores = np.array(draw(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=size, max_size=size)))
    positive = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=size, max_size=size)))
    assume(weight[positive].sum() > 0 and weight[~positive].sum() > 0)
    return scores, positive, weight


@given(scored())
def test_auc_is_scikit_learns(
    rows: tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.float64]],
) -> None:
    scores, positive, weight = rows
    assert auc(scores, positive) == pytest.approx(sklearn_auc(positive, scores))
    weighted = np.average(placements(scores, positive, weight)[positive], weights=weight[positive])
    assert weighted == pytest.approx(sklearn_auc(positive, scores, sample_weight=weight))
    pairs = [
        (weight[i] * weight[j], 1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
        for i in np.flatnonzero(positive)
        for j in np.flatnonzero(~positive)
    ]
    assert weighted == pytest.approx(sum(w * v for w, v in pairs) / sum(w for w, _ in pairs))


def test_auc_of_extremes() -> None:
    yes = np.array([False, False, True, True])
    assert auc(np.array([1, 2, 3, 4.0]), yes) == 1.0
    assert auc(np.array([4, 3, 2, 1.0]), yes) == 0.0
    assert auc(np.zeros(4), yes) == 0.5
    assert auc(np.array([-np.inf, -np.inf, -np.inf, 0.0]), yes) == 0.75, "log probabilities of 0 are ties"
    assert np.isnan(auc(np.arange(4.0), np.ones(4, bool)))
    assert np.isnan(auc(np.arange(4.0), np.zeros(4, bool)))
    assert np.isnan(auc(np.empty(0), np.empty(0, bool)))


@given(scored())
def test_both_kinds_are_placed_alike(
    rows: tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.float64]],
) -> None:
    scores, positive, weight = rows
    placed = placements(scores, positive, weight)
    up, down = (np.average(placed[kind], weights=weight[kind]) for kind in (positive, ~positive))
    assert up == pytest.approx(down)


@given(st.integers(0, 10**6), st.integers(3, 5), st.integers(8, 40))
def test_macro_auc_of_label_sets(seed: int, labels: int, size: int) -> None:
    random = np.random.default_rng(seed)
    targets = random.random((size, labels)) < 0.4
    scores = random.random((size, labels)).round(1)
    assume((targets.any(0) & ~targets.all(0)).all())
    names = "abcde"[:labels]
    assert Auc()(scores, targets, names) == pytest.approx(sklearn_auc(targets, scores, average="macro"))
    example = np.sort(random.integers(0, size, 3 * size))  # cases of each, of some none
    some = targets[example]
    assume((some.any(0) & ~some.all(0)).all())
    cases = random.random((3 * size, labels)).round(1)
    rows = Auc().example_rows(cases, some, names, example, size)
    assert np.isnan(rows).any(1).tolist() == [at not in example for at in range(size)]
    once = 1 / np.bincount(example)[example]
    wanted = sklearn_auc(some, cases, average="macro", sample_weight=once)
    assert float(Auc().score(np.nansum(rows, 0))) == pytest.approx(wanted), "an example counts once"


def test_macro_auc_of_exclusive_classes() -> None:
    random = np.random.default_rng(1)
    for classes in (2, 3, 5):
        labels = random.integers(0, classes, 100)
        scores = random.dirichlet(np.ones(classes), 100)
        found = Auc()(scores, labels, "abcde"[:classes])
        if classes == 2:
            wanted = sklearn_auc(labels, scores[:, 1])
        else:
            wanted = sklearn_auc(labels, scores, multi_class="ovr", average="macro")
        assert found == pytest.approx(wanted)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 40))
def test_average_precision_is_scikit_learns(seed: int, labels: int, size: int) -> None:
    theirs = pytest.importorskip("sklearn.metrics").average_precision_score
    random = np.random.default_rng(seed)
    targets = random.random((size, labels)) < 0.4
    assume(targets.any(0).all())  # of no text scikit-learn says 0, and warns
    scores, names = random.random((size, labels)).round(1), "abcde"[:labels]
    assert AveragePrecision()(scores, targets, names) == pytest.approx(theirs(targets, scores, average="macro"))
    example = np.sort(random.integers(0, size, 3 * size))  # cases of each, of some none
    assume(targets[example].any(0).all())
    cases = random.random((3 * size, labels)).round(1)
    rows = AveragePrecision().example_rows(cases, targets[example], names, example, size)
    once = 1 / np.bincount(example)[example]
    wanted = theirs(targets[example], cases, average="macro", sample_weight=once)
    assert float(AveragePrecision().score(np.nansum(rows, 0))) == pytest.approx(wanted), "an example counts once"


def test_average_precision_of_exclusive_classes() -> None:
    theirs = pytest.importorskip("sklearn.metrics").average_precision_score
    random = np.random.default_rng(1)
    for classes in (2, 3, 5):
        targets, scores = random.integers(0, classes, 100), random.dirichlet(np.ones(classes), 100)
        wanted = theirs(targets, scores[:, 1] if classes == 2 else scores, average="macro")
        assert AveragePrecision()(scores, targets, "abcde"[:classes]) == pytest.approx(wanted)
    never = np.stack([np.zeros(20, bool), np.arange(20) % 2 == 0], 1)
    some = random.random((20, 2))
    assert AveragePrecision()(some, never, "ab") == pytest.approx(theirs(never[:, 1], some[:, 1])), "left out"


def test_label_sets_of_two_that_never_overlap_are_no_two_classes() -> None:
    targets = np.array([[True, False], [False, True], [False, True]])
    scores = np.array([[0.1, 0.4], [0.9, 0.6], [0.9, 0.3]])  # the first column has everything wrong
    assert Auc()(scores, targets, "ab") == pytest.approx(sklearn_auc(targets, scores, average="macro"))


def test_labels_that_never_or_always_hold_are_left_out() -> None:
    random = np.random.default_rng(2)
    targets = np.stack([np.zeros(20, bool), np.ones(20, bool), np.arange(20) % 2 == 0, np.arange(20) % 3 == 0], 1)
    scores = random.random((20, 4))
    wanted = sklearn_auc(targets[:, 2:], scores[:, 2:], average="macro")
    assert Auc()(scores, targets, "abcd") == pytest.approx(wanted)
    assert np.isnan(Auc()(scores[:, :2], targets[:, :2], "ab"))
    assert np.isnan(Auc()(np.empty((0, 3)), np.empty((0, 3), bool), "abc"))


def slow_distance(before: str, after: str) -> int:
    """Wagner and Fischer, 1974."""
    table = [[max(i, j) for j in range(len(after) + 1)] for i in range(len(before) + 1)]
    for i, old in enumerate(before, 1):
        for j, new in enumerate(after, 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (old != new))
    return table[-1][-1]


@given(st.lists(st.tuples(nasty_text, nasty_text), max_size=5))
def test_edit_distance_is_the_textbooks(pairs: list[tuple[str, str]]) -> None:
    pairs += [(text, text[::-1]) for text, _ in pairs]
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    wanted = [slow_distance(a, b) for a, b in pairs]
    assert edit_distance(before, after).tolist() == wanted


def test_edit_distances_of_extremes() -> None:
    assert edit_distance(["kitten", "", "abc", "👍🏽"], ["sitting", "ab", "", "👍"]).tolist() == [3, 2, 3, 1]
    assert edit_distance([], []).tolist() == []


REFERENCES = ["Hello world, how are you?", "A dog runs.", "", "Grüße aus Köln", "x"]
OUTPUTS = ["Hello world, how are you?", "The dog is running", "", "Grusse aus Koln", ""]


def test_chrf_is_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra scuff[translation]")
    wanted = [sacrebleu.sentence_chrf(out, [ref]).score / 100 for out, ref in zip(OUTPUTS, REFERENCES, strict=True)]
    found = chrf(OUTPUTS, REFERENCES)
    assert found == pytest.approx(wanted) and found[0] == pytest.approx(1) and found[4] == 0
    assert ((found >= 0) & (found <= 1)).all()
    assert chrf([], []).tolist() == []
    with pytest.raises(ValueError, match="expected as many outputs as references, got 1 and 0"):
        chrf(["a"], [])


def test_a_missing_sacrebleu_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("sacrebleu"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    _sacrebleu.cache_clear()
    with pytest.raises(MissingMetric, match=r"pip install 'scuff\[translation\]'"):
        Bleu()(np.array(["a"], object), np.array(["a"], object))
    assert chrf(["a"], ["a"]) == [1], "chrF needs no package"
