"""The shortcut through an exported network: which networks have one, and that it changes no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from scuff.huggingface import backends, shortcut
from scuff.huggingface.loading import quiet

SMALL: dict[str, Any] = {
    "vocab_size": 99, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 40,
    "max_position_embeddings": 64, "num_labels": 3,
}  # fmt: skip
DISTIL: dict[str, Any] = {
    "vocab_size": 99, "dim": 24, "n_layers": 2, "n_heads": 2, "hidden_dim": 40, "max_position_embeddings": 64, "num_labels": 3,
}  # fmt: skip
GPT: dict[str, Any] = {
    "vocab_size": 99, "n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 64, "num_labels": 3, "pad_token_id": 0,
}  # fmt: skip
NAMES = ["input_ids", "attention_mask"]


class MeanPooled(torch.nn.Module):  # type: ignore[misc]
    """Reads the class off all pieces, so that there is nothing to leave out."""

    def __init__(self) -> None:
        super().__init__()
        self.body = hf.BertModel(hf.BertConfig(**SMALL), add_pooling_layer=False)

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        found = self.body(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return hf.modeling_outputs.SequenceClassifierOutput(logits=found.mean(1))


def networks() -> dict[str, tuple[Any, bool]]:
    """Networks of several kinds, and whether each has a shortcut."""
    bert = hf.BertConfig(**SMALL)
    return {
        "bert": (lambda: hf.BertForSequenceClassification(bert), True),
        "roberta": (lambda: hf.RobertaForSequenceClassification(hf.RobertaConfig(**SMALL, pad_token_id=0)), True),
        "distilbert": (lambda: hf.DistilBertForSequenceClassification(hf.DistilBertConfig(**DISTIL)), True),
        "electra": (lambda: hf.ElectraForSequenceClassification(hf.ElectraConfig(**SMALL, embedding_size=16)), True),
        "mpnet": (lambda: hf.MPNetForSequenceClassification(hf.MPNetConfig(**SMALL, pad_token_id=0)), True),
        "tagger": (lambda: hf.BertForTokenClassification(bert), False),
        "gpt2": (lambda: hf.GPT2ForSequenceClassification(hf.GPT2Config(**GPT)), False),
        "mean": (MeanPooled, False),
    }


@pytest.fixture(params=["onnxruntime", pytest.param("openvino", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest) -> shortcut.Run:
    pytest.importorskip(request.param)
    return lambda file, inputs: backends.open_session(request.param, file, 1)(inputs)


def batch(rows: int, pieces: int) -> dict[str, Any]:
    rng = np.random.default_rng(rows * 100 + pieces)
    mask = np.arange(pieces) < rng.integers(1, pieces + 1, rows)[:, None]
    return {
        "input_ids": np.where(mask, rng.integers(5, 99, (rows, pieces)), 0),
        "attention_mask": mask.astype(np.int64),
    }


def written(name: str, file: Path) -> dict[str, Any]:
    """Exports a network, as it is. Returns the inputs with which it was traced."""
    torch.manual_seed(1)
    with quiet():
        return backends.export(networks()[name][0]().eval(), NAMES, file)


@pytest.mark.parametrize("name", networks())
def test_which_networks_have_one(name: str, run: shortcut.Run, tmp_path: Path) -> None:
    plain, short = tmp_path / "plain.onnx", tmp_path / "model.onnx"
    inputs = written(name, plain)
    short.write_bytes(plain.read_bytes())
    assert shortcut.shorten(short, inputs, run) == networks()[name][1]
    assert {path.name for path in tmp_path.iterdir()} == {"plain.onnx", "model.onnx"}
    for rows, pieces in ((1, 1), (1, 9), (4, 2), (3, 30), (6, 11)):
        (one,), (other,) = (run(file, batch(rows, pieces)) for file in (plain, short))
        np.testing.assert_allclose(other, one, rtol=0, atol=2e-6)


def test_only_the_first_piece_goes_through_the_last_layer(run: shortcut.Run, tmp_path: Path) -> None:
    """In a batch of (3, 11): of the twelve products with weights of two layers, four have one row of eleven."""
    file = tmp_path / "model.onnx"
    shortcut.shorten(file, written("bert", file), run)
    shapes, graph = shortcut.tensor_shapes(file, batch(3, 11), run), onnx.load(str(file)).graph
    weights = {one.name for one in graph.initializer}
    products = [shapes[one.output[0]][1] for one in graph.node if one.op_type == "MatMul" and one.input[1] in weights]
    assert sorted(products) == [1] * 4 + [11] * 8


def test_a_rewriting_that_changes_answers_is_not_kept(
    run: shortcut.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.onnx"
    inputs, before = written("bert", file), file.read_bytes()
    plain = shortcut._Graph._demands

    def wrong(graph: Any, node: Any, axis: int) -> Any:
        """Takes the first entry along the axis of the keys, too."""
        return [(0, axis), (1, axis)] if node.op_type == "MatMul" and axis == 2 else plain(graph, node, axis)

    monkeypatch.setattr(shortcut._Graph, "_demands", wrong)
    assert not shortcut.shorten(file, inputs, run)
    assert file.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
