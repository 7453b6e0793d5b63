"""What to do about the weakest spot of a run: steps, each with the command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..attacks.recipes import RECIPES
from ..runs.schema import AttackSummary, EvaluationSummary, RunFile
from ..specs import can_be_rebuilt
from .command import command_for, repeating
from .ways import LIKE, SPELT, WAYS, perturbation

HELD = 0.995  # from this share of the clean score a dimension does no harm worth telling
AUGMENTED = 3  # perturbations that are recommended to train on, at most
TRAINABLE = ("single", "multi", "tokens")
ANYONE = ("keyboard", "visual")  # to train on where nothing better is known


@dataclass(frozen=True)
class Step:
    """Something to do next. words: a sentence; command: exactly what does it, in a shell or in Python."""

    words: str
    command: str


def steps_of_evaluation(summary: EvaluationSummary, run: RunFile) -> list[Step]:
    """Returns the shield and the augmentation against the dimensions that do harm, and an attack if no attacker was measured."""
    harm = [(summary["dimensions"][entry["dimension"]], entry["left"]) for entry in summary["harm"]]
    specs = [content["spec"] for content, left in harm if left is not None and left < HELD]
    weak = list(dict.fromkeys(filter(None, map(perturbation, specs))))
    tried = any(content["setting"] != "rule" for content, _ in harm)
    never_right = summary["clean"]["score"]["value"] == 0  # nothing is left that an attack could break
    return [
        *_shield(run, weak),
        *(_augmentation(run, weak[:AUGMENTED]) if specs else []),
        *([] if tried or never_right or summary["task"] == "text" else _attack(run)),
    ]


def steps_of_attack(summary: AttackSummary, run: RunFile) -> list[Step]:
    """Returns the shield against what the attack changes, and a training on attacks of the recipe."""
    recipe = summary["recipe"]
    changes = [perturbation(spec) for spec in recipe["transform"]]
    weak = list(dict.fromkeys(filter(None, changes)))
    if not summary["success"]["count"]:
        return []
    known = recipe["name"] in RECIPES and not any("chosen otherwise" in line for line in recipe["deviations"])
    steps = _shield(run, weak)
    if known and _trains(run):
        words = f"Train on texts that {recipe['name']} finds in the training part, and measure it again on other texts:"
        method = _behind_shield(run, f"attack({recipe['name']})")
        flags = {"--with": method, "--attack": recipe["name"], "-o": "hardened"}
        steps.append(Step(words, command_for(run, "harden", **flags)))
    else:
        steps += _augmentation(run, weak[:AUGMENTED])
    return steps


def _shield(run: RunFile, weak: list[str]) -> list[Step]:
    """Returns the shield that mends the weakest dimension that one mends; [] if none does, or the model has one."""
    texts = run["data"]["task"] == "text"  # in any language, while words are restored in English alone
    found = [name for name in weak if WAYS[name].shield in ((LIKE,) if texts else (LIKE, SPELT))][:AUGMENTED]
    if not found or run["config"].get("shield") or run["config"].get("predictions"):
        return []
    shield = SPELT if any(WAYS[name].shield == SPELT for name in found) else LIKE  # which mends look-alikes, too
    command, _ = repeating(run, shield=shield)
    return [Step(f"Put a shield in front of the model, which mends {_listed(found)}, and measure again:", command)]


def _augmentation(run: RunFile, weak: Iterable[str]) -> list[Step]:
    """Returns a training on perturbed copies; where Scuff cannot train the model, how to write the training data."""
    names = list(weak) or list(ANYONE)
    if _trains(run):
        words = f"Train on copies with {_listed(names)}, and measure both models on texts that were not trained on:"
        method = _behind_shield(run, f"augment({', '.join(names)})")
        return [Step(words, command_for(run, "harden", **{"--with": method, "-o": "hardened"}))]
    words = f"Train on copies with {_listed(names)}; this writes them, from your training data:"
    return [
        Step(words, f"scuff augment TRAIN.csv --dimensions {' '.join(names)} --degree 0.1 --ratio 1:1 -o augmented.csv")
    ]


def _behind_shield(run: RunFile, method: str) -> str:
    """Returns a method of training, with the shield that the run had."""
    shield = run["config"].get("shield")
    return f"{method},shield({shield})" if shield else method


def _attack(run: RunFile) -> list[Step]:
    if not _named(run) or run["model"]["access"] == "decision":
        return []
    goal = {"--goal": "tags"} if run["data"]["task"] == "tokens" else {}
    return [Step("See what someone who tries on purpose finds:", command_for(run, "attack", **goal))]


def _listed(names: list[str]) -> str:
    *others, last = dict.fromkeys(WAYS[name].noun for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def _trains(run: RunFile) -> bool:
    """Returns whether `scuff harden` can train the model: a folder or id of a network, or an embedded classifier."""
    spec = run["model"]["spec"]
    if spec is None or not _named(run) or run["data"]["task"] not in TRAINABLE:
        return False
    return spec.startswith("toy:") or ":" not in spec


def _named(run: RunFile) -> bool:
    """Returns whether a command can name the model, its shield and the data."""
    shield = run["config"].get("shield")
    return None not in (run["model"]["spec"], run["data"]["spec"]) and (not shield or can_be_rebuilt(shield))
