"""The final score: eq. (1) of RobTest, against its published figures and against the recursion written out."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.evaluation.score import DEGREES, VALIDITY, VALIDITY_DEGREES, degree_weights, final_score

# figures 10 to 17: scores at the seven degrees, and the final score
PUBLISHED = [
    ("90.1 84.5 73.5 65.5 60.6 56.9 54.4", 82.7, 83.1),
    ("35.5 13.5 2.1 0.4 0.2 0.1 0.1", 21.4, 21.4),
    ("71.7 60.0 54.6 53.9 51.5 48.9 48.0", 63.8, 64.2),
    ("94.2 93.4 91.3 89.0 86.1 83.3 79.4", 92.0, 92.6),
    ("94.7 94.7 94.7 94.7 94.7 94.7 94.6", 94.0, 94.7),
]
percent = st.floats(0, 100)
by_degree = st.dictionaries(st.floats(0.01, 1), percent, min_size=1, max_size=9)
betas = st.floats(0, 0.99)


def by_recursion(scores: dict[float, float], beta: float, start: float | None) -> float:
    """V1 = theta1 (or from `start`), Vt = beta V(t-1) + (1 - beta) theta_t, from the highest degree to the lowest."""
    value = start
    for degree in sorted(scores, reverse=True):
        value = scores[degree] if value is None else beta * value + (1 - beta) * scores[degree]
    assert value is not None
    return value


@pytest.mark.parametrize(("row", "published", "printed"), PUBLISHED)
def test_published_figures(row: str, published: float, printed: float) -> None:
    scores = dict(zip(DEGREES, map(float, row.split()), strict=True))
    assert final_score(scores, published=True) == pytest.approx(published, abs=0.06)
    assert final_score(scores) == pytest.approx(printed, abs=0.06), "as the equation is printed"


@pytest.mark.shared
def test_all_published_figures(shared: Path) -> None:
    text = (shared / "papers" / "003_54c51b3f7eb720ba.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(?:Rule|Score|Base|Large)-(?:Average|Worst)((?: [\d.]+){9})$", text, re.MULTILINE)
    assert len(found) == 340
    for row in found:
        _, *scores, final = map(float, row.split())
        assert final_score(dict(zip(DEGREES, scores, strict=True)), published=True) == pytest.approx(final, abs=0.06), (
            row
        )


@pytest.mark.shared
def test_published_worst_cases_are_of_each_degree_alone(shared: Path) -> None:
    """Some rise with the degree, which a worst case over all smaller degrees cannot; none is above the clean score."""
    text = (shared / "papers" / "003_54c51b3f7eb720ba.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(?:Rule|Score|Base|Large)-Worst((?: [\d.]+){9})$", text, re.MULTILINE)
    rows = [[float(score) for score in row.split()][:-1] for row in found]
    assert sum(any(later > before for before, later in pairwise(scores)) for _, *scores in rows) == 3
    assert all(max(scores) <= clean for clean, *scores in rows)


def test_a_perfect_model_scores_exactly_100() -> None:
    for degrees in (DEGREES, (0.5,), (0.1, 0.2), tuple(n / 20 for n in range(1, 21))):
        for beta in (0, 0.3, 0.5, 0.9):
            assert final_score(dict.fromkeys(degrees, 100.0), beta) == pytest.approx(100, abs=1e-12)
    assert final_score(dict.fromkeys(DEGREES, 100.0)) == 100
    assert final_score(dict.fromkeys(DEGREES, 1.0)) == 1
    assert final_score(dict.fromkeys(DEGREES, 100.0), published=True) == pytest.approx(99.21875)


@given(by_degree, betas)
def test_same_as_the_recursion(scores: dict[float, float], beta: float) -> None:
    assert final_score(scores, beta) == pytest.approx(by_recursion(scores, beta, None), abs=1e-9)
    assert final_score(scores, beta, published=True) == pytest.approx(by_recursion(scores, beta, 0.0), abs=1e-9)
    assert min(scores.values()) - 1e-9 <= final_score(scores, beta) <= max(scores.values()) + 1e-9


@given(by_degree, betas, st.randoms())
def test_neither_order_nor_the_clean_score_matters(scores: dict[float, float], beta: float, shuffler: object) -> None:
    items = list(scores.items())
    shuffler.shuffle(items)  # type: ignore[attr-defined]
    wanted = pytest.approx(final_score(scores, beta), abs=1e-9)
    assert final_score(dict(items), beta) == wanted
    assert final_score({0: 1e6, **scores}, beta) == wanted
    assert final_score({**scores, 0.0: 1e6}, beta) == wanted


def test_small_degrees_weigh_most() -> None:
    weight = degree_weights(DEGREES)
    assert weight.tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 64]
    assert degree_weights(DEGREES, published=True).tolist() == [2.0**-n for n in range(1, 8)]
    assert degree_weights(DEGREES[::-1]).tolist() == weight.tolist()[::-1]
    assert degree_weights((0.1, 0.2), beta=0).tolist() == [1, 0], "only the smallest counts"
    assert degree_weights(()).tolist() == []


def test_validity_weights() -> None:
    assert degree_weights((0.05, 0.1, 0.3), validity="typo-m") == pytest.approx([96 / 216, 94 / 216, 26 / 216])
    between = degree_weights((0.1, 0.2), validity="typo-m")
    assert between == pytest.approx([0.94 / 1.54, 0.60 / 1.54]), "half way between 0.94 and 0.26"
    scores = {0.05: 90.0, 0.1: 80.0, 0.3: 40.0}
    wanted = (0.96 * 90 + 0.94 * 80 + 0.26 * 40) / 2.16
    assert final_score(scores, validity="typo-m") == pytest.approx(wanted)
    assert final_score(scores, validity="glyph-g") == pytest.approx(70), "all valid: the mean"
    for name, row in VALIDITY.items():
        assert len(row) == len(VALIDITY_DEGREES) and all(0 <= share <= 1 for share in row)
        assert list(row) == sorted(row, reverse=True), "more change, fewer valid cases"
        assert final_score(dict.fromkeys(DEGREES, 100.0), validity=name) == pytest.approx(100)
    assert final_score({0.8: 10, 0.9: 30}, validity="syntax") == 20, "no degree is valid: all alike"


def test_errors() -> None:
    for nothing in ({}, {0: 95.0}, {0.0: 1.0}):
        with pytest.raises(ValueError, match="expected scores for at least one degree above 0, got none"):
            final_score(nothing)
    for beta in (-0.1, 1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"expected a number in \[0, 1\) for beta"):
            final_score({0.1: 1.0}, beta)
    with pytest.raises(ValueError, match=r"expected typo-m, .* for validity, got 'typo'"):
        final_score({0.1: 1.0}, validity="typo")


def test_where_it_is_found() -> None:
    from scuff.evaluation.score import final_score as at_home

    assert scuff.evaluation.final_score is final_score is at_home
    assert scuff.evaluation.final_score({0.1: 0.5}) == 0.5
    assert callable(scuff.evaluate)
