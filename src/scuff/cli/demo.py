"""Evaluate the embedded model on the embedded data, in RobTest's dimensions with the accesses rule and score.

Prints a verdict and a table, and writes a run folder with a report. --harden: trains it anew on perturbed copies of its
training data, and shows what was won and lost on the same cases.
"""

from __future__ import annotations

import argparse

from .flags import add_open, run_bar, say, sayer


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="RUN", help="folder; default scuff-demo, with --harden scuff-demo-hardened"
    )
    parser.add_argument(
        "--harden",
        action="store_true",
        help="harden the model instead: a folder with the model, both runs and a comparison",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only verdict and table")
    add_open(parser)


def run(args: argparse.Namespace) -> None:
    if args.harden:
        return _harden(args)
    from ..api import evaluate
    from ..evaluation.plan import light_columns
    from .evaluate import show

    result = evaluate(
        "toy:sentiment", "toy:sentiment", args.output or "scuff-demo", say=lambda message: say(args.quiet, message),
        show=run_bar(args.quiet), examples=200, cases=10, access=["rule", "score"],
        dimensions=light_columns(),
        encoder="chrf",  # fast, and needs no package
    )  # fmt: skip
    return show(args, result)


def _harden(args: argparse.Namespace) -> None:
    from ..api import harden
    from .harden import show

    output = args.output or "scuff-demo-hardened"
    result = harden(
        "toy:sentiment", "toy:sentiment", output, methods="augment", say=sayer(args), show=run_bar(args.quiet), examples=300,
        command=f"scuff demo --harden -o {output}", encoder="chrf",
    )  # fmt: skip
    show(args, result)
