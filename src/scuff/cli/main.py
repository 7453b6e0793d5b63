"""`scuff`: parses the command line, runs a command, and turns errors into messages and exit codes.

Loads numpy only when a command runs.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

from ..interrupts import Resumable, started
from .terminal import Help, filled, hold_closed_streams, listed, styled

LONGEST = 2000  # letters of an error

COMMANDS = {
    "evaluate": "measure how a model copes with perturbed texts",
    "attack": "search for texts that fool a model: ToxicTrap, TextFooler, PWWS, DeepWordBug and others",
    "report": "compute a run's numbers and pages again from its trials",
    "compare": "compare runs: models side by side, one over time, before and after",
    "check": "pass or fail a run: for CI",
    "meaning": "tell from files whether an attack changed the input's meaning or broke the model",
    "perturb": "perturb a file of texts",
    "shield": "mend texts: look-alikes, invisible characters, disguises, misspellings; or tell which were tampered with",
    "harden": "mend a model by training or a shield, and prove that it helped",
    "augment": "write training data with perturbed copies in it",
    "judge": "let people judge: write a kit for raters, read their ratings",
    "guide": "recommend dimensions, access and degrees for a use, and explain how to read the report",
    "list": "list perturbations, dimensions, recipes, goals, searches, constraints, metrics, victims, shields and methods",
    "describe": "describe one perturbation, shield or method",
    "zeroe": "write the Zéroe benchmark for a file: clean, every perturbation and level, training mixtures",
    "serve": "open a page to try things: texts, perturbations, attacks, shields, runs; with JSON endpoints",
    "show": "show every perturbation on a few sentences",
    "completion": "write a script that completes commands, flags and names in bash, zsh or fish",
    "demo": "evaluate, or harden, the embedded model on the embedded data",
}

GROUPS = {  # what people want to do; commands in no group are shown below them
    "start here": ("demo", "guide", "show", "serve"),
    "measure a model": ("evaluate", "attack", "meaning"),
    "read what was measured": ("report", "compare", "check", "judge"),
    "mend texts and models": ("shield", "harden", "augment"),
    "write perturbed files": ("perturb", "zeroe"),
    "look things up": ("list", "describe", "completion"),
}

RESUMABLE = ("evaluate", "attack", "harden", "demo")  # commands that write a run


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose usage names what must be given and no more."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._positionals.title = "arguments"

    def format_help(self) -> str:
        if self.usage is None:
            self.usage = self._short_usage()
        return super().format_help()

    def _short_usage(self) -> str:
        """Returns the usage: flags that are required, then the arguments; all other flags are explained below it."""
        must = [action for action in self._actions if action.required and action.option_strings]
        given = [f"{action.option_strings[0]} {action.metavar or action.dest.upper()}" for action in must]
        named = [action for action in self._actions if not action.option_strings]
        words = [*given, *map(_argument, named)]
        return " ".join(["%(prog)s", "[options]", *(word.replace("%", "%%") for word in words)])

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def unknown(self, words: Sequence[str]) -> NoReturn:
        """Ends the program because of words that are no arguments; suggests a flag that is nearly spelt so."""
        flag = next((word.partition("=")[0] for word in words if word.startswith("-")), "")
        near = get_close_matches(flag, self._option_string_actions, 1) if flag else []
        hint = f"; did you mean {near[0]}?" if near else ""
        self.error(f"expected no more arguments, got {' '.join(words)}{hint}")


def _argument(action: argparse.Action) -> str:
    """Returns an argument as the usage shows it, in brackets if it may be left out."""
    name = str(action.metavar or action.dest)
    if action.nargs in ("+", argparse.PARSER):
        return f"{name} ..."
    if action.nargs in ("*", "?") and " " not in name:
        return f"[{name}{' ...' if action.nargs == '*' else ''}]"
    return name


class Top(Parser):
    """The parser of `scuff` itself, whose help has the commands in groups."""

    def format_help(self) -> str:
        width = max(map(len, COMMANDS)) + 4
        rest = tuple(name for name in COMMANDS if not any(name in names for names in GROUPS.values()))
        lines = ["usage: scuff COMMAND [options]", "", filled(str(self.description)), ""]
        for title, names in {**GROUPS, "more": rest}.items():
            shown = [listed(f"  {name}", COMMANDS[name], width) for name in names if name in COMMANDS]
            lines += [styled(title, "bold"), *shown, ""] if shown else []
        return "\n".join([*lines, *map(filled, str(self.epilog).splitlines())]) + "\n"


def parser(command: str | None = None) -> Parser:
    """Returns the parser of all commands.

    command: add only this command's arguments, since each command loads the settings that its flags come from.
    """
    from ..version import __version__

    top = Top(
        prog="scuff",
        description="Scratch the text, see whether the model holds.",
        epilog="`scuff COMMAND --help` explains a command; `scuff --version` says the version.\n"
        "Exit codes: 0 fine, 1 gate failed, 2 bad usage or input, 3 run failed, 130 interrupted.",
    )
    top.add_argument("--version", action="version", version=f"scuff {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name, what in COMMANDS.items():
        module = import_module(f".{name}", __package__)
        sub = commands.add_parser(name, help=what, description=module.__doc__, formatter_class=Help)
        if command in (None, name):
            module.arguments(sub)
        sub.set_defaults(run=module.run, command=name, parser=sub)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code. An error becomes one line on stderr; SCUFF_DEBUG=1 shows the traceback."""
    words, command = list(sys.argv[1:] if argv is None else argv), ""
    try:
        hold_closed_streams()
        _clean_up_when_stopped()
        warnings.showwarning = _warn
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal that cannot show a character must not end a run
            sys.stdout.reconfigure(errors="backslashreplace")
        command = next((word for word in words if not word.startswith("-")), "")
        if not words:
            print(parser("").format_help(), end="")
            return 0
        args = _parsed(words, command)
        for room in getattr(import_module(f".{args.command}", __package__), "ROOMS", ("api",)):
            import_module(f"..{room}", __package__)  # with what it imports, which Ctrl-C might leave half done
        started()
        args.run(args)
        if sys.stdout:
            sys.stdout.flush()
    except KeyboardInterrupt as stop:
        again = "the same command without --fresh" if "--fresh" in words else "the same command"
        goes_on = "goes on" if command in RESUMABLE else "starts from the beginning"
        goes_on = f"goes on from {stop}" if isinstance(stop, Resumable) else goes_on
        return _fail(f"interrupted; no file was left half written, and {again} {goes_on}", 130)
    except BrokenPipeError:  # the reader of our output has closed it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, LookupError, OSError) as error:
        if os.environ.get("SCUFF_DEBUG"):
            raise
        return _fail(_message(error), getattr(error, "exit_code", 2))
    except MemoryError:
        return _fail("expected enough memory, got too little", 3)
    except Exception as error:  # the code of a user may raise anything
        if os.environ.get("SCUFF_DEBUG"):
            raise
        return _fail(_message(error), 3)
    return 0


def _parsed(words: list[str], command: str) -> argparse.Namespace:
    """Returns the arguments of a command. Ends the program, with exit code 2, for an unknown command or unknown flags."""
    top = parser(command)
    if command and command not in COMMANDS and words[0] == command:
        near = get_close_matches(command, COMMANDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(COMMANDS)}"
        top.error(f"expected a command, got {command!r}; {hint}")
    args, unknown = top.parse_known_args(words)
    if unknown:
        args.parser.unknown(unknown)
    return args


def _clean_up_when_stopped() -> None:
    """Makes a request to end, or a terminal that is closed, the same as Ctrl-C, so that no temporary file is left."""
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP; nohup ignores it
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)


def _warn(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
    """Shows a warning as one line, without the place in the code that it comes from."""
    print(f"{styled('scuff: warning:', 'bold', 'yellow', stream=sys.stderr)} {message}", file=sys.stderr)


def _stop(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one must not interrupt the cleaning up
    raise KeyboardInterrupt


def _message(error: Exception) -> str:
    """Returns an error as one line, with its type where the text alone says little."""
    ours = type(error).__module__ != "builtins" or isinstance(error, ValueError | TypeError | OSError | RuntimeError)
    text = str(error) if ours else f"{type(error).__name__}: {error} (SCUFF_DEBUG=1 shows where)"
    return " ".join(text.splitlines())


def _fail(message: str, code: int) -> int:
    if len(message) > LONGEST:  # the end says what to do
        message = f"{message[: LONGEST - 400]} ... {message[-400:]}"
    print(f"{styled('scuff:', 'bold', 'red', stream=sys.stderr)} {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
