"""Mend a file of texts, or text in a pipe: look-alike and invisible characters, disguises, misspellings.

  scuff shield < in.txt > out.txt
  scuff shield comments.csv --column comment -o mended.csv --edits changes.jsonl --report
  scuff shield comments.csv --shield normalise -o mended.csv --protect urls --report found.json
  scuff shield comments.jsonl --detect --false-alarms 0.001 -o verdicts.jsonl

The output has the format of the input; what is not mended stays byte for byte. `a+b` is one shield after the other; see
`scuff list shields`. --detect mends nothing: it writes how likely each text was tampered with, and by what.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, TextIO

from .flags import add_input, add_skip_errors, input_of, progress_bar, report_failures, say

if TYPE_CHECKING:
    from ..shields.mending import Findings, Mending

SHOWN = 20  # characters in the table of a report


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, optional=True)
    parser.add_argument(
        "--shield", metavar="SPEC",
        help="name, name(option=value), module:Class(option=value), or a+b: see `scuff list shields`; default fast",
    )  # fmt: skip
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="file to write; default standard output")
    parser.add_argument(
        "--edits", metavar="FILE",
        help="also write what changed: JSON lines with row, column, [start, stop, old, new, kinds], of texts that changed",
    )  # fmt: skip
    parser.add_argument(
        "--report", nargs="?", const="", metavar="FILE.json",
        help="print what was found: repairs by kind, words, characters by name; or write it as JSON",
    )  # fmt: skip
    parser.add_argument(
        "--check", action="store_true",
        help="exit code 1 if a text had to be mended, or, with --detect, if one is called tampered with",
    )  # fmt: skip
    parser.add_argument(
        "--detect", action="store_true",
        help="mend nothing: write JSON lines with how likely each text was tampered with, and by what kind",
    )  # fmt: skip
    parser.add_argument(
        "--false-alarms", type=float, metavar="SHARE",
        help="of clean texts, that --detect may call tampered with; default 0.01",
    )  # fmt: skip
    parser.add_argument(
        "--protect", action="append", default=[], metavar="WHAT",
        help="text that must not change: urls, emails, mentions, hashtags, numbers, placeholders, word:..., re:...; "
        "may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--protect-spans", action="append", default=[], metavar="NAME",
        help="column of [[start, stop], ...], the spans that must not change; they are written where they are afterwards; "
        "may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--spans", action="append", default=[], metavar="NAME",
        help="column of spans that may change, as entities or SQuAD's answers: written where they then are; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--only", action="append", default=[], metavar="WHAT", help="mend only this text, named as for --protect"
    )
    add_skip_errors(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(args: argparse.Namespace) -> int:
    from ..data.formats.streams import check_outputs
    from ..data.shielding import shield_file
    from ..shields.mending import Mending

    if args.input is None and args.report:
        raise ValueError(f"expected INPUT before --report, or - for standard input, got --report {args.report} alone")
    args.input = args.input or "-"
    if args.detect:
        return _detect(args)
    if args.false_alarms is not None:
        raise ValueError("expected --detect beside --false-alarms, got none")
    mending = Mending.of(args.shield or "fast", args.protect, only=args.only, detail=args.report is not None)
    source = _input(args)
    check_outputs({"--output": args.output, "--edits": args.edits, "--report": args.report}, args.input)
    found = shield_file(source, args.output, mending, edits_to=args.edits, progress=progress_bar(args.quiet))
    if args.report is not None:
        _report(args, found, mending)
    where = "" if args.output == "-" else f" in {args.output}"
    changed = f"{found.changed_texts:,} mended ({found.repairs:,} repairs)"
    say(args.quiet, f"{found.texts:,} texts{where}, {changed}; {_signature(mending, args.protect_spans)}")
    report_failures(found.failures, skip=args.skip_errors, verb="mended")
    if args.check and found.changed_texts:
        print(f"scuff: texts that had to be mended: {found.changed_texts:,}", file=sys.stderr)
        return 1
    return 0
