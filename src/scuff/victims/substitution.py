"""What a victim offers to attacks that substitute pieces of its input by its gradients (Michel et al. 2019, eq. 2 to 4; HotFlip,
Ebrahimi et al. 2018), and the arithmetic of such a substitution. NumPy only; `gains` also takes torch tensors.

A *piece* is an entry of the victim's vocabulary: a word, or a part of one. To first order, the adversarial loss rises by
(new - old) . gradient if the vector of one piece takes the place of another's. `gains` computes that for every place and every
piece in one product; which of them may be proposed is up to the attack.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats, Ints, Mask, Ragged
from ..text.unicode import classes, continues, is_white
from .base import Column, NotEnoughAccess, Victim

NEAREST = 10  # neighbours of a piece, as in the paper
MAX_SCRAMBLING = 3  # swaps of CharSwap at most; the paper names no number
KINDS = 4  # of pieces
ENTRIES = 1 << 24  # of a matrix of similarities at once: more might not fit into memory


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The pieces of a victim's source side.

    surfaces: what each piece reads like inside a text; "" for special ones and for those that are no whole characters: both are
    never proposed. begins: whether a piece begins a word ("Ġthe", "▁the", any word of a word model). unknown: the piece of what
    is not in the vocabulary; -1: none. vectors: float32[pieces, size], the source embeddings, by which the victim's slopes are
    gradients.

    A replacement is of the same kind: begins + 2 * mark, where a mark is a piece without any letter or digit. Otherwise a word
    would take the place of a full stop, which continues a word in many vocabularies, and stick to the word before it.
    """

    surfaces: Sequence[str]
    begins: Mask
    unknown: int
    vectors: npt.NDArray[np.float32]

    def __contains__(self, word: object) -> bool:
        """Whether a word is a piece; whatever its case, if no piece has a capital."""
        return word in self._known or (self._uncased and isinstance(word, str) and word.lower() in self._known)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.surfaces)

    @cached_property
    def _uncased(self) -> bool:
        return all(surface == surface.lower() for surface in self.surfaces)

    @cached_property
    def proposable(self) -> Mask:
        """Which pieces may stand in a text: not special, not empty, without white space, not a part of the letter before."""
        texts = Ragged.of(list(self.surfaces))
        white = np.bincount(np.repeat(np.arange(len(texts)), texts.lengths), is_white(texts.codes), len(texts))
        behind = Ragged.of([f"a{surface}" for surface in self.surfaces])
        part = np.zeros(behind.codes.size + 1, np.bool_)
        part[continues(classes(behind.codes), behind.offsets)] = True
        fine: Mask = (texts.lengths > 0) & (white == 0) & ~part[behind.offsets[:-1] + 1]
        return fine

    @cached_property
    def kinds(self) -> Ints:
        """The kind of each piece, 0 to 3."""
        marks = np.fromiter((is_mark(surface) for surface in self.surfaces), np.bool_, len(self.surfaces))
        return self.begins + 2 * marks

    def pieces(self, kind: int) -> Ints:
        """The pieces of a kind that may be proposed."""
        return self._pieces[kind]

    @cached_property
    def _pieces(self) -> list[Ints]:
        return [np.flatnonzero(self.proposable & (self.kinds == kind)) for kind in range(KINDS)]

    def nearest(self, ids: Ints, kind: int, count: int = NEAREST) -> Ints:
        """int[n, count]: the nearest pieces of a kind, the nearest first; -1: no more.

        By the cosine of the vectors, because the norm of an embedding follows the frequency of its piece: by Euclid's distance
        rare pieces, whose vectors are short, are neighbours of everything.
        """
        known = self._nearest.setdefault((int(kind), count), {})
        missing = np.array([piece for piece in np.unique(ids).tolist() if piece not in known], np.int64)
        others = self.pieces(kind)
        step = max(1, ENTRIES // max(1, others.size))
        for at in range(0, missing.size, step):
            part = missing[at : at + step]
            alike = self._directions[part] @ self._directions[others].T
            alike[part[:, None] == others] = -np.inf
            found = np.full((part.size, count), -1)
            best, column = highest(alike, count)
            found[:, : best.shape[1]] = np.where(np.isfinite(best), others[column], -1)
            known |= dict(zip(part.tolist(), found, strict=True))
        return np.stack([known[piece] for piece in ids.tolist()]) if ids.size else np.empty((0, count), np.int64)

    @cached_property
    def _nearest(self) -> dict[tuple[int, int], dict[int, Ints]]:
        return {}

    @cached_property
    def _directions(self) -> npt.NDArray[np.float32]:
        norm = np.sqrt((self.vectors**2).sum(-1, keepdims=True))
        return self.vectors / np.maximum(norm, np.finfo(np.float32).tiny)


class Located(NamedTuple):
    """The pieces of a text, special ones left out, and their places in it: characters start to stop."""

    ids: Ints
    start: Ints
    stop: Ints


@runtime_checkable
class Substitutable(Protocol):
    """What a victim has, beside a Victim's own, if it gives gradients for substitutions."""

    def vocabulary(self) -> Vocabulary: ...

    def located(self, texts: Column) -> list[Located]:
        """The pieces of each text that the model sees: what is beyond its maximal length is left out."""

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        """float[pieces, size] of each text: the gradient of the adversarial loss by the embedding of each piece of `located`.

        The loss is to be raised. Of texts: eq. (4), the sum over t of log(1 - p(y_t | x, y_1 .. y_t-1)), y the target. Of labels:
        log(1 - p(label)).
        """


def is_mark(text: str) -> bool:
    """Whether a text has signs, but no letter and no digit."""
    return bool(text) and not any(map(str.isalnum, text))


def gives_slopes(victim: Any) -> bool:
    """Whether a victim gives gradients for substitutions. One whose class can, but not with every model, has `gives_slopes`."""
    return isinstance(victim, Substitutable) and bool(getattr(victim, "gives_slopes", True))


def require_slopes(victim: Victim, why: str) -> None:
    """Raises NotEnoughAccess if a victim gives no gradients for substitutions."""
    if not gives_slopes(victim):
        raise NotEnoughAccess(
            f"expected a victim with gradients of its input's embeddings for {why}, got {victim.name}, which gives "
            f"none{victim.hint}"
        )


def gains(vectors: Any, ids: Any, slopes: Any, sign: bool = False, among: Any = None) -> Any:
    """Eq. (3) for all places and pieces: [..., places, pieces], what the loss gains by each piece in each place.

    vectors: [pieces, size]. ids: [..., places], the pieces that stand there. slopes: [..., places, size]. sign: takes only the
    sign of the gradient. among: the pieces that may be proposed, if not all. Arrays or tensors, all of one kind and device.
    """
    if sign:
        slopes = signs(slopes, vectors[0, 0] * 0 + 1)
    return slopes @ (vectors if among is None else vectors[among]).T - (slopes * vectors[ids]).sum(-1)[..., None]


def signs(slopes: Any, one: Any = 1.0) -> Any:
    """-1, 0 or 1 for each number, in the type of `one`."""
    return (slopes > 0) * one - (slopes < 0) * one


def highest(values: npt.NDArray[Any], count: int) -> tuple[npt.NDArray[Any], Ints]:
    """The `count` highest values of each row, or all if there are fewer, from the highest down, and their columns."""
    count = min(count, values.shape[1])
    if not count:
        return values[:, :0], np.empty((len(values), 0), np.int64)
    if count == 1:  # many times faster
        column = values.argmax(1)[:, None]
        return np.take_along_axis(values, column, 1), column
    column = np.argpartition(values, -count, 1)[:, -count:]
    found = np.take_along_axis(values, column, 1)
    least = found.min(1)
    for row in np.flatnonzero(
        (values >= least[:, None]).sum(1) > count
    ).tolist():  # of equal values not the first, maybe
        column[row] = np.argsort(-values[row], kind="stable")[:count]
        found[row] = values[row, column[row]]
    order = np.lexsort((column, -found), 1)  # of equal values the first comes first
    return np.take_along_axis(found, order, 1), np.take_along_axis(column, order, 1)


def rounded(gain: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Gains to six digits (20 bits): the last ones depend on the batch, and must not decide which of two comes first."""
    bits = np.ascontiguousarray(gain, np.float32).view(np.int32)
    return ((bits + 8) & -16).view(np.float32)


def make_oov(word: str, known: Container[str], random: Sequence[float]) -> str:
    """CharSwap, appendix A.1: a spelling of a word that is not in the vocabulary.

    Words of more than three letters: two inner neighbours are swapped, and again, until the word is out of vocabulary; the first
    and the last letter stay. If nothing worked, or the word is too short, its last letter is repeated until it is. A letter is a
    grapheme cluster. random: a number in [0, 1) for each swap; their count is the appendix's max_scrambling. A word that is out
    of vocabulary already and too short to be scrambled is returned as it is.
    """
    if not word:
        return word
    letters = clusters(word)
    if len(letters) > 3:
        for number in random:
            at = 1 + int(number * (len(letters) - 3))
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
            if (made := "".join(letters)) not in known and made != word:
                return made
    last, made = letters[-1], "".join(letters)
    while made in known:
        made += last
    return made


def clusters(word: str) -> list[str]:
    """The grapheme clusters of a word."""
    if word.isascii():
        return list(word)
    texts = Ragged.of([word])
    tail = set(continues(classes(texts.codes), texts.offsets).tolist())
    out: list[str] = []
    for at, letter in enumerate(word):
        if at in tail:
            out[-1] += letter
        else:
            out.append(letter)
    return out
