"""Data in, data out: what `augment` returns has the type, the dtypes and the features of what it was given."""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.data.dataset import Dataset
from scuff.data.reading import read_dataset

TEXT = "the staff were friendly and every room was spotless although breakfast ended rather early"
TEXTS = [f"{TEXT} {at}" for at in range(4)]
OPTIONS: Any = {"dimensions": ["keyboard"], "degree": 0.2}
augment = partial(scuff.augment, **OPTIONS)
EXPECTED = [row["text"] for row in augment([{"text": text} for text in TEXTS])]
TRACE = ["scuff_dimension", "scuff_degree", "scuff_source"]


def test_lists_and_dicts() -> None:
    assert EXPECTED[::2] == TEXTS and len(set(EXPECTED)) == 8
    assert augment([(text, at) for at, text in enumerate(TEXTS)]) == list(
        zip(EXPECTED, [0, 0, 1, 1, 2, 2, 3, 3], strict=True)
    )
    assert augment([[text, 1] for text in TEXTS]) == [[text, 1] for text in EXPECTED]
    Row = namedtuple("Row", "review stars")
    named = augment([Row(text, 5) for text in TEXTS])
    assert named == [(text, 5) for text in EXPECTED] and isinstance(named[1], Row)
    assert augment({"text": TEXTS, "label": list("abab")}) == {"text": EXPECTED, "label": list("aabbaabb")}
    assert augment([{"text": text, "more": [at]} for at, text in enumerate(TEXTS)])[3] == {
        "text": EXPECTED[3],
        "more": [1],
    }
    traced = augment({"text": tuple(TEXTS)}, trace=True)
    assert list(traced) == ["text", *TRACE] and traced["scuff_source"] == list("00112233")


def test_a_dict_of_lists_can_be_read() -> None:
    data = read_dataset({"text": TEXTS, "label": np.array(list("abab"))})
    assert data.columns == (tuple(TEXTS),) and data.targets == tuple("abab") and data.task == "single"


def test_a_data_set_of_scuff() -> None:
    data = Dataset("d", "single", (tuple(TEXTS),), tuple("abab"), tuple("wxyz"), known=("a", "b", "c"))
    made = augment(data)
    assert isinstance(made, Dataset) and made.columns == (tuple(EXPECTED),) and made.targets == tuple("aabbaabb")
    assert made.ids == ("w", "w~1", "x", "x~1", "y", "y~1", "z", "z~1") and made.labels == data.labels


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"text": TEXTS, "label": [1]}, "expected columns of one length in a dict of lists, got 4 of text, 1 of label"),
        ({"text": TEXT}, "expected a list for each column of a dict, got str for 'text'"),
        ({}, "expected a file, a Hugging Face data set, a DataFrame"),
    ],
)
def test_wrong_dicts(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        augment(wrong)


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "text": [*TEXTS[:3], None],
            "label": pd.Categorical(list("abab"), categories=list("abc")),
            "n": pd.array([1, None, 3, 4], dtype="Int64"),
            "when": pd.to_datetime(["2020-01-01"] * 4, utc=True),
            "share": [0.5, float("nan"), 1, 2],
        },
        index=pd.Index(list("wxyz"), name="key"),
    )
    for text in (frame.text, frame.text.astype("string"), frame.text.astype(object)):
        given = frame.assign(text=text)
        made = augment(given)
        assert (made.dtypes == given.dtypes).all() and list(made.columns) == list(given.columns)
        assert list(made.index) == list("wwxxyyz") and made.index.name == "key", (
            "the label of the example, as explode has it"
        )
        assert list(made.text[:6]) == EXPECTED[:6] and made.text.isna().tolist() == [False] * 6 + [True]
        pd.testing.assert_frame_equal(made[~made.index.duplicated()], given)
        rest = made.drop(columns="text")
        pd.testing.assert_frame_equal(rest[rest.index.duplicated()], given.drop(columns="text")[:3])
    assert list(frame.text[:3]) == TEXTS[:3], "the data is not changed"
    traced = augment(frame, trace=True)
    assert list(traced)[-3:] == TRACE and traced.scuff_degree.dtype == float
    texts = augment(frame.assign(text=frame.text.astype("category")))
    assert list(texts.text[:6]) == EXPECTED[:6], "new texts are no categories of the old"
    tokens = augment(
        pd.DataFrame({"tokens": [text.split() for text in TEXTS], "tags": [text.split() for text in TEXTS]})
    )
    assert len(tokens) == 8 and isinstance(tokens.tokens.iloc[1], list) and list(tokens.tags) != list(tokens.tokens)


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"text": TEXTS, "label": list("abab"), "n": [1, None, 3, 4]}, schema_overrides={"n": pl.Int8})
    frame = frame.with_columns(pl.col("label").cast(pl.Categorical))
    made = augment(frame)
    assert read_dataset(frame).targets == tuple("abab")
    assert made.schema == frame.schema and made["text"].to_list() == EXPECTED and made[::2].equals(frame)
    assert augment(frame, trace=True).columns == [*frame.columns, *TRACE]
    assert augment(frame.with_columns(pl.col("text").cast(pl.Categorical)))["text"].to_list() == EXPECTED


@pytest.fixture
def held() -> Any:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "text": datasets.Value("large_string"),
            "label": datasets.ClassLabel(names=["bad", "good"]),
            "scores": datasets.Sequence(datasets.Value("float32")),
            "more": {"en": datasets.Value("string")},
        }
    )
    rows = {"text": TEXTS, "label": [0, 1, 0, 1], "scores": [[0.5]] * 4, "more": [{"en": text} for text in TEXTS]}
    return datasets.Dataset.from_dict(rows, features=features, split="train")


def test_hugging_face(held: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made = augment(held)
    assert type(made) is type(held) and made.features == held.features and made.split == held.split
    assert made["text"][:] == EXPECTED and made["label"][:] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert made.select(range(0, 8, 2)).to_list() == held.to_list()
    inner = augment(held, text="more.en")
    assert inner.features == held.features and [row["en"] for row in inner["more"]] == EXPECTED
    assert inner["text"][:] == [text for text in TEXTS for _ in range(2)]
    assert augment(held, trace=True).column_names == [*held.column_names, *TRACE]
    some = augment(held.shuffle(seed=1).select([2, 0]))
    assert set(some["text"][:]) <= set(EXPECTED) and len(some) == 4
    formatted = augment(held.with_format("numpy", columns=["label"]))
    assert formatted.format["type"] == "numpy" and list(formatted[1]) == ["label"], "columns are hidden again"
    assert capsys.readouterr() == ("", ""), "no bars"


def test_hugging_face_streams_and_splits(held: Any) -> None:
    import datasets

    stream = augment(held.to_iterable_dataset())
    assert isinstance(stream, datasets.IterableDataset) and [row["text"] for row in stream] == EXPECTED
    assert stream.features == held.features
    splits = datasets.DatasetDict(train=held, test=held)
    made = augment(splits)
    assert isinstance(made, datasets.DatasetDict) and made["train"]["text"][:] == EXPECTED
    assert made["test"] is held and augment(splits, split="test")["train"] is held
    with pytest.raises(ValueError, match="expected one of the splits train, test, got 'dev'"):
        augment(splits, split="dev")


def test_as_a_function_for_map(held: Any) -> None:
    made = held.map(augment, batched=True, batch_size=2)
    assert made["text"][:] == EXPECTED and made.features["label"] == held.features["label"]
