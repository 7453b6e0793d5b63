"""Flags and messages that several commands share."""

from __future__ import annotations

import argparse
import ast
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data.formats.files import Input
    from ..data.formats.streams import Source
    from ..perturbations.plan import Tally
    from ..runs.jobs import Progress


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
    from ..data.formats.files import Input

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


def measured_arguments(group: Any) -> None:
    group.add_argument("--dimensions", nargs="+", metavar="DIMENSION", help="default: all of RobTest's that can run")
    group.add_argument(
        "--tag", choices=("general", "malicious"), help="only dimensions that stand for slips, or for evasion"
    )
    group.add_argument(
        "--setting",
        nargs="+",
        choices=("rule", "score", "gradient"),
        help="what the attacker sees: nothing (rule, default), the model's scores, its gradients; several are compared",
    )
    group.add_argument(
        "--mlm", metavar="MODEL", help="masked language model for contextual: a Hugging Face folder or id"
    )
    group.add_argument(
        "--encoder",
        metavar="MODEL",
        help="sentence encoder for degrees of syntax and distraction; default: MiniLM if installed (scuff[meaning]), else chrf",
    )
    group.add_argument("--degrees", nargs="+", type=float, metavar="D", help="default: 0.05 0.1 0.2 0.3 0.4 0.5 0.6")
    group.add_argument(
        "--cases", type=int, metavar="K", help="cases per example and degree; default 10 (the paper: 100)"
    )
    group.add_argument(
        "--width",
        type=float,
        metavar="W",
        help="adaptive: add cases only until the 95%% interval is narrower than this",
    )
    group.add_argument(
        "--protocol", choices=("robtest", "zeroe"), help="zeroe: the ten attacks at low, mid, high, one case each"
    )
    group.add_argument("--beta", type=float, help="how much high degrees weigh in the final score; default 0.5")
    group.add_argument("--protect", action="append", metavar="WHAT", help="leave alone, as for `scuff perturb`")
    group.add_argument("--seed", type=int)
