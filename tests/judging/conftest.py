from __future__ import annotations

import random
from pathlib import Path

import pytest

import scuff


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation of the toy classifier."""
    folder = tmp_path_factory.mktemp("judged") / "run"
    scuff.evaluate(
        "toy:sentiment", "toy:sentiment", folder, dimensions=["typo-m", "typo-g", "segment"], degrees=[0.1, 0.3, 0.5],
        examples=60, cases=4,
    )  # fmt: skip
    return folder


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Forty sentences; attacks replace 1, 2 or 3 words of each, and one line stays as it is."""
    clean = [f"the {word} sat on the mat number {at} today" for at in range(20) for word in ("cat", "dog")]

    def attacked(mark: str) -> list[str]:
        out = []
        for at, line in enumerate(clean):
            words = line.split()
            for place in range(1 + at % 3):
                words[place] += mark
            out.append(" ".join(words))
        return [*out[:-1], clean[-1]]

    texts = {
        "src": clean, "knn": attacked("x"), "swaps": attacked("yy"), "ref": [f"R {line}" for line in clean],
        "out": [f"O {line}" for line in clean], "adv": [f"A {line}" for line in attacked("z")],
    }  # fmt: skip
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: str(tmp_path / f"{name}.txt") for name in texts}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A kit of 180 pairs: two attacks, of which one says more in chrF than the other, with 1, 2 and 3 edits."""
    chance = random.Random(0)
    words = [
        "river",
        "garden",
        "window",
        "summer",
        "letter",
        "market",
        "doctor",
        "bridge",
        "season",
        "winter",
        "paper",
        "candle",
    ]
    clean = [" ".join(chance.sample(words, 9)) for _ in range(240)]

    def attacked(change: int) -> list[str]:
        out = []
        for at, line in enumerate(clean):
            tokens = line.split()
            for place in chance.sample(range(9), 1 + at % 3):
                tokens[place] = tokens[place][:-change] + "x" * change
            out.append(" ".join(tokens))
        return out

    (tmp_path / "s.txt").write_text("\n".join(clean))
    for name, change in (("charswap", 1), ("kNN", 4)):
        (tmp_path / f"{name}.txt").write_text("\n".join(attacked(change)))
    adv = {name: str(tmp_path / f"{name}.txt") for name in ("charswap", "kNN")}
    scuff.judge_export([], tmp_path / "kit", src=str(tmp_path / "s.txt"), adv_src=adv, each=30)
    return tmp_path / "kit"
