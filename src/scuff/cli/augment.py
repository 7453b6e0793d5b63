"""Write training data with perturbed copies in it: labels and all other columns stay, no copy is above the degree.

  scuff augment train.csv --dimensions typo-g keyboard --degree 0.1 -o augmented.csv      one copy of each example
  scuff augment train.jsonl --ratio 2:1 --protect urls -o augmented.jsonl                 two clean examples for each copy
  scuff augment nli.tsv --side both --dimensions typo-m --copies 3 --share 0.5 -o augmented.tsv
  scuff augment train.conllu --each --only-perturbed --dimensions keyboard phonetic -o noisy.conllu

The output has the format of the input, each example followed by its copies: shuffle before training. Each copy is perturbed by
one dimension; if that cannot change the text within the degree, by the next. No copy equals an example or another copy.
"""

from __future__ import annotations

import argparse

from .flags import progress_bar, say


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a file (csv, tsv, jsonl, parquet, conllu, tokens; .gz), Hugging Face data, toy:..., -",
    )
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="file to write; default standard output")
    parser.add_argument(
        "--dimensions", nargs="+", default=(), metavar="DIMENSION",
        help="as for `scuff evaluate`; default: all of RobTest's that can run",
    )  # fmt: skip
    parser.add_argument(
        "--tag",
        choices=("general", "malicious"),
        help="only dimensions of changes that anyone makes (general), or that evaders make (malicious)",
    )
    parser.add_argument("--mlm", metavar="MODEL", help="masked language model for contextual, as for `scuff evaluate`")
    parser.add_argument(
        "--encoder", metavar="MODEL", help="measures the degree of syntax and distraction, as for `scuff evaluate`"
    )
    parser.add_argument(
        "--degree", type=float, default=0.1, metavar="D", help="how far copies may be from their originals; default 0.1"
    )
    group = parser.add_argument_group("how much")
    group.add_argument("--copies", type=int, metavar="N", help="perturbed copies of an example; default 1")
    group.add_argument(
        "--share", type=float, metavar="S", help="share of the examples that get copies; default 1, which is all"
    )
    group.add_argument(
        "--ratio", metavar="C:P", help="clean to perturbed examples, such as 2:1, in place of --copies and --share"
    )
    group.add_argument("--each", action="store_true", help="make so many copies by each dimension, not by one of them")
    group.add_argument("--only-perturbed", action="store_true", help="leave the clean examples out")
    parser.add_argument(
        "--trace", action="store_true",
        help="add the columns scuff_dimension, scuff_degree (reached) and scuff_source (the example's id or number from 0)",
    )  # fmt: skip
    parser.add_argument(
        "--protect", action="append", default=[], metavar="WHAT",
        help="text that must not change, named as for `scuff perturb`; may be repeated",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices; default 0")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    group = parser.add_argument_group("the data")
    group.add_argument(
        "--text", action="append", default=[], metavar="COLUMN", help="column of texts; twice for sentence pairs"
    )
    group.add_argument(
        "--id", metavar="COLUMN", help="column that names each example: equal texts then get different copies"
    )
    group.add_argument(
        "--side", choices=("first", "second", "both"), default="first",
        help="which text of a pair to perturb; default first",
    )  # fmt: skip
    group.add_argument("--format", help="csv, tsv, jsonl, parquet, conllu or tokens; default: by the file's name")
    group.add_argument("--split", help="split of a Hugging Face data set or of toy:...; default train")


def run(args: argparse.Namespace) -> None:
    from dataclasses import fields

    from ..training.augmentation import Augmentation

    options = {field.name: getattr(args, field.name) for field in fields(Augmentation)}
    made = Augmentation(**options).write(args.data, args.output, progress_bar(args.quiet))
    where = "" if args.output == "-" else f"{args.output}: "
    say(args.quiet, f"{where}{made}; {made.signature}")
    if made.left_out:
        say(args.quiet, "left out: " + ", ".join(f"{name} ({why})" for name, why in made.left_out.items()))
    if made.unchanged > made.wanted / 2:
        say(
            args.quiet,
            "most texts are too short to change within this degree: a higher one, or NAME@edits, changes more",
        )
