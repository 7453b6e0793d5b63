"""Where a run on a Ray cluster was started, so that actors find the same files and modules."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from ...version import __version__
from .cluster import NoCluster


@dataclass(frozen=True)
class Origin:
    """The process that starts a run: the folder that its paths are meant from, where its modules are found, its versions."""

    folder: str
    modules: tuple[str, ...]
    versions: tuple[str, str]

    @classmethod
    def of_this_process(cls) -> Origin:
        return cls(os.getcwd(), tuple(sys.path), (__version__, _python()))

    def adopt(self) -> None:
        """Lets this process, an actor, find files and modules as that one does. Raises NoCluster if it cannot."""
        here = (__version__, _python())
        if here != self.versions:
            ours, theirs = (f"scuff {scuff} on Python {python}" for scuff, python in (self.versions, here))
            raise NoCluster(f"expected {ours} on all nodes of the Ray cluster, got {theirs} on {platform.node()}")
        if not Path(self.folder).is_dir():
            raise NoCluster(
                f"expected {self.folder} on all nodes of the Ray cluster, as on a shared file system, got none on "
                f"{platform.node()}"
            )
        os.chdir(self.folder)
        sys.path += [path for path in self.modules if path not in sys.path and Path(path).exists()]


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])
