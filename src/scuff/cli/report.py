"""Compute everything of a run again from its trials: summary.json, results.jsonl, report.html.

scuff report runs/my-run
scuff report runs/my-run --paper table.md            the scores in the layout of the RobTest paper; - prints them
scuff report runs/my-run --parquet trials.parquet    every case as a row, for pandas, DuckDB and the like
"""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="folder that `scuff evaluate` wrote")
    parser.add_argument(
        "--paper",
        metavar="FILE",
        help="also write the scores as a Markdown table in RobTest's layout; - prints only that",
    )
    parser.add_argument("--parquet", metavar="FILE", help="also write all trials as one table (needs scuff[parquet])")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def run(args: argparse.Namespace) -> None:
    from ..files.streams import replacing
    from ..report import paper_table
    from ..session import report
    from ..session.export import write_parquet

    result = report(args.run_folder)
    if args.paper:
        with replacing(args.paper) as out:
            out.write(paper_table(result.summary).encode())
    if args.parquet:
        write_parquet(args.run_folder, args.parquet)
    if not args.quiet and args.paper != "-":
        written = {"report": f"{result.folder}/report.html", "paper": args.paper, "trials": args.parquet}
        print(f"{result}\n\n" + "\n".join(f"{what}: {path}" for what, path in written.items() if path))
