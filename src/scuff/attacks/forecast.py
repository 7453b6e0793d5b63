"""Forecasts the costs of an attack: attacks a few examples as the run will, counts their queries, takes the time."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..runs.preflight import START, at_the_same_time, lengths, seconds_per_text
from ..runs.progress import Forecast
from ..runs.setup import Setup
from ..text.ragged import Ints
from ..victims.query import Query
from .campaign import USUAL, AttackedBlock, Campaign

# examples that are attacked together; the first group is not timed, since parts may load something
GROUPS = (1, 2, 4, 8, 16, 32, 64)
LEAST, SHARE = 3, 5  # at least so many are attacked, at most one in so many
LONG, LONGEST = 2.0, 15.0  # seconds after which no other group begins, and after which a search is stopped
FLATTEST = 0.25  # of the time of an example in a group, that it takes at least in a large one
SUMMARY = 0.25  # seconds to compute and write the results


def forecast_attack(setup: Setup, campaign: Campaign, each: float) -> Forecast:
    """Returns queries and seconds of an attack, from after the pre-flight to its report. each: seconds of a clean text."""
    limits, data = campaign.limits, setup.data
    door = campaign.query
    assert door is not None, "only an opened attack is forecast"
    clean = door(*data.columns)  # known since the pre-flight, unless the attacker is unaware of a shield
    campaign = replace(campaign, judge=None)
    block = AttackedBlock(campaign, np.arange(len(data)), clean)
    attacked = block.attacked
    workers = setup.engine.workers
    most = limits.max_queries or USUAL
    if not attacked.size:
        return Forecast(0, {"the report": SUMMARY}, 0.0)
    if setup.victim.paid:
        queries = attacked.size * min(USUAL, most)
        return Forecast(queries, {"the model": each * queries, "the report": SUMMARY}, queries / (USUAL * len(data)))
    each_letter, in_search, at_once = _pilot(setup, campaign, block, attacked)
    queries = round(each_letter * lengths(data)[attacked].sum())
    model = seconds_per_text(setup, data.columns, each, queries) * queries / at_the_same_time(setup)
    blocks = len(campaign.jobs())
    search = (in_search * attacked.size + at_once * blocks) / (workers if setup.reopens else 1)
    seconds = {"the model": model, "search and constraints": search, "the report": SUMMARY}
    seconds["starting workers"] = START * (workers > 1)
    return Forecast(queries, seconds, queries / (USUAL * len(data)))


def _pilot(setup: Setup, campaign: Campaign, block: AttackedBlock, attacked: Ints) -> tuple[float, float, float]:
    """Attacks a few examples. Returns their queries for each letter of their texts (longer texts have more to try), the seconds
    of the search of an example beside the model, and the seconds that a block takes however many examples it has.
    """
    length = lengths(setup.data)
    order = attacked[np.argsort(length[attacked], kind="stable")]
    places = np.unique((order.size * _spread_out(sum(GROUPS))).astype(np.int64), return_index=True)
    rows = order[places[0][np.argsort(places[1])]][: max(LEAST, order.size // SHARE)]
    begin, at, queries, letters = time.monotonic(), 0, 0, 0
    sizes: list[int] = []
    seconds: list[float] = []
    assert campaign.query is not None, "only an opened attack is forecast"
    query = Query(
        campaign.query.victim
    )  # one of its own: the run asks again, so that its bytes are those of a resumed run
    late = lambda: time.monotonic() - begin > LONGEST  # noqa: E731
    pilot = replace(campaign, ask=query, saliency=query.saliency, query=query, late=late, live=None)
    for group in GROUPS:
        chosen = np.sort(rows[at : at + group])
        at += group
        if not chosen.size or (sizes and time.monotonic() - begin > LONG):
            break
        before, inside = time.monotonic(), query.seconds
        part = AttackedBlock(pilot, chosen, block.clean)
        spent = part.part()["queries"][part.attacked]
        if group > 1 or rows.size == 1:
            sizes.append(chosen.size)
            seconds.append(max(0.0, time.monotonic() - before - (query.seconds - inside)))
            queries += int(spent.sum())
            letters += int(length[chosen].sum())
    per_example, at_once = seconds[-1] / sizes[-1], 0.0
    if sizes[-1] > sizes[0]:  # seconds = at_once + per_example * size
        slope = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
        slope = float(np.clip(slope, FLATTEST * per_example, per_example))
        per_example, at_once = slope, seconds[-1] - slope * sizes[-1]
    return queries / max(1, letters), per_example, at_once


def _spread_out(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns numbers in [0, 1) of which the first few are spread out, and all together, too (van der Corput)."""
    return np.array([int(f"{at:b}"[::-1], 2) / (1 << at.bit_length()) for at in range(1, count + 1)])
