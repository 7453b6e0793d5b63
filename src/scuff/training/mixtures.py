"""Mixtures: which perturbations at which strengths for which examples, in parts of equal size (Zéroe 4.3, thesis 3.4)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby

import numpy as np

from ..data.dataset import Text
from ..data.perturbing import Texts
from ..isolation import Failures
from ..perturbations import published
from ..perturbations.base import LEVELS, Perturbation, strength_of
from ..perturbations.names import ZEROE, parse
from ..perturbations.plan import Plan
from ..perturbations.protect import Protect
from ..perturbations.published import published_selection
from ..specs import check_count, known_name, split_outside
from ..text.corpus import Corpus
from ..text.ragged import Bits, Ints
from ..text.random import Rng

CLEAN = "clean"  # the entry of examples that stay as they are
THIRDS = tuple(LEVELS.values())  # low, mid, high

Portion = tuple[int, int]  # the numbers of an entry and of its strength


@dataclass(frozen=True)
class Entry:
    """A perturbation and its strengths, each for an equal share of the entry's examples. None: they stay as they are."""

    perturbation: Perturbation | None
    strengths: tuple[float, ...] = THIRDS
    selection: str | None = None

    @classmethod
    def of(cls, given: str | Perturbation | Entry | tuple[str | Perturbation, str | float]) -> Entry:
        """Reads `keyboard` (low, mid, high, a third each), `keyboard@low`, `keyboard@0.3`, `clean`, or a pair of both halves."""
        if isinstance(given, Entry):
            return given
        what, strength = given if isinstance(given, tuple) else (given, None)
        if isinstance(what, str):
            what = what.strip()
            if strength is None and "@" in what:
                head, _, tail = what.rpartition("@")
                if ")" not in tail and "'" not in tail and '"' not in tail:  # an @ of an option
                    what, strength = head.strip(), tail.strip()
            if what == CLEAN:
                if strength is not None:
                    raise ValueError(f"expected clean without a strength for mixture, got {given!r}")
                return cls(None, (0.0,))
        return cls(parse(what), THIRDS if strength is None else (strength_of(strength),))

    @property
    def spec(self) -> str:
        """The text that `of` reads."""
        if self.perturbation is None:
            return CLEAN
        tail = "" if self.strengths == THIRDS else f"@{self.strengths[0]:g}"
        return self.perturbation.spec + tail

    def as_published(self) -> Entry:
        """This entry with the options and the selection of the perturbation's paper, where none were given."""
        if self.perturbation is None:
            return self
        selection = self.selection or published_selection(self.perturbation)
        return replace(self, perturbation=published.as_published(self.perturbation), selection=selection)


@dataclass(frozen=True)
class Mixture:
    """Entries, each of which gets an equal part of the examples: sizes differ by at most one.

    So do the sizes of an entry's strengths, and, where all entries have the same strengths, the sizes of the strengths in all.
    name: what a user called it, such as `leave-one-out(keyboard)`.
    """

    entries: tuple[Entry, ...]
    name: str = ""

    def __post_init__(self) -> None:
        if not self.entries:
            raise ValueError("expected at least one perturbation for mixture, got none")

    @classmethod
    def of(
        cls, given: str | Perturbation | Mixture | Entry | Sequence[object], *, as_published: bool = False
    ) -> Mixture:
        """Reads a mixture: a name with a perturbation, or entries, in a list or with commas between them.

        `low-mid-high(P)`, also called `one-to-one(P)` and `1-1(P)`: P at low, mid and high, a third each. `leave-one-out(P)`: all
        of Zéroe's perturbations but P, so. `all`: all of them. An entry: see `Entry.of`; `2*clean` stands for two equal ones.
        """
        if isinstance(given, Mixture):
            mixture = given
        elif isinstance(given, str):
            mixture = _named(given) or cls(_entries(_split(given)))
        elif isinstance(given, Sequence):
            mixture = cls(_entries(given))
        else:
            mixture = cls(_entries([given]))
        if as_published:
            mixture = replace(mixture, entries=tuple(entry.as_published() for entry in mixture.entries))
        return mixture

    @property
    def spec(self) -> str:
        """The entries as text that `of` reads; equal neighbours as `N*entry`. The name of the mixture is no part of it."""
        runs = [(spec, len(list(same))) for spec, same in groupby(entry.spec for entry in self.entries)]
        return ",".join(spec if count == 1 else f"{count}*{spec}" for spec, count in runs)

    @property
    def signature(self) -> str:
        """All that decides which texts come of it, as one line: `spec`, and the selections that were asked for."""
        selections = ",".join(entry.selection or "default" for entry in self.entries)
        return self.spec + (f" ({selections})" if any(entry.selection for entry in self.entries) else "")

    @cached_property
    def portions(self) -> tuple[Portion, ...]:
        """All pairs of entry and strength."""
        return tuple((at, level) for at, entry in enumerate(self.entries) for level in range(len(entry.strengths)))

    def for_tokens(self) -> Mixture:
        """This mixture for data in tokens. Raises ValueError if a perturbation changes which tokens there are.

        `all` and `leave-one-out` leave such perturbations out, since the user did not name them.
        """
        kept = tuple(
            replace(entry, perturbation=entry.perturbation.for_tokens()) if entry.perturbation else entry
            for entry in self.entries
            if not (self.name and self.name.startswith(("all", "leave-one-out")) and not _keeps_tokens(entry))
        )
        wrong = [entry.spec for entry in kept if not _keeps_tokens(entry)]
        if wrong:
            raise ValueError(
                f"expected perturbations that keep each token for mixture, since the data has a tag per token, got {wrong[0]}"
            )
        return replace(self, entries=kept)

    def spread(self, places: Ints) -> Ints:
        """Returns the number of the portion at each place (0, 1, ...) of a row of examples; any stretch from 0 on is balanced.

        Entries take turns. The strength goes on by one from place to place, and by one more where entries and strengths would
        begin to repeat the same pairs: so every entry meets each of its strengths equally often, and all entries together, too.
        """
        count = len(self.entries)
        out = np.zeros_like(places)
        first = 0
        for at, entry in enumerate(self.entries):
            mine = places % count == at
            size = len(entry.strengths)
            place = places[mine]
            out[mine] = first + (place + place // math.lcm(count, size)) % size
            first += size
        return out

    def deal(self, keys: Bits, seed: int, turn: int = 0, ties: Bits | None = None) -> Ints:
        """Returns the portion of each example: exactly equal parts, whatever the order of the examples.

        keys: of the examples; equal ones are ordered by `ties`, then by their place. turn: examples go on to the next portion.
        """
        rank = ranked(keys, seed, ties)
        return self.spread((rank + turn) % max(rank.size, 1))

    def draw(self, keys: Bits, seed: int, turn: int = 0) -> Ints:
        """Returns the portion of each example by chance: equal parts in expectation only, but other examples do not matter."""
        row = np.arange(keys.size)
        chance = Rng.of(keys, seed, "mixture").bits(row, row * 0) >> np.uint64(32)
        return self.spread(chance.astype(np.int64) + turn)

    def plans(self, seed: int, protect: Protect | None = None) -> list[Plan | None]:
        """Returns the plan of each portion; None: nothing is done."""
        out: list[Plan | None] = []
        for at, level in self.portions:
            entry = self.entries[at]
            plan = entry.perturbation and Plan(
                entry.perturbation, entry.strengths[level], seed, entry.selection, protect or Protect()
            )
            out.append(plan or None)
        return out

    def labels(self) -> list[str]:
        """Returns a name for each portion, as `keyboard@0.2`."""
        return [
            f"{entry.perturbation.spec}@{entry.strengths[level]:g}" if entry.perturbation else CLEAN
            for entry, level in ((self.entries[at], level) for at, level in self.portions)
        ]


def low_mid_high(perturbation: str | Perturbation) -> Mixture:
    """A perturbation at low, mid and high, a third of the examples each: what Zéroe trains on in 1-1."""
    return Mixture((Entry(parse(perturbation)),), f"low-mid-high({parse(perturbation).spec})")


def leave_one_out(left_out: str | None, of: Sequence[str | Perturbation] = ZEROE) -> Mixture:
    """All perturbations but one, each at low, mid and high, in equal parts. None: all of them."""
    names = {parse(spec).name: spec for spec in of}
    if left_out is None:
        return Mixture(_entries(list(of)), "all")
    known_name(left_out, names, "a perturbation of the mixture")
    return Mixture(_entries([spec for name, spec in names.items() if name != left_out]), f"leave-one-out({left_out})")


NAMED: dict[str, Callable[[str], Mixture]] = {
    "low-mid-high": low_mid_high,
    "one-to-one": low_mid_high,
    "1-1": low_mid_high,
    "leave-one-out": leave_one_out,
}


def ranked(keys: Bits, seed: int, ties: Bits | None = None) -> Ints:
    """Returns the rank of each example in a random order that depends on the seed and the keys, not on their order."""
    row = np.arange(keys.size)
    chance = Rng.of(keys, seed, "mixture").bits(row, row * 0)
    order = np.lexsort((row, np.zeros_like(chance) if ties is None else ties, chance))
    rank = np.empty_like(row)
    rank[order] = row
    return rank


def example_keys(columns: Sequence[Sequence[Text]]) -> Bits:
    """Returns a key of each example, which depends on its texts alone."""
    return Corpus.of([json.dumps(texts) for texts in zip(*columns, strict=True)]).keys


def rewritten(
    columns: Sequence[Sequence[Text]],
    portion: Ints,
    plans: Sequence[Plan | None],
    *,
    sides: Sequence[int] = (0,),
    draw: int = 0,
    place: Callable[[int], str] = str,
    failures: Failures | None = None,
) -> list[list[Text]]:
    """Returns the columns with the texts of some sides perturbed, each example by the plan of its portion.

    The noise of an example depends on its texts, the plan and the draw. An example on which a perturbation raises stays as it
    is, and is added to `failures`. place: names an example in messages.
    """
    new = [list(column) for column in columns]
    pair = len(columns) > 1
    order = np.argsort(portion, kind="stable")
    edges = np.searchsorted(portion[order], np.arange(len(plans) + 1))
    for number, plan in enumerate(plans):
        rows = order[edges[number] : edges[number + 1]].tolist()
        if plan is None or not rows:
            continue
        for side in sides:
            values = [list(text) if isinstance(text, tuple) else text for text in (columns[side][row] for row in rows)]
            ids = [json.dumps([side, *(column[row] for column in columns)]) for row in rows] if pair else None
            texts = Texts(values, partial(_place, place, rows), ids)
            for done in texts.treated(plan, draw):
                for at, text in zip(done.rows, done.new, strict=True):
                    new[side][rows[at]] = tuple(text) if isinstance(text, list) else str(text)
                if failures is not None:
                    failures.extend(done.tally.failures)
    return new


def _place(place: Callable[[int], str], rows: Sequence[int], at: int) -> str:
    return place(rows[at])


def _keeps_tokens(entry: Entry) -> bool:
    return entry.perturbation is None or entry.perturbation.facts.keeps_tokens


def _named(text: str) -> Mixture | None:
    """Returns the mixture of a name such as `leave-one-out(keyboard)`; None if the text is a list of entries."""
    name, bracket, rest = (part.strip() for part in text.partition("("))
    if text.strip() == "all":
        return leave_one_out(None)
    if name not in NAMED:
        return None
    if not bracket or not rest.endswith(")") or not rest[:-1].strip():
        raise ValueError(f"expected {name}(PERTURBATION) for mixture, got {text!r}")
    return NAMED[name](rest[:-1].strip().strip("'\""))


def _split(text: str) -> list[str]:
    return [part for part in split_outside(text, ",") if part.strip()]


def _entries(given: Sequence[object]) -> tuple[Entry, ...]:
    out: list[Entry] = []
    for one in given:
        times: int = 1
        if isinstance(one, str) and one.partition("*")[0].strip().isdecimal():
            number, _, one = one.partition("*")
            times = int(number)
            check_count(times, 1, "mixture")
        out += [Entry.of(one)] * times  # type: ignore[arg-type]
    return tuple(out)
