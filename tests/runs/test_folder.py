"""Saved trials: plain arrays, the same bytes for the same content, whole or not at all, and clear words for damage."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reference import slow
from scuff.runs.folder import Arrays, BadRun, Folder
from scuff.runs.pack import pack_answers, pack_edits, pack_texts, unpack_answers, unpack_texts
from scuff.runs.schema import SCHEMA
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged
from scuff.victims.base import as_objects
from strategies import text as nasty_text

ANY = st.text(st.characters(exclude_categories=()), max_size=8)  # half surrogate pairs and all
ARRAYS: Arrays = {
    "score": np.array([0, 1, np.nan], np.float32),
    "example": np.arange(3, dtype=np.int32),
    "sets": np.array([[True, False]] * 3),
    **pack_texts("reason", ["error: boom", "größer 👍🏽"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "run")
    made.start({"schema": SCHEMA}, [{"id": "0"}])
    return made


def same(one: Arrays, other: Arrays) -> bool:
    return one.keys() == other.keys() and all(
        one[key].dtype == other[key].dtype
        and np.array_equal(one[key], other[key], equal_nan=one[key].dtype.kind == "f")
        for key in one
    )


def everything(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def test_parts_are_plain_arrays(folder: Folder) -> None:
    folder.write_part("round0-00000", ARRAYS)
    assert same(folder.read_part("round0-00000"), ARRAYS)
    with np.load(folder.part_path("round0-00000"), allow_pickle=False) as archive:
        assert sorted(archive.files) == sorted(ARRAYS)
        assert all(archive[key].dtype != object for key in archive.files)
    some = folder.read_part("round0-00000", ["score", "nothing"])
    assert list(some) == ["score"], "what a part does not have is left out"
    assert folder.parts() == ["round0-00000"]
    assert folder.has_part("round0-00000") and not folder.has_part("round0-00001")


def test_same_arrays_same_bytes(folder: Folder, tmp_path: Path) -> None:
    other = Folder(tmp_path / "other")
    other.start({}, [])
    folder.write_part("a", ARRAYS)
    wide = np.zeros((3, 4), bool)
    wide[:, ::2] = ARRAYS["sets"]
    other.write_part("a", {key: wide[:, ::2] if key == "sets" else ARRAYS[key] for key in reversed(list(ARRAYS))})
    assert folder.part_path("a").read_bytes() == other.part_path("a").read_bytes()
    with zipfile.ZipFile(folder.part_path("a")) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}, "no time of writing"
    other.write_part("a", {**ARRAYS, "example": np.array([0, 1, 3], np.int32)})
    assert folder.part_path("a").read_bytes() != other.part_path("a").read_bytes()


def test_a_part_never_holds_python_objects(folder: Folder) -> None:
    before = everything(folder.path)
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        folder.write_part("a", {"answers": as_objects([None, "text"])})
    assert everything(folder.path) == before


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.6, 0.99])
def test_truncated_parts_are_told(folder: Folder, share: float) -> None:
    folder.write_part("a", ARRAYS)
    path = folder.part_path("a")
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(
        BadRun, match=r"expected a part of the trials, got: .*; delete it to have it made again"
    ) as caught:
        folder.read_part("a")
    assert str(path) in str(caught.value)


def test_damaged_parts_are_told_or_read_right(folder: Folder) -> None:
    """Any one byte may be wrong: no other numbers come out of it, nor another exception."""
    folder.write_part("a", ARRAYS)
    path = folder.part_path("a")
    raw, told = bytearray(path.read_bytes()), 0
    for at in range(0, len(raw), 3):
        for change in (0xFF, 1 << at % 8):
            path.write_bytes(raw[:at] + bytes([raw[at] ^ change]) + raw[at + 1 :])
            try:
                assert same(folder.read_part("a"), ARRAYS), at
            except BadRun:
                told += 1
    assert told > len(raw) / 6, "much of the rest is what zip writes twice, or times"


def test_what_is_no_part_is_told(folder: Folder) -> None:
    path = folder.part_path("a")
    for content in (b"plain text", b"PK\x05\x06" + bytes(18) + b"x", bytes(100)):
        path.write_bytes(content)
        with pytest.raises(BadRun, match="expected a part of the trials"):
            folder.read_part("a")
    with open(path, "wb") as out:
        np.save(out, np.arange(3))  # an array, not an archive
    with pytest.raises(BadRun, match="expected a part of the trials"):
        folder.read_part("a")
    np.savez(path, answers=np.array([{}], object))
    with pytest.raises(BadRun, match="expected a part of the trials"):
        folder.read_part("a")
    with pytest.raises(BadRun, match="expected a part of the trials"):
        folder.read_part("not there")


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_nothing_is_half_written(folder: Folder, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_part("a", ARRAYS)
    folder.write_json("summary.json", {"schema": SCHEMA, "old": True})
    before = everything(folder.path)

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, where, fail)
    for write in (
        lambda: folder.write_part("a", {"score": np.zeros(3)}),
        lambda: folder.write_part("b", ARRAYS),
        lambda: folder.write_json("summary.json", {}),
        lambda: folder.write_lines("results.jsonl", [{}]),
    ):
        with pytest.raises(OSError, match="no space left"):
            write()
    assert everything(folder.path) == before


def test_lines_that_fail_half_way_leave_the_old_file(folder: Folder) -> None:
    folder.write_lines("results.jsonl", [{"id": 1}])
    before = everything(folder.path)

    def lines() -> Any:
        yield {"id": 1}
        raise KeyError("gone")

    with pytest.raises(KeyError):
        folder.write_lines("results.jsonl", lines())
    assert everything(folder.path) == before


def test_what_a_killed_process_leaves_is_not_taken_for_a_part(folder: Folder) -> None:
    folder.write_part("a", ARRAYS)
    (folder.path / "trials" / ".b.npz.123.part").write_bytes(b"half")
    assert folder.parts() == ["a"]


def test_an_error_of_python_is_no_damage(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11.7 now and then raises SystemError where several threads read the headers of arrays."""
    folder.write_part("a", ARRAYS)
    plain, raised = ast.literal_eval, list[str]()

    def literal(text: Any) -> Any:
        if len(raised) < 3:
            raised.append(text)
            raise SystemError("AST constructor recursion depth mismatch (before=18, after=17)")
        return plain(text)

    monkeypatch.setattr(ast, "literal_eval", literal)
    assert same(folder.read_part("a"), ARRAYS) and len(raised) == 3


def test_what_a_killed_worker_leaves_is_deleted_in_the_end(folder: Folder) -> None:
    """A finished run has no files that an undisturbed one has not."""
    with folder.locked():
        folder.write_part("a", ARRAYS)
        before = everything(folder.path)
        (folder.path / "trials" / ".b.npz.123.part").write_bytes(b"half")
    assert everything(folder.path) == before


def test_a_folder_is_started_once(tmp_path: Path) -> None:
    new = Folder(tmp_path / "deep" / "run")
    assert not new.started
    new.start({"schema": SCHEMA, "name": "größer"}, ({"id": str(at)} for at in range(3)))
    assert new.started and new.path == tmp_path / "deep" / "run"
    assert new.read_json("run.json") == {"schema": SCHEMA, "name": "größer"}
    assert list(new.read_lines("examples.jsonl")) == [{"id": "0"}, {"id": "1"}, {"id": "2"}]
    assert "größer" in (new.path / "run.json").read_text(encoding="utf-8")


def test_other_peoples_folders_are_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    with Folder(theirs).locked():  # an empty one is fine
        pass
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").write_bytes(b"")
    (tmp_path / "file").write_bytes(b"")
    for name in ("photos", "file"):
        with (
            pytest.raises(BadRun, match=f"{name}: expected a new folder or a run of Scuff, got something else"),
            Folder(tmp_path / name).locked(),
        ):
            pass
    assert everything(tmp_path / "photos") == {"me.jpg": b""}


def test_a_start_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    (tmp_path / "examples.jsonl").write_text("{}\n")
    (tmp_path / ".examples.jsonl.123.part").write_text("{")
    folder = Folder(tmp_path)
    assert not folder.started
    folder.start({"schema": SCHEMA}, [{"id": "0"}])
    assert folder.started


def test_wrong_files_are_told(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(BadRun, match=r"expected a run folder with run\.json, got none"):
        Folder(tmp_path / "nowhere").read_json("run.json")
    (folder.path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(BadRun, match=r"run\.json: expected JSON, got"):
        folder.read_json("run.json")
    (folder.path / "examples.jsonl").write_text('{"id": 1}\n{', encoding="utf-8")
    with pytest.raises(BadRun, match=r"examples\.jsonl: expected JSON lines, got"):
        list(folder.read_lines("examples.jsonl"))
    with pytest.raises(BadRun, match=r"nothing\.jsonl: expected JSON lines"):
        list(folder.read_lines("nothing.jsonl"))


def test_a_second_process_is_refused(folder: Folder) -> None:
    code = (
        "import sys; from scuff.runs.folder import BadRun, Folder\n"
        "try:\n    with Folder(sys.argv[1]).locked(): print('mine')\n"
        "except BadRun as error: print(error)"
    )

    def other() -> str:
        return subprocess.run(
            [sys.executable, "-c", code, str(folder.path)], capture_output=True, text=True, check=True
        ).stdout

    with folder.locked():
        assert "expected a run that nobody works on, got one that another process is busy with" in other()
        with pytest.raises(BadRun, match="nobody works on"), Folder(folder.path).locked():
            pass
    assert other() == "mine\n"
    with pytest.raises(RuntimeError), folder.locked():
        raise RuntimeError
    with folder.locked():
        pass


@given(st.lists(ANY, max_size=6))
def test_texts_come_back(texts: list[str]) -> None:
    packed = pack_texts("answer", texts)
    assert unpack_texts("answer", packed) == texts
    assert packed["answer_bytes"].dtype == np.uint8 and packed["answer_offsets"].size == len(texts) + 1
    assert unpack_answers(pack_answers(as_objects(texts))).tolist() == texts


@given(st.lists(st.one_of(st.none(), st.lists(st.integers(-1, 300), max_size=5)), min_size=1, max_size=6))
def test_tags_come_back(rows: list[list[int] | None]) -> None:
    answers = as_objects([None if row is None else np.array(row, np.int64) for row in rows])
    back = unpack_answers(pack_answers(answers))
    if any(row is not None for row in rows):
        assert [tags.tolist() for tags in back] == [row or [] for row in rows]
    else:
        assert back.tolist() == [""] * len(rows), "nothing tells that these were to be tags"


@given(st.integers(0, 5), st.integers(1, 4), st.integers(0, 2**32))
def test_numbers_come_back(rows: int, labels: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.random((rows, labels)).astype(np.float32)
    scores[random.random(scores.shape) < 0.2] = np.nan
    back = unpack_answers(pack_answers(scores))
    assert back.dtype == np.float32 and back == pytest.approx(scores, abs=5.1e-6, nan_ok=True), "five digits"
    assert np.array_equal(unpack_answers(pack_answers(back)), back, equal_nan=True)
    kinds: list[npt.NDArray[Any]] = [random.random((rows, labels)) < 0.5, random.integers(-1, labels, rows)]
    for answers in kinds:
        assert np.array_equal(unpack_answers(pack_answers(answers)), answers)


def test_every_kind_of_answer_is_among_the_answer_columns() -> None:
    kinds: list[npt.NDArray[Any]] = [
        np.zeros((2, 3)), np.zeros((2, 3), bool), np.zeros(2, np.int64), as_objects(["a", None]),
        as_objects([np.array([1]), None]), as_objects([]),
    ]  # fmt: skip
    for answers in kinds:
        assert len(unpack_answers(pack_answers(answers))) == len(answers)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=4), st.integers(0, 99))
def test_edits_come_back(texts: list[str], seed: int) -> None:
    """Two columns, each in two stretches of cases; the packed edits of a case rebuild its texts."""
    texts = [f"{text} and some words" for text in texts]
    corpus = Corpus.of(texts)
    made: list[tuple[int, int, Edits]] = []
    wanted: dict[tuple[int, int], str] = {}  # (column, case): text
    for column, name in enumerate(("keyboard", "segment")):
        for first in (0, len(texts)):
            edits = scuff.parse(name).edits(corpus, 0.6, seed=seed, draw=first, selection="quota")
            made.append((column, first, edits))
            after = corpus.apply(edits).strings()
            wanted |= {(column, first + row): text for row, text in enumerate(after)}
    packed = pack_edits(made)
    assert (np.diff(packed["edit_case"]) >= 0).all()
    new = unpack_texts("edit_text", packed)
    for (column, case), text in wanted.items():
        at = np.flatnonzero((packed["edit_case"] == case) & (packed["edit_column"] == column)).tolist()
        changes = [(int(packed["edit_start"][i]), int(packed["edit_stop"][i]), new[i]) for i in at]
        assert slow.splice(texts[case % len(texts)], changes) == text


def test_no_edits_at_all() -> None:
    packed = pack_edits([])
    assert packed["edit_case"].size == 0 and unpack_texts("edit_text", packed) == []


def test_json_is_for_everyone(folder: Folder) -> None:
    folder.write_json("summary.json", {"schema": SCHEMA, "name": "größer"})
    assert json.loads((folder.path / "summary.json").read_bytes().decode())["name"] == "größer"
    assert (folder.path / "summary.json").read_bytes().endswith(b"}\n")


@given(st.lists(st.tuples(st.integers(0, 3), nasty_text, st.integers(0, 1)), max_size=12), st.integers(0, 3))
def test_edits_are_packed_as_one_by_one(edits: list[tuple[int, str, int]], first: int) -> None:
    """Packed as arrays, without a string for each edit: the same bytes as one by one."""
    parts = []
    for column in (0, 1):
        own = sorted((row, at, new) for at, (row, new, where) in enumerate(edits) if where == column)
        row, at = (np.array([each[k] for each in own], np.int64) for k in (0, 1))
        parts.append((column, first, Edits(row, at, at, Ragged.of([new for _, _, new in own]), at, at)))
    packed = pack_edits(parts)
    flat = [(int(row) + first, text) for _, _, e in parts for row, text in zip(e.row, e.text.strings(), strict=True)]
    texts = [text for _, text in sorted(flat, key=lambda pair: pair[0])]
    slow_way = pack_texts("edit_text", texts)
    assert same({name: packed[name] for name in slow_way}, slow_way)
    for begin in range(len(texts) + 1):
        for end in range(begin, len(texts) + 1):
            assert unpack_texts("edit_text", packed, begin, end) == texts[begin:end]


def test_many_parts_are_read_in_order(folder: Folder) -> None:
    """Threads read ahead: a damaged part raises in its turn, whichever thread met it."""
    names = [f"part-{at:02}" for at in range(40)]
    for at, name in enumerate(names):
        folder.write_part(name, {"number": np.full(3, at), "other": np.arange(at)})
    assert [part["number"][0] for part in folder.read_parts(names, ["number"])] == list(range(40))
    assert all(set(part) == {"number", "other"} for part in folder.read_parts(names))
    assert list(folder.read_parts([])) == [] and list(folder.faults(names)) == [""] * 40
    folder.part_path("part-07").write_bytes(b"nothing")
    found = folder.read_parts(names, ["number"])
    assert [next(found)["number"][0] for _ in range(7)] == list(range(7))
    with pytest.raises(BadRun, match="part-07"):
        next(found)
    assert [bool(fault) for fault in folder.faults(names)] == [at == 7 for at in range(40)]
