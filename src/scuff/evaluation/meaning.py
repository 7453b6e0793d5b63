"""Was the meaning of the input changed, or the model broken? The evaluation of Michel et al. (2019) from files of any system.

Texts are read and scored block by block; of each line only its numbers are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, TypedDict

import numpy as np

from ..data.aligned import aligned_blocks
from ..metrics import FunctionFailed, Metric, text_metric
from ..metrics.own import described
from ..metrics.paired import mean_with_interval, paired_difference
from ..metrics.tradeoff import THRESHOLD, ZERO_ONE_THRESHOLD, relative_decrease, succeeded, success
from ..specs import check_positive
from ..text.ragged import Floats
from ..version import __version__

VERSION = 1  # of the keys of the JSON output
OTHER = "other_"  # begins the names of what belongs to the second attack
MOST = {"success": 2.0}  # the largest value that a line can have, where it is not 1
COMPARED = ("source_likeness", "relative_decrease", "success", "succeeded")

Columns = dict[str, Floats]  # a value per line: source_likeness (s_src), relative_decrease (d_tgt), ...


class Description(TypedDict):
    """A number per line, over all lines."""

    mean: float
    interval: list[float]  # 95 %, of the mean
    deviation: float | None  # with n - 1; None of one line
    p5: float
    p95: float


class Share(TypedDict):
    """Lines for which something holds."""

    share: float
    interval: list[float]
    count: int


class Difference(TypedDict):
    """The first attack less the second, over the same lines."""

    difference: float
    interval: list[float]
    p: float


class Chosen(TypedDict):
    """A metric and what its numbers depend on."""

    metric: str
    title: str
    signature: str


class AttackMeaning(TypedDict, total=False):
    """What one attack did; without the half that its files do not tell."""

    source_likeness: Description  # s_src
    attacked_score: Description  # s_tgt of the attacked output, against the reference
    output_likeness: Description  # without references: of the attacked output to the one before
    relative_decrease: Description  # d_tgt
    success: Description  # S
    succeeded: Share


class MeaningSummary(AttackMeaning, total=False):
    """All numbers: what `scuff meaning --json` writes."""

    schema: int
    scuff: str
    lines: int
    threshold: float
    seed: int
    source_metric: Chosen
    target_metric: Chosen
    clean_score: Description  # s_tgt of the output before the attack, against the reference
    other: AttackMeaning
    comparison: dict[str, Difference]


def measure_meaning(
    columns: Mapping[str, Any],
    *,
    source_metric: Any = "chrf",
    target_metric: Any = "chrf",
    threshold: float | None = None,
    seed: int = 0,
    encoding: str | None = None,
    each: Callable[[int, Columns], None] | None = None,
) -> tuple[MeaningSummary, Columns]:
    """Returns all numbers, and the values of each line.

    columns: by name (src, adv_src, out, adv_out, ref, other_adv_src, other_adv_out) a path or texts. each: called with the
    number of the first line of each block, from 0, and the values of its lines, before the next block is read.
    """
    given = {name: column for name, column in columns.items() if column is not None}
    check_columns(given)
    source, target = text_metric(source_metric), text_metric(target_metric)
    if threshold is None:
        threshold = ZERO_ONE_THRESHOLD if getattr(target, "right_or_wrong", False) else THRESHOLD
    check_positive(threshold, "meaning.threshold", zero=True)
    scorer = Scorer(source, target, threshold)
    parts: list[Columns] = []
    first = 0
    for block in aligned_blocks(given, encoding):
        parts.append(scorer.score(block, first))
        if each:
            each(first, parts[-1])
        first += len(next(iter(block.values())))
    values = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
    return scorer.summary(values, seed), values


@dataclass(frozen=True)
class Scorer:
    """Scores blocks of lines. threshold: of S, above which an attack succeeded."""

    source: Metric
    target: Metric
    threshold: float

    def score(self, block: Mapping[str, list[str]], first: int = 0) -> Columns:
        """The values of each line of a block, whose first line has this number, from 0."""
        out: Columns = {}
        if "ref" in block:
            out["clean_score"] = self._values(self.target, block["out"], block["ref"], first)
        for prefix in ("", OTHER):
            sources, outputs = block.get(f"{prefix}adv_src"), block.get(f"{prefix}adv_out")
            found: Columns = {}
            if sources is not None:
                found["source_likeness"] = self._likeness(self.source, sources, block["src"], first)
            if outputs is not None and "ref" in block:
                found["attacked_score"] = self._values(self.target, outputs, block["ref"], first)
                found["relative_decrease"] = relative_decrease(out["clean_score"], found["attacked_score"])
            elif outputs is not None:
                found["output_likeness"] = self._likeness(self.target, outputs, block["out"], first)
                found["relative_decrease"] = 1 - found["output_likeness"]
            if sources is not None and outputs is not None:
                halves = found["source_likeness"], found["relative_decrease"]
                found["success"] = success(*halves)
                found["succeeded"] = succeeded(*halves, self.threshold).astype(np.float64)
            out |= {f"{prefix}{name}": values for name, values in found.items()}
        return out

    def _likeness(self, metric: Metric, changed: list[str], original: list[str], first: int) -> Floats:
        """The metric of changed texts; 1 for unchanged ones, even where a metric has no such number, as for an empty text."""
        same = np.fromiter((one == two for one, two in zip(changed, original, strict=True)), np.bool_, len(changed))
        return np.where(same, 1.0, self._values(metric, changed, original, first))

    def _values(self, metric: Metric, texts: list[str], references: list[str], first: int) -> Floats:
        try:
            found = np.asarray(metric.values(np.array(texts, object), np.array(references, object)), np.float64)
        except FunctionFailed as error:
            told = f"line {first + error.at + 1:,}: {error}"
            raise FunctionFailed(told, error.at, error.exit_code == 3) from error.__cause__
        except Exception as error:
            if type(metric).__module__.startswith("scuff."):
                raise
            where = f"lines {first + 1:,} to {first + len(texts):,}"
            raise FunctionFailed(
                f"{where}: expected values from {metric.spec}, got {described(error)}", 0, True
            ) from error
        if found.shape != (len(texts),):
            raise ValueError(f"expected a value per text from {metric.spec}, got the shape {found.shape}")
        wrong = np.flatnonzero(~((found >= -1e-9) & (found <= 1 + 1e-9)))
        if wrong.size:
            line = first + int(wrong[0]) + 1
            raise ValueError(
                f"expected values from 0 to 1 from {metric.spec}, got {found[wrong[0]]:g} for line {line:,}"
            )
        return np.clip(found, 0, 1)

    def summary(self, values: Columns, seed: int) -> MeaningSummary:
        """All numbers from the values of all lines."""
        out: MeaningSummary = {
            "schema": VERSION, "scuff": __version__, "lines": len(next(iter(values.values()))), "threshold": self.threshold,
            "seed": seed,
        }  # fmt: skip
        if "source_likeness" in values:
            out["source_metric"] = _chosen(self.source)
        if "relative_decrease" in values:
            out["target_metric"] = _chosen(self.target)
        mine = {name: column for name, column in values.items() if not name.startswith(OTHER)}
        out |= _described(mine, seed)  # type: ignore[typeddict-item]
        others = {name.removeprefix(OTHER): column for name, column in values.items() if name.startswith(OTHER)}
        if others:
            out["other"] = _described(others, seed)  # type: ignore[typeddict-item]
            out["comparison"] = {}
            for name in COMPARED:
                if name in others:
                    gap, interval, p = paired_difference(mine[name], others[name], seed, MOST.get(name, 1.0))
                    out["comparison"][name] = {"difference": gap, "interval": list(interval), "p": p}
        return out


def _described(values: Columns, seed: int) -> dict[str, Description | Share]:
    out: dict[str, Description | Share] = {}
    for name, column in values.items():
        mean, interval = mean_with_interval(column, seed, MOST.get(name, 1.0))
        if name == "succeeded":
            out[name] = Share(share=mean, interval=list(interval), count=int(column.sum()))
            continue
        low, high = np.percentile(column, [5, 95])
        deviation = float(column.std(ddof=1)) if column.size > 1 else None
        out[name] = Description(mean=mean, interval=list(interval), deviation=deviation, p5=float(low), p95=float(high))
    return out


def _chosen(metric: Metric) -> Chosen:
    return Chosen(metric=metric.spec, title=metric.title or metric.spec, signature=metric.signature)


def line_values(values: Columns, first: int = 0) -> Iterator[dict[str, float | bool | int]]:
    """Yields the numbers of each line, the number of the line first, from 1."""
    lists = {name: column.tolist() for name, column in values.items()}
    for at, row in enumerate(zip(*lists.values(), strict=True), first + 1):
        named = zip(lists, row, strict=True)
        yield {"line": at, **{name: bool(value) if name.endswith("succeeded") else value for name, value in named}}


def write_lines(out: IO[bytes], first: int, values: Columns) -> None:
    """Writes the numbers of each line as JSON lines. first: the number of the first line, from 0."""
    out.writelines(f"{json.dumps(line)}\n".encode() for line in line_values(values, first))


# what each column cannot be used without
NEEDS = {
    "src": ("adv_src",), "adv_src": ("src",), "out": ("adv_out",), "adv_out": ("out",), "ref": ("out", "adv_out"),
    "other_adv_src": ("adv_src",), "other_adv_out": ("adv_out",),
}  # fmt: skip


def check_columns(given: Mapping[str, Any], shown: Callable[[str], str] = str) -> None:
    """Raises ValueError if a column is missing that another one needs. shown: what the user calls a column."""
    if not given:
        halves = f"{shown('src')} and {shown('adv_src')}, {shown('out')} and {shown('adv_out')}"
        raise ValueError(f"expected {halves}, or all four for meaning, got none")
    needs = [(name, other) for name in given for other in NEEDS[name]]
    if any(name.startswith(OTHER) for name in given):
        needs += [(name, f"{OTHER}{name}") for name in ("adv_src", "adv_out") if name in given]
    for name, other in needs:
        if other not in given:
            raise ValueError(f"expected {shown(other)} with {shown(name)} for meaning, got none")
