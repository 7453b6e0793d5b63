"""Adversarial training of classifiers and taggers as in ToxicTrap (Bespalov et al. 2023), algorithm 2: `train_on_attacks`.

Clean epochs, then attacks on the training data, then epochs on clean and adversarial examples together. The paper does not say
what gamma, N_clean and N_adv are; its algorithm is that of A2T (Yoo and Qi 2021), so gamma and N_adv are A2T's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..attacks.attack import Attack
from ..attacks.settings import AttackSettings
from ..data.dataset import Dataset
from ..huggingface.loading import BadModel
from ..runs.engines.open import LOCAL
from ..runs.folder import BadRun, write_atomically
from ..runs.run import silent
from ..runs.settings import differing
from ..runs.setup import Say
from ..specs import check_count
from ..version import __version__
from .attacked import GAMMA, AdversarialExamples, adversarial_examples, attacked_feed, joined
from .checkpoints import BadFolder
from .feeds import Feed
from .robustness import measure_robustness
from .schedule import Schedule
from .trainer import check_data, check_libraries, fine_tune
from .walks import Recipe, Show, label_of

CLEAN_EPOCHS = 4  # of an encoder without a head: as many as fine_tune's; a classifier has had its own
ADVERSARIAL_EPOCHS = 3  # A2T's

Given = dict[str, Any]  # keywords of other functions


def train_on_attacks(
    start: str | Path,
    data: Dataset | Feed,
    dev: Dataset,
    out: str | Path,
    *,
    recipes: Recipe | Sequence[Recipe],
    gamma: float = GAMMA,
    clean_epochs: int | None = None,
    adversarial_epochs: int = ADVERSARIAL_EPOCHS,
    rounds: int = 1,
    unseen: Sequence[Recipe] = (),
    test: Dataset | None = None,
    attacked: int = 200,
    from_runs: Iterable[str | Path] = (),
    even: bool = False,
    attacks: str | Path | None = None,
    schedule: Schedule | Mapping[str, Any] | None = None,
    tuning: Mapping[str, Any] | None = None,
    device: str = "auto",
    seed: int = 0,
    max_queries: int | None = None,
    engine: str = LOCAL,
    address: str | None = None,
    workers: int | None = None,
    say: Say = silent,
    show: Show | None = None,
    trained: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Trains a model on its own adversarial examples and writes it into `out`/model, a Hugging Face folder. Returns metrics.json.

    start: an encoder, or a classifier or tagger with which training goes on. data: what is learnt from, or a feed of it. dev:
    chooses the best epoch, in the second phase together with adversarial examples of its own texts. recipes, gamma, from_runs,
    even, max_queries, engine, address, workers, settings: as for `adversarial_examples`. clean_epochs: of the first phase; by
    default 4 for an encoder, 0 for a classifier, which was trained before. adversarial_epochs: of the second phase. rounds: how
    often the model is attacked anew and trained on; the adversarial examples of earlier rounds stay. attacks: a folder for the
    attacks of the first round, which trainings from one start with other recipes or another gamma can share, one after the
    other. schedule: of both phases, but for their epochs. tuning: further options of `fine_tune`, such as max_length.

    test: if given, the model before (after the clean epochs) and the model at the end are measured on it: clean scores, and so
    many attacked examples of each recipe, also of those in `unseen`, which are not trained on. show: called with a Harvest while
    texts are attacked. trained: called with each line of the log while a model is trained.

    `out` also has adversarial.jsonl (each with its recipe and source), clean (the model before), and the runs of all attacks.
    Called again with the same arguments, it goes on where it was killed. Raises ValueError before anything is trained if data,
    model, recipes or options do not fit, BadRun if no adversarial example is found.
    """
    began, folder = time.perf_counter(), Path(out)
    clean = data if isinstance(data, Dataset) else data.data
    named, runs = [recipes] if isinstance(recipes, str | Attack) else list(recipes), list(from_runs)
    for name, value in (("adversarial_epochs", adversarial_epochs), ("rounds", rounds), ("attacked", attacked)):
        check_count(value, 1, name)
    if clean_epochs is not None:
        check_count(clean_epochs, 0, "clean_epochs")
    if both := [label_of(recipe) for recipe in unseen if recipe in named]:
        raise ValueError(f"expected recipes that are not trained on for unseen, got {both[0]}")
    check_data(clean, dev, None)
    check_libraries()
    labels = _labels(start, clean, needed=clean_epochs == 0)
    epochs = (CLEAN_EPOCHS if labels is None else 0) if clean_epochs is None else clean_epochs
    key = {
        "scuff": __version__, "start": str(start), "data": clean.digest if data is clean else data.identity,  # type: ignore[union-attr]
        "dev": dev.digest, "test": test.digest if test else None, "recipes": [label_of(recipe) for recipe in named],
        "unseen": [label_of(recipe) for recipe in unseen], "gamma": gamma, "clean_epochs": epochs,
        "adversarial_epochs": adversarial_epochs, "rounds": rounds, "attacked": attacked, "even": even, "seed": seed,
        "from_runs": [str(run) for run in runs], "max_queries": max_queries,
        "schedule": _with_epochs(schedule, adversarial_epochs),
        "tuning": {name: str(value) for name, value in (tuning or {}).items()},
        "settings": {name: str(value) for name, value in settings.items()},
    }  # fmt: skip
    if (done := _finished(folder, key)) is not None:
        return done
    options = {**settings.pop("options", {}), **({} if device == "auto" else {"device": device})}
    attack: Given = {
        **settings, "max_queries": max_queries, "engine": engine, "address": address, "workers": workers, "seed": seed,
        "options": options,
    }  # fmt: skip
    _check_recipes([*named, *unseen], clean, attack, labels or clean.labels)
    training: Given = {**(tuning or {}), "device": device, "show": trained}
    phases: dict[str, Any] = {}
    before = model = str(start)
    if epochs:
        before = model = str(folder / "clean")
        phases["clean"] = fine_tune(
            start, data, dev, model, schedule=_with_epochs(schedule, epochs), seed=seed, **training
        )
    found, counts = AdversarialExamples(replace(clean, known=clean.labels).take(range(0)), (), (), ()), []
    for number in range(1, rounds + 1):
        say(f"round   {number} of {rounds}: attacks on {len(clean):,} training and {len(dev):,} dev examples")
        hunt: Given = {
            **attack, "gamma": gamma, "even": even, "number": number, "say": say, "show": show,
            "avoid": set(zip(*found.data.columns, strict=True)), "from_runs": runs if number == 1 else [],
        }  # fmt: skip
        place = Path(attacks) if attacks is not None and number == 1 else folder / f"round-{number}"
        new, judged = _attack(model, clean, dev, named, place, hunt)
        found = found.joined(new)
        if not len(found):  # a later round may find nothing new
            raise BadRun(f"{model}: expected adversarial examples, got none: it withstood {', '.join(new.counts)}")
        counts.append(new.counts)
        last, model = model, str(folder / ("model" if number == rounds else f"model-{number}"))
        phases[f"round-{number}"] = fine_tune(
            last, attacked_feed(data, found), judged, model, schedule=_with_epochs(schedule, adversarial_epochs),
            seed=seed + number, **training,
        )  # fmt: skip
    found.write(folder / "adversarial.jsonl")
    robustness = None
    if test is not None:
        robustness = measure_robustness(
            before, model, test, folder / "robustness", seen=named, unseen=unseen, attacked=attacked, say=say, **attack
        )
    metrics = {
        "settings": key, "model": model, "before": before, "adversarial": len(found), "counts": counts,
        "phases": phases, "robustness": robustness, "seconds": time.perf_counter() - began,
    }  # fmt: skip
    write_atomically(folder / "metrics.json", (json.dumps(metrics, indent=1) + "\n").encode())
    return metrics


def _attack(
    model: str, clean: Dataset, dev: Dataset, recipes: list[Recipe], folder: Path, hunt: Given
) -> tuple[AdversarialExamples, Dataset]:
    """The adversarial examples of a round, and the dev part with adversarial examples of its own."""
    found = adversarial_examples(model, clean, recipes, output=folder / "train", **hunt)
    if not recipes:  # all are from runs: nothing may be attacked
        return found, dev
    beside = {**hunt, "from_runs": [], "avoid": (), "say": silent, "show": None}
    judged = adversarial_examples(model, dev, recipes, output=folder / "dev", **beside)
    return found, joined(dev, judged.data)


def _check_recipes(recipes: list[Recipe], data: Dataset, attack: Given, labels: Sequence[str]) -> None:
    """Raises ValueError or MissingResource if a recipe cannot be used. labels: of the model."""
    for recipe in recipes:
        AttackSettings.of(**attack, recipe=recipe).make_attack().goal.ready(data.task, labels)


def _labels(start: str | Path, data: Dataset, needed: bool) -> tuple[str, ...] | None:
    """The labels of a model that has a head already, None of one without. needed: raises BadModel instead."""
    from ..victims.huggingface import load

    try:
        return load(start, data.task, device="cpu").labels or data.labels
    except BadModel:  # what else may be wrong than the head, fine_tune tells
        if needed:
            raise
        return None


def _with_epochs(schedule: Schedule | Mapping[str, Any] | None, epochs: int) -> dict[str, Any]:
    """A schedule but for its epochs, as `fine_tune` takes it."""
    return {**(asdict(schedule) if isinstance(schedule, Schedule) else schedule or {}), "epochs": epochs}


def _finished(folder: Path, key: Given) -> dict[str, Any] | None:
    """The metrics of a training that is finished; None if it is not. Raises BadFolder if it was another one."""
    path = folder / "metrics.json"
    if not path.is_file():
        return None
    done: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if other := differing(done.get("settings", {}), json.loads(json.dumps(key))):
        raise BadFolder(f"{folder}: expected the training that began there, got another {', '.join(other)}")
    return done
