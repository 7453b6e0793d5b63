"""Model cards for the Hugging Face Hub, with the numbers as its `model-index`: of a hardened model, and of one that was evaluated
or attacked.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import fill
from typing import Any

from ..data.dataset import Task
from ..runs.folder import Folder
from ..runs.proof import Change, Proof
from ..runs.schema import AttackSummary, EvaluationSummary, RunFile
from .attack_tables import measure
from .changes import points, verdict
from .command import repeating
from .formatting import cell, markdown_row, percent
from .proof import groups_of
from .tables import PaperTable
from .verdict import verdict_of

# the id of a model; a folder might look the same, but has a dot or more slashes mostly
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
PIPELINES = {"single": "text-classification", "multi": "text-classification", "tokens": "token-classification"}


def model_card(proof: Proof, task: Task, *, hugging_face: bool, local: bool) -> str:
    """Returns the card as Markdown. hugging_face: the model is one of transformers. local: the first model is a folder."""
    found = proof["comparison"]
    paragraphs = [
        _front(proof, task, local) if hugging_face else "",
        f"# {_short(proof['model'])}, hardened",
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
    named, found, test = proof["model"], proof["comparison"], proof["data"]["test"]
    base = named.removeprefix("hf:") if HUB_ID.fullmatch(named.removeprefix("hf:")) and not local else ""
    scores = {f"{found['metric']}, clean": found["clean"]["after"]}
    scores[f"{found['metric']}, mean over perturbations"] = found["all"]["average"]["after"]
    scores |= {f"{found['metric']}, {name}": each["average"]["after"] for name, each in found["dimensions"].items()}
    metrics = [_metric(found["metric"], name, value) for name, value in scores.items() if value is not None]
    index = _index(f"{_short(named)}, hardened", task, test["name"], "", metrics)
    return front_matter(task, "transformers", base, index)


def front_matter(task: Task, library: str, base: str, index: list[dict[str, Any]]) -> str:
    """Returns the head of a card as YAML: what the Hub shows and searches by. base: the model it was made of, or ""."""
    import yaml

    head: dict[str, Any] = {
        **({"library_name": library} if library else {}),
        **({"pipeline_tag": PIPELINES[task]} if task in PIPELINES else {}),
        **({"base_model": base} if base else {}),
        "tags": ["robustness", "scuff"],
        "model-index": index,
    }
    text = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{text}---"


def _index(name: str, task: Task, data: str, spec: str, metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the `model-index` of one model on one data set. spec: by which the data was opened, if it has a name on the Hub."""
    found = spec.removeprefix("hf:")
    kind = found if HUB_ID.fullmatch(found) else _slug(data, "-")
    about = {"type": PIPELINES.get(task, "text2text-generation")}
    return [{"name": name, "results": [{"task": about, "dataset": {"name": data, "type": kind}, "metrics": metrics}]}]


def _metric(metric: str, name: str, value: float) -> dict[str, Any]:
    return {"type": _slug(metric, "_"), "value": round(value, 6), "name": name}


def _slug(name: str, between: str) -> str:
    return re.sub(r"\W+", between, name.lower()).strip(between) or "unknown"


def _short(model: str) -> str:
    return model.rstrip("/").rpartition("/")[2] or model


def run_card(folder: Folder, table: PaperTable) -> str:
    """Returns the card of a model that was evaluated or attacked: verdict, numbers, and the command that repeats them.

    table: the numbers in the layout of a paper. It says nothing of what the model was trained on: that is its owner's to add.
    """
    run, summary = folder.run(), folder.summary()
    metrics = _attack_metrics(summary) if "kind" in summary else _evaluation_metrics(summary)
    data = summary["data"]["name"]
    index = _index(_short(summary["model"]), summary["task"], data, run["data"]["spec"] or "", metrics)
    command, needs = repeating(run)
    paragraphs = [
        front_matter(summary["task"], _library(run), "", index),
        f"# {cell(_short(summary['model']))}",
        "## Robustness",
        verdict_of(folder).markdown().rstrip(),
        table.markdown().rstrip(),
        "## How this was measured",
        f"```\n{command}\n```",
        _text(f"({needs})") if needs else "",
        _text(f"By Scuff {run['versions']['scuff']}; intervals are 95 %. Signature: `{run['signature']}`"),
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _library(run: RunFile) -> str:
    """Returns the library that opens the model, if its name tells."""
    spec = run["model"]["spec"] or ""
    own = spec.startswith(("toy:", "chat:", "http:", "https:")) or ".py:" in spec
    named = HUB_ID.fullmatch(spec.removeprefix("hf:")) and not Path(spec).exists()
    folder = any((Path(spec) / name).is_file() for name in ("tokenizer_config.json", "tokenizer.json"))
    return "transformers" if not own and spec and (named or folder) else ""


def _evaluation_metrics(summary: EvaluationSummary) -> list[dict[str, Any]]:
    metric, overall = summary["metric"], summary["overall"]
    scores = {f"{metric}, clean": summary["clean"]["score"]}
    scores |= {
        f"{metric}, final average over all perturbations": overall["average"],
        f"{metric}, final worst case over all perturbations": overall["worst"],
    }
    for name, content in summary["dimensions"].items():
        scores |= {f"{metric}, {name}, final average": content["average"]}
        scores |= {f"{metric}, {name}, final worst case": content["worst"]}
    return [_metric(metric, name, entry["value"]) for name, entry in scores.items() if entry["value"] is not None]


def _attack_metrics(summary: AttackSummary) -> list[dict[str, Any]]:
    recipe, mean = summary["recipe"]["name"], summary["queries"]["mean"]
    score = "token accuracy" if summary["task"] == "tokens" else "accuracy"
    if "tradeoff" in summary:
        score = measure(summary["tradeoff"]["metric"])
    scores = [
        (score, f"{score}, clean", summary["clean"]["value"]),
        (score, f"{score}, after {recipe}", summary["after"]["value"]),
        ("attack success rate", f"attack success rate, {recipe}", summary["success"]["value"]),
        ("queries", f"queries per attacked text, {recipe}", mean),
    ]
    return [_metric(metric, name, value) for metric, name, value in scores if value is not None]


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
