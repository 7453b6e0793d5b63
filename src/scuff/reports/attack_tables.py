"""Tables of attacks: of one run as text, and of several in Markdown in the layout of the ToxicTrap paper."""

from __future__ import annotations

from textwrap import wrap

from ..runs.schema import AttackShield, AttackSummary, RecipeFacts, Timing, Tradeoff
from .formatting import number, percent, spread, wrapped
from .notes import attack_notes
from .tables import Entry, PaperTable, Value, in_percent

Row = tuple[str, str, str]  # a name, its value, and what that is a share or mean of
MEASURES = {"minilm": "MiniLM", "chrf": "chrF", "bleu": "BLEU", "meteor": "METEOR"}


def attack_table(summary: AttackSummary, timings: list[Timing], window: int | None = None) -> str:
    """Returns success, cost and quality as the papers report them, then notes, times and the parts of the attack, as text.

    window: letters of a line of the terminal, into which the lines are wrapped. None: they are as long as they are.
    """
    head = f"{title(summary)}: {summary['examples']:,} examples, in %, 95 % intervals"
    lines = [head if window is None else wrapped(head, width=window), ""]
    lines += [line for row in number_rows(summary) for line in _fitted(*row, window)]
    notes = [wrapped(note, width=window) for note in attack_notes(summary)]
    lines += ["", *notes, wrapped(speed(timings), "time", window), ""]
    (_, [name]), *parts = recipe_rows(summary)
    specs = [wrapped("; ".join(specs), f"  {what}", window) for what, specs in parts]
    return "\n".join([*lines, wrapped(name, "recipe", window), *specs])


def _fitted(what: str, value: str, of: str, window: int | None) -> list[str]:
    """Returns a row of the table as one line, or as several if the terminal is narrower."""
    start = f"{what:28}{value:19} "
    if window is None or len(start + of) <= window:
        return [(start + of).rstrip()]
    below = len(start) if window - len(start) >= 20 else 4
    parts = wrap(of, window - below)
    if below == 4:
        return [start.rstrip(), *(" " * below + part for part in parts)]
    return [(" " * below if number else start) + part for number, part in enumerate(parts)]


def title(summary: AttackSummary) -> str:
    return f"{summary['recipe']['name']} against {summary['model']} on {summary['data']['name']}"


def number_rows(summary: AttackSummary) -> list[Row]:
    """Returns the rows of the table: success, accuracy (for texts: both halves), queries, changed words and similarity."""
    success, valid, queries, alike = summary["success"], summary["valid"], summary["queries"], summary["similarity"]
    of_valid = f"meaning moved at most {valid['most']:g} by {measure(valid['measure'])}"
    tags = "tags; " if summary["task"] == "tokens" else ""
    limit = f", at most {queries['limit']:,} each" if queries["limit"] else ""
    middle: list[Row] = [
        ("accuracy, clean", spread(summary["clean"]), ""),
        ("accuracy, after attack", spread(summary["after"]), f"{tags}of all examples, the skipped ones too"),
    ]
    if "tradeoff" in summary:
        middle = tradeoff_rows(summary["tradeoff"])
    shield = summary.get("shield")
    if shield:
        middle.append(("accuracy, clean, no shield", spread(shield["clean"]), f"{tags}what the model has alone"))
    similarity = "-" if alike["mean"] is None else f"{alike['mean']:.2f}"
    return [
        ("attack success rate", spread(success), f"{success['count']:,} of {success['of']:,} attacked"),
        ("  after validity filter", spread(valid), f"{valid['count']:,} of {valid['of']:,}: {of_valid}"),
        *shield_rows(shield),
        *middle,
        (
            "queries per attacked text",
            number(queries["mean"]),
            f"median {number(queries['median'])}, {queries['total']:,} in all{limit}",
        ),
        ("words changed", percent(summary["changed"]["mean"]), "on average, of successes"),
        (
            "similarity in meaning",
            similarity,
            f"on average, of successes, by {measure(alike['measure'])}; 1 is the same",
        ),
    ]


def shield_rows(shield: AttackShield | None) -> list[Row]:
    """Returns how many attacks of an attacker unaware of the shield fool the model alone, and how many of these get past it."""
    if shield is None or "found" not in shield or "survived" not in shield:
        return []
    found, survived = shield["found"], shield["survived"]
    return [
        ("  against the model alone", spread(found), f"{found['count']:,} of {found['of']:,} attacked"),
        ("  of these, past the shield", spread(survived), f"{survived['count']:,} of {survived['of']:,}"),
    ]


def tradeoff_rows(tradeoff: Tradeoff) -> list[Row]:
    """Returns the rows of both halves of an attack on texts, of all attacked ones."""
    score, likeness = measure(tradeoff["metric"]), measure(tradeoff["source_metric"])
    won, least = tradeoff["succeeded"], f"{100 * tradeoff['threshold']:g}"
    lost = "the output lost more than the source" if least == "100" else "the attack succeeded"
    return [
        (
            f"source {likeness}",
            spread(tradeoff["source"]),
            "of attacked sources against the originals; 100 is the same",
        ),
        (f"output {score}, before", spread(tradeoff["before"]), f"of the model's texts against {against(tradeoff)}"),
        (f"output {score}, after", spread(tradeoff["after"]), "of its texts for the attacked sources"),
        ("relative decrease", spread(tradeoff["decrease"]), f"of the output {score}: the share that is lost"),
        ("S = source + decrease", spread(tradeoff["success"]), f"above {least}: {lost}"),
        (f"  S above {least}", spread(won), share_of(tradeoff)),
    ]


def share_of(tradeoff: Tradeoff) -> str:
    """Returns of how many texts the means are."""
    count, of = tradeoff["succeeded"]["count"], tradeoff["succeeded"]["of"]
    return f"{count:,} of {of:,} attacked{' with a reference' if tradeoff.get('unscored') else ''}"


def against(tradeoff: Tradeoff) -> str:
    """Returns what the model's texts are compared with."""
    own = tradeoff["against"] == "output"
    return "its texts for the original sources" if own else "the references"


def measure(name: str) -> str:
    return MEASURES.get(name, name)


def recipe_rows(summary: AttackSummary) -> list[tuple[str, list[str]]]:
    """Returns name and paper of the recipe, then the specs of its parts; parts that it lacks are left out."""
    recipe = summary["recipe"]
    paper = f" ({recipe['paper']})" if recipe["paper"] else ""
    parts = [
        ("goal", [recipe["goal"]]),
        ("changes", recipe["transform"]),
        ("search", [recipe["search"]]),
        ("constraints", recipe["constraints"]),
        ("deviates", recipe["deviations"]),
    ]
    return [("recipe", [recipe["name"] + paper]), *((what, specs) for what, specs in parts if specs)]


def rate(timings: list[Timing]) -> float | None:
    """Returns the queries per second over the start and all resumptions of a run; None if there are no timings."""
    seconds = sum(entry["seconds"] for entry in timings)
    return sum(entry["queries"] for entry in timings) / seconds if seconds else None


def speed(timings: list[Timing]) -> str:
    """Returns in words how long a run took, and how many queries it asked per second."""
    per_second = rate(timings)
    if per_second is None:
        return "not known"
    seconds = sum(entry["seconds"] for entry in timings)
    inside = sum(entry["victim_seconds"] for entry in timings)
    times = f" in {len(timings)} sessions" if len(timings) > 1 else ""
    workers = max(entry["workers"] for entry in timings)
    share = f", {inside / seconds:.0%} of it inside the model" if workers == 1 else f", {workers} workers"
    minutes, rest = divmod(round(seconds), 60)
    taken = f"{seconds:.1f} s" if seconds < 100 else f"{minutes:,} min {rest:02} s"
    return f"{taken}{times}, {per_second:,.0f} queries per second{share}"


def comparison_table(rows: list[tuple[str, AttackSummary, list[Timing]]]) -> str:
    """Returns several runs in the layout of ToxicTrap's Table 5, as Markdown. rows: (task, summary, timings)."""
    return attack_paper(rows).markdown()


def attack_paper(runs: list[tuple[str, AttackSummary, list[Timing]]]) -> PaperTable:
    """Returns several runs in the layout of ToxicTrap's Table 5. runs: (task, summary, timings).

    If the runs differ in their perturbations, the table has a column for them, as in its Table 6. n: attacked texts.
    """
    transforms = [", ".join(summary["recipe"]["transform"]) for _, summary, _ in runs]
    differ = len(set(transforms)) > 1
    numeric = ["Attack Success Rate", "Average Number of Queries", "Average Perturbed Word %", "n", "Queries/s"]
    named = ["Task", *(["Transformation"] if differ else []), "Search", "POS"]
    rows: list[list[Entry]] = []
    for (task, summary, timings), transform in zip(runs, transforms, strict=True):
        per_second, mean, of = rate(timings), summary["queries"]["mean"], summary["success"]["of"]
        changed = summary["changed"]["mean"]
        rows.append([
            task, *([transform] if differ else []), *_search(summary["recipe"]),
            in_percent(summary["success"], shows_interval=True), Value(number(mean), mean),
            Value(percent(changed), None if changed is None else 100 * changed), Value(f"{of:,}", of),
            Value("-" if per_second is None else f"{per_second:,.0f}", per_second),
        ])  # fmt: skip
    return PaperTable([*named, *numeric], len(named), rows)


def _search(recipe: RecipeFacts) -> tuple[str, str]:
    """Returns the name of the search, and "x" if parts of speech must match, else ""."""
    names = [spec.partition("(")[0] for spec in (recipe["search"], *recipe["constraints"])]
    return names[0], "x" if "pos" in names[1:] else ""
