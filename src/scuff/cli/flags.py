"""Flags, progress bars and messages that several commands share."""

from __future__ import annotations

import argparse
import ast
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .terminal import coloured, window

if TYPE_CHECKING:
    from ..data.formats.files import Input
    from ..data.perturbing import ShowProgress
    from ..isolation import Failures
    from ..reports.hardened import HardenResult
    from ..reports.results import AttackResult, Result
    from ..runs.engines.base import Engine
    from ..runs.progress import Progress


def add_input(parser: argparse.ArgumentParser, *, piped: bool = False, several: bool = False) -> None:
    """Adds INPUT and the flags that say what it holds.

    piped: standard input is the default, and records need no names. several: it may be files, a folder or a pattern.
    """
    what = "file to read, several, a folder or a pattern such as 'parts/*.csv'" if several else "file to read"
    how = "; default, and -: standard input; .gz is unpacked" if piped else "; - for standard input; .gz is unpacked"
    count: dict[str, Any] = {"nargs": "*" if piped else "+"} if several else {}
    parser.add_argument("input", metavar="INPUT", help=what + how, **count)
    group = parser.add_argument_group("what the file holds")
    group.add_argument(
        "--format",
        help="lines, whole, csv, tsv, jsonl, json, parquet, conllu or tokens; default: by the file's name, else by its content",
    )
    group.add_argument("--whole", action="store_true", help="the whole file is one text (--format whole)")
    group.add_argument(
        "-c", "--column", "--text", action="append", default=[], metavar="NAME",
        help="column of texts or token lists, a.b.text for a field inside others; may be repeated; default: guessed",
    )  # fmt: skip
    if not piped:
        group.add_argument(
            "--id", metavar="NAME", help="column that names each record: equal texts are then perturbed differently"
        )
    group.add_argument(
        "--delimiter", metavar="CHAR", help="what separates the columns of a csv or tsv file: a character or tab"
    )
    group.add_argument(
        "--no-header", action="store_true", help="a csv or tsv file without a header: columns are named 1, 2, ..."
    )
    group.add_argument(
        "--encoding",
        metavar="NAME",
        help="of the text, such as latin-1 or utf-16; default UTF-8; the output has it, too",
    )


def add_as_published(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as-published",
        action="store_true",
        help="options and selection that you do not give are those of the perturbation's paper: see `scuff describe NAME`",
    )


def add_choice(parser: argparse.ArgumentParser) -> None:
    add_as_published(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices; default 0")
    parser.add_argument(
        "--select",
        metavar="HOW",
        help="how words are chosen: quota (default), coin, each, below, edits or all; `scuff describe` explains",
    )
    add_skip_errors(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")


def add_skip_errors(parser: argparse.ArgumentParser, verb: str = "perturbed") -> None:
    parser.add_argument(
        "--skip-errors",
        action="store_true",
        help=f"exit code 0, not 3, if some texts could not be {verb}, which stay as they are",
    )


def add_protection(parser: argparse.ArgumentParser, verb: str = "change") -> None:
    """Adds the flags that keep a perturbation or a shield to some of the text."""
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
        "--only", action="append", default=[], metavar="WHAT", help=f"{verb} only this text, named as for --protect"
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT",
        help="file to write, of several inputs a folder; default standard output",
    )  # fmt: skip


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that say who does the work on files. The same flags of runs are settings, with the same texts."""
    from ..runs.engines.open import ADDRESS, ENGINE, ENGINES, LOCAL, WORKERS

    group = parser.add_argument_group("big files")
    group.add_argument("--workers", type=int, metavar="N", help=f"{WORKERS}; a pipe or a .gz file has one")
    group.add_argument("--engine", choices=ENGINES, default=LOCAL, help=ENGINE)
    group.add_argument("--address", metavar="HOST:PORT", help=ADDRESS)


def engine_of(args: argparse.Namespace) -> Callable[[], Engine]:
    """Returns a function that opens the engine that the flags ask for. Raises ValueError if they do not fit."""
    from ..runs.engines.open import check_engine, open_engine

    check_engine(args.engine, args.address)
    if args.workers is not None and args.workers < 1:
        raise ValueError(f"expected 1 or more for --workers, got {args.workers}")
    return partial(open_engine, args.engine, args.workers, args.address)


def treated(args: argparse.Namespace, make: partial[Any]) -> Any:
    """Does the work of a command on its files, in the workers that its flags ask for. Returns the counts."""
    from ..data.partitions import partitions
    from ..runs.files import treat_files

    engine = engine_of(args)
    files = partitions(
        args.input, args.output, getattr(args, "edits", None), partial(input_of, args),
        report=getattr(args, "report", None) or None, suffix=".jsonl" if getattr(args, "detect", False) else "",
    )  # fmt: skip
    bar = progress_bar(args.quiet)
    return treat_files(files, make, output=args.output, engine=engine, progress=bar, say=partial(say, args.quiet))


def input_of(args: argparse.Namespace, path: str | None = None) -> Input:
    """Returns the input that the flags describe. path: one of several."""
    from ..data.formats.files import Input

    source = Input(
        args.input if path is None else path, _format_of(args), args.column, getattr(args, "id", None),
        spans=getattr(args, "protect_spans", ()), carried=getattr(args, "spans", ()), delimiter=args.delimiter,
        no_header=args.no_header, encoding=args.encoding,
    )  # fmt: skip
    if source.recognised:
        name = "standard input" if source.path == "-" else source.path
        say(args.quiet, f"{name}: read as {source.kind}, by its content; --format lines reads a text per line")
    return source


def _format_of(args: argparse.Namespace) -> str | None:
    """Returns the format that the user has named. Raises ValueError for --whole beside another one."""
    if args.whole and args.format not in (None, "whole"):
        raise ValueError(f"expected --whole or --format {args.format}, got both: --whole is --format whole")
    return "whole" if args.whole else args.format


def texts(count: int) -> str:
    """Returns how many texts there were. `many` of the reports says it of anything, but loads all that reports need."""
    return f"{count:,} text" + "s" * (count != 1)


def report_failures(failures: Failures, *, skip: bool, what: str = "stay as before", verb: str = "perturbed") -> None:
    """Prints which texts could not be perturbed. Raises RuntimeError, for exit code 3, unless they may be skipped.

    what: became of them. verb: what they could not be.
    """
    if not failures.count:
        return
    for line in failures.lines:
        print(f"scuff: {line}", file=sys.stderr)
    more = f", the first {len(failures.lines)} of them named here" if failures.count > len(failures.lines) else ""
    told = f"texts that {what}, since they could not be {verb}: {failures.count:,}{more}"
    if not skip:
        raise RuntimeError(f"{told}; all others are done (--skip-errors: exit code 0)")
    print(f"scuff: {told}", file=sys.stderr)


def progress_bar(quiet: bool) -> ShowProgress | None:
    """Returns a function that shows the progress of a file on stderr; None if quiet or not at a terminal."""
    if quiet or not sys.stderr.isatty():
        return None
    last = 0.0

    def show(done: float | None, texts: int) -> None:
        nonlocal last
        if time.monotonic() - last > 0.2 or done == 1:
            last = time.monotonic()
            share = f"{done:4.0%}  " if done is not None else ""
            print(f"\r{share}{texts:,} texts", end="" if done != 1 else "\r\033[K", file=sys.stderr, flush=True)

    return show


def run_bar(quiet: bool) -> Callable[[Progress], None] | None:
    """Returns what shows the progress of a run on stderr; None if quiet."""
    from ..runs.progress import Bar

    return None if quiet else Bar(sys.stderr)


def add_open(parser: argparse.ArgumentParser) -> None:
    """Adds the flag of commands that write a page."""
    parser.add_argument("--open", action="store_true", help="open the page in the browser when it is written")


def open_page(args: argparse.Namespace, page: str) -> None:
    """Opens a page in the browser if --open asks for it; says where it is if there is no browser."""
    if not args.open:
        return
    import webbrowser
    from pathlib import Path

    from ..stores import as_path

    path = as_path(page)
    if not isinstance(path, Path):
        run = page.rpartition("/")[0]
        print(
            f"scuff: --open opens pages on this disk, and the page is {page}: scuff report {run} --html FILE --open",
            file=sys.stderr,
        )
        return
    try:
        opened = webbrowser.open(path.resolve().as_uri())
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        print(f"scuff: no browser was found for --open; the page is {page}", file=sys.stderr)


def fitted(result: Result | AttackResult | HardenResult) -> str:
    """Returns what a run found: first its verdict, then the table, as wide as the terminal; in a pipe as wide as it is."""
    from ..reports import attack_table, score_table
    from ..reports.proof import proof_table
    from ..reports.results import AttackResult, Result

    width = window()
    if not isinstance(result, Result | AttackResult):
        return proof_table(result.proof, width)
    if isinstance(result, Result):
        table = score_table(result.summary, width)
    else:
        table = attack_table(result.summary, result.timings, width)
    return f"{result.verdict.text(coloured(sys.stdout), width)}\n\n{table}"


def say(quiet: bool, message: str) -> None:
    """Prints a message on stderr, unless quiet."""
    if not quiet:
        print(message, file=sys.stderr)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of every command that makes a run folder."""
    parser.add_argument("what", nargs="*", metavar="MODEL DATA", help="the model to ask and the data; see above")
    parser.add_argument(
        "-o",
        "--output",
        metavar="RUN",
        help="run folder to write, also a URL such as s3://bucket/run; default: in runs/, with a name made of all settings",
    )
    parser.add_argument("--resume", metavar="RUN", help="resume this run, with the settings that it was started with")
    parser.add_argument(
        "--config", metavar="FILE", help="YAML or TOML file of settings, named as the flags, which override it"
    )
    parser.add_argument("--dry-run", action="store_true", help="stop after the pre-flight")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only verdict and table")
    add_open(parser)


def add_settings(parser: argparse.ArgumentParser, kind: type[Any], plan: str) -> dict[str, Any]:
    """Adds a flag for every setting of a class, in the group that its field names. Returns the groups.

    plan: the title of the first group.
    """
    from dataclasses import fields

    from ..runs.settings import DATA, MODEL, PLAN

    groups = {PLAN: parser.add_argument_group(plan)}
    groups |= {name: parser.add_argument_group(name) for name in (DATA, MODEL)}
    for field in fields(kind):
        about, type_name = field.metadata, str(field.type)
        if about["group"] not in groups:
            continue
        options: dict[str, Any] = {"help": about["help"].replace("%", "%%"), "dest": field.name}
        if about["metavar"]:
            options["metavar"] = about["metavar"]
        if about["choices"]:
            options["choices"] = tuple(about["choices"])
        if "float" in type_name or "int" in type_name:
            options["type"] = float if "float" in type_name else int
        if type_name.startswith(("tuple", "Sequence")) and about["many"] == "repeated":
            options["action"] = "append"
        elif type_name.startswith(("tuple", "Sequence")):
            options |= {"nargs": "+", "action": "extend"}
        elif type_name == "bool":
            options |= {"action": "store_true", "default": None}
        elif type_name.startswith("dict"):
            options |= {"nargs": "+", "type": str}
        flags = about["flags"] or (f"--{field.name.replace('_', '-')}",)
        groups[about["group"]].add_argument(*flags, **options)
    return groups


def given_settings(args: argparse.Namespace, kind: type[Any]) -> dict[str, Any]:
    """Returns the settings that were given as flags. Raises ValueError if a pair is not NAME=VALUE."""
    from dataclasses import fields

    given: dict[str, Any] = {field.name: getattr(args, field.name, None) for field in fields(kind)}
    for name in ("map", "options"):
        if given.get(name):
            given[name] = dict(_pair(text, name) for text in given[name])
    return {name: value for name, value in given.items() if value is not None}


BESIDE_RESUME = {"engine", "address", "workers", "max_errors", "cache", "log"}


def check_beside_resume(args: argparse.Namespace, changes: dict[str, Any]) -> None:
    """Raises ValueError if there are settings beside --resume that decide the trials of a run."""
    if args.what or args.output or args.config or set(changes) - BESIDE_RESUME:
        raise ValueError(
            "expected --resume RUN alone, or with --engine, --address, --workers, --max-errors, --cache or --log, got other "
            "settings beside it"
        )


def options_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Returns the options of a model that were given as NAME=VALUE."""
    return dict(_pair(text, "options") for text in pairs)


JSON_WORDS = {"true": True, "false": False, "null": None}


def _pair(text: str, name: str) -> tuple[str, Any]:
    """Returns name and value of NAME=VALUE; the value of an option is a literal of Python or JSON if it reads as one."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise ValueError(f"expected NAME=VALUE for --{'with' if name == 'options' else name}, got {text!r}")
    if name == "map":
        return key, value
    if value in JSON_WORDS:
        return key, JSON_WORDS[value]
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value


def model_and_data(args: argparse.Namespace, model: Any, data: Any, *, modelless: bool = False) -> tuple[Any, Any]:
    """Returns MODEL and DATA from the arguments, or else from the settings file, whose values are given.

    One name alone is the data if no model is needed (modelless) or the settings file names one, else the model. Raises
    ValueError if there are too many names or too few.
    """
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


def sayer(args: argparse.Namespace) -> Callable[[str], None]:
    """Returns a function that prints messages on stderr; with --quiet warnings alone, since numbers may be old or wrong then."""
    return lambda message: say(args.quiet and not message.startswith("WARNING"), message)
