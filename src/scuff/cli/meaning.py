"""Did an attack change the meaning of the input, or break the model? From files with a text per line, of any system.

  scuff meaning --src S --adv-src S2 --out O --adv-out O2 --ref R     both halves, and how often the attack succeeded
  scuff meaning --src S --adv-src S2                                  only how like the attacked inputs are to the originals
  scuff meaning --out O --adv-out O2 --ref R --target-metric bleu     only what the model lost
  scuff meaning --src S --adv-src S2 --out O --adv-out O2             without references: by how alike the two outputs are

s_src is the likeness of the attacked input to the original one, d_tgt the share of its score against the reference that the
output lost (Michel et al., 2019, equation 1), and an attack succeeded where S = s_src + d_tgt is above the threshold: it has
destroyed more of the output's meaning than of the input's. With --other-adv-src and --other-adv-out, a second attack on the same
lines is compared with the first. Metrics: chrf, bleu, meteor, exact-match (zero-one), my_module:function of a text and its
reference, my_module:Class.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from ..evaluation.meaning import Columns

FILES = {
    "src": "the inputs before the attack",
    "adv-src": "the inputs under attack",
    "out": "what the model made of the inputs before the attack",
    "adv-out": "what it made of those under attack",
    "ref": "what it should have made of them: references",
    "other-adv-src": "the inputs of a second attack, to be compared with the first",
    "other-adv-out": "what the model made of these",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("files: a text per line, plain or .gz; - for standard input")
    for name, what in FILES.items():
        files.add_argument(f"--{name}", metavar="FILE", help=what)
    files.add_argument("--encoding", metavar="NAME", help="of the files, such as latin-1 or utf-16; default UTF-8")
    for side, short, what in (("source", "src", "inputs"), ("target", "tgt", "outputs")):
        parser.add_argument(
            f"--{side}-metric", f"--s-{short}", default="chrf", metavar="SPEC", dest=f"{side}_metric",
            help=f"how alike {what} are: chrf (default), bleu, meteor, exact-match or your own; `scuff list metrics`",
        )  # fmt: skip
    parser.add_argument(
        "--threshold",
        "--success-threshold",
        type=float,
        metavar="S",
        help="an attack succeeded if S is above this; default 1, and 1.8 where --target-metric is exact-match",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the intervals' resamples; default 0")
    parser.add_argument("--scale", type=float, default=1, metavar="N", help="multiply printed scores; 100 for percent")
    parser.add_argument(
        "--terse", action="store_true", help="print only s_src, d_tgt and the share that succeeded, with tabs between"
    )
    parser.add_argument("--json", metavar="FILE", help="write all numbers as JSON; - prints only that")
    parser.add_argument(
        "--jsonl", metavar="FILE", help="write the numbers of each line as JSON lines; - prints only that"
    )


def run(args: argparse.Namespace) -> None:
    import json

    from ..data.formats.streams import STDOUT
    from ..evaluation.meaning import check_columns, measure_meaning, write_lines
    from ..reports import meaning_table, terse_line
    from ..runs.progress import Bar
    from ..specs import check_positive

    check_positive(args.scale, "--scale")
    if args.threshold is not None:
        check_positive(args.threshold, "--threshold", zero=True)
    given = {name.replace("-", "_"): getattr(args, name.replace("-", "_")) for name in FILES}
    columns = {name: path for name, path in given.items() if path is not None}
    check_columns(columns, lambda name: f"--{name.replace('_', '-')}")
    settings = {
        name: getattr(args, name) for name in ("source_metric", "target_metric", "threshold", "seed", "encoding")
    }
    bar = Bar(sys.stderr)
    with ExitStack() as stack:
        numbers, lines = _outputs(stack, args, list(columns.values()))
        stack.callback(bar.clear)

        def each(first: int, values: Columns) -> None:
            if lines:
                write_lines(lines, first, values)
            done = first + len(next(iter(values.values())))
            bar.tell(lambda: f"{done:,} lines")

        summary, _ = measure_meaning(columns, **settings, each=each)
        if numbers:
            numbers.write(f"{json.dumps(summary, indent=2, ensure_ascii=False)}\n".encode())
    if args.json not in STDOUT and args.jsonl not in STDOUT:
        print(terse_line(summary, args.scale) if args.terse else meaning_table(summary, args.scale))


def _outputs(
    stack: ExitStack, args: argparse.Namespace, inputs: list[str]
) -> tuple[IO[bytes] | None, IO[bytes] | None]:
    """Opens what --json and --jsonl name, before anything is scored. Raises ValueError if it is the same, BadInput if it cannot
    be written.
    """
    from ..data.formats.streams import STDOUT, replacing

    if args.json and args.jsonl:
        if args.json in STDOUT and args.jsonl in STDOUT:
            raise ValueError("expected - for --json or for --jsonl, got it for both")
        if os.path.realpath(args.json) == os.path.realpath(args.jsonl) != os.devnull:
            raise ValueError(f"expected two files for --json and --jsonl, got {args.jsonl} for both")
    there = [path for path in inputs if os.path.exists(path)]
    numbers, lines = (
        stack.enter_context(replacing(path, *there)) if path else None for path in (args.json, args.jsonl)
    )
    return numbers, lines
