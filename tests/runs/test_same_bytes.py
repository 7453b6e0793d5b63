"""The bytes of a run do not depend on workers, nor on their deaths. `on_ray.py` has the same for a Ray cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.measured import KINDS, disturbed, measure, prepare


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_workers_writes_the_same_bytes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path / kind, kind, monkeypatch)
    one = measure(kind, "one")
    assert sum(name.startswith("trials/") for name in one) >= 8
    for workers in (2, 4):
        assert measure(kind, str(workers), workers=workers) == one


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_workers_change_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disturbed(
        kind, tmp_path, monkeypatch, lambda kind, output, **given: measure(kind, output, **{"workers": 2, **given})
    )
