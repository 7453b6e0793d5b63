"""Texts in memory come back in the type that they had; what is missing stays."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.shields import Corpus, Repairs, Shield
from scuff.text import Edits, Ragged, Spans

TEXTS = ["hello there", "more words"]
SHORT = ["hell ther", "mor word"]


@dataclass(frozen=True)
class Cut(Shield):
    """Cuts the last letter off every word, as the perturbation truncate does."""

    kinds = ("long",)

    def mend(self, corpus: Corpus) -> Repairs:
        words = corpus.words.where(corpus.words.stop - corpus.words.start > 1)
        last = Spans(words.row, words.stop - 1, words.stop)
        return Repairs.of(Edits.of(corpus, last, Ragged.blank(len(last))), np.zeros(len(last), np.int64), self.kinds)


@pytest.fixture(params=["perturb", "shield"])
def truncated(request: pytest.FixtureRequest) -> Any:
    """A function that takes the last letters of words away: a perturbation, and a shield."""
    if request.param == "shield":
        return partial(scuff.shield, shield=Cut())
    return partial(scuff.perturb, perturbation="truncate", level=1.0)


def test_what_is_missing_stays(truncated: Any) -> None:
    new, edits = truncated([TEXTS[0], None, float("nan"), TEXTS[1]], return_edits=True)
    assert [new[0], new[1], new[3]] == [SHORT[0], None, SHORT[1]] and math.isnan(new[2])
    assert [len(each) for each in edits] == [2, 0, 0, 2]
    assert truncated([None]) == [None] and truncated(iter(TEXTS)) == SHORT


def test_ids_are_of_texts_and_of_what_is_missing() -> None:
    alone = scuff.perturb([TEXTS[1]], "intrude", ids=["b"])
    assert scuff.perturb([None, TEXTS[1]], "intrude", ids=["a", "b"]) == [None, *alone]
    with pytest.raises(ValueError, match="expected ids for each of 2 texts, got"):
        scuff.perturb(TEXTS, "truncate", ids=["a"])


def test_arrays(truncated: Any) -> None:
    new = truncated(np.array(TEXTS))
    assert isinstance(new, np.ndarray) and new.tolist() == SHORT
    assert scuff.perturb(np.array(["ab", "hello"]), "intrude", 1.0)[1] == scuff.perturb("hello", "intrude", 1.0)
    new = truncated(np.array([TEXTS[0], None], object))
    assert new.dtype == object and new.tolist() == [SHORT[0], None]
    for wrong in (np.array([TEXTS]), np.array(5), np.array([1, 2]), [b"hello"], [["hello"]], b"hello"):
        with pytest.raises(TypeError, match="expected"):
            truncated(wrong)


def test_series(truncated: Any) -> None:
    pandas = pytest.importorskip("pandas")
    for dtype in (object, "string", "category"):
        old = pandas.Series([TEXTS[0], None, TEXTS[1]], index=[7, 7, "x"], name="body", dtype=dtype)
        new = truncated(old)
        assert new.index.equals(old.index) and new.name == "body" and new.isna().tolist() == [False, True, False]
        assert new.dropna().tolist() == SHORT and (new.dtype == old.dtype or dtype == "category")
    with pytest.raises(TypeError, match="expected str for text 0, got int"):
        truncated(pandas.Series([1, 2]))


def test_frames(truncated: Any) -> None:
    pandas = pytest.importorskip("pandas")
    old = pandas.DataFrame({"text": [TEXTS[0], None], "title": [TEXTS[1], "x"], "n": [1, 2]}, index=[3, 3])
    before = old.copy()
    new = truncated(old, column="text")
    assert new["text"].tolist()[0] == SHORT[0] and new["text"].isna().tolist() == [False, True]
    assert new[["title", "n"]].equals(old[["title", "n"]]) and list(new.columns) == list(old.columns)
    both, edits = truncated(old, column=["text", "title"], return_edits=True)
    assert both["title"].tolist() == [SHORT[1], "x"] and len(edits["text"][0]) == 2 and edits["title"][1] == []
    assert old.equals(before), "the table itself does not change"
    for column, message in (("body", "expected a column 'body'"), (None, "expected column=NAME for a DataFrame")):
        with pytest.raises((ValueError, TypeError), match=message):
            truncated(old, column=column)
    with pytest.raises(TypeError, match="expected a DataFrame for column, got list"):
        truncated(TEXTS, column="text")


def test_pandas_is_not_imported() -> None:
    check = "import scuff, sys; scuff.perturb(['a b', None], 'truncate'); assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
