"""Dimensions with several accesses, side by side: text table, the paper's table, page, gate; summaries of older versions."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import scuff
from reports.page import page_at
from scuff.cli.main import main
from scuff.evaluation.score import final_score
from scuff.reports.charts import RADAR_HEIGHT, radar
from scuff.reports.evaluation import write_report
from scuff.reports.evaluation_tables import paper_table, score_table
from scuff.reports.gate import check_summary
from scuff.reports.groups import accesses, by_harm, groups
from scuff.reports.notes import evaluation_notes as notes
from scuff.runs.folder import Folder

COLUMNS = (
    "typo-m", "typo-g", "glyph-m", "glyph-g", "phonetic-m", "phonetic-g", "synonym", "contextual", "inflection", "syntax",
    "distraction",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("accesses") / "run"
    scuff.evaluate(
        "toy:sentiment", "toy:sentiment", folder, examples=12, cases=2, degrees=[0.1, 0.4], setting=["rule", "score"],
        dimensions=["keyboard", "mine=homoglyph@edits", "segment@rule"],
    )  # fmt: skip
    return folder


@pytest.fixture
def summary(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return found


def large(
    run: Path, folder: Path, count: int = 11, used: tuple[str, ...] = ("rule", "score", "gradient")
) -> dict[str, Any]:
    """A run of as many of RobTest's dimensions with these accesses, made of a small one; syntax by rules only."""
    old = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    dimensions = {}
    for base in COLUMNS[:count]:
        for access in used if base != "syntax" else ("rule",):
            name = base if access == "rule" else f"{base}@{access}"
            source = "keyboard" if access == "rule" else "keyboard@score"
            unit = "meaning" if base in ("syntax", "distraction") else "words"
            tag = "malicious" if base.endswith("-m") else "general"
            dimensions[name] = {
                **deepcopy(old["dimensions"][source]),
                "base": base,
                "setting": access,
                "tag": tag,
                "unit": unit,
            }
    left = [{"dimension": name, "left": at / 100} for at, name in enumerate(dimensions)]
    new: dict[str, Any] = {**old, "dimensions": dimensions, "harm": left}
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["dimensions"] = dict.fromkeys(dimensions, line["dimensions"]["keyboard@score"])
    Folder(folder).write_json("summary.json", new)
    (folder / "run.json").write_bytes((run / "run.json").read_bytes())
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return new


def rules_only(summary: dict[str, Any]) -> dict[str, Any]:
    """Without the dimensions that the model guides."""
    kept = {name: content for name, content in summary["dimensions"].items() if content["setting"] == "rule"}
    harm = [entry for entry in summary["harm"] if entry["dimension"] in kept]
    return {**summary, "dimensions": kept, "harm": harm}


# groups


def test_accesses_of_a_dimension_stand_together(summary: dict[str, Any]) -> None:
    assert groups(summary) == {
        "keyboard": {"rule": "keyboard", "score": "keyboard@score"},
        "mine": {"rule": "mine", "score": "mine@score"},
        "segment": {"rule": "segment"},
    }
    assert accesses(summary) == ["rule", "score"]
    turned = {**summary, "dimensions": dict(reversed(summary["dimensions"].items()))}
    assert list(groups(turned)) == ["segment", "mine", "keyboard"]
    assert list(groups(turned)["mine"]) == ["rule", "score"], "whatever their order in the run"


def test_the_dimension_with_the_most_harmful_access_comes_first(summary: dict[str, Any]) -> None:
    for first in ("segment", "keyboard@score", "mine"):
        names = [first, *(name for name in summary["dimensions"] if name != first)]
        summary["harm"] = [{"dimension": name, "left": at / 10} for at, name in enumerate(names)]
        assert next(iter(by_harm(summary))) == first.split("@")[0]


def test_rules_only(summary: dict[str, Any], run: Path, tmp_path: Path) -> None:
    rules = rules_only(summary)
    assert groups(rules) == {name: {"rule": name} for name in ("keyboard", "mine", "segment")}
    assert "score" not in score_table(rules) and "Score-" not in paper_table(rules)
    assert check_summary(rules, {"each": 0, "keyboard@0.1": 0, "each@rule": 0})
    Folder(tmp_path).write_json("summary.json", rules)
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = [{**line, "dimensions": {name: line["dimensions"][name] for name in groups(rules)}} for line in lines]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    (tmp_path / "run.json").write_bytes((run / "run.json").read_bytes())
    write_report(Folder(tmp_path))
    assert "None" not in page_at(tmp_path).text("body.", without="script.")


@pytest.mark.parametrize("key", ["base", "setting", "tag"])
def test_summaries_of_older_versions_are_refused(
    summary: dict[str, Any], tmp_path: Path, key: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As before there were accesses; `scuff report` computes such a summary anew."""
    for content in summary["dimensions"].values():
        del content[key]
    Folder(tmp_path).write_json("summary.json", summary)
    assert main(["check", str(tmp_path), "--min", "worst=0"]) == 2
    said = capfd.readouterr().err
    assert said == (
        f"scuff: {tmp_path}/summary.json: expected a file that this version of Scuff wrote, got another: "
        f"dimensions.keyboard.{key} is missing\n"
    )


# text


def test_the_table_of_text(run: Path, summary: dict[str, Any], tmp_path: Path) -> None:
    lines = score_table(summary).splitlines()
    rows = [line for line in lines if re.search(r" (rule|score) +\d+\.\d \[", line)]
    assert [row.split()[-3] for row in rows if row.split()[0] == "segment"], "setting, final scores, degrees"
    assert len(rows) == 5 and [line[:8].strip() for line in rows].count("") == 2, (
        "a name stands beside its first access"
    )
    overall = next(at for at, line in enumerate(lines) if line.startswith("overall"))
    assert lines[overall + 1].split()[0] == "rule" and lines[overall + 2].split()[0] == "score"
    assert lines[overall + 2].endswith("2 of 3 dimensions")
    rule = [summary["dimensions"][name]["average"]["value"] for name in ("keyboard", "mine", "segment")]
    assert lines[overall + 1].split()[1] == f"{100 * sum(rule) / 3:.1f}"
    big = score_table(large(run, tmp_path))
    assert max(map(len, big.splitlines())) <= 130 and len(big.splitlines()) < 60


def test_a_long_name_has_a_line_of_its_own(summary: dict[str, Any]) -> None:
    name = "keyboard(layout='a very long way to put it')"
    summary["dimensions"][name] = {**summary["dimensions"].pop("segment"), "base": name}
    summary["harm"] = [{"dimension": each, "left": 0.5} for each in summary["dimensions"]]
    lines = score_table(summary).splitlines()
    assert lines[lines.index(name) + 1].split()[0] == "rule"
    assert max(len(line) for line in lines) <= 130


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        ("chrf", "chrF distance (a sentence encoder measures better"),
        ("minilm", "cosine of MiniLM"),
        ("my/encoder", "cosine of my/encoder"),
    ],
)
def test_the_measure_of_meaning_is_named(run: Path, tmp_path: Path, meaning: str, words: str) -> None:
    summary = large(run, tmp_path)
    summary["protocol"]["meaning"] = meaning
    found = [line for line in notes(summary) if line.startswith("degrees of syntax, distraction: ")]
    assert len(found) == 1 and words in found[0] and ("scuff[meaning]" in found[0]) == (meaning == "chrf")


def test_accesses_are_explained_where_there_are_several(summary: dict[str, Any]) -> None:
    assert any(line.startswith("score: ") for line in notes(summary)) and not any(
        "gradient" in n for n in notes(summary)
    )
    assert not any(line.startswith("rule: ") for line in notes(rules_only(summary)))
    assert not any("degrees of" in line for line in notes(summary)), "nothing is measured by meaning"


@pytest.mark.parametrize(("share", "told"), [(0.59, True), (0.61, False)])
def test_dimensions_that_stay_far_below_the_degree_are_named(summary: dict[str, Any], share: float, told: bool) -> None:
    for content in summary["dimensions"].values():
        content["degrees"][-1]["reached"] = content["degrees"][-1]["degree"]
    summary["dimensions"]["segment"]["degrees"][-1]["reached"] = share * 0.4
    found = [
        line for line in notes(summary) if line.startswith("reach much less than the highest degree asked for, 0.4,")
    ]
    assert [line.rpartition(": ")[2] for line in found] == ([f"segment {share * 0.4:.2f}"] if told else [])


@pytest.mark.parametrize(("examples", "told"), [(99, True), (100, False)])
def test_few_examples_are_said_to_be_few(summary: dict[str, Any], examples: int, told: bool) -> None:
    summary["clean"]["examples"] = examples
    assert any(line.startswith(f"few examples ({examples})") for line in notes(summary)) == told


# the paper's table


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_the_papers_table(summary: dict[str, Any]) -> None:
    head, rule, *rows = [cells(line) for line in paper_table(summary).splitlines() if line.startswith("|")]
    assert head == ["Dimension", "Method \\| Degree", "0", "0.1", "0.4", "Final Score"] and len(rule) == len(head)
    kinds = ("Average", "Worst (alone)", "Worst (up to)")
    assert [row[1] for row in rows] == [f"{access}-{kind}" for access in ("Rule", "Score") for kind in kinds] * 3
    assert [row[0] for row in rows if row[0]] == ["keyboard (general)", "mine (malicious)", "segment (general)"]
    clean = f"{100 * summary['clean']['score']['value']:.1f}"
    assert {row[2] for row in rows[:15]} == {clean} and {cell for row in rows[15:] for cell in row[2:]} == {"-"}
    degrees = summary["dimensions"]["mine@score"]["degrees"]
    for row, kind in zip(rows[9:12], ("average", "worst_alone", "worst"), strict=True):
        assert row[3:5] == [f"{100 * cell[kind]['value']:.1f}" for cell in degrees]
        final = final_score({cell["degree"]: cell[kind]["value"] for cell in degrees})
        assert row[5] == f"{100 * final:.1f}"


def test_the_note_tells_how_far_the_paper_is_away(summary: dict[str, Any]) -> None:
    perfect = dict.fromkeys(summary["protocol"]["degrees"], 1.0)
    away = final_score(perfect) - final_score(perfect, published=True)
    assert f"up to {100 * away:.1f} lower" in paper_table(summary).splitlines()[-1]


def test_names_do_not_break_the_papers_table(summary: dict[str, Any]) -> None:
    summary["model"], summary["dimensions"]["keyboard"]["base"] = "a|b", "x|y"
    rows = [line for line in paper_table(summary).splitlines() if line.startswith("|")]
    assert {len(cells(row)) for row in rows} == {6}


def test_the_command_writes_the_papers_table(run: Path, summary: dict[str, Any], tmp_path: Path, capfd: Any) -> None:
    assert main(["report", str(run), "--paper", str(tmp_path / "table.md")]) == 0
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == paper_table(summary)
    assert capfd.readouterr().out.endswith(f"report: {run}/report.html\npaper: {tmp_path}/table.md\n")
    assert main(["report", str(run), "--paper", "-"]) == 0
    assert capfd.readouterr().out == paper_table(summary)


# the page


def test_the_page_has_a_section_per_dimension(run: Path, summary: dict[str, Any]) -> None:
    page = page_at(run)
    parts = [a["id"] for tag, a in page.tags if tag == "section" and a.get("class") == "dimension"]
    links = [a["href"] for tag, a in page.tags if tag == "a" and (a["href"] or "").startswith("#dimension-")]
    assert parts == ["dimension-1", "dimension-2", "dimension-3"] and {link[1:] for link in links if link} == set(parts)
    titles = [data for path, data in page.words if path[-2:] == ("section.dimension", "h3.")]
    assert [title.strip() for title in titles if title.strip()] == ["keyboard", "mine", "segment"]
    assert "homoglyph@edits" in page.text("code."), "what a name of one's own stands for"
    sections = page.source.split('<section class="dimension"')[1:]
    assert [part.count("<svg viewBox") for part in sections] == [2, 2, 1], "a curve per access"
    assert [part.count('class="beside"') for part in sections] == [2, 2, 0], "the rules beside the others"
    for part in sections[:2]:
        shown = part.split("<details")[0]
        assert "Rule-Worst" in shown and "Score-Average" in shown and part.count("Every number") == 2
    assert all(title in page.source for title in ("How to read this", "Definitions", "Notes on this run"))


def test_contents_lead_to_every_section(run: Path) -> None:
    page = page_at(run)
    listed = [a["href"] for tag, a in page.tags if tag == "a"]
    sections = [a["id"] for tag, a in page.tags if tag == "section"]
    assert listed[0] == "#content" and [f"#{name}" for name in sections if "dimension-" not in str(name)] == listed[1:9]
    assert sections[0] == "verdict", "first of all"


def test_the_page_names_topics_of_the_guide(run: Path, capfd: Any) -> None:
    topics = set(re.findall(r"scuff guide (\w+)", (run / "report.html").read_text(encoding="utf-8")))
    assert {"dimensions", "access", "report", "repair", "degrees"} <= topics
    assert all(main(["guide", topic]) == 0 for topic in topics)


def test_what_was_left_out_is_told(run: Path, tmp_path: Path) -> None:
    large(run, tmp_path, 2)
    stored = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    Folder(tmp_path).write_json("summary.json", {**stored, "left_out": {"contextual": "expected <a model>, got none"}})
    write_report(Folder(tmp_path))
    page = page_at(tmp_path)
    assert "left out: contextual: expected <a model>, got none" in page.text("li.")


@pytest.mark.parametrize("count", range(1, 12))
def test_radars(run: Path, tmp_path: Path, count: int) -> None:
    summary = large(run, tmp_path, count)
    write_report(Folder(tmp_path))
    found = page_at(tmp_path).picture("Final scores")
    assert len(found) == (3 if count >= 3 else 0)
    for access, picture in zip(accesses(summary), found, strict=False):
        left, top, width, height = map(float, (picture.get("viewBox") or "").split())
        assert height == RADAR_HEIGHT and picture.get("role") == "img"
        words = picture.findtext("desc") or ""
        assert words.count(";") == count - 1 and ("syntax: not measured" in words) == (count >= 10 and access != "rule")
        for label in picture.iter("text"):
            text, x, y = label.text or "", float(label.get("x", "")), float(label.get("y", ""))
            start = {"end": x - 6 * len(text), "middle": x - 3 * len(text)}.get(label.get("text-anchor", ""), x)
            assert left <= start and start + 6 * len(text) <= left + width and top + 8 <= y <= top + height, text
        filled = [shape for shape in picture.iter("polygon") if "inside" in shape.get("class", "")]
        assert len(filled) == (0 if "not measured" in words else 2), "a gap is not drawn as a score of 0"
        assert len(list(picture.iter("circle"))) == 2 * (count - ("not measured" in words))


def test_a_radar_needs_three_scores(run: Path, tmp_path: Path) -> None:
    summary = large(run, tmp_path, 4)
    for name in ("typo-m@score", "glyph-m@score"):
        summary["dimensions"][name]["average"]["value"] = summary["dimensions"][name]["worst"]["value"] = None
    assert radar(summary, "rule") and not radar(summary, "score")


def test_ids_are_unique_and_known(run: Path, tmp_path: Path) -> None:
    large(run, tmp_path)
    write_report(Folder(tmp_path))
    page = page_at(tmp_path)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    named = {(a.get("href") or "").lstrip("#") or a.get("aria-labelledby") for _, a in page.tags} - {None, ""}
    assert named <= set(ids) and {f"dimension-{n}" for n in range(1, 12)} <= named
    assert (tmp_path / "report.html").stat().st_size < 800_000


# the gate


def test_scores_of_accesses_can_be_checked(summary: dict[str, Any], run: Path) -> None:
    names = {"keyboard@score": 0.0, "mine@score.worst": 0.0, "keyboard@score@0.4": 0.0, "keyboard@score@0.4.worst": 0.0}
    lines = check_summary(summary, names)
    assert [line.name for line in lines] == list(names)
    content = summary["dimensions"]["keyboard@score"]
    assert lines[0].value == content["average"]["value"] and lines[2].value == content["degrees"][1]["average"]["value"]
    assert [line.name for line in check_summary(summary, {"each@score": 0.0})] == ["keyboard@score", "mine@score"]
    assert [line.name for line in check_summary(summary, {"each@rule": 0.0})] == ["keyboard", "mine", "segment"]
    assert [line.name for line in check_summary(summary, {"average": 0.0})] == ["average"]
    with pytest.raises(ValueError, match="keyboard@score"):
        check_summary(summary, {"keyboard@scores": 0.0})
    with pytest.raises(SystemExit, match="1"):
        main(["check", str(run), "--min", "keyboard@score=0", "--min", "keyboard@score@0.4=1"])


def test_the_measure_of_meaning_matters_only_where_it_is_used(
    run: Path, summary: dict[str, Any], tmp_path: Path
) -> None:
    def with_other(found: dict[str, Any]) -> dict[str, Any]:
        return {**found, "protocol": {**found["protocol"], "meaning": "minilm"}}

    assert all(line.passed for line in check_summary(summary, {}, 0.5, with_other(summary)))
    by_meaning = large(run, tmp_path)
    with pytest.raises(ValueError, match="another meaning"):
        check_summary(by_meaning, {}, 0.5, with_other(by_meaning))
