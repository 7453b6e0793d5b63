"""How much words matter by integrated gradients, beside the plain way: one text, one step at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

from scuff.data.dataset import Task
from scuff.huggingface.loading import quiet
from scuff.victims.base import (
    GRADIENT_STEPS,
    Access,
    NotEnoughAccess,
)
from scuff.victims.huggingface import Transformer
from scuff.victims.query import (
    BudgetSpent,
    Query,
    TooManyErrors,
)
from scuff.victims.toy import Toy
from victims.small import LONGEST, TINY, save_tokenizer

CALM = {**TINY, "initializer_range": 0.2}  # so smooth that few steps suffice
TEXTS = [
    "the cat sat on a mat", "not a good film, was it?", "", "unbelievable dogs believing", "😀👩‍👩‍👧 film é was bad",
    "  very\tgood \n", "שלום good", "very good [SEP] film", "bad " * 60, "?!",
]  # fmt: skip


def spans(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(r"\w+", text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(root)
    return root


def victim(folder: Path, kind: str = "bert", task: Task = "single", **options: Any) -> Transformer:
    torch.manual_seed(5)
    tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(folder)
    size = len(tokenizer)
    about = {"vocab_size": size, "num_labels": 3, "pad_token_id": 0}
    with quiet():
        if kind == "bert":
            model = hf.BertForSequenceClassification(hf.BertConfig(**about, **CALM))
        elif kind == "roberta":
            model = hf.RobertaForSequenceClassification(hf.RobertaConfig(**about, **CALM))
        elif kind == "gpt":
            about |= {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": LONGEST, "initializer_range": 0.2}
            model = hf.GPT2ForSequenceClassification(hf.GPT2Config(**about))
        else:
            about |= {
                "d_model": 16,
                "encoder_layers": 1,
                "decoder_layers": 1,
                "encoder_ffn_dim": 16,
                "decoder_ffn_dim": 16,
            }
            model = hf.BartForSequenceClassification(hf.BartConfig(**about, eos_token_id=3))
    model.eval()
    return Transformer(model, tokenizer, task, name=kind, digest=lambda: kind, **options)


def score(victim: Transformer, inputs: dict[str, Any], weights: Any) -> float:
    with torch.no_grad():
        logits = victim.model(**inputs).logits[0]
    found = logits.softmax(-1) if victim.task == "single" else logits.sigmoid()
    return float((found.numpy() * weights).sum())


def plain_inputs(victim: Transformer, *texts: str, blank_side: int | None = None) -> dict[str, Any]:
    """Pieces of one row, those of one side masked where asked."""
    rows = [[text] for text in texts]
    inputs = victim.tokenizer(*rows, truncation=True, max_length=victim.max_length, padding=False, return_tensors="pt")
    side = [-1 if at is None else at for at in inputs.sequence_ids(0)]
    if blank_side is not None:
        inputs["input_ids"][0][torch.tensor(side) == blank_side] = victim.tokenizer.mask_token_id
    return dict(inputs)


WEIGHTS = np.array([[1.0, 0.0, -0.5], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt"])
@pytest.mark.parametrize("task", ["single", "multi"])
def test_all_words_together_are_the_whole_difference(folder: Path, kind: str, task: Task) -> None:
    """Completeness (Sundararajan et al., proposition 1), where the words are all that a text has, padding or not."""
    asked = victim(folder, kind, task, batch_tokens=500)
    assert asked.access == Access.GRADIENT
    texts = ["the cat sat on a mat", "unbelievable dogs believing", "good", "not very bad and not very good " * 4]
    weights = WEIGHTS[[0, 1, 1, 0]]
    found = asked.saliency(texts, side=0, words=[spans(text) for text in texts], weights=weights)
    for text, mattering, wanted in zip(texts, found, weights, strict=True):
        whole = score(asked, plain_inputs(asked, text), wanted)
        nothing = score(asked, plain_inputs(asked, text, blank_side=0), wanted)
        assert mattering.sum() == pytest.approx(whole - nothing, abs=0.01 * max(0.2, np.abs(mattering).sum()))
        assert abs(whole - nothing) > 1e-4


def one_by_one(victim: Transformer, texts: Sequence[str], side: int, words: list[tuple[int, int]], weights: Any) -> Any:
    """The plain way, for BERT, which takes embeddings for pieces without a difference."""
    inputs = plain_inputs(victim, *texts)
    rows = [[text] for text in texts]
    found = victim.tokenizer(*rows, truncation=True, max_length=victim.max_length, return_offsets_mapping=True)
    sides, places = found.sequence_ids(0), found["offset_mapping"][0]
    table = victim.model.get_input_embeddings().weight
    here = table[inputs["input_ids"][0]].detach()
    base = table[plain_inputs(victim, *texts, blank_side=side)["input_ids"][0]].detach()
    total = torch.zeros(len(here))
    for step in range(GRADIENT_STEPS):
        point = (base + (here - base) * (step + 0.5) / GRADIENT_STEPS).requires_grad_()
        rest = {name: values for name, values in inputs.items() if name != "input_ids"}
        scores = victim.model(inputs_embeds=point[None], **rest).logits[0].softmax(-1)
        (scores * torch.tensor(weights)).sum().backward()
        total += (point.grad * (here - base)).sum(-1) / GRADIENT_STEPS
    victim.model.zero_grad()
    out = np.zeros(len(words))
    for piece, (start, stop) in enumerate(places):
        for at, (first, last) in enumerate(words):
            if sides[piece] == side and start < stop and first < stop <= last:
                out[at] += float(total[piece])
    return out


@pytest.mark.parametrize("tokens", [None, 1, 300])
def test_equals_the_plain_way(folder: Path, tokens: int | None) -> None:
    asked = victim(folder, batch_tokens=tokens)
    words = [spans(text) for text in TEXTS]
    weights = np.tile(WEIGHTS, (5, 1))
    found = asked.saliency(TEXTS, side=0, words=words, weights=weights)
    for at, text in enumerate(TEXTS):
        expected = one_by_one(asked, [text], 0, words[at], weights[at])
        assert found[at].dtype == np.float64 and found[at].shape == (len(words[at]),)
        np.testing.assert_allclose(found[at], expected, atol=2e-5)
    long = found[TEXTS.index("bad " * 60)]
    assert (long[: LONGEST - 2] != 0).all() and (long[LONGEST - 2 :] == 0).all(), "the model does not see the rest"
    assert found[2].size == found[-1].size == 0


@pytest.mark.parametrize("side", [0, 1])
def test_pairs_are_looked_at_from_one_side(folder: Path, side: int) -> None:
    asked = victim(folder)
    first, second = TEXTS[:8], TEXTS[1:9]
    words = [spans(text) for text in (first, second)[side]]
    weights = np.tile(WEIGHTS, (4, 1))
    found = asked.saliency(first, second, side=side, words=words, weights=weights)
    for at, pair in enumerate(zip(first, second, strict=True)):
        np.testing.assert_allclose(found[at], one_by_one(asked, pair, side, words[at], weights[at]), atol=2e-5)


def norms(victim: Transformer, texts: Sequence[str], side: int, words: list[tuple[int, int]]) -> Any:
    """The L1 norm of the gradient of the loss of the model's own answer, as TextAttack has it: one text at a time, the loss of
    the Hugging Face model, the mean over the pieces of a word.
    """
    inputs, rows = plain_inputs(victim, *texts), [[text] for text in texts]
    found = victim.tokenizer(*rows, truncation=True, max_length=victim.max_length, return_offsets_mapping=True)
    logits = victim.model(**inputs).logits.detach()
    multi = victim.task == "multi"
    victim.model.config.problem_type = "multi_label_classification" if multi else "single_label_classification"
    here = victim.model.get_input_embeddings().weight[inputs.pop("input_ids")].detach().requires_grad_()
    answer = (logits > 0).float() if multi else logits.argmax(-1)
    victim.model(inputs_embeds=here, **inputs, labels=answer).loss.backward()
    victim.model.zero_grad()
    out = np.zeros(len(words))
    for at, (first, last) in enumerate(words):
        ends = zip(found.sequence_ids(0), found["offset_mapping"][0], strict=True)
        mine = [place for place, (of, (a, b)) in enumerate(ends) if of == side and a < b and first < b <= last]
        if mine:
            out[at] = float(here.grad[0][mine].mean(0).abs().sum())
    return out


def in_proportion(values: Any) -> Any:
    """Each text has a factor of its own."""
    return values / max(values.sum(), 1e-30)


@pytest.mark.parametrize("task", ["single", "multi"])
@pytest.mark.parametrize("tokens", [None, 1, 300])
def test_the_norm_of_the_gradient_equals_the_plain_way(folder: Path, task: Task, tokens: int | None) -> None:
    asked = victim(folder, task=task, batch_tokens=tokens)
    words = [spans(text) for text in TEXTS]
    rest = {"side": 0, "words": words, "weights": np.tile(WEIGHTS, (5, 1))}
    query = Query(asked)
    found = query.saliency(TEXTS, **rest, steps=1, norm="l1")
    assert query.asked == len(TEXTS), "one pass a text"
    for at, text in enumerate(TEXTS):
        expected = norms(asked, [text], 0, words[at])
        assert (found[at] >= 0).all()
        np.testing.assert_allclose(in_proportion(found[at]), in_proportion(expected), atol=2e-6)
    other = asked.saliency(TEXTS, **rest, steps=1)
    assert any(a.argmax() != b.argmax() for a, b in zip(found, other, strict=True) if a.size > 1), "another ranking"


@pytest.mark.parametrize("side", [0, 1])
def test_the_norm_of_pairs(folder: Path, side: int) -> None:
    asked, first, second = victim(folder), TEXTS[:8], TEXTS[1:9]
    words = [spans(text) for text in (first, second)[side]]
    found = asked.saliency(first, second, side=side, words=words, weights=np.tile(WEIGHTS, (4, 1)), norm="l1")
    for at, pair in enumerate(zip(first, second, strict=True)):
        expected = norms(asked, pair, side, words[at])
        np.testing.assert_allclose(in_proportion(found[at]), in_proportion(expected), atol=2e-6)


@pytest.mark.parametrize("task", ["single", "multi"])
def test_the_norm_of_an_answer_that_is_all_but_certain(folder: Path, task: Task) -> None:
    """Its loss is 0 in single precision, and so would be the gradient; the words still have an order."""
    asked, text = victim(folder, task=task), "the cat sat on a mat"
    rest = {"side": 0, "words": [spans(text)], "weights": WEIGHTS[:1], "norm": "l1"}
    (before,) = asked.saliency([text], **rest)
    with torch.no_grad():
        asked.model.classifier.bias += torch.tensor([40.0, -40.0, -40.0])
    (after,) = asked.saliency([text], **rest)
    assert (before > 0).all() and (after > 0).all()


def test_words_may_come_in_any_order_and_need_no_pieces(folder: Path) -> None:
    asked = victim(folder)
    text, weights = "the cat sat on a mat", WEIGHTS[:1]
    (forward,) = asked.saliency([text], side=0, words=[spans(text)], weights=weights)
    (backward,) = asked.saliency([text], side=0, words=[spans(text)[::-1]], weights=weights)
    np.testing.assert_array_equal(forward, backward[::-1])
    (whole, blank, end) = asked.saliency([text], side=0, words=[[(0, 20), (20, 21), (21, 25)]], weights=weights)[0]
    assert blank == end == 0 and whole == pytest.approx(forward.sum())
    assert asked.saliency([], side=0, words=[], weights=weights[:0]) == []
    assert [len(found) for found in asked.saliency(["", "?"], side=0, words=[[], []], weights=WEIGHTS)] == [0, 0]


def test_the_model_stays_as_it_is(folder: Path) -> None:
    asked = victim(folder)
    model = asked.model
    model.train()
    model.bert.embeddings.eval()
    model.classifier.requires_grad_(False)
    before = [part.training for part in model.modules()], [weight.requires_grad for weight in model.parameters()]
    words = [spans(TEXTS[0])]
    one = asked.saliency(TEXTS[:1], side=0, words=words, weights=WEIGHTS[:1])
    assert (
        [part.training for part in model.modules()],
        [weight.requires_grad for weight in model.parameters()],
    ) == before
    assert all(weight.grad is None for weight in model.parameters())
    assert not model.get_input_embeddings()._forward_hooks
    model.eval()
    for weight in model.parameters():
        weight.requires_grad_(False)
    np.testing.assert_array_equal(one[0], asked.saliency(TEXTS[:1], side=0, words=words, weights=WEIGHTS[:1])[0])


def test_who_gives_no_gradients_says_so(folder: Path) -> None:
    bart = victim(folder, "bart")
    assert bart.access == Access.SCORE
    for other in (bart, Toy("sentiment")):
        with pytest.raises(
            NotEnoughAccess, match=r"expected a victim with gradient access for saliency, got .* gives score"
        ):
            other.saliency(["a"], side=0, words=[[(0, 1)]], weights=np.ones((1, 2)))
        with pytest.raises(NotEnoughAccess, match="expected a victim with gradient access for saliency"):
            Query(other).saliency(["a"], side=0, words=[[(0, 1)]], weights=np.ones((1, 2)))


# through the one door


def test_each_row_counts_as_many_queries_as_it_has_steps(folder: Path) -> None:
    asked = victim(folder)
    asked.rows_at_once = 3 * GRADIENT_STEPS
    words, weights = [spans(text) for text in TEXTS], np.tile(WEIGHTS, (5, 1))
    query = Query(asked, max_queries=len(TEXTS) * GRADIENT_STEPS)
    found = query.saliency(TEXTS, side=0, words=words, weights=weights)
    for got, want in zip(found, asked.saliency(TEXTS, side=0, words=words, weights=weights), strict=True):
        np.testing.assert_allclose(got, want, atol=2e-5)
    assert (query.rows, query.asked, query.errors) == (len(TEXTS), len(TEXTS) * GRADIENT_STEPS, 0) and query.seconds > 0
    with pytest.raises(
        BudgetSpent,
        match=rf"expected at most {len(TEXTS) * GRADIENT_STEPS} queries, got {len(TEXTS) * GRADIENT_STEPS + GRADIENT_STEPS}",
    ):
        query.saliency(TEXTS[:1], side=0, words=words[:1], weights=weights[:1])
    assert query.asked == len(TEXTS) * GRADIENT_STEPS, "nothing was asked beyond the budget"


def test_rows_that_fail_matter_nowhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = victim(folder)
    good = asked.saliency(["a cat", "a dog"], side=0, words=[[(0, 1)], [(0, 1)]], weights=WEIGHTS)
    work = asked.saliency

    def picky(*columns: Any, **options: Any) -> Any:
        if "bad" in columns[0]:
            raise RuntimeError("cannot take it")
        return work(*columns, **options)

    monkeypatch.setattr(asked, "saliency", picky)
    query = Query(asked)
    rows = {"side": 0, "words": [[(0, 1)], [(0, 3)], [(0, 1)]], "weights": WEIGHTS[[0, 0, 1]]}
    found = query.saliency(["a cat", "bad", "a dog"], **rows)
    np.testing.assert_allclose([found[0], found[2]], good, atol=2e-5)
    assert found[1].tolist() == [0.0] and query.errors == 1
    with pytest.raises(TooManyErrors, match="expected at most 0 errors, got 1; the last: RuntimeError: cannot take it"):
        Query(asked, max_errors=0).saliency(["a cat", "bad", "a dog"], **rows)


@pytest.mark.slow
@pytest.mark.shared
def test_words_of_feeling_come_first(real_model: Callable[[str], Path]) -> None:
    from scuff.victims.huggingface import load

    asked = load(real_model("sst2"), "single", device="cpu")
    texts = {
        "a dull , lifeless mess of a movie with actors": {"dull", "lifeless", "mess"},
        "i hated every minute of this film , it is awful": {"hated", "awful"},
        "it is a great film about two men": {"great"},
        "the plot is boring and the jokes are stupid": {"boring", "stupid"},
    }
    answers = asked(list(texts)).answers
    words = [spans(text) for text in texts]
    found = asked.saliency(list(texts), side=0, words=words, weights=np.eye(2)[answers.argmax(1)])
    for (text, feeling), places, mattering in zip(texts.items(), words, found, strict=True):
        first = [text[slice(*places[at])] for at in np.argsort(-mattering)[: len(feeling)]]
        assert first[0] in feeling and len(feeling & set(first)) >= len(feeling) / 2, (text, first)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("name", "task"), [("davidson", "single"), ("jigsaw", "multi")])
def test_the_norm_on_a_real_model(real_model: Callable[[str], Path], name: str, task: Task) -> None:
    from scuff.victims.huggingface import load

    asked = load(real_model(name), task, device="cpu")
    texts = ["you are a complete and utter disgrace", "unbelievably kind people live here, thank you!"]
    words = [spans(text) for text in texts]
    weights = np.zeros((2, len(asked.labels)))
    found = asked.saliency(texts, side=0, words=words, weights=weights, norm="l1")
    for at, text in enumerate(texts):
        np.testing.assert_allclose(
            in_proportion(found[at]), in_proportion(norms(asked, [text], 0, words[at])), rtol=1e-3
        )
