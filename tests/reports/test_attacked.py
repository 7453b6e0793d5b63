"""What a user sees of a search attack: the table, the page, the live line, the gate; from a made-up run."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.page import Page
from scuff.cli.main import main
from scuff.reports.attack import write_attack_report
from scuff.reports.attack_tables import attack_table, comparison_table
from scuff.reports.charts import budget_curve
from scuff.reports.gate import check_summary, junit, markdown
from scuff.reports.marks import marked_line
from scuff.runs.folder import Folder
from strategies import text as nasty_text

EVIL = "<script>alert('&amp;')</script> $title ${body}\u200b"
TIMINGS = [
    {"seconds": 60.0, "victim_seconds": 45.0, "queries": 12000, "queries_per_second": 200.0, "workers": 1},
    {"seconds": 20.0, "victim_seconds": 15.0, "queries": 6240, "queries_per_second": 312.0, "workers": 1},
]
SUMMARY: dict[str, Any] = {
    "schema": 1, "kind": "attack", "signature": "scuff 1 | <made up>", "model": "rude-or-not", "task": "single",
    "data": {"name": "notes.jsonl", "digest": "d", "skipped": {"no text": 2}},
    "recipe": {
        "name": "toxictrap", "paper": "Bespalov et al. 2023, Table 1", "goal": "toxictrap(benign='neither')",
        "transform": ["typo(operations='insert', layout='any')", "homoglyph", "embedding(n=20)"],
        "search": "greedy(importance='unk')",
        "constraints": ["changed(share=0.1, floor=4)", "pos(strict=True)", "meaning(least=0.84)"],
        "deviations": ["MiniLM in place of USE", "our own tagger in place of flair"],
    },
    "examples": 500, "clean": {"value": 0.91, "interval": [0.88, 0.93]}, "after": {"value": 0.31, "interval": [0.271, 0.352]},
    "success": {"value": 300 / 380, "interval": [0.746, 0.827], "count": 300, "of": 380},
    "valid": {"value": 0.7, "interval": [0.652, 0.744], "count": 266, "of": 380, "measure": "minilm", "most": 0.2},
    "status": {"succeeded": 300, "failed": 75, "error": 5, "skipped": 120},
    "skipped": {"not toxic": 80, "already wrong": 40}, "problems": {"error: timed out": 5},
    "queries": {"mean": 48.1, "median": 40.0, "total": 18240, "limit": None, "cut": 3},
    "changed": {"mean": 0.19}, "similarity": {"mean": 0.914, "measure": "minilm"},
    "curve": {"queries": [1, 2, 5, 10, 20, 50, 100, 200], "left": [1.0, 1.0, 0.97, 0.8, 0.55, 0.32, 0.23, 0.21]},
    "labels": {"offensive": {"of": 300, "count": 250}, "hate": {"of": 80, "count": 50}},
    "words": [{"old": "silly", "new": "siIly", "count": 14}, {"old": "rubbish", "new": "<b>", "count": 4}],
}  # fmt: skip


def lines_of_results() -> list[dict[str, Any]]:
    """300 that succeeded, 75 that failed, 5 errors, 120 left alone."""
    out = []
    for number in range(500):
        status = "succeeded" if number % 5 < 3 else ("failed", "skipped")[number % 5 - 3] if number < 375 else "skipped"
        if status == "skipped" and number >= 495:
            status = "error"
        text = f"What a silly note {number}, full of rubbish and {EVIL}"
        answer, at = {"label": "offensive", "score": 0.98}, text.index("rubbish")
        tried = {
            "texts": [text.replace("silly", "siIly")], "edits": [[0, 9, 10, "I"], [0, at, at + 7, "things"]],
            "answer": {"label": "neither", "score": 0.61}, "changed": 0.12, "similarity": 0.93, "valid": number % 2 == 0,
        }  # fmt: skip
        kept = {"succeeded": tried, "failed": {**tried, "answer": answer} if number % 2 else None}.get(status)
        out.append({
            "id": f"n{number}", "texts": [text], "target": "offensive", "status": status,
            "reason": "" if status == "succeeded" else "no candidate was left" if status == "failed" else "not toxic",
            "clean": {"answer": answer}, "queries": 31, "adversarial": kept,
        })  # fmt: skip
    return out


def changed(**parts: Any) -> dict[str, Any]:
    return {**deepcopy(SUMMARY), **parts}


NOTHING = changed(
    success={"value": None, "interval": None, "count": 0, "of": 0}, valid=None, similarity=None, changed={"mean": None},
    clean={"value": 0.0, "interval": [0.0, 0.01]}, after={"value": None, "interval": [None, None]},
    queries={"mean": None, "median": None, "total": 0, "limit": 100, "cut": 0}, curve={"queries": [], "left": []}, labels={},
    words=[], status={"succeeded": 0, "failed": 0, "error": 0, "skipped": 500}, skipped={"not toxic": 500}, problems={},
)  # fmt: skip


def run_folder(path: Path, summary: dict[str, Any], lines: list[dict[str, Any]]) -> Folder:
    folder = Folder(path)
    folder.write_json("summary.json", summary)
    folder.write_lines("results.jsonl", lines)
    return folder


def page_of(folder: Folder) -> tuple[str, Page]:
    write_attack_report(folder)
    source = (folder.path / "report.html").read_text(encoding="utf-8")
    page = Page(source)
    assert not page.open, "every element is closed"
    return source, page


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return run_folder(tmp_path_factory.mktemp("attack"), SUMMARY, lines_of_results())


# the table


def test_the_table() -> None:
    table = attack_table(SUMMARY, TIMINGS)
    assert table.startswith("toxictrap against rude-or-not on notes.jsonl: 500 examples")
    for line in (
        "attack success rate         78.9 [74.6, 82.7]   300 of 380 attacked",
        "  after validity filter     70.0 [65.2, 74.4]   266 of 380: meaning moved at most 0.2 by MiniLM",
        "accuracy, clean             91.0 [88.0, 93.0]",
        "queries per attacked text   48.1                median 40.0, 18,240 in all",
        "words changed               19.0                on average, of successes",
        "300 succeeded, 75 failed, 5 ended in an error, 120 skipped (80 not toxic, 40 already wrong)",
        "3 attacks ran out of queries or time",
        "time          80.0 s in 2 sessions, 228 queries per second, 75% of it inside the model",
        "recipe        toxictrap (Bespalov et al. 2023, Table 1)",
        "  deviates    MiniLM in place of USE; our own tagger in place of flair",
        "examples left out: 2 with no text",
    ):
        assert f"\n{line}\n" in f"{table}\n", line
    assert "0.91" in table and "error: timed out, 5 times" in table
    assert max(map(len, table.splitlines())) <= 130


def test_a_table_of_nothing() -> None:
    table = attack_table(NOTHING, [])
    assert "- [-, -]" in table and "None" not in table and "nan" not in table
    assert "nothing was attacked" in table and "time          not known" in table and "validity" not in table
    assert "at most 100 each" in table


def test_few_texts_are_said_to_be_few() -> None:
    few = changed(success={"value": 0.5, "interval": [0.2, 0.8], "count": 6, "of": 12})
    assert "few texts were attacked (12)" in attack_table(few, TIMINGS)


def test_side_by_side() -> None:
    beam = changed(recipe={**SUMMARY["recipe"], "search": "beam(width=8)", "constraints": ["meaning(least=0.84)"]})
    table = comparison_table([("a|b", SUMMARY, TIMINGS), ("a|b", beam, []), ("c", NOTHING, [])]).splitlines()
    assert table[0] == (
        "| Task | Search | POS | Attack Success Rate | Average Number of Queries | Average Perturbed Word % | n | Queries/s |"
    )
    assert table[2:] == [
        "| a\\|b | unk | x | 78.9 [74.6, 82.7] | 48.1 | 19.0 | 380 | 228 |",
        "|  | beam |  | 78.9 [74.6, 82.7] | 48.1 | 19.0 | 380 | - |",
        "| c | unk | x | - [-, -] | - | - | 0 | - |",
    ]
    other = changed(recipe={**SUMMARY["recipe"], "transform": ["embedding(n=50)"]})
    table = comparison_table([("a", SUMMARY, []), ("a", other, [])]).splitlines()
    assert table[0].startswith("| Task | Transformation | Search |") and "| embedding(n=50) | unk |" in table[3]


# the page


def test_the_page_loads_nothing_and_escapes_everything(run: Folder) -> None:
    source, page = page_of(run)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "form"}
    assert "<script" not in source and "<b>, " not in source and "<made up>" not in source
    assert EVIL in page.text("div.example", without="ins.") and "scuff 1 | <made up>" in page.text("code.")
    assert source == page_of(run)[0], "the same bytes"


def test_the_page_says_what_the_table_says(run: Folder) -> None:
    _, page = page_of(run)
    tiles, body = page.text("div.tile"), page.text("body.")
    for shown in ("78.9", "300 of 380 attacked", "70.0", "91.0 → 31.0", "48.1", "median 40.0"):
        assert shown in tiles, shown
    assert (
        "MiniLM in place of USE" in body and "toxictrap(benign='neither')" in body and "errors count as failed" in body
    )
    assert "83.3 [78.7, 87.1]" in page.text("td."), "success by label, with Wilson's interval"


def test_quoted_texts_are_folded_away(run: Folder) -> None:
    _, page = page_of(run)
    quoted = [path for path, data in page.words if "silly" in data or "siIly" in data]
    assert quoted and all("details." in path for path in quoted)
    assert "Quoted from the data" in page.text("p.soft")
    shown = page.text("details.")
    assert "Attacks that succeeded: 30 of 300" in shown and "Attacks that failed: 5 of 75" in shown
    examples = [data for path, data in page.words if path[-1:] == ("b.",) and data.startswith("example ")]
    assert len(examples) == 35 and examples[0] == "example n0", "spread over the data"
    assert "offensive (0.98) → neither (0.61), 31 queries, similarity 0.93" in shown
    assert "moved too far in meaning" in shown and "no candidate was left" in shown
    assert "siIly note 0" in page.text("div.example", without="del.") and "silly note 0" in page.text(
        "div.example", without="ins."
    )


def test_a_page_of_nothing(tmp_path: Path) -> None:
    lines = [{**line, "status": "skipped", "adversarial": None} for line in lines_of_results()]
    _, page = page_of(run_folder(tmp_path, NOTHING, lines))
    body = page.text("body.")
    assert "None" not in body and "nan" not in body and "nothing was attacked" in body and "Texts and words" not in body
    assert "svg" not in {tag for tag, _ in page.tags}


@pytest.mark.parametrize(
    ("texts", "before", "after", "shown"),
    [
        (["one note", "two notes"], ["rude", "loud"], [], "rude loud → no label"),
        ([["Anna", "saw"]], ["N", "V"], ["N", None], "N V → N None"),
        (["one note"], {"label": "yes"}, None, "yes → nothing"),
    ],
)
def test_pairs_sets_and_tags(texts: list[Any], before: Any, after: Any, shown: str, tmp_path: Path) -> None:
    line = {**lines_of_results()[0], "texts": texts, "clean": {"answer": before}}
    line["adversarial"] = {
        **line["adversarial"],
        "edits": [[len(texts) - 1, 4, 7, "-new-"]],
        "answer": after,
        "similarity": None,
    }
    _, page = page_of(run_folder(tmp_path, changed(status={"succeeded": 1, "failed": 0}), [line]))
    example = page.text("div.example")
    assert shown in example and "-new-" in example and "similarity" not in example


def test_the_curve() -> None:
    def points(curve: dict[str, Any]) -> list[tuple[float, float]]:
        found = ElementTree.fromstring(budget_curve(curve)).find("polyline")
        assert found is not None
        return [tuple(map(float, pair.split(","))) for pair in found.attrib["points"].split()]  # type: ignore[misc]

    (x1, top), (x2, _), (x3, bottom) = points({"queries": [1, 10, 100], "left": [1.0, 0.5, 0.0]})
    assert x2 - x1 == pytest.approx(x3 - x2) and top < bottom
    assert len(points({"queries": [0, 1], "left": [1.0, 0.2]})) == 2, "0 is no place on a logarithmic scale"
    assert len(points({"queries": [1, 5000, 40000], "left": [1.0, None, 0.2]})) == 2
    assert budget_curve({"queries": [], "left": []}) == "" == budget_curve({"queries": [1], "left": [None]})


# a line while it runs


def plain(text: str, *edits: list[Any]) -> str:
    return marked_line([text], [[0, *edit] for edit in edits], {"label": "a", "score": 0.5}, "b", False)


def test_a_line() -> None:
    assert plain("you silly thing", [4, 9, "kind"]) == "a (0.50) -> b  you [-silly-]{+kind+} thing"
    assert plain("you silly thing", [5, 6, "1"], [8, 9, ""]) == "a (0.50) -> b  you [-silly-]{+s1ll+} thing", (
        "whole words"
    )
    assert plain("you silly thing", [9, 9, " old"]) == "a (0.50) -> b  you silly{+ old+} thing"
    assert plain("you silly thing", [4, 10, ""]) == "a (0.50) -> b  you [-silly -]thing"
    assert plain("understand", [5, 5, " "]) == "a (0.50) -> b  [-understand-]{+under stand+}"
    assert marked_line(["you silly"], [[0, 4, 9, "kind"]], None, [], True) == (
        "nothing -> no label  you \033[31msilly\033[0m\033[32mkind\033[0m"
    )
    assert (
        marked_line(["a note", ["so", "silly"]], [[1, 3, 8, "kind"]], "x", "y", False) == "x -> y  so [-silly-]{+kind+}"
    )
    assert marked_line(["a b", "c d"], [[0, 0, 1, "x"], [1, 2, 3, "y"]], "x", "y", False) == (
        "x -> y  [-a-]{+x+} b | c [-d-]{+y+}"
    )


def test_nothing_in_a_text_steers_the_terminal() -> None:
    line = plain("\x1b[2Jyou\r\nsilly\u202e thing\t", [8, 13, "\x1b]0;k\u200bd\ud800"])
    assert line.isprintable() and "\\u001b[2J" in line and "↵" in line and "\\u202e" in line and "\\ud800" in line
    assert marked_line(["a"], [], "\x1b[0m", "\n", True).isprintable()


def test_long_texts_are_cut_around_the_changes() -> None:
    line = plain("word " * 400 + "silly" + " word" * 400, [2000, 2005, "kind"])
    assert "word [-silly-]{+kind+} word" in line and len(line) <= 170 and line.endswith("…")
    far = plain("word " * 400, [5, 9, "first"], [1500, 1504, "second"])
    assert "{+first+}" in far and "{+second+}" in far and len(far) <= 170
    many = plain("word " * 400, *([at, at + 4, "other"] for at in range(0, 2000, 10)))
    assert len(many) <= 190 and many.endswith("…") and many.count("[-") == many.count("{+") > 3
    assert len(plain("x" * 5000, [2500, 2501, "y" * 5000])) <= 190
    assert len(marked_line(["a b"], [[0, 0, 1, "x"]], ["label"] * 99, "b" * 5000, False)) <= 100


@st.composite
def edited(draw: Any) -> tuple[str, list[list[Any]]]:
    text = draw(nasty_text)[:60]
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return text, [[start, stop, draw(nasty_text)[:9]] for start, stop in zip(cuts[::2], cuts[1::2], strict=False)]


@given(edited())
def test_a_line_of_anything(case: tuple[str, list[list[Any]]]) -> None:
    """Whatever is widened, the old text is what is kept and taken out, the new one what is kept and put in."""
    from scuff.reports.marks import _pieces

    text, edits = case
    pieces = _pieces(text, edits)
    after = text
    for start, stop, new in reversed(edits):
        after = after[:start] + new + after[stop:]
    assert "".join(part for kind, part in pieces if kind != "new") == text
    assert "".join(part for kind, part in pieces if kind != "old") == after
    assert plain(text, *edits).isprintable()
    assert re.sub("\033\\[\\d+m", "", marked_line([text], [[0, *edit] for edit in edits], "a", "b", True)).isprintable()


# the gate


def test_the_gate_of_an_attack() -> None:
    passed = {
        line.name: line.passed for line in check_summary(SUMMARY, {"after": 0.31, "clean": 0.92}, max_success=0.79)
    }
    assert passed == {"after": True, "clean": False, "success": True}
    (line,) = check_summary(SUMMARY, {}, max_success=0.78)  # the value counts; its interval begins at 74.6
    assert str(line) == "FAIL success: 78.9, at most 78.0"
    assert "| success | 78.9 | at most 78.0 | **fail** |" in markdown([line], SUMMARY) and "at most" in junit(
        [line], "x"
    )
    (line,) = check_summary(SUMMARY, {}, max_drop=0.6)
    assert str(line) == "ok   after: 31.0, at least 31.0 (clean 91.0 - 60.0)"
    assert not any(line.passed for line in check_summary(NOTHING, {"after": 0}, max_success=1)), "unknown does not pass"


def test_errors_do_not_pass_for_robustness() -> None:
    broken = changed(status={"succeeded": 0, "failed": 80, "error": 300, "skipped": 120})
    assert [str(line) for line in check_summary(broken, {}, max_success=1)][1:] == [
        "FAIL answered: 21.1, at least 90.0"
    ]
    assert all(line.passed for line in check_summary(broken, {"answered": 0.2}, max_success=1))


def test_two_attacks() -> None:
    better = changed(after={"value": 0.35, "interval": [0.3, 0.4]})
    lines = check_summary(SUMMARY, {}, 0.02, better)
    assert [(line.name, line.passed) for line in lines] == [("clean", True), ("after", False)]
    for other, what in (
        (changed(recipe={**SUMMARY["recipe"], "search": "beam"}), "recipe"),
        (changed(queries={**SUMMARY["queries"], "limit": 10}), "limit"),
        (changed(data={"name": "x", "digest": "e", "skipped": {}}), "data"),
    ):
        with pytest.raises(ValueError, match=f"same data and settings, got another {what}$"):
            check_summary(SUMMARY, {}, 0.1, other)


def test_check_on_the_command_line(run: Folder, capfd: pytest.CaptureFixture[str]) -> None:
    def check(*options: str) -> tuple[int, str]:
        try:
            code = main(["check", str(run.path), *options])
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, "".join(capfd.readouterr())

    assert check("--max-success", "0.8", "--min", "after=0.3") == (
        0, "ok   after: 31.0, at least 30.0\nok   success: 78.9, at most 80.0\n"
    )  # fmt: skip
    assert check("--max-success", "0.5")[0] == 1
    assert check("--max-success", "50") == (2, "scuff: expected a number in [0, 1] for --max-success, got 50\n")
    assert check("--min", "worst=0.5")[1].endswith("got 'worst'; there are clean, after, answered\n")
    assert check("--min", "each=0.5")[0] == 2
    assert "(--min NAME=VALUE or --max-success VALUE), got nothing" in check()[1]


def test_an_evaluation_has_no_success_to_check() -> None:
    with pytest.raises(ValueError, match="expected a run of `scuff attack` for --max-success"):
        check_summary({"schema": 1}, {}, max_success=0.5)
