"""Compares two evaluations example by example: what each score was before and is after, the paired interval of the change, and p.

The cases of an evaluation by rules depend on the data, the settings and the seed, never on the model. So two models can be asked
about the same texts, and a change is measured on each example: its interval resamples examples, both runs at once. With the
accesses score and gradient each model has its own cases, on the same examples: an attacker adapts to the model.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ..metrics import Auc, Mean
from ..metrics.base import ratio
from ..metrics.interval import resamples
from ..metrics.paired import flip_test, holm, swap_test
from ..runs.comparable import agreed, case_bits, same_examples
from ..runs.folder import BadRun, Folder
from ..runs.proof import Change, DimensionChange, Estimated, EvaluationComparison, GroupChange, Sides, change_of
from ..text.ragged import Floats, Mask
from .score import degree_weights
from .statistics import Side, read_side

Column = tuple[str, tuple[int, ...]]  # what is tested: clean, average or worst, and of which dimensions


def compare_runs(before: str | Folder, after: str | Folder, seen: Collection[str] = ()) -> EvaluationComparison:
    """Returns the change of every score between two finished evaluations of the same frozen cases, with paired 95 % intervals.

    seen: names of dimensions that the second model was trained on; the others are summed up apart. Raises BadRun if the runs are
    not about the same cases, scored in the same way.
    """
    pair = [read_side(each if isinstance(each, Folder) else Folder(each)) for each in (before, after)]
    _check_frozen(*pair)
    return compare_sides(pair[0], pair[1], seen)


def compare_sides(before: Side, after: Side, seen: Collection[str] = ()) -> EvaluationComparison:
    """Returns the changes between two runs over what they have in common: dimensions, degrees, examples.

    Without a common example the two are resampled apart, and nothing is tested. Raises BadRun if the runs have no dimension or
    degree in common, or are of different tasks.
    """
    return _Comparison(before, after, frozenset(seen)).content()


class _Comparison:
    def __init__(self, before: Side, after: Side, seen: frozenset[str]) -> None:
        self.names, self.degrees, self.sides = _common(before, after)
        self.paired, self.seen = self.sides[0].keys == self.sides[1].keys, seen
        protocol = before.summary["protocol"]
        self.cases, self.seed = before.summary["queries"]["cases"], protocol["seed"]
        self.access = [before.summary["dimensions"][name]["setting"] for name in self.names]
        apart = 0 if self.paired else 1  # resamples of other examples are drawn apart
        self.draws = [_draws(len(side.keys), self.seed + at * apart) for at, side in enumerate(self.sides[: 1 + apart])]
        self.draws *= 1 if apart else 2
        # as in the final scores of a run
        self.weight = degree_weights(
            self.degrees, beta=protocol["beta"], published=protocol.get("final_from_zero", False)
        )
        both = list(zip(self.sides, self.draws, strict=True))
        self.clean = [side.metric.estimate(side.clean, draws) for side, draws in both]
        self.scores = {
            "average": [_estimate(side, side.mean, draws) for side, draws in both],
            "worst": [_estimate(side, side.worst, draws) for side, draws in both],
        }
        groups = {"all": range(len(self.names)), "seen": self._which(True), "unseen": self._which(False)}
        self.groups = {name: tuple(at) for name, at in groups.items() if at}
        ranked = (
            before.metric.needs_scores
        )  # rows of the AUC are places among all answers of one model: no two can be swapped
        self.p = self._tests() if self.paired and not ranked else {}

    def _which(self, seen: bool) -> list[int]:
        return [at for at, name in enumerate(self.names) if (name in self.seen) == seen]

    def content(self) -> EvaluationComparison:
        before, after = self.sides
        right = [before.right, after.right] if self.paired else []
        return {
            "paired": self.paired,
            "examples": min(len(side.keys) for side in self.sides),
            "cases": self.cases,
            "metric": before.metric.title or before.metric.spec,
            "clean": self._change(self.clean, self.p.get(("clean", ()))),
            "sides": _sides(~right[0], ~right[1]) if right else {"mended": 0, "broken": 0},
            "clean_auc": self._auc(None),
            "all": self._group("all"),
            "seen": self._group("seen") if "seen" in self.groups else None,
            "unseen": self._group("unseen") if "unseen" in self.groups else None,
            "dimensions": {name: self._dimension(at, name) for at, name in enumerate(self.names)},
        }

    def _change(self, scores: Iterable[Estimated], p: float | None = None) -> Change:
        before, after = scores
        return change_of(before, after, min(len(side.keys) for side in self.sides), p)

    def _group(self, name: str) -> GroupChange:
        """The mean over some dimensions of their final scores."""
        at = self.groups[name]
        return {
            "dimensions": len(at),
            "average": self._final_change("average", at),
            "worst": self._final_change("worst", at),
            "auc": self._auc(at),
        }

    def _final_change(self, what: str, at: tuple[int, ...]) -> Change:
        return self._change((self._final(each, at) for each in self.scores[what]), self.p.get((what, at)))

    def _dimension(self, at: int, name: str) -> DimensionChange:
        held = self.sides[0].right & self.sides[1].right if self.paired else np.zeros(0, np.bool_)
        return {
            "seen": name in self.seen,
            "access": self.access[at],
            "average": self._final_change("average", (at,)),
            "worst": self._final_change("worst", (at,)),
            "degrees": [
                {
                    "degree": degree,
                    **self._change((score[at, g], again[at, g]) for score, again in self.scores["average"]),
                }
                for g, degree in enumerate(self.degrees)
            ],
            "sides": _sides(*(side.broken[at] & held for side in self.sides)) if self.paired else _sides(held, held),
        }

    def _final(self, scores: Estimated, at: Sequence[int]) -> Estimated:
        """The mean of the final scores of some dimensions, and the same in every resample."""
        value, again = scores
        chosen = list(at)
        return (value[chosen] @ self.weight).mean(0), np.tensordot(self.weight, again[chosen], (0, 1)).mean(0)

    def _auc(self, at: Sequence[int] | None) -> Change | None:
        """The change of the macro AUC over the cases of some dimensions, or over the clean texts; None if it is not defined."""
        names = None if at is None else [self.names[each] for each in at]
        rows = [side.auc_rows(names) for side in self.sides] if self.paired else [None]
        if any(each is None for each in rows):
            return None
        change = self._change(Auc().estimate(each, self.draws[0]) for each in rows if each is not None)
        return change if change["difference"] is not None else None

    # tests

    def _tests(self) -> dict[Column, float]:
        """p of every change that is tested; those of single dimensions are corrected for the number of dimensions."""
        single = [(at,) for at in range(len(self.names))]
        columns: list[Column] = [("clean", ())]
        columns += [(what, at) for what in self.scores for at in dict.fromkeys([*single, *self.groups.values()])]
        found = dict(zip(columns, self._tested(columns), strict=True))
        for what in self.scores:
            corrected = holm([found[what, at] for at in single])
            found |= {(what, at): p for at, p in zip(single, corrected, strict=True) if p is not None}
        return found

    def _tested(self, columns: Sequence[Column]) -> list[float]:
        if isinstance(self.sides[0].metric, Mean):
            gaps = [self._gap(*column) for column in columns]
            return [float(p) for p in flip_test(np.stack(gaps, 1), self.seed)]
        return [self._swapped(*column) for column in columns]

    def _gap(self, what: str, at: tuple[int, ...]) -> Floats:
        """What each example adds to the difference of two means; nan where one of the runs has no answer."""
        if what == "clean":
            values, weight = [_values(side.clean) for side in self.sides], self.sides[0].clean[:, 1]
        else:
            rows = [(side.mean if what == "average" else side.worst)[list(at)] for side in self.sides]
            values = [np.tensordot(self.weight, _values(each), (0, 1)).mean(0) for each in rows]
            weight = np.nanmax(rows[0][..., 1], (0, 1))
        gap: Floats = (values[1] - values[0]) * weight / max(float(np.nanmean(weight)), 1e-12)
        return gap

    def _swapped(self, what: str, at: tuple[int, ...]) -> float:
        """The same for metrics that are no means, such as macro F1."""
        one, other = self.sides
        if what == "clean":
            p = swap_test(one.metric.score, one.clean, other.clean, self.seed)
        else:
            rows = [(side.mean if what == "average" else side.worst)[list(at)] for side in self.sides]
            p = swap_test(lambda sums: self.weight @ one.metric.score(sums).mean(0), rows[0], rows[1], self.seed)
        return p if math.isfinite(p) else 1.0


def _estimate(side: Side, rows: Floats, draws: Floats) -> Estimated:
    """The scores of rows [dimensions, degrees, examples, k], and those of every resample: all cells in one product."""
    cells = rows.shape[:2]
    value, again = side.metric.estimate(rows.reshape(-1, *rows.shape[2:]), draws)
    return value.reshape(cells), again.reshape(*cells, -1)


def _draws(examples: int, seed: int) -> Floats:
    """Resamples with as many digits as the rows, so that products with them need no copy."""
    return resamples(examples, seed).astype(np.float64)


def _values(rows: Floats) -> Floats:
    """The value of each row of a mean, (weighted value, weight); nan without an answer."""
    return ratio(rows[..., 0], rows[..., 1])


def _sides(before: Mask, after: Mask) -> Sides:
    """How many examples are broken before and not after (mended), and the other way round."""
    return {"mended": int((before & ~after).sum()), "broken": int((after & ~before).sum())}


def _common(before: Side, after: Side) -> tuple[list[str], list[float], list[Side]]:
    """The dimensions and degrees of both runs, and both with these and the examples of both alone (or all of them, if none is in
    both).
    """
    if before.summary["task"] != after.summary["task"] or before.metric != after.metric:
        kinds = [f"{side.metric.spec} of {side.summary['task']}" for side in (before, after)]
        raise BadRun(f"{after.folder.path}: expected scores by {kinds[0]}, as in {before.folder.path}, got {kinds[1]}")
    names = [name for name in before.names if name in after.names]
    degrees = [degree for degree in before.degrees if degree in after.degrees]
    for what, found, own in (("dimension", names, after.names), ("degree", degrees, after.degrees)):
        if not found:
            raise BadRun(
                f"{after.folder.path}: expected a {what} of {before.folder.path}, got {', '.join(map(str, own))}"
            )
    if (
        before.keys == after.keys
        and names == before.names == after.names
        and degrees == before.degrees == after.degrees
    ):
        return names, degrees, [before, after]  # as mostly: no copies
    places = same_examples({key: at for at, key in enumerate(before.keys)}, after.keys)
    if not places[0]:
        places = list(range(len(before.keys))), list(range(len(after.keys)))
    taken = []
    for side, examples in zip((before, after), places, strict=True):
        at = [side.names.index(name) for name in names], [side.degrees.index(degree) for degree in degrees]
        taken.append(side.take(*at, np.array(examples, np.int64)))
    return names, degrees, taken


def _check_frozen(before: Side, after: Side) -> None:
    """Raises BadRun unless both runs tried the same cases of the same examples, by rules alone."""
    path, first = after.folder.path, before.folder.path
    ours, theirs = agreed(before.summary), agreed(after.summary)
    if ours["data"] != theirs["data"]:
        raise BadRun(f"{path}: expected a run on the examples of {first}, got other examples")
    if before.metric != after.metric:
        raise BadRun(f"{path}: expected scores by {before.metric.spec}, as in {first}, got {after.metric.spec}")
    if differs := [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]:
        raise BadRun(f"{path}: expected the settings of {first}, got another {', '.join(differs)}")
    guided = any(content["setting"] != "rule" for content in before.summary["dimensions"].values())
    if before.summary["protocol"]["width"] is not None or guided:
        raise BadRun(
            f"{path}: expected cases that no model chooses, got an adaptive run or an access other than rule: they differ"
        )
    if case_bits(before.folder, before.summary) != case_bits(after.folder, after.summary):
        raise BadRun(f"{path}: expected the cases of {first}, got others: was it made by another version?")
