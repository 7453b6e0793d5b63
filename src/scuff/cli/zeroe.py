"""Write the Zéroe benchmark for a file: clean, every attack at low, mid and high, and the training mixtures of the papers.

  scuff zeroe test.csv --column text -o benchmark/

Beside the test sets {attack}.{level} there are {attack}.lmh (a third of the records at each level), no-{attack} (leave-one-out:
all other attacks mixed) and all; manifest.json tells what is in each, how it was made and which strength was really reached.
"""

from __future__ import annotations

import argparse

from .flags import add_choice, add_input, input_of, progress_bar, say


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="new folder to write")
    parser.add_argument(
        "-a", "--attack", action="append", default=[], metavar="SPEC", help="an attack; may be repeated; default: all"
    )
    add_choice(parser)


def run(args: argparse.Namespace) -> None:
    from ..data.zeroe import write_zeroe
    from ..perturbations.names import ZEROE, parse

    attacks = {attack.name: attack for attack in map(parse, args.attack or ZEROE)}
    if len(attacks) < len(args.attack):
        raise ValueError(f"expected each attack once, got {', '.join(args.attack)}")
    manifest = write_zeroe(
        input_of(args), args.output, attacks, seed=args.seed, selection=args.select, progress=progress_bar(args.quiet)
    )
    for entry in manifest["files"]:
        if entry["set"] == "attack":
            print(
                f"{entry['attack']:15}{entry['level']:6}{entry['reached']:7.1%} of {entry['units']:,} {entry['unit']} changed"
            )
    for name, why in manifest["skipped"].items():
        print(f"{name:15}left out: {why}")
    say(args.quiet, f"{len(manifest['files'])} files and manifest.json in {args.output}")
