"""Goals against direct formulas: a margin above 0 means reached, and nearer answers have higher margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attacks.attacked import attacked, data_of, recipe
from scuff.attacks.goals import GOALS, Goal, Reduction, Tags, Targeted, ToxicTrap, Untargeted, parse_goal
from scuff.text.ragged import Floats
from scuff.victims.base import Access, Column, Outputs, Victim, as_objects, softmax

CLASSES = ("hate", "offensive", "neither")
TOPICS = ("benign", "obscene", "insult", "threat")
THRESHOLDS = {"benign": 0.7, "insult": 0.2}
numbers = st.floats(-6, 6, width=32)
shares = st.floats(0, 1, width=32)


def margins(goal: Goal, answers: Any, targets: Any, changed: Any = None) -> list[float]:
    outputs = Outputs.of(np.asarray(answers))
    share = np.zeros(len(outputs)) if changed is None else np.asarray(changed)
    return goal(outputs, np.asarray(targets), share).tolist()


def skips(goal: Goal, answers: Any, targets: Any) -> list[str]:
    return goal.skips(Outputs.of(np.asarray(answers)), np.asarray(targets)).tolist()


@st.composite
def single(draw: st.DrawFn, labels: int = 3) -> tuple[Floats, np.ndarray]:
    """Probabilities and targets of some texts."""
    rows = draw(
        st.lists(st.tuples(st.lists(numbers, min_size=labels, max_size=labels), st.integers(0, labels - 1)), min_size=1)
    )
    return softmax(np.array([row for row, _ in rows])), np.array([target for _, target in rows])


@st.composite
def label_sets(draw: st.DrawFn, labels: int = 4) -> tuple[Floats, np.ndarray]:
    row = st.lists(st.tuples(shares, st.booleans()), min_size=labels, max_size=labels)
    rows = draw(st.lists(row, min_size=1))
    return np.array([[p for p, _ in row] for row in rows]), np.array([[held for _, held in row] for row in rows])


def assert_as(goal: Goal, scores: Floats, targets: Any, formula: Callable[[Any, Any], tuple[float, bool]]) -> None:
    """Asserts that margins are above 0 where the formula says reached, and ordered like its scores on each side of 0."""
    found = margins(goal, scores, targets)
    wanted = [formula(row, target) for row, target in zip(scores.astype(float).tolist(), targets, strict=True)]
    assert [margin > 0 for margin in found] == [reached for _, reached in wanted]
    for margin, (score, reached) in zip(found, wanted, strict=True):
        assert margin == pytest.approx(max(score, 1e-9) if reached else min(score - 1, 0), abs=1e-6)
    for margin, (score, reached) in zip(found, wanted, strict=True):
        for other, (more, also) in zip(found, wanted, strict=True):
            if reached == also and score < more - 1e-6:
                assert margin < other or score < 1e-9
            if also and not reached:
                assert margin < other


@given(single())
def test_untargeted(case: tuple[Floats, np.ndarray]) -> None:
    scores, targets = case
    goal = Untargeted().ready("single", CLASSES)
    assert_as(goal, scores, targets, lambda row, right: (1 - row[right], row.index(max(row)) != right))
    wrong = [row.index(max(row)) != right for row, right in zip(scores.tolist(), targets, strict=True)]
    assert skips(goal, scores, targets) == ["already wrong" if is_wrong else "" for is_wrong in wrong]


@given(label_sets())
def test_untargeted_label_sets(case: tuple[Floats, np.ndarray]) -> None:
    """The label nearest to being wrong decides."""
    scores, targets = case
    goal = Untargeted().ready("multi", TOPICS)

    def formula(row: list[float], held: list[bool]) -> tuple[float, bool]:
        sure = [p if h else 1 - p for p, h in zip(row, held, strict=True)]
        return 1 - min(sure), any((p > 0.5) != h for p, h in zip(row, held, strict=True))

    assert_as(goal, scores, targets, formula)
    wrong = [formula(row, held)[1] for row, held in zip(scores.tolist(), targets.tolist(), strict=True)]
    assert skips(goal, scores, targets) == ["already wrong" if is_wrong else "" for is_wrong in wrong]


@given(single(), st.sampled_from(CLASSES))
def test_targeted(case: tuple[Floats, np.ndarray], label: str) -> None:
    scores, targets = case
    goal, wanted = Targeted(label).ready("single", CLASSES), CLASSES.index(label)
    assert_as(goal, scores, targets, lambda row, _: (row[wanted], row.index(max(row)) == wanted))
    found = [
        "already the target" if right == wanted else "already wrong" if row.index(max(row)) != right else ""
        for row, right in zip(scores.tolist(), targets, strict=True)
    ]
    assert skips(goal, scores, targets) == found


@given(single())
def test_toxictrap_of_classes(case: tuple[Floats, np.ndarray]) -> None:
    """Eq. 2: F(x') = b and F(x) is not; only toxic texts that are detected as what they are."""
    scores, targets = case
    goal = ToxicTrap().ready("single", CLASSES)
    benign = CLASSES.index("neither")
    assert_as(goal, scores, targets, lambda row, _: (row[benign], row.index(max(row)) == benign))
    found = []
    for row, right in zip(scores.tolist(), targets, strict=True):
        answer = row.index(max(row))
        passed = "missed by the model" if answer == benign else "already wrong" if answer != right else ""
        found.append("not toxic" if right == benign else passed)
    assert skips(goal, scores, targets) == found


def algorithm_1(row: list[float], raised: list[int], least: list[float], most: list[float]) -> tuple[float, bool]:
    """goal' = sum of the scores to raise + sum of 1 - score of those to lower; reached if each is beyond its threshold."""
    lowered = [at for at in range(len(row)) if at not in raised]
    total = sum(row[at] for at in raised) + sum(1 - row[at] for at in lowered)
    there = all(row[at] > least[at] for at in raised) and all(row[at] < most[at] for at in lowered)
    return total / len(row), there


@given(label_sets(), st.sampled_from([0.5, 0.3, 0.9]), st.sampled_from([{}, THRESHOLDS]))
def test_toxictrap_of_label_sets(case: tuple[Floats, np.ndarray], threshold: float, own: dict[str, float]) -> None:
    """Eq. 3 and algorithm 1, also with a threshold for single labels."""
    scores, targets = case
    goal = ToxicTrap(threshold=threshold, thresholds=own).ready("multi", TOPICS)
    least = [own.get(label, threshold) for label in TOPICS]
    most = [own.get(label, 1 - threshold) for label in TOPICS]
    assert_as(goal, scores, targets, lambda row, _: algorithm_1(row, [0], least, most))
    found = []
    for row, held in zip(scores.tolist(), targets.tolist(), strict=True):
        limits = [own.get(label, 0.5) for label in TOPICS]  # the threshold of the goal is not that of detection
        detected = any(p > limit for p, limit in zip(row[1:], limits[1:], strict=True)) and not row[0] > limits[0]
        detected = detected and not algorithm_1(row, [0], least, most)[1]
        found.append("" if any(held[1:]) and detected else "missed by the model" if any(held[1:]) else "not toxic")
    assert skips(goal, scores, targets) == found


@given(label_sets())
def test_toxictrap_without_a_benign_label(case: tuple[Floats, np.ndarray]) -> None:
    scores, targets = case
    goal = ToxicTrap().ready("multi", ("rude", "obscene", "insult", "threat"))
    assert_as(goal, scores, targets, lambda row, _: algorithm_1(row, [], [], [0.5] * 4))
    assert [reason == "not toxic" for reason in skips(goal, scores, targets)] == (~targets.any(1)).tolist()


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9), min_size=1), st.floats(0.01, 1))
def test_tags(rows: list[list[tuple[int, int]]], share: float) -> None:
    goal = Tags(share).ready("tokens", tuple("ABCD"))
    said = as_objects([np.array([a for a, _ in row], np.int64) for row in rows])
    targets = as_objects([np.array([b for _, b in row], np.int64) for row in rows])
    wrong = [sum(a != b for a, b in row) / max(len(row), 1) for row in rows]
    found = goal(Outputs.of(said), targets, np.zeros(len(rows))).tolist()
    assert [margin > 0 for margin in found] == [part >= share for part in wrong]
    assert [margin + (margin <= 0) for margin in found] == pytest.approx(wrong)
    reasons = goal.skips(Outputs.of(said), targets).tolist()
    assert reasons == ["already wrong" if part >= share else "" for part in wrong]


def test_tags_of_another_number_of_tokens() -> None:
    goal = Tags().ready("tokens", ("A", "B"))
    assert goal(Outputs.of(as_objects([np.array([1, 1])])), as_objects([np.array([0])]), np.zeros(1)).tolist() == [-1]


@given(single(), st.lists(st.integers(0, 10), min_size=1))
def test_reduction(case: tuple[Floats, np.ndarray], gone: list[int]) -> None:
    """The same answer to fewer words: one word less counts more than any score, and an empty text is no reduction."""
    scores, targets = case
    changed = np.resize(gone, len(targets)) / 10
    goal = Reduction().ready("single", CLASSES)
    assert goal.open_ended
    found = margins(goal, scores, targets, changed)
    kept = scores.argmax(1) == targets
    assert [margin > 0 for margin in found] == (kept & (changed > 0) & (changed < 1)).tolist()
    sure = scores[np.arange(len(targets)), targets]
    for one in np.flatnonzero(np.array(found) > 0):
        for other in np.flatnonzero(np.array(found) > 0):
            if (changed[one], sure[one] + 1e-6) < (changed[other], sure[other]):
                assert found[one] < found[other]


@given(single())
def test_decisions_have_the_margins_of_scores_0_and_1(case: tuple[Floats, np.ndarray]) -> None:
    scores, targets = case
    decided = scores.argmax(1)
    for goal in (Untargeted(), Targeted("hate"), ToxicTrap()):
        ready = goal.ready("single", CLASSES)
        assert margins(ready, decided, targets) == margins(ready, np.eye(3)[decided], targets)
        assert skips(ready, decided, targets) == skips(ready, scores, targets)
    goal = ToxicTrap().ready("multi", TOPICS)
    sets = np.array([[True, False, False, False], [False, True, True, False]])
    assert margins(goal, sets, sets) == [1, -0.75]


def test_no_answer_has_no_margin() -> None:
    goal = Untargeted().ready("single", ("a", "b"))
    outputs = Outputs.of(np.array([[0.2, 0.8], [np.nan, np.nan]]), ["", "error: broken"])
    found = goal(outputs, np.array([0, 0]), np.zeros(2))
    assert found[0] > 0 and np.isnan(found[1])


@pytest.mark.parametrize(
    ("goal", "task", "targets", "weights"),
    [
        ("untargeted", "single", [2, 0], [[0, 0, 1], [1, 0, 0]]),
        ("targeted(label='hate')", "single", [2, 1], [[-1, 0, 0], [-1, 0, 0]]),
        ("toxictrap", "single", [0], [[0, 0, -1]]),
        ("toxictrap(benign='hate')", "multi", [[False] * 3], [[-1, 1, 1]]),
        ("untargeted", "multi", [[True, False, True]], [[1 / 3, -1 / 3, 1 / 3]]),
    ],
)
def test_weights_point_away_from_the_goal(goal: str, task: Any, targets: Any, weights: Any) -> None:
    """Labels that keep a text from the goal have positive weights."""
    assert np.allclose(parse_goal(goal).ready(task, CLASSES).weights(np.array(targets)), weights)


class Fixed(Victim):
    """A victim whose answer is written in the text: a number that is the score of the first label."""

    task, access = "single", Access.SCORE

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.name, self.labels = "fixed", labels

    def __call__(self, *columns: Column) -> Outputs:
        first = np.array([float(text.split()[0]) for text in columns[0]])
        return Outputs.of(np.stack([first, 1 - first], 1))


def test_skipped_examples_are_not_asked_about() -> None:
    data = data_of(["0.9 bad", "0.4 bad", "0.3 fine", "0.7 fine"], ["toxic", "toxic", "ok", "ok"])
    victim = Fixed(("toxic", "ok"))
    for goal, reasons in {
        "toxictrap": ["", "missed by the model", "not toxic", "not toxic"],
        "untargeted": ["", "already wrong", "", "already wrong"],
        "targeted(label='ok')": ["", "already wrong", "already the target", "already the target"],
        "reduction": ["", "already wrong", "", "already wrong"],
    }.items():
        lines = attacked(victim, data, recipe("best-of(n=1)", goal, ["typo(operations='swap')"]))
        assert [line["reason"] for line in lines] == reasons
        assert [line["status"] == "skipped" and not line["queries"] for line in lines] == [bool(r) for r in reasons]


@pytest.mark.parametrize(
    ("goal", "task", "labels", "message"),
    [
        ("targeted", "single", CLASSES, "expected one of hate, offensive, neither for targeted.label, got ''"),
        ("targeted(label='nice')", "single", CLASSES, "neither for targeted.label, got 'nice'"),
        ("targeted(label='hate')", "multi", CLASSES, "expected data with one label for the goal targeted, got label sets"),
        ("untargeted", "tokens", CLASSES, "for the goal untargeted, got a tag per token: --goal tags"),
        ("tags", "single", CLASSES, "expected data with a tag per token for the goal tags, got one label"),
        ("reduction", "multi", CLASSES, "expected data with one label for the goal reduction, got label sets"),
        ("toxictrap", "single", ("a", "b"), "that means benign among a, b, got none that says so: --goal \"toxictrap(benign="),
        ("toxictrap", "single", ("none", "benign"), "got none and benign, each of which could be it: --goal "),
        ("toxictrap(benign='fine')", "multi", TOPICS, "among benign, obscene, insult, threat, got 'fine'"),
        ("toxictrap(threshold=0.9)", "single", CLASSES, "expected no threshold for toxictrap with one label"),
        ("toxictrap(thresholds={'rude': 0.2})", "multi", TOPICS, "insult, threat for toxictrap.thresholds, got rude"),
        ("toxictrap", "text", TOPICS, "expected data with one label or label sets for the goal toxictrap, got texts"),
    ],
)  # fmt: skip
def test_goals_that_do_not_fit(goal: str, task: Any, labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        parse_goal(goal).ready(task, labels)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("toxictrap(threshold=1.5)", "expected a number in [0, 1] for toxictrap.threshold, got 1.5"),
        ("toxictrap(thresholds={'benign': 'much'})", "in [0, 1] for toxictrap.thresholds of benign, got 'much'"),
        ("toxictrap(thresholds=0.3)", "expected labels with numbers for toxictrap.thresholds, got 0.3"),
        ("tags(share=0)", "expected a number in (0, 1] for tags.share, got 0"),
        ("tags(share='half')", "expected a number in (0, 1] for tags.share, got 'half'"),
        ("untargetted", "expected the name of a goal, got 'untargetted'; did you mean untargeted"),
        ("toxictrap(labels=())", "expected benign or threshold or thresholds for toxictrap, got 'labels'"),
        ("targeted('x')", "expected name(option=value, ...), got \"targeted('x')\""),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        parse_goal(spec)
    assert message in str(error.value)


@pytest.mark.parametrize("label", ["benign", "None", "NEITHER", "non-toxic", "ok"])
def test_names_of_the_benign_label(label: str) -> None:
    assert ToxicTrap().ready("single", ("hate", label)).benign == label  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "goal",
    [
        *(kind() for kind in GOALS.values()), Targeted("it's"), Tags(0.25), ToxicTrap("ok", 0.6, {"a b": 0.1, "c": 1.0}),
        ToxicTrap(threshold=0.4),
    ],
)  # fmt: skip
def test_specs_are_read_back(goal: Goal) -> None:
    assert parse_goal(goal.spec) == goal and parse_goal(goal.spec).spec == goal.spec
    assert goal.summary and goal.name in GOALS


def test_ready_does_not_change_the_spec() -> None:
    ready = ToxicTrap(threshold=0.4).ready("multi", TOPICS)
    assert parse_goal(ready.spec).ready("multi", TOPICS) == ready
    assert Untargeted().ready("single", CLASSES).spec == "untargeted"
