"""Write a script that completes commands, flags and names in your shell when you press Tab.

  eval "$(scuff completion bash)"                                     in ~/.bashrc
  scuff completion bash > ~/.local/share/bash-completion/completions/scuff
  eval "$(scuff completion zsh)"                                      in ~/.zshrc, below compinit
  scuff completion fish > ~/.config/fish/completions/scuff.fish

The names of perturbations, dimensions, recipes and other parts are written into the script, those of installed packages too.
Write it again after you install more. A file is faster than eval, which asks Scuff whenever a shell starts.
"""

from __future__ import annotations

import argparse
import re
from importlib import import_module

from .shells import SHELLS, Command, Flag, Values

ABOUT = 70  # letters of an explanation
PATHS = re.compile(r"\b(FILE|RUN|OUT|INPUT|DIR|FOLDER|KIT|DATA|MODEL|KEY|RATINGS)\b")  # in metavars: files or folders
TOYS = ("toy:sentiment", "toy:tone", "toy:translate")
ONE = re.compile(r"\[NAME=\]|=")  # metavars of pairs, whose second half may be a file: nothing can be completed


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), metavar="SHELL", help="bash, zsh or fish")


def run(args: argparse.Namespace) -> None:
    from .main import parser

    print(SHELLS[args.shell](commands(parser(), known_names())), end="")


def known_names() -> dict[str, list[str]]:
    """Returns the names that can be completed, by the destination of the argument that takes them."""
    from ..data.dataset import TASKS
    from ..data.formats.files import FORMATS
    from ..evaluation.dimensions import COLUMNS
    from ..perturbations.base import LEVELS, SELECTIONS
    from ..perturbations.protect import KINDS
    from ..resources import load
    from ..shields.names import CHAINS
    from ..training.methods import METHODS

    perturbations, recipes, shields = (
        _members("perturbations.names"),
        _members("attacks.recipes"),
        _members("shields.names"),
    )
    metrics, methods = _members("metrics"), list(METHODS)
    dimensions = [*COLUMNS, *(name for name in perturbations if name not in COLUMNS)]
    return {
        "dimensions": [*dimensions, "default"],
        "perturbation": perturbations, "perturbations": perturbations,
        "recipe": recipes, "attack": recipes,
        "goal": _members("attacks.goals"), "search": _members("attacks.search"),
        "constraint": _members("attacks.constraints"),
        "metric": metrics, "source_metric": metrics, "target_metric": metrics,
        "shield": [*CHAINS, *shields], "methods": methods,
        "name": [*dimensions, *CHAINS, *shields, *methods],
        "level": list(LEVELS), "select": list(SELECTIONS), "selection": list(SELECTIONS),
        "format": list(FORMATS), "task": list(TASKS), "protect": list(KINDS), "only": list(KINDS),
        "encoder": ["chrf"], "device": ["auto", "cpu", "cuda", "mps"],
        "mixture": ["all", "low-mid-high", "leave-one-out"],
        "topic": [*re.findall(r"^## (\w+): ", load("guide.md").decode(), re.MULTILINE), "all"],
        "what": list(TOYS), "data": list(TOYS),
    }  # fmt: skip


def _members(module: str) -> list[str]:
    """Returns the names of a family of parts, those of installed packages too."""
    return list(import_module(f"..{module}", __package__).FAMILY.members())


def commands(parser: argparse.ArgumentParser, names: dict[str, list[str]], path: tuple[str, ...] = ()) -> list[Command]:
    """Returns what can be completed behind `scuff`, and behind each of its commands, read from the parser."""
    flags, inside, below = [], [], dict[str, str]()
    values = Values()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = {each.dest: _short(each.help) for each in action._choices_actions}
            for name, sub in action.choices.items():
                inside += commands(sub, names, (*path, name))
        elif action.option_strings:
            shown = [name for name in action.option_strings if name != "-a"]  # -a: an old name
            flags.append(Flag(tuple(shown), _short(action.help), _values(action, names), _takes(action)))
        else:
            found = _values(action, names)
            values = Values((*values.words, *found.words), values.files or found.files)
    return [Command(path, below, tuple(flags), values), *inside]


def _takes(action: argparse.Action) -> int:
    """Returns how many values a flag takes: 0, 1, or 2 for several."""
    return 0 if action.nargs == 0 else 2 if action.nargs in ("+", "*") else 1


def _values(action: argparse.Action, names: dict[str, list[str]]) -> Values:
    """Returns what a flag or an argument can be."""
    metavar = str(action.metavar or "")
    if action.choices is not None:
        return Values(tuple(map(str, action.choices)))
    return Values(tuple(names.get(action.dest, ())), bool(PATHS.search(metavar)) and not ONE.search(metavar))


def _short(text: str | None) -> str:
    """Returns the beginning of an explanation."""
    whole = (text or "").replace("%%", "%")
    start = re.split(r"[;:] |; | \(", whole)[0]
    return start if len(start) <= ABOUT else start[: ABOUT - 1].rsplit(" ", 1)[0] + "…"
