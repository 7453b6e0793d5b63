"""Files by the engine of Ray, and Ray Data: `test_ray.py` runs this file in a network of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if "SCUFF_LOOPBACK_ONLY" not in os.environ:
    pytest.skip("Ray listens on all interfaces: run by test_ray.py", allow_module_level=True)

import ray
from ray.cluster_utils import Cluster

import scuff
from scuff.cli.main import main
from scuff.data import blocks

TEXTS = [f"Some ordinary words, Cl\u0456ck here, stand in line {n % 70}" for n in range(200)]
COMMANDS = {
    "perturb": ["perturb", "-p", "keyboard", "--copies", "2"],
    "shield": ["shield", "--shield", "normalise"],
    "augment": ["augment", "--dimensions", "typo-g", "keyboard", "--degree", "0.4"],
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 3, "include_dashboard": False})
    yield str(nodes.address)
    nodes.shutdown()


@pytest.mark.parametrize("command", COMMANDS)
def test_files_on_ray(command: str, cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(blocks, "SIZE", 2000)
    Path("in").mkdir()
    for part in range(3):
        rows = "".join(f'"{text}",{n % 2}\n' for n, text in enumerate(TEXTS[part * 60 : part * 60 + 60]))
        Path(f"in/{part}.csv").write_text(f"text,label\n{rows}")
    assert main([*COMMANDS[command], "in", "-o", "one", "-q"]) == 0
    flags = ["--engine", "ray", "--address", cluster, "--workers", "2"]
    assert main([*COMMANDS[command], "in", "-o", "ray", "-q", *flags]) == 0
    for part in range(3):
        assert Path(f"ray/{part}.csv").read_bytes() == Path(f"one/{part}.csv").read_bytes()
    assert sorted(os.listdir("ray")) == ["0.csv", "1.csv", "2.csv"]


@pytest.fixture
def connected(cluster: str) -> Iterator[None]:
    ray.init(cluster, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")  # of Ray Data's own code
@pytest.mark.parametrize(("parts", "options"), [(1, {}), (7, {"batch_size": 3}), (3, {"batch_format": "numpy"})])
def test_ray_data(parts: int, options: dict[str, Any], connected: None) -> None:
    rows = [{"text": text, "n": n} for n, text in enumerate(TEXTS)]
    data = ray.data.from_items(rows, override_num_blocks=parts)

    def texts(made: Any) -> list[str]:
        return [row["text"] for row in sorted(made.take_all(), key=lambda row: (row["n"], row.get("draw", 0)))]

    made = scuff.ray_perturb(data, "keyboard", "low", seed=4, id="n", options=options)
    assert texts(made) == scuff.perturb(TEXTS, "keyboard", "low", seed=4, ids=range(200))
    twice = texts(scuff.ray_perturb(data, "keyboard", "low", seed=4, copies=2, options=options))
    assert twice[1::2] == scuff.perturb(TEXTS, "keyboard", "low", seed=4, draw=1)
    assert texts(scuff.ray_shield(data, "normalise", options=options)) == scuff.shield(TEXTS, "normalise")
