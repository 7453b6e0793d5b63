"""Describe one perturbation: what it does, its paper, languages, tags and options, and how it chooses what to change."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import fields


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="of a perturbation, as in `scuff list`, or of one of RobTest's dimensions"
    )


def run(args: argparse.Namespace) -> None:
    from ..evaluation.dimensions import COLUMNS
    from ..perturbations.base import SELECTIONS, Perturbation
    from ..perturbations.names import FAMILY

    if args.name in COLUMNS:
        print(f"{args.name}: one of RobTest's dimensions, {COLUMNS[args.name]} for `scuff evaluate`\n")
        args.name = re.split(r"[@(]", COLUMNS[args.name])[0]
    kind = FAMILY.find(args.name)
    facts = kind.facts
    print(
        f"{args.name}: {facts.summary}\n\n  Adversarial attacks are harmless.\n  {facts.example}\n\n{inspect.getdoc(kind)}\n"
    )
    rows = {
        "paper": facts.paper,
        "level": facts.level,
        "tags": ", ".join(facts.tags),
        "scripts": facts.scripts,
        "languages": ", ".join(facts.languages) or "any",
        "people read it": facts.readable,
        "strength is a share of": facts.unit,
        **(
            {"can change": f"about {facts.reach:.0%} of them in a usual text, at any strength"}
            if facts.reach < 1
            else {}
        ),
        "keeps tokens": "yes" if facts.keeps_tokens else "no: not for tagging data",
        "selection": kind.selection,
    }
    for key, value in rows.items():
        print(f"{key:24}{value}")
    if kind.selection in SELECTIONS:
        print("\n" + (inspect.getdoc(Perturbation.choose) or "") + "\n")
    options = ", ".join(f"{field.name}={field.default!r}" for field in fields(kind))
    print(f"{'options':24}{options or 'none'}")
