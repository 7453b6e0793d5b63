"""Translators: batches do not matter, gradients are right, unknown words are copied, folders come back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from scuff.huggingface.loading import BadModel
from scuff.translators.network import Batch, adversarial_loss, nll, padded
from scuff.translators.translator import Translator, load
from scuff.translators.vocabulary import END, PAD, UNKNOWN
from translators.tiny import pairs, untrained

KINDS = [(architecture, pieces) for architecture in ("lstm", "transformer") for pieces in ("words", "bpe")]
SOURCES, TARGETS = zip(*pairs(12, seed=1), strict=True)
ODD = ["", "unbekannt ☃", "Hund " * 9, "...", *SOURCES[:4]]


def batch_of(translator: Translator, texts: list[str], width: int = 0) -> Batch:
    """Texts in the order of their lengths, with `width` columns of padding more."""
    rows = sorted((row.ids for row in translator.rows(texts)), key=len, reverse=True)
    ids = np.pad(padded(rows), ((0, 0), (0, width)), constant_values=PAD)
    return Batch(torch.from_numpy(ids), torch.tensor([len(row) + 1 for row in rows]))


@pytest.mark.parametrize(
    ("architecture", "pieces", "beam"),
    [("lstm", "words", 1), ("lstm", "bpe", 2), ("transformer", "words", 2), ("transformer", "bpe", 1)],
)
def test_a_translation_does_not_depend_on_the_batch(architecture: str, pieces: str, beam: int) -> None:
    translator = untrained(architecture, pieces)
    together = translator.translate(ODD, beam=beam)
    assert len(set(together)) > 3  # it does say different things
    assert translator.translate(ODD[::-1], beam=beam, batch_tokens=20)[::-1] == together
    assert [translator.translate([text], beam=beam)[0] for text in ODD] == together


@pytest.mark.parametrize(("architecture", "pieces"), KINDS)
def test_padding_is_not_seen(architecture: str, pieces: str) -> None:
    translator = untrained(architecture, pieces)
    network, target = translator.network, torch.from_numpy(padded([np.array([5, 6, 7])] * 12, begin=True))
    with network.steady():
        narrow, wide = (batch_of(translator, list(SOURCES), width) for width in (0, 7))
        plain, more = (network(network.embed(batch.ids), batch, target) for batch in (narrow, wide))
        torch.testing.assert_close(plain, more)
        alone = batch_of(translator, [min(SOURCES, key=len)])
        torch.testing.assert_close(plain[-1:], network(network.embed(alone.ids), alone, target[:1]))


@pytest.mark.parametrize("architecture", ["lstm", "transformer"])
def test_step_by_step_is_as_all_at_once(architecture: str) -> None:
    """The decoder that translates computes what the decoder that is trained does."""
    translator = untrained(architecture)
    network, batch = translator.network, batch_of(translator, list(SOURCES))
    target = torch.randint(4, len(translator.target), (12, 6), generator=torch.Generator().manual_seed(0))
    with network.steady(), torch.no_grad():
        memory = network.encode(network.embed(batch.ids), batch)
        whole, state = network.decode(target, memory), None
        for at in range(6):
            vector, attention, state = network.step(target[:, at], memory, state)
            torch.testing.assert_close(vector, whole[:, at])
            torch.testing.assert_close(attention.sum(1), torch.ones(12))
            assert (attention[~batch.mask] == 0).all()


def test_a_wider_beam_finds_translations_that_are_at_least_as_likely() -> None:
    translator = untrained("lstm")

    def likelihood(outputs: list[str]) -> float:
        target = torch.from_numpy(padded([row.ids for row in translator.target.rows(outputs)], begin=True))
        total = 0.0
        for at, text in enumerate(SOURCES):
            batch = batch_of(translator, [text])
            logits = translator.network(translator.network.embed(batch.ids), batch, target[at : at + 1, :-1])
            total -= float((nll(logits, target[at : at + 1, 1:]) / (target[at, 1:] != PAD).sum()).detach())
        return total

    with translator.network.steady():
        greedy, wide = (likelihood(translator.translate(SOURCES, beam=beam)) for beam in (1, 8))
    assert wide > greedy


@pytest.mark.parametrize(("architecture", "pieces"), KINDS)
def test_slopes_agree_with_finite_differences(architecture: str, pieces: str) -> None:
    translator = untrained(architecture, pieces)
    translator.network.double()
    text, reference = SOURCES[0], TARGETS[0]
    found = translator.slopes([text, *SOURCES], [reference, *TARGETS])[0]
    batch = batch_of(translator, [text])
    target = torch.from_numpy(padded([row.ids for row in translator.target.rows([reference])], begin=True))
    plain = translator.network.embed(batch.ids).detach()

    def loss(embedded: torch.Tensor) -> float:
        with torch.no_grad(), translator.network.steady():
            return float(adversarial_loss(translator.network(embedded, batch, target[:, :-1]), target[:, 1:]))

    assert found.shape == (batch.ids.shape[1] - 1, plain.shape[2])
    for place in range(found.shape[0]):
        for axis in (0, 3, 7):
            step = torch.zeros_like(plain)
            step[0, place, axis] = 1e-6
            slope = (loss(plain + step) - loss(plain - step)) / 2e-6
            assert found[place, axis] == pytest.approx(slope, rel=1e-3, abs=1e-8)
    assert np.abs(found).max() > 1e-4


def test_the_adversarial_loss_is_eq_4_and_exact_for_a_sure_model() -> None:
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    target = torch.tensor([[4, 5, END], [6, END, PAD]])
    p = logits.softmax(-1).gather(-1, target[..., None])[..., 0]
    slow = [sum(np.log(1 - float(p[row, at])) for at in range(3) if target[row, at] != PAD) for row in range(2)]
    assert adversarial_loss(logits, target).tolist() == pytest.approx(slow)
    sure = torch.zeros(1, 1, 4)
    sure[..., 2] = 60  # p is 1 in float32, where log(1 - p) would be -inf
    sure.requires_grad_()
    loss = adversarial_loss(sure, torch.tensor([[2]]))
    loss.sum().backward()
    assert float(loss.detach()) == pytest.approx(np.log(3) - 60) and float(sure.grad[0, 0, 2]) == pytest.approx(-1)


@pytest.mark.parametrize("architecture", ["lstm", "transformer"])
def test_unknown_pieces_become_the_source_word_with_the_highest_attention(architecture: str) -> None:
    translator = untrained(architecture)
    with torch.no_grad():
        translator.network.output.bias[UNKNOWN] = 1000  # it says nothing else
    text = "Hund schläft ☃ Quatsch."
    words = set(translator.translate([text])[0].split())
    assert words and words <= {"Hund", "schläft", "☃", "Quatsch", "."}
    assert translator.translate([""]) == [""]  # no word to take


def test_slopes_leave_training_mode_and_dropout_as_they_were() -> None:
    translator = untrained("lstm")
    translator.network.train()
    first = translator.slopes(SOURCES, TARGETS)
    assert translator.network.training and translator.network.encoder.dropout == 0.1
    assert all((a == b).all() for a, b in zip(first, translator.slopes(SOURCES, TARGETS), strict=True))
    assert all(weight.grad is None for weight in translator.network.parameters())


@pytest.mark.parametrize(("architecture", "pieces"), KINDS)
def test_a_folder_gives_the_same_translator(architecture: str, pieces: str, tmp_path: Path) -> None:
    translator = untrained(architecture, pieces)
    translator.save(tmp_path / "model")
    again = load(tmp_path / "model", device="cpu")
    assert again.translate(ODD) == translator.translate(ODD)
    for one, other in zip(again.slopes(SOURCES, TARGETS), translator.slopes(SOURCES, TARGETS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_adversarial_loss_of_any_padding() -> None:
    """Eq. (4) beside log(1 - p); padding adds nothing, also where its logits are extreme."""
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    logits[1, 2] = torch.tensor([1e4] + [-torch.inf] * 6)
    target = torch.tensor([[4, 1, 2], [6, 3, 0]])
    chance = logits.softmax(-1).gather(-1, target[..., None])[..., 0]
    slow = torch.stack([torch.log(1 - chance[0]).sum(), torch.log(1 - chance[1, :2]).sum()])
    torch.testing.assert_close(adversarial_loss(logits, target), slow)
    torch.testing.assert_close(adversarial_loss(logits, target.where(target > 0, -100), -100), slow)


def test_wrong_folders_are_refused_in_one_line(tmp_path: Path) -> None:
    untrained("lstm").save(tmp_path / "model")
    with pytest.raises(BadModel, match=r"^expected the folder of a translator, with its config.json, got .*empty$"):
        load(tmp_path / "empty")
    holds = "vocab_source.json with a vocabulary: kind, joined, and pieces or model, got"
    config = {
        "model_type": "scuff-translator",
        "architecture": "lstm",
        "sizes": {"embedding": 2, "hidden": 2, "layers": 1},
    }
    damage: list[tuple[str, object, str]] = [
        ("model.safetensors", b"damaged", "got "),
        ("vocab_source.json", {"kind": "words", "joined": False, "pieces": ["a"]}, f"{holds} expected <pad>, "),
        ("vocab_source.json", [], f"{holds} a JSON list"),
        ("vocab_source.json", {"kind": "words"}, f"{holds} none called 'pieces'"),
        ("vocab_source.json", {"kind": "words", "pieces": 3, "joined": False}, f"{holds} 'int' object"),
        ("vocab_source.json", b"\xff", f"{holds} 'utf-8' codec"),
        ("vocab_source.json", b"", f"{holds} Expecting value"),
        ("vocab_source.json", None, f"{holds} No such file or directory"),
        ("config.json", {**config, "architecture": "gru"}, "config.json with architecture and sizes, got the architecture 'gru'"),
        ("config.json", {**config, "sizes": {**config["sizes"], "layers": 0}}, "whole number from 1 for sizes.layers, got 0"),
        ("config.json", {**config, "sizes": []}, "config.json with architecture and sizes, got "),
        ("config.json", {"model_type": "scuff-translator"}, "config.json with architecture and sizes, got none called 'sizes'"),
    ]  # fmt: skip
    for name, content, message in damage:
        path = tmp_path / "model" / name
        before = path.read_bytes()
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        if content is None:
            path.unlink()
        with pytest.raises(BadModel, match=re.escape(message)) as error:
            load(tmp_path / "model")
        assert str(error.value).startswith("expected a whole translator in ") and "\n" not in str(error.value)
        path.write_bytes(before)
    untrained("transformer").save(tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").rename(tmp_path / "model" / "model.safetensors")
    with pytest.raises(BadModel, match="expected"):
        load(tmp_path / "model")
    with pytest.raises(BadModel, match="expected a device of this machine"):
        load(tmp_path / "other", device="nowhere")
