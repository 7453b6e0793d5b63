"""Describe one perturbation: what it does, its paper, languages, tags and options, and how it chooses what to change.

A shield, too: what it mends, its options, and the kinds of what it finds. And a method of `scuff harden`.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Collection
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..shields import Shield

# families whose members are not described but listed, and where they are
LISTED = {
    "recipes": "attacks.recipes", "goals": "attacks.goals", "searches": "attacks.search",
    "constraints": "attacks.constraints", "metrics": "metrics", "victims": "victims.open",
}  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="of a perturbation, shield or method, as in `scuff list`, or of one of RobTest's dimensions",
    )


def run(args: argparse.Namespace) -> None:
    from ..evaluation.dimensions import COLUMNS
    from ..perturbations.base import SELECTIONS, Perturbation
    from ..perturbations.names import FAMILY, NAMES, parse
    from ..perturbations.published import PUBLISHED
    from ..perturbations.readability import Readability
    from ..specs import split_outside
    from ..training.methods import METHODS

    if args.name.partition("(")[0] in METHODS and args.name not in FAMILY.members():
        return _describe_method(args.name)
    if (shield := _shield_of(args.name, FAMILY.members())) is not None:
        return _describe_shield(args.name, shield)
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
    return None


DISGUISED = (
    "\u0410dversarial at\u200btacks are h.a.r.m.l.e.s.s, I beleive."  # a look-alike, an invisible character, ...
)


def _shield_of(name: str, perturbations: Collection[str]) -> Shield | None:
    """Returns the shield of a spec, None if the spec names none."""
    from ..shields import FAMILY, Shield, parse
    from ..specs import split_outside

    def known(single: str) -> bool:
        short = single.partition("(")[0].strip()
        if ":" in short:
            kind = FAMILY.find(short)
            return isinstance(kind, type) and issubclass(kind, Shield)
        return short not in perturbations and short in shield_names()

    return parse(name) if all(known(single) for single in split_outside(name, "+")) else None


def shield_names() -> list[str]:
    """The names of all shields and chains."""
    from ..shields import CHAINS, FAMILY

    return [*FAMILY.members(), *CHAINS]


def _describe_method(spec: str) -> None:
    """Prints what a method of `scuff harden` does, and what it was given in brackets."""
    from ..training.methods import METHODS, WithMixture, parse_method

    method = parse_method(spec)
    print(f"{method.name}: {METHODS[method.name].summary}\n\n{inspect.getdoc(method)}\n")
    if isinstance(method, WithMixture):
        print(f"{'trains on':24}{method.mixed(tokens=False).spec}")
    print(f"{'trains':24}{'yes' if method.trains else 'no'}")
    options = ", ".join(f"{field.name}={getattr(method, field.name)!r}" for field in fields(method))
    print(f"{'options':24}{options}")


def _describe_shield(name: str, shield: Shield) -> None:
    from ..shields import Chain, Corpus
    from .shield import visible

    parts = shield.parts if isinstance(shield, Chain) else (shield,)
    about = [part.summary or (inspect.getdoc(part) or "").partition("\n")[0] for part in parts]
    print(f"{name}: {shield.spec if len(parts) > 1 else about[0]}\n")
    print(f"  {visible(DISGUISED)}\n  {visible(shield(Corpus.of([DISGUISED])).strings()[0])}\n")
    for part, summary in zip(parts, about, strict=True):
        if len(parts) > 1:
            print(f"{part.spec}: {summary}")
        else:
            print(f"{inspect.getdoc(part)}\n")
        options = ", ".join(f"{field.name}={getattr(part, field.name)!r}" for field in fields(part))  # type: ignore[arg-type]
        print(f"{'options':24}{options or 'none'}\n{'kinds':24}{', '.join(part.kinds) or 'none'}")


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


def _refuse_others(name: str, perturbations: Collection[str]) -> None:
    """Raises ValueError, which says where to look, for the name of another part, such as a metric."""
    if name in perturbations or ":" in name:
        return
    for family, module in LISTED.items():
        if name in import_module(f"..{module}", __package__).FAMILY.members():
            raise ValueError(
                f"expected the name of a perturbation, got {name!r}, one of the {family}: see `scuff list {family}`"
            )
    near = get_close_matches(name, [*perturbations, *shield_names()], 1)
    if near and near[0] in shield_names():
        raise ValueError(f"expected the name of a perturbation or shield, got {name!r}; did you mean {near[0]}?")
