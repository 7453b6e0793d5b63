"""Fine-tunes Hugging Face encoders: one label, label sets, pairs of texts, a tag per token. `fine_tune` is the door.

fp32 on a CPU, bf16 (weights in fp32) on a GPU. Batches are of texts of like lengths, padded to the longest of the batch, never to
the maximum. It needs little memory and no worker processes, so that many trainings run side by side on one GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from ..data.dataset import TASK_WORDS, Dataset
from ..data.reading import read_dataset
from ..data.toy import is_toy, toy_dataset
from ..metrics import METRICS, parse_metric
from ..resources import MissingResource
from ..specs import check_count, check_positive, some
from .feeds import Clean, Feed
from .schedule import Schedule, settled

METRIC = {
    "single": "accuracy",
    "multi": "auc",
    "tokens": "token-accuracy",
}  # of the dev part, unless the user names another
CHECKPOINT_SECONDS = 120.0
RATE, WIDTH = 5e-5, 768  # BERT-base's usual rate and its width: narrower networks take larger steps


def usual_schedule(width: int) -> Schedule:
    """For an encoder with vectors of so many numbers."""
    return Schedule(rate=RATE * WIDTH / width, epochs=4, batch_tokens=1024, smoothing=0.0, patience=2)


def fine_tune(
    start: str | Path,
    feed: Any,
    dev: Any,
    out: str | Path,
    *,
    schedule: Schedule | Mapping[str, Any] | None = None,
    device: str = "auto",
    seed: int = 0,
    seconds: float | None = None,
    keep: bool = False,
    show: Callable[[dict[str, Any]], None] | None = None,
    metric: str | None = None,
    labels: Sequence[str] | None = None,
    new_head: bool = False,
    max_length: int | None = None,
    freeze_embeddings: bool = False,
    checkpoint_seconds: float | None = CHECKPOINT_SECONDS,
) -> dict[str, Any]:
    """Trains a classifier or a tagger and writes it as a Hugging Face folder; returns metrics.json, the last of its files.

    start: folder or id of an encoder, which gets a new head with the labels of the data, or of a classifier or tagger, whose
    labels stay and are matched by name. feed: the examples of each epoch, or data, which is the same in all. dev: chooses the
    best epoch, whose weights are kept. Data is all that `read_dataset` reads: a file, a DataFrame, a list.

    schedule: a whole one, or what differs from the default, as {"epochs": 2}. Default: 4 epochs of batches of 1,024 tokens, and
    a rate of 5e-5 for vectors of 768 numbers, higher for narrower networks. Training ends when the dev part has become no better
    for `patience` epochs. device: auto, cpu, cuda, cuda:1, mps.
    seconds: a limit of training; the rate is 0 by then. keep: the last checkpoint stays. show: called with each line of
    log.jsonl: step, epoch, progress (0 to 1), seconds, and loss and rate, or the scores of the dev part. metric: accuracy,
    macro-f1 or auc (default: accuracy for one label, auc for label sets), token-accuracy for tags. labels: names of start's
    labels in its order, instead of its own. new_head: on a start that has one, too. max_length: pieces of a text that are seen,
    also later. freeze_embeddings: the vectors of pieces stay as they are. checkpoint_seconds: between checkpoints, which are
    also written after epochs, unless that would take a tenth of the time; None: never.

    Called again with the same arguments, it goes on from the last checkpoint, or returns the metrics if it was finished. Same
    seed, same bytes on the same CPU with as many threads, killed or not; on a GPU sums are made in changing orders, so the last
    bits may differ. Raises ValueError before anything is trained if data, options or model do not fit.
    """
    began = time.perf_counter()
    feed = cast(Feed, feed) if callable(getattr(feed, "epoch", None)) else Clean(_read(feed, "train"))
    dev = _read(dev, "test")
    metric = check_data(feed.data, dev, metric)
    check_count(seed, 0, "seed")
    check_limits(seconds, checkpoint_seconds, max_length)
    check_libraries()
    check_folder(start, out)
    from .checkpoints import Checkpoints
    from .heads import Classification, open_start
    from .loop import train

    opened = open_start(
        start, feed.data, seed=seed, device=device, labels=labels, new_head=new_head, max_length=max_length,
        freeze_embeddings=freeze_embeddings,
    )  # fmt: skip
    schedule = settled(schedule, usual_schedule(opened.width))
    settings = {
        "start": opened.identity, "feed": feed.identity, "dev": dev.digest,
        "task": dev.task, "labels": list(opened.labels), "schedule": asdict(schedule), "seed": seed, "seconds": seconds,
        "metric": metric, "max_length": opened.max_length, "freeze_embeddings": freeze_embeddings, "new_head": new_head,
        "device": opened.device.type,
    }  # fmt: skip
    return train(
        opened, lambda: Classification(opened, feed, dev, schedule, metric, seed), schedule,
        Checkpoints(out, settings, checkpoint_seconds, keep),
        {"start": str(start), "examples": len(feed.data), "labels": list(opened.labels)},
        seed=seed, seconds=seconds, show=show, began=began,
    )  # fmt: skip


def _read(data: Any, split: str) -> Dataset:
    """split: of embedded data."""
    return toy_dataset(str(data), split) if is_toy(data) else read_dataset(data)


# ---- the pre-flight ----


def check_libraries() -> None:
    """Raises MissingResource if torch or transformers are missing."""
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingResource("expected torch and transformers, got none: pip install 'scuff[training]'") from None
    assert torch and transformers


def check_limits(seconds: float | None, checkpoint_seconds: float | None, max_length: int | None) -> None:
    """Raises ValueError if one is no limit."""
    if max_length is not None:
        check_count(max_length, 3, "max_length")
    if seconds is not None:
        check_positive(seconds, "seconds")
    if checkpoint_seconds is not None:
        check_positive(checkpoint_seconds, "checkpoint_seconds", zero=True)


def check_folder(start: str | Path, out: str | Path) -> None:
    """Raises ValueError if the start model would be overwritten."""
    if Path(out).resolve() == Path(start).expanduser().resolve():
        raise ValueError(f"expected another folder for out than that of the start model, got {out}")


def check_data(train: Dataset, dev: Dataset, metric: str | None) -> str:
    """Returns the name of the metric. Raises ValueError if nothing can be learnt from the data, or not chosen by the dev part."""
    for data, part in ((train, "train"), (dev, "dev")):
        if data.task not in METRIC:
            words = f"{TASK_WORDS['single']}, {TASK_WORDS['multi']} or {TASK_WORDS['tokens']}"
            raise ValueError(
                f"expected data with {words} to fine-tune on, got {TASK_WORDS[data.task]} in the {part} part: "
                "train_translator trains translators"
            )
        if not len(data):
            raise ValueError(f"expected examples in the {part} part, got none")
        _check_columns(data, part)
        _check_targets(data, part)
    if train.task != dev.task:
        got = f"{TASK_WORDS[train.task]} in train and {TASK_WORDS[dev.task]} in dev"
        raise ValueError(f"expected the same task in both parts, got {got}")
    if len(train.columns) != len(dev.columns):
        raise ValueError(
            f"expected as many columns of texts in dev as in train ({len(train.columns)}), got {len(dev.columns)}"
        )
    seen = _occurring(train)
    if train.task != "multi" and len(seen) < 2:
        raise ValueError(f"expected two or more labels in the train part, got one: {some(seen)}")
    if not seen:
        raise ValueError("expected labels in the train part, got empty sets only")
    if lost := [label for label in _occurring(dev) if label not in train.labels]:
        raise ValueError(f"expected labels of the train part ({some(train.labels)}) in the dev part, got {some(lost)}")
    return _check_metric(metric, dev)


def _check_columns(data: Dataset, part: str) -> None:
    most = 1 if data.task == "tokens" else 2
    if not 1 <= len(data.columns) <= most:
        wanted = "one column of texts" if most == 1 else "one or two columns of texts"
        raise ValueError(f"expected {wanted} for {TASK_WORDS[data.task]} in the {part} part, got {some(data.fields)}")
    for name, column in zip(data.fields, data.columns, strict=True):
        if any(isinstance(text, str) == (data.task == "tokens") for text in column):
            kinds = ("texts", "texts in tokens")
            tokens = data.task == "tokens"
            raise ValueError(f"expected {kinds[tokens]} in column {name!r} of the {part} part, got {kinds[not tokens]}")


def _check_targets(data: Dataset, part: str) -> None:
    single = data.task == "single"
    for at, target in enumerate(data.targets):
        if isinstance(target, str) != single or (not target if single else "" in target):
            wanted = f"{TASK_WORDS[data.task]} for every example of the {part} part"
            raise ValueError(f"expected {wanted}, got none for {data.ids[at]}")
        if data.task == "tokens" and len(target) != len(data.columns[0][at]):
            tokens = len(data.columns[0][at])
            raise ValueError(f"expected {tokens} tags for {data.ids[at]} in the {part} part, got {len(target)}")


def _occurring(data: Dataset) -> list[str]:
    """The labels that an example has, in the order of the data's labels."""
    found: set[str] = set()
    for target in data.targets:
        found |= {target} if isinstance(target, str) else set(target)
    return [label for label in data.labels if label in found] + sorted(found - set(data.labels))


def _check_metric(given: str | None, dev: Dataset) -> str:
    """Returns the name of a metric. Raises ValueError if it is not for this task, or cannot be computed on the dev part."""
    name = parse_metric(given).name if given is not None else METRIC[dev.task]
    fit = [each for each, kind in METRICS.items() if dev.task in kind.tasks]
    if name not in fit:
        raise ValueError(f"expected one of {', '.join(fit)} for metric of {TASK_WORDS[dev.task]}, got {given!r}")
    if name == "auc":
        has = [
            sum(target == label or (dev.task == "multi" and label in target) for target in dev.targets)
            for label in dev.labels
        ]
        if not any(0 < count < len(dev) for count in has):
            raise ValueError(
                "expected a label that some examples of the dev part have and others lack for metric auc, got none; "
                "metric macro-f1 does without"
            )
    return name
