"""Show every perturbation on a few sentences, at the three levels low, mid and high.

  scuff show "A sentence of yours"
  scuff show -p keyboard -p 'intrude(symbols="._ ")' "A sentence of yours"
  scuff show --as-published -p visual "A sentence of yours"

A sentence that a perturbation raises on is shown as it is, and reported.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

from .flags import add_as_published, add_skip_errors, report_failures

ROOMS = ("data.perturbing",)  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", metavar="TEXT", help="sentences; default: a few that ship with Scuff")
    parser.add_argument(
        "-p",
        "--perturbation",
        action="append",
        default=[],
        metavar="SPEC",
        help="only this one, named as for `scuff perturb`; may be repeated",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices; default 0")
    add_as_published(parser)
    add_skip_errors(parser)


def run(args: argparse.Namespace) -> None:
    from ..data.perturbing import Texts
    from ..isolation import Failures
    from ..perturbations.base import LEVELS
    from ..perturbations.languages import LanguageWarning, warn_of_language
    from ..perturbations.names import NAMES
    from ..perturbations.plan import Plan
    from ..resources import MissingResource, load

    texts = args.text or load("demo.txt").decode().splitlines()
    plans, missing = [], []
    for spec in args.perturbation or NAMES:
        try:
            plans.append(Plan.of(spec, 0.0, args.seed, None, (), args.as_published))
        except MissingResource as error:
            missing.append(error)
    warn_of_language((part for part in (plan.perturbation for plan in plans) if part.name != "embedding"), texts)
    warnings.simplefilter("ignore", LanguageWarning)  # told once for all of them
    shown, failures = Texts(texts, lambda row: repr(texts[row][:40])), Failures()
    for plan in plans:
        how = f", selection {plan.selection}" if plan.selection else ""
        print(f"\n{plan.perturbation.spec}: {plan.perturbation.facts.summary}{how}")
        for level, strength in LEVELS.items():
            new = list(texts)
            try:
                for part in shown.treated(replace(plan, level=strength)):
                    failures.extend(part.tally.failures)
                    for row, text in zip(part.rows, part.new, strict=True):
                        new[row] = str(text)
            except MissingResource as error:
                print(f"  {error}")
                break
            for line in new:
                print(f"  {level:5}{line}")
    for why in missing:
        print(f"\n{why}")
    report_failures(failures, skip=args.skip_errors)
