"""Training on attacks, with a tiny real model: it withstands what it was trained on; killed and resumed, the same bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from scuff.attacks.attack import Attack
from scuff.data.reading import read_dataset
from scuff.huggingface.loading import quiet
from scuff.metrics import MacroF1
from scuff.metrics.interval import resamples
from scuff.runs.folder import BadRun, Folder
from scuff.training import attack_training
from scuff.training.attack_training import train_on_attacks
from scuff.training.checkpoints import BadFolder
from scuff.training.robustness import compare_models
from scuff.training.schedule import Schedule
from scuff.training.trainer import fine_tune
from scuff.training.walks import Harvest
from scuff.victims.huggingface import load
from scuff.victims.query import Query

from .toys import label_sets, pairs, save_start, sentences, tagged

FAST = Schedule(rate=1e-2, epochs=4, batch_tokens=512, smoothing=0.0, patience=9)
SLOWER = Schedule(rate=4e-3, batch_tokens=512, smoothing=0.0, patience=9)
SWAPS = Attack.of("swaps", "none", "untargeted", ["typo(operations='swap', layout='any')"], "delete")
DROPS = Attack.of("drops", "none", "untargeted", ["typo(operations='delete', layout='any')"], "delete")
USUAL: dict[str, Any] = {"schedule": SLOWER, "device": "cpu", "encoder": "chrf"}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A classifier that is nearly always right about clean texts."""
    folder = tmp_path_factory.mktemp("start")
    start = save_start(folder / "encoder")
    metrics = fine_tune(
        start, sentences(300, 0), sentences(60, 1), folder / "model", schedule=FAST, device="cpu", seed=0
    )
    assert metrics["dev"]["accuracy"] > 0.9
    return str(folder / "model")


@pytest.mark.slow
def test_the_model_withstands_what_it_was_trained_on(classifier: str, tmp_path: Path) -> None:
    """As in ToxicTrap the attacker wants one of two labels: that of texts whose words the model does not know."""
    before = load(classifier, "single", device="cpu")
    benign = before.labels[int(before(["zq qx xz"]).answers.argmax())]
    swaps, drops = (
        Attack.of(
            f"{kind}s", "none", f"toxictrap(benign='{benign}')", [f"typo(operations='{kind}', layout='any')"], "delete"
        )
        for kind in ("swap", "delete")
    )
    train, dev, test = sentences(300, 0), sentences(60, 1), sentences(80, 2)
    seen, said = list[Harvest](), list[str]()
    options: dict[str, Any] = {"recipes": swaps, "gamma": 0.2, "unseen": [drops], "test": test, "attacked": 30, **USUAL}
    metrics = train_on_attacks(classifier, train, dev, tmp_path / "out", say=said.append, show=seen.append, **options)
    assert metrics == json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["before"] == classifier and metrics["adversarial"] == 60 == metrics["counts"][0]["swaps"]["found"]
    examples = read_dataset(tmp_path / "out" / "adversarial.jsonl")
    after = load(metrics["model"], "single", device="cpu")
    assert after.labels == before.labels == ("negative", "positive") and set(examples.targets) == {*before.labels} - {
        benign
    }

    def right(victim: Any) -> float:
        answers = Query(victim)(*examples.columns).answers.argmax(1)
        return float(np.mean([victim.labels[at] == label for at, label in zip(answers, examples.targets, strict=True)]))

    assert right(before) == 0 and right(after) > 0.8
    robust = metrics["robustness"]
    for name, trained_on in (("swaps", True), ("deletes", False)):
        found = robust["attacks"][name]
        assert found["seen"] == trained_on and found["attacked"][0] == 30
        assert found["success"]["before"] > 0.5 and found["success"]["interval"][1] < 0, "fewer succeed, surely"
        assert found["success"]["difference"] == pytest.approx(
            found["success"]["after"] - found["success"]["before"], abs=2e-6
        )
        lines = [
            [line["id"] for line in Folder(tmp_path / "out" / "robustness" / side / name).attack_results()]
            for side in ("before", "after")
        ]
        assert lines[0] == lines[1], "both models are attacked on the same examples"
    assert robust["scores"].keys() == {"accuracy", "auc", "average-precision", "macro-f1", "macro-recall"}
    assert any(line.startswith("attack  deletes (unseen): success ") for line in said) and seen[-1].found == 60
    options["show"] = lambda harvest: pytest.fail("attacked again")
    assert train_on_attacks(classifier, train, dev, tmp_path / "out", **options) == metrics
    with pytest.raises(BadFolder, match="expected the training that began there, got another gamma"):
        train_on_attacks(classifier, train, dev, tmp_path / "out", **{**options, "gamma": 0.3})


class Killed(BaseException):
    pass


@pytest.mark.slow
def test_killed_and_resumed_ends_with_the_same_bytes(
    classifier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rounds; killed while texts are attacked, and again before the last training."""
    start, train, dev = classifier, sentences(60, 0), sentences(20, 1)
    options: dict[str, Any] = {
        "recipes": [SWAPS, DROPS],
        "gamma": 0.1,
        "clean_epochs": 1,
        "adversarial_epochs": 1,
        "rounds": 2,
    }
    whole = train_on_attacks(start, train, dev, tmp_path / "whole", **options, **USUAL)
    assert list(whole["phases"]) == ["clean", "round-1", "round-2"] and len(whole["counts"]) == 2
    lines = (tmp_path / "whole" / "adversarial.jsonl").read_text(encoding="utf-8").splitlines()
    rounds = [json.loads(line)["round"] for line in lines]
    assert (
        rounds == sorted(rounds)
        and set(rounds) == {1, 2}
        and len({json.loads(line)["text"] for line in lines}) == len(lines)
    )

    def kill(harvest: Harvest) -> None:
        if harvest.found > 5:
            raise Killed

    with pytest.raises(Killed):
        train_on_attacks(start, train, dev, tmp_path / "killed", show=kill, **options, **USUAL)
    tune, calls = attack_training.fine_tune, list[Any]()

    def killing(*given: Any, **keywords: Any) -> Any:
        calls.append(given)
        if len(calls) == 3:
            raise Killed
        return tune(*given, **keywords)

    monkeypatch.setattr(attack_training, "fine_tune", killing)
    with pytest.raises(Killed):
        train_on_attacks(start, train, dev, tmp_path / "killed", **options, **USUAL)
    monkeypatch.undo()
    train_on_attacks(start, train, dev, tmp_path / "killed", **options, **USUAL)
    for name in ("model/model.safetensors", "clean/model.safetensors", "adversarial.jsonl"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def save_random(folder: Path, kind: str, labels: Sequence[str]) -> Path:
    """A model with weights so large that its answers differ widely."""
    names = dict(enumerate(labels))
    save_start(folder, kind, num_labels=len(names), id2label=names, label2id={name: at for at, name in names.items()})
    with quiet(), torch.no_grad():
        model = getattr(transformers, kind).from_pretrained(folder)
        for name, weight in model.named_parameters():
            weight.mul_(1 if "LayerNorm" in name else 6)
        model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("make", "kind", "options"),
    [
        (label_sets, "Sequence", {"recipes": Attack.of("hide", "none", "toxictrap", ["typo"], "delete")}),
        pytest.param(pairs, "Sequence", {"recipes": SWAPS, "side": "second"}, marks=pytest.mark.slow),
        pytest.param(
            tagged, "Token", {"recipes": DROPS, "goal": "tags(share=0.9)", "search": "best-of"}, marks=pytest.mark.slow
        ),
    ],
    ids=["label sets", "pairs", "tags"],
)
def test_every_task(make: Any, kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    """The model has random weights: right about some texts, and wrong as soon as they change."""
    train, dev = make(60, 0), make(20, 5)
    start = save_random(tmp_path / "start", f"BertFor{kind}Classification", train.labels)
    metrics = train_on_attacks(
        start,
        train,
        dev,
        tmp_path / "out",
        gamma=0.05,
        adversarial_epochs=1,
        test=make(30, 7),
        attacked=5,
        **options,
        **USUAL,
    )
    made = read_dataset(tmp_path / "out" / "adversarial.jsonl")
    assert metrics["adversarial"] == len(made) == 3 and made.task == train.task
    by_id = dict(zip(train.ids, train.targets, strict=True))
    lines = [
        json.loads(line) for line in (tmp_path / "out" / "adversarial.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert all(
        by_id[line["source"]] == (tuple(line["label"]) if isinstance(line["label"], list) else line["label"])
        for line in lines
    )
    assert load(metrics["model"], train.task, device="cpu").labels == train.labels
    assert metrics["robustness"]["scores"] and metrics["robustness"]["attacks"]


def test_before_and_after_are_paired(classifier: str) -> None:
    """The slow twin: macro F1 of the drawn examples, for every resample, of both models."""
    test = sentences(50, 3)

    def guess(texts: list[str]) -> list[str]:
        return ["positive" if len(text) % 3 else "negative" for text in texts]

    found = compare_models(guess, classifier, test, labels=["negative", "positive"], options={})
    assert found.keys() == {"accuracy", "macro-f1", "macro-recall"}, "the first gives no scores"
    labels = ("negative", "positive")
    targets = np.array([labels.index(str(target)) for target in test.targets])
    one = np.array([labels.index(label) for label in guess(list(map(str, test.columns[0])))])
    other = Query(load(classifier, "single", device="cpu"))(*test.columns).answers.argmax(1)
    gaps = [
        MacroF1()(other[rows], targets[rows], labels) - MacroF1()(one[rows], targets[rows], labels)
        for rows in (np.repeat(np.arange(50), draw.astype(int)) for draw in resamples(50, 0))
    ]
    assert found["macro-f1"]["interval"] == pytest.approx(np.quantile(gaps, [0.025, 0.975]).tolist(), abs=1e-6)
    assert found["macro-f1"]["before"] == pytest.approx(MacroF1()(one, targets, labels), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipes": "deepwordbag"}, "did you mean deepwordbug"),
        ({"recipes": "tt-deepwordbug"}, "expected the label that means benign"),
        ({"recipes": SWAPS, "unseen": [SWAPS]}, "expected recipes that are not trained on for unseen, got swaps"),
        ({"recipes": SWAPS, "adversarial_epochs": 0}, "expected .* for adversarial_epochs, got 0"),
        ({"recipes": SWAPS, "clean_epochs": 0}, "expected a model fine-tuned for .*, got "),
    ],
)
def test_what_does_not_fit_stops_before_anything_is_trained(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    start = save_start(tmp_path / "start")
    with pytest.raises(ValueError, match=message):
        train_on_attacks(start, sentences(30, 0), sentences(9, 1), tmp_path / "out", **options, **USUAL)
    assert not (tmp_path / "out").exists()


def test_a_model_that_withstands_everything_is_not_trained(classifier: str, tmp_path: Path) -> None:
    nothing = Attack.of("nothing", "none", "untargeted", ["typo"], "delete", ["changed(share=0.0, floor=0)"])
    with pytest.raises(BadRun, match="expected adversarial examples, got none: it withstood nothing"):
        train_on_attacks(classifier, sentences(40, 0), sentences(9, 1), tmp_path / "out", recipes=nothing, **USUAL)
