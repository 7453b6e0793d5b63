"""The main job on the embedded model and data: RobTest's dimensions by rules and by scores, a table, and a report."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", default="scuff-demo", metavar="RUN", help="run folder; default scuff-demo")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the table")


def run(args: argparse.Namespace) -> None:
    from ..api import evaluate
    from ..evaluation.plan import light_columns
    from .evaluate import show
    from .flags import run_bar, say

    result = evaluate(
        "toy:sentiment", "toy:sentiment", args.output, say=lambda message: say(args.quiet, message),
        show=run_bar(args.quiet), examples=200, cases=10, access=["rule", "score"],
        dimensions=light_columns(),
        encoder="chrf",  # which is always there and fast
    )  # fmt: skip
    show(result)
