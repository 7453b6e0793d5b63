"""Kits from real runs and from files: strata, controls, blinding, order, and the same bytes for the same seed."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import scuff
from scuff.data.sheets import FORMULA, harmless
from scuff.evaluation.validity import open_run
from scuff.judging.items import read_key
from scuff.judging.sampling import better_half, changed_words


def sheet(kit: Path) -> list[dict[str, str]]:
    with (kit / "raters" / "rate.csv").open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def page_data(kit: Path) -> dict[str, object]:
    text = (kit / "raters" / "rate.html").read_text(encoding="utf-8")
    found: dict[str, object] = json.loads(text.split('id="kit">')[1].split("</script>")[0])
    return found


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_validity_has_broken_cases_of_each_column_and_degree(run: Path, tmp_path: Path) -> None:
    kit = scuff.judge_export(run, tmp_path / "kit", study="validity", each=3)
    items = [item for item in kit.key.items if item.part == "study"]
    each = Counter((item.attack, item.degree) for item in items)
    assert (
        max(each.values()) == 3 and {attack for attack, _ in each} == {"typo-m", "typo-g", "segment"} and len(each) > 6
    )
    assert kit.short == {f"{attack} at {degree:g}": n for (attack, degree), n in each.items() if n < 3}
    judged, data = open_run(run), open_run(run).data
    place = {name: at for at, name in enumerate(data.ids)}
    for item in items:
        at = place[item.example]
        assert item.before == data.columns[0][at] != item.after and item.label == data.targets[at]
        assert (
            judged.table().clean_score[at] == 1
            and item.reached is not None
            and 0 < item.reached <= (item.degree or 0) + 1e-9
        )
    assert kit.counts == {"study": len(items), "control": 10, "qualification": 10}
    first = kit.key.items[:10]
    assert {item.part for item in first} == {"qualification"} and Counter(item.accept for item in first) == {
        (1,): 5,
        (0,): 5,
    }
    for item in kit.key.items:
        if item.part != "study":
            assert (item.before == item.after) == (item.accept == (1,))
    assert str(kit) == f"kit {kit.key.kit} (validity): {len(items)} items, 10 controls, 10 to qualify raters"


def test_raters_cannot_see_what_is_what(run: Path, tmp_path: Path) -> None:
    for study in ("meaning", "validity"):
        kit = tmp_path / study
        key = scuff.judge_export(run, kit, study=study, each=4).key
        data = page_data(kit)
        shown = json.dumps(data["steps"]) + "".join(map(str, sheet(kit)))
        assert not any(
            word in shown for word in ("typo-m", "typo-g", "segment", "control", "accept", "qualification", "0.3")
        )
        assert set(sheet(kit)[0]) <= {"id", "text 1", "text 2", "original", "label", "changed", "rating", "comment"}
        assert [row["id"] for row in sheet(kit)] == [item.id for item in key.items]
        assert all(set(step) <= {"id", "texts", "label", "dir"} for step in data["steps"])
        assert not any(row["rating"] for row in sheet(kit))
        assert len({item.id for item in key.items}) == len(key.items)
        assert all(set(item.id) <= set("bcdfghjkmnpqrstvwxz") for item in key.items)
        kinds = [item.part for item in key.items if item.part != "qualification"]
        at = [place for place, kind in enumerate(kinds) if kind == "control"]
        assert len(at) == 10 and at != list(range(len(kinds) - 10, len(kinds))) and at != list(range(10))
    flipped = [item.flipped for item in read_key(tmp_path / "meaning" / "key.json").items]
    assert 0.2 < sum(flipped) / len(flipped) < 0.8
    row, item = sheet(tmp_path / "meaning")[0], read_key(tmp_path / "meaning" / "key.json").items[0]
    assert [row["text 1"], row["text 2"]] == ([item.after, item.before] if item.flipped else [item.before, item.after])


def test_the_same_seed_gives_the_same_bytes(run: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        scuff.judge_export(run, tmp_path / name, each=5, seed=seed)
    one, again, other = (everything(tmp_path / name) for name in ("one", "again", "other"))
    assert one == again and set(one) == {"key.json", "raters/rate.csv", "raters/rate.html", "raters/instructions.txt"}
    assert one["key.json"] != other["key.json"]


def test_files_have_as_many_of_each_number_of_edits(files: dict[str, str], tmp_path: Path) -> None:
    attacks = {"knn": files["knn"], "charswap": files["swaps"]}
    kit = scuff.judge_export([], tmp_path / "kit", src=files["src"], adv_src=attacks, each=8, language="French")
    items = [item for item in kit.key.items if item.part == "study"]
    assert Counter((item.attack, item.edits) for item in items) == {(a, n): 8 for a in attacks for n in (1, 2, 3)}
    assert all(item.before != item.after for item in items) and kit.key.sources == ("src.txt", "knn.txt", "swaps.txt")
    texts = (tmp_path / "kit" / "raters" / "instructions.txt").read_text()
    assert "5  Meaning is essentially equal and the two sentences are well-formed French\n" in texts


def test_targets_are_references_with_outputs(files: dict[str, str], tmp_path: Path) -> None:
    given = {name: files[name] for name in ("src", "ref", "out")}
    adv = {"adv_src": {"a": files["knn"]}, "adv_out": {"a": files["adv"]}}
    kit = scuff.judge_export([], tmp_path / "kit", side="target", each=5, **given, **adv)
    items = [item for item in kit.key.items if item.part == "study"]
    attacked, base = ([item for item in items if (item.attack == "a") == yes] for yes in (True, False))
    assert (
        Counter(item.edits for item in attacked) == {1: 5, 2: 5, 3: 5} and len(base) == 15
    )  # as many as the attack has
    assert all(item.before.startswith("R ") and item.after.startswith("A ") for item in attacked)
    assert all(item.before.startswith("R ") and item.after.startswith("O ") and item.edits == 0 for item in base)
    both = scuff.judge_export([], tmp_path / "both", side="both", each=2, **given, **adv)
    assert Counter(item.side for item in both.key.items if item.part == "study") == {"source": 6, "target": 12}
    alone = scuff.judge_export([], tmp_path / "alone", side="target", out=files["out"], adv_out={"a": files["adv"]})
    assert {(item.before[:2], item.after[:2]) for item in alone.key.items if item.part == "study"} == {("O ", "A ")}


def test_outputs_of_a_run_that_writes_texts(tmp_path: Path) -> None:
    def shout(texts: list[str]) -> list[str]:
        return [text.upper() for text in texts]

    data = [(f"a small house number {at} by the sea", f"A SMALL HOUSE NUMBER {at} BY THE SEA") for at in range(12)]
    scuff.evaluate(shout, data, tmp_path / "run", task="text", dimensions=["typo-g"], degrees=[0.3], cases=2)
    kit = scuff.judge_export(tmp_path / "run", tmp_path / "kit", side="target", each=6)
    items = [item for item in kit.key.items if item.part == "study"]
    assert Counter(item.attack for item in items) == {"typo-g": 6, "clean": 6}
    for item in items:
        assert item.before in dict(data).values() and item.after == item.after.upper()
        assert (item.after == item.before) == (item.attack == "clean")


def rude(texts: list[str]) -> list[dict[str, float]]:
    """Is fooled once every word that it knows has a typo."""
    return [{"rude": 0.3 + 0.22 * sum(word in text for word in ("silly", "rubbish", "thick"))} for text in texts]


def test_attacks_are_strata_by_their_edits(tmp_path: Path) -> None:
    words = ("silly", "silly rubbish", "silly thick rubbish")
    data = [(f"What a {words[at % 3]} note number {at} this is", ["rude"]) for at in range(30)]
    scuff.attack(rude, data, "tt-deepwordbug", tmp_path / "attack", encoder="chrf", task="multi", labels=["rude"])
    lines = [
        json.loads(line) for line in (tmp_path / "attack" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    won = {line["id"]: line for line in lines if line["status"] == "succeeded"}
    kit = scuff.judge_export(
        tmp_path / "attack", tmp_path / "kit", study="validity", each=4, qualification=8, controls=8
    )
    items = [item for item in kit.key.items if item.part == "study"]
    assert len(items) == 4 and kit.short == {}  # one stratum, whatever the numbers of edits
    assert scuff.judge_export(tmp_path / "attack", tmp_path / "50", study="validity", each=50).short == {
        "tt-deepwordbug": len(won)
    }
    assert {item.attack for item in items} == {"tt-deepwordbug"}
    for item in items:
        assert won[item.example]["adversarial"]["texts"] == [item.after] and [item.label] == won[item.example]["target"]
    kit = scuff.judge_export(tmp_path / "attack", tmp_path / "meaning", each=2)
    each = Counter(min(item.edits or 0, 4) for item in kit.key.items if item.part == "study")
    assert {1, 2, 3} <= set(each) <= {1, 2, 3, 4} and set(each.values()) <= {1, 2}
    many = Counter(min(len(line["adversarial"]["edits"]), 4) for line in lines if line["adversarial"])
    kit = scuff.judge_export(tmp_path / "attack", tmp_path / "many", each=100)
    words = {1: "1 edit", 2: "2 edits", 3: "3 edits", 4: "4 edits or more"}
    assert list(kit.short.items()) == [(f"tt-deepwordbug, {words[count]}", many[count]) for count in sorted(many)]
    scuff.attack(
        rude, data, "tt-deepwordbug", tmp_path / "other", encoder="chrf", task="multi", labels=["rude"], seed=3
    )
    kit = scuff.judge_export([tmp_path / "attack", tmp_path / "other"], tmp_path / "two", each=5)
    study = [item for item in kit.key.items if item.part == "study"]
    assert {item.attack for item in study} == {"attack", "other"}  # one recipe: their folders tell them apart
    order = [item.run for item in study]
    assert order not in (sorted(order), sorted(order, reverse=True))  # and they are mixed
    with pytest.raises(ValueError, match="expected a run of a model that writes texts"):
        scuff.judge_export(tmp_path / "attack", tmp_path / "no", side="target")


def test_versions_of_a_text_are_ranked_with_the_clean_one(run: Path, tmp_path: Path) -> None:
    kit = scuff.judge_export(run, tmp_path / "kit", study="readability", each=4, degree=0.3)
    for group in range(4):
        versions = [item for item in kit.key.items if item.group == group]
        assert sorted(item.attack for item in versions) == ["clean", "segment", "typo-g", "typo-m"]
        assert len({item.before for item in versions}) == 1 and {item.degree for item in versions} == {0.3, None}
        assert len({item.after for item in versions}) == 4
        assert [item.accept for item in versions if item.part == "control"] == [(2,)]  # 3 of 4 is the worse half
    steps = page_data(tmp_path / "kit")["steps"]
    assert [len(step["items"]) for step in steps] == [4] * 4
    assert [row["set"] for row in sheet(tmp_path / "kit")] == [f"set {at}" for at in range(1, 5) for _ in range(4)]


def test_versions_from_files(files: dict[str, str], tmp_path: Path) -> None:
    adv = {"knn": files["knn"], "swaps": files["swaps"]}
    kit = scuff.judge_export([], tmp_path / "kit", study="readability", src=files["src"], adv_src=adv, each=3)
    assert Counter(item.attack for item in kit.key.items) == {"knn": 3, "swaps": 3, "clean": 3}
    assert {item.accept for item in kit.key.items if item.part == "control"} == {(2,)}
    assert [better_half(others)[0] for others in (2, 3, 4, 9)] == [2, 2, 3, 5]  # of 3, 4, 5 and 10


def test_own_cases_to_qualify(run: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text('original,changed,label,rating\n"Good, really.",Goood really.,positive,1\nBad.,Good.,negative,0\n')
    kit = scuff.judge_export(run, tmp_path / "kit", study="validity", each=2, qualification_file=str(own))
    tests = [item for item in kit.key.items if item.part == "qualification"]
    assert {(item.before, item.after, item.accept) for item in tests} == {
        ("Good, really.", "Goood really.", (1,)),
        ("Bad.", "Good.", (0,)),
    }
    own.write_text("original,changed,rating\na,b,7\n")
    with pytest.raises(ValueError, match=r"own.csv: line 2: expected original, changed and a rating from 0 to 1"):
        scuff.judge_export(run, tmp_path / "no", study="validity", qualification_file=str(own))


def test_no_text_is_a_formula(tmp_path: Path) -> None:
    evil = ['=HYPERLINK("http://a")', "+1", "-2 is cold", "@name", "\tx", " =1", "＝1", "plain", "a=b"]
    (tmp_path / "s.txt").write_text("\n".join(evil) + "\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("\n".join(f"{text} x" for text in evil) + "\n", encoding="utf-8")
    scuff.judge_export([], tmp_path / "kit", src=str(tmp_path / "s.txt"), adv_src={"a": str(tmp_path / "a.txt")})
    cells = [row[name] for row in sheet(tmp_path / "kit") for name in ("text 1", "text 2")]
    assert not any(cell.lstrip(" ").startswith(FORMULA) for cell in cells)
    assert sum(cell.startswith("'") for cell in cells) >= 14 and "plain" in cells and "a=b" in cells
    assert harmless("'quoted") == "'quoted"


def test_changed_words() -> None:
    pairs = [("a b c", "a b c"), ("a b c", "a x c"), ("a b c", "ab c"), ("a b", "a b c d"), ("a  b", "a b"), ("", "x")]
    assert changed_words(*zip(*pairs, strict=True)) == [0, 1, 2, 2, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"each": 0}, "expected 1 or more for each, got 0"),
        ({"study": "taste"}, "expected meaning, validity, readability for study, got 'taste'"),
        ({"side": "target"}, "expected a run of a model that writes texts for side target, got labels"),
        ({"study": "validity", "side": "both"}, "expected side source for the study validity"),
        ({"degree": 0.3}, "expected a degree for the study readability alone"),
        ({"study": "readability", "degree": 0.4}, "expected a degree of the run .0.1, 0.3, 0.5., got 0.4"),
        ({"src": "x.txt"}, "expected runs or files .*, got both"),
        ({"controls": -1}, "expected 0 or more for controls"),
    ],
)
def test_wrong_options(run: Path, tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.judge_export(run, tmp_path / "kit", **options)
    assert not (tmp_path / "kit").exists()


def test_wrong_files(files: dict[str, str], tmp_path: Path) -> None:
    def export(**given: object) -> None:
        scuff.judge_export([], tmp_path / "kit", **given)

    short = tmp_path / "short.txt"
    short.write_text("one\n")
    with pytest.raises(ValueError, match=r"got 40 in .*src.txt, 1 in .*short.txt"):
        export(src=files["src"], adv_src={"a": str(short)})
    short.write_bytes(b"ok\nbro\xffken\n")
    with pytest.raises(ValueError, match=r"short.txt: line 2: expected UTF-8, got byte 0xff"):
        export(src=files["src"], adv_src={"a": str(short)})
    short.write_bytes(b"")
    with pytest.raises(ValueError, match=r"short.txt: expected a text at least, got none"):
        export(src=str(short), adv_src={"a": str(short)})
    with pytest.raises(ValueError, match="got nothing of that name"):
        export(src="gone.txt", adv_src={"a": str(short)})
    with pytest.raises(ValueError, match="expected --src and --adv-src for side source"):
        export(src=files["src"])
    with pytest.raises(ValueError, match="expected cases to judge, got none"):
        export(src=files["src"], adv_src={"a": files["src"]})
    with pytest.raises(ValueError, match="got neither"):
        export()
    with pytest.raises(ValueError, match="expected a run for the study validity, got files"):
        export(src=files["src"], adv_src={"a": files["knn"]}, study="validity")
    (tmp_path / "crlf.txt").write_bytes(Path(files["knn"]).read_bytes().replace(b"\n", b"\r\n"))
    export(src=files["src"], adv_src={"a": str(tmp_path / "crlf.txt")}, each=3)
    assert not any("\r" in item.after for item in read_key(tmp_path / "kit" / "key.json").items)
    with pytest.raises(ValueError, match="expected a new folder for the kit"):
        export(src=files["src"], adv_src={"a": files["knn"]})


def test_strata_of_files_that_are_short(files: dict[str, str], tmp_path: Path) -> None:
    adv = {"b": files["knn"], "a": files["swaps"]}
    kit = scuff.judge_export([], tmp_path / "kit", src=files["src"], adv_src=adv, each=14)
    assert list(kit.short.items()) == [(f"{a}, {n} edit{'s' * (n > 1)}", 13) for a in "ab" for n in (1, 2, 3)]
    given = {name: files[name] for name in ("src", "ref", "out")}
    more = {"adv_src": {"a": files["knn"]}, "adv_out": {"a": files["adv"]}}
    kit = scuff.judge_export([], tmp_path / "target", side="target", each=14, **given, **more)
    assert list(kit.short) == [
        f"outputs of a, {n}" for n in ("1 edit", "2 edits", "3 edits")
    ]  # not the outputs before the attack


def test_runs_are_each_there_once(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected each run once, got .*run twice"):
        scuff.judge_export([run, run / ".." / run.name], tmp_path / "kit")
    shutil.copytree(run, tmp_path / "other")
    kit = scuff.judge_export([run, tmp_path / "other"], tmp_path / "kit", study="validity", each=500)
    assert {name.partition(":")[0] for name in kit.short if " at " in name} == {"run", "other"}


def test_names_of_outputs_are_those_of_inputs(files: dict[str, str], tmp_path: Path) -> None:
    given = {name: files[name] for name in ("src", "ref")}
    with pytest.raises(ValueError, match=r"expected a name of --adv-src .x. for --adv-out, got 'y'"):
        scuff.judge_export(
            [], tmp_path / "k", side="both", adv_src={"x": files["knn"]}, adv_out={"y": files["adv"]}, **given
        )


def test_files_may_be_compressed_or_in_another_encoding(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected - .standard input. for one file, got it for several"):
        scuff.judge_export([], tmp_path / "k", src="-", adv_src={"a": "-"})
    (tmp_path / "a.gz").write_bytes(gzip.compress(Path(files["knn"]).read_bytes()))
    for name in ("src", "knn"):
        text = Path(files[name]).read_text().replace("cat", "Kätzchen")
        (tmp_path / f"{name}.latin").write_text(text, encoding="latin-1")
    zipped = scuff.judge_export([], tmp_path / "z", src=files["src"], adv_src={"a": str(tmp_path / "a.gz")})
    assert any("catx" in item.after for item in zipped.key.items)
    adv = {"a": str(tmp_path / "knn.latin")}
    kit = scuff.judge_export([], tmp_path / "l", src=str(tmp_path / "src.latin"), adv_src=adv, encoding="latin-1")
    assert any("Kätzchenx" in item.after for item in kit.key.items)


@pytest.mark.parametrize("study", ["meaning", "readability"])
def test_nobody_sees_an_empty_box(study: str, tmp_path: Path) -> None:
    texts = {
        "src": ["a b", "c d", "", "e f", "g h"],
        "x": ["a x", " ", "x", "e x", "g x"],
        "y": ["a y", "c y", "y", "", "g y"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    adv = {name: str(tmp_path / name) for name in "xy"}
    kit = scuff.judge_export([], tmp_path / "kit", study=study, src=str(tmp_path / "src"), adv_src=adv)
    assert all(item.before.strip() and item.after.strip() for item in kit.key.items)
    found = Counter(item.attack for item in kit.key.items if item.part == "study")
    assert found == ({"x": 3, "y": 3} if study == "meaning" else {"x": 2, "y": 2})


def test_controls_are_each_there_once(run: Path, files: dict[str, str], tmp_path: Path) -> None:
    kit = scuff.judge_export([], tmp_path / "kit", src=files["src"], adv_src={"a": files["knn"]}, controls=10_000)
    pairs = Counter((item.before, item.after) for item in kit.key.items if item.part == "control")
    assert set(pairs.values()) == {1} and len(pairs) == kit.short["controls"] == 2 * 39
    adv = {"adv_src": {"a": files["knn"]}, "adv_out": {"a": files["adv"]}}
    given = {name: files[name] for name in ("src", "ref", "out")}
    both = scuff.judge_export([], tmp_path / "both", side="both", controls=10_000, **given, **adv).key.items
    pairs = Counter((item.before, item.after) for item in both if item.part == "control")
    assert set(pairs.values()) == {1} and len(pairs) == 2 * (
        39 + 40
    )  # the last line, which is not attacked, is an output
    few = scuff.judge_export(run, tmp_path / "few", study="validity", each=3, controls=7)
    controls = [item for item in few.key.items if item.part == "control"]
    label = {item.before: item.label for item in few.key.items if item.part == "study"}
    assert Counter(item.accept for item in controls) == {(1,): 4, (0,): 3} and "controls" not in few.short
    assert all(label[item.before] != label[item.after] for item in controls if item.accept == (0,))
