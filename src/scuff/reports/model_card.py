"""The model card of a hardened model: README.md with the numbers, what it was trained on, and the command."""

from __future__ import annotations

import json
import re
from textwrap import fill
from typing import Any

from ..data.dataset import Task
from ..runs.proof import Change, Proof
from .changes import points, verdict
from .formatting import markdown_row, percent
from .proof import groups_of

# the id of a model; a folder might look the same, but has a dot or more slashes mostly
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
PIPELINES = {"single": "text-classification", "multi": "text-classification", "tokens": "token-classification"}


def model_card(proof: Proof, task: Task, *, hugging_face: bool, local: bool) -> str:
    """Returns the card as Markdown. hugging_face: the model is one of transformers. local: the first model is a folder."""
    found = proof["comparison"]
    paragraphs = [
        _front(proof, task, local) if hugging_face else "",
        f"# {proof['model'].rstrip('/').rpartition('/')[2]}, hardened",
        _text(
            f"{proof['model']}, hardened by {', '.join(proof['methods'])} with Scuff {proof['scuff']}. "
            + " ".join(proof["words"][:1])
        ),
        "## What was won and lost",
        "\n".join(f"- {_text(line, '  ')}" for line in proof["words"][1:]),
        _text(
            f"Measured on {found['examples']:,} examples that were not trained on, with {found['cases']:,} perturbed cases, the "
            f"same before and after: {found['metric']} in %, differences in points with paired 95 % intervals."
        ),
        _table(proof),
        "## Training" if proof["trained"] else "## How it works",
        _training(proof),
        "## Use",
        _use(proof),
        "## How this was made",
        f"```\n{proof['command']}\n```" if proof["command"] else "",
        _text(
            "`before` and `after` beside this file's folder are the two runs, `comparison.html` shows them side by side, "
            "`proof.json` has every number."
        ),
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _front(proof: Proof, task: Task, local: bool) -> str:
    """The head that the Hugging Face Hub reads."""
    base = (
        [f"base_model: {proof['model'].removeprefix('hf:')}"] if HUB_ID.fullmatch(proof["model"]) and not local else []
    )
    known = [f"pipeline_tag: {PIPELINES[task]}"] if task in PIPELINES else []
    return "\n".join(["---", "library_name: transformers", *known, *base, "tags:", "- robustness", "- scuff", "---"])


def _table(proof: Proof) -> str:
    head = ["perturbation", "seen in training", "before", "after", "difference", ""]
    found = proof["comparison"]
    rows = [["clean texts", "", *_cells(found["clean"])]]
    for _, names in groups_of(proof):
        for name in names:
            entry = found["dimensions"][name]
            seen = ("yes" if entry["seen"] else "no") if proof["trained"] else ""
            rows.append([f"`{name}`", seen, *_cells(entry["average"])])
    groups = (
        ("mean, seen in training", found["seen"]),
        ("mean, never seen", found["unseen"]),
        ("mean, all", found["all"]),
    )
    for words, group in groups:
        if group is not None and (proof["trained"] or words == "mean, all"):
            rows.append([words, "", *_cells(group["average"])])
    if proof["attack"] is not None:
        rows.append([f"success of {proof['attack']['recipe']}", "", *_cells(proof["attack"]["success"], lower=True)])
    return "\n".join([markdown_row(head), markdown_row(["---"] * len(head)), *map(markdown_row, rows)])


def _cells(change: Change, *, lower: bool = False) -> list[str]:
    return [percent(change["before"]), percent(change["after"]), points(change), verdict(change, lower_is_better=lower)]


def _training(proof: Proof) -> str:
    parts = "; ".join(f"{name}: {part['examples']:,} of {part['name']}" for name, part in proof["data"].items())
    lines = [f"Examples: {parts} ({proof['split']})."]
    if proof["trained"]:
        lines = [f"Trained on {', '.join(proof['perturbations']) or 'clean texts'}.", *lines]
        lines += [f"{stage}: {_told(told)}." for stage, told in proof["training"].items()]
    if proof["shield"]:
        lines.append(f"Texts are mended by the shield `{proof['shield']}` before the model sees them.")
        if proof["trained"]:
            lines.append("It was trained on mended texts, too: use it with the shield.")
    return "\n".join(f"- {_text(line, '  ')}" for line in lines)


def _told(told: dict[str, Any]) -> str:
    """How a training went: its score on the dev part, and which epoch was the best."""
    dev = told.get("dev", {})
    score = dev.get(told.get("metric", "score"))
    known = [f"{told.get('metric', 'score')} {score:.4g} on the dev part" if isinstance(score, float) else "done"]
    if "epoch" in dev and isinstance(told.get("epochs"), list):
        known.append(f"epoch {dev['epoch']} of {len(told['epochs'])} was the best")
    for name, counts in told.get("adversarial", {}).items():
        known.append(f"{counts['found']:,} adversarial examples by {name}")
    return ", ".join(known)


def _use(proof: Proof) -> str:
    shield = f" --shield {json.dumps(proof['shield'])}" if proof["shield"] else ""
    lines = f"```\nscuff evaluate {proof['hardened']} DATA{shield}\n```"
    if proof["shield"]:
        lines += (
            f"\n\n```python\nimport scuff\n\ntexts = scuff.shield(texts, {proof['shield']!r})  # before the model\n```"
        )
    return lines


def _text(text: str, indent: str = "") -> str:
    return fill(text, 98, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
