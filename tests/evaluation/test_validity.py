"""Predictions of validity from a real run of the toy classifier."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

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


def one_of_each_first(run: Evaluation, each: int) -> None:
    """No example is in a sample twice while others have a case."""
    some, every = sample_trials(run, each), sample_trials(run, 100_000)
    for dimension, degree in {*zip(some.dimension.tolist(), some.degree.tolist(), strict=True)}:
        here, able = (
            cases.example[(cases.dimension == dimension) & (cases.degree == degree)] for cases in (some, every)
        )
        assert here.size == min(each, able.size) and np.unique(here).size == min(each, np.unique(able).size)


def test_a_sample_has_broken_cases_of_many_examples(run: Evaluation) -> None:
    cases = sample_trials(run, 8)
    each = Counter(zip(cases.dimension.tolist(), cases.degree.tolist(), strict=True))
    assert max(each.values()) == 8
    right = run.table().clean_score == 1
    assert all(right[cases.example])
    for at in range(len(cases)):
        assert cases.before[at] == run.data.columns[0][cases.example[at]] != cases.after[at]
        assert 0 < cases.reached[at] <= run.protocol.degrees[cases.degree[at]] + 1e-9
    one_of_each_first(run, 8)
    assert len(sample_trials(run, 8, broken=False)) > len(cases)
    again = sample_trials(run, 8)
    assert again.after == cases.after and sample_trials(run, 8, seed=1).after != cases.after


def test_an_example_comes_once_in_an_adaptive_run_too(tmp_path: Path) -> None:
    """A later round writes more cases of an example into a part of their own."""
    scuff.evaluate(
        "toy:sentiment", "toy:sentiment", tmp_path / "run", dimensions=["typo-m"], degrees=[0.5], examples=60, cases=8,
        width=0.01,
    )  # fmt: skip
    run = EvaluationSetup.read(Folder(tmp_path / "run"))
    assert len([name for name in run.folder.parts() if not name.startswith("clean")]) > 1
    for each in (8, 20, 40):
        one_of_each_first(run, each)


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
