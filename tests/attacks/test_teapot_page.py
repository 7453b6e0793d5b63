"""The tables of docs/results/teapot.md: the paper's figures, and what the script computes from runs."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

PAPERS = Path(__file__).parents[2] / "benchmarks" / "papers"
if not PAPERS.is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
FIGURES = json.loads((PAPERS / "figures" / "teapot.json").read_text(encoding="utf-8"))
TABLES = {number: FIGURES[f"Table {number}"]["rows"] for number in (2, 3, 5, 6, 8, 9)}
PAIRS = ("cs-en", "de-en", "fr-en")
COUNT = 120  # sentences of a made run


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of benchmarks/papers."""
    monkeypatch.syspath_prepend(str(PAPERS))
    return importlib.import_module


# ---- the paper's figures ----


def test_the_papers_tables_agree_with_each_other() -> None:
    """Table 6 begins with CharSwap of Table 2; what the text says about the tables is so."""
    words = TABLES[2]["LSTM words"]
    assert {pair: words[pair]["CharSwap"][0] for pair in PAIRS} == TABLES[6]["Base"]
    for model in TABLES[2].values():
        assert list(model) == list(PAIRS)
        for row in model.values():
            source = {name: row[name][1] for name in ("Unconstrained", "CharSwap", "kNN")}
            assert source["Unconstrained"] < source["kNN"] < source["CharSwap"], "constraints keep meaning, 4.3"
            assert row["kNN"][0] < row["Unconstrained"][0]
            assert sum(row["CharSwap"]) > 100 > sum(row["kNN"]), "the only one that has S > 1 everywhere, 4.3"
    for pair in PAIRS:
        for pieces in ("words", "subwords"):
            one, other = (TABLES[2][f"{kind} {pieces}"][pair]["kNN"][0] for kind in ("Transformer", "LSTM"))
            assert one > other, "Transformers are less robust to kNN, 4.3"
        assert TABLES[2]["LSTM subwords"][pair]["CharSwap"][0] < words[pair]["CharSwap"][0]
        five, six = ({row: TABLES[table][row][pair] for row in TABLES[table]} for table in (5, 6))
        assert list(five) == list(six)
        assert six["CharSwap-adv, alpha 1.0"] < six["CharSwap-adv, alpha 0.5"] < six["Base"], "5.2"
        assert min(six, key=lambda row: -six[row]).startswith("Unconstrained-adv"), "they are the most vulnerable, 5.2"
        assert five["Base"][0] - five["Unconstrained-adv, alpha 1.0"][0] > 2
        assert five["Base"][0] - five["CharSwap-adv, alpha 1.0"][0] < 0.5
    above = [
        (model, pair) for model in TABLES[2] for pair in PAIRS if sum(TABLES[2][model][pair]["Unconstrained"]) > 100
    ]
    assert above == [("LSTM subwords", "fr-en")]
    for table in (3, 8, 9):
        assert all(bleu <= meteor < chrf for bleu, meteor, chrf in TABLES[table].values()), "BLEU < METEOR < chrF, A.3"


@pytest.mark.shared
def test_the_figures_stand_in_the_paper() -> None:
    """Every number, as often as in the tables: the text's layout has lost the rows, but no number."""
    papers = Path(os.environ.get("SCUFF_SHARED", PAPERS.parents[2] / "shared")) / "papers"
    found = list(papers.glob("001_*.txt"))
    if not found:
        pytest.skip("no shared papers")
    text = Counter(map(float, re.findall(r"\d+\.\d{2,3}", found[0].read_text(encoding="utf-8"))))
    mine: Counter[float] = Counter()

    def count(part: Any) -> None:
        if isinstance(part, float):
            mine[part] += 1
        for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            count(each)

    count(TABLES)
    assert sum(mine.values()) == 84 + 6 + 30 + 15 + 9 + 9 and not mine - text


# ---- made runs ----


def statistics(chrf: float, bleu: float) -> dict[str, Any]:
    """Statistics of sentences whose corpus scores are these."""
    words = [[10_000, 10_000, *[round(100 * bleu)] * 4, *[10_000] * 4]] * COUNT
    return {"chrf": [[10_000, 10_000, round(100 * chrf)] * 6] * COUNT, "bleu": words, "lower": words}


def attack(model: str, name: str, original: float, decrease: float, source: float) -> dict[str, Any]:
    """What is kept of an attack: means as given, in points; half of the sentences are a little above, half below."""
    sway = np.random.default_rng(crc32(f"{model} {name}".encode())).permutation(np.repeat([-0.02, 0.02], COUNT // 2))
    base = np.full(COUNT, original / 100)
    return {
        "model": model, "attack": name, "spec": "s", "asked": 9, "seconds": 1.0, "id": list(map(str, range(COUNT))),
        "base": base.tolist(), "attacked": (base * (1 - decrease / 100 + sway)).tolist(),
        "source": (source / 100 + sway).tolist(),
    }  # fmt: skip


def kept(folder: Path, module: Any, changes: dict[tuple[str, str], tuple[float, float, float]]) -> None:
    """Writes what runs of all models leave: as in the paper, but for some attacks (original, RDchrF, source)."""
    for model in module.Model.all():
        pair, trained = f"{model.language}-en", module.TRAININGS.get(f"{model.within}-{model.alpha}", "Base")
        paper = TABLES[2][f"{module.TITLES[model.kind]} {module.TITLES[model.pieces]}"][pair]
        chrf, bleu = TABLES[5][trained][pair]
        facts = {
            "model": model.name,
            "parameters": 1e6,
            "vocabulary": [10, 20],
            "unknown": 0.05,
            "epochs": 9,
            "best": 8,
            "seconds": 60.0,
        }
        module.keep(folder / "models" / f"{model.name}.json", {**facts, "test": statistics(chrf, bleu)})
        for each in [*module.Attack.main(model), *module.Attack.more(model)]:
            usual, _, kind = each.name.partition(", ")
            harm, source = paper[usual]
            if model.within:
                harm = TABLES[6][trained][pair]
            elif kind == "no sign":
                harm -= 5
            elif kind == "random places":
                harm /= 2
            elif kind:
                harm, source = harm * int(kind[-1]) / 3 * 2, 100 - (100 - source) * int(kind[-1]) / 3
            row = attack(
                model.name, each.name, *changes.get((model.name, each.name), (paper["original"], harm, source))
            )
            module.keep(folder / "attacks" / model.name / f"{each.name}.json", row)


def lines_of(text: str) -> dict[str, str]:
    return {line.split(" | ")[0].strip("| "): line for line in text.split("\n")}


def test_every_row_of_the_paper_is_run(script: Any) -> None:
    module = script("teapot")
    models = module.Model.all()
    names = {model.name for model in models}
    assert len(models) == len(names) == 24
    assert {module.title(name[3:]) for name in names if name.count("-") == 2} == set(TABLES[2])
    assert {"Base", *module.TRAININGS.values()} == set(TABLES[5]) == set(TABLES[6])
    assert [each.name for each in module.Attack.main(models[0])] == ["Unconstrained", "CharSwap", "kNN"]
    assert [each.name for each in module.Attack.main(models[-1])] == ["CharSwap"], "Table 6"


def test_findings_come_from_the_numbers(script: Any, tmp_path: Path) -> None:
    """What is as in the paper holds; what is not fails, and says so."""
    module, page = script("teapot"), script("teapot_page")
    changes = {
        ("de-lstm-words", "CharSwap"): (49.43, 10.0, 84.4),
        ("de-lstm-bpe", "kNN"): (52.42, 26.2, 70.0),
        ("de-lstm-words", "kNN, no sign"): (49.43, 15.6, 78.1),
    }
    kept(tmp_path, module, changes)
    text = page.made(page.gathered(tmp_path), FIGURES)
    lines = lines_of(text)
    assert lines["CharSwap raises source chrF: LSTM words"].count("yes: +12.") == 3
    assert "**no**: 0.94 [" in lines["CharSwap has mean S > 1: LSTM words"] and "(1.09)" in text
    assert lines["kNN raises source chrF: LSTM subwords"].count("yes") == 2
    assert "**no**: -2.1 [" in lines["kNN raises source chrF: LSTM subwords"]
    assert "not decided: +0.2 [" in lines["kNN lowers RDchrF: LSTM subwords"]
    assert lines["the sign of the gradient helps: Unconstrained, LSTM words"].count("yes: +5.0") == 3
    assert "not decided: -0.0" in lines["the sign of the gradient helps: kNN, LSTM words"]
    assert lines["CharSwap-adv with alpha 1.0 keeps test chrF (loses at most 0.5)"].count("yes: -0.") == 3
    assert lines["Unconstrained-adv with alpha 1.0 loses test chrF"].count("yes: -") == 3
    assert "**no**: +7.2 [" in lines["CharSwap-adv with alpha 1.0 lowers RDchrF of CharSwap"] and "(-7.8)" in text
    assert (
        text.count("yes: 2.00 [") == 34
        and "| **no**: " in re.findall(r"\| de-en \| LSTM subwords \| kNN \| 3: 26.2 .*", text)[0]
    )
    assert "## Table 2: fr-en" in text and all(len(line) <= 100 for line in text.split("\n") if line[:1] != "|")


def test_the_tables_have_the_papers_figure_in_every_row(script: Any, tmp_path: Path) -> None:
    module, page = script("teapot"), script("teapot_page")
    kept(tmp_path, module, {})
    ratio = {"plain": 1.0, "swaps alpha 1.0": 1.5, "swaps alpha 0.5": 2.5}
    time = {
        "architecture": "lstm",
        "pieces": "words",
        "steps": 60,
        "rounds": 5,
        "milliseconds": {"plain": 8.0},
        "ratio": ratio,
    }
    (tmp_path / "times.json").write_text(json.dumps([time]))
    row = {
        "text": "Ein Hund.",
        "target": "A dog.",
        "output": "A dog.",
        "adversarial": "Ein Hnud.",
        "adversarial_output": "A.",
    }
    rows = [{**row, "source": 0.8, "decrease": 0.7}, {**row, "source": 0.5, "decrease": 0.0}]
    (tmp_path / "examples.json").write_text(json.dumps(rows))
    evidence = page.gathered(tmp_path)
    text = page.made(evidence, FIGURES)
    assert "| LSTM words | CharSwap | 49.4 [49.4, 49.4] | 49.4 | 24.9 [" in text
    for model, pairs in TABLES[2].items():
        for row_of in pairs.values():
            for name in ("Unconstrained", "CharSwap", "kNN"):
                harm, source = row_of[name]
                wanted = rf"\| {model} \| {name} \|.*\| {harm:.1f} \| {source:.1f} \[.*\] \| {source:.1f} \|"
                assert re.search(wanted, text), (model, name)
    for name, pairs in TABLES[5].items():
        theirs = [rf"{chrf:.1f} \({bleu:.1f}\)" for chrf, bleu in pairs.values()]
        assert re.search(rf"\| {name} \|.*\] .*\| {theirs[0]} \|.*\| {theirs[1]} \|.*\| {theirs[2]} \|", text)
        assert re.search(rf"\| {name} \|.*\] \| {TABLES[6][name]['de-en']:.1f} \|", text)
    assert "| LSTM words | 8.0 |  | 1.50 |  | 2.50 |" in text and "rounds of 60 steps" in " ".join(text.split())
    assert "Highest S: source chrF 80.0, RDchrF 70.0:" in text and "Lowest S: source chrF 50.0, RDchrF 0.0:" in text
    assert len(json.dumps(evidence)) < 300_000 and '"id"' not in json.dumps(evidence), "no sentence by itself"


def test_corpus_scores_are_sacrebleus(script: Any) -> None:
    """The two scores that are made of summed statistics, so that resamples are cheap."""
    from sacrebleu.metrics import BLEU, CHRF

    findings = script("teapot_findings")
    outputs = ["a dog runs over the grass .", "two men are at work", "she reads", "a man in a red hat rides a horse"]
    wanted = [
        "a dog is running over the grass .",
        "two men work",
        "she is reading a book",
        "a man in a hat rides a horse",
    ]
    for metric, score in ((CHRF(), findings.corpus_chrf), (BLEU(tokenize="intl"), findings.corpus_bleu)):
        rows = np.array(metric._extract_corpus_statistics(outputs, [wanted]), float)
        assert score(rows.sum(0)) == pytest.approx(metric.corpus_score(outputs, [wanted]).score, abs=1e-9)


def test_equal_source_is_read_from_the_curve(script: Any) -> None:
    """By hand: the paper's search has 20 at 80; the stronger one 30 at 90 and 50 at 70, so 40 at 80. Beyond its end: its last."""
    findings = script("teapot_findings")
    rows = {
        "kNN": attack("m", "kNN", 50, 20, 80),
        "kNN, stronger, 1": attack("m", "", 50, 30, 90),
        "kNN, stronger, 2": attack("m", "", 50, 50, 70),
    }
    harm, stronger = findings.at_equal_source(rows, "kNN")
    assert harm[0] == pytest.approx(20) and stronger[0] == pytest.approx(40)
    del rows["kNN, stronger, 2"]
    assert findings.at_equal_source(rows, "kNN")[1][0] == pytest.approx(30)
    assert findings.at_equal_source({"kNN": rows["kNN"]}, "kNN") is None


def test_the_figure_is_a_drawing_with_all_attacks(script: Any, tmp_path: Path) -> None:
    module, page, figure = script("teapot"), script("teapot_page"), script("teapot_figure")
    kept(tmp_path, module, {})
    drawn = figure.figure_1(page.gathered(tmp_path), FIGURES)
    root = ElementTree.fromstring(drawn)
    marks = [each.tag.rpartition("}")[2] for each in root.iter()]
    assert marks.count("circle") == 2 * 18 + 1 and marks.count("polygon") == 2 * 18 + 1, "and one each in the legend"
    assert marks.count("line") > 20 and "stroke-dasharray" in drawn


def test_the_page_is_made_of_the_kept_numbers(script: Any) -> None:
    page, figure = script("teapot_page"), script("teapot_figure")
    evidence = page.read(page.EVIDENCE)
    wanted = f"{page.BEGIN}\n\n{page.made(evidence, FIGURES)}\n\n{page.END}"
    assert wanted in page.PAGE.read_text(encoding="utf-8"), "run benchmarks/papers/teapot.py page"
    assert page.FIGURE.read_text(encoding="utf-8") == figure.figure_1(evidence, FIGURES)


# ---- a real run, tiny ----

GERMAN = (
    ("Ein Hund", "Eine Frau", "Ein Mann", "Ein Kind", "Ein Mädchen"),
    ("läuft", "schläft", "sitzt", "wartet"),
    ("im Garten.", "am Strand."),
)
ENGLISH = (
    ("A dog", "A woman", "A man", "A child", "A girl"),
    ("runs", "sleeps", "sits", "waits"),
    ("in the garden.", "on the beach."),
)


def write_data(folder: Path) -> None:
    """Multi30k's files with sentences of our own."""
    pairs = [
        {"source": " ".join(de), "target": " ".join(en)}
        for de, en in zip(product(*GERMAN), product(*ENGLISH), strict=True)
    ]
    place = folder / "data" / "multi30k_de_en"
    place.mkdir(parents=True)
    for name, rows in (("train", pairs * 3), ("dev", pairs[:4]), ("test", pairs[::5])):
        with gzip.open(place / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.slow
def test_a_model_is_trained_tested_and_attacked_once(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the command does it: numbers are kept without any text, and a second time nothing is trained or asked."""
    pytest.importorskip("torch")
    import scuff

    module, page = script("teapot"), script("teapot_page")
    write_data(tmp_path)
    place = module.Place(tmp_path / "out", tmp_path, "cpu", 6, None, 3, True, float("inf"))
    model = module.Model("de", "lstm", "words")
    lines = list(module.do(model, 0, place))
    assert len(lines) == 4 and lines[0].startswith("trained and tested"), "and three attacks"
    more = {attack.name: attack for attack in module.Attack.more(model)}
    translator = module.train(model, place)
    for name in ("CharSwap, random places", "CharSwap, stronger, 1"):
        lines.append(module.attacked(model, more[name], place, translator))
    assert all("6 sentences" in line for line in lines[1:])
    kept = {path.name: path.read_text(encoding="utf-8") for path in (place.out / "attacks" / model.name).iterdir()}
    assert len(kept) == 5 and not any("Hund" in text for text in kept.values())
    swaps = json.loads(kept["CharSwap.json"])
    assert all(0 < value < 1 for value in swaps["source"]), "every sentence was changed, none is another one"
    assert len(json.loads((place.out / "examples.json").read_text())) == len(module.OWN)
    evidence = page.gathered(place.out)
    assert evidence["attacks"][model.name]["CharSwap"]["of"] == 6 and evidence["stronger"][model.name]["CharSwap"]
    assert "| de-en | LSTM words |" in page.made(evidence, FIGURES)
    monkeypatch.setattr(scuff, "attack", None)
    assert list(module.do(model, 0, place)) == [f"{name}: done before" for name in module.CONSTRAINTS]
    late = module.Place(tmp_path / "other", tmp_path, "cpu", 6, None, 3, True, 0.0)
    assert list(module.do(model, 0, late)) == ["no time left"]
