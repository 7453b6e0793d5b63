"""Words for gaps, beside the plain way: one gap at a time through the model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

import scuff
from huggingface.small import TINY, save, save_bytes, save_wordpieces
from scuff.huggingface.loading import BadModel
from scuff.huggingface.masked import MaskedModel
from scuff.runs.folder import BadRun

TEXTS = [
    "the cat sat on a mat",
    "not a good film, was it?",
    "😀 film",
    "שלום good",
    "cat " * 60 + "dog" + " good" * 60,
    "a dog",
]
SPANS = [(0, 4, 7), (0, 17, 20), (1, 6, 10), (2, 2, 6), (3, 0, 4), (4, 240, 243), (5, 0, 1), (5, 2, 5)]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("masked")
    torch.manual_seed(3)
    size = save_wordpieces(root / "bert")
    save_wordpieces(root / "body")
    bert = hf.BertConfig(vocab_size=size, **TINY)
    roberta = hf.RobertaConfig(
        vocab_size=save_bytes(root / "roberta"), pad_token_id=1, **(TINY | {"max_position_embeddings": 130})
    )
    built = {"bert": hf.BertForMaskedLM(bert), "body": hf.BertModel(bert), "roberta": hf.RobertaForMaskedLM(roberta)}
    return {name: save(model, root / name) for name, model in built.items()}


def plain(model: MaskedModel, text: str, start: int, stop: int, top: int) -> list[tuple[str, float]]:
    """The plain way, for texts that fit."""
    tokenizer, lead = model.loaded.tokenizer, " " if "roberta" in model.loaded.name else ""
    gap = (lead + text[:start]).rstrip() + (" " if not lead else "") + tokenizer.mask_token + text[stop:]
    parts = [lead + text, gap] if model.original else [gap]
    ids = tokenizer(*parts, padding=False, truncation=False, return_tensors="pt")["input_ids"]
    at = (ids[0] == tokenizer.mask_token_id).nonzero()[-1, 0]
    with torch.no_grad():
        scores = model.loaded.model(input_ids=ids).logits[0, at].log_softmax(-1)
    known = [(word, scores[number].item()) for number, word in model.words.items()]
    return sorted(known, key=lambda pair: -pair[1])[:top]


@pytest.mark.parametrize("original", [True, False])
@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_same_as_the_plain_way(zoo: dict[str, str], name: str, original: bool) -> None:
    model = MaskedModel.load(zoo[name], "cpu", original=original)
    for (text, start, stop), found in zip(SPANS, model.fill(TEXTS, SPANS, 3), strict=True):
        assert len(found) == 3
        if len(TEXTS[text]) < 50:
            expected = plain(model, TEXTS[text], start, stop, 3)
            assert [word for word, _ in found] == [word for word, _ in expected]
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=2e-3)


def test_company_changes_nothing(zoo: dict[str, str]) -> None:
    model = MaskedModel.load(zoo["bert"], "cpu")
    together = model.fill(TEXTS, SPANS, 20)
    assert [model.fill(TEXTS, [span], 20)[0] for span in SPANS] == together
    assert model.fill(TEXTS, SPANS[::-1], 20) == together[::-1]
    assert model.fill(TEXTS, [], 20) == [] and len(model.fill(TEXTS, SPANS, 1000)[0]) == len(model.words)


def test_whole_words_only(zoo: dict[str, str]) -> None:
    words = MaskedModel.load(zoo["bert"], "cpu").words.values()
    assert {"cat", "film", "x"} <= set(words) and all(word.isalpha() for word in words)
    assert not {"[MASK]", "##able", "able", ".", "ing"} & set(words)
    # pieces without a space before them go on a word, and some bytes alone are no text
    assert set(MaskedModel.load(zoo["roberta"], "cpu").words.values()) == {"c", "ca", "cat", "dog", "g", "go"}


def test_long_texts_are_seen_around_the_gap(zoo: dict[str, str]) -> None:
    model = MaskedModel.load(zoo["bert"], "cpu", original=False)
    text = "cat " * 60 + "dog" + " good" * 60
    rows, place = model._masked([text], [(0, 240, 243), (0, 0, 3), (0, len(text) - 4, len(text))])
    assert [len(row) for row in rows] == [48, 48, 48] and [row[at] for row, at in zip(rows, place, strict=True)] == [
        4
    ] * 3
    assert place.tolist() == [24, 1, 46]  # in the middle, but at the ends of the text as near to them
    pair, place = MaskedModel.load(zoo["bert"], "cpu")._masked([text], [(0, 240, 243)])
    assert len(pair[0]) <= 48 and pair[0][place[0]] == 4


def test_models_that_cannot(zoo: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(
        BadModel, match=r"expected a masked language model, got .*body, whose cls\.predictions.* no trained"
    ):
        MaskedModel.load(zoo["body"], "cpu")
    model = MaskedModel.load(zoo["bert"], "cpu")
    model.loaded.model.save_pretrained(tmp_path)
    hf.ByT5Tokenizer().save_pretrained(tmp_path)
    with pytest.raises(BadModel, match=r"expected a tokenizer with a mask for .*, got one without"):
        MaskedModel.load(str(tmp_path), "cpu")
    assert MaskedModel.load(zoo["bert"], "cpu") is model and len(model.identity) == 64


@pytest.mark.parametrize("setting", ["mlm", "encoder"])
def test_the_weights_of_a_model_that_makes_or_measures_cases_belong_to_a_run(
    setting: str, zoo: dict[str, str], tmp_path: Path
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(zoo["bert" if setting == "mlm" else "body"], copy)
    data = [("the cat sat on a mat", "yes"), ("not a good film, was it?", "no")]
    few: dict[str, Any] = {
        "dimensions": ["contextual" if setting == "mlm" else "syntax"], "degrees": [0.5], "cases": 1, setting: str(copy)
    }  # fmt: skip

    def model(texts: list[str]) -> list[str]:
        return ["yes" if "cat" in text else "no" for text in texts]

    scuff.evaluate(model, data, tmp_path / "run", **few)
    scuff.evaluate(model, data, tmp_path / "run", **few)
    kind = hf.BertForMaskedLM if setting == "mlm" else hf.BertModel
    other = kind.from_pretrained(copy)
    with torch.no_grad():
        other.get_input_embeddings().weight += 0.01
    other.save_pretrained(copy)
    with pytest.raises(BadRun, match="got another files: choose another folder"):
        scuff.evaluate(model, data, tmp_path / "run", **few)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_likelihood_is_the_plain_ways(zoo: dict[str, str], name: str) -> None:
    """Each piece hidden alone, one row at a time; a text that is too long is seen in part, and an empty one has no pieces."""
    model = MaskedModel.load(zoo[name])
    texts = ["the cat sat on a mat", "a dog", "", "not a good film, was it?"]
    total, count = model.log_likelihood([*texts, TEXTS[4]])
    for text, found, pieces in zip(texts, total, count, strict=False):
        ids = model.loaded.tokenizer(text, return_tensors="pt", truncation=False, padding=False)["input_ids"]
        inner = range(1, ids.shape[1] - 1)  # between the marks
        expected = 0.0
        for at in inner:
            hidden = ids.clone()
            hidden[0, at] = model.loaded.tokenizer.mask_token_id
            with torch.no_grad():
                expected += model.loaded.model(input_ids=hidden).logits[0, at].log_softmax(-1)[ids[0, at]].item()
        assert pieces == len(inner)
        assert found == pytest.approx(expected, abs=1e-2)
    assert count[-1] > 100 and total[-1] < 0
