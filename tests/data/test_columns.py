"""Labelled data from files, Hugging Face data sets, pandas and lists; errors are one line that names the file."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.data.columns import Columns
from scuff.data.dataset import Dataset
from scuff.data.formats.streams import BadInput
from scuff.data.reading import read_dataset, read_predictions
from strategies import text as nasty_text

Rows = list[tuple[Any, ...]]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    raw = content if isinstance(content, bytes) else content.encode()
    path = folder / name
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def examples(data: Dataset) -> Rows:
    """(text, target), or (first, second, target)."""
    return list(zip(*data.columns, data.targets, strict=True))


def refused(data: Any, columns: Columns | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        read_dataset(data, columns)
    message = str(caught.value)
    assert "\n" not in message and "expected" in message
    if isinstance(data, Path):
        assert data.name in message
    return message


WANTED = [("good, really", "pos"), ("bad", "neg")]
FILES = {
    "a.csv": 'n,text,label\n1,"good, really",pos\n\n2,bad,neg\n',
    "bom.csv": '\ufefftext,label\r\n"good, really",pos\r\nbad,neg\r\n',
    "a.tsv": "text\tlabel\ngood, really\tpos\nbad\tneg\n",
    "a.jsonl": '{"label": "pos", "text": "good, really"}\n\n{"text": "bad", "label": "neg"}\n',
    "a.ndjson": '{"label": "pos", "text": "good, really"}\n{"text": "bad", "label": "neg"}',
    "A.CSV": 'Text,Label\n"good, really",pos\nbad,neg\n',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_tables(name: str, zipped: str, tmp_path: Path) -> None:
    path = written(tmp_path, name + zipped, FILES[name])
    for source in (path, str(path)):
        data = read_dataset(source)
        assert examples(data) == WANTED and data.task == "single"
        assert data.name == f"{tmp_path.name}/{name}{zipped}", (
            "the folder tells data sets apart that are called test.csv"
        )
        assert data.ids == ("0", "1") and data.skipped == {} and data.labels == ("neg", "pos")


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra scuff[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": ["good, really", "bad", None], "label": ["pos", "neg", "neg"], "n": [1, 2, 3]})
    pq.write_table(table, tmp_path / "a.parquet")
    written(tmp_path, "b.parquet.gz", (tmp_path / "a.parquet").read_bytes())
    for name in ("a.parquet", "b.parquet.gz"):
        data = read_dataset(tmp_path / name, Columns(id="n"))
        assert examples(data) == WANTED and data.skipped == {"no text": 1} and data.ids == ("1", "2")
    tokens = pa.table({"tokens": [["a", "b"], []], "tags": [["X", "Y"], []]})
    pq.write_table(tokens, tmp_path / "t.parquet")
    assert examples(read_dataset(tmp_path / "t.parquet")) == [(("a", "b"), ("X", "Y")), ((), ())]
    assert "expected Parquet" in refused(written(tmp_path, "broken.parquet", b"no parquet at all"))
    (tmp_path / "broken.parquet.gz").write_bytes(b"no gzip at all")
    assert "expected Parquet" in refused(tmp_path / "broken.parquet.gz")


CONLLU = (
    "# sent_id = 1\n# text = Don't stop.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n3\tstop\tstop\tVERB\tVB\t_\t0\troot\t_\t_\n3.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n# text = Hi\n1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_"
)


def test_conllu(tmp_path: Path) -> None:
    path = written(tmp_path, "a.conllu", CONLLU)
    data = read_dataset(path)
    assert data.task == "tokens" and data.fields == ("tokens",)
    assert examples(data) == [
        (("Do", "n't", "stop", "."), ("AUX", "PART", "VERB", "PUNCT")),
        (("Hi",), ("INTJ",)),
    ]
    assert read_dataset(path, Columns(label=("xpos",))).targets == (("VB", "RB", "VB", "."), ("UH",))
    assert "2 columns" in refused(written(tmp_path, "short.conllu", "1\tHi\n\n"))
    assert "line 2" in refused(written(tmp_path, "bad.conllu", "# x\nHi there\n\n"))


def test_token_columns(tmp_path: Path) -> None:
    content = "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n- : -\n\n# a comment line\n"
    data = read_dataset(written(tmp_path, "a.conll", content.replace("# a comment line", "#comment")))
    assert examples(data) == [(("EU", "rejects", "-"), ("B-ORG", "O", "-"))], "a tag may be a dash"
    tabs = read_dataset(written(tmp_path, "a.pos", "New York\tPROPN\nis\tVERB\n"))
    assert examples(tabs) == [(("New York", "is"), ("PROPN", "VERB"))]
    named = read_dataset(written(tmp_path, "a.data", "a X\nb Y\n"), Columns(format="tokens"))
    assert named.targets == (("X", "Y"),)
    assert "expected a tag behind each token, got 'rejects'" in refused(written(tmp_path, "b.conll", "EU X\nrejects\n"))


def test_lists_of_tokens_need_a_tag_each(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"words": ["a", "b"], "upos": ["X", "Y"]}\n')
    assert examples(read_dataset(path)) == [(("a", "b"), ("X", "Y"))]
    short = written(tmp_path, "b.jsonl", '{"tokens": ["a"], "tags": ["X"]}\n{"tokens": ["a", "b"], "tags": ["X"]}\n')
    assert "example 2: expected a tag per token, got 1 for 2 tokens" in refused(short)
    strange = written(tmp_path, "c.jsonl", '{"tokens": ["a", 5], "tags": ["X", "Y"]}\n')
    assert "example 1: expected a list of tokens" in refused(strange)
    nothing = written(tmp_path, "d.jsonl", '{"tokens": ["a"], "tags": [null]}\n{"tokens": ["b"], "tags": ["X"]}\n')
    assert read_dataset(nothing).skipped == {"no label": 1}


def test_hugging_face_folder(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra scuff[datasets]")
    features = datasets.Features(
        {"sentence": datasets.Value("string"), "label": datasets.ClassLabel(names=["negative", "positive"])}
    )
    rows = {"sentence": ["bad", "good", "unknown"], "label": [0, 1, -1]}
    one = datasets.Dataset.from_dict(rows, features=features)
    one.save_to_disk(str(tmp_path / "one"))
    for source in (tmp_path / "one", f"hf:{tmp_path / 'one'}", one):
        data = read_dataset(source)
        assert examples(data) == [("bad", "negative"), ("good", "positive")] and data.skipped == {"no label": 1}
        assert data.labels == data.known == ("negative", "positive") and data.fields == ("sentence",)
    small = datasets.Dataset.from_dict({"sentence": ["fine"], "label": [1]}, features=features)
    datasets.DatasetDict({"train": one, "validation": small}).save_to_disk(str(tmp_path / "split"))
    data = read_dataset(tmp_path / "split")
    assert examples(data) == [("fine", "positive")] and data.labels == ("negative", "positive")
    assert len(read_dataset(tmp_path / "split", Columns(split="train"))) == 2
    assert "train, validation, got 'test'" in refused(tmp_path / "split", Columns(split="test"))
    (tmp_path / "empty").mkdir()
    assert "expected a Hugging Face data set" in refused(tmp_path / "empty")


def test_hugging_face_tags_and_sets(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra scuff[datasets]")
    names = datasets.ClassLabel(names=["O", "B-PER"])
    several = getattr(datasets, "List", datasets.Sequence)
    features = datasets.Features({"tokens": several(datasets.Value("string")), "ner_tags": several(names)})
    tagged = datasets.Dataset.from_dict({"tokens": [["Ann", "left"]], "ner_tags": [[1, 0]]}, features=features)
    data = read_dataset(tagged)
    assert examples(data) == [(("Ann", "left"), ("B-PER", "O"))] and data.labels == ("O", "B-PER")
    sets = datasets.Dataset.from_dict(
        {"text": ["a", "b"], "labels": [[0, 1], []]},
        features=datasets.Features({"text": datasets.Value("string"), "labels": several(names)}),
    )
    assert read_dataset(sets).targets == (("O", "B-PER"), ()) and read_dataset(sets).task == "multi"


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": ["good", None, "bad", "odd"], "label": [1.0, 0.0, 0.0, math.nan]})
    data = read_dataset(frame)
    assert examples(data) == [("good", "1"), ("bad", "0")] and data.skipped == {"no text": 1, "no label": 1}
    assert data.name == "DataFrame"
    nullable = pd.DataFrame({"text": pd.array(["good", pd.NA], "string"), "label": pd.array([1, 2], "Int64")})
    assert examples(read_dataset(nullable)) == [("good", "1")]
    missing = pd.DataFrame({"text": ["good", "bad"], "label": pd.Series(["x", pd.NA], dtype=object)})
    assert examples(read_dataset(missing)) == [("good", "x")]
    arrays = pd.DataFrame({"tokens": [np.array(["a", "b"], object)], "tags": [np.array(["X", "Y"], object)]})
    assert examples(read_dataset(arrays)) == [(("a", "b"), ("X", "Y"))], "as read from Parquet"
    assert "expected a column 'nope', got text, label" in refused(frame, Columns(text=("nope",)))
    assert "DataFrame: expected examples, got none" in refused(frame.head(0))


def test_lists() -> None:
    assert examples(read_dataset([("good", "pos"), ("bad", "neg")])) == [("good", "pos"), ("bad", "neg")]
    pairs = read_dataset([("a", "b", 1), ("c", "d", 0)])
    assert pairs.columns == (("a", "c"), ("b", "d")) and pairs.targets == ("1", "0")
    assert pairs.fields == ("first", "second") and pairs.name == "list"
    dicts = read_dataset([{"text": "a", "label": np.int64(3)}, {"text": "b", "label": True}])
    assert dicts.targets == ("3", "true")
    assert read_dataset(iter([("a", 1)])).targets == ("1",)
    assert read_dataset([["a", 1], ["b", 2]]).targets == ("1", "2")
    assert read_dataset([("a", ["x", "y"]), ("b", [])]).targets == (("x", "y"), ())
    data = read_dataset([("a", "x")])
    assert read_dataset(data) is data
    for wrong in ([], 5, None, ["a", "b"], [("a",)], [("a", 1), ("a", 1, 2)], [("a", "b", "c", "d")]):
        assert "expected a file, a Hugging Face data set, a DataFrame, or a list" in refused(wrong)


@given(st.lists(st.tuples(nasty_text, st.sampled_from(["x", "y"])), min_size=1, max_size=6))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("any")
    lines = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)
    assert examples(read_dataset(written(folder, "a.jsonl", lines))) == rows == examples(read_dataset(rows))
    quoted = "".join('"{}",{}\r\n'.format(text.replace('"', '""'), label) for text, label in rows)
    assert examples(read_dataset(written(folder, "a.csv", "text,label\r\n" + quoted))) == rows


def guessed(*columns: str, **given: Any) -> tuple[tuple[str, ...], str]:
    data = read_dataset([dict.fromkeys(columns, "some words")], Columns(**given))
    return data.fields, data.task


def test_columns_are_guessed() -> None:
    assert guessed("idx", "sentence", "label") == (("sentence",), "single")
    assert guessed("Comment", "Sentiment") == (("Comment",), "single")
    for pair in (
        ("premise", "hypothesis"),
        ("sentence1", "sentence2"),
        ("question1", "question2"),
        ("text_a", "text_b"),
    ):
        assert guessed("id", *pair, "gold_label") == (pair, "single")
    assert guessed("Premise", "Hypothesis", "Label") == (("Premise", "Hypothesis"), "single")
    assert guessed("question", "sentence", "label") == (("question", "sentence"), "single")
    for source, target in (
        ("source", "target"),
        ("src", "tgt"),
        ("src", "ref"),
        ("SRC", "TGT"),
        ("Source", "Reference"),
    ):
        assert guessed(source, target, "id") == ((source,), "text")


def test_columns_are_named() -> None:
    assert guessed("a", "b", text=("b",), label=("a",)) == (("b",), "single")
    assert guessed("a", "b", "c", text=("b", "c"), label=("a",)) == (("b", "c"), "single")
    assert guessed("text", "sentence", "label", text=("text",)) == (("text",), "single")
    assert guessed("text", "other", label=("other",), task="text") == (("text",), "text")
    rows = [{"text": "a", "stars": 5, "label": "x"}]
    assert read_dataset(rows).targets == ("x",) and read_dataset(rows, Columns(label=("stars",))).targets == ("5",)


def test_wrong_columns_are_reported(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "text,sentence,kind\na,b,c\n")
    assert "expected --text NAME (twice for sentence pairs), one of: text, sentence, kind" in refused(path)
    assert "expected --label NAME, one of: sentence, kind" in refused(path, Columns(text=("text",)))
    assert "expected a column 'Text', got text, sentence, kind" in refused(
        path, Columns(text=("Text",), label=("kind",))
    )
    assert "expected a column 'mark'" in refused(path, Columns(text=("text",), label=("mark",)))
    assert "expected a column 'n'" in refused(path, Columns(text=("text",), label=("kind",), id="n"))
    three = Columns(text=("text", "sentence", "kind"), label=("kind",))
    assert "expected one text column, or two for sentence pairs" in refused(path, three)
    assert "b.csv: expected a column of labels beside text, got no other column" in refused(
        written(tmp_path, "b.csv", "text\na\n")
    )
    with pytest.raises(BadInput, match="expected single, multi, tokens, text for --task, got 'tags'"):
        read_dataset(path, Columns(task="tags"))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="for --format, got 'excel'"):
        read_dataset(path, Columns(format="excel"))


def test_label_sets(tmp_path: Path) -> None:
    wanted = (("x", "y"), (), ("z",))
    lists = '{"text": "a", "labels": ["x", "y"]}\n{"text": "b", "labels": []}\n{"text": "c", "labels": ["z"]}\n'
    data = read_dataset(written(tmp_path, "a.jsonl", lists))
    assert data.task == "multi" and data.targets == wanted and data.labels == ("x", "y", "z")
    texts = {
        "json.csv": 'text,labels\na,"[""x"", ""y""]"\nb,[]\nc,"[""z""]"\n',
        "bars.csv": "text,labels\na,x|y\nb,\nc,z\n",
        "commas.csv": 'text,labels\na,"x, y"\nb,\nc,z\n',
    }
    for name, content in texts.items():
        assert read_dataset(written(tmp_path, name, content), Columns(task="multi")).targets == wanted
    numbers = read_dataset([("a", [0, 2]), ("b", (1,))])
    assert numbers.targets == (("0", "2"), ("1",))
    columns = written(tmp_path, "c.csv", "comment_text,x,y,z\na,1,1,0\nb,0,0,0\nc,0,false,True\n")
    data = read_dataset(columns, Columns(label=("x", "y", "z")))
    assert data.task == "multi" and data.targets == wanted and data.labels == ("x", "y", "z")
    rare = read_dataset([{"text": "a", "x": 1, "y": 0}], Columns(label=("y", "x")))
    assert rare.labels == ("y", "x"), "also those that never hold, in the order given"
    assert "expected a list of labels" in refused([("a", 5)], Columns(task="multi"))


def test_missing_labels_are_skipped_and_counted(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"text": str(n), "label": v} for n, v in enumerate([None, None, "-", math.nan, "", "x"])
    ]
    data = read_dataset(rows)
    assert examples(data) == [("5", "x")] and data.skipped == {"no label": 5} and data.ids == ("5",)
    texts = read_dataset(written(tmp_path, "a.csv", "text,label\na,-\nb,\nd,NaN\ne,0\nf,-1\n"))
    assert examples(texts) == [("e", "0"), ("f", "-1")] and texts.skipped == {"no label": 3}, "-1 may be a class"
    sets = read_dataset([("a", ["x"]), ("b", None), ("c", -1), ("d", "-"), ("e", [])])
    assert sets.targets == (("x",), ()) and sets.skipped == {"no label": 3}
    marks = "text,x,y\na,1,0\nb,-1,-1\nc,0,0\n"  # the unused rows of Jigsaw's test set
    columns = read_dataset(written(tmp_path, "b.csv", marks), Columns(label=("x", "y")))
    assert columns.targets == (("x",), ()) and columns.skipped == {"no label": 1}
    both = read_dataset([{"text": None, "label": None}, {"text": "a", "label": "x"}, {"label": "y"}])
    assert both.skipped == {"no label": 1, "no text": 1}
    assert "got {'no label': 1}" in refused([("a", None)])


def test_an_empty_text_is_a_text() -> None:
    assert examples(read_dataset([("", "x"), (" ", "y")])) == [("", "x"), (" ", "y")]


def test_translations(tmp_path: Path) -> None:
    data = read_dataset(written(tmp_path, "a.tsv", "source\ttarget\nHallo Welt\tHello world\nleer\t\n"))
    assert data.task == "text" and data.fields == ("source",) and data.labels == ()
    assert examples(data) == [("Hallo Welt", "Hello world"), ("leer", "")]
    assert read_dataset([{"src": "a", "ref": None}, {"src": "b", "ref": "c"}]).skipped == {"no label": 1}


def test_ids(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "id,text,label\nr1,a,x\nr2,b,-\nr3,c,y\n")
    assert read_dataset(path, Columns(id="id")).ids == ("r1", "r3")
    assert read_dataset(path).ids == ("0", "2"), "rows of the file where no column names them"
    again = written(tmp_path, "b.csv", "id,text,label\nr1,a,x\nr1,b,y\n")
    assert "expected an id of its own for each example, got 'r1' more than once" in refused(again, Columns(id="id"))
    lost = written(tmp_path, "c.jsonl", '{"id": 1, "text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n')
    assert "example 2: expected an id in column 'id', got none" in refused(lost, Columns(id="id"))


BROKEN = {
    "empty.csv": ("", "line 1: expected a header"),
    "empty.tsv": ("", "line 1: expected a header"),
    "empty.jsonl": ("", "expected examples, got none"),
    "empty.conll": ("\n\n", "expected examples, got none"),
    "header.csv": ("text,label\n", "expected examples, got none"),
    "utf8.csv": (b"text,label\nfine,x\nbr\xf6ken,y\n", "line 3: expected UTF-8, got byte 0xf6 at byte 20"),
    "utf8.jsonl": (b'{"text": "\xff", "label": 1}\n', "line 1: expected UTF-8"),
    "utf8.conllu": (b"1\t\xff\n", "line 1: expected UTF-8"),
    "json.jsonl": ('{"text": "a", "label": 1}\n\n{"text": "b"\n', "line 3: expected a JSON object"),
    "list.jsonl": ('["a", 1]\n', "line 1: expected a JSON object, got list"),
    "plain.txt": ("hello\n", "expected labelled data (csv, tsv, jsonl, json, parquet, conllu, tokens), got plain text"),
    "README": ("hello\n", "got plain text"),
    "long.csv": ("text,label\na,b\nc,d,e\n", "line 3: expected 2 fields, got 3"),
    "short.csv": ("text,label\na\n", "line 2: expected 2 fields, got 1"),
    "long.tsv": ("text\tlabel\na\tb\tc\n", "line 2: expected 2 fields, got 3"),
    "quote.csv": ('text,label\n"a,b\n', "line 2: expected CSV"),
    "twice.csv": ("text,text,label\na,b,c\n", "line 1: expected a name of its own for each column"),
    "semicolons.csv": ("text;label\na;b\n", "one of: text;label"),
    "number.jsonl": ('{"text": 5, "label": "x"}\n', "example 1: expected text in column 'text', got 5"),
    "half.jsonl": ('{"text": "a\\ud83d", "label": "x"}\n', "example 1: expected Unicode text, got a lone surrogate"),
    "unlabelled.csv": ("text,label\na,-\n", "expected labelled examples"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_reported_in_one_line(name: str, tmp_path: Path) -> None:
    content, wanted = BROKEN[name]
    assert wanted in refused(written(tmp_path, name, content))


def test_files_that_are_none(tmp_path: Path) -> None:
    assert "expected a file, got nothing of that name" in refused(tmp_path / "lost.csv")
    (tmp_path / "a.csv.gz").write_bytes(b"not zipped")
    assert "expected gzip data" in refused(tmp_path / "a.csv.gz")
    cut = gzip.compress(b"text,label\n" + b"some words,x\n" * 999)
    (tmp_path / "b.csv.gz").write_bytes(cut[: len(cut) // 2])
    assert "expected gzip data" in refused(tmp_path / "b.csv.gz")


def test_predictions(tmp_path: Path) -> None:
    one = written(tmp_path, "one.csv", "text,prediction\ngood,pos\nbad,neg\nodd,\n")
    two = written(
        tmp_path, "two.jsonl.gz", '{"text": "fine", "prediction": {"pos": 0.9, "neg": 0.1}}\n{"prediction": "x"}\n'
    )
    answers, name = read_predictions([str(one), str(two)], ["text"], "single")
    assert answers[("good",)] == "pos" and answers[("fine",)] == {"pos": 0.9, "neg": 0.1} and ("odd",) not in answers
    assert name == "one.csv,two.jsonl.gz"


def test_predictions_of_every_task(tmp_path: Path) -> None:
    def read(name: str, content: str, fields: list[str], task: Any) -> dict[tuple[Any, ...], Any]:
        return read_predictions([str(written(tmp_path, name, content))], fields, task)[0]

    scores = read("a.csv", 'text,scores\na,"[0.2, 0.8]"\n', ["text"], "single")
    assert scores == {("a",): [0.2, 0.8]}
    sets = read("b.csv", 'text,predicted\na,x|y\nb,\nc,"[""z""]"\n', ["text"], "multi")
    assert sets == {("a",): ["x", "y"], ("b",): [], ("c",): ["z"]}
    pairs = read("c.tsv", "premise\thypothesis\tpred\na\tb\tx\n", ["premise", "hypothesis"], "single")
    assert pairs == {("a", "b"): "x"}
    tags = read("d.jsonl", '{"tokens": ["a", "b"], "output": ["X", "Y"]}\n', ["tokens"], "tokens")
    assert tags == {(("a", "b"),): ["X", "Y"]}
    texts = read("e.csv", "source,answer\na,[b]\nc,\n", ["source"], "text")
    assert texts == {("a",): "[b]", ("c",): ""}, "a text is taken as it is"


def test_wrong_predictions_are_reported(tmp_path: Path) -> None:
    def told(name: str, content: str, fields: list[str]) -> str:
        with pytest.raises(BadInput) as caught:
            read_predictions([str(written(tmp_path, name, content))], fields, "single")
        assert name in str(caught.value) and "\n" not in str(caught.value)
        return str(caught.value)

    assert "expected one column of answers" in told("a.csv", "text,label\na,x\n", ["text"])
    assert "expected one column of answers" in told("b.csv", "text,answer,pred\na,x,y\n", ["text"])
    assert "expected the text column 'sentence', as in the data" in told("c.csv", "text,pred\na,x\n", ["sentence"])
    assert "expected answers, got none" in told("d.csv", "text,pred\na,\n", ["text"])
    assert "got plain text" in told("e.txt", "a\n", ["text"])


def test_reading_loads_no_perturbation() -> None:
    """Without `import scuff`, which loads everything."""
    code = f"""
import sys, types
sys.modules["scuff"] = package = types.ModuleType("scuff")
package.__path__ = {list(scuff.__path__)!r}
import scuff.data.reading
assert not [name for name in sys.modules if name.startswith("scuff.perturbations")]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
