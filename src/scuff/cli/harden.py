"""Mend a model and prove it: measure, train or shield, measure again on the same cases that were not trained on.

  scuff harden ./my-bert reviews.csv --with augment -o better          train on perturbed copies, too
  scuff harden ./my-bert reviews.csv --with 'augment(keyboard, visual),shield(fast)' -o better
  scuff harden ./my-bert --train train.csv --test test.csv --with 'attack(deepwordbug)' --attack deepwordbug -o better
  scuff harden https://example.org/predict data.csv --with 'shield(fast)' -o better     no training: any model

METHOD is augment (perturbed copies), plm or pp (pretraining on perturbed texts, then fine-tuning), attack(RECIPE, ...)
(adversarial examples of the training part), shield(SPEC) (texts are mended before the model sees them), or several with commas;
`scuff list methods` explains them. DATA is split by --seed: a fifth is measured and never trained on, a tenth chooses the epoch;
or give --train and --test. OUTPUT gets `model` (with a model card), `before` and `after` (the runs), comparison.html,
proof.json, and settings.yaml for --config of other commands. The same command goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from .flags import add_open, add_settings, fitted, given_settings, open_page, run_bar, sayer

if TYPE_CHECKING:
    from ..reports.hardened import HardenResult


def arguments(parser: argparse.ArgumentParser) -> None:
    from ..training.harden_settings import HardenSettings

    parser.add_argument("what", nargs="*", metavar="MODEL DATA", help="the model to harden and its data; see above")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="folder to write: a new one")
    parser.add_argument(
        "--config", metavar="FILE", help="YAML or TOML file of settings, named as the flags, which override it"
    )
    parser.add_argument("--dry-run", action="store_true", help="stop after the pre-flight: say the parts and the plan")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the table")
    add_open(parser)
    add_settings(parser, HardenSettings, "what is done and measured")


def run(args: argparse.Namespace) -> None:
    from ..api import attack, evaluate, harden
    from ..runs.settings import read_settings
    from ..stores import on_this_disk
    from ..training.harden import Doors, Hardening
    from ..training.harden_settings import HardenSettings

    settings = dict(read_settings(args.config)) if args.config else {}
    model, data, output = (settings.pop(name, None) for name in ("model", "data", "output"))
    if "with" in settings:
        settings["methods"] = settings.pop("with")
    settings |= given_settings(args, HardenSettings)
    if len(args.what) > 2:
        raise ValueError(f"expected MODEL DATA, got {len(args.what)} names: {' '.join(args.what)}")
    model, data = (*args.what, *(model, data)[len(args.what) :])[:2] if args.what else (model, data)
    if model is None:
        raise ValueError("expected MODEL DATA, got too little: try `scuff demo --harden`")
    output = args.output or output
    if output is None:
        raise ValueError("expected a new folder for the hardened model (-o FOLDER), got none")
    if args.dry_run:
        doors, chosen = Doors(evaluate, attack), HardenSettings.of(**settings)
        return Hardening(model, data, on_this_disk(output, "the output of harden"), chosen, doors, sayer(args)).tell()
    return show(
        args,
        harden(
            model, data, output, say=sayer(args), show=run_bar(args.quiet), command=shlex.join(["scuff", *sys.argv[1:]]),
            **settings,
        ),
    )  # fmt: skip


def show(args: argparse.Namespace, result: HardenResult) -> None:
    """Prints the table, and where everything is, and opens the page if --open asks for it."""
    page = f"{result.folder}/comparison.html"
    where = [f"\n{fitted(result)}\n", f"page: {page}"]
    if result.proof["trained"] and isinstance(result.model, str):
        where.append(f"model: {result.model}")
    where.append(f"use: scuff evaluate --config {result.folder}/settings.yaml DATA")
    print("\n".join(where))
    open_page(args, page)
