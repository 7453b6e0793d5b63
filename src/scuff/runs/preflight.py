"""Before a run: two examples, the clean score, the costs. A wrong label order or column shows here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.dataset import TASK_WORDS
from ..metrics.interval import wilson
from ..victims.base import OTHER
from .display import in_words, said, visible
from .folder import BadRun
from .setup import Setup

Say = Callable[[str], None]

TUNING = 200_000  # characters: enough for batches of every size

WORTH = 0.05  # of all queries may be spent on finding that size


def silent(message: str) -> None:
    """Says nothing."""


def look(session: Setup, say: Say, queries: int) -> float:
    """Two examples and the clean score. Gives the seconds that the model takes for a text. queries: about how many will come."""
    data = session.data
    two = data.take(range(min(2, len(data))))
    answers = session.query(*two.columns)
    bad = [reason for reason in answers.problem.tolist() if reason.startswith("error")]
    if len(bad) == len(two):
        raise BadRun(f"{session.victim.name}: expected answers to two examples, got {bad[0]}")
    known = [label for label in session.truth.labels if label != OTHER]
    labels = f": {', '.join(known)}" if known else ""
    say(f"model   {session.victim.name} ({TASK_WORDS[data.task]}{labels}; {session.victim.access.name.lower()} access)")
    sampled = (
        f", a sample of {len(data):,} in the shares of their labels (seed {session.config.seed})"
        if len(data) < session.total
        else ""
    )
    say(f"data    {data.name}: {session.total:,} examples{sampled}{_reasons('; left out: ', data.skipped)}")
    for row in range(len(two)):
        text = " / ".join(_short(column[row]) for column in two.columns)
        answer = answers.problem[row] or in_words(said(answers.answers[row], session.truth), scores=True) or "no label"
        say(f"        {text}\n          expected {_short(data.targets[row]) or 'no label'}, answered {_short(answer)}")
    outputs = session.query(*data.columns)
    score, problem = session.truth.score(outputs)
    misread = [reason for reason in problem.tolist() if reason.startswith("error: BadAnswer: ")]
    if misread:  # a model whose answers we do not understand is no model that fails now and then
        raise BadRun(misread[0].removeprefix("error: BadAnswer: "))
    got = np.isfinite(score)
    clean = float(np.average(score[got], weights=session.truth.weight[got])) if got.any() else float("nan")
    low, high = wilson(clean, int(got.sum()))
    sure = f" [{low:.3f}, {high:.3f}]" if data.task in ("single", "multi") else ""
    lost = f", {int((~got).sum())} without an answer" if not got.all() else ""
    say(f"clean   {clean:.3f}{sure} on {int(got.sum()):,} examples{lost}; guessing gives {session.truth.chance:.3f}")
    if not got.any():
        raise BadRun(f"{session.victim.name}: expected answers, got none: {problem[0]}")
    strange = session.victim.strange
    if clean == 0 and strange:
        raise BadRun(
            f"{session.victim.name}: expected the labels of the data ({', '.join(session.data.labels)}), got others, such as "
            f"{strange!r:.80}: map them with --map DATA=MODEL, or name the model's with --labels"
        )
    if len(data.labels) == 1 and data.task == "single":
        say(f"WARNING all examples have the label {data.labels[0]}: a model that always says so has a perfect score")
    elif clean <= session.truth.chance or (data.task == "single" and clean <= session.truth.majority):
        say(
            f"WARNING the clean score is no better than guessing ({session.truth.chance:.3f}) or always giving the most "
            f"frequent label ({session.truth.majority:.3f}): are labels and columns right?"
        )
    _tune(session, queries)
    return session.query.seconds / max(session.query.asked, 1)


def _tune(session: Setup, queries: int) -> None:
    """Let a victim that looks for its best batch size find it now, so that all batches of the run are alike. Where trying would
    take longer than it could save, the usual one is taken.
    """
    if session.victim.batch_tokens is None:
        size = sum(len(part) for column in session.data.columns for text in column for part in text)
        times = min(64, 1 + TUNING // max(size, 1))
        if times * len(session.data) < WORTH * queries:
            session.victim(*(list(column) * times for column in session.data.columns))
        session.victim.settle()


def _short(value: Any, most: int = 70) -> str:
    text = value if isinstance(value, str) else " ".join(value) if isinstance(value, tuple) else str(value)
    text = visible(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 1] + "…"


def _reasons(lead: str, found: dict[str, Any]) -> str:
    return lead + ", ".join(f"{name} ({why})" for name, why in found.items()) if found else ""


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
