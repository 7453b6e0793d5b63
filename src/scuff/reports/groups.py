"""Groups the dimensions of a summary, so that a dimension with several accesses is one group, and averages over groups."""

from __future__ import annotations

from collections import Counter

from ..runs.schema import AccessName, EvaluationSummary
from .formatting import alone, short

Groups = dict[str, dict[AccessName, str]]  # base name of a dimension: its name with each access

ACCESSES: dict[AccessName, str] = {
    "rule": "the edits are drawn at random, as people make them; the model is not asked beforehand",
    "score": "the words whose loss costs the true answer most are changed first, by the most harmful of several proposals",
    "gradient": "as score, but the words are found by integrated gradients",
}


def groups(summary: EvaluationSummary) -> Groups:
    """Returns {"typo-m": {"rule": "typo-m", "score": "typo-m@score"}, ...}, in the order of the run."""
    found: Groups = {}
    for name, content in summary["dimensions"].items():
        found.setdefault(title(summary, content["base"]), {})[content["setting"]] = name
    return {base: {access: names[access] for access in ACCESSES if access in names} for base, names in found.items()}


def title(summary: EvaluationSummary, base: str) -> str:
    """Returns the name of a dimension to show: in short, unless two dimensions would have the same."""
    bases = {content["base"] for content in summary["dimensions"].values()}
    return short(base) if Counter(map(short, bases))[short(base)] == 1 else base


def shown_name(summary: EvaluationSummary, name: str) -> str:
    """Returns the name of a dimension with its access, as a page shows it: `keyboard`, `keyboard@score`."""
    content = summary["dimensions"][name]
    return title(summary, content["base"]) + ("" if content["setting"] == "rule" else f"@{content['setting']}")


def accesses(summary: EvaluationSummary) -> list[AccessName]:
    """Returns the accesses that some dimension was measured with."""
    found = {content["setting"] for content in summary["dimensions"].values()}
    return [access for access in ACCESSES if access in found]


def by_harm(summary: EvaluationSummary) -> Groups:
    """Returns the groups, the most harmful first: by the access that leaves least of the clean score."""
    place = {entry["dimension"]: at for at, entry in enumerate(summary["harm"])}
    return dict(sorted(groups(summary).items(), key=lambda group: min(place[name] for name in group[1].values())))


def overall_by_access(summary: EvaluationSummary) -> list[tuple[AccessName, list[float | None], str]]:
    """Returns for each access, if there are several: its name, the means of the final average, worst and worst_alone scores over
    dimensions, and of how many dimensions if not of all.
    """
    used, found, out = accesses(summary), groups(summary).values(), []
    for access in used if len(used) > 1 else ():
        contents = [summary["dimensions"][names[access]] for names in found if access in names]
        finals = [(content["average"], content["worst"], alone(content)) for content in contents]
        of = "" if len(contents) == len(found) else f"{len(contents)} of {len(found)} dimensions"
        out.append((access, [_mean([final["value"] for final in each]) for each in zip(*finals, strict=True)], of))
    return out


def _mean(values: list[float | None]) -> float | None:
    """Returns the mean; None if one of the values is not known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def degrees(summary: EvaluationSummary) -> list[float]:
    """Returns the degrees of the run, which all dimensions share."""
    return summary["protocol"]["degrees"]


def unchanged(summary: EvaluationSummary) -> list[float]:
    """Returns by degree the share of texts that could not change, over all dimensions."""
    out = []
    for at in range(len(degrees(summary))):
        cells = [content["degrees"][at] for content in summary["dimensions"].values()]
        out.append(sum(c["unchanged_examples"] for c in cells) / max(1, sum(c["examples"] for c in cells)))
    return out


def in_meaning(summary: EvaluationSummary) -> list[str]:
    """Returns the dimensions whose degree is a distance in meaning."""
    dimensions = summary["dimensions"]
    units = {base: dimensions[next(iter(names.values()))]["unit"] for base, names in groups(summary).items()}
    return [base for base, unit in units.items() if unit == "meaning"]


def measure_of_meaning(summary: EvaluationSummary) -> str:
    """Returns in words how distance in meaning is measured."""
    name = summary["protocol"]["meaning"]
    if name == "chrf":
        return "chrF distance"
    return f"1 - cosine of {'MiniLM' if name == 'minilm' else name} embeddings"
