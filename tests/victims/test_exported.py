"""Transformers whose forward pass onnxruntime or OpenVINO computes, beside PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

import scuff
from scuff.huggingface import backends
from scuff.huggingface.loading import BadModel, quiet
from scuff.victims import exported
from scuff.victims.base import Access, NotEnoughAccess, require
from scuff.victims.open import open_victim
from victims.small import LONGEST, TINY, save_tokenizer

TEXTS = [
    "the cat sat on a mat", "", "   ", "not a good film, was it?", "believing in unbelievable dogs " * 3, "very " * 200,
    "😀👩‍👩‍👧 film", "שלום good", "x", "the cat sat on a mat", "[SEP] [MASK]", "it\nis\tbad",
]  # fmt: skip
NAMES = ("onnxruntime", "openvino")


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Exported models are kept for this module, and not where the user's are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCUFF_CACHE", str(tmp_path_factory.mktemp("kept")))
        yield


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders with small random models of several kinds."""
    root = tmp_path_factory.mktemp("zoo")
    size = save_tokenizer(root / "tokenizer")
    torch.manual_seed(3)
    bert = hf.BertConfig(vocab_size=size, num_labels=3, id2label={0: "bad", 1: "good", 2: "so-so"}, **TINY)
    roberta = hf.RobertaConfig(vocab_size=size, num_labels=2, pad_token_id=0, **TINY)
    gpt = hf.GPT2Config(
        vocab_size=size, n_embd=32, n_layer=1, n_head=2, n_positions=LONGEST, num_labels=2, pad_token_id=0
    )
    distil = hf.DistilBertConfig(
        vocab_size=size, dim=32, n_layers=1, n_heads=2, hidden_dim=48, max_position_embeddings=48
    )
    built: dict[str, Any] = {
        "single": hf.BertForSequenceClassification(bert),
        "tokens": hf.BertForTokenClassification(bert),
        "roberta": hf.RobertaForSequenceClassification(roberta),
        "gpt": hf.GPT2ForSequenceClassification(gpt),
        "distil": hf.DistilBertForSequenceClassification(distil),
    }
    for name, model in built.items():
        with quiet():
            model.save_pretrained(root / name)
        save_tokenizer(root / name)
    return {name: str(root / name) for name in built}


def opened(folder: str, task: Any = "single", **options: Any) -> Any:
    return open_victim(folder, task, (), options)


def test_scores_are_those_of_pytorch(zoo: dict[str, str], backend: str) -> None:
    plain, victim = opened(zoo["single"]), opened(zoo["single"], backend=backend)
    for columns in ([TEXTS], [TEXTS, TEXTS[::-1]]):
        np.testing.assert_allclose(victim(*columns).answers, plain(*columns).answers, atol=1e-5)
    assert victim.labels == plain.labels
    assert victim.identity != plain.identity
    assert backend in victim.identity
    assert (victim.backend, plain.backend) == (backend, "")


@pytest.mark.parametrize("name", ["roberta", "gpt", "distil"])
def test_other_networks(zoo: dict[str, str], backend: str, name: str) -> None:
    for task in ("single", "multi"):
        plain, victim = (opened(zoo[name], task, **more) for more in ({}, {"backend": backend}))
        np.testing.assert_allclose(victim(TEXTS).answers, plain(TEXTS).answers, atol=1e-5)


def test_a_network_that_takes_no_pairs(backend: str, tmp_path: Path) -> None:
    """It has one type of pieces, and its tokenizer gives the second text of a pair another."""
    config = hf.BertConfig(vocab_size=save_tokenizer(tmp_path), num_labels=2, type_vocab_size=1, **TINY)
    with quiet():
        hf.BertForSequenceClassification(config).save_pretrained(tmp_path)
    plain, victim = (opened(str(tmp_path), **more) for more in ({}, {"backend": backend}))
    np.testing.assert_allclose(victim(TEXTS).answers, plain(TEXTS).answers, atol=1e-5)


def test_a_network_that_answers_nothing(zoo: dict[str, str], backend: str, tmp_path: Path) -> None:
    """Its tokenizer knows more pieces than it has."""
    with quiet():
        hf.BertForSequenceClassification(hf.BertConfig(vocab_size=9, num_labels=2, **TINY)).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    with pytest.raises(BadModel, match=f"expected a model that answers, got {tmp_path}: index out of range"):
        opened(str(tmp_path), backend=backend)


def test_tags_are_those_of_pytorch(zoo: dict[str, str], backend: str) -> None:
    rows = [tuple(text.split()) or ("a",) for text in TEXTS]
    plain, victim = (opened(zoo["tokens"], "tokens", **more) for more in ({}, {"backend": backend}))
    for wanted, found in zip(plain(rows).answers, victim(rows).answers, strict=True):
        assert wanted.tolist() == found.tolist()


def test_scores_of_a_run_depend_on_the_text_alone(zoo: dict[str, str], backend: str) -> None:
    texts = [*TEXTS, *(f"{text} good" for text in TEXTS)]
    threads, answers = torch.get_num_threads(), []
    try:
        for tokens, number in ((64, 1), (500, 2), (4000, 3)):
            victim = opened(zoo["single"], backend=backend, batch_tokens=tokens, threads=number)
            victim.steady = True
            answers.append(victim(texts).answers)
            answers.append(np.concatenate([victim([text]).answers for text in texts]))
    finally:
        torch.set_num_threads(threads)
    for other in answers[1:]:
        assert other.tobytes() == answers[0].tobytes()


def test_a_model_is_exported_once(
    zoo: dict[str, str], backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, count = tmp_path / "model", []
    shutil.copytree(zoo["distil"], folder)
    monkeypatch.setenv("SCUFF_CACHE", str(tmp_path / "kept"))
    export = backends.export
    monkeypatch.setattr(backends, "export", lambda *about: count.append(1) or export(*about))
    for _ in range(2):
        opened(str(folder), backend=backend)
    assert len(count) == 1
    assert sorted(path.name for path in (tmp_path / "kept" / "onnx").glob("*/*")) == ["model.onnx", "sha256"]
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")  # other weights, other digest
    opened(str(folder), backend=backend)
    assert len(count) == 2


def test_answers_that_are_not_those_of_pytorch_are_refused(
    zoo: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    model = hf.AutoModelForSequenceClassification.from_pretrained(zoo["single"])
    with torch.no_grad():
        model.classifier.bias += 0.01
    other = backends.exported(model, "another", ["input_ids", "token_type_ids", "attention_mask"], "onnxruntime")
    monkeypatch.setattr(exported, "exported", lambda *about: other)
    with pytest.raises(BadModel, match=r"within 0.0001 of PyTorch's .* 0.01 apart: use backend=pytorch"):
        opened(zoo["single"], backend="onnxruntime")


def test_a_backend_that_fails_while_it_computes(
    zoo: dict[str, str], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(inputs: Any) -> Any:
        raise RuntimeError("Non-zero status code\nand more")

    monkeypatch.setattr(exported, "open_session", lambda *about: broken)
    said = f"expected a model that {backend} can run, got .*: Non-zero status code; use backend=pytorch"
    with pytest.raises(BadModel, match=said):
        opened(zoo["single"], backend=backend)


def test_what_a_backend_cannot_read_is_told(backend: str, tmp_path: Path) -> None:
    """OpenVINO's messages begin with where in its sources something went wrong."""
    pytest.importorskip(backend)
    (tmp_path / "model.onnx").write_bytes(b"no network")
    with pytest.raises(BadModel, match=rf"a model that {backend} can run, got (?!Exception from).*model\.onnx"):
        backends.open_session(backend, tmp_path / "model.onnx", 1)


def test_an_export_that_fails_prints_nothing(
    zoo: dict[str, str], backend: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    size = save_tokenizer(tmp_path)
    network = hf.FNetForSequenceClassification(hf.FNetConfig(vocab_size=size, pad_token_id=0, **TINY))
    with quiet():
        network.save_pretrained(tmp_path)
    capfd.readouterr()
    with pytest.raises(BadModel, match="expected a model that can be exported to ONNX, got one that cannot"):
        opened(str(tmp_path), backend=backend)
    assert capfd.readouterr() == ("", "")


def test_gradients_need_pytorch(zoo: dict[str, str], backend: str) -> None:
    victim = opened(zoo["single"], backend=backend)
    with pytest.raises(NotEnoughAccess, match=f"gradients need backend=pytorch, got {backend}"):
        require(victim, Access.GRADIENT, "saliency")
    assert not victim.gives_slopes


@pytest.mark.parametrize(
    ("options", "task", "said"),
    [
        ({"backend": "onnxruntim"}, "single", "did you mean onnxruntime?"),
        ({"backend": "tensorrt"}, "single", "expected the name of a backend, got 'tensorrt'"),
        ({"backend": 5}, "single", "expected the name of a backend, got '5'"),
        ({"threads": 0}, "single", "expected 1 or more for threads of .*, got 0"),
        ({"threads": "two"}, "single", "expected 1 or more for threads of .*, got 'two'"),
        ({"backend": "onnxruntime"}, "text", "expected backend=pytorch for task text, got onnxruntime"),
        ({"backend": "openvino", "device": "cuda"}, "single", "expected device=cpu for backend=openvino, got cuda"),
        ({"backend": "openvino", "dtype": "float16"}, "single", "expected dtype=float32 for backend=openvino, got float16"),
        ({"bakend": "openvino"}, "single", "backend for .*, got 'bakend'"),
    ],
)  # fmt: skip
def test_wrong_options(zoo: dict[str, str], options: dict[str, Any], task: str, said: str) -> None:
    with pytest.raises(BadModel, match=said):
        opened(zoo["single"], task, **options)


def test_a_package_that_is_missing(zoo: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(BadModel, match=r"pip install 'scuff\[openvino\]'"):
        opened(zoo["single"], backend="openvino")


def test_nowhere_to_keep_a_model(zoo: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCUFF_CACHE", str(tmp_path / "file"))
    with pytest.raises(BadModel, match=r"expected a folder to keep exported models in, got .*: set SCUFF_CACHE"):
        opened(zoo["single"], backend="onnxruntime")


def test_a_damaged_file_is_written_anew(
    zoo: dict[str, str], backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damage inside the weights would change scores of some texts alone, which no probe has to show."""
    monkeypatch.setenv("SCUFF_CACHE", str(tmp_path))
    right = opened(zoo["distil"], backend=backend)(TEXTS).answers
    (file,) = tmp_path.glob("onnx/*/model.onnx")
    whole = file.read_bytes()
    embedded = whole.index(
        hf.AutoModel.from_pretrained(zoo["distil"]).embeddings.word_embeddings.weight[9].detach().numpy().tobytes()
    )
    for damaged in (b"", whole[:1000], whole[:embedded] + bytes(64) + whole[embedded + 64 :]):
        file.write_bytes(damaged)
        np.testing.assert_array_equal(opened(zoo["distil"], backend=backend)(TEXTS).answers, right)
        assert file.stat().st_size == len(whole)
    file.unlink()  # another file is still there
    np.testing.assert_array_equal(opened(zoo["distil"], backend=backend)(TEXTS).answers, right)
    assert len(list(tmp_path.glob("onnx/*"))) == 1


def test_what_killed_exports_left_is_removed_later(
    zoo: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("SCUFF_CACHE", str(tmp_path))
    old, new = tmp_path / "onnx" / "new-old", tmp_path / "onnx" / "new-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_text("half of it")
    os.utime(old, (0, 0))
    opened(zoo["distil"], backend="onnxruntime")
    assert new.exists() and not old.exists()  # the other may still be at work


@pytest.mark.slow
def test_the_same_bytes_for_any_number_of_workers(zoo: dict[str, str], backend: str, tmp_path: Path) -> None:
    texts = [f"{text} {at}" for at, text in enumerate(["good film", "very bad cat"] * 10)]
    said = opened(zoo["single"])(texts).answers.argmax(1)  # so that none is wrong already
    rows = [{"text": text, "label": ("bad", "good", "so-so")[at]} for text, at in zip(texts, said, strict=True)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = []
    for workers in (1, 2):
        out = tmp_path / f"run-{workers}"
        done = scuff.attack(
            zoo["single"], tmp_path / "data.jsonl", "deepwordbug", out, options={"backend": backend}, workers=workers,
            encoder="chrf",
        )  # fmt: skip
        assert f"|backend:{backend}|" in json.loads((out / "run.json").read_text())["signature"]
        assert done.summary["queries"]["total"] > 20
        files.append({path.name: path.read_bytes() for path in out.glob("*.jsonl")})
    assert files[0] == files[1]


FREED = """
import gc, signal, sys, threading
from scuff.victims.open import open_victim

held = [open_victim(sys.argv[1], "single", (), {"backend": sys.argv[2]})]
held[0](["good"])
freeing = threading.Thread(target=lambda: (held.clear(), gc.collect()))
freeing.start()
freeing.join()
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_interrupt_after_a_model_was_freed_in_another_thread(zoo: dict[str, str], backend: str) -> None:
    """OpenVINO took the stack for signals along, and a later Ctrl-C was a segmentation fault."""
    command = [sys.executable, "-c", FREED, zoo["single"], backend]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
