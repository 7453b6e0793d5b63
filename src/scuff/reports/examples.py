"""The examples of a run, chosen by dimension, outcome, label or degree: for notebooks and programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ..data.dataset import joined
from ..runs.display import in_words, visible
from ..runs.folder import Folder
from ..runs.schema import Answer, AttackLine, Edit, EvaluationLine, Target, Texts
from ..specs import known_name
from .live import marked_line

BROKEN, HELD, WRONG, UNANSWERED = "broken", "held", "wrong", "unanswered"
OUTCOMES = {
    BROKEN: "right when clean; a case up to this degree scores lower",
    HELD: "right when clean; no case up to this degree scores lower",
    WRONG: "wrong already when clean",
    UNANSWERED: "the clean text or all cases have no answer",
}
STATUSES = ("succeeded", "failed", "skipped", "error")  # outcomes of an attack
MOST = 100  # examples that are returned, by default


@dataclass(frozen=True)
class Example:
    """An example of a run, and what a perturbation or an attack did to it.

    texts: the clean ones, a text per column. changed: the ones that broke it, or that an attack ended with; None if there are
    none.
    answer, new_answer: of the model, to either. dimension, degree: of an evaluation; degree is the smallest that broke it.
    """

    id: str
    outcome: str
    target: Target
    texts: Texts
    answer: Answer
    changed: Texts | None
    new_answer: Answer
    edits: list[Edit]
    dimension: str | None = None
    degree: float | None = None

    def __str__(self) -> str:
        where = f"{self.dimension} {'' if self.degree is None else f'{self.degree:g} '}" if self.dimension else ""
        if self.changed is None:
            return f"{where}{self.outcome}: {visible(' | '.join(map(joined, self.texts)))}"
        shown = marked_line(self.texts, self.edits, self.answer, self.new_answer, colour=False)
        return f"{where}{self.outcome}: {shown}"


@dataclass(frozen=True)
class Found:
    """Examples that were asked for. of: how many there are in all; fields: names of the columns of texts."""

    examples: list[Example]
    of: int
    fields: Sequence[str]


def evaluation_examples(
    folder: Folder,
    dimension: str | None = None,
    outcome: str | None = None,
    label: str | None = None,
    degree: float | None = None,
    most: int | None = MOST,
) -> Found:
    """Returns examples of an evaluation, one for each dimension. Reads results.jsonl line by line.

    degree: what holds or breaks up to this one; default: the highest. Raises ValueError for a dimension, an outcome, a label or a
    degree that the run does not have.
    """
    run, summary = folder.run(), folder.evaluation_summary()
    degrees = summary["protocol"]["degrees"]
    _check_outcome(outcome, tuple(OUTCOMES))
    _check_label(label, run["data"]["known"])
    if dimension is not None:
        known_name(dimension, summary["dimensions"], "a dimension of this run")
    if degree is not None and degree not in degrees:
        raise ValueError(f"expected a degree of this run ({', '.join(f'{d:g}' for d in degrees)}), got {degree!r}")
    at = len(degrees) - 1 if degree is None else degrees.index(degree)
    names = list(summary["dimensions"]) if dimension is None else [dimension]

    def matching() -> Iterator[Example]:
        for line in folder.evaluation_results():
            if label is None or _has(line["target"], label):
                for name in names:
                    found = _of_evaluation(line, name, at, degrees[at])
                    if outcome in (None, found.outcome):
                        yield found

    return _some(matching(), most, run["data"]["fields"])


def _of_evaluation(line: EvaluationLine, name: str, at: int, degree: float) -> Example:
    content, clean = line["dimensions"][name], line["clean"]
    case = content["broken_by"]
    if case and case["degree"] > degree:
        case = None
    if case:
        outcome = BROKEN
    elif clean["score"] is None or content["worst"][at] is None:
        outcome = UNANSWERED
    else:
        outcome = HELD if clean["score"] > 0 else WRONG
    return Example(
        line["id"], outcome, line["target"], line["texts"], clean["answer"], case["texts"] if case else None,
        case["answer"] if case else None, case["edits"] if case else [], name, case["degree"] if case else None,
    )  # fmt: skip


def attack_examples(
    folder: Folder, outcome: str | None = None, label: str | None = None, most: int | None = MOST
) -> Found:
    """Returns examples of an attack. Reads results.jsonl line by line. Raises ValueError for an unknown outcome or label."""
    run = folder.run()
    _check_outcome(outcome, STATUSES)
    _check_label(label, run["data"]["known"])
    matching = (
        _of_attack(line)
        for line in folder.attack_results()
        if outcome in (None, line["status"]) and (label is None or _has(line["target"], label))
    )
    return _some(matching, most, run["data"]["fields"])


def _of_attack(line: AttackLine) -> Example:
    found = line["adversarial"]
    return Example(
        line["id"], line["status"], line["target"], line["texts"], line["clean"]["answer"], found["texts"] if found else None,
        found["answer"] if found else None, found["edits"] if found else [],
    )  # fmt: skip


def _some(matching: Iterator[Example], most: int | None, fields: Sequence[str]) -> Found:
    """Returns the first examples, and counts the others."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise ValueError(f"expected a whole number or None for most, got {most!r}")
    found = list(islice(matching, most))
    return Found(found, len(found) + sum(1 for _ in matching), fields)


def _check_outcome(outcome: str | None, known: tuple[str, ...]) -> None:
    if outcome is not None:
        known_name(outcome, dict.fromkeys(known), "an outcome")


def _check_label(label: str | None, known: Sequence[str]) -> None:
    if label is not None:
        known_name(label, dict.fromkeys(known), "a label of the data")


def _has(target: Target, label: str) -> bool:
    """Returns whether a target is a label, or has it among its labels or tags."""
    return label in target if isinstance(target, list | tuple) else in_words(target) == label


AttackOutcome = Literal["succeeded", "failed", "skipped", "error"]
EvaluationOutcome = Literal["broken", "held", "wrong", "unanswered"]
