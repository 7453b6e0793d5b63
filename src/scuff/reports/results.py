"""What the public functions return: the numbers of a run, or of a comparison of texts; `print` shows them as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data.dataset import joined
from ..evaluation.meaning import Columns, MeaningSummary, line_values
from ..runs.schema import AttackLine, AttackSummary, Estimate, EvaluationSummary, Timing
from .attack_tables import attack_table, comparison_table
from .evaluation_tables import paper_table, score_table
from .meaning import meaning_table
from .verdict import Verdict


@dataclass(frozen=True)
class Result:
    """The result of an evaluation. `print(result)` shows the table; `summary` has every number, `verdict` says it in short."""

    summary: EvaluationSummary
    folder: str | None
    verdict: Verdict

    def __str__(self) -> str:
        return score_table(self.summary)

    @property
    def paper(self) -> str:
        """The scores in the layout of the protocol's paper, RobTest or Zéroe, as Markdown."""
        return paper_table(self.summary)

    @property
    def average(self) -> float:
        """The mean of all dimensions' final average scores; nan if nothing was answered."""
        return _value(self.summary["overall"]["average"])

    @property
    def worst(self) -> float:
        """The mean of all dimensions' final worst-case scores; nan if nothing was answered."""
        return _value(self.summary["overall"]["worst"])

    @property
    def worst_alone(self) -> float:
        """The same of each degree's cases alone, as in RobTest's tables; nan if nothing was answered."""
        alone = self.summary["overall"].get("worst_alone")
        return _value(alone) if alone else float("nan")

    @property
    def clean(self) -> float:
        """The score on the clean texts; nan if none was answered."""
        return _value(self.summary["clean"]["score"])


@dataclass(frozen=True)
class AttackResult:
    """The result of an attack. `print(result)` shows the table; `summary` has every number, `verdict` says it in short."""

    summary: AttackSummary
    timings: list[Timing]
    lines: list[AttackLine]  # one per example, as in results.jsonl
    folder: str | None
    verdict: Verdict

    def __str__(self) -> str:
        return attack_table(self.summary, self.timings)

    @property
    def paper(self) -> str:
        """The numbers in the layout of the ToxicTrap paper, as Markdown."""
        return comparison_table([(self.summary["data"]["name"], self.summary, self.timings)])

    @property
    def success(self) -> float:
        """The share of attacked examples on which the attack succeeded; nan if none was attacked."""
        return _value(self.summary["success"])

    @property
    def adversarial(self) -> list[tuple[str, str]]:
        """A pair of texts for each success: the original and the adversarial one."""
        successes = [
            (line["texts"], line["adversarial"])
            for line in self.lines
            if line["status"] == "succeeded" and line["adversarial"]
        ]
        side = next((adversarial["edits"][0][0] for _, adversarial in successes), 0)
        return [(joined(texts[side]), joined(adversarial["texts"][side])) for texts, adversarial in successes]


@dataclass(frozen=True)
class MeaningResult:
    """What an attack did to inputs and outputs. `print(result)` shows the table; `summary` has every number.

    columns: an array with a value per text of each of source_likeness (s_src), clean_score, attacked_score, relative_decrease
    (d_tgt), success (S), succeeded, those that there are; `pandas.DataFrame(result.columns)` is a table of them.
    """

    summary: MeaningSummary
    columns: Columns

    def __str__(self) -> str:
        return meaning_table(self.summary)

    @property
    def source_likeness(self) -> float:
        """The mean likeness of attacked to original inputs, s_src; nan if there were none."""
        return self.summary["source_likeness"]["mean"] if "source_likeness" in self.summary else float("nan")

    @property
    def relative_decrease(self) -> float:
        """The mean relative decrease, d_tgt; nan if there were no outputs."""
        return self.summary["relative_decrease"]["mean"] if "relative_decrease" in self.summary else float("nan")

    @property
    def succeeded(self) -> float:
        """The share of texts on which the attack succeeded; nan if one of the halves is not known."""
        return self.summary["succeeded"]["share"] if "succeeded" in self.summary else float("nan")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The numbers of each text."""
        return list(line_values(self.columns))


def _value(entry: Estimate) -> float:
    return float("nan") if entry["value"] is None else float(entry["value"])
