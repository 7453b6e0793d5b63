"""Write training data with perturbed copies in it: labels and all other columns stay, no copy is above the degree.

  scuff augment train.csv --dimensions typo-g keyboard --degree 0.1 -o augmented.csv      one copy of each example
  scuff augment train.jsonl --ratio 2:1 --protect urls -o augmented.jsonl                 two clean examples for each copy
  scuff augment nli.tsv --side both --dimensions typo-m --copies 3 --share 0.5 -o augmented.tsv
  scuff augment train.conllu --each --only-perturbed --dimensions keyboard phonetic -o noisy.conllu
  scuff augment train.csv --mixture 'leave-one-out(visual)' --only-perturbed -o noisy.csv  equal parts of nine perturbations

The output has the format of the input, each example followed by its copies: shuffle before training. Each copy is perturbed by
one dimension; if that cannot change the text within the degree, by the next. No copy equals an example or another copy. With
--mixture and --only-perturbed each example is there once, changed or not, so that all parts of the mixture are equal. Several
files are one data set. The same command goes on after it was interrupted or killed.
"""

from __future__ import annotations

import argparse
from functools import partial

from .flags import add_engine, add_output, add_settings, engine_of, given_settings, progress_bar, report_failures, say


def arguments(parser: argparse.ArgumentParser) -> None:
    from ..training.augmentation import Augmentation

    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        help="a file (csv, tsv, jsonl, json, parquet, conllu, tokens; .gz), several, a folder or a pattern of files; Hugging "
        "Face data, toy:..., -",
    )
    add_output(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    add_settings(parser, Augmentation, "the copies")
    add_engine(parser)


def run(args: argparse.Namespace) -> None:
    from ..data.partitions import partitions
    from ..data.records import are_files, input_file
    from ..training.augmentation import Augmentation
    from ..training.files import augment_files

    augmentation, bar = Augmentation(**given_settings(args, Augmentation)), progress_bar(args.quiet)
    if are_files(args.data):
        files = partitions(args.data, args.output, None, partial(input_file, columns=augmentation.described))
        made = augment_files(
            augmentation, files, output=args.output, engine=engine_of(args), progress=bar, say=partial(say, args.quiet)
        )
    else:
        made = augmentation.write(args.data[0], args.output, bar)
    where = "" if args.output == "-" else f"{args.output}: "
    say(args.quiet, f"{where}{made}; {made.signature}")
    if made.left_out:
        say(args.quiet, "left out: " + ", ".join(f"{name} ({why})" for name, why in made.left_out.items()))
    if made.unchanged > made.wanted / 2 and args.mixture is None:
        say(
            args.quiet,
            "most texts are too short to change within this degree: a higher one, or NAME@edits, changes more",
        )
    report_failures(made.failures, skip=bool(args.skip_errors), what="get no copies")
