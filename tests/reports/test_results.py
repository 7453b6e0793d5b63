"""Results in notebooks and programs: short to look at, tables to compute with, examples to choose; files are read when asked."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from reports.made import EVIL
from reports.page import Page
from scuff.reports.model_card import model_card
from scuff.runs.folder import BadRun, Folder

TOY = "toy:sentiment"
SMALL: dict[str, Any] = {"examples": 20, "cases": 3, "degrees": [0.1, 0.4], "dimensions": ["keyboard", "intrude"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> scuff.Result:
    return scuff.evaluate(TOY, TOY, tmp_path_factory.mktemp("run") / "run", **SMALL)


@pytest.fixture(scope="module")
def kept() -> scuff.Result:
    """The same without a folder."""
    return scuff.evaluate(TOY, TOY, **SMALL)


def test_a_result_is_one_line(run: scuff.Result, attacked: Folder) -> None:
    assert repr(run).startswith("<Result of toy:sentiment on toy:sentiment in ") and len(repr(run)) < 200
    assert (
        f"clean {100 * run.clean:.1f}, average {100 * run.average:.1f}, worst {100 * run.worst:.1f} % accuracy>"
        in repr(run)
    )
    other = scuff.report(attacked.path)
    assert "attacked fell>" in repr(other) and "\n" not in repr(other)


def test_examples_are_those_that_the_scores_count(run: scuff.Result) -> None:
    for name, content in run.summary["dimensions"].items():
        for cell in content["degrees"]:
            broken = run.examples(name, "broken", degree=cell["degree"], most=None)
            right = run.examples(name, "held", degree=cell["degree"], most=None)
            success = cell["success"]
            assert success["of"] == len(broken) + len(right)
            assert success["rate"] == pytest.approx(len(broken) / success["of"], abs=1e-6)
            assert all(each.degree is not None and each.degree <= cell["degree"] for each in broken)
    assert len(run.examples(most=None)) == 20 * 2
    assert len(run.examples(outcome="wrong", dimension="keyboard")) == round(20 * (1 - run.clean))


def test_an_example_says_what_was_changed(run: scuff.Result) -> None:
    each = run.examples("intrude", "broken")[0]
    line = next(line for line in run.run_files.evaluation_results() if line["id"] == each.id)
    case = line["dimensions"]["intrude"]["broken_by"]
    assert case is not None and each.changed == case["texts"] != each.texts == line["texts"]
    assert str(each).startswith(f"intrude {case['degree']:g} broken: ") and "{+" in str(each)


def test_examples_are_filtered_by_label_and_cut(run: scuff.Result) -> None:
    found = run.examples(label="negative", most=3)
    assert {each.target for each in found} == {"negative"} and (len(found), found.of) == (3, 20)
    assert repr(found).startswith("<3 of 20 examples: ") and len(str(found).splitlines()) == 4
    assert isinstance(found[:2], type(found)) and len(found[:2]) == 2
    assert not run.examples(most=0)
    if pytest.importorskip("pandas"):
        assert list(run.examples(most=0).to_pandas().columns) == list(found.to_pandas().columns)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"dimension": "keybord"},
            "expected the name of a dimension of this run, got 'keybord'; did you mean keyboard?",
        ),
        ({"outcome": "succeeded"}, "expected the name of an outcome, got 'succeeded'"),
        ({"label": "positiv"}, "expected the name of a label of the data, got 'positiv'; did you mean positive"),
        ({"degree": 0.2}, r"expected a degree of this run \(0.1, 0.4\), got 0.2"),
        ({"most": -1}, "expected a whole number or None for most, got -1"),
    ],
)
def test_wrong_filters(asked: dict[str, Any], message: str, run: scuff.Result) -> None:
    with pytest.raises(ValueError, match=message):
        run.examples(**asked)


def test_frames_say_what_the_summary_says(run: scuff.Result) -> None:
    pytest.importorskip("pandas")
    table = run.to_pandas().set_index("dimension")
    for name, content in run.summary["dimensions"].items():
        low, high = content["worst"]["interval"]
        assert table.loc[name, ["worst", "worst_low", "worst_high"]].tolist() == [content["worst"]["value"], low, high]
        assert [table.loc[name, "0.1"], table.loc[name, "0.4"]] == [c["average"]["value"] for c in content["degrees"]]
    degrees = run.to_pandas("degrees")
    assert len(degrees) == 1 + 2 * 2 and degrees["average"].iloc[0] == run.clean
    cases = run.to_pandas("cases")
    assert len(cases) == run.summary["queries"]["cases"] + 20
    keyboard = cases[(cases["dimension"] == "keyboard") & (cases["degree"] == 0.4)]
    mean = np.mean(keyboard.groupby("id")["score"].mean())
    assert mean == pytest.approx(run.summary["dimensions"]["keyboard"]["degrees"][1]["average"]["value"], abs=1e-5)
    with pytest.raises(ValueError, match="expected the name of rows, got 'rows'"):
        run.to_pandas("rows")  # type: ignore[arg-type]


def test_without_a_folder_all_is_there_as_long_as_the_result(run: scuff.Result, kept: scuff.Result) -> None:
    assert kept.folder is None and kept.summary == run.summary and kept.paper == run.paper
    assert [str(each) for each in kept.examples()] == [str(each) for each in run.examples()]
    assert kept._repr_html_() == run._repr_html_()
    again = scuff.evaluate(TOY, TOY, **SMALL)
    home = again.run_files.path
    assert home.is_dir()
    del again
    gc.collect()
    assert not home.parent.exists()


def test_nothing_is_left_behind_at_the_end(tmp_path: Path) -> None:
    code = f"import scuff; r = scuff.evaluate({TOY!r}, {TOY!r}, dimensions=['keyboard'], examples=4, cases=1); print(r.home.path)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stderr and not Path(done.stdout.strip()).parent.exists()


def test_a_result_reads_nothing_that_nobody_asks_for(tmp_path: Path) -> None:
    result = scuff.attack(TOY, TOY, "deepwordbug", tmp_path / "run", examples=8, encoder="chrf")
    assert "lines" not in vars(result) and len(result.lines) == 8 and result.lines is result.lines
    other = scuff.report(tmp_path / "run")
    (tmp_path / "run" / "results.jsonl").unlink()
    with pytest.raises(BadRun, match=r"results.jsonl: expected JSON lines"):
        _ = other.lines  # type: ignore[union-attr]
    with pytest.raises(BadRun, match="expected the result of a run, got one without any files"):
        scuff.Result(result.summary, None).examples()  # type: ignore[arg-type]


def test_a_result_can_be_copied_to_another_process(run: scuff.Result) -> None:
    copy = pickle.loads(pickle.dumps(run))
    assert copy == run and len(copy.examples()) == len(run.examples())


def test_attacks_have_examples_and_frames(attacked: Folder) -> None:
    pandas = pytest.importorskip("pandas")
    result = scuff.report(attacked.path)
    assert isinstance(result, scuff.AttackResult)
    for status, count in result.summary["status"].items():
        found = result.examples(status, most=None)
        assert len(found) == count and {each.outcome for each in found} <= {status}
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == result.summary["examples"]
    assert (frame["status"] == "succeeded").sum() == result.summary["success"]["count"]
    assert list(result.examples("succeeded").to_pandas().columns) == [
        "id", "outcome", "target", "answer", "new_answer", "text", "changed"
    ]  # fmt: skip


@pytest.mark.parametrize("what", ["result", "examples"])
def test_markup_of_a_result_is_text(what: str, attacked: Folder) -> None:
    result = scuff.report(attacked.path)
    shown = result if what == "result" else result.examples()
    page = Page(shown._repr_html_())  # whose parser fails for elements that are not closed
    assert {tag for tag, _ in page.tags} <= {
        "div", "style", "p", "b", "i", "blockquote", "img", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
        "ol", "li", "pre", "ins", "del", "span", "abbr", "br",
    }  # fmt: skip
    images = [attributes["src"] or "" for tag, attributes in page.tags if tag == "img"]
    assert all(source.startswith("data:image/svg+xml;base64,") for source in images)
    if what == "examples":
        assert EVIL[:20] in page.text("td.")


def test_data_of_other_kinds() -> None:
    pairs = [(f"the first text of {n}", f"a second text of {n}", "yes" if n % 2 else "no") for n in range(6)]
    tags = [{"tokens": ["Anna", "saw", "the", f"{n}"], "tags": ["N", "V", "O", "O"]} for n in range(4)]
    few: dict[str, Any] = {"dimensions": ["full-shuffle"], "cases": 2, "degrees": [0.9]}

    def same(first: list[str], second: list[str]) -> list[str]:
        return ["yes" if "second" in b and a[-1] in "135" else "no" for a, b in zip(first, second, strict=True)]

    def tagger(rows: list[list[str]]) -> list[list[str]]:
        return [[{"Anna": "N", "saw": "V"}.get(token, "O") for token in row] for row in rows]

    of_pairs = scuff.evaluate(same, pairs, side="second", **few)
    of_tags = scuff.evaluate(tagger, tags, **few)
    for result in (of_pairs, of_tags):
        assert result.examples(outcome="broken") and "scuff-result" in result._repr_html_()
    assert of_tags.examples(label="V").of == 4
    if pytest.importorskip("pandas"):
        frame = of_pairs.examples().to_pandas()
        fields = json.loads((of_pairs.run_files.path / "run.json").read_text())["data"]["fields"]
        assert {*fields, *(f"changed_{field}" for field in fields)} <= set(frame.columns)


@pytest.fixture(scope="module")
def hardened(tmp_path_factory: pytest.TempPathFactory) -> scuff.HardenResult:
    return scuff.harden(
        TOY, TOY, tmp_path_factory.mktemp("hardened") / "out", methods="shield(normalise)", dimensions="homoglyph",
        examples=10, cases=1, degrees=0.3,
    )  # fmt: skip


def test_meaning_and_hardening(hardened: scuff.HardenResult) -> None:
    pytest.importorskip("pandas")
    found = scuff.meaning(["a good day", "a bad day"], ["a goood day", "a bad dya"], ["x y", "z"], ["x", "q"])
    assert repr(found).startswith("<MeaningResult of 2 texts: source likeness ") and len(found.to_pandas()) == 2
    assert found._repr_html_().startswith("<pre>")
    assert repr(hardened).startswith("<HardenResult of toy:sentiment in ") and "scuff-result" in hardened._repr_html_()
    frame = hardened.to_pandas().set_index("dimension")
    assert frame.loc["clean", "before"] == hardened.clean["before"]
    assert (
        frame.loc["homoglyph", "difference"]
        == hardened.proof["comparison"]["dimensions"]["homoglyph"]["average"]["difference"]
    )


def test_the_hub_reads_the_card_of_a_hardened_model(hardened: scuff.HardenResult) -> None:
    hub = pytest.importorskip("huggingface_hub")
    card = hub.ModelCard(
        model_card({**hardened.proof, "model": "owner/name"}, "single", hugging_face=True, local=False)
    )
    found = {entry.metric_name: entry.metric_value for entry in card.data.eval_results}
    assert card.data.base_model == "owner/name" and card.data.library_name == "transformers"
    assert found["accuracy, clean"] == hardened.clean["after"] and "accuracy, homoglyph" in found


def test_pandas_is_named_if_it_is_missing(run: scuff.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LookupError, match="expected the package pandas for to_pandas, got none: pip install pandas"):
        run.to_pandas()
