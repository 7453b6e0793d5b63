"""Edit distances (Levenshtein, in code points) of texts, words and edited texts, by RapidFuzz."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Floats, Ints, Ragged

NEAR = 31  # an expected distance: a hint that speeds up long pairs that differ little, and changes no result
LONG = 5000  # characters: the time for a distance grows with the square of the length


def edit_distance(before: Sequence[str], after: Sequence[str], most: int | None = None) -> npt.NDArray[np.int64]:
    """The distance of each changed text from its original. Divided by the length it is RobTest's degree (appendix C).

    most: larger distances are `most` + 1, which is found out sooner.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    return cpdist(before, after, scorer=Levenshtein.distance, dtype=np.int64, score_hint=NEAR, score_cutoff=most)


def similarity_inside(word: str, texts: Sequence[str]) -> Floats:
    """How similar the part of each text is that is most similar to a word, in [0, 1]; 1 where the text has it."""
    from rapidfuzz.fuzz import partial_ratio

    # a text shorter than the word would be looked for in the word: it is similar only as far as it is long
    near = [partial_ratio(word, text) / 100 * min(1.0, len(text) / max(1, len(word))) for text in texts]
    return np.array(near, np.float64)


def word_distance(old: Ragged, new: Ragged) -> Ints:
    """The distance of each new word or phrase from the old one."""
    return edit_distance(old.strings(), new.strings())


def edits_distance(
    corpus: Corpus,
    edits: Edits,
    before: Sequence[str] | None = None,
    after: Sequence[str] | None = None,
    example: Ints | None = None,
) -> Ints:
    """The distance of each text after its edits from the original. For a text above LONG characters, the sum of the distances of
    its edits, which is never lower.

    before, after: the texts, if they are known as strings already. example: which text of the corpus each row is of; by default
    rows are the texts.
    """
    before = corpus.strings() if before is None else before
    after = corpus.apply(edits).strings() if after is None else after
    long = corpus.lengths > LONG
    if not long.any():
        return edit_distance(before, after)
    if example is not None:
        corpus, long = corpus.take(example), long[example]
    short = np.flatnonzero(~long).tolist()
    out = np.zeros(long.size, np.int64)
    out[short] = edit_distance([before[at] for at in short], [after[at] for at in short])
    some = edits.where(long[edits.row])
    old, new = corpus.cut(some.spans(corpus.offsets)).strings(), some.text.strings()
    return out + np.bincount(some.row, edit_distance(old, new), long.size).astype(np.int64)


def came_from(before: str, after: str) -> Ints:
    """For each character of a changed text, the character of the original that it stands for, by the fewest edits.

    What was inserted belongs to the character before it, or to the one behind it where there is a space or nothing before.
    Returns -1 everywhere if the original is empty.
    """
    from rapidfuzz.distance import Levenshtein

    out = np.full(len(after), -1, np.int64)
    if not before:
        return out
    for edit in Levenshtein.opcodes(before, after, score_hint=NEAR):
        start = edit.src_start
        if edit.tag in ("equal", "replace"):
            out[edit.dest_start : edit.dest_end] = np.arange(start, edit.src_end)
        elif edit.tag == "insert":
            behind = start < len(before) and (start == 0 or before[start - 1].isspace())
            out[edit.dest_start : edit.dest_end] = start if behind else start - 1
    return out
