"""BLEU (Papineni et al., 2002) by sacrebleu, as rows that add up: of one text, or of all texts together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from ..text.ragged import Floats, Ints
from .base import Answers, Metric, Task

ORDERS = 4  # n-grams of 1 to 4 words


class MissingMetric(LookupError):
    """A metric's package is not installed; the message is the command that installs it."""


@cache
def _sacrebleu() -> Any:
    """sacrebleu's BLEU; a text that is too short for four words in a row is scored by as many as it has."""
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise MissingMetric("expected sacrebleu for bleu, got none: pip install 'scuff[translation]'") from None
    return BLEU(effective_order=True)


@dataclass(frozen=True)
class Bleu(Metric):
    """BLEU with sacrebleu's defaults and effective order. Its rows are n-gram counts, so that their sum gives corpus BLEU.

    A row: for each order the n-grams that match, for each the n-grams of the text, the text's words, the reference's words, 1,
    and how many texts the row is the mean of, since what stands for no match at all depends on how many n-grams there are.
    """

    name: ClassVar[str] = "bleu"
    summary: ClassVar[str] = "the word n-grams that texts share with their references (BLEU), over all texts together"
    title: ClassVar[str] = "BLEU"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    @property
    def signature(self) -> str:
        bleu = _sacrebleu()
        bleu.sentence_score("a", ["a"])  # sacrebleu knows the number of references only after a score
        return str(bleu.get_signature())

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        out = np.ones((len(answers), 2 * ORDERS + 4))
        score = _sacrebleu().sentence_score
        for at, (said, wanted) in enumerate(zip(answers.tolist(), targets.tolist(), strict=True)):
            found = score(said, [wanted])
            out[at, :-2] = (*found.counts, *found.totals, found.sys_len, found.ref_len)
        return out

    def example_rows(
        self, answers: Answers, targets: Answers, labels: Sequence[str], example: Ints, examples: int
    ) -> Floats:
        out = super().example_rows(answers, targets, labels, example, examples)
        out[:, -1] *= np.bincount(example, minlength=examples)
        return out

    def score(self, total: Floats) -> Floats:
        """sacrebleu's formula: an order without a match counts as 1/2, 1/4, ... of an n-gram; none at all scores 0."""
        match, count = total[..., :ORDERS], total[..., ORDERS : 2 * ORDERS]
        said, wanted, rows, texts = np.moveaxis(total[..., 2 * ORDERS :], -1, 0)
        there = np.cumprod(count > 0, -1)  # orders up to the first one that the text is too short for
        smooth = 2.0 ** np.cumsum((match == 0) & (there > 0), -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            one = (rows / texts)[..., None]  # what one n-gram of one text adds to a mean
        precision = np.where(match > 0, match, one / smooth) / np.maximum(count, 1e-300)
        logs = np.where(there > 0, np.log(np.where(there > 0, precision, 1)), 0).sum(-1)
        shortness = np.minimum(0, 1 - wanted / np.maximum(said, 1e-300))
        value = np.exp(shortness + logs / np.maximum(there.sum(-1), 1))
        score = np.where((match > 0).any(-1), np.minimum(value, 1), 0)
        return np.where(np.isnan(total).any(-1), np.nan, score)
