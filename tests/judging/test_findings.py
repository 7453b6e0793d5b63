"""What synthetic raters (`raters.py`) are found to say: correlations, agreement, votes and shares that were put in come out."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import scuff
from judging.raters import by_meaning, by_validity, carefully, degree, ranked, three, write_csv, write_json
from scuff.cli.main import main
from scuff.evaluation.score import VALIDITY
from scuff.judging.findings import perturbation_of
from scuff.judging.items import read_key
from scuff.judging.measures import measure_pairs
from scuff.judging.published import TABLE_3, TABLE_8, TABLE_9, published_correlation, published_share
from scuff.metrics.interval import wilson


def test_meaning_is_put_beside_every_metric(pairs: Path, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    found = scuff.judge_import(pairs / "key.json", three(tmp_path, pairs, by_meaning(0.3)), encoder="chrf")
    content, judged = found.content, found.judged
    assert (
        content["items"] == content["decided"] == 180 and [rater["kept"] for rater in content["raters"]] == [True] * 3
    )
    whole = next(entry for entry in content["correlation"] if entry["by"] == "all")
    assert {"chrF", "edit similarity"} <= set(whole["metrics"]) and whole["pairs"] == 180
    for name, entry in whole["metrics"].items():  # NumPy's own
        if not np.ptp(judged.measures[name]):
            assert entry["pearson"]["value"] is None and name not in str(found).split("Correlation")[1]
            continue
        wanted = np.corrcoef(judged.one, judged.measures[name])[0, 1]
        assert entry["pearson"]["value"] == pytest.approx(wanted, abs=1e-6)
        low, high = entry["pearson"]["interval"]
        assert low < wanted < high < low + 0.4
    by = Counter((entry["by"], str(entry["value"])) for entry in content["correlation"])
    assert set(by) == {
        ("all", "None"),
        *(("edits", str(n)) for n in (1, 2, 3)),
        ("attack", "charswap"),
        ("attack", "kNN"),
    }
    means = {entry["value"]: entry["mean"]["value"] for entry in content["means"] if entry["by"] == "edits"}
    for edits, mean in means.items():
        assert mean == pytest.approx(5 - 0.6 * edits, abs=0.35)
    alike = content["alike"][0]
    chrf = judged.measures["chrF"][judged.one >= 4]
    assert alike["pairs"] == chrf.size and alike["count"] == (chrf > 0.78).sum()
    assert alike["share"]["interval"] == [round(end, 6) for end in wilson(alike["count"] / chrf.size, chrf.size)]
    ordered = np.sort(chrf)  # a tenth is at or below it
    assert ordered[chrf.size // 10 - 1] - 1e-6 <= alike["by"]["value"] <= ordered[chrf.size // 10 + 1] + 1e-6


def test_the_paired_bootstrap_finds_the_better_metric(pairs: Path, tmp_path: Path) -> None:
    """Ratings made from the edit similarity itself correlate better with it than with chrF, and the star says so."""
    pytest.importorskip("sacrebleu")
    key = read_key(pairs / "key.json")

    def by_letters(item: object, chance: random.Random) -> int:
        before, after = item.before, item.after  # type: ignore[attr-defined]
        return max(0, min(5, round(5 - 0.35 * sum(a != b for a, b in zip(before, after, strict=False)))))

    file = write_csv(tmp_path / "one.csv", carefully(key, by_letters, 0))
    found = scuff.judge_import(pairs / "key.json", file, encoder="chrf").content
    whole = next(entry["metrics"] for entry in found["correlation"] if entry["by"] == "all")
    best = whole["edit similarity"]
    assert best["next"] in whole and best["p"] < 0.01 and best["better"] and best["pearson"]["value"] > 0.9
    order = sorted((name for name in whole if "next" in whole[name]), key=lambda name: -whole[name]["pearson"]["value"])
    assert order[0] == "edit similarity" and [whole[name]["next"] for name in order[:-1]] == order[1:]
    assert (
        str(found_text(pairs, file)).split("Correlation of metrics")[1].count("*") >= 2
    )  # the star, and what it means


def test_agreement_falls_with_the_raters_error(pairs: Path, tmp_path: Path) -> None:
    alphas = []
    for error in (0.0, 0.4, 2.0):
        folder = tmp_path / str(error)
        folder.mkdir()
        files = three(folder, pairs, by_meaning(error))
        found = scuff.judge_import(pairs / "key.json", files, decide="mean", encoder="chrf")
        agreement = found.content["agreement"]
        alphas.append(agreement["alpha_ordinal"]["value"])
        assert len(agreement["pairs"]) == 3 and agreement["fleiss"]["items"] == 180
    assert alphas[0] == 1 > alphas[1] > alphas[2]


def test_rare_ratings_have_neither_interval_nor_star(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    odd = {item.id for item in [item for item in key.items if item.part == "study"][:4]}
    file = write_csv(tmp_path / "a.csv", carefully(key, lambda item, chance: 3 if item.id in odd else 5, 0))
    judgement = scuff.judge_import(pairs / "key.json", file, encoder="chrf")
    found = judgement.content
    assert "no interval: fewer than 10 examples have a rating" in str(judgement)
    whole = next(entry["metrics"] for entry in found["correlation"] if entry["by"] == "all")
    assert whole["chrF"]["pearson"]["value"] is not None
    assert all(entry["pearson"]["interval"] == [None, None] and "p" not in entry for entry in whole.values())
    two = scuff.judge_import(pairs / "key.json", [file, shutil.copy(file, tmp_path / "b.csv")], encoder="chrf").content
    assert two["agreement"]["alpha_ordinal"] == {"value": 1, "interval": [None, None], "items": 180}


def test_validity_by_vote_with_weights(run: Path, tmp_path: Path) -> None:
    scuff.judge_export(run, tmp_path / "kit", study="validity", each=20)
    files = three(tmp_path, tmp_path / "kit", by_validity)
    found = scuff.judge_import(tmp_path / "kit" / "key.json", files, encoder="chrf", weights=tmp_path / "weights.json")
    judged, weights = found.judged, json.loads((tmp_path / "weights.json").read_text())
    assert weights["kind"] == "scuff validity" and weights["name"] == f"kit {judged.key.kit}, 3 raters"
    for name, cells in found.content["validity"].items():
        for cell in cells:
            rows = [at for at, item in enumerate(judged.items) if (item.attack, item.degree) == (name, cell["degree"])]
            votes = [int(Counter(judged.values[:, at].tolist()).most_common(1)[0][0]) for at in rows]
            assert cell["of"] == len(rows) and cell["valid"] == sum(votes)
            assert cell["share"]["value"] == pytest.approx(sum(votes) / len(votes), abs=1e-6)
            assert cell["share"]["interval"] == [round(end, 6) for end in wilson(sum(votes) / len(votes), len(votes))]
        assert weights["dimensions"][name]["valid"] == [cell["share"]["value"] for cell in cells]
        assert weights["dimensions"][name]["of"] == [cell["of"] for cell in cells]
    one = scuff.judge_import(tmp_path / "kit" / "key.json", files[:1], encoder="chrf", weights=tmp_path / "one.json")
    assert json.loads((tmp_path / "one.json").read_text())["name"].endswith(", 1 rater")
    few = [f"{name} at {cell['degree']:g} ({cell['of']})" for name, cells in one.content["validity"].items() for cell in cells
           if cell["of"] < 10]  # fmt: skip
    assert few and f"a weight from them says little: {', '.join(few)}" in " ".join(str(one).split())
    typo = {cell["degree"]: cell["paper"] for cell in found.content["validity"]["typo-m"]}
    assert typo == {0.1: 0.94, 0.3: 0.26, 0.5: 0.06} and "paper: RobTest, Table 3" in str(found)
    scuff.judge_export(run, tmp_path / "other", each=3)
    mine = three(tmp_path, tmp_path / "other", by_meaning(0.1))
    with pytest.raises(ValueError, match="expected the study validity for weights, got meaning"):
        scuff.judge_import(tmp_path / "other" / "key.json", mine, encoder="chrf", weights=tmp_path / "no.json")
    assert not (tmp_path / "no.json").exists()


@pytest.mark.slow
def test_measures_that_predict_validity(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("lemminflect")
    pytest.importorskip("gruut_lang_en")
    scuff.judge_export(run, tmp_path / "kit", study="validity", each=20, cases="all")
    key = read_key(tmp_path / "kit" / "key.json")
    file = write_csv(tmp_path / "one.csv", carefully(key, lambda item, chance: int((item.reached or 0) < 0.2), 0))
    found = scuff.judge_import(tmp_path / "kit" / "key.json", file, encoder="chrf", predict=True)
    levels = found.content["predicted"]["degree"]["levels"]
    assert [level["share"] for level in levels] == sorted(level["share"] for level in levels) and levels[-1][
        "share"
    ] == 1
    assert found.content["predicted"]["degree"]["spearman"]["value"] > 0.7 and "RobTest, Figure 5" in found.markdown
    assert sum(level["of"] for level in levels) == len(found.judged.items)


def test_readability_ranks(run: Path, tmp_path: Path) -> None:
    scuff.judge_export(run, tmp_path / "kit", study="readability", each=8)
    key = read_key(tmp_path / "kit" / "key.json")
    files = [write_csv(tmp_path / f"r{at}.csv", ranked(key, 0, at)) for at in range(3)]
    found = scuff.judge_import(tmp_path / "kit" / "key.json", files).content
    assert found["texts"] == 8 and found["sets"] == 24 and found["agreement"]["kendall_w"] == {"value": 1.0, "sets": 8}
    ranks = {row["attack"]: row["mean"]["value"] for row in found["ranks"]}
    assert set(ranks) == {"typo-m", "typo-g", "segment"} and sum(ranks.values()) == pytest.approx(6)  # 1 + 2 + 3
    sets: dict[int, list[str]] = {}
    for item in sorted(key.items, key=lambda item: ranked(key, 0, 0)[item.id]):
        sets.setdefault(item.group, []).append(item.attack)
    for name, mean in ranks.items():
        assert mean == pytest.approx(np.mean([order.index(name) for order in sets.values()]))
    text = str(scuff.judge_import(tmp_path / "kit" / "key.json", files))
    assert "qualification" not in text and "thesis (Table A.9)" in text  # what has a number in some row
    with pytest.raises(ValueError, match="expected the study meaning or validity for --disputed, got readability"):
        scuff.judge_import(tmp_path / "kit" / "key.json", files, disputed=tmp_path / "third")
    blind = [write_csv(tmp_path / f"b{at}.csv", ranked(key, 1000, at)) for at in range(3)]
    again = scuff.judge_import(tmp_path / "kit" / "key.json", blind).content
    assert again["agreement"]["kendall_w"]["value"] < 0.8


def test_ranks_of_what_nobody_has_ranked_before(files: dict[str, str], tmp_path: Path) -> None:
    adv = {name: files[name] for name in ("knn", "swaps")}
    scuff.judge_export([], tmp_path / "kit", study="readability", src=files["src"], adv_src=adv, each=3)
    key = read_key(tmp_path / "kit" / "key.json")
    found = str(scuff.judge_import(tmp_path / "kit" / "key.json", write_csv(tmp_path / "a.csv", ranked(key, 0, 0))))
    assert "mean rank" in found and not any(word in found for word in ("thesis (", "effort at high"))


def test_the_papers_figures() -> None:
    assert (
        TABLE_3["source"]["chrF"] == "0.586*"
        and TABLE_8[2]["METEOR"] == "0.424"
        and TABLE_9["charswap"]["BLEU"] == "0.274"
    )
    assert published_correlation("all", None, "target", "METEOR") == "0.478*"
    assert published_correlation("edits", 3, "source", "chrf") == "0.560*" and not published_correlation(
        "edits", 4, "source", "chrF"
    )
    assert published_correlation("attack", "kNN", "source", "BLEU") == "0.534"
    assert published_correlation("attack", "teapot-swaps", "source", "chrF") == "0.383"
    assert not published_correlation("edits", 1, "target", "chrF") and not published_correlation(
        "attack", "x", "source", "chrF"
    )
    assert published_share("typo-m", 0.3) == VALIDITY["typo-m"][2] and published_share("typo-m@score", 0.05) == 0.96
    assert published_share("syntax", 0.05) is None and published_share("segment", 0.1) is None
    assert published_share("typo-m", 0.2) is None
    assert (
        perturbation_of("keyboard@level") == "keyboard" and perturbation_of("mine=typo(layout='any')@edits") == "typo"
    )


def found_text(pairs: Path, file: str) -> str:
    return str(scuff.judge_import(pairs / "key.json", file, encoder="chrf"))


def test_all_forms_of_output(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sacrebleu")
    files = three(tmp_path, pairs, by_meaning(0.4))
    command = ["judge", "import", str(pairs / "key.json"), *files, "--encoder", "chrf"]
    written = {name: tmp_path / f"out.{name}" for name in ("json", "markdown", "csv")}
    assert main([*command, *(word for name, path in written.items() for word in (f"--{name}", str(path)))]) == 0
    printed = capsys.readouterr().out
    assert "TEAPOT, Table 3" in printed and "0.586*" in printed and "TEAPOT, Table 9" in printed
    content = json.loads(written["json"].read_text())
    assert content["kit"] == read_key(pairs / "key.json").kit and content["decided"] == 180
    rows = list(csv.DictReader(io.StringIO(written["csv"].read_text())))
    assert len(rows) == 180 and {"id", "attack", "edits", "ann", "ben", "eve", "decided", "chrF"} <= set(rows[0])
    assert "| source all | 180 | Pearson |" in written["markdown"].read_text()
    assert main([*command, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == content
    assert main([*command, "--decide", "vote", "-q"]) == 0 and capsys.readouterr().out == ""
    for flag, value in (("--above", "78"), ("--pass", "80")):
        assert main([*command, flag, value]) == 2
        assert f"expected a share from 0 to 1 for {flag}, got {value}" in capsys.readouterr().err


def test_no_output_overwrites_ratings(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, files = str(pairs / "key.json"), three(tmp_path, pairs, by_meaning(0.4))
    (tmp_path / "link.csv").symlink_to(files[0])
    before = {path: Path(path).read_bytes() for path in (key, *files)}
    command = ["judge", "import", key, *files, "--encoder", "chrf", "-q"]
    for flag in ("--json", "--csv", "--markdown", "--weights"):
        for path in (key, files[1], str(tmp_path / "link.csv"), f"{tmp_path}/kit/../ann.csv"):
            assert main([*command, flag, path]) == 2
            assert f"{path}: expected an output other than the inputs for {flag}" in capsys.readouterr().err
    with pytest.raises(ValueError, match="expected an output other than the inputs for weights"):
        scuff.judge_import(key, files, weights=files[0])
    out = str(tmp_path / "o")
    for one, other in (("--json", "--csv"), ("--markdown", "--weights"), ("--csv", "--disputed")):
        assert main([*command, one, out, other, f"{tmp_path}/./o"]) == 2
        assert f"expected different files for {one} and {other}" in capsys.readouterr().err
    assert main([*command, "--json", "-", "--csv", "-"]) == 2 and not capsys.readouterr().out
    assert {path: Path(path).read_bytes() for path in before} == before and not Path(out).exists()


def test_names_of_raters_are_no_formulas(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    ratings = carefully(key, by_meaning(0.4), 0)
    files = [write_json(tmp_path / f"{at}.json", key, name, ratings) for at, name in enumerate(("=1+1", "@a"))]
    found = scuff.judge_import(pairs / "key.json", files, encoder="chrf")
    head = next(csv.reader(io.StringIO(found.csv)))
    assert {"'=1+1", "'@a"} <= set(head) and "=1+1" in str(found)


def test_a_metric_of_ones_own_is_compared_too(pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    found = scuff.judge_import(
        pairs / "key.json",
        three(tmp_path, pairs, by_meaning(0.4)),
        encoder="chrf",
        metrics=[f"{tmp_path}/mine.py:Same"],
    )
    name = next(name for name in found.judged.measures if "Same" in name)
    assert found.judged.measures[name].tolist() == [item.before[0] == item.after[0] for item in found.judged.items]
    with pytest.raises(ValueError, match="expected"):
        scuff.judge_import(pairs / "key.json", three(tmp_path, pairs, by_meaning(0.4)), metrics=["nothing"])
    for values, message in (("[:-1]", "got the shape"), ("* float('nan')", "got one that is no number")):
        (tmp_path / "bad.py").write_text(OWN.replace("float)", f"float) {values}"))
        with pytest.raises(ValueError, match=f"expected a number per text from .*{message}"):
            measure_pairs(["a", "b"], ["a", "c"], metrics=[f"{tmp_path}/bad.py:Same"], encoder="chrf")
        (tmp_path / "bad.py").unlink()


OWN = """
from dataclasses import dataclass
import numpy as np
from scuff.metrics import Mean

@dataclass(frozen=True)
class Same(Mean):
    name = "same"
    summary = "whether the first letter stays"
    tasks = ("text",)

    def values(self, answers, targets, labels=()):
        return np.array([one[:1] == other[:1] for one, other in zip(answers, targets)], float)
"""


def test_degrees_of_the_model_are_what_raters_py_says() -> None:
    """The synthetic model is documented: 5 - 6 d, and 0.1 for each edit."""
    from scuff.judging.items import Item

    assert degree(Item("a", "b", degree=0.5)) == 0.5 and degree(Item("a", "b", edits=3)) == pytest.approx(0.3)
    assert by_meaning(0)(Item("a", "b", degree=0.5), random.Random(0)) == 2
