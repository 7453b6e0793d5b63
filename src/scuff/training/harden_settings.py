"""The settings of `scuff harden`, from which flags, keywords and keys of settings files come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from ..data.columns import Columns
from ..data.dataset import Task
from ..evaluation.dimensions import DEFAULT, Dimension
from ..evaluation.settings import EvaluationSettings
from ..runs.engines.open import ADDRESS, ENGINE, ENGINES, LOCAL, WORKERS
from ..runs.settings import BY_THE_WAY, DATA, EXAMPLES, LOG, MODEL, SIDES, FileSettings, by_field_name, setting
from ..specs import check_count, check_positive, known_name
from .methods import Method, parse_methods

DEGREES = (0.1, 0.3, 0.5)  # that are measured, by default: few, since two runs are made
CASES = 3
ATTACKED = 100  # examples that --attack attacks, by default

# settings that the two evaluations have under the same names
MEASURED = (
    "labels", "map", "none", "options", "examples", "degrees", "cases", "metric", "mlm", "encoder", "side", "protect", "seed",
    "engine", "address", "workers", "max_errors",
)  # fmt: skip


@dataclass(frozen=True)
class HardenSettings(FileSettings):
    """All settings of a hardening; `scuff harden --help` lists them."""

    methods: tuple[str, ...] = setting(
        ("augment",),
        "augment (default), plm, pp, attack(RECIPE, ...), shield(SPEC), or several with commas (`scuff list methods`)",
        metavar="METHOD", many="repeated", flags=("--with",),
    )  # fmt: skip
    attack: str | None = setting(
        None, "also measure how often this recipe succeeds, before and after (`scuff list recipes`)", metavar="RECIPE"
    )
    attacked: int = setting(ATTACKED, f"examples of the test part that it attacks; default {ATTACKED}", metavar="N")
    goal: str | None = setting(None, "of attacks, in place of the recipe's, e.g. tags for tagging data", metavar="SPEC")
    vectors: str | None = setting(
        None, "word vectors or lists of neighbours, for recipes that need them", metavar="FILE"
    )
    dimensions: tuple[str, ...] = setting(
        (),
        "what is measured, as for `scuff evaluate`; default: what was trained on, and perturbations that were not",
        metavar="DIMENSION",
    )
    degrees: tuple[float, ...] = setting(
        DEGREES, "how far cases may be from their originals; default 0.1 0.3 0.5", metavar="D"
    )
    cases: int = setting(CASES, f"cases per example and degree; default {CASES}", metavar="K")
    metric: str | None = setting(None, "computes the scores, as for `scuff evaluate`", metavar="SPEC")
    epochs: int | None = setting(None, "of the training; default: as many as help on the dev part", metavar="N")
    rate: float | None = setting(None, "highest learning rate; default: by the width of the network", metavar="R")
    seconds: float | None = setting(None, "stop each training after this time, at its best epoch so far", metavar="S")
    encoder: str | None = setting(None, "measures the degree of sentence-level dimensions", metavar="MODEL")
    mlm: str | None = setting(None, "masked language model for contextual, as for `scuff evaluate`", metavar="MODEL")
    protect: tuple[str, ...] = setting(
        (), "text that must not change, named as for `scuff perturb`; may be repeated", metavar="WHAT", many="repeated"
    )
    seed: int = setting(0, "seed of all random choices; default 0")
    train: Any = setting(None, "what to learn from, in place of DATA", group=DATA, metavar="FILE")
    dev: Any = setting(
        None, "what chooses the epoch; default: a tenth of what is learnt from", group=DATA, metavar="FILE"
    )
    test: Any = setting(
        None, "what is reported on and never trained on; default: a fifth of DATA", group=DATA, metavar="FILE"
    )
    label: tuple[str, ...] = setting(
        (), "column of labels or tags; repeated: a 0/1 column each", group=DATA, metavar="COLUMN", many="repeated"
    )
    id: str | None = setting(None, "column that names each example", group=DATA, metavar="COLUMN")
    task: Task | None = setting(
        None, "single, multi or tokens; default: by what the columns hold", group=DATA, metavar="TASK"
    )
    examples: int | None = setting(
        None, f"of the test part that are measured; default {EXAMPLES}", group=DATA, metavar="N"
    )
    train_examples: int | None = setting(
        None, "learn from a sample of the training part; default: all", group=DATA, metavar="N"
    )
    side: str | None = setting(None, "which text of a pair to perturb; default first", group=DATA, choices=SIDES)
    labels: tuple[str, ...] = setting((), "names of the model's labels, in its order", group=MODEL, metavar="NAME")
    map: dict[str, str] = setting({}, "labels that data and model name differently", group=MODEL, metavar="DATA=MODEL")
    none: str | None = setting(
        None, "the model's label for texts without any other (label sets)", group=MODEL, metavar="NAME"
    )
    options: dict[str, Any] = setting(
        {}, "options of the model, as --with of `scuff evaluate`", group=MODEL, metavar="KEY=VALUE", flags=("--option",)
    )
    device: str = setting("auto", "that trains: auto (default), cpu, cuda, mps", group=MODEL)
    engine: str = setting(LOCAL, ENGINE, group=MODEL, choices=ENGINES)
    address: str | None = setting(None, ADDRESS, group=MODEL, metavar="HOST:PORT")
    workers: int | None = setting(None, f"of the two evaluations: {WORKERS}", group=MODEL, metavar="N")
    max_errors: str = setting(
        "100", "stop after more errors than this, or than a share such as 5%; default 100", group=MODEL, metavar="N"
    )
    log: tuple[str, ...] = setting((), LOG, group=MODEL, metavar="TRACKER", many="repeated")

    @classmethod
    def of(cls, **given: Any) -> HardenSettings:
        """Returns the settings with these names. Raises ValueError for unknown names and wrong values."""
        known = {each.name: each for each in fields(cls)}
        if "with" in given:
            given["methods"] = given.pop("with")
        found = by_field_name(cls, given)
        for name in found:
            known_name(name, known, "a setting of harden")
        values = {name: _listed(known[name].type, value) for name, value in found.items() if value is not None}
        methods = parse_methods(values.get("methods", cls.methods))
        return cls(**{**values, "methods": tuple(method.spec for method in methods)})

    def __post_init__(self) -> None:
        _ = self.measuring  # raises ValueError for a wrong value
        for name in self.dimensions:
            if name != DEFAULT and Dimension.parse(name).access != "rule":
                raise ValueError(
                    f"expected dimensions whose cases no model chooses for harden.dimensions, got {name}: --attack measures an "
                    "attacker that adapts to the model"
                )
        for name in ("attacked", "examples", "train_examples", "epochs"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), 1, f"harden.{name}")
        for name in ("seconds", "rate"):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), f"harden.{name}")

    @cached_property
    def parsed(self) -> tuple[Method, ...]:
        return parse_methods(self.methods)

    @property
    def columns(self) -> Columns:
        """What the user says about the data."""
        return Columns(
            self.text, self.label, self.id, self.task, self.format, None, self.delimiter, self.no_header, self.encoding
        )

    @property
    def measuring(self) -> EvaluationSettings:
        """The settings that an evaluation has, too. Raises ValueError for a wrong value."""
        given = {name: getattr(self, name) for name in (*MEASURED, "dimensions", "log")}
        return EvaluationSettings.of(**given)

    @property
    def shared(self) -> dict[str, Any]:
        """The settings of the two evaluations, as far as they are chosen here and not by default."""
        default = EvaluationSettings()
        found = {name: getattr(self.measuring, name) for name in MEASURED}
        return {name: value for name, value in found.items() if value != getattr(default, name)}

    def options_of(self, model: Any, first: bool) -> dict[str, Any]:
        """Returns the options of a model. first: whether it is the one that is hardened. One that was trained here is computed as
        that is (backend, max_length, ...), so that both can be compared; it has no revision.
        """
        if first:
            return self.options
        kept = {name: value for name, value in self.options.items() if name != "revision"}
        return kept if isinstance(model, str | Path) else {}

    def attacking(self, model: Any, first: bool) -> dict[str, Any]:
        """Returns the settings of attacks on a model. first: as for `options_of`.

        A search changes one text of a pair: the first, where both are perturbed.
        """
        names = (
            "goal", "vectors", "mlm", "encoder", "side", "protect", "seed", "engine", "address", "workers", "max_errors", "map",
            "none",
        )  # fmt: skip
        found = {name: getattr(self, name) for name in names}
        found["side"] = None if self.side == "both" else self.side
        found["options"] = self.options_of(model, first)
        return {**found, **({"labels": self.labels} if first else {})}

    def asdict(self) -> dict[str, Any]:
        """The settings that decide the result and differ from the defaults, in plain types. Objects are left out."""
        plain = type(self)()
        out = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in (*BY_THE_WAY, "max_errors") or value == getattr(plain, each.name):
                continue
            out[each.name] = list(value) if isinstance(value, tuple) else value
        return {name: value for name, value in out.items() if isinstance(value, str | int | float | list | Mapping)}


def _listed(kind: Any, value: Any) -> Any:
    """A single value stands for a list of one."""
    if not str(kind).startswith("tuple"):
        return value
    return tuple(value) if isinstance(value, list | tuple) else (value,)
