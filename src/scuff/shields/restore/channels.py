"""What errors cost: bits for each way in which a word can have become another string of letters."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ...perturbations.channel import NoisyChannel
from ...perturbations.keyboard import neighbours
from ...resources import load
from ...text.ragged import Ints
from .keys import APOSTROPHE, HYPHEN, OTHER, VOWEL, Small, Spelt

Bitcosts = npt.NDArray[np.float32]
SIZE = OTHER + 2  # letters, and the padding behind a word
FAR = np.float32(99.0)
BAND = 3  # by how many letters two words may be shifted against each other
FIRST = 1.5  # more bits for an edit of the first letter, which people seldom get wrong
SWAP = 6.0
SYMBOL = 2.0  # a symbol in the place of a letter: st*pid
PEOPLE = 0.5  # the share of people's misspellings among typos; the others are slips on the keyboard


@cache
def edit_costs() -> tuple[Bitcosts, Bitcosts, Bitcosts, Bitcosts]:
    """Bits for replacing a letter [meant, written], leaving one out [before, meant], adding one [before, written], and for a
    swap [first, second], from the rates of people's misspellings (natural.xz) and the keyboard.
    """
    rules = NoisyChannel.read(load("natural.xz"))
    weight = np.diff(rules.weight).astype(np.float64)
    context = np.repeat(np.arange(rules.first.size - 1), np.diff(rules.first))
    before, letter, after = context // 784 % 28, context // 28 % 28, context % 28
    texts = rules.texts.take(rules.number)
    first = np.append(texts.codes, np.uint32(0))[np.minimum(texts.offsets[:-1], texts.codes.size)].astype(
        np.int64
    ) - ord("a")
    second = np.append(texts.codes, np.zeros(2, np.uint32))[texts.offsets[:-1] + 1].astype(np.int64) - ord("a")
    usual = (first >= 0) & (first < 26) & (letter < 26) & (before < 28)
    single = usual & (rules.taken == 1)
    replaced = np.zeros((SIZE, SIZE))
    one = single & (texts.lengths == 1)
    np.add.at(replaced, (letter[one], first[one]), weight[one])
    added = np.zeros((SIZE, SIZE))
    two = single & (texts.lengths == 2) & (second >= 0) & (second < 26)
    behind = two & (first == letter)
    np.add.at(added, (letter[behind], second[behind]), weight[behind])
    ahead = two & (second == letter) & (first != letter) & (before < 26)
    np.add.at(added, (before[ahead], first[ahead]), weight[ahead])
    left_out = np.zeros((SIZE, SIZE))
    gone = (rules.taken == 1) & (texts.lengths == 0) & (letter < 26) & (before < 26)
    np.add.at(left_out, (before[gone], letter[gone]), weight[gone])
    pair = usual & (rules.taken == 2) & (after < 26)
    shorter = pair & (texts.lengths == 1) & (first == letter)
    np.add.at(left_out, (letter[shorter], after[shorter]), weight[shorter])
    total = sum(float(each.sum()) for each in (replaced, added, left_out))
    keys = np.zeros((SIZE, SIZE))
    for key, near in neighbours("qwerty").items():
        if key.islower():
            keys[ord(key) - ord("a"), [ord(other) - ord("a") for other in near]] = 1 / len(near)
    spread_out = np.zeros((SIZE, SIZE))
    spread_out[:26, :26] = 1 / 26
    share = PEOPLE / total * 26  # by letter: how much likelier than others some are
    replace = share * replaced + (1 - PEOPLE) * 0.35 * keys + 0.06 * spread_out
    doubled = np.eye(SIZE) * 0.25
    insert = share * added + (1 - PEOPLE) * (0.4 * keys + doubled) + 0.06 * spread_out
    omit = np.full((SIZE, SIZE), 0.12) + share * left_out
    omit[np.arange(26), np.arange(26)] += 0.15  # one of two equal letters
    costs = [_bits(table) for table in (replace, insert, omit)]
    for table in costs:
        table[APOSTROPHE, :] = np.minimum(table[APOSTROPHE, :], 9)
        table[:, OTHER] = np.minimum(table[:, OTHER], SYMBOL + 6)
    costs[0][:, OTHER] = SYMBOL
    costs[1][:, APOSTROPHE] = costs[1][:, HYPHEN] = 6
    costs[2][:, APOSTROPHE] = costs[2][:, HYPHEN] = 2
    np.fill_diagonal(costs[0], 0)
    swap = np.full((SIZE, SIZE), SWAP, np.float32)
    swap[np.ix_(VOWEL.nonzero()[0], VOWEL.nonzero()[0])] = SWAP - 1
    return costs[0], costs[2], costs[1], swap


def _bits(rate: npt.NDArray[np.float64]) -> Bitcosts:
    """-log2 of a rate per letter; about one letter in sixteen of a misspelt word is wrong."""
    return np.clip(-np.log2(np.maximum(rate, 1e-9) / 8), 1.5, 13).astype(np.float32)


def edits(meant: Spelt, written: Spelt, band: int = BAND) -> Bitcosts:
    """Bits of the cheapest edits that make each word of `meant` the one of `written`; FAR if they are too far apart.

    Replacing, adding and leaving out letters and swaps of two neighbours, in a band around the diagonal; all pairs at once.
    """
    out = np.full(len(meant), FAR, np.float32)
    size = np.maximum(meant.lengths, written.lengths)
    near = np.abs(meant.lengths - written.lengths) <= band
    for low, high in ((0, 4), (4, 6), (6, 8), (8, 11), (11, 15), (15, 40)):
        some = np.flatnonzero(near & (size > low) & (size <= high))
        for block in np.array_split(some, max(1, some.size // 10_000)):
            if block.size:
                out[block] = _banded(meant.take(block), written.take(block), band)
    return out


def _banded(meant: Spelt, written: Spelt, band: int) -> Bitcosts:
    replace, omit, insert, swap = (table.ravel() for table in edit_costs())
    rows, columns = int(meant.lengths.max()), int(written.lengths.max())
    a, b = (np.ascontiguousarray(each.padded(size).T) for each, size in ((meant, rows), (written, columns)))
    edge = np.full((1, len(meant)), OTHER + 1, np.uint8)
    row, gone, more = _indices(a), _indices(edge, a[:-1]), _indices(edge, b[:-1])
    left_out, added = omit.take(gone + a), insert.take(more + b)
    cell = np.full((rows + 1, columns + 1, len(meant)), FAR, np.float32)
    cell[0, 0] = 0
    for i in range(rows + 1):
        for j in range(max(0, i - band), min(columns, i + band) + 1):
            first = np.float32(FIRST if min(i, j) <= 1 else 0.0)
            best = cell[i, j]
            if i and j:
                cost = replace.take(row[i - 1] + b[j - 1])
                if first:
                    cost += first * (cost > 0)
                cost += cell[i - 1, j - 1]
                np.minimum(best, cost, out=best)
                if i > 1 and j > 1:
                    crossed = np.flatnonzero((a[i - 1] == b[j - 2]) & (a[i - 2] == b[j - 1]))
                    if crossed.size:
                        turned = cell[i - 2, j - 2, crossed] + swap[row[i - 2, crossed] + a[i - 1, crossed]]
                        best[crossed] = np.minimum(best[crossed], turned)
            for there, cost in ((i and j <= i - 1 + band, left_out), (j and j - 1 >= i - band, added)):
                if there:
                    before = cell[i - 1, j] + cost[i - 1] if cost is left_out else cell[i, j - 1] + cost[j - 1]
                    np.minimum(best, before + first if first else before, out=best)
    found: Bitcosts = cell[meant.lengths, written.lengths, np.arange(len(meant))]
    return found


def _indices(*letters: Small) -> Ints:
    """Where the row of each letter begins in a table of costs."""
    return np.concatenate(letters).astype(np.intp) * SIZE


def cut_cost(letters: Ints) -> Bitcosts:
    """Bits of cutting so many letters off the end of a word."""
    table = np.array([FAR, 0.4, 3.5, 5.0, 6.0, 7.0], np.float32)
    return table[np.clip(letters, 0, table.size - 1)] + np.float32(0.5) * np.maximum(letters - 5, 0)
