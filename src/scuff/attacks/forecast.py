"""Forecasts the costs of an attack: attacks a few examples in the pre-flight. Their answers are kept, so the run asks less."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..runs.preflight import seconds_per_text
from ..runs.progress import Forecast
from ..text.ragged import Ints
from .campaign import USUAL, AttackedBlock, Campaign

if TYPE_CHECKING:
    from .setup import AttackSetup

GROUPS = (1, 2, 4, 8)  # examples that are attacked together; the first is not timed, since parts may load something
LONG, LONGEST = 2.0, 15.0  # seconds after which no other group begins, and after which a search is stopped
SUMMARY = 0.4  # seconds to compute and write the results
START = 3.0  # seconds in which a worker process starts


def forecast_attack(setup: AttackSetup, campaign: Campaign, each: float) -> Forecast:
    """Returns queries and seconds of an attack, from after the pre-flight to its report. each: seconds of a clean text."""
    limits, data = setup.limits, setup.data
    clean = setup.query(*data.columns)  # known since the pre-flight
    block = AttackedBlock(campaign, np.arange(len(data)), clean)
    attacked = block.attacked
    workers = max(1, setup.settings.workers)
    most = limits.max_queries or USUAL
    if not attacked.size:
        return Forecast(0, {"the report": SUMMARY}, 0.0)
    if setup.victim.paid:
        queries = attacked.size * min(USUAL, most)
        return Forecast(queries, {"the model": each * queries, "the report": SUMMARY}, attacked.size / len(data))
    per_example, beside = _pilot(setup, campaign, block, attacked)
    queries = round(per_example * attacked.size)
    share = 1 if setup.victim.batch_tokens != 0 else workers if setup.reopens else 1  # a network uses all cores anyway
    model = seconds_per_text(setup, data.columns, each) * queries / share
    search = beside * attacked.size / (workers if setup.reopens else 1)
    seconds = {"the model": model, "search and constraints": search, "the report": SUMMARY + START * (workers > 1)}
    return Forecast(queries, seconds, queries / (USUAL * len(data)))


def _pilot(setup: AttackSetup, campaign: Campaign, block: AttackedBlock, attacked: Ints) -> tuple[float, float]:
    """Attacks a few examples. Returns, for an example, its queries, and the seconds that are not the model's."""
    length = np.array([sum(len(column[at]) for column in setup.data.columns) for at in attacked.tolist()])
    order = attacked[np.argsort(length, kind="stable")]
    places = np.unique((order.size * _spread_out(sum(GROUPS))).astype(np.int64), return_index=True)
    rows = order[places[0][np.argsort(places[1])]]
    begin, at = time.monotonic(), 0
    pilot = replace(campaign, ask=setup.query, late=lambda: time.monotonic() - begin > LONGEST, live=None)
    done, queries, seconds = 0, 0, 0.0
    for group in GROUPS:
        chosen = np.sort(rows[at : at + group])
        at += group
        if not chosen.size or (done and time.monotonic() - begin > LONG):
            break
        before, inside = time.monotonic(), setup.query.seconds
        part = AttackedBlock(pilot, chosen, block.clean)
        spent = part.part()["queries"][part.attacked]
        if group > 1 or rows.size == 1:
            done += chosen.size
            queries += int(spent.sum())
            seconds += max(0.0, time.monotonic() - before - (setup.query.seconds - inside))
    return queries / max(1, done), seconds / max(1, done)


def _spread_out(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns numbers in [0, 1) of which the first few are spread out, and all together, too (van der Corput)."""
    return np.array([int(f"{at:b}"[::-1], 2) / (1 << at.bit_length()) for at in range(1, count + 1)])
