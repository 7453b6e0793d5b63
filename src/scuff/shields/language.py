"""Which texts, and which sentences of them, are in another language than English.

Two judges: small words, which tell before anything is known of a text's errors, and likelihood, which weighs the words as they
are, in the language that fits them best, against the English words that a shield would make of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..text.language import WORDS
from ..text.ragged import Bits, Floats, Ints, Mask, Ragged, spread, sums
from ..text.words import Spans
from .hashes import HashTable, word_bits
from .lexicon import Costs, folded, lexicon
from .other_languages import languages_of

ENOUGH = 2  # small words of another language
SHARE = 0.25  # of the words of a text: frequent ones of another language
KNOWN = 0.9  # the share of words that are known from which a text is English beyond doubt
ENGLISH = "on man two com sen van den"  # besides those of WORDS, which are listed for longer texts

# What chats and forums abbreviate, and how they write: right, in a text that was not tampered with.
SLANG = (
    "afaik afk aight aka asap bbl bff bfn bio brb bruh btw bro cba cmon cos cuz cya def diy dm dms dope doggo dunno eta fam fav "
    "faq ffs fml fomo fr fwiw fyi gg gm gn goin gonna gotta gr8 gtg hbu hmm hmmm hmu icymi idc idgaf idk iirc ikr ima imho "
    "imma imo irl jk kinda kk l8r lemme lmao lmk lol lolz luv meh mins mod mods moar msg mum nah ngl noob nope np nsfw nvm obvs "
    "ofc og omfg omg omw ootd otoh pls plz pov ppl prolly rly rn rofl rt smh sorta srsly stan sup sus tbf tbh tfw tgif thnx "
    "tho thru thx tia tldr tmi tmr tmrw tomoz ttyl ty tysm ugh vid vids vibin wanna wat wbu welp whatcha wtf wut wyd "
    "xbox xo xoxo ya yall yasss yay yea yep yo yolo yup yw"
)

# Bits of a unit as a word of another language and as English, and from how many more for the first a text is not English.
LISTED = 6.5  # a word that is among the most frequent of a language
COMMON = 11.0  # an English word that costs less says nothing where it is a word of the other language, too
FORM, STRANGE = 18.0, 6.0  # a right form that the lexicon lacks; a right and unknown word, besides its letters
ALIEN = 4.0  # a word of another language, besides its letters
PER_LETTER = 4.2  # a letter of a word with accents, at most
# the most that an error, and that a word with so many bits, says for English
MOST_ERROR, RARE, MOST_RARE = 12.0, 16.5, 4.0
# letters with accents in an unknown word, one with a capital, all of a text
ACCENT, NAMED, MOST_ACCENTS = 7.0, 3.0, 28.0
FOREIGN, FOREIGN_PART, ENGLISH_PART = 0.0, 14.0, -20.0  # of a text, of a sentence in it


# ---- by small words ----


@cache
def languages_of_small_words() -> dict[str, int]:
    """Small words, and the languages that have each, as bits: the first is English, whose words no other has.

    Letters by themselves do not count: they may be those of a word with blanks in it.
    """
    english = {*WORDS["en"].split(), *ENGLISH.split()}
    languages = dict.fromkeys(english, 1)
    for bit, code in enumerate(code for code in WORDS if code != "en"):
        for word in WORDS[code].split():
            if word not in english:
                languages[word] = languages.get(word, 0) | 2 << bit
    return {word: bits for word, bits in languages.items() if len(word) > 1}


@cache
def _small_words() -> tuple[HashTable, Bits]:
    """Hashes of small words, and the languages of each."""
    small = languages_of_small_words()
    return HashTable.of(word_bits(Ragged.of(list(small)))), np.array(list(small.values()), np.uint64)


def small_words(keys: Bits, row: Ints, rows: int) -> tuple[Ints, Ints]:
    """How many small words each text has of English, and of the other language that it has most of. keys: hashes of words."""
    small, languages = _small_words()
    at = small.get(keys)
    hit = np.flatnonzero(at >= 0)
    english = hit[languages[at[hit]] == 1]
    other = hit[languages[at[hit]] > 1]
    return np.bincount(row[english], minlength=rows), _most(languages[at[other]], row[other], None, rows).astype(
        np.int64
    )


def english(texts: Ragged, words: Spans, known: Mask, rows: Ints) -> Mask:
    """Which texts do not have more small words of another language than English ones.

    It is asked for some rows; the others, and those with many known words, count as English.
    """
    many = words.per_row(len(texts))
    share = np.bincount(words.row[known], minlength=len(texts)) / np.maximum(many, 1)
    asked = np.zeros(len(texts), np.bool_)
    asked[rows] = True
    asked &= share < KNOWN
    first = np.searchsorted(words.row, np.arange(len(texts)))
    some = words.where(spread(first[asked], many[asked]))
    keys = word_bits(folded(some.cut(texts)))
    ours, other = small_words(keys, some.row, len(texts))
    most = _most(languages_of(keys), some.row, None, len(texts))
    spoken = (most >= ENOUGH) & (most > 2 * ours) & (most >= SHARE * many)
    return ~(asked & (((other >= ENOUGH) & (other > ours)) | spoken))


def _most(languages: Bits, group: Ints, weight: Floats | None, groups: int) -> Floats:
    """The weight, or number, of the words of each group in the language that it has most of. languages: of each word, as bits."""
    best = np.zeros(groups)
    hit = np.flatnonzero(languages)
    for bit in range(int(languages.max(initial=0)).bit_length()):
        mine = hit[(languages[hit] >> np.uint64(bit) & np.uint64(1)) > 0]
        if mine.size:
            best = np.maximum(best, np.bincount(group[mine], None if weight is None else weight[mine], groups))
    return best


@cache
def _slang() -> Bits:
    return np.sort(word_bits(Ragged.of(SLANG.split())))


def is_slang(keys: Bits) -> Mask:
    """Which words, given by hashes of their small letters, are usual in chats and in no list of words."""
    words = _slang()
    found: Mask = words[np.minimum(np.searchsorted(words, keys), words.size - 1)] == keys
    return found


# ---- by likelihood ----


@dataclass(frozen=True, eq=False)
class Reading:
    """Words of texts, in order, and how they may be read as English.

    row: the text of each word; starts: which begin a sentence; number: in the lexicon, -1 for none; unknown: which nobody knows;
    title: which have a capital as names have; letters: bits of each as a string of letters; error: bits of the English word that
    it may stand for, and of its error.
    """

    texts: Ragged
    row: Ints
    starts: Mask
    number: Ints
    unknown: Mask
    title: Mask
    letters: Costs
    error: Floats

    def foreign(self) -> Mask:
        """Which words stand in a text, or in a sentence, that is in another language."""
        number, unknown = self.number, self.unknown
        letters, accents = self.letters, accented(self.texts)
        cost = np.where(number >= 0, lexicon().cost[number], np.where(unknown, letters + STRANGE, FORM))
        ours = np.minimum(cost.astype(np.float64), self.error)
        theirs = np.where(accents, np.minimum(letters, PER_LETTER * self.texts.lengths), letters) + ALIEN
        gain = np.where(unknown | (number >= 0), ours - theirs, 0)
        gain = np.minimum(gain, np.where(unknown, STRANGE - ALIEN, 0))
        gain = np.maximum(gain, np.where(unknown, -MOST_ERROR, np.where(cost > RARE, -MOST_RARE, -np.inf)))
        same = np.maximum(LISTED, np.where((number >= 0) & (cost < COMMON), cost, 0))
        listed = np.maximum(ours - same - gain, 0)  # what it gains as a frequent word
        marks = np.where(accents & unknown, np.where(self.title, NAMED, ACCENT), 0)
        languages = languages_of(word_bits(folded(self.texts)))

        def bits(group: Ints) -> Floats:
            """By how many bits each word's group is likelier in the other language that fits it best."""
            groups = int(group[-1]) + 1
            own = np.bincount(group, gain, groups) + np.minimum(np.bincount(group, marks, groups), MOST_ACCENTS)
            out: Floats = np.round(own + _most(languages, group, listed, groups), 6)[group]
            return out

        whole = bits(np.cumsum(np.append(True, self.row[1:] != self.row[:-1])) - 1)
        part = bits(np.cumsum(self.starts) - 1)
        found: Mask = (part > FOREIGN_PART) | ((whole > FOREIGN) & (part > ENGLISH_PART))
        return found


def accented(texts: Ragged) -> Mask:
    """Which texts have a letter that plain English lacks."""
    return sums(texts.codes >= 0xAA, texts.offsets) > sums(texts.codes == 0x2019, texts.offsets)
