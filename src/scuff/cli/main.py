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
from importlib import import_module
from io import TextIOWrapper

COMMANDS = {
    "evaluate": "measure how a model copes with perturbed texts",
    "attack": "search for texts that fool a model: ToxicTrap, TextFooler, PWWS, DeepWordBug and others",
    "report": "compute a run's numbers and pages again from its trials",
    "check": "pass or fail a run: for CI",
    "perturb": "perturb a file of texts",
    "augment": "write training data with perturbed copies in it",
    "guide": "recommend dimensions, access and degrees for a use, and explain how to read the report",
    "list": "list perturbations, recipes, goals, searches, constraints, metrics and victims",
    "describe": "describe one perturbation",
    "zeroe": "write the Zéroe benchmark for a file: clean, every perturbation and level, training mixtures",
    "show": "show every perturbation on a few sentences",
    "demo": "evaluate the embedded model on the embedded data",
}


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Returns the parser of all commands.

    command: add only this command's arguments, since each command loads the settings that its flags come from.
    """
    from ..version import __version__

    top = argparse.ArgumentParser(
        prog="scuff",
        description="Scratch the text, see whether the model holds.",
        epilog="Exit codes: 0 fine, 1 gate failed, 2 bad usage or input, 3 run failed, 130 interrupted.",
    )
    top.add_argument("--version", action="version", version=f"scuff {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name, what in COMMANDS.items():
        module = import_module(f".{name}", __package__)
        sub = commands.add_parser(
            name, help=what, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if command in (None, name):
            module.arguments(sub)
        sub.set_defaults(run=module.run, command=name)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code. An error becomes one line on stderr; SCUFF_DEBUG=1 shows the traceback."""
    try:
        signal.signal(signal.SIGTERM, _stop)  # clean up as after Ctrl-C
        warnings.showwarning = _warn
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal that cannot show a character must not end a run
            sys.stdout.reconfigure(errors="backslashreplace")
        words = list(sys.argv[1:] if argv is None else argv)
        command = next((word for word in words if not word.startswith("-")), "")
        args = parser(command).parse_args(words)
        args.run(args)
        if sys.stdout:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail(
            "interrupted; nothing was left half written, and the same command goes on if it is called again", 130
        )
    except BrokenPipeError:  # the reader of our output has closed it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, LookupError, OSError) as error:
        if os.environ.get("SCUFF_DEBUG"):
            raise
        return _fail(str(error), 2)
    except MemoryError:
        return _fail("expected enough memory, got too little", 3)
    except RuntimeError as error:
        if os.environ.get("SCUFF_DEBUG"):
            raise
        return _fail(str(error), 3)
    return 0


def _warn(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
    """Shows a warning as one line, without the place in the code that it comes from."""
    print(f"scuff: warning: {message}", file=sys.stderr)


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _fail(message: str, code: int) -> int:
    print(f"scuff: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
