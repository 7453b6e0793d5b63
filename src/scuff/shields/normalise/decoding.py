"""What words of look-alikes say: for each character the plain ones it may stand for, and of all readings the likeliest word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...text.ragged import Codes, Ints, Ragged, bounds, spread, sums
from ..lexicon import lexicon
from .look_alikes import MARK, SIGN, look_alikes

READINGS = 64  # at most so many of a word are compared
CLOSE = 60  # another reading of a character is tried if it costs at most so much more than the best
COMMON = 2500  # words that nobody reads as others
UNKNOWN = 34.0  # bits that a reading costs which is no word
SHORT = 1500  # of the short ones, only these words: any three letters are some abbreviation
A_NUMBER = 14.0
SHAPE = 2.5  # costs of the table that make a bit
Floats = npt.NDArray[np.float64]
Shorts = npt.NDArray[np.int16]


_OTHER = np.array([0 < code < 128 and code != 0x27 and not chr(code).isalnum() for code in range(129)])


def decode(words: Ragged) -> Codes:
    """The plain character of each character of the words: GONE for marks, the character itself where it looks like none."""
    table, codes, out = look_alikes(), words.codes, words.codes.copy()
    odd = np.flatnonzero(codes > 127)  # the others are what they are
    mine = codes[odd]
    number, kind = table.number[mine], table.kind[mine]
    near, cost = table.near[number].astype(np.uint32), table.cost[number].astype(np.int16)
    stays, mark = (kind == SIGN) | (near[:, 0] == 0), kind == MARK  # a curly apostrophe stays
    near[stays, 0], cost[stays, 0] = mine[stays], 0
    _prefer_digits(words, odd, near, cost)
    near[mark, 0] = 0
    out[odd] = near[:, 0]
    many = np.flatnonzero(~(stays | mark))
    some = cost[many]
    limit = some[:, 0] + np.where(np.repeat(words.lengths, words.lengths)[odd[many]] > 1, CLOSE, 0).astype(np.int16)
    ways = np.ones(codes.size, np.int64)
    fits = (near[many] > 0) & (some <= limit[:, None])
    ways[odd[many]] = fits @ np.ones(fits.shape[1], np.int64)
    open_ = np.flatnonzero(sums(ways > 1, words.offsets) > 0)
    if not open_.size:
        return out
    best = Ragged(out, words.offsets).take(open_)
    tied = ways > 1
    tied[odd] &= cost[:, 1] == cost[:, 0]
    found = lexicon().number(without_gaps(best))
    doubt = (found < 0) | (found > COMMON) | (sums(tied, words.offsets)[open_] > 0)
    open_ = open_[doubt]
    part = spread(words.offsets[open_], words.lengths[open_])
    if part.size:
        row = np.full(codes.size, odd.size)
        row[odd] = np.arange(odd.size)
        none = np.zeros((1, near.shape[1]), np.uint32)
        shapes, prices = (
            np.concatenate((near, none))[row[part]],
            np.concatenate((cost, none.astype(np.int16)))[row[part]],
        )
        shapes[:, 0] = out[part]
        out[part] = _likeliest(shapes, prices, ways[part], bounds(words.lengths[open_]))
    return out


def _prefer_digits(words: Ragged, odd: Ints, near: npt.NDArray[np.uint32], cost: Shorts) -> None:
    """Among digits a character that looks like one is one first. In place. odd: where the characters stand."""
    digit = (near >= 48) & (near <= 57)
    known = digit[:, 0] & (cost[:, 0] <= 10)
    sure = (words.codes >= 48) & (words.codes <= 57)
    sure[odd] = known
    beside = np.repeat(sums(sure, words.offsets) > 0, words.lengths)[odd]
    where = np.flatnonzero(beside & ~known)
    where = where[digit[where].argmax(1) > 0]  # 0, too, where none is a digit
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


def _likeliest(near: npt.NDArray[np.uint32], cost: Shorts, ways: Ints, offsets: Ints) -> Codes:
    """Of all readings of each word the one that costs least: by shape, as a word, and in its mixture of cases and digits."""
    ways = _limited(ways, cost, offsets)
    logs = np.log2(ways)
    total = np.round(np.exp2(_sums(logs, offsets))).astype(np.int64)
    inner = np.cumsum(logs) - logs
    stride = np.round(np.exp2(inner - np.repeat(inner[offsets[:-1]], np.diff(offsets)))).astype(np.uint8)
    opens = bounds(total)[:-1]
    reading = (np.arange(total.sum()) - np.repeat(opens, total)).astype(np.uint8)  # of READINGS at most
    word = np.repeat(np.arange(total.size), total)
    length = np.diff(offsets)[word]
    at = spread(offsets[word], length)
    which = np.repeat(reading, length) // stride.take(at) % ways.astype(np.uint8).take(at)
    place = at * near.shape[1] + which
    codes, edges = near.ravel().take(place), bounds(length)
    shape = sums(cost.ravel().take(place), edges)
    price = shape / (10 * SHAPE) * 4 + _word_costs(Ragged(codes, edges)) + _mixture(codes, edges)
    best = np.flatnonzero(price == np.repeat(np.minimum.reduceat(price, opens), total))
    first = best[np.diff(word[best], prepend=-1) > 0]  # of equal ones the first
    taken: Codes = codes[spread(edges[first], length[first])]
    return taken


def _sums(values: Floats, edges: Ints) -> Floats:
    running = np.append(0.0, np.cumsum(values))
    out: Floats = running[edges[1:]] - running[edges[:-1]]
    return out


def _limited(ways: Ints, cost: Shorts, offsets: Ints) -> Ints:
    """Fewer ways to read characters, until a word has no more than READINGS."""
    word = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    for most in (3, 2):
        many = _sums(np.log2(ways), offsets) > np.log2(READINGS) + 1e-9
        ways = np.where(many[word], np.minimum(ways, most), ways)
    many = _sums(np.log2(ways), offsets) > np.log2(READINGS) + 1e-9
    if not many.any():
        return ways
    order = np.lexsort((np.where(ways > 1, cost[:, 1] - cost[:, 0], 255), word))  # the closest choices first
    rank = np.empty(word.size, np.int64)
    rank[order] = np.arange(word.size) - offsets[:-1][word]
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
    other = _OTHER[np.minimum(codes, 128)]
    first = np.zeros(codes.size + 1, np.bool_)
    first[edges] = True
    same = ~first[1:-1]
    tick = codes == 0x27
    price = np.zeros(codes.size, np.uint8)
    price[1:] += np.uint8(10) * (same & lower[:-1] & upper[1:])
    price[1:] += np.uint8(3) * (same & tick[:-1] & upper[1:])
    price[1:] += np.uint8(5) * (same & (digit[:-1] ^ digit[1:]))
    if codes.size > 2:
        run = same[1:] & same[:-1]
        price[2:] += np.uint8(6) * (run & upper[:-2] & upper[1:-1] & lower[2:])
        price[2:] += np.uint8(6) * (run & lower[:-2] & tick[1:-1] & upper[2:])
    price += np.uint8(5) * other
    alone = first[:-1] & first[1:]
    price += np.uint8(8) * (alone & (codes == ord("l")))
    return sums(price, edges).astype(np.float64)
