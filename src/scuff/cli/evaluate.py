"""Measure how a model copes with perturbed texts: scores with intervals, and a run folder with every case.

  scuff evaluate my_model.py:predict reviews.csv                     a Python function: list of texts in, labels or scores out
  scuff evaluate ./my-bert reviews.csv --dimensions keyboard visual  a Hugging Face folder or id
  scuff evaluate https://example.org/predict data.jsonl --with 'answer="predictions.*.label"'
  scuff evaluate chat:https://example.org/v1#some-model data.csv --labels negative positive
  scuff evaluate ./my-bert reviews.csv --shield fast                 texts are mended before the model sees them
  scuff evaluate data.csv --write-cases cases.jsonl                  for a model that Scuff cannot call: write the texts,
  scuff evaluate data.csv --predictions answered.jsonl               then read its answers

The same command, or --resume RUN, resumes a run that was interrupted. A pre-flight shows two examples, the clean score and the
costs; --dry-run stops there. DIMENSION is one of RobTest's: typo-m typo-g glyph-m glyph-g phonetic-m phonetic-g synonym
contextual inflection syntax distraction (-m malicious, -g general); or any perturbation (`scuff list`), also your own
(my_module:Shout): `keyboard` changes at most a share D of the words, `keyboard@edits` of the characters; for `keyboard@level` D
is the strength, as for `scuff perturb`. `scuff guide` helps to choose.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .flags import (
    add_run,
    add_settings,
    check_beside_resume,
    fitted,
    given_settings,
    model_and_data,
    open_page,
    run_bar,
    say,
    sayer,
)

if TYPE_CHECKING:
    from ..reports.results import AttackResult, Result


def arguments(parser: argparse.ArgumentParser) -> None:
    from ..evaluation.settings import EvaluationSettings
    from ..runs.settings import DATA

    add_run(parser)
    groups = add_settings(parser, EvaluationSettings, "what is measured")
    groups[DATA].add_argument(
        "--write-cases",
        metavar="FILE",
        help="write all texts that the model would be asked about as JSON lines, and stop",
    )


def run(args: argparse.Namespace) -> None:
    from ..api import dry_run, evaluate, resume
    from ..evaluation.export import write_cases
    from ..evaluation.settings import EvaluationSettings
    from ..runs.run import EVALUATE, check_command
    from ..runs.settings import read_settings

    given = given_settings(args, EvaluationSettings)
    if args.resume:
        check_beside_resume(args, given)
        check_command(args.resume, EVALUATE)
        return show(args, resume(args.resume, say=sayer(args), show=run_bar(args.quiet), **given))
    settings = EvaluationSettings.renamed(read_settings(args.config)) if args.config else {}
    model, data, output = (settings.pop(name, None) for name in ("model", "data", "output"))
    settings |= given  # flags win
    try:
        model, data = model_and_data(args, model, data, modelless=bool(settings.get("predictions") or args.write_cases))
    except ValueError:
        EvaluationSettings.of(**settings)  # if a setting is wrong, too, its error is the more helpful one
        raise
    if args.write_cases:
        count = write_cases(data, args.write_cases, **settings)
        return say(
            args.quiet,
            f"{count:,} texts in {args.write_cases}: put each answer into a field `prediction`, then --predictions",
        )
    if args.dry_run:
        return dry_run(model, data, say=sayer(args), **settings)
    result = evaluate(
        model, data, args.output or output or "runs", named=not (args.output or output),
        say=sayer(args), show=run_bar(args.quiet), **settings,
    )  # fmt: skip
    return show(args, result)


def show(args: argparse.Namespace, result: Result | AttackResult) -> None:
    """Prints the table and where the page is, and opens it if --open asks for it."""
    page = f"{result.folder}/report.html"
    print(f"\n{fitted(result)}\n\nreport: {page}")
    open_page(args, page)
