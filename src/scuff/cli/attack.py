"""Search for texts that fool a model, close to those of the data: success rate with its interval, and every adversarial text.

  scuff attack toy:tone toy:tone --recipe tt-deepwordbug              the embedded model and data
  scuff attack ./my-filter comments.csv --vectors counter-fitted-vectors.txt     ToxicTrap: toxic texts that pass for benign
  scuff attack ./my-bert reviews.csv --recipe pwws --max-queries 300
  scuff attack ./my-bert reviews.csv --recipe textfooler --search beam --transform 'embedding(n=50)' --no-pos --vectors FILE

A recipe is a goal, transformations, constraints and a search; each can be chosen by itself. `scuff attack --parts` lists them.
The same command, or --resume RUN, goes on with a run that was interrupted.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from .flags import (
    data_arguments,
    flags,
    listen,
    model_arguments,
    named,
    refuse_beside_resume,
    run_arguments,
    run_bar,
    settings_of,
)

if TYPE_CHECKING:
    from ..api import AttackResult


CONSTRAINTS = (
    "stop-words", "min-length", "changed", "edit-distance", "word-vectors", "chrf", "pos", "meaning",
)  # as in the room `attack`, which is not loaded for --help  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    run_arguments(parser)
    parser.add_argument("--live", action="store_true", help="show successes as they come, changed words marked")
    parser.add_argument("--parts", action="store_true", help="list recipes, goals, searches and constraints, and stop")
    group = parser.add_argument_group("the attack")
    group.add_argument("--recipe", metavar="NAME", help="default toxictrap")
    group.add_argument(
        "--goal", metavar="SPEC", help='e.g. untargeted, "targeted(label=\'ok\')", "toxictrap(threshold=0.7)"'
    )
    group.add_argument(
        "--transform", nargs="+", action="extend", metavar="SPEC",
        help="attacks (`scuff list`) that propose changes, e.g. 'embedding(n=50)' synonym typo; 3*typo: three of each word",
    )  # fmt: skip
    group.add_argument(
        "--search", metavar="SPEC", help="e.g. unk, delete, weighted-saliency, gradient, 'beam(width=4)', best-of"
    )
    group.add_argument(
        "--constraint",
        nargs="+",
        action="extend",
        metavar="SPEC",
        help="added, or in place of the recipe's of that name: 'changed(share=0.2)'",
    )
    for name in CONSTRAINTS:
        group.add_argument(
            f"--no-{name}", action="append_const", const=name, dest="without", help=f"without the constraint {name}"
        )
    group.add_argument(
        "--vectors", metavar="FILE", help="word vectors or lists of neighbours, for embedding and word-vectors"
    )
    group.add_argument(
        "--mlm", metavar="MODEL", help="masked language model for contextual: a Hugging Face folder or id"
    )
    group.add_argument(
        "--encoder", metavar="MODEL", help="sentence encoder; default: MiniLM if installed (scuff[meaning])"
    )
    group.add_argument("--max-queries", type=int, metavar="N", help="for each example")
    group.add_argument(
        "--max-time", type=float, metavar="SECONDS", help="for the run; what is not done then counts as failed"
    )
    group.add_argument(
        "--valid", type=float, metavar="D", help="successes that moved more in meaning are not valid; default 0.2"
    )
    group.add_argument("--protect", action="append", metavar="WHAT", help="leave alone, as for `scuff perturb`")
    group.add_argument("--seed", type=int)
    data_arguments(parser.add_argument_group("the data"))
    model_arguments(parser.add_argument_group("the model"))


def run(args: argparse.Namespace) -> None:
    from ..api import attack, dry_attack, resume_attack
    from ..attacks.settings import AttackSettings
    from ..runs.settings import read_settings

    if args.parts:
        return _parts()
    found, show = (_live(args), None) if args.live else (None, run_bar(args.quiet))
    if args.resume:
        changes = flags(args, settings_of(AttackSettings))
        refuse_beside_resume(args, changes)
        return _show(resume_attack(args.resume, say=listen(args), show=show, found=found, **changes))
    settings = read_settings(args.config) if args.config else {}
    model, data, output = (settings.pop(name, None) for name in ("model", "data", "output"))
    settings |= flags(args, settings_of(AttackSettings))
    AttackSettings.of(**settings)  # a wrong setting is told before a missing model
    model, data = named(args, model, data)
    if args.dry_run:
        return dry_attack(model, data, say=listen(args), **settings)
    return _show(
        attack(
            model, data, output=args.output or output or "runs", named=not (args.output or output), say=listen(args),
            show=show, found=found, **settings,
        )
    )  # fmt: skip


def _show(result: AttackResult) -> None:
    print(f"\n{result}\n\nreport: {result.folder}/report.html\ntexts:  {result.folder}/results.jsonl")


def _live(args: argparse.Namespace) -> Any:
    from ..reports import marked_line

    def show(success: dict[str, Any]) -> None:
        parts = success["texts"], success["edits"], success["before"], success["after"]
        print(marked_line(*parts, colour=sys.stdout.isatty()), flush=True)

    return show


def _parts() -> None:
    from ..attacks.constraints import CONSTRAINTS
    from ..attacks.goals import GOALS
    from ..attacks.recipes import RECIPES
    from ..attacks.search import SEARCHES
    from ..specs import usage

    kinds: dict[str, Any] = {"goals": GOALS, "searches": SEARCHES, "constraints": CONSTRAINTS}
    print("recipes")
    for name, recipe in RECIPES.items():
        made = recipe()
        print(f"  {name}: {made.paper}")
        for part, said in made.in_full.items():
            print(f"    {part:12}{said if isinstance(said, str) else '; '.join(said) or 'none'}")
    for kind, parts in kinds.items():
        print(f"\n{kind}, with their options as they are by default")
        for part in parts.values():
            print(f"  {usage(part)}\n    {part.summary}")
    print("\ntransformations: every attack of `scuff list`")
