"""The parts of the data: no text in two of them, all examples in one, by seed alone, labels in their shares."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.data.columns import Columns
from scuff.data.dataset import Dataset
from scuff.data.formats.streams import BadInput
from scuff.data.reading import read_dataset
from scuff.training.splitting import DEV, TEST, check_labels, read_parts, read_test, records, without


def made(count: int, kinds: int = 2, repeat: int = 1) -> Dataset:
    """Texts with labels in turn, each text `repeat` times, in other cases and blanks."""
    texts = [
        f"Text {at} of  THE set" if again else f"text {at} of the set" for at in range(count) for again in range(repeat)
    ]
    targets = [f"label {at % kinds}" for at in range(count) for _ in range(repeat)]
    return Dataset("made", "single", (tuple(texts),), tuple(targets), tuple(map(str, range(len(texts)))))


@given(st.integers(60, 200), st.integers(2, 3), st.integers(1, 2), st.integers(0, 9))
def test_every_example_is_in_one_part_and_no_text_in_two(count: int, kinds: int, repeat: int, seed: int) -> None:
    data = made(count, kinds, repeat)
    parts = read_parts(data, Columns(), seed)
    ids = [name for part in parts.named.values() for name in part.ids]
    assert sorted(ids) == sorted(data.ids)
    texts = [{str(text).casefold().replace("  ", " ") for text in part.columns[0]} for part in parts.named.values()]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]
    for part, share in ((parts.test, TEST), (parts.dev, DEV)):
        assert abs(len(part) - share * len(data)) <= kinds * repeat
        counts = Counter(part.targets)
        assert max(counts.values()) - min(counts.values()) <= 2 * repeat


def test_parts_depend_on_the_seed_and_not_on_the_order() -> None:
    data = made(100)
    turned = data.take(np.arange(100)[::-1])
    one, other, third = (read_parts(each, Columns(), seed) for each, seed in ((data, 0), (turned, 0), (data, 1)))
    assert set(one.test.ids) == set(other.test.ids) != set(third.test.ids)
    assert "seed 1" in third.words and third.held


def test_given_parts_stay_and_what_is_tested_is_not_learnt() -> None:
    data = made(100)
    test = data.take(range(30))
    parts = read_parts(None, Columns(), 0, train=data, test=test)
    assert parts.test is test and len(parts.train) + len(parts.dev) == 70 and "30 training examples" in parts.words
    assert without(data, test)[1] == 30 and not parts.held


def test_the_embedded_data_has_its_own_splits() -> None:
    parts = read_parts("toy:tone", Columns(), 0)
    assert (len(parts.train), len(parts.dev), len(parts.test)) == (3599, 401, 1000)


def test_a_part_that_was_cut_out_reads_as_it_was(tmp_path: Path) -> None:
    import json

    tags = Dataset("t", "tokens", ((("a", "b"), ("c",)),), (("X", "Y"), ("X",)), ("0", "7"), ("words",))
    sets = Dataset("s", "multi", (("one text", "two"),), (("a", "b"), ()), ("0", "1"), ("comment",))
    pairs = Dataset("p", "single", (("one", "two"), ("three", "four")), ("x", "y"), ("0", "1"), ("first", "second"))
    for data in (tags, sets, pairs):
        path = tmp_path / f"{data.name}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records(data)))
        again = read_dataset(path, Columns(text=data.fields, label=("label",), id="id", task=data.task))
        assert (again.columns, again.targets, again.ids) == (data.columns, data.targets, data.ids)


def test_what_cannot_be_learnt_from_is_refused() -> None:
    with pytest.raises(BadInput, match="expected two or more labels to train on, got label 0"):
        check_labels(read_parts(made(60, 1), Columns(), 0))
    with pytest.raises(BadInput, match="10 or more examples in the train part, got 8"):
        read_parts(made(12), Columns(), 0)
    with pytest.raises(ValueError, match="expected --test FILE beside --train"):
        read_parts(None, Columns(), 0, train=made(30))
    with pytest.raises(ValueError, match="got both"):
        read_parts(made(30), Columns(), 0, train=made(30), test=made(30))
    with pytest.raises(BadInput, match="expected labels of the training part, got label 2 in test"):
        check_labels(read_parts(None, Columns(), 0, train=made(60), test=Dataset(
            "new", "single", (tuple(f"new {at}" for at in range(10)),), ("label 2",) * 10, tuple(map(str, range(10)))
        )))  # fmt: skip


def test_rows_without_a_label_or_a_text_are_counted() -> None:
    rows = [{"text": f"text {at}", "label": None if at % 3 == 0 else f"label {at % 2}"} for at in range(300)]
    rows[1]["text"] = None
    words = "left out: 100 rows with no label, 1 row with no text"
    parts = read_parts(rows, Columns(), 0)
    assert parts.words.endswith(words) and sum(map(len, parts.named.values())) == 199
    assert read_test(rows, Columns()).words.endswith(words)
    assert read_parts(None, Columns(), 0, train=rows, test=rows[:90]).words.endswith(
        "130 rows with no label, 2 rows with no text"
    )
    assert "left out" not in read_parts(made(100), Columns(), 0).words
