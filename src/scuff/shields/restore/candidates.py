"""Candidates: for words that nobody knows, the words of the lexicon that may have been meant, with what the error costs.

Every kind of error leaves something of a word as it was: its letters but one, its letters in another order, its consonants, its
beginning, its sound. Hashes of that are sorted arrays, in which all words of a corpus are looked up at once.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ...perturbations.keyboard import neighbours
from ...resources import load
from ...text.ragged import Bits, Ints, Mask, Ragged, bounds, spread, sums
from ..hashes import HashTable, word_bits
from ..lexicon import folded, lexicon
from ..memory import Memory
from .channels import FAR, Bitcosts, cut_cost, edits
from .keys import LONGEST, OTHER, VOWEL, Small, Spelt

KINDS = ("typo", "misspelt", "shuffled", "vowels", "cut", "sound", "keyboard", "mixed")
TYPO, MISSPELT, SHUFFLED, VOWELS, CUT, SOUND, KEYBOARD, MIXED = range(len(KINDS))
# bits of each kind of error, before a text is seen
PRIOR = np.array([1.2, 1.5, 3.5, 3.5, 3.5, 3.5, 4.0, 6.5], np.float32)
MOST = 16  # candidates of a word
LIKELY = 10  # bits by which a candidate may be less likely than the best, its neighbours aside
STEPS, FAR_STEPS = 64, (1 << 14) - 1  # costs are compared in 64ths of a bit
SAME_KEY = 20  # words with one key that are looked at, the most frequent first
# letters of words that may be many slips on the keyboard: the first at once, others if nothing else is found
SHORT, LONG = 4, 16
SLIPS = 250  # words that are looked for in these sets at once, so that they stay in the processor's cache
COMMON = 50_000  # the words, of the most frequent, that are looked for behind two errors
PLAIN = np.float32(12.0)  # an error that costs no more explains a word well enough to look no further
UNSEEN = 12  # errors of a word that nobody saw
ALIKE = 7.0  # bits of spelling the same sounds otherwise, besides what is left to edit in plainer spellings of both
CHANGED, STAYED = 3.6, 0.6  # bits of a letter that became a neighbour on the keyboard, and of one that did not


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs, sorted by noisy word: its number, that of a word of the lexicon, log2 P(noisy | word), and the kind of error."""

    of: Ints
    word: Ints
    channel: Bitcosts
    kind: Ints

    @classmethod
    def join(cls, parts: Iterable[Candidates]) -> Candidates:
        """All pairs of several parts, of each the best."""
        several = list(parts)
        if not several:
            return cls(*(np.empty(0, np.int64),) * 2, np.empty(0, np.float32), np.empty(0, np.int64))
        packed = np.sort(np.concatenate([part.packed() for part in several]))  # one sort of whole numbers
        packed = packed[np.append(True, packed[1:] >> 17 != packed[:-1] >> 17)[: packed.size]]
        packed = packed[(packed >> 3 & FAR_STEPS) < FAR_STEPS]
        return cls.unpacked(packed >> 34, packed)

    def packed(self) -> Ints:
        """All of a pair in one number; the channel is rounded."""
        cost = np.round(self.channel * -STEPS).astype(np.int64)
        word = self.word.astype(np.int64, copy=False)
        return self.of << 34 | word << 17 | np.minimum(cost, FAR_STEPS) << 3 | self.kind

    @classmethod
    def unpacked(cls, of: Ints, packed: Ints) -> Candidates:
        """The pairs of such numbers; `of` is given, since it may count other words."""
        channel = ((packed >> 3 & FAR_STEPS) / -STEPS).astype(np.float32)
        return cls(of, packed >> 17 & (1 << 17) - 1, channel, packed & 7)

    def __len__(self) -> int:
        return self.of.size

    def where(self, chosen: Mask | Ints) -> Candidates:
        return Candidates(self.of[chosen], self.word[chosen], self.channel[chosen], self.kind[chosen])

    def best(self, most: int) -> Candidates:
        """At most so many of each noisy word, by channel and frequency."""
        score = np.round((lexicon().cost[self.word] - self.channel) * STEPS).astype(np.int64)
        order = np.argsort(self.of << 34 | np.minimum(score, FAR_STEPS) << 17 | self.word)
        of, opens = _ranked(self.of[order])
        best = score[order][opens]
        near = score[order] <= np.repeat(best, np.diff(np.append(opens, of.size))) + STEPS * LIKELY
        rank = np.arange(of.size) - np.repeat(opens, np.diff(np.append(opens, of.size)))
        return self.where(np.sort(order[near & (rank < most)]))


def candidates(noisy: Ragged, most: int = MOST, *, near: bool = False) -> Candidates:
    """All words of the lexicon that may have been meant by each noisy word, whatever its case; none for very long ones.

    near: only by one error that is not far-fetched, as is enough for words that are known and still in doubt.
    """
    low = folded(noisy)

    def find(which: Ints) -> tuple[Ints, Ints]:
        new = _find(low.take(which), most, near)
        return new.of, new.packed()

    return Candidates.unpacked(*_memory(most, near).get(word_bits(low), find))


@cache
def _memory(most: int, near: bool) -> Memory:
    """Of words whose candidates were looked for in this way."""
    return Memory()


def _find(low: Ragged, most: int, near: bool) -> Candidates:
    """The same, looked for."""
    spelt = Spelt.of(low)
    fit = np.flatnonzero(
        (spelt.lengths > 1) & (spelt.lengths <= LONGEST) & (sums(spelt.letters < 26, spelt.offsets) > 0)
    )
    part = spelt.take(fit)
    found = _near(part)
    plain = found.channel >= -PLAIN
    plain |= (found.kind == SHUFFLED) & (part.lengths[found.of] > 4)
    hard = np.ones(fit.size, np.bool_)
    hard[found.of[plain]] = False
    rest = np.flatnonzero(hard & (part.lengths > 2))
    if rest.size and not near:
        far = _far(part.take(rest))
        found = Candidates.join([found, Candidates(rest[far.of], far.word, far.channel, far.kind)])
    found = found.best(most)
    return Candidates(fit[found.of], found.word, found.channel, found.kind)


# ---- the two rounds ----


def _near(noisy: Spelt) -> Candidates:
    """Candidates by one error, and of short words by any number of slips on the keyboard."""
    words, tables = _words(), _tables()
    one, keys = noisy.without_one()
    of, word = _matches(tables.without_one, np.append(np.arange(len(noisy)), one), np.append(noisy.hashes(), keys))
    parts = [_made(of, word, edits(words.take(word), noisy.take(of), 1), TYPO)]

    of, word = tables.unordered.all(noisy.unordered(), SAME_KEY)
    full, inner = noisy.arrangements()
    a, b = noisy.offsets[of], words.offsets[word]
    ends = noisy.letters[a] == words.letters[b]
    ends &= noisy.letters[noisy.offsets[of + 1] - 1] == words.letters[words.offsets[word + 1] - 1]
    parts.append(_made(of, word, np.where(ends, np.minimum(inner[of] + 1, full[of] + 1), full[of] + 1), SHUFFLED))

    bare = np.flatnonzero((sums(VOWEL[noisy.letters], noisy.offsets) == 0) & (noisy.lengths > 1))
    at, word = tables.skeleton.all(noisy.take(bare).hashes(), SAME_KEY)
    parts.append(_made(bare[at], word, np.zeros(at.size, np.float32), VOWELS))

    of, word = tables.prefix.all(noisy.hashes(), SAME_KEY)
    parts.append(_made(of, word, cut_cost(words.lengths[word] - noisy.lengths[of]), CUT))

    for table, numbers, cost, kind in (
        (tables.sound, tables.sound_word, tables.sound_cost, SOUND),
        (tables.listed, tables.listed_word, tables.listed_cost, MISSPELT),
    ):
        of, entry = table.all(noisy.hashes(), SAME_KEY)
        parts.append(_made(of, numbers[entry], cost[entry], kind))
    parts.append(_by_keys(noisy, range(2, SHORT + 1)))
    return Candidates.join(parts)


def _far(noisy: Spelt) -> Candidates:
    """Candidates by two errors, or by one that goes far."""
    words, tables = _words(), _tables()
    one, keys = noisy.without_one()
    two, more = noisy.without_two()
    of = np.concatenate((np.arange(len(noisy)), one, two))
    keys = np.concatenate((noisy.hashes(), keys, more))
    pairs = [_matches(table, of, keys) for table in (tables.without_two, tables.without_one)]
    at, word = tables.sounds.all(noisy.sounds().hashes(), SAME_KEY)
    parts = [_made(at, word, np.minimum(ALIKE + edits(_sounded().take(word), noisy.sounded().take(at)), FAR), SOUND)]
    at, word = tables.skeleton.all(noisy.skeleton().hashes(), SAME_KEY)
    pairs.append((at, word))
    of, word = _distinct(np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs]))
    parts.append(_made(of, word, edits(words.take(word), noisy.take(of)), TYPO))

    one, keys = noisy.unordered_without_one()
    of, word = _matches(
        tables.unordered_without_one, np.append(np.arange(len(noisy)), one), np.append(noisy.unordered(), keys)
    )
    full, inner = noisy.arrangements()
    ends = noisy.letters[noisy.offsets[of]] == words.letters[words.offsets[word]]
    ends &= noisy.letters[noisy.offsets[of + 1] - 1] == words.letters[words.offsets[word + 1] - 1]
    slip = np.log2(np.maximum(noisy.lengths, 1)).astype(np.float32) + np.float32(4)
    parts.append(_made(of, word, np.where(ends, inner[of], full[of]) + slip[of], MIXED))

    bare = np.flatnonzero(sums(VOWEL[noisy.letters], noisy.offsets) == 0)
    skeleton = noisy.take(bare)
    one, keys = skeleton.without_one()
    at, word = _matches(tables.bones, np.append(np.arange(len(skeleton)), one), np.append(skeleton.hashes(), keys))
    parts.append(_made(bare[at], word, edits(_bones().take(word), skeleton.take(at)), MIXED))
    parts.append(_by_keys(noisy, range(SHORT + 1, LONG + 1)))
    return Candidates.join(parts)


def _made(of: Ints, word: Ints, cost: npt.NDArray[np.floating], kind: int) -> Candidates:
    near = cost < FAR
    bits = -(cost[near] + PRIOR[kind]).astype(np.float32)
    return Candidates(of[near], word[near], bits, np.full(bits.size, kind, np.int64))


def _matches(table: HashTable, of: Ints, keys: Bits) -> tuple[Ints, Ints]:
    """All pairs (noisy word, word) that have a key in common, each once; of a noisy word the most frequent words."""
    at, word = table.all(keys, SAME_KEY)
    of, word = _distinct(of[at], word)
    of, opens = _ranked(of)
    few = np.arange(of.size) - np.repeat(opens, np.diff(np.append(opens, of.size))) < SAME_KEY
    return of[few], word[few]


def _distinct(of: Ints, word: Ints) -> tuple[Ints, Ints]:
    key = np.sort(of << 20 | word)
    key = key[np.append(True, key[1:] != key[:-1])[: key.size]]
    return key >> 20, key & (1 << 20) - 1


def _ranked(of: Ints) -> tuple[Ints, Ints]:
    """Sorted numbers, and where each different one begins."""
    return of, np.flatnonzero(np.append(True, of[1:] != of[:-1])[: of.size])


# ---- what is looked up ----


@dataclass(frozen=True, eq=False)
class _Tables:
    without_one: HashTable
    without_two: HashTable
    unordered: HashTable
    unordered_without_one: HashTable
    skeleton: HashTable
    bones: HashTable  # skeletons as they are and without one letter
    prefix: HashTable
    sounds: HashTable  # by classes of sound
    sound: HashTable  # by respelling
    sound_word: Ints
    sound_cost: Bitcosts
    listed: HashTable
    listed_word: Ints
    listed_cost: Bitcosts


@cache
def _words() -> Spelt:
    return Spelt.of(lexicon().words)


@cache
def _bones() -> Spelt:
    return _words().skeleton()


@cache
def _sounded() -> Spelt:
    return _words().sounded()


@cache
def _tables() -> _Tables:
    words, bones = _words(), _bones()
    every, common = np.arange(len(words)), np.arange(min(COMMON, len(words)))
    usual = words.take(common)
    one, one_keys = words.without_one()
    two, two_keys = usual.without_two()
    some = (usual.lengths > 3)[two] & (usual.lengths < 17)[two]
    loose, loose_keys = usual.unordered_without_one()
    vowels = np.flatnonzero((bones.lengths < words.lengths) & (bones.lengths > 1))
    strong = common[bones.lengths[common] > 2]
    bone, bone_keys = bones.take(strong).without_one()
    prefix, prefix_keys = words.prefixes(3, 0.4)
    sounds = words.sounds()
    said = np.flatnonzero(sounds.lengths > 1)
    return _Tables(
        HashTable.of(np.append(words.hashes(), one_keys), np.append(every, one)),
        HashTable.of(two_keys[some], two[some]),
        HashTable.of(words.unordered()),
        HashTable.of(np.append(usual.unordered(), loose_keys), np.append(common, loose)),
        HashTable.of(bones.take(vowels).hashes(), vowels),
        HashTable.of(np.append(bones.take(strong).hashes(), bone_keys), np.append(strong, strong[bone])),
        HashTable.of(prefix_keys, prefix),
        HashTable.of(sounds.take(said).hashes(), said),
        *_respellings(),
        *_listed(),
    )


def _respellings() -> tuple[HashTable, Ints, Bitcosts]:
    """Respellings by sound: their hashes, the words that they stand for, and how unlikely each is."""
    data = np.frombuffer(lzma.decompress(load("phonetic.txt.xz")) + b"\n", np.uint8)
    tab, end = np.flatnonzero(data == 9).reshape(-1, 2), np.flatnonzero(data == 10)
    start = np.append(0, end[:-1] + 1)
    size = tab[:, 0] - start
    number = lexicon().number(Ragged(data[spread(start, size)].astype(np.uint32), bounds(size)))
    many = (end - tab[:, 1] - 1) // 2
    row = np.repeat(np.arange(number.size), many)
    stops = np.sort(np.append(np.flatnonzero(data == 32), tab[:, 1]))
    starts = np.sort(np.append(np.flatnonzero(data == 32), tab[:, 0])) + 1
    digits = data[spread(tab[:, 1] + 1, 2 * many)].astype(np.int64)
    digits = np.where(digits >= ord("a"), digits - ord("a") + 10, digits - ord("0"))
    weight = digits[::2] * 16 + digits[1::2]
    share = weight / np.bincount(row, weight, number.size)[row]
    kept = (number[row] >= 0) & (weight > 0)
    length = (stops - starts)[kept]
    spelt = Spelt.of(Ragged(data[spread(starts[kept], length)].astype(np.uint32), bounds(length)))
    return HashTable.of(spelt.hashes()), number[row[kept]], -np.log2(share[kept]).astype(np.float32)


def _listed() -> tuple[HashTable, Ints, Bitcosts]:
    """Misspellings that people made, in the same form."""
    rows = [line.split("\t") for line in load("natural-errors.txt").decode().split("\n")]
    pairs = [(word, *pair.split(":")) for word, errors in rows for pair in errors.split(" ")]
    count = np.array([int(often) for _, _, often in pairs], np.float64)
    number = lexicon().number(Ragged.of([word for word, _, _ in pairs]))
    total = np.bincount(number + 1, count)[number + 1]
    total = total + UNSEEN  # an error that was seen once may as well be one of another word
    kept = np.flatnonzero(number >= 0)
    keys = Spelt.of(folded(Ragged.of([error for _, error, _ in pairs]))).take(kept).hashes()
    return HashTable.of(keys), number[kept], -np.log2(count / total)[kept].astype(np.float32)


# ---- any number of slips on the keyboard ----


@dataclass(frozen=True, eq=False)
class _Slips:
    """For words of one length: which of them can have become a string with a letter at a place, as sets of bits."""

    word: Ints
    sets: Small  # [place, letter written, bytes], eights of bytes


@cache
def _slips(length: int) -> _Slips:
    words = _words()
    mine = np.flatnonzero(words.lengths == length)
    letters = words.take(mine).letters.reshape(-1, length).astype(np.int64)
    touch = np.eye(OTHER + 1, dtype=np.bool_)
    for key, near in neighbours("qwerty").items():
        if key.islower():
            touch[ord(key) - ord("a"), [ord(other) - ord("a") for other in near]] = True
    touch[:, OTHER] = True  # a symbol can stand for any letter
    sets = np.stack([np.packbits(touch[letters[:, place]].T, axis=1) for place in range(length)])
    return _Slips(mine, np.pad(sets, ((0, 0), (0, 0), (0, -sets.shape[2] % 8))))


def _by_keys(noisy: Spelt, lengths: Iterable[int]) -> Candidates:
    """Words of the same length in which every letter is the same or a neighbour on the keyboard, the most frequent of them."""
    parts = []
    for length in lengths:
        some = np.flatnonzero(noisy.lengths == length)
        if not some.size:
            continue
        slips = _slips(length)
        for block in np.array_split(some, max(1, some.size // SLIPS)):
            letters = noisy.take(block).letters.reshape(-1, length)
            sets = slips.sets[0, letters[:, 0]]
            for place in range(1, length):
                sets &= slips.sets[place, letters[:, place]]
            row, part = np.nonzero(sets.view(np.uint64))
            hit, bit = np.nonzero(np.unpackbits(sets.reshape(len(sets), -1, 8)[row, part], axis=1))
            row, word = row[hit], slips.word[part[hit] * 64 + bit]
            _, opens = _ranked(row)
            rank = np.arange(row.size) - np.repeat(opens, np.diff(np.append(opens, row.size)))
            row, word = row[rank < MOST], word[rank < MOST]
            differ = letters[row] != _words().take(word).letters.reshape(-1, length)
            odd = (letters[row] == OTHER) & differ
            slipped = differ.sum(1) - odd.sum(1)
            cost = CHANGED * slipped + STAYED * (length - slipped) + 1.0 * odd.sum(1)
            parts.append(_made(block[row], word, cost.astype(np.float32), KEYBOARD))
    return Candidates.join(parts)
