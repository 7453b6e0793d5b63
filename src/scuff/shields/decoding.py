"""What words of look-alikes say: for each character the plain ones it may stand for, and of all readings the likeliest word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..text.ragged import Codes, Ints, Ragged, bounds, spread, sums
from .lexicon import lexicon
from .look_alikes import MARK, SIGN, look_alikes

READINGS = 64  # at most so many of a word are compared
CLOSE = 60  # another reading of a character is tried if it costs at most so much more than the best
COMMON = 2500  # words that nobody reads as others
UNKNOWN = 34.0  # bits that a reading costs which is no word
SHORT = 1500  # of the short ones, only these words: any three letters are some abbreviation
A_NUMBER = 14.0
SHAPE = 2.5  # costs of the table that make a bit
Floats = npt.NDArray[np.float64]


def decode(words: Ragged) -> Codes:
    """The plain character of each character of the words: GONE for marks, the character itself where it looks like none."""
    table = look_alikes()
    codes = words.codes
    number = table.number[codes]
    near = table.near[number].astype(np.uint32)
    cost = table.cost[number].astype(np.int64)
    plain = (codes < 128) | (table.kind[codes] == SIGN)  # a curly apostrophe stays
    near[plain, 0], cost[plain, 0] = codes[plain], 0
    none = (near[:, 0] == 0) & ~plain
    near[none, 0], cost[none, 0] = codes[none], 0
    _prefer_digits(codes, near, cost, words.offsets)
    mark = table.kind[codes] == MARK
    near[mark, 0] = 0
    word = np.repeat(words.lengths, words.lengths)
    ways = ((near > 0) & (cost <= cost[:, :1] + np.where(word > 1, CLOSE, 0)[:, None])).sum(1)
    ways[plain | none | mark] = 1
    out = near[:, 0].copy()
    open_ = np.flatnonzero(sums(ways > 1, words.offsets) > 0)
    if not open_.size:
        return out
    best = Ragged(out, words.offsets).take(open_)
    tied = (ways > 1) & (cost[:, 1] == cost[:, 0])
    found = lexicon().number(without_gaps(best))
    doubt = (found < 0) | (found > COMMON) | (sums(tied, words.offsets)[open_] > 0)
    open_ = open_[doubt]
    part = spread(words.offsets[open_], words.lengths[open_])
    if part.size:
        out[part] = _likeliest(near[part], cost[part], ways[part], bounds(words.lengths[open_]))
    return out


def _prefer_digits(codes: Codes, near: npt.NDArray[np.uint32], cost: Ints, offsets: Ints) -> None:
    """Among digits a character that looks like one is one first. In place."""
    digit = (near >= 48) & (near <= 57)
    sure = digit[:, 0] & (cost[:, 0] <= 10)
    where = np.flatnonzero(np.repeat(sums(sure, offsets) > 0, np.diff(offsets)) & digit.any(1) & ~sure & (codes > 127))
    where = where[digit[where].argmax(1) > 0]
    if where.size:
        best = digit[where].argmax(1)
        plain = near[where, best]
        near[where, best], near[where, 0] = near[where, 0], plain
        cost[where, 0] = 0
        cost[where, 1:] = np.where(cost[where, 1:] < 255, np.maximum(cost[where, 1:], 30), 255)


def without_gaps(words: Ragged) -> Ragged:
    """The words without characters that are gone."""
    kept = words.codes > 0
    return words if kept.all() else Ragged(words.codes[kept], bounds(sums(kept, words.offsets)))


def _likeliest(near: npt.NDArray[np.uint32], cost: Ints, ways: Ints, offsets: Ints) -> Codes:
    """Of all readings of each word the one that costs least: by shape, as a word, and in its mixture of cases and digits."""
    ways = _limited(ways, cost, offsets)
    logs = np.log2(ways)
    total = np.round(np.exp2(_sums(logs, offsets))).astype(np.int64)
    inner = np.cumsum(logs) - logs
    stride = np.round(np.exp2(inner - np.repeat(inner[offsets[:-1]], np.diff(offsets)))).astype(np.int64)
    reading = np.arange(total.sum()) - np.repeat(bounds(total)[:-1], total)
    word = np.repeat(np.arange(total.size), total)
    length = np.diff(offsets)[word]
    at = spread(offsets[word], length)
    which = np.repeat(reading, length) // stride[at] % ways[at]
    codes, edges = near[at, which], bounds(length)
    price = sums(cost[at, which], edges) / (10 * SHAPE) * 4 + _word_costs(Ragged(codes, edges)) + _mixture(codes, edges)
    order = np.lexsort((reading, price, word))
    first = order[bounds(total)[:-1]]
    taken: Codes = codes[spread(edges[first], length[first])]
    return taken


def _sums(values: Floats, edges: Ints) -> Floats:
    running = np.append(0.0, np.cumsum(values))
    out: Floats = running[edges[1:]] - running[edges[:-1]]
    return out


def _limited(ways: Ints, cost: Ints, offsets: Ints) -> Ints:
    """Fewer ways to read characters, until a word has no more than READINGS."""
    word = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    for most in (3, 2):
        many = _sums(np.log2(ways), offsets) > np.log2(READINGS) + 1e-9
        ways = np.where(many[word], np.minimum(ways, most), ways)
    order = np.lexsort((np.where(ways > 1, cost[:, 1] - cost[:, 0], 255), word))  # the closest choices first
    rank = np.empty(word.size, np.int64)
    rank[order] = np.arange(word.size) - offsets[:-1][word]
    many = _sums(np.log2(ways), offsets) > np.log2(READINGS) + 1e-9
    return np.where(many[word] & (rank >= int(np.log2(READINGS))), 1, ways)


def _word_costs(words: Ragged) -> Floats:
    """Bits of each reading as a word; what stands before an apostrophe may be one by itself."""
    known = lexicon()
    words = without_gaps(words)
    number = known.number(words)
    cost = np.where(number < 0, UNKNOWN, known.cost[number]).astype(np.float64)
    cost[(words.lengths < 4) & (number > SHORT)] = UNKNOWN - 2
    digits = sums((words.codes >= 48) & (words.codes <= 57), words.offsets)
    cost[(digits == words.lengths) & (digits > 1)] = A_NUMBER
    tick = np.flatnonzero((words.codes == 0x27) | (words.codes == 0x2019))
    if tick.size:
        word = np.searchsorted(words.offsets, tick, "right") - 1
        left = np.flatnonzero((number < 0)[word])
        stem = tick[left] - words.offsets[word[left]]
        parts = Ragged(words.codes[spread(words.offsets[word[left]], stem)], bounds(stem))
        found = known.number(parts)
        cost[word[left]] = np.where(found < 0, UNKNOWN, known.cost[found] + 2)
    return cost


def _mixture(codes: Codes, edges: Ints) -> Floats:
    """Bits of capitals behind small letters, small ones behind two capitals, digits and signs among letters."""
    lower, upper = (codes >= 97) & (codes <= 122), (codes >= 65) & (codes <= 90)
    digit = (codes >= 48) & (codes <= 57)
    other = ~(lower | upper | digit) & (codes < 128) & (codes != 0x27) & (codes > 0)
    first = np.zeros(codes.size + 1, np.bool_)
    first[edges] = True
    same = ~first[1:-1]
    price = np.zeros(codes.size)
    price[1:] += 10.0 * (same & lower[:-1] & upper[1:])
    price[1:] += 3.0 * (same & (codes[:-1] == 0x27) & upper[1:])
    price[1:] += 5.0 * (same & (digit[:-1] ^ digit[1:]))
    if codes.size > 2:
        run = same[1:] & same[:-1]
        price[2:] += 6.0 * (run & upper[:-2] & upper[1:-1] & lower[2:])
        price[2:] += 6.0 * (run & lower[:-2] & (codes[1:-1] == 0x27) & upper[2:])
    price += 5.0 * other
    alone = first[:-1] & first[1:]
    price += 8.0 * (alone & lower & (codes == ord("l")))
    return _sums(price, edges)
