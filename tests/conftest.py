"""Settings for all tests: hypothesis without deadlines (2 cores, shared machines), the shared data where it is.

Hypothesis tries the same examples each time, so that a test that passed passes for others, too. To look for new ones:
`make explore`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

usual = settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", usual)
settings.register_profile("explore", usual, max_examples=500, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


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
