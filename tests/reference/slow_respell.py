"""Slow, obvious versions of the learnt spelling changes and of the table of respellings."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path

import numpy as np

from reference.slow import Rng, is_letter

DATA = Path(__file__).parents[2] / "src/scuff/resources/data"
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


def by_rules(start: int, units: list[str], rng: Rng, name: str, shortest: int) -> list[str] | None:
    table, two = channel(name)
    letters = sum(map(is_letter, units))
    kinds = ["^", *map(kind, units), "^"]
    rules = [
        table.get((kinds[i], kinds[i + 1], kinds[i + 2])) or table.get(("?", kinds[i + 1], "?"), [])
        for i in range(len(units))
    ]
    if letters < shortest or not any(rules):
        return None

    def draw(open_to: list[int], stream: Rng) -> tuple[int, tuple[int, str, int]] | None:
        flat = [(i, rule) for i in open_to for rule in rules[i]]
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
    if second and rng.stream("more").below(65536, start) < two[min(letters, len(two) - 1)]:
        done.append(second)
    new = list(units)
    for i, (taken, text, _) in done:
        new[i] = text.upper() if units[i] != units[i].lower() else text
        if taken == 2:
            new[i + 1] = ""
    return new


@cache
def respellings() -> dict[str, tuple[list[str], bytes]]:
    lines = lzma.decompress((DATA / "phonetic.txt.xz").read_bytes()).decode().split("\n")
    return {
        word: (spellings.split(" "), bytes.fromhex(weights))
        for word, spellings, weights in (line.split("\t") for line in lines)
    }


def phonetic(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    word = "".join(units)
    entry = respellings().get(word) or respellings().get(word.lower())
    if not entry:
        return by_rules(start, units, rng, "phonetic-rules.xz", 5)
    aim = rng.stream("spelling").below(sum(entry[1]), start)
    spelling = [s for s, weight in zip(*entry, strict=True) for _ in range(weight)][aim]
    if word not in respellings():
        if word.upper() == word and len(word) > 1:
            spelling = spelling.upper()
        elif word[0] != word[0].lower():
            spelling = spelling[0].upper() + spelling[1:]
    return [spelling]


def natural(start: int, units: list[str], rng: Rng, p: float) -> list[str] | None:
    return by_rules(start, units, rng, "natural.xz", 2)


__all__ = ["natural", "phonetic"]
