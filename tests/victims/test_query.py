"""The one door to a victim: what is asked, how often, in which batches, and what becomes of failures."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.data.dataset import Task
from scuff.resources import MissingResource
from scuff.victims.base import Column, Outputs, Victim, as_objects
from scuff.victims.cache import DiskCache
from scuff.victims.query import BudgetSpent, Query, TooManyErrors


def lengths(*columns: Column) -> npt.NDArray[Any]:
    """Scores that tell texts apart."""
    size = [sum(map(len, texts)) for texts in zip(*columns, strict=True)]
    return np.array([[1 / (1 + n), n / (1 + n)] for n in size], np.float32).reshape(-1, 2)


class Scripted(Victim):
    """Answers with a function, and remembers the batches that it was given."""

    labels = ("a", "b")
    task: Task = "single"

    def __init__(self, answer: Callable[..., Any] = lengths, *, rows: int = 256, identity: str = "v1") -> None:
        self.answer, self.rows_at_once, self.name, self.tag = answer, rows, "scripted", identity
        self.batches: list[list[tuple[Any, ...]]] = []

    @property
    def identity(self) -> str:
        return self.tag

    def __call__(self, *columns: Column) -> Outputs:
        self.batches.append(list(zip(*columns, strict=True)))
        found = self.answer(*columns)
        return found if isinstance(found, Outputs) else Outputs.of(found)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return [row for batch in self.batches for row in batch]


def failing(bad: Callable[[str], bool], answer: Callable[..., Any] = lengths) -> Callable[..., Any]:
    def ask(*columns: Column) -> Any:
        for texts in zip(*columns, strict=True):
            if any(bad(str(text)) for text in texts):
                raise RuntimeError(f"cannot take {texts[0]}\nand here is why")
        return answer(*columns)

    return ask


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    made = DiskCache(str(tmp_path / "answers.db"))
    yield made
    made.close()


# counting, duplicates, batches


def test_rows_are_counted_and_duplicates_asked_once() -> None:
    victim = Scripted()
    query = Query(victim)
    texts = ["one", "three", "one", "one", "three"]
    outputs = query(texts)
    assert np.array_equal(outputs.answers, lengths(texts)) and outputs.answered.all()
    assert (query.rows, query.asked, sorted(victim.rows)) == (5, 2, [("one",), ("three",)])
    again = query(["three", "two"])
    assert np.array_equal(again.answers, lengths(["three", "two"]))
    assert (query.rows, query.asked, victim.batches[-1]) == (7, 3, [("two",)])
    query.forget()
    query(["three"])
    assert query.asked == 4


def test_nothing_asked_is_nothing_answered() -> None:
    victim = Scripted()
    outputs = Query(victim)([])
    assert len(outputs) == 0 and victim.batches == []


def test_pairs_and_tokens_are_rows_of_their_own() -> None:
    victim = Scripted()
    query = Query(victim)
    query(["a", "b", "a"], ["b", "a", "b"])
    assert sorted(victim.rows) == [("a", "b"), ("b", "a")]
    query([("a", "b"), ("ab",), ("a", "b")])
    assert query.asked == 4 and (("a", "b"),) in victim.rows and (("ab",),) in victim.rows


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Query(Scripted())(["a", "b"], ["c"])


def test_the_longest_come_first_in_full_batches() -> None:
    victim = Scripted(rows=4)
    texts = ["x" * n for n in (3, 9, 1, 7, 5, 2, 8, 6, 4, 10)]
    outputs = Query(victim)(texts)
    assert [len(batch) for batch in victim.batches] == [4, 4, 2]
    assert [len(text) for (text,) in victim.rows] == list(range(10, 0, -1))
    assert np.array_equal(outputs.answers, lengths(texts)), "the answers are in the order of the question"


def test_length_counts_both_sides_and_all_tokens() -> None:
    victim = Scripted(rows=1)
    Query(victim)(["aaaa", "a"], ["b", "bbbbbbbb"])
    assert victim.rows == [("a", "bbbbbbbb"), ("aaaa", "b")]
    victim = Scripted(rows=1)
    Query(victim)([("abcdef",), ("a", "b", "c")])
    assert victim.rows == [(("abcdef",),), (("a", "b", "c"),)]


@given(texts=st.lists(st.text(max_size=6), max_size=30), rows=st.integers(1, 7))
def test_batches_change_nothing(texts: list[str], rows: int) -> None:
    victim = Scripted(rows=rows)
    outputs = Query(victim, remember=3)(texts)
    expected = lengths(texts)
    assert len(outputs) == len(texts) and outputs.answered.all()
    assert all(np.array_equal(got, want) for got, want in zip(outputs.answers, expected, strict=True))
    assert len(victim.rows) == len(set(texts)) and all(len(batch) <= rows for batch in victim.batches)


def test_memory_keeps_what_was_used_last() -> None:
    victim = Scripted()
    query = Query(victim, remember=2)
    query(["a", "bb"])
    query(["a"])  # used again: bb is now the oldest
    query(["ccc"])
    assert len(query.memory) == 2
    victim.batches.clear()
    query(["a", "ccc"])
    assert victim.batches == []
    query(["bb"])
    assert victim.rows == [("bb",)]


def test_a_question_larger_than_the_memory_is_answered_whole() -> None:
    query = Query(Scripted(rows=3), remember=2)
    texts = [str(n) * (n + 1) for n in range(8)]
    assert np.array_equal(query(texts).answers, lengths(texts)) and len(query.memory) == 2


# the cache on disk

KINDS: dict[str, Any] = {
    "scores": np.array([[1 / 3, 2 / 3], [0.1, 0.9]], np.float32),
    "labels": np.array([1, 0]),
    "sets": np.array([[True, False], [False, False]]),
    "tags": as_objects([np.array([0, 1, 1]), np.array([], np.int64)]),
    "texts": as_objects(["ein Satz mit ü und 😀", ""]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_cached_answers_are_identical(kind: str, cache: DiskCache) -> None:
    by_text = dict(zip(("first", "second"), KINDS[kind], strict=True))

    def answer(texts: Column) -> Any:
        found = [by_text[str(text)] for text in texts]
        return as_objects(found) if KINDS[kind].dtype == object else np.array(found)

    fresh = Query(Scripted(answer), cache=cache)(["first", "second"])
    victim = Scripted(answer)
    cached = Query(victim, cache=cache)(["first", "second"])
    assert victim.batches == [] and cached.answered.all()
    assert cached.answers.dtype == fresh.answers.dtype == KINDS[kind].dtype
    assert cached.answers.shape == fresh.answers.shape
    for one, other, told in zip(fresh.answers, cached.answers, KINDS[kind], strict=True):
        assert type(one) is type(other) and np.array_equal(one, told) and np.array_equal(other, told)
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes() and one.dtype == other.dtype


def test_the_cache_is_shared_and_keyed_by_model_and_texts(tmp_path: Path) -> None:
    path = str(tmp_path / "answers.db")
    one, two = DiskCache(path), DiskCache(path)
    first, second, other = Scripted(), Scripted(), Scripted(identity="v2")
    Query(first, cache=one)(["a", "bb"])
    Query(second, cache=two)(["a", "bb", "ccc"])
    assert second.rows == [("ccc",)]
    Query(other, cache=two)(["a"])
    assert other.rows == [("a",)], "another model has other answers"
    asked = Scripted()
    query = Query(asked, cache=one)
    query(["a"], ["bb"])
    query([("a", "bb")])
    query([("a",), ("bb",)])
    query(["a bb"], ["a"])
    assert query.asked == 5, "pairs, tokens and texts are different questions"
    query.forget()
    query([("a", "bb"), ("a",)])
    assert query.asked == 5
    one.close()
    two.close()


def test_refusals_are_cached_and_errors_are_not(cache: DiskCache) -> None:
    def answer(texts: Column) -> Outputs:
        problem = [{"r": "refused", "u": "unparsed: ?", "e": "error: busy"}.get(str(text), "") for text in texts]
        return Outputs.of(lengths(texts), problem)

    texts = ["r", "u", "e", "fine"]
    Query(Scripted(answer), cache=cache)(texts)
    victim = Scripted(answer)
    outputs = Query(victim, cache=cache)(texts)
    assert victim.rows == [("e",)]
    assert outputs.problem.tolist() == ["refused", "unparsed: ?", "error: busy", ""]
    victim = Scripted(failing(lambda text: text == "boom"))
    query = Query(victim, cache=cache)
    query(["boom"])
    query(["boom"])
    assert query.asked == 2 and victim.rows == [("boom",)] * 2, (
        "an error may pass: it is asked again, even by one query"
    )


def test_answers_are_on_disk_when_a_later_batch_breaks_the_run(cache: DiskCache) -> None:
    def interrupted(texts: Column) -> Any:
        if "b" in texts:
            raise KeyboardInterrupt
        return lengths(texts)

    with pytest.raises(KeyboardInterrupt):
        Query(Scripted(interrupted, rows=1), cache=cache)(["aaa", "b"])
    victim = Scripted()
    Query(victim, cache=cache)(["aaa", "b"])
    assert victim.rows == [("b",)]


def test_a_damaged_cache_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(b"this is not a data base, it is a text" * 200)
    with pytest.raises(OSError, match=r"^[^\n]*answers.db: expected a cache file that Scuff wrote, got: [^\n]*$"):
        DiskCache(str(path))
    with pytest.raises(OSError, match="expected a cache file"):
        DiskCache(str(tmp_path / "no" / "such" / "folder.db"))


def test_a_file_of_someone_else_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE answers (question TEXT)")
    theirs.close()
    opened = DiskCache(str(path))
    with pytest.raises(OSError, match=r"theirs.db: expected a cache file that Scuff wrote, got: no such column"):
        Query(Scripted(), cache=opened)(["a"])
    opened.close()


def test_a_cache_that_is_damaged_inside_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    whole = DiskCache(str(path))
    Query(Scripted(), cache=whole)([f"text number {n}" for n in range(400)])
    whole.file.execute("UPDATE answers SET answer = substr(answer, 5)")
    whole.file.commit()
    with pytest.raises(OSError, match=r"answers\.db: expected a cache file"):
        Query(Scripted(), cache=whole)(["text number 1"])
    whole.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    path.write_bytes(raw)
    damaged = DiskCache(str(path))
    with pytest.raises(OSError, match=r"answers\.db: expected a cache file"):
        Query(Scripted(), cache=damaged)([f"text number {n}" for n in range(400)])
    damaged.close()


# budgets


def test_budget_of_a_run() -> None:
    victim = Scripted()
    query = Query(victim, max_queries=3)
    query(["a", "b", "a", "a"])
    with pytest.raises(BudgetSpent, match="expected at most 3 queries, got 4"):
        query(["a", "c", "d"])
    assert query.asked == 2 and len(victim.batches) == 1, "nothing was asked beyond the budget"
    assert query(["a", "c"]).answered.all() and query.asked == 3, "what is known is free"


# failures


def test_only_the_bad_rows_fail() -> None:
    texts = [f"text number {n}" for n in range(40)]
    victim = Scripted(failing(lambda text: text.endswith((" 7", " 23"))), rows=16)
    query = Query(victim)
    outputs = query(texts)
    assert np.flatnonzero(~outputs.answered).tolist() == [7, 23]
    assert outputs.problem[7] == "error: RuntimeError: cannot take text number 7", "the first line of the message"
    good = np.flatnonzero(outputs.answered)
    assert np.array_equal(outputs.answers[good], lengths([texts[at] for at in good]))
    assert np.isnan(outputs.answers[[7, 23]]).all()
    assert query.errors == 2 and query.asked == 84


@pytest.mark.parametrize("kind", KINDS)
def test_failed_rows_have_the_shape_of_the_rest(kind: str) -> None:
    def answer(texts: Column) -> Any:
        return KINDS[kind][[0] * len(texts)]

    outputs = Query(Scripted(failing(lambda text: text == "bad", answer)))(["good", "bad"])
    assert outputs.answers.dtype == KINDS[kind].dtype and outputs.answered.tolist() == [True, False]
    nothing, letter = outputs.answers[1], outputs.answers.dtype.kind
    if letter == "O":
        assert nothing is None
    else:
        assert np.array_equal(nothing, np.full_like(nothing, {"f": np.nan, "i": -1, "b": False}[letter]), letter == "f")


def test_a_victim_that_always_fails() -> None:
    query = Query(Scripted(failing(lambda text: True)))
    outputs = query(["a", "b", "c"])
    assert not outputs.answered.any() and len(outputs) == 3 and query.errors == 3
    assert all(reason.startswith("error: RuntimeError: cannot take") for reason in outputs.problem)


def test_rows_of_a_batch_that_failed_count_once() -> None:
    query = Query(Scripted(failing(lambda text: text == "bad")))
    query(["a", "b", "bad", "c"])
    assert query.queries == 4 < query.asked, "as a user counts them, and with those that were given once more"


def test_an_exception_without_words() -> None:
    def silent(texts: Column) -> Any:
        raise ValueError

    assert Query(Scripted(silent))(["a"]).problem.tolist() == ["error: ValueError: "]


def test_a_model_that_leaves_costs_its_rows() -> None:
    def leaving(texts: Column) -> Any:
        if "b" in texts:
            raise SystemExit(3)
        return lengths(texts)

    query = Query(Scripted(leaving))
    assert query(["a", "b", "c"]).problem.tolist() == ["", "error: SystemExit: 3", ""]
    assert (query.queries, query.errors) == (3, 1) and query.asked > 3


def test_what_no_row_is_to_blame_for_ends_the_run() -> None:
    def lacking(texts: Column) -> Any:
        raise MissingResource("expected a package, got none")

    query = Query(Scripted(lacking))
    with pytest.raises(MissingResource):
        query(["a", "b"])
    assert query.errors == 0


def test_interrupts_are_not_errors() -> None:
    def stopped(texts: Column) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Query(Scripted(stopped))(["a", "b"])


@pytest.mark.parametrize("limit", [0, 2])
def test_max_errors(limit: int) -> None:
    bad = [f"bad {n}" for n in range(10)]
    query = Query(Scripted(failing(lambda text: text.startswith("bad"))), max_errors=limit)
    assert query(["fine"]).answered.all()
    if limit:
        assert not query(bad[:limit]).answered.any(), "as many as allowed"
    said = rf"at most {limit} errors, got {limit + 1}; the last: RuntimeError: cannot take bad"
    with pytest.raises(TooManyErrors, match=said):
        query([*bad[limit:], "fine again"])


@pytest.mark.parametrize(("error", "said"), [(SystemExit(0), "SystemExit: 0"), (MemoryError(), "MemoryError")])
def test_the_last_error_is_named(error: BaseException, said: str) -> None:
    """A message alone may be a number, or nothing."""

    def ends(*columns: Column) -> Any:
        raise error

    with pytest.raises(TooManyErrors, match=rf"the last: {said}$"):
        Query(Scripted(ends), max_errors=0)(["a"])


def test_errors_that_a_victim_tells_itself_count() -> None:
    def answer(texts: Column) -> Outputs:
        return Outputs.of(lengths(texts), ["error: 503 busy" if "e" in text else "" for text in texts])

    query = Query(Scripted(answer), max_errors=1)
    assert query(["e", "a"]).problem.tolist() == ["error: 503 busy", ""] and query.errors == 1
    with pytest.raises(TooManyErrors, match="got 2; the last: error: 503 busy"):
        query(["ee"])


def test_refusals_are_no_errors() -> None:
    query = Query(Scripted(lambda texts: Outputs.of(lengths(texts), ["refused"] * len(texts))), max_errors=0)
    assert query(["a", "b"]).problem.tolist() == ["refused"] * 2 and query.errors == 0


@pytest.mark.parametrize("wrong", [0, 1, 5])
def test_wrong_number_of_answers(wrong: int) -> None:
    query = Query(Scripted(lambda texts: lengths(["x"] * wrong)))
    with pytest.raises(ValueError, match=f"expected 3 answers from scripted, got {wrong}"):
        query(["a", "b", "c"])


def test_time_inside_the_victim_is_kept_apart() -> None:
    def slow(texts: Column) -> Any:
        time.sleep(0.05)
        return lengths(texts)

    query = Query(Scripted(slow))
    begin = time.perf_counter()
    query(["a", "b"])
    time.sleep(0.05)
    wall = time.perf_counter() - begin
    assert 0.05 <= query.seconds < wall - 0.045
    before = query.seconds
    query(["a", "b"])
    assert query.seconds == before, "what is remembered costs nothing"


def test_time_of_failed_calls_counts_once() -> None:
    def slow(texts: Sequence[Any]) -> Any:
        time.sleep(0.02)
        raise RuntimeError("no")

    query = Query(Scripted(slow))
    begin = time.perf_counter()
    query(["a", "b"])
    assert 0.06 <= query.seconds <= time.perf_counter() - begin, "three calls, none counted inside another"
