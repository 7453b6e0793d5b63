"""fine_tune: it learns, in all tasks; same seed, same bytes, killed or not; what cannot be learnt is said before it begins."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

from huggingface.small import save_bytes
from scuff.data.dataset import Dataset
from scuff.huggingface.loading import quiet
from scuff.resources import MissingResource
from scuff.training import checkpoints, trainer
from scuff.training.checkpoints import BadFolder
from scuff.training.feeds import Mixed
from scuff.training.heads import Classification, first_pieces, open_start
from scuff.training.loop import TrainingFailed
from scuff.training.schedule import Schedule, settled, stale
from scuff.training.trainer import fine_tune, usual_schedule
from scuff.victims.huggingface import load
from training.toys import dataset, label_sets, pairs, save_start, sentences, tagged

SCHEDULE = Schedule(rate=5e-3, epochs=4, batch_tokens=256, smoothing=0.0, patience=4)
ONE = replace(SCHEDULE, epochs=1)
TRAIN, DEV = sentences(120, 1), sentences(40, 2)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


def tuned(start: Any, out: Path, train: Any = TRAIN, dev: Dataset = DEV, **options: Any) -> dict[str, Any]:
    return fine_tune(start, train, dev, out, **{"schedule": ONE, "device": "cpu", **options})


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("make", "metric", "chance"),
    [(sentences, "accuracy", 0.6), (label_sets, "auc", 0.6), (tagged, "token-accuracy", 0.5), (pairs, "accuracy", 0.6)],
    ids=["one label", "label sets", "tags", "pairs"],
)
def test_it_learns_and_the_folder_is_a_victim(
    make: Callable[[int, int], Dataset], metric: str, chance: float, start: Path, tmp_path: Path
) -> None:
    lines: list[dict[str, Any]] = []
    train, dev, test = make(200, 1), make(60, 2), make(60, 3)
    metrics = tuned(start, tmp_path / "out", train, dev, schedule=SCHEDULE, show=lines.append)
    assert metrics["metric"] == metric and metrics["dev"][metric] > chance + 0.3
    assert metrics == json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    logged = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert logged == lines and not (tmp_path / "out" / "checkpoint").exists()
    assert [line["dev"][metric] for line in lines if "dev" in line] == [epoch[metric] for epoch in metrics["epochs"]]
    steps = [line for line in lines if "loss" in line]
    assert steps[-1]["loss"] < steps[0]["loss"] and steps[-1]["progress"] == 1 and steps[-1]["rate"] < 0.1 * 5e-3
    assert [line["step"] for line in steps] == sorted({line["step"] for line in steps})
    victim = load(tmp_path / "out", dev.task, device="cpu")
    assert set(victim.labels) == set(train.labels)
    answers = victim(*test.columns).answers
    if dev.task == "single":
        right = np.mean(
            [victim.labels[at] == target for at, target in zip(answers.argmax(1), test.targets, strict=True)]
        )
    elif dev.task == "multi":
        right = np.mean(
            [
                set(np.array(victim.labels)[row > 0.5]) == set(target)
                for row, target in zip(answers, test.targets, strict=True)
            ]
        )
    else:
        said = [victim.labels[tag] for tags in answers for tag in tags]
        right = np.mean([tag == due for tag, due in zip(said, sum(test.targets, ()), strict=True)])
    assert right > chance


def test_the_best_epoch_is_kept_as_the_victim_measures_it(start: Path, tmp_path: Path) -> None:
    metrics = tuned(start, tmp_path / "out", schedule=replace(SCHEDULE, rate=1e-3, epochs=5))
    best = max(metrics["epochs"], key=lambda epoch: (epoch["accuracy"], -epoch["loss"]))
    assert metrics["dev"]["epoch"] == best["epoch"]
    victim = load(tmp_path / "out", "single", device="cpu")
    said = [victim.labels[at] for at in victim(*DEV.columns).answers.argmax(1)]
    assert np.mean([a == b for a, b in zip(said, DEV.targets, strict=True)]) == pytest.approx(best["accuracy"])


def test_same_seed_same_bytes(start: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        torch.manual_seed(ord(name[0]))  # the caller's chance does not matter, and stays as it was
        before = torch.random.get_rng_state()
        tuned(start, tmp_path / name, FEED, seed=seed)
        assert torch.equal(before, torch.random.get_rng_state())
    assert weights(tmp_path / "one") == weights(tmp_path / "same") != weights(tmp_path / "other")


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("seconds", [0.0, 1000.0], ids=["after steps", "after epochs"])
def test_a_training_that_ended_early_goes_on_as_if_nothing_had_happened(
    seconds: float, start: Path, tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(line: dict[str, Any]) -> None:
        if line["epoch"] >= 2.4:
            raise Killed

    monkeypatch.setattr(checkpoints, "SHARE", 1.0 if seconds else 1e9)  # a checkpoint after each step
    folder = tmp_path / "killed"
    with pytest.raises(Killed):
        tuned(start, folder, FEED, schedule=SCHEDULE, checkpoint_seconds=seconds, show=killed)
    _goes_on(start, folder, whole)


CHILD = """
import sys
from pathlib import Path
import scuff.training.loop as loop
from training.test_trainer import FEED, SCHEDULE, tuned

step = loop.Loop._step
def slow(self, number, at, epoch):  # says how far it is, and waits to be killed
    step(self, number, at, epoch)
    print(number, at, flush=True)
    if (number, at) == (2, 3):
        sys.stdin.readline()
loop.Loop._step = slow
tuned(sys.argv[1], Path(sys.argv[2]), FEED, schedule=SCHEDULE, checkpoint_seconds=0.0)
"""


@pytest.mark.slow
def test_a_killed_training_ends_with_the_same_weights(start: Path, tmp_path: Path, whole: Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    command = [sys.executable, "-c", CHILD, str(start), str(tmp_path / "killed")]
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "env": {**os.environ, "PYTHONPATH": path},
    }
    with subprocess.Popen(command, **pipes) as child:
        assert child.stdout is not None
        while child.stdout.readline().split() not in (["2", "3"], []):
            pass
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    _goes_on(start, tmp_path / "killed", whole)


FEED = Mixed(TRAIN, "keyboard", seed=3)


@pytest.fixture(scope="module")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that nothing happened to."""
    tuned(start, folder := tmp_path_factory.mktemp("whole") / "out", FEED, schedule=SCHEDULE)
    return folder


def _goes_on(start: Path, folder: Path, whole: Path) -> None:
    """A training that ended early, with half a line in its log, ends with the same weights, log and scores as another."""
    assert (folder / "checkpoint" / "state.safetensors").is_file() and not (folder / "metrics.json").exists()
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"step": ')
    resumed, told = tuned(start, folder, FEED, schedule=SCHEDULE), json.loads((whole / "metrics.json").read_text())
    assert resumed["resumed"] == 1 and resumed["steps"] == told["steps"] and resumed["settings"] == told["settings"]
    assert weights(folder) == weights(whole)
    logs = [(each / "log.jsonl").read_text(encoding="utf-8").splitlines() for each in (folder, whole)]
    assert _untimed(map(json.loads, logs[0])) == _untimed(map(json.loads, logs[1]))
    assert _untimed(resumed["epochs"]) == _untimed(told["epochs"])


def _untimed(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**line, "seconds": 0} for line in lines]


def test_a_folder_that_is_finished_is_not_trained_again(start: Path, tmp_path: Path) -> None:
    metrics = tuned(start, tmp_path / "out", keep=True, checkpoint_seconds=0.0, schedule=replace(ONE, epochs=2))
    assert (tmp_path / "out" / "checkpoint" / "state.safetensors").is_file()
    before = (tmp_path / "out" / "model.safetensors").stat().st_mtime_ns
    assert tuned(start, tmp_path / "out", schedule=replace(ONE, epochs=2), keep=True, show=print) == metrics
    assert (tmp_path / "out" / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(BadFolder, match=r"got another seed: 1 instead of 0; give another folder"):
        tuned(start, tmp_path / "out", schedule=replace(ONE, epochs=2), seed=1)
    (tmp_path / "out" / "metrics.json").unlink()
    with pytest.raises(BadFolder, match="got another schedule"):
        tuned(start, tmp_path / "out")
    (tmp_path / "out" / "checkpoint" / "state.safetensors").write_bytes(b"half")
    with pytest.raises(BadFolder, match="expected a checkpoint of Scuff, got a damaged file"):
        tuned(start, tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(BadFolder, match="expected a new folder or a training of Scuff, got something else"):
        tuned(start, tmp_path / "mine")
    assert os.listdir(tmp_path / "mine") == ["notes.txt"]


def test_training_goes_on_with_the_labels_of_a_classifier(start: Path, tmp_path: Path) -> None:
    tuned(start, tmp_path / "first", sentences(300, 1), schedule=SCHEDULE)
    swapped = replace(TRAIN, targets=tuple(target.upper() for target in TRAIN.targets), known=("POSITIVE", "NEGATIVE"))
    dev = replace(DEV, targets=tuple(target.upper() for target in DEV.targets))
    before = load(tmp_path / "first", "single", device="cpu")
    metrics = tuned(tmp_path / "first", tmp_path / "second", swapped, dev, schedule=replace(ONE, rate=1e-9))
    assert metrics["labels"] == ["negative", "positive"]  # the model's names and order, whatever those of the data
    assert metrics["dev"]["accuracy"] > 0.9  # at once: the head is not new
    after = load(tmp_path / "second", "single", device="cpu")
    assert np.allclose(before(*DEV.columns).answers, after(*DEV.columns).answers, atol=1e-2)
    named = tuned(
        tmp_path / "first", tmp_path / "named", schedule=replace(ONE, rate=1e-9), labels=("positive", "negative")
    )
    assert named["dev"]["accuracy"] < 0.1
    again = tuned(tmp_path / "first", tmp_path / "new", schedule=replace(ONE, rate=1e-9), new_head=True)
    assert again["dev"]["loss"] > 3 * metrics["dev"]["loss"]
    other = replace(TRAIN, targets=tuple("yes" if target == "positive" else "no" for target in TRAIN.targets))
    with pytest.raises(
        ValueError, match=r"knows \(negative, positive\), got no, yes in the data: labels=\[...\] names"
    ):
        tuned(tmp_path / "first", tmp_path / "third", other, replace(DEV, targets=("no", "yes") * 20))
    with pytest.raises(ValueError, match="a BertForSequenceClassification; new_head=True"):
        tuned(tmp_path / "first", tmp_path / "third", tagged(20, 1), tagged(20, 2))
    with pytest.raises(ValueError, match=r"label sets for start, got .*single_label_classification"):
        tuned(tmp_path / "first", tmp_path / "third", label_sets(20, 1), label_sets(20, 2))
    assert (
        tuned(tmp_path / "first", tmp_path / "tagger", tagged(20, 1), tagged(20, 2), new_head=True)["labels"][0]
        == "ADJ"
    )


def test_labels_that_the_data_lacks_are_not_unlearnt(start: Path, tmp_path: Path) -> None:
    tuned(start, tmp_path / "first", label_sets(100, 1), label_sets(40, 2))
    keep = [("building",) if "building" in target else () for target in label_sets(100, 1).targets]
    train, dev = (replace(data, targets=tuple(keep[: len(data)])) for data in (label_sets(100, 1), label_sets(40, 1)))
    options = {
        "seed": 0,
        "device": "cpu",
        "labels": None,
        "new_head": False,
        "max_length": None,
        "freeze_embeddings": False,
    }
    opened = open_start(tmp_path / "first", train, **options)
    task = Classification(opened, Mixed(train, "keyboard"), dev, ONE, "auc", 0)
    logits, target = torch.randn(5, 2, requires_grad=True), torch.zeros(5, 2)
    task.sums(logits, target, 0.0).backward()
    assert (logits.grad[:, 0] == 0).all() and (logits.grad[:, 1] != 0).all()


def test_losses_are_sums_over_examples_and_first_pieces(start: Path) -> None:
    options = {
        "seed": 0,
        "device": "cpu",
        "labels": None,
        "new_head": False,
        "max_length": None,
        "freeze_embeddings": False,
    }
    data = dataset("tokens", ([("zq", "the", "\u200b", "dog"), ("bad",)],), [("X", "DET", "X", "NOUN"), ("ADJ",)])
    task = Classification(
        open_start(start, data, **options), Mixed(data, "keyboard"), data, SCHEDULE, "token-accuracy", 0
    )
    batch = task.dev.take(np.array([0, 1]), 1)
    number = task.opened.number
    assert batch["target"].tolist() == [
        [-100, number["X"], -100, number["DET"], number["NOUN"], -100],
        [-100, number["ADJ"], -100, -100, -100, -100],
    ]
    assert task.dev.tags(0, np.arange(6)).tolist() == [1, 3, -1, 4]  # a token without a piece has no tag
    assert task.dev.targets_count == 4
    logits = torch.randn(2, 6, 4)
    due = torch.from_numpy(batch["target"])
    slow = -sum(
        logits[row, at].log_softmax(-1)[due[row, at]] for row in range(2) for at in range(6) if due[row, at] >= 0
    )
    assert float(task.sums(logits, due, 0.0)) == pytest.approx(float(slow), rel=1e-5)
    assert first_pieces(np.array([-1, 0, 0, 2, 3, 3, -1])).tolist() == [1, 3, 4]


def test_frozen_embeddings_stay_and_texts_are_cut_later_too(start: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    old = load_file(start / "model.safetensors")
    for frozen in (True, False):
        folder = tmp_path / str(frozen)
        tuned(start, folder, freeze_embeddings=frozen, max_length=6)
        new = load_file(folder / "model.safetensors")
        same = torch.equal(old["embeddings.word_embeddings.weight"], new["bert.embeddings.word_embeddings.weight"])
        assert same == frozen
        assert not torch.equal(
            old["encoder.layer.0.output.dense.weight"], new["bert.encoder.layer.0.output.dense.weight"]
        )
        assert load(folder, "single", device="cpu").max_length == 6


def test_it_stops_when_the_dev_part_gets_no_better_or_time_is_over(start: Path, tmp_path: Path) -> None:
    still = tuned(start, tmp_path / "still", schedule=replace(SCHEDULE, rate=1e-12, epochs=30, patience=2))
    assert still["stopped"] == "patience" and len(still["epochs"]) == 3
    began = time.perf_counter()
    short = tuned(start, tmp_path / "short", schedule=replace(SCHEDULE, epochs=1000, patience=1000), seconds=0.5)
    assert short["stopped"] == "seconds" and time.perf_counter() - began < 5 and "limit of time" in short["repeats"]
    line = json.loads((tmp_path / "short" / "log.jsonl").read_text().splitlines()[-2])
    assert line["rate"] < 0.2 * SCHEDULE.rate and line["progress"] > 0.9  # it fell in time
    long = tuned(start, tmp_path / "long", seconds=1000.0)
    assert long["stopped"] == "epochs" and weights(tmp_path / "long") == weights(_plain(start, tmp_path))
    assert stale([0.5, 0.7, 0.6], [1, 2, 3]) == 1 and stale([0.5, 0.7, 0.6], [3, 2, 1]) == 0


def test_a_slow_beginning_does_not_end_a_training_before_its_time(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are planned by how long steps take, not by how long the texts took to be made."""
    make = Classification.epoch

    def slowly(self: Any, number: int, step: int) -> Any:
        time.sleep(0.0 if number else 0.3)
        return make(self, number, step)

    monkeypatch.setattr(Classification, "epoch", slowly)
    many = replace(SCHEDULE, epochs=1000, patience=1000)
    found = tuned(start, tmp_path / "out", schedule=many, seconds=0.8)
    assert found["stopped"] == "seconds" and found["seconds"]["training"] >= 0.8 and len(found["epochs"]) > 1


def _plain(start: Path, tmp_path: Path) -> Path:
    tuned(start, tmp_path / "plain")
    return tmp_path / "plain"


@pytest.mark.parametrize(("tokens", "where"), [(256, r"in step \d+"), (1 << 20, "on the dev part")])
def test_a_loss_that_is_no_number_ends_the_training(tokens: int, where: str, start: Path, tmp_path: Path) -> None:
    """A batch of all examples is the only step: its loss is a number, that of the weights after it is not."""
    wild = replace(ONE, rate=1e30, warmup=0.0, clip=1e30, batch_tokens=tokens)
    with pytest.raises(TrainingFailed, match=rf"expected a number for the loss, got nan {where}: lower schedule.rate"):
        tuned(start, tmp_path / "out", schedule=wild, checkpoint_seconds=0.0)
    assert not (tmp_path / "out" / "metrics.json").exists()


EMPTY = dataset("single", ([],), [])


def parts(train: Dataset, dev: Dataset | None = None, **options: Any) -> tuple[Dataset, Dataset, dict[str, Any]]:
    return train, dev if dev is not None else train, options


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (parts(EMPTY), "expected examples in the train part, got none"),
        (parts(TRAIN, EMPTY), "expected examples in the dev part, got none"),
        (parts(dataset("single", (["a", "b"],), ["x", "x"])), "expected two or more labels in the train part, got one: x"),
        (parts(dataset("single", (["a", "b"],), ["x", ""])), "one label for every example of the train part, got none for 1"),
        (parts(dataset("multi", (["a", "b"],), [(), ()])), "expected labels in the train part, got empty sets only"),
        (parts(dataset("tokens", ([("a", "b")],), [("X",)])), "expected 2 tags for 0 in the train part, got 1"),
        (parts(dataset("text", (["a"],), ["b"])), "got texts in the train part: train_translator trains translators"),
        (parts(TRAIN, tagged(3, 1)), "the same task in both parts, got one label in train and a tag per token in dev"),
        (parts(pairs(9, 1), DEV), "expected as many columns of texts in dev as in train (2), got 1"),
        (parts(dataset("single", (["a"],) * 3, ["x"], tuple("abc"))), "expected one or two columns of texts for one label"),
        (parts(dataset("tokens", (["a b"],), [("X", "Y")])), "texts in tokens in column 'text' of the train part, got texts"),
        (parts(TRAIN, replace(DEV, targets=("neutral",) * 40)), "(negative, positive) in the dev part, got neutral"),
        (parts(TRAIN, DEV, metric="token-accuracy"), "macro-recall, auc, average-precision for metric of one label"),
        (parts(label_sets(9, 1), dataset("multi", (["a"],), [()])), "metric macro-f1 does without"),
        (parts(TRAIN, DEV, seconds=0), "expected a number above 0 for seconds, got 0"),
        (parts(TRAIN, DEV, schedule={"epoch": 2}), "a field of schedule"),
        (parts(TRAIN, DEV, schedule={"epochs": 0}), "expected a whole number from 1 for schedule.epochs, got 0"),
        (parts(TRAIN, DEV, seed=-1), "expected a whole number from 0 for seed, got -1"),
        (parts(TRAIN, DEV, max_length=2), "expected a whole number from 3 for max_length, got 2"),
        (parts(TRAIN, DEV, max_length=99), "expected 4 to 48 for max_length"),
        (parts(TRAIN, DEV, labels=("a", "b")), "expected a start model with a head, whose labels a, b name, got"),
        (parts(TRAIN, DEV, device="nowhere"), "expected a device of this machine, got 'nowhere'"),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_is_said_at_once(given: Any, said: str, start: Path, tmp_path: Path) -> None:
    train, dev, options = given
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        tuned(start, tmp_path / "out", train, dev, **options)
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()


BASE = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 50,
    "initializer_range": 0.1,
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    "DistilBert": {
        "dim": 32,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 48,
        "max_position_embeddings": 48,
        "dropout": 0.0,
    },
    "Electra": {**BASE, "embedding_size": 32},
    "Albert": {**BASE, "embedding_size": 16},
    "DebertaV2": BASE,
    "Roberta": {**BASE, "pad_token_id": 1},
    "GPT2": {"n_positions": 48, "n_embd": 32, "n_layer": 2, "n_head": 4, "bos_token_id": 2, "eos_token_id": 3},
    "XLNet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_architectures(name: str, tmp_path: Path) -> None:
    """Heads of several layers, no pooler, padding on the left, no padding at all, bytes as pieces."""
    folder = tmp_path / "start"
    size = save_bytes(folder) if name == "Roberta" else len(hf.AutoTokenizer.from_pretrained(save_start(folder)))
    with quiet(), torch.random.fork_rng([]):
        torch.manual_seed(0)
        getattr(hf, f"{name}Model")(getattr(hf, f"{name}Config")(vocab_size=size, **OTHERS[name])).save_pretrained(
            folder
        )
    if name == "XLNet":
        hf.AutoTokenizer.from_pretrained(folder, padding_side="left").save_pretrained(folder)
    for make in (sentences, tagged):
        out = tmp_path / make.__name__
        metrics = tuned(folder, out, make(200, 1), dev := make(40, 2), schedule=replace(SCHEDULE, epochs=6))
        said = load(out, dev.task, device="cpu")(*dev.columns).answers
        number = {label: at for at, label in enumerate(metrics["labels"])}
        if dev.task == "single":
            right = np.mean([at == number[due] for at, due in zip(said.argmax(1), dev.targets, strict=True)])
        else:
            pairs_of_tags = zip(np.concatenate(list(said)), sum(dev.targets, ()), strict=True)
            right = np.mean([at == number[due] for at, due in pairs_of_tags])
        assert right == pytest.approx(metrics["dev"][metrics["metric"]])  # the victim sees what the trainer saw
        losses = [epoch["loss"] for epoch in metrics["epochs"]]
        assert min(losses) < losses[0]


def test_models_that_cannot(start: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected another folder for out than that of the start model"):
        tuned(start, start)
    with pytest.raises(ValueError, match="expected the folder or the id of a Hugging Face model, got"):
        tuned(tmp_path / "no where", tmp_path / "out")
    speech = save_start(tmp_path / "speech")
    hf.CLIPTextModel(
        hf.CLIPTextConfig(vocab_size=81, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    ).save_pretrained(speech)
    with pytest.raises(ValueError, match="expected an encoder that can get a head for sequence classification, got"):
        tuned(speech, tmp_path / "out")


def test_without_the_extra_its_command_is_said(start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingResource, match=re.escape("got none: pip install 'scuff[training]'")):
        tuned(start, tmp_path / "out")


def test_the_doors_are_light() -> None:
    """`import scuff` loads nothing of this room, and the doors of it load neither torch nor transformers."""
    check = (
        "import sys, scuff; assert not [name for name in sys.modules if name.startswith('scuff.training')];"
        "import scuff.training.trainer, scuff.training.pretraining; assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_data_may_be_files_and_lists(start: Path, tmp_path: Path) -> None:
    rows = list(zip(TRAIN.columns[0], TRAIN.targets, strict=True))
    file = tmp_path / "train.jsonl"
    file.write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows), encoding="utf-8"
    )
    options = {"schedule": replace(ONE, batch_tokens=4096), "device": "cpu"}
    metrics = fine_tune(start, file, rows[:20], tmp_path / "out", **options)
    assert metrics["examples"] == 120 and metrics["labels"] == ["negative", "positive"]
    assert fine_tune(start, "toy:tone", "toy:tone", tmp_path / "toy", seconds=0.01, **options)["examples"] == 4000


@pytest.mark.slow
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    save_start(tmp_path / "encoder")
    for name, data in (("train", sentences(60, 1)), ("dev", sentences(20, 2))):
        rows = zip(data.columns[0], data.targets, strict=True)
        lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "train.md").read_text(encoding="utf-8")
    known: dict[str, Any] = {}
    for block in re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "train.md", "exec"), known)
    assert set(known["metrics"]["dev"]) == {
        "epoch", "loss", "accuracy", "macro-f1", "macro-recall", "auc", "average-precision",
    }  # fmt: skip
    assert len(known["scores"]) == len(known["metrics"]["epochs"]) and (tmp_path / "tuned" / "metrics.json").is_file()
    assert list(known["steps"].columns) == ["loss", "rate"]


def test_the_usual_rate_follows_the_width() -> None:
    assert usual_schedule(768).rate == pytest.approx(5e-5) and usual_schedule(384).rate == pytest.approx(1e-4)
    assert settled({"epochs": 2}, usual_schedule(384)) == replace(usual_schedule(384), epochs=2)
    assert settled(None, SCHEDULE) == SCHEDULE == settled(SCHEDULE, ONE)
    assert set(trainer.METRIC) == {"single", "multi", "tokens"}
