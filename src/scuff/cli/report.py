"""Compute all files of a run again from its trials, without the model: summary.json, results.jsonl, report.html.

  scuff report runs/my-run
  scuff report s3://bucket/my-run --html page.html        a run in a bucket; its page also as a file here
  scuff report runs/my-run --markdown -                   the verdict, the table and the command, for a pull request or a wiki
  scuff report runs/my-run --latex table.tex              in the layout of its paper (RobTest, Zéroe, ToxicTrap), with booktabs
  scuff report runs/my-run --csv table.csv --paper table.md      the same as CSV with intervals, as Markdown
  scuff report runs/my-run --svg charts --png charts      every chart as a file of its own
  scuff report runs/my-run --model-card README.md         for the Hugging Face Hub, with a model-index
  scuff report runs/my-run --parquet trials.parquet       for pandas, DuckDB and others: a row per case; of an attack, per example

Each FILE may be -, once: then it alone is printed.
"""

from __future__ import annotations

import argparse

from .flags import add_open, fitted, open_page

FLAGS = {
    "--html": ("FILE", "also write the page to this file"),
    "--markdown": ("FILE", "also write the verdict, the table and the command as Markdown"),
    "--paper": ("FILE", "also write a Markdown table in the layout of the paper; - prints only that"),
    "--csv": ("FILE", "also write that table as CSV, with intervals"),
    "--latex": ("FILE", "also write that table as LaTeX, with booktabs"),
    "--svg": ("FOLDER", "also write every chart as SVG"),
    "--png": ("FOLDER", "also write every chart as PNG (needs scuff[png])"),
    "--model-card": ("FILE", "also write a card for the Hugging Face Hub, with a model-index"),
    "--parquet": ("FILE", "also write all trials as one table (needs scuff[parquet])"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="folder that `scuff evaluate` or `scuff attack` wrote")
    for flag, (metavar, words) in FLAGS.items():
        parser.add_argument(flag, metavar=metavar, help=words)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    add_open(parser)


def run(args: argparse.Namespace) -> None:
    from ..api import report

    result = report(args.run_folder)
    names = [flag[2:].replace("-", "_") for flag in FLAGS]
    files = {name: getattr(args, name) for name in names if getattr(args, name)}
    written = {"report": f"{result.folder}/report.html", **result.export(**files)}
    if not args.quiet and "-" not in files.values():
        shown = {"trials" if name == "parquet" else name.replace("_", " "): path for name, path in written.items()}
        print(f"{fitted(result)}\n\n" + "\n".join(f"{what}: {path}" for what, path in shown.items()))
    open_page(args, args.html if args.html and args.html != "-" else f"{result.folder}/report.html")
