"""Describe one perturbation: what it does, its paper, languages, tags and options, and how it chooses what to change."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Container
from dataclasses import fields
from importlib import import_module

# families whose members are not described but listed, and where they are
LISTED = {
    "recipes": "attacks.recipes", "goals": "attacks.goals", "searches": "attacks.search",
    "constraints": "attacks.constraints", "metrics": "metrics", "victims": "victims.open",
}  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="of a perturbation, as in `scuff list`, or of one of RobTest's dimensions"
    )


def run(args: argparse.Namespace) -> None:
    from ..evaluation.dimensions import COLUMNS
    from ..perturbations.base import SELECTIONS, Perturbation
    from ..perturbations.names import FAMILY, NAMES, parse
    from ..perturbations.published import PUBLISHED
    from ..perturbations.readability import Readability
    from ..specs import split_outside

    form = COLUMNS.get(args.name, args.name)
    column = args.name if args.name in PUBLISHED else ""  # RobTest's, where a perturbation has two papers
    if args.name in COLUMNS:
        print(f"{args.name}: one of RobTest's dimensions, {COLUMNS[args.name]} for `scuff evaluate`\n")
        args.name = re.split(r"[@(]", COLUMNS[args.name])[0]
    if len([single for part in split_outside(args.name, "+") for single in split_outside(part, "|")]) > 1:
        raise ValueError(f"expected one perturbation, got {args.name!r}: describe each of its parts")
    built = parse(args.name) if "(" in args.name else None  # with options of the user's
    if built is None:
        args.name = args.name.partition("@")[0]  # how a dimension chooses
        _refuse_others(args.name, FAMILY.members())
    kind = FAMILY.find(args.name) if built is None else type(built)
    facts = kind.facts
    print(
        f"{args.name}: {facts.summary}\n\n  Adversarial attacks are harmless.\n  {facts.example}\n\n{inspect.getdoc(kind)}\n"
    )
    measured = Readability.of(kind.name if kind in NAMES.values() else "")
    rows = {
        "paper": facts.paper,
        "level": facts.level,
        "tags": ", ".join(facts.tags),
        "scripts": facts.scripts,
        "languages": ", ".join(facts.languages) or "any",
        **_plain_form(kind.name, form, bool(measured.effort)),
        **measured.lines(),
        "strength is a share of": facts.unit,
        **(
            {"can change": f"about {facts.reach:.0%} of them in a usual text, at any strength"}
            if facts.reach < 1
            else {}
        ),
        "keeps tokens": "yes" if facts.keeps_tokens else "no: not for tagging data",
        "selection": kind.selection,
        **_published(column or kind.name),
    }
    for key, value in rows.items():
        print(f"{key:24}{value}")
    if kind.selection in SELECTIONS:
        print("\n" + (inspect.getdoc(Perturbation.choose) or "") + "\n")
    values = {field.name: getattr(built, field.name, field.default) for field in fields(kind)}
    options = ", ".join(f"{name}={value!r}" for name, value in values.items())
    print(f"{'options':24}{options or 'none'}")


def _plain_form(name: str, form: str, measured: bool) -> dict[str, str]:
    """Of which form the measures of readability are, where that is not the one that is described."""
    other = measured and form != name
    return (
        {"readability": f"the figures below are those of {name} with its default options, not of {form}"}
        if other
        else {}
    )


def _published(name: str) -> dict[str, str]:
    """How the perturbation's paper has it, by the table that --as-published reads."""
    from ..perturbations.published import PUBLISHED

    if (entry := PUBLISHED.get(name)) is None:
        return {}
    how = f", selection {entry.selection}" if entry.selection else ""
    rows = {
        "as published": f"{entry.spec}{how} ({entry.source})",
        "  which differs": entry.differs or "in nothing",
        "  what remains": entry.remains,
        "  needs": entry.needs,
        **{f"  {source}": spec for source, spec in entry.elsewhere},
    }
    return {key: value for key, value in rows.items() if value}


def _refuse_others(name: str, perturbations: Container[str]) -> None:
    """Raises ValueError, which says where to look, for the name of another part, such as a metric."""
    if name in perturbations or ":" in name:
        return
    for family, module in LISTED.items():
        if name in import_module(f"..{module}", __package__).FAMILY.members():
            raise ValueError(
                f"expected the name of a perturbation, got {name!r}, one of the {family}: see `scuff list {family}`"
            )
