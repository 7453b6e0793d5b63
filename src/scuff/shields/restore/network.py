"""The network of tier `context`, run by NumPy: which words of a text were changed, and which words were meant.

A text gives the same bytes alone and in any batch: every product is made per text, padded to one of a few lengths, or per block
of a fixed number of words, so that its shape, and with it the order of its sums, never depends on other texts.
build/shields/context.py trains the network.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from ...resources import load
from ...text.ragged import Ints, Ragged, bounds, spread
from ...text.random import text_bits
from ..lexicon import lexicon
from . import features as ft
from .candidates import Candidates

Array = npt.NDArray[np.float32]
FILE = "shield-context.npz"
LENGTHS = (8, 16, 32, 48, 64, 96)  # words of a text, padded
STEP, MARGIN = 64, 16  # longer texts are read in windows of the last length
TOKENS = 1536  # words of a batch, padding included
HEAD = 32  # width of a head of attention
BLOCK = 32  # words whose scores are computed in one product
GROUP = 64  # words of the lexicon that are compared by their best


@dataclass(frozen=True, eq=False)
class Network:
    """Weights by name, as torch named them."""

    weights: dict[str, Array]

    @classmethod
    def of(cls, data: bytes) -> Network:
        """Reads int8 weights with a scale per row."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        words = lexicon().words.take(np.arange(len(found["words"]) - 1))
        if int(found.pop("lexicon")) != words_bits(words):
            raise ValueError(f"expected the lexicon that {FILE} was trained with, got another")
        weights = {}
        for name, value in found.items():
            if not name.endswith(".scale"):
                scale = found.get(name + ".scale")
                weights[name] = value.astype(np.float32)
                if scale is not None:
                    weights[name] *= scale.astype(np.float32)[:, None]
        return cls(weights)

    @property
    def size(self) -> int:
        """How many words of the lexicon it knows."""
        return len(self.weights["words"]) - 1

    @cached_property
    def keys(self) -> ft.Keys:
        return ft.Keys(lexicon().words.take(np.arange(self.size)))

    @cached_property
    def layers(self) -> int:
        return sum(name.endswith(".mix.weight") for name in self.weights)

    @cached_property
    def across(self) -> dict[str, Array]:
        """The matrices of dense maps, transposed, since NumPy multiplies rows."""
        names = [name for name, value in self.weights.items() if name.endswith(".weight") and value.ndim == 2]
        return {name: np.ascontiguousarray(self.weights[name].T) for name in names}

    @cached_property
    def output(self) -> Array:
        """The words of the lexicon as columns, filled up to whole groups; the last row is what each gets anyway."""
        count = -(-self.size // GROUP) * GROUP
        out = np.zeros((self.weights["words"].shape[1] + 1, count), np.float32)
        out[:-1, : self.size] = self.weights["words"][:-1].T
        out[-1] = -1e9
        out[-1, : self.size] = self.weights["common"][:-1]
        return out

    def _dense(self, x: Array, name: str) -> Array:
        out: Array = x @ self.across[name + ".weight"]
        bias = self.weights.get(name + ".bias")
        if bias is not None:
            out += bias
        return out

    def _norm(self, x: Array, name: str) -> Array:
        out = x - x.mean(-1, keepdims=True)
        out *= 1 / np.sqrt(np.square(out).mean(-1, keepdims=True) + np.float32(1e-5))
        out *= self.weights[name + ".weight"]
        out += self.weights[name + ".bias"]
        return out

    # ---- words alone ----

    def vectors(self, noisy: Ragged, found: Candidates) -> tuple[Array, Array]:
        """What is known of each noisy word by itself: the sum of its features, and that of the words it may stand for.

        found: candidates of the words that the lexicon lacks.
        """
        table, words, gates = self.weights["table"], self.weights["words"], self.weights["gates"]
        rows, first = ft.features(noisy)
        out = np.empty((len(noisy), table.shape[1]), np.float32)
        for at in range(0, len(noisy), 256):  # every word has a feature, its length
            edges = first[at : at + 257]
            out[at : at + 256] = np.add.reduceat(table[rows[edges[0] : edges[-1]]], edges[:-1] - edges[0], axis=0)
        hints = self.keys.hints(noisy)
        hinted = np.zeros((len(noisy), words.shape[1]), np.float32)
        for turn in range(ft.HINTS):
            has = np.flatnonzero(hints[:, turn] >= 0)
            hinted[has] += words[hints[has, turn]] * gates[turn]
        guess, share = ft.guess(found, len(noisy), self.size)
        ranks, mixed = self.weights["ranks"], self.weights["mixed"]
        for turn in range(ft.GUESSES):
            has = np.flatnonzero(guess[:, turn] >= 0)
            hinted[has] += words[guess[has, turn]] * (ranks[turn] + mixed * share[has, turn, None])
        return out, hinted

    # ---- words in texts ----

    def read(
        self, noisy: Ragged, which: Ints, found: Candidates, row: Ints, before: Ints, after: Ints
    ) -> tuple[Array, Array]:
        """For each word of some texts: the log odds that it was changed, and what `best` and `scores` compare with words.

        noisy: the distinct words, in the case in which they are written. which: the distinct word of each word. found: candidates
        of distinct words that the lexicon lacks. row: the text of each word, ascending. before, after: `gaps` on both sides.
        """
        flag = np.zeros(which.size, np.float32)
        asked = np.zeros((which.size, self.weights["words"].shape[1]), np.float32)
        if not which.size:
            return flag, asked
        own, hinted = self.vectors(noisy, found)
        count = np.bincount(row)
        gap = np.stack((ft.GAP_BEFORE + before, ft.GAP_AFTER + after))
        first = bounds(count)[:-1][count > 0]
        gap[0, first] = ft.GAP_BEFORE + 254
        for length, start, size, low, high in windows(first, count[count > 0]):
            most = max(1, TOKENS // length)
            for at in range(0, start.size, most):
                part = slice(at, at + most)
                place = np.arange(length) + start[part, None]
                real = np.arange(length) < size[part, None]
                place = np.where(real, place, 0)
                odds, query = self._mix(own[which[place]], hinted[which[place]], gap[:, place], real)
                mine = (np.arange(length) >= low[part, None]) & (np.arange(length) < high[part, None])
                flag[place[mine]], asked[place[mine]] = odds[mine], query[mine]
        return flag, asked

    def _mix(self, own: Array, hinted: Array, gap: Ints, real: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
        table = self.weights["table"]
        x = own + self._dense(hinted, "lift")
        x += table[gap[0]]
        x += table[gap[1]]
        x = self._norm(x, "norm")
        x = self._dense(x, "across") + self._dense(np.maximum(self._dense(x, "up"), 0), "down")
        texts, length, width = x.shape
        hidden = np.where(real, np.float32(0), np.float32(-1e4))[:, None, None, :]
        far = np.arange(length)[None] - np.arange(length)[:, None]
        for turn in range(self.layers):
            name = f"layers.{turn}"
            parts = self._dense(self._norm(x, name + ".norm1"), name + ".mix")
            query, key, value = parts.reshape(texts, length, 3, width // HEAD, HEAD).transpose(2, 0, 3, 1, 4)
            near = self.weights[name + ".near"]
            reach = near.shape[1] // 2
            weight = query @ key.swapaxes(-1, -2)
            weight *= np.float32(HEAD**-0.5)
            weight += near[:, np.clip(far, -reach, reach) + reach]
            weight += hidden
            weight -= weight.max(-1, keepdims=True)
            np.exp(weight, out=weight)
            weight /= weight.sum(-1, keepdims=True)
            seen = (weight @ value).transpose(0, 2, 1, 3).reshape(texts, length, width)
            x += self._dense(seen, name + ".back")
            x += self._dense(np.maximum(self._dense(self._norm(x, name + ".norm2"), name + ".up"), 0), name + ".down")
        x = self._norm(x, "last")
        return self._dense(x, "changed")[..., 0], self._dense(x, "ask")

    # ---- the lexicon ----

    def best(self, asked: Array, most: int = 8) -> tuple[Ints, Array]:
        """The words of the lexicon with the best scores, best first, and their scores: [words, most]."""
        words = np.empty((len(asked), most), np.int64)
        scores = np.empty((len(asked), most), np.float32)
        block = np.ones((BLOCK, asked.shape[1] + 1), np.float32)
        every = np.empty((BLOCK, self.output.shape[1]), np.float32)
        for at in range(0, len(asked), BLOCK):
            count = min(BLOCK, len(asked) - at)
            block[:count, :-1] = asked[at : at + count]
            np.matmul(block, self.output, out=every)
            grouped = every[:count].reshape(count, -1, GROUP)
            groups = np.argpartition(-grouped.max(2), most, axis=1)[
                :, :most
            ]  # the best words are in the groups of the best
            some = np.take_along_axis(grouped, groups[:, :, None], 1).reshape(count, -1)
            inner = np.argpartition(-some, most, axis=1)[:, :most]
            number = np.take_along_axis(groups, inner // GROUP, 1) * GROUP + inner % GROUP
            value = np.round(np.take_along_axis(some, inner, 1), 3)
            order = np.lexsort((number, -value))
            words[at : at + count] = np.take_along_axis(number, order, 1)
            scores[at : at + count] = np.take_along_axis(value, order, 1)
        return words, scores

    def scores(self, asked: Array, which: Ints, word: Ints) -> Array:
        """The score of some (noisy word, word of the lexicon) pairs; words beyond `size` get that of an unknown word."""
        row = np.where((word >= 0) & (word < self.size), word, self.size)
        found = np.einsum("ij,ij->i", asked[which], self.weights["words"][row])
        found += self.weights["common"][row]
        return np.round(found, 3)


def words_bits(words: Ragged) -> int:
    """A number that stands for a list of words in their order."""
    order = np.arange(1, len(words) + 1, dtype=np.uint64)
    return int(np.bitwise_xor.reduce(text_bits(words) * order))


def windows(first: Ints, count: Ints) -> list[tuple[int, Ints, Ints, Ints, Ints]]:
    """Texts as windows by padded length: (length, where each starts, its words, the part of it whose answers are used)."""
    out = []
    longest = LENGTHS[-1]
    fits = np.searchsorted(LENGTHS, count)
    for turn, length in enumerate(LENGTHS):
        some = fits == turn
        if some.any():
            out.append((length, first[some], count[some], np.zeros_like(count[some]), count[some]))
    some = count > longest
    if some.any():
        begin, size = first[some], count[some]
        many = -(-(size - longest) // STEP) + 1
        text, number = np.repeat(np.arange(many.size), many), spread(np.zeros_like(many), many)
        last = number == many[text] - 1
        start = np.where(last, size[text] - longest, number * STEP)
        low = np.where(number == 0, 0, number * STEP + MARGIN - start)
        high = np.where(last, longest, (number + 1) * STEP + MARGIN - start)
        out.append((longest, begin[text] + start, np.full(start.size, longest), low, high))
    return out


@cache
def network() -> Network:
    """The network that ships with Scuff, read once."""
    return Network.of(load(FILE))
