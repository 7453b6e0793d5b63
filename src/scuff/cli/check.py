"""Pass or fail a run: exit code 0 if every score is high enough, 1 if not.

  scuff check RUN --min keyboard=0.8 --min worst=0.5     scores against minimums
  scuff check RUN --max-drop 0.1                         no dimension more than 0.1 below the clean score
  scuff check RUN --max-drop 0.02 --baseline OTHER       no score more than 0.02 below the same score of another run
  scuff check RUN --min worst=0.5 --markdown comment.md --baseline OTHER     for a pull request: also what has changed
  scuff check RUN --max-success 0.5 --min after=0.4      of an attack: its success rate, and the accuracy after it

NAME is one of

  clean, average, worst          the score on unchanged texts; the final scores over all dimensions
  keyboard, typo-m@score         a dimension: its final average; with one access of the attacker
  each, each@score               every dimension; every one with this access
  keyboard.worst                 its final worst score
  keyboard@0.1, keyboard@0.1.worst    at one degree
  worst_alone                    in place of worst: the cases of each degree alone, as RobTest's tables
  visual@0.2.left                Zéroe's s*: what is left of the clean score
  answered, tried, keyboard.tried     the share of cases with an answer; of texts that changed
  clean, after, answered, tried  of an attack: accuracy before and after it; the same shares

VALUE is a number such as 0.8, or 80%. Fewer than 90% answered or 50% tried fail, unless you set these two yourself. The values
are compared with the bounds, not the ends of their intervals.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .terminal import styled

if TYPE_CHECKING:
    from ..reports.gate import Line
    from ..runs.folder import Folder

ROOMS = ("reports",)  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="folder that `scuff evaluate` or `scuff attack` wrote")
    parser.add_argument(
        "--min", action="append", default=[], metavar="NAME=VALUE", help="a score and its minimum; repeatable"
    )
    parser.add_argument(
        "--max-drop",
        metavar="VALUE",
        help="how far scores may be below the clean score, or below those of the baseline",
    )
    parser.add_argument("--max-success", metavar="VALUE", help="the highest success rate of an attack")
    parser.add_argument("--baseline", metavar="RUN", help="another run, on the same data and with the same settings")
    parser.add_argument("--junit", metavar="FILE", help="write the outcome as JUnit XML")
    parser.add_argument(
        "--markdown",
        metavar="FILE",
        help="write the outcome as Markdown, with a baseline also the change against it; - for standard output",
    )


def run(args: argparse.Namespace) -> None:
    from ..data.formats.streams import replacing
    from ..evaluation.thresholds import read_share
    from ..reports import check_summary, junit, markdown, shield_of
    from ..runs.folder import Folder

    least: dict[str, float] = {}
    for text in args.min:
        name, sign, value = text.rpartition("=")
        if name in least:
            raise ValueError(f"expected one minimum of {name} for --min, got another: {text!r}")
        try:
            least[name] = read_share(value if sign and name else "", "--min")
        except ValueError as error:
            hint = str(error).partition(": write ")[2]
            raise ValueError(
                f"expected NAME=VALUE with a value in [0, 1] for --min, got {text!r}{hint and f': write {hint}'}"
            ) from None
    max_drop, max_success = (
        None if value is None else read_share(value, option)
        for value, option in ((args.max_drop, "--max-drop"), (args.max_success, "--max-success"))
    )
    if args.baseline and max_drop is None and not args.markdown:
        raise ValueError("expected --max-drop VALUE with --baseline, got none: how far may a score fall?")
    folder = Folder(args.run_folder)
    summary = folder.summary()
    baseline = Folder(args.baseline).summary() if args.baseline else None
    lines = check_summary(summary, least, max_drop, baseline, max_success)
    for target, content in (
        (args.junit, junit(lines, f"scuff {args.run_folder}")),
        (args.markdown, markdown(lines, summary, _verdict(folder) if args.markdown else "", baseline)),
    ):
        if target:
            with replacing(target) as out:
                out.write(content.encode())
    if args.markdown != "-":
        print("\n".join([*shield_of(summary), *map(_shown, lines)]))
    if not all(line.passed for line in lines):
        sys.exit(1)


def _verdict(folder: Folder) -> str:
    """Returns the verdict of a run as Markdown; "" if its files do not tell, as those of an older version."""
    from ..reports import verdict_of
    from ..runs.folder import BadRun

    try:
        return verdict_of(folder).markdown()
    except BadRun:
        return ""


def _shown(line: Line) -> str:
    """Returns a line of the outcome; its first word, ok or FAIL, in colour at a terminal."""
    word, rest = str(line)[:4], str(line)[4:]
    return styled(word, "green") + rest if line.passed else styled(word, "bold", "red") + rest
