"""Misspellings from lists."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import scuff
from scuff.perturb import Natural
from scuff.resources import MissingResource


def test_errors_come_from_the_list_and_keep_case(errors_file: Path) -> None:
    attack = Natural(errors=str(errors_file))
    seen = {scuff.perturb("The QUICK brown world World fox the", attack, 1, seed=seed) for seed in range(200)}
    words = [{text.split()[at] for text in seen} for at in range(7)]
    assert words[0] == {"Teh", "Hte"}
    assert words[1] == {"QIUCK", "QUIK", "QICK"}
    assert words[2] == {"bronw"}
    assert words[3] == {"world"}  # listed as a name only
    assert words[4] == {"Wrold"}
    assert words[5] == {"fox"}
    assert words[6] == {"teh", "hte"}


def test_errors_are_equally_likely(errors_file: Path) -> None:
    found = Counter(scuff.perturb(["quick"] * 3000, Natural(errors=str(errors_file)), 1, ids=range(3000)))
    assert set(found) == {"qiuck", "quik", "qick"} and all(abs(count - 1000) < 130 for count in found.values())


def test_codespell_backwards() -> None:
    pytest.importorskip("codespell_lib", reason="needs the extra scuff[natural]")
    new = scuff.perturb("their accommodation was definitely necessary", "natural", 1)
    assert new != "their accommodation was definitely necessary" and len(new.split(" ")) == 5


def test_an_edited_list_is_read_again(errors_file: Path) -> None:
    import os

    attack = Natural(errors=str(errors_file))
    assert scuff.perturb("fox", attack, 1) == "fox"
    errors_file.write_text("fox\tfxo\n", encoding="utf-8")
    os.utime(errors_file, (1, 1))
    assert scuff.perturb("fox", attack, 1) == "fxo"


def test_the_name_of_a_list_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "dictionary.txt").write_text("the\tteh\nsicak\tsıcak\n", encoding="utf-8")
    attack = Natural(errors=str(tmp_path / "dictionary.txt"))
    assert scuff.perturb("the SICAK", attack, 1) == "teh SICAK"


def test_wrong_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("the\tteh\nno tab here\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: expected word<TAB>error error"):
        scuff.perturb("the", Natural(errors=str(broken)), 1)
    broken.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="lines, got none"):
        scuff.perturb("the", Natural(errors=str(broken)), 1)
    broken.write_bytes(b"the\tt\xff\n")
    with pytest.raises(ValueError, match="expected UTF-8, got byte 0xff at byte 5"):
        scuff.perturb("the", Natural(errors=str(broken)), 1)
    with pytest.raises(FileNotFoundError):
        scuff.perturb("the", Natural(errors=str(tmp_path / "nowhere.tsv")), 1)


def test_a_missing_extra_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff import resources

    with pytest.raises(MissingResource, match=r"pip install 'scuff\[natural\]'"):
        resources.package_file("no-such-package", "x", extra="natural")


def test_the_slow_version_agrees_on_real_lists(shared: Path) -> None:
    """Every word of Belinkov and Bisk's English list is found and gets one of its errors."""
    path = shared / "data/natural_errors/en.tsv"
    table = {w: set(e.split()) for w, e in (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())}
    words = [word for word in table if word.isalpha()]
    new = scuff.perturb(words, Natural(errors=str(path)), 1)
    wrong = [word for word, error in zip(words, new, strict=True) if error not in table[word]]
    only_case = [
        word for word in wrong if all(word.lower() == e.lower() or word.upper() == e.upper() for e in table[word])
    ]
    assert len(words) > 10_000 and len(wrong) == len(only_case)
