"""Forecasts the costs of an evaluation: makes the cases of a few examples as the run will, counts their texts, takes the time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.dataset import Column, Dataset, Text
from ..runs.preflight import START, at_the_same_time, lengths, seconds_per_text
from ..runs.progress import Forecast
from ..runs.setup import Setup
from ..text.ragged import Floats, Ints
from ..victims.base import GRADIENT_STEPS, Outputs
from .block import make_cases
from .guided import Oracle
from .protocol import Protocol

LEAST, MOST = 2, 48  # examples whose cases are made
LONG = 0.5  # seconds that the cases of a dimension may take, about
CASES, FEW = 10, 3  # that are made of an example, at most; fewer if they take long
FLATTEST = 0.2  # of the time of an example in a small call, that it takes at least in a large one
SUMMARY, SUMMARY_OF_CASE = 0.25, 2.5e-6  # seconds to compute and write the results: of any run, and of each case


@dataclass(eq=False)
class Sample:
    """A few examples whose cases are made without the victim. Counts what guided dimensions would ask."""

    data: Dataset
    protocol: Protocol
    setup: Setup
    asked: int = 0
    oracle: Oracle = field(init=False)

    def __post_init__(self) -> None:
        columns = [Column.of(column) for column in self.data.columns]
        self.oracle = Oracle(
            columns, self.protocol.sides, self._ask, lambda outputs, rows: np.zeros(len(rows)), self.setup.victim.mask,
            self._saliency, np.zeros((len(self.data), max(1, len(self.setup.truth.labels)))), self.setup.victim.reads,
        )  # fmt: skip

    def _ask(self, *columns: Sequence[Text]) -> Outputs:
        self.asked += len(set(zip(*columns, strict=True)))
        return Outputs.of(np.zeros(len(columns[0])))

    def _saliency(self, *columns: Sequence[Text], words: Sequence[Any], **_: Any) -> list[Floats]:
        self.asked += GRADIENT_STEPS * len(words)
        return [np.zeros(len(spans)) for spans in words]

    def make(self, cell: tuple[int, int], cases: int) -> tuple[list[tuple[Text, ...]], float, float]:
        """Makes cases in one cell. Returns their texts, and for each example the seconds and the queries that it took."""
        begin, before = time.perf_counter(), self.asked
        made = make_cases(self.data, self.protocol, [cell], 0, cases, self.oracle)
        seconds = time.perf_counter() - begin
        texts = [texts for one in made for texts in zip(*one.cases.columns, strict=True)]
        return texts, seconds / len(self.data), (self.asked - before) / len(self.data)


@dataclass
class Costs:
    """What one example costs: seconds to make its cases, queries that guide them, its cases, and some of their texts."""

    seconds: float = 0.0
    queries: float = 0.0
    cases: float = 0.0
    texts: list[tuple[Text, ...]] = field(default_factory=list)


def forecast_evaluation(setup: Setup, protocol: Protocol, each: float) -> Forecast:
    """Returns queries and seconds of an evaluation, from after the pre-flight to its report. each: seconds of a clean text."""
    data, examples = setup.data, len(setup.data)
    block = len(protocol.blocks(data, len(protocol.cells), protocol.cases)[0][0])
    by_length = np.argsort(lengths(data), kind="stable")
    costs = [_costs(setup, protocol, dimension, by_length, block) for dimension in range(len(protocol.dimensions))]
    texts = [text for cost in costs for text in cost.texts]
    distinct = list(dict.fromkeys(texts))
    cases = examples * sum(cost.cases for cost in costs)
    asked = cases * len(distinct) / max(1, len(texts)) + examples * sum(cost.queries for cost in costs)
    most = protocol.queries(data) - examples
    queries = min(round(asked), most)
    workers = setup.engine.workers
    each = seconds_per_text(setup, list(zip(*distinct, strict=True)), each, queries)
    seconds = {"the model": each * queries / at_the_same_time(setup)}
    for dimension, cost in zip(protocol.parsed, costs, strict=True):
        seconds[dimension.name] = cost.seconds * examples / workers
    seconds["the report"] = SUMMARY + SUMMARY_OF_CASE * cases
    seconds["starting workers"] = START * (workers > 1)
    return Forecast(queries, seconds, queries / max(1, most))


def _sample(setup: Setup, protocol: Protocol, by_length: Ints, size: int, shift: float) -> Sample:
    """Returns examples whose lengths are as various as those of the data. Different shifts give different examples."""
    places = ((np.arange(size) + shift) / size * by_length.size).astype(np.int64)
    return Sample(setup.data.take(by_length[np.minimum(places, by_length.size - 1)]), protocol, setup)


def _costs(setup: Setup, protocol: Protocol, dimension: int, by_length: Ints, block: int) -> Costs:
    """Returns the costs of a dimension for one example.

    To prepare an example (its tags, substitutes, ...) takes time once, at the first degree; each case takes some more. So the
    first degree is made with one case and, of other examples, with several. A call with many examples takes less time for each.
    """
    degrees, total = len(protocol.degrees), protocol.cases
    _sample(setup, protocol, by_length, 1, 0.1).make(
        (dimension, 0), 1
    )  # loads tables and models, which the run does not
    alone = _sample(setup, protocol, by_length, 1, 0.5).make((dimension, 0), 1)[1]
    size = int(np.clip(LONG / max(alone * 5, 1e-9), LEAST, max(LEAST, min(block, MOST, len(setup.data)))))
    few, some = (_sample(setup, protocol, by_length, size, shift) for shift in (0.3, 0.7))
    together = few.make((dimension, 0), 1)[1]
    # seconds of a call = fixed + marginal * examples; many examples share what is fixed
    marginal = float(np.clip((together * size - alone) / (size - 1), FLATTEST * together, together))
    fixed = (together - marginal) * size
    cases = min(total, CASES if together < LONG else FEW)
    cost = Costs()
    for degree in range(degrees):  # all of them: what one degree measured is known to the next
        texts, seconds, queries = some.make((dimension, degree), cases)
        shared = min(fixed / size, (1 - FLATTEST) * seconds)
        own = seconds - shared
        if degree == 0 and cases > 1:  # the first case prepares the example
            per_case = max(0.0, own - marginal) / (cases - 1)
            own = marginal + per_case * (total - 1)
        else:
            own *= total / cases
        cost.seconds += own + shared * size / max(block, size)
        cost.queries += queries
        cost.cases += len(texts) / size * total / cases
        cost.texts += texts
    if protocol.parsed[dimension].measure == "meaning":  # distances that were measured now are known in the run
        cost.seconds *= max(0.0, 1 - size * cases / (len(setup.data) * total))
    return cost
