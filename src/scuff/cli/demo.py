"""Evaluate the embedded model on the embedded data, in RobTest's dimensions with the accesses rule and score.

Prints a table and writes a run folder with a report.
"""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", default="scuff-demo", metavar="RUN", help="run folder; default scuff-demo")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the table")


def run(args: argparse.Namespace) -> None:
    from ..api import evaluate
    from ..evaluation.plan import light_columns
    from .evaluate import show
    from .flags import run_bar, say

    result = evaluate(
        "toy:sentiment", "toy:sentiment", args.output, say=lambda message: say(args.quiet, message),
        show=run_bar(args.quiet), examples=200, cases=10, access=["rule", "score"],
        dimensions=light_columns(),
        encoder="chrf",  # fast, and needs no package
    )  # fmt: skip
    show(result)
