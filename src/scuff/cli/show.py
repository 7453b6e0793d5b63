"""Show every perturbation on a few sentences, at the three levels low, mid and high."""

from __future__ import annotations

import argparse
import warnings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", metavar="TEXT", help="sentences; default: a few that ship with Scuff")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices; default 0")


def run(args: argparse.Namespace) -> None:
    from ..api import perturb
    from ..perturbations.base import LEVELS
    from ..perturbations.languages import LanguageWarning, warn_of_language
    from ..perturbations.names import NAMES, parse
    from ..resources import MissingResource, load

    texts = args.text or load("demo.txt").decode().splitlines()
    warn_of_language((parse(name) for name in NAMES if name != "embedding"), texts)
    warnings.simplefilter("ignore", LanguageWarning)  # told once for all of them
    for name in NAMES:
        print(f"\n{name}: {NAMES[name].facts.summary}")
        for level in LEVELS:
            try:
                for line in perturb(texts, name, level, seed=args.seed):
                    print(f"  {level:5}{line}")
            except MissingResource as missing:
                print(f"  {missing}")
                break
