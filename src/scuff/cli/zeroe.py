"""Write the Zéroe benchmark for a file: clean, every perturbation at low, mid and high, and the training mixtures of the papers.

  scuff zeroe test.csv --column text -o benchmark/

Beside the test sets {perturbation}.{level} there are {perturbation}.lmh (a third of the records at each level), no-{perturbation}
(leave-one-out: all others mixed) and all; manifest.json says what is in each, how it was made and which strength was reached.
"""

from __future__ import annotations

import argparse

from .flags import add_choice, add_input, input_of, progress_bar, report_failures, say

ROOMS = ("data.zeroe",)  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="new folder to write")
    parser.add_argument(
        "-p",
        "--perturbation",
        "-a",
        "--attack",
        action="append",
        default=[],
        metavar="SPEC",
        help="a perturbation, named as for `scuff perturb`; may be repeated; default: the ten of the paper",
    )
    add_choice(parser)


def run(args: argparse.Namespace) -> None:
    from ..data.zeroe import write_zeroe
    from ..isolation import Failures
    from ..perturbations.names import ZEROE, parse

    chosen = {parse(spec).name: spec for spec in args.perturbation or ZEROE}
    if len(chosen) < len(args.perturbation):
        raise ValueError(f"expected each perturbation once, got {', '.join(args.perturbation)}")
    failures = Failures()
    manifest = write_zeroe(
        input_of(args), args.output, chosen, seed=args.seed, selection=args.select, progress=progress_bar(args.quiet),
        failures=failures, as_published=args.as_published,
    )  # fmt: skip
    for entry in manifest["files"] if not args.quiet else ():
        if entry["set"] == "attack":
            print(
                f"{entry['attack']:15}{entry['level']:6}{entry['reached']:7.1%} of {entry['units']:,} {entry['unit']} changed"
            )
    for name, why in manifest["skipped"].items() if not args.quiet else ():
        print(f"{name:15}left out: {why}")
    say(args.quiet, f"{len(manifest['files'])} files and manifest.json in {args.output}")
    report_failures(failures, skip=args.skip_errors)
