"""Measure how a model copes with perturbed texts: scores with intervals, and a run folder with every case.

  scuff evaluate my_model.py:predict reviews.csv                    a Python function: list of texts in, labels or scores out
  scuff evaluate ./my-bert reviews.csv --dimensions keyboard visual  a Hugging Face folder or id
  scuff evaluate https://example.org/predict data.jsonl --with 'answer="predictions.*.label"'
  scuff evaluate chat:https://example.org/v1#some-model data.csv --labels negative positive
  scuff evaluate data.csv --write-cases cases.jsonl                 ask anyone, then
  scuff evaluate data.csv --predictions answered.jsonl

The same command, or --resume RUN, goes on with a run that was interrupted. A pre-flight shows two examples, the clean score
and the costs; --dry-run stops there. DIMENSION is one of RobTest's: typo-m typo-g glyph-m glyph-g phonetic-m phonetic-g synonym
contextual inflection syntax distraction (-m malicious, -g general); or any attack (`scuff list`): `keyboard` changes a share of
the words, `keyboard@edits` a share of the characters, `keyboard@level` follows the attack's own levels. `scuff guide` helps to
choose.
"""

from __future__ import annotations

import argparse
import ast
from typing import TYPE_CHECKING, Any

from .measured import measured_arguments
from .shared import run_bar, say

if TYPE_CHECKING:
    from ..session import Result


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="*", metavar="MODEL DATA", help="what to ask and what about; see above")
    parser.add_argument(
        "-o", "--output", metavar="RUN", help="run folder; default: runs/ and a name made of all settings"
    )
    parser.add_argument("--resume", metavar="RUN", help="go on with this run, with its own settings")
    parser.add_argument("--config", metavar="FILE", help="settings in YAML or TOML, named as the flags; flags win")
    parser.add_argument("--dry-run", action="store_true", help="stop after the pre-flight")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the table")
    measured_arguments(parser.add_argument_group("what is measured"))
    _data(parser.add_argument_group("the data"))
    _model(parser.add_argument_group("the model"))


def _data(group: Any) -> None:
    group.add_argument(
        "--examples", type=int, metavar="N", help="how many, sampled in the shares of the labels; default 500"
    )
    group.add_argument("--text", action="append", metavar="COLUMN", help="column of texts; twice for sentence pairs")
    group.add_argument(
        "--label",
        action="append",
        metavar="COLUMN",
        help="column of labels, tags or translations; repeated: a 0/1 column each",
    )
    group.add_argument("--id", metavar="COLUMN", help="column that names each example")
    group.add_argument(
        "--task", choices=("single", "multi", "tokens", "text"), help="default: by what the columns hold"
    )
    group.add_argument(
        "--side", choices=("first", "second", "both"), help="which text of a pair to perturb; default first"
    )
    group.add_argument("--format", help="csv, tsv, jsonl, parquet, conllu or tokens; default: by the file's name")
    group.add_argument("--split", help="of a Hugging Face data set; default test, else validation")
    group.add_argument(
        "--write-cases", metavar="FILE", help="write all texts that would be asked as JSON lines, and stop"
    )


def _model(group: Any) -> None:
    group.add_argument("--labels", nargs="+", metavar="NAME", help="names of the model's labels, in its order")
    group.add_argument(
        "--map", nargs="+", metavar="DATA=MODEL", help="labels of the data that the model calls otherwise"
    )
    group.add_argument("--none", metavar="NAME", help="the model's label for texts without any other (label sets)")
    group.add_argument("--predictions", nargs="+", metavar="FILE", help="answers collected before, instead of a model")
    group.add_argument(
        "--with",
        nargs="+",
        dest="options",
        metavar="KEY=VALUE",
        help="options of the model, e.g. device=cpu, timeout=5",
    )
    group.add_argument("--workers", type=int, metavar="N", help="processes; default 1")
    group.add_argument("--cache", metavar="FILE", help="keep the model's answers in this file, for all runs")
    group.add_argument(
        "--max-errors", metavar="N", help="stop after so many errors, or a share such as 5%%; default 100"
    )
    group.add_argument(
        "--max-queries", type=int, metavar="N", help="fewer cases per cell, so that no more than N are asked"
    )


def run(args: argparse.Namespace) -> None:
    from ..session import dry_run, evaluate, read_config, resume
    from ..session.cases import write_cases

    if args.resume:
        changes = flags(args)
        if args.what or args.output or args.config or set(changes) - {"workers", "max_errors", "cache"}:
            raise ValueError(
                "expected --resume RUN alone, or with --workers, --max-errors or --cache, got other settings beside it"
            )
        return show(resume(args.resume, say=_listen(args), show=run_bar(args.quiet), **changes))
    settings = read_config(args.config) if args.config else {}
    model, data, output = (settings.pop(name, None) for name in ("model", "data", "output"))
    settings |= flags(args)
    model, data = _named(args, model, data, settings)
    if args.write_cases:
        count = write_cases(data, args.write_cases, **settings)
        return say(
            args.quiet,
            f"{count:,} texts in {args.write_cases}: put each answer into a field `prediction`, then --predictions",
        )
    if args.dry_run:
        return dry_run(model, data, say=_listen(args), **settings)
    result = evaluate(
        model, data, args.output or output or "runs", named=not (args.output or output),
        say=_listen(args), show=run_bar(args.quiet), **settings,
    )  # fmt: skip
    return show(result)


def show(result: Result) -> None:
    print(f"\n{result}\n\nreport: {result.folder}/report.html")


def flags(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given, with pairs taken apart."""
    from dataclasses import fields

    from ..session import Config

    given: dict[str, Any] = {field.name: getattr(args, field.name, None) for field in fields(Config)}
    for name in ("map", "options"):
        if given[name]:
            given[name] = dict(_pair(text, name) for text in given[name])
    return {name: value for name, value in given.items() if value is not None}


def _pair(text: str, name: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise ValueError(f"expected NAME=VALUE for --{'with' if name == 'options' else name}, got {text!r}")
    if name == "map":
        return key, value
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value


def _named(args: argparse.Namespace, model: Any, data: Any, settings: dict[str, Any]) -> tuple[Any, Any]:
    """MODEL and DATA; one name alone is the data where no model is needed, or where the config names one."""
    what = list(args.what)
    if len(what) > 2:
        raise ValueError(f"expected MODEL DATA, got {len(what)} names: {' '.join(what)}")
    modelless = bool(settings.get("predictions") or args.write_cases)
    if len(what) == 2:
        if modelless:
            raise ValueError("expected DATA alone with --predictions or --write-cases, got a model, too")
        model, data = what
    elif what and (modelless or model is not None):
        data = what[0]
    elif what:
        model = what[0]
    if data is None or (model is None and not modelless):
        raise ValueError("expected MODEL DATA, got too little: try `scuff evaluate toy:sentiment toy:sentiment`")
    return None if modelless else model, data


def _listen(args: argparse.Namespace) -> Any:
    return lambda message: say(args.quiet, message)
