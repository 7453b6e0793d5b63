"""Mixtures: which perturbations at which strengths for which examples, in parts of equal size (Zéroe 4.3, thesis 3.4)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from operator import index

import numpy as np

from ..data.dataset import Text
from ..data.perturbing import Texts
from ..isolation import Failures
from ..perturbations import published
from ..perturbations.base import LEVELS, Perturbation, strength_of
from ..perturbations.names import ZEROE, parse
from ..perturbations.plan import Plan
from ..perturbations.protect import Protect
from ..specs import check_count, known_name, split_outside
from ..text.corpus import Corpus
from ..text.ragged import Bits, Ints
from ..text.random import Rng

CLEAN = "clean"  # the entry of examples that stay as they are
THIRDS = tuple(LEVELS.values())  # low, mid, high


@dataclass(frozen=True)
class Entry:
    """A perturbation and its strengths, each for an equal share of the entry's examples. None: they stay as they are.

    flexible: it is left out where the data cannot have it, since the user did not name it.
    """

    perturbation: Perturbation | None
    strengths: tuple[float, ...] = THIRDS
    selection: str | None = None
    flexible: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, given: object, as_published: bool = False) -> Entry:
        """Reads `keyboard` (low, mid, high, a third each), `keyboard@low`, `keyboard@0.3/0.6`, `clean`, or a pair of both halves.

        as_published: options and selection that are not given are those of the perturbation's paper.
        """
        if isinstance(given, Entry):
            return given
        what, strength = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        if isinstance(what, str):
            what, at, tail = what.rpartition("@")
            if not at or strength is not None or set(tail) & set(")'\""):  # no @, or one inside an option
                what, tail = what + at + tail, ""
            what, strength = what.strip(), tail.split("/") if at and tail.strip() else strength
        elif not isinstance(what, Perturbation):
            raise ValueError(
                f"expected perturbations, as `keyboard@low` or (perturbation, strength), for mixture, got {what!r}"
            )
        if what == CLEAN:
            if strength is not None:
                raise ValueError(f"expected clean without a strength for mixture, got {given!r}")
            return cls(None, (0.0,))
        several = strength if isinstance(strength, list | tuple) else [strength]
        strengths = THIRDS if strength is None else tuple(strength_of(_bare(one)) for one in several)
        if not as_published:
            return cls(parse(what), strengths)
        published.check_at_hand(what)
        return cls(parse(published.as_published(what)), strengths, published.published_selection(what))

    @property
    def spec(self) -> str:
        """The text that `of` reads."""
        if self.perturbation is None:
            return CLEAN
        tail = "" if self.strengths == THIRDS else "@" + "/".join(map(repr, self.strengths))
        return self.perturbation.spec + tail


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
    def of(cls, given: object, *, as_published: bool = False) -> Mixture:
        """Reads a mixture: entries, in a list or with commas between them.

        An entry: see `Entry.of`; `2*clean` stands for two equal ones. Some names stand for entries: `low-mid-high(P)`, also
        called `one-to-one(P)` and `1-1(P)`: P at low, mid and high, a third each. `leave-one-out(P)`: so all of Zéroe's but P.
        `all`: so all of them.
        """
        if isinstance(given, Mixture):
            return given
        parts: list[object] = [given]
        if isinstance(given, str):
            parts = [part.strip() for part in split_outside(given, ",") if part.strip()]
        elif isinstance(given, list) or (isinstance(given, tuple) and not _is_pair(given)):
            parts = list(given)
        alone = _named(parts[0], as_published) if len(parts) == 1 else None
        return alone or cls(tuple(entry for part in parts for entry in _entries(part, as_published)))

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

    @property
    def perturbations(self) -> list[Perturbation]:
        return [entry.perturbation for entry in self.entries if entry.perturbation]

    @cached_property
    def portions(self) -> list[tuple[Entry, float]]:
        """Each entry with each of its strengths."""
        return [(entry, strength) for entry in self.entries for strength in entry.strengths]

    @property
    def labels(self) -> list[str]:
        """A name for each portion, such as `keyboard@0.2`."""
        return [f"{e.perturbation.spec}@{strength!r}" if e.perturbation else CLEAN for e, strength in self.portions]

    def plans(self, seed: int, protect: Protect) -> list[Plan | None]:
        """Returns the plan of each portion; None: nothing is done."""
        return [
            Plan(entry.perturbation, strength, seed, entry.selection, protect) if entry.perturbation else None
            for entry, strength in self.portions
        ]

    def for_tokens(self) -> Mixture:
        """This mixture for data in tokens. Raises ValueError if a perturbation changes which tokens there are and was named."""
        entries = []
        for entry in self.entries:
            one = entry.perturbation
            if one is None or one.facts.keeps_tokens:
                entries.append(replace(entry, perturbation=one and one.for_tokens()))
            elif not entry.flexible:
                what = "expected perturbations that keep each token for mixture, since the data is in tokens"
                raise ValueError(f"{what}, got {entry.spec}")
        return replace(self, entries=tuple(entries))

    def spread(self, rank: Ints, turn: int = 0) -> Ints:
        """Returns the number of the portion that the example of each rank is in, in a turn (an epoch, or the number of a copy).

        Entries take turns, and so do the strengths of an entry; ranks 0, 1, ... to any other give parts of equal size, in every
        turn. From turn to turn an example goes on to the next entry, so that it meets them all before one comes again, and no
        portion twice before it has met them all (where all entries have the same number of strengths).
        """
        count = len(self.entries)
        entry, out, first = (rank + turn) % count, np.zeros_like(rank), 0
        for at, size in enumerate(len(one.strengths) for one in self.entries):
            mine = np.flatnonzero(entry == at)
            # strengths go on by one from rank to rank and, where entries and strengths would pair up as before, by one more
            period = math.lcm(count, size)
            level = rank[mine] + rank[mine] // period + (turn + turn // period)
            out[mine] = first + level % size
            first += size
        return out

    def by_chance(self, keys: Bits, seed: int, turn: int = 0) -> Ints:
        """Returns the portion of each example: equal parts in expectation only, but other examples do not matter."""
        row = np.arange(keys.size)
        place = Rng.of(keys, index(seed), "mixture").bits(row, row * 0) >> np.uint64(32)
        return self.spread(place.astype(np.int64), turn)


def low_mid_high(perturbation: str | Perturbation, *, as_published: bool = False) -> Mixture:
    """A perturbation at low, mid and high, a third of the examples each: what Zéroe trains on in 1-1."""
    return Mixture((Entry.of((perturbation, THIRDS), as_published),), f"low-mid-high({parse(perturbation).spec})")


def leave_one_out(
    left_out: str | None, of: Sequence[str | Perturbation] = ZEROE, *, as_published: bool = False
) -> Mixture:
    """All perturbations but one, each at low, mid and high, in equal parts. None: all of them."""
    names = {parse(spec).name: spec for spec in of}
    if left_out is not None:
        known_name(left_out, names, "a perturbation of the mixture")
    kept = [Entry.of((spec, THIRDS), as_published) for name, spec in names.items() if name != left_out]
    entries = tuple(replace(entry, flexible=of is ZEROE) for entry in kept)
    return Mixture(entries, f"leave-one-out({left_out})" if left_out else "all")


NAMED: dict[str, Callable[..., Mixture]] = {
    "low-mid-high": low_mid_high,
    "one-to-one": low_mid_high,
    "1-1": low_mid_high,
    "leave-one-out": leave_one_out,
}


def ranked(keys: Bits, seed: int, ties: Bits | None = None) -> Ints:
    """Returns the rank of each example in a random order that depends on the seed and all keys, not on the order of the examples.

    `Mixture.spread` of ranks gives exactly equal parts. Examples of equal keys are ordered by `ties`, then as they come.
    """
    row = np.arange(keys.size)
    chance = Rng.of(keys, index(seed), "mixture").bits(row, row * 0)
    rank = np.empty_like(row)
    rank[np.lexsort((row if ties is None else ties, chance))] = row
    return rank


def example_keys(columns: Sequence[Sequence[Text]], ids: Sequence[str] | None = None) -> Bits:
    """Returns a key of each example, which depends on its id or, without ids, on its texts."""
    return Corpus.of(ids if ids is not None else [json.dumps(texts) for texts in zip(*columns, strict=True)]).keys


def rewritten(
    columns: Sequence[Sequence[Text]],
    portion: Ints,
    plans: Sequence[Plan | None],
    *,
    ids: Sequence[str] | None = None,
    sides: Sequence[int] = (0,),
    draw: int = 0,
    failures: Failures | None = None,
    place: Callable[[int], str] = str,
) -> list[list[Text]]:
    """Returns the columns with the texts of some sides perturbed, each example by the plan of its portion.

    The noise of an example depends on its texts (all of a pair) or its id, the plan and the draw. failures: an example on which
    a perturbation raises stays as it is and is added there, named by `place`; without it, the error is raised.
    """
    new = [list(column) for column in columns]
    order = np.argsort(portion, kind="stable")
    edges = np.searchsorted(portion[order], np.arange(len(plans) + 1))
    for number, plan in enumerate(plans):
        rows = order[edges[number] : edges[number + 1]].tolist()
        if plan is None or not rows:
            continue
        for side in sides:
            values = [list(text) if isinstance(text, tuple) else text for text in (columns[side][row] for row in rows)]
            texts = Texts(values, partial(_place, place, rows), noise_names(columns, rows, side, ids))
            for done in texts.treated(plan, draw, strict=failures is None):
                for at, text in zip(done.rows, done.new, strict=True):
                    new[side][rows[at]] = tuple(text) if isinstance(text, list) else str(text)
                if failures is not None:
                    failures.extend(done.tally.failures)
    return new


def noise_names(
    columns: Sequence[Sequence[Text]], rows: Sequence[int], side: int, ids: Sequence[str] | None
) -> list[str] | None:
    """Returns what the noise of some examples depends on; None: the text. The texts of a pair have noise of their own."""
    if len(columns) == 1:
        return None if ids is None else [ids[row] for row in rows]
    return [
        json.dumps([side, *(column[row] for column in columns)] if ids is None else [side, ids[row]]) for row in rows
    ]


def _place(place: Callable[[int], str], rows: Sequence[int], at: int) -> str:
    return place(rows[at])


def _is_pair(given: tuple[object, ...]) -> bool:
    """Whether a tuple is a perturbation with its strength, and not two perturbations."""
    return len(given) == 2 and (isinstance(given[1], int | float | list) or given[1] in LEVELS)


def _bare(strength: object) -> str | float:
    return strength.strip() if isinstance(strength, str) else strength  # type: ignore[return-value]


def _named(given: object, as_published: bool) -> Mixture | None:
    """Returns the mixture that a name stands for, such as `leave-one-out(keyboard)`; None if it is an entry."""
    if not isinstance(given, str):
        return None
    name, bracket, rest = (part.strip() for part in given.partition("("))
    if name == "all" and not bracket:
        return leave_one_out(None, as_published=as_published)
    if name not in NAMED:
        return None
    if not rest.endswith(")") or not rest[:-1].strip():
        raise ValueError(f"expected {name}(PERTURBATION) for mixture, got {given!r}")
    return NAMED[name](rest[:-1].strip().strip("'\""), as_published=as_published)


def _entries(given: object, as_published: bool) -> tuple[Entry, ...]:
    """Reads an entry, or a name that stands for several; `2*clean` gives two."""
    times = 1
    if isinstance(given, str) and (number := given.partition("*")[0].strip()).isdecimal():
        times, given = int(number), given.partition("*")[2].strip()
        check_count(times, 1, "mixture")
    several = _named(given, as_published)
    return (several.entries if several else (Entry.of(given, as_published),)) * times
