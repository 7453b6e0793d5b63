"""Mend a file of texts, or text in a pipe: look-alike and invisible characters, disguises, misspellings.

  scuff shield < in.txt > out.txt
  scuff shield comments.csv --column comment -o mended.csv --edits changes.jsonl --report
  scuff shield comments.csv --shield normalise -o mended.csv --protect urls --report found.json
  scuff shield comments.jsonl --detect --false-alarms 0.001 -o detected.jsonl
  scuff shield parts/ -o mended/ --workers 8                  a file out for each file in, by eight processes

The output has the format of the input; what is not mended stays byte for byte. `a+b` is one shield after the other; see
`scuff list shields`. --detect mends nothing: it writes how likely each text was tampered with, and by what.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from .flags import (
    add_engine,
    add_input,
    add_output,
    add_protection,
    add_skip_errors,
    report_failures,
    say,
    texts,
    treated,
)

if TYPE_CHECKING:
    from ..shields.mending import Mending

SHOWN = 20  # characters in the table of a report

ROOMS = ("data.shielding", "runs.files")  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, piped=True, several=True)
    parser.add_argument(
        "--shield", metavar="SPEC",
        help="name, name(option=value), module:Class(option=value), or a+b: see `scuff list shields`; default fast",
    )  # fmt: skip
    add_output(parser)
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
        help="of clean texts, that --detect may call tampered with: 0.001, 0.01 (default) or 0.05",
    )  # fmt: skip
    add_protection(parser, "mend")
    add_skip_errors(parser, "mended")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    add_engine(parser)


def run(args: argparse.Namespace) -> None:
    from ..judging.outputs import check_outputs

    if not args.input and args.report:
        raise ValueError(f"expected INPUT before --report, or - for standard input, got --report {args.report} alone")
    if not args.input and sys.stdin and sys.stdin.isatty():
        say(args.quiet, "reading texts from the terminal, a line each; Ctrl-D ends them")
    args.input = args.input or ["-"]
    outputs = {"--output": args.output, "--edits": args.edits, "--report": args.report or None}
    check_outputs(outputs, [path for path in args.input if path != "-"])
    if args.detect:
        _detect(args)
    else:
        _mend(args)


def _mend(args: argparse.Namespace) -> None:
    from ..data.formats.streams import replacing
    from ..data.shielding import open_mending
    from ..shields.mending import Mending
    from ..shields.names import DEFAULT

    if args.false_alarms is not None:
        raise ValueError(f"expected --false-alarms beside --detect, got --false-alarms {args.false_alarms:g} alone")
    shield = DEFAULT if args.shield is None else args.shield
    make = partial(open_mending, shield, args.protect, args.only, args.report is not None)
    mending = make().work
    assert isinstance(mending, Mending), "what open_mending makes"
    with replacing(args.report, *args.input) if args.report else nullcontext() as report:
        found = treated(args, make)
        content = {"signature": _signature(mending, args.protect_spans), **found.summary()}
        if report:
            report.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    if args.report == "":
        _print_report(content, sys.stderr if args.output == "-" else sys.stdout)
    where = "" if args.output == "-" else f" in {args.output}"
    changed = f"{found.changed_texts:,} mended by {found.repairs:,} repairs"
    say(args.quiet, f"{texts(found.texts)}{where}, {changed}; {content['signature']}")
    report_failures(found.failures, skip=args.skip_errors, verb="mended")
    _gate(args, found.changed_texts, "had to be mended")


def _detect(args: argparse.Namespace) -> None:
    from ..data.shielding import open_telling

    for flag in ("shield", "edits", "report", "protect", "protect_spans", "spans", "only"):
        if getattr(args, flag) not in (None, []):
            raise ValueError(f"expected --detect without --{flag.replace('_', '-')}, got both: it mends nothing")
    make = partial(open_telling, args.false_alarms)
    found = treated(args, make)
    where = "" if args.output == "-" else f" in {args.output}"
    say(
        args.quiet,
        f"{texts(found.texts)}{where}, {found.changed_texts:,} called tampered with; {make().work.signature}",
    )
    report_failures(found.failures, skip=args.skip_errors, what="have no answer", verb="read")
    _gate(args, found.changed_texts, "are called tampered with")


def _gate(args: argparse.Namespace, count: int, what: str) -> None:
    """Ends the program with exit code 1 if texts were found that --check does not allow."""
    if args.check and count:
        print(f"scuff: texts that {what}: {count:,}", file=sys.stderr)
        sys.exit(1)


def _signature(mending: Mending, columns: list[str]) -> str:
    """Returns the signature of a shield, with the columns of protected spans, which it does not know."""
    return mending.signature + "".join(f"|protect-spans:{column}" for column in columns)


def _print_report(content: dict[str, Any], to: TextIO) -> None:
    """Prints what was found: a line for each kind with words before and after, and characters by name."""
    kinds, characters = content["kinds"], content["characters"]
    if kinds:
        width = max(4, *map(len, kinds))
        print(f"{'kind':{width}} {'repairs':>9} {'texts':>9}  examples", file=to)
        for kind, row in kinds.items():
            pairs = ", ".join(f"{visible(old)} → {visible(new)}" for old, new in row["examples"])
            print(f"{kind:{width}} {row['repairs']:>9,} {row['texts']:>9,}  {pairs}", file=to)
    if characters:
        print(f"\n{'count':>{9}}  character that was replaced or removed", file=to)
        for each in characters[:SHOWN]:
            print(f"{each['count']:>9,}  {_alone(each['character'])} {each['code']} {each['name']}", file=to)
        if rest := characters[SHOWN:]:
            print(f"{sum(each['count'] for each in rest):>9,}  {len(rest):,} other characters", file=to)
    if not kinds:
        print("nothing was found", file=to)


def visible(text: str) -> str:
    """Returns a text with characters that cannot be seen as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _alone(char: str) -> str:
    """Returns a character as it can stand alone: a mark on a circle, a blank for what cannot be seen."""
    if unicodedata.category(char).startswith("M"):
        return f"\u25cc{char}"
    return char if char.isprintable() else " "
