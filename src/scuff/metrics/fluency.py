"""How likely a text is by a language model: pseudo-perplexity by a masked one, perplexity of characters without one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..huggingface.masked import MaskedModel
from ..text.ragged import Floats

TOGETHER = 256  # texts that a masked model is asked about at once
ORDER = 5  # characters that decide a probability, the one itself included
LETTERS = 300  # characters that a text may be made of: what was never seen shares what is left
EDGE = "\n"  # stands before and behind a text


def masked_perplexity(texts: Sequence[str], mlm: str) -> Floats:
    """The pseudo-perplexity of each text by a masked language model (folder or id), per piece; 1 for an empty text."""
    model, parts = MaskedModel.load(mlm), [np.empty(0)]
    for at in range(0, len(texts), TOGETHER):  # each of a text's pieces takes a row of memory
        total, count = model.log_likelihood(texts[at : at + TOGETHER])
        parts.append(np.exp(-total / np.maximum(count, 1)))
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class CharacterModel:
    """A character n-gram model with Witten-Bell smoothing: each order leaves to the shorter one as much as it has seen kinds.

    seen: how often each character followed each context of 0 to ORDER - 1 characters.
    """

    seen: dict[str, dict[str, int]]

    @classmethod
    def learn(cls, texts: Iterable[str]) -> CharacterModel:
        """Counts the n-grams of texts."""
        seen: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for text in texts:
            padded = EDGE * (ORDER - 1) + text + EDGE
            for at in range(ORDER - 1, len(padded)):
                for back in range(ORDER):
                    seen[padded[at - back : at]][padded[at]] += 1
        return cls({context: dict(follow) for context, follow in seen.items()})

    def perplexity(self, texts: Sequence[str]) -> Floats:
        """The perplexity of each text, per character, its end included."""
        return np.array([math.exp(-self._log_likelihood(text) / (len(text) + 1)) for text in texts])

    def _log_likelihood(self, text: str) -> float:
        padded = EDGE * (ORDER - 1) + text + EDGE
        return sum(math.log(self._probability(padded, at)) for at in range(ORDER - 1, len(padded)))

    def _probability(self, padded: str, at: int) -> float:
        value = 1 / LETTERS
        for back in range(ORDER):
            follow = self.seen.get(padded[at - back : at])
            if follow is None:  # a context that was never seen has no longer ones, either
                break
            count, kinds = sum(follow.values()), len(follow)
            value = (follow.get(padded[at], 0) + kinds * value) / (count + kinds)
        return value
