"""Goals for text-to-text models: margins, what is skipped, and that each agrees with an obvious twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.attacks.goals import Decrease, Goal, Keyword, NoOverlap, Untargeted, parse_goal
from scuff.attacks.tradeoff import tradeoff_summary
from scuff.metrics import parse_metric
from scuff.metrics.chrf import chrf
from scuff.specs import spec_of
from scuff.victims.base import Outputs, as_objects

words = st.lists(st.sampled_from(["the", "dog", "sees", "cat", "ein", "ß", "猫", "👍", "שלום", "."]), max_size=8)
sentences = words.map(" ".join)


def margins(goal: Goal, outputs: list[Any], references: list[str], clean: list[str], alike: Any = None) -> list[float]:
    aims = goal.aims(as_objects(references), as_objects(clean))
    problems = ["" if output is not None else "error: x" for output in outputs]
    found = Outputs.of(as_objects(outputs), problems)
    return goal(found, aims, np.zeros(len(outputs)), None if alike is None else np.array(alike)).tolist()


def skipped(goal: Goal, references: list[str], clean: list[str]) -> list[str]:
    return goal.skips(Outputs.of(as_objects(clean)), goal.aims(as_objects(references), as_objects(clean))).tolist()


def ready(spec: str) -> Goal:
    return parse_goal(spec).ready("text", ())


@given(sentences, sentences, sentences, st.floats(0, 1), st.sampled_from(["chrf", "bleu"]))
def test_decrease_is_equation_1(output: str, reference: str, clean: str, alike: float, metric: str) -> None:
    goal = ready(f"decrease(metric='{metric}')")
    measure = parse_metric(metric)
    base, now = measure.values(as_objects([clean, output]), as_objects([reference, reference]), ())
    lost = 0.0 if now >= base else (base - now) / base
    (margin,) = margins(goal, [output], [reference], [clean], [alike])
    if lost > 0 and lost + alike > 1:
        assert margin == pytest.approx(max(lost, 1e-9))
    else:
        assert margin == pytest.approx(lost - 1) and margin <= 0


def test_a_success_loses_more_than_its_source() -> None:
    goal, clean = ready("decrease"), "the dog sees the cat"
    half = 1 - chrf(["the dog"], [clean])[0]
    assert margins(goal, ["the dog"] * 3, [clean] * 3, [clean] * 3, [1.0, 1 - half + 0.01, 1 - half - 0.01]) == [
        pytest.approx(half), pytest.approx(half), pytest.approx(half - 1),
    ]  # fmt: skip
    assert margins(goal, [clean, None], [clean] * 2, [clean] * 2, [1, 1])[0] == -1
    assert np.isnan(margins(goal, [None], [clean], [clean], [1])[0])
    limits = {"": 1.0, "metric='exact-match'": 1.8, "metric='exact-match', threshold=1.0": 1.0, "threshold=0.5": 0.5}
    for spec, least in limits.items():
        goal = parse_goal(f"decrease({spec})")
        assert isinstance(goal, Decrease) and goal.least == least
        assert parse_goal(goal.spec) == goal == parse_goal(spec_of(goal, full=True))
        assert tradeoff_summary([], spec_of(goal, full=True), True)["threshold"] == least
    strict = ready("decrease(threshold=1.8)")
    assert margins(strict, ["xx", "xx"], [clean] * 2, [clean] * 2, [0.7, 0.9]) == [0, 1]


def test_what_has_nothing_to_lose_is_skipped() -> None:
    references, clean = ["a dog", "", "a dog", "  "], ["a dog", "a cat", "", "a cat"]
    assert skipped(ready("decrease"), references, clean) == ["", "no reference", "scores 0 already", "no reference"]
    assert skipped(ready("decrease(against='output')"), references, clean) == ["", "", "no reference", ""]


def test_without_references_the_own_text_is_compared() -> None:
    goal = ready("decrease(against='output')")
    assert margins(goal, ["a dog", "xyz"], ["", ""], ["a dog", "a dog"], [1, 1]) == [-1, 1]
    assert goal.references(goal.aims(as_objects([""]), as_objects(["a dog"]))).tolist() == ["a dog"]
    assert NoOverlap().references(NoOverlap().aims(as_objects([""]), as_objects(["own"]))).tolist() == ["own"]


def test_untargeted_means_a_decrease_for_texts() -> None:
    assert Untargeted().ready("text", ()) == Decrease().ready("text", ())
    assert Decrease().open_ended and not Decrease(stop=True).open_ended


def test_no_overlap_by_place_and_anywhere() -> None:
    clean = ["The dog sees the cat."] * 4
    outputs = ["A dog sees the cat.", "Then the dog sees the cat.", "", "the DOG"]
    assert margins(ready("no-overlap"), outputs, clean, clean) == pytest.approx([-0.8, 1, 1, -0.4])
    assert margins(ready("no-overlap(anywhere=True)"), outputs, clean, clean) == pytest.approx([-1, -1, 1, -0.6])
    assert skipped(ready("no-overlap"), ["", ""], ["", "yes"]) == ["no words", ""]


def test_keyword() -> None:
    goal = ready("keyword(word='Dog')")
    outputs = ["a DOG!", "a hotdog", "a doge", "", "o"]
    found = margins(goal, outputs, ["x"] * 5, ["x"] * 5)
    assert found[0] == 1 and all(value <= 0 for value in found[1:])
    assert found[1] == found[2] == 0 > found[4] > found[3] == -1, "nearer texts lead a search"
    assert margins(ready("keyword(word='dog', whole=False)"), ["a hotdog"], ["x"], ["x"]) == [1]
    assert margins(ready("keyword(word='我的', whole=False)"), ["这是我的猫", "这是猫"], ["x"] * 2, ["x"] * 2)[0] == 1
    assert skipped(goal, ["x", "a dog", "x"], ["x", "x", "the dog"]) == ["", *["has the keyword already"] * 2]
    assert Keyword(word=5).word == "5"  # type: ignore[arg-type]


@given(st.lists(sentences, min_size=1, max_size=4), sentences)
def test_margins_are_in_their_range_and_rows_are_independent(outputs: list[str], clean: str) -> None:
    for spec in ("decrease", "no-overlap", "no-overlap(anywhere=True)", "keyword(word='dog')"):
        count, alike = len(outputs), np.linspace(0, 1, len(outputs))
        found = margins(ready(spec), outputs, [clean] * count, [clean] * count, alike)
        assert all(-1 <= value <= 1 for value in found)
        alone = [
            margins(ready(spec), [output], [clean], [clean], [like])[0]
            for output, like in zip(outputs, alike, strict=True)
        ]
        assert alone == found


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("decrease(metric='accuracy')", "expected a metric of texts for decrease.metric, got accuracy"),
        ("decrease(metric='chfr')", "expected the name of a metric, got 'chfr'"),
        ("decrease(against='me')", "expected reference or output for decrease.against, got 'me'"),
        ("decrease(threshold=3)", "decrease.threshold, got 3"),
        ("decrease(stop=1)", "expected True or False for decrease.stop, got 1"),
        ("keyword", "expected a word for keyword.word, got ''"),
        ("keyword(word=' ')", "expected a word for keyword.word, got ' '"),
        ("no-overlap(anywhere=2)", "expected True or False for no-overlap.anywhere, got 2"),
        ("tags", "expected data with a tag per token for the goal tags, got texts: --goal decrease"),
    ],
)
def test_bad_goals(spec: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared
        ready(spec)
    assert message in str(caught.value)


def test_text_goals_are_for_texts_only() -> None:
    with pytest.raises(ValueError, match="expected data with texts for the goal decrease, got one label"):
        Decrease().ready("single", ("a", "b"))
