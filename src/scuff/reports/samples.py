"""Chooses the examples that a page shows, of a large run a sample, and what they can be filtered by."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from ..data.dataset import Task, joined
from ..runs.folder import Folder
from ..runs.schema import Answer, AttackLine, AttackSummary, EvaluationLine, EvaluationSummary, Failure, Status, Target
from .formatting import many, percent
from .groups import shown_name
from .page import Example, answer_text, escaped

MOST = 600  # examples of an evaluation on a page, about
HELD = 5  # examples of a dimension that held, which are shown for comparison
ATTACKS: dict[Status, int] = {"succeeded": 400, "failed": 60, "error": 20}  # examples of an attack on a page at most
BUCKETS = (0.1, 0.25, 0.5, 1.0)  # shares of changed words by which attacks are filtered
LABELS = 60  # labels that can be filtered by at most
FILTERS = ("dimension", "label", "degree", "outcome")


@dataclass(frozen=True)
class Sample:
    """An example on a page, with what it can be filtered by; "" if that does not apply."""

    example: Example
    dimension: str = ""
    label: str = ""
    degree: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Samples:
    """The examples of a page, the smallest changes first. count: how many of these are `what`, of which the run has `of`.

    filters: names, what they are called, and their values, those that differ among the samples.
    """

    shown: list[Sample]
    count: int
    of: int
    what: str
    filters: list[tuple[str, str, list[str]]]

    @classmethod
    def made(cls, shown: list[Sample], count: int, of: int, what: str, called: Mapping[str, str]) -> Samples:
        filters = []
        for name in FILTERS:
            values = list(dict.fromkeys(getattr(sample, name) for sample in shown if getattr(sample, name)))
            if 1 < len(values) <= LABELS or (name == "dimension" and len(values) > 1):
                filters.append((name, called.get(name, name), sorted(values, key=_sorted_as)))
        return cls(shown, count, of, what, filters)

    @property
    def words(self) -> str:
        """How many examples these are, and of how many a sample."""
        sample = f", a sample with {self.count:,} of {self.of:,} {self.what}" if self.count < self.of else ""
        return f"{many(len(self.shown), 'example')}{sample}."


def _sorted_as(value: str) -> tuple[float, str]:
    try:
        return float(value.rpartition(" ")[2].rstrip("%") if value.endswith("%") else value), ""
    except ValueError:
        return 0.0, value


def label_of(target: Target, task: Task) -> str:
    """Returns the label that an example is filtered by; "" for tags and texts."""
    if task == "single":
        return joined(target)
    return ", ".join(target) or "no label" if task == "multi" else ""


# an evaluation


Broken = tuple[tuple[float, int], EvaluationLine, str, Failure]  # size of the change, and number of the example


def evaluation_samples(folder: Folder, summary: EvaluationSummary) -> tuple[Samples, dict[str, Sample]]:
    """Returns the examples of an evaluation, and for each dimension the smallest change that broke one.

    Of every dimension and degree as many are shown, those with the smallest changes, and some that held in each dimension.
    """
    dimensions = summary["dimensions"]
    each = max(2, MOST // max(1, len(dimensions) * len(summary["protocol"]["degrees"])))
    shown_as = {name: shown_name(summary, name) for name in dimensions}
    broken: dict[tuple[str, float], list[Broken]] = {}
    held: dict[str, list[Sample]] = {name: [] for name in dimensions}
    count = 0
    for number, line in enumerate(folder.evaluation_results()):
        for name, content in line["dimensions"].items():
            case = content["broken_by"]
            if name not in dimensions:
                continue
            if case is not None:
                count += 1
                cell = broken.setdefault((name, case["degree"]), [])
                insort(cell, ((case["reached"], number), line, name, case), key=lambda one: one[0])
                del cell[each:]
            elif line["clean"]["score"] == 1 and len(held[name]) < HELD:
                held[name].append(_held(line, shown_as[name], summary["task"]))
    ordered = sorted(
        ((degree, *one) for (_, degree), cell in broken.items() for one in cell),
        key=lambda entry: (*entry[:2], entry[3]),
    )
    samples, smallest = list[Sample](), dict[str, Sample]()
    for _, _, line, name, case in ordered:
        samples.append(_broken(line, shown_as[name], case, summary["task"]))
        smallest.setdefault(name, samples[-1])
    shown = [*samples, *(sample for some in held.values() for sample in some)]
    return Samples.made(shown, len(samples), count, "texts that broke", {}), smallest


def _broken(line: EvaluationLine, name: str, case: Failure, task: Task) -> Sample:
    head = Markup("<b>{}</b>, example {}, degree {}: expected {}, answered {}, before {}").format(
        escaped(name), escaped(line["id"]), f"{case['degree']:g}", answer_text(line["target"]), answer_text(case["answer"]),
        answer_text(line["clean"]["answer"]),
    )  # fmt: skip
    outcome = "became wrong" if line["clean"]["score"] == 1 else "got worse"
    if case["answer"] is None:
        outcome = "no answer"
    example = Example(head, line["texts"], case["edits"])
    return Sample(example, name, label_of(line["target"], task), f"{case['degree']:g}", outcome)


def _held(line: EvaluationLine, name: str, task: Task) -> Sample:
    head = Markup("<b>{}</b>, example {}: no case broke it, answered {}").format(
        escaped(name), escaped(line["id"]), answer_text(line["clean"]["answer"])
    )
    return Sample(Example(head, line["texts"], []), name, label_of(line["target"], task), "", "held")


# an attack


def attack_samples(folder: Folder, summary: AttackSummary) -> Samples:
    """Returns examples of an attack, spread evenly over the data, the smallest changes first."""
    wanted = {status: evenly(summary["status"][status], most) for status, most in ATTACKS.items()}
    seen, found = dict.fromkeys(ATTACKS, 0), list[tuple[float, Sample]]()
    for line in folder.attack_results():
        status = line["status"]
        if status in wanted:
            if seen[status] in wanted[status]:
                changed = line["adversarial"]["changed"] if line["adversarial"] and status == "succeeded" else 2.0
                found.append((changed, _attacked(line, summary)))
            seen[status] += 1
    shown = [sample for _, sample in sorted(found, key=lambda pair: pair[0])]
    return Samples.made(shown, len(shown), summary["success"]["of"], "attacked texts", {"degree": "words changed"})


def evenly(count: int, most: int) -> set[int]:
    """Returns at most `most` of the numbers below `count`, spread evenly."""
    return {at * count // most for at in range(most)} if count > most else set(range(count))


def _attacked(line: AttackLine, summary: AttackSummary) -> Sample:
    tried, halves = line["adversarial"], line.get("tradeoff")
    facts: list[str] = []
    if halves is None:
        facts.append(Markup(" → ").join(answer_text(one["answer"]) for one in (line["clean"], tried) if one))
    else:
        facts.append(f"source {percent(halves['source'])}, decrease {percent(halves['decrease'])}")
    facts.append(many(line["queries"], "query", "queries"))
    if tried:
        facts.append(f"similarity {tried['similarity']:.2f}")
        if not tried["valid"]:
            facts.append("moved too far in meaning")
    if line["reason"]:
        facts.append(escaped(line["reason"]))
    head = Markup("<b>example {}</b>: {}").format(escaped(line["id"]), Markup(", ").join(facts))
    more = _outputs(line) if halves else {}
    if tried and "mended" in tried:
        more = {"mended by the shield": escaped(tried["mended"]), **more}
    example = Example(head, line["texts"], tried["edits"] if tried else [], more)
    outcome = {"failed": "failed", "error": "ended in an error"}.get(line["status"], "")
    if not outcome:
        outcome = "succeeded" if tried and tried["valid"] else "succeeded, moved too far in meaning"
    degree = _bucket(tried["changed"]) if tried and line["status"] == "succeeded" else ""
    return Sample(example, "", label_of(line["target"], summary["task"]), degree, outcome)


def _bucket(changed: float) -> str:
    return f"up to {100 * next((edge for edge in BUCKETS if changed <= edge), 1.0):g}%"


def _outputs(line: AttackLine) -> dict[str, str]:
    """Returns the texts that the model wrote before and after an attack, and the reference, by what they are."""
    halves, tried = line.get("tradeoff"), line["adversarial"]
    scores = (halves["before"], halves["after"]) if halves else (None, None)
    out: dict[str, Answer | Target] = {f"output before, {percent(scores[0])}": line["clean"]["answer"]}
    if tried:
        out[f"output after, {percent(scores[1])}"] = tried["answer"]
    if line["target"]:
        out["reference"] = joined(line["target"])
    return {what: answer_text(text) if text else "(empty)" for what, text in out.items()}
