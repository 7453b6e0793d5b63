"""Perturb a file of texts.

  scuff perturb reviews.csv -p keyboard -l low -o noisy.csv --column review
  scuff perturb comments.txt -p 'intrude(symbols="._ ")' -l 0.3 --protect urls --protect word:Scuff -o out.txt
  cat texts.txt | scuff perturb - -p 'inner-shuffle|truncate' > out.txt
  scuff perturb parts/ -p keyboard -o noisy/ --workers 8      a file out for each file in, by eight processes

The output has the format of the input; what is not perturbed stays byte for byte. `a|b` takes one of them for each
word, `a+b` applies one after the other. The same command goes on after it was interrupted or killed.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from .flags import add_choice, add_engine, add_input, add_output, add_protection, report_failures, say, texts, treated

if TYPE_CHECKING:
    from ..perturbations.plan import Plan

ROOMS = ("data.perturbing", "runs.files")  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, several=True)
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
    add_output(parser)
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
    add_engine(parser)


def run(args: argparse.Namespace) -> None:
    from ..data.perturbing import open_perturbing
    from ..perturbations.plan import Plan

    if len(args.perturbation) > 1:
        both, one = "+".join(args.perturbation), "|".join(args.perturbation)
        hint = f"-p '{both}' applies one after the other, -p '{one}' one of them to each word"
        raise ValueError(f"expected one -p, got {len(args.perturbation)}: {hint}")
    make = partial(
        open_perturbing, args.perturbation[0], args.level, args.seed, args.select, args.protect, args.as_published, args.only,
        args.copies,
    )  # fmt: skip
    plan = make().work
    assert isinstance(plan, Plan), "what open_perturbing makes"
    tally = treated(args, make)
    if warning := plan.out_of_reach(tally):
        say(args.quiet, f"warning: {warning}")
    where = "" if args.output == "-" else f" in {args.output}"
    changed = f"{tally.changed_units:,} of {tally.units:,} {plan.perturbation.facts.unit} changed ({tally.reached:.1%})"
    say(args.quiet, f"{texts(tally.texts)}{where}, {changed}; {_signature(plan, args.protect_spans)}")
    report_failures(tally.failures, skip=args.skip_errors)


def _signature(plan: Plan, columns: list[str]) -> str:
    """Returns the signature of a plan, with the columns of protected spans, which a plan does not know."""
    what = ",".join(plan.protect.what)
    kept = ",".join([*plan.protect.what, *(f"spans:{column}" for column in columns)])
    return f"{plan.signature.removesuffix(what or 'nothing')}{kept or 'nothing'}"
