"""A run as files for papers, slides and hubs: each says what the summary says, and stands alone."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.cli.main import main
from scuff.reports.latex import latex
from scuff.reports.pictures import pictures_of
from scuff.reports.tables import PaperTable, Value
from scuff.runs.folder import Folder

TOY = "toy:sentiment"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'Ж 😀 é ł & % $ # _ { } ~ ^ \\ <script> [x] `q` "d" | =1+1 \u202e\x07'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, scuff.Result | scuff.AttackResult]:
    """A run of each kind."""
    folder, small = tmp_path_factory.mktemp("runs"), {"examples": 12, "cases": 2}
    both = {"dimensions": ["keyboard", "intrude", "segment"], "access": ["rule", "score"], "degrees": [0.1, 0.4]}
    return {
        "robtest": scuff.evaluate(TOY, TOY, folder / "robtest", **small, **both),  # type: ignore[arg-type]
        "zeroe": scuff.evaluate(
            "toy:tone", "toy:tone", folder / "zeroe", examples=12, protocol="zeroe", dimensions=["keyboard", "segment"]
        ),
        "attack": scuff.attack(TOY, TOY, "deepwordbug", folder / "attack", examples=12, encoder="chrf"),
    }


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_every_number_with_its_interval(runs: dict[str, scuff.Result]) -> None:
    summary, rows = runs["robtest"].summary, rows_of(runs["robtest"].table.csv())
    assert [row["Dimension"] for row in rows[:6]] == ["keyboard (general)"] * 6, "every row says what it is of"
    found = summary["dimensions"]["intrude@score"]
    row = next(
        row for row in rows if row["Dimension"].startswith("intrude") and row["Method | Degree"] == "Score-Average"
    )
    low, high = found["degrees"][1]["average"]["interval"]
    assert [float(row[name]) for name in ("0.4", "0.4 low", "0.4 high")] == pytest.approx(
        [100 * float(value or 0) for value in (found["degrees"][1]["average"]["value"], low, high)]
    )
    assert float(row["Final Score"]) == pytest.approx(100 * float(found["average"]["value"] or 0))
    zeroe = rows_of(runs["zeroe"].table.csv())
    assert zeroe[0]["Attack"] == "None" and zeroe[-1]["Attack"] == "Red line" and float(zeroe[-1]["AUCROC"]) == 0.5
    attack = rows_of(runs["attack"].table.csv())
    assert float(attack[0]["Attack Success Rate"]) == pytest.approx(100 * runs["attack"].success)  # type: ignore[attr-defined]


def test_csv_is_no_formula() -> None:
    table = PaperTable(
        ["name", "value"], 1, [["=cmd|' /C calc'!A0", Value("-")], ['a "quoted", name\n', Value("1", 1.0)]]
    )
    first, second = rows_of(table.csv())
    assert first == {"name": "'=cmd|' /C calc'!A0", "value": ""}
    assert second == {"name": 'a "quoted", name\n', "value": "1"}


@given(st.text())
def test_latex_is_plain_and_balanced(text: str) -> None:
    shown = latex(text)
    assert shown.isascii() and "\n" not in shown
    bare = re.sub(r"\\[&%$#_{}]", "", shown)
    assert bare.count("{") == bare.count("}") and not re.search(r"[&%#_]", bare)
    assert all(
        math in (r"$\to$", r"$\beta$", r"$\times$", r"$\pm$", r"$\leq$", r"$\geq$")
        for math in re.findall(r"\$.*?\$", bare)
    )


def test_latex_keeps_what_can_be_kept() -> None:
    assert latex("Zéroe 50 % naïve Å") == r"Z\'{e}roe 50 \% na\"{\i}ve \r{A}"
    assert latex("Ж") == "{[}U+0416{]}"


def latex_runs(folder: Path, *tables: str) -> str:
    """Compiles tables with a real LaTeX; returns its log."""
    if not shutil.which("pdflatex"):
        pytest.skip("no LaTeX here: pdflatex compiles the tables (texlive-latex-recommended)")
    for at, table in enumerate(tables):
        (folder / f"table{at}.tex").write_text(table, encoding="utf-8")
    inputs = "\n".join(rf"\input{{table{at}}}" for at in range(len(tables)))
    head = "\\documentclass{article}\n\\usepackage{booktabs,longtable,graphicx}\n\\begin{document}"
    text = f"{head}\n{inputs}\n\\end{{document}}\n"
    (folder / "all.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"], cwd=folder, capture_output=True
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return (folder / "all.log").read_text(errors="replace")


@pytest.mark.slow
def test_latex_compiles(runs: dict[str, scuff.Result], tmp_path: Path) -> None:
    rows = [[f"{HOSTILE} {at // 3}", f"row {at}", Value("1.0", 1.0, (0.0, 2.0))] for at in range(60)]
    head = ["a|b", HOSTILE, "a long name of a column"]
    hostile = [PaperTable(head, 2, some, HOSTILE, HOSTILE).latex() for some in (rows, rows[:4])]
    log = latex_runs(tmp_path, *(run.table.latex() for run in runs.values()))
    assert "Overfull" not in log, "tables fit the page"
    latex_runs(tmp_path, *hostile)


def test_latex_has_the_paper_s_layout(runs: dict[str, scuff.Result]) -> None:
    text = runs["robtest"].table.latex()
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1 and text.count(r"\addlinespace") == 2
    assert r"\shortstack{Method\\\textbar{} Degree}" in text and "Score-Worst (alone)" in text
    long = PaperTable(["name", "value"], 1, [[str(at), Value("1", 1.0)] for at in range(50)]).latex()
    assert long.count(r"\begin{longtable}") == 1 and r"\endhead" in long and r"\addlinespace" not in long


@pytest.mark.parametrize("name", ["robtest", "zeroe", "attack"])
def test_every_chart_of_the_page_stands_alone(name: str, runs: dict[str, scuff.Result]) -> None:
    folder = runs[name].run_files
    page = (folder.path / "report.html").read_text(encoding="utf-8")
    in_page = re.findall(r'<svg viewBox="[^"]*" role="img"[^>]*><title>(.*?)</title>', page)
    pictures = pictures_of(folder)
    alone = [ElementTree.fromstring(text) for text in pictures.values()]
    assert sorted(str(one.findtext(f"{SVG}title")) for one in alone) == sorted(in_page)
    for text, one in zip(pictures.values(), alone, strict=True):
        style = str(one.findtext(f"{SVG}style"))
        assert "var(" not in text and ":is(" not in style and "currentColor" not in style and "@media" not in style
        used = {kind for element in one.iter() for kind in element.get("class", "").split()}
        unknown = {kind for kind in used if f".{kind}" not in style}
        assert unknown <= {"dash-0", "title"}, "every class has its colours"
        box = [float(number) for number in one.get("viewBox", "").split()]
        paper = one.find(f"{SVG}rect")
        assert paper is not None and [float(paper.get(side, "0")) for side in ("x", "y", "width", "height")] == box


def test_charts_are_written_under_harmless_names(runs: dict[str, scuff.Result], tmp_path: Path) -> None:
    def model(texts: list[str]) -> list[str]:
        return ["a" if "x" in text else "b" for text in texts]

    data = [(f"{letter} text number {at}", label) for at in range(6) for letter, label in (("x", "a"), ("y", "b"))]
    dimensions = ["UP=segment", "up=intrude", "keyboard(layout='qwertz')"]
    result = scuff.evaluate(model, data, dimensions=dimensions, cases=1, degrees=[0.5])
    result.export(svg=tmp_path / "charts")
    names = sorted(path.name for path in (tmp_path / "charts").iterdir())
    assert all(re.fullmatch(r"[\w.@-]+\.svg", name) and not name.startswith(".") for name in names)
    assert len(names) == len({name.lower() for name in names}) == len(pictures_of(result.run_files))
    assert [path.name for path in tmp_path.iterdir()] == ["charts"]


def test_png_is_the_same_picture(runs: dict[str, scuff.Result], tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py draws PNG: pip install 'scuff[png]'")
    try:
        runs["robtest"].export(png=tmp_path / "png")
    except LookupError as error:
        pytest.skip(str(error))  # no font
    for name, text in pictures_of(runs["robtest"].run_files).items():
        raw = (tmp_path / "png" / f"{name}.png").read_bytes()
        assert raw.startswith(b"\x89PNG\r\n\x1a\n") and len(raw) > 2000
        size = [float(number) for number in re.findall(r'(?:width|height)="([\d.]+)" ', text)[:2]]
        assert [int.from_bytes(raw[at : at + 4], "big") for at in (16, 20)] == pytest.approx(
            [2 * side for side in size], abs=2
        )


def test_png_names_its_extra(
    runs: dict[str, scuff.Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["report", str(runs["robtest"].folder), "--png", str(tmp_path / "png")]) == 2
    assert capfd.readouterr().err == (
        "scuff: expected the package resvg-py for png, got none: pip install 'scuff[png]'\n"
    )
    assert not (tmp_path / "png").exists()


@pytest.mark.parametrize("name", ["robtest", "zeroe", "attack"])
def test_markdown_begins_with_the_verdict(name: str, runs: dict[str, scuff.Result], tmp_path: Path) -> None:
    runs[name].export(markdown=tmp_path / "run.md")
    text = (tmp_path / "run.md").read_text(encoding="utf-8")
    assert text.split("\n\n")[1] == runs[name].verdict.markdown().split("\n\n")[0]
    assert runs[name].paper in text and text.rstrip().endswith("```") and "scuff " in text.splitlines()[-2]


@pytest.mark.parametrize("name", ["robtest", "zeroe", "attack"])
def test_the_hub_reads_the_model_card(name: str, runs: dict[str, scuff.Result], tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub reads model cards")
    runs[name].export(model_card=tmp_path / "README.md")
    card = hub.ModelCard.load(tmp_path / "README.md")
    found = {entry.metric_name: entry for entry in card.data.eval_results}
    summary = runs[name].summary
    clean = next(entry for metric, entry in found.items() if metric.endswith(", clean"))
    assert clean.metric_value == (summary["clean"] if name == "attack" else summary["clean"]["score"])["value"]  # type: ignore[typeddict-item]
    assert {entry.dataset_name for entry in found.values()} == {summary["data"]["name"]}
    assert {entry.task_type for entry in found.values()} == {"text-classification"}
    if name != "attack":
        for dimension, content in summary["dimensions"].items():
            entry = found[f"{summary['metric']}, {dimension}, final average"]
            assert entry.metric_value == content["average"]["value"]
    index = hub.repocard_data.eval_results_to_model_index(card.data.model_name, card.data.eval_results)
    assert hub.repocard_data.model_index_to_eval_results(index)[1] == card.data.eval_results


def test_a_hostile_name_stays_text_in_a_card(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    (tmp_path / "data: {x}\n---\n.csv").write_text("text,label\n" + "a good day,yes\na bad day,no\n" * 5)
    result = scuff.evaluate(
        lambda texts: ["yes" if "good" in text else "no" for text in texts], str(tmp_path / "data: {x}\n---\n.csv"),
        dimensions=["keyboard"], cases=1, degrees=[0.5],
    )  # fmt: skip
    result.export(model_card=tmp_path / "card.md")
    card = hub.ModelCard.load(tmp_path / "card.md")
    assert {entry.dataset_name for entry in card.data.eval_results} == {result.summary["data"]["name"]}


@pytest.mark.parametrize("flag", ["--csv", "--latex", "--paper", "--markdown", "--model-card"])
def test_a_dash_prints_that_alone(flag: str, runs: dict[str, scuff.Result], capfd: pytest.CaptureFixture[str]) -> None:
    folder = str(runs["robtest"].folder)
    assert main(["report", folder, flag, "-"]) == 0
    out = capfd.readouterr().out
    starts = {
        "--csv": "Dimension,",
        "--latex": "% \\usepackage",
        "--paper": "toy:",
        "--markdown": "# `toy",
        "--model-card": "---\n",
    }
    assert out.startswith(starts[flag]) and "report.html" not in out


def test_all_at_once(runs: dict[str, scuff.Result], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in Path(str(runs["robtest"].folder)).rglob("*") if path.is_file()}
    flags = {
        "--csv": "a.csv",
        "--latex": "b.tex",
        "--markdown": "c.md",
        "--model-card": "d.md",
        "--svg": "e",
        "--paper": "f.md",
    }
    words = [word for flag, name in flags.items() for word in (flag, str(tmp_path / name))]
    assert main(["report", str(runs["robtest"].folder), *words]) == 0
    assert f"model card: {tmp_path / 'd.md'}" in capfd.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(flags.values())
    assert before == {path: path.read_bytes() for path in before}, "exporting changes nothing in the run"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--csv", "-", "--latex", "-"], "expected one file for standard output (-), got csv and latex"),
        (["--svg", "-"], "expected one file for standard output (-), got svg"),
        (["--svg", "FILE"], "FILE: expected a folder for charts, got a file"),
        (["--csv", "missing/a.csv"], "missing/a.csv: expected a folder to write to, got nothing of the name"),
    ],
)
def test_wrong_outputs(
    words: list[str], message: str, runs: dict[str, scuff.Result], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text("mine")
    assert main(["report", str(Path(str(runs["robtest"].folder)).absolute()), *words]) == 2
    assert capfd.readouterr().err.startswith(f"scuff: {message}")
    assert Path("FILE").read_text() == "mine" and len(list(tmp_path.iterdir())) == 1


def test_the_same_run_gives_the_same_bytes(runs: dict[str, scuff.Result], tmp_path: Path) -> None:
    files = {"csv": "a.csv", "latex": "a.tex", "markdown": "a.md", "model_card": "b.md", "svg": "svg"}
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        scuff.report(Folder(str(runs["robtest"].folder)).path).export(
            **{name: tmp_path / folder / path for name, path in files.items()}
        )
    one, two = (
        {
            path.relative_to(tmp_path / folder): path.read_bytes()
            for path in (tmp_path / folder).rglob("*")
            if path.is_file()
        }
        for folder in ("one", "two")
    )
    assert one == two and len(one) > 10
    assert not any(str(tmp_path).encode() in content for content in one.values()), "no path of this machine"
