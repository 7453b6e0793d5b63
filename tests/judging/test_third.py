"""Two raters and a third who decides: what the third gets, how the third is checked, and who may not be the third."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import scuff
from judging.raters import by_meaning, by_validity, carefully, three, write_csv
from scuff.cli.main import main
from scuff.judging.items import read_key


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


@pytest.mark.slow
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


def test_a_filled_in_sheet_is_not_overwritten(pairs: Path, tmp_path: Path) -> None:
    files = three(tmp_path, pairs, by_meaning(0.8))[:2]
    (tmp_path / "third").mkdir()
    scuff.judge_import(pairs / "key.json", files, encoder="chrf", disputed=tmp_path / "third")
    (tmp_path / "third" / "rate.csv").write_text("filled in")
    with pytest.raises(ValueError, match="third: expected a new folder"):
        scuff.judge_import(pairs / "key.json", files, encoder="chrf", disputed=tmp_path / "third")
    assert (tmp_path / "third" / "rate.csv").read_text() == "filled in"


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
