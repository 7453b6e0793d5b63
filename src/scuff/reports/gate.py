"""The gate for CI: checks scores against bounds or against another run. `outcome.py` writes what came of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..evaluation.thresholds import Threshold, matching, read_share
from ..runs.comparable import agreed
from ..runs.schema import AttackSummary, Cell, DimensionScores, EvaluationSummary, Summary
from .formatting import percent

ANSWERED = 0.9  # the share of cases that must be answered, by default
TRIED = 0.5  # the share of texts in which something must have been tried, by default
EACH_TRIED = 0.1  # the same of every dimension, where all are judged: some change few texts, but none proves nothing
OF_SCORE = re.compile(r"\.(worst|worst_alone|auc|left)$")  # what a score of a dimension is called beside its average
ATTACK_SCORES = ("clean", "after", "answered", "tried")  # scores of an attack that can be checked
EXACT = 9  # digits of a percentage that are shown at most


@dataclass(frozen=True)
class Line:
    """One score and its bound."""

    name: str
    value: float | None
    bound: float
    why: str = ""
    most: bool = False  # the bound is a maximum

    @property
    def passed(self) -> bool:
        """Whether the value is known and within the bound: what nobody knows never passes."""
        if self.value is None or not math.isfinite(self.value):
            return False
        return self.value <= self.bound + 1e-9 if self.most else self.value >= self.bound - 1e-9

    @property
    def shown(self) -> tuple[str, str]:
        """The value and the bound in percent, with as many digits as tell them apart if the line failed."""
        value = self.value if self.value is not None and math.isfinite(self.value) else None
        bound = self.bound if math.isfinite(self.bound) else None
        for digits in range(1, EXACT):
            shown = percent(value, digits), percent(bound, digits)
            if self.passed or shown[0] != shown[1] or None in (value, bound):
                break
        return shown

    def __str__(self) -> str:
        side, (value, bound) = "at most" if self.most else "at least", self.shown
        return f"{'ok  ' if self.passed else 'FAIL'} {self.name}: {value}, {side} {bound}{self.why}"


def check_summary(
    summary: Summary,
    least: Mapping[str, Threshold],
    max_drop: Threshold | None = None,
    baseline: Summary | None = None,
    max_success: Threshold | None = None,
) -> list[Line]:
    """Returns a line for each score that is compared: with its minimum, with the clean score, or with that of another run.

    least: minimums by name. A name is `clean`, `average`, `worst`, a dimension (its average) such as `typo-m` or `typo-m@score`,
    `dimension.worst`, `dimension@0.1`, `dimension@0.1.worst`, `each` or, with one access, `each@score`; `worst_alone` wherever
    `worst` is, for the worst case of each degree alone; `dimension@0.2.left` for Zéroe's s*; or one of two shares that tell how
    much a run knows, and that are checked even if nobody asks: `answered`, of cases with an answer, at least ANSWERED, and
    `tried` (also `dimension.tried`), of texts in which something changed, at least TRIED. Of an attack it is `clean`, `after`
    (accuracy after it), `answered` (the share of attacks that did not end in an error) or `tried` (of those in which something
    was tried). max_drop: from the clean score, or from the scores of the baseline. max_success: of an attack. All are numbers in
    [0, 1] or percentages. Values are compared, not the ends of their intervals, since a bound should not become stricter with
    fewer examples. Raises ValueError for unknown names, for runs that cannot be compared, and if nothing is to be checked.
    """
    bounds = {name: read_share(value, f"the minimum of {name}") for name, value in least.items()}
    drop = None if max_drop is None else read_share(max_drop, "max_drop")
    success = None if max_success is None else read_share(max_success, "max_success")
    attack = "kind" in summary
    if success is not None and not attack:
        raise ValueError("expected a run of `scuff attack` for --max-success, got one of `scuff evaluate`")
    scores = named_scores(summary)
    _check_alone(bounds, scores, attack)
    lines, evidence = [], dict[str, float]()  # the shares of texts that these scores depend on, and their bounds
    usual = bounds.get("tried", TRIED)
    for name, bound in bounds.items():
        lines += [Line(found, scores[found], bound) for found in matching(name, scores, _accesses(summary))]
        evidence |= dict.fromkeys(_evidence(name, scores), usual)
        if name.partition("@")[0] == "each":
            evidence |= _each_tried(matching(name, scores, _accesses(summary)), usual)
    if drop is not None:
        if baseline:
            check_comparable(summary, baseline)
        before = named_scores(baseline) if baseline else dict.fromkeys(scores, scores["clean"])
        what = "baseline" if baseline else "clean"
        for name in compared_scores(summary, baseline is not None):
            if name.endswith("worst_alone") and not (name in scores and name in before):
                continue  # a run of an older version does not have it
            start = before[name]
            why = f" ({what} {percent(start)} - {percent(drop)})"
            lines.append(Line(name, scores[name], math.inf if start is None else start - drop, why))
        evidence |= {"tried": usual, **_each_tried(_accesses(summary), usual)}
    if success is not None and "kind" in summary:
        lines.append(Line("success", summary["success"]["value"], success, most=True))
        evidence["tried"] = usual
    if not lines:
        options = f"--min NAME=VALUE or {'--max-success' if attack else '--max-drop'} VALUE"
        raise ValueError(f"expected something to check ({options}), got nothing")
    # scores over few answers, or over texts that hardly changed, say little, so that alone fails the gate
    known = [Line("answered", scores["answered"], ANSWERED)] if "answered" not in bounds else []
    for name, least_tried in evidence.items():
        if name not in bounds:
            known.append(Line(name, scores[name], least_tried, _why_untried(summary)))
    return [*lines, *(line for line in known if not line.passed)]


def _check_alone(bounds: Mapping[str, float], scores: Mapping[str, float | None], attack: bool) -> None:
    """Raises ValueError if a bound is for the worst case of a degree alone, which a summary of an older version does not have."""
    wanted = [name for name in bounds if name.endswith("worst_alone")]
    if wanted and not attack and "worst_alone" not in scores:
        raise ValueError(
            f"expected a summary with {wanted[0]}, got one of an older version: `scuff report RUN` computes it from the trials"
        )


def _accesses(summary: Summary) -> dict[str, str]:
    """Returns the dimensions of an evaluation, each with its access; {} for an attack."""
    return {} if "kind" in summary else {name: content["setting"] for name, content in summary["dimensions"].items()}


def _evidence(name: str, scores: Mapping[str, float | None]) -> list[str]:
    """Returns the name of the share of texts in which something must have been tried for a score to mean anything."""
    if name in ("clean", "clean.auc", "answered") or name.endswith("tried"):
        return []
    own = f"{OF_SCORE.sub('', name)}.tried"
    return [own] if own in scores else ["tried"]  # of scores over all dimensions, and of attacks


def _each_tried(dimensions: Iterable[str], usual: float) -> dict[str, float]:
    """Returns the shares that single dimensions need where all are judged, with their bounds: few, but not none."""
    return {f"{name}.tried": min(usual, EACH_TRIED) for name in dimensions}


def _why_untried(summary: Summary) -> str:
    if "kind" not in summary:
        return " (the share of texts that changed: the others count with their clean answer; --min tried=VALUE sets another)"
    if not summary["success"]["of"]:
        return " (nothing was attacked)"
    queries = summary["queries"]
    return (
        f" (the share of {summary['success']['of']:,} attacks that tried something: in {queries['untried']:,} nothing could "
        f"change, {_early(summary):,} ran out of queries or time too early; --min tried=VALUE sets another)"
    )


def _early(summary: AttackSummary) -> int:
    """Returns how many attacks ended before they tried enough. Older runs say only how many ended early at all."""
    return summary["queries"].get("early", summary["queries"]["cut"])


def compared_scores(summary: Summary, baseline: bool) -> list[str]:
    """Returns the names of scores that --max-drop compares: all with a baseline, those of perturbed texts with the clean one."""
    if "kind" in summary:
        return ["clean", "after"] if baseline else ["after"]
    dimensions = summary["dimensions"]
    each = [name for dimension in dimensions for name in (dimension, f"{dimension}.worst", f"{dimension}.worst_alone")]
    return ["clean", "average", "worst", "worst_alone", *each] if baseline else list(dimensions)


def check_comparable(summary: Summary, baseline: Summary) -> None:
    """Raises ValueError unless the runs differ in nothing but the model."""
    ours, theirs = agreed(summary), agreed(baseline)
    attackers = [each.get("shield", {}).get("attacker") for each in (summary, baseline)]
    if None not in attackers and len(set(attackers)) > 1:
        raise ValueError(
            f"expected a baseline of an attacker {attackers[0]} of the shield, got one {attackers[1]} of it"
        )
    other = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if other:
        raise ValueError(f"expected a baseline of the same data and settings, got another {', '.join(other)}")


def shield_of(summary: Summary) -> list[str]:
    """Returns a line that names the shield of the model and what the attacker knows of it; [] if there is none."""
    if "shield" not in summary:
        return []
    attacker = f", attacker {summary['shield']['attacker']} of it" if "kind" in summary else ""
    return [f"shield {summary['shield']['spec']}{attacker}"]


def named_scores(summary: Summary) -> dict[str, float | None]:
    """Returns all scores that can be checked, by name."""
    return _attack_scores(summary) if "kind" in summary else _evaluation_scores(summary)


def _attack_scores(summary: AttackSummary) -> dict[str, float | None]:
    attacked, queries = summary["success"]["of"], summary["queries"]
    untried = queries["untried"] + _early(summary)
    unanswered = summary["unanswered"]  # examples without an answer to the original, which were not attacked
    lost = unanswered + summary["status"]["error"]
    answered = 1 - lost / max(unanswered + summary["success"]["of"], 1)
    return {
        "clean": summary["clean"]["value"],
        "after": summary["after"]["value"],
        "answered": answered,
        "tried": 1 - untried / attacked if attacked else None,
    }


def _evaluation_scores(summary: EvaluationSummary) -> dict[str, float | None]:
    dimensions = summary["dimensions"]
    tried = {name: max(map(_changed, content["degrees"])) for name, content in dimensions.items()}
    out = {
        "clean": summary["clean"]["score"]["value"],
        "average": summary["overall"]["average"]["value"],
        "worst": summary["overall"]["worst"]["value"],
        "answered": summary["answered"] / max(summary["queries"]["cases"], 1),
        "tried": sum(tried.values()) / len(tried),
    }
    if "auc" in summary["clean"]:
        out["clean.auc"] = summary["clean"]["auc"]["value"]
    if "worst_alone" in summary["overall"]:
        out["worst_alone"] = summary["overall"]["worst_alone"]["value"]
    for name, content in dimensions.items():
        out |= _named(name, content)
        out[f"{name}.tried"] = tried[name]
        for at_degree in content["degrees"]:
            at = f"{name}@{at_degree['degree']:g}"
            out |= _named(at, at_degree)
            out[f"{at}.tried"] = _changed(at_degree)
            if "auc" in at_degree:
                out[f"{at}.auc"] = at_degree["auc"]["value"]
            if "left" in at_degree:
                out[f"{at}.left"] = at_degree["left"]["value"]
    return out


def _named(name: str, scores: DimensionScores | Cell) -> dict[str, float | None]:
    """Returns average and worst of a dimension, or of one of its degrees. Runs of older versions have no `worst_alone`."""
    out = {name: scores["average"]["value"], f"{name}.worst": scores["worst"]["value"]}
    return {**out, f"{name}.worst_alone": scores["worst_alone"]["value"]} if "worst_alone" in scores else out


def _changed(at_degree: Cell) -> float:
    """Returns the share of examples of which some case differs from the original."""
    return 1 - at_degree["unchanged_examples"] / at_degree["examples"] if at_degree["examples"] else 0.0
