"""Tables, pages and notes of runs of Zéroe's protocol and of runs that are as published."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import scuff
from reports.page import page_at
from scuff.cli.main import main
from scuff.perturbations.names import ZEROE
from scuff.reports.evaluation_tables import paper_table, score_table
from scuff.reports.zeroe import NAMES
from scuff.runs.folder import Folder

TOY = "toy:sentiment"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zeroe") / "run"
    chosen = ["visual", "truncate", "homoglyph", "full-shuffle"]
    scuff.evaluate(TOY, TOY, folder, protocol="zeroe", as_published=True, dimensions=chosen, examples=20)
    return folder


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_papers_names_are_those_of_its_ten_perturbations() -> None:
    assert set(NAMES) == set(ZEROE)


def test_table_6(run: Path, capfd: Any) -> None:
    summary = Folder(run).evaluation_summary()
    head, _, none, *rows = [cells(line) for line in paper_table(summary).splitlines() if line.startswith("|")]
    assert head == ["Attack", "Mode", "Accuracy", "s*", "95 % of s*"]
    assert none[:4] == ["None", "-", f"{100 * summary['clean']['score']['value']:.2f}", "1.000"]  # type: ignore[operator]
    assert [row[0] for row in rows if row[0]] == ["Full-Swap", "Truncate", "Visual", "homoglyph", "Red line"], (
        "in its order"
    )
    assert [row[1] for row in rows] == ["low", "mid", "high"] * 4 + ["-"]
    shown = {"Full-Swap": "full-shuffle", "Truncate": "truncate", "Visual": "visual", "homoglyph": "homoglyph@level"}
    for at, name in enumerate(shown.values()):
        content = summary["dimensions"].get(name) or summary["dimensions"][name.removesuffix("@level")]
        for row, cell in zip(rows[3 * at : 3 * at + 3], content["degrees"], strict=True):
            low, high = cell["left"]["interval"]
            assert row[2:4] == [f"{100 * cell['average']['value']:.2f}", f"{cell['left']['value']:.3f}"]  # type: ignore[operator]
            assert row[4] == f"{low:.3f} to {high:.3f}"
    red = summary["red_line"]
    assert rows[-1][2:4] == [f"{100 * red['score']:.2f}", f"{red['left']:.3f}"]  # type: ignore[operator]
    assert main(["report", str(run), "--paper", "-"]) == 0
    assert capfd.readouterr().out == paper_table(summary)


def test_the_table_says_the_red_line_and_what_differs(run: Path) -> None:
    summary = Folder(run).evaluation_summary()
    shown = " ".join(score_table(summary).split())
    assert f"{100 * summary['red_line']['left']:.1f} % of the clean one (s_worst" in shown  # type: ignore[operator]
    assert "as published, From Hero to Zéroe" in shown and "homoglyph is not of this paper" in shown
    for line in summary["published"]["differs"]:
        assert " ".join(line.split()) in shown


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_has_the_red_line_at_s_worst(run: Path) -> None:
    source, summary = (run / "report.html").read_text(encoding="utf-8"), Folder(run).evaluation_summary()
    pictures = [f"<svg{part.split('</svg>')[0]}</svg>" for part in source.split("<svg")[1:]]
    curves = [ElementTree.fromstring(picture) for picture in pictures if "s* by level" in picture]
    assert len(curves) == 4
    for root, content in zip(curves, summary["dimensions"].values(), strict=True):
        heights = {
            text.text: float(text.get("y", "nan")) - 4
            for text in root
            if text.get("text-anchor") == "end" and text.tag == "text"
        }
        red = next(line for line in root if line.get("class") == "red-line")

        def share(y: str | None, heights: dict[str | None, float] = heights) -> float:
            return (heights["0"] - float(y or "nan")) / (heights["0"] - heights["100"])

        assert share(red.get("y1")) == pytest.approx(summary["red_line"]["left"], abs=2e-3)
        line = next(line for line in root if line.tag == "polyline").get("points", "").split()
        wanted = [1.0, *(min(cell["left"]["value"] or 0, 1) for cell in content["degrees"])]
        assert [share(point.split(",")[1]) for point in line] == pytest.approx(wanted, abs=2e-3)
    reader = _Markup()
    reader.feed(source)
    text = " ".join(" ".join(reader.text).split())
    assert "As published" in text and "--as-published" in text
    for line in (*summary["published"]["sets"], *summary["published"]["differs"]):
        assert " ".join(line.split()) in text
    assert re.search(r"Mode\s+Accuracy\s+s\*\s+95 % of s\*", text)


def test_the_edit_distances_are_those_of_figure_5(run: Path) -> None:
    (figure,) = page_at(run).picture("by edit distance")
    summary = Folder(run).evaluation_summary()
    marks = [group for group in figure.iter("g") if group.find("title") is not None]
    cells = [cell for content in summary["dimensions"].values() for cell in content["degrees"]]
    assert len(marks) == len(cells) == 12 and any(line.get("class") == "red-line" for line in figure.iter("line"))
    for mark, cell in zip(marks, cells, strict=True):
        left = f"{100 * (cell['left']['value'] or 0):.1f} %"
        assert mark.findtext("title", "").endswith(f"distance {cell['edit_distance']:.2f}, left {left}")


def test_of_which_score_left_is(tmp_path: Path) -> None:
    """Of label sets it is macro AUC, while the other columns are exact match."""
    scuff.evaluate("toy:tone", "toy:tone", tmp_path / "run", protocol="zeroe", dimensions=["truncate"], examples=20)
    source = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert (
        '<th scope="col">left of macro AUC</th>' in source
        and "sorts the rows; all other columns are exact match" in source
    )
    shown = " ".join(score_table(Folder(tmp_path / "run").evaluation_summary()).split())
    assert "left of the clean macro AUC at degree 0.8, in %; sorts the table, whose scores are exact match: " in shown


def test_runs_that_are_not_as_published_say_nothing_of_it(tmp_path: Path) -> None:
    scuff.evaluate(TOY, TOY, tmp_path / "run", dimensions=["truncate"], degrees=[0.5], cases=1, examples=4)
    source = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "As published" not in source and 'red-line"' not in source and "Rule-Worst (alone)" in source


def test_without_numbers_the_page_is_still_made(run: Path, tmp_path: Path) -> None:
    """As of a metric that has no red line, and of cells in which nothing was answered."""
    from reports.made import with_summary
    from scuff.reports.evaluation import write_report

    found: Any = Folder(run).evaluation_summary()
    found["red_line"] = {"metric": "score", "score": None, "left": None}
    for content in found["dimensions"].values():
        for cell in content["degrees"]:
            cell["left"] = {"value": None, "interval": [None, None]}
    folder = with_summary(Folder(run), tmp_path, red_line=found["red_line"], dimensions=found["dimensions"])
    write_report(folder)
    source = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="red-line"' not in source and "not defined for this task and metric" in source
    assert "| Red line | - | - | - | - |" in paper_table(folder.evaluation_summary())
