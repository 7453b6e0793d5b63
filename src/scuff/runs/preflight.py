"""The pre-flight of a run: shows two examples and the clean score, in which wrong labels or columns show, and the costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.dataset import TASK_WORDS
from ..metrics.interval import wilson
from ..specs import some
from ..victims.base import OTHER
from .display import in_words, said, visible
from .folder import BadRun
from .setup import Say, Setup


def look(setup: Setup, say: Say, queries: int) -> float:
    """Says what the model answers to two examples, and the clean score. Returns the seconds that the model takes for a text.

    queries: about how many the run will need; decides whether to look for the best batch size. Raises BadRun if the model
    answers nothing, or answers that cannot be read.
    """
    data = setup.data
    two = data.take(range(min(2, len(data))))
    answers = setup.query(*two.columns)
    bad = [reason for reason in answers.problem.tolist() if reason.startswith("error")]
    if len(bad) == len(two):
        raise BadRun(f"{setup.victim.name}: expected answers to two examples, got {bad[0]}")
    known = [label for label in setup.truth.labels if label != OTHER]
    labels = f": {some(known)}" if known else ""
    say(f"model   {setup.victim.name} ({TASK_WORDS[data.task]}{labels}; {setup.victim.access.name.lower()} access)")
    sampled = (
        f", a sample of {len(data):,} in the shares of their labels (seed {setup.settings.seed})"
        if len(data) < setup.total
        else ""
    )
    empty = f"; {data.empty:,} with an empty text, which is asked as it is and cannot change" if data.empty else ""
    say(f"data    {data.name}: {setup.total:,} examples{sampled}{in_brackets('; left out: ', data.skipped)}{empty}")
    for row in range(len(two)):
        text = " / ".join(_short(column[row]) for column in two.columns)
        answer = answers.problem[row] or in_words(said(answers.answers[row], setup.truth), scores=True) or "no label"
        say(f"        {text}\n          expected {_short(data.targets[row]) or 'no label'}, answered {_short(answer)}")
    outputs = setup.query(*data.columns)
    score, problem = setup.truth.score(outputs)
    misread = [reason for reason in problem.tolist() if reason.startswith("error: BadAnswer: ")]
    if misread:  # unlike an error that occurs now and then, this would happen for every text
        raise BadRun(misread[0].removeprefix("error: BadAnswer: "))
    got = np.isfinite(score)
    clean = float(np.average(score[got], weights=setup.truth.weight[got])) if got.any() else float("nan")
    low, high = wilson(clean, int(got.sum()))
    sure = f" [{low:.3f}, {high:.3f}]" if data.task in ("single", "multi") else ""
    lost = f", {int((~got).sum())} without an answer" if not got.all() else ""
    say(f"clean   {clean:.3f}{sure} on {int(got.sum()):,} examples{lost}; guessing gives {setup.truth.chance:.3f}")
    if not got.any():
        raise BadRun(f"{setup.victim.name}: expected answers, got none: {problem[0]}")
    strange = setup.victim.strange
    if clean == 0 and strange:
        raise BadRun(
            f"{setup.victim.name}: expected the labels of the data ({some(setup.data.labels)}), got others, such as "
            f"{strange!r:.80}: map them with --map DATA=MODEL, or name the model's with --labels"
        )
    if len(data.labels) == 1 and data.task == "single":
        say(f"WARNING all examples have the label {data.labels[0]}: a model that always says so has a perfect score")
    elif clean <= setup.truth.chance or (data.task == "single" and clean <= setup.truth.majority):
        say(
            f"WARNING the clean score is no better than guessing ({setup.truth.chance:.3f}) or always giving the most "
            f"frequent label ({setup.truth.majority:.3f}): are labels and columns right?"
        )
    _tune(setup, queries)
    return setup.query.seconds / max(setup.query.asked, 1)


TUNING = 200_000  # characters: enough to try batches of every size
WORTH = 0.05  # of all queries may be spent on that


def _tune(setup: Setup, queries: int) -> None:
    """Lets a victim that chooses its own batch size find the best one now, so that all batches of the run have the same size.

    Takes the default size if trying would cost more than WORTH of all queries.
    """
    if setup.victim.batch_tokens is None:
        size = sum(len(part) for column in setup.data.columns for text in column for part in text)
        times = min(64, 1 + TUNING // max(size, 1))
        if times * len(setup.data) < WORTH * queries:
            setup.victim(*(list(column) * times for column in setup.data.columns))
        setup.victim.settle()


def _short(value: Any, most: int = 70) -> str:
    text = value if isinstance(value, str) else " ".join(value) if isinstance(value, tuple) else str(value)
    text = visible(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 1] + "…"


def in_brackets(lead: str, reasons: dict[str, Any]) -> str:
    """Returns names, each with its reason or count in brackets, after a lead; "" if there are none."""
    return lead + ", ".join(f"{name} ({why})" for name, why in reasons.items()) if reasons else ""


def duration(seconds: float) -> str:
    """Returns a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
