"""Identifies a model by its name, by what it holds, and by its answers to a few texts, clean and perturbed.

A model can change under its name: retrained behind the same function, replaced behind the same address. So every run asks it
about the same few texts, in the same batches, and compares with what the run folder or the cache has of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypedDict

import numpy as np

from ..data.dataset import Dataset, Text
from .base import Access, Column, Outputs, Victim
from .cache import DiskCache
from .contents import NOTHING, Contents, contents, differing
from .query import Query, answers_of, keys_of, outputs_of, texts_of
from .shielded import unshielded
from .truth import Truth

PROBE, PROBE_PAID = 32, 16  # clean texts that are asked about, of a model that is paid for; as many perturbed ones
DIGITS = 4  # of a score: the same text in another batch, on other threads or another device may change later ones
CLOSE = 1.5 * 10**-DIGITS  # scores that differ by no more are the same
VARIES = 0.01  # a model whose scores differ by more when it is asked again is told to be random
SOME = 0.1  # of the answers of a model that varies, or is paid for, may be others; of other models, none


class ModelProbe(TypedDict):
    """An entry of run.json: answers to a few texts, None where there was none, and digests of what the model holds, by name."""

    answers: list[str | None]
    contents: dict[str, str]


@dataclass(eq=False)
class Identity:
    """What a model is known by. name: for the key of a run and for the cache."""

    name: str
    answers: list[str | None] = field(default_factory=list)  # None: there was none
    contents: Contents = field(default_factory=dict)
    close: float = CLOSE
    varies: float = 0.0  # the share of the answers that may be others
    warnings: list[str] = field(default_factory=list)
    clean: range = range(0)  # examples that the first answers are about

    @property
    def probe(self) -> ModelProbe:
        """The entry of run.json."""
        return {"answers": self.answers, "contents": self.contents}

    def differences(self, probe: ModelProbe) -> str:
        """Returns how the model differs from the one with this probe, for a message; "" if it does not.

        A few other answers of a model that varies are added to the warnings.
        """
        if held := differing(probe["contents"], self.contents):
            return f"it holds another {', '.join(held[:3])}{' and more' if len(held) > 3 else ''}"
        return self.otherwise(probe["answers"], self.answers, "texts")

    def otherwise(self, before: Sequence[str | None], now: Sequence[str | None], what: str) -> str:
        """Returns how many answers, written, differ from those of before, for a message; "" if too few to matter.

        A few other answers of a model that varies are added to the warnings.
        """
        both = [pair for pair in zip(before, now, strict=False) if None not in pair]
        count = sum(not _same(str(one), str(other), self.close) for one, other in both)
        if count > self.varies * len(both):
            return f"it answers {count} of {len(both)} {what} otherwise"
        if count:
            self.warnings.append(
                f"WARNING the model answers {count} of {len(both)} {what} otherwise than when this run began"
            )
        return ""


def identify(
    query: Query, data: Dataset, truth: Truth, *, sides: Sequence[int], before: Contents, spare: float
) -> Identity:
    """Asks a victim about a few texts and returns what it is known by.

    The clean ones are asked through `query`, which remembers them for the pre-flight. sides: columns that are perturbed. before:
    what the victim held before it was asked anything. spare: queries that are left for the rest: the same clean texts again, and
    perturbed ones.
    """
    victim = query.victim
    name = f"{victim.identity}#{','.join(truth.labels)}"
    rows = spread(len(data), PROBE_PAID if victim.paid else PROBE)
    clean = data.take(rows).columns
    if victim.paid and not _any_answer(query(*data.take(range(min(2, len(data)))).columns)):
        return Identity(name, varies=SOME)  # dead: the pre-flight tells
    answers, between = query(*clean), held_by(victim)
    told, again = written(answers), None
    if spare >= 2 * len(rows) and victim.access > Access.BLIND and _any_answer(answers):
        both, again = _ask_again(query, clean, sides)
        told += both
    held = _settled(before, between, held_by(victim))
    if not victim.paid:
        name = digest_name(victim, [truth.task, truth.labels, told, sorted(held.items())])
    identity = Identity(name, told, held, varies=SOME if victim.paid else 0.0, clean=rows)
    if again is not None:
        _note_noise(identity, answers, again)
    return identity


def _ask_again(query: Query, clean: Sequence[Column], sides: Sequence[int]) -> tuple[list[str | None], Outputs]:
    """Asks about clean texts once more, and about the same texts perturbed, in one batch. Returns the answers to these, written,
    and those to the clean ones.
    """
    own, count = Query(query.victim), len(clean[0])  # a door of its own, which remembers nothing
    both = own(*([*c, *map(probe_text, c)] if side in sides else [*c, *c] for side, c in enumerate(clean)))
    query.asked, query.again, query.seconds = (
        query.asked + own.asked, query.again + own.again, query.seconds + own.seconds
    )  # fmt: skip
    return written(both.take(np.arange(count, 2 * count))), both.take(np.arange(count))


def digest_name(victim: Victim, telling: list[Any]) -> str:
    """A name for the key of a run and for the cache, with a digest of what tells the model from others."""
    return f"{victim.identity}#{sha256(repr(telling).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def spread(count: int, most: int) -> range:
    """Rows all over the data, since files are often sorted by label."""
    return range(0, count, max(1, count // most))


def held_by(victim: Victim) -> Contents:
    """What a victim holds, if it is a Python object of a user; the others know their weights, or are elsewhere."""
    victim = unshielded(victim)
    if not type(victim).__module__.startswith("scuff."):
        return contents(victim)
    return contents(victim.holds) if victim.holds is not None else {}


def _settled(before: Contents, between: Contents, after: Contents) -> Contents:
    """Returns what stayed the same while a model was asked twice, or was loaded by the first question.

    The rest are counters, caches and the like, which say nothing of the model.
    """
    return {
        name: digest
        for name, digest in sorted(after.items())
        if digest != NOTHING and digest == between.get(name) and before.get(name, NOTHING) in (digest, NOTHING)
    }


def check_cache(identity: Identity, query: Query, cache: DiskCache, data: Dataset) -> None:
    """Raises OSError if a model that is paid for answers otherwise than the cache says. Keeps the answers that were asked for.

    Other models need no check: if one changes, its answers are kept under another name.
    """
    victim = query.victim
    if not victim.paid:
        if cache.upgraded:
            identity.warnings.append(
                f"WARNING {cache.path} is of an earlier version, which did not know models well enough: its answers are not used"
            )
        return
    keys = [texts_of(key) for key in keys_of(data.columns)]
    fresh = {texts_of(key): answer for key, answer in query.memory.find(keys_of(data.columns)).items()}
    known = cache.get(identity.name, keys)
    if known and not fresh.keys() & known.keys():  # other examples than those of the probe
        some = [key for key in keys if key in known]
        asked = [some[at] for at in spread(len(some), PROBE_PAID)]
        columns = list(zip(*asked, strict=True))
        outputs = query(*columns)
        fresh |= {texts_of(key): answer for key, answer in answers_of(keys_of(columns), outputs).items()}
    both = [key for key in fresh if key in known]
    others = sum(not _alike(fresh[key], known[key], identity.close) for key in both)
    if others > SOME * len(both):
        raise OSError(
            f"{cache.path}: expected answers of the model that is asked now, got others for {others} of {len(both)} texts: "
            "choose another file for --cache, or ask again with --fresh"
        )
    if others:
        identity.warnings.append(
            f"WARNING the model answers {others} of {len(both)} texts otherwise than {cache.path} says"
        )
    cache.put(identity.name, {key: answer for key, answer in fresh.items() if key not in known})


def written(outputs: Outputs) -> list[str | None]:
    """Answers as short texts; None for a row that failed."""
    rows = zip(outputs.answers, outputs.problem.tolist(), strict=True)
    return [_written(answer, str(problem)) for answer, problem in rows]


def _written(answer: Any, problem: str) -> str | None:
    if problem:
        return None if problem.startswith("error") else f"problem {problem.partition(':')[0]}"
    if answer is None:
        return None
    if isinstance(answer, str):
        return "text " + (answer if len(answer) <= 60 else sha256(answer.encode("utf-8", "surrogatepass")).hexdigest())
    row = np.asarray(answer)
    if row.dtype.kind == "f":
        shown = row if row.size <= 16 else np.array([row.argmax(), row.max()])
        return "scores " + " ".join(f"{score:.{DIGITS}f}" for score in shown.ravel().tolist())
    return "labels " + " ".join(map(str, (np.flatnonzero(row) if row.dtype.kind == "b" else row.ravel()).tolist()))


def _same(one: str, other: str, close: float) -> bool:
    """Whether two written answers are the same, scores to the last digits but one."""
    if one == other or not (one.startswith("scores ") and other.startswith("scores ")):
        return one == other
    first, second = (np.array(text.split()[1:], np.float64) for text in (one, other))
    return first.shape == second.shape and bool((np.abs(first - second) <= close).all())


def _alike(one: tuple[Any, str], other: tuple[Any, str], close: float) -> bool:
    """Whether two answers of single rows are the same."""
    first, second = (
        _written(outputs.answers[0], outputs.problem[0]) for outputs in (outputs_of([one]), outputs_of([other]))
    )
    return first is None or second is None or _same(first, second, close)


def _note_noise(identity: Identity, first: Outputs, second: Outputs) -> None:
    """Compares two answers to each text. Sets how close scores must be, and adds a warning if the model is random."""
    noise = 0.0
    if first.answers.dtype.kind == second.answers.dtype.kind == "f" and first.answers.shape == second.answers.shape:
        gaps = np.abs(first.answers - second.answers)
        noise = float(np.nanmax(gaps, initial=0))
    pairs = zip(written(first), written(second), strict=True)
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    changed = sum(not _same(one, other, VARIES) for one, other in both)
    identity.close = max(CLOSE, 3 * noise)
    if changed:
        identity.varies = max(SOME, 2 * changed / len(both))
        by = f", scores by up to {noise:.2g}" if noise else ""
        identity.warnings.append(
            f"WARNING the model gave another answer to {changed} of {len(both)} texts when it was asked again{by}: it is random, "
            "or its answers depend on the batch, so the numbers of this run cannot be repeated exactly"
        )


def _any_answer(outputs: Outputs) -> bool:
    return any(not reason.startswith("error") for reason in outputs.problem.tolist())


def probe_text(text: Text) -> Text:
    """A text with the inner letters of its words swapped by pairs, or twice the text if it has no long words."""
    if isinstance(text, tuple):
        return tuple(map(_swapped, text))
    changed = _swapped(text)
    return changed if changed != text else f"{text} {text}"


def _swapped(text: str) -> str:
    return re.sub(r"\B(\w)(\w)\B", r"\2\1", text)
