"""Lets the workers of a run ask a model that is open elsewhere, instead of opening it once more each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.dataset import Dataset
from ..victims.base import Victim
from ..victims.open import is_transformer
from ..victims.shielded import unshielded
from .engines.base import Engine, Hosted
from .inputs import open_model
from .settings import Settings

if TYPE_CHECKING:
    from ..victims.service import Door, Service


def behind(door: Door) -> Victim:
    """The victim behind a door."""
    from ..victims.served import Served

    return Served(door)


def inside_worker(door: Door) -> Victim:
    """The same in a worker, which asks for sentence encoders there, too."""
    from ..victims.served import use_encoders_of

    use_encoders_of(door)
    return behind(door)


def kept_by(engine: Engine, model: Any, settings: Settings, data: Dataset) -> Victim | None:
    """Opens a model on the GPUs of a cluster. Returns None if it has none, or the user wants the model elsewhere."""
    device, backend = (settings.options.get(name) for name in ("device", "backend"))
    if not isinstance(model, str | Path) or settings.predictions or not is_transformer(str(model)):
        return None
    if device not in (None, "auto", "cuda") or backend not in (None, "pytorch"):
        return None
    none_of_it = replace(data.take(range(0)), known=data.labels)
    door = engine.keep(partial(open_service, model, replace(settings, shield=None), none_of_it))
    return behind(door) if door else None


def open_service(model: Any, settings: Settings, data: Dataset) -> Service:
    """Opens a model for others to ask."""
    from ..victims.service import Service

    return Service(open_model(model, settings, data))  # type: ignore[arg-type]  # a Transformer


@contextmanager
def serving(victim: Victim, engine: Engine) -> Iterator[Hosted]:
    """Yields how workers reach a victim that serves, behind its shield, as long as the context lasts."""
    bare = unshielded(victim)
    if door := getattr(bare, "door", None):  # a cluster keeps it
        yield Hosted(door)
        return
    from ..victims.service import Service

    with engine.host(Service(bare)) as hosted:  # type: ignore[arg-type]  # only a Transformer serves
        yield hosted
