"""Whether edited words keep their part of speech."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...language.tagger import UNIVERSAL, tag_words
from ...text import Corpus, Edits
from ...text.ragged import Mask
from .base import Constraint
from .windows import Window, windows
from .words import edited_words

REMEMBERED = 1 << 17  # windows whose tags are kept: a search comes back to them
EITHER = ("NOUN", "VERB")

_known: dict[Window, str] = {}


@dataclass(frozen=True)
class PartOfSpeech(Constraint):
    """Every edited word has the same universal part of speech as before, among the tokens around it in its sentence.

    strict=False: nouns and verbs may stand for each other (TextFooler, Jin et al. 2020). The tagger guesses what a misspelt word
    is, as in the papers. Other edited words nearby count as they are after their edits. A word may not vanish. English only.
    """

    strict: bool = True

    name: ClassVar[str] = "pos"
    summary: ClassVar[str] = "edited words keep their part of speech"

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ValueError(f"expected True or False for pos.strict, got {self.strict!r}")

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        old, new = edited_words(before, edits)
        was, now = map(_tags, windows(before, after, old, new))
        fine = np.array([self._same(one, other) for one, other in zip(was, now, strict=True)], np.bool_)
        allowed = np.ones(len(before), np.bool_)
        allowed[old.row[~fine]] = False
        return allowed

    def _same(self, one: str, other: str) -> bool:
        return one == other or (not self.strict and one in EITHER and other in EITHER)


def _tags(asked: Sequence[Window]) -> list[str]:
    """Universal tags; none for a word that is gone."""
    if len(_known) > REMEMBERED:
        _known.clear()
    new = list(dict.fromkeys(window for window in asked if window not in _known))
    for window, tags in zip(new, tag_words([tokens for tokens, _ in new]), strict=True):
        _known[window] = UNIVERSAL[tags[window[1]]] if tags else ""
    return [_known[window] for window in asked]
