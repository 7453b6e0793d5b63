"""Every format: what is not perturbed stays byte for byte, what is perturbed is what `scuff.perturb` returns."""

from __future__ import annotations

import csv
import gc
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.cli.main import main
from scuff.data import perturbing
from scuff.data.formats import streams
from scuff.data.formats.files import Input
from scuff.data.perturbing import Rewriting, treat_file
from scuff.locks import is_left_over
from scuff.perturbations.plan import Plan
from strategies import text

CONLLU = (
    "# sent_id = 1\n# text = Don't stop the music.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\t_\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n3\tstop\tstop\tVERB\t_\t_\t0\troot\t_\t_\n3.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "4\tthe\tthe\tDET\t_\t_\t5\tdet\t_\t_\n5\tmusic\tmusic\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No\n6\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n"
    "# text = vámonos\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_\n2\tnos\tnos\tPRON\t_\t_\t1\tobj\t_\t_\n\n"
)
FILES = {
    "a.txt": "first line here\r\n\n  indented\ttabs \nno end",
    "a.csv": 'id,text,label\n1,"quoted, ""text"" here",x\n\n2,"two\nlines",y\r\n3,plain,"z"',
    "bom.csv": "\ufefftext,label\nhello there,1\n",
    "a.tsv": 'id\ttext\n1\t"unbalanced quote here\n2\tanother one\n',
    "a.jsonl": '{"id": 1, "text": "hello  there", "n": 1.50}\n\n{"text":"with \\u00e9 escape","k":[1]}\n{"text":null}\n',
    "tokens.jsonl": '{"text": ["Do", "n\'t", "panic"], "tags": ["A", "B", "C"]}\n',
    "a.conllu": CONLLU,
    "a.conll": "# comment\nHello\tINTJ\n#tag\tX\nworld\tNOUN\n\nlast\tADJ",
    "blanks.conll": "EU NNP B-NP\nrejects VBZ B-VP\n\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_zero_strength_keeps_every_byte(name: str, zipped: str, tmp_path: Path) -> None:
    source, target = tmp_path / (name + zipped), tmp_path / ("out." + name + zipped)
    raw = FILES[name].encode()
    source.write_bytes(gzip.compress(raw) if zipped else raw)
    assert main(["perturb", str(source), "-a", "inner-shuffle", "-l", "0", "-o", str(target), "-q"]) == 0
    assert (gzip.decompress(target.read_bytes()) if zipped else target.read_bytes()) == raw


def run(
    tmp_path: Path, name: str, content: str, *options: str, perturbation: str = "truncate", level: str = "1"
) -> str:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    target = tmp_path / f"out.{name}"
    assert (
        main(["perturb", str(tmp_path / name), "-a", perturbation, "-l", level, "-o", str(target), "-q", *options]) == 0
    )
    return target.read_bytes().decode()


def test_lines(tmp_path: Path) -> None:
    assert run(tmp_path, "a.txt", FILES["a.txt"]) == "firs lin her\r\n\n  indente\ttab \nno end"
    assert run(tmp_path, "b.txt", "two words\nmore words", "--whole", perturbation="segment") == "twowords\nmorewords"


def test_csv_changes_only_the_column(tmp_path: Path) -> None:
    out = run(tmp_path, "a.csv", FILES["a.csv"])
    rows = list(csv.reader(io.StringIO(out, newline="")))
    assert rows == [
        ["id", "text", "label"],
        ["1", 'quote, "tex" her', "x"],
        [],
        ["2", "two\nline", "y"],
        ["3", "plai", "z"],
    ]


def test_quotation_marks_inside_csv_fields_are_characters(tmp_path: Path) -> None:
    out = run(tmp_path, "inch.csv", 'text,note,n\n5" disk,6" drive,1\nthe "old" name,y "z",2\n')
    assert list(csv.reader(io.StringIO(out))) == [
        ["text", "note", "n"],
        ['5" dis', '6" drive', "1"],
        ['the "old" nam', 'y "z"', "2"],
    ]
    assert out.endswith(',y "z",2\n'), "other columns stay as they are written"


def test_an_empty_text_stays_a_row_of_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\n\u200b\u200b\nmore\n", encoding="utf-8")
    assert main(["shield", str(tmp_path / "a.csv"), "-o", str(tmp_path / "b.csv"), "-q"]) == 0
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == 'text\n""\nmore\n'


def test_tsv_knows_no_quotes(tmp_path: Path) -> None:
    assert run(tmp_path, "a.tsv", FILES["a.tsv"]) == 'id\ttext\n1\t"unbalance quot her\n2\tanothe one\n'


def test_jsonl(tmp_path: Path) -> None:
    out = [json.loads(line) for line in run(tmp_path, "a.jsonl", FILES["a.jsonl"]).split("\n") if line]
    assert out == [{"id": 1, "text": "hell  ther", "n": 1.5}, {"text": "wit é escap", "k": [1]}, {"text": None}]
    tokens = json.loads(run(tmp_path, "tokens.jsonl", FILES["tokens.jsonl"]))
    assert tokens == {"text": ["Do", "n't", "pani"], "tags": ["A", "B", "C"]}


def test_several_columns(tmp_path: Path) -> None:
    content = "premise,hypothesis,label\nhello there,bright sunshine,0\n"
    out = run(tmp_path, "p.csv", content, "-c", "premise", "-c", "hypothesis")
    assert out == "premise,hypothesis,label\nhell ther,brigh sunshin,0\n"


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra scuff[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"n": [1, 2, 3], "text": ["hello there", None, ""], "words": [["hello"], [], ["new", "thing"]]})
    pq.write_table(table, tmp_path / "a.parquet")
    out = tmp_path / "b.parquet"
    assert (
        main(
            [
                "perturb",
                str(tmp_path / "a.parquet"),
                "-a",
                "truncate",
                "-l",
                "1",
                "-o",
                str(out),
                "-c",
                "text",
                "-c",
                "words",
            ]
        )
        == 0
    )
    assert pq.read_table(out).to_pydict() == {
        "n": [1, 2, 3],
        "text": ["hell ther", None, ""],
        "words": [["hell"], [], ["new", "thin"]],
    }
    assert pq.read_table(out).schema == table.schema
    assert (
        main(["perturb", str(tmp_path / "a.parquet"), "-a", "truncate", "--draws", "2", "-c", "text", "-o", str(out)])
        == 0
    )
    assert pq.read_table(out).to_pydict()["draw"] == [0, 1, 0, 1, 0, 1]


def test_damaged_parquet_is_told_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra scuff[parquet]")
    import pyarrow.parquet as pq

    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": [f"text {n * 7919 % 10007}" for n in range(40000)]}), source, row_group_size=20000)
    content = bytearray(source.read_bytes())
    half = len(content) // 2
    content[half : half + 3000] = bytes([255]) * 3000
    source.write_bytes(content)
    assert main(["perturb", str(source), "-p", "truncate", "-o", str(target), "-q"]) == 2
    gc.collect()
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 1 and f"{source}: expected Parquet that can be read, got: " in told[0]
    assert not target.exists()


def test_conllu_keeps_tags_and_rewrites_the_text(tmp_path: Path) -> None:
    out = run(tmp_path, "a.conllu", CONLLU, perturbation="truncate(keep=1)")
    assert "# text = Dn' sto th musi.\n1-2\tDn'\t" in out
    assert (
        "1\tD\tdo\tAUX" in out and "2\tn'\tnot\tPART" in out and "3\tsto\tstop\tVERB" in out and "3.1\tghost\t" in out
    )
    assert out.split("\n\n")[1] == CONLLU.split("\n\n")[1], "a multiword token that is more than its words stays"


def test_token_columns(tmp_path: Path) -> None:
    assert run(tmp_path, "a.conll", FILES["a.conll"]) == "# comment\nHell\tINTJ\n#tag\tX\nworl\tNOUN\n\nlas\tADJ"
    assert run(tmp_path, "b.conll", FILES["blanks.conll"]) == "EU NNP B-NP\nreject VBZ B-VP\n\n"


def test_copies_stand_together_and_do_not_depend_on_their_number(tmp_path: Path) -> None:
    content = "the quick brown fox\njumps over lazy dogs\n"
    two = run(tmp_path, "a.txt", content, "--draws", "2", perturbation="inner-shuffle").splitlines()
    three = run(tmp_path, "a.txt", content, "--draws", "3", perturbation="inner-shuffle").splitlines()
    assert two == [three[0], three[1], three[3], three[4]]
    assert two[0] == scuff.perturb("the quick brown fox", "inner-shuffle", 1)
    assert two[1] == scuff.perturb("the quick brown fox", "inner-shuffle", 1, draw=1)
    table = run(tmp_path, "a.csv", "text\nhello there\n", "--draws", "2")
    assert table == "text,draw\nhell ther,0\nhell ther,1\n"
    assert run(tmp_path, "a.conll", "hello\tX", "--draws", "2") == "#draw=0\nhell\tX\n\n#draw=1\nhell\tX\n\n"


def test_edits_file_rebuilds_the_output(tmp_path: Path) -> None:
    content = "the quick brown fox\n\njumps over lazy dogs\n"
    out = run(
        tmp_path,
        "a.txt",
        content,
        "--draws",
        "2",
        "--edits",
        str(tmp_path / "e.jsonl"),
        perturbation="keyboard",
        level="mid",
    )
    logged = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(entry["row"], entry["draw"]) for entry in logged] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    before = content.splitlines()
    for entry, after in zip(logged, out.splitlines(), strict=True):
        text = before[entry["row"]]
        for start, stop, old, new in reversed(entry["edits"]):
            assert text[start:stop] == old
            text = text[:start] + new + text[stop:]
        assert text == after


def test_what_stands_beside_a_new_value_stays_byte_for_byte(tmp_path: Path) -> None:
    line = '{"x":1e400 ,"text":"hello world","y":1.10,"u":"\\u00e9\\ud83d", "d":1,"d":2}\n'
    assert run(tmp_path, "a.jsonl", line) == line.replace("hello world", "hell worl")
    assert run(tmp_path, "b.jsonl", '{"text":"\\u00e9t\\u00e9s"}') == '{"text":"\\u00e9t\\u00e9"}'
    row = 'n,"text",z\r\n"005","hello, ""big"" world",\r\nx,hello,"a\nb"\r\n'
    new = 'n,"text",z\r\n"005","hell, ""big"" worl",\r\nx,hell,"a\nb"\r\n'
    assert run(tmp_path, "a.csv", row) == new
    assert (
        run(tmp_path, "b.csv", '\ufeff"text","label, or so"\nhello,1\n', "-c", "text")
        == '\ufeff"text","label, or so"\nhell,1\n'
    )
    assert run(tmp_path, "c.jsonl", '\ufeff{"text": "hello"}\n') == '\ufeff{"text": "hell"}\n'
    assert (
        run(tmp_path, "d.jsonl", '{"text": "hello"}', "--draws", "2")
        == '{"text": "hell", "draw": 0}\n{"text": "hell", "draw": 1}\n'
    )


def test_many_copies_take_no_more_memory_than_one(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("some words\n" * 4000, encoding="utf-8")
    source = Input(str(tmp_path / "l.txt"))
    reader = source.open()
    sizes = [len(chunk.records) for chunk in perturbing.chunks(source, reader, 50)]
    reader.source.close()
    assert sum(sizes) == 4000 and max(sizes) == 80


def test_documents_of_token_files_are_kept_apart(tmp_path: Path) -> None:
    assert run(tmp_path, "a.conll", "-DOCSTART- -X- O O\n\nhello X\n") == "-DOCSTART- -X- O O\n\nhell X\n"
    twice = run(tmp_path, "b.conll", "hello X\n", "--draws", "2")
    assert run(tmp_path, "c.conll", twice, perturbation="truncate(letters=2)") == twice.replace("hell", "hel")


def test_parquet_from_a_pipe_and_with_dictionaries(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra scuff[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": pa.array(["hello", "there", "hello"]).dictionary_encode(), "n": [1, 2, 3]})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    for name in ("a.parquet", "a.parquet.gz"):
        assert (
            main(
                ["perturb", str(tmp_path / name), "-a", "truncate", "-l", "1", "-o", str(tmp_path / "b.parquet"), "-q"]
            )
            == 0
        )
        assert pq.read_table(tmp_path / "b.parquet").to_pydict() == {"text": ["hell", "ther", "hell"], "n": [1, 2, 3]}
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "empty.parquet")
    assert (
        main(
            [
                "perturb",
                str(tmp_path / "empty.parquet"),
                "-a",
                "truncate",
                "--draws",
                "2",
                "-o",
                str(tmp_path / "b.parquet"),
            ]
        )
        == 0
    )
    assert pq.read_table(tmp_path / "b.parquet").schema.names == ["text", "draw"]


def test_ids_set_equal_texts_apart(tmp_path: Path) -> None:
    content = "id,text\na,abcdefghijk\nb,abcdefghijk\n"
    same = run(tmp_path, "a.csv", content, perturbation="full-shuffle").splitlines()
    apart = run(tmp_path, "a.csv", content, "--id", "id", perturbation="full-shuffle").splitlines()
    assert same[1][2:] == same[2][2:] and apart[1][2:] != apart[2][2:]
    assert apart[1][2:] == scuff.perturb(["abcdefghijk"], "full-shuffle", 1, ids=["a"])[0]


def test_protected_spans_from_a_column(tmp_path: Path) -> None:
    content = '{"text": "hello world", "keep": [[0, 5]]}\n{"text": "hello world", "keep": "[]"}\n'
    out = [
        json.loads(line)["text"] for line in run(tmp_path, "a.jsonl", content, "--protect-spans", "keep").splitlines()
    ]
    assert out == ["hello worl", "hell worl"]


@given(st.lists(text.filter(lambda t: "\n" not in t), max_size=8), st.integers(1, 60))
def test_chunks_of_any_size_give_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int
) -> None:
    folder = tmp_path_factory.mktemp("chunks")
    (folder / "in.txt").write_text("\n".join(texts), encoding="utf-8", newline="")
    plan = Plan.of("intrude|segment", "mid", 3, None, ())
    results = []
    for chunk in (streams.CHUNK, size):
        usual, streams.CHUNK = streams.CHUNK, chunk
        try:
            treat_file(Input(str(folder / "in.txt")), str(folder / "out.txt"), Rewriting(plan, 2))
        finally:
            streams.CHUNK = usual
        results.append((folder / "out.txt").read_bytes())
    assert results[0] == results[1]


def test_a_resumed_stream_goes_on_as_it_would_have(tmp_path: Path) -> None:
    lines = [f"line number {n} of the whole stream" for n in range(200)]
    whole = run(tmp_path, "a.txt", "\n".join(lines) + "\n", perturbation="keyboard")
    rest = run(tmp_path, "b.txt", "\n".join(lines[117:]) + "\n", perturbation="keyboard")
    assert whole.splitlines()[117:] == rest.splitlines()


def test_a_part_that_its_owner_has_just_renamed_is_not_made_again(tmp_path: Path) -> None:
    gone = tmp_path / ".b.txt.1.part"
    assert not is_left_over(gone) and not gone.exists()


def test_what_killed_commands_left_is_removed(tmp_path: Path) -> None:
    """Not what another process is writing now, here for the same output."""
    (tmp_path / "a.txt").write_text("hello there\n" * 9)
    writes = "import time; from scuff.data.formats.streams import replacing\n"
    writes += f"with replacing({str(tmp_path / 'b.txt')!r}) as out:\n"
    writes += "    out.write(b'other'); out.flush(); print(flush=True); time.sleep(600)"
    jobs = [subprocess.Popen([sys.executable, "-c", writes], stdout=subprocess.PIPE) for _ in range(2)]
    for job in jobs:
        assert job.stdout is not None and job.stdout.readline()
    killed, busy = (tmp_path / f".b.txt.{job.pid}.part" for job in jobs)
    try:
        jobs[0].kill()
        jobs[0].wait()
        for part in (killed, busy):
            os.utime(part, (0, 0))
        assert killed.exists() and busy.exists()
        assert main(["perturb", str(tmp_path / "a.txt"), "-p", "truncate", "-o", str(tmp_path / "b.txt"), "-q"]) == 0
        assert not killed.exists() and busy.read_bytes() == b"other"
    finally:
        for job in jobs:
            job.kill()
            job.communicate()
