"""The function for pipelines makes the texts that `perturb` and `shield` make, whatever the batches are."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff

TEXTS = [f"Some ordinary words stand in line number {n % 40}, as they should" for n in range(60)]
IDS = [f"row-{n}" for n in range(60)]
WANTED = scuff.perturb(TEXTS, "keyboard", "low", seed=3)
NAMED = scuff.perturb(TEXTS, "keyboard", "low", seed=3, ids=IDS)


def keyboard(**more: Any) -> Any:
    return scuff.mapper("keyboard", "low", seed=3, **more)


def test_dicts_of_lists_and_arrays() -> None:
    batch = {"text": TEXTS, "n": list(range(60)), "name": IDS}
    assert keyboard()(batch) == {**batch, "text": WANTED}
    assert keyboard(id="name")(batch)["text"] == NAMED != WANTED
    arrays = {name: np.array(values) for name, values in batch.items()}
    out = keyboard(id="name")(arrays)
    assert out["text"].tolist() == NAMED and out["n"] is arrays["n"]
    parts = [
        keyboard(id="name")({name: values[at : at + 7] for name, values in batch.items()}) for at in range(0, 60, 7)
    ]
    assert [text for part in parts for text in part["text"]] == NAMED


def test_copies_stand_together() -> None:
    out = keyboard(copies=3)({"text": TEXTS[:2], "n": np.array([5, 6])})
    other = [scuff.perturb(TEXTS[:2], "keyboard", "low", seed=3, draw=draw) for draw in range(3)]
    assert out["text"] == [other[draw][row] for row in range(2) for draw in range(3)]
    assert out["n"].tolist() == [5, 5, 5, 6, 6, 6] and out["draw"].tolist() == [0, 1, 2, 0, 1, 2]


def test_rows_texts_tokens_and_what_is_missing() -> None:
    assert keyboard()(TEXTS[0]) == WANTED[0] and keyboard()({"text": TEXTS[0], "n": 1}) == {"text": WANTED[0], "n": 1}
    assert keyboard()(None) is None and keyboard()({"text": None}) == {"text": None}
    missing = {"text": float("nan"), "n": 1}
    assert keyboard()(missing)["text"] is missing["text"]
    assert keyboard()({"text": [None, TEXTS[1], ""]})["text"] == [None, WANTED[1], ""]
    tokens = [["Do", "n't", "panic"], ["at", "all", "now"]]
    made = scuff.perturb_tokens(tokens, "truncate", 1.0)
    assert scuff.mapper("truncate", 1.0, column="tokens")({"tokens": tokens})["tokens"] == made
    held = np.empty(2, object)
    held[:] = [np.array(each) for each in tokens]
    assert scuff.mapper("truncate", 1.0, column="tokens")({"tokens": held})["tokens"].tolist() == made


def test_frames_and_tables() -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"text": [*TEXTS[:5], None], "n": range(6)}, index=list("abcdef"))
    out = keyboard()(frame)
    assert out["text"].tolist()[:5] == WANTED[:5] and out["text"].isna().tolist() == [False] * 5 + [True]
    assert list(out.index) == list("abcdef") and frame["text"].map(keyboard()).tolist()[:5] == WANTED[:5]
    twice = keyboard(copies=2)(frame)
    assert list(twice.index) == list("aabbccddeeff") and twice["draw"].tolist() == [0, 1] * 6
    assert list(keyboard(copies=2)(frame.reset_index(drop=True)).index) == list(range(12)), "mere numbers stay that"
    table = pa.table({"text": pa.array([*TEXTS[:5], None], pa.large_string()), "n": pa.array([1, None, 3, 4, 5, 6])})
    made = keyboard(copies=2)(table)
    assert made.schema.field("text").type == pa.large_string() and made["n"].to_pylist()[:4] == [1, 1, None, None]
    assert made["text"].to_pylist()[:10:2] == WANTED[:5] and made.num_rows == 12


def test_ids_are_the_same_where_pandas_makes_them_floats() -> None:
    pd = pytest.importorskip("pandas")
    whole, floats = (pd.DataFrame({"text": TEXTS[:6], "n": ids}) for ids in (range(6), [0, 1, 2, 3, 4, None]))
    assert floats["n"].dtype == float
    named = keyboard(id="n")
    assert named(whole)["text"].tolist()[:5] == named(floats)["text"].tolist()[:5]
    assert named(floats.iloc[:5])["text"].tolist() == scuff.perturb(TEXTS[:5], "keyboard", "low", seed=3, ids=range(5))
    with pytest.raises(ValueError, match="expected a column 'text' in the batch, got it twice"):
        keyboard()(pd.DataFrame([["a", "b"]], columns=["text", "text"]))


def test_two_columns_have_noise_of_their_own() -> None:
    out = keyboard(column=["a", "b"], id="n")({"a": TEXTS[:3], "b": TEXTS[:3], "n": np.arange(3)})
    assert out["a"] == scuff.perturb(TEXTS[:3], "keyboard", "low", seed=3, ids=["a:0", "a:1", "a:2"]) != out["b"]


def test_shields() -> None:
    batch = {"text": ["Cl\u0456ck here", "all of it", None]}
    assert scuff.mapper(shield="normalise")(batch)["text"] == ["Click here", "all of it", None]


def test_it_travels_to_a_process_that_knows_no_part_of_yours(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\nfrom scuff.perturbations import Keyboard\n"
        "@dataclass(frozen=True)\nclass Own(Keyboard):\n    name = 'own'\n"
    )
    mapper = scuff.mapper(f"{tmp_path / 'own.py'}:Own", "low")
    (tmp_path / "mapper").write_bytes(pickle.dumps(mapper))
    code = f"import pickle; print(pickle.load(open({str(tmp_path / 'mapper')!r}, 'rb'))({TEXTS[0]!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == mapper(TEXTS[0])


@pytest.mark.parametrize(
    ("keywords", "batch", "told"),
    [
        ({}, {"review": ["a"]}, "expected a column 'text' in the batch, got review"),
        ({"id": "n"}, {"text": ["a"]}, "expected a column 'n' in the batch, got text"),
        ({"copies": 2}, "a text", "expected batches of rows for 2 copies, got one text or row"),
        ({"copies": 2}, {"text": ["a"], "draw": [1]}, "expected no column 'draw', which is to be added"),
        ({}, [1, 2], "expected a batch as a dict, a DataFrame or a pyarrow table, a row or a text, got list"),
        ({}, {"text": [1]}, "expected a text or a list of tokens in row 0 of the batch, got int"),
        ({}, {"text": 1}, "a row with a text, got int in column 'text', int in 'text'"),
        ({}, {"text": ["a", "b"], "n": 1}, "got 2 values in column 'text', int in 'n' (a row with a list of tokens"),
        ({}, {"text": ["a", "b"], "n": [1]}, "got 2 values in column 'text', 1 values in 'n'"),
        ({"copies": 0}, None, "expected a whole number from 1 for mapper.copies, got 0"),
        ({"shield": "fast"}, None, "expected a perturbation or shield=..., got both"),
        ({"protect": ["nothing-like-it"]}, None, "nothing-like-it"),
    ],
)  # fmt: skip
def test_errors(keywords: dict[str, Any], batch: Any, told: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(told)):
        keyboard(**keywords)(batch)


def test_ray_functions_take_ray_data() -> None:
    with pytest.raises(TypeError, match="expected a Dataset of Ray Data, got list"):
        scuff.ray_perturb([], "keyboard")
    with pytest.raises(ValueError, match=r"expected a perturbation or shield=\.\.\., got none"):
        scuff.mapper()


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "size"), [(None, 1), (None, 7), (2, 7), (2, 1000)])
def test_datasets(tmp_path: Path, processes: int | None, size: int) -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": TEXTS, "n": list(range(60)), "name": IDS})
    data.save_to_disk(str(tmp_path / "data"))
    data = datasets.load_from_disk(str(tmp_path / "data"))
    out = data.map(keyboard(id="name"), batched=True, batch_size=size, num_proc=processes)
    assert out["text"][:] == NAMED and out["n"][:] == list(range(60)) and out.features == data.features
    rows = data.map(keyboard(id="name"), num_proc=processes)
    assert rows["text"][:] == NAMED
    many = data.map(keyboard(id="name", copies=2), batched=True, batch_size=size, num_proc=processes)
    assert many["text"][::2] == NAMED and many["draw"][:4] == [0, 1, 0, 1]
    framed = data.with_format("pandas").map(keyboard(id="name", copies=2), batched=True, batch_size=size)
    assert framed.column_names == many.column_names and framed.with_format(None)["text"][:] == many["text"][:]
