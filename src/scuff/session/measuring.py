"""An evaluation opened and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..evaluate import Evaluation, Folder, Protocol
from ..victims import Access, Query, require
from .config import Config
from .session import Session


@dataclass(eq=False)
class Measuring(Session):
    """A session whose plan is a protocol."""

    config: Config
    protocol: Protocol = field(default_factory=Protocol)
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, source: Any, config: Config) -> Measuring:
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

    def about(self) -> dict[str, Any]:
        return {"left_out": self.left_out}

    def evaluation(self, folder: Folder) -> Evaluation:
        return Evaluation(
            folder, self.data, self.protocol, self.truth, self.ask, self.victim.mask, self.query.saliency
        )  # fmt: skip
