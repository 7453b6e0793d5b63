"""The grammars of the embedded data: rules with weighted alternatives, from which sentences are drawn."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from typing import NamedTuple

import numpy as np

from ..text.random import Rng, name_bits

SIZES = {"train": 4000, "test": 1000}

BLOCK = 1024  # sentences generated at once

LINE = re.compile(r"([\w@-]+):(.*)", re.DOTALL)

NAME = re.compile(r"<([\w@-]+)>")

WEIGHT = re.compile(r"\s*([1-9]\d*)\*")

ARTICLE = re.compile(r"\ba\(n\)(?= (?!use|usual|one\b)[aeiou])")  # becomes "an"; but: a useful one

BEGINNING = re.compile(r"(?:^|[.!?] )[a-zäöü]")

DRAWS = 64  # random numbers made at once: more than most sentences need


class Derivation(NamedTuple):
    """A text and the names of the rules that made it, from which its labels are taken."""

    text: str
    rules: frozenset[str]


@dataclass(frozen=True)
class Production:
    """The alternatives of a rule, in each of which plain text and names of rules alternate; `edges` are their summed weights."""

    edges: tuple[int, ...]
    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, body: str) -> Production:
        """Reads `alternative | 3* alternative <other-name>`."""
        weights, alternatives = [], []
        for alternative in body.split("|"):
            weight = WEIGHT.match(alternative)
            weights.append(int(weight[1]) if weight else 1)
            alternatives.append(tuple(NAME.split(alternative[weight.end() if weight else 0 :].strip())))
        return cls(tuple(accumulate(weights)), tuple(alternatives))

    @cached_property
    def names(self) -> set[str]:
        """The rules that it refers to."""
        return {name for alternative in self.alternatives for name in alternative[1::2]}


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules by name. No rule leads back to itself, so every derivation ends."""

    rules: dict[str, Production]

    @classmethod
    def parse(cls, text: str) -> Grammar:
        """Reads lines of `name: alternative | 3* alternative <other-name> | ...`; 3* makes one three times as likely.

        Indented lines continue the rule above. After `@: hotel film`, a rule with @ in its name is repeated for each of these
        words, and so is an alternative with @ in a rule without. An alternative may be empty. Raises ValueError for a line that
        is none of these, two rules of one name, a name without a rule, or a rule that leads back to itself.
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
                rules[own] = Production.of(body.replace("@", word))
        _check(rules)
        return cls(rules)

    def sentence(self, start: str, number: int, seed: int = 0) -> Derivation:
        """Returns sentence `number` of those that begin with the rule `start`."""
        if start not in self.rules:
            raise ValueError(f"expected a rule of the grammar to start from, got {start!r}")
        used: set[str] = set()
        words = self._expand(start, draws(name_bits(start, number, seed)), used).split()
        text = ARTICLE.sub("an", " ".join(words)).replace("a(n)", "a")
        return Derivation(BEGINNING.sub(lambda match: match[0].upper(), text), frozenset(used))

    def _expand(self, name: str, draws: Iterator[float], used: set[str]) -> str:
        used.add(name)
        rule = self.rules[name]
        parts = rule.alternatives[bisect_right(rule.edges, int(next(draws) * rule.edges[-1]))]
        return "".join(self._expand(part, draws, used) if at % 2 else part for at, part in enumerate(parts))


def _check(rules: dict[str, Production]) -> None:
    """Raises ValueError if a name has no rule or a rule leads back to itself."""
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
    """Repeats an alternative with each word for @."""
    return "|".join(alternative.replace("@", word) for word in words)


def draws(key: np.uint64) -> Iterator[float]:
    """Yields random numbers in [0, 1) without end."""
    rng, row = Rng(np.array([key])), np.zeros(DRAWS, np.int64)
    for block in count():
        yield from rng.uniform(row, np.arange(block * DRAWS, (block + 1) * DRAWS)).tolist()
