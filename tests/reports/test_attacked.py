"""What a user sees of a search attack: the table, the page, the live line, the gate; from real runs on small models."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reports.made import EVIL, SEARCH, with_summary
from reports.page import Page, page_at
from scuff.cli.main import main
from scuff.metrics.interval import wilson
from scuff.reports.attack import write_attack_report
from scuff.reports.attack_tables import attack_table, comparison_table
from scuff.reports.charts import budget_curve, spot
from scuff.reports.gate import check_summary
from scuff.reports.live import marked_line
from scuff.reports.outcome import junit, markdown
from scuff.reports.samples import evenly
from scuff.runs.folder import Folder
from strategies import text as nasty_text


@pytest.fixture
def summary(attacked: Folder) -> Any:
    return attacked.attack_summary()


@pytest.fixture
def nothing(nothing_attacked: Folder) -> Any:
    return nothing_attacked.attack_summary()


@pytest.fixture
def timings(attacked: Folder) -> Any:
    """As if the run had been interrupted once, with round numbers."""
    (entry,) = attacked.timings()
    first = {**entry, "seconds": 60.0, "victim_seconds": 45.0, "queries": 12000}
    return [first, {**entry, "seconds": 20.0, "victim_seconds": 15.0, "queries": 6240}]


def changed(summary: Any, **parts: Any) -> Any:
    """A summary in which some fields are others; those of a part are merged into it."""
    new = deepcopy(summary)
    for name, part in parts.items():
        new[name] = {**new[name], **part} if isinstance(part, dict) else part
    return new


def page_of(folder: Folder) -> tuple[str, Page]:
    write_attack_report(folder)
    page = page_at(folder.path)
    return page.source, page


# the table


def test_the_table(summary: Any, timings: Any) -> None:
    table = attack_table(summary, timings)
    assert table.startswith("toxictrap against reports.made:rude_or_not on attacked/notes.jsonl: 70 examples")
    for line in (
        "attack success rate         56.9 [44.8, 68.2]   37 of 65 attacked",
        "  after validity filter     41.5 [30.4, 53.7]   27 of 65: meaning moved at most 0.12 by chrF",
        "accuracy, clean             92.9 [84.3, 96.9]",
        "accuracy, after attack      40.0 [29.3, 51.7]   of all examples, the skipped ones too",
        "queries per attacked text   24.2                median 17.0, 1,572 in all, at most 60 each",
        "words changed               23.2                on average, of successes",
        "similarity in meaning       0.82                on average, of successes, by chrF; 1 is the same",
        "37 succeeded, 26 failed, 2 ended in an error, 5 skipped (5 already wrong)",
        "13 queries had no answer, counted as not fooling the model: 13 RuntimeError",
        "9 attacks ran out of queries or time",
        "few texts were attacked (65): the intervals are wide",
        "time          80.0 s in 2 sessions, 228 queries per second, 75% of it inside the model",
        "recipe        toxictrap (ToxicTrap (Bespalov et al. 2023), Table 1)",
        "  search      unk",
        "  constraints stop-words; pos(strict=True)",
        "  deviates    chosen otherwise: goal, transform, no changed, no meaning",
        "examples left out: 2 with no text",
    ):
        assert f"\n{line}\n" in f"{table}\n", line
    assert "so the true success rate may be higher: 2 RuntimeError\n" in table, "no message: it may quote a text"
    assert max(map(len, table.splitlines())) <= 130


def test_the_numbers_are_those_of_the_lines(attacked: Folder, summary: Any) -> None:
    lines = list(attacked.attack_results())
    asked = [line["queries"] for line in lines if line["status"] != "skipped"]
    assert sum(asked) == summary["queries"]["total"] and sum(asked) / len(asked) == pytest.approx(24.184615)
    assert sum(line["status"] == "succeeded" for line in lines) == summary["success"]["count"] == 37


def test_measures_have_names(summary: Any, timings: Any) -> None:
    table = attack_table(changed(summary, valid={"measure": "minilm"}, similarity={"measure": "minilm"}), timings)
    assert "meaning moved at most 0.12 by MiniLM" in table and "of successes, by MiniLM; 1 is the same" in table


def test_a_table_of_nothing(nothing: Any) -> None:
    table = attack_table(nothing, [])
    assert table.count("- [-, -]") == 2 and "None" not in table and "nan" not in table
    assert "nothing was attacked" in table and "time          not known" in table and "few texts" not in table
    assert "at most 100 each" in table


def test_few_texts_are_said_to_be_few(summary: Any, timings: Any) -> None:
    assert "few texts were attacked (99)" in attack_table(changed(summary, success={"of": 99}), timings)
    assert "few texts" not in attack_table(changed(summary, success={"of": 100}), timings)


def test_side_by_side(summary: Any, nothing: Any, timings: Any) -> None:
    beam = changed(summary, recipe={"search": "beam(width=8)", "constraints": ["meaning(least=0.84)"]})
    table = comparison_table([("a|b", summary, timings), ("a|b", beam, []), ("c", nothing, [])]).splitlines()
    assert table[0] == (
        "| Task | Search | POS | Attack Success Rate | Average Number of Queries | Average Perturbed Word % | n | Queries/s |"
    )
    assert table[2:] == [
        "| a\\|b | unk | x | 56.9 [44.8, 68.2] | 24.2 | 23.2 | 65 | 228 |",
        "|  | beam |  | 56.9 [44.8, 68.2] | 24.2 | 23.2 | 65 | - |",
        "| c | unk | x | - [-, -] | - | - | 0 | - |",
    ]
    other = changed(summary, recipe={"transform": ["embedding(n=50)"]})
    table = comparison_table([("a", summary, []), ("a", other, [])]).splitlines()
    assert table[0].startswith("| Task | Transformation | Search |") and "| embedding(n=50) | unk |" in table[3]


# the page


def test_the_page_loads_nothing_and_escapes_everything(attacked: Folder, tmp_path: Path) -> None:
    words = [{"old": "silly", "new": "siIly", "count": 14}, {"old": "rubbish", "new": "<b>", "count": 4}]
    folder = with_summary(attacked, tmp_path, words=words)
    run = folder.read_json("run.json")
    folder.write_json("run.json", {**run, "config": {**run["config"], "protect": ["word:<made up>"]}})
    source, page = page_of(folder)
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "form"} and source.count("<script") == 1
    assert "<td><b>" not in source and "<made up>" not in source
    assert EVIL in page.text("li.example", without="ins.") and "word:<made up>" in page.text("code.")
    assert "<b>" in page.text("td.")
    assert source == page_of(folder)[0], "the same bytes"


def test_the_page_says_what_the_table_says(attacked: Folder) -> None:
    _, page = page_of(attacked)
    tiles, body = page.text("div.tile"), page.text("body.")
    for shown in ("56.9", "37 of 65 attacked", "41.5", "92.9 → 40.0", "24.2", "median 17.0"):
        assert shown in tiles, shown
    assert "chosen otherwise: goal" in body and "pos(strict=True)" in body and "errors count as failed" in body
    assert "61.7 [49.0, 72.9]" in page.text("td."), "success by label, with Wilson's interval"
    assert "Right on 65 of 70 clean texts; on 28 after toxictrap." in page.text("section.verdict")
    assert "0.0 [0.0, 43.4]" in page.text("td.")


def test_quoted_texts_are_folded_away(attacked: Folder) -> None:
    """All but the one of the verdict."""
    _, page = page_of(attacked)
    quoted = [path for path, data in page.words if "silly" in data or "rubbish" in data]
    assert quoted and all("details." in path or "section.verdict" in path for path in quoted)
    assert "Quoted from the data" in page.text("p.soft")
    shown = page.text("details.")
    assert "Attacked texts: 65 of 65" in shown
    outcomes = [a["data-outcome"] for tag, a in page.tags if tag == "li" and "data-outcome" in a]
    assert outcomes.count("succeeded") == 27 and outcomes.count("failed") == 26
    assert outcomes.count("succeeded, moved too far in meaning") == 10 and outcomes.count("ended in an error") == 2
    assert "offensive (0.98) → neither (0.98), 16 queries, similarity 0.92" in shown
    assert "moved too far in meaning" in shown and "no query was left" in shown
    for line in list(attacked.attack_results())[:1]:
        assert line["adversarial"] is not None
        assert line["adversarial"]["texts"][0] in page.text("li.example", without="del.")
        assert line["texts"][0] in page.text("li.example", without="ins.")


def test_many_attacks_are_a_sample_over_the_data() -> None:
    assert evenly(5, 10) == set(range(5))
    some = sorted(evenly(1000, 10))
    assert len(some) == 10 and some[0] == 0 and some[-1] == 900


def test_a_page_of_nothing(nothing_attacked: Folder) -> None:
    _, page = page_of(nothing_attacked)
    body = page.text("body.", without="script.")
    assert "None" not in body and "nan" not in body and "nothing was attacked" in body and "Texts and words" not in body
    assert "svg" not in {tag for tag, _ in page.tags}


PAIRS = [(f"one note {n}", f"a silly note {n}", "rude") for n in range(3)]
SETS = [(f"a loud and silly note {n}", ["loud", "rude"]) for n in range(3)]
TAGS = [{"tokens": ["Anna", "saw", f"Ben{n}"], "tags": ["N", "V", "N"]} for n in range(3)]


def rude_pair(first: list[str], second: list[str]) -> list[dict[str, float]]:
    return [{"rude": float("silly" in text), "kind": float("silly" not in text)} for text in second]


def labels_of(texts: list[str]) -> list[dict[str, float]]:
    return [{"loud": float("silly" in text), "rude": float("silly" in text)} for text in texts]


def tagger(rows: list[list[str]]) -> list[list[str]]:
    return [["V" if token == "saw" else "N" for token in row] for row in rows]


@pytest.mark.parametrize(
    ("model", "data", "settings", "shown"),
    [
        (rude_pair, PAIRS, {"side": "second", "labels": ["rude", "kind"]}, "rude (1.00) → kind (1.00)"),
        (labels_of, SETS, {}, "loud rude → no label"),
        (tagger, TAGS, {"goal": "tags(share=0.3)"}, "N V N → N N N"),
    ],
)
def test_pairs_sets_and_tags(model: Any, data: Any, settings: Any, shown: str, tmp_path: Path) -> None:
    parts = {**SEARCH, "without": ["changed", "meaning", "pos"]}
    done = scuff.attack(model, data, "toxictrap", tmp_path / "run", **{**parts, **settings})
    assert done.success == 1
    page = page_at(tmp_path / "run")
    assert shown in page.text("li.example")
    for before, after in done.adversarial:
        assert before in page.text("li.example", without="ins.") and after in page.text("li.example", without="del.")


def test_the_curve() -> None:
    def points(curve: dict[str, Any]) -> list[tuple[float, float]]:
        found = ElementTree.fromstring(budget_curve(curve)).find("polyline")
        assert found is not None
        return [tuple(map(float, pair.split(","))) for pair in found.attrib["points"].split()]  # type: ignore[misc]

    (x1, top), (x2, _), (x3, bottom) = points({"queries": [1, 10, 100], "left": [1.0, 0.5, 0.0]})[::2]
    assert x2 - x1 == pytest.approx(x3 - x2) and top < bottom
    steps = points({"queries": [3, 5, 7], "left": [0.8, 0.2, 0.2]})  # nothing was computed for 4 and 6
    (at_3, high), corner, (at_5, low), *rest = steps
    assert corner == (at_5, high) and at_3 < at_5 and high < low and {y for _, y in rest} == {low}
    assert len(points({"queries": [1], "left": [0.5]})) == 1
    assert len(points({"queries": [0, 1], "left": [1.0, 0.2]})[::2]) == 2, "0 is no place on a logarithmic scale"
    assert len(points({"queries": [1, 5000, 40000], "left": [1.0, None, 0.2]})[::2]) == 2
    assert budget_curve({"queries": [], "left": []}) == "" == budget_curve({"queries": [1], "left": [None]})


def test_the_curve_has_a_band() -> None:
    picture = ElementTree.fromstring(budget_curve({"queries": [1, 10], "left": [1.0, 0.5]}, 20))
    band = next(shape for shape in picture.iter("polygon") if shape.get("class") == "band")
    ends = [float(point.split(",")[1]) for point in band.get("points", "").split()]
    zero, hundred = (spot(0, share)[1] for share in (0, 1))
    low, high = wilson(0.5, 20)
    assert [round((zero - end) / (zero - hundred), 2) for end in (ends[2], ends[3])] == [round(high, 2), round(low, 2)]


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
        "nothing -> no label  you \033[31m[-silly-]\033[0m\033[32m{+kind+}\033[0m"
    ), "colour is never the only sign"
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
    from scuff.reports.live import _pieces

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


def test_the_gate_of_an_attack(summary: Any, nothing: Any) -> None:
    lines = check_summary(summary, {"after": 0.4, "clean": 0.93}, max_success=0.57)
    assert {line.name: line.passed for line in lines} == {"after": True, "clean": False, "success": True}
    (line,) = check_summary(summary, {}, max_success=0.56)  # the value counts; its interval begins at 44.8
    assert str(line) == "FAIL success: 56.9, at most 56.0"
    assert "| success | 56.9 | at most 56.0 | ❌ **fail** |" in markdown([line], summary)
    assert "at most" in junit([line], "x")
    (line,) = check_summary(summary, {}, max_drop=0.53)
    assert str(line) == "ok   after: 40.0, at least 39.9 (clean 92.9 - 53.0)"
    (line,) = check_summary(summary, {}, max_drop=0.52)
    assert not line.passed
    assert not any(line.passed for line in check_summary(nothing, {}, max_success=1)), "unknown does not pass"


def test_errors_do_not_pass_for_robustness(summary: Any) -> None:
    broken = changed(summary, status={"succeeded": 0, "failed": 15, "error": 50, "skipped": 5})
    assert [str(line) for line in check_summary(broken, {}, max_success=1)][1:] == [
        "FAIL answered: 23.1, at least 90.0"
    ]
    assert all(line.passed for line in check_summary(broken, {"answered": 0.2}, max_success=1))


def test_two_attacks(summary: Any) -> None:
    better = changed(summary, after={"value": 0.44})
    lines = check_summary(summary, {}, 0.02, better)
    assert [(line.name, line.passed) for line in lines] == [("clean", True), ("after", False)]
    for other, what in (
        (changed(summary, recipe={"search": "beam"}), "recipe"),
        (changed(summary, queries={"limit": 10}), "limit"),
        (changed(summary, data={"digest": "e"}), "data"),
    ):
        with pytest.raises(ValueError, match=f"same data and settings, got another {what}$"):
            check_summary(summary, {}, 0.1, other)


def test_check_on_the_command_line(attacked: Folder, capfd: pytest.CaptureFixture[str]) -> None:
    def check(*options: str) -> tuple[int, str]:
        try:
            code = main(["check", str(attacked.path), *options])
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, "".join(capfd.readouterr())

    assert check("--max-success", "0.57", "--min", "after=0.3") == (
        0, "ok   after: 40.0, at least 30.0\nok   success: 56.9, at most 57.0\n"
    )  # fmt: skip
    assert check("--max-success", "0.5")[0] == 1
    assert check("--max-success", "50%") == check("--max-success", "0.5")
    assert check("--max-success", "50") == (
        2, "scuff: expected a number in [0, 1], or a percentage, for --max-success, got '50': write 0.5 or 50%\n"
    )  # fmt: skip
    assert check("--min", "worst=0.5")[1].endswith("got 'worst'; there are clean, after, answered, tried\n")
    assert check("--min", "each=0.5")[0] == 2
    assert "(--min NAME=VALUE or --max-success VALUE), got nothing" in check()[1]


def test_an_evaluation_has_no_success_to_check() -> None:
    done = scuff.evaluate("toy:sentiment", "toy:sentiment", examples=5, cases=1, degrees=[0.1], dimensions=["keyboard"])
    with pytest.raises(ValueError, match="expected a run of `scuff attack` for --max-success"):
        check_summary(done.summary, {}, max_success=0.5)
