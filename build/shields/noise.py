"""Noisy texts with the words that were meant, for the training of the network of tier `context`: Scuff's own perturbations with
options drawn widely, and noise that no perturbation of ours makes, so that the network does not learn our quirks by heart.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scuff.perturbations.base import Perturbation
from scuff.perturbations.drop import Disemvowel, Truncate
from scuff.perturbations.homoglyph import Homoglyph
from scuff.perturbations.intrude import Intrude
from scuff.perturbations.keyboard import Keyboard
from scuff.perturbations.natural import Natural
from scuff.perturbations.phonetic import Phonetic
from scuff.perturbations.segment import Segment
from scuff.perturbations.shuffle import FullShuffle, InnerShuffle
from scuff.perturbations.typo import Typo
from scuff.perturbations.visual import Visual
from scuff.resources import load, stream_lines
from scuff.shields.base import mended
from scuff.shields.deobfuscate import Deobfuscate
from scuff.shields.lexicon import lexicon
from scuff.shields.normalise import Normalise
from scuff.text.corpus import Corpus
from scuff.text.ragged import Ragged

# The network reads a hyphenated word as several, and 's as something that stands behind a word.
UNIT = re.compile(r"[^\W_]+(?:['’](?![sS](?![^\W_]))[^\W_]+)*")
WHOLE = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
FIELDS = {
    "wikitext": ("text",), "agnews": ("text",), "jigsaw": ("text",), "sst2": ("text",),
    "snli": ("premise", "hypothesis"), "mnli": ("premise", "hypothesis"),
}  # fmt: skip
LENGTHS = (16, 32, 64, 96)  # words; a piece of text goes into the first that it fits
LOOKS = ("ceo", "ilj1t", "nhmru", "vyuw", "gqp9", "bdh6", "aeo4", "s5z", "fkt", "xkv", "nm", "wm")
LEET = {"a": "4", "e": "3", "i": "1", "o": "0", "s": "5", "t": "7", "l": "1", "g": "9", "b": "8"}
SOUNDS = (
    ("ph", "f"), ("f", "ph"), ("ck", "k"), ("c", "k"), ("k", "c"), ("s", "z"), ("z", "s"), ("tion", "shun"), ("ight", "ite"),
    ("ough", "o"), ("ou", "u"), ("ee", "ea"), ("ea", "ee"), ("ei", "ie"), ("ie", "ei"), ("ai", "ay"), ("ay", "ai"), ("wh", "w"),
    ("w", "wh"), ("kn", "n"), ("wr", "r"), ("er", "a"), ("er", "or"), ("or", "er"), ("th", "d"), ("ing", "in"), ("y", "ie"),
    ("i", "y"), ("ce", "se"), ("able", "ible"), ("ible", "able"), ("ance", "ence"), ("ence", "ance"), ("x", "ks"), ("qu", "kw"),
    ("oo", "u"), ("igh", "y"), ("dge", "j"), ("mb", "m"), ("gh", "g"), ("e", ""), ("a", "e"), ("e", "i"), ("o", "a"), ("you", "u"),
)  # fmt: skip
UNDONE = (Visual, Homoglyph, Intrude, Segment)  # what other shields undo, more or less


class Piece(NamedTuple):
    """Words, and what stands before each and behind the last. rough: nobody edited the text, unknown words may be errors."""

    words: list[str]
    between: list[str]
    rough: bool = False


def pieces(shared: Path, part: str, sets: Sequence[str] = tuple(FIELDS), most: int = 10**9) -> list[Piece]:
    """The texts of some data sets, cut into words; long texts in several pieces, each text once."""
    out: list[Piece] = []
    for name in sets:
        seen: set[str] = set()
        for number, line in enumerate(stream_lines(shared / "data" / name / f"{part}.jsonl.gz")):
            if number >= most:
                break
            record = json.loads(line)
            for field in FIELDS[name]:
                if record[field] not in seen:
                    seen.add(record[field])
                    out += _cut(record[field], name == "jigsaw")
    return out


@cache
def errors() -> dict[str, str]:
    """Misspellings that people make, and the words that they meant; not those that are words or may mean several."""
    found: dict[str, set[str]] = {}
    for line in load("natural-errors.txt").decode().split("\n"):
        word, listed = line.split("\t")
        for error in listed.split(" "):
            found.setdefault(error.split(":")[0], set()).add(word)
    names = [error for error, words in found.items() if len(words) == 1]
    known = lexicon().known(Ragged.of(names))
    return {error: next(iter(found[error])) for error, right in zip(names, known, strict=True) if not right}


def _cut(text: str, rough: bool = False) -> Iterator[Piece]:
    words, between, done = [], [], 0
    for found in UNIT.finditer(text):
        if found[0] in ("s", "S") and done and text[done : found.start()] in ("'", "’"):
            continue  # it stays a part of what stands behind the word
        words.append(
            _like(errors()[found[0].lower()], found[0]) if rough and found[0].lower() in errors() else found[0]
        )
        between.append(text[done : found.start()])
        done = found.end()
    between.append(text[done:])
    at = 0
    while at < len(words):
        size = len(words) - at
        if size > LENGTHS[-1]:
            size = 24 + (at * 7 + len(words)) % 60
        yield Piece(words[at : at + size], between[at : at + size + 1], rough)
        at += size


def draw_parts(dice: random.Random) -> list[Perturbation]:
    """Perturbations with options drawn at random: one, or two that are stacked."""
    phi = dice.choice((None, 0.0, dice.random() * 0.7))
    layout = dice.choice(("qwerty", "qwerty", "qwerty", "qwertz", "azerty", "dvorak"))
    kinds: list[tuple[float, Perturbation]] = [
        (1.2, InnerShuffle(min_letters=dice.choice((4, 4, 3)))),
        (1.8, FullShuffle(min_letters=dice.choice((2, 3)))),
        (2.0, Disemvowel(min_letters=dice.choice((4, 4, 3)))),
        (2.0, Truncate(letters=dice.choice((1, 1, 1, 2, 3)), keep=dice.choice((3, 3, 2)))),
        (3.0, Keyboard(phi=phi, layout=layout)),
        (2.5, Natural(listed=dice.random() < 0.3)),
        (2.5, Phonetic(listed=dice.random() < 0.3, slight=dice.random() < 0.3)),
        (1.8, Typo(layout=layout)),
        (1.2, Visual(phi=phi)),
        (0.3, Homoglyph(phi=phi)),
        (0.5, Intrude()),
        (0.7, Segment()),
    ]
    return dice.choices([part for _, part in kinds], [weight for weight, _ in kinds], k=dice.choice((1, 2)))


def scuffed(
    texts: Sequence[str], parts: Sequence[Perturbation], strengths: Sequence[float], seed: int
) -> list[list[str]]:
    """The words of each text after some perturbations, and after the shields that come before `restore`: as many as before.

    Words that are still glued together count as parted.
    """
    now = Corpus.of(texts)
    spans = now.words
    for turn, (part, strength) in enumerate(zip(parts, strengths, strict=True)):
        edits = part.edits(now, strength, seed=seed + turn)
        if len(edits):
            edits = edits.in_order()
            spans = edits.carry(spans, now.offsets)
            now = now.apply(edits)
    if seed % 6 == 0 or any(isinstance(part, UNDONE) for part in parts):
        now = Corpus(now.codes, now.offsets, now.keys)
        for shield in (Normalise(), Deobfuscate()):
            repairs = shield.repairs(now)
            if len(repairs):
                spans = repairs.edits.in_order().carry(spans, now.offsets)
                now = mended(now, repairs)
    flat, at, out = spans.cut(now).strings(), 0, []
    for count in spans.per_row(len(texts)).tolist():
        out.append(flat[at : at + count])
        at += count
    return out


def own_noise(word: str, dice: random.Random) -> str:
    """One word under noise that is not among Scuff's perturbations."""
    kind = dice.random()
    if ("'" in word or "’" in word) and kind < 0.5:
        return word.replace("'", "").replace("’", "")
    if kind < 0.48:
        for _ in range(dice.choice((1, 1, 2, 2, 3))):
            word = _one_edit(word, dice)
        return word
    if kind < 0.6:
        lower = word.lower()
        usable = [(old, new) for old, new in SOUNDS if old in lower]
        for old, new in dice.sample(usable, min(len(usable), dice.choice((1, 2, 3)))):
            word = re.sub(old, new, word, count=1, flags=re.IGNORECASE)
        return word
    if kind < 0.7:  # look-alikes that were taken for the wrong letter
        return "".join(
            dice.choice(dice.choice([g for g in LOOKS if c in g] or [c])) if dice.random() < 0.3 else c for c in word
        )
    if kind < 0.76:
        return "".join(LEET.get(c.lower(), c) if dice.random() < 0.6 else c for c in word)
    if kind < 0.84:  # some vowels dropped, doubled letters dropped
        return word[0] + "".join(c for c in word[1:] if c not in "aeiou" or dice.random() < 0.4)
    if kind < 0.88:
        return re.sub(r"(.)\1", r"\1", word) if re.search(r"(.)\1", word) else _one_edit(word, dice)
    if kind < 0.95 and len(word) > 5:  # cut short
        return word[: dice.randint(3, len(word) - 2)]
    at = dice.randrange(len(word))  # a letter held down
    return word[:at] + word[at] * dice.randint(2, 5) + word[at + 1 :]


def _one_edit(word: str, dice: random.Random) -> str:
    at, kind = dice.randrange(len(word)), dice.randrange(5)
    letter = chr(97 + dice.randrange(26))
    if kind == 0 and len(word) > 2:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + letter + word[at:]
    if kind == 2 and len(word) > 1 and at + 1 < len(word):
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 3:
        return word[:at] + word[at] + word[at:]
    return word[:at] + (letter.upper() if word[at].isupper() else letter) + word[at + 1 :]


def _like(new: str, old: str) -> str:
    """A word of the lexicon with the capitals of the word whose place it takes."""
    return new.upper() if len(old) > 1 and old.isupper() else new.capitalize() if old[:1].isupper() else new


def _restyled(piece: Piece, vocabulary: Sequence[str], dice: random.Random) -> Piece:
    """Other text in the same manner: some words replaced by any of the lexicon, capitals or punctuation gone now and then."""
    words, between, rough = piece
    if vocabulary:
        for at, word in enumerate(words):
            if dice.random() < 0.06:
                new = vocabulary[int(len(vocabulary) * dice.random() ** 1.5)]
                words = [*words[:at], _like(new, word), *words[at + 1 :]]
    if any(text[:2] in ("'s", "’s") for text in between) and dice.random() < 0.2:
        words, between = _with_tails(words, between)
    style = dice.random()
    if style < 0.12:
        words = [word.lower() for word in words]
    elif style < 0.15:
        words = [word.upper() for word in words]
    if dice.random() < 0.08:
        between = [" " if 0 < at < len(words) else "" for at in range(len(between))]
    return Piece(words, between, rough)


def _with_tails(words: list[str], between: list[str]) -> tuple[list[str], list[str]]:
    """`that` and `'s` as one word, so that noise can take the apostrophe away."""
    new, gaps = list(words), list(between)
    for at in range(len(words)):
        if gaps[at + 1][:2] in ("'s", "’s"):
            new[at] += "'s"
            gaps[at + 1] = gaps[at + 1][2:]
    return new, gaps


def noisy_group(
    group: Sequence[Piece], vocabulary: Sequence[str], dice: random.Random
) -> tuple[list[Piece], list[list[str]]]:
    """Pieces as they were meant, and the words that noise made of them."""
    meant = [_restyled(piece, vocabulary, dice) for piece in group]
    manner = dice.random()
    if manner < 0.2:
        return meant, [list(words) for words, _, _ in meant]
    noisy = [list(words) for words, _, _ in meant]
    if manner < 0.85:
        texts = [" ".join(words) for words, _, _ in meant]
        parts = draw_parts(dice)
        strengths = [0.05 + 0.85 * dice.random() for _ in parts]
        made = scuffed(texts, parts, strengths, dice.randrange(1 << 30))
        noisy = [new if len(new) == len(old) else old for new, old in zip(made, noisy, strict=True)]
    if manner > 0.75:
        rate = dice.random() ** 2 * 0.8
        noisy = [
            [own_noise(word, dice) if word and dice.random() < rate else word for word in words] for words in noisy
        ]
    if dice.random() < 0.05:
        noisy = [
            ["".join(c.swapcase() if dice.random() < 0.2 else c for c in word) for word in words] for words in noisy
        ]
    for (words, _, _), new in zip(meant, noisy, strict=True):
        for at, word in enumerate(new):
            if not WHOLE.fullmatch(word):  # what falls apart or is gone cannot be aligned
                new[at] = words[at]
    return meant, noisy
