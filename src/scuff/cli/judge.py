"""Let people judge: write a kit for raters from runs or files, and read their ratings back.

  scuff judge export RUN -o kit --study validity       50 broken cases of each dimension and degree: are they still valid?
  scuff judge export RUN -o kit --study readability    versions of a text, ranked by how well they read
  scuff judge export --src s.txt --adv-src knn=a.txt --adv-src swaps=b.txt -o kit    how similar is the meaning, 0 to 5?
  scuff judge import kit/key.json ann.csv ben.csv eve.json

Raters get the folder kit/raters: a page that works without network and is filled in with the keyboard, and the same as CSV. What
each item is stands in kit/key.json, which they do not get. `scuff judge export --help` and `scuff judge import --help` have all
options; docs/how-to/judge.md shows a study from the beginning to the end.
"""

from __future__ import annotations

import argparse

from .flags import say
from .terminal import Help


def arguments(parser: argparse.ArgumentParser) -> None:
    from ..judging.studies import CHRF_ABOVE, CONTROLS, DECIDE, LANGUAGE, PASS, QUALIFYING, STUDIES

    actions = parser.add_subparsers(metavar="export|import", required=True)
    out = actions.add_parser("export", help="write a kit for raters", description=EXPORT, formatter_class=Help)
    out.add_argument("runs", nargs="*", metavar="RUN", help="folders that `scuff evaluate` or `scuff attack` wrote")
    out.add_argument("-o", "--output", required=True, metavar="KIT", help="new folder for the kit")
    out.add_argument("--study", choices=tuple(STUDIES), default="meaning", help="what is judged; default meaning")
    out.add_argument(
        "--each", type=int, metavar="N",
        help="items of each stratum; default "
        + ", ".join(f"{study.each} for {name}" for name, study in STUDIES.items()) + " (texts)",
    )  # fmt: skip
    out.add_argument(
        "--side", choices=("source", "target", "both"), default="source",
        help="of text-to-text models: the perturbed inputs (default), the outputs, or both",
    )  # fmt: skip
    out.add_argument(
        "--cases", choices=("broken", "all"), help="only cases that broke the model (default for validity), or all"
    )
    out.add_argument(
        "--degree", type=float, metavar="D", help="readability: of which degree or level; default the highest"
    )
    out.add_argument(
        "--controls",
        type=int,
        default=CONTROLS,
        metavar="N",
        help=f"pairs whose rating is known; default {CONTROLS}",
    )
    out.add_argument(
        "--qualification",
        type=int,
        metavar="N",
        help=f"such pairs at the beginning, as a test; default {QUALIFYING} for validity, else 0",
    )
    out.add_argument(
        "--qualification-file", metavar="FILE", help="your own instead: CSV with original, changed, label and rating"
    )
    out.add_argument(
        "--src",
        metavar="FILE",
        help="original inputs, one per line, in place of runs; plain or .gz, - for standard input",
    )
    out.add_argument(
        "--adv-src",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="attacked inputs; repeatable, one per attack",
    )
    out.add_argument("--ref", metavar="FILE", help="reference outputs")
    out.add_argument("--out", metavar="FILE", help="outputs for the original inputs")
    out.add_argument(
        "--adv-out",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="outputs for the attacked inputs; repeatable, by the names of --adv-src",
    )
    out.add_argument("--encoding", metavar="NAME", help="of the files, such as latin-1 or utf-16; default UTF-8")
    out.add_argument(
        "--language", default=LANGUAGE, metavar="NAME", help=f"of the texts, in the scale; default {LANGUAGE}"
    )
    out.add_argument(
        "--warning",
        nargs="?",
        const=WARNING,
        default="",
        metavar="TEXT",
        help="a content warning that raters see first",
    )
    out.add_argument("--seed", type=int, default=0, help="seed of the sample and of the order; default 0")
    out.set_defaults(judge=run_export, parser=out)
    back = actions.add_parser("import", help="read ratings", description=IMPORT, formatter_class=Help)
    back.add_argument("key", metavar="KEY", help="key.json of the kit")
    back.add_argument("ratings", nargs="+", metavar="RATINGS", help="a file of each rater: CSV or JSON")
    back.add_argument(
        "--decide", choices=DECIDE,
        help="one rating of several: what the first two agree on, else the third says (default for meaning), what most say "
        "(default for validity), their mean or median",
    )  # fmt: skip
    back.add_argument(
        "--pass", type=float, default=PASS, dest="least", metavar="SHARE",
        help=f"of the controls and of the qualification that a rater must get right; default {PASS:g}",
    )  # fmt: skip
    back.add_argument("--keep-all", action="store_true", help="count raters who do not pass, too")
    back.add_argument(
        "--metric", action="append", default=[], metavar="SPEC", help="one more metric to compare with; repeatable"
    )
    back.add_argument(
        "--encoder", metavar="MODEL", help="sentence encoder to compare with; default MiniLM if installed"
    )
    back.add_argument(
        "--above",
        type=float,
        default=CHRF_ABOVE,
        metavar="CHRF",
        help=f"chrF, from 0 to 1, whose share above it is counted; default {CHRF_ABOVE:g}",
    )
    back.add_argument(
        "--predict", action="store_true",
        help="validity: how well degree, grammar, similarity and perplexity predict it (RobTest, Figure 5)",
    )  # fmt: skip
    back.add_argument("--mlm", metavar="MODEL", help="masked language model for the perplexity; default: by characters")
    back.add_argument(
        "--disputed", metavar="FOLDER", help="new folder for what two raters do not agree on, for a third"
    )
    back.add_argument("--weights", metavar="FILE", help="validity: write the shares for `scuff evaluate --validity`")
    back.add_argument("--json", metavar="FILE", help="write all numbers; - for standard output")
    back.add_argument("--markdown", metavar="FILE", help="write the tables in Markdown; - for standard output")
    back.add_argument(
        "--csv", metavar="FILE", help="write every item with its ratings and metrics; - for standard output"
    )
    back.set_defaults(judge=run_import, parser=back)
    for action in (out, back):
        action.add_argument("-q", "--quiet", action="store_true", help="print nothing but what goes to standard output")


WARNING = "The texts may be offensive or upsetting. They are part of a study of how models cope with such texts."
EXPORT = """Write a kit for raters: key.json, which stays with you, and the folder raters.

  meaning      0 to 5, in the words of TEAPOT (Michel et al. 2019); strata: attack and number of edits, or dimension and degree
  validity     yes or no, as RobTest's study (Chen et al. 2023); strata: dimension and degree, of cases that broke the model
  readability  versions of a text are ranked, as in the thesis behind Zeroe (Benz 2020); from an evaluation, or from files
"""
IMPORT = """Read ratings: agreement, raters who fail the controls, correlation with metrics, shares of valid cases, ranks.

With the rule `third` the order of the files counts: two raters, then the third who decides.
"""


def run(args: argparse.Namespace) -> None:
    args.judge(args)


def run_export(args: argparse.Namespace) -> None:
    from ..api import judge_export

    kit = judge_export(
        args.runs, args.output, study=args.study, each=args.each, side=args.side, cases=args.cases, degree=args.degree,
        controls=args.controls, qualification=args.qualification, qualification_file=args.qualification_file, src=args.src,
        adv_src=_named(args.adv_src, "--adv-src"), ref=args.ref, out=args.out, adv_out=_named(args.adv_out, "--adv-out"),
        encoding=args.encoding, language=args.language, warning=args.warning, seed=args.seed,
    )  # fmt: skip
    say(args.quiet, f"{kit}\nfor raters: {kit.folder}/raters; keep {kit.folder}/key.json to yourself")
    if kit.short:
        few = "; ".join(f"{name}: {count:,}" for name, count in list(kit.short.items())[:8])
        more = f"; and {len(kit.short) - 8} more" if len(kit.short) > 8 else ""
        say(args.quiet, f"fewer than asked for: {few}{more}")


def _named(given: list[str], flag: str) -> dict[str, str]:
    """Returns files by the names of their attacks; a file without a name is called by its own."""
    from pathlib import Path

    out: dict[str, str] = {}
    for word in given:
        name, sign, path = word.partition("=")
        if not sign or "/" in name:
            name, path = Path(word).stem if len(given) > 1 else "attack", word
        if not name or not path or name in out:
            raise ValueError(f"expected NAME=FILE, each name once, for {flag}, got {word!r}")
        out[name] = path
    return out


def run_import(args: argparse.Namespace) -> None:
    from ..api import judge_import
    from ..data.formats.streams import replacing
    from ..judging.outputs import check_outputs

    given = [args.key, *args.ratings]
    outputs = {f"--{name}": getattr(args, name) for name in ("json", "markdown", "csv", "weights", "disputed")}
    check_outputs(outputs, given)
    result = judge_import(
        args.key, args.ratings, decide=args.decide, least=args.least, keep_all=args.keep_all, metrics=args.metric,
        encoder=args.encoder, above=args.above, predict=args.predict, mlm=args.mlm, disputed=args.disputed, weights=args.weights,
    )  # fmt: skip
    wanted = [(args.json, result.json), (args.markdown, result.markdown), (args.csv, result.csv)]
    for path, text in wanted:
        if path:
            with replacing(path, *given) as out:
                out.write(text.encode("utf-8", "backslashreplace"))
    if "-" not in [path for path, _ in wanted] and not args.quiet:
        print(result)
    if args.disputed:
        if result.judged.disputed:
            told = f"for a third rater: {args.disputed}; then import all three files, the third rater's last"
        else:
            why = "the two agree" if len(result.judged.raters) > 1 else "only one rater is left"
            told = f"{args.disputed}: not written, since {why}"
        say(args.quiet, told)
    if args.weights:
        say(args.quiet, f"weights: {args.weights}; scuff evaluate MODEL DATA --validity {args.weights}")
