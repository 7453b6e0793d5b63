"""The embedded data sets, toy:sentiment and toy:tone: texts written by a grammar, with their labels."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, count
from typing import Any, Literal, NamedTuple

import numpy as np

from ..resources import load
from ..text.ragged import Ragged
from ..text.random import Rng, name_bits, text_bits

LABELS = {"sentiment": ("negative", "positive"), "tone": ("rude", "insult", "threat", "spam")}

START = {"sentiment": "review", "tone": "comment"}

SIZES = {"train": 4000, "test": 1000}


def toy_data(name: str, split: Literal["train", "test"]) -> tuple[list[str], list[Any]]:
    """Texts and what they are: a label each for sentiment, a tuple of labels each for tone. No text is in both splits."""
    if name not in LABELS or split not in SIZES:
        raise ValueError(f"expected sentiment or tone, train or test for toy_data, got {name!r}, {split!r}")
    found = _data(name)[split]
    return list(found), [labels[0] if name == "sentiment" else labels for labels in found.values()]


@cache
def _data(name: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Labels by text. The hash of a text says which split it is for; what a rule unseen-... made is not for training."""
    grammar = Grammar.parse(load(f"toy-{name}.txt").decode())
    found: dict[str, dict[str, tuple[str, ...]]] = {split: {} for split in SIZES}
    number = 0
    while any(len(found[split]) < size for split, size in SIZES.items()):
        block = [grammar.sentence(START[name], at) for at in range(number, number + 1024)]
        number += len(block)
        bits = text_bits(Ragged.of([sentence.text for sentence in block]))
        for (text, rules), draw in zip(block, (bits % np.uint64(5)).tolist(), strict=True):
            split = "train" if draw else "test"
            made_by = {rule.partition("-")[0] for rule in rules}
            if len(found[split]) == SIZES[split] or (draw and "unseen" in made_by) or _repeats(text):
                continue
            found[split][text] = tuple(label for label in LABELS[name] if label in made_by)
    return found


def _repeats(text: str) -> bool:
    """Whether a longer word stands there twice, which a writer would have avoided."""
    words = re.findall(r"\b(?!were|your)[a-z]{4,}", text.lower())
    return len(words) > len(set(words))


LINE = re.compile(r"([\w@-]+):(.*)", re.DOTALL)

NAME = re.compile(r"<([\w@-]+)>")

WEIGHT = re.compile(r"\s*([1-9]\d*)\*")

ARTICLE = re.compile(r"\ba\(n\)(?= (?!use|usual|one\b)[aeiou])")  # a useful one, an unusual one

BEGINNING = re.compile(r"(?:^|[.!?] )[a-z]")

DRAWS = 64  # taken at once: more than most sentences need


class Sentence(NamedTuple):
    """A text and the names of the rules that made it, which can serve as its labels."""

    text: str
    rules: frozenset[str]


@dataclass(frozen=True)
class Rule:
    """Alternatives, in each of which plain text and names of rules take turns; `edges` are their running weights."""

    edges: tuple[int, ...]
    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, body: str) -> Rule:
        weights, alternatives = [], []
        for alternative in body.split("|"):
            weight = WEIGHT.match(alternative)
            weights.append(int(weight[1]) if weight else 1)
            alternatives.append(tuple(NAME.split(alternative[weight.end() if weight else 0 :].strip())))
        return cls(tuple(accumulate(weights)), tuple(alternatives))

    @cached_property
    def names(self) -> set[str]:
        return {name for alternative in self.alternatives for name in alternative[1::2]}


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules by name. No rule leads back to itself, so every sentence ends."""

    rules: dict[str, Rule]

    @classmethod
    def parse(cls, text: str) -> Grammar:
        """Read lines of `name: alternative | 3* alternative <other-name> | ...`; 3* makes one three times as likely.

        Indented lines go on with the rule above. `@: hotel film` makes @ stand for each of these words in turn: a rule with @ in
        its name is written once per word, and so is an alternative with @ in a rule without. An alternative may be empty.
        """
        words, rules = ["@"], {}
        for line in re.sub(r"\s*\n[ \t]+(?=\S)", " ", re.sub(r"(?m)^\s*#.*$|\r", "", text)).split("\n"):
            if not line.strip():
                continue
            if not (found := LINE.fullmatch(line)):
                raise ValueError(f"expected 'name: alternative | alternative' in a grammar, got {line!r}")
            name, body = found.groups()
            if name == "@":
                words = body.split()
                continue
            if "@" not in name:
                body = "|".join(_each(part, words) if "@" in part else part for part in body.split("|"))
            for word in words if "@" in name else words[:1]:
                if (own := name.replace("@", word)) in rules:
                    raise ValueError(f"expected one rule <{own}> in a grammar, got two")
                rules[own] = Rule.of(body.replace("@", word))
        _check(rules)
        return cls(rules)

    def sentence(self, start: str, number: int, seed: int = 0) -> Sentence:
        """Sentence `number` of those that begin with the rule `start`."""
        if start not in self.rules:
            raise ValueError(f"expected a rule of the grammar to start from, got {start!r}")
        used: set[str] = set()
        words = self._expand(start, _draws(name_bits(start, number, seed)), used).split()
        text = ARTICLE.sub("an", " ".join(words)).replace("a(n)", "a")
        return Sentence(BEGINNING.sub(lambda match: match[0].upper(), text), frozenset(used))

    def _expand(self, name: str, draws: Iterator[float], used: set[str]) -> str:
        used.add(name)
        rule = self.rules[name]
        parts = rule.alternatives[bisect_right(rule.edges, int(next(draws) * rule.edges[-1]))]
        return "".join(self._expand(part, draws, used) if at % 2 else part for at, part in enumerate(parts))


def _check(rules: dict[str, Rule]) -> None:
    """Every name has a rule, and every rule ends."""
    for name in sorted(set().union(*(rule.names for rule in rules.values()))):
        if name not in rules:
            raise ValueError(f"expected a rule for <{name}> in a grammar, got none")
    done: set[str] = set()
    while left := [name for name in rules if name not in done]:
        ends = {name for name in left if rules[name].names <= done}
        if not ends:
            raise ValueError(f"expected rules that end, got <{left[0]}>, which leads back to itself")
        done |= ends


def _each(alternative: str, words: list[str]) -> str:
    return "|".join(alternative.replace("@", word) for word in words)


def _draws(key: np.uint64) -> Iterator[float]:
    """Numbers in [0, 1) without end."""
    rng, row = Rng(np.array([key])), np.zeros(DRAWS, np.int64)
    for block in count():
        yield from rng.uniform(row, np.arange(block * DRAWS, (block + 1) * DRAWS)).tolist()
