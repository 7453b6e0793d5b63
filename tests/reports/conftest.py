"""The runs of `made.py` and `compared.py`, each made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.compared import make_runs
from reports.made import attack_notes, attack_nothing
from scuff.runs.folder import Folder


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return attack_notes(tmp_path_factory.mktemp("attacked", numbered=False))


@pytest.fixture(scope="session")
def nothing_attacked(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return attack_nothing(tmp_path_factory.mktemp("nothing"))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_runs(tmp_path_factory.mktemp("compared", numbered=False))
