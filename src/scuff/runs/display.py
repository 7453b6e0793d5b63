"""Turns answers, texts and edits of trials into what results.jsonl, reports and the terminal show."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Dataset, Text
from ..victims.truth import Truth
from .folder import Arrays
from .pack import unpack_answers, unpack_texts
from .schema import Answer, Case, Edit, Estimate, LabelScores, Target

Span = tuple[int, int, str]  # start, stop, new text: an edit of one text


class Shown:
    """Reads the cases of one part of the trials: their texts, edits and answers."""

    def __init__(self, part: Arrays, data: Dataset, truth: Truth) -> None:
        self.part, self.data, self.truth = part, data, truth

    @cached_property
    def answers(self) -> npt.NDArray[Any]:
        """The answers of all cases."""
        return unpack_answers(self.part)

    def edits(self, case: int) -> list[Edit]:
        """Returns the edits of a case, in order."""
        part = self.part
        row = part["edit_case"]
        first, last = np.searchsorted(
            row, np.array([case, case + 1], row.dtype)
        ).tolist()  # of other types all rows are cast
        column, start, stop = (part[name][first:last].tolist() for name in ("edit_column", "edit_start", "edit_stop"))
        return list(zip(column, start, stop, unpack_texts("edit_text", part, first, last), strict=True))

    def texts(self, case: int) -> list[Text]:
        """Returns what the victim was asked: a text, or a tuple of tokens, per column."""
        example, edits = int(self.part["example"][case]), self.edits(case)
        return [edited(column[example], edits_of(edits, at)) for at, column in enumerate(self.data.columns)]

    def shown(self, case: int) -> Case:
        """Returns the texts, edits and answer of a case, as results.jsonl has them."""
        part = self.part
        return {
            "draw": int(part["draw"][case]),
            "reached": round(float(part["reached"][case]), 6),
            "texts": self.texts(case),
            "edits": self.edits(case),
            "score": rounded(part["score"][case]),
            "answer": said(unpack_answers(part, case, case + 1)[0], self.truth),
        }


def edits_of(edits: list[Edit], column: int) -> list[Span]:
    """Returns the edits of one column."""
    return [(start, stop, new) for at, start, stop, new in edits if at == column]


def edited(text: Text, edits: list[Span]) -> Text:
    """Returns the text, or tokens, with the edits applied. Edits must be in order; positions in tokens count as if the tokens
    were joined by blanks.
    """
    if not isinstance(text, str):
        stops = np.cumsum([len(token) + 1 for token in text]) - 1
        own = np.searchsorted(stops, [start for start, _, _ in edits]).tolist()
        moved: list[list[Span]] = [[] for _ in text]
        for at, (start, stop, new) in zip(own, edits, strict=True):
            begin = int(stops[at]) - len(text[at])
            moved[at].append((start - begin, stop - begin, new))
        return tuple(str(edited(token, inside)) for token, inside in zip(text, moved, strict=True))
    out, at = [], 0
    for start, stop, new in edits:
        out += [text[at:start], new]
        at = stop
    return "".join([*out, text[at:]])


def said(answer: Any, truth: Truth) -> Answer:
    """Returns a victim's answer by names: a label with its score, labels, tags, or a text; None if it gave none."""
    if truth.task == "text":
        return None if answer is None else str(answer)
    if answer is None or isinstance(answer, str):  # `unpack_answers` returns "" for a part without any answer
        return None
    if truth.task == "tokens":
        return [truth.labels[tag] if tag >= 0 else None for tag in answer.tolist()]
    row = np.asarray(answer)[None]
    if row.dtype.kind == "f" and truth.task == "single":  # as below, without arrays of one row
        best = int(row[0].argmax())  # of nan, if there is one
        score = float(row[0, best])
        return None if score != score else {"label": truth.labels[best], "score": round(score, 4)}
    if row.dtype.kind == "f" and np.isnan(row).any():
        return None
    pick = truth.predicted(row)[0]
    if truth.task == "multi":
        return [name for name, on in zip(truth.labels, pick.tolist(), strict=True) if on]
    return None if pick < 0 else {"label": truth.labels[int(pick)]}


def scores_of(answer: Any, truth: Truth) -> LabelScores:
    """Returns the score of each label for tasks with label sets, which `said` leaves out; {} for other tasks or no scores."""
    row = np.asarray(answer)
    if truth.task != "multi" or row.dtype.kind != "f" or np.isnan(row).any():
        return {}
    return {"scores": {name: round(score, 4) for name, score in zip(truth.labels, row.tolist(), strict=True)}}


def wanted(truth: Truth, example: int) -> Target:
    """Returns what `said` returns for a right answer, without its score."""
    target = truth.targets[example]
    if truth.task == "text":
        return str(target)
    if truth.task == "single":
        return truth.labels[int(target)]
    numbers = np.flatnonzero(target) if truth.task == "multi" else target
    return [truth.labels[int(number)] for number in numbers]


def in_words(answer: Answer | Target, scores: bool = False) -> str | None:
    """Returns an answer or target as one string; None if there is none.

    Scores are left out by default, since their last digits may differ between batches.
    """
    if isinstance(answer, dict):
        return answer["label"] + (f" ({answer['score']:.2f})" if scores and "score" in answer else "")
    return answer if answer is None or isinstance(answer, str) else " ".join(map(str, answer))


def in_short(answer: Answer | Target) -> str:
    """Returns an answer with its score as one string; "nothing" if there is none, "no label" for an empty set of labels."""
    words = in_words(answer, scores=True)
    return "nothing" if words is None else words or "no label"


def rounded(value: Any) -> float | None:
    """Rounds to six digits, since later ones may differ between machines. Returns None for nan and inf, which JSON does not
    have.
    """
    number = float(value)
    return round(number, 6) if math.isfinite(number) else None


def estimate(value: Any, interval: Iterable[Any] = (np.nan, np.nan)) -> Estimate:
    """Returns a value and its interval as summaries hold them: six digits, None for nan."""
    return {"value": rounded(value), "interval": [rounded(edge) for edge in interval]}


def visible(text: str) -> str:
    """Returns a text that is safe to print: characters that are not printable, which could control the terminal, are replaced by
    their numbers. So are spaces other than the usual one, since a perturbation may have put them there.
    """
    return "".join(c if c.isprintable() else "↵" if c == "\n" else f"\\u{ord(c):04x}" for c in text)


def cut(text: str, most: int) -> str:
    """Returns a text cut to `most` characters; one that was cut ends in an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"
