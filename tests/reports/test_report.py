"""report.html: one safe page that loads nothing, marks what changed, and bears whatever a summary holds."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reports.page import Page, page_at
from scuff.reports.evaluation import write_report
from scuff.reports.evaluation_tables import score_table
from scuff.reports.figures import panels
from scuff.reports.gate import check_summary, named_scores
from scuff.reports.outcome import junit, markdown
from scuff.reports.page import escaped, marked
from scuff.runs.folder import Folder
from strategies import text as nasty_text

EVIL = "<script>alert('&amp;')</script> <b>bold \"quoted\" $title ${body}"


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def both(html: str) -> tuple[str, str]:
    """The text before and after, from one with marks."""
    page = Page(f"<p>{html}</p>")
    assert not page.open
    return page.text("p.", without="ins."), page.text("p.", without="del.")


def applied(text: str, edits: list[list[Any]]) -> str:
    for start, stop, new in reversed(edits):
        text = text[:start] + new + text[stop:]
    return text


@st.composite
def edited(draw: Any) -> tuple[str, list[list[Any]]]:
    """A text and some edits that do not overlap, in order."""
    text = draw(nasty_text)[:120]
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [[start, stop, draw(nasty_text)[:20]] for start, stop in pairs]


# marks


@given(edited())
def test_marks_hold_both_texts(case: tuple[str, list[list[Any]]]) -> None:
    text, edits = case
    assert both(marked(text, edits, most=10_000)) == (text, applied(text, edits))


def test_marks() -> None:
    assert marked("hello there", [[0, 1, "j"], [5, 5, "!"], [6, 8, ""]]) == (
        "<del>h</del><ins>j</ins>ello<ins>!</ins> <del>th</del>ere"
    )
    assert marked("plain", []) == "plain"
    assert marked("a < b", [[2, 3, "&"]]) == "a <del>&lt;</del><ins>&amp;</ins> b"


def test_a_long_text_is_cut_around_its_changes() -> None:
    text = "start " + "x" * 5000 + " end"
    shown = marked(text, [[2000, 2001, "CHANGED"]])
    assert len(shown) < 600 and "<ins>CHANGED</ins>" in shown and "…" in shown
    many = marked("word " * 5000, [[at, at + 1, "W"] for at in range(0, 25_000, 5)])
    assert len(many) < 10_000 and many.endswith("…")


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\u200b", "200B"), ("\u00ad", "00AD"), ("\u202e", "202E"), ("\x00", "0000"), ("\U000e0061", "E0061"), ("\n", "↵"),
        ("\r", "000D"), ("\u00a0", "00A0"), ("\u2009", "2009"), ("\ufeff", "FEFF"),
        ("\u2028", "2028"), ("\u2029", "2029"), ("\ue000", "E000"), ("\ud800", "D800"),
    ],
)  # fmt: skip
def test_what_nobody_sees_is_shown(char: str, shown: str) -> None:
    page = Page(f"<p>{escaped(f'a{char}b')}</p>")
    assert page.text("p.") == f"a{char}b" and [data for path, data in page.words if path[-1] == "span.unseen"] == [
        shown
    ]


def test_what_is_seen_is_not_touched() -> None:
    for text in ("plain words, 3.14 \t tab", "über Ελλάδα漢字", "שלום", "😀", "e\u0301"):
        assert escaped(text) == text


# the page


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which every name and text wants to be markup."""
    folder = tmp_path_factory.mktemp("evil")
    rows = [
        {"note": f"{EVIL} number {n} is good\u200b and\nlong enough", "kind": "<i>yes</i>", "name": f"<u>{n}</u>"}
        for n in range(6)
    ]
    rows += [
        {**row, "note": row["note"].replace("good", "poor"), "kind": "a&b", "name": row["name"] + "x"} for row in rows
    ]
    (folder / "<img src=x>.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scuff.evaluate(
        lambda texts: ["<i>yes</i>" if "good" in text else "a&b" for text in texts],
        str(folder / "<img src=x>.jsonl"), folder / "run", text="note", label="kind", id="name",
        dimensions=["keyboard", "intrude(symbols='<>&')", "invisible"], degrees=[0.2, 0.6], cases=5,
    )  # fmt: skip
    return folder / "run"


def test_it_is_one_page_that_loads_nothing(evil: Path) -> None:
    page = page_at(evil)
    kinds = {tag for tag, _ in page.tags}
    assert not kinds & {"link", "img", "iframe", "object", "embed", "base", "form", "audio", "video", "image", "use"}
    for tag, attributes in page.tags:
        assert (attributes.get("href") or "#")[0] == "#", "links stay on the page"
        assert not set(attributes) & {"src", "srcset", "action", "data", "xlink:href", "onload", "onclick", "style"}, (
            tag
        )
    style = page.text("style.")
    assert "url(" not in style and "@import" not in style and "http" not in style
    assert ("meta", {"charset": "utf-8"}) in page.tags


def test_only_its_own_script_may_run(evil: Path) -> None:
    page = page_at(evil)
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert [tag for tag, _ in page.tags].count("script") == 1
    digest = b64encode(sha256(page.text("script.").encode()).digest()).decode()
    assert policy and "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy


def test_texts_labels_and_names_are_escaped(evil: Path) -> None:
    page = page_at(evil)
    kinds = {tag for tag, _ in page.tags}
    assert not kinds & {"i", "u", "img", "lambda"} and [tag for tag, _ in page.tags].count("script") == 1
    shown = page.text("li.example")
    assert (
        EVIL in page.text("li.example", without="ins.") and "<i>yes</i>" in shown and "a&b" in shown and "<u>" in shown
    )
    assert "<img src=x>.jsonl" in page.text("h1.") and "<lambda>" in page.text("h1.")
    assert "<img src=x>.jsonl" in page.text("title.")
    assert "intrude(symbols='<>&')" in page.text("th.") and "$title ${body}" in shown


def test_the_examples_show_what_was_asked(evil: Path) -> None:
    page, found = page_at(evil), results(evil)
    broken = [case for line in found for d in line["dimensions"].values() if (case := d["broken_by"])]
    assert broken
    before, after = (page.text("li.example", without=kind) for kind in ("ins.", "del."))
    assert sum(case["texts"][0] in after for case in broken) >= 5
    assert sum(line["texts"][0] in before for line in found) >= 3
    unseen = [data for path, data in page.words if path[-1:] == ("span.unseen",)]
    assert "200B" in unseen and "↵" in unseen


def test_results_can_be_made_into_the_texts_that_were_asked(evil: Path) -> None:
    for line in results(evil):
        for dimension in line["dimensions"].values():
            if case := dimension["broken_by"]:
                assert (
                    applied(line["texts"][0], [edit[1:] for edit in case["edits"] if edit[0] == 0]) == case["texts"][0]
                )


def points_of(picture: ElementTree.Element, kind: str) -> list[tuple[float, float]]:
    """The points of the line of a kind."""
    found = next(e for e in picture.iter() if e.tag in ("polyline", "polygon") and e.get("class") == kind)
    return [(float(x), float(y)) for x, y in (point.split(",") for point in found.get("points", "").split())]


def test_curves_are_drawn(evil: Path) -> None:
    curves = page_at(evil).picture("rule: score by degree")
    assert len(curves) == 3
    for picture in curves:
        lines = [points_of(picture, kind) for kind in ("average", "worst", "alone")]
        assert [len(points) for points in lines] == [3, 3, 3], "clean and two degrees"
        assert len(points_of(picture, "band")) == len(points_of(picture, "worst-band")) == 4, (
            "both ends of two intervals"
        )
        width, height = (float(part) for part in picture.get("viewBox", "").split()[2:])
        assert all(0 <= x <= width and 0 <= y <= height for line in lines for x, y in line)


def test_every_chart_says_what_it_shows(evil: Path) -> None:
    """A title and the numbers for those who cannot see it, and titles of both axes."""
    for picture in page_at(evil).pictures:
        assert picture.findtext("title") and len(picture.findtext("desc") or "") > 20
        if "Final scores" not in (picture.findtext("title") or ""):
            titles = [text.text for text in picture.iter("text") if text.get("class") == "title"]
            assert titles and all(titles) and any("%" in (text or "") for text in titles)


def test_robtests_panels_have_a_line_per_dimension(evil: Path) -> None:
    panels = page_at(evil).picture("of all dimensions")
    assert [panel.findtext("title", "").split(":")[0] for panel in panels] == ["rule, average", "rule, worst"]
    summary = Folder(evil).evaluation_summary()
    for panel, kind in zip(panels, ("average", "worst"), strict=True):
        assert len(list(panel.iter("polyline"))) == len(summary["dimensions"]) == 3
        numbers = [f"{100 * cell[kind]['value']:.1f}" for cell in summary["dimensions"]["keyboard"]["degrees"]]  # type: ignore[literal-required]
        assert f"keyboard: {', '.join(numbers)}" in panel.findtext("desc", "")


def test_two_models_are_eight_panels(tmp_path: Path) -> None:
    result = scuff.evaluate(
        "toy:sentiment", "toy:sentiment", tmp_path / "run", examples=5, cases=1, degrees=[0.2], access=["rule", "score"],
        dimensions=["keyboard"],
    )  # fmt: skip
    titles = [title for title, _ in panels([("Base", result.summary), ("Large", result.summary)])]
    assert titles == [
        f"{m}-{a}-{k}" for m in ("Base", "Large") for a in ("Rule", "Score") for k in ("Average", "Worst")
    ]


def nothing(value: Any, key: str = "") -> Any:
    """A summary in which no number is known."""
    if isinstance(value, dict):
        return {name: nothing(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [nothing(inner, key) for inner in value]
    unknown = ("value", "interval", "relative", "rate", "reached", "edit_distance", "left")
    return None if key in unknown else value


def test_nothing_known(evil: Path, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for name in ("run.json", "results.jsonl"):
        (tmp_path / name).write_bytes((evil / name).read_bytes())
    summary = nothing(json.loads((evil / "summary.json").read_text(encoding="utf-8")))
    folder.write_json("summary.json", summary)
    write_report(folder)
    page = page_at(tmp_path)
    assert "None" not in page.text("body.", without="script.") and "nan" not in page.text("div.scroll")
    table = score_table(summary)
    assert "- [-, -]" in table and "None" not in table
    lines = check_summary(summary, {"clean": 0, "worst": 0, "keyboard@0.2": 0}, 0.5)
    assert not any(line.passed for line in lines), "what is not known does not pass"
    assert "- " in markdown(lines, summary) and ElementTree.fromstring(junit(lines, "x").encode()).get("failures")


def test_a_run_without_any_failure(tmp_path: Path) -> None:
    data = [(f"a text about number {n} and more", "same") for n in range(3)] + [("another text about words", "other")]

    def constant(texts: list[str]) -> list[dict[str, float]]:
        return [{"same": 0.9, "other": 0.1} for _ in texts]

    scuff.evaluate(constant, data, tmp_path / "run", dimensions=["truncate"], degrees=[0.5], cases=2)
    page = page_at(tmp_path / "run")
    assert "Nothing broke." in page.text("section.") and "div.example" not in {
        p for path, _ in page.words for p in path
    }
    assert "No weak spot" in page.text("section.verdict") and len(page.commands) == 1, "nothing to mend"
    assert page.text("li.example").count("no case broke it") == 3


def test_pairs_tags_sets_and_texts_in_reports(tmp_path: Path) -> None:
    pairs = [(f"the first text of {n}", f"a second text of {n}", "yes" if n % 2 else "no") for n in range(6)]

    def same(first: list[str], second: list[str]) -> list[str]:
        return ["yes" if "second" in b and a[-1] in "135" else "no" for a, b in zip(first, second, strict=True)]

    small: dict[str, Any] = {"degrees": [0.5], "cases": 4}
    scuff.evaluate(same, pairs, tmp_path / "pairs", dimensions=["full-shuffle"], side="second", **small)
    tags = [{"tokens": ["Anna", "saw", "the", f"{n}"], "tags": ["N", "V", "O", "O"]} for n in range(4)]
    known = {"Anna": "N", "saw": "V"}

    def tagger(rows: list[list[str]]) -> list[list[str]]:
        return [[known.get(token, "O") for token in row] for row in rows]

    scuff.evaluate(tagger, tags, tmp_path / "tags", dimensions=["keyboard"], **small)
    sets = [(f"a rude text {n}", ["rude"]) if n % 2 else (f"a kind text {n}", []) for n in range(6)]

    def judge(texts: list[str]) -> list[list[str]]:
        return [["rude"] if "rude" in text else [] for text in texts]

    scuff.evaluate(judge, sets, tmp_path / "sets", dimensions=["keyboard"], **small)
    shown = {name: page_at(tmp_path / name).text("li.example") for name in ("pairs", "tags", "sets")}
    assert "expected yes, answered no" in shown["pairs"] and "the first text of" in shown["pairs"]
    assert "expected N V O O, answered" in shown["tags"]
    assert "expected rude, answered no label, before rude" in shown["sets"]


# scores by name


def test_every_score_has_a_name(evil: Path) -> None:
    summary = json.loads((evil / "summary.json").read_text(encoding="utf-8"))
    scores = named_scores(summary)
    assert {"clean", "average", "worst", "keyboard", "keyboard.worst", "keyboard@0.2", "keyboard@0.6.worst"} <= set(
        scores
    )
    assert scores["keyboard@0.6"] == summary["dimensions"]["keyboard"]["degrees"][1]["average"]["value"]
    assert scores["worst"] == summary["overall"]["worst"]["value"]
