"""Runs compared: numbers are those of the examples, what differs is refused in words, and broken files are named."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reports.compared import SMALL, TOY
from scuff.cli.main import main
from scuff.evaluation.score import degree_weights
from scuff.evaluation.setup import EvaluationSetup
from scuff.evaluation.statistics import read_side
from scuff.metrics.paired import flip_test, holm
from scuff.reports.comparison_tables import Column, fitted
from scuff.runs.comparable import Differing
from scuff.runs.folder import BadRun, Folder


def pair(runs: Path, *names: str, **options: Any) -> scuff.Comparison:
    return scuff.compare(*(runs / name for name in names), **options)


def finals(folder: Path, dimension: str, what: str = "average") -> np.ndarray[Any, Any]:
    lines = Folder(folder).evaluation_results()
    return np.array([np.dot(degree_weights([0.2, 0.5]), line["dimensions"][dimension][what]) for line in lines])  # type: ignore[literal-required]


# numbers


def test_a_pair_of_models(runs: Path) -> None:
    found = pair(runs, "plain", "shielded")
    (change,) = found.content["changes"]
    assert change["paired"] and "all" in change
    gaps = {name: finals(runs / "shielded", name) - finals(runs / "plain", name) for name in SMALL["dimensions"]}
    ps = [float(p) for p in flip_test(np.stack([*gaps.values()], 1))]
    assert [change["dimensions"][name]["average"]["p"] for name in gaps] == pytest.approx(holm(ps), abs=1e-6)
    for name, gap in gaps.items():
        assert change["dimensions"][name]["average"]["difference"] == pytest.approx(gap.mean(), abs=1e-5)
    assert change["dimensions"]["visual"]["average"]["p"] < 0.05 and found.worse == []  # type: ignore[operator]
    assert found.verdict.startswith("toy:sentiment + normalise is more robust than toy:sentiment: ")
    assert "won in 1 of 3 dimensions: visual +" in "\n".join(found.words) and repr(found).startswith(
        "<scuff.Comparison of 2 runs"
    )
    back = pair(runs, "shielded", "plain")
    assert " is less robust than " in back.verdict and any(": visual -" in line for line in back.worse)
    named = pair(runs, "plain", "shielded", names=["Base", "Large"])
    assert named.verdict.startswith("Large is more robust than Base: ") and "Large-Worst (alone)" in named.markdown


def test_examples_that_changed_sides(runs: Path) -> None:
    found = pair(runs, "plain", "shielded")
    (change,) = found.content["changes"]
    lines = [list(Folder(runs / name).evaluation_results()) for name in ("plain", "shielded")]
    for name in SMALL["dimensions"]:
        broken = [
            [line["clean"]["score"] == 1 and line["dimensions"][name]["broken_by"] is not None for line in each]
            for each in lines
        ]
        right = [one["clean"]["score"] == 1 == other["clean"]["score"] for one, other in zip(*lines, strict=True)]
        states = list(zip(*broken, right, strict=True))
        sides = change["dimensions"][name]["sides"]  # type: ignore[typeddict-item]
        assert sides == {"mended": states.count((True, False, True)), "broken": states.count((False, True, True))}
    shown = found.material.mended[1]
    assert shown and all(case["texts"] != line["texts"] for line, _, case in shown)  # type: ignore[misc, index]
    assert len({name for _, name, _ in shown}) == len(shown), "one of a dimension"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("toy:tone", {}),
        ("toy:sentiment", {"metric": "macro-f1"}),
        ("toy:tagger", {"task": "tokens"}),
    ],
)
def test_statistics_from_lines_are_those_of_the_trials(model: str, more: dict[str, Any], tmp_path: Path) -> None:
    data: Any = model
    if model == "toy:tagger":
        data = [{"tokens": ["The", "dog", f"barks{at}"], "tags": ["DET", "NOUN", "VERB"]} for at in range(8)]

        def tagger(sentences: list[list[str]]) -> list[list[str]]:
            return [
                ["DET" if word in ("The", "the") else "NOUN" if len(word) < 5 else "VERB" for word in s]
                for s in sentences
            ]

        victim: Any = tagger
    else:
        victim = model
    settings = {**SMALL, "examples": 12, "dimensions": ["keyboard"], **more}
    scuff.evaluate(victim, data, tmp_path / "run", **settings)
    side = read_side(Folder(tmp_path / "run"))
    work = EvaluationSetup.read(Folder(tmp_path / "run"))
    rows = work.table().rows(work.metric or work.truth.metric, work.truth)
    for ours, theirs in ((side.clean, rows.clean), (side.mean, rows.mean), (side.worst, rows.worst)):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    scuff.evaluate(victim, data, tmp_path / "again", **settings)
    found = scuff.compare(tmp_path / "run", tmp_path / "again")
    assert found.verdict.startswith("No difference between run and again: ")
    assert all(
        row["verdict"] == "not decided" for row in found.to_pandas().dropna(subset="difference").to_dict("records")
    )


def test_attacks(runs: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = pair(runs, "attacked", "stubborn", names=["toy", "stubborn"])
    (change,) = found.content["changes"]
    assert "recipe" in change
    lines = [list(Folder(runs / name).attack_results()) for name in ("attacked", "stubborn")]
    status = list(zip(*([line["status"] for line in each] for each in lines), strict=True))
    more, less = status.count(("failed", "succeeded")), status.count(("succeeded", "failed"))
    assert change["sides"] == {"mended": less, "broken": more} and less > 0
    assert change["success"]["p"] == pytest.approx(stats.binomtest(more, more + less).pvalue, abs=1e-6)
    held = [sum(one[at] == "failed" for one in status) / len(status) for at in (0, 1)]
    assert [change["held"]["before"], change["held"]["after"]] == pytest.approx(held)
    assert "deepwordbug succeeds on" in found.verdict and "queries per attacked text: " in "\n".join(found.words)
    assert len(found.material.mended[1]) == min(less, 5)


def test_outputs_agree(runs: Path) -> None:
    pandas = pytest.importorskip("pandas")
    found = pair(runs, "plain", "shielded")
    frame = found.to_pandas()
    row = frame[
        (frame.run == "toy:sentiment + normalise") & (frame.dimension == "visual") & (frame.score == "average")
    ].iloc[0]
    (change,) = json.loads(found.json)["changes"]
    assert row["difference"] == change["dimensions"]["visual"]["average"]["difference"] and row["verdict"] == "won"
    assert list(pandas.read_csv(io.StringIO(found.csv)).columns) == list(frame.columns)
    assert f"{100 * row['value']:.1f}" in found.markdown and f"{100 * row['value']:.1f}" in str(found)
    shown = found._repr_html_()
    assert "<script" not in shown and "visual" in shown and shown.count("<tr>") == 6
    assert json.loads(found.json)["verdict"] == found.verdict
    again = pair(runs, "plain", "shielded")
    assert (again.html, again.json) == (found.html, found.json), "the same bytes"


# what differs


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ("seed", "seed: 0 in plain, 1 in seed"),
        ("degrees", "degrees: 0.5 in plain, 0.6 in degrees (beside 1 in all runs)"),
        ("dimensions", "dimensions: keyboard inner-shuffle in plain, typo-g in dimensions (beside 1 in all runs)"),
        ("fewer", "data: toy:sentiment ("),
    ],
)
def test_other_settings_are_refused_unless_told(runs: Path, other: str, line: str) -> None:
    with pytest.raises(Differing, match="anyway compares what is common") as error:
        pair(runs, "plain", other)
    assert any(each.startswith(line) for each in error.value.lines), error.value.lines
    found = pair(runs, "plain", other, anyway=True)
    (change,) = found.content["changes"]
    assert found.content["differs"] == error.value.lines and change["paired"] and "all" in change
    assert f"differs: {error.value.lines[0][:20]}" in str(found) and error.value.lines[0][:5] in found.html
    if other == "fewer":
        assert change["examples"] == 25 and change["clean"]["difference"] == 0, "the same model on the same examples"
    if other == "degrees":
        assert [each["degree"] for each in change["dimensions"]["visual"]["degrees"]] == [0.2]
    if other == "dimensions":
        assert list(change["dimensions"]) == ["visual"]


def test_without_a_common_example_numbers_are_not_paired(runs: Path) -> None:
    found = pair(runs, "plain", "apart", anyway=True)
    (change,) = found.content["changes"]
    assert not change["paired"] and "all" in change and change["all"]["average"]["p"] is None
    low, high = change["all"]["average"]["interval"]
    own = [run["scores"]["average"]["interval"] for run in found.content["runs"]]
    widths = [each[1] - each[0] for each in own]  # type: ignore[operator]
    assert high - low > max(widths), "apart: wider than either"  # type: ignore[operator]
    assert "]*" in str(found) and "not paired" in str(found) and "not paired" in found.html
    assert not found.to_pandas().dropna(subset="difference")["paired"].any()


def test_another_version_is_no_difference_if_its_cases_are_the_same(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "shielded", tmp_path / "old")
    about = json.loads((tmp_path / "old/run.json").read_text())
    about["versions"]["scuff"] = "0.0.1"
    (tmp_path / "old/run.json").write_text(json.dumps(about))
    assert scuff.compare(runs / "plain", tmp_path / "old").content["differs"] == []
    shutil.rmtree(tmp_path / "old/trials")
    with pytest.raises(Differing, match="cases: cannot be compared, since toy:sentiment \\+ normalise has no trials"):
        scuff.compare(runs / "plain", tmp_path / "old")
    shutil.copytree(runs / "seed/trials", tmp_path / "old/trials")
    for part in (tmp_path / "old/trials").iterdir():  # the mark of a part names its run
        arrays = dict(np.load(part))
        Folder(tmp_path / "old").write_part(part.stem, arrays)
    with pytest.raises(Differing, match="tried other texts than"):
        scuff.compare(runs / "plain", tmp_path / "old")


def test_a_file_under_another_name_is_the_same_data(tmp_path: Path) -> None:
    rows = "text,label\n" + "".join(f"a {word} day {at},{word}\n" for at in range(5) for word in ("good", "bad"))
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(rows)
        scuff.evaluate(
            lambda texts: ["good" if "good" in text else "bad" for text in texts], tmp_path / f"{name}.csv", tmp_path / name,
            dimensions=["keyboard"], degrees=[0.4], cases=1,
        )  # fmt: skip
    assert scuff.compare(tmp_path / "one", tmp_path / "two").content["differs"] == []


# clear errors


def break_file(name: str, content: bytes) -> Any:
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: shutil.rmtree(folder), "expected a run folder with run.json, got none"),
        (lambda folder: (folder / "summary.json").unlink(), "expected a finished run, got one without summary.json: `scuff"),
        (lambda folder: (folder / "results.jsonl").unlink(), "expected a finished run, got one without results.jsonl"),
        (break_file("run.json", b"{"), "run.json: expected JSON"),
        (break_file("run.json", b'{"schema": 0}'), "expected a file that this version of Scuff wrote, got another"),
        (break_file("summary.json", b'{"schema": 1}'), "expected a file that this version of Scuff wrote, got another"),
        (break_file("results.jsonl", b""), "expected a line per example, got none"),
        (break_file("results.jsonl", b'{"id": "1"}\n'), "results.jsonl, line 1: expected an example as summary.json has them"),
        (break_file("results.jsonl", b"\xff\xfe\n"), "expected JSON lines, got"),
        (break_file("results.jsonl", b"[]\n"), "results.jsonl, line 1: expected an example"),
    ],
)  # fmt: skip
def test_broken_runs(runs: Path, tmp_path: Path, harm: Any, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(runs / "shielded", tmp_path / "run")
    harm(tmp_path / "run")
    assert main(["compare", str(runs / "plain"), str(tmp_path / "run")]) == 2
    out, err = capfd.readouterr()
    assert said in err and err.count("\n") == 1 and not out


def test_what_cannot_be_compared(runs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plain, attacked = str(runs / "plain"), str(runs / "attacked")
    for words, said in (
        ([plain], "expected two runs or more to compare, got 1"),
        ([plain, f"{plain}/."], "expected each run once, got"),
        ([plain, attacked], "expected runs of one kind, got one of `scuff evaluate`"),
        ([plain, attacked, "--anyway"], "expected runs of one kind"),
        ([plain, str(runs / "shielded"), "--names", "one"], "expected 2 different names, one for each run, got one"),
        ([plain, str(runs / "shielded"), "--names", "a", "a"], "expected 2 different names"),
    ):
        assert main(["compare", *words]) == 2
        assert said in capfd.readouterr().err
    for part in ("before", "after"):
        shutil.copytree(runs / "plain", tmp_path / "hard" / part)
    with pytest.raises(BadRun, match=r"got a folder of `scuff harden`: name .*before and .*after"):
        scuff.compare(tmp_path / "hard", plain)
    with pytest.raises(ValueError, match="expected a run folder, got Result: give evaluate or attack an output folder"):
        scuff.compare(
            plain, scuff.evaluate(TOY, [("good", "positive"), ("bad", "negative")], dimensions=["keyboard"], cases=1)
        )
    assert main(["compare", plain, str(runs / "degrees")]) == 2
    out, err = capfd.readouterr()
    assert (
        err.splitlines()[0] == ("scuff: differs: degrees: 0.5 in plain, 0.6 in degrees (beside 1 in all runs)")
        and not out
    )
    assert err.splitlines()[1] == (
        "scuff: expected runs that differ in nothing but the model, got 1 difference: --anyway compares what is common"
    )


# the command


def test_the_command_writes_what_is_asked_for(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs)
    assert main(["compare", "plain", "shielded", "-o", str(tmp_path / "out")]) == 0
    out = capfd.readouterr().out
    assert out.startswith("toy:sentiment + normalise is more robust than toy:sentiment: ") and "\npage: " in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"comparison.{end}" for end in ("html", "json", "csv", "md")
    }
    page = re.sub("<[^>]+>", "", (tmp_path / "out/comparison.html").read_text())
    assert "scuff compare plain shielded" in page
    told = scuff.compare("plain", "seed", names=["a b", "c"], anyway=True)
    assert "scuff compare plain seed --names 'a b' c --anyway" in unescape(re.sub("<[^>]+>", "", told.html))
    assert str(tmp_path) not in pair(runs, "plain", "shielded").html, "no folder of ours in a page that is mailed"
    assert main(["compare", "plain", "shielded", "--csv", "-"]) == 0
    assert capfd.readouterr().out.startswith("run,model,shield,folder,dimension,")
    assert main(["compare", "plain", "shielded", "--fail-if-worse", "-q"]) == 0 and capfd.readouterr() == ("", "")
    with pytest.raises(SystemExit, match="1"):
        main(["compare", "shielded", "plain", "--fail-if-worse"])
    assert "FAIL toy:sentiment: visual -" in capfd.readouterr().err


@pytest.mark.parametrize("width", [40, 60, 80, 100, 130, 200])
def test_tables_fit_the_terminal(
    runs: Path, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for names in (("plain", "shielded"), ("attacked", "stubborn")):
        assert max(map(len, pair(runs, *names).table(width).splitlines())) <= width
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["compare", str(runs / "plain"), str(runs / "shielded")]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width


CELLS = st.lists(st.text("xyz", max_size=20), min_size=2, max_size=2)


@given(
    st.lists(st.tuples(st.text("ab ç", max_size=9), CELLS, st.integers(1, 9)), min_size=1, max_size=7),
    st.integers(20, 90),
)
def test_a_fitted_table_is_never_too_wide_and_keeps_its_rows(
    columns: list[tuple[str, list[str], int]], width: int
) -> None:
    lines = fitted([Column(head, cells, keep=keep) for head, cells, keep in columns], width)
    assert len(lines) == 3 and all(len(line) <= width for line in lines)
