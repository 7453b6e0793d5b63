"""Where the process works that starts a run on a Ray cluster, and how an actor settles there."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from ...version import __version__
from .cluster import NoCluster


@dataclass(frozen=True)
class Home:
    """Where the process that starts a run works, which is where its paths are meant from and its modules are found."""

    folder: str
    modules: tuple[str, ...]
    versions: tuple[str, str]

    @classmethod
    def of_this_process(cls) -> Home:
        return cls(os.getcwd(), tuple(sys.path), (__version__, _python()))


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def settle(home: Home) -> None:
    """Lets an actor find files and modules as the process that started it does. Raises NoCluster if it cannot."""
    here = (__version__, _python())
    if here != home.versions:
        ours, theirs = (f"scuff {scuff} on Python {python}" for scuff, python in (home.versions, here))
        raise NoCluster(f"expected {ours} on all nodes of the Ray cluster, got {theirs} on {platform.node()}")
    if not Path(home.folder).is_dir():
        raise NoCluster(
            f"expected {home.folder} on all nodes of the Ray cluster, as on a shared file system, got none on {platform.node()}"
        )
    os.chdir(home.folder)
    sys.path += [path for path in home.modules if path not in sys.path and Path(path).exists()]
