"""Goes on with a run that began earlier: only if nothing differs that decides its trials, and the model answers as it did."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..data.dataset import Dataset
from ..stores import StorePath
from ..version import __version__
from ..victims.base import Outputs, Victim
from ..victims.identity import Identity, written
from ..victims.query import Query
from .folder import BadRun, Folder
from .inputs import saved_data
from .pack import unpack_answers
from .schema import RunFile, Since
from .settings import Settings


class Resumed(ABC):
    """What of a setup is compared with a run folder."""

    settings: Settings
    data: Dataset
    victim: Victim
    query: Query
    identity: Identity | None

    @abstractmethod
    def key(self) -> dict[str, Any]:
        """Returns everything that decides the trials, by name. A run is resumed only if its key is the same."""

    @property
    @abstractmethod
    def files(self) -> dict[str, str]:
        """Digests of the files and models that the plan names."""

    def go_on(self, folder: Folder) -> RunFile:
        """Returns run.json of a folder, to go on with its run. Raises BadRun, naming what differs, if its key is another."""
        run = folder.run()
        key, old = self.key(), cast(dict[str, Any], run["key"])
        if old.get("scuff") != __version__ or "probe" not in run:  # a seed may give other texts
            raise BadRun(
                f"{folder.path}: expected a run of scuff {__version__} to go on with, got one of scuff {old.get('scuff')}: "
                "report it as it is, choose another folder, or start anew with --fresh"
            )
        other = sorted(name for name in {*key, *old} - {"model"} if key.get(name) != old.get(name))
        why = ""
        if "data" in other:
            other = [name for name in other if name != "block"]  # other examples, so other answers and blocks
            if not str(old["model"]).startswith(f"{self.victim.identity}#"):
                other = sorted([*other, "model"])
        elif why := self._other_model(folder, run):
            other = sorted([*other, "model"])
        if other:
            other = ["command"] if "kind" in other else other  # another command explains all other differences
            anew = "" if other == ["command"] else ", or start anew with --fresh"
            if other == ["files"]:
                known = old.get("files", {})
                why = f"changed: {', '.join(name for name in {**known, **self.files} if known.get(name) != self.files.get(name))}"
            detail = f" ({why})" if why and other in (["model"], ["files"]) else ""
            raise BadRun(
                f"{folder.path}: expected the run that began there, got another {', '.join(other)}: choose another folder"
                f"{anew}{detail}"
            )
        saved_data(folder, run, self.settings)  # raises BadRun if the examples were edited
        # last digits may have changed, and the cache knows the model by the name of before
        self.query.identity = run["key"]["model"]
        if run.get("batch_tokens"):  # the same batches, so that not even the last bit of a score changes
            self.victim.batch_tokens = run["batch_tokens"]
        return run

    def _other_model(self, folder: Folder, run: RunFile) -> str:
        """Returns how the model differs from that of a run; "" if it is the same."""
        assert self.identity is not None, "only the process that started or resumed a run compares models"
        if not run["key"]["model"].startswith(f"{self.victim.identity}#"):
            return "its name, source or weights differ"
        return self.identity.differences(run["probe"]) or self._other_answers(folder)

    def _other_answers(self, folder: Folder) -> str:
        """Returns how the model's answers to clean texts, which the pre-flight has asked for, differ from those of the run."""
        assert self.identity is not None, "as above"
        for name in folder.parts():
            if not name.startswith("clean-"):
                continue
            try:
                part = folder.read_part(name)
            except BadRun:  # damaged: it is asked again
                continue
            failed = ["error" if problem else "" for problem in part["problem"].tolist()]
            now = self.query(*self.data.take(part["example"].astype(np.int64)).columns)
            before = written(Outputs.of(unpack_answers(part), failed))
            if why := self.identity.otherwise(before, written(now), "clean texts"):
                return why
        return ""


def way_back(folder: Path | StorePath) -> Since:
    """The current folder as seen from that of a run, so that both can be moved together; nothing of a run in a store, which
    machines share that have other folders.
    """
    if isinstance(folder, StorePath):
        return {}
    try:
        return {"began_in": os.path.relpath(Path.cwd(), folder.resolve())}
    except ValueError:  # on another drive
        return {"began_in": str(Path.cwd())}
