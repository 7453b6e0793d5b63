"""Texts that broke the model, with what was changed."""

from __future__ import annotations

from typing import Any

from ..evaluate import Folder
from ..evaluate.results import in_words, joined
from .groups import Summary
from .marks import marked, visible

SHOWN = 5  # failures of a dimension

Failure = tuple[dict[str, Any], dict[str, Any]]  # a line of results.jsonl, and the case that broke it


def smallest_failures(folder: Folder, summary: Summary) -> dict[str, list[Failure]]:
    """For each dimension the smallest changes that broke something."""
    found: dict[str, list[tuple[tuple[float, float], Failure]]] = {name: [] for name in summary["dimensions"]}
    for line in folder.read_lines("results.jsonl"):
        for name, content in line["dimensions"].items():
            case = content["broken_by"]
            if case:
                entry = (case["degree"], case["reached"]), (line, case)
                found[name] = sorted([*found[name], entry], key=lambda entry: entry[0])[:SHOWN]
    return {name: [failure for _, failure in entries] for name, entries in found.items()}


def shown_failures(setting: str, content: dict[str, Any], failures: list[Failure]) -> str:
    """One in full, the others folded away."""
    if not failures:
        answered = any(cell["average"]["value"] is not None for cell in content["degrees"])
        none = "Nothing broke." if answered else "No case was answered."
        return f'<p class="soft"><b>{setting}</b>: {none}</p>'
    first, *more = [_example(setting, *failure) for failure in failures]
    return first + (f"<details><summary>{len(more)} more, {setting}</summary>{''.join(more)}</details>" if more else "")


def _example(setting: str, line: dict[str, Any], case: dict[str, Any]) -> str:
    texts = []
    for at, text in enumerate(line["texts"]):
        texts.append(f"<p>{marked(joined(text), [edit[1:] for edit in case['edits'] if edit[0] == at])}</p>")
    return (
        f'<div class="example"><p class="soft"><b>{setting}</b>, example {visible(str(line["id"]))}, degree {case["degree"]:g}: '
        f"expected {_answer(line['target'])}, answered {_answer(case['answer'])}, "
        f"before {_answer(line['clean']['answer'])}</p>{''.join(texts)}</div>"
    )


def _answer(answer: Any) -> str:
    words = in_words(answer, scores=True)
    return "nothing" if words is None else visible(words[:300]) or "no label"
