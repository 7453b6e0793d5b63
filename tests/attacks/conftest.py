"""Word vectors, and attacks that have them."""

from __future__ import annotations

from typing import Any

import pytest

from scuff.attacks.attack import Attack
from scuff.attacks.settings import AttackSettings

SPACE = """good 1 0 0
great 0.9 0.1 0
fine 0.8 0.2 0.1
bad -1 0 0.1
poor -0.9 0.2 0
film 0 1 0
movie 0 0.9 0.1
"""


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("vectors") / "space.txt"
    path.write_text(SPACE)
    return str(path)


@pytest.fixture
def attack_of(vectors: str) -> Any:
    """Makes the attack of a recipe and settings, with word vectors, and with chrF in place of a sentence encoder."""
    pytest.importorskip("lemminflect")

    def made(recipe: str, **settings: Any) -> Attack:
        return AttackSettings.of(recipe=recipe, **{"vectors": vectors, "encoder": "chrf", **settings}).make_attack()

    return made
