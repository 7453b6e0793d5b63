"""Columns of spans follow the edits: entities, answers and protected stretches select afterwards what they selected before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.cli.main import main
from scuff.data.spans import move_spans, read_spans
from scuff.text.corpus import Corpus
from scuff.text.words import Spans
from strategies import seed, strength, text

TEXT = "Paris is the capital of France today"
SHAPES: dict[str, Any] = {
    "pairs": [[0, 5], [24, 30]],
    "a pair": [24, 30],
    "with labels": [[0, 5, "LOC"], [24, 30, "LOC", {"id": 7}]],
    "objects": [{"start": 0, "stop": 5}, {"start": 24, "end": 30, "label": "LOC", "text": "France"}],
    "an object": {"start_char": 24, "end_char": 30, "text": "France"},
    "lists in an object": {"begin": [0, 24], "end": [5, 30], "label": ["LOC", "LOC"]},
    "SQuAD": {"text": ["France"], "answer_start": [24]},
    "SQuAD in lists": [{"text": "France", "answer_start": 24}],
    "JSON": '[{"start": 0, "end": 5}]',
    "nothing": None,
    "an empty field": "",
    "no spans": [],
}
WRONG = [
    [1],
    [[0]],
    [["0", 5]],
    [[5, 0]],
    [[0, 99]],
    [[-1, 3]],
    {"from": 0},
    7,
    "nonsense",
    [True, 5],
    {"text": "Rome", "answer_start": 0},
]


def selected(value: Any, text: str) -> list[str]:
    return [text[start:stop] for start, stop in read_spans(value, text)]


@pytest.mark.parametrize("shape", SHAPES)
def test_protected_spans_select_the_same_text_in_every_shape(shape: str, tmp_path: Path) -> None:
    wanted = selected(SHAPES[shape], TEXT)
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": TEXT, "s": SHAPES[shape]}) + "\n", encoding="utf-8")
    options = [
        "-p",
        "intrude",
        "-l",
        "1",
        "--protect-spans",
        "s",
        "--copies",
        "3",
        "-q",
        "-o",
        str(tmp_path / "b.jsonl"),
    ]
    assert main(["perturb", str(tmp_path / "a.jsonl"), *options]) == 0
    for line in map(json.loads, (tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()):
        assert (
            line["text"] != TEXT
            and selected(line["s"], line["text"]) == wanted
            and type(line["s"]) is type(SHAPES[shape])
        )


@pytest.mark.parametrize("shape", SHAPES)
def test_other_keys_and_the_shape_stay(shape: str) -> None:
    assert move_spans(SHAPES[shape], lambda start, stop: (start, stop), TEXT, TEXT) == SHAPES[shape]


@pytest.mark.parametrize("value", WRONG, ids=str)
def test_what_is_no_span_is_refused_with_its_line(
    value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text("\n" + json.dumps({"text": TEXT, "s": value}) + "\n", encoding="utf-8")
    assert main(["perturb", str(tmp_path / "a.jsonl"), "-p", "typo", "--spans", "s"]) == 2
    assert "a.jsonl: line 2: expected [[start, stop], ...] inside the text in column 's'" in capsys.readouterr().err


def test_spans_that_may_change_grow_with_their_text(tmp_path: Path) -> None:
    """SQuAD: the answer is written as it stands in the new text."""
    answers = {"text": ["France"], "answer_start": [24]}
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": TEXT, "answers": answers}) + "\n", encoding="utf-8")
    options = ["-p", "intrude", "-l", "1", "--spans", "answers", "-q", "-o", str(tmp_path / "b.jsonl")]
    assert main(["perturb", str(tmp_path / "a.jsonl"), *options]) == 0
    line = json.loads((tmp_path / "b.jsonl").read_text(encoding="utf-8"))
    (answer,), (start,) = line["answers"]["text"], line["answers"]["answer_start"]
    assert answer != "France" and line["text"][start : start + len(answer)] == answer
    assert (
        answer[0] == "F" and answer[-1] == "e" and line["text"][start - 1] == line["text"][start + len(answer)] == " "
    )


def test_spans_in_csv_and_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        'text,s,n\n"Paris, France",\'-\',1\nParis is here,"[[9, 13]]",2\n'.replace("'-'", ""), encoding="utf-8"
    )
    assert (
        main(
            [
                "perturb",
                str(tmp_path / "a.csv"),
                "-p",
                "intrude(symbols='_', phi=1)",
                "-l",
                "1",
                "--protect-spans",
                "s",
                "-q",
                "-o",
                str(tmp_path / "b.csv"),
            ]
        )
        == 0
    )
    assert (tmp_path / "b.csv").read_text(
        encoding="utf-8"
    ) == 'text,s,n\n"P_a_r_i_s, F_r_a_n_c_e",,1\nP_a_r_i_s is here,"[[13, 17]]",2\n'
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    rows = [{"text": TEXT, "s": [[0, 5]], "answers": {"text": ["France"], "answer_start": [24]}}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    options = [
        "-p",
        "intrude",
        "-l",
        "1",
        "--protect-spans",
        "s",
        "--spans",
        "answers",
        "-q",
        "-o",
        str(tmp_path / "b.parquet"),
    ]
    assert main(["perturb", str(tmp_path / "a.parquet"), *options]) == 0
    (row,) = pq.read_table(tmp_path / "b.parquet").to_pylist()
    assert (
        row["text"][:5] == "Paris"
        and row["s"] == [[0, 5]]
        and selected(row["answers"], row["text"]) == row["answers"]["text"]
    )


def test_several_columns_of_protected_spans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": TEXT, "a": [[0, 5]], "b": [[24, 30]], "c": [[9, 12]]}) + "\n")
    command = ["perturb", str(tmp_path / "a.jsonl"), "-p", "intrude", "-l", "1", "--protect", "urls", "--spans", "c"]
    assert main([*command, "--protect-spans", "a", "--protect-spans", "b"]) == 0
    out, err = capsys.readouterr()
    row = json.loads(out)
    assert [selected(row[name], row["text"]) for name in "ab"] == [["Paris"], ["France"]] and row["b"] != [[24, 30]]
    assert selected(row["c"], row["text"]) != ["the"] and "|protect:urls,spans:a,spans:b\n" in err


def test_spans_belong_to_one_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"q": "who", "c": "me", "s": []}\n', encoding="utf-8")
    assert main(["perturb", str(tmp_path / "a.jsonl"), "-p", "typo", "-c", "q", "-c", "c", "--spans", "s"]) == 2
    assert "expected one column of texts beside spans, got q, c" in capsys.readouterr().err


@given(text, strength, seed, st.integers(0, 60), st.integers(0, 60))
def test_map_span_is_what_carries_words(text: str, p: float, seed: int, one: int, other: int) -> None:
    start, stop = sorted((min(one, len(text)), min(other, len(text))))
    corpus = Corpus.of([text])
    for spec in ("typo+segment", "intrude", "omit", "distraction"):
        raw = scuff.parse(spec).edits(corpus, p, seed=seed).in_order()
        new, edits = scuff.perturb(text, spec, p, seed=seed, return_edits=True)
        moved = scuff.map_span(edits, start, stop)
        assert 0 <= moved[0] <= moved[1] <= len(new)
        if start < stop:
            one_span = Spans(*(corpus.offsets[:1] * 0 + at for at in (0, start, stop)))
            carried = raw.carry(one_span, corpus.offsets)
            assert moved == (carried.start[0], max(carried.start[0], carried.stop[0]))
        if not any(
            (edit.start < stop and edit.stop > start) or start < edit.start == edit.stop < stop for edit in edits
        ):
            assert new[slice(*moved)] == text[start:stop]


def test_map_span_by_hand() -> None:
    edits = [scuff.Edit(2, 4, "cd", "CDE"), scuff.Edit(6, 6, "", "!!"), scuff.Edit(8, 9, "i", "")]  # abCDEef!!gh
    assert scuff.map_spans(edits, [(0, 2), (2, 4), (3, 6), (4, 6), (6, 8), (8, 9), (0, 9)]) == [
        (0, 2), (2, 5), (2, 7), (5, 7), (9, 11), (11, 11), (0, 11),
    ]  # fmt: skip
    assert scuff.map_span([], 3, 5) == (3, 5)
    with pytest.raises(ValueError, match=r"expected 0 <= start <= stop for a span, got \(5, 3\)"):
        scuff.map_span(edits, 5, 3)
