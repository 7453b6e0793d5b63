"""List the parts that can be named in specs, one per line: those that ship with Scuff, and those of installed packages.

  scuff list                    all families
  scuff list dimensions         perturbations, dimensions, recipes, goals, searches, constraints, metrics, victims, shields or
                                methods
  scuff list --tag malicious    only perturbations with that tag

Name a part of your own as `my_module:MyClass(option=value)`; CONTRIBUTING shows how to write one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from .terminal import listed, styled

ROOMS = ("specs", "text")  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("family", nargs="?", choices=LISTS, metavar="FAMILY", help=f"one of {', '.join(LISTS)}")
    parser.add_argument(
        "--tag",
        choices=("general", "malicious"),
        help="only perturbations that anyone makes (general), or that evaders make (malicious)",
    )
    parser.add_argument("--lang", metavar="CODE", help="only perturbations that suit a language, such as de")


def run(args: argparse.Namespace) -> None:
    if args.tag or args.lang:
        if args.family not in (None, "perturbations"):
            raise ValueError(f"expected perturbations for --tag and --lang, got {args.family}")
        return _perturbations(args.tag, args.lang)
    families = [args.family] if args.family else list(LISTS)
    for at, family in enumerate(families):
        if not args.family:
            print("\n" * (at > 0) + styled(family, "bold"))
        LISTS[family]()
    return None


def _perturbations(tag: str | None = None, lang: str | None = None) -> None:
    from ..perturbations.names import FAMILY

    for name, kind in FAMILY.members().items():
        facts = kind.facts
        if (tag and tag not in facts.tags) or (lang and facts.languages and lang not in facts.languages):
            continue
        print(listed(f"{name:15}{facts.level:10}{'/'.join(facts.tags)}", facts.summary, 44))
    _print_broken(FAMILY)


def _dimensions() -> None:
    """Prints what `scuff evaluate` measures if nobody names dimensions. Any perturbation is a dimension, too."""
    from ..evaluation.dimensions import COLUMNS, Dimension

    for name, spec in COLUMNS.items():
        dimension = Dimension.parse(name)
        degree = "distance in meaning" if dimension.unit == "meaning" else f"share of {dimension.unit}"
        print(listed(f"{name:15}{spec:24}{dimension.tag}", f"default of `scuff evaluate`; degree: {degree}", 50))


def _recipes() -> None:
    from ..attacks.recipes import FAMILY
    from ..attacks.settings import PLAIN, TOXICTRAP

    default = {TOXICTRAP: "; default of `scuff attack` with --vectors", PLAIN: "; default of `scuff attack`"}
    for name, recipe in FAMILY.members().items():
        print(listed(name, f"{recipe().paper}{default.get(name, '')}", 18))
    _print_broken(FAMILY)


def _victims() -> None:
    from ..victims.open import FAMILY, WAYS

    print(f"MODEL may be {WAYS}")
    _print_parts(FAMILY)


def _shields() -> None:
    from ..shields.names import CHAINS, DEFAULT, FAMILY

    _print_parts(FAMILY)
    for name, chain in CHAINS.items():
        print(listed(name, f"{chain}{'; default of `scuff shield`' if name == DEFAULT else ''}", 47))


def _methods() -> None:
    """Prints what `scuff harden --with` can do."""
    from ..specs import usage
    from ..training.methods import METHODS

    for kind in METHODS.values():
        print(listed(usage(kind), kind.summary, 47))


def _parts(module: str) -> None:
    """Prints the members of the family that a module holds."""
    _print_parts(import_module(f"..{module}", __package__).FAMILY)


def _print_parts(family: Any) -> None:
    from ..specs import usage

    for name, kind in family.members().items():
        called = usage(kind) if isinstance(kind, type) else name
        print(listed(called, getattr(kind, "summary", "") or (kind.__doc__ or "").partition("\n")[0], 47))
    _print_broken(family)


def _print_broken(family: Any) -> None:
    """Prints the entry points of other packages that cannot be imported: they must not end the list."""
    for name, reason in family.broken().items():
        print(f"{name:15}cannot be imported: {reason}")


LISTS: dict[str, Callable[[], None]] = {
    "perturbations": _perturbations, "dimensions": _dimensions, "recipes": _recipes, "goals": partial(_parts, "attacks.goals"),
    "searches": partial(_parts, "attacks.search"), "constraints": partial(_parts, "attacks.constraints"),
    "metrics": partial(_parts, "metrics"), "victims": _victims, "shields": _shields,
    "methods": _methods,
}  # fmt: skip
