"""What came of an attack, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..report import attack_table, comparison_table
from ..text.dataset import joined


@dataclass(frozen=True)
class AttackResult:
    """What came of an attack. `print(result)` shows the table."""

    summary: dict[str, Any]
    timings: list[dict[str, Any]]
    lines: list[dict[str, Any]]  # one per example, as in results.jsonl
    folder: str | None

    def __str__(self) -> str:
        return attack_table(self.summary, self.timings)

    @property
    def paper(self) -> str:
        """The numbers in the layout of the ToxicTrap paper, as Markdown."""
        return comparison_table([(self.summary["data"]["name"], self.summary, self.timings)])

    @property
    def success(self) -> float:
        """The share of attacked examples that were broken; nan if none was attacked."""
        value = self.summary["success"]["value"]
        return float("nan") if value is None else float(value)

    @property
    def adversarial(self) -> list[tuple[str, str]]:
        """The texts that were broken: before and after."""
        won = [line for line in self.lines if line["status"] == "succeeded"]
        side = next((line["adversarial"]["edits"][0][0] for line in won), 0)
        return [(joined(line["texts"][side]), joined(line["adversarial"]["texts"][side])) for line in won]
