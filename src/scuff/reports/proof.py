"""What a hardening won and lost, in words and as a table, from proof.json."""

from __future__ import annotations

from ..runs.proof import Change, DimensionChange, Proof
from .changes import KEPT, LOST, UNCLEAR, WON, points, verdict
from .formatting import WIDE, folded, percent, wrapped

SHOWN = 3  # perturbations that the first sentence names


def proof_words(proof: Proof) -> list[str]:
    """What was won and lost, a sentence each, the sum of it first."""
    found, attack = proof["comparison"], proof["attack"]
    clean, overall = found["clean"], found["all"]["average"]
    lines = [_in_sum(clean, overall, _losses(proof)), _sentence(f"clean {found['metric']}", clean)]
    auc = found["clean_auc"]
    if auc is not None:
        lines.append(_sentence("clean macro AUC", auc))
    if proof["trained"]:
        groups = (
            ("perturbations seen in training", found["seen"]),
            ("perturbations never seen", found["unseen"]),
        )
        for words, group in groups:
            if group is None:
                lines.append(f"{words}: none was measured.")
                continue
            lines.append(_sentence(f"{words} ({group['dimensions']})", group["average"]))
    else:
        lines.append(_sentence(f"perturbed texts ({found['all']['dimensions']} perturbations)", overall))
    lines.append(_sentence("the worst case of each example, all perturbations", found["all"]["worst"]))
    lines += _extremes(found["dimensions"])
    if attack is not None:
        change = attack["success"]
        kind = {WON: "harder to attack", LOST: "easier to attack", UNCLEAR: UNCLEAR}[
            verdict(change, lower_is_better=True)
        ]
        lines.append(
            f"{attack['recipe']} succeeds on {percent(change['before'])} % of the texts that it attacks before, "
            f"{percent(change['after'])} % after: {points(change)} points, {kind}."
        )
    return lines


def _losses(proof: Proof) -> list[str]:
    """What is surely worse, beside the clean score and the mean over all perturbations."""
    found, attack = proof["comparison"], proof["attack"]
    known: list[tuple[str, Change | None]] = [("clean macro AUC", found["clean_auc"])]
    if found["seen"] and found["unseen"]:
        known += [("seen perturbations", found["seen"]["average"]), ("unseen ones", found["unseen"]["average"])]
    known.append(("the worst case", found["all"]["worst"]))
    lost = [what for what, change in known if change is not None and verdict(change) == LOST]
    names = [name for name, each in found["dimensions"].items() if verdict(each["average"]) == LOST]
    lost += names if len(names) <= SHOWN else [*names[:SHOWN], f"{len(names) - SHOWN} more perturbations"]
    easier = attack is not None and verdict(attack["success"], lower_is_better=True) == LOST
    return [*lost, f"under {attack['recipe']}"] if attack is not None and easier else lost


def _in_sum(clean: Change, overall: Change, losses: list[str]) -> str:
    """The first sentence: is it better, and at what price?"""
    gain, price = verdict(overall), verdict(clean)
    low = clean["interval"][0]
    kept = low is not None and low >= -KEPT
    what = {
        WON: "The model became more robust",
        LOST: "The model became less robust",
        UNCLEAR: "No clear change in robustness",
    }
    cost = {
        WON: "and better on clean texts",
        LOST: "and worse on clean texts",
        UNCLEAR: "at no measurable price on clean texts" if kept else "without a clear change on clean texts",
    }
    worse = f"; surely worse: {', '.join(losses)}" if losses else ""
    return f"{what[gain]}, {cost[price]}{worse}."


def _sentence(what: str, change: Change) -> str:
    return (
        f"{what}: {percent(change['before'])} before, {percent(change['after'])} after, {points(change)} points: "
        f"{verdict(change)}."
    )


def _extremes(dimensions: dict[str, DimensionChange]) -> list[str]:
    """The dimensions with the largest gain, and those that surely lost."""
    known = [(name, each["average"]) for name, each in dimensions.items() if each["average"]["difference"] is not None]
    ranked = sorted(known, key=lambda entry: -(entry[1]["difference"] or 0))
    won = [f"{name} {points(change)}" for name, change in ranked if verdict(change) == WON][:3]
    lost = [f"{name} {points(change)}" for name, change in reversed(ranked) if verdict(change) == LOST][:3]
    lines = [f"most won: {', '.join(won)}."] if won else []
    return [*lines, f"lost: {', '.join(lost)}."] if lost else [*lines, "lost: no perturbation is surely worse."]


def proof_table(proof: Proof, window: int | None = None) -> str:
    """A line per dimension, those seen in training apart, then the sums and the words.

    window: letters of a line of the terminal; a table that is wider goes on below. None: it is as wide as it is.
    """
    found = proof["comparison"]
    head = (
        f"{proof['model']} hardened by {', '.join(proof['methods'])}: {found['metric']} in %, paired 95 % intervals, "
        f"{found['examples']:,} examples, {found['cases']:,} cases"
    )
    rows = [["", "before", "after", "difference", "worst case: before", "after"]]
    for title, names in groups_of(proof):
        if title:
            rows.append([title, "", "", "", "", ""])
        rows += [_cells(f"  {name}", *_changes(found["dimensions"][name])) for name in names]
    for title, group in (("seen", found["seen"]), ("never seen", found["unseen"]), ("all", found["all"])):
        if group is not None and (proof["trained"] or title == "all"):
            rows.append(_cells(f"mean, {title}", group["average"], group["worst"]))
    rows.append(_cells("clean", found["clean"], None))
    width = max([24, *(len(name) + 2 for name in found["dimensions"])])
    table = [_line(row, width) for row in rows]
    if window is not None and max(map(len, table)) > window:
        table = folded(rows, window, 1)
    start = head if window is None else wrapped(head, width=window)
    return "\n".join([start, "", *table, "", *(wrapped(line, width=window) for line in proof["words"])])


def groups_of(proof: Proof) -> list[tuple[str, list[str]]]:
    """The dimensions, the largest gain first, in groups: those seen in training, and the others."""
    dimensions = proof["comparison"]["dimensions"]
    ranked = sorted(dimensions, key=lambda name: (-(dimensions[name]["average"]["difference"] or 0), name))
    if not proof["trained"]:
        return [("", ranked)]
    seen = [name for name in ranked if dimensions[name]["seen"]]
    unseen = [name for name in ranked if not dimensions[name]["seen"]]
    return [(t, names) for t, names in (("seen in training", seen), ("never seen", unseen)) if names]


def _changes(dimension: DimensionChange) -> tuple[Change, Change | None]:
    return dimension["average"], dimension["worst"]


def _cells(name: str, change: Change, worst: Change | None) -> list[str]:
    more = [percent(worst["before"]), percent(worst["after"])] if worst else ["", ""]
    return [name, percent(change["before"]), percent(change["after"]), points(change), *more]


def _line(row: list[str], width: int) -> str:
    name, before, after, difference, worst_before, worst_after = row
    text = f"{name:{width}}{before:>8}{after:>8}   {difference:24}{worst_before:>18}{worst_after:>8}"
    return text.rstrip()[:WIDE]
