"""Encoders with a head for classification or tagging: opening the start model, losses, and scores of the dev part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch.nn import functional as F

from ..data.dataset import TASK_WORDS, Dataset, Task, align
from ..huggingface.loading import BadModel, ensure_padding, find_source, place
from ..metrics import METRICS
from ..specs import some
from ..text.ragged import Ints
from ..victims.base import as_objects, sigmoid, softmax
from ..victims.huggingface import CLASSIFIERS, HEADS, label_names, longest
from .batching import Cutter, Row, token_batches
from .feeds import Feed
from .loop import Epoch, Inputs
from .networks import IGNORED, Network, check_encoder, opening
from .schedule import Schedule


@dataclass(eq=False)
class Classifier(Network):
    """A network with a head. labels: in the order of the head. number: of each label of the data in the head."""

    task: Task
    labels: tuple[str, ...]
    number: dict[str, int]


def open_start(
    start: str | Path, data: Dataset, *, seed: int, device: str, labels: Sequence[str] | None, new_head: bool,
    max_length: int | None, freeze_embeddings: bool,
) -> Classifier:  # fmt: skip
    """Opens an encoder and puts a head on it, or a model that has one. Raises BadModel if there is no such head for it."""
    where, source = place(device), find_source(str(start))
    head, purpose = HEADS[data.task]
    with opening(start, where, seed, f"an encoder that can get a head for {purpose}"):
        config = transformers.AutoConfig.from_pretrained(source)
        if not new_head:
            _check_kind(config, data.task, str(start))
        tokenizer = _tokenizer(source, data.task, str(start))
        model, new = _with_head(getattr(transformers, f"AutoModelFor{head}"), source, config, data, start, new_head)
    if new and labels is not None:
        raise BadModel(f"expected a start model with a head, whose labels {some(labels)} name, got {start} without")
    names = data.labels if new else label_names(model, model.config.num_labels, labels, str(start))
    number = dict(zip(names, range(len(names)), strict=True)) if new else _matched(data, names, model)
    names = names or tuple(str(at) for at in range(model.config.num_labels))
    model.config.id2label, model.config.label2id = dict(enumerate(names)), {name: at for at, name in enumerate(names)}
    model.config.problem_type = PROBLEMS.get(data.task)
    limit = longest(model, tokenizer, max_length, str(start))
    tokenizer.model_max_length = limit
    ensure_padding(model, tokenizer)
    if freeze_embeddings:
        model.get_input_embeddings().weight.requires_grad_(False)
    return Classifier(source, model.to(where), tokenizer, limit, where, data.task, names, number)


def _tokenizer(source: str, task: Task, name: str) -> Any:
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    if task == "tokens":
        # byte-level models learnt words with a space before them
        if getattr(tokenizer, "add_prefix_space", None) is False:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, add_prefix_space=True)
        if not tokenizer.is_fast:
            raise BadModel(f"expected a fast tokenizer for a tag per token, got {type(tokenizer).__name__} from {name}")
    return tokenizer


PROBLEMS: dict[Task, str] = {"single": "single_label_classification", "multi": "multi_label_classification"}


def _check_kind(config: Any, task: Task, name: str) -> None:
    """Raises BadModel for a model with a head of another kind, which would load as if it were of this kind."""
    other = "new_head=True gives it another head"
    for said in config.architectures or []:
        if said.endswith(CLASSIFIERS) and HEADS[task][0] not in said:
            raise BadModel(
                f"expected an encoder or a model for {HEADS[task][1]} for start, got {name}, a {said}; {other}"
            )
    said = getattr(config, "problem_type", None)
    if said in PROBLEMS.values() and said != PROBLEMS.get(task):
        raise BadModel(
            f"expected an encoder or a model for {TASK_WORDS[task]} for start, got {name}, trained for {said}; {other}"
        )


def _with_head(build: Any, source: str, config: Any, data: Dataset, start: Any, new_head: bool) -> tuple[Any, bool]:
    """The network, and whether its head is new."""
    model, info = build.from_pretrained(source, config=config, dtype=torch.float32, output_loading_info=True)
    check_encoder(model, info["missing_keys"], start)
    if not new_head and all(key.startswith(f"{model.base_model_prefix}.") for key in info["missing_keys"]):
        return model, False
    config.num_labels = len(data.labels)
    fresh = build.from_config(config, dtype=torch.float32)
    fresh.base_model.load_state_dict(model.base_model.state_dict())
    return fresh, True


def _matched(data: Dataset, names: tuple[str, ...], model: Any) -> dict[str, int]:
    """The number of each label of the data in a head that the start model has already."""
    known = names or tuple(str(at) for at in range(model.config.num_labels))
    try:
        return align(data.labels, known, {})
    except ValueError:
        raise BadModel(
            f"expected labels that the start model knows ({some(names) or 'it names none'}), got {some(data.labels)} in the "
            "data: labels=[...] names the model's in its order, new_head=True trains a new head"
        ) from None


class Classification:
    """Labels of texts and pairs, label sets, or tags of tokens: the tag of a token is learnt at its first piece."""

    def __init__(
        self, opened: Classifier, feed: Feed, dev: Dataset, schedule: Schedule, metric: str, seed: int
    ) -> None:
        self.opened, self.feed, self.schedule, self.metric, self.seed = opened, feed, schedule, metric, seed
        self.task = opened.task
        self.cutter = Cutter(opened.tokenizer, opened.max_length, words=self.task == "tokens")
        self.dev = EncodedExamples(self, Cutter(opened.tokenizer, opened.max_length, words=self.task == "tokens"), dev)
        # labels of the start model that the data does not have are neither learnt nor unlearnt
        columns = sorted(set(opened.number.values()))
        self.columns = None if len(columns) == len(opened.labels) else columns
        self._last: tuple[Dataset, EncodedExamples] | None = None

    def epoch(self, number: int, step: int) -> Epoch:
        data = self.feed.epoch(number)
        if not len(data):
            raise ValueError(f"expected examples in epoch {number + 1} of the feed, got none")
        if self._last is None or self._last[0] is not data:
            self._last = data, EncodedExamples(self, self.cutter, data)
        examples = self._last[1]
        chance = np.random.default_rng([self.seed, 0, number])
        batches = token_batches(examples.length, self.schedule.batch_tokens, chance)
        return Epoch(batches, max(1, examples.targets_count) / len(batches), lambda rows: examples.take(rows, step))

    def loss(self, model: Any, inputs: Inputs) -> Any:
        target = inputs.pop("target")
        return self.sums(model(**inputs).logits.float(), target, self.schedule.smoothing)

    def sums(self, logits: Any, target: Any, smoothing: float) -> Any:
        """The sum of losses: of examples or tags; of label sets the mean over labels."""
        if self.task == "multi":
            if self.columns is not None:
                logits, target = logits[:, self.columns], target[:, self.columns]
            target = target * (1 - smoothing) + smoothing / 2
            return F.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(1).sum()
        if self.task == "tokens":
            logits, target = logits.flatten(0, 1), target.flatten()
        return F.cross_entropy(logits, target, ignore_index=IGNORED, reduction="sum", label_smoothing=smoothing)

    def measure(self, model: Any, run: Callable[[dict[str, Any]], Inputs], step: int) -> dict[str, float]:
        dev, total, found = self.dev, 0.0, []
        batches = token_batches(dev.length, 4 * self.schedule.batch_tokens)
        for rows in batches:
            inputs = run(dev.take(rows, step))
            target, mask = inputs.pop("target"), inputs["attention_mask"]
            logits = model(**inputs).logits.float()
            total += float(self.sums(logits, target, 0.0))
            if self.task == "tokens":
                found += [
                    tags[keep]
                    for tags, keep in zip(logits.argmax(-1).cpu().numpy(), mask.bool().cpu().numpy(), strict=True)
                ]
            else:
                found += list(logits.cpu().numpy())
        order = np.concatenate(batches)
        answers = [found[at] for at in np.argsort(order, kind="stable").tolist()]
        return {"loss": total / max(1, dev.targets_count), **self._scores(answers)}

    def _scores(self, answers: list[Any]) -> dict[str, float]:
        """The metrics of the task on the dev part; those that are not defined there are left out."""
        labels, targets = self.opened.labels, self.dev.targets
        given: dict[bool, Any] = {}
        if self.task == "tokens":
            given[False] = as_objects([self.dev.tags(row, tags) for row, tags in enumerate(answers)])
            targets = as_objects(targets)
        elif self.task == "single":
            given[True] = softmax(np.stack(answers))
            given[False] = given[True].argmax(1)
        else:
            given[True] = sigmoid(np.stack(answers))
            given[False], targets = given[True] >= 0.5, targets > 0.5
        kinds = [kind for kind in METRICS.values() if self.task in kind.tasks]
        found = {kind.name: kind()(given[kind.needs_scores], targets, labels) for kind in kinds}
        return {name: float(value) for name, value in found.items() if np.isfinite(value)}


class EncodedExamples:
    """A data set in pieces, with the numbers of its targets."""

    def __init__(self, task: Classification, cutter: Cutter, data: Dataset) -> None:
        opened = task.opened
        self.task, self.rows = task, cutter(data.columns)
        self.length: Ints = np.fromiter((len(row["input_ids"]) for row in self.rows), np.int64, len(self.rows))
        self.targets = number_targets(data, opened.number, len(opened.labels))
        self.targets_count = len(data)
        if task.task == "tokens":
            self.rows = [self._tagged(row, tags) for row, tags in zip(self.rows, self.targets, strict=True)]
            self.targets_count = sum(int((row["target"] != IGNORED).sum()) for row in self.rows)

    def _tagged(self, row: Row, tags: Ints) -> Row:
        target = np.full(len(row["word"]), IGNORED, np.int64)
        first = first_pieces(row["word"])
        target[first] = tags[row["word"][first]]
        return {**row, "target": target}

    def tags(self, row: int, found: Ints) -> Ints:
        """The tags of tokens from those of all pieces; a token without a piece has -1."""
        word = self.rows[row]["word"]
        first = first_pieces(word)
        out = np.full(len(self.targets[row]), -1, np.int64)
        out[word[first]] = found[first]
        return out

    def take(self, rows: Ints, step: int) -> dict[str, Any]:
        opened = self.task.opened
        arrays = opened.batch([self.rows[at] for at in rows.tolist()], self.length[rows], step)
        return arrays if opened.task == "tokens" else {**arrays, "target": self.targets[rows]}


def first_pieces(word: Ints) -> Ints:
    """Where the first piece of each token is; word: the token of each piece, -1 for none."""
    return np.flatnonzero((word >= 0) & (np.diff(word, prepend=-1) != 0))


def number_targets(data: Dataset, number: dict[str, int], count: int) -> Any:
    """Targets as numbers of labels int[n], as sets float[n, count], or as a list of arrays of tags."""
    if data.task == "single":
        return np.array([number[str(target)] for target in data.targets], np.int64)
    if data.task == "tokens":
        return [np.array([number[tag] for tag in tags], np.int64) for tags in data.targets]
    sets = np.zeros((len(data), count), np.float32)
    for row, names in enumerate(data.targets):
        sets[row, [number[name] for name in names]] = 1
    return sets
