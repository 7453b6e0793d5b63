"""What looks like a disguise and is none: abbreviations, numbers, codes, brackets. Addresses are technical spans."""

from __future__ import annotations

import numpy as np

from ...perturbations.protect import UNITS
from ...text.ragged import Codes, Ints, Mask, Ragged, bounds, rows_of, spread, sums
from ...text.unicode import classes, word_class
from ...text.unicode_data import DIGIT, LETTER, LOWER, UPPER
from ..lexicon import lexicon
from .costs import DECIMAL, NUMERIC, Cost, among, one_of, softly
from .variants import DELETE, JOINERS, Cores, Variants

MASKS = "*#$%"  # symbols that stand for letters
SPELLED = 4  # letters of a word that may be spelled with dots: U.S.A. and e.g. are not
USED = "s/he w/o n/a c/o b/c w/in h/w s/w y/o m/f o.k e.g i.e p.s a.m p.m ke$ha a$ap m*a*s*h n*e*r*d"


def forbidden(texts: Ragged, cores: Cores, found: Variants, old: Cost, new: Cost) -> tuple[Mask, Mask]:
    """Which variants may not be chosen, whatever they cost: never, and in texts that do not look tampered with."""
    core, symbol = found.core, found.symbol
    delete = found.what == DELETE
    once = texts.lengths[core] - found.texts.lengths == 1
    upper, single, words = old.upper[core], old.single[core], old.words[core]
    never = (among(cores.led, "@#") | one_of(texts, USED))[core]
    # spelled with dots: U.S.A, e.g, a.k.a stay
    short = (words < SPELLED) | ((cores.followed[core] == ord(".")) & ~new.known)
    spelled = single & (symbol == ord(".")) & (short | (upper & (~new.known | (words <= SPELLED))))
    few = upper & (words <= SPELLED)
    spelled |= few & ((single & among(symbol, "./&")) | (symbol == ord("&")))
    never |= delete & (spelled | paired(texts, cores, symbol, core) | in_numbers(texts, found, DECIMAL))
    never |= delete & masking(texts, symbol, core) & ~(new.known & (found.texts.lengths >= SPELLED))
    read = np.flatnonzero(~delete)
    never[read] |= (
        (lexicon().number(found.texts.take(read)) < 0) | code_like(texts.take(core[read])) | (new.words[read] > 1)
    )
    soft, joiner = softly(symbol), among(symbol, JOINERS)
    spelt = (words >= SPELLED) & (2 * texts.lengths[core] <= 5 * words)  # nearly letter by letter
    calm = few & single
    calm |= upper & soft & (once | ~new.known)  # IBM.N
    calm |= once & joiner & old.known[core]  # tight-lipped
    one = np.flatnonzero(once & joiner & ~calm)
    calm[one] = before_capital(texts.take(core[one]), symbol[one])  # Wi-Fi
    calm |= once & among(symbol, "'’")  # Sh'ite is no other word
    calm |= (symbol == ord(".")) & initials(texts)[core]  # U.S.-born
    calm |= soft & ~new.known & (~spelt | joiner)
    calm |= in_numbers(texts, found, NUMERIC)
    return never, delete & calm


def before_capital(texts: Ragged, symbol: Codes) -> Mask:
    """Whether each text has its symbol before a capital."""
    kind = np.append(word_class(classes(texts.codes)), np.uint8(0))
    hit = (kind[1:] == UPPER) & (texts.codes == np.repeat(symbol, texts.lengths))
    return sums(hit, texts.offsets) > 0


def initials(texts: Ragged) -> Mask:
    """Which texts have two capitals with a dot between them."""
    kind = np.pad(word_class(classes(texts.codes)), 1)
    dotted = (texts.codes == ord(".")) & (kind[:-2] == UPPER) & (kind[2:] == UPPER)
    return sums(dotted, texts.offsets) > 0


def paired(texts: Ragged, cores: Cores, symbol: Codes, core: Ints) -> Mask:
    """Which symbols are brackets whose partners stand in or beside their cores: word(s), (re)do."""
    out = np.zeros(core.size, np.bool_)
    for one, other in zip("()[]{}<>", ")(][}{><", strict=True):
        have = sums(texts.codes == ord(other), texts.offsets) > 0
        have |= (cores.led == ord(other)) | (cores.followed == ord(other))
        out |= (symbol == ord(one)) & have[core]
    return out


def masking(texts: Ragged, symbol: Codes, core: Ints) -> Mask:
    """Which symbols stand twice in a row in place of letters: f**k."""
    twice = np.append(False, texts.codes[1:] == texts.codes[:-1]) & among(texts.codes, MASKS)
    twice[texts.offsets[:-1][texts.lengths > 0]] = False
    at = np.flatnonzero(twice)
    pairs = rows_of(at, texts.offsets) << 21 | texts.codes[at].astype(np.int64)
    return np.isin(core << 21 | symbol.astype(np.int64), pairs)


def in_numbers(texts: Ragged, found: Variants, symbols: str) -> Mask:
    """Which variants take one of these symbols out from between two digits."""
    digit = np.pad(word_class(classes(texts.codes)) == DIGIT, 1)
    both = digit[:-2] & digit[2:] & among(texts.codes, symbols)
    return (sums(both, texts.offsets) > 0)[found.core] & among(found.symbol, symbols)


def code_like(texts: Ragged) -> Mask:
    """Which texts with digits are numbers with units, codes, versions or numbered words: 10k, 4th, MP3, B2B, lab5."""
    codes, number = texts.codes, np.repeat(np.arange(len(texts)), texts.lengths)
    kind = word_class(classes(codes))
    digit = kind == DIGIT
    letter = (kind == LOWER) | (kind == UPPER) | (kind == LETTER)
    capitals = sums(kind == LOWER, texts.offsets) == 0
    count = sums(digit, texts.offsets)
    letters = sums(letter, texts.offsets)
    place = np.arange(codes.size) - np.repeat(texts.offsets[:-1], texts.lengths)
    # how many digits stand at the beginning and at the end
    lead = np.full(len(texts), 1 << 30)
    solid = np.flatnonzero(~digit)[::-1]
    lead[number[solid]] = place[solid]
    last = np.full(len(texts), -1)
    last[number[solid[::-1]]] = place[solid[::-1]]
    trail = texts.lengths - 1 - last
    begin = texts.offsets[:-1] + np.minimum(lead, texts.lengths)
    rest = texts.offsets[1:] - begin
    tail = Ragged(codes[spread(begin, rest)], bounds(rest))
    head_length = np.maximum(texts.lengths - trail, 0)
    head = Ragged(codes[spread(texts.offsets[:-1], head_length)], bounds(head_length))
    out = (lead > 0) & (lead < texts.lengths) & (one_of(tail, UNITS.replace("|", " ")) | (rest <= 2))
    out |= (trail > 0) & (head_length >= 2) & (lexicon().number(head) >= 0)
    out |= (count > 0) & capitals & ((trail == count) | (lead == count) | (texts.lengths < 5))
    out |= (count > 2) & ((trail > 2) | (lead > 2))
    out |= letters < 2
    return out
