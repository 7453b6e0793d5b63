"""Labelled examples in memory: texts, sentence pairs or lists of tokens, with their targets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Literal

import numpy as np

from ..specs import some
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Mask, Ragged, bounds, spread
from ..text.random import mix, name_bits, text_bits
from ..text.words import Spans

Task = Literal["single", "multi", "tokens", "text"]  # one label, a set of labels, a tag per token, a text (translation)

TASKS: tuple[Task, ...] = ("single", "multi", "tokens", "text")

TASK_WORDS: dict[Task, str] = {
    "single": "one label",
    "multi": "label sets",
    "tokens": "a tag per token",
    "text": "texts",
}

# names that models use for "none of the other labels"
NONE_NAMES = (
    "benign", "none", "neither", "neutral", "normal", "clean", "safe", "ok", "other", "non_toxic", "nontoxic", "not_toxic",
    "non_hate", "not_hate", "non_offensive", "not_offensive",
)  # fmt: skip

Text = str | tuple[str, ...]  # a text, or its tokens

Target = str | tuple[str, ...]  # a label or a text; a set of labels, or a tag per token


def joined(text: str | Sequence[str]) -> str:
    """Returns a text as it is, and tokens joined by blanks."""
    return text if isinstance(text, str) else " ".join(text)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples, each with an id, one or two texts, and a target."""

    name: str
    task: Task
    columns: tuple[tuple[Text, ...], ...]
    targets: tuple[Target, ...]
    ids: tuple[str, ...]
    fields: tuple[str, ...] = ("text",)  # the names of the columns
    skipped: dict[str, int] = field(default_factory=dict)  # by reason, how many rows were left out
    known: tuple[str, ...] = ()  # all label names, if the source lists them

    def __post_init__(self) -> None:
        sizes = {len(self.targets), len(self.ids), *map(len, self.columns)}
        assert len(sizes) == 1 and len(self.fields) == len(self.columns), "columns, targets and ids are of one length"

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, rows: Ints | range) -> Dataset:
        """Returns some examples, in this order."""
        at = list(rows) if isinstance(rows, range) else rows.tolist()
        columns = tuple(tuple(column[i] for i in at) for column in self.columns)
        return replace(
            self, columns=columns, targets=tuple(self.targets[i] for i in at), ids=tuple(self.ids[i] for i in at)
        )

    @cached_property
    def referenced(self) -> Mask:
        """Which examples have something to compare answers with: all, but of task text those with a reference."""
        return np.array([self.task != "text" or bool(joined(target).strip()) for target in self.targets], np.bool_)

    def strings(self) -> Iterator[str]:
        """Yields all texts, tokens joined by blanks."""
        return (joined(text) for column in self.columns for text in column)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All label names: those the source lists, else those that occur, sorted, numbers by size."""
        if self.known or self.task == "text":
            return self.known
        found: set[str] = set()
        for target in self.targets:
            found |= {target} if isinstance(target, str) else set(target)
        return tuple(sorted(found, key=lambda name: (0, int(name), name) if name.isdecimal() else (1, 0, name)))

    @cached_property
    def empty(self) -> int:
        """How many examples have a text without a letter, digit or mark in it."""
        return sum(any(not joined(text).strip() for text in texts) for texts in zip(*self.columns, strict=True))

    @cached_property
    def digest(self) -> str:
        """A hash of the task and all texts, targets and ids."""
        content = json.dumps([self.task, self.columns, self.targets, self.ids], ensure_ascii=False)
        return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def ranked(self, seed: int) -> Ints:
        """Returns the numbers of all examples in a random order: by a hash of the seed and their id, and by nothing else."""
        order = mix(text_bits(Ragged.of(self.ids)) ^ name_bits("sample", seed))
        return np.lexsort((np.arange(len(self)), order))

    def sample(self, count: int, seed: int) -> Dataset:
        """Returns at most `count` examples, each label (or set of labels) in its share, the first as `ranked`, in their order."""
        if count >= len(self):
            return self
        strata: list[Hashable] = [
            target if self.task == "single" else (tuple(sorted(target)) if self.task == "multi" else "")
            for target in self.targets
        ]
        quota = shares(Counter(strata), count, least=1 if self.task == "single" else 0)
        chosen = []
        for at in self.ranked(seed).tolist():
            if quota[strata[at]]:
                quota[strata[at]] -= 1
                chosen.append(at)
        return self.take(np.array(sorted(chosen), np.int64))


def shares(sizes: Counter[Hashable], count: int, least: int = 0) -> dict[Hashable, int]:
    """Divides `count` places among groups in proportion to their sizes, by largest remainder; ties go to the larger group.

    If there are places for all, no group gets fewer than `least`: the largest group gives them up.
    """
    total = sum(sizes.values())
    out = {name: size * count // total for name, size in sizes.items()}
    by_rest = sorted(sizes, key=lambda name: (-(sizes[name] * count % total), -sizes[name], str(name)))
    for name in by_rest[: count - sum(out.values())]:
        out[name] += 1
    if count >= least * len(sizes):
        for name in [name for name, places in out.items() if places < least]:
            out[max(out, key=lambda other: (out[other], sizes[other], str(other)))] -= least - out[name]
            out[name] = least
    return out


def align(labels: Sequence[str], model: Sequence[str], mapping: dict[str, str]) -> dict[str, int]:
    """Returns the model's number of each label of the data, by name; `mapping` renames labels of the data first.

    Case, hyphens, underscores and blanks do not matter. If no name is equal, labels that are numbers are the model's numbers.
    Raises ValueError if a label has no counterpart, or two have the same.
    """
    plain = {_plain(name): at for at, name in enumerate(model)}
    found = {label: plain.get(_plain(mapping.get(label, label))) for label in labels}
    if all(number is None for number in found.values()) and all(label.isdecimal() for label in labels):
        found = {label: int(label) if int(label) < len(model) else None for label in labels}
    if any(number is None for number in found.values()):
        lost = [label for label, number in found.items() if number is None]
        raise ValueError(
            f"expected labels that the model knows ({some(model) or 'it names none'}), got {some(labels)} in the data: "
            f"{some(lost)} {'has' if len(lost) == 1 else 'have'} no counterpart; map them with --map DATA=MODEL, "
            "or name the model's with --labels"
        )
    numbers = {label: number for label, number in found.items() if number is not None}
    if len(set(numbers.values())) < len(numbers):
        said = some(f"{label} = {model[number]}" for label, number in numbers.items())
        raise ValueError(f"expected each label of the model once, got {said}: two labels of the data mean the same")
    return numbers


def renamed(data: Dataset, names: Mapping[str, str]) -> Dataset:
    """Returns the data with other names for some of its labels."""

    def new(target: Target) -> Target:
        return names.get(target, target) if isinstance(target, str) else tuple(names.get(one, one) for one in target)

    known = dict.fromkeys(names.get(one, one) for one in data.known)
    return replace(data, targets=tuple(map(new, data.targets)), known=tuple(known))


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


@dataclass(frozen=True, eq=False)
class Column:
    """A column of texts as a corpus, with the spans of the tokens if it holds lists of tokens."""

    corpus: Corpus
    tokens: Spans | None = None

    @classmethod
    def of(cls, texts: Sequence[Text]) -> Column:
        if texts and isinstance(texts[0], (tuple, list)):
            return cls(*Corpus.of_tokens([list(tokens) for tokens in texts]))
        return cls(Corpus.of([text for text in texts if isinstance(text, str)]))

    def take(self, rows: Ints) -> Column:
        """Returns some rows, in this order."""
        if self.tokens is None:
            return Column(self.corpus.take(rows))
        edges = np.searchsorted(self.tokens.row, np.arange(len(self.corpus) + 1))
        count = np.diff(edges)[rows]
        part = self.corpus.take(rows)
        picked, row = self.tokens.where(spread(edges[:-1][rows], count)), np.repeat(np.arange(rows.size), count)
        shift = part.offsets[row] - self.corpus.offsets[picked.row]
        return Column(part, Spans(row, picked.start + shift, picked.stop + shift))

    def texts(self, edits: Edits | None = None) -> list[Text]:
        """Returns the texts as a victim is given them, after some edits."""
        edits = edits.in_order() if edits is not None else None
        after = self.corpus if edits is None else self.corpus.apply(edits)
        if self.tokens is None:
            return list(after.strings())
        spans = self.tokens if edits is None else edits.carry(self.tokens, self.corpus.offsets)
        flat = after.cut(spans).strings()
        return [tuple(flat[a:b]) for a, b in pairwise(bounds(self.tokens.per_row(len(self.corpus))).tolist())]
