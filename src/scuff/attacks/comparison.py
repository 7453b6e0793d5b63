"""Compares two attacks by one recipe on the same examples: success, texts that hold and queries, with paired intervals and p.

Each attack searches anew: an attacker adapts to the model. So the texts that are tried differ, the examples do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..metrics.interval import percentile_interval, resampled_sums, resamples
from ..metrics.paired import flip_test
from ..runs.comparable import finished, key_of, numbered, same_examples
from ..runs.display import rounded
from ..runs.folder import BadRun, Folder
from ..runs.proof import AttackComparison, Change, Estimated, Sides, change_of
from ..runs.schema import AttackLine, AttackSummary, Status
from ..text.ragged import Floats, Ints, Mask

NEEDED = {"id", "texts", "target", "status", "queries", "clean", "adversarial"}  # of a line


@dataclass(frozen=True, eq=False)
class AttackSide:
    """One of the runs of a comparison: what came of each example, and nothing of its texts."""

    folder: Folder
    summary: AttackSummary
    keys: list[bytes]
    attacked: Mask
    succeeded: Mask
    queries: Floats

    def take(self, examples: Ints) -> AttackSide:
        keys = [self.keys[at] for at in examples.tolist()]
        succeeded, queries = self.succeeded[examples], self.queries[examples]
        return AttackSide(self.folder, self.summary, keys, self.attacked[examples], succeeded, queries)


def read_attack(folder: Folder) -> AttackSide:
    """Reads what came of each example of a finished attack. Raises BadRun if its files are missing or damaged."""
    finished(folder)
    summary = folder.attack_summary()
    keys, status, queries = list[bytes](), list[Status](), list[int]()
    for line in attack_lines(folder):
        keys.append(key_of(line))
        status.append(line["status"])
        queries.append(line["queries"])
    if not keys:
        raise BadRun(f"{folder.path / 'results.jsonl'}: expected a line per example, got none")
    found = np.array(status)
    return AttackSide(
        folder, summary, numbered(keys), found != "skipped", found == "succeeded", np.array(queries, np.float64)
    )


def attack_lines(folder: Folder) -> Iterator[AttackLine]:
    """Yields the lines of results.jsonl. Raises BadRun, with the number of the line, if one lacks something."""
    for number, line in enumerate(folder.attack_results(), 1):
        if not isinstance(line, dict) or not line.keys() >= NEEDED:
            raise BadRun(
                f"{folder.path / 'results.jsonl'}, line {number}: expected an attacked example, got something else: "
                f"`scuff report {folder.path}` writes it again"
            )
        yield line


def compare_attacks(before: str | Folder, after: str | Folder) -> AttackComparison:
    """Returns how the success rate changed between two finished attacks of one recipe on the same examples.

    Raises BadRun if they are not.
    """
    pair = [read_attack(each if isinstance(each, Folder) else Folder(each)) for each in (before, after)]
    paths, names = [side.folder.path for side in pair], [side.summary["recipe"]["name"] for side in pair]
    if pair[0].keys != pair[1].keys:
        raise BadRun(f"{paths[1]}: expected an attack on the examples of {paths[0]}, got other examples")
    if names[0] != names[1]:
        raise BadRun(f"{paths[1]}: expected the recipe {names[0]}, got {names[1]}")
    return compare_attack_sides(pair[0], pair[1])


def compare_attack_sides(before: AttackSide, after: AttackSide) -> AttackComparison:
    """Returns the changes between two attacks over the examples that both have; over all of each, resampled apart and not
    tested, if they have none in common.

    Success is a share of the examples that are attacked, which are those that a model gets right: so it is a ratio of two sums
    over examples, and both are resampled. Its test, and that of queries, is of the examples that are attacked in both runs.
    """
    places = same_examples({key: at for at, key in enumerate(before.keys)}, after.keys)
    paired = bool(places[0])
    sides = [before, after]
    if paired:
        sides = [side.take(np.array(at, np.int64)) for side, at in zip(sides, places, strict=True)]
    draws = [resamples(len(side.keys), 0 if paired else at) for at, side in enumerate(sides)]
    count = min(len(side.keys) for side in sides)
    attacked = [int(side.attacked.sum()) for side in sides]
    success, held, queries = (
        [_ratio(resampled_sums(np.stack(columns(side), -1), draw)) for side, draw in zip(sides, draws, strict=True)]
        for columns in (_success, _held, _queries)
    )
    p = _tests(sides[0], sides[1]) if paired else [None, None, None]
    names = dict.fromkeys(side.summary["recipe"]["name"] for side in sides)
    return {
        "paired": paired,
        "recipe": " and ".join(names),
        "examples": count,
        "attacked": attacked,
        "success": change_of(success[0], success[1], min(attacked), p[0]),
        "held": change_of(held[0], held[1], count, p[1]),
        "queries": _number_change(queries[0], queries[1], p[2]),
        "sides": _sides(sides[0], sides[1]) if paired else {"mended": 0, "broken": 0},
    }


def _success(side: AttackSide) -> tuple[Floats, Floats]:
    return side.succeeded.astype(np.float64), side.attacked.astype(np.float64)


def _held(side: AttackSide) -> tuple[Floats, Floats]:
    return (side.attacked & ~side.succeeded).astype(np.float64), np.ones(len(side.keys))


def _queries(side: AttackSide) -> tuple[Floats, Floats]:
    """As in the summary: of the attacks that asked something."""
    asked = side.attacked & (side.queries > 0)
    return np.where(asked, side.queries, 0.0), asked.astype(np.float64)


def _tests(before: AttackSide, after: AttackSide) -> list[float | None]:
    """p of success, of what holds and of queries. The first two are exact: McNemar's test."""
    both = before.attacked & after.attacked
    gaps = [
        np.where(both, after.succeeded.astype(np.float64) - before.succeeded, 0.0),
        _held(after)[0] - _held(before)[0],
        np.where(both, after.queries - before.queries, 0.0),
    ]
    return [float(p) for p in flip_test(np.stack(gaps, 1))]


def _sides(before: AttackSide, after: AttackSide) -> Sides:
    both = before.attacked & after.attacked
    return {
        "mended": int((both & before.succeeded & ~after.succeeded).sum()),
        "broken": int((both & ~before.succeeded & after.succeeded).sum()),
    }


def _number_change(before: Estimated, after: Estimated, p: float | None) -> Change:
    """The change of a mean that is no share: the rule of three does not apply."""
    low, high = percentile_interval(after[1] - before[1])
    return {
        "before": rounded(before[0]),
        "after": rounded(after[0]),
        "difference": rounded(after[0] - before[0]),
        "interval": [rounded(low), rounded(high)],
        "p": None if p is None else rounded(p),
    }


def _ratio(sums: Estimated) -> Estimated:
    with np.errstate(invalid="ignore", divide="ignore"):
        rate, again = (each[..., 0] / each[..., 1] for each in sums)
    return rate, again


def turned_attacks(side: AttackSide, other: AttackSide, most: int) -> Iterator[AttackLine]:
    """Yields examples on which the attack succeeded in one run and failed in the other, which was attacked, too."""
    held = {key for key, at, won in zip(other.keys, other.attacked, other.succeeded, strict=True) if at and not won}
    keys, shown = iter(side.keys), 0
    for line in attack_lines(side.folder):
        if next(keys) in held and line["status"] == "succeeded":
            shown += 1
            yield line
        if shown == most:
            return
