"""What a hardening won and lost, in words and as a table, from proof.json."""

from __future__ import annotations

from ..runs.proof import Change, DimensionChange, Proof
from .changes import KEPT, LOST, UNCLEAR, WON, points, verdict
from .formatting import WIDE, percent, wrapped

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


def proof_table(proof: Proof) -> str:
    """A line per dimension, those seen in training apart, then the sums and the words."""
    found = proof["comparison"]
    width = max([24, *(len(name) + 2 for name in found["dimensions"])])
    lines = [
        f"{proof['model']} hardened by {', '.join(proof['methods'])}: {found['metric']} in %, paired 95 % intervals, "
        f"{found['examples']:,} examples, {found['cases']:,} cases",
        "",
        f"{'':{width}}{'before':>8}{'after':>8}   {'difference':24}{'worst case: before':>18}{'after':>8}",
    ]
    for title, names in groups_of(proof):
        if title:
            lines.append(title)
        lines += [_row(name, found["dimensions"][name], width) for name in names]
    for title, group in (("seen", found["seen"]), ("never seen", found["unseen"]), ("all", found["all"])):
        if group is not None and (proof["trained"] or title == "all"):
            lines.append(_line(f"mean, {title}", group["average"], group["worst"], width))
    lines += [_line("clean", found["clean"], None, width), ""]
    return "\n".join([*lines, *(wrapped(line) for line in proof["words"])])


def groups_of(proof: Proof) -> list[tuple[str, list[str]]]:
    """The dimensions, the largest gain first, in groups: those seen in training, and the others."""
    dimensions = proof["comparison"]["dimensions"]
    ranked = sorted(dimensions, key=lambda name: (-(dimensions[name]["average"]["difference"] or 0), name))
    if not proof["trained"]:
        return [("", ranked)]
    seen = [name for name in ranked if dimensions[name]["seen"]]
    unseen = [name for name in ranked if not dimensions[name]["seen"]]
    return [(t, names) for t, names in (("seen in training", seen), ("never seen", unseen)) if names]


def _row(name: str, change: DimensionChange, width: int) -> str:
    return _line(f"  {name}", change["average"], change["worst"], width)


def _line(name: str, change: Change, worst: Change | None, width: int) -> str:
    more = f"{percent(worst['before']):>18}{percent(worst['after']):>8}" if worst else ""
    text = f"{name:{width}}{percent(change['before']):>8}{percent(change['after']):>8}   {points(change):24}{more}"
    return text.rstrip()[:WIDE]
