"""Predictions of validity from a real run of the toy classifier."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import scuff
from scuff.evaluation.evaluation import Evaluation
from scuff.evaluation.score import VALIDITY
from scuff.evaluation.setup import EvaluationSetup
from scuff.evaluation.validity import predicted_validity, published_validity, sample_trials, validity_levels
from scuff.runs.folder import Folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("validity") / "run"
    scuff.evaluate(
        "toy:sentiment", "toy:sentiment", folder, dimensions=["typo-m", "glyph-g", "segment"], degrees=[0.1, 0.5], examples=30,
        cases=6,
    )  # fmt: skip
    return EvaluationSetup.read(Folder(folder))


def test_a_sample_has_broken_cases_of_many_examples(run: Evaluation) -> None:
    cases = sample_trials(run, 8)
    each = Counter(zip(cases.dimension.tolist(), cases.degree.tolist(), strict=True))
    assert max(each.values()) == 8
    right = run.table().clean_score == 1
    assert all(right[cases.example])
    for at in range(len(cases)):
        assert cases.before[at] == run.data.columns[0][cases.example[at]] != cases.after[at]
        assert 0 < cases.reached[at] <= run.protocol.degrees[cases.degree[at]] + 1e-9
    every = sample_trials(run, 1000)
    for dimension, degree in each:  # no example twice while others have a case
        here, able = (
            np.unique(some.example[(some.dimension == dimension) & (some.degree == degree)]).size
            for some in (cases, every)
        )
        assert here == min(each[dimension, degree], able)
    assert len(sample_trials(run, 8, broken=False)) > len(cases)
    again = sample_trials(run, 8)
    assert again.after == cases.after and sample_trials(run, 8, seed=1).after != cases.after


def test_measures_fall_with_the_degree(run: Evaluation) -> None:
    pytest.importorskip("lemminflect")
    pytest.importorskip("gruut_lang_en")
    cases = sample_trials(run, 40, broken=False)
    found = predicted_validity(cases, encoder="chrf")
    assert list(found) == ["degree", "grammar", "similarity", "perplexity"]
    typo = cases.dimension == 0
    for name, values in found.items():
        assert values.shape == (len(cases),)
        low, high = (values[typo & (cases.degree == degree)].mean() for degree in (0, 1))
        assert low > high, name


def test_levels_are_of_one_size_and_equal_numbers_stay_together() -> None:
    assert np.bincount(validity_levels(np.arange(50.0))).tolist() == [10] * 5
    assert validity_levels(np.array([3.0, 1.0, 2.0, 5.0, 4.0])).tolist() == [2, 0, 1, 4, 3]
    assert np.unique(validity_levels(np.zeros(7))).tolist() == [2]
    assert validity_levels(np.empty(0)).tolist() == []


def test_labels_are_those_of_table_3(run: Evaluation) -> None:
    cases = sample_trials(run, 5)
    labels = published_validity(run, cases)
    for at in range(len(cases)):
        column = ("typo-m", "glyph-g", None)[cases.dimension[at]]
        if column is None:
            assert np.isnan(labels[at])
        else:
            assert labels[at] == VALIDITY[column][(1, 3)[cases.degree[at]]]
