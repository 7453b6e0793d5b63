"""Words that run together, split where that is cheapest by the lexicon's costs of words and of pairs of words.

All ways to cut all words are tried at once: `parts[length - 1]` has, for each place and each word, what the part of that
length there costs. Parts that no good way uses are dropped by the costs of words alone; pairs decide among the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ...text.ragged import Bits, Floats, Ints, Mask, Ragged, bounds, spread
from ...text.random import part_bits
from ...text.unicode import classes, word_class
from ...text.unicode_data import DIGIT, UPPER
from ..lexicon import folded, lexicon
from ..restore.candidates import KINDS
from .costs import among
from .errors import Errors
from .misspelt import Prices, add_misspelt

Costs = npt.NDArray[np.float32]
LONGEST = 20  # letters of a part
WIDTHS = (12, 24, 60, 250)  # words are split in groups of such lengths; longer ones are left
CELLS = 1 << 20  # places that are looked at in one go
NEVER = np.float32(1e6)
FUNCTION = "of to in is it as on be at by he we or an if so no do my up me us go am"
# a split with one of these before or behind another word is no compound
HELPERS = (
    "the of and to in is that it for was with as on be at by this had are but from or have an they which you were her "
    "she there would their we him been has when who will if so what its about than into them can other my me do not your "
    "just like he his how our us no these some i a also did does could should because then since until after before "
    "during while where why more most very"
)
PARTICLES = (
    "in on at by up so so to do no like over than some more most after as is it be an me us or he a i can there where "
    "about"
)
# The costs above which a part is no word, by its letters: short ones would fit anywhere
CEILING = (8.0, 14.0, 17.5, 21.0, 23.0)
SHORT = 4.0  # more bits for words of two letters that are not function words
OPENING, PER_LETTER = 9.0, 3.8  # bits of a part that is no word, and of each of its letters
NAMELY = 4.0  # fewer bits if it begins with a capital
TINY, STUB = 3, 12.0  # letters below which it is hardly anything, and the bits of that
NUMBER, JOINT = 9.0, 3.0  # bits of digits, and of a hyphen or 's
CAPITAL = 6.0  # bits that a capital behind a small letter is worth as the beginning of a part; one inside a part costs twice that
MARGIN = 14.0  # bits by which a part may be worse than the best way without it
BITS = 22
# bits and letters of a known form that is not in the lexicon, and what stands for its number
NAME, NAME_LETTERS, OTHER = 19.0, 4, -2
ORDINALS = "st nd rd th s"
CLITICS = "'s 've 're 'll 'd 'm n't"
CUT = 0.5  # bits of each place where a blank is missing


@cache
def _table() -> tuple[Mask, Mask, Costs]:
    """Which hashes (their last bits) words and other forms have that may be parts, and what each word costs as a part."""
    words = lexicon().words
    length, cost = words.lengths, lexicon().cost.astype(np.float32)
    ceiling = np.array(CEILING, np.float32)[np.clip(length - 1, 0, len(CEILING) - 1)]
    usual = np.isin(np.arange(len(lexicon())), lexicon().number(Ragged.of(FUNCTION.split())))
    cost = cost + np.where((length == 2) & ~usual, np.float32(SHORT), np.float32(0))
    cost = np.where((cost <= ceiling) & (length <= LONGEST), cost, NEVER)
    words_seen, others_seen = np.zeros(1 << BITS, np.bool_), np.zeros(1 << BITS, np.bool_)
    words_seen[_last_bits(lexicon().table.keys[cost[lexicon().table.value] < NEVER])] = True
    others_seen[_last_bits(lexicon().others.keys)] = True
    return words_seen, others_seen, cost


def words_at(keys: Bits) -> tuple[Ints, Ints]:
    """Which of some hashes are those of words that may be parts, and the numbers of these words."""
    hit = np.flatnonzero(_table()[0][_last_bits(keys)])
    found = lexicon().table.get(keys[hit])
    return hit[found >= 0], found[found >= 0]


def _last_bits(keys: Bits) -> Ints:
    return (keys & np.uint64((1 << BITS) - 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Splits:
    """The best way to split each word: its bits, where it is cut, and what it is made of."""

    bits: Floats
    known: Mask  # every part is a word of the lexicon
    function: Mask  # one of the first and last part is a word as `the`, which compounds do not have
    helped: Mask  # any of three parts or more is
    plain: Mask  # all are
    parts: Ints
    word: Ints  # of each cut
    cut: Ints  # its place in the word
    first: Ints  # number of the first and last part of each, -1 if it is no word
    last: Ints
    errors: Ints  # parts with an error, by its kind: [word, kind]


def split(words: Ragged, prices: Prices | None = None, errors: Errors | None = None) -> Splits:
    """Splits all words. Those that cannot be split come back whole. prices: parts may be misspelt, too; errors: by these."""
    many, none = len(words), np.empty(0, np.int64)
    known, function, helped, plain = np.zeros((4, many), np.bool_)
    bits, parts, first, last = np.full(many, np.inf), np.ones(many, np.int64), np.full(many, -1), np.full(many, -1)
    out = Splits(
        bits, known, function, helped, plain, parts, none, none, first, last, np.zeros((many, len(KINDS)), np.int64)
    )
    cuts: list[tuple[Ints, Ints]] = []
    length, low = words.lengths, 1
    for width in WIDTHS:
        group = np.flatnonzero((length > low) & (length <= width))
        step = max(CELLS // (width * LONGEST), 1)
        for begin in range(0, group.size, step):
            which = group[begin : begin + step]
            mine = errors.take(which) if errors else None
            found = _split(words.take(which), width, prices.take(which) if prices else None, mine)
            out.bits[which], out.known[which], out.function[which] = found.bits, found.known, found.function
            out.helped[which], out.plain[which] = found.helped, found.plain
            out.parts[which], out.first[which], out.last[which] = found.parts, found.first, found.last
            out.errors[which] = found.errors
            cuts.append((which[found.word], found.cut))
        low = width
    if not cuts:
        return out
    word, cut = (np.concatenate(part) for part in zip(*cuts, strict=True))
    order = np.lexsort((cut, word))
    return Splits(
        out.bits,
        out.known,
        out.function,
        out.helped,
        out.plain,
        out.parts,
        word[order],
        cut[order],
        out.first,
        out.last,
        out.errors,
    )


def _parts(words: Ragged, width: int) -> tuple[Costs, npt.NDArray[np.int32]]:
    """The cost and the number of each part of each word: [length - 1, place, word]."""
    many, codes = len(words), words.codes
    _, seen_others, table = _table()
    low = folded(words)
    kind = word_class(classes(codes))
    place = np.arange(codes.size) - np.repeat(words.offsets[:-1], words.lengths)
    row = np.repeat(np.arange(many), words.lengths)
    # letters from here to the end of the word
    left = np.repeat(words.offsets[1:], words.lengths) - np.arange(codes.size)
    camel = np.append(False, (kind[:-1] != UPPER) & (kind[1:] == UPPER)) & (place > 0)
    camels = bounds(camel)
    opens = np.where(camel, -CAPITAL, 0) + np.where(codes == ord("i"), 3 * (left > 1), 0)
    lengths = min(LONGEST, width)
    cost = np.full((lengths, width, many), NEVER, np.float32)
    number = np.full((lengths, width, many), -1, np.int32)
    for length in range(1, lengths + 1):
        at = np.flatnonzero(left >= length)
        if not at.size:
            break
        keys = part_bits(low, length)[at]
        if length >= NAME_LETTERS:
            maybe = np.flatnonzero(seen_others[_last_bits(keys)])
            name = at[maybe[lexicon().others.has(keys[maybe])]]
            cost[length - 1, place[name], row[name]] = (
                NAME
                + CUT * (place[name] > 0)
                + 2 * CAPITAL * (camels[name + length] - camels[name + 1])
                + np.minimum(opens[name], 0)
            )
            number[length - 1, place[name], row[name]] = OTHER
        hit, found = words_at(keys)
        at = at[hit]
        inner = camels[at + length] - camels[at + 1]
        bits = (
            table[found]
            + CUT * (place[at] > 0)
            + 2 * CAPITAL * inner
            + np.where(length == 1, opens[at], np.minimum(opens[at], 0))
        )
        cost[length - 1, place[at], row[at]] = np.minimum(bits, NEVER)
        number[length - 1, place[at], row[at]] = found
    _special(low, kind, row, place, cost)
    return cost, number


def _special(words: Ragged, kind: npt.NDArray[np.uint8], row: Ints, place: Ints, cost: Costs) -> None:
    """Parts that are no words: digits as a whole, with an ending, hyphens and 's."""
    codes = words.codes
    digit = kind == DIGIT
    first = place == 0
    opens = np.flatnonzero(digit & (first | ~np.append(False, digit[:-1])))
    closes = np.flatnonzero(digit & np.append(first[1:] | ~digit[1:], True)[: digit.size])
    size = closes - opens + 1
    end = np.repeat(words.offsets[1:], words.lengths)
    fits = size <= cost.shape[0]
    cost[size[fits] - 1, place[opens[fits]], row[opens[fits]]] = NUMBER
    for ending in ORDINALS.split():
        ok = (closes + len(ending) < end[opens]) & (size + len(ending) <= cost.shape[0])
        for at, letter in enumerate(ending):
            ok &= np.append(codes, np.zeros(4, np.uint32))[closes + 1 + at] == ord(letter)
        cost[size[ok] + len(ending) - 1, place[opens[ok]], row[opens[ok]]] = NUMBER
    joint = np.flatnonzero(among(codes, "-'’"))
    cost[0, place[joint], row[joint]] = JOINT * np.where(codes[joint] == ord("-"), 1, 2)
    for clitic in CLITICS.split():
        ok = np.flatnonzero(np.arange(codes.size) + len(clitic) <= end)
        for at, letter in enumerate(clitic):
            ok = ok[codes[ok + at] == ord(letter)]
        if clitic[0] == "n":
            ok = ok[place[ok] == 0]  # by itself, as in tokenised text
        if len(clitic) <= cost.shape[0]:
            cost[len(clitic) - 1, place[ok], row[ok]] = JOINT


def _forward(cost: Costs, opening: Costs) -> tuple[Costs, npt.NDArray[np.int16]]:
    """The cost of the best way to each place from the beginning, and how long the last part of it is; below 0: no word."""
    width, many = opening.shape
    best = np.full((width, many), NEVER, np.float32)
    back = np.zeros((width, many), np.int16)
    open_bits = np.full(many, NEVER, np.float32)  # the best way that ends inside a part that is no word
    open_size = np.zeros(many, np.int16)
    best[0] = 0
    for stop in range(1, width):
        here, size = best[stop], back[stop]
        for length in range(1, min(cost.shape[0], stop) + 1):
            way = best[stop - length] + cost[length - 1, stop - length]
            np.copyto(size, np.int16(length), where=way < here)
            np.minimum(here, way, out=here)
        fresh = best[stop - 1] + opening[stop - 1]
        begins = fresh < open_bits
        open_bits = np.minimum(fresh, open_bits) + np.float32(PER_LETTER)
        open_size = np.where(begins, np.int16(1), open_size + np.int16(1))
        closed = open_bits + np.where(open_size < TINY, np.float32(STUB), np.float32(0))
        np.copyto(size, -open_size, where=closed < here)
        np.minimum(here, closed, out=here)
    return best, back


def _backward(cost: Costs, lengths: Ints) -> Costs:
    """The cost of the best way from each place to the end, or less."""
    width, many = cost.shape[1], lengths.size
    best = np.full((width + 1, many), NEVER, np.float32)
    best[lengths, np.arange(many)] = 0
    least = best[width] + np.float32(OPENING - NAMELY)
    for start in range(width - 1, -1, -1):
        here = best[start]
        for length in range(1, min(cost.shape[0], width - start) + 1):
            np.minimum(here, cost[length - 1, start] + best[start + length], out=here)
        least = np.minimum(least, best[start + 1] + np.float32(OPENING - NAMELY)) + np.float32(PER_LETTER)
        np.minimum(here, least, out=here)
    return best


def _split(words: Ragged, width: int, prices: Prices | None, errors: Errors | None) -> Splits:
    many, lengths = len(words), words.lengths
    cost, number = _parts(words, width)
    exact = cost
    if prices and errors:
        cost[:, 1:] += prices.blank.astype(np.float32)
        errors = errors.where(errors.stop - errors.start <= cost.shape[0])
        exact, cost = cost, cost.copy()
        wrong = errors.bits + np.where(errors.start > 0, CUT + prices.blank[errors.of], 0)
        np.minimum.at(cost, (errors.stop - errors.start - 1, errors.start, errors.of), wrong.astype(np.float32))
    elif prices:
        add_misspelt(words, prices, cost, number, CUT)
    opening = np.full((width + 1, many), OPENING, np.float32)
    if prices:
        opening[1:] += prices.blank.astype(np.float32)
    kind = word_class(classes(words.codes))
    place = np.arange(words.codes.size) - np.repeat(words.offsets[:-1], lengths)
    capital = np.flatnonzero((kind == UPPER) & ((place == 0) | (np.append(0, kind[:-1]) != UPPER)))
    opening[place[capital], np.repeat(np.arange(many), lengths)[capital]] -= NAMELY
    forward, back = _forward(cost, opening)
    backward = _backward(cost, lengths)
    total = forward[lengths, np.arange(many)]
    part, start, word = np.nonzero(exact < NEVER / 2)
    stop, bits = start + part + 1, exact[part, start, word].astype(np.float64)
    numbers, kinds = number[part, start, word].astype(np.int64), np.full(word.size, -1)
    if errors:
        word, start, stop = np.append(word, errors.of), np.append(start, errors.start), np.append(stop, errors.stop)
        bits, numbers, kinds = np.append(bits, wrong), np.append(numbers, errors.word), np.append(kinds, errors.kind)
    through = forward[start, word] + bits + backward[stop, word]
    keep = through <= total[word] + MARGIN
    word, start, stop, bits, numbers, kinds = (x[keep] for x in (word, start, stop, bits, numbers, kinds))
    # and the parts of the best way that are no words
    odd_word, odd_start, odd_stop = _odd_parts(back, lengths)
    word, start, stop = np.append(word, odd_word), np.append(start, odd_start), np.append(stop, odd_stop)
    stub = STUB * (odd_stop - odd_start < TINY)
    bits = np.append(bits, opening[odd_start, odd_word] + PER_LETTER * (odd_stop - odd_start) + stub)
    numbers, kinds = (np.append(x, np.full(odd_word.size, -1)) for x in (numbers, kinds))
    return _by_pairs(words, word, start, stop, bits, numbers, kinds, errors)


def _odd_parts(back: npt.NDArray[np.int16], lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """The parts of the best ways that are no words."""
    word, at = np.arange(lengths.size), lengths.copy()
    found: list[tuple[Ints, Ints, Ints]] = [(np.empty(0, np.int64),) * 3]
    while word.size:
        size = back[at, word].astype(np.int64)
        odd = size < 0
        found.append((word[odd], at[odd] + size[odd], at[odd]))
        at = at - np.abs(size)
        word, at = word[at > 0], at[at > 0]
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))  # type: ignore[return-value]


def _by_pairs(
    words: Ragged, word: Ints, start: Ints, stop: Ints, bits: Floats, number: Ints, kind: Ints, errors: Errors | None
) -> Splits:
    """The best way through parts by the costs of pairs."""
    many, lengths = len(words), words.lengths
    order = np.lexsort((kind, number, stop, start, word))
    word, start, stop, number, kind = (x[order] for x in (word, start, stop, number, kind))
    bits = bits[order]
    width = int(lengths.max(initial=0)) + 1
    opens, ends = word * width + start, word * width + stop
    # every part with all that end where it begins
    by_end = np.argsort(ends, kind="stable")
    low = np.searchsorted(ends[by_end], opens, "left")
    count = np.searchsorted(ends[by_end], opens, "right") - low
    right = np.repeat(np.arange(word.size), count)
    left = by_end[spread(low, count)]
    base = lexicon().cost
    usual = np.where(number >= 0, base[number], 0.0)
    extra = bits - usual  # what a part costs beside its word
    ahead = errors.before[word] if errors else np.full(number.size, -1)
    alone = np.where(number >= 0, lexicon().pair_cost(ahead, number), 0.0) + extra
    before = np.maximum(number[left], -1)
    pair = np.where(number[right] >= 0, lexicon().pair_cost(before, number[right]), 0.0) + extra[right]
    pair = np.rint(pair * 1024) / 1024
    best = np.where(start == 0, np.rint(alone * 1024) / 1024, np.inf)
    from_ = np.full(word.size, -1)
    turn = np.argsort(start[right], kind="stable")
    edges = np.searchsorted(start[right][turn], np.arange(width + 1))
    for at in range(1, width):
        here = turn[edges[at] : edges[at + 1]]
        if not here.size:
            continue
        way = best[left[here]] + pair[here]
        group = np.lexsort((left[here], way, right[here]))
        first = group[np.flatnonzero(np.diff(right[here][group], prepend=-1))]
        best[right[here][first]] = way[first]
        from_[right[here][first]] = left[here][first]
    final = np.flatnonzero(stop == lengths[word])
    if errors:
        behind = errors.after[word[final]]
        beside = lexicon().pair_cost(np.maximum(number[final], -1), behind) - base[behind]
        best[final] += np.where((behind >= 0) & (number[final] >= 0), np.rint(beside * 1024) / 1024, 0)
    final = final[np.lexsort((final, best[final], word[final]))]
    final = final[np.flatnonzero(np.diff(word[final], prepend=-1))]
    final = final[np.isfinite(best[final])]
    owner = word[final]
    total = np.full(many, np.inf)
    total[owner] = best[final]
    parts, known, helped = np.zeros(many, np.int64), np.ones(many, np.bool_), np.zeros(many, np.bool_)
    plain = known.copy()
    first_number, last_number = np.full(many, -1), np.full(many, -1)
    last_number[owner] = number[final]
    cuts: list[tuple[Ints, Ints]] = []
    wrong = np.zeros((many, len(KINDS)), np.int64)
    step = final
    while step.size:
        who, before = word[step], from_[step]
        np.add.at(wrong, (who, np.maximum(kind[step], 0)), kind[step] >= 0)
        codes = words.codes[words.offsets[who] + start[step]]
        joint = among(codes, "-'’")
        known[who] &= (number[step] >= 0) | joint | _digits(words, who, start[step])
        small = np.isin(number[step], _helpers(False))
        helped[who] |= small
        plain[who] &= small
        has = before >= 0
        first_number[who[~has]] = number[step[~has]]
        blank = has & ~joint
        previous = words.codes[words.offsets[who] + np.maximum(start[step] - 1, 0)]
        blank &= ~among(previous, "-") & ~(among(previous, "'’") & (start[step] == 1))
        parts[who] += blank
        cuts.append((who[blank], start[step[blank]]))
        step = before[has]
    cut_word, cut = (np.concatenate(part) for part in zip(*cuts, strict=True)) if cuts else (word[:0], word[:0])
    outer = np.isin(first_number, _helpers(False)) | np.isin(last_number, _helpers(True))
    return Splits(
        total,
        known,
        outer & (parts > 0),
        helped & (parts > 1),
        plain,
        parts + 1,
        cut_word,
        cut,
        first_number,
        last_number,
        wrong,
    )


@cache
def _helpers(but: bool) -> Ints:
    words = set(HELPERS.split()) - (set(PARTICLES.split()) if but else set())
    return lexicon().number(Ragged.of(sorted(words)))


def _digits(words: Ragged, word: Ints, place: Ints) -> Mask:
    code = words.codes[words.offsets[word] + place]
    return (code >= ord("0")) & (code <= ord("9"))
