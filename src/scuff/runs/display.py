"""Answers, texts and edits of trials as people read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.dataset import Dataset, Text
from ..victims.truth import Truth
from .folder import Arrays
from .pack import unpack_answers, unpack_texts
from .schema import Answer, Case, Edit, LabelAnswer, LabelScores, Target

Span = tuple[int, int, str]  # start, stop, new text: an edit of one text


class Shown:
    """The cases of a part, ready to be shown."""

    def __init__(self, part: Arrays, data: Dataset, truth: Truth) -> None:
        self.part, self.data, self.truth = part, data, truth
        self.answers = unpack_answers(part)
        self.new = unpack_texts("edit_text", part)

    def edits(self, case: int) -> list[Edit]:
        """The edits of a case, in order."""
        part = self.part
        first, last = np.searchsorted(part["edit_case"], [case, case + 1]).tolist()
        column, start, stop = (part[name][first:last].tolist() for name in ("edit_column", "edit_start", "edit_stop"))
        return list(zip(column, start, stop, self.new[first:last], strict=True))

    def texts(self, case: int) -> list[Text]:
        """What the victim saw: texts, or tokens."""
        example, edits = int(self.part["example"][case]), self.edits(case)
        return [edited(column[example], edits_of(edits, at)) for at, column in enumerate(self.data.columns)]

    def shown(self, case: int) -> Case:
        """Texts, edits and answer of one case."""
        part = self.part
        return {
            "draw": int(part["draw"][case]),
            "reached": round(float(part["reached"][case]), 6),
            "texts": self.texts(case),
            "edits": self.edits(case),
            "score": rounded(part["score"][case]),
            "answer": said(self.answers[case], self.truth),
        }


def edits_of(edits: list[Edit], column: int) -> list[Span]:
    """The edits of one column."""
    return [(start, stop, new) for at, start, stop, new in edits if at == column]


def edited(text: Text, edits: list[Span]) -> Text:
    """Applies edits, which are in order. Positions in tokens count as if the tokens were joined by blanks."""
    if not isinstance(text, str):
        stops = np.cumsum([len(token) + 1 for token in text]) - 1
        own = np.searchsorted(stops, [start for start, _, _ in edits]).tolist()
        moved: list[list[Span]] = [[] for _ in text]
        for at, (start, stop, new) in zip(own, edits, strict=True):
            begin = int(stops[at]) - len(text[at])
            moved[at].append((start - begin, stop - begin, new))
        return tuple(str(edited(token, mine)) for token, mine in zip(text, moved, strict=True))
    out, at = [], 0
    for start, stop, new in edits:
        out += [text[at:start], new]
        at = stop
    return "".join([*out, text[at:]])


def said(answer: Any, truth: Truth) -> Answer:
    """A victim's answer for people: a label with its score, labels, tags or a text; None where it gave none."""
    if truth.task == "text":
        return None if answer is None else str(answer)
    if answer is None or isinstance(answer, str):  # a part without any answer does not tell of what kind they are
        return None
    if truth.task == "tokens":
        return [truth.labels[tag] if tag >= 0 else None for tag in answer.tolist()]
    row = np.asarray(answer)[None]
    if row.dtype.kind == "f" and np.isnan(row).any():
        return None
    pick = truth.predicted(row)[0]
    if truth.task == "multi":
        return [name for name, on in zip(truth.labels, pick.tolist(), strict=True) if on]
    if pick < 0:
        return None
    found: LabelAnswer = {"label": truth.labels[int(pick)]}
    if row.dtype.kind == "f":
        found["score"] = round(float(row[0, pick]), 4)
    return found


def scores_of(answer: Any, truth: Truth) -> LabelScores:
    """The score of each label of an answer about label sets, which `said` leaves out; nothing where there are none."""
    row = np.asarray(answer)
    if truth.task != "multi" or row.dtype.kind != "f" or np.isnan(row).any():
        return {}
    return {"scores": {name: round(score, 4) for name, score in zip(truth.labels, row.tolist(), strict=True)}}


def wanted(truth: Truth, example: int) -> Target:
    """What `said` would return for a right answer, without its score."""
    target = truth.targets[example]
    if truth.task == "text":
        return str(target)
    if truth.task == "single":
        return truth.labels[int(target)]
    numbers = np.flatnonzero(target) if truth.task == "multi" else target
    return [truth.labels[int(number)] for number in numbers]


def in_words(answer: Answer | Target, scores: bool = False) -> str | None:
    """What `said` returns, as one string; without scores by default, since their last digits may differ between batches."""
    if isinstance(answer, dict):
        return answer["label"] + (f" ({answer['score']:.2f})" if scores and "score" in answer else "")
    return answer if answer is None or isinstance(answer, str) else " ".join(map(str, answer))


def in_short(answer: Answer | Target) -> str:
    """An answer with its score; no answer and an empty set of labels have words, too."""
    words = in_words(answer, scores=True)
    return "nothing" if words is None else words or "no label"


def rounded(value: Any) -> float | None:
    """Six digits; None for nan."""
    return None if np.isnan(value) else round(float(value), 6)


def visible(text: str) -> str:
    """A text for a terminal, which nothing in it can steer: characters that are not printable become their numbers. Spaces other
    than the usual one are among them, since a perturbation may use them.
    """
    return "".join(c if c.isprintable() else "↵" if c == "\n" else f"\\u{ord(c):04x}" for c in text)


def cut(text: str, most: int) -> str:
    """A text of at most so many characters; a longer one ends in an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"
