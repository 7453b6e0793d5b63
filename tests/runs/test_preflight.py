"""Before a run: what the pre-flight asks of a victim, and what it says of costs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from scuff.api import dry_run
from scuff.attacks.setup import AttackSetup
from scuff.evaluation.setup import EvaluationSetup
from scuff.runs.preflight import START, costs, look, seconds_per_text, tune
from scuff.runs.progress import Forecast
from scuff.runs.run import start_run
from scuff.victims.base import Access, Column, Outputs, Victim


class Unsettled(Victim):
    """Batches by tokens, of a size that is not known yet; remembers how many rows each call had."""

    name, task, labels, batch_tokens = "unsettled", "single", ("a", "b"), None

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, *columns: Column) -> Outputs:
        self.calls.append(len(columns[0]))
        return Outputs.of(np.zeros(len(columns[0]), np.int64))

    def settle(self) -> None:
        self.batch_tokens = 1000


def opened(victim: Victim, data: list[tuple[str, str]]) -> EvaluationSetup:
    return EvaluationSetup.open(victim, data, {"dimensions": ["truncate"], "degrees": [0.5]})


@pytest.mark.parametrize(("queries", "tried"), [(40, False), (41, True)])
def test_a_batch_size_is_looked_for_if_that_takes_less_than_a_twentieth_of_the_queries(
    queries: int, tried: bool
) -> None:
    """Looking for the size asks each long text once more."""
    data = [(f"{word} " * 20_001, label) for word, label in (("tree", "a"), ("lake", "b"))]  # TUNING characters in all
    victim = Unsettled()
    setup = opened(victim, data)
    victim.calls.clear()
    tune(setup, queries)
    assert victim.batch_tokens == 1000 and victim.calls == [2] * tried


def test_short_texts_are_repeated_until_they_fill_batches_of_every_size() -> None:
    victim = Unsettled()
    data = [("word " * 2_000 + str(at), "ab"[at % 2]) for at in range(4)]  # 40,004 characters
    tune(opened(victim, data), 1000)
    assert victim.calls[-1] == 4 * 5


def test_a_dry_run_looks_for_no_batch_size() -> None:
    victim = Unsettled()
    dry_run(
        victim, [("some words", "a"), ("other words", "b")], dimensions=["truncate"], cases=100, say=lambda line: None
    )
    assert victim.batch_tokens is None


class Slow(Victim):
    """Takes its time at its first call, then a millisecond for a text and five for a call; remembers what it was asked."""

    name, task, labels, access = "slow", "single", ("negative", "positive"), Access.SCORE

    def __init__(self, loading: float = 0.0) -> None:
        self.loading, self.asked, self.seconds = loading, 0, 0.0

    def __call__(self, *columns: Column) -> Outputs:
        time.sleep(self.loading)
        self.loading = 0.0
        time.sleep(0.005 + 0.001 * len(columns[0]))
        self.asked += len(columns[0])
        return Outputs.of(np.tile([0.4, 0.6], (len(columns[0]), 1)))


def test_loading_is_not_time_of_a_text_and_a_batch_is_full() -> None:
    setup = EvaluationSetup.open(Slow(), "toy:sentiment", {"dimensions": ["truncate"], "examples": 20})
    setup.victim.loading = 1.0  # type: ignore[attr-defined]
    setup.query.forget()
    each = look(setup, lambda line: None)
    assert each < 0.01
    assert seconds_per_text(setup, setup.data.columns, each, 20_000) == pytest.approx(0.001, rel=0.3)


def forecast_and_asked(setup: EvaluationSetup | AttackSetup) -> tuple[int, int]:
    """Returns the queries that were forecast, and those of the run."""
    forecast = setup.forecast(lambda line: None, setup.preflight(lambda line: None))
    before = setup.query.queries
    start_run(setup, None, lambda folder, summary: summary)
    return forecast.queries, setup.query.queries - before


@pytest.mark.parametrize(
    "settings",
    [
        {"dimensions": ["keyboard", "truncate"]},
        {"dimensions": ["keyboard", "intrude"], "access": ["score"], "cases": 2},
        {"dimensions": ["typo-m"], "access": ["rule", "score"], "cases": 5},
        {"dimensions": ["phonetic-g", "inflection", "segment"], "cases": 15},
    ],
)
def test_queries_of_an_evaluation_are_forecast(settings: Any) -> None:
    """Short texts have fewer cases than are wanted, and the same ones at several degrees: less is asked than the most."""
    forecast, asked = forecast_and_asked(
        EvaluationSetup.open("toy:sentiment", "toy:sentiment", {"examples": 60, **settings})
    )
    assert forecast / 1.35 < asked < forecast * 1.35


def test_queries_of_an_attack_are_forecast() -> None:
    settings = {"recipe": "deepwordbug", "examples": 100, "encoder": "chrf"}
    forecast, asked = forecast_and_asked(AttackSetup.open("toy:sentiment", "toy:sentiment", settings))
    assert forecast / 1.5 < asked < forecast * 1.5


def test_a_model_that_is_paid_for_is_not_asked_for_the_forecast() -> None:
    for kind, more in ((EvaluationSetup, {"dimensions": ["truncate"]}), (AttackSetup, {"recipe": "pwws"})):
        victim = Slow()
        victim.paid = True
        setup = kind.open(victim, "toy:sentiment", {"examples": 10, **more})
        each, asked = setup.preflight(lambda line: None), victim.asked
        assert setup.forecast(lambda line: None, each).queries > 0 and victim.asked == asked


def test_starting_workers_is_no_part_of_the_report() -> None:
    for kind, more in ((EvaluationSetup, {"dimensions": ["truncate"]}), (AttackSetup, {"recipe": "deepwordbug"})):
        setup = kind.open("toy:sentiment", "toy:sentiment", {"examples": 10, "workers": 2, "encoder": "chrf", **more})
        seconds = setup.forecast(lambda line: None, setup.preflight(lambda line: None)).seconds
        assert seconds["starting workers"] == START and seconds["the report"] < 1


def test_the_parts_that_cost_most_are_named() -> None:
    forecast = Forecast(10, {"the model": 60.0, "distraction": 200.0, "keyboard": 0.5, "the report": 2.0})
    assert costs(forecast) == "about 4 min (distraction 3 min, the model 60 s)"


def test_a_score_that_guessing_reaches_is_warned_of() -> None:
    """One of four label sets is right, as it is where each of two labels is guessed."""
    said: list[str] = []
    data = [("one", ["x"]), ("two", ["y"]), ("three", ["x", "y"]), ("four", ["x"])]
    answers = {"one": ["x"]}
    dry_run(
        lambda texts: [answers.get(text, ["x", "y"] if text != "three" else []) for text in texts], data,
        dimensions=["keyboard"], degrees=[0.5], cases=1, task="multi", labels=["x", "y"], say=said.append,
    )  # fmt: skip
    assert any(line.startswith("clean   25.0 % [") and line.endswith("guessing gives 25.0 %") for line in said)
    assert any(line.startswith("WARNING the clean score is no better than guessing (25.0 %)") for line in said)
