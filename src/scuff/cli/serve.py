"""Open a page to try things: type a text, and see every perturbation of it, and what the model answers, as you type.

  scuff serve                                        the embedded model, on this machine only
  scuff serve ./my-bert --open                       your model; opens the browser
  scuff serve my_file.py:predict --labels bad good   any model that `scuff evaluate` takes
  scuff serve -p 'embedding(file="vectors.txt")' -p 'keyboard(layout="qwertz")'     more perturbations
  scuff serve --host 0.0.0.0                         for other machines, too: prints a token that they need

The page also runs attacks, puts a shield in front of the model, and shows the runs in the runs folder. Other programs find the
same as JSON: /docs and /openapi.json. Needs pip install 'scuff[web]'. Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

PORT, RUNS = 8421, "runs"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        nargs="?",
        default="toy:sentiment",
        metavar="MODEL",
        help="as for `scuff evaluate`; default toy:sentiment",
    )
    parser.add_argument("--runs", default=RUNS, metavar="FOLDER", help=f"of runs to show; default {RUNS}")
    parser.add_argument(
        "--shield",
        default="fast",
        metavar="SPEC",
        help="that the page offers first, e.g. normalise+restore; default fast",
    )
    parser.add_argument(
        "-p", "--perturbation", action="append", default=[], metavar="SPEC",
        help="one more to show, with options, named as for `scuff perturb`; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", metavar="FILE", help="word vectors or lists of neighbours, for recipes that need them"
    )
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--task", choices=("single", "multi", "tokens", "text"), default="single",
        help="of a model that does not tell: one label (single, the default), label sets, tags of tokens, a text",
    )  # fmt: skip
    group.add_argument(
        "--labels", nargs="+", default=[], metavar="NAME", help="names of the model's labels, in its order"
    )
    group.add_argument(
        "--with", nargs="+", dest="options", metavar="KEY=VALUE", help="options of the model, e.g. device=cpu timeout=5"
    )
    group = parser.add_argument_group("the server")
    group.add_argument("--host", default="127.0.0.1", help="address to listen on; default 127.0.0.1: this machine only")
    group.add_argument("--port", type=int, default=PORT, help=f"default {PORT}; 0: any that is free")
    group.add_argument(
        "--token", metavar="TEXT", help="that requests must carry; also SCUFF_TOKEN; with another --host one is made up"
    )
    group.add_argument("--open", action="store_true", help="open the page in the browser")


def run(args: argparse.Namespace) -> None:
    from importlib.util import find_spec

    from ..resources import MissingResource
    from .flags import options_of

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingResource(f"expected the package {package}, got none: pip install 'scuff[web]'")
    from ..web.playground import Playground
    from ..web.server import Server, listen

    if args.runs != RUNS and not os.path.isdir(args.runs):
        raise ValueError(f"expected a folder for --runs, got {args.runs}")
    token = args.token if args.token is not None else os.environ.get("SCUFF_TOKEN") or None
    listening = listen(args.host, args.port, token)
    with listening.port:
        victim = _victim(args, options_of(args.options or []))
        playground = Playground(victim, args.perturbation, args.shield, args.vectors)
        _say("loading tables")
        playground.warm()
        _say(f"{victim.name}: open {listening.address}  (Ctrl-C ends)")
        if args.open:
            import webbrowser

            webbrowser.open(listening.address)
        try:
            Server(listening, playground, args.runs, _say).run()
        except KeyboardInterrupt:
            _say("stopped")


def _victim(args: argparse.Namespace, options: dict[str, Any]) -> Any:
    """Opens the model. Raises ValueError if its labels are not known."""
    from ..victims.open import open_victim

    victim = open_victim(args.model, args.task, args.labels, options)
    if not victim.labels and victim.task != "text":
        raise ValueError(
            f"expected names for the labels of {victim.name}, got none: give them in its order with --labels"
        )
    return victim


def _say(message: str) -> None:
    print(f"scuff: {message}", file=sys.stderr, flush=True)
