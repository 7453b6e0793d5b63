"""What adversarial training did to a model: scores on clean data before and after, and attacks on both models.

Every change has a paired interval: both models answer the same examples, and both are attacked on the same ones. Each attack
searches anew: an attacker adapts to the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from ..attacks.comparison import compare_attacks
from ..attacks.settings import AttackSettings
from ..attacks.setup import AttackSetup
from ..data.dataset import Dataset, Task
from ..metrics import parse_metric
from ..metrics.interval import resamples
from ..runs.folder import BadRun, Folder
from ..runs.inputs import open_model, saved_data
from ..runs.proof import AttackComparison, Change, change_of
from ..runs.run import silent, start_run
from ..runs.settings import Settings
from ..runs.setup import Say
from ..victims.query import Query
from ..victims.truth import Truth
from .walks import Recipe, folder_name, label_of, opened

# ToxicTrap's Tables 7 and 13 have all but the first
SCORES: dict[Task, tuple[str, ...]] = {
    "single": ("accuracy", "auc", "average-precision", "macro-f1", "macro-recall"),
    "multi": ("exact-match", "auc", "average-precision", "macro-f1", "macro-recall"),
    "tokens": ("token-accuracy",),
}


class BeforeAfter(TypedDict):
    """A number of the first model and of the second."""

    before: float | None
    after: float | None


class RecipeRobustness(AttackComparison):
    """Success of a recipe before and after. seen: it was trained on. left: the score of the task under attack."""

    seen: bool
    left: BeforeAfter


class Robustness(TypedDict):
    """scores: on clean texts, by metric. attacks: by recipe."""

    examples: int
    scores: dict[str, Change]
    attacks: dict[str, RecipeRobustness]


def compare_models(before: Any, after: Any, data: Dataset, **settings: Any) -> dict[str, Change]:
    """The scores of two models on the same clean examples: accuracy, macro AUC, average precision, F1 and recall, as far as the
    task and the answers have them. settings: as for `scuff.attack` (labels, map, none, options).

    Examples that one of the models does not answer are left out. Raises BadRun if that leaves none.
    """
    about = AttackSettings.of(**settings)
    answered, sides = np.ones(len(data), np.bool_), []
    for model in (before, after):
        victim = open_model(model, about, data)
        outputs, truth = Query(victim)(*data.columns), Truth.of(data, victim.labels, about.map, about.none)
        answered &= outputs.answered & np.isfinite(truth.score(outputs)[0])
        sides.append((outputs, truth))
    rows = np.flatnonzero(answered)
    if not rows.size:
        raise BadRun(f"{data.name}: expected examples that both models answer, got none")
    draws, out = resamples(rows.size, about.seed), {}
    for metric in map(parse_metric, SCORES[data.task]):
        if metric.needs_scores and any(outputs.answers.dtype.kind != "f" for outputs, _ in sides):
            continue
        found = []
        for outputs, truth in sides:
            answers = outputs.answers[rows]
            said = answers if metric.needs_scores else truth.predicted(answers)
            found.append(metric.estimate(metric.statistics(said, truth.targets[rows], truth.labels), draws))
        out[metric.name] = change_of(found[0], found[1], rows.size)
    return out


def measure_robustness(
    before: Any,
    after: Any,
    data: Dataset,
    output: str | Path,
    *,
    seen: Sequence[Recipe],
    unseen: Sequence[Recipe] = (),
    attacked: int = 200,
    say: Say = silent,
    **settings: Any,
) -> Robustness:
    """Scores of two models on clean data, and the success of attacks on both: by recipes that the second was trained on (seen),
    and by others (unseen).

    attacked: examples that are attacked by each recipe, as for `scuff attack --attacked`: those that its goal applies to, by the
    first model; the second is attacked on the same. output: a folder for the runs, which a killed process goes on with.
    settings: as for `scuff.attack`.
    """
    before, after = opened(before, data, settings), opened(after, data, settings)
    found: Robustness = {
        "examples": len(data),
        "scores": compare_models(before, after, data, **settings),
        "attacks": {},
    }
    for name, change in found["scores"].items():
        say(f"clean   {name}: {_in_words(change)}")
    for recipe in (*seen, *unseen):
        label = label_of(recipe)
        folders = [Path(output) / side / folder_name(label) for side in ("before", "after")]
        given = {**settings, "recipe": recipe}
        _attack(before, data, folders[0], {**given, "attacked": attacked})
        run = Folder(folders[0]).run()
        same, _ = saved_data(Folder(folders[0]), run, Settings(map=run["key"]["map"], none=run["key"]["none"]))
        _attack(after, same, folders[1], {**given, "examples": len(same)})
        sums = [Folder(folder).attack_summary() for folder in folders]
        found["attacks"][label] = {
            **compare_attacks(Folder(folders[0]), Folder(folders[1])), "seen": recipe in seen,
            "left": {"before": sums[0]["after"]["value"], "after": sums[1]["after"]["value"]},
        }  # fmt: skip
        success = _in_words(found["attacks"][label]["success"])
        say(f"attack  {label} ({'seen' if recipe in seen else 'unseen'}): success {success}")
    return found


def _attack(model: Any, data: Dataset, folder: Path, given: dict[str, Any]) -> None:
    setup = AttackSetup.open(model, data, given, folder)
    start_run(setup, folder, lambda folder, summary: None, forecast=False)


def _in_words(change: Change) -> str:
    if change["before"] is None or change["after"] is None or change["difference"] is None:
        return "not defined"
    low, high = (100 * (edge or 0.0) for edge in change["interval"])
    return (
        f"{100 * change['before']:.1f} before, {100 * change['after']:.1f} after "
        f"({100 * change['difference']:+.1f} [{low:+.1f}, {high:+.1f}])"
    )
