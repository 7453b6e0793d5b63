"""Goals for text-to-text models: a lower score against the reference, another text altogether, a word that the attacker wants.

A text goal knows the model's answer to the original text: `aims` puts it beside the reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ...data.dataset import Task
from ...metrics import Metric, parse_metric
from ...metrics.edit import similarity_inside
from ...metrics.tradeoff import THRESHOLD, ZERO_ONE_THRESHOLD, relative_decrease, succeeded
from ...specs import check_number, check_switch
from ...text.corpus import Corpus
from ...text.ragged import Floats, Mask
from ...victims.base import Outputs, as_objects
from .base import Goal, Reasons, reasons

# why examples are not attacked
NO_REFERENCE, NO_SCORE, NO_WORDS, KEYWORD = "no reference", "scores 0 already", "no words", "has the keyword already"
REFERENCE, OUTPUT = "reference", "output"  # what answers are compared with


class Aim(NamedTuple):
    """What a text goal knows of an example: the reference, the model's answer to the original text, and the score of that."""

    reference: str
    output: str
    base: float = 0.0


@dataclass(frozen=True)
class TextGoal(Goal):
    """A goal for texts. Targets, as `judge` gets them, are Aims."""

    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    def aims(self, targets: npt.NDArray[Any], answers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        pairs = zip(targets.tolist(), answers.tolist(), strict=True)
        return as_objects([Aim(str(reference), "" if output is None else output) for reference, output in pairs])

    def references(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The reference of each text; the model's answer to the original text where there is none."""
        return as_objects([aim.reference or aim.output for aim in targets])


@dataclass(frozen=True)
class Decrease(TextGoal):
    """A lower score against the reference. Score: the relative decrease d_tgt of Michel et al. (2019), eq. (1).

    Reached where the target lost more meaning than the source: chrF of the source + d_tgt > threshold (their section 2.1), which
    is 1 by default, and 1.8 with a metric that is 0 or 1, such as exact-match. A search goes on after that, to the largest
    decrease that it finds; with stop=True it ends, which saves queries. `metric`: any metric of texts. against="output" compares
    with the model's answer to the original text instead of the reference, for data that has none.
    """

    metric: str = "chrf"
    against: str = REFERENCE
    threshold: float | None = None
    stop: bool = False

    name: ClassVar[str] = "decrease"
    summary: ClassVar[str] = "a lower score (chrF, BLEU, ...) of the text that the model writes"
    weighs_source: ClassVar[bool] = True

    def __post_init__(self) -> None:
        found = self.measure
        if found.tasks and "text" not in found.tasks:
            raise ValueError(f"expected a metric of texts for decrease.metric, got {self.metric}")
        if self.against not in (REFERENCE, OUTPUT):
            raise ValueError(f"expected {REFERENCE} or {OUTPUT} for decrease.against, got {self.against!r}")
        check_number(self.least, 0, 2, "decrease.threshold")
        check_switch(self.stop, "decrease.stop")
        object.__setattr__(self, "open_ended", not self.stop)

    @cached_property
    def measure(self) -> Metric:
        return parse_metric(self.metric)

    @property
    def least(self) -> float:
        """The threshold, or what it is by default with this metric."""
        if self.threshold is not None:
            return self.threshold
        return ZERO_ONE_THRESHOLD if getattr(self.measure, "right_or_wrong", False) else THRESHOLD

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Floats:
        """The metric of each output, in [0, 1]."""
        return np.asarray(self.measure.values(as_objects(outputs), as_objects(references), ()), np.float64)

    def aims(self, targets: npt.NDArray[Any], answers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        outputs = ["" if output is None else str(output) for output in answers.tolist()]
        references = outputs if self.against == OUTPUT else [str(target) for target in targets.tolist()]
        base = self.score(outputs, references) if outputs else np.zeros(0)
        return as_objects([Aim(*row) for row in zip(references, outputs, base.tolist(), strict=True)])

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        bare = np.array([not aim.reference.strip() for aim in targets], np.bool_)
        nothing = np.array([aim.base <= 0 for aim in targets], np.bool_)
        return reasons(len(outputs), (bare, NO_REFERENCE), (nothing, NO_SCORE))

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        base = np.array([aim.base for aim in targets], np.float64)
        lower = relative_decrease(base, self.score(scores.tolist(), [aim.reference for aim in targets]))
        return lower, lower > 0

    def kept(self, score: Floats, alike: Floats) -> Mask:
        return succeeded(alike, score, self.least)


@dataclass(frozen=True)
class NoOverlap(TextGoal):
    """A text that has no word where the model's answer to the original text has it (Cheng et al. 2020, Seq2Sick).

    Score: the share of the words of that answer that are gone. With anywhere=True a word counts as gone only if the new text has
    it nowhere: a text that merely begins with one word more does not count then.
    """

    anywhere: bool = False

    name: ClassVar[str] = "no-overlap"
    summary: ClassVar[str] = "no word in common with what the model wrote for the original text"

    def __post_init__(self) -> None:
        check_switch(self.anywhere, "no-overlap.anywhere")

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        return reasons(len(outputs), (np.array([not aim.output.strip() for aim in targets], np.bool_), NO_WORDS))

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        old, new = words_of([aim.output for aim in targets]), words_of(scores.tolist())
        left = np.array([self._left(*pair) for pair in zip(old, new, strict=True)], np.float64)
        return 1 - left, left == 0

    def _left(self, old: list[str], new: list[str]) -> float:
        """The share of the old words that the new text still has; 1 if there is no old word."""
        if not old:
            return 1.0
        if self.anywhere:
            there = set(new)
            return sum(word in there for word in old) / len(old)
        return sum(one == other for one, other in zip(old, new, strict=False)) / len(old)


@dataclass(frozen=True)
class Keyword(TextGoal):
    """The `word` (or words) appears in the text that the model writes, and was not in its answer to the original text.

    Score: how similar the most similar part of the text is (edit distance), which leads a search. Case does not matter. With
    whole=False it may be a part of a word, as in languages without blanks.
    """

    word: str = ""
    whole: bool = True

    name: ClassVar[str] = "keyword"
    summary: ClassVar[str] = "a word of your choice in the text that the model writes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", str(self.word))  # it may look like a number
        check_switch(self.whole, "keyword.whole")

    def ready(self, task: Task, labels: Sequence[str]) -> Goal:
        if not self.word.strip():
            raise ValueError(f"expected a word for keyword.word, got {self.word!r}: --goal \"keyword(word='WORD')\"")
        return super().ready(task, labels)

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        """Also skips examples whose reference has the keyword, where it would be right."""
        there = np.array([self._has(aim.output) or self._has(aim.reference) for aim in targets], np.bool_)
        return reasons(len(outputs), (there, KEYWORD))

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        found = [text.casefold() for text in scores.tolist()]
        there = np.array([self._has(text) for text in found], np.bool_)
        return similarity_inside(self.word.casefold(), found), there

    def _has(self, text: str) -> bool:
        if not self.whole:
            return self.word.casefold() in text.casefold()
        return re.search(rf"(?<!\w){re.escape(self.word.casefold())}(?!\w)", text.casefold()) is not None


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text, in lower case."""
    corpus = Corpus.of([text.casefold() for text in texts])
    out: list[list[str]] = [[] for _ in texts]
    for row, word in zip(corpus.words.row.tolist(), corpus.cut(corpus.words).strings(), strict=True):
        out[row].append(word)
    return out
