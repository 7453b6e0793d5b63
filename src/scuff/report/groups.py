"""The settings of one dimension, put together: what is called `typo-m`, `typo-m@score` and `typo-m@gradient`."""

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
