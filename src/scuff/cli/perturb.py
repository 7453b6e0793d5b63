"""Perturb a file of texts.

  scuff perturb reviews.csv -a keyboard -l low -o noisy.csv --column review
  scuff perturb comments.txt -a 'intrude(symbols="._ ")' -l 0.3 --protect urls --protect word:Scuff -o out.txt
  cat texts.txt | scuff perturb - -a 'inner-shuffle|truncate' > out.txt

The output has the format of the input; what is not perturbed stays byte for byte. `a|b` takes one of the attacks for each
word, `a+b` one after the other.
"""

from __future__ import annotations

import argparse

from .flags import add_choice, add_input, input_of, progress_bar, say


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    parser.add_argument(
        "-a", "--attack", required=True, metavar="SPEC", help="name or name(option=value): see `scuff list`"
    )
    parser.add_argument(
        "-l", "--level", default="mid",
        help="the share of words to attack: low (0.2), mid (0.5, default), high (0.8) or a number in [0, 1]",
    )  # fmt: skip
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="file to write; default standard output")
    add_choice(parser)
    parser.add_argument(
        "--draws", type=int, default=1, metavar="N", help="N versions of each text, one after the other"
    )
    parser.add_argument(
        "--edits", metavar="FILE", help="write what changed: JSON lines with row, draw, [start, stop, old, new]"
    )
    parser.add_argument(
        "--protect", action="append", default=[], metavar="WHAT",
        help="leave alone: urls, emails, mentions, hashtags, numbers, placeholders, word:..., re:...; may be repeated",
    )  # fmt: skip
    parser.add_argument("--protect-spans", metavar="NAME", help="column of [[start, stop], ...] to leave alone")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WHAT", help="attack only this, named as for --protect"
    )


def run(args: argparse.Namespace) -> None:
    from ..data.perturbing import perturb_file
    from ..perturbations.combine import only
    from ..perturbations.names import parse
    from ..perturbations.plan import Plan

    attack = parse(args.attack)
    if args.only:
        attack = only(attack, tuple(args.only))
    plan = Plan.of(attack, args.level, args.seed, args.select, args.protect)
    tally = perturb_file(
        input_of(args), args.output, plan, copies=args.draws, edits_to=args.edits, progress=progress_bar(args.quiet)
    )
    where = "" if args.output == "-" else f" in {args.output}"
    changed = f"{tally.changed_units:,} of {tally.units:,} {attack.facts.unit} changed ({tally.reached:.1%})"
    say(args.quiet, f"{tally.texts:,} texts{where}, {changed}; {plan.signature}")
