"""Blocks of any size, treated one by one and joined, are what the whole file becomes at once."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scuff.data import blocks
from scuff.data.blocks import blocks_of, can_be_cut, first_chunk
from scuff.data.formats.csv import Csv
from scuff.data.formats.files import Input
from scuff.data.formats.streams import BadInput
from scuff.data.perturbing import Rewriting, open_perturbing
from scuff.data.shielding import open_mending, open_telling

INTRUDE = open_perturbing("intrude|truncate", "mid", 3, None, ["numbers"], False, [], 2)

LETTERS = st.characters(codec="utf-8", exclude_characters="\r\n\x00")
TEXT = st.text(st.one_of(st.sampled_from('a "b,\u00e9\U0001f600'), LETTERS), max_size=12)
FIELD = st.text(st.sampled_from('a "b,\n\u00e9'), max_size=8)


def whole(source: Input, treatment: Rewriting = INTRUDE) -> tuple[bytes, bytes, object]:
    out, log = io.BytesIO(), io.BytesIO()
    tally = treatment(source, out, log)
    return out.getvalue(), log.getvalue(), tally


def by_blocks(source: Input, size: int, treatment: Rewriting = INTRUDE) -> tuple[bytes, bytes, object]:
    found, total = [], treatment.work.new_tally()
    for block in blocks_of(source, first_chunk(source)[0], size):
        found.append(whole(block, treatment))
        total.add(type(total).restored(json.loads(json.dumps(found[-1][2].saved()))))
    return b"".join(out for out, _, _ in found), b"".join(log for _, log, _ in found), total


def same(folder: Path, name: str, content: bytes, size: int, **about: object) -> int:
    """Checks that blocks give the same as the whole file. Returns how many blocks there were."""
    (folder / name).write_bytes(content)
    source = Input(str(folder / name), **about)  # type: ignore[arg-type]
    assert can_be_cut(source, "out")
    for ahead in (1, blocks.AHEAD):  # the first: nearly each record is read in several parts
        with patch.object(blocks, "AHEAD", ahead):
            assert by_blocks(source, size) == whole(source)
    parts = [each.block for each in blocks_of(source, first_chunk(source)[0], size)]
    assert [part.start for part in parts if part] == [0, *(part.stop for part in parts[:-1] if part)]
    return len(parts)


@settings(max_examples=12)
@given(st.lists(TEXT, min_size=1, max_size=12), st.integers(1, 60), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_lines(tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int, end: str, marked: bool) -> None:
    content = ("\ufeff" * marked + end.join(["first", *texts])).encode()
    same(tmp_path_factory.mktemp("a"), "a.txt", content, size, format="lines")


@settings(max_examples=12)
@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=10), st.integers(1, 60), st.booleans())
@example([('a"b', "x\ny"), ("\n", '""'), ("", 'q",\n"')], 5, True)
def test_csv(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], size: int, marked: bool) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n" if marked else "\n")
    writer.writerows([("text", 'a "name",\nin quotes'), *rows])
    folder = tmp_path_factory.mktemp("a")
    content = ("\ufeff" * marked + out.getvalue()).encode()
    same(folder, "a.csv", content, size, columns=["text"], key='a "name",\nin quotes')
    rest = content[content.index(b'quotes"') + 7 :].lstrip(b"\r\n")
    if rest.strip():
        same(folder, "b.csv", rest, size, columns=["1"], no_header=True)


def test_quotation_marks_inside_fields_open_nothing(tmp_path: Path) -> None:
    content = 'text,n\nA 5" disk,1\n\nplain,2\n"two\nlines ""here""",3\nno " end,4\nlast,5'
    for size in (*range(1, 30, 4), len(content)):
        count = same(tmp_path, "a.csv", content.encode(), size, columns=["text"])
    assert count == 1
    assert (
        same(tmp_path, "a.csv", content.replace(",", "\u00a6").encode(), 1, delimiter="\u00a6", columns=["text"]) == 6
    )


def test_blank_lines_before_a_table_without_header(tmp_path: Path) -> None:
    for size in (1, 3, 30):
        same(tmp_path, "a.csv", b"\n\r\n\n\ngood film,1\nlove it,2\n", size, columns=["1"], no_header=True)


def test_long_records_and_a_marked_header_in_quotes(tmp_path: Path) -> None:
    long = f"text,n\nshort,1\n{'word ' * 40},2\nshort,3\nshort,4\n{'word ' * 30},5\nshort,6\n"
    marked = '\ufeff"te\nxt",n\nfirst words,1\nsecond words,2\nthird words,3\n'
    for size in (1, 3, 5, 12, 30, 200):
        same(tmp_path, "a.csv", long.encode(), size, columns=["text"])
        same(tmp_path, "b.csv", marked.encode(), size, columns=["te\nxt"])


@settings(max_examples=12)
@given(st.lists(TEXT, min_size=1, max_size=8), st.integers(1, 80))
def test_json_lines(tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int) -> None:
    lines = ["\n" if text == "a" else json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(texts)]
    content = json.dumps({"id": "first", "text": "some words"}) + "\n" + "".join(lines)
    same(tmp_path_factory.mktemp("a"), "a.jsonl", content.encode(), size, key="id")


@settings(max_examples=12)
@given(
    st.lists(st.sampled_from(["", " ", "\u2003", "EU\tORG", "# text = a", "was\tO"]), max_size=14), st.integers(1, 40)
)
def test_tokens(tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int) -> None:
    same(tmp_path_factory.mktemp("a"), "a.conll", "\n".join(["EU\tORG", *lines]).encode(), size)


def test_tsv_and_conllu(tmp_path: Path) -> None:
    rows = "".join(f'{n}\t"a quote {n}\n' for n in range(20))
    assert same(tmp_path, "a.tsv", f"n\ttext\n{rows}".encode(), 40) > 5
    sentence = "# text = Dogs bark\n1\tDogs\tdog\n2\tbark\tbark\n\n"
    assert same(tmp_path, "a.conllu", (sentence * 9).encode(), 30) == 9


def test_parquet_in_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from scuff.data.formats import parquet

    monkeypatch.setattr(parquet, "BATCH", 10)
    texts = [f"text number {n} of them" if n % 7 else None for n in range(95)]
    table = pa.table({"n": range(95), "text": texts, "tags": [["a", "b"]] * 95})
    pq.write_table(table.replace_schema_metadata({"made": "here"}), tmp_path / "a.parquet", row_group_size=33)
    source = Input(str(tmp_path / "a.parquet"), columns=["text"])
    wanted = whole(source)
    for size in (10, 20, 50, 100):
        found = [whole(block) for block in blocks_of(source, first_chunk(source)[0], size)]
        out = io.BytesIO()
        parquet.join_parts([io.BytesIO(part) for part, _, _ in found], out)
        assert len(found) == -(-95 // size) and out.getvalue() == wanted[0]
        assert b"".join(log for _, log, _ in found) == wanted[1]


@pytest.mark.parametrize(
    "make",
    [lambda: open_mending("normalise", [], [], True), pytest.param(lambda: open_telling(None), marks=pytest.mark.slow)],
)
def test_shields(tmp_path: Path, make: object) -> None:
    lines = [f"Cl\u0456ck h.e.r.e and recieve fr33 mnoey {n}\n" for n in range(12)]
    (tmp_path / "a.txt").write_text("".join(lines))
    source = Input(str(tmp_path / "a.txt"))
    assert by_blocks(source, 100, make()) == whole(source, make())  # type: ignore[operator]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.txt", b"fine\n" * 8 + b"caf\xe9\n" + b"fine\n" * 8, "line 9: expected UTF-8, got byte 0xe9 at byte 43 of the file"),
        ("a.csv", b"text,n\n" + b'"two\nlines",1\n' * 4 + b"too few\n" + b"a,2\n" * 5, "line 10: expected 2 fields, got 1"),
        ("a.csv", b"text,n\n" + b"a,1\n" * 5 + b'"a"b,2\n' + b"a,2\n" * 9, "line 7: expected CSV, got a row that begins"),
        ("a.jsonl", b'{"text": "a"}\n' * 6 + b"{no\n" + b'{"text": "a"}\n' * 6, "line 7: expected a JSON object"),
        ("a.conllu", b"1\ta\tb\n\n" * 6 + b"what\n\n" + b"1\ta\tb\n\n" * 6, "line 13: expected CoNLL-U"),
    ],
)  # fmt: skip
def test_errors_name_the_line_of_the_file(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    source = Input(str(tmp_path / name), columns=["text"] if name in ("a.csv", "a.jsonl") else ())
    reader = source.open()
    if isinstance(reader, Csv):
        reader.header = ["text", "n"]
    for size in (1, 20, 1000):
        with pytest.raises(BadInput) as error:
            list(map(whole, blocks_of(source, reader, size)))
        assert told in str(error.value)
    reader.source.close()


def test_what_cannot_be_cut(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\x1f\x8b..")
    (tmp_path / "b.txt").write_text("a\n")
    assert not can_be_cut(Input(str(tmp_path / "a.txt"), "lines"), "out")
    source = Input(str(tmp_path / "b.txt"))
    assert can_be_cut(source, "out", None)
    assert (
        not can_be_cut(source, "-")
        and not can_be_cut(source, "/dev/null")
        and not can_be_cut(source, "out.gz")
        and not can_be_cut(Input("-", "lines"), "out")
    )
    assert not can_be_cut(replace(source, encoding="latin-1"), "out") and not can_be_cut(
        replace(source, format="whole"), "out"
    )
    block = next(blocks_of(source, first_chunk(source)[0]))
    (tmp_path / "b.txt").write_text("")
    with pytest.raises(BadInput, match="expected a file that stays as it is, got one that changed"):
        whole(block)
