"""Gradients for substitutions: surfaces and places of pieces, and slopes beside finite differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

from scuff.huggingface.loading import quiet
from scuff.victims.base import NotEnoughAccess
from scuff.victims.huggingface import Transformer
from scuff.victims.open import open_victim
from scuff.victims.query import BudgetSpent, Query
from scuff.victims.substitution import Substitutable, gains, gives_slopes, require_slopes
from victims.small import TINY, save_tokenizer
from victims.writers import SENTENCES, writer

KINDS = ["bart", "t5", "marian"]
TEXTS = [
    "the small dog sees a big cat", "Straße", "", "  two  men\tare walking \n", "a 😀 cat é über", "שלום the dog", "</s> dog",
    "the " * 80,
]  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def asked(request: pytest.FixtureRequest) -> Transformer:
    return writer(request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_goes_beyond_the_positions_of_the_decoder(kind: str) -> None:
    victim = writer(kind, positions=24, max_length=20, max_new_tokens=128)
    victim.model.generation_config.eos_token_id = None  # it never ends by itself
    assert victim.max_new_tokens == (128 if kind == "t5" else 24)  # T5 has relative positions
    assert victim(TEXTS[:2]).answered.all()
    victim.max_new_tokens = 25
    if kind != "t5":
        with pytest.raises(IndexError):  # all positions are used
            victim(TEXTS[:1])


def adversarial_loss(victim: Transformer, text: str, target: str, point: Any = None) -> float:
    """Eq. (4), the plain way: one text, probabilities; `point` in place of what the encoder looks up."""
    ids = victim.tokenizer([victim.prefix + text], truncation=True, max_length=victim.max_length, return_tensors="pt")
    labels = victim.tokenizer(text_target=[target], return_tensors="pt")["input_ids"]
    encoder = victim.model.get_encoder()
    handle = None
    if point is not None:
        handle = encoder.get_input_embeddings().register_forward_hook(lambda *_: point)
    try:
        with torch.no_grad():
            read = encoder(input_ids=ids["input_ids"], attention_mask=ids["attention_mask"])
    finally:
        if handle:
            handle.remove()
    with torch.no_grad():
        logits = victim.model(encoder_outputs=read, attention_mask=ids["attention_mask"], labels=labels).logits
    p = logits.double().softmax(-1)[0].gather(-1, labels[0][:, None])
    return float(torch.log1p(-p).sum())


@pytest.mark.parametrize("text", ["the small dog sees a big cat", "zwei Männer 😀 gehen", "cat"])
def test_slopes_agree_with_finite_differences(asked: Transformer, text: str) -> None:
    """A small step of one piece's vector towards another's changes the loss by that share of the gain."""
    target = "eine Frau liest ein Buch"
    asked.model.double()
    try:
        vocabulary, (pieces,), (slopes,) = asked.vocabulary(), asked.located([text]), asked.slopes([text], [target])
        gain = gains(vocabulary.vectors, pieces.ids, slopes)
        ids = asked.tokenizer([text], return_tensors="pt")["input_ids"]
        table = asked.model.get_encoder().get_input_embeddings()
        with torch.no_grad():
            clean, all_vectors = table(ids), table(torch.arange(len(vocabulary.vectors)))
        places = np.flatnonzero(np.isin(ids[0].numpy(), pieces.ids))
        assert ids[0].numpy()[places].tolist() == pieces.ids.tolist()
        rng = np.random.default_rng(1)
        for number, place in enumerate(places[:4].tolist()):
            piece = int(rng.integers(4, len(vocabulary.vectors)))
            losses = []
            for step in (1e-3, -1e-3):  # T5's norms are in 32 bits, whatever the model is in
                point = clean.clone()
                point[0, place] += step * (all_vectors[piece] - clean[0, place])
                losses.append(adversarial_loss(asked, text, target, point))
            assert (losses[0] - losses[1]) / 2e-3 == pytest.approx(gain[number, piece], rel=5e-3, abs=1e-4)
        assert np.abs(gain).max() > 1e-3
    finally:
        asked.model.float()


def test_batches_and_padding_change_no_slope(asked: Transformer) -> None:
    targets = [SENTENCES[at % len(SENTENCES)] for at in range(len(TEXTS))]
    together = asked.slopes(TEXTS, targets)
    for text, target, found in zip(TEXTS, targets, together, strict=True):
        (alone,), (pieces,) = asked.slopes([text], [target]), asked.located([text])
        assert alone.shape == found.shape == (len(pieces.ids), asked.vocabulary().vectors.shape[1])
        np.testing.assert_allclose(alone, found, rtol=2e-3, atol=2e-5)


def test_pieces_read_as_they_stand_in_the_text(asked: Transformer) -> None:
    vocabulary = asked.vocabulary()
    assert len(vocabulary.surfaces) == len(vocabulary.vectors) == len(vocabulary.begins)
    for text, (ids, start, stop) in zip(TEXTS, asked.located(TEXTS), strict=True):
        for piece, a, b in zip(ids.tolist(), start.tolist(), stop.tolist(), strict=True):
            surface = vocabulary.surfaces[piece]
            assert 0 <= a < b <= len(text) and text[a:b] == text[a:b].strip()
            if surface:
                assert text[a:b] == surface
                assert vocabulary.begins[piece] <= (a == 0 or text[a - 1].isspace())
            else:
                assert piece == vocabulary.unknown
    first = asked.located(TEXTS)[0]
    assert "".join(TEXTS[0][a:b] for _, a, b in zip(*first, strict=True)) == TEXTS[0].replace(" ", "")
    assert asked.located([""])[0].ids.size == 0 and len(asked.located(["the " * 80])[0].ids) <= asked.max_length


def test_special_pieces_and_parts_of_letters_are_never_proposed(asked: Transformer) -> None:
    vocabulary = asked.vocabulary()
    for kind in range(4):
        for piece in vocabulary.pieces(kind).tolist():
            surface = vocabulary.surfaces[piece]
            assert (kind % 2 == 1) == vocabulary.begins[piece] and (kind > 1) == (not any(map(str.isalnum, surface)))
            assert surface and not any(map(str.isspace, surface)) and "�" not in surface
            assert piece not in asked.tokenizer.all_special_ids
            assert surface not in ("<s>", "</s>", "<pad>", "<unk>", "▁")
    assert "dog" in vocabulary and "dgo" not in vocabulary and vocabulary.pieces(True).size > 15
    if asked.name == "bart":  # half of a letter in two bytes
        assert "" in {vocabulary.surfaces[at] for at in asked.tokenizer("é")["input_ids"][1:-1]}


def test_a_prefix_is_no_place_to_replace(asked: Transformer) -> None:
    bare, told = asked, writer(asked.name, prefix="two men: ")
    (plain,), (found,) = bare.located(["the dog runs"]), told.located(["the dog runs"])
    assert found.start.min() == 0 and found.stop.max() == len("the dog runs") == plain.stop.max()
    assert told.slopes(["the dog runs"], ["ein Hund"])[0].shape[0] == len(found.ids)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(root)
    return root


def classifier(folder: Path, task: Any) -> Transformer:
    torch.manual_seed(5)
    tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(folder)
    with quiet():
        config = hf.BertConfig(
            vocab_size=len(tokenizer), num_labels=3, pad_token_id=0, **{**TINY, "initializer_range": 0.2}
        )
        model = hf.BertForSequenceClassification(config)
    model.eval()
    return Transformer(model, tokenizer, task, name="bert", digest=lambda: "bert")


@pytest.mark.parametrize(("task", "target"), [("single", 1), ("multi", np.array([True, False, True]))])
def test_slopes_of_classifiers(folder: Path, task: Any, target: Any) -> None:
    asked = classifier(folder, task)
    asked.model.double()
    text, table = "unbelievable dogs not a good film", asked.model.get_input_embeddings()
    (pieces,), (slopes,) = asked.located([text]), asked.slopes([text], [target])
    ids = asked.tokenizer([text], return_tensors="pt")
    assert ids["input_ids"][0, 1:-1].tolist() == pieces.ids.tolist()
    assert asked.vocabulary().begins[pieces.ids].tolist() == [text[at - 1 : at] in ("", " ") for at in pieces.start]

    def loss(point: Any) -> float:
        handle = table.register_forward_hook(lambda *_: point)
        with torch.no_grad():
            logits = asked.model(**ids).logits[0]
        handle.remove()
        if task == "single":
            return float(torch.log1p(-logits.softmax(-1)[target]))
        right = torch.where(torch.from_numpy(target), logits.sigmoid(), 1 - logits.sigmoid())
        return float(torch.log1p(-right).sum())

    with torch.no_grad():
        clean = table(ids["input_ids"])
    for place in range(len(pieces.ids)):
        step = torch.randn(clean.shape[-1], dtype=clean.dtype) * 1e-4
        up, down = clean.clone(), clean.clone()
        up[0, place + 1] += step
        down[0, place + 1] -= step
        assert loss(up) - loss(down) == pytest.approx(
            2 * float(step @ torch.from_numpy(slopes[place]).double()), rel=1e-3, abs=1e-9
        )


def test_who_gives_slopes(folder: Path) -> None:
    assert gives_slopes(writer("bart")) and isinstance(writer("t5"), Substitutable)
    with pytest.raises(
        NotEnoughAccess, match="expected a victim with gradients of its input's embeddings for x, got toy:sentiment"
    ):
        require_slopes(open_victim("toy:sentiment", "single", ()), "x")
    with quiet():
        tagger = hf.BertForTokenClassification(hf.BertConfig(vocab_size=90, num_labels=3, pad_token_id=0, **TINY))
    tags = Transformer(
        tagger, hf.PreTrainedTokenizerFast.from_pretrained(folder), "tokens", name="tags", digest=lambda: "t"
    )
    with pytest.raises(NotEnoughAccess, match="got tags"):
        tags.slopes(["a"], [0])


def test_a_backward_pass_is_a_query() -> None:
    query = Query(writer("t5"), max_queries=3)
    texts = ["the dog", "a small dog runs"]
    found = query.slopes(texts, ["ein Hund", "zwei"])
    assert query.queries == 2 and [len(part) for part in found] == [
        len(at.ids) for at in query.substitutable.located(texts)
    ]
    with pytest.raises(BudgetSpent):
        query.slopes(texts, ["ein Hund", "zwei"])


class Marian(hf.PreTrainedTokenizer):  # type: ignore[misc]
    """A tokenizer that does not tell places, as Marian's: known words begin with ▁, all else is letters."""

    model_input_names: ClassVar[list[str]] = ["input_ids", "attention_mask"]

    def __init__(self, **options: Any) -> None:
        words = sorted({f"▁{word}" for sentence in SENTENCES for word in sentence.split()})
        letters = [*"abcdefghijklmnopqrstuvwxyz", "▁"]
        self.pieces = ["</s>", "<unk>", "<pad>", *words, *letters]
        super().__init__(eos_token="</s>", unk_token="<unk>", pad_token="<pad>", **options)

    @property
    def vocab_size(self) -> int:
        return len(self.pieces)

    def get_vocab(self) -> dict[str, int]:
        return {piece: at for at, piece in enumerate(self.pieces)}

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return [
            piece for word in text.split() for piece in ([f"▁{word}"] if f"▁{word}" in self.pieces else ["▁", *word])
        ]

    def _convert_token_to_id(self, token: str) -> int:
        return self.pieces.index(token) if token in self.pieces else 1

    def _convert_id_to_token(self, index: int) -> str:
        return self.pieces[index]

    def build_inputs_with_special_tokens(self, ids: list[int], more: list[int] | None = None) -> list[int]:
        return [*ids, 0]


def test_a_tokenizer_that_does_not_tell_places() -> None:
    fast = writer("marian")
    tokenizer = Marian()
    with quiet():
        config = hf.MarianConfig(
            **{
                **fast.model.config.to_dict(),
                "vocab_size": len(tokenizer),
                "decoder_vocab_size": len(tokenizer),
                "pad_token_id": 2,
                "eos_token_id": 0,
            }
        )
        config.decoder_start_token_id = 2
        model = hf.MarianMTModel(config).eval()
    asked = Transformer(model, tokenizer, "text", name="slow", digest=lambda: "slow", max_length=30)
    texts = ["the small dog xy", "  dogs\trun é über", "", "the " * 50]
    for text, (ids, start, stop), slopes in zip(
        texts, asked.located(texts), asked.slopes(texts, ["dogs run"] * 4), strict=True
    ):
        assert len(slopes) == len(ids) <= 30
        read = [text[a:b] for a, b in zip(start.tolist(), stop.tolist(), strict=True)]
        assert read == [asked.vocabulary().surfaces[piece] for piece in ids.tolist()]
    assert [len(found.ids) for found in asked.located(texts)] == [5, 3, 0, 29]
