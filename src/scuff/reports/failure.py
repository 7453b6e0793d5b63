"""What a failed gate says in a test suite: the bounds, the verdict, texts that broke, the table, and where the run is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..runs.folder import Folder
from ..runs.schema import AttackLine, EvaluationLine
from .formatting import wrapped
from .gate import Line
from .live import marked_line
from .verdict import Verdict

SHOWN = 5  # broken texts


def failure_text(failed: list[Line], verdict: Verdict, table: str, folder: Folder, *, kept: bool) -> str:
    """Returns the message of a gate that failed. kept: the run stays on disk, so that it is worth saying where it is."""
    said = [wrapped(sentence) for sentence in (*verdict.sentences, verdict.caution) if sentence]
    broken = [f"  {line}" for line in islice(broken_lines(folder), SHOWN)]
    parts = [
        ["the model is less robust than asked:", *map(str, failed)],
        said,
        ["broken texts:", *broken] if broken else [],
        table.splitlines(),
        [f"report: {folder.path / 'report.html'}"] if kept else [],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def broken_lines(folder: Folder) -> Iterator[str]:
    """Yields texts that were right and broke, changes marked, from the results of a run: the smallest changes first."""
    if "kind" in folder.read_json("summary.json"):
        yield from _of_attack(folder.attack_results())
    else:
        yield from _of_evaluation(folder.evaluation_results())


def _of_attack(lines: Iterator[AttackLine]) -> Iterator[str]:
    found = [(line, line["adversarial"]) for line in lines if line["status"] == "succeeded"]
    known = [(line, adversarial) for line, adversarial in found if adversarial]
    for line, adversarial in sorted(known, key=lambda pair: (not pair[1]["valid"], pair[1]["changed"])):
        yield marked_line(line["texts"], adversarial["edits"], line["clean"]["answer"], adversarial["answer"], False)


def _of_evaluation(lines: Iterator[EvaluationLine]) -> Iterator[str]:
    """Yields one text of each dimension, then a second one of each, and so on."""
    found: dict[str, list[tuple[float, str]]] = {}
    for line in lines:
        for name, content in line["dimensions"].items():
            case = content["broken_by"]
            if case is not None and line["clean"]["score"] == 1:
                shown = marked_line(line["texts"], case["edits"], line["clean"]["answer"], case["answer"], False)
                found.setdefault(name, []).append((case["degree"], f"{name}@{case['degree']:g}: {shown}"))
    turns = [
        (turn, name, shown)
        for name, cases in found.items()
        for turn, (_, shown) in enumerate(sorted(cases, key=lambda case: case[0])[:SHOWN])
    ]
    for _, _, shown in sorted(turns, key=lambda entry: entry[0]):
        yield shown
