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


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A kit of 180 pairs: two attacks, of which one says more in chrF than the other, with 1, 2 and 3 edits."""
    chance = random.Random(0)
    words = [
        "river",
        "garden",
        "window",
        "summer",
        "letter",
        "market",
        "doctor",
        "bridge",
        "season",
        "winter",
        "paper",
        "candle",
    ]
    clean = [" ".join(chance.sample(words, 9)) for _ in range(240)]

    def attacked(change: int) -> list[str]:
        out = []
        for at, line in enumerate(clean):
            tokens = line.split()
            for place in chance.sample(range(9), 1 + at % 3):
                tokens[place] = tokens[place][:-change] + "x" * change
            out.append(" ".join(tokens))
        return out

    (tmp_path / "s.txt").write_text("\n".join(clean))
    for name, change in (("charswap", 1), ("kNN", 4)):
        (tmp_path / f"{name}.txt").write_text("\n".join(attacked(change)))
    adv = {name: str(tmp_path / f"{name}.txt") for name in ("charswap", "kNN")}
    scuff.judge_export([], tmp_path / "kit", src=str(tmp_path / "s.txt"), adv_src=adv, each=30)
    return tmp_path / "kit"


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


def test_a_third_rater_decides(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    ann, ben = (carefully(key, by_meaning(0.8), seed) for seed in (0, 1))
    files = [write_csv(tmp_path / f"{name}.csv", given) for name, given in (("ann", ann), ("ben", ben))]
    two = scuff.judge_import(pairs / "key.json", files, encoder="chrf", disputed=tmp_path / "third")
    study = [item.id for item in key.items if item.part == "study"]
    differ = {name for name in study if ann[name] != ben[name]}
    assert two.judged.disputed == differ and two.content["decided"] == len(study) - len(differ)
    lines = (tmp_path / "third" / "rate.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    controls = {item.id for item in key.items if item.part == "control"}
    shown = [line.split(",")[0] for line in lines]
    assert set(shown) == differ | controls and len(controls) == 10  # the third rater is checked, too
    assert shown[-10:] != sorted(controls, key=shown.index) != shown[:10]  # and cannot tell them by their place
    page = (tmp_path / "third" / "rate.html").read_text()
    assert f'"kit": "{key.kit}", "turn": "third"' in page
    known = {item.id: item.accept[0] for item in key.items if item.part == "control"}
    third = write_csv(tmp_path / "eve.csv", dict.fromkeys(differ, 2) | known)
    all_three = scuff.judge_import(pairs / "key.json", [*files, third], encoder="chrf")
    assert all_three.content["decided"] == len(study)
    for at, item in enumerate(all_three.judged.items):
        assert all_three.judged.one[at] == (2 if item.id in differ else ann[item.id])
    assert all_three.content["agreement"] == two.content["agreement"]  # of the two who rated all
    careless = write_csv(tmp_path / "bob.csv", dict.fromkeys(differ | controls, 2))
    found = scuff.judge_import(pairs / "key.json", [*files, careless], encoder="chrf")
    assert found.judged.raters == ("ann", "ben") and found.content["decided"] == len(study) - len(differ)


def test_nobody_takes_the_place_of_a_rater_who_fails(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    lazy = write_csv(tmp_path / "lazy.csv", {item.id: 5 for item in key.items})
    good = [write_csv(tmp_path / f"{name}.csv", carefully(key, by_meaning(0.5), at)) for at, name in enumerate("ab")]
    for files in ([lazy, *good], [good[0], lazy, good[1]]):
        with pytest.raises(ValueError, match="expected first two raters who pass the controls for third, got lazy"):
            scuff.judge_import(pairs / "key.json", files, encoder="chrf")
        assert scuff.judge_import(pairs / "key.json", files, encoder="chrf", decide="vote").judged.raters == ("a", "b")
        assert len(scuff.judge_import(pairs / "key.json", files, encoder="chrf", keep_all=True).judged.raters) == 3
    with pytest.raises(ValueError, match="expected two raters and a third who decides for third, got 4"):
        scuff.judge_import(pairs / "key.json", [*good, write_csv(tmp_path / "c.csv", {key.items[0].id: 5}), lazy])


def test_what_one_of_two_has_rated_goes_to_the_third(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    ann = carefully(key, by_meaning(0), 0)
    study = [item.id for item in key.items if item.part == "study"]
    ben = {name: value for name, value in ann.items() if name not in study[:9]}
    files = [write_csv(tmp_path / "ann.csv", ann), write_csv(tmp_path / "ben.csv", ben)]
    found = scuff.judge_import(pairs / "key.json", files, encoder="chrf")
    assert found.judged.disputed == set(study[:9]) and found.content["decided"] == len(study) - 9
    assert found.content["agreement"]["alpha_ordinal"]["items"] == len(study) - 9
    row = next(line for line in str(found).splitlines() if "alpha, ordinal" in line)
    assert row.endswith(f"{len(study) - 9} items")
    assert "of the items: 9 with one rating alone, 9 that the raters left undecided" in str(found)
    alone = str(scuff.judge_import(pairs / "key.json", files[:1], encoder="chrf"))
    assert "1 rater, 180 of 180 items rated" in alone and "third" not in alone.splitlines()[0]


def test_rare_ratings_have_neither_interval_nor_star(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    odd = {item.id for item in [item for item in key.items if item.part == "study"][:4]}
    file = write_csv(tmp_path / "a.csv", carefully(key, lambda item, chance: 3 if item.id in odd else 5, 0))
    found = scuff.judge_import(pairs / "key.json", file, encoder="chrf").content
    whole = next(entry["metrics"] for entry in found["correlation"] if entry["by"] == "all")
    assert whole["chrF"]["pearson"]["value"] is not None
    assert all(entry["pearson"]["interval"] == [None, None] and "p" not in entry for entry in whole.values())
    two = scuff.judge_import(pairs / "key.json", [file, shutil.copy(file, tmp_path / "b.csv")], encoder="chrf").content
    assert two["agreement"]["alpha_ordinal"] == {"value": 1, "interval": [None, None], "items": 180}


def test_a_third_rater_of_validity_passes_the_test_first(run: Path, tmp_path: Path) -> None:
    key = scuff.judge_export(run, tmp_path / "kit", study="validity", each=5).key
    ann, ben = (carefully(key, by_validity, seed) for seed in (0, 1))
    files = [write_csv(tmp_path / f"{name}.csv", given) for name, given in (("ann", ann), ("ben", ben))]
    where = tmp_path / "kit" / "key.json"
    scuff.judge_import(where, files, decide="third", encoder="chrf", disputed=tmp_path / "third")
    with (tmp_path / "third" / "rate.csv").open(encoding="utf-8-sig", newline="") as lines:
        shown = [row["id"] for row in csv.DictReader(lines)]
    assert [item.part for item in key.items[:10]] == ["qualification"] * 10 and shown[:10] == [
        i.id for i in key.items[:10]
    ]
    eve = carefully(key, by_validity, 2)
    files.append(write_csv(tmp_path / "eve.csv", {name: eve[name] for name in shown}))
    found = scuff.judge_import(where, files, decide="third", encoder="chrf").content
    assert [rater["kept"] for rater in found["raters"]] == [True] * 3 and found["decided"] == found["items"]


def test_one_rater_disputes_nothing(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = read_key(pairs / "key.json")
    good = write_csv(tmp_path / "ann.csv", carefully(key, by_meaning(0.3), 0))
    lazy = write_csv(tmp_path / "lazy.csv", {item.id: 5 for item in key.items})
    command = [
        "judge",
        "import",
        str(pairs / "key.json"),
        good,
        "--encoder",
        "chrf",
        "--disputed",
        str(tmp_path / "third"),
    ]
    assert main([*command[:4], lazy, *command[4:]]) == 0
    assert "third: not written, since only one rater is left" in capsys.readouterr().err
    shutil.copy(good, tmp_path / "ben.csv")
    assert main([*command[:4], str(tmp_path / "ben.csv"), *command[4:]]) == 0
    assert "third: not written, since the two agree" in capsys.readouterr().err and not (tmp_path / "third").exists()


def test_raters_who_fail_are_left_out(pairs: Path, tmp_path: Path) -> None:
    key = read_key(pairs / "key.json")
    files = [write_csv(tmp_path / "ann.csv", carefully(key, by_meaning(0.3), 0))]
    files.append(write_csv(tmp_path / "lazy.csv", {item.id: 5 for item in key.items}))
    found = scuff.judge_import(pairs / "key.json", files, encoder="chrf")
    assert found.judged.raters == ("ann",) and "lazy" in str(found) and "left out" in str(found)
    kept = scuff.judge_import(pairs / "key.json", files, keep_all=True, encoder="chrf")
    assert kept.judged.raters == ("ann", "lazy") and "kept, though failed" in str(kept)
    with pytest.raises(ValueError, match="expected raters who pass the controls, got none of 1"):
        scuff.judge_import(pairs / "key.json", files[1:])


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


def test_a_filled_in_sheet_is_not_overwritten(pairs: Path, tmp_path: Path) -> None:
    files = three(tmp_path, pairs, by_meaning(0.8))[:2]
    (tmp_path / "third").mkdir()
    scuff.judge_import(pairs / "key.json", files, encoder="chrf", disputed=tmp_path / "third")
    (tmp_path / "third" / "rate.csv").write_text("filled in")
    with pytest.raises(ValueError, match="third: expected a new folder"):
        scuff.judge_import(pairs / "key.json", files, encoder="chrf", disputed=tmp_path / "third")
    assert (tmp_path / "third" / "rate.csv").read_text() == "filled in"


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
