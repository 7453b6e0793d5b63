"""The attacks there are, one per line."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tag", choices=("general", "malicious"), help="only those that slips make, or that evaders use"
    )
    parser.add_argument("--lang", metavar="CODE", help="only those that are right for a language, such as de")


def run(args: argparse.Namespace) -> None:
    from ..perturbations.names import NAMES

    for name, kind in NAMES.items():
        facts = kind.facts
        if (args.tag and args.tag not in facts.tags) or (
            args.lang and facts.languages and args.lang not in facts.languages
        ):
            continue
        print(f"{name:15}{facts.level:10}{'/'.join(facts.tags):19}{facts.summary}")
