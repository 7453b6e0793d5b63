"""What a file holds is recognised by its content; structure that is not known is refused, never perturbed as plain text."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.cli.main import main
from scuff.data.formats import jsonl, streams
from scuff.data.formats.files import Input, format_of
from scuff.data.perturbing import Rewriting, treat_file
from scuff.perturbations.plan import Plan

LINES = '{"id": 12345678901234567890123, "f": 1.10e-7, "text": "hello there", "d": 1, "d": 2}\n{"text": null}\n'
ARRAY = '[\n  {"text": "hello \\u00e9t\\u00e9s", "n": 1.10},\n  {"n": 1e400 , "text":"more words"}\n]\n'
NEW = {"hello there": "hell ther", "hello \\u00e9t\\u00e9s": "hell \\u00e9t\\u00e9", "more words": "mor word"}


def truncated(text: str) -> str:
    for old, new in NEW.items():
        text = text.replace(old, new)
    return text


def perturbed(folder: Path, name: str, content: str | bytes, *options: str) -> bytes:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    target = folder / f"out.{name}"
    command = ["perturb", str(folder / name), "-p", "truncate", "-l", "1", "-o", str(target), "-q", *options]
    assert main(command) == 0
    return target.read_bytes()


@pytest.mark.parametrize("content", [LINES, ARRAY, '\ufeff["hello there", null,\t"more words"]'])
@pytest.mark.parametrize("name", ["a.json", "a", "a.txt", "a.data", "a.json.bak", "a.JSON~"])
def test_json_is_known_by_its_content(content: str, name: str, tmp_path: Path) -> None:
    assert perturbed(tmp_path, name, content).decode() == truncated(content)
    assert perturbed(tmp_path, name, gzip.compress(content.encode())).decode() == truncated(content)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.bak", "a.jsonlines", "a.ndjson", "a.jsonl.1", "a.jsonl.gz.old"])
def test_names_of_json_lines(name: str, tmp_path: Path) -> None:
    assert format_of(name) == "jsonl"
    assert perturbed(tmp_path, name, LINES).decode() == truncated(LINES)


@contextmanager
def piped(content: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Standard input is a pipe, which cannot be read twice."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as out:
        out.write(content)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield


@pytest.mark.parametrize("content", [LINES, ARRAY, "hello there\n"])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_pipe_is_known_by_its_content(
    content: str, zipped: bool, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with piped(gzip.compress(content.encode()) if zipped else content.encode(), monkeypatch):
        assert main(["perturb", "-", "-p", "truncate", "-l", "1"]) == 0
    out, err = capfdbinary.readouterr()
    assert out == truncated(content).encode()
    assert (b"standard input: read as json" in err) == ("{" in content), "what the content has decided is told"


def test_a_slow_pipe_is_waited_for(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    parts = [b"# sent_id = 1\n", b"# text = Go on\n", b"1\tGo\tgo\tVERB\n", b"2\ton\ton\tADP\n\n"]

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as out:
            for part in parts:
                out.write(part)
                time.sleep(0.02)

    thread = threading.Thread(target=write)
    thread.start()
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(["perturb", "-", "-p", "truncate"]) == 2
        thread.join()
    out, err = capfd.readouterr()
    assert not out and "got a token file: name it with --format conllu" in err


def test_copies_of_an_array_are_an_array(tmp_path: Path) -> None:
    twice = json.loads(perturbed(tmp_path, "a.json", ARRAY, "--copies", "2"))
    assert [(row["text"], row["draw"]) for row in twice] == [
        ("hell été", 0), ("hell été", 1), ("mor word", 0), ("mor word", 1)
    ]  # fmt: skip
    assert perturbed(tmp_path, "b.json", "[]\n", "--copies", "2") == b"[]\n"
    assert json.loads(perturbed(tmp_path, "c.json", '["more words"]', "--copies", "2")) == ["mor word"] * 2
    (tmp_path / "d.json").write_text('[{"text": "short", "y": 1}, {"text": "one two three four five six", "y": 2}]')
    assert [*map(len, scuff.augment(tmp_path / "d.json", dimensions="truncate", degree=0.2, only_perturbed=True))] == [
        2
    ]
    command = ["augment", str(tmp_path / "d.json"), "--dimensions", "truncate", "--degree", "0.2", "-q"]
    assert main([*command, "--only-perturbed", "-o", str(tmp_path / "e.json")]) == 0
    assert [row["y"] for row in json.loads((tmp_path / "e.json").read_text())] == [2]
    assert main([*command, "-o", str(tmp_path / "e.json")]) == 0
    assert [row["y"] for row in json.loads((tmp_path / "e.json").read_text())] == [1, 2, 2]


@given(
    st.lists(st.dictionaries(st.sampled_from(["text", "n"]), st.text(max_size=9) | st.none(), min_size=2), max_size=5),
    st.sampled_from([None, 1]),
    st.integers(1, 30),
)
def test_pieces_of_any_size_give_the_same_array(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str | None]], indent: int | None, size: int
) -> None:
    source = tmp_path_factory.mktemp("pieces") / "a.json"
    source.write_text(json.dumps(rows, indent=indent, ensure_ascii=False), encoding="utf-8")
    plan, usual = Plan.of("intrude", 1.0, 0, None, ()), (streams.CHUNK, jsonl.CHUNK)
    treat_file(Input(str(source)), str(source.parent / "usual.json"), Rewriting(plan))
    streams.CHUNK, jsonl.CHUNK = size, size
    try:
        treat_file(Input(str(source)), str(source.parent / "small.json"), Rewriting(plan))
    finally:
        streams.CHUNK, jsonl.CHUNK = usual
    assert (source.parent / "small.json").read_bytes() == (source.parent / "usual.json").read_bytes()
    wanted = [{**row, "text": row["text"] and scuff.perturb(row["text"], "intrude", 1.0)} for row in rows]
    assert json.loads((source.parent / "usual.json").read_bytes()) == wanted


def test_tokens_outside_edits_keep_every_byte(tmp_path: Path) -> None:
    line = '{"tokens":["Do","n\'t" ,\t"p\\u00e4nic"  , "a\\/b"],"tags":["A","B", "C","D"]}\n'
    assert perturbed(tmp_path, "a.jsonl", line, "-c", "tokens").decode() == line.replace("p\\u00e4nic", "p\\u00e4ni")


def test_escapes_outside_edits_keep_every_byte(tmp_path: Path) -> None:
    line = '{"text": "http:\\/\\/a.bc\\n caf\\u00E9\\u0021 \\ud83d\\uDE00 hello \\\\u00e9 there"}\n'
    assert json.loads(line)["text"] == "http://a.bc\n caf\u00e9! \U0001f600 hello \\u00e9 there"
    new = perturbed(tmp_path, "a.jsonl", line, "--only", "re:hello|there").decode()
    assert new == line.replace("hello", "hell").replace("there", "ther")
    mixed = '{"text": "caf\u00e9 isn\\u2019t hello"}\n'
    assert perturbed(tmp_path, "b.jsonl", mixed, "--only", "re:hello").decode() == mixed.replace("hello", "hell")


@given(st.text(), st.text(), st.booleans(), st.booleans())
def test_new_json_means_the_new_text(old: str, new: str, ascii_only: bool, slashes: bool) -> None:
    raw = json.dumps(old, ensure_ascii=ascii_only)
    raw = raw.replace("/", "\\/") if slashes else raw
    assert json.loads(jsonl.rewritten(raw, new)) == new and jsonl.rewritten(raw, old) == raw
    tokens = f"[{raw} ,  {raw}]"
    assert (
        json.loads(jsonl.rewritten(tokens, [new, old])) == [new, old] and jsonl.rewritten(tokens, [old, old]) == tokens
    )
    assert json.loads(jsonl.rewritten(tokens, [new])) == [new]


REFUSED = {
    "columns.json": ('{"text": ["a b", "c d"]}', "got a dictionary of columns"),
    "pandas": ('{"text": {"0": "a b", "1": "c d"}}\n', "got a dictionary of columns: write an array or JSON lines"),
    "one.json": ('{\n  "text": "a b"\n}\n', "expected a JSON array, or a JSON object per line, got one object"),
    "squad": ('{"version": 1,\n "data": []}', "got one object"),
    "numbers.json": ("[1, 2]", "line 1: expected objects or texts in a JSON array, got int"),
    "mixed.json": ('["a b",\n{"text": "c"}]', "line 2: expected items of one kind in a JSON array, got dict, too"),
    "cut.json": ('[{"text": "a b"},\n{"text": "c', "line 2: expected JSON, got: Unterminated string"),
    "more.json": ('[{"text": "a b"}]\n[]', "line 2: expected nothing after a JSON array, got '['"),
    "comma.json": ('[{"text": "a b"} {"text": "c"}]', "expected , or ] after an item of a JSON array, got '{'"),
    "text.json": ("hello there\n", "expected a JSON array, or a JSON object per line, got something else"),
    "lists": ('["a"]\n["b"]\n', "expected JSON objects, got an array on each line"),
    "page": ("<!DOCTYPE html>\n<p>hello</p>\n", "got HTML or XML: --format lines takes it as a text per line"),
    "page.html": ("hello\n", "got HTML: --format lines"),
    "a.yaml": ("text: hello\n", "got YAML: --format lines"),
    "a.xlsx": ("PK\x03\x04\x00", "a.xlsx: expected text, got a zip archive or a spreadsheet"),
    "a.dat": (b"\x80\x04\x95\xff", "a.dat: expected text, got a pickled object"),
    "table": ("id,text\n1,hello there\n", "got columns between ',': name it with --format csv, or --format lines"),
    "table.txt": ('"text";"label"\n"a; b";1\nc;2\n', "between ';': name it with --format csv --delimiter ';'"),
    "tabs.txt": ("hello\t1\nthere\t2\n", "got columns between tabs: name it with --format tsv (--no-header) or tokens"),
    "ud": (
        "# sent_id = 1\n# text = Go on\n1\tGo\tgo\tVERB\n2\ton\ton\tADP\n\n",
        "got a token file: name it with --format conllu",
    ),
    "one.word": ("# sent_id = 1\n1\tGo\tgo\tVERB\n\n", "--format conllu"),
    "tabs.tagged": ("# doc 1\nGo\tVB\non\tIN\n", "got a token file: name it with --format tokens"),
    "ner": ("EU B-ORG\nrejects O\n\nPeter B-PER\n", "got a token file: name it with --format tokens"),
    "ner.all.o": ("He O\nrejects O\n\nit O\nall O\n. O\n", "got a token file"),
    "pos": ("What PRON\nif SCONJ\n? PUNCT\n", "got a token file"),
    "pos.lower": ("What pron\nif sconj\n", "got a token file"),
    "pos.german": ("Das ART\nHaus NN\nist VAFIN\n\nDer ART\nHund NN\nist VAFIN\n", "got a token file"),
    "four": ("EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nPeter NNP B-NP B-PER\n", "got a token file"),
    "docstart": ("\nEU x\n\n-DOCSTART- -X-\n", "got a token file"),
    "list.txt": ("---\n- text: hello there\n  label: pos\n- text: more\n  label: neg\n", "got YAML: --format lines"),
    "list": ("- text: hello there\n  label: pos\n", "got YAML"),
    "keys": ("text: hello there\nlabel: pos\n", "got YAML"),
    "nested": ("train:\n  text: hello there\n  n: 1\n", "got YAML"),
    "texts": ("texts:\n- hello there\n- more words\n", "got YAML"),
    "single": ("- text: hello there\n- text: more words\n", "got YAML"),
    "commas.tsv": ('text,label\n"a, b",x\n', "got 'text,label': is it separated by something else (--format csv)?"),
    "bars.tsv": ("text|label\na|x\n", "something else (--format csv --delimiter '|')?"),
    "marks.csv": ("text;label\na;x\n", "something else (--format csv --delimiter ';')?"),
    "b.xlsx": ("hello\n", "got a spreadsheet: write it as CSV, JSON lines or Parquet first\n"),
    "b.tgz": (
        gzip.compress(b"a.txt".ljust(257, b"\0") + b"ustar\x0000" + b"\0" * 248),
        "got a tar archive: unpack it first\n",
    ),
    "archive": (b"a.txt".ljust(257, b"\0") + b"ustar\x0000" + b"\0" * 248, "got a tar archive: unpack it first\n"),
    "lists.jsonl": (
        '["a"]\n["b"]\n',
        'line 1: expected a JSON object, got list: write an object per line, such as {"text": ...}',
    ),
    "one.jsonl": ('["a"]\n', "got list (an array: --format json)"),
    "control.jsonl": ('{"text": "a\tb"}\n', "got Invalid control character at character 12\n"),
    "cut.jsonl": ('{"text": "a\n', "got Invalid control character at character 12\n"),
    "open.json": (
        '[\n{"text": "a b"}, {"text": "c',
        "line 2: expected JSON, got: Unterminated string starting at character 27\n",
    ),
    "conll": ("-DOCSTART- -X- O\n\nEU NNP O\n", "got a token file: name it with --format tokens"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_structure_that_is_not_known_is_refused(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content, message = REFUSED[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["perturb", str(tmp_path / name), "-p", "truncate", "-o", str(tmp_path / "out")]) == 2
    err = capfd.readouterr().err
    assert message in err and err.count("\n") == 1 and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content",
    ["[1] Smith et al.\n[2] others\n", "{curly} words\n", '["quoted"] words\n', "Hello, you\nDear, all\n", "nul\x00l\n",
     "Alice: hello there\nBob: more words\nAlice: bye\n", "Note: this is it\nnothing more\n", "- milk\n- eggs: two\n",
     "Shopping:\n- milk\n- eggs\n", "hello there\nmore words\n", "Chapter I\nChapter II\nChapter III\nChapter IV\nChapter V\n",
     "BUY NOW\nSELL NOW\nBUY IT\nSELL IT\nBUY NOW\n", "# heading\n\nsome words\n", "---\nhello there: you\nmore words\n",
     "log in\nsign in\n", "1. hello there\n2. more words\n", "Q: why not\nA: why so\n", "Dear all,\n\nTo: you\n"],
)  # fmt: skip
def test_plain_text_stays_plain_text(content: str, tmp_path: Path) -> None:
    for name in ("a.txt", "a", "a.md"):
        new = perturbed(tmp_path, name, content).decode()
        assert new.splitlines() == scuff.perturb(content.splitlines(), "truncate", 1.0) and new.endswith("\n")
    (tmp_path / "b.json").write_text(content)
    assert perturbed(tmp_path, "b.json", content, "--format", "lines") == new.encode(), "--format has the last word"


def test_labelled_data_gets_no_hint_at_plain_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("-DOCSTART- -X- O\n\nEU NNP O\n")
    assert main(["augment", str(tmp_path / "a.txt"), "-o", str(tmp_path / "b.txt")]) == 2
    err = capfd.readouterr().err
    assert err.endswith("a.txt: expected labelled data, got a token file: name it with --format tokens\n")


def test_delimiters_and_headers(tmp_path: Path) -> None:
    assert perturbed(tmp_path, "g.tsv", "a,text\nhello there\n", "--delimiter", "tab") == b"a,text\nhell ther\n"
    assert perturbed(tmp_path, "h.tsv", "text,y\nhello,1\n", "--format", "csv") == b"text,y\nhell,1\n"
    assert perturbed(tmp_path, "a.csv", 'n;text\n1;"hello; there"\n2;more\n', "--delimiter", ";") == (
        b'n;text\n1;"hell; ther"\n2;mor\n'
    )
    assert perturbed(tmp_path, "b.dat", 'n|text\n1|"hello| there"\n', "--delimiter", "|") == b'n|text\n1|"hell| ther"\n'
    assert perturbed(tmp_path, "c.csv", 'n\ttext\n1\t"hello there"\n', "--delimiter", "tab", "-c", "text") == (
        b'n\ttext\n1\t"hell ther"\n'
    )
    assert (
        perturbed(tmp_path, "d.csv", "\n1,more words\n2,hello\n", "--no-header", "-c", "2") == b"\n1,mor word\n2,hell\n"
    )
    assert perturbed(tmp_path, "e.tsv", "1\tmore words\n", "--no-header", "--text", "2", "--copies", "2") == (
        b"1\tmor word\t0\n1\tmor word\t1\n"
    )
    assert perturbed(tmp_path, "f.csv", "", "--no-header") == b""


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize(
    "content", ["h\u00e9llo there\r\nmore words", "n,text\n1,h\u00e9llo there\n", '[{"text": "h\u00e9llo there"}]']
)
def test_encodings_come_back(encoding: str, content: str, tmp_path: Path) -> None:
    raw = content.encode(encoding)
    options = ["--encoding", encoding, *(["--format", "csv"] if "," in content else [])]
    new = perturbed(tmp_path, "a", raw, *options)
    wanted = content.replace("h\u00e9llo there", "h\u00e9ll ther").replace("more words", "mor word")
    assert new.decode(encoding) == wanted and new[:4] == raw[:4], "the byte order mark, too"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encoding", "klingon"], "expected the name of an encoding, such as latin-1 or utf-16, for --encoding, got"),
        (["--encoding", "base64"], "expected the name of an encoding"),
        (["--encoding", "ascii"], "a.txt: expected ascii, got byte 0xe9 at byte 1 of the file"),
        ([], "line 1: expected UTF-8, got byte 0xe9 at byte 1 of the file; another encoding: --encoding NAME"),
        (["--encoding", "latin-1", "-p", "homoglyph"], "a.txt: expected characters that iso8859-1 has, the perturbation made"),
        (["--delimiter", ";;"], "expected one character, or tab, for --delimiter, got ';;'"),
        (["--delimiter", ";", "--format", "lines"], "expected csv or tsv for --delimiter, got lines"),
        (["--no-header", "--format", "jsonl"], "expected csv or tsv for --no-header, got jsonl"),
    ],
)  # fmt: skip
def test_wrong_descriptions_of_a_file(
    options: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_bytes(b"h\xe9llo there\n")
    chosen = [] if "-p" in options else ["-p", "truncate"]
    assert main(["perturb", str(tmp_path / "a.txt"), *chosen, "-l", "1", "-o", str(tmp_path / "b"), *options]) == 2
    err = capfd.readouterr().err
    assert message in err and err.count("\n") == 1 and not (tmp_path / "b").exists()


def test_nested_fields(tmp_path: Path) -> None:
    line = '{"a": {"b": {"text": "hello there", "x": [1,  2]}}, "a.b": "more words"}\n{"a": null, "a.b": ""}\n'
    new = perturbed(tmp_path, "a.jsonl", line, "-c", "a.b.text").decode()
    assert new == line.replace("hello there", "hell ther")
    new = perturbed(tmp_path, "a.jsonl", line, "-c", "a.b").decode()
    assert new == line.replace("more words", "mor word"), "a column whose name has dots wins"
    chat = '[{"turns": [{"who": "me", "says": "hello there"}, {"says":"more words"}]}]'
    both = ("-c", "turns.0.says", "-c", "turns.1.says")
    assert perturbed(tmp_path, "b.json", chat, *both).decode() == truncated(chat)
    rows = [{"a": {"text": "one two three four five", "n": 1}, "label": "x"}]
    clean, copy = scuff.augment(rows, text="a.text", dimensions="truncate", degree=0.3)
    assert clean == rows[0] and copy["a"]["n"] == 1 and copy["a"]["text"] != rows[0]["a"]["text"]  # type: ignore[index]
    (tmp_path / "c.jsonl").write_text(json.dumps(rows[0]) + "\n")
    assert scuff.augment(str(tmp_path / "c.jsonl"), column="a.text", dimensions="truncate", degree=0.3) == [clean, copy]  # type: ignore[call-arg]


def test_what_is_missing_keeps_its_bytes(tmp_path: Path) -> None:
    for content in (
        '{"text": NaN}\n{"text":null, "n": 1}\n{"text": "hello there"}\n',
        '[{"text":NaN},null,{"text": ""}]',
    ):
        assert perturbed(tmp_path, "a.json", content).decode() == truncated(content)
    assert perturbed(tmp_path, "a.jsonl", "\n \n") == b"\n \n" and perturbed(tmp_path, "b.json", "[null]") == b"[null]"


def test_nested_fields_and_nulls_of_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra scuff[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"a": [{"b": {"text": "hello there"}, "n": 1}, {"b": None, "n": 2}, None]})
    pq.write_table(table, tmp_path / "a.parquet")
    command = ["perturb", str(tmp_path / "a.parquet"), "-p", "truncate", "-l", "1", "-q"]
    assert main([*command, "-c", "a.b.text", "-o", str(tmp_path / "b.parquet")]) == 0
    new = pq.read_table(tmp_path / "b.parquet")
    assert new.schema == table.schema and new.to_pylist() == [
        {"a": {"b": {"text": "hell ther"}, "n": 1}}, {"a": {"b": None, "n": 2}}, {"a": None}
    ]  # fmt: skip
    assert main([*command, "-c", "a.n", "-o", str(tmp_path / "c.parquet")]) == 2
    (tmp_path / "a").write_bytes((tmp_path / "a.parquet").read_bytes())
    assert main(["perturb", str(tmp_path / "a"), "-p", "truncate", "-c", "a.b.text", "-o", str(tmp_path / "d")]) == 0


def test_labelled_data_is_read_the_same_way(tmp_path: Path) -> None:
    from scuff.data.columns import Columns
    from scuff.data.reading import read_dataset

    (tmp_path / "a.json").write_text('[{"x": {"text": "good", "label": "p"}}, {"x": {"text": "bad", "label": "n"}}]')
    found = read_dataset(str(tmp_path / "a.json"), Columns(text=("x.text",), label=("x.label",)))
    assert found.columns == (("good", "bad"),) and found.targets == ("p", "n")
    (tmp_path / "a.dat").write_bytes("caf\u00e9;p\n".encode("latin-1"))
    columns = Columns(text=("1",), label=("2",), delimiter=";", no_header=True, encoding="latin-1")
    found = read_dataset(str(tmp_path / "a.dat"), columns)
    assert found.columns == (("caf\u00e9",),) and found.targets == ("p",)


def test_the_zeroe_benchmark_of_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = '{"text": ["Hello", "wonderful", "world"]}\n' * 9
    with piped(content.encode(), monkeypatch):
        assert main(["zeroe", "-", "-o", str(tmp_path / "out"), "-q", "-p", "segment", "-p", "truncate"]) == 0
    assert (tmp_path / "out" / "clean.jsonl").read_text() == content, "no record is lost to the look at the first"
    assert list(json.loads((tmp_path / "out" / "manifest.json").read_text())["skipped"]) == ["segment"]
