"""A constraint on word vectors: how similar the vector of a new word must be to that of the old one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...perturbations.embedding import Lists, Vectors, read_space
from ...resources import MissingResource, modified
from ...specs import check_number
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Ints, Mask
from .local import Local
from .words import edited_words

if TYPE_CHECKING:
    from ..space import Space

DIGITS = 6  # to which a cosine is rounded: later ones depend on how many are computed at once


@dataclass(frozen=True)
class WordVectors(Local):
    """The vectors of each edited word before and after have a cosine of at least `least` (TextFooler: 0.5; A2T: 0.8).

    `file` holds the vectors, plain or gzip (`word number number ...`, as word2vec and GloVe write them). A word that is not in it
    is looked up in lower case. If the old or the new word is still unknown, as misspellings are, the edit is allowed, as in
    TextAttack: other constraints have to judge it. A word may not be deleted.
    """

    least: float = 0.5
    file: str | None = None

    name: ClassVar[str] = "word-vectors"
    summary: ClassVar[str] = "edited words stay close in a space of word vectors, which you give"

    def __post_init__(self) -> None:
        check_number(self.least, -1, 1, "word-vectors.least")
        if self.file is not None and not (isinstance(self.file, str) and self.file):
            raise ValueError(f"expected the name of a file for word-vectors.file, got {self.file!r}")

    allows = Local.allows

    def extent(self, space: Space) -> tuple[Ints, Ints]:
        return space.touching

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        space = self._space()
        old, new = edited_words(before, edits)
        number = [
            [space.number.get(word, space.number.get(word.lower(), -1)) for word in words]
            for words in (before.cut(old).strings(), after.cut(new).strings())
        ]
        was, now = np.array(number, np.int64).reshape(2, -1)
        known = np.flatnonzero((was >= 0) & (now >= 0) & (was != now))
        one, other = (space.matrix[word[known]].astype(np.float64) for word in (was, now))
        fine = new.stop > new.start
        fine[known] = (one * other).sum(1).round(DIGITS) >= self.least
        allowed = np.ones(len(before), np.bool_)
        allowed[old.row[~fine]] = False
        return allowed

    def _space(self) -> Vectors:
        """Reads the file. Raises MissingResource if there is none, ValueError if it has no vectors."""
        if self.file is None:
            raise MissingResource("word-vectors needs a file of vectors: word-vectors(file='FILE')")
        path = Path(self.file)
        space = read_space(path, modified(path, "word vectors for word-vectors.file"))
        if isinstance(space, Lists):
            raise ValueError(
                "expected a file of vectors for word-vectors.file, got lists of neighbours without cosines"
            )
        return space
