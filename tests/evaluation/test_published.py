"""Protocols as published: RobTest's rounding, cases, final score and perturbations; Zéroe's pairs, word choice and red line."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.cli.main import main
from scuff.data.dataset import Column
from scuff.data.reading import read_dataset
from scuff.evaluation.cases import sample_cases
from scuff.evaluation.degrees import most_units
from scuff.evaluation.dimensions import COLUMNS, Dimension
from scuff.evaluation.plan import make_protocol
from scuff.evaluation.protocol import Protocol
from scuff.evaluation.published import PROTOCOLS, published_dimension, published_facts
from scuff.evaluation.score import final_score
from scuff.evaluation.settings import EvaluationSettings
from scuff.evaluation.thresholds import dimensions_to_measure
from scuff.metrics.edit import edits_distance
from scuff.perturbations.names import ZEROE
from scuff.perturbations.published import PUBLISHED, published_selection
from scuff.reports.command import repeating
from scuff.reports.gate import check_summary
from scuff.reports.parquet import write_parquet
from scuff.runs.folder import Folder

WORDS = [
    "yesterday",
    "everybody",
    "noticed",
    "another",
    "wonderful",
    "garden",
    "behind",
    "several",
    "buildings",
    "somewhere",
]
TEXTS = [" ".join(WORDS[:count]) for count in (1, 3, 7, 10)]
PAIRS = [
    {"premise": f"Somebody noticed the {word} yesterday", "hypothesis": f"Nobody noticed {word}", "label": label}
    for word, label in zip(WORDS, ["yes", "no", "yes"] * 4, strict=False)
] + [{"premise": "Equal sentences everywhere", "hypothesis": "Equal sentences everywhere", "label": "yes"}]


def agree(premises: list[str], hypotheses: list[str]) -> list[str]:
    return ["no" if "Nobody" in second else "yes" for first, second in zip(premises, hypotheses, strict=True)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- RobTest ------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 400), st.integers(1, 100))
def test_rounding_up_is_robtests_formula(units: int, percent: int) -> None:
    """Its code takes ceil(n * degree) words or characters; floats must not make one more of 0.1 * 30."""
    wanted = -(-units * percent // 100), units * percent // 100
    total = np.array([units])
    assert (most_units(total, percent / 100, "up")[0], most_units(total, percent / 100)[0]) == wanted


@pytest.mark.parametrize("spec", ["keyboard", "typo", "visual", "segment", "keyboard+truncate"])
@pytest.mark.parametrize("degree", [0.05, 0.3])
def test_as_many_words_as_rounding_says(spec: str, degree: float) -> None:
    dimension, columns = Dimension.parse(spec), [Column.of(TEXTS)]
    units = dimension.perturbation.units(columns[0].corpus).per_row(len(TEXTS))
    for rounding, most in (("down", np.floor(units * degree)), ("up", np.ceil(units * degree - 1e-9))):
        cases = sample_cases(columns, (0,), dimension, degree, 5, rounding=rounding)
        hit = np.round(cases.reached * units[cases.example]).astype(int)
        assert (hit <= most[cases.example]).all()
        if spec != "keyboard+truncate":  # of two changes one after the other some fall on the same word
            assert (hit[cases.example > 0] == most[cases.example[cases.example > 0]]).all(), rounding


def test_as_many_characters_as_rounding_says() -> None:
    columns = [Column.of(TEXTS)]
    for rounding, up in (("down", math.floor), ("up", math.ceil)):
        cases = sample_cases(columns, (0,), Dimension.parse("glyph@edits"), 0.07, 4, rounding=rounding)
        assert cases.edits[0] is not None
        away = edits_distance(columns[0].corpus.take(cases.example), cases.edits[0])
        assert away.tolist() == [up(len(TEXTS[at]) * 0.07) for at in cases.example.tolist()]


def test_rounding_of_a_pair_is_that_of_each_text() -> None:
    columns = [Column.of([TEXTS[3]]), Column.of([TEXTS[2]])]
    cases = sample_cases(columns, (0, 1), Dimension.parse("keyboard"), 0.05, 3, rounding="up")
    assert [round(reached * 17) for reached in cases.reached.tolist()] == [2, 2, 2], (
        "one of ten words, and one of seven"
    )


SMALL: dict[str, Any] = {"examples": 12, "degrees": [0.1, 0.4], "cases": 3}


def test_robtest_as_published() -> None:
    plain = scuff.evaluate("toy:sentiment", "toy:sentiment", dimensions=["typo-g", "synonym"], **SMALL).summary
    result = scuff.evaluate(
        "toy:sentiment", "toy:sentiment", dimensions=["typo-g", "synonym"], as_published=True, **SMALL
    )
    summary = result.summary
    assert not {"rounding", "final_from_zero", "selections"} & plain["protocol"].keys() and "published" not in plain
    assert summary["protocol"]["rounding"] == "up" and summary["protocol"]["final_from_zero"]
    assert list(summary["dimensions"]) == list(plain["dimensions"]) == ["typo-g", "synonym"], "the names stay"
    for name, content in summary["dimensions"].items():
        assert content["spec"] == scuff.perturbations.parse(PUBLISHED[name.removesuffix("-g")].spec).spec
        for kind in ("average", "worst", "worst_alone"):
            by_degree = {cell["degree"]: cell[kind]["value"] for cell in content["degrees"]}
            assert content[kind]["value"] == pytest.approx(final_score(by_degree, published=True), abs=2e-6)
    assert summary["dimensions"]["typo-g"]["degrees"][0]["unchanged_examples"] == 0, "one word of each text changes"
    assert plain["dimensions"]["typo-g"]["degrees"][0]["unchanged_examples"] > 0
    found = summary["published"]
    assert found["paper"].startswith("RobTest") and "12 examples; the paper: 1,000" in found["differs"]
    assert "3 cases per example and degree; the paper: 100" in found["differs"]
    assert f"synonym is {PUBLISHED['synonym'].spec}" in found["sets"]
    assert "as published, RobTest" in str(result) and "\ndiffers from the paper:\n- 3 cases" in str(result)
    shown = " ".join(str(result).split())
    assert all(f" - {line} " in shown for line in (*found["sets"], *found["differs"])), "an item a line"


def test_what_the_user_sets_wins() -> None:
    settings = {"dimensions": ["typo-g"], "as_published": True, "rounding": "down", **SMALL}
    summary = scuff.evaluate("toy:sentiment", "toy:sentiment", **settings).summary
    assert "rounding" not in summary["protocol"]
    assert "the number of words or characters to change is rounded down" in summary["published"]["differs"]
    assert not any("rounded up" in line for line in summary["published"]["sets"])
    assert published_dimension("natural(listed=False)") == "natural(listed=False)"
    assert published_dimension("mine=natural") == f"mine={PUBLISHED['natural'].spec}"


def planned(**settings: Any) -> Protocol:
    return make_protocol(EvaluationSettings.of(**settings), read_dataset("toy:sentiment").take(range(6)), 10_000)[0]


def test_the_papers_number_of_cases() -> None:
    assert planned(dimensions=["typo-g"], as_published=True).cases == PROTOCOLS["robtest"].cases == 100
    assert planned(dimensions=["typo-g"], as_published=True, cases=4).cases == 4
    assert planned(protocol="zeroe", dimensions=["visual"], as_published=True).cases == 1
    assert planned(dimensions=["typo-g"]).cases == 10


@pytest.mark.parametrize(
    "name",
    [
        *COLUMNS,
        *ZEROE,
        "keyboard@edits",
        "typo-m@score",
        "mine=visual",
        "natural=visual",
        "homoglyph",
        "natural|visual",
    ],
)
def test_a_dimension_as_published_keeps_its_name_and_measure(name: str) -> None:
    before, after = Dimension.parse(name), Dimension.parse(published_dimension(name))
    assert (before.measure, before.access, before.tag) == (after.measure, after.access, after.tag)
    assert after.label == before.label or after.label == before.perturbation.name
    column = name.partition("@")[0]
    entry = PUBLISHED.get(column if column in COLUMNS else "") or PUBLISHED.get(before.perturbation.name)
    if "|" in name:
        assert after.perturbation == scuff.perturbations.parse(
            "|".join(PUBLISHED[part].spec for part in name.split("|"))
        )
    elif entry and entry.spec.partition("(")[0] == before.perturbation.name:
        assert after.perturbation == scuff.perturbations.parse(entry.spec)
    else:
        assert after.perturbation == before.perturbation, "what needs a model that is not at hand stays ours"


def test_what_a_paper_has_otherwise_and_needs_a_model_for_is_said() -> None:
    settings = EvaluationSettings.of(dimensions=["syntax", "contextual"], as_published=True, encoder="chrf")
    protocol = Protocol(dimensions=("syntax", "typo-g", "homoglyph"), degrees=(0.1,))
    found = published_facts(settings, protocol, read_dataset("toy:sentiment"))
    assert any(line.startswith("syntax: ") and PUBLISHED["syntax"].needs in line for line in found["differs"])
    assert "typo-g has layout='qwerty'; as published layout='any'" in found["differs"]
    assert "homoglyph is not of this paper" in found["differs"]


def facts(data: str = "toy:sentiment", **settings: Any) -> tuple[Protocol, list[str], list[str]]:
    """The protocol of a run as published, what is set, and what differs."""
    chosen, texts = EvaluationSettings.of(as_published=True, **settings), read_dataset(data).take(range(6))
    protocol = make_protocol(chosen, texts, 10_000)[0]
    found = published_facts(chosen, protocol, texts)
    return protocol, found["sets"], found["differs"]


def test_options_of_the_user_do_not_pass_for_those_of_the_paper() -> None:
    given = ["truncate(keep=1)", "visual(space='dces', neighbours=3)", "keyboard(layout='azerty', phi=0.1)"]
    _, sets, differs = facts(protocol="zeroe", dimensions=given)
    assert not any("truncate" in line for line in sets)
    assert "truncate(keep=1)@level has keep=1; as published keep=2" in differs
    assert any(
        line.endswith("has space='dces', neighbours=3; as published space='vaegan', neighbours=20") for line in differs
    )
    assert any(
        line.endswith("has phi=0.1, layout='azerty'; as published phi=None, layout='qwerty'") for line in differs
    )
    assert any(line.startswith("keyboard(") and line.endswith("has at_least_one=False") for line in sets)
    _, sets, differs = facts(protocol="zeroe", dimensions=["truncate(keep=2)"])
    assert "truncate(keep=2)@level has keep=2" in sets and not any("truncate" in line for line in differs)


def test_what_robtest_does_not_have_stays_ours_in_its_protocol() -> None:
    protocol, sets, differs = facts(
        dimensions=["keyboard", "phonetic@edits", "phonetic", "keyboard@level", "typo", "typo@edits"]
    )
    ours = [dimension.perturbation for dimension in protocol.parsed]
    assert ours[:4] == [
        scuff.perturbations.parse(spec) for spec in ("keyboard", "phonetic", "phonetic(slight=True)", "keyboard")
    ]
    assert not protocol.selections, "the coin is Zéroe's"
    assert {"keyboard is not of this paper", "keyboard@level is not of this paper"} <= set(differs)
    assert f"phonetic@edits: {PUBLISHED['phonetic-g'].remains}" in differs
    assert {"typo is typo(layout='any')", "typo(layout='any')@edits has layout='any'"} <= set(sets)


@pytest.mark.parametrize("name", ["synonym", "inflection", "distraction", "natural|visual"])
def test_what_zeroe_does_not_have_runs_in_its_protocol(name: str) -> None:
    chosen = EvaluationSettings.of(protocol="zeroe", as_published=True, dimensions=[name, "keyboard"])
    protocol, _, differs = facts(protocol="zeroe", dimensions=[name, "keyboard"])
    assert protocol.parsed[0].perturbation == planned(protocol="zeroe", dimensions=[name]).parsed[0].perturbation
    assert sum(line.endswith("is not of this paper") for line in differs) == 1
    assert dimensions_to_measure(chosen, {"keyboard": 0.5}, None) == (name, "keyboard")


def test_every_choice_beside_the_paper_is_listed() -> None:
    chosen: dict[str, Any] = {"protect": "urls", "metric": "macro-f1", "width": 0.1}
    _, _, plain = facts(dimensions=["glyph-g"])
    _, _, differs = facts(dimensions=["glyph-g"], **chosen)
    assert [line.partition(";")[0] for line in differs if line not in plain] == [
        "protected text stays as it is (urls)",
        "adaptive: fewer cases where an interval is narrower than 0.1",
        "scores are macro F1",
    ]
    protocol, _, differs = facts(protocol="zeroe", dimensions=["visual@edits", "visual"], examples=6)
    assert protocol.selections == (None, "coin") and "6 examples; the paper: whole test sets" in differs
    assert any(
        "@edits is a share of the characters; no coin chooses words; the paper: the strength" in each
        for each in differs
    )
    by_auc = [
        facts("toy:tone", protocol="zeroe", dimensions=["truncate"], metric=metric)[2] for metric in (None, "auc")
    ]
    assert ["macro AUC" in " ".join(lines) for lines in by_auc] == [True, False]


# --- Zéroe --------------------------------------------------------------------------------------------------------------


def test_both_texts_of_a_pair_are_perturbed(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"protocol": "zeroe", "dimensions": ["full-shuffle", "truncate"]}
    summary = scuff.evaluate(agree, PAIRS, tmp_path / "run", **settings).summary
    assert summary["protocol"]["sides"] == [0, 1] and "|sides:both|" in summary["signature"]
    write_parquet(str(tmp_path / "run"), str(tmp_path / "cases.parquet"))
    rows = [row for row in pq.read_table(tmp_path / "cases.parquet").to_pylist() if row["dimension"] != "clean"]
    assert len(rows) == 2 * 3 * len(PAIRS), "one case per pair and level"
    ids = [line["id"] for line in lines(tmp_path / "run" / "examples.jsonl")]
    clean = dict(zip(ids, PAIRS, strict=True))
    for row in rows:
        if row["degree"] == 0.8:
            assert all(row[side] != clean[row["id"]][side] for side in ("premise", "hypothesis")), row
        if row["dimension"] == "full-shuffle@level":  # as `scuff perturb` writes the texts, but of a pair of equal ones
            premise = scuff.perturb(clean[row["id"]]["premise"], "full-shuffle", row["degree"])
            assert row["premise"] == premise
            equal = clean[row["id"]]["premise"] == clean[row["id"]]["hypothesis"]
            assert not equal or row["degree"] < 0.8 or row["premise"] != row["hypothesis"], "draws of their own"
    one = scuff.evaluate(agree, PAIRS, **settings, side="first").summary
    assert one["protocol"]["sides"] == [0] and "|sides:first|" in one["signature"]
    again = scuff.evaluate(agree, PAIRS[::-1], **settings).summary
    for name, content in summary["dimensions"].items():
        for cell, other in zip(content["degrees"], again["dimensions"][name]["degrees"], strict=True):
            assert cell["average"]["value"] == other["average"]["value"] and cell["reached"] == other["reached"], (
                "in any order"
            )


def test_single_texts_have_one_side() -> None:
    assert planned(protocol="zeroe", dimensions=["visual"]).sides == (0,)


def test_the_published_choice_of_words() -> None:
    protocol = planned(protocol="zeroe", dimensions=["full-shuffle", "segment"], as_published=True)
    assert (
        protocol.selections == (published_selection("full-shuffle"), published_selection("segment")) == ("coin", None)
    )
    assert planned(protocol="zeroe", dimensions=["full-shuffle"]).selections == ()
    assert planned(protocol="zeroe", dimensions=["full-shuffle"], as_published=True, selection="quota").selections == (
        "quota",
    )
    texts = [" ".join(WORDS)]
    cases = sample_cases([Column.of(texts)], (0,), Dimension.parse("full-shuffle@level"), 0.5, 1, selection="coin")
    assert cases.columns[0] == scuff.perturb(texts, "full-shuffle", 0.5, selection="coin")
    with pytest.raises(ValueError, match="expected no selection for the protocol robtest"):
        EvaluationSettings.of(selection="coin")
    with pytest.raises(ValueError, match="expected quota, coin, each, all for selection, got 'below'"):
        EvaluationSettings.of(protocol="zeroe", selection="below")
    with pytest.raises(ValueError, match="expected no rounding for the protocol zeroe"):
        EvaluationSettings.of(protocol="zeroe", rounding="up")


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (None, []),
        ("coin", ["what segment changes is chosen by coin; the paper: chain"]),
        ("quota", ["what truncate, visual changes is chosen by quota; the paper: a coin",
                   "what segment changes is chosen by quota; the paper: chain"]),
    ],
)  # fmt: skip
def test_a_choice_of_words_differs_only_if_it_is_not_the_papers(selection: str | None, said: list[str]) -> None:
    options: dict[str, Any] = {"dimensions": ["truncate", "visual", "segment", "omit"], "selection": selection}
    settings = EvaluationSettings.of(protocol="zeroe", as_published=True, **options)
    data = read_dataset("toy:sentiment").take(range(6))
    found = published_facts(settings, make_protocol(settings, data, 10_000)[0], data)
    assert [line for line in found["differs"] if "chosen by" in line] == said
    assert any("a coin decides about each" in line for line in found["sets"]) == (selection != "quota")


def constant(label: str) -> Any:
    return lambda *columns: [label] * len(columns[0])


@pytest.mark.parametrize("metric", [None, "macro-f1"])
def test_the_red_line_is_that_of_a_dummy(metric: str | None) -> None:
    dummy, scores = pytest.importorskip("sklearn.dummy"), pytest.importorskip("sklearn.metrics")
    data = [(f"{text} number {n}", "abc"[n % 4 % 3]) for n, text in enumerate(TEXTS * 5)]
    summary = scuff.evaluate(
        lambda texts: ["abc"[len(text) % 3] for text in texts], data, protocol="zeroe", dimensions=["truncate"],
        labels=["a", "b", "c"], metric=metric,
    ).summary  # fmt: skip
    right = [label for _, label in data]
    model = dummy.DummyClassifier(strategy="most_frequent").fit(np.zeros((len(data), 1)), right)
    said = model.predict(np.zeros((len(data), 1)))
    wanted = scores.accuracy_score(right, said) if metric is None else scores.f1_score(right, said, average="macro")
    red, clean = summary["red_line"], summary["clean"]["score"]["value"]
    assert red["metric"] == "score" and red["score"] == pytest.approx(wanted, abs=1e-6)
    assert red["left"] == pytest.approx(wanted / clean, abs=1e-5), "thesis, eq. 4.2"
    assert metric or red["score"] == summary["clean"]["majority"]
    for cell in summary["dimensions"]["truncate@level"]["degrees"]:
        assert cell["left"]["value"] == cell["relative"]
        low, high = cell["left"]["interval"]
        assert low <= cell["left"]["value"] <= high


def test_the_red_line_of_tags_counts_tokens() -> None:
    data = [
        {"tokens": ["Go", "now"], "tags": ["B", "A"]},
        {"tokens": ["Stop", "those", "dogs"], "tags": ["B", "C", "C"]},
    ]
    data += [{"tokens": ["Wonderful", "long", "sentences", "here"], "tags": ["C", "C", "A", "C"]}]
    tags = {"Go": "B", "now": "A", "Stop": "B"}
    summary = scuff.evaluate(
        lambda sentences: [[tags.get(token, "C") for token in tokens] for tokens in sentences], data,
        protocol="zeroe", dimensions=["full-shuffle"], labels=["A", "B", "C"],
    ).summary  # fmt: skip
    assert summary["red_line"]["score"] == pytest.approx(5 / 9, abs=1e-6)
    assert summary["red_line"]["left"] == pytest.approx(5 / 8, abs=1e-5), "eight of nine tags are right when clean"


def toxic(texts: list[str]) -> list[dict[str, float]]:
    """Gets longer words wrong; every score is its own."""
    return [
        {
            "toxic": min(1, text.count("bad") / 2 + len(text) / 1e3),
            "insult": min(1, text.count("fool") * 0.9 + 1e-3 * text.count("e")),
        }
        for text in texts
    ]


def test_the_red_line_of_label_sets_is_an_auc_of_one_half() -> None:
    data = [{"text": f"a bad {word} and a fool", "labels": ["toxic", "insult"]} for word in WORDS[:5]]
    data += [{"text": f"a {word} in bad weather", "labels": ["toxic"]} for word in WORDS[5:]]
    data += [{"text": f"a quiet {word}", "labels": []} for word in WORDS]
    summary = scuff.evaluate(
        toxic, data, protocol="zeroe", dimensions=["full-shuffle"], labels=["toxic", "insult"]
    ).summary
    clean = summary["clean"]["auc"]["value"]
    assert summary["red_line"] == {"metric": "auc", "score": 0.5, "left": pytest.approx(0.5 / clean, abs=1e-6)}
    for cell in summary["dimensions"]["full-shuffle@level"]["degrees"]:
        assert cell["left"]["value"] == pytest.approx(cell["auc"]["value"] / clean, abs=2e-6)
    one = [(row["text"], "toxic") for row in data]
    exact = scuff.evaluate(
        constant("toxic"), one, protocol="zeroe", dimensions=["truncate"], labels=["toxic", "no"]
    ).summary
    assert exact["red_line"] == {"metric": "score", "score": 1.0, "left": 1.0}


def test_a_ratio_that_all_resamples_agree_on_has_no_width() -> None:
    data = [(f"{text} number {n}", "ab"[n % 2]) for n, text in enumerate(TEXTS * 4)]
    summary = scuff.evaluate(constant("a"), data, protocol="zeroe", dimensions=["truncate"], labels=["a", "b"]).summary
    for cell in summary["dimensions"]["truncate@level"]["degrees"]:
        assert cell["left"] == {"value": 1.0, "interval": [1.0, 1.0]}, "one divided by itself, not a share of examples"


def test_no_red_line_without_the_protocol() -> None:
    summary = scuff.evaluate(agree, PAIRS, dimensions=["truncate"], degrees=[0.3], cases=1).summary
    assert "red_line" not in summary and summary["protocol"]["sides"] == [0]
    assert all("left" not in cell for cell in summary["dimensions"]["truncate"]["degrees"])


# --- the run ------------------------------------------------------------------------------------------------------------


def test_the_run_names_it_and_can_be_repeated_and_reported(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "protocol": "zeroe",
        "as_published": True,
        "dimensions": ["visual", "natural"],
        "examples": 8,
    }
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", **settings)
    folder = Folder(tmp_path / "run")
    run, summary = folder.run(), folder.evaluation_summary()
    assert run["published"] == summary["published"] and run["published"]["paper"].startswith("From Hero to Zéroe")
    assert run["config"]["as_published"] is True and run["key"]["selections"] == ["coin", "coin"]  # type: ignore[typeddict-item]
    assert list(summary["dimensions"]) == ["visual", "natural"]
    command = shlex.split(repeating(run)[0])
    assert "--as-published" in command
    before = (tmp_path / "run" / "summary.json").read_bytes()
    assert main([*command[1:], "-o", str(tmp_path / "again"), "-q"]) == 0
    assert (tmp_path / "again" / "summary.json").read_bytes() == before
    (tmp_path / "run" / "summary.json").unlink()
    scuff.report(tmp_path / "run")
    assert (tmp_path / "run" / "summary.json").read_bytes() == before


def test_a_summary_of_an_older_version_gets_both_worst_cases(tmp_path: Path) -> None:
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", dimensions=["typo-m"], **SMALL)
    folder = Folder(tmp_path / "run")
    whole = (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")
    old = json.loads(whole)
    for entry in (old["overall"], *old["dimensions"].values()):
        del entry["worst_alone"]
    for content in old["dimensions"].values():
        for cell in (*content["degrees"], content.get("by_validity", {})):
            cell.pop("worst_alone", None)
    folder.write_json("summary.json", old)
    summary = folder.evaluation_summary()
    assert math.isnan(scuff.Result(summary, None).worst_alone) and "- [-, -]" in str(scuff.Result(summary, None))
    assert "Rule-Worst (alone) | " in scuff.Result(summary, None).paper
    with pytest.raises(
        ValueError, match=r"got one of an older version: `scuff report RUN` computes it from the trials"
    ):
        check_summary(summary, {"typo-m.worst_alone": 0.1})
    result = scuff.report(tmp_path / "run")
    assert isinstance(result, scuff.Result) and 0 <= result.worst <= result.worst_alone <= 1
    assert (tmp_path / "run" / "summary.json").read_text(encoding="utf-8") == whole
    for line in lines(tmp_path / "run" / "results.jsonl"):
        found = line["dimensions"]["typo-m"]
        assert found["worst"] == np.minimum.accumulate(found["worst_alone"]).tolist()


def test_gates_can_name_both_worst_cases() -> None:
    settings: dict[str, Any] = {"dimensions": ["typo-m"], **SMALL}
    summary = scuff.evaluate("toy:sentiment", "toy:sentiment", **settings).summary
    names = ["worst", "worst_alone", "typo-m.worst_alone", "typo-m@0.4.worst_alone", "typo-m@0.4.worst"]
    found = {line.name: line.value for line in check_summary(summary, dict.fromkeys(names, 0.0))}
    cell = summary["dimensions"]["typo-m"]["degrees"][1]
    assert (
        found["typo-m@0.4.worst_alone"]
        == cell["worst_alone"]["value"]
        >= cell["worst"]["value"]
        == found["typo-m@0.4.worst"]
    )
    assert found["worst_alone"] == summary["overall"]["worst_alone"]["value"]
    measured = dimensions_to_measure(EvaluationSettings.of(), {"keyboard.worst_alone": 0.5}, None)
    assert measured == ("keyboard",), "only what the threshold names"
    zeroe = EvaluationSettings.of(protocol="zeroe", as_published=True)
    assert dimensions_to_measure(zeroe, {"visual@0.8.left": 0.5}, None) == ()


def test_a_baseline_is_compared_in_both_worst_cases() -> None:
    summary = scuff.evaluate("toy:sentiment", "toy:sentiment", dimensions=["typo-m"], **SMALL).summary
    better = json.loads(json.dumps(summary))
    for entry in (better["overall"], better["dimensions"]["typo-m"]):
        entry["worst_alone"]["value"] += 0.2
    failed = [line.name for line in check_summary(summary, {}, 0.1, better) if not line.passed]
    assert failed == ["worst_alone", "typo-m.worst_alone"]
    for entry in (better["overall"], better["dimensions"]["typo-m"]):
        del entry["worst_alone"]
    assert all(line.passed for line in check_summary(summary, {}, 0.1, better)), "a run of an older version has none"


def test_a_baseline_must_be_rounded_alike() -> None:
    settings: dict[str, Any] = {"dimensions": ["typo-m"], **SMALL}
    down, up = (
        scuff.evaluate("toy:sentiment", "toy:sentiment", rounding=way, **settings).summary for way in ("down", "up")
    )
    for ours, theirs in ((down, up), (up, down)):
        with pytest.raises(ValueError, match="got another rounding"):
            check_summary(ours, {}, 0.1, theirs)
