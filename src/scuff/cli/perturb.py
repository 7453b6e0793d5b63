"""Perturb a file of texts.

  scuff perturb reviews.csv -p keyboard -l low -o noisy.csv --column review
  scuff perturb comments.txt -p 'intrude(symbols="._ ")' -l 0.3 --protect urls --protect word:Scuff -o out.txt
  cat texts.txt | scuff perturb - -p 'inner-shuffle|truncate' > out.txt

The output has the format of the input; what is not perturbed stays byte for byte. `a|b` takes one of them for each
word, `a+b` applies one after the other.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from .flags import add_choice, add_input, add_protection, input_of, progress_bar, report_failures, say

if TYPE_CHECKING:
    from ..perturbations.plan import Plan

ROOMS = ("data.perturbing",)  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    parser.add_argument(
        "-p",
        "--perturbation",
        "-a",
        "--attack",
        required=True,
        action="append",
        metavar="SPEC",
        help="name, name(option=value) or module:Class(option=value): see `scuff list`; a+b or a|b for two",
    )
    parser.add_argument(
        "-l", "--level", default="mid",
        help="the share of words to change (visual: characters, segment: gaps; `scuff describe` says which): low (0.2), "
        "mid (0.5, default), high (0.8) or a number in [0, 1]",
    )  # fmt: skip
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="file to write; default standard output")
    add_choice(parser)
    parser.add_argument(
        "--copies",
        "--draws",
        type=int,
        default=1,
        metavar="N",
        help="N perturbed copies of each text, one after the other",
    )
    parser.add_argument(
        "--edits", metavar="FILE", help="also write the edits: JSON lines with row, draw, [start, stop, old, new]"
    )
    add_protection(parser)


def run(args: argparse.Namespace) -> None:
    from ..data.perturbing import perturb_file
    from ..perturbations.combine import only
    from ..perturbations.plan import Plan

    if len(args.perturbation) > 1:
        both, one = "+".join(args.perturbation), "|".join(args.perturbation)
        hint = f"-p '{both}' applies one after the other, -p '{one}' one of them to each word"
        raise ValueError(f"expected one -p, got {len(args.perturbation)}: {hint}")
    plan = Plan.of(args.perturbation[0], args.level, args.seed, args.select, args.protect, args.as_published)
    if args.only:
        plan = replace(plan, perturbation=only(plan.perturbation, tuple(args.only)))
    tally = perturb_file(
        input_of(args), args.output, plan, copies=args.copies, edits_to=args.edits, progress=progress_bar(args.quiet)
    )
    if warning := plan.out_of_reach(tally):
        say(args.quiet, f"warning: {warning}")
    where = "" if args.output == "-" else f" in {args.output}"
    changed = f"{tally.changed_units:,} of {tally.units:,} {plan.perturbation.facts.unit} changed ({tally.reached:.1%})"
    say(args.quiet, f"{tally.texts:,} texts{where}, {changed}; {_signature(plan, args.protect_spans)}")
    report_failures(tally.failures, skip=args.skip_errors)


def _signature(plan: Plan, columns: list[str]) -> str:
    """Returns the signature of a plan, with the columns of protected spans, which a plan does not know."""
    what = ",".join(plan.protect.what)
    kept = ",".join([*plan.protect.what, *(f"spans:{column}" for column in columns)])
    return f"{plan.signature.removesuffix(what or 'nothing')}{kept or 'nothing'}"
