"""The pre-flight of a run: shows two examples and the clean score, in which wrong labels or columns show; times the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.dataset import TASK_WORDS, Dataset
from ..metrics.interval import wilson
from ..specs import some
from ..text.ragged import Ints
from ..victims.base import OTHER
from ..victims.shielded import unshielded
from .display import in_words, said, visible
from .folder import BadRun, NoAnswers
from .progress import Forecast, duration
from .setup import Say, Setup

START = 3.0  # seconds in which worker processes start
LARGE = 0.1  # a part that takes more than this share of a run is named


def look(setup: Setup, say: Say) -> float:
    """Says what the model answers to two examples, and the clean score. Returns the seconds that the model takes for a text.

    The first two examples do not count in that: a model may load or compile something at its first call. Raises BadRun if the
    model answers nothing, or answers that cannot be read.
    """
    data = setup.data
    two = data.take(range(min(2, len(data))))
    answers = setup.query(*two.columns)
    bad = [reason for reason in answers.problem.tolist() if reason.startswith("error")]
    if len(bad) == len(two):
        failed = NoAnswers if setup.victim.paid else BadRun  # an endpoint may answer later
        raise failed(f"{setup.victim.name}: expected answers to two examples, got {bad[0]}")
    known = [label for label in setup.truth.labels if label != OTHER]
    labels = f": {some(map(visible, known))}" if known else ""
    say(f"model   {setup.victim.name} ({TASK_WORDS[data.task]}{labels}; {setup.victim.access.name.lower()} access)")
    sampled = (
        f", a sample of {len(data):,} {setup.sampling} (seed {setup.settings.seed})" if len(data) < setup.total else ""
    )
    empty = f"; {data.empty:,} with an empty text, which is asked as it is and cannot change" if data.empty else ""
    mended = f"; the shield changes {setup.shield['mended']:,} of {len(data):,} clean" if setup.shield else ""
    left_out = in_brackets("; left out: ", data.skipped)
    say(f"data    {data.name}: {setup.total:,} examples{sampled}{left_out}{empty}{mended}")
    nothing = "nothing" if data.task == "text" else "no label"
    for row in range(len(two)):
        text = " / ".join(_short(column[row]) for column in two.columns)
        answer = answers.problem[row] or in_words(said(answers.answers[row], setup.truth), scores=True) or nothing
        say(f"        {text}\n          expected {_short(data.targets[row]) or nothing}, answered {_short(answer)}")
    meter = setup.query
    asked, seconds = meter.asked, meter.seconds
    outputs = meter(*data.columns)
    if meter.asked > asked:
        asked, seconds = meter.asked - asked, meter.seconds - seconds
    score, problem = setup.truth.score(outputs)
    misread = [reason for reason in problem.tolist() if reason.startswith("error: BadAnswer: ")]
    if misread:  # unlike an error that occurs now and then, this would happen for every text
        raise BadRun(misread[0].removeprefix("error: BadAnswer: "))
    answered = np.isfinite(score)
    got = answered & data.referenced if setup.bare and data.referenced.any() else answered
    clean = float(np.average(score[got], weights=setup.truth.weight[got])) if got.any() else float("nan")
    low, high = wilson(clean, int(got.sum()))
    sure = f" [{100 * low:.1f}, {100 * high:.1f}]" if data.task in ("single", "multi") else ""
    lost = f", {int((~answered).sum())} without an answer" if not answered.all() else ""
    if unscored := int((answered & ~got).sum()):
        lost += f", {unscored} without a reference"
    chance, majority = 100 * setup.truth.chance, 100 * setup.truth.majority
    bare = not data.referenced.any()
    shown = "not known, since there are no references," if bare else f"{100 * clean:.1f} %{sure}"
    say(f"clean   {shown} on {int(got.sum()):,} examples{lost}; guessing gives {chance:.1f} %")
    if not got.any():
        raise BadRun(f"{setup.victim.name}: expected answers, got none: {problem[0]}")
    strange = setup.victim.strange
    if clean == 0 and strange:
        raise BadRun(
            f"{setup.victim.name}: expected the labels of the data ({some(map(visible, setup.data.labels))}), got others, "
            f"such as {strange!r:.80}: map them with --map DATA=MODEL, or name the model's with --labels"
        )
    if len(data.labels) == 1 and data.task == "single":
        say(
            f"WARNING all examples have the label {visible(data.labels[0])}: a model that always says so has a perfect score"
        )
    elif data.task == "text":
        if clean == 0 and not bare:
            say("WARNING the model's texts have nothing in common with the references: are the columns right?")
    elif clean <= setup.truth.chance or (data.task == "single" and clean <= setup.truth.majority < 1):
        say(
            f"WARNING the clean score is no better than guessing ({chance:.1f} %) or always giving the most "
            f"frequent label ({majority:.1f} %): are labels and columns right?"
        )
    idle = min(1.0, asked / setup.victim.in_flight)  # the share of what is asked at once in the run
    return seconds / max(asked, 1) * idle


TUNING = 200_000  # characters: enough to try batches of every size
WORTH = 0.05  # of all queries may be spent on that, or on timing the model
LEAST, MOST, LONG = 16, 2048, 1.0  # rows of the batch that is timed, and its seconds, about


def seconds_per_text(setup: Setup, columns: Sequence[Sequence[Any]], about: float, queries: float) -> float:
    """Returns the seconds that the model takes for one of these texts in a full batch, when it is warm.

    about: a first guess. It is returned as it is if the model is paid for, if a batch would take too long, or if it would be more
    than WORTH of the run's queries.
    """
    victim, rows = setup.victim, len(columns[0]) if columns else 0  # with its shield, which takes time, too
    size = int(min(MOST, LONG / max(about, 1e-9), WORTH * queries))
    if victim.paid or size < LEAST or not rows:
        return about
    unknown = victim.batch_tokens is None
    if unknown:  # the usual size: sizes are tried only if the run really starts
        victim.settle()
    times = -(-size // rows)
    batch = [(list(column) * times)[:size] for column in columns]
    warm = size // 3  # the first rows are not timed: memory is allocated for them
    try:
        victim(*(column[:warm] for column in batch))
        begin = time.perf_counter()
        victim(*(column[warm:] for column in batch))
    except Exception:  # a text that makes the model fail: `Query` isolates it in the run
        return about
    finally:
        if unknown:
            victim.batch_tokens = None
    return (time.perf_counter() - begin) / (size - warm)


def lengths(data: Dataset) -> Ints:
    """Returns the length of each example, in letters or, for tagging data, tokens."""
    return np.array([sum(map(len, texts)) for texts in zip(*data.columns, strict=True)], np.int64)


def at_the_same_time(setup: Setup) -> int:
    """Returns how many processes ask the model at the same time. A network uses all cores anyway, so there it counts as one."""
    return setup.engine.workers if setup.reopens and setup.victim.batch_tokens == 0 else 1


def tune(setup: Setup, queries: int) -> None:
    """Lets a victim that chooses its own batch size find the best one now, so that all batches of the run have the same size.

    Takes the default size if trying would cost more than WORTH of the run's queries.
    """
    if setup.victim.batch_tokens is None:
        size = sum(len(part) for column in setup.data.columns for text in column for part in text)
        times = min(64, 1 + TUNING // max(size, 1))
        if times * len(setup.data) < WORTH * queries:
            unshielded(setup.victim)(*(list(column) * times for column in setup.data.columns))  # a shield drops copies
        setup.victim.settle()


def _short(value: Any, most: int = 70) -> str:
    text = value if isinstance(value, str) else " ".join(value) if isinstance(value, tuple) else str(value)
    text = visible(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 1] + "…"


def in_brackets(lead: str, reasons: dict[str, Any]) -> str:
    """Returns names, each with its reason or count in brackets, after a lead; "" if there are none."""
    return lead + ", ".join(f"{name} ({why})" for name, why in reasons.items()) if reasons else ""


def costs(forecast: Forecast) -> str:
    """Returns how long a run takes, about, and which parts take most of that."""
    parts = sorted(forecast.seconds.items(), key=lambda part: -part[1])
    large = [f"{name} {duration(seconds)}" for name, seconds in parts if seconds > max(1.0, LARGE * forecast.total)]
    return f"about {duration(forecast.total)}" + (f" ({', '.join(large[:4])})" if large else "")
