"""How readable texts stay after a perturbation: what people said, and what was measured (docs/readability.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from ..resources import load


@dataclass(frozen=True)
class Readability:
    """Measures at low, mid and high, made by build/readability on 300 English texts with default options.

    edits: share of the characters inserted, deleted or replaced. seen: the same, each weighted by how different it looks.
    surprise: bits per character above the clean text's, by a character model. surprise_read: the same where invisible
    characters are not read and look-alikes are read as what they look like. effort: the geometric mean of seen and
    surprise_read. rank: by effort among `measured` perturbations, 1 reads best. raters: ranks that five people gave among ten
    perturbations at high, 1 reads best (Benz 2020, Table A.9). rho: how effort correlates with their ranks. interval: of rho,
    95 %. missing: why there are no measures.
    """

    edits: tuple[float, ...] = ()
    seen: tuple[float, ...] = ()
    surprise: tuple[float, ...] = ()
    surprise_read: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()
    rank: tuple[float, ...] = ()
    raters: tuple[int, ...] = ()
    measured: int = 0
    rho: float = 0.0
    interval: tuple[float, ...] = ()
    missing: str = ""

    @classmethod
    def of(cls, name: str) -> Readability:
        """Of a perturbation by name; without measures if it is none of the shipped ones."""
        table = json.loads(load("readability.json"))
        rows, found = table["perturbations"], table["validation"]["texts"]["effort"]
        row = rows.get(name, {"missing": "not one of the shipped perturbations"})
        count = sum("rank" in other for other in rows.values())
        values: dict[str, Any] = {
            field.name: tuple(row[field.name]) if isinstance(row[field.name], list) else row[field.name]
            for field in fields(cls)
            if field.name in row
        }
        return cls(measured=count, rho=found["rho"], interval=(found["low"], found["high"]), **values)

    def lines(self) -> dict[str, str]:
        """What `scuff describe` shows, by title; the words are those of docs/readability.md."""
        out = {}
        if self.raters:
            mean = sum(self.raters) / len(self.raters)
            out["people rank it"] = (
                f"{mean:.1f} of 10 at high ({min(self.raters)} to {max(self.raters)} by {len(self.raters)} raters; 1 reads best)"
            )
        if self.missing:
            return {**out, "readability": f"not measured: {self.missing}"}
        edits, seen = (", ".join(f"{value:.0%}" for value in values) for values in (self.edits, self.seen))
        surprise, read = (
            ", ".join(f"{round(value, 1) + 0.0:+.1f}" for value in values)
            for values in (self.surprise, self.surprise_read)
        )
        effort = ", ".join(f"{value:.2f}" for value in self.effort)
        low, high = self.interval
        out["edits"] = f"{edits} of the characters at low, mid, high; seen {seen}"
        out["surprise"] = f"{surprise} bits per character; as read {read}"
        out["effort"] = (
            f"{effort}; at high rank {self.rank[-1]:g} of {self.measured}, 1 reads best "
            f"(a proxy: rho with people's ranks {self.rho:.2f}, {low:.2f} to {high:.2f})"
        )
        return out
