"""What a comparison of runs found, in words: one line first, then a sentence each."""

from __future__ import annotations

from collections import Counter

from ..runs.proof import Change, EvaluationComparison
from .changes import KEPT, LOST, UNCLEAR, WON, p_value, points, signed, verdict
from .compared import Compared, Pair, headline
from .formatting import many, percent

NAMED = 3  # dimensions that a sentence names


def pair_verdict(change: Pair) -> str:
    """Whether the second run is more robust than the first: won, lost or not decided."""
    name, main = next(iter(headline(change).items()))
    return verdict(main, lower_is_better=name == "success")


def comparison_verdict(content: Compared) -> str:
    """One line: is it better, by how much, and at what price?"""
    if len(content["changes"]) > 1:
        return _of_many(content)
    (change,) = content["changes"]
    first, second = (run["name"] for run in content["runs"])
    apart = "" if change["paired"] else " The runs have no example in common: the numbers are not paired."
    if "recipe" in change:
        success = change["success"]
        how = {WON: "is harder to attack than", LOST: "is easier to attack than"}.get(pair_verdict(change))
        sure = f"{second} {how} {first}" if how else _unclear(success, first, second, "harder to attack")
        return (
            f"{sure}: {change['recipe']} succeeds on {_instead(success, ' %')}, "
            f"{points(success)} points{_tested(success)}.{apart}"
        )
    overall = change["all"]["average"]
    if overall["difference"] is None:
        return f"Nothing is known of perturbed texts in {first} or {second}; {_price(change['clean'])}.{apart}"
    how = {WON: "is more robust than", LOST: "is less robust than"}.get(pair_verdict(change))
    sure = f"{second} {how} {first}" if how else _unclear(overall, first, second, "more robust")
    return (
        f"{sure}: {_instead(overall)} on perturbed texts, {points(overall)} "
        f"points{_tested(overall)}; {_price(change['clean'])}.{apart}"
    )


def _instead(change: Change, unit: str = "") -> str:
    now, before = percent(change["after"]) + unit, percent(change["before"]) + unit
    return now if change["difference"] == 0 else f"{now} instead of {before}"


def _unclear(change: Change, first: str, second: str, better: str) -> str:
    if change["difference"] == 0 and change["p"] == 1:
        return f"No difference between {first} and {second}"
    return f"Not decided whether {second} or {first} is {better}"


def _tested(change: Change) -> str:
    return "" if change["p"] is None else f" ({_said(change['p'])})"


def _said(p: float | None) -> str:
    shown = p_value(p)
    return f"p < {shown[1:]}" if shown[0] == "<" else f"p = {shown}"


def _price(clean: Change) -> str:
    """What that costs on clean texts."""
    low = clean["interval"][0]
    if verdict(clean) == UNCLEAR:
        kept = low is not None and low >= -KEPT
        return "no measurable price on clean texts" if kept else f"clean texts {signed(clean['difference'])}: {UNCLEAR}"
    return f"clean texts {points(clean)}: {verdict(clean)}"


def _of_many(content: Compared) -> str:
    runs, attack = content["runs"], content["kind"] == "attack"
    found = Counter(map(pair_verdict, content["changes"]))
    against = ", ".join(f"{word} {found[word]}" for word in (WON, LOST, UNCLEAR) if found[word])
    score = "success" if attack else "average"
    known = [run for run in runs if run["scores"][score]["value"] is not None]
    best = ""
    if known:
        first = (min if attack else max)(known, key=lambda run: run["scores"][score]["value"] or 0.0)
        what = "success" if attack else "on perturbed texts"
        best = f"Most robust: {first['name']} ({percent(first['scores'][score]['value'])} % {what}). "
    moves = ""
    if content["trend"] is not None:
        trend = content["trend"]
        found_one = trend["correlation"] is not None
        tested = f" (rank correlation {trend['correlation']:+.2f}, {_said(trend['p'])})" if found_one else ""
        moves = f" Over the runs {'success' if attack else 'robustness'} {trend['words']}{tested}."
    return f"{best}Of {many(len(content['changes']), 'run')} against {runs[0]['name']}: {against}.{moves}"


def comparison_words(content: Compared) -> list[str]:
    """Sentences below the first line: clean texts, worst cases, the dimensions that won and lost most, examples that changed
    sides; of many runs nothing, since the table has it.
    """
    if len(content["changes"]) > 1:
        return []
    (change,) = content["changes"]
    if "recipe" in change:
        held, sides = change["held"], change["sides"]
        lines = [_sentence("texts of all that were attacked in vain", held)]
        lines.append(_numbers("queries per attacked text", change["queries"]))
        return [*lines, *([_sides("examples", sides["mended"], sides["broken"])] if change["paired"] else [])]
    lines = [
        _sentence(f"clean {content['metric']}", change["clean"]),
        _sentence("the worst case of each example", change["all"]["worst"]),
    ]
    for word in (WON, LOST):
        lines.append(_extremes(change, word))
    mended = sum(each["sides"]["mended"] for each in change["dimensions"].values())
    broken = sum(each["sides"]["broken"] for each in change["dimensions"].values())
    return [*lines, *([_sides("examples, counted in each dimension,", mended, broken)] if change["paired"] else [])]


def _sentence(what: str, change: Change) -> str:
    return (
        f"{what}: {percent(change['before'])} to {percent(change['after'])}, {points(change)} points{_tested(change)}: "
        f"{verdict(change)}."
    )


def _numbers(what: str, change: Change) -> str:
    before, after, gap = (change[name] for name in ("before", "after", "difference"))
    if before is None or after is None or gap is None:
        return f"{what}: not known."
    low, high = (edge if edge is not None else gap for edge in change["interval"])
    return f"{what}: {before:,.1f} to {after:,.1f}, {gap:+,.1f} [{low:+,.1f}, {high:+,.1f}]{_tested(change)}."


def _extremes(change: EvaluationComparison, word: str) -> str:
    """The dimensions that won or lost most, of those that surely did."""
    found = [(name, each["average"]) for name, each in change["dimensions"].items() if verdict(each["average"]) == word]
    found.sort(key=lambda entry: -abs(entry[1]["difference"] or 0))
    if not found:
        return f"{word}: no dimension surely."
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    shown = ", ".join(f"{name} {points(entry)}" for name, entry in found[:NAMED])
    return f"{word} in {len(found)} of {len(change['dimensions'])} dimensions: {shown}{more}."


def _sides(what: str, mended: int, broken: int) -> str:
    return f"{what} that changed sides: {mended:,} broke and hold now, {broken:,} held and break now."
