"""An evaluation opened and checked: its protocol, its pre-flight, its workers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ..runs.folder import Folder
from ..runs.jobs import Work
from ..runs.preflight import Say, _reasons, duration, look
from ..runs.resume import Worker, open_again, saved_data
from ..runs.schema import RunPlan
from ..runs.setup import Setup
from ..victims.base import Access, require
from ..victims.query import Query
from .block import make_cases
from .evaluation import Evaluation
from .protocol import Protocol
from .settings import EvaluationSettings


def preflight(session: EvaluationSetup, say: Say) -> None:
    """Two examples, the clean score, the costs: said before the run, so that a wrong label order or column shows at once."""
    each = look(session, say, session.protocol.queries(session.data))
    each_text, each_case = _seconds_to_make(session)
    _costs(session, say, each + each_case, each_text * len(session.data))


def _costs(session: EvaluationSetup, say: Say, each: float, beforehand: float) -> None:
    protocol, queries = session.protocol, session.protocol.queries(session.data)
    parts = f"{len(protocol.dimensions)} dimensions x {len(protocol.degrees)} degrees x {protocol.cases} cases"
    seconds = (beforehand + each * queries) / max(1, session.config.workers if session.reopens else 1)
    say(
        f"plan    {parts}: at most {queries:,} queries, about {duration(seconds)}{_reasons('; left out: ', session.left_out)}"
    )


def _seconds_to_make(session: EvaluationSetup) -> tuple[float, float]:
    """How long an example takes to be prepared (tags, words that may stand for others), and a case to be made: by making a few
    of every dimension, twice, since the second time finds the examples prepared.
    """
    protocol, few = session.protocol, session.data.take(range(min(16, len(session.data))))
    middle = len(protocol.degrees) // 2
    cells = [(at, middle) for at, dimension in enumerate(protocol.parsed) if dimension.setting == "rule"]
    make_cases(few.take(range(1)), protocol, cells, 0, 1)  # tables are loaded once
    times, cases = [], 0
    for _ in range(2):
        begin = time.monotonic()
        cases = sum(len(cell.cases) for cell in make_cases(few, protocol, cells, 0, min(protocol.cases, 4)))
        times.append(time.monotonic() - begin)
    return max(0.0, times[0] - times[1]) / max(1, len(few)), times[1] / max(1, cases)


def reopen(path: str) -> Evaluation:
    """A run from its folder, without its victim: what cases and numbers are made from."""
    folder = Folder(path)
    run = folder.run()
    key: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in run["key"].items()
    }
    protocol = Protocol(**{name: key[name] for name in Protocol.__dataclass_fields__ if name in key})
    data, truth = saved_data(folder, run, EvaluationSettings.of(**run["config"]))
    return Evaluation(folder, data, protocol, truth)


def open_worker(path: str, whole: bool, threads: int) -> Work:
    """A run from its folder, in a worker process; whole: with its victim."""
    bare = reopen(path)
    if not whole:
        return bare
    run = bare.folder.run()
    opened = open_again(
        run, EvaluationSettings.of(**run["config"]), bare.data, bare.truth, bare.protocol.queries(bare.data), threads
    )
    session = EvaluationSetup(**opened, protocol=bare.protocol)
    return Worker(session.evaluation(bare.folder), session)


@dataclass(eq=False)
class EvaluationSetup(Setup):
    """A session whose plan is a protocol."""

    config: EvaluationSettings
    protocol: Protocol = field(default_factory=Protocol)
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, source: Any, config: EvaluationSettings) -> EvaluationSetup:
        """Open everything; whatever does not fit together is told here."""
        opened = cls.opened(model, source, config)
        victim, data = opened["victim"], opened["data"]
        if config.guided and victim.access == Access.DECISION:
            Query(victim)(*data.take(range(min(4, len(data)))).columns)  # whether it gives scores shows in its answers
        protocol, left_out = config.protocol_for(data, victim.cases_at_once, victim.access)
        require(victim, protocol.needs, "this protocol")
        opened["query"].max_queries = config.max_queries
        session = cls(**opened, protocol=protocol, left_out=left_out)
        session.ready(protocol.queries(data))
        return session

    def plan(self) -> dict[str, Any]:
        return self.protocol.asdict()

    def shown_plan(self) -> dict[str, Any]:
        protocol, measures = self.protocol, [dimension.measure for dimension in self.protocol.parsed]
        return {
            "dimensions": ",".join(protocol.dimensions), "degrees": ",".join(f"{degree:g}" for degree in protocol.degrees),
            "cases": protocol.cases, "seed": protocol.seed, **({"meaning": protocol.meaning} if "meaning" in measures else {}),
            **({"width": f"{protocol.width:g}"} if protocol.width else {}),
        }  # fmt: skip

    def about(self) -> RunPlan:
        return {"left_out": self.left_out}

    def evaluation(self, folder: Folder) -> Evaluation:
        return Evaluation(
            folder, self.data, self.protocol, self.truth, self.ask, self.victim.mask, self.query.saliency
        )  # fmt: skip
