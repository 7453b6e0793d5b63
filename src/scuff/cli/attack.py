"""Search for texts that fool a model, close to those of the data: success rate with its interval, and every adversarial text.

  scuff attack toy:sentiment toy:sentiment                            the embedded model and data, DeepWordBug
  scuff attack toy:translate toy:translate --recipe teapot            the embedded translator, by its gradients
  scuff attack ./my-filter comments.csv --vectors counter-fitted-vectors.txt     ToxicTrap: toxic texts that pass for benign
  scuff attack ./my-filter comments.csv --recipe tt-pwws --attacked 100          a hundred that the goal applies to
  scuff attack ./my-bert reviews.csv --recipe pwws --max-queries 300
  scuff attack ./my-bert reviews.csv --recipe textbugger --as-published --vectors FILE     as its paper has it
  scuff attack ./my-bert reviews.csv --shield fast --attacker unaware            behind a shield that the attacker does not know
  scuff attack ./my-bert reviews.csv --recipe textfooler --search beam -p 'embedding(n=50)' --no-pos --vectors FILE

A recipe is a goal, perturbations, constraints and a search; each can be chosen by itself, or be your own (my_module:MySearch).
`scuff attack --parts` lists them. The same command, or --resume RUN, resumes a run that was interrupted.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from .flags import (
    add_run,
    add_settings,
    check_beside_resume,
    fitted,
    given_settings,
    model_and_data,
    open_page,
    run_bar,
    sayer,
)
from .terminal import coloured

if TYPE_CHECKING:
    from ..reports.results import AttackResult, Result


def arguments(parser: argparse.ArgumentParser) -> None:
    from ..attacks.constraints import CONSTRAINTS
    from ..attacks.settings import AttackSettings
    from ..runs.settings import PLAN

    add_run(parser)
    parser.add_argument("--live", action="store_true", help="show successes as they come, changed words marked")
    parser.add_argument("--parts", action="store_true", help="list recipes, goals, searches and constraints, and stop")
    groups = add_settings(parser, AttackSettings, "the attack")
    for name in CONSTRAINTS:
        groups[PLAN].add_argument(
            f"--no-{name}", action="append_const", const=name, dest="without", help=f"without the constraint {name}"
        )


def run(args: argparse.Namespace) -> None:
    from ..api import attack, dry_run, resume
    from ..attacks.settings import DEFAULT, AttackSettings
    from ..runs.run import ATTACK, check_command
    from ..runs.settings import read_settings

    if args.parts:
        return _parts(given_settings(args, AttackSettings))
    found, show = (_live(args), None) if args.live else (None, run_bar(args.quiet))
    given = given_settings(args, AttackSettings)
    if args.resume:
        check_beside_resume(args, given)
        check_command(args.resume, ATTACK)
        return _show(args, resume(args.resume, say=sayer(args), show=show, found=found, **given))
    settings = AttackSettings.renamed(read_settings(args.config)) if args.config else {}
    model, data, output = (settings.pop(name, None) for name in ("model", "data", "output"))
    settings |= given  # flags win
    try:
        model, data = model_and_data(args, model, data)
    except ValueError:
        AttackSettings.of(**settings)  # if a setting is wrong, too, its error is the more helpful one
        raise
    settings.setdefault("recipe", DEFAULT)
    if args.dry_run:
        return dry_run(model, data, say=sayer(args), **settings)
    return _show(
        args,
        attack(
            model, data, output=args.output or output or "runs", named=not (args.output or output), say=sayer(args),
            show=show, found=found, **settings,
        ),
    )  # fmt: skip


def _show(args: argparse.Namespace, result: Result | AttackResult) -> None:
    page = f"{result.folder}/report.html"
    print(f"\n{fitted(result)}\n\nreport: {page}\ntexts:  {result.folder}/results.jsonl")
    open_page(args, page)


def _live(args: argparse.Namespace) -> Any:
    """Returns a function that prints a success as one line."""
    from ..reports import marked_line

    def show(success: dict[str, Any]) -> None:
        parts = success["texts"], success["edits"], success["before"], success["after"]
        print(marked_line(*parts, colour=coloured(sys.stdout)), flush=True)

    return show


def _parts(given: dict[str, Any]) -> None:
    """Prints all recipes with their parts, and all goals, searches and constraints with their options.

    given: of the flags, `recipe` prints that one alone, `as_published` all of them as their papers have them.
    """
    from ..attacks.constraints import CONSTRAINTS
    from ..attacks.goals import GOALS
    from ..attacks.recipes import RECIPES
    from ..attacks.search import SEARCHES
    from ..attacks.settings import AttackSettings
    from ..specs import usage

    kinds: dict[str, Any] = {"goals": GOALS, "searches": SEARCHES, "constraints": CONSTRAINTS}
    chosen = [AttackSettings.of(recipe=given["recipe"]).recipe] if "recipe" in given else list(RECIPES)
    print("recipes")
    for name in chosen:
        _recipe(name, bool(given.get("as_published")))
    if "recipe" in given:
        return
    for kind, parts in kinds.items():
        print(f"\n{kind}, with their options as they are by default")
        for part in parts.values():
            print(f"  {usage(part)}\n    {part.summary}")
    print("\nperturbations: all of `scuff list`")


def _recipe(name: str, published: bool) -> None:
    """Prints a recipe with its parts: as its paper has it and what differs even so, or ours and what the paper has otherwise."""
    from ..attacks.published import PUBLISHED, as_published
    from ..attacks.recipes import find_recipe

    attack = find_recipe(name)
    attack = as_published(attack, name) if published else attack
    print(f"  {name}: {attack.paper}")
    for part, spec in attack.in_full.items():
        print(f"    {part:12}{spec if isinstance(spec, str) else '; '.join(spec) or 'none'}")
    if published:
        for deviation in attack.deviations.values():
            print(f"    unlike the paper: {deviation}")
    elif attack.name in PUBLISHED:
        for difference in PUBLISHED[attack.name].differs:
            print(f"    --as-published: {difference}")
