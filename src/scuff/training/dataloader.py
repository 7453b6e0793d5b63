"""What the DataLoader of torch needs: a feed as a data set, and a collator that perturbs, if wanted, tokenises and pads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch

from ..data.columns import label_columns, text_columns
from ..data.dataset import Dataset, Target
from ..data.formats.base import Record
from ..data.formats.streams import BadInput
from .feeds import Feed
from .networks import IGNORED
from .perturber import Perturber


class Examples:
    """A feed as a data set for the DataLoader of torch: rows are dicts of the texts, under the names of their columns, and the
    label.

    The label is a number in `feed.data.labels`; of label sets a list of 0.0 and 1.0 per label, of tags a list of numbers; of task
    text, where there are no labels, the text itself. After `set_epoch(n)`, which the Trainer of Hugging Face calls by itself, the
    texts of epoch n are made, all at once; worker processes that outlive an epoch hear of it, too.
    """

    def __init__(self, feed: Feed, label: str = "label") -> None:
        self.feed, self.label = feed, label
        self._epoch = torch.tensor(0).share_memory_()
        self._made: tuple[int, Dataset] | None = None

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch whose examples are read."""
        self._epoch.fill_(epoch)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, at: int) -> Record:
        data = self._data
        texts = (list(column[at]) if isinstance(column[at], tuple) else column[at] for column in data.columns)
        return {**dict(zip(data.fields, texts, strict=True)), self.label: self._number_of(data.targets[at])}

    @property
    def _data(self) -> Dataset:
        number = int(self._epoch)
        if self._made is None or self._made[0] != number:
            self._made = number, self.feed.epoch(number)
        return self._made[1]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.feed.data.labels)}

    def _number_of(self, target: Target) -> Any:
        task = self.feed.data.task
        if task == "text":
            return target
        if task == "single":
            return self._numbers[str(target)]
        if task == "tokens":
            return [self._numbers[tag] for tag in target]
        return [float(name in target) for name in self._numbers]


class Collator:
    """Makes a batch of tensors of rows with texts and labels, for `DataLoader(collate_fn=...)` and Lightning.

    tokenizer: of Hugging Face. perturber: None for data to evaluate on. text, label: the columns; default: by their names. Labels
    are numbers, lists of numbers (label sets) or, of rows in tokens, a number per token, which its first piece gets. options: for
    the tokenizer, such as max_length=128. Batches are padded to their longest text only. Call `set_epoch` before each epoch;
    worker processes that outlive one hear of it, too.
    """

    def __init__(
        self,
        tokenizer: Any,
        perturber: Perturber | None = None,
        *,
        text: str | Sequence[str] = (),
        label: str | None = None,
        **options: Any,
    ) -> None:
        self.tokenizer, self.perturber, self.label = tokenizer, perturber, label
        self.text = [text] if isinstance(text, str) else list(text)
        self.options = {"padding": True, "truncation": True, "return_tensors": "pt", **options}
        self._epoch = torch.tensor(perturber.epoch if perturber else 0).share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the batches to come."""
        self._epoch.fill_(epoch)

    def __call__(self, rows: Sequence[Record]) -> Any:
        columns = self.perturber.columns(rows) if self.perturber else text_columns("batch", list(rows[0]), self.text)
        if self.perturber:
            self.perturber.set_epoch(int(self._epoch))
            rows = self.perturber(rows)
        tokens = not isinstance(rows[0][columns[0]], str)
        texts = [[row[column] for row in rows] for column in columns]
        batch = self.tokenizer(*texts, is_split_into_words=tokens, **self.options)
        guessed = label_columns("batch", list(rows[0]), columns, tokens=tokens, needed=False)
        label = self.label or (guessed[0] if guessed else None)
        if label is not None:
            batch["labels"] = self._labels(batch, [row[label] for row in rows], tokens)
        return batch

    def _labels(self, batch: Any, values: list[Any], tokens: bool) -> torch.Tensor:
        if tokens:
            values = [_of_pieces(batch.word_ids(at), tags) for at, tags in enumerate(values)]
        try:
            return torch.as_tensor(values)
        except (TypeError, ValueError):
            raise BadInput(f"batch: expected labels as numbers, as many in each row, got {values[0]!r:.60}") from None


def _of_pieces(words: Sequence[int | None], tags: Sequence[int]) -> list[int]:
    """Returns a label per piece of a text: the tag of a token for its first piece. words: the token that each piece is of."""
    return [
        IGNORED if word is None or (at and words[at - 1] == word) else int(tags[word]) for at, word in enumerate(words)
    ]
