"""What trains a model: Hugging Face encoders, the embedded models (NumPy alone), scikit-learn pipelines. One function each way.

`backend_of` tells by the model which it is, and raises, before any work, for methods that it has not.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..data.dataset import Dataset, align, renamed
from ..data.formats.streams import BadInput
from ..huggingface.loading import BadModel, find_source, first_line, libraries, quiet
from ..specs import entry_points, some
from ..text.ragged import Floats
from ..text.random import counters, mix, name_bits
from ..victims.open import ADDRESSES, FAMILY, hub_commit, open_victim
from ..victims.query import Query
from ..victims.toy import EPOCHS, Toy, fit, is_toy_folder, save_toy
from ..victims.truth import Truth
from .attack_training import ADVERSARIAL_EPOCHS
from .feeds import Feed
from .methods import METHODS, Method, Plm, Pp
from .trainer import check_data, check_libraries, fine_tune

Tell = Callable[[str], None]
COPIES = 3  # of each example, where a model is refitted once


@dataclass(frozen=True)
class Effort:
    """How long and on what to train."""

    seed: int = 0
    epochs: int | None = None
    rate: float | None = None
    seconds: float | None = None
    device: str = "auto"
    labels: tuple[str, ...] = ()  # names of the model's labels in its order, where it has others
    tell: Tell = field(default=lambda message: None)


class Backend(ABC):
    """One way to train. A stage takes a model, writes another one into a folder, and goes on where it was killed."""

    name: ClassVar[str]
    methods: ClassVar[tuple[str, ...]]  # that it has, beside shield
    adversarial_epochs: ClassVar[int | None] = None  # of training on attacks; None: as many as usual

    @abstractmethod
    def check(self, train: Dataset, dev: Dataset) -> None:
        """Raises ValueError if the model cannot learn from this data."""

    @abstractmethod
    def fine_tune(self, start: Any, feed: Feed, dev: Dataset, out: Path, effort: Effort) -> tuple[Any, dict[str, Any]]:
        """Trains on a feed. Returns the new model, as `evaluate` takes it, and what is to be told about the training."""

    def pretrain(
        self, start: Any, texts: Sequence[str], out: Path, method: Method, effort: Effort
    ) -> tuple[Any, dict[str, Any]]:
        """Pretrains on texts alone, for `fine_tune` to go on with."""
        raise NotImplementedError(f"{self.name} has no {method.name}")


class ToyBackend(Backend):
    """The embedded models: logistic regression. Each stage goes on from the first model, not from the stage before, whose
    examples its feed has, too.
    """

    name = "an embedded model"
    methods = ("augment", "attack")

    def __init__(self, model: str) -> None:
        self.toy = Toy.of_folder(model) if is_toy_folder(model) else Toy(model.partition(":")[2])

    def check(self, train: Dataset, dev: Dataset) -> None:
        if train.task != self.toy.task or len(train.columns) != 1:
            raise BadInput(f"{train.name}: expected data for {self.toy.name} ({self.toy.task}), got {train.task}")
        align(train.labels, self.toy.labels, {})

    def fine_tune(self, start: Any, feed: Feed, dev: Dataset, out: Path, effort: Effort) -> tuple[Any, dict[str, Any]]:
        epochs = effort.epochs or EPOCHS
        named = {label: self.toy.labels[at] for label, at in align(feed.data.labels, self.toy.labels, {}).items()}

        def passes() -> Any:
            for number in range(epochs):
                data = renamed(feed.epoch(number), named)
                order = np.argsort(_chance(len(data), effort.seed, number), kind="stable").tolist()
                yield [str(data.columns[0][at]) for at in order], [data.targets[at] for at in order]

        save_toy(self.toy.data, fit(self.toy.data, passes(), self.toy.weights), out)
        return str(out), {"epochs": epochs, "dev": {"score": score(str(out), dev)}}


class SklearnBackend(Backend):
    """A scikit-learn pipeline, refitted on COPIES epochs of the feed, equal examples once. It stays in memory: only its owner
    knows how to save it.
    """

    name = "a scikit-learn pipeline"
    methods = ("augment", "attack")

    def __init__(self, model: Any) -> None:
        self.model = model

    def check(self, train: Dataset, dev: Dataset) -> None:
        if train.task != "single" or len(train.columns) != 1:
            raise BadInput(f"{train.name}: expected one text and one label for {self.name}, got {train.task}")

    def fine_tune(self, start: Any, feed: Feed, dev: Dataset, out: Path, effort: Effort) -> tuple[Any, dict[str, Any]]:
        texts: list[str] = []
        targets: list[Any] = []
        known = {str(label): label for label in getattr(start, "classes_", ())}
        seen: set[tuple[str, str]] = set()
        for number in range(effort.epochs or COPIES):
            data = feed.epoch(number)
            for text, target in zip(data.columns[0], data.targets, strict=True):
                if (pair := (str(text), str(target))) not in seen:  # clean examples once
                    seen.add(pair)
                    texts.append(pair[0])
                    targets.append(known.get(pair[1], pair[1]))
        new = copy.deepcopy(start).fit(texts, np.array(targets))
        return new, {"examples": len(texts), "dev": {"score": score(new, dev)}}


class HuggingFaceBackend(Backend):
    """Encoders of transformers: see `trainer.py` and `pretraining.py`."""

    name = "a Hugging Face model"
    methods = ("augment", "plm", "pp", "attack")
    adversarial_epochs = ADVERSARIAL_EPOCHS

    def __init__(self, model: str) -> None:
        self.model = model.removeprefix("hf:")

    def check(self, train: Dataset, dev: Dataset) -> None:
        check_libraries()
        check_data(train, dev, None)

    def fine_tune(self, start: Any, feed: Feed, dev: Dataset, out: Path, effort: Effort) -> tuple[Any, dict[str, Any]]:
        metrics = fine_tune(
            str(start).removeprefix("hf:"), feed, dev, out, schedule=_chosen({"epochs": effort.epochs, "rate": effort.rate}),
            device=effort.device, seed=effort.seed, seconds=effort.seconds, labels=effort.labels or None,
            show=_shown(effort.tell),
        )  # fmt: skip
        return str(out), metrics

    def pretrain(
        self, start: Any, texts: Sequence[str], out: Path, method: Method, effort: Effort
    ) -> tuple[Any, dict[str, Any]]:
        from .pretraining import pretrain

        assert isinstance(method, Plm | Pp)
        metrics = pretrain(
            str(start).removeprefix("hf:"), texts, out, method=method.name, perturbations=method.mixed(tokens=False),
            schedule=_chosen({"epochs": method.epochs}), device=effort.device, seed=effort.seed, seconds=effort.seconds,
            show=_shown(effort.tell),
        )  # fmt: skip
        return str(out), metrics


def backend_of(model: Any, methods: Sequence[Method]) -> Backend | None:
    """Returns what trains a model; None if no method trains.

    Raises ValueError, with the methods that do work, for a model that cannot be trained here: an endpoint, a function.
    """
    training = [method for method in methods if method.trains]
    if not training:
        return None
    found = _backend(model)
    if found is None:
        shields = ", ".join(name for name, kind in METHODS.items() if not kind.trains)
        raise ValueError(
            f"expected a model with weights that can be trained for {training[0].name} (a Hugging Face folder or id, a "
            f"scikit-learn pipeline, toy:sentiment, toy:tone), got {_shown_name(model)}: what works with it is {shields}"
        )
    if lacking := [method.name for method in training if method.name not in found.methods]:
        have = ", ".join((*found.methods, "shield"))
        raise ValueError(f"expected {have} for {found.name}, got {some(lacking)}")
    return found


def _backend(model: Any) -> Backend | None:
    if isinstance(model, str | Path):
        name = str(model)
        if name in ("toy:sentiment", "toy:tone") or is_toy_folder(name):
            return ToyBackend(name)
        function = name.endswith(".py") or (":" in name and not name.startswith("hf:") and not Path(name).exists())
        return None if function else HuggingFaceBackend(name)
    if hasattr(model, "predict") and hasattr(model, "fit"):
        return SklearnBackend(model)
    return None


def check_reach(model: Any, say: Callable[[str], object]) -> None:
    """Raises BadModel if a name is of no folder and no model of the Hub within reach. A bare name is not asked for there, since
    it is a mistyped folder mostly: ids are owner/name, and hf:name asks for any.
    """
    if not isinstance(_backend(model), HuggingFaceBackend) or str(model) in entry_points(FAMILY.group):
        return
    name = str(model).removeprefix("hf:")
    if Path(name).expanduser().is_dir() or name.endswith(")"):
        return
    source = find_source(name)
    if hub_commit(source):
        return
    if "/" not in str(model) and name == str(model):
        raise BadModel(
            f"expected the folder of a model or an id as owner/name, got {name}: no such folder (hf:{name} asks the Hub)"
        )
    say(f"model   {name} is no folder here: asking the Hub for it")
    _, transformers = libraries()
    try:
        with quiet():
            transformers.AutoConfig.from_pretrained(source, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise BadModel(
            f"expected the folder or the id of a model within reach, got {name}: {first_line(error)}"
        ) from None


def _shown_name(model: Any) -> str:
    if not isinstance(model, str | Path):
        return f"a {type(model).__name__}"
    kind = str(model).partition(":")[0]
    if kind in ADDRESSES:
        return "an endpoint"
    return f"the function {model}" if kind.endswith(".py") or ":" in str(model) else str(model)


def score(model: Any, data: Dataset) -> float:
    """The task's usual metric of a model on some data, over what it answers."""
    return mean_score(*example_scores(model, data))


def example_scores(
    model: Any,
    data: Dataset,
    labels: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    none: str | None = None,
) -> tuple[Floats, Floats]:
    """The score of each example, nan where there is no answer, and its weight. labels, options, none: as for `evaluate`."""
    victim = open_victim(model, data.task, labels, dict(options or {}), data_labels=data.labels)
    truth = Truth.of(data, victim.labels, {}, none)
    return truth.score(Query(victim)(*data.columns))[0], truth.weight


def mean_score(scores: Floats, weight: Floats) -> float:
    known = np.isfinite(scores)
    return round(float(np.average(scores[known], weights=weight[known])), 6) if known.any() else float("nan")


def surely_lower(before: Floats, after: Floats, weight: Floats) -> bool:
    """Whether a mean score fell: the paired 95 % interval of the difference is below 0."""
    known = np.isfinite(before) & np.isfinite(after)
    if not known.any():
        return False
    gaps, share = (after - before)[known], weight[known] / weight[known].sum()
    gap = float(gaps @ share)
    return gap + 1.96 * float(np.sqrt((share**2) @ (gaps - gap) ** 2)) < 0


def _chance(count: int, seed: int, number: int) -> Any:
    return mix(counters(np.arange(count)) ^ name_bits(f"order {number}", seed))


def _chosen(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}


def _shown(tell: Tell) -> Callable[[dict[str, Any]], None]:
    """Tells of each epoch, from the lines of a training's log."""

    def show(line: dict[str, Any]) -> None:
        if "dev" in line:
            scores = ", ".join(f"{name} {value:.3f}" for name, value in line["dev"].items())
            tell(f"{line['progress']:4.0%} epoch {line['epoch']}, {line['seconds']:.0f} s; dev: {scores}")

    return show
