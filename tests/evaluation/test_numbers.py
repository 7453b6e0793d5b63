"""Every number of a run against a slow, obvious version of it, scipy and scikit-learn; intervals against simulation."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.data.dataset import Column, Dataset, Target, Task
from scuff.evaluation.cases import sample_cases
from scuff.evaluation.evaluation import Evaluation, open_cells
from scuff.evaluation.protocol import Protocol
from scuff.evaluation.score import final_score
from scuff.evaluation.summary import summarise
from scuff.evaluation.table import PROBLEMS, Table
from scuff.metrics import Accuracy, Auc, MacroF1, Mean, Metric
from scuff.metrics.base import Answers
from scuff.metrics.interval import mean_interval, percentile_interval, resamples, weighted_means, wilson
from scuff.runs.folder import Folder
from scuff.runs.pack import pack_texts
from scuff.runs.trials import CleanTexts
from scuff.victims.base import Outputs, as_objects
from scuff.victims.truth import Truth

NAMES = ("keyboard", "segment")
DEGREES = (0.1, 0.2, 0.4)
PROTOCOL = Protocol(NAMES, DEGREES, cases=6)
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trial:
    """One row of the trials; dimension and degree are -1 for the clean text."""

    example: int
    dimension: int = -1
    degree: int = -1
    score: float = math.nan
    problem: str = ""
    reached: float = 0.0
    scores: tuple[float, ...] = ()
    changed: bool = True


def table_of(
    path: Path, trials: Sequence[Trial], examples: int, dimensions: int, degrees: int, parts: int = 2
) -> Table:
    """The trials, written in a few parts and read again."""
    folder = Folder(path)
    if not folder.started:
        folder.start({}, [])
    names = []
    for part in range(parts):
        rows = trials[part::parts]
        reasons = sorted({row.problem for row in rows} - {""})
        arrays: dict[str, npt.NDArray[Any]] = {
            "example": np.array([row.example for row in rows], np.int32),
            "dimension": np.array([row.dimension for row in rows], np.int16),
            "degree": np.array([row.degree for row in rows], np.int16),
            "draw": np.zeros(len(rows), np.int32),
            "reached": np.array([row.reached for row in rows], np.float64),
            "distance": np.array([row.reached / 2 for row in rows], np.float64),
            "score": np.array([math.nan if row.problem else row.score for row in rows], np.float32),
            "problem": np.array([["", *reasons].index(row.problem) for row in rows], np.int32),
            "edit_case": np.array([at for at, row in enumerate(rows) if row.changed and row.dimension >= 0], np.int32),
            **pack_texts("reason", reasons),
        }
        if any(row.scores for row in rows):
            arrays["scores"] = np.array([row.scores for row in rows], np.float32)
        folder.write_part(f"part{part}", arrays)
        names.append(f"part{part}")
    return Table.read(folder, examples, dimensions, degrees, names)


def of_labels(examples: int) -> Truth:
    return Truth("single", ("no", "yes"), np.arange(examples) % 2)


def of_tokens(lengths: Sequence[int]) -> Truth:
    return Truth("tokens", ("A", "B"), as_objects([np.zeros(length, np.int64) for length in lengths]))


@st.composite
def random_trials(draw: st.DrawFn) -> tuple[int, list[Trial]]:
    """Examples with a clean text and some cases in each cell; some have no answer, some cells no cases."""
    examples = draw(st.integers(1, 7))
    answer = st.one_of(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    problem = st.sampled_from(["", "", "", "", "error: boom", "refused", "unparsed: what?", "unanswered"])
    trials = [Trial(at, score=draw(answer), problem=draw(problem)) for at in range(examples)]
    for dimension in range(len(NAMES)):
        for degree in range(len(DEGREES)):
            for at in range(examples):
                for _ in range(draw(st.integers(0, 3))):
                    reached = draw(st.sampled_from([0.0, 0.05, 0.1]))
                    trials.append(Trial(at, dimension, degree, draw(answer), draw(problem), reached, (), reached > 0))
    return examples, trials


def mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights) if sum(weights) else None


def slow_average(trials: list[Trial], weight: Scores, dimension: int, degree: int) -> float | None:
    """Each example that has an answer counts with the mean of its answered cases."""
    values, weights = [], []
    for example in range(len(weight)):
        good = [
            t.score for t in trials if (t.example, t.dimension, t.degree, t.problem) == (example, dimension, degree, "")
        ]
        if good:
            values.append(sum(good) / len(good))
            weights.append(float(weight[example]))
    return mean(values, weights)


def slow_worst(trials: list[Trial], weight: Scores, dimension: int, degree: int) -> float | None:
    """Each example whose clean text and a case up to this degree were answered counts with its worst answer so far."""
    values, weights = [], []
    for example in range(len(weight)):
        answered = [t for t in trials if t.example == example and not t.problem]
        good = [t.score for t in answered if t.dimension == dimension and t.degree <= degree]
        clean = [t.score for t in answered if t.dimension == -1]
        if good and clean:
            values.append(min([*good, *clean]))
            weights.append(float(weight[example]))
    return mean(values, weights)


def slow_alone(trials: list[Trial], weight: Scores, dimension: int, degree: int) -> float | None:
    """Each example whose clean text and a case at this degree were answered counts with its worst answer of these."""
    values, weights = [], []
    for example in range(len(weight)):
        answered = [t for t in trials if t.example == example and not t.problem]
        good = [t.score for t in answered if t.dimension == dimension and t.degree == degree]
        clean = [t.score for t in answered if t.dimension == -1]
        if good and clean:
            values.append(min([*good, *clean]))
            weights.append(float(weight[example]))
    return mean(values, weights)


def close(found: Any, wanted: float | None) -> bool:
    return found is None if wanted is None else found == pytest.approx(wanted, abs=2e-6)


@given(random_trials(), st.booleans(), st.integers(1, 3))
def test_average_and_worst(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[int, list[Trial]], tokens: bool, parts: int
) -> None:
    examples, trials = made
    truth = of_tokens([1 + 3 * at for at in range(examples)]) if tokens else of_labels(examples)
    weight = truth.weight
    table = table_of(tmp_path_factory.mktemp("t") / "run", trials, examples, len(NAMES), len(DEGREES), parts)
    summary = summarise(table, PROTOCOL, truth)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    clean = [t for t in trials if t.dimension == -1 and not t.problem]
    assert close(summary["clean"]["score"]["value"], mean([t.score for t in clean], [weight[t.example] for t in clean]))
    assert summary["clean"]["answered"] == len(clean) and summary["clean"]["examples"] == examples
    for number, name in enumerate(NAMES):
        content = summary["dimensions"][name]
        for kind, slow in (("average", slow_average), ("worst", slow_worst), ("worst_alone", slow_alone)):
            wanted = [slow(trials, weight, number, degree) for degree in range(len(DEGREES))]
            for degree, value in enumerate(wanted):
                cell = content["degrees"][degree]
                assert close(cell[kind]["value"], value)
                low, high = cell[kind]["interval"]
                assert value is None or low - 2e-6 <= value <= high + 2e-6
            final = None
            if None not in wanted:
                final = final_score(dict(zip(DEGREES, wanted, strict=True)))  # type: ignore[arg-type]
            assert close(content[kind]["value"], final)
        worst = [cell["worst"]["value"] for cell in content["degrees"] if cell["worst"]["value"] is not None]
        begun = {t.example for t in trials if (t.dimension, t.degree, t.problem) == (number, 0, "")}
        if len(clean) == len(begun) == examples:
            assert worst == sorted(worst, reverse=True), "it only gets worse"
            alone = [cell["worst_alone"]["value"] for cell in content["degrees"]]
            later = {t.example for t in trials if (t.dimension, t.degree, t.problem) == (number, 1, "")}
            assert alone[0] == worst[0], "up to the first degree is the first degree alone"
            assert len(later) < examples or alone[1] >= worst[1], "smaller degrees only break more"
    finals = [summary["dimensions"][name]["average"]["value"] for name in NAMES]
    assert close(summary["overall"]["average"]["value"], None if None in finals else sum(finals) / len(finals))


@given(random_trials())
def test_counts(tmp_path_factory: pytest.TempPathFactory, made: tuple[int, list[Trial]]) -> None:
    examples, trials = made
    table = table_of(tmp_path_factory.mktemp("t") / "run", trials, examples, len(NAMES), len(DEGREES))
    summary = summarise(table, PROTOCOL, of_labels(examples))
    for number, name in enumerate(NAMES):
        for degree, cell in enumerate(summary["dimensions"][name]["degrees"]):
            mine = [t for t in trials if (t.dimension, t.degree) == (number, degree)]
            assert cell["cases"] == len(mine) and cell["examples"] == len({t.example for t in mine})
            for problem in PROBLEMS:
                assert cell[problem] == sum(t.problem.startswith(problem) for t in mine)
            assert cell["unchanged"] == sum(not t.changed and not t.problem for t in mine)
            each = [[t.reached for t in mine if t.example == at] for at in sorted({t.example for t in mine})]
            reached = [sum(some) / len(some) for some in each]
            still = [all(not t.changed for t in mine if t.example == at) for at in {t.example for t in mine}]
            assert cell["unchanged_examples"] == sum(still)
            assert close(cell["reached"], sum(reached) / len(reached) if reached else None)
            assert close(cell["edit_distance"], sum(reached) / len(reached) / 2 if reached else None)
            tried = {t.example for t in trials if t.dimension == number and t.degree <= degree and not t.problem}
            right = [
                t.example for t in trials if t.dimension == -1 and not t.problem and t.score == 1 and t.example in tried
            ]
            broken = {
                t.example
                for t in trials
                if t.dimension == number and t.degree <= degree and not t.problem and t.score < 1
            }
            assert cell["success"]["of"] == len(right)
            assert close(cell["success"]["rate"], len(broken & set(right)) / len(right) if right else None)
    told = summary["problems"]
    assert told == {
        reason: sum(t.problem == reason for t in trials) for reason in sorted({t.problem for t in trials} - {""})
    }


def test_cases_without_an_answer_do_not_count_as_wrong(tmp_path: Path) -> None:
    trials = [Trial(0, score=1), Trial(1, score=1), Trial(0, 0, 0, 1.0), Trial(1, 0, 0, 0.0)]
    trials += [Trial(0, 0, 0, problem=p) for p in ("error: TimeoutError", "refused", "unparsed: hm", "unanswered")]
    trials += [Trial(1, 0, 0, problem="something unheard of")]
    protocol = Protocol(("keyboard",), (0.5,))
    summary = summarise(table_of(tmp_path / "run", trials, 2, 1, 1), protocol, of_labels(2))
    cell = summary["dimensions"]["keyboard"]["degrees"][0]
    assert cell["average"]["value"] == 0.5 and cell["worst"]["value"] == 0.5 and cell["cases"] == 7
    assert [cell[name] for name in PROBLEMS] == [2, 1, 1, 1], "what has no name is an error"


def test_a_run_without_any_answer(tmp_path: Path) -> None:
    trials = [Trial(at, d, g, problem="error: down") for at in range(3) for d, g in ((-1, -1), (0, 0), (1, 1))]
    table = table_of(tmp_path / "run", trials, 3, 2, 3)
    summary = summarise(table, PROTOCOL, of_labels(3))
    assert summary["clean"]["score"] == {"value": None, "interval": [None, None]}
    assert summary["overall"]["average"]["value"] is None and summary["problems"] == {"error: down": 9}
    assert json.dumps(summary, allow_nan=False)


def test_tagged_sentences_count_by_their_tokens(tmp_path: Path) -> None:
    """The mean over sentences, weighted, is the share of all tokens that are right."""
    lengths, right = [1, 4, 20], [[1, 0], [2, 4], [10, 15]]
    truth = of_tokens(lengths)
    trials = [Trial(at, score=1.0) for at in range(3)]
    trials += [Trial(at, 0, 0, hits / lengths[at]) for at in range(3) for hits in right[at]]
    cell = summarise(table_of(tmp_path / "run", trials, 3, 1, 1), Protocol(("keyboard",), (0.5,)), truth)
    found = cell["dimensions"]["keyboard"]["degrees"][0]
    assert close(found["average"]["value"], (1 + 6 + 25) / 2 / 25)
    assert close(found["worst"]["value"], (0 + 2 + 10) / 25)


# --- a whole evaluation: attack, victim, trials, numbers --------------------------------------------------------------

TEXTS = tuple(
    f"{a} {b} people {c} this {d} film every single day, and {a} critics {c} it too"
    for a in ("many", "some") for b in ("young", "clever") for c in ("love", "hate") for d in ("long", "strange", "new")
)  # fmt: skip


def victim(labels: int, task: Task) -> Any:
    """Scores that depend on the whole text, so that every change matters a little; some texts it refuses."""

    def ask(*columns: Sequence[str], examples: object = None) -> Outputs:
        seeds = [
            sum((at + 1) * ord(char) for at, char in enumerate("|".join(row))) for row in zip(*columns, strict=True)
        ]
        random = np.stack([np.random.default_rng(seed).random(labels) for seed in seeds]).astype(np.float32)
        problem = ["refused" if seed % 17 == 0 else "" for seed in seeds]
        scores = random / random.sum(1, keepdims=True) if task == "single" else random
        return Outputs.of(np.where(np.array(problem)[:, None] == "", scores, np.float32(np.nan)), problem)

    return ask


def evaluated(path: Path, data: Dataset, protocol: Protocol, truth: Truth, ask: Any) -> Evaluation:
    folder = Folder(path)
    folder.start({}, [])
    work = Evaluation(folder, data, protocol, truth, ask)
    clean = CleanTexts(folder, data, truth, ask)
    for job in clean.jobs():
        clean.do(job)
    for jobs in work.rounds():
        for job in jobs:
            work.do(job)
    return work


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("task", ["single", "multi"])
def test_a_whole_evaluation(tmp_path: Path, task: Task, labels: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    names = tuple("abc"[:labels])
    targets: tuple[Target, ...] = tuple(
        names[at % labels] if task == "single" else tuple(n for i, n in enumerate(names) if at >> i & 1)
        for at in range(len(TEXTS))
    )
    data = Dataset("made", task, (TEXTS,), targets, tuple(map(str, range(len(TEXTS)))))
    truth = Truth.of(data, names, {})
    protocol = Protocol(("keyboard", "truncate@edits"), (0.1, 0.3), cases=4, seed=3)
    ask = victim(labels, task)
    work = evaluated(tmp_path / "run", data, protocol, truth, ask)
    summary = summarise(work.table(), protocol, truth)

    def judged(texts: Sequence[Any], example: list[int]) -> tuple[Outputs, Scores]:
        outputs = ask(texts)
        return outputs, truth.take(np.array(example)).score(outputs)[0]

    def area(outputs: Outputs, example: list[int]) -> float:
        kept = outputs.answered
        at = np.array(example)[kept]
        weight = 1 / np.bincount(at)[at]
        scores = outputs.answers[kept].round(5)
        right = truth.targets[at]
        if task == "single" and labels == 2:
            return float(metrics.roc_auc_score(right, scores[:, 1], sample_weight=weight))
        if task == "single":
            right = np.eye(labels, dtype=bool)[right]
        return float(metrics.roc_auc_score(right, scores, average="macro", sample_weight=weight))

    outputs, score = judged(TEXTS, list(range(len(TEXTS))))
    trials = [Trial(at, score=score[at], problem=outputs.problem[at]) for at in range(len(TEXTS))]
    assert close(summary["clean"]["auc"]["value"], area(outputs, list(range(len(TEXTS)))))
    for d, dimension in enumerate(protocol.parsed):
        for g, degree in enumerate(protocol.degrees):
            cases = sample_cases([Column.of(TEXTS)], (0,), dimension, degree, 4, seed=3)
            example = cases.example.tolist()
            outputs, score = judged(cases.columns[0], example)
            trials += [
                Trial(at, d, g, float(s), p, float(r))
                for at, s, p, r in zip(example, score, outputs.problem, cases.reached, strict=True)
            ]
            cell = summary["dimensions"][dimension.name]["degrees"][g]
            assert close(cell["auc"]["value"], area(outputs, example))
            low, high = cell["auc"]["interval"]
            assert low < cell["auc"]["value"] < high and high - low > 0.05
            assert cell["refused"] == (outputs.problem == "refused").sum() and cell["cases"] == len(cases)
            assert close(cell["reached"], float(cases.reached.mean()))
            assert close(cell["edit_distance"], float(cases.distance.mean()))
            assert close(cell["average"]["value"], slow_average(trials, truth.weight, d, g))
            assert close(cell["worst"]["value"], slow_worst(trials, truth.weight, d, g))
    assert any(t.problem for t in trials)


# --- another metric than the usual one --------------------------------------------------------------------------------


@dataclass(frozen=True)
class FBeta(Metric):
    """F-beta of one label, as a user writes it."""

    name: ClassVar[str] = "f-beta"
    tasks: ClassVar[tuple[Task, ...]] = ("single",)
    label: str = "a"
    beta: float = 2.0

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Scores:
        said, due = answers == labels.index(self.label), targets == labels.index(self.label)
        return np.stack([said & due, said, due], 1).astype(np.float64)

    def score(self, total: Scores) -> Scores:
        both, said, due = np.moveaxis(total, -1, 0)
        return np.asarray((1 + self.beta**2) * both / (said + self.beta**2 * due))


@dataclass(frozen=True)
class First(Mean):
    """Whether the first tag, or the first letter, is right."""

    name: ClassVar[str] = "first"
    tasks: ClassVar[tuple[Task, ...]] = ("tokens", "text")

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Scores:
        return np.array([said[0] == due[0] for said, due in zip(answers, targets, strict=True)], np.float64)


def slow_f1(
    said: npt.NDArray[Any], due: npt.NDArray[Any], weight: Scores, labels: Sequence[int], beta: float = 1
) -> float:
    """F-beta of each label that occurs with any weight, averaged."""
    found = []
    for label in labels:
        hit, told, owed = (
            float(weight[mask].sum()) for mask in ((said == label) & (due == label), said == label, due == label)
        )
        if told + owed:
            found.append((1 + beta**2) * hit / (told + beta**2 * owed))
    return sum(found) / len(found) if found else math.nan


def made_evaluation(path: Path, labels: int = 3) -> Evaluation:
    """The victim reads the beginning of a text only and is right about most, so that some examples hold and some break."""
    names, random = tuple("abc"[:labels]), victim(labels, "single")

    def ask(column: Sequence[str], examples: object = None) -> Outputs:
        return random([text[:20] for text in column])  # type: ignore[no-any-return]

    said = np.nan_to_num(ask(TEXTS).answers).argmax(1)
    targets = tuple(names[(number + (at % 4 == 0)) % labels] for at, number in enumerate(said.tolist()))
    data = Dataset("made", "single", (TEXTS,), targets, tuple(map(str, range(len(TEXTS)))))
    protocol = Protocol(("keyboard", "truncate@edits"), (0.1, 0.3), cases=3, seed=3)
    return evaluated(path, data, protocol, Truth.of(data, names, {}), ask)


RUN = {"signature": "s", "model": {"name": "m"}, "data": {"digest": "d", "skipped": {}}}


@pytest.mark.parametrize(("metric", "labels", "beta"), [(MacroF1(), (0, 1, 2), 1), (FBeta(), (0,), 2)])
def test_another_metric(tmp_path: Path, metric: Metric, labels: tuple[int, ...], beta: float) -> None:
    """From all answers on disk, put together case by case: each example counts once, with the mean of its cases or its worst."""
    theirs = pytest.importorskip("sklearn.metrics")
    work = made_evaluation(tmp_path / "run")
    usual = work.finish(RUN)
    lines = (tmp_path / "run" / "results.jsonl").read_bytes()
    work.metric = metric
    summary = work.finish(RUN)
    assert summary["metric"] == (metric.title or metric.spec) and usual["metric"] == "accuracy"
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == lines, "single answers are judged as ever"
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    table, due = work.table(), work.truth.targets
    said = work.truth.predicted(table["answers"])
    example, score = table["example"], table["score"]
    draws = resamples(len(TEXTS), work.protocol.seed)

    def check(found: dict[str, Any], rows: npt.NDArray[np.int64]) -> None:
        share = 1 / np.bincount(example[rows])[example[rows]]
        value = slow_f1(said[rows], due[example[rows]], share, labels, beta)
        theirs_too = theirs.fbeta_score(
            due[example[rows]], said[rows], beta=beta, labels=labels, average="macro", sample_weight=share
        )
        assert close(found["value"], value) and close(found["value"], theirs_too)
        again = [slow_f1(said[rows], due[example[rows]], share * drawn[example[rows]], labels, beta) for drawn in draws]
        assert found["interval"] == pytest.approx(np.nanquantile(again, [0.025, 0.975]), abs=2e-6)

    clean = np.flatnonzero(table.clean & (table["kind"] == 0))
    check(summary["clean"]["score"], clean)
    assert summary["clean"]["chance"] is summary["clean"]["majority"] is None, "those of accuracy would mislead"
    for d, dimension in enumerate(work.protocol.parsed):
        for g in range(len(work.protocol.degrees)):
            cell, before = (some["dimensions"][dimension.name]["degrees"][g] for some in (summary, usual))
            check(cell["average"], np.flatnonzero(table.answered & (table["dimension"] == d) & (table["degree"] == g)))
            worst = []
            for at in clean:
                mine = table.answered & (example == example[at]) & (table["dimension"] == d) & (table["degree"] <= g)
                cases = sorted(np.flatnonzero(mine).tolist(), key=lambda row: (score[row], table["degree"][row], row))
                if cases:
                    worst.append(at if score[at] <= score[cases[0]] else cases[0])
            check(cell["worst"], np.array(worst))
            alone = []
            for at in clean:
                mine = table.answered & (example == example[at]) & (table["dimension"] == d) & (table["degree"] == g)
                cases = sorted(np.flatnonzero(mine).tolist(), key=lambda row: (score[row], row))
                if cases:
                    alone.append(at if score[at] <= score[cases[0]] else cases[0])
            check(cell["worst_alone"], np.array(alone))
            assert {key for key in cell if cell[key] != before[key]} <= {"average", "worst", "worst_alone", "relative"}
            both = (
                np.isin(example, example[clean]) & table.answered & (table["dimension"] == d) & (table["degree"] == g)
            )
            kept = clean[np.isin(example[clean], example[both])]
            share = 1 / np.bincount(example[both])[example[both]]
            left = slow_f1(said[both], due[example[both]], share, labels, beta)
            base = slow_f1(said[kept], due[example[kept]], np.ones(kept.size), labels, beta)
            assert close(cell["relative"], left / base)
            right = (score[both] * share).sum() / score[kept].sum()
            assert close(before["relative"], float(right)), "by accuracy"
        content = summary["dimensions"][dimension.name]
        for kind in ("average", "worst", "worst_alone"):
            by_degree = {cell["degree"]: cell[kind]["value"] for cell in content["degrees"]}
            assert close(content[kind]["value"], final_score(by_degree))


@pytest.mark.parametrize("labels", [2, 3])
def test_auc_as_the_metric_is_the_auc_beside_it(tmp_path: Path, labels: int) -> None:
    work = made_evaluation(tmp_path / "run", labels)
    usual = work.finish(RUN)
    work.metric = Auc()
    summary = work.finish(RUN)
    assert summary["metric"] == "macro AUC" and summary["clean"]["score"] == summary["clean"]["auc"]
    for name, content in summary["dimensions"].items():
        for cell, before in zip(content["degrees"], usual["dimensions"][name]["degrees"], strict=True):
            assert cell["average"] == cell["auc"] == before["auc"] and cell["worst"]["value"] < cell["average"]["value"]
    work.metric = Accuracy()
    assert work.finish(RUN) == usual, "the usual one, named"


def test_a_metric_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    work = made_evaluation(tmp_path / "run")
    with pytest.raises(ValueError, match=r"expected a metric for single, got .*:First, which is for tokens and text"):
        summarise(work.table(), work.protocol, work.truth, First())
    trials = [Trial(at, d, g, 1.0) for at in range(3) for d, g in ((-1, -1), (0, 0))]
    with pytest.raises(ValueError, match="expected a model that gives a score for every label for auc, got decisions"):
        summarise(table_of(tmp_path / "labels", trials, 3, 2, 3), PROTOCOL, of_labels(3), Auc())


@pytest.mark.parametrize("task", ["tokens", "text", "single"])
def test_another_metric_where_some_parts_have_no_answer(tmp_path: Path, task: Task) -> None:
    """A block that failed as a whole does not tell what kind its answers would have been."""
    pytest.importorskip("sacrebleu", reason="needs the extra scuff[translation]")
    texts: tuple[Any, ...] = tuple((f"w{at}", "b") for at in range(4)) if task == "tokens" else ("ab", "bc", "ca", "dd")
    targets: dict[str, tuple[Target, ...]] = {
        "tokens": (("N", "V"), ("V", "V"), ("N", "N"), ("V", "N")), "text": ("ax", "bx", "cx", "dx"), "single": tuple("abab"),
    }  # fmt: skip
    data = Dataset("made", task, (texts,), targets[task], tuple("0123"))

    def ask(column: Sequence[Any], examples: Sequence[int] = ()) -> Outputs:
        if any("3" in str(text) or "d" in str(text) for text in column) and len(column) < 4:
            return Outputs.failed(len(column), "error: down")
        tags = {"tokens": [np.array([0, 1]) for _ in column], "text": ["a" for _ in column]}
        return Outputs.of(np.zeros(len(column), np.int64) if task == "single" else as_objects(tags[task]))

    labels = () if task == "text" else ("N", "V") if task == "tokens" else ("a", "b")
    protocol = Protocol(("invisible",), (0.3,), cases=2, at_once=2)  # one example a block
    work = evaluated(tmp_path / "run", data, protocol, Truth.of(data, labels, {}), ask)
    work.metric = FBeta(beta=1.0) if task == "single" else First()
    summary = work.finish(RUN)
    cell = summary["dimensions"]["invisible"]["degrees"][0]
    assert cell["error"] >= 1 and summary["clean"]["answered"] == 4
    clean, average = {"tokens": (1 / 2, 2 / 3), "text": (1 / 4, 1 / 3), "single": (2 / 3, 4 / 5)}[task]
    assert close(summary["clean"]["score"]["value"], clean) and close(cell["average"]["value"], average)
    assert close(cell["worst"]["value"], average)


def test_another_metric_of_a_run_without_any_answer(tmp_path: Path) -> None:
    trials = [Trial(at, d, g, problem="error: down") for at in range(3) for d, g in ((-1, -1), (0, 0), (1, 1))]
    summary = summarise(table_of(tmp_path / "run", trials, 3, 2, 3), PROTOCOL, of_labels(3), MacroF1())
    assert summary["clean"]["score"] == summary["overall"]["worst"] == {"value": None, "interval": [None, None]}


# --- intervals --------------------------------------------------------------------------------------------------------


@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_is_scipys(count: int, share: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    hits = round(share * count)
    wanted = stats.binomtest(hits, count).proportion_ci(0.95, "wilson")
    assert wilson(hits / count, count) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


def test_wilson_of_nothing() -> None:
    assert all(map(math.isnan, (*wilson(0.5, 0), *wilson(math.nan, 10))))
    assert wilson(1.0, 20)[1] == 1 and 0.8 < wilson(1.0, 20)[0] < 0.9
    assert wilson(0.0, 20)[0] == 0 and 0.1 < wilson(0.0, 20)[1] < 0.2


def test_resamples_draw_examples_with_replacement() -> None:
    draws = resamples(50, seed=1)
    assert draws.shape == (1000, 50) and (draws.sum(1) == 50).all() and (draws >= 0).all()
    assert np.array_equal(draws, resamples(50, seed=1)) and not np.array_equal(draws, resamples(50, seed=2))
    assert draws.mean(0) == pytest.approx(np.ones(50), abs=0.15)
    assert draws.var() == pytest.approx(1 - 1 / 50, abs=0.03), "as multinomial counts vary"
    assert not np.array_equal(draws[0], draws[1])
    assert resamples(0, 1).shape == (1000, 0) and (resamples(1, 1) == 1).all()


def test_the_bootstrap_is_numpys_own_up_to_chance() -> None:
    random = np.random.default_rng(5)
    values = random.beta(2, 1, 80)
    found, again = weighted_means(values, np.ones(80), resamples(80, 0))
    assert float(found) == pytest.approx(values.mean())
    theirs = values[random.integers(0, 80, (4000, 80))].mean(1)
    assert mean_interval(float(found), again, 80) == pytest.approx(np.quantile(theirs, [0.025, 0.975]), abs=0.01)


def test_weighted_means_know_what_is_missing() -> None:
    values = np.array([[1.0, np.nan, 0.0], [np.nan, np.nan, np.nan]])
    draws = np.array([[1, 1, 1], [0, 3, 0], [2, 0, 1]], np.float32)
    found, again = weighted_means(values, np.array([1.0, 5.0, 3.0]), draws)
    assert found[0] == 0.25 and np.isnan(found[1])
    assert again[0].tolist()[::2] == [0.25, pytest.approx(2 / 5)] and np.isnan(again[0, 1]) and np.isnan(again[1]).all()
    low, high = percentile_interval(np.array([np.nan, 1.0, 3.0]))
    assert low == pytest.approx(1.05) and high == pytest.approx(2.95)
    assert all(map(math.isnan, percentile_interval(np.array([np.nan]))))


def test_coverage_where_the_cases_of_an_example_are_alike() -> None:
    """60 examples of 20 cases that mostly go together. An interval over cases would miss the truth in every second study."""
    random = np.random.default_rng(0)
    examples, cases, studies = 60, 20, 400
    rate = np.where(random.random((studies, examples)) < 0.7, 0.95, 0.1)
    truth = 0.7 * 0.95 + 0.3 * 0.1
    each = random.binomial(cases, rate) / cases
    found, again = weighted_means(each, np.ones(examples), resamples(examples, 0))
    inside = naive = 0
    for mean_score, redrawn in zip(found.tolist(), again, strict=True):
        low, high = mean_interval(mean_score, redrawn, examples)
        inside += low <= truth <= high
        low, high = wilson(mean_score, examples * cases)
        naive += low <= truth <= high
    assert 0.90 < inside / studies < 0.98 and naive / studies < 0.6


@pytest.mark.parametrize("value", [0.0, 1.0, 0.25])
def test_examples_that_all_agree_still_have_an_interval(value: float, tmp_path: Path) -> None:
    found, again = weighted_means(np.full(30, value), np.ones(30), resamples(30, 0))
    low, high = mean_interval(float(found), again, 30)
    assert low <= value <= high and 0.05 < high - low < 0.4
    assert (low, high) == wilson(value, 30)
    trials = [Trial(at, d, g, value) for at in range(30) for d, g in ((-1, -1), (0, 0), (0, 0))]
    summary = summarise(table_of(tmp_path / "run", trials, 30, 1, 1), Protocol(("keyboard",), (0.5,)), of_labels(30))
    for interval in (
        summary["clean"]["score"]["interval"],
        summary["dimensions"]["keyboard"]["average"]["interval"],
        summary["dimensions"]["keyboard"]["degrees"][0]["worst"]["interval"],
        summary["overall"]["worst"]["interval"],
    ):
        assert interval == pytest.approx([low, high], abs=1e-6)


def test_intervals_are_seeded(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    trials = [Trial(at, d, g, float(random.random())) for at in range(20) for d, g in ((-1, -1), (0, 0))]
    table = table_of(tmp_path / "run", trials, 20, 1, 1)
    one, same, other = (
        summarise(table, Protocol(("keyboard",), (0.5,), seed=seed), of_tokens([3] * 20)) for seed in (1, 1, 2)
    )
    assert one == same
    assert one["overall"]["average"]["interval"] != other["overall"]["average"]["interval"]
    assert one["overall"]["average"]["value"] == other["overall"]["average"]["value"]


def test_attacks_are_ordered_by_harm(tmp_path: Path) -> None:
    trials = [Trial(at, score=1.0) for at in range(4)]
    trials += [Trial(at, d, 2, float(at > d * 2)) for at in range(4) for d in (0, 1)]
    trials += [Trial(at, d, g, 1.0) for at in range(4) for d in (0, 1) for g in (0, 1)]
    summary = summarise(table_of(tmp_path / "run", trials, 4, 2, 3), PROTOCOL, of_labels(4))
    assert summary["harm"] == [{"dimension": "segment", "left": 0.25}, {"dimension": "keyboard", "left": 0.75}]
    assert summary["dimensions"]["keyboard"]["degrees"][2]["relative"] == 0.75
    assert summary["dimensions"]["keyboard"]["by_validity"]["column"] == "typo-g"
    assert "by_validity" not in summary["dimensions"]["segment"]


# --- adaptive ---------------------------------------------------------------------------------------------------------


def test_cells_close_when_they_are_sure_or_when_only_more_examples_would_help(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    examples = 200
    cells = {
        (0, 0): lambda at: 1.0,  # always right: sure at once
        (0, 1): lambda at: float(random.random() < 0.5),  # a coin for every case: more of them help
        (0, 2): lambda at: float(at % 2),  # an example is always right or always wrong: they do not
    }
    trials = [Trial(at, d, g, score(at)) for (d, g), score in cells.items() for at in range(examples) for _ in range(4)]
    trials += [Trial(at, score=1.0) for at in range(examples)]
    table = table_of(tmp_path / "run", trials, examples, 2, 3)
    truth = of_labels(examples)

    def left(width: float, among: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return open_cells(table, Protocol(NAMES, DEGREES, cases=20, width=width), truth, among)

    assert left(0.04, list(cells)) == [(0, 1)]
    assert left(0.2, list(cells)) == [], "all are narrow enough"
    assert left(0.04, [(0, 0), (0, 2)]) == [], "a cell that was closed stays closed"
    assert left(0.01, list(cells)) == [(0, 1)]
    assert left(0.04, [(1, 0)]) == [], "a cell without cases"


def test_rounds() -> None:
    assert Protocol(cases=10).rounds == [10]
    assert Protocol(cases=10, width=0.1).rounds == [4, 8, 10]
    assert Protocol(cases=100, width=0.1).rounds == [4, 8, 16, 32, 64, 100]
    assert Protocol(cases=3, width=0.1).rounds == [3]


def test_an_adaptive_run_asks_for_a_beginning_of_the_full_one(tmp_path: Path) -> None:
    """The victim sees through what is invisible, so only the keyboard is worth more cases."""
    data = Dataset("made", "single", (TEXTS,), ("a", "b", "c") * 8, tuple(map(str, range(len(TEXTS)))))
    truth = Truth.of(data, ("a", "b", "c"), {})
    noisy = victim(3, "multi")

    def ask(column: Sequence[str], examples: object = None) -> Outputs:
        seen = ["".join(char for char in text if char.isascii()) for text in column]
        scores = np.nan_to_num(noisy(seen).answers)
        return Outputs.of(np.where(np.isin(seen, TEXTS)[:, None], np.array([0.9, 0.1, 0.1], np.float32), scores))

    runs: dict[str, list[list[tuple[Any, ...]]]] = {}
    for name, width in (("full", None), ("adaptive", 0.08)):
        protocol = Protocol(("keyboard", "invisible"), (0.3,), cases=16, width=width)
        table = evaluated(tmp_path / name, data, protocol, truth, ask).table()
        columns = [table[column].tolist() for column in ("dimension", "example", "reached", "distance", "score")]
        rows = sorted(zip(*columns, strict=True))
        runs[name] = [[row for row in rows if row[0] == dimension] for dimension in (-1, 0, 1)]
    assert runs["adaptive"][:2] == runs["full"][:2]
    assert len(runs["full"][2]) == 16 * len(TEXTS) and len(runs["adaptive"][2]) == 4 * len(TEXTS)
    left = list(runs["full"][2])
    for row in runs["adaptive"][2]:
        left.remove(row)  # each is among those of the full run


# --- truth ------------------------------------------------------------------------------------------------------------


def data_of(task: Task, targets: Sequence[Target], **rest: Any) -> Dataset:
    texts = tuple(("x",) * len(target) if task == "tokens" else "x" for target in targets)
    return Dataset("made", task, (texts,), tuple(targets), tuple(map(str, range(len(targets)))), **rest)


def test_truth_of_one_label() -> None:
    truth = Truth.of(data_of("single", ["pos", "neg", "pos"]), ("neg", "neutral", "pos"), {})
    assert truth.targets.tolist() == [2, 0, 2] and truth.labels == ("neg", "neutral", "pos")
    assert truth.chance == pytest.approx(1 / 3) and truth.majority == pytest.approx(2 / 3)
    assert truth.weight.tolist() == [1, 1, 1] and truth.take(np.array([1, 1])).targets.tolist() == [0, 0]
    score, problem = truth.score(Outputs.of(np.array([2, 2, -1]), ["", "", "unparsed: hm"]))
    assert score.tolist()[:2] == [1, 0] and math.isnan(score[2]) and problem.tolist() == ["", "", "unparsed: hm"]
    scores = np.array([[0.1, 0.2, 0.7], [0.4, 0.5, 0.1], [np.nan] * 3])
    assert truth.score(Outputs.of(scores, ["", "", "error"]))[0].tolist()[:2] == [1, 0]
    assert truth.score(Outputs.of(scores))[0].tolist() == [1, 0, 0], (
        "scores that are no numbers are no answer that is right"
    )
    mapped = Truth.of(data_of("single", ["good", "neg"]), ("neg", "pos"), {"good": "pos"})
    assert mapped.targets.tolist() == [1, 0]
    with pytest.raises(ValueError, match="good has no counterpart"):
        Truth.of(data_of("single", ["good", "neg"]), ("neg", "pos"), {})


def test_truth_of_label_sets() -> None:
    data = data_of("multi", [("insult", "threat"), (), ("insult",)])
    truth = Truth.of(data, ("threat", "insult", "obscene"), {})
    assert truth.targets.tolist() == [[True, True, False], [False, False, False], [False, True, False]]
    assert truth.chance == 1 / 8 and truth.majority == pytest.approx(1 / 3)
    sets = np.array([[True, True, False], [False, False, True], [False, True, False]])
    assert truth.score(Outputs.of(sets))[0].tolist() == [1, 0, 1]
    assert truth.score(Outputs.of(np.where(sets, 0.51, 0.5)))[0].tolist() == [1, 0, 1], "above one half"
    score, _ = truth.score(Outputs.of(np.where(sets, 0.9, np.nan), ["", "refused", ""]))
    assert math.isnan(score[1]) and score[0] == 1


def test_the_label_that_means_none_of_the_others() -> None:
    data = data_of("multi", [("insult", "threat"), (), ("insult",)])
    for none, given_none in (("benign", None), ("Non-Toxic", None), ("rest", "rest")):
        truth = Truth.of(data, ("threat", none, "insult"), {}, given_none)
        assert truth.targets[:, 1].tolist() == [False, True, False]
        assert truth.targets[:, [0, 2]].tolist() == [[True, True], [False, False], [False, True]]
    unknown = Truth.of(data, ("threat", "rest", "insult"), {})
    assert not unknown.targets[:, 1].any(), "an unknown spare label never holds"
    meant = Truth.of(data_of("multi", [("clean",), ("insult",), ()]), ("clean", "insult"), {})
    assert meant.targets.tolist() == [[True, False], [False, True], [False, False]], "the data has it as a label"
    with pytest.raises(ValueError, match=r"expected one of the model's labels for none \(threat, insult\), got 'ok'"):
        Truth.of(data, ("threat", "insult"), {}, "ok")


def test_truth_of_tags() -> None:
    truth = Truth.of(data_of("tokens", [("N", "V", "N", "N"), ("V",), ()]), ("V", "N"), {})
    assert [tags.tolist() for tags in truth.targets] == [[1, 0, 1, 1], [0], []]
    assert truth.weight.tolist() == [4, 1, 0] and truth.chance == 0.5 and truth.majority == 0.6
    answers = as_objects([np.array([1, 1, 1, -1]), np.array([0]), np.array([], np.int64)])
    assert truth.score(Outputs.of(answers))[0].tolist() == [0.5, 1, 1]
    short = as_objects([np.array([1, 1]), None, np.array([], np.int64)])
    score, problem = truth.score(Outputs.of(short, ["", "refused", ""]))
    assert problem.tolist() == ["unparsed: 2 tags for 4 tokens", "refused", ""] and np.isnan(score[:2]).all()


def test_truth_of_texts() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra scuff[translation]")
    truth = Truth.of(data_of("text", ["Hello world", "A dog"]), (), {})
    assert truth.labels == () and truth.chance == truth.majority == 0 and truth.weight.tolist() == [1, 1]
    score, _ = truth.score(Outputs.of(as_objects(["Hello word", None]), ["", "error: x"]))
    assert score[0] == pytest.approx(sacrebleu.sentence_chrf("Hello word", ["Hello world"]).score / 100)
    assert math.isnan(score[1])


@pytest.mark.parametrize("task", ["single", "multi", "tokens", "text"])
def test_nothing_but_failures(task: Task) -> None:
    """Then nothing tells what kind the answers would have been."""
    targets: dict[str, list[Target]] = {
        "single": ["a", "b", "a"], "multi": [("a",), (), ("b",)], "tokens": [("a",), (), ("b", "b")], "text": ["a", "b", "c"],
    }  # fmt: skip
    truth = Truth.of(data_of(task, targets[task]), ("a", "b"), {})
    score, problem = truth.score(Outputs.failed(3, "error: down"))
    assert np.isnan(score).all() and problem.tolist() == ["error: down"] * 3


# --- protocol ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"dimensions": ("keyboard", "keyboard")},
            "expected each dimension once, and at least one, got keyboard, keyboard",
        ),
        ({"dimensions": ("keyboard", "keyboard(layout='qwerty')")}, "expected each dimension once"),
        ({"dimensions": ()}, "expected each dimension once, and at least one, got none"),
        ({"dimensions": ("keybord",)}, "did you mean keyboard"),
        ({"dimensions": ("keyboard(speed=3)",)}, "for keyboard, got 'speed'"),
        ({"degrees": (0.1, 0.1)}, "expected each degree once"),
        ({"degrees": ()}, "expected each degree once, and at least one, got none"),
        ({"degrees": (0.0, 0.5)}, r"expected degrees in \(0, 1\], got 0.0, 0.5"),
        ({"degrees": (0.5, 1.1)}, r"expected degrees in \(0, 1\]"),
        ({"degrees": (math.nan,)}, r"expected degrees in \(0, 1\]"),
        ({"cases": 0}, "expected 1 or more cases, got 0"),
        ({"width": 0.0}, r"expected a number in \(0, 1\) for width"),
        ({"width": 1.0}, r"expected a number in \(0, 1\) for width"),
        ({"beta": 1.0}, r"expected a number in \[0, 1\) for beta"),
        ({"protect": ("ulrs",)}, "to protect, got 'ulrs'"),
    ],
)
def test_wrong_settings_are_told_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Protocol(**settings)


def test_a_protocol() -> None:
    protocol = Protocol(("keyboard", "keyboard@edits", "keyboard@level"), (0.6, 0.1), cases=5)
    assert protocol.degrees == (0.1, 0.6) and protocol.cells == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    ten = data_of("single", ["a"] * 10)
    assert protocol.queries(ten) == 10 * (1 + 6 * 5)
    assert [protocol.validity(at) for at in range(3)] == ["typo-g", "typo-m", None]
    assert protocol.asdict()["dimensions"] == list(protocol.dimensions)
    assert Protocol(**{k: tuple(v) if isinstance(v, list) else v for k, v in protocol.asdict().items()}) == protocol


@given(st.lists(st.integers(0, 60), max_size=300), st.integers(1, 90), st.integers(1, 500), st.booleans())
def test_blocks_hold_every_example_once(lengths: list[int], cells: int, cases: int, all_queries: bool) -> None:
    """A block is full, or has one example; queries that guide a search count where the run says so."""
    data = Dataset("d", "single", (tuple("w " * n for n in lengths),), ("a",) * len(lengths), tuple(map(str, lengths)))
    protocol = Protocol(("keyboard@score",), all_queries=all_queries)
    blocks = protocol.blocks(data, cells, cases)
    assert [at for block, _ in blocks for at in block] == list(range(len(lengths)))
    need = protocol.probes(data) + cells * cases
    size = need if all_queries else np.full(len(lengths), cells * cases)
    for (block, queries), following in zip(blocks, [*blocks[1:], None], strict=False):
        assert queries == pytest.approx(need[block.start : block.stop].sum())
        assert size[block.start : block.stop].sum() <= 30_000 or len(block) == 1
        if following:
            assert len(block) == 256 or size[block.start : block.stop + 1].sum() > 30_000


def test_a_guided_run_has_many_blocks() -> None:
    """Ten cases of a text are few, but the queries that guide them are thousands: they decide the size of a block."""
    data = Dataset("d", "single", (("a word in ten letters " * 20,) * 40,), ("a",) * 40, tuple(map(str, range(40))))
    old, new = (Protocol(("typo-m@score",), (0.1,), all_queries=each, at_once=4000) for each in (False, True))
    assert len(old.blocks(data, 1, 10)) == 1 and len(new.blocks(data, 1, 10)) == 20


def test_what_does_not_suit_the_data_is_refused() -> None:
    tagged, plain = data_of("tokens", [("N",)]), data_of("single", ["a"])
    Protocol(("keyboard",)).usable(tagged)
    Protocol(("segment",)).usable(plain)
    with pytest.raises(
        ValueError,
        match=r"expected perturbations that keep each token for tagging data, got segment, segment\+keyboard",
    ):
        Protocol(("keyboard", "segment", "segment+keyboard")).usable(tagged)
    for sides in ((1,), (), (0, 2)):
        with pytest.raises(ValueError, match="expected sides among the 1 columns of the data"):
            Protocol(sides=sides).usable(plain)


def test_the_resampled_auc_is_that_of_a_real_bootstrap() -> None:
    """To the first order only, so the interval is compared with one of 400 real resamples of all cases, by scikit-learn."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(5)
    examples, cases = 120, 4
    targets = random.random((examples, 2)) < 0.4
    ease = targets + random.normal(0, 0.8, targets.shape)
    example = np.repeat(np.arange(examples), cases)
    scores = ease[example] + random.normal(0, 0.5, (examples * cases, 2))
    rows = Auc().example_rows(scores, targets[example], ("a", "b"), example, examples)
    value, again = Auc().estimate(rows, resamples(examples, 0))
    assert value == pytest.approx(metrics.roc_auc_score(targets[example], scores, average="macro"))
    real = []
    for _ in range(400):
        rows = (random.integers(0, examples, examples)[:, None] * cases + np.arange(cases)).ravel()
        real.append(metrics.roc_auc_score(targets[example[rows]], scores[rows], average="macro"))
    assert np.quantile(again, [0.025, 0.975]) == pytest.approx(np.quantile(real, [0.025, 0.975]), abs=0.02)
