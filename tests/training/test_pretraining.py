"""pretrain: what PLM and PP have to predict, that they learn it, and that fine-tuning starts from the result."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

from scuff.metrics.edit import came_from
from scuff.training.batching import Cutter
from scuff.training.pretraining import _parts, pretrain
from scuff.training.restoration import HIDDEN, hidden, marks, open_masked, restored
from scuff.training.schedule import Schedule
from scuff.training.trainer import fine_tune
from training.toys import PLAIN, label_sets, pairs, save_start, sentences, tagged

SCHEDULE = Schedule(rate=5e-3, epochs=1, batch_tokens=512, smoothing=0.0)
TEXTS = sentences(100, 1)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def tokenizer(start: Path) -> Any:
    return hf.AutoTokenizer.from_pretrained(start)


def pretrained(start: Any, out: Path, texts: Any = TEXTS, **options: Any) -> dict[str, Any]:
    return pretrain(
        start, texts, out, **{"schedule": SCHEDULE, "device": "cpu", "perturbations": "keyboard", **options}
    )


@given(st.text("ab ", max_size=12), st.text("abc ", max_size=12))
def test_characters_come_from_the_nearest_original(before: str, after: str) -> None:
    source = came_from(before, after)
    assert len(source) == len(after) and (np.diff(source) >= 0).all()
    if before:
        assert ((source >= 0) & (source < len(before))).all()
    if before == after:
        assert source.tolist() == list(range(len(before)))


@pytest.mark.parametrize(
    ("before", "after", "source"),
    [
        ("a cat", "a xcat", [0, 1, 2, 2, 3, 4]),  # inserted at the beginning of a word: belongs to what follows
        ("cat a", "catx a", [0, 1, 2, 2, 3, 4]),  # at its end: to what is before
        ("the cat", "thecat", [0, 1, 2, 4, 5, 6]),
        ("good", "gd", [0, 3]),
        ("", "ab", [-1, -1]),
        ("ab", "", []),
    ],
)
def test_what_characters_come_from(before: str, after: str, source: list[int]) -> None:
    assert came_from(before, after).tolist() == source


def predicted(tokenizer: Any, clean: str, noisy: str, most: int = 48) -> list[tuple[str, str]]:
    """Each piece of the perturbed text with the clean piece that it has to become; "" for nothing."""
    special = marks(tokenizer)
    cutter = Cutter(tokenizer, most, places=True)
    row, wanted = cutter([[noisy, clean]])
    found = restored(clean, noisy, row, wanted, special, tokenizer.unk_token_id)
    names = tokenizer.convert_ids_to_tokens(row["input_ids"].tolist())
    due = ["" if target < 0 else tokenizer.convert_ids_to_tokens(int(target)) for target in found["target"]]
    assert (names[0], due[0], names[-1], due[-1]) == ("[CLS]", "", "[SEP]", "")
    return list(zip(names[1:-1], due[1:-1], strict=True))


@pytest.mark.parametrize(
    ("clean", "noisy", "pairs"),
    [
        ("the dog", "the dog", "the=the dog=dog"),
        ("the dog was", "the dpg was", "the=the d=dog ##p=dog ##g=dog was=was"),  # a word that fell apart
        ("the zqxv was", "the film was", "the=the film=##q was=was"),  # fewer pieces: that of the middle character
        ("the dog", "thedog", "the=the ##d=dog ##o=dog ##g=dog"),  # words that were joined
        ("dog", "d og", "d=dog o=dog ##g=dog"),
        ("a dog was red", "a was red", "a=a was=was red=red"),  # what is gone is not asked for
        ("Ω dog", "Ω dog", "[UNK]= dog=dog"),  # what is unknown is not learnt
        ("dog", "ωωω", "[UNK]=dog"),  # but what became unknown is restored
    ],
)
def test_pieces_predict_the_clean_pieces_they_come_from(clean: str, noisy: str, pairs: str, tokenizer: Any) -> None:
    assert [f"{piece}={due}" for piece, due in predicted(tokenizer, clean, noisy)] == pairs.split(" ")


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=20), st.integers(5, 30))
def test_a_clean_text_predicts_itself_also_if_it_is_cut(words: list[str], most: int) -> None:
    tokenizer = TOKENIZER[0] if TOKENIZER else TOKENIZER.append(_tokenizer()) or TOKENIZER[0]
    text = " ".join(words)
    assert all(piece == due for piece, due in predicted(tokenizer, text, text, most))
    noisy = text.replace("o", "0")
    assert all(due in words for _, due in predicted(tokenizer, text, noisy, most) if due)


TOKENIZER: list[Any] = []


def _tokenizer() -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return hf.AutoTokenizer.from_pretrained(save_start(Path(folder)))


def test_hidden_pieces_are_as_many_and_as_berts(tokenizer: Any) -> None:
    special, chance = marks(tokenizer), np.random.default_rng(0)
    ids = np.concatenate([[2], np.full(20_000, 40), [3]]).astype(np.int32)
    row = hidden({"input_ids": ids}, chance, special, tokenizer.mask_token_id, len(tokenizer))
    chosen = row["target"] != -100
    assert (row["target"][chosen] == 40).all() and not chosen[0] and not chosen[-1]
    assert chosen.mean() == pytest.approx(HIDDEN, abs=0.01)
    new = row["input_ids"]
    assert (new[~chosen] == ids[~chosen]).all()
    assert (new[chosen] == tokenizer.mask_token_id).mean() == pytest.approx(0.8, abs=0.03)
    assert (new[chosen] == 40).mean() == pytest.approx(0.1, abs=0.03)
    short = hidden({"input_ids": np.array([2, 40, 41, 3])}, chance, special, 4, 81)
    assert (short["target"] != -100).sum() >= 1  # at least one
    assert (hidden({"input_ids": np.array([2, 3])}, chance, special, 4, 81)["target"] == -100).all()


@pytest.mark.parametrize("method", ["plm", "pp"])
def test_it_learns_and_fine_tuning_starts_from_it(method: str, start: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    lines: list[dict[str, Any]] = []
    schedule = replace(SCHEDULE, epochs=3)
    metrics = pretrained(
        start, tmp_path / "out", sentences(200, 1), method=method, schedule=schedule, show=lines.append
    )
    first, last = metrics["epochs"][0], metrics["epochs"][-1]
    assert (
        last["loss"] < first["loss"] - 0.02 and metrics["new_head"] and metrics["texts"] + metrics["dev_texts"] <= 200
    )
    if method == "plm":
        assert last["accuracy"] > first["accuracy"] and 0 < last["changed"] < last["accuracy"]
    old, new = (load_file(folder / "model.safetensors") for folder in (start, tmp_path / "out"))
    assert torch.equal(old["pooler.dense.weight"], new["bert.pooler.dense.weight"])  # not trained, but not lost
    assert not torch.equal(old["encoder.layer.1.output.dense.weight"], new["bert.encoder.layer.1.output.dense.weight"])
    again = open_masked(tmp_path / "out", seed=0, device="cpu", max_length=None, places=True)
    assert (
        not again.new_head and again.model.get_output_embeddings().weight is again.model.get_input_embeddings().weight
    )
    tuned = fine_tune(tmp_path / "out", TEXTS, sentences(20, 2), tmp_path / "tuned", device="cpu", schedule=SCHEDULE)
    assert tuned["labels"] == ["negative", "positive"]


def test_same_seed_same_bytes_and_it_goes_on(start: Path, tmp_path: Path) -> None:
    class Killed(BaseException): ...

    def killed(line: dict[str, Any]) -> None:
        if "dev" in line and line["epoch"] == 2:
            raise Killed

    schedule = replace(SCHEDULE, epochs=3)
    pretrained(start, tmp_path / "one", schedule=schedule)
    with pytest.raises(Killed):
        pretrained(start, tmp_path / "same", schedule=schedule, show=killed)
    assert pretrained(start, tmp_path / "same", schedule=schedule)["resumed"] == 1
    one, same = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "same"))
    assert one == same


def test_texts_are_taken_once_and_the_dev_part_is_not_learnt_from() -> None:
    learnt, held = _parts(["a", "b", "a", " ", "c"] * 10, None, 0)
    assert sorted([*learnt.columns[0], *held.columns[0]]) == ["a", "b", "c"] and len(held) == 1
    learnt, held = _parts(["a", "b", "c"], ["c", "d"], 0)
    assert learnt.columns[0] == ("a", "b") and held.columns[0] == ("c", "d")
    both = _parts(pairs(5, 1), None, 0)
    assert len(both[0]) + len(both[1]) == len(set(pairs(5, 1).strings()))
    assert " ".join(tagged(5, 1).columns[0][0]) in {
        *_parts(tagged(5, 1), None, 0)[0].strings(),
        *_parts(tagged(5, 1), None, 0)[1].strings(),
    }
    many = _parts(label_sets(300, 1), None, 0)
    assert (
        len(many[1]) == round(0.05 * (len(many[0]) + len(many[1])))
        and many[1].ids != _parts(label_sets(300, 1), None, 1)[1].ids
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "mlm"}, "expected one of plm, pp for method, got 'mlm'"),
        ({"texts": ["a"]}, "expected two or more texts to pretrain on, got 1"),
        ({"texts": ["a"], "dev": ["a"]}, "expected texts to pretrain on and others for dev, got 0 and 1"),
        ({"texts": "a text"}, "expected a list of texts or a data set to pretrain on, got one text"),
        ({"perturbations": "keyboardd"}, "keyboard"),
        ({"seconds": -1}, "expected a number above 0 for seconds, got -1"),
    ],
)
def test_bad_options(options: dict[str, Any], said: str, start: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        pretrained(start, tmp_path / "out", **options)
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()


def test_models_that_cannot(tmp_path: Path) -> None:
    folder = save_start(tmp_path / "gpt")
    hf.GPT2Model(hf.GPT2Config(vocab_size=81, n_positions=48, n_embd=32, n_layer=1, n_head=4)).save_pretrained(folder)
    with pytest.raises(ValueError, match="expected an encoder for masked language modelling, got"):
        pretrained(folder, tmp_path / "out")
