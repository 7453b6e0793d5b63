"""Hardens a model: measures it, mends it by training or a shield, and measures it again on the same frozen cases.

The folder holds `before` and `after` (two evaluations), `attack-before` and `attack-after` if a recipe is given, `model` (if
something was trained), `settings.yaml` for `--config`, `proof.json`, and what the caller makes of that. Called again it goes on:
evaluations from their trials, a training from its last checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..attacks.attack import Attack
from ..attacks.comparison import compare_attacks
from ..attacks.settings import AttackSettings
from ..data.dataset import Column, Dataset
from ..evaluation.comparison import compare_runs
from ..evaluation.dimensions import Dimension
from ..evaluation.plan import usable_dimensions
from ..perturbations.base import Perturbation
from ..runs.folder import BadRun, Folder, write_atomically
from ..runs.proof import AttackComparison, Comparison, Part, Proof
from ..runs.run import silent
from ..runs.setup import Say
from ..shields.base import Shield
from ..shields.names import parse as parse_shield
from ..version import __version__
from .attacked import adversarial_examples, attacked_feed, joined
from .backends import Backend, Effort, backend_of
from .feeds import Clean, Feed, Mixed
from .harden_settings import HardenSettings
from .methods import HELD_OUT, USUAL_MIXTURE, Augment, Method, OnAttacks, Plm, Pp, Shielding, WithMixture, is_seen
from .splitting import Parts, check_labels, read_parts, records

START, PROOF, TEST, SETTINGS = "harden.json", "proof.json", "test.jsonl", "settings.yaml"
BEFORE, AFTER, MODEL, WORK = "before", "after", "model", "work"


@dataclass(frozen=True)
class Doors:
    """The functions that measure, which write reports, too, and so belong to a room above this one."""

    evaluate: Callable[..., Any]
    attack: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Hardened:
    """What came of it. model: as `evaluate` takes it; after: the evaluation with the shield, if there is one."""

    folder: Path
    model: Any
    shield: str | None
    before: Any
    after: Any
    proof: Proof


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


@dataclass(eq=False)
class Hardening:
    """Everything that decides a hardening, read and checked before any work."""

    model: Any
    source: Any
    out: Path
    settings: HardenSettings
    doors: Doors
    say: Say
    show: Any = None
    command: str = ""
    parts: Parts = field(init=False)
    backend: Backend | None = field(init=False)
    shield: Shield | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """The pre-flight. Raises ValueError, in one line, for what cannot work together."""
        settings = self.settings
        self.backend = backend_of(self.model, settings.parsed)
        for method in settings.parsed:
            if isinstance(method, Shielding):
                self.shield = parse_shield(method.shield)
        learnt = [name for method in settings.parsed if isinstance(method, OnAttacks) for name in method.each]
        recipes = [self._recipe(name) for name in [*learnt, *([settings.attack] if settings.attack else [])]]
        self._check_out()
        parts = read_parts(
            self.source, settings.columns, settings.seed, train=settings.train, dev=settings.dev, test=settings.test
        )
        if settings.map:  # the test part is renamed by the evaluations
            train, dev = (renamed(part, settings.map) for part in (parts.train, parts.dev))
            parts = replace(parts, train=train, dev=dev)
        if settings.train_examples is not None:
            parts = replace(parts, train=parts.train.sample(settings.train_examples, settings.seed))
        self.parts = parts
        if self.backend is not None:
            check_labels(parts if not settings.map else replace(parts, test=parts.dev))
            _ = self.feed  # raises for perturbations that do not fit the data
            self.backend.check(parts.train, parts.dev)
        _ = self.dimensions
        joins = [
            part.spec for recipe in recipes for part in recipe.perturbations if not part.perturbation.facts.keeps_tokens
        ]
        if self.tokens and joins:
            raise ValueError(f"expected perturbations that keep each token for tagging data, got {', '.join(joins)}")

    def _recipe(self, name: str) -> Attack:
        """Builds an attack. Raises ValueError or MissingResource if there is none of that name, or something that it needs."""
        kept = {each: getattr(self.settings, each) for each in ("mlm", "encoder", "side")}
        return AttackSettings.of(recipe=name, **kept).make_attack()

    # ---- what is measured ----

    @property
    def tokens(self) -> bool:
        return self.parts.train.task == "tokens"

    @cached_property
    def trained_on(self) -> list[Perturbation]:
        """The perturbations that the model sees while it is trained."""
        found: list[Perturbation] = []
        for method in self.settings.parsed:
            if isinstance(method, WithMixture):
                found += [each.perturbation for each in method.mixed(self.tokens).entries if each.perturbation]
            elif method.trains:
                found += method.perturbations()
        return list({each.spec: each for each in found}.values())

    @cached_property
    def dimensions(self) -> list[str]:
        """Specs of what is measured: what the user names, else what is trained on and some that is not."""
        if self.settings.dimensions:
            return list(self.settings.dimensions)
        names = [each.spec for each in self.trained_on] or list(USUAL_MIXTURE)
        others = [name for name in HELD_OUT if name not in names]
        return usable_dimensions([*names, *others], self.parts.test)

    @cached_property
    def test(self) -> tuple[Any, dict[str, Any]]:
        """The test part as `evaluate` takes it: a source, and settings that say how it is read.

        A part that was cut out is written to the folder, so that it can be evaluated again.
        """
        settings, parts = self.settings, self.parts
        columns = {
            name: getattr(settings, name)
            for name in ("text", "label", "id", "task", "format", "delimiter", "no_header", "encoding")
            if getattr(settings, name)
        }
        if not parts.held:
            return (settings.test if settings.test is not None else self.source), columns
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records(parts.test))
        path = self.out / TEST
        if not path.is_file():
            write_atomically(path, lines.encode("utf-8", "backslashreplace"))
        return str(path), {"text": list(parts.test.fields), "label": "label", "id": "id", "task": parts.test.task}

    # ---- the work ----

    @cached_property
    def feed(self) -> Feed:
        """What the last training learns from."""
        settings, method = self.settings, next((m for m in self.settings.parsed if isinstance(m, Augment)), None)
        feed: Feed = Clean(self.parts.train)
        if method is not None:
            feed = Mixed(
                self.parts.train, method.mixed(self.tokens), settings.seed, beside=method.clean, side=settings.side or "first",
                protect=settings.protect,
            )  # fmt: skip
        return MendedFeed(feed, self.shield) if self.shield else feed

    @cached_property
    def dev(self) -> Dataset:
        """What chooses the epoch: the dev part, with perturbed copies of it if such are learnt from."""
        feed = self.feed.feed if isinstance(self.feed, MendedFeed) else self.feed
        dev = self.parts.dev
        if isinstance(feed, Mixed):
            dev = replace(feed, data=dev, fresh=False).epoch(0)
        return mended(dev, self.shield) if self.shield else dev

    def key(self) -> dict[str, Any]:
        """What decides the result, by name: a folder is gone on with only if it is the same."""
        parts = {name: part.digest for name, part in self.parts.named.items()}
        named = self.model if isinstance(self.model, str | Path) else type(self.model).__name__
        return {
            "scuff": __version__, "model": str(named), **parts, "dimensions": self.dimensions, **self.settings.asdict(),
        }  # fmt: skip

    def _check_out(self) -> None:
        """Raises BadRun if the folder is there and no hardening of this kind began in it."""
        if not self.out.exists() or (self.out / START).is_file():
            return
        if not self.out.is_dir() or any(self.out.iterdir()):
            raise BadRun(f"{self.out}: expected a new folder or a hardening to go on with, got something else")

    def _begin(self) -> None:
        """Makes the folder, or checks that the same work began in it."""
        key = json.loads(json.dumps(self.key()))
        path = self.out / START
        if not path.is_file():
            self.out.mkdir(parents=True, exist_ok=True)
            write_atomically(path, (json.dumps(key, indent=1, ensure_ascii=False) + "\n").encode())
            return
        old = json.loads(path.read_text(encoding="utf-8"))
        if other := sorted(name for name in {*key, *old} if key.get(name) != old.get(name)):
            raise BadRun(
                f"{self.out}: expected the hardening that began there, got another {', '.join(other)}: choose another folder"
            )

    def run(self) -> Hardened:
        settings, say = self.settings, self.say
        for name, part in self.parts.named.items():
            say(f"{name:8}{len(part):,} examples of {part.name}")
        say(f"split   {self.parts.words}")
        self._begin()
        before = self._evaluate(self.model, BEFORE, None)
        if settings.attack:
            self._attack(self.model, "attack-before", None)
        model, told = (self.model, {}) if self.backend is None else self._train()
        shield = self.shield.spec if self.shield else None
        after = self._evaluate(model, AFTER, shield)
        attacks = None
        if settings.attack:
            self._attack(model, "attack-after", shield)
            attacks = compare_attacks(*(Folder(self.out / f"attack-{when}") for when in (BEFORE, AFTER)))
        measured = {name: Dimension.parse(each["spec"]) for name, each in before.summary["dimensions"].items()}
        seen = [name for name, each in measured.items() if is_seen(each.perturbation, self.trained_on)]
        comparison = compare_runs(Folder(self.out / BEFORE), Folder(self.out / AFTER), seen)
        self._write_settings(model, shield)
        proof = self._proof(model, shield, comparison, attacks, told)
        return Hardened(self.out, model, shield, before, after, proof)

    def _evaluate(self, model: Any, name: str, shield: str | None) -> Any:
        source, columns = self.test
        self.say(f"{name:8}{len(self.dimensions)} dimensions on the test part")
        return self.doors.evaluate(
            model, source, self.out / name, say=self.say, show=self.show, shield=shield,
            **{**self.settings.shared, **columns, "dimensions": self.dimensions, **self._named(model)},
        )  # fmt: skip

    def _attack(self, model: Any, name: str, shield: str | None) -> Any:
        source, columns = self.test
        self.say(f"attack  {self.settings.attack} on the {'hardened' if name.endswith(AFTER) else 'first'} model")
        kept = (
            "labels",
            "map",
            "none",
            "options",
            "mlm",
            "encoder",
            "side",
            "protect",
            "seed",
            "workers",
            "max_errors",
        )
        shared = {key: value for key, value in self.settings.shared.items() if key in kept}
        return self.doors.attack(
            model, source, self.settings.attack, self.out / name, say=self.say, show=self.show, shield=shield,
            **{**shared, **columns, "examples": self.settings.attacked, **self._named(model)},
        )  # fmt: skip

    def _named(self, model: Any) -> dict[str, Any]:
        """Settings about the first model's labels, which a trained one carries in its folder."""
        return {} if model is self.model else {"labels": None, "options": {}, "map": self.settings.map or None}

    def _train(self) -> tuple[Any, dict[str, Any]]:
        """Does the stages in their order: pretraining, fine-tuning, training on attacks. Returns the model, and what is told."""
        assert self.backend is not None
        model, told = self.model, dict[str, Any]()
        stages = self._stages()
        for number, stage in enumerate(stages, 1):
            last = number == len(stages)
            out = self.out / MODEL if last else self.out / WORK / f"{number}-{stage.name}"
            self.say(f"train   {stage.name}: {stage.words}")
            model, told[stage.name] = self._staged(stage, model, out)
        return model, told

    def _stages(self) -> list[Stage]:
        methods: dict[str, Method] = {method.name: method for method in self.settings.parsed}
        stages = [Stage(name, METHOD_WORDS[name], methods[name]) for name in ("plm", "pp") if name in methods]
        if stages or "augment" in methods:
            what = methods.get("augment")
            stages.append(Stage("fine-tune", METHOD_WORDS["augment" if what else "clean"], what))
        if "attack" in methods:
            stages.append(Stage("attack", METHOD_WORDS["attack"], methods["attack"]))
        return stages

    def _staged(self, stage: Stage, model: Any, out: Path) -> tuple[Any, dict[str, Any]]:
        """Does a stage, unless it was finished before."""
        assert self.backend is not None
        settings = self.settings
        effort = Effort(
            settings.seed, settings.epochs, settings.rate, settings.seconds, settings.device,
            settings.labels if model is self.model else (), lambda message: self.say(f"        {message}"),
        )  # fmt: skip
        journal = self.out / WORK / f"{stage.name}.json"
        identity = sha256(json.dumps([self.key(), str(model), self.feed.identity], sort_keys=True).encode()).hexdigest()
        if journal.is_file() and isinstance(model, str) and out.is_dir():
            done = json.loads(journal.read_text(encoding="utf-8"))
            if done["identity"] == identity:
                self.say("        was finished before")
                return str(out), done["metrics"]
        if isinstance(stage.method, Plm | Pp):
            train = mended(self.parts.train, self.shield) if self.shield else self.parts.train
            new, metrics = self.backend.pretrain(model, list(train.strings()), out, stage.method, effort)
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
        settings, inner = self.settings, self.feed.feed if isinstance(self.feed, MendedFeed) else self.feed
        hunt: dict[str, Any] = {
            "gamma": method.gamma, "seed": settings.seed, "workers": settings.workers, "side": settings.side,
            "protect": list(settings.protect), "mlm": settings.mlm, "encoder": settings.encoder, "say": self.say,
            "shield": self.shield.spec if self.shield else None, **(self._options if model is self.model else {}),
        }  # fmt: skip
        folder = self.out / WORK / "attacks"
        found = adversarial_examples(model, self.parts.train, method.each, output=folder / "train", **hunt)
        if not len(found):
            raise BadRun(f"{model}: expected adversarial examples to train on, got none: it withstood {method.recipes}")
        found.write(self.out / WORK / "adversarial.jsonl")
        judged = adversarial_examples(
            model, self.parts.dev, method.each, output=folder / "dev", **{**hunt, "say": silent}
        )
        feed: Feed = attacked_feed(inner, found)
        more = mended(judged.data, self.shield) if self.shield else judged.data
        return MendedFeed(feed, self.shield) if self.shield else feed, joined(self.dev, more), dict(found.counts)

    @property
    def _options(self) -> dict[str, Any]:
        """Settings about the first model, which a trained one does not need."""
        return {"labels": list(self.settings.labels) or None, "options": self.settings.options}

    # ---- what is written ----

    def _write_settings(self, model: Any, shield: str | None) -> None:
        """Writes settings.yaml, with which `scuff evaluate --config` and others use the hardened model as it was measured."""
        if not isinstance(model, str | Path):
            return
        known: dict[str, Any] = {"model": str(model), **({"shield": shield} if shield else {})}
        if model is self.model:
            kept = {name: getattr(self.settings, name) for name in ("labels", "map", "none", "options")}
            known |= {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items() if value}
        lines = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in known.items())
        write_atomically(self.out / SETTINGS, lines.encode())

    def _proof(
        self,
        model: Any,
        shield: str | None,
        comparison: Comparison,
        attacks: AttackComparison | None,
        told: Mapping[str, Any],
    ) -> Proof:
        parts: dict[str, Part] = {
            name: {"name": part.name, "examples": len(part), "digest": part.digest} for name, part in self.parts.named.items()
        }  # fmt: skip
        named = str(self.model) if isinstance(self.model, str | Path) else f"{type(self.model).__name__} (an object)"
        return {
            "scuff": __version__, "model": named,
            "hardened": str(model) if isinstance(model, str | Path) else f"{type(model).__name__} (an object)",
            "methods": list(self.settings.methods), "trained": self.backend is not None, "shield": shield,
            "perturbations": [each.spec for each in self.trained_on], "data": parts, "split": self.parts.words,
            "seed": self.settings.seed, "command": self.command, "training": dict(told), "comparison": comparison,
            "attack": attacks, "words": [],
        }  # fmt: skip


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


def renamed(data: Dataset, names: Mapping[str, str]) -> Dataset:
    """The data with the labels that the model has for its own."""

    def new(target: Any) -> Any:
        return names.get(target, target) if isinstance(target, str) else tuple(names.get(one, one) for one in target)

    return replace(data, targets=tuple(map(new, data.targets)), known=tuple(dict.fromkeys(map(new, data.known))))
