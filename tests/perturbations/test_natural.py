"""Misspellings from lists."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from rapidfuzz.distance import OSA

import scuff
from scuff.perturbations.natural import Natural
from scuff.resources import MissingResource, load


def test_errors_come_from_the_list_and_keep_case(errors_file: Path) -> None:
    perturbation = Natural(errors=str(errors_file), listed=True)
    seen = {scuff.perturb("The QUICK brown world World fox the", perturbation, 1, seed=seed) for seed in range(200)}
    words = [{text.split()[at] for text in seen} for at in range(7)]
    assert words[0] == {"Teh", "Hte"}
    assert words[1] == {"QIUCK", "QUIK", "QICK"}
    assert words[2] == {"bronw"}
    assert words[3] == {"world"}  # listed as a name only
    assert words[4] == {"Wrold"}
    assert words[5] == {"fox"}
    assert words[6] == {"teh", "hte"}


def test_errors_are_equally_likely(errors_file: Path) -> None:
    found = Counter(scuff.perturb(["quick"] * 3000, Natural(errors=str(errors_file), listed=True), 1, ids=range(3000)))
    assert set(found) == {"qiuck", "quik", "qick"} and all(abs(count - 1000) < 130 for count in found.values())


def test_codespell_backwards() -> None:
    pytest.importorskip("codespell_lib", reason="needs the extra scuff[natural]")
    new = scuff.perturb("their accommodation was definitely necessary", "natural(errors='codespell')", 1)
    assert new != "their accommodation was definitely necessary" and len(new.split(" ")) == 5


def test_an_edited_list_is_read_again(errors_file: Path) -> None:
    import os

    perturbation = Natural(errors=str(errors_file), listed=True)
    assert scuff.perturb("fox", perturbation, 1) == "fox"
    errors_file.write_text("fox\tfxo\n", encoding="utf-8")
    os.utime(errors_file, (1, 1))
    assert scuff.perturb("fox", perturbation, 1) == "fxo"


def test_the_name_of_a_list_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "dictionary.txt").write_text("the\tteh\nsicak\tsıcak\n", encoding="utf-8")
    perturbation = Natural(errors=str(tmp_path / "dictionary.txt"), listed=True)
    assert scuff.perturb("the SICAK", perturbation, 1) == "teh SICAK"


def test_wrong_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("the\tteh\nno tab here\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: expected word<TAB>error error"):
        scuff.perturb("the", Natural(errors=str(broken), listed=True), 1)
    broken.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="lines, got none"):
        scuff.perturb("the", Natural(errors=str(broken), listed=True), 1)
    broken.write_bytes(b"the\tt\xff\n")
    with pytest.raises(ValueError, match="expected UTF-8, got byte 0xff at byte 5"):
        scuff.perturb("the", Natural(errors=str(broken), listed=True), 1)
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
    new = scuff.perturb(words, Natural(errors=str(path), listed=True), 1)
    wrong = [word for word, error in zip(words, new, strict=True) if error not in table[word]]
    only_case = [
        word for word in wrong if all(word.lower() == e.lower() or word.upper() == e.upper() for e in table[word])
    ]
    assert len(words) > 10_000 and len(wrong) == len(only_case)


def test_a_list_comes_first_and_the_rules_do_the_rest(errors_file: Path) -> None:
    new = scuff.perturb("the fox", Natural(errors=str(errors_file)), 1)
    assert new.split()[0] in ("teh", "hte") and new.split()[1] != "fox"


def test_every_word_can_be_misspelt_and_no_two_alike() -> None:
    """A word without listed errors gets learnt ones."""
    seen = {scuff.perturb("Acclimatization", "natural", 1, seed=seed) for seed in range(200)}
    assert (
        len(seen) > 60
        and "Acclimatization" not in seen
        and all(word[:1].isupper() or word[0] != "a" for word in seen if word)
    )


FAMOUS = {
    "their": "thier", "separate": "seperate", "receive": "recieve", "definitely": "definately", "until": "untill",
    "weird": "wierd", "occurred": "occured", "believe": "beleive", "the": "teh", "argument": "arguement", "don't": "dont",
    "because": "becuase", "government": "goverment", "it's": "its", "your": "you're", "lose": "loose",
}  # fmt: skip


def test_famous_errors_are_drawn_as_often_as_people_make_them() -> None:
    for word, error in FAMOUS.items():
        found = Counter(scuff.perturb([word] * 300, "natural", 1, ids=range(300)))
        assert found[error] > 100 and found.most_common(2)[0][1] < 301, (word, found)
    assert scuff.perturb("Separate SEPARATE", "natural", 1) == "Seperate SEPERATE"
    assert scuff.perturb("don’t", "natural", 1) in ("dont", "donot")


def test_short_words_get_slips_of_the_hand_only() -> None:
    """it to ited, not to noted are other words, not errors."""
    short = [
        "it",
        "is",
        "in",
        "of",
        "as",
        "at",
        "he",
        "we",
        "or",
        "if",
        "by",
        "my",
        "not",
        "was",
        "for",
        "but",
        "she",
        "door",
    ]
    drawn = {
        (word, new)
        for seed in range(80)
        for word, new in zip(short, scuff.perturb(short, "natural", 1, seed=seed), strict=True)
    }
    for word, new in drawn:
        confused = (word, new) in {("of", "off")}
        assert OSA.distance(word, new) == 1 and abs(len(new) - len(word)) <= 1, (word, new)
        assert confused or len(word) > 2 or new in (word[::-1], word[0] * 2 + word[1], word + word[1]), (word, new)
    long = ["attack", "harbour", "zebra", "orchid", "lantern"]
    assert all(
        len(new) <= len(word) + 3  # two edits at most, each of one letter more
        for seed in range(80) for word, new in zip(long, scuff.perturb(long, "natural", 1, seed=seed), strict=True)
    )  # fmt: skip


def test_clitics_written_apart_stay_and_contractions_lose_their_apostrophe() -> None:
    text = "it 's odd , they do n't and we 'll see what she 'd say , I 'm sure you 've and they ’re ready"
    clitics = ["'s", "n't", "'ll", "'d", "'m", "'ve", "’re"]
    for spec in ("natural", "phonetic", "phonetic(phi=1)", "phonetic(slight=True)"):
        for seed in range(30):
            new = scuff.perturb(text, spec, 1, seed=seed).split()
            assert [token for token in new if token in clitics] == clitics, new
            tokens = scuff.perturb_tokens([text.split()], spec, 1, seed=seed)[0]
            assert [token for token in tokens if token in clitics] == clitics
    assert scuff.perturb("s t I a U.S. B", "phonetic", 1) == "s t I a U.S. B", "no names of letters"


def test_shipped_errors_are_words_with_counts() -> None:
    lines = load("natural-errors.txt").decode().split("\n")
    assert len(lines) > 2_000 and lines == sorted(lines, key=lambda line: line.split("\t")[0])
    for line in lines:
        word, _, errors = line.partition("\t")
        pairs = [pair.split(":") for pair in errors.split(" ")]
        assert all(error and error != word and int(count) > 0 for error, count in pairs), line


def test_learnt_errors_are_more_human_than_keyboard_slips(shared: Path) -> None:
    """Words of codespell's dictionary, which the statistics were not learnt from: how often is one of 5 samples a real error?"""
    pytest.importorskip("codespell_lib", reason="needs the extra scuff[natural]")
    from scuff.perturbations.natural import _codespell
    from scuff.resources import package_file

    listed = {
        line.split("\t")[0] for line in (shared / "data/natural_errors/en.tsv").read_text(encoding="utf-8").splitlines()
    }
    errors: dict[str, set[str]] = {}
    for word, error in _codespell(package_file("codespell", "codespell_lib/data/dictionary.txt", extra="natural")):
        if word.isascii() and word.isalpha() and word.islower() and word not in listed:
            errors.setdefault(word, set()).add(error)
    words = sorted(errors)[::20]

    def hits(perturbation: str) -> float:
        drawn = [scuff.perturb(words, perturbation, 1, seed=seed) for seed in range(5)]
        return sum(bool({d[at] for d in drawn} & errors[word]) for at, word in enumerate(words)) / len(words)

    assert hits("natural") > 0.2 > 4 * hits("keyboard(phi=0)")


def test_case_is_kept_by_position() -> None:
    for seed in range(300):
        title, shout, name = scuff.perturb("Aback LONDON PhD", "natural", 1, seed=seed).split()
        assert title[0].isupper() and title[1:].islower()
        assert shout.isupper() and name[0].isupper()


def test_nothing_is_known_of_other_letters() -> None:
    for seed in range(50):
        assert "ï" in scuff.perturb("naïve", "natural", 1, seed=seed)
        assert "é" in scuff.perturb("fiancés", "phonetic", 1, seed=seed)
        assert "-" in scuff.perturb("re-vamps", "phonetic", 1, seed=seed)


def test_options_that_do_not_go_together() -> None:
    assert scuff.perturb("separate lantern", "natural(listed=True)", 1) == "seperate lantern", "the shipped list"
    for spec in ("natural(errors=5)", "natural(errors='')", "natural(listed=1)"):
        with pytest.raises(ValueError, match="expected"):
            scuff.parse(spec)


def test_short_words_keep_their_first_letter_and_words_with_digits_stay() -> None:
    words = ["hire", "are", "grey", "lamp", "fork", "plumb", "knelt", "sofa"]
    for seed in range(60):
        for old, new in zip(words, scuff.perturb(words, "natural", 1, seed=seed), strict=True):
            assert new != old
            assert new[0] == old[0] or new[:2] == old[1] + old[0]
    assert scuff.perturb("5th 1990s 3D mp3 2nd", "natural", 1) == "5th 1990s 3D mp3 2nd"
