"""Files that raters send back: as the page saves them, as spreadsheets mangle them, and wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import scuff
from judging.raters import by_meaning, by_validity, carefully, ranked, write_csv, write_json
from scuff.cli.main import main
from scuff.judging.items import Key, read_key
from scuff.judging.ratings import check_raters, read_ratings


@pytest.fixture(scope="module")
def kit(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit") / "kit"
    scuff.judge_export(run, folder, each=3)
    return folder


@pytest.fixture(scope="module")
def key(kit: Path) -> Key:
    return read_key(kit / "key.json")


@pytest.fixture(scope="module")
def ratings(key: Key) -> dict[str, int]:
    return carefully(key, by_meaning(0.5), 0)


def values(key: Key, *paths: str | Path) -> list[list[float]]:
    found: list[list[float]] = read_ratings(paths, key).values.tolist()
    return found


def test_all_forms_say_the_same(key: Key, ratings: dict[str, int], tmp_path: Path) -> None:
    plain = write_csv(tmp_path / "plain.csv", ratings)
    text = Path(plain).read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()]
    forms: dict[str, bytes] = {
        "bom.csv": b"\xef\xbb\xbf" + text.encode(),
        "crlf.csv": text.replace("\n", "\r\n").encode(),
        "semicolon.csv": text.replace(",", ";").encode(),
        "tab.tsv": text.replace(",", "\t").encode("utf-16"),
        "sep.csv": ("sep=;\r\n" + text.replace(",", ";")).encode(),
        "capitals.csv": text.upper().encode(),
        "quoted.csv": "".join(f'"{a}","{b}"\n' for a, b in rows).encode(),
        "float.csv": "".join(f"{a};{b if b == 'rating' else b + ',0'}\n" for a, b in rows).encode(),
        "turned.csv": "".join(f"x,{b},{a},Übel\n" for a, b in rows).replace("rating,id", " Rating ,ID", 1).encode("cp1252"),
        "blank.csv": (text.replace("\n", "\n,\n") + "\n\n").encode(),
        "order.csv": "\n".join([text.splitlines()[0], *reversed(text.splitlines()[1:])]).encode(),
        "page.json": json.dumps({"kit": key.kit, "rater": "", "ratings": ratings}).encode(),
    }  # fmt: skip
    wanted = values(key, plain)
    assert wanted == [[float(ratings[item.id]) for item in key.items]]
    for name, raw in forms.items():
        (tmp_path / name).write_bytes(raw)
        assert values(key, tmp_path / name) == wanted, name


def test_names_of_raters(key: Key, ratings: dict[str, int], tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_csv(tmp_path / folder / "rate.csv", ratings)
    json_file = write_json(tmp_path / "x.json", key, "Zoë", ratings)
    found = read_ratings([tmp_path / "a" / "rate.csv", tmp_path / "b" / "rate.csv", json_file], key)
    assert found.raters == ("a/rate", "b/rate", "Zoë")
    ids = list(ratings)
    (tmp_path / "two.csv").write_text(
        "rater,id,rating\n" + "".join(f"{who},{i},{ratings[i]}\n" for who in "pq" for i in ids)
    )
    assert read_ratings([tmp_path / "two.csv"], key).raters == ("p", "q")
    halves = [dict(list(ratings.items())[:9]), dict(list(ratings.items())[9:])]
    parts = [write_json(tmp_path / f"half{at}.json", key, "Zoë", half) for at, half in enumerate(halves)]
    assert values(key, *parts) == values(key, json_file)  # two sittings of one rater
    with pytest.raises(ValueError, match="expected each rater once, got 'Zoë' in two files"):
        read_ratings([json_file, parts[0]], key)


def test_partial_ratings(key: Key, ratings: dict[str, int], tmp_path: Path) -> None:
    some = dict(list(ratings.items())[:7])
    row = values(key, write_csv(tmp_path / "some.csv", some))[0]
    assert int(np.isfinite(row).sum()) == 7
    blank = {name: (value if name in some else "") for name, value in ratings.items()}
    assert np.array_equal(values(key, write_csv(tmp_path / "blank.csv", blank))[0], row, equal_nan=True)


BAD = {
    "another kit": ("id,rating\nzzzzzzz,4\n", "expected ratings of kit {kit}, got those of another: none of the ids"),
    "kit in a column": (
        "kit,id,rating\nqqqqqqqq,{id},4\n",
        "line 2: expected ratings of kit {kit}, got those of kit qqqqqqqq",
    ),
    "kit in json": ('{{"kit": "qq", "ratings": {{"{id}": 4}}}}', "expected ratings of kit {kit}, got those of kit qq"),
    "one unknown id": ("id,rating\n{id},4\nzzzzzzz,3\n", "line 3: expected an id of the key, got 'zzzzzzz'"),
    "twice": ("id,rating\n{id},4\n{id},3\n", "line 3: expected one rating of {id}, got 4 and 3"),
    "too high": ("id,rating\n{id},6\n", "line 2: expected a whole number from 0 to 5 for {id}, got '6'"),
    "negative": ("id,rating\n{id},-1\n", "got '-1'"),
    "half": ("id,rating\n{id},3.5\n", "got '3.5'"),
    "words": ("id,rating\n{id},four\n", "got 'four'"),
    "nan": ("id,rating\n{id},nan\n", "got 'nan'"),
    "nothing rated": ("id,rating\n{id},\n", "expected ratings, got none: the column rating is empty"),
    "empty": ("", "expected a table, got an empty file"),
    "head alone": ("id,rating\n", "expected ratings, got none"),
    "no column": ("id,score\n{id},4\n", "expected one column rating, got id, score"),
    "two columns": ("id,rating,rating\n{id},4,4\n", "expected one column rating"),
    "broken json": ('{{"kit": ', "got broken JSON"),
    "other json": ('{{"a": 1}}', "expected ratings as the page saves them, got other JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_ratings_are_one_line(
    name: str, kit: Path, key: Key, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, message = (text.format(id=key.items[0].id, kit=key.kit) for text in BAD[name])
    (tmp_path / "bad.csv").write_text(content, encoding="utf-8")
    assert main(["judge", "import", str(kit / "key.json"), str(tmp_path / "bad.csv")]) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith(f"scuff: {tmp_path}/bad.csv") and error.count("\n") == 1


def test_bad_keys(kit: Path, ratings: dict[str, int], tmp_path: Path) -> None:
    mine = write_csv(tmp_path / "mine.csv", ratings)
    good = (kit / "key.json").read_text(encoding="utf-8")
    for content, message in (
        (good.replace("stars", "stairs", 1).replace("The", "Teh", 1), "got one that was edited"),
        ("no json", "got no JSON"),
        ("[]", "got another file"),
        (good.replace('"version": 1', '"version": 2'), "expected a key that this version of Scuff wrote"),
        (good.replace('"items": [', '"things": ['), "expected a key that this version of Scuff wrote"),
    ):
        (tmp_path / "key.json").write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            scuff.judge_import(tmp_path / "key.json", mine)
    for path, message in (
        (tmp_path / "gone", "got nothing of that name"),
        (tmp_path, "got a folder"),
        (mine, "got no JSON"),
    ):
        with pytest.raises(ValueError, match=message):
            scuff.judge_import(path, mine)
    with pytest.raises(ValueError, match="expected files of ratings, got none"):
        scuff.judge_import(kit / "key.json", [])


def test_who_passes_the_controls(key: Key, ratings: dict[str, int], tmp_path: Path) -> None:
    always = dict.fromkeys(ratings, 5)  # right on equal pairs alone
    nine = {**ratings, next(item.id for item in key.items if item.part == "control" and item.accept[0] == 4): 0}
    without = {item.id: ratings[item.id] for item in key.items if item.part == "study"}
    people = {"good": ratings, "five": always, "nine": nine, "without": without}
    found = read_ratings([write_csv(tmp_path / f"{name}.csv", given) for name, given in people.items()], key)
    checks = {check.rater: check for check in check_raters(found, key, 0.8)}
    assert {name: check.controls for name, check in checks.items()} == {
        "good": (10, 10), "five": (5, 10), "nine": (9, 10), "without": (0, 0),
    }  # fmt: skip
    assert [check.passed for check in checks.values()] == [True, False, True, True]
    assert not check_raters(found, key, 0.95)[2].passed


def test_who_skips_the_qualification_does_not_pass(run: Path, tmp_path: Path) -> None:
    key = scuff.judge_export(run, tmp_path / "kit", study="validity", each=3).key
    whole = carefully(key, by_validity, 0)
    skipped = {item.id: whole[item.id] for item in key.items if item.part != "qualification"}
    files = [write_csv(tmp_path / "ann.csv", whole), write_csv(tmp_path / "ben.csv", skipped)]
    found = scuff.judge_import(tmp_path / "kit" / "key.json", files, encoder="chrf")
    assert [rater["kept"] for rater in found.content["raters"]] == [True, False]


def test_ranks_are_each_there_once(run: Path, tmp_path: Path) -> None:
    scuff.judge_export(run, tmp_path / "kit", study="readability", each=3)
    key = read_key(tmp_path / "kit" / "key.json")
    good = ranked(key, 1, 0)
    first = [item.id for item in key.items if item.group == 0]
    twice = {**good, first[0]: good[first[1]]}
    with pytest.raises(ValueError, match="twice: expected each rank once in set 1, got one twice"):
        scuff.judge_import(tmp_path / "kit" / "key.json", write_csv(tmp_path / "twice.csv", twice))
    with pytest.raises(ValueError, match="expected a whole number from 1 to 4"):
        scuff.judge_import(tmp_path / "kit" / "key.json", write_csv(tmp_path / "five.csv", {**good, first[0]: 5}))
    unfinished = {name: rank for name, rank in good.items() if name != first[0]}
    found = scuff.judge_import(tmp_path / "kit" / "key.json", write_csv(tmp_path / "most.csv", unfinished))
    assert found.content["texts"] == 2
