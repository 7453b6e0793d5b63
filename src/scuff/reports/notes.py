"""Notes under the tables of a run: missing answers, dimensions left out, wide intervals, and what else limits its numbers."""

from __future__ import annotations

from ..attacks.outcomes import NO_ANSWER, SEARCHES_AGAINST
from ..runs.reasons import brief, in_brief, tally
from ..runs.schema import (
    PROBLEMS,
    AttackSummary,
    Cell,
    DataFacts,
    EvaluationSummary,
    Problem,
    Reasons,
    ShieldFacts,
    Status,
)
from .formatting import many, percent, short
from .groups import ACCESSES, accesses, in_meaning, measure_of_meaning

FEW = 100  # with fewer examples or attacked texts a note says that intervals are wide
SHORT = 0.6  # of the highest degree: a note names dimensions that reach less

PROBLEM_WORDS: dict[Problem, str] = {
    "error": "errors", "refused": "refused", "unparsed": "unparsed", "unanswered": "unanswered",
}  # fmt: skip

STATUS_WORDS: dict[Status, str] = {
    "succeeded": "succeeded", "failed": "failed", "error": "ended in an error", "skipped": "skipped",
}  # fmt: skip


def evaluation_notes(summary: EvaluationSummary, *, published: bool = True) -> list[str]:
    """Returns the notes of an evaluation. published: also what a run that is as published sets and where it differs."""
    cells = [cell for content in summary["dimensions"].values() for cell in content["degrees"]]
    used = accesses(summary)
    examples = summary["clean"]["examples"]
    begun = ", begun at 0" if summary["protocol"].get("final_from_zero") else ""
    return [
        *_shield(summary.get("shield"), examples),
        *_without_an_answer(summary, cells),
        *_clean_without_an_answer(summary),
        *_left_out(summary),
        f"final: over degrees, small ones weigh most (RobTest, eq. 1{begun}); worst: no case up to the degree broke the "
        "example; worst alone: none at the degree itself (RobTest's tables)",
        *_by_validity(summary),
        *(f"{access}: {ACCESSES[access]}" for access in (used if used != ["rule"] else ())),
        *_meaning(summary),
        *_short_of_the_degree(summary),
        *_skipped(summary["data"]),
        *_adaptive(summary, cells),
        *(as_published_notes(summary) if published else ()),
        *([f"few examples ({examples}): the intervals are wide and only roughly right"] if examples < FEW else []),
    ]


def _shield(shield: ShieldFacts | None, examples: int) -> list[str]:
    """Returns what the shield is and how often it changes clean texts; [] if there is none."""
    if shield is None:
        return []
    changed = f"changes {shield['mended']:,} of {examples:,} clean examples"
    return [f"shield {shield['spec']}: {changed}; degrees and texts are those before it"]


def _without_an_answer(summary: EvaluationSummary, cells: list[Cell]) -> list[str]:
    lost = _lost({problem: sum(cell[problem] for cell in cells) for problem in PROBLEMS}, summary)
    total = f"{sum(cell['cases'] for cell in cells):,} cases"
    if not lost:
        return [f"{total}, all answered"]
    return [
        f"{total}, of which without an answer: {lost}",
        "scores are over the examples that have an answer, which differ from score to score where some have none",
    ]


def _clean_without_an_answer(summary: EvaluationSummary) -> list[str]:
    clean = summary["clean"]
    lost = _lost({problem: clean[problem] for problem in PROBLEMS}, clean)
    return [f"clean texts without an answer: {lost}"] if lost else []


def _lost(found: dict[Problem, int], entry: Reasons) -> str:
    """Returns the problems with their counts and, where known, the kinds of errors: "12 errors (10 timed out after 30 s, 2
    status 500), 3 refused".
    """
    errors = {kind: count for kind, count in entry.get("reasons", {}).items() if kind not in PROBLEMS}
    why = {"error": f" ({tally(errors)})" if errors else ""}
    return ", ".join(
        f"{count:,} {PROBLEM_WORDS[problem]}{why.get(problem, '')}" for problem, count in found.items() if count
    )


def _left_out(summary: EvaluationSummary) -> list[str]:
    """Returns a line per reason for which dimensions were left out."""
    why: dict[str, list[str]] = {}
    for name, reason in summary["left_out"].items():
        why.setdefault(reason, []).append(name)
    return [f"left out: {', '.join(names)}: {reason}" for reason, names in why.items()]


def as_published_notes(summary: EvaluationSummary) -> list[str]:
    """Returns the paper that a run follows, with a line for each thing set, and for each that differs; [] if it follows none."""
    if "published" not in summary:
        return []
    found = summary["published"]
    return [
        f"as published, {found['paper']} {found['section']}:",
        *(f"- {line}" for line in found["sets"]),
        "differs from the paper:",
        *(f"- {line}" for line in found["differs"]),
    ]


def _by_validity(summary: EvaluationSummary) -> list[str]:
    """Returns the final scores weighted by what the user's raters found valid; [] if the paper's raters weigh them."""
    judged = summary["protocol"].get("judged")
    if judged is None:
        return []
    found = {name: content.get("by_validity") for name, content in summary["dimensions"].items()}
    rated = [
        f"{short(name)} {percent(entry['average']['value'])}, worst {percent(entry['worst']['value'])}"
        for name, entry in found.items()
        if entry
    ]
    without = [short(name) for name, entry in found.items() if not entry]
    return [
        f"validity-weighted, by what raters found valid at each degree ({judged['name']}), not by RobTest's Table 3: "
        f"{'; '.join(rated) or 'none of these dimensions was rated'}",
        *([f"not rated, so without a validity-weighted score: {', '.join(without)}"] if without and rated else []),
    ]


def _meaning(summary: EvaluationSummary) -> list[str]:
    names, measure = in_meaning(summary), measure_of_meaning(summary)
    if not names:
        return []
    if summary["protocol"]["meaning"] == "chrf":
        measure += " (a sentence encoder measures better: pip install 'scuff[meaning]', --encoder)"
    return [f"degrees of {', '.join(names)}: {measure}"]


def _short_of_the_degree(summary: EvaluationSummary) -> list[str]:
    highest = {name: content["degrees"][-1] for name, content in summary["dimensions"].items()}
    less = [
        f"{short(name)} {cell['reached'] or 0:.2f}"
        for name, cell in highest.items()
        if (cell["reached"] or 0) < SHORT * cell["degree"]
    ]
    if not less:
        return []
    top = f"{summary['protocol']['degrees'][-1]:g}"
    return [
        f"reach much less than the highest degree asked for, {top}, because no more can change, or nothing more that helps "
        f"the attacker: {', '.join(less)}"
    ]


def _skipped(data: DataFacts) -> list[str]:
    skipped = ", ".join(f"{count} with {why}" for why, count in data["skipped"].items())
    empty = data.get("empty", 0)
    return [
        *([f"examples left out: {skipped}"] if skipped else []),
        *([f"{many(empty, 'example')} with an empty text, which is asked as it is and cannot change"] if empty else []),
    ]


def _adaptive(summary: EvaluationSummary, cells: list[Cell]) -> list[str]:
    wanted = summary["protocol"]["width"]
    if not wanted:
        return []
    spans = [cell["average"]["interval"] for cell in cells]
    wide = sum(high - low > wanted for low, high in spans if low is not None and high is not None)
    total, saved = sum(cell["cases"] for cell in cells), summary["queries"]["saved"]
    return [
        f"adaptive: {saved:,} queries saved ({saved / max(saved + total, 1):.0%})",
        f"{wide} of {len(cells)} intervals are wider than {wanted:g}: more examples would narrow them",
        "the worst case is over the cases made, so it is higher than that of a full run",
    ]


def attack_notes(summary: AttackSummary) -> list[str]:
    """Returns the notes of an attack, first how many examples had each outcome and why some were skipped."""
    status, queries, attacked = summary["status"], summary["queries"], summary["success"]["of"]
    counts = ", ".join(f"{status[name]:,} {words}" for name, words in STATUS_WORDS.items())
    why = ", ".join(f"{count:,} {why}" for why, count in _why_skipped(summary).items())
    out = [f"{counts} ({why})" if why else counts]
    if shield := summary.get("shield"):
        out += [*_shield(shield, summary["examples"]), f"attacker {SEARCHES_AGAINST[shield['attacker']]}"]
    if status["error"]:
        reasons = tally(in_brief(summary["problems"]))
        out.append(f"errors count as failed attacks, so the true success rate may be higher: {reasons}")
    if lost := queries["unanswered"]:
        kinds = f": {tally(queries['reasons'])}" if "reasons" in queries else ""
        out.append(f"{many(lost, 'query', 'queries')} had no answer, counted as not fooling the model{kinds}")
    if unanswered := summary["unanswered"]:
        out.append(f"{many(unanswered, 'example')} had no answer even unchanged: nothing is known there")
    if untried := queries["untried"]:
        out.append(f"{many(untried, 'attack')} failed untried: nothing there can change under this recipe")
    if cut := queries["cut"]:
        out.append(f"{many(cut, 'attack')} ran out of queries or time")
    if unscored := summary.get("tradeoff", {}).get("unscored", 0):
        out.append(f"{many(unscored, 'attacked text')} had no reference, left out of both halves and S")
    out += _skipped(summary["data"])
    if not attacked:
        out.append("nothing was attacked, so nothing is known")
    elif attacked < FEW:
        out.append(f"few texts were attacked ({attacked}): the intervals are wide")
    return out


def _why_skipped(summary: AttackSummary) -> dict[str, int]:
    """Returns why examples were skipped; of those without an answer, in few words."""
    out: dict[str, int] = {}
    for why, count in summary["skipped"].items():
        short = f"no answer: {brief(why)}" if why.startswith(NO_ANSWER) else why
        out[short] = out.get(short, 0) + count
    return out
