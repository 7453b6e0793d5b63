"""Arguments that say which model is asked, about which data, and what is done with them."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable
from typing import Any

from .shared import say


def run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="*", metavar="MODEL DATA", help="what to ask and what about; see above")
    parser.add_argument(
        "-o", "--output", metavar="RUN", help="run folder; default: runs/ and a name made of all settings"
    )
    parser.add_argument("--resume", metavar="RUN", help="go on with this run, with its own settings")
    parser.add_argument("--config", metavar="FILE", help="settings in YAML or TOML, named as the flags; flags win")
    parser.add_argument("--dry-run", action="store_true", help="stop after the pre-flight")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the table")


def data_arguments(group: Any) -> None:
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


def model_arguments(group: Any) -> None:
    group.add_argument("--labels", nargs="+", metavar="NAME", help="names of the model's labels, in its order")
    group.add_argument(
        "--map", nargs="+", metavar="DATA=MODEL", help="labels of the data that the model calls otherwise"
    )
    group.add_argument("--none", metavar="NAME", help="the model's label for texts without any other (label sets)")
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


def flags(args: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """The settings of these names that were given, with pairs taken apart."""
    given: dict[str, Any] = {name: getattr(args, name, None) for name in names}
    for name in ("map", "options"):
        if given[name]:
            given[name] = dict(_pair(text, name) for text in given[name])
    return {name: value for name, value in given.items() if value is not None}


def settings_of(config: Any) -> list[str]:
    """The names of all settings of a kind of run."""
    from dataclasses import fields

    return [field.name for field in fields(config)]


def refuse_beside_resume(args: argparse.Namespace, changes: dict[str, Any]) -> None:
    """A resumed run has its own settings."""
    if args.what or args.output or args.config or set(changes) - {"workers", "max_errors", "cache"}:
        raise ValueError(
            "expected --resume RUN alone, or with --workers, --max-errors or --cache, got other settings beside it"
        )


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


def named(args: argparse.Namespace, model: Any, data: Any, *, modelless: bool = False) -> tuple[Any, Any]:
    """MODEL and DATA; one name alone is the data where no model is needed, or where the config names one."""
    what = list(args.what)
    if len(what) > 2:
        raise ValueError(f"expected MODEL DATA, got {len(what)} names: {' '.join(what)}")
    if len(what) == 2:
        if modelless:
            raise ValueError("expected DATA alone with --predictions or --write-cases, got a model, too")
        model, data = what
    elif what and (modelless or model is not None):
        data = what[0]
    elif what:
        model = what[0]
    if data is None or (model is None and not modelless):
        toy = "toy:tone toy:tone --recipe tt-deepwordbug" if args.command == "attack" else "toy:sentiment toy:sentiment"
        raise ValueError(f"expected MODEL DATA, got too little: try `scuff {args.command} {toy}`")
    return None if modelless else model, data


def listen(args: argparse.Namespace) -> Any:
    return lambda message: say(args.quiet, message)
