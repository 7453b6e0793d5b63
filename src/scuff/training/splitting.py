"""The parts of the data: to learn from (train), to choose by (dev), to report on (test), with no text in two of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..data.dataset import Dataset, joined
from ..data.formats.streams import BadInput
from ..data.reading import read_dataset
from ..data.records import HUB
from ..data.toy import is_toy, toy_dataset
from ..specs import some
from ..text.ragged import Ragged
from ..text.random import mix, name_bits, text_bits

TEST, DEV = 0.2, 0.1  # shares of the texts, where one file is split
LEAST = 10  # examples of a part


@dataclass(frozen=True)
class Parts:
    """The parts, and how they came about, in words. held: whether the test part was cut out of a larger set, so that no file
    holds it. trains: whether there is something to learn from; else all parts are the test part.
    """

    train: Dataset
    dev: Dataset
    test: Dataset
    words: str
    held: bool = False
    trains: bool = True

    def __post_init__(self) -> None:
        for name, part in self.named.items():
            if len(part) < (LEAST if name != "dev" else 1):
                raise BadInput(f"{part.name}: expected {LEAST} or more examples in the {name} part, got {len(part)}")

    @property
    def tokens(self) -> bool:
        """Whether the data has a tag per token."""
        return self.test.task == "tokens"

    @property
    def named(self) -> dict[str, Dataset]:
        return {"train": self.train, "dev": self.dev, "test": self.test} if self.trains else {"test": self.test}


def read_parts(
    data: Any, columns: Columns, seed: int, *, train: Any = None, dev: Any = None, test: Any = None
) -> Parts:
    """Reads the parts. data: one set, which is split if there is no `test`, else what is trained on; or `train` in its place.

    Of a Hugging Face data set and of toy:... the splits are taken as they are. Raises ValueError if parts are missing, have
    other tasks or other columns than the training part.
    """
    if (data is None) == (train is None):
        got = "neither" if data is None else "both"
        raise ValueError(f"expected DATA, or --train FILE with --test FILE, got {got}")
    if train is not None and test is None:
        raise ValueError("expected --test FILE beside --train, got none: DATA alone is split in three")
    source = data if train is None else train
    known = {} if test is not None else _own_splits(source, columns)
    learnt = known.get("train") or read_dataset(source, replace(columns, split=columns.split or "train"))
    measured = known.get("test") if test is None else read_dataset(test, replace(columns, task=learnt.task))
    chosen = known.get("dev") if dev is None else read_dataset(dev, replace(columns, task=learnt.task))
    for part in (measured, chosen):
        if part is not None and (part.task, len(part.columns)) != (learnt.task, len(learnt.columns)):
            raise BadInput(f"{part.name}: expected the task and columns of {learnt.name}, got others: {part.task}")
    lost = left_out(learnt, *(part for part in (chosen, measured) if part is not None))
    if measured is None:
        parts = _split(learnt, chosen, seed)
        return replace(parts, words=f"{parts.words}; {lost}") if lost else parts
    learnt, twice = without(learnt, measured, *([chosen] if chosen else []))
    words = f"{twice:,} training examples with a text of the test part left out" if twice else ""
    if chosen is None:
        rest, chosen = _cut(learnt, DEV, seed, "dev")
        learnt, words = rest, f"{DEV:.0%} of the training texts are the dev part" + (f"; {words}" if words else "")
    words = words or "parts as given"
    return Parts(learnt, chosen, measured, f"{words}; {lost}" if lost else words)


def read_test(data: Any, columns: Columns, test: Any = None) -> Parts:
    """Reads data of which nothing is learnt: all of it is the test part."""
    if data is None and test is None:
        raise ValueError("expected DATA, or --test FILE, got neither")
    measured = read_dataset(data if test is None else test, columns)
    words = "; ".join(filter(None, ("nothing is trained: no part is held out", left_out(measured))))
    return Parts(measured, measured, measured, words, trains=False)


def left_out(*read: Dataset) -> str:
    """How many rows of the data were left out as they were read, in words; "" if none was."""
    counts = sum((Counter(data.skipped) for data in read), Counter[str]())
    rows = [f"{count:,} row{'s' * (count > 1)} with {reason}" for reason, count in sorted(counts.items())]
    return f"left out: {', '.join(rows)}" if rows else ""


def without(data: Dataset, *others: Dataset) -> tuple[Dataset, int]:
    """Returns the examples with no text of the other sets, and how many are gone: what is reported on must be new."""
    known = {key for other in others for key in _keys(other)}
    keep = np.array([at for at, key in enumerate(_keys(data)) if key not in known], np.int64)
    return (data.take(keep), len(data) - keep.size) if keep.size < len(data) else (data, 0)


def check_labels(parts: Parts) -> None:
    """Raises BadInput if there is nothing to learn (one label) or the test part has labels that the training part lacks."""
    train = parts.train
    if train.task == "text":
        raise BadInput(
            f"{train.name}: expected labels or tags to train on, got texts: `train_translator` trains translators"
        )
    counts = label_counts(train)
    if train.task != "multi" and len(counts) < 2:
        raise BadInput(f"{train.name}: expected two or more labels to train on, got {some(counts) or 'none'}")
    if not counts:
        raise BadInput(f"{train.name}: expected some example with a label to train on, got none")
    for name in ("dev", "test"):
        if new := sorted(set(label_counts(parts.named[name])) - set(counts)):
            raise BadInput(f"{parts.named[name].name}: expected labels of the training part, got {some(new)} in {name}")


def label_counts(data: Dataset) -> Counter[str]:
    """How often each label occurs."""
    return Counter(label for target in data.targets for label in ((target,) if isinstance(target, str) else target))


def _own_splits(source: Any, columns: Columns) -> dict[str, Dataset]:
    """The splits that a data set brings along; {} if it is one file or one object."""
    if isinstance(source, Dataset) or not isinstance(source, str | Path):
        return {}
    if is_toy(source):
        return {split: toy_dataset(str(source), split) for split in ("train", "test")}
    if not (str(source).startswith(HUB) or Path(source).is_dir()):
        return {}
    found = {}
    for part, names in (("train", ("train",)), ("dev", ("validation", "dev")), ("test", ("test",))):
        for name in names:
            try:
                found[part] = read_dataset(source, replace(columns, split=name))
                break
            except BadInput as error:
                if "one of the splits" not in str(error):
                    raise
    if "test" not in found and "dev" in found:  # as GLUE, whose test labels are hidden
        found["test"] = found.pop("dev")
    return found if "test" in found else {}


def _split(data: Dataset, dev: Dataset | None, seed: int) -> Parts:
    """Cuts one set into parts; a given dev part stays."""
    rest, test = _cut(data, TEST, seed, "test")
    words = f"{TEST:.0%} of the texts are the test part"
    if dev is None:
        rest, dev = _cut(rest, DEV / (1 - TEST), seed, "dev")
        words += f", {DEV:.0%} the dev part"
    else:
        rest, _ = without(rest, dev)
    return Parts(rest, dev, test, f"{words}: by seed {seed}, labels in their shares, equal texts together", held=True)


def _cut(data: Dataset, share: float, seed: int, what: str) -> tuple[Dataset, Dataset]:
    """Returns what is left and the part that is cut out: this share of the distinct texts with each label."""
    keys = _keys(data)
    groups: dict[str, list[int]] = defaultdict(list)
    for at, key in enumerate(keys):
        groups[key].append(at)
    strata: dict[object, list[str]] = defaultdict(list)
    for key, rows in groups.items():
        target = data.targets[rows[0]]
        strata[target if data.task == "single" else tuple(sorted(target)) if data.task == "multi" else ""].append(key)
    rank = dict(zip(groups, _chance(list(groups), seed, what), strict=True))
    chosen: list[int] = []
    for members in strata.values():
        first = sorted(members, key=lambda key: (rank[key], key))[: round(share * len(members))]
        chosen += [at for key in first for at in groups[key]]
    inside = np.zeros(len(data), np.bool_)
    inside[chosen] = True
    return data.take(np.flatnonzero(~inside)), data.take(np.flatnonzero(inside))


def _chance(keys: Sequence[str], seed: int, what: str) -> list[int]:
    bits: list[int] = mix(text_bits(Ragged.of(keys)) ^ name_bits(f"split {what}", seed)).tolist()
    return bits


def _keys(data: Dataset) -> list[str]:
    """The texts of each example, as far as case and white space do not matter."""
    return [
        "\x1f".join(" ".join(joined(text).casefold().split()) for text in texts)
        for texts in zip(*data.columns, strict=True)
    ]


def records(data: Dataset) -> list[dict[str, Any]]:
    """The examples as records of a JSON lines file that reads as the same data, with the columns `label` and `id`."""
    out = []
    for at in range(len(data)):
        texts = {name: column[at] for name, column in zip(data.fields, data.columns, strict=True)}
        out.append({**texts, "label": data.targets[at], "id": data.ids[at]})
    return out
