"""Writes docs/results/shielded.json, the evidence, and the part of docs/results/shields.md about shielded models."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scuff.metrics.interval import wilson
from shielded import ATTACKERS, HIGH, LOW, MODELS, RECIPES, SHIELDS, STRENGTHS

DOCS = Path(__file__).parents[1] / "docs" / "results"
EVIDENCE, PAGE = DOCS / "shielded.json", DOCS / "shields.md"
BEGIN, END = "<!-- shielded: begin, written by benchmarks/shielded.py page -->", "<!-- shielded: end -->"
METRICS = {
    "sst2": "accuracy",
    "davidson": "accuracy",
    "jigsaw": "macro AUC",
    "nli": "accuracy",
    "ud_ewt": "tag accuracy",
}
KINDS = {
    "deepwordbug": "characters", "textbugger": "characters, blanks, look-alikes, words", "tt-deepwordbug": "characters",
    "pwws": "synonyms", "textfooler": "synonyms",
}  # fmt: skip
SEEN = ("deepwordbug", "textbugger", "tt-deepwordbug")  # recipes that change characters
NONE = "–"

Cells = dict[tuple[str, ...], dict[str, Any]]


def collected(folder: Path) -> dict[str, Any]:
    """The numbers of all cells of a run: accuracy by cell, attacks summed over the parts of their texts."""
    accuracy: dict[str, Any] = {}
    attacks: dict[str, Any] = {}
    for path in sorted((folder / "cells").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        cell = found.pop("cell")
        if cell["kind"] == "accuracy":
            accuracy["/".join((cell["model"], cell["what"], cell["shield"]))] = found
            continue
        key = "/".join((cell["model"], cell["what"], cell["shield"], cell["attacker"]))
        attacks[key] = _summed(attacks[key], found) if key in attacks else found
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    return {"about": about, "accuracy": accuracy, "attacks": attacks}


def _summed(one: Any, other: Any) -> Any:
    """Two entries, number by number; what is no number is that of the first."""
    if isinstance(one, dict):
        return {name: _summed(value, other[name]) if name in other else value for name, value in one.items()}
    return round(one + other, 2) if isinstance(one, int | float) and isinstance(other, int | float) else one


class Results:
    """The evidence, by cell. Values are shares; None where a cell is not defined or was not run."""

    def __init__(self, evidence: dict[str, Any]) -> None:
        self.about, self._accuracy, self._attacks = evidence["about"], evidence["accuracy"], evidence["attacks"]

    def clean(self, model: str, shield: str) -> float | None:
        """The score on clean texts: the same in every cell of a model and a shield."""
        found = (self._accuracy.get(f"{model}/{what}/{shield}", {}) for what in (*LOW, *HIGH))
        return next((entry["clean"]["value"] for entry in found if "clean" in entry), None)

    def mended(self, model: str, shield: str) -> float | None:
        """The share of clean texts that a shield changes."""
        found = (self._accuracy.get(f"{model}/{what}/{shield}", {}) for what in (*LOW, *HIGH))
        return next((entry["mended"] / entry["examples"] for entry in found if entry.get("mended") is not None), None)

    def score(self, model: str, what: str, shield: str, strength: float) -> float | None:
        entry = self._accuracy.get(f"{model}/{what}/{shield}", {})
        return next((each["value"] for each in entry.get("strengths", ()) if each["strength"] == strength), None)

    @property
    def spread(self) -> float:
        """Half of the mean width of the intervals under perturbations."""
        cells = [each for entry in self._accuracy.values() for each in entry.get("strengths", ())]
        return float(np.mean([(each["interval"][1] - each["interval"][0]) / 2 for each in cells]))

    def means(self, model: str, strength: float, among: Iterable[str] = LOW) -> dict[str, float] | None:
        """The mean score over the perturbations that were run with every shield; None if there are none."""
        rows = [[self.score(model, what, shield, strength) for shield in SHIELDS] for what in among]
        full = [row for row in rows if None not in row]
        if not full:
            return None
        return dict(zip(SHIELDS, np.mean(np.array(full, np.float64), 0).tolist(), strict=True))

    def success(self, model: str, recipe: str, shield: str, attacker: str = "") -> tuple[int, int] | None:
        """(successes, attacked); None if the recipe is not defined there, or nothing was attacked."""
        entry = self._attacks.get(f"{model}/{recipe}/{shield}/{attacker}", {})
        found = entry.get("success")
        return (found["count"], found["of"]) if found and found["of"] else None

    def queries(self, model: str, recipe: str, shield: str, attacker: str = "") -> float | None:
        entry = self._attacks.get(f"{model}/{recipe}/{shield}/{attacker}", {})
        return entry["queries"]["total"] / entry["success"]["of"] if entry.get("success", {}).get("of") else None

    def pooled(self, recipes: Iterable[str], shield: str, attacker: str = "") -> tuple[int, int]:
        """Successes and attacked texts of some recipes, over all models that have every variant of them."""
        total = np.zeros(2, np.int64)
        for model in MODELS:
            for recipe in recipes:
                variants = [self.success(model, recipe, "none")] + [
                    self.success(model, recipe, each, way) for each in SHIELDS[1:] for way in ATTACKERS
                ]
                mine = self.success(model, recipe, shield, attacker)
                if mine is not None and None not in variants:
                    total += mine
        return int(total[0]), int(total[1])


def percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def share(found: tuple[int, int] | None) -> str:
    return NONE if found is None else f"{100 * found[0] / found[1]:.0f} ({found[0]}/{found[1]})"


def with_interval(found: tuple[int, int]) -> str:
    count, of = found
    if not of:
        return NONE
    low, high = wilson(count / of, of)
    return f"{100 * count / of:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], named: int = 1) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * named + "---:|" * (len(head) - named)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def regained(means: dict[str, float], clean: float | None, shield: str) -> str:
    """The share of what perturbations take that a shield gives back; a dash where they take less than a point."""
    if clean is None or clean - means["none"] < 0.01:
        return NONE
    return f"{100 * (means[shield] - means['none']) / (clean - means['none']):.0f}"


def clean_table(found: Results) -> str:
    rows = []
    for model in MODELS:
        scores = [percent(found.clean(model, shield)) for shield in SHIELDS]
        changed = [percent(found.mended(model, shield)) for shield in SHIELDS[1:]]
        rows.append([model, METRICS[model], *scores, *changed])
    return table(["model", "metric", *SHIELDS, "texts changed, fast", "texts changed, context"], rows, 2)


def means_table(found: Results) -> str:
    rows = []
    for model in MODELS:
        for strength in STRENGTHS:
            means = found.means(model, strength)
            if means is None:
                continue
            clean = found.clean(model, "none")
            back = [regained(means, clean, shield) for shield in SHIELDS[1:]]
            rows.append([model, f"{strength:g}", percent(clean), *(percent(means[each]) for each in SHIELDS), *back])
    return table(["model", "strength", "clean", *SHIELDS, "% regained, fast", "% regained, context"], rows, 2)


def model_table(found: Results, model: str) -> str:
    head = ["perturbation", *(f"{shield}, {strength:g}" for strength in STRENGTHS for shield in SHIELDS)]
    rows = []
    for what in (*LOW, *HIGH):
        scores = [found.score(model, what, shield, strength) for strength in STRENGTHS for shield in SHIELDS]
        if any(score is not None for score in scores):
            rows.append([what, *map(percent, scores)])
    return f"**{model}** ({METRICS[model]})\n\n{table(head, rows)}" if rows else ""


def attack_rows(found: Results) -> str:
    ways = [(shield, attacker) for shield in SHIELDS[1:] for attacker in ATTACKERS]
    rows = []
    for model in MODELS:
        for recipe in RECIPES:
            alone = found.success(model, recipe, "none")
            if alone is None:
                continue
            cells = [share(found.success(model, recipe, *way)) for way in ways]
            spent = [found.queries(model, recipe, "none"), found.queries(model, recipe, "fast", "aware")]
            told = [NONE if each is None else f"{each:.0f}" for each in spent]
            rows.append([model, recipe, KINDS[recipe], share(alone), *cells, *told])
    head = ["model", "recipe", "changes", "no shield", *(f"{shield}, {way}" for shield, way in ways)]
    return table([*head, "queries, no shield", "queries, fast, aware"], rows, 3)


def limits(found: Results) -> list[str]:
    """What shields do not help, with the figures."""
    words = tuple(recipe for recipe in RECIPES if recipe not in SEEN)

    def line(recipes: Sequence[str], shield: str, attacker: str) -> str:
        return with_interval(found.pooled(recipes, shield, attacker))

    out = [
        f"- **Synonyms.** {' and '.join(words)} put right words in place of right words, and a shield has nothing to mend: "
        f"their success over all models is {line(words, 'none', '')} without a shield, {line(words, 'fast', 'aware')} with "
        f"`fast` and {line(words, 'context', 'aware')} with `context` (aware). Words that are left out or inflected otherwise "
        "(`omit`, `inflection` below) are as invisible.",
        f"- **An attacker who knows the shield.** Recipes of characters succeed on {line(SEEN, 'none', '')} of the texts without "
        f"a shield. Unaware of `fast` they succeed on {line(SEEN, 'fast', 'unaware')}, aware of it on "
        f"{line(SEEN, 'fast', 'aware')}; of `context` {line(SEEN, 'context', 'unaware')} and "
        f"{line(SEEN, 'context', 'aware')}. The figure to trust is that of the aware attacker, who searches among the changes "
        "that the shield mends wrongly or not at all; the other one only says how much of what is around today is stopped.",
        "- **Texts that the model gets wrong anyway.** A shield mends text, not models: the clean scores below are its upper "
        "limit, and where it changes clean texts it may cost some of that.",
        "- **Other languages.** All five data sets are English, as are the shields' lexicon and channels.",
    ]  # fmt: skip
    return [wrapped(each) for each in out]


def wrapped(text: str, width: int = 100) -> str:
    """A paragraph or item of a list in lines of at most `width`."""
    import textwrap

    return textwrap.fill(text, width, subsequent_indent="  " if text.startswith("- ") else "", break_long_words=False)


def block(found: Results) -> str:
    about = found.about
    lead = wrapped(
        f"Five models of the shared folder (MiniLM, fine-tuned), {about['examples']} texts of each test part, the same for every "
        "shield; `scuff evaluate --shield` with one case for each text, perturbation and strength. `fast` and `context` are the "
        "chains of these names. The 95 % interval of a single score is about "
        f"± {100 * found.spread:.0f} points; texts are the same in a row, so differences are surer. On "
        "SNLI both sentences are perturbed; `segment` joins words and is not defined for tags."
    )
    attacks = wrapped(
        f"`scuff attack --shield`, up to {about['attacked']} texts of at most {about['words']} words of each test part, at most "
        f"{about['queries']} queries for each; in % of the attacked texts, which are those that the model gets right: successes "
        "and attacked in brackets. Unaware: the search asks the model alone, and a success must fool the shielded model. Aware: "
        "the search asks the shielded model. tt-deepwordbug: ToxicTrap's goal, toxic texts alone. textbugger and textfooler take "
        "neighbours from lists of at most 8 counter-fitted ones, textfooler without the limit on their angle. On tags a success "
        "is three in ten of them wrong."
    )
    versions = ", ".join(f"{name} {about[name]}" for name in ("scuff", "torch", "transformers", "numpy"))
    parts = [
        "## Shielded models",
        lead,
        "### What shields do not help",
        "\n".join(limits(found)),
        "### Clean texts",
        clean_table(found),
        "### Accuracy regained",
        wrapped(
            "Means over the low-level perturbations. Regained: the share of what they take from the clean score that the shield "
            "gives back."
        ),
        means_table(found),
        "### Attacks",
        attacks,
        attack_rows(found),
        "### Every perturbation",
        *filter(None, (model_table(found, model) for model in MODELS)),
        wrapped(
            "Commands: `python benchmarks/shielded.py run --device cuda --jobs 16`, then `page --runs FOLDER`; seed "
            f"{about['seed']}; {versions}. Intervals of every cell are in [shielded.json](shielded.json)."
        ),
    ]
    return "\n\n".join([BEGIN, *parts, END])


def put_in(page: str, new: str) -> str:
    """The page with the block in the place of the one before, or at its end."""
    old = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.S)
    if old.search(page):
        return old.sub(lambda _: new, page)
    return f"{page.rstrip()}\n\n{new}\n".lstrip()


def write(folder: Path | None) -> int:
    """Writes the evidence, if cells are given, and the page. Returns an exit code."""
    if folder is not None:
        text = json.dumps(collected(folder), indent=1, sort_keys=True) + "\n"
        EVIDENCE.write_text(text, encoding="utf-8")
    if not EVIDENCE.is_file():
        print(f"expected {EVIDENCE} or --runs FOLDER, got neither", file=sys.stderr)
        return 2
    page = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else "# Shields\n"
    found = Results(json.loads(EVIDENCE.read_text(encoding="utf-8")))
    PAGE.write_text(put_in(page, block(found)), encoding="utf-8")
    print(f"{PAGE}: written")
    return 0
