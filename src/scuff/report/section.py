"""All about one dimension: its curves, RobTest's table, what broke the model, every number."""

from __future__ import annotations

from html import escape
from typing import Any

from ..evaluate.table import PROBLEMS
from .curves import curve
from .examples import Failure, shown_failures
from .groups import Summary, percent, spread
from .notes import measure_of_meaning
from .paper import paper_head, paper_rows

SPEC = 160  # letters of a spec that are shown


def section(summary: Summary, number: int, base: str, names: dict[str, str], failures: dict[str, list[Failure]]) -> str:
    """names: of the dimension in each of its settings."""
    dimensions = summary["dimensions"]
    first = dimensions[next(iter(names.values()))]
    clean, chance = summary["clean"]["score"]["value"], summary["clean"]["chance"]
    cards = []
    for setting, name in names.items():
        beside = dimensions[names["rule"]] if setting != "rule" and "rule" in names else None
        picture = curve(f"{base}, {setting}: score by degree", dimensions[name], clean, chance, beside)
        cards.append(f'<div class="card"><h4>{setting}</h4>{picture}</div>')
    numbers = [
        f"<details><summary>Every number, {setting}</summary>{_numbers(dimensions[name])}</details>"
        for setting, name in names.items()
    ]
    broken = [shown_failures(setting, dimensions[name], failures[name]) for setting, name in names.items()]
    return (
        f'<section id="dimension-{number}"><h3>{escape(base)}{tag_of(first)}</h3><p class="soft">{_degree(summary, first)}'
        f'{_spec(base, first)}</p><div class="cards">{"".join(cards)}'
        f"{table(paper_head(summary), paper_rows(summary, names))}</div>"
        f"{''.join(broken)}{''.join(numbers)}</section>"
    )


def tag_of(content: dict[str, Any]) -> str:
    """Whom it stands for: everyone (general), or someone who means harm (malicious)."""
    tag = content.get("tag")
    return f' <span class="tag {escape(tag)}">{escape(tag)}</span>' if tag else ""


def table(head: list[str], rows: list[list[str]], kind: str = "") -> str:
    """Cells are markup, names of columns are not."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _degree(summary: Summary, content: dict[str, Any]) -> str:
    if content["unit"] == "meaning":
        return f"Degree: distance in meaning, {escape(measure_of_meaning(summary))}."
    return f"Degree: share of {escape(content['unit'])}."


def _spec(base: str, content: dict[str, Any]) -> str:
    """What the name stands for, where it is not the spec itself."""
    setting = content.get("setting", "rule")
    spec = content["spec"].removesuffix(f"@{setting}")
    if spec == base:
        return ""
    return f" It is <code>{escape(spec if len(spec) <= SPEC else spec[:SPEC] + ' …')}</code>."


def _numbers(content: dict[str, Any]) -> str:
    auc = any("auc" in cell for cell in content["degrees"])
    head = ["degree", "average", "worst", "left", *(["macro AUC"] if auc else []), "broken of right", "reached",
            "edit distance", "cases", "unchanged", "unfit", "no answer"]  # fmt: skip
    rows = []
    for cell in content["degrees"]:
        success = cell["success"]
        rows.append([
            f"{cell['degree']:g}", spread(cell["average"]), spread(cell["worst"]), percent(cell["relative"]),
            *([spread(cell["auc"]) if "auc" in cell else "-"] if auc else []),
            f"{percent(success['rate'])} of {success['of']}", percent(cell["reached"]), percent(cell["edit_distance"]),
            f"{cell['cases']:,}", f"{cell['unchanged_examples']:,} of {cell['examples']:,}", f"{cell['unfit']:,}",
            f"{sum(cell[name] for name in PROBLEMS):,}",
        ])  # fmt: skip
    return table(head, rows)
