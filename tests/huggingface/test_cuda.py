"""Batches of fixed shapes: which widths there are, who shares a batch, and what happens when memory does not suffice.

On a CPU nothing is captured; everything else is the same. That bits do not depend on the batch is checked where there is a GPU.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from scuff.huggingface.batches import Pieces
from scuff.huggingface.cuda import Stream
from scuff.huggingface.loading import fits_float16
from scuff.huggingface.shapes import Slot, widths_up_to
from victims.small import save_tokenizer

FILL = {"input_ids": 0, "token_type_ids": 7}
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def rows(lengths: list[int], seed: int = 0) -> Pieces:
    length = np.sort(np.array(lengths, np.int64))[::-1]
    ids = np.random.default_rng(seed).integers(1, 1000, int(length.sum()))
    return Pieces(np.arange(len(lengths)), length, {"input_ids": ids, "token_type_ids": ids % 2})


def sums(inputs: dict[str, Any]) -> Any:
    """A network whose answer depends on every piece, its type and its place among those that are no padding."""
    mask = inputs["attention_mask"]
    place = mask.cumsum(1) * mask
    assert not mask.bool().all(), "the row that is no text has padding"
    assert (inputs["input_ids"][mask == 0] == 0).all() and (inputs["token_type_ids"][mask == 0] == 7).all()
    one = (inputs["input_ids"] * place * mask).sum(1)
    return torch.stack([one, (inputs["token_type_ids"] * place * mask).sum(1)], 1).float()


def expected(pieces: Pieces) -> Any:
    out = []
    for at in range(len(pieces)):
        part = slice(pieces.start[at], pieces.start[at + 1])
        place = np.arange(1, pieces.length[at] + 1)
        out.append([(pieces.flat[name][part] * place).sum() for name in FILL])
    return np.array(out, np.float32)


def test_widths() -> None:
    assert widths_up_to(128) == (16, 32, 48, 64, 80, 96, 112, 128)
    assert widths_up_to(512)[-5:] == (256, 320, 384, 448, 512) and len(widths_up_to(512)) == 16
    assert widths_up_to(50) == (16, 32, 48, 50) and widths_up_to(5) == (5,)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.lists(st.integers(1, 70), min_size=1, max_size=30), min_size=1, max_size=6),
    st.booleans(),
    st.integers(1, 400),
)
def test_every_row_gets_its_own_answer(requests: list[list[int]], left: bool, tokens: int) -> None:
    stream = Stream(sums, FILL, left, 2, 70, tokens, torch.device("cpu"))
    asked = [(pieces, stream.ask(pieces)) for pieces in (rows(lengths, at) for at, lengths in enumerate(requests))]
    stream.send()
    for pieces, one in reversed(asked):
        np.testing.assert_array_equal(stream.finish(one), expected(pieces))
    assert not stream.busy and stream.asked_tokens == sum(map(sum, requests)) <= stream.sent_tokens


def test_without_padding_each_length_has_its_shape() -> None:
    def padding(inputs: dict[str, Any]) -> Any:
        return (inputs["attention_mask"] == 0).sum(1, keepdim=True).float()

    empty = rows([2])
    stream = Stream(padding, FILL, False, 1, 48, 256, torch.device("cpu"), empty, padded=False)
    assert stream.widths == tuple(range(2, 49))
    pieces = rows([3, 2, 40, 17, 16, 5, 48, 3])
    assert not stream.finish(stream.ask(pieces)).any()


@pytest.mark.parametrize("left", [False, True])
def test_numbers_of_pieces(left: bool) -> None:
    stream = Stream(lambda inputs: inputs["input_ids"] * 2, FILL, left, 0, 48, 256, torch.device("cpu"))
    pieces = rows([3, 1, 40, 17, 16, 5])
    np.testing.assert_array_equal(stream.finish(stream.ask(pieces)), 2 * pieces.flat["input_ids"])


def test_requests_share_batches_and_old_rows_do_not_wait_for_ever() -> None:
    stream = Stream(sums, FILL, False, 2, 64, 512, torch.device("cpu"))
    before = stream.number
    few = [stream.ask(rows([12])) for _ in range(31)]
    stream.send()
    assert stream.number == before + 1 and len(stream.take()) == 31 and not any(one.left for one in few)
    lonely = stream.ask(rows([60]))
    for _ in range(20):
        stream.ask(rows([10] * 31))
        stream.send()
        stream.take()
    assert not lonely.left


def test_too_little_memory_halves_the_batches_before_anything_is_answered() -> None:
    sizes = []

    def greedy(inputs: dict[str, Any]) -> Any:
        sizes.append(inputs["input_ids"].numel())
        if sizes[-1] > 200:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return sums(inputs)

    stream = Stream(greedy, FILL, False, 2, 64, 1024, torch.device("cpu"))
    assert stream.tokens == 128 and sizes == [1024, 512, 256, 128]
    pieces = rows([9, 33, 64, 2])
    np.testing.assert_array_equal(stream.finish(stream.ask(pieces)), expected(pieces))
    with pytest.raises(torch.OutOfMemoryError):
        Stream(greedy, FILL, False, 2, 500, 1024, torch.device("cpu"))


def test_an_error_leaves_nothing_behind() -> None:
    def picky(inputs: dict[str, Any]) -> Any:
        if (inputs["input_ids"] == 999).any():
            raise ArithmeticError("999")
        return sums(inputs)

    stream = Stream(picky, FILL, False, 2, 64, 512, torch.device("cpu"))
    bad = rows([4, 4])
    bad.flat["input_ids"][0] = 999
    for _ in range(4):  # more than there are slots
        with pytest.raises(ArithmeticError):
            stream.finish(stream.ask(bad))
        assert not stream.busy
    pieces = rows([7])
    np.testing.assert_array_equal(stream.finish(stream.ask(pieces)), expected(pieces))
    with pytest.raises(ValueError, match="expected at most 64 pieces of a text, got 65"):
        stream.ask(rows([65]))


def test_an_interrupt_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(sums, FILL, False, 2, 64, 512, torch.device("cpu"))
    forgotten, pieces = stream.ask(rows([4] * 40)), rows([7, 2])

    def interrupted(slot: Any) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Slot, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.finish(forgotten)
    with pytest.raises(RuntimeError, match="expected rows that wait for answers, got some that were forgotten"):
        stream.finish(forgotten)
    for _ in range(4):  # more than there are slots
        np.testing.assert_array_equal(stream.finish(stream.ask(pieces)), expected(pieces))


def test_memory_that_runs_out_later_halves_the_batches() -> None:
    """As of a network that cannot be captured, so that each pass takes memory anew."""
    most = 1024

    def greedy(inputs: dict[str, Any]) -> Any:
        if inputs["input_ids"].numel() > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return sums(inputs)

    stream, pieces = Stream(greedy, FILL, False, 2, 64, 1024, torch.device("cpu")), rows([9, 33, 64, 2] * 20)
    np.testing.assert_array_equal(stream.finish(stream.ask(pieces)), expected(pieces))
    most = 300
    both = stream.ask(pieces), stream.ask(rows([5]))
    np.testing.assert_array_equal(stream.finish(both[0]), expected(pieces))
    np.testing.assert_array_equal(stream.finish(both[1]), expected(rows([5])))
    assert stream.tokens == 256 and stream.sizes == {1024, 512, 256}
    most = 10
    with pytest.raises(torch.OutOfMemoryError):
        stream.finish(stream.ask(pieces))
    assert not stream.busy


def test_networks_that_float16_is_too_small_for(tmp_path: Path) -> None:
    hf = pytest.importorskip("transformers")
    size = save_tokenizer(tmp_path)

    class Network(torch.nn.Module):
        device, large = torch.device("cpu"), False

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            assert input_ids.min() >= 0 and input_ids.max() < size
            out = input_ids.sum(1, keepdim=True).float()
            return SimpleNamespace(logits=(out * 1e4).half().float() if self.large else out)

    network = Network()
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    loaded: Any = SimpleNamespace(model=network, tokenizer=tokenizer, longest=512)
    assert fits_float16(loaded)
    network.large = True
    assert not fits_float16(loaded)


@pytest.mark.skipif(DEVICE.type != "cuda", reason="no GPU")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_bits_do_not_depend_on_the_batch(dtype: str) -> None:
    hf = pytest.importorskip("transformers")
    torch.manual_seed(1)
    config = hf.BertConfig(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_labels=2)
    model = hf.BertForSequenceClassification(config).to(DEVICE, getattr(torch, dtype)).eval()
    with torch.no_grad():
        fill = {"input_ids": 0, "token_type_ids": 0}
        stream = Stream(lambda inputs: model(**inputs).logits.float(), fill, False, 2, 128, 4096, DEVICE)
        pieces = rows(list(range(1, 129)) * 3)
        whole = stream.finish(stream.ask(pieces)).copy()
        assert all(shape.graph is not None for shape in stream.shapes.values())
        for at in range(0, len(pieces), 7):
            part = slice(pieces.start[at], pieces.start[at + 1])
            alone = Pieces(
                np.zeros(1, np.int64), pieces.length[at : at + 1], {k: v[part] for k, v in pieces.flat.items()}
            )
            stream.ask(rows(list(range(1, 100, 1 + at)), at))
            np.testing.assert_array_equal(stream.finish(stream.ask(alone))[0], whole[at])
