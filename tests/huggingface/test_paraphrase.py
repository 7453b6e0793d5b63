"""Paraphrases by small models with random weights: what they say is nonsense, how it is handled is not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

import scuff
from huggingface.small import save, save_wordpieces
from scuff.huggingface.loading import BadModel
from scuff.huggingface.paraphrase import Paraphraser
from scuff.perturbations.names import parse
from scuff.perturbations.paraphrase import Paraphrase
from scuff.resources import MissingResource
from scuff.text.corpus import Corpus
from scuff.text.random import Rng

TEXTS = [
    "the cat sat on a mat",
    "",
    "   ",
    "  not a good film, was it?\n",
    "😀 film",
    "the cat sat on a mat",
    "very " * 700,
    "a",
]


@pytest.fixture(scope="module", params=["t5", "bart"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("writer")
    size = save_wordpieces(path)
    torch.manual_seed(5)
    if request.param == "t5":
        config = hf.T5Config(
            vocab_size=size, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0, pad_token_id=0,
            eos_token_id=3, initializer_factor=2.0,
        )  # fmt: skip
        model = hf.T5ForConditionalGeneration(config)
        model.generation_config.forced_eos_token_id = 3  # random weights would go on for ever
        return save(model, path)
    config = hf.BartConfig(
        vocab_size=size, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=512, pad_token_id=0, bos_token_id=2, eos_token_id=3,
        decoder_start_token_id=3, forced_eos_token_id=3, init_std=0.9,
    )  # fmt: skip
    return save(hf.BartForConditionalGeneration(config), path)


def test_different_and_complete(folder: str) -> None:
    model = Paraphraser.load(folder, "cpu")
    found = model(TEXTS, beams=3, longest=12)
    assert len(found) == len(TEXTS) and any(found)
    for text, each in zip(TEXTS, found, strict=True):
        assert len(each) <= 3 and len(set(each)) == len(each) and text.strip() not in each
        assert all(new and new == new.strip() for new in each)
    assert found[0] == found[5] and not found[6]  # too long for the model
    for at, text in enumerate(TEXTS):  # company changes nothing
        assert model([text], beams=3, longest=12) == [found[at]]
    assert model([], beams=3) == [] and len(model.identity) == 64


def test_the_prefix_is_read(folder: str) -> None:
    model = Paraphraser.load(folder, "cpu")
    assert model(["a cat"], longest=12, prefix="good film ") == [
        [new for new in model(["good film a cat"], longest=12)[0] if new != "a cat"]
    ]


def test_as_a_perturbation(folder: str) -> None:
    perturbation = Paraphrase(model=folder, beams=3, longest=12)
    corpus = Corpus.of(TEXTS)
    assert perturbation.units(corpus).row.tolist() == [0, 3, 4, 5, 6, 7]
    edits = perturbation.propose(corpus, Rng.of(corpus.keys, 1), k=2)
    seen: dict[int, list[str]] = {}
    for row, new in zip(edits.row.tolist(), edits.text.strings(), strict=True):
        seen.setdefault(row, []).append(new)
    assert seen and all(len(set(new)) == len(new) <= 2 for new in seen.values()) and not edits.site.any()
    assert edits.stop.tolist() == [
        edits.start[at] + len(TEXTS[row].strip()) for at, row in enumerate(edits.row.tolist())
    ]
    versions = {scuff.perturb(TEXTS[3], perturbation, 1, draw=draw) for draw in range(20)}
    assert versions <= {f"  {new}\n" for new in Paraphraser.load(folder)([TEXTS[3].strip()], beams=3, longest=12)[0]}
    assert scuff.perturb(TEXTS, perturbation, 0) == TEXTS
    assert scuff.perturb(TEXTS, perturbation, 1, seed=3) == [
        scuff.perturb(text, perturbation, 1, seed=3) for text in TEXTS
    ]
    assert parse(perturbation.spec) == perturbation
    with pytest.raises(ValueError, match="expected a perturbation that keeps each token"):
        scuff.perturb_tokens([["the", "cat"]], perturbation, 1)


def test_without_a_model(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(MissingResource, match="paraphrase needs a model"):
        scuff.perturb("the cat", Paraphrase(), 1)
    assert Paraphrase().spec == "paraphrase"
    path = tmp_path_factory.mktemp("none")
    size = save_wordpieces(path)
    save(hf.BertModel(hf.BertConfig(vocab_size=size, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)), path)
    with pytest.raises(BadModel, match="expected a model that writes text for text, got "):
        scuff.perturb("the cat", Paraphrase(model=str(path)), 1)
