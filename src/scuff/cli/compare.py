"""Compare runs: models side by side, one over time, or before and after a shield or a training.

  scuff compare BASE LARGE                           differences with paired intervals and p, the first run is what others are
  scuff compare BASE LARGE -o comparison             compared with; writes comparison.html, .json, .csv and .md
  scuff compare runs/* --order date --html out.html  the oldest first: a table and a trend
  scuff compare OLD NEW --fail-if-worse              exit code 1 if NEW is surely worse in something

All runs are of `scuff evaluate`, or all of `scuff attack`. They must differ in nothing but the model: data, dimensions, degrees,
cases, seed and, of attacks, the recipe are the same. If not, it says what differs; --anyway compares what is common, and marks
numbers that are not paired.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .flags import add_open, open_page
from .terminal import window

if TYPE_CHECKING:
    from ..reports.comparison_result import Comparison

WIDE = 130  # letters of a line where there is no terminal, and at most


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folders that `scuff evaluate` or `scuff attack` wrote")
    parser.add_argument("--names", nargs="+", metavar="NAME", help="what to call the runs, one name each")
    parser.add_argument(
        "--order", choices=("given", "date"), default="given", help="date: the run that was started first is the first"
    )
    parser.add_argument("--anyway", action="store_true", help="compare what is common to runs that differ")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write the page and all files below into a folder")
    for name, what in (
        ("html", "the page"),
        ("json", "every number"),
        ("csv", "a row for each score"),
        ("markdown", "tables"),
    ):
        parser.add_argument(f"--{name}", metavar="FILE", help=f"write {what}; - for standard output")
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit code 1 if a run is surely worse in something"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    add_open(parser)


def run(args: argparse.Namespace) -> None:
    from ..api import compare
    from ..runs.comparable import Differing

    page = args.html if args.html and args.html != "-" else f"{args.output}/comparison.html" if args.output else ""
    if args.open and not page:
        raise ValueError("expected --html FILE or -o FOLDER with --open, got neither: there is no page to open")
    try:
        found = compare(*args.runs, names=args.names, anyway=args.anyway, order=args.order)
    except Differing as error:
        for line in error.lines:
            print(f"scuff: differs: {line}", file=sys.stderr)
        raise ValueError(error.short) from None
    written = _write(args, found)
    if not args.quiet and "-" not in (args.html, args.json, args.csv, args.markdown):
        print("\n".join([found.table(min(window() or WIDE, WIDE)), *(["", *written] if written else [])]))
    open_page(args, page)
    if args.fail_if_worse and found.worse:
        for line in found.worse:
            print(f"FAIL {line}", file=sys.stderr)
        sys.exit(1)


def _write(args: argparse.Namespace, found: Comparison) -> list[str]:
    """Writes the files that were asked for. Returns a line for each."""
    from ..data.formats.streams import replacing
    from ..stores import on_this_disk

    files = {"html": args.html, "json": args.json, "csv": args.csv, "markdown": args.markdown}
    targets = [(kind, path) for kind, path in files.items() if path]
    if args.output:
        endings = {"html": "html", "json": "json", "csv": "csv", "markdown": "md"}
        folder = on_this_disk(args.output, "--output")
        targets += [(kind, str(folder / f"comparison.{ending}")) for kind, ending in endings.items()]
    contents = {kind: getattr(found, kind).encode("utf-8", "backslashreplace") for kind, _ in targets}
    if args.output:
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"expected a folder for --output, got a file: {args.output}")
        folder.mkdir(parents=True, exist_ok=True)
    for kind, path in targets:
        with replacing(path) as out:
            out.write(contents[kind])
    return [f"{'page' if kind == 'html' else kind}: {path}" for kind, path in targets if path != "-"]
