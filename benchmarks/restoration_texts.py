"""The texts that shields are measured on: clean ones of seven domains, attacked ones, and people's own errors and disguises."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

from rapidfuzz.distance import OSA

from scuff.perturbations import ZEROE
from scuff.perturbations.plan import Plan

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SCUFF_SHARED", ROOT.parent / "shared"))
LISTS = Path(__file__).parent / "data"
SEED = 17
LONGEST, SHORTEST = 300, 20  # characters of a text
DOMAINS = {  # name: data set, column; the last three are for reporting only: nothing was learnt from them or chosen on them
    "reviews": ("sst2", "text"), "news": ("agnews", "text"), "Wikipedia": ("wikitext", "text"),
    "comments": ("jigsaw", "text"), "tweets": ("davidson", "text"), "web": ("ud_ewt", "tokens"),
    "captions": ("multi30k_de_en", "target"),
}  # fmt: skip
UNSEEN = ("tweets", "web", "captions")
MORE = ("homoglyph", "invisible", "typo", "glyph")
LEVELS = (0.2, 0.5, 0.8)
FEW = {"visual": (0.1,), "homoglyph": (0.1,), "glyph": (0.1,)}  # these are of letters, or of every word: further levels
PAIR_LEVELS = (0.2, 0.5)
# 30 % of the letters: by our default, by whatever Unicode lists as confusable, and by the few Cyrillic letters that look the same
TWINS, SHORT = "Cyrillic twins", 60
LETTERS = {
    "our default": "homoglyph(phi=0.3)", "all scripts": "homoglyph(phi=0.3, scripts='all')", TWINS: "",
    f"{TWINS}, texts up to {SHORT} characters": "",
}  # fmt: skip
CYRILLIC = dict(zip("aceopxyisjABCEHIKMOPTX", "асеорхуіѕјАВСЕНІКМОРТХ", strict=True))


@dataclass(frozen=True)
class Batch:
    """Texts that one tool sees at once. group: the table that it belongs to; domain: of each text."""

    group: str
    name: str
    level: float
    original: tuple[str, ...]
    attacked: tuple[str, ...]
    domain: tuple[str, ...]

    @property
    def file(self) -> str:
        return re.sub(r"[^\w.=-]+", "-", f"{self.group} {self.name} {self.level:g}") + ".json"

    def part(self, count: int) -> Batch:
        """The first `count` texts of each domain."""
        seen: dict[str, int] = {}
        keep = []
        for at, name in enumerate(self.domain):
            seen[name] = seen.get(name, 0) + 1
            if seen[name] <= count:
                keep.append(at)
        columns = (tuple(column[at] for at in keep) for column in (self.original, self.attacked, self.domain))
        return Batch(self.group, self.name, self.level, *columns)


@cache
def domain(name: str, part: str) -> tuple[str, ...]:
    """The texts of a domain, in an order that is shuffled once. Raises ValueError for the dev part of one for reporting only."""
    if part != "test" and name in UNSEEN:
        raise ValueError(f"expected the test part of {name}, which is for reporting only, got {part!r}")
    folder, column = DOMAINS[name]
    with gzip.open(SHARED / "data" / folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    if column == "tokens":
        texts = [
            "".join(token + " " * space for token, space in zip(entry["tokens"], entry["spaces"], strict=True)).strip()
            for entry in found
        ]
    else:
        texts = [entry[column] for entry in found]
    texts = [text for text in dict.fromkeys(texts) if SHORTEST <= len(text) <= LONGEST]
    random.Random(SEED).shuffle(texts)
    return tuple(texts)


def sample(part: str, count: int, longest: int = LONGEST) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Some texts of every domain, and the domain of each."""
    names = [name for name in DOMAINS if part == "test" or name not in UNSEEN]
    fit = {name: [text for text in domain(name, part) if len(text) <= longest][:count] for name in names}
    pairs = [(text, name) for name in names for text in fit[name]]
    return tuple(text for text, _ in pairs), tuple(name for _, name in pairs)


def attacked(part: str, count: int, group: str, name: str, level: float) -> Batch:
    """Texts under a perturbation. group: as published, by our defaults (ours, more), of 30 % of the letters, or pairs."""
    texts, names = sample(part, count, SHORT if str(SHORT) in name else LONGEST)
    if name.startswith(TWINS):
        return Batch(group, name, level, texts, tuple(twins(text, level) for text in texts), names)
    if group == "others":
        return Batch(group, name, level, texts, tuple(other_noise(text, name, level) for text in texts), names)
    if group == "letters":
        plan = Plan.of(LETTERS[name], 1.0, SEED, None, ())
    else:
        plan = Plan.of(name, level, SEED, None, (), as_published=group in ("published", "pairs"))
    return Batch(group, name, level, texts, tuple(plan.texts(texts)), names)


def twins(text: str, share: float) -> str:
    """A share of the letters that have a Cyrillic twin becomes Cyrillic."""
    dice = random.Random(text)
    return "".join(CYRILLIC[c] if c in CYRILLIC and dice.random() < share else c for c in text)


# ---- noise that no perturbation of ours makes ----

OCR = {
    "m": "rn",
    "rn": "m",
    "l": "1",
    "cl": "d",
    "d": "cl",
    "h": "b",
    "e": "c",
    "o": "0",
    "i": "l",
    "w": "vv",
    "g": "q",
    "u": "ii",
}
LEET = dict(zip("aeiostbg", "43105789", strict=True))


def _one(word: str, dice: random.Random, table: dict[str, str]) -> str:
    """One place of a word that is in the table is replaced; a word without one stays."""
    spots = [(at, part) for part in table for at in range(len(word)) if word.startswith(part, at)]
    if not spots:
        return word
    at, part = dice.choice(spots)
    return word[:at] + table[part] + word[at + len(part) :]


def _doubled(word: str, dice: random.Random) -> str:
    at = dice.randrange(len(word))
    return word[:at] + word[at] * dice.choice((2, 2, 3, 5)) + word[at + 1 :]


def _any_letter(word: str, dice: random.Random) -> str:
    """A letter comes in, goes, or becomes any other letter."""
    at, new = dice.randrange(len(word)), dice.choice("abcdefghijklmnopqrstuvwxyz")
    return dice.choice((word[:at] + new + word[at:], word[:at] + word[at + 1 :], word[:at] + new + word[at + 1 :]))


OTHER: dict[str, Callable[[str, random.Random], str]] = {
    "OCR": lambda word, dice: _one(word, dice, OCR),
    "leet": lambda word, dice: "".join(LEET.get(c, c) if dice.random() < 0.7 else c for c in word),
    "letters repeated": _doubled,
    "any letter": _any_letter,
    "starred vowel": lambda word, dice: _one(word, dice, dict.fromkeys("aeiou", "*")),
    "dots": lambda word, dice: ".".join(word),
    "blanks": lambda word, dice: " ".join(word),
    "accents": lambda word, dice: "".join(
        c + dice.choice("\u0301\u0308\u0323\u0331") if c.isalpha() else c for c in word
    ),
}


def other_noise(text: str, name: str, share: float) -> str:
    """A share of the words of four letters and more gets a noise of OTHER."""
    dice = random.Random(name + text)
    return re.sub(
        r"[A-Za-z]{4,}", lambda found: OTHER[name](found[0], dice) if dice.random() < share else found[0], text
    )


def attacks() -> Iterator[tuple[str, str, float]]:
    """Group, name and level of everything that is tried."""
    for name in ZEROE:
        for level in (*FEW.get(name, ()), *LEVELS):
            yield "published", name, level
            yield "ours", name, level
    for name in MORE:
        for level in (*FEW.get(name, ()), *LEVELS):
            yield "more", name, level
    for name in LETTERS:
        yield "letters", name, 0.3
    for name in OTHER:
        for level in PAIR_LEVELS:
            yield "others", name, level
    for one, other in combinations((*ZEROE, *MORE), 2):
        for level in PAIR_LEVELS:
            yield "pairs", f"{one}+{other}", level


def clean(part: str, count: int) -> Batch:
    texts, names = sample(part, count)
    return Batch("clean", "clean", 0.0, texts, texts, names)


# ---- people's own errors and disguises; the domain of a text is what kind it is ----


def listed(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (LISTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def disguises() -> Batch:
    rows = listed("disguises")
    columns = (tuple(row[name] for row in rows) for name in ("meant", "written", "kind"))
    return Batch("real", "disguises", 0.0, *columns)


def legitimate() -> Batch:
    rows = listed("legitimate")
    texts = tuple(row["text"] for row in rows)
    return Batch("real", "legitimate", 0.0, texts, texts, tuple(row["kind"] for row in rows))


@cache
def real_words() -> frozenset[str]:
    """Words that are right for sure: often written in lower case, and in a dictionary of pronunciations, which has no errors."""
    with gzip.open(SHARED / "data" / "word_freq" / "en.tsv.gz", "rt", encoding="utf-8") as lines:
        written = {line.partition("\t")[0] for line in lines}
    with zipfile.ZipFile(SHARED / "data" / "nltk_data" / "corpora" / "cmudict.zip") as folder:
        spoken = {
            line.split()[0].lower() for line in folder.read("cmudict/cmudict").decode("latin-1").splitlines() if line
        }
    return frozenset(written & spoken)


@cache
def natural_errors(part: str) -> tuple[tuple[str, str], ...]:
    """(error, right word) of the list of Belinkov and Bisk: the held-out fifth of its words for test, others for dev."""
    found = set()
    for line in (SHARED / "data" / "natural_errors" / "en.tsv").read_text(encoding="utf-8").splitlines():
        word, _, errors = line.partition("\t")
        held_out = zlib.crc32(word.lower().encode()) % 5 == 0
        if held_out == (part == "test") and re.fullmatch(r"[A-Za-z]{3,}", word):
            found |= {(error, word) for error in errors.split() if re.fullmatch(r"[A-Za-z]{2,}", error)}
    pairs = [(error, word) for error, word in sorted(found) if error.lower() != word.lower()]
    random.Random(SEED).shuffle(pairs)
    return tuple(pairs)


def shuffled(pairs: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """(error, right word) of another list, in an order that is shuffled once."""
    found = [(error, right) for error, right in pairs]
    random.Random(SEED).shuffle(found)
    return tuple(found)


def kind_of_error(error: str, right: str) -> str:
    if error.lower() in real_words():
        return "is a word itself"
    return "1 or 2 edits" if OSA.distance(error.lower(), right.lower()) <= 2 else "3 edits and more"


def errors(name: str, pairs: tuple[tuple[str, str], ...], count: int) -> Batch:
    """Errors as texts of one word: at most `count` of each kind."""
    rows = _some([(right, error, kind_of_error(error, right)) for error, right in pairs], count)
    return Batch("real", f"{name}, alone", 0.0, *zip(*rows, strict=True))


def in_sentences(name: str, pairs: tuple[tuple[str, str], ...], part: str, count: int) -> Batch:
    """The same errors in sentences of Wikipedia that have the right word, one in each sentence."""
    where: dict[str, list[str]] = {}
    for text in domain("Wikipedia", part):
        for word in dict.fromkeys(re.findall(r"[A-Za-z]+", text)):
            where.setdefault(word, []).append(text)
    rows, used = [], set()
    for error, right in pairs:
        for found in [text for text in where.get(right, ()) if text not in used][:1]:
            used.add(found)
            begin, end = re.search(rf"(?<![A-Za-z]){right}(?![A-Za-z])", found).span()  # type: ignore[union-attr]
            rows.append((found, found[:begin] + error + found[end:], kind_of_error(error, right)))
    return Batch("real", f"{name}, in sentences", 0.0, *zip(*_some(rows, count), strict=True))


def _some(rows: list[tuple[str, str, str]], count: int) -> list[tuple[str, str, str]]:
    """At most `count` rows of each kind, in order of kind."""
    kinds = sorted({row[2] for row in rows})
    return [row for kind in kinds for row in [each for each in rows if each[2] == kind][:count]]


# ---- any Unicode ----


def fuzzed(count: int) -> list[str]:
    """Random strings: any code points, code points of one block, and real text with such things put in."""
    dice = random.Random(SEED)
    blocks = [
        (0, 0x250), (0x250, 0x590), (0x590, 0x1000), (0x1000, 0x2000), (0x2000, 0x3000), (0x3000, 0xD800), (0xE000, 0x10000),
        (0x1D400, 0x1D800), (0x1F000, 0x1FB00), (0xE0000, 0xE01F0), (0, 0x110000),
    ]  # fmt: skip
    texts = listed("legitimate") + listed("disguises")
    out = []
    for _ in range(count):
        low, high = dice.choice(blocks)
        points = [dice.randrange(low, high) for _ in range(dice.choice((0, 1, 2, 5, 20, 80)))]
        odd = "".join(chr(point) for point in points if not 0xD800 <= point < 0xE000)  # lone surrogates are no text
        real = dice.choice(texts)
        base = real.get("text") or real["written"]
        spot = dice.randrange(len(base) + 1)
        out.append(dice.choice((odd, base[:spot] + odd + base[spot:], " ".join(odd), odd[::-1] + base[::-1])))
    return out
