"""`scuff augment`: the format, other columns and bytes stay; errors are one line and leave nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from scuff.cli.main import main

LONG = "the staff were friendly and every single room was quite spotless although breakfast ended rather early"
CSV = f'id,text,label\n7,"{LONG}, again",x\n\n8,"{LONG} ""now""",y\r\n9,too short,"z"'
SHOUT = "Do not stop the loud music in here now please everybody"
CONLLU = (
    f"# sent_id = 1\n# text = {SHOUT}\n"
    + "".join(f"{at}\t{word}\t_\tX\tY{at}\t_\t0\troot\t_\t_\n" for at, word in enumerate(SHOUT.split(), 1))
    + "\n# a comment alone\n\n"
)
KEYBOARD = ["--dimensions", "keyboard", "--degree", "0.1"]


def augment(tmp_path: Path, name: str, content: str | bytes, *options: str) -> bytes:
    source, target = tmp_path / name, tmp_path / f"out.{name}"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["augment", str(source), "-o", str(target), *(options or KEYBOARD)]) == 0
    return target.read_bytes()


def test_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = augment(tmp_path, "a.csv", CSV).decode().split("\n")
    assert [lines[at] for at in (0, 1, 3, 4)] == CSV.split("\n")[:4] and lines[6:] == ['9,too short,"z"', ""]
    for at, tail in ((2, ', again",x'), (5, ' ""now""",y\r')):
        assert lines[at] != lines[at - 1] and lines[at].startswith(lines[at - 1][:3]) and lines[at].endswith(tail)
    said = capsys.readouterr().err
    assert (
        f"{tmp_path}/out.a.csv: 3 examples, 2 copies (keyboard 2), 0 dropped as duplicates, 1 unchanged; scuff:" in said
    )
    assert "|degree:0.1|copies:1|share:1|side:first|seed:0|protect:nothing" in said and said.count("\n") == 1


def test_trace(tmp_path: Path) -> None:
    lines = augment(tmp_path, "a.csv", CSV, *KEYBOARD, "--trace", "--id", "id").decode().splitlines()
    assert lines[0] == "id,text,label,scuff_dimension,scuff_degree,scuff_source"
    assert (
        lines[1].endswith('again",x,,,7')
        and lines[2].endswith(",x,keyboard,0.0588,7")
        and lines[6] == '9,too short,"z",,,9'
    )
    content = json.dumps({"text": LONG, "label": [1], "n": 1.50}) + "\n"
    clean, copy = augment(tmp_path, "a.jsonl", content, *KEYBOARD, "--trace").decode().splitlines()
    trace = {"scuff_dimension": None, "scuff_degree": None, "scuff_source": "0"}
    assert json.loads(clean) == {**json.loads(content), **trace}
    new = {"text": json.loads(copy)["text"], "scuff_dimension": "keyboard", "scuff_degree": 0.0625}
    assert json.loads(copy) == {**json.loads(clean), **new}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_jsonl(tmp_path: Path, name: str) -> None:
    line = f'{{"text": "{LONG}",   "label":"é",  "n": 1.50}} \n'
    content = (line + "\n" + '{"text": null, "label": 3}').encode()
    out = augment(tmp_path, name, gzip.compress(content) if name.endswith("gz") else content)
    clean, copy, blank, empty = (
        (gzip.decompress(out) if name.endswith("gz") else out).decode().splitlines(keepends=True)
    )
    assert (clean, blank, empty) == (line, "\n", '{"text": null, "label": 3}\n')
    assert copy != clean and copy.endswith('",   "label":"é",  "n": 1.50}\n')


def test_tsv_pairs(tmp_path: Path) -> None:
    content = f"label\tpremise\thypothesis\n0\t{LONG}\t{LONG} indeed\n"
    out = augment(tmp_path, "a.tsv", content, *KEYBOARD, "--side", "second", "--only-perturbed").decode()
    head, row = out.splitlines()
    assert head == "label\tpremise\thypothesis" and row.startswith(f"0\t{LONG}\t") and row != content.splitlines()[1]


def test_tagging(tmp_path: Path) -> None:
    out = augment(tmp_path, "a.conllu", CONLLU, *KEYBOARD, "--trace", "--degree", "0.2").decode()
    clean, copy, rest = out.split("\n\n", 2)
    assert clean == "#scuff_source=0\n" + CONLLU.split("\n\n")[0] and rest == "# a comment alone\n\n"
    assert copy.startswith("#scuff_dimension=keyboard\n#scuff_degree=0.1818\n#scuff_source=0\n# sent_id = 1\n# text = ")
    rows = [[line.split("\t") for line in part.splitlines() if line[0] != "#"] for part in (clean, copy)]
    assert [row[2:] for row in rows[0]] == [row[2:] for row in rows[1]]
    forms = [[row[1] for row in part] for part in rows]
    assert sum(old != new for old, new in zip(*forms, strict=True)) == 2 and f"# text = {' '.join(forms[1])}\n" in copy
    spec = "intrude(symbols='._ ')"
    tagged = "".join(f"{word} T{at}\n" for at, word in enumerate(LONG.split()))
    out = augment(tmp_path, "b.conll", tagged.replace(" ", "\t"), "--dimensions", spec, "--trace").decode()
    assert "#scuff_dimension=intrude(symbols='._\\x20')\n" in out and out.count("T3\n") == 2
    assert main(["augment", str(tmp_path / "a.conllu"), "--dimensions", "segment", "-o", str(tmp_path / "n")]) == 2


@pytest.mark.slow
def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": [f"{LONG} {n}" for n in range(5)], "label": pa.array(range(5), pa.int8())})
    pq.write_table(table, tmp_path / "a.parquet")
    options = ["augment", str(tmp_path / "a.parquet"), "-o", str(tmp_path / "b.parquet"), *KEYBOARD]
    assert main(options) == 0
    out = pq.read_table(tmp_path / "b.parquet")
    assert out.schema == table.schema and out["label"].to_pylist() == sorted([*range(5), *range(5)])
    assert out.take(list(range(0, 10, 2))) == table
    assert main([*options, "--trace", "--only-perturbed"]) == 0
    out = pq.read_table(tmp_path / "b.parquet")
    assert out["scuff_dimension"].to_pylist() == ["keyboard"] * 5 and out["scuff_source"].to_pylist() == list("01234")
    assert main(["augment", str(tmp_path / "b.parquet"), "-o", str(tmp_path / "c.parquet"), "--trace"]) == 2


def test_pipe_and_embedded_data(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    assert main(["augment", "-", "--format", "csv", "-q", *KEYBOARD]) == 0
    out, err = capfd.readouterr()
    assert out.encode() == augment(tmp_path, "a.csv", CSV) and not err
    target = tmp_path / "toy.jsonl"
    assert main(["augment", "toy:sentiment", "-o", str(target), "--share", "0.01", *KEYBOARD]) == 0
    assert 4000 < len(target.read_text().splitlines()) < 4100 and "4,000 examples" in capfd.readouterr().err


def test_what_was_left_out_and_short_texts_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("dimensions", "plan"):
        monkeypatch.setattr(f"scuff.evaluation.{module}.COLUMNS", {"keyboard": "keyboard", "segment": "segment"})
    augment(tmp_path, "a.csv", "text,label\ntoo short,x\n")
    assert "most texts are too short to change within this degree" in capsys.readouterr().err
    augment(tmp_path, "a.conll", "".join(f"{word}\tT\n" for word in LONG.split()), "--degree", "0.2")
    assert "left out: segment (changes the tokens, whose tags would be lost)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.txt", "plain text", [], "expected labelled data (csv, tsv, jsonl, json, parquet, conllu, tokens), got plain text"),
        ("a.csv", "", [], "line 1: expected a header, got nothing"),
        ("a.csv", "text,label\n", [], "a.csv: expected examples, got none"),
        ("a.csv", "a,b\n1,2\n", [], "expected --text NAME (twice for sentence pairs), one of: a, b"),
        ("a.csv", "text\nx y\n", ["--text", "body"], "expected a column 'body', got text"),
        ("a.csv", "text\nx y\n", ["--id", "n"], "expected a column 'n', got text"),
        ("a.jsonl", '{"text": "a", "id": null}\n', ["--id", "id"], "line 1: expected an id in column 'id', got none"),
        ("a.jsonl", '{"text": "a b"}\n{"text": ["a"]}\n', [], "expected a list of tokens, as in other records, got 'a b'"),
        ("a.jsonl", '{"text": "a b"}\n{"text": 3}\n', [], "line 2: expected text or a list of tokens in column 'text', got int"),
        ("a.jsonl", '{"text": "\\ud83d b"}\n', [], "line 1: expected text in Unicode, got '\\ud83d b'"),
        ("a.jsonl", '{"text": "a", "scuff_source": 1}\n', ["--trace"], "line 1: expected no column 'scuff_source'"),
        ("a.csv", "text\nx y\n", ["--dimensions", "nope"], "expected the name of a perturbation, got 'nope'"),
        ("a.csv", "text\nx y\n", ["--degree", "2"], "expected a number in (0, 1] for degree, got 2"),
        ("a.csv", "text\nx y\n", ["--ratio", "1:1", "--share", "1"], "expected a ratio, or copies with share or each"),
        ("a.csv", "text\nx y\n", ["-o", "b.jsonl"], "expected the format of the input, csv, got jsonl"),
        ("a.csv", "text\nx y\n", ["-o", "a.csv"], "expected an output other than the input, got the same file"),
        ("gone.csv", None, [], "expected a file, got nothing of that name"),
    ],
)  # fmt: skip
def test_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str, content: str | None,
    options: list[str], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["augment", name, "-o", f"out.{name}", *KEYBOARD, *options]) == 2
    out, err = capfd.readouterr()
    assert message in err and err.startswith("scuff: ") and err.count("\n") == 1 and not out
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_mixture_has_each_record_once_in_its_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{LONG} {at}" for at in range(7)]
    content = "text,label\n" + "".join(f"{row},x\n" for row in rows)
    if name == "a.jsonl":
        content = "".join(json.dumps({"text": row, "label": "x"}) + "\n" for row in rows)
    options = ["--mixture", "truncate@high,keyboard,clean", "--only-perturbed"]
    made = augment(tmp_path, name, content, *options).decode().splitlines()
    said = capsys.readouterr().err
    parts = "(clean 2, keyboard@0.5 1, keyboard@0.8 1, truncate@0.8 3)"
    assert f"7 examples, 7 copies {parts}, 0 dropped as duplicates, 2 unchanged; scuff:" in said
    assert "|mixture:truncate@0.8,keyboard,clean|copies:1|" in said and said.count("\n") == 1
    kept = [line for line in made if any(row in line for row in rows)]
    assert len(made) == len(content.splitlines()) and len(kept) == 2, "the clean part"
    traced = augment(tmp_path, name, content, *options, "--trace").decode()
    assert traced.count("truncate@0.8") == 3 and traced.count("clean") == 2


def test_a_mixture_of_tags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = augment(tmp_path, "a.conllu", CONLLU, "--mixture", "leave-one-out(visual)", "--only-perturbed").decode()
    assert out.count("\tY") == len(SHOUT.split()) and "left out: segment" in capsys.readouterr().err
    source = tmp_path / "a.conllu"
    assert main(["augment", str(source), "--mixture", "segment", "-o", str(tmp_path / "no")]) == 2
    said = capsys.readouterr().err
    assert "keep each token for mixture" in said and said.count("\n") == 1 and not (tmp_path / "no").exists()
