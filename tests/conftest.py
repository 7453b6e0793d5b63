"""Settings for all tests: hypothesis without deadlines (2 cores, shared machines), the shared data where it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("scuff", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("scuff")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data, which a newcomer does not have."""
    folder = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs real data in SCUFF_SHARED ({folder}), which is not there")
    return folder


@pytest.fixture
def errors_file(tmp_path: Path) -> Path:
    """A small list of misspellings."""
    path = tmp_path / "errors.tsv"
    path.write_text("the\tteh hte\nquick\tqiuck quik qick\nbrown\tbronw\nWorld\tWrold\n", encoding="utf-8")
    return path
