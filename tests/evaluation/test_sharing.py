"""What cells, degrees and parts share saves time and changes nothing: slow twins that share nothing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scuff.data.dataset import Dataset
from scuff.evaluation import block
from scuff.evaluation.block import CellCases, make_cases
from scuff.evaluation.cases import Copies
from scuff.evaluation.protocol import Protocol
from scuff.evaluation.results import _firsts
from scuff.evaluation.table import Table
from scuff.perturbations import replace as replacing
from scuff.perturbations.replace import Replace, WordOptions
from scuff.text.corpus import Corpus
from scuff.text.random import Rng, name_bits
from strategies import text as nasty_text

SPECS = ("typo@edits", "typo", "phonetic@edits", "glyph@edits", "visual@edits", "keyboard", "distraction", "syntax")
TEXTS = (
    "The quick brown fox jumps over the lazy dog , while seven wizards mix .", "wonderful", "", "I'm fine 👍🏽; you're not.",
)  # fmt: skip


def made(texts: tuple[str, ...], protocol: Protocol, cells: list[tuple[int, int]]) -> list[CellCases]:
    data = Dataset("made", "single", (texts,), ("a",) * len(texts), tuple(map(str, range(len(texts)))))
    return make_cases(data, protocol, cells, 0, protocol.cases)


def content(cell: CellCases) -> list[Any]:
    """Everything that a part is written from."""
    cases, out = cell.cases, [cell.dimension, cell.degree, cell.problem]
    for field in fields(cases):
        value = getattr(cases, field.name)
        out.append(value.tolist() if isinstance(value, np.ndarray) else value)
    edits = [[] if e is None else [*zip(e.row, e.start, e.stop, e.text.strings(), strict=True)] for e in cases.edits]
    return [*out[:5], edits, *out[6:]]


@pytest.mark.parametrize("rounding", ["down", "up"])
def test_cells_that_share_copies_have_the_same_cases_as_alone(rounding: Any) -> None:
    protocol = Protocol(SPECS, (0.05, 0.3, 0.6), cases=7, seed=3, rounding=rounding)
    together = made(TEXTS, protocol, protocol.cells)
    backwards = made(TEXTS, protocol, protocol.cells[::-1])[::-1]
    alone = [cell for at in protocol.cells for cell in made(TEXTS, protocol, [at])]
    for one, other, third in zip(together, backwards, alone, strict=True):
        assert content(one) == content(other) == content(third)


@settings(max_examples=25)
@given(st.lists(nasty_text, min_size=1, max_size=3), st.integers(1, 4))
def test_cells_share_nothing_but_time(texts: list[str], cases: int) -> None:
    protocol = Protocol(("typo@edits", "glyph@edits", "typo"), (0.2, 0.6), cases=cases)
    together = made(tuple(texts), protocol, protocol.cells)
    alone = [cell for at in protocol.cells for cell in made(tuple(texts), protocol, [at])]
    assert [content(cell) for cell in together] == [content(cell) for cell in alone]


def test_long_texts_are_perturbed_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cases in the same order; only the numbers of discarded draws are in several parts."""
    protocol = Protocol(("typo@edits", "distraction"), (0.05, 0.3), cases=5)
    together = made(TEXTS * 2, protocol, protocol.cells)
    monkeypatch.setattr(block, "COPIES", 5 * max(map(len, TEXTS)))
    apart = made(TEXTS * 2, protocol, protocol.cells)
    assert len(apart) >= 2 * len(together) == 2 * len(protocol.cells)
    for one in together:
        same = [each for each in apart if (each.dimension, each.degree) == (one.dimension, one.degree)]
        for name in ("example", "draw", "reached", "distance"):
            joined = np.concatenate([getattr(each.cases, name) for each in same])
            assert joined.tolist() == getattr(one.cases, name).tolist()
        assert [text for each in same for text in each.cases.columns[0]] == one.cases.columns[0]
        assert sum(each.cases.unfit.sum() for each in same) == one.cases.unfit.sum()


def test_copies_are_kept_for_the_same_draws_only() -> None:
    corpus = Corpus.of(["one two", "three"])
    example, draw = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    first = Copies.of(corpus, example, draw)
    assert Copies.of(corpus, example.copy(), draw.copy()) is first
    assert first.corpus.strings() == first.strings == ["one two", "one two", "three", "three"]
    assert Copies.of(corpus, example, draw + 2) is not first and Copies.of(corpus, example, draw) is first
    assert Copies.of(Corpus.of(["one two", "three"]), example, draw) is not first


@dataclass(frozen=True)
class Twice(Replace):
    """Writes a word twice, or three times."""

    name: ClassVar[str] = "twice"
    asked: ClassVar[list[str]] = []

    def options(self, corpus: Corpus) -> WordOptions:
        self.asked.extend(corpus.strings())
        return WordOptions.of([[word * 2, word * 3] for word in corpus.cut(corpus.words).strings()])


def test_options_are_asked_once_for_each_text() -> None:
    replacing._recent.clear()
    Twice.asked.clear()
    sets = [["a b", "c", "a b"], ["c", "d e"], ["d e", "", "a b", "f"], ["f"], []]
    for texts in sets:
        corpus = Corpus.of(texts)
        edits = Twice().propose(corpus, Rng.of(corpus.keys, 1), k=2)
        options, entry = Twice()._known(corpus)
        words = corpus.cut(corpus.words).strings()
        known = [options.texts.take(np.arange(options.first[at], options.first[at + 1])).strings() for at in entry]
        assert known == [[word * 2, word * 3] for word in words] and len(edits) == 2 * len(words)
    assert sorted(Twice.asked) == ["", "a b", "c", "d e", "f"]


def test_kept_options_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    replacing._recent.clear()
    monkeypatch.setattr(replacing, "REMEMBERED", 2)
    texts = [f"word{at}" for at in range(5)]
    options, entry = Twice()._known(Corpus.of(texts))
    assert options.texts.take(options.first[entry]).strings() == [text * 2 for text in texts]
    assert len(replacing._recent) == 2


def test_names_that_are_equal_but_not_the_same_have_bits_of_their_own() -> None:
    names: list[object] = [1, 1.0, True, "1", np.int64(1)]
    assert len({int(name_bits("a", name)) for name in names}) == len(names)
    assert [int(name_bits("a", name)) for name in names] == [int(name_bits.__wrapped__("a", name)) for name in names]


tables = st.lists(
    st.tuples(*(st.integers(low, high) for low, high in ((0, 2), (-1, 1), (0, 2), (0, 3), (0, 2), (0, 3)))), max_size=30
)


def table_of(rows: list[tuple[int, ...]]) -> Table:
    """A table whose clean texts, one per example, have the score 0.5."""
    rows = [*((example, -1, -1, 0, 1, 0) for example in range(3)), *(row for row in rows if row[1] >= 0)]
    example, dimension, degree, draw, score, distance = np.array(rows, np.int64).T
    columns = {
        "example": example.astype(np.int32), "dimension": dimension.astype(np.int16), "degree": degree.astype(np.int16),
        "draw": draw.astype(np.int32), "score": (score / 2).astype(np.float32), "distance": distance / 4,
        "kind": np.zeros(len(rows), np.int8),
    }  # fmt: skip
    return Table(3, 2, 3, columns, np.zeros((2, 3), np.int64), {}, {})


@given(tables)
def test_first_failures(rows: list[tuple[int, ...]]) -> None:
    table = table_of(rows)
    wanted: dict[tuple[int, int], tuple[Any, ...]] = {}
    for at in range(3, len(table["example"])):
        if table["score"][at] < 0.5:
            key = int(table["dimension"][at]), int(table["example"][at])
            rank = int(table["degree"][at]), float(table["distance"][at]), int(table["draw"][at]), at
            wanted[key] = min(wanted.get(key, rank), rank)
    assert _firsts(table, slice(0, None)).tolist() == [rank[-1] for _, rank in sorted(wanted.items())]


@given(tables)
def test_rows_of_a_cell(rows: list[tuple[int, ...]]) -> None:
    table = table_of(rows)
    for dimension in range(2):
        for degree in range(3):
            mask = (table["dimension"] == dimension) & (table["degree"] == degree)
            assert table.within(dimension, degree).tolist() == np.flatnonzero(mask).tolist()
