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
from pathlib import Path
from typing import Any

from ..attacks.comparison import compare_attacks
from ..attacks.settings import AttackSettings
from ..attacks.setup import AttackSetup
from ..data.dataset import renamed
from ..evaluation.comparison import compare_runs
from ..evaluation.dimensions import DEFAULT, Dimension
from ..evaluation.plan import unusable_dimensions
from ..perturbations.base import Perturbation
from ..runs.folder import BadRun, Folder, write_atomically
from ..runs.proof import AttackComparison, EvaluationComparison, Part, Proof
from ..runs.settings import differing
from ..runs.setup import Say
from ..shields.base import Shield
from ..shields.names import parse as parse_shield
from ..version import __version__
from .backends import backend_of, check_reach
from .harden_settings import HardenSettings
from .methods import USUAL_MIXTURE, USUAL_UNSEEN, OnAttacks, Shielding, is_seen
from .splitting import Parts, check_labels, read_parts, read_test, records
from .stages import Stages

START, TEST, SETTINGS = "harden.json", "test.jsonl", "settings.yaml"
BEFORE, AFTER = "before", "after"


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
    stages: Stages | None = field(init=False, default=None)
    shield: Shield | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """The pre-flight. Raises ValueError, in one line, for what cannot work together."""
        settings = self.settings
        self.model = str(self.model) if isinstance(self.model, Path) else self.model
        backend = backend_of(self.model, settings.parsed)
        for method in settings.parsed:
            if isinstance(method, Shielding):
                self.shield = parse_shield(method.shield)
        for recipe in self.recipes:
            AttackSettings.of(recipe=recipe, **settings.attacking(self.model, first=True)).make_attack()
        self._check_out()
        if backend is None:
            self.parts = read_test(self.source, settings.columns, settings.test)
        else:
            self.parts = self._read_parts()
            check_labels(self.parts if not settings.map else replace(self.parts, test=self.parts.dev))
            self.stages = Stages(self.model, backend, self.parts, settings, self.shield, self.out, self.say)
            _ = self.stages.feed  # raises for perturbations that do not fit the data
            backend.check(self.parts.train, self.parts.dev)
        _ = self.dimensions
        if "revision" not in settings.options:
            check_reach(self.model, self.say)
        self._try_attacks()

    def _read_parts(self) -> Parts:
        settings = self.settings
        parts = read_parts(
            self.source, settings.columns, settings.seed, train=settings.train, dev=settings.dev, test=settings.test
        )
        if settings.map:  # the test part is renamed by the evaluations
            train, dev = (renamed(part, settings.map) for part in (parts.train, parts.dev))
            parts = replace(parts, train=train, dev=dev)
        if settings.train_examples is not None:
            parts = replace(parts, train=parts.train.sample(settings.train_examples, settings.seed))
        return parts

    @property
    def recipes(self) -> list[str]:
        """Recipes that are trained on, and the one that is measured."""
        learnt = [name for method in self.settings.parsed if isinstance(method, OnAttacks) for name in method.each]
        return [*learnt, *([self.settings.attack] if self.settings.attack else [])]

    def _try_attacks(self) -> None:
        """Opens each attack on a few examples: whether it fits model, task and labels must be known before the work begins."""
        few = replace(self.parts.test.take(range(4)), known=self.parts.test.labels)
        for recipe in self.recipes:
            given = {**self.settings.attacking(self.model, first=True), "recipe": recipe, "examples": len(few)}
            AttackSetup.open(self.model, few, given).close()

    # ---- what is measured ----

    @cached_property
    def trained_on(self) -> list[Perturbation]:
        """The perturbations that the model sees while it is trained."""
        found = (each for method in self.settings.parsed for each in method.perturbations(self.parts.tokens))
        return list({each.spec: each for each in found}.values())

    @cached_property
    def dimensions(self) -> list[str]:
        """Specs of what is measured: what the user names, else what is trained on and some that is not."""
        if self.settings.dimensions:
            return list(self.settings.dimensions)
        return [name for name in self._usual if name not in self.left_out]

    @cached_property
    def _usual(self) -> list[str]:
        names = [each.spec for each in self.trained_on] or list(USUAL_MIXTURE)
        return [*names, *(name for name in USUAL_UNSEEN if name not in names)]

    @cached_property
    def left_out(self) -> dict[str, str]:
        """What is usually measured and cannot be here, and why."""
        return {} if self.settings.dimensions else unusable_dimensions(self._usual, self.parts.test)

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

    @property
    def names(self) -> tuple[str, str]:
        """The names of the model and the data, for people. An address that may hold a key is left out."""
        model = self.model if isinstance(self.model, str) and "?" not in self.model else type(self.model).__name__
        return model, self.parts.test.name

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
        try:
            began = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise BadRun(
                f"{path}: expected the settings of a hardening, got a damaged file: delete the folder or choose another"
            ) from None
        if other := differing(key, began):
            raise BadRun(
                f"{self.out}: expected the hardening that began there, got another {', '.join(other)}: choose another folder"
            )

    def _leave_nothing(self) -> None:
        """Deletes what `_begin` wrote if nothing came of it, as when the model cannot be opened."""
        if not (self.out / BEFORE).exists():
            for name in (START, TEST):
                (self.out / name).unlink(missing_ok=True)
            if not any(self.out.iterdir()):
                self.out.rmdir()

    def tell(self) -> None:
        """Says the parts of the data and the plan."""
        for name, part in self.parts.named.items():
            self.say(f"{name:8}{len(part):,} examples of {part.name}")
        self.say(f"split   {self.parts.words}")
        seen = [name for name in self.dimensions if self._seen(name)]
        unseen = [name for name in self.dimensions if name not in seen]
        self.say(f"plan    {', '.join(self.settings.methods)}; measured before and after: {', '.join(seen + unseen)}")
        if self.stages and unseen:
            self.say(f"        never seen in training: {', '.join(unseen)}")
        for reason in dict.fromkeys(self.left_out.values()):
            names = [name for name, why in self.left_out.items() if why == reason]
            self.say(f"        left out: {', '.join(names)} ({reason})")

    def _seen(self, name: str) -> bool:
        return name != DEFAULT and is_seen(Dimension.parse(name).perturbation, self.trained_on)

    def run(self) -> Hardened:
        settings = self.settings
        self.tell()
        self._begin()
        try:
            before = self._evaluate(self.model, BEFORE, None)
        except Exception:
            self._leave_nothing()
            raise
        if settings.attack:
            self._attack(self.model, "attack-before", None)
        model, told = self.stages.train(self.key()) if self.stages else (self.model, {})
        shield = self.shield.spec if self.shield else None
        after = self._evaluate(model, AFTER, shield)
        attacks = None
        if settings.attack:
            self._attack(model, "attack-after", shield)
            attacks = compare_attacks(*(Folder(self.out / f"attack-{when}") for when in (BEFORE, AFTER)))
        seen = [name for name, each in before.summary["dimensions"].items() if self._seen(each["spec"])]
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
        shared = {
            **self.settings.attacking(model, first=model is self.model),
            **columns,
            "examples": self.settings.attacked,
        }
        return self.doors.attack(
            model, source, self.settings.attack, self.out / name, say=self.say, show=self.show, shield=shield, **shared
        )

    def _named(self, model: Any) -> dict[str, Any]:
        """Settings about the first model's labels, which a trained one carries in its folder."""
        if model is self.model:
            return {}
        return {
            "labels": None,
            "options": self.settings.options_of(model, first=False),
            "map": self.settings.map or None,
        }

    # ---- what is written ----

    def _write_settings(self, model: Any, shield: str | None) -> None:
        """Writes settings.yaml, with which `scuff evaluate --config` and others use the hardened model as it was measured."""
        if not isinstance(model, str | Path):
            return
        known: dict[str, Any] = {"model": str(model), **({"shield": shield} if shield else {})}
        if options := self.settings.options_of(model, first=model is self.model):
            known["options"] = options
        if model is self.model:
            kept = {name: getattr(self.settings, name) for name in ("labels", "map", "none")}
            known |= {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items() if value}
        lines = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in known.items())
        write_atomically(self.out / SETTINGS, lines.encode())

    def _proof(
        self,
        model: Any,
        shield: str | None,
        comparison: EvaluationComparison,
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
            "methods": list(self.settings.methods), "trained": self.stages is not None, "shield": shield,
            "perturbations": [each.spec for each in self.trained_on], "data": parts, "split": self.parts.words,
            "seed": self.settings.seed, "command": self.command, "training": dict(told), "comparison": comparison,
            "attack": attacks, "words": [],
        }  # fmt: skip
