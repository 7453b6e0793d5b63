"""Answers, texts and edits of trials as people read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.dataset import Dataset, Text
from .folder import Arrays
from .pack import unpack_answers, unpack_texts
from .truth import Truth


class Shown:
    """The cases of a part, ready to be shown."""

    def __init__(self, part: Arrays, data: Dataset, truth: Truth) -> None:
        self.part, self.data, self.truth = part, data, truth
        self.answers = unpack_answers(part)
        self.new = unpack_texts("edit_text", part)

    def edits(self, case: int) -> list[list[Any]]:
        """[column, start, stop, new], in order."""
        part = self.part
        first, last = np.searchsorted(part["edit_case"], [case, case + 1]).tolist()
        names = ("edit_column", "edit_start", "edit_stop")
        return [[*(int(part[name][at]) for name in names), self.new[at]] for at in range(first, last)]

    def texts(self, case: int) -> list[Text]:
        """What the victim saw: texts, or tokens."""
        example, edits = int(self.part["example"][case]), self.edits(case)
        columns = enumerate(self.data.columns)
        return [_edited(column[example], [edit[1:] for edit in edits if edit[0] == at]) for at, column in columns]

    def shown(self, case: int) -> dict[str, Any]:
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


def _edited(text: Text, edits: list[list[Any]]) -> Text:
    """A text after edits, which are in order; of tokens each after its own, which count as if they were joined by blanks."""
    if not isinstance(text, str):
        stops = np.cumsum([len(token) + 1 for token in text]) - 1
        own = np.searchsorted(stops, [edit[1] for edit in edits]).tolist()
        moved: list[list[list[Any]]] = [[] for _ in text]
        for at, (start, stop, new) in zip(own, edits, strict=True):
            begin = int(stops[at]) - len(text[at])
            moved[at].append([start - begin, stop - begin, new])
        return tuple(str(_edited(token, mine)) for token, mine in zip(text, moved, strict=True))
    out, at = [], 0
    for start, stop, new in edits:
        out += [text[at:start], new]
        at = stop
    return "".join([*out, text[at:]])


def said(answer: Any, truth: Truth) -> Any:
    """An answer for people: a label with its score, labels, tags or a text."""
    if truth.task == "text":
        return answer
    if answer is None or isinstance(answer, str):  # in a part without any answer nothing tells what kind they are
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
    score = {"score": round(float(row[0, pick]), 4)} if row.dtype.kind == "f" else {}
    return {"label": truth.labels[int(pick)], **score}


def scores_of(answer: Any, truth: Truth) -> dict[str, Any]:
    """{"scores": each label's} of an answer about label sets, which `said` does not tell; nothing where there are none."""
    row = np.asarray(answer)
    if truth.task != "multi" or row.dtype.kind != "f" or np.isnan(row).any():
        return {}
    return {"scores": {name: round(score, 4) for name, score in zip(truth.labels, row.tolist(), strict=True)}}


def wanted(truth: Truth, example: int) -> Any:
    """What `said` would give for a right answer, without its score."""
    target = truth.targets[example]
    if truth.task == "text":
        return target
    if truth.task == "single":
        return truth.labels[int(target)]
    numbers = np.flatnonzero(target) if truth.task == "multi" else target
    return [truth.labels[int(number)] for number in numbers]


def in_words(answer: Any, scores: bool = False) -> str | None:
    """What `said` gives, as one string; scores only where asked for, since their last digits may differ from batch to batch."""
    if isinstance(answer, dict):
        return str(answer["label"]) + (f" ({answer['score']:.2f})" if scores and "score" in answer else "")
    return " ".join(map(str, answer)) if isinstance(answer, list) else answer


def rounded(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)


def visible(text: str) -> str:
    """For a terminal, which nothing in a text may steer: what has no picture as its number. Spaces other than the usual one are
    shown, too: an attack may live on them.
    """
    return "".join(c if c.isprintable() else "↵" if c == "\n" else f"\\u{ord(c):04x}" for c in text)
