"""How far a run is, and how that is shown."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.runs import progress as module
from scuff.runs.progress import Bar, Forecast, Progress, duration, line
from scuff.runs.trials import Job


class Clock:
    """The time, as a test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def begun(queries: list[float], forecast: Forecast) -> tuple[Progress, list[Job]]:
    jobs = [Job(f"job{at}", range(1), queries=each) for at, each in enumerate(queries)]
    progress = Progress(forecast)
    progress.add_jobs(jobs)
    return progress, jobs


def test_the_forecast_is_corrected_by_what_jobs_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs need a fifth of the most that they may need, where a half was expected; the speed is half of what was expected."""
    clock = Clock(monkeypatch)
    progress, jobs = begun([1000] * 10, Forecast(5000, {"the model": 50.0}, 0.5))
    assert progress.expected == 5000 and progress.seconds_left == 50
    for at, job in enumerate(jobs[:5], 1):
        clock.now += 4
        progress.answered(200)
        progress.step(job)
        assert progress.queries == 200 * at and progress.rate == pytest.approx(50)
    assert progress.expected == round((0.5 * 1000 + 1000) / (1000 + 5000) * 10_000)  # a tenth of all jobs as expected
    clock.now += 4
    for job in jobs[5:]:
        progress.answered(200)
        progress.step(job)
    assert progress.finished and progress.expected == progress.queries == 2000 and progress.seconds_left == 0


def test_the_time_left_is_that_of_the_forecast_at_first_and_of_the_speed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    progress, _ = begun([1000], Forecast(1000, {"the model": 10.0}))
    clock.now += 30  # tables are loaded; nothing is answered yet
    assert progress.seconds_left == 10
    progress.answered(500)
    assert progress.seconds_left == pytest.approx(30)


def test_more_queries_than_expected_never_give_more_than_all() -> None:
    progress, _ = begun([10], Forecast(10))
    progress.answered(50)
    assert progress.share < 1 and progress.expected == 51 and " 98%" in line(progress, bar=True)


def test_no_time_is_made_up_once_more_was_asked_than_expected() -> None:
    """99 %, one second left, would be said for as long as the rest takes."""
    progress, jobs = begun([10], Forecast(10, {"the model": 1.0}))
    progress.answered(9)
    assert " left" in line(progress, bar=False)
    progress.answered(50)
    for bar in (False, True):
        shown = line(progress, bar)
        assert "59 queries, more than expected" in shown and "left" not in shown
    progress.step(jobs[0])
    assert not progress.beyond


def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), Terminal()
    bar = Bar(out)
    progress, jobs = begun([1000], Forecast(1000, {"the model": 10.0}))
    progress.show = bar
    progress.answered(100)
    assert not out.getvalue(), "not more often than five times a second"
    clock.now += 5
    progress.answered(150)
    assert out.getvalue().endswith("\r 25% [######------------------] 250 of about 1,000 queries, 50/s, 15 s left")
    bar.clear()
    assert out.getvalue().endswith(" \r"), "the line is empty"
    clock.now += 5
    progress.answered(750)
    progress.step(jobs[0])
    assert out.getvalue().split("\r")[-1] == "" and "\n" not in out.getvalue()


def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    progress, _ = begun([1000], Forecast(1000, {"the model": 100.0}))
    progress.show = Bar(out)
    for _ in range(100):
        clock.now += 1
        progress.answered(10)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3 and lines[0] == "30% 300 of about 1,000 queries, 10/s, 70 s left"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.1, "1 s"), (89, "89 s"), (120, "2 min"), (5399, "90 min"), (7200, "2.0 h")]
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_progress_inside_a_block_and_in_workers(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of one block shows its queries while they are answered; so does one with workers, whose answers are counted."""
    seen: list[tuple[int, int, int]] = []

    def show(progress: Progress) -> None:
        seen.append((progress.done, progress.total, progress.queries))

    settings: Any = {"dimensions": ["keyboard"], "degrees": [0.5], "cases": 9, "examples": 40}
    model = scuff.evaluate(
        lambda texts: np.zeros(len(texts), int), "toy:sentiment", labels=["negative", "positive"], show=show, **settings
    )
    inside = [queries for done, total, queries in seen if total == 1 and done == 0]
    assert len(inside) >= 2 and max(inside) == seen[-1][2] > model.summary["queries"]["cases"] * 0.9


def test_a_bar_in_a_notebook_and_for_those_who_want_one(capsys: pytest.CaptureFixture[str]) -> None:
    run: Any = {"dimensions": ["keyboard"], "degrees": [0.5], "cases": 1, "examples": 10}
    scuff.evaluate("toy:sentiment", "toy:sentiment", **run)
    assert not capsys.readouterr().err
    out = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    assert Bar(out).moves and not Bar(io.StringIO()).moves
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", out)
        patch.setattr(module, "OFTEN", 0.0)
        scuff.evaluate("toy:sentiment", "toy:sentiment", **run)
    assert re.search(r"\[#*-*\] \d+ of about \d+ queries", out.getvalue())
