"""Slow, obvious versions of the learnt spelling changes and of the table of respellings."""

from __future__ import annotations

import json
import lzma
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from reference.slow import Rng, is_letter

DATA = Path(__file__).parents[2] / "src/scuff/resources/data"
Table = dict[str, tuple[list[str], list[int]]]
Kept = Callable[[str, str], bool]
Rules = dict[tuple[str, str, str], list[tuple[int, str, int]]]
ALPHABET = "abcdefghijklmnopqrstuvwxyz^?"


@cache
def channel(name: str) -> tuple[Rules, list[int]]:
    head, raw = lzma.decompress((DATA / name).read_bytes()).split(b"\n", 1)
    about = json.loads(head)
    numbers = np.frombuffer(raw, "<u2").tolist()
    cut = [about["contexts"], about["contexts"], about["rules"], about["rules"], about["rules"]]
    contexts, counts, taken, texts, weights = (numbers[sum(cut[:i]) : sum(cut[: i + 1])] for i in range(5))
    table: Rules = {}
    at = 0
    for context, count in zip(contexts, counts, strict=True):
        key = ALPHABET[context // 784], ALPHABET[context // 28 % 28], ALPHABET[context % 28]
        table[key] = [(taken[i], about["texts"][texts[i]], weights[i]) for i in range(at, at + count)]
        at += count
    return table, [round(share * 65536) for share in about.get("two_edits", [0])]


def kind(unit: str) -> str:
    small = unit.lower()
    return small if len(unit) == len(small) == 1 and "a" <= small <= "z" else "?"


def fumble(old: str, new: str) -> bool:
    """Two letters swapped, or one written twice."""
    return new in (old[::-1], old * 2) and (len(old), len(new)) in ((2, 2), (1, 2))


def slip(old: str, new: str) -> bool:
    """One letter more, less or another, or two swapped."""
    return Levenshtein.distance(old, new) == 1 or (len(old) == 2 and new == old[::-1])


def firm(old: str, new: str) -> bool:
    """The first letter stays, or goes behind the second."""
    return new[:1] == old[:1] or (len(old) == 2 and new == old[::-1])


def threefold(word: str) -> bool:
    """A letter stands three times in a row."""
    return re.search(r"(.)\1\1", "".join(map(lowered, word)), re.DOTALL) is not None


def _threes(before: str, new: str, after: str) -> bool:
    return threefold(before + new) or threefold(new + after) or threefold(before + new + after)


def by_rules(
    start: int,
    units: list[str],
    rng: Rng,
    name: str,
    shortest: int,
    kept: Kept | None = None,
    once: bool = False,
    hold: bool = False,
) -> list[str] | None:
    table, two = channel(name)
    letters = sum(map(is_letter, units))
    kinds = ["^", *map(kind, units), "^"]
    rules = [
        []
        if kinds[i + 1] == "?"
        else table.get((kinds[i], kinds[i + 1], kinds[i + 2])) or table.get(("?", kinds[i + 1], "?"), [])
        for i in range(len(units))
    ]
    rules = [
        [r for r in found if not _threes(kinds[i], r[1], kinds[i + 2] if r[0] == 1 else "^")]
        for i, found in enumerate(rules)
    ]
    if kept:  # of a rule the letters that it replaces, and what by
        rules = [
            [r for r in found if kept("".join(kinds[i + 1 : i + 1 + r[0]]), r[1])] for i, found in enumerate(rules)
        ]
    if hold:
        rules[0] = [r for r in rules[0] if firm("".join(kinds[1 : 1 + r[0]]), r[1])]
    if letters < shortest or not any(rules):
        return None

    def draw(open_to: list[int], stream: Rng, single: bool = False) -> tuple[int, tuple[int, str, int]] | None:
        flat = [(i, rule) for i in open_to for rule in rules[i]]
        flat = [each for each in flat if not single or not threefold(write(units, [each])[0])]
        aim = int(stream.uniform(start) * sum(rule[2] for _, rule in flat))
        for i, rule in flat:
            aim -= rule[2]
            if aim < 0:
                return i, rule
        return None

    first = draw(list(range(len(units))), rng.stream("rule"))
    assert first
    done = [first]
    second = draw([i for i in range(len(units)) if abs(i - first[0]) > 2], rng.stream("second"))
    if second and not once and rng.stream("more").below(65536, start) < two[min(letters, len(two) - 1)]:
        done.append(second)
    new = write(units, done)
    new = new if "".join(new) != "".join(units) else write(units, done[:1])
    if threefold(new[0]) and not threefold("".join(units)):
        other = draw(list(range(len(units))), rng.stream("again"), single=True)
        return write(units, [other]) if other else new
    return new


def write(units: list[str], done: list[tuple[int, tuple[int, str, int]]]) -> list[str]:
    first = [unit[0] for unit in units]
    capital = [c != lowered(c) for c in first]
    shout = sum(capital) > 1 and not any(c != raised(c) and not big for c, big in zip(first, capital, strict=True))
    new = list(units)
    for i, (taken, text, _) in done:
        new[i] = "".join(
            raised(c) if shout or (at < taken and i + at < len(units) and capital[i + at]) else c
            for at, c in enumerate(text)
        )
        if taken == 2:
            new[i + 1] = ""
    word = "".join(new)
    return [raised(word[0]) + word[1:]] if capital[0] and word else [word]


def raised(char: str) -> str:
    return char.upper() if len(char.upper()) == 1 else char


def lowered(char: str) -> str:
    return char.lower() if len(char.lower()) == 1 else char


@cache
def respellings() -> Table:
    lines = lzma.decompress((DATA / "phonetic.txt.xz").read_bytes()).decode().split("\n")
    found = {}
    for word, spellings, weights in (line.split("\t") for line in lines):
        pairs = zip(spellings.split(" "), bytes.fromhex(weights), strict=True)
        pairs = [pair for pair in pairs if not threefold(pair[0])]
        if pairs:
            found[word] = ([spelling for spelling, _ in pairs], [weight for _, weight in pairs])
    return found


@cache
def common() -> Table:
    """The shipped errors with their counts."""
    rows = (line.split("\t") for line in (DATA / "natural-errors.txt").read_text(encoding="utf-8").split("\n"))
    pairs = ((word, [pair.split(":") for pair in errors.split(" ")]) for word, errors in rows)
    kept = ((word, [(e, int(n)) for e, n in row if int(n) > 1 or not odd(word, e)]) for word, row in pairs)
    return {word: ([error for error, _ in row], [count for _, count in row]) for word, row in kept if row}


def odd(word: str, error: str) -> bool:
    """A short word begins with another letter, and not because its first two are swapped."""
    swapped = word[1:2] + word[0]
    return len(word) <= 5 and error[0] != word[0] and not error.startswith(swapped)


def by_table(start: int, units: list[str], rng: Rng, table: Table) -> list[str] | None:
    word = "".join(units).replace("’", "'")
    plain = all(c == raised(c) for c in word) or (
        word[0] != lowered(word[0]) and word[1:] == "".join(map(lowered, word[1:]))
    )
    entry = table.get(word) or (table.get("".join(map(lowered, word))) if plain else None)
    if not entry:
        return None
    aim = rng.stream("spelling").below(sum(entry[1]), start)
    spelling = [s for s, weight in zip(*entry, strict=True) for _ in range(weight)][aim]
    if word not in table:
        if all(c == raised(c) for c in word) and len(word) > 1:
            spelling = spelling.upper()
        elif word[0] != word[0].lower():
            spelling = spelling[0].upper() + spelling[1:]
    return [spelling.replace("'", "’") if "’" in "".join(units) else spelling]


def phonetic(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    if sum(map(is_letter, units)) <= 4 and all(unit[0] == raised(unit[0]) for unit in units):  # an acronym
        return None
    return by_table(start, units, rng, respellings()) or by_rules(start, units, rng, "phonetic-rules.xz", 5)


def natural(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    if listed := by_table(start, units, rng, common()):
        return listed
    letters = sum(map(is_letter, units))
    if any(unicodedata.category(unit[0]).startswith("N") for unit in units):
        return None
    if letters == 2:
        return by_rules(start, units, rng, "natural.xz", 2, fumble, once=True)
    if letters < 5:
        return by_rules(start, units, rng, "natural.xz", 2, slip, once=True, hold=True)
    return by_rules(start, units, rng, "natural.xz", 5, lambda old, new: len(new) <= len(old) + 1, hold=letters == 5)


__all__ = ["natural", "phonetic"]
