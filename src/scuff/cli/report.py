"""Compute everything of a run again from its trials: summary.json, results.jsonl, report.html.

scuff report runs/my-run
scuff report runs/my-run --parquet trials.parquet    every case as a row, for pandas, DuckDB and the like
"""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="folder that `scuff evaluate` wrote")
    parser.add_argument("--parquet", metavar="FILE", help="also write all trials as one table (needs scuff[parquet])")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def run(args: argparse.Namespace) -> None:
    from ..session import report
    from ..session.export import write_parquet

    result = report(args.run_folder)
    if args.parquet:
        write_parquet(args.run_folder, args.parquet)
    if not args.quiet:
        print(
            f"{result}\n\nreport: {result.folder}/report.html" + (f"\ntrials: {args.parquet}" if args.parquet else "")
        )
