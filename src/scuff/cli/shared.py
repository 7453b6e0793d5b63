"""Arguments and messages that several commands share."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..files import Input
    from ..files.streams import Source
    from ..perturb import Tally
    from ..run import Progress


def add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT", help="file to read; - for standard input; .gz is unpacked")
    group = parser.add_argument_group("what the file holds")
    group.add_argument(
        "--format",
        help="lines, whole, csv, tsv, jsonl, parquet, conllu or tokens; default: by the file's name, else a text per line",
    )
    group.add_argument("--whole", action="store_true", help="the whole file is one text (--format whole)")
    group.add_argument(
        "-c", "--column", action="append", default=[], metavar="NAME",
        help="column of texts or token lists; may be repeated; default: guessed",
    )  # fmt: skip
    group.add_argument(
        "--id", metavar="NAME", help="column that names each record: equal texts then get different noise"
    )


def add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="another seed, another result; default 0")
    parser.add_argument(
        "--select", metavar="HOW", help="quota (default), coin, each, below or edits: `scuff describe` explains"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")


def input_of(args: argparse.Namespace) -> Input:
    from ..files import Input

    spans = getattr(args, "protect_spans", None)
    return Input(args.input, "whole" if args.whole else args.format, args.column, args.id, spans)


def progress_bar(quiet: bool) -> Callable[[Source, Tally], None] | None:
    """A line on stderr, only at a terminal, a few times a second."""
    if quiet or not sys.stderr.isatty():
        return None
    last = 0.0

    def show(source: Source, tally: Tally) -> None:
        nonlocal last
        done = source.done()
        if time.monotonic() - last > 0.2 or done == 1:
            last = time.monotonic()
            share = f"{done:4.0%}  " if done is not None else ""
            print(f"\r{share}{tally.texts:,} texts", end="" if done != 1 else "\r\033[K", file=sys.stderr, flush=True)

    return show


def run_bar(quiet: bool) -> Callable[[Progress], None] | None:
    """How many blocks of a run are done, on stderr, only at a terminal."""
    if quiet or not sys.stderr.isatty():
        return None

    def show(progress: Progress) -> None:
        end = "" if progress.done < progress.total else "\r\033[K"
        left = f"{progress.seconds_left:.0f} s left"
        print(f"\r\033[K{progress.done} of {progress.total} blocks, {left}", end=end, file=sys.stderr, flush=True)

    return show


def say(quiet: bool, message: str) -> None:
    if not quiet:
        print(message, file=sys.stderr)
