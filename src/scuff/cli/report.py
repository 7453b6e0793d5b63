"""Compute all files of a run again from its trials, without the model: summary.json, results.jsonl, report.html.

scuff report runs/my-run
scuff report runs/my-run --paper table.md            in the layout of its paper: RobTest, Zéroe, ToxicTrap; - prints only that
scuff report runs/my-run --parquet trials.parquet    for pandas, DuckDB and others: a row per case; of an attack, per example
"""

from __future__ import annotations

import argparse

from .flags import add_open, fitted, open_page


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="folder that `scuff evaluate` or `scuff attack` wrote")
    parser.add_argument(
        "--paper", metavar="FILE", help="also write a Markdown table in the layout of the paper; - prints only that"
    )
    parser.add_argument("--parquet", metavar="FILE", help="also write all trials as one table (needs scuff[parquet])")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    add_open(parser)


def run(args: argparse.Namespace) -> None:
    from ..api import report
    from ..data.formats.streams import replacing
    from ..reports import write_parquet

    result = report(args.run_folder)
    if args.paper:
        with replacing(args.paper) as out:
            out.write(result.paper.encode())
    if args.parquet:
        write_parquet(args.run_folder, args.parquet)
    if not args.quiet and args.paper != "-":
        written = {"report": f"{result.folder}/report.html", "paper": args.paper, "trials": args.parquet}
        print(f"{fitted(result)}\n\n" + "\n".join(f"{what}: {path}" for what, path in written.items() if path))
    open_page(args, f"{result.folder}/report.html")
