"""Trains a model in stages: pretraining, fine-tuning, training on attacks; behind a shield if there is one.

A stage that was finished is not done again, and one that was killed goes on from its last checkpoint.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..data.dataset import Column, Dataset
from ..runs.folder import BadRun, write_atomically
from ..runs.run import silent
from ..runs.setup import Say
from ..shields.base import Shield
from .attacked import adversarial_examples, attacked_feed, joined
from .backends import Backend, Effort, example_scores, mean_score, surely_lower
from .feeds import Clean, Feed, Mixed
from .harden_settings import HardenSettings
from .methods import Augment, Method, OnAttacks, Plm, Pp
from .splitting import Parts

MODEL, WORK = "model", "work"  # folders of the result, and of what happens on the way


@dataclass(frozen=True, eq=False)
class MendedFeed:
    """A feed whose texts a shield has mended: a model behind a shield learns from what it will see."""

    feed: Feed
    shield: Shield

    @cached_property
    def data(self) -> Dataset:
        return mended(self.feed.data, self.shield)

    @property
    def identity(self) -> str:
        return f"{self.feed.identity}|shield:{self.shield.spec}"

    def epoch(self, number: int) -> Dataset:
        return mended(self.feed.epoch(number), self.shield)


def mended(data: Dataset, shield: Shield) -> Dataset:
    """The data as a model behind a shield sees it."""
    columns = []
    for texts in data.columns:
        column = Column.of(texts)
        repairs = shield.repairs(column.corpus)
        columns.append(tuple(column.texts(repairs.edits)) if len(repairs) else texts)
    return replace(data, columns=tuple(columns))


@dataclass(frozen=True)
class Stage:
    """One training on the way to the hardened model."""

    name: str
    words: str
    method: Method | None


METHOD_WORDS = {
    "plm": "the encoder learns to restore clean sentences from perturbed ones",
    "pp": "masked language modelling on perturbed texts",
    "augment": "on clean examples and perturbed copies",
    "clean": "on the clean examples",
    "attack": "on adversarial examples of the training part",
}


@dataclass(eq=False)
class Stages:
    """All trainings of a hardening, and what they learn from. out: the folder of the hardening."""

    model: Any
    backend: Backend
    parts: Parts
    settings: HardenSettings
    shield: Shield | None
    out: Path
    say: Say

    @cached_property
    def feed(self) -> Feed:
        """What the last training learns from."""
        return self._mended_feed(self._unmended)

    @cached_property
    def _unmended(self) -> Clean | Mixed:
        """The feed as it is before a shield."""
        settings, method = self.settings, next((m for m in self.settings.parsed if isinstance(m, Augment)), None)
        if method is None:
            return Clean(self.parts.train)
        return Mixed(
            self.parts.train, method.mixed(self.parts.tokens), settings.seed, beside=method.clean, side=settings.side or "first",
            protect=settings.protect,
        )  # fmt: skip

    @cached_property
    def dev(self) -> Dataset:
        """What chooses the epoch: the dev part, with perturbed copies of it if such are learnt from."""
        feed, dev = self._unmended, self.parts.dev
        return self._mended(replace(feed, data=dev, fresh=False).epoch(0) if isinstance(feed, Mixed) else dev)

    def _mended_feed(self, feed: Feed) -> Feed:
        return MendedFeed(feed, self.shield) if self.shield else feed

    def _mended(self, data: Dataset) -> Dataset:
        return mended(data, self.shield) if self.shield else data

    def train(self, key: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Does the stages in their order: pretraining, fine-tuning, training on attacks. Returns the model, and what is told.

        key: what decides the result; a stage that was finished with the same one is not done again.
        """
        settings = self.settings
        first, weight = example_scores(self.model, self.dev, settings.labels, settings.options, settings.none)
        model, told = self.model, dict[str, Any]()
        stages = self._planned()
        for number, stage in enumerate(stages, 1):
            last = number == len(stages)
            out = self.out / MODEL if last else self.out / WORK / f"{number}-{stage.name}"
            self.say(f"train   {stage.name}: {stage.words}")
            model, told[stage.name] = self._staged(stage, model, out, key)
        now, _ = example_scores(model, self.dev, none=settings.none)
        means = [mean_score(each, weight) for each in (first, now)]
        self.say(
            f"dev     {means[0]:.1%} before, {means[1]:.1%} after, on {len(self.dev):,} examples, perturbed copies included"
        )
        if surely_lower(first, now, weight):
            self.say(
                "WARNING the trained model is worse on the dev part: more examples, fewer epochs or a lower rate may help"
            )
        return model, told

    def _planned(self) -> list[Stage]:
        methods: dict[str, Method] = {method.name: method for method in self.settings.parsed}
        stages = [Stage(name, METHOD_WORDS[name], methods[name]) for name in ("plm", "pp") if name in methods]
        if stages or "augment" in methods:
            what = methods.get("augment")
            stages.append(Stage("fine-tune", METHOD_WORDS["augment" if what else "clean"], what))
        if "attack" in methods:
            stages.append(Stage("attack", METHOD_WORDS["attack"], methods["attack"]))
        return stages

    def _staged(self, stage: Stage, model: Any, out: Path, key: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Does a stage, unless it was finished before."""
        settings = self.settings
        effort = Effort(
            settings.seed, settings.epochs, settings.rate, settings.seconds, settings.device,
            settings.labels if model is self.model else (), lambda message: self.say(f"        {message}"),
        )  # fmt: skip
        journal = self.out / WORK / f"{stage.name}.json"
        identity = sha256(json.dumps([key, str(model), self.feed.identity], sort_keys=True).encode()).hexdigest()
        if journal.is_file() and isinstance(model, str) and out.is_dir():
            done = json.loads(journal.read_text(encoding="utf-8"))
            if done["identity"] == identity:
                self.say("        was finished before")
                return str(out), done["metrics"]
        if isinstance(stage.method, Plm | Pp):
            texts = list(self._mended(self.parts.train).strings())
            new, metrics = self.backend.pretrain(model, texts, out, stage.method, effort)
        elif isinstance(stage.method, OnAttacks):
            feed, dev, counts = self._attacked(model, stage.method)
            effort = replace(effort, epochs=effort.epochs or self.backend.adversarial_epochs)
            new, metrics = self.backend.fine_tune(model, feed, dev, out, effort)
            metrics = {**metrics, "adversarial": counts}
        else:
            new, metrics = self.backend.fine_tune(model, self.feed, self.dev, out, effort)
        journal.parent.mkdir(exist_ok=True)
        saved = {"identity": identity, "metrics": metrics}
        write_atomically(journal, (json.dumps(saved, indent=1, default=str) + "\n").encode())
        return new, metrics

    def _attacked(self, model: Any, method: OnAttacks) -> tuple[Feed, Dataset, dict[str, Any]]:
        """The feed and the dev part with adversarial examples of their own beside them, and how many were found by each recipe.

        The attacker knows the shield, if there is one.
        """
        hunt: dict[str, Any] = {
            **self.settings.attacking(model, first=model is self.model), "gamma": method.gamma, "say": self.say,
            "shield": self.shield.spec if self.shield else None, "map": {},
        }  # fmt: skip
        folder = self.out / WORK / "attacks"
        found = adversarial_examples(model, self.parts.train, method.each, output=folder / "train", **hunt)
        if not len(found):
            raise BadRun(f"{model}: expected adversarial examples to train on, got none: it withstood {method.recipes}")
        found.write(self.out / WORK / "adversarial.jsonl")
        judged = adversarial_examples(
            model, self.parts.dev, method.each, output=folder / "dev", **{**hunt, "say": silent}
        )
        feed = self._mended_feed(attacked_feed(self._unmended, found))
        return feed, joined(self.dev, self._mended(judged.data)), dict(found.counts)
