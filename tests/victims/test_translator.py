"""A translator's folder as a victim: opened by its name, asked in batches, with gradients for substitutions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from scuff.victims import Access, BadModel, open_victim
from scuff.victims.substitution import Substitutable, gives_slopes
from translators.tiny import pairs, untrained

SOURCES, TARGETS = zip(*pairs(6), strict=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("victim") / "model"
    untrained("lstm").save(path)
    return path


def test_it_opens_by_its_folder_and_answers_texts(folder: Path) -> None:
    victim = open_victim(folder, "text", (), {"device": "cpu"})
    assert victim.task == "text" and victim.access is Access.DECISION and gives_slopes(victim) and victim.name == str(folder)
    assert victim(list(SOURCES)).answers.tolist() == untrained("lstm").translate(SOURCES)
    assert victim([]).answers.tolist() == []
    assert open_victim(str(folder), "text", (), {"beam": 2}).identity != victim.identity


def test_it_is_substitutable(folder: Path) -> None:
    victim = open_victim(folder, "text", ())
    assert isinstance(victim, Substitutable)
    vocabulary = victim.vocabulary()
    assert vocabulary.vectors.shape == (len(vocabulary.surfaces), 12) and vocabulary.vectors.dtype == np.float32
    assert vocabulary.surfaces[vocabulary.unknown] == "" and len(vocabulary.begins) == len(vocabulary.surfaces)
    text = f"{SOURCES[0]} ☃"
    row, slopes = victim.located([text])[0], victim.slopes([text], [TARGETS[0]])[0]
    assert slopes.shape == (len(row.ids), 12) and np.isfinite(slopes).all()
    for piece, start, stop in zip(*(part.tolist() for part in row), strict=True):
        assert vocabulary.surfaces[piece] == text[start:stop] or (
            piece == vocabulary.unknown and text[start:stop] == "☃"
        )


def test_another_folder_is_another_model(folder: Path, tmp_path: Path) -> None:
    untrained("lstm", seed=1).save(tmp_path)
    assert open_victim(tmp_path, "text", ()).identity != open_victim(folder, "text", ()).identity


def test_wrong_uses_are_told_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=r"expected 1 or more for beam of .*, got 0"):
        open_victim(folder, "text", (), {"beam": 0})
    with pytest.raises(BadModel, match=r"expected device, beam, batch_tokens for .*, got 'num_beams'"):
        open_victim(folder, "text", (), {"num_beams": 2})
    with pytest.raises(ValueError, match=r"expected a model for single data, got .*, which is for text"):
        open_victim(folder, "single", ()).check_task("single")
    with pytest.raises(ValueError, match="expected one column of texts"):
        open_victim(folder, "text", ())(["a"], ["b"])
    (tmp_path / "config.json").write_text('{"model_type": "scuff-translator"}', encoding="utf-8")
    with pytest.raises(BadModel, match="expected a whole translator in "):
        open_victim(tmp_path, "text", ())
