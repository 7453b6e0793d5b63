"""Each perturbation on chosen words: what it may do, what it never does, and its options."""

from __future__ import annotations

import numpy as np
import pytest

import scuff
from scuff.perturbations.base import Perturbation
from scuff.perturbations.drop import Disemvowel, Truncate
from scuff.perturbations.intrude import Intrude
from scuff.perturbations.keyboard import Keyboard, layouts, neighbours
from scuff.perturbations.names import parse
from scuff.perturbations.segment import Segment
from scuff.perturbations.shuffle import FullShuffle, InnerShuffle

FIXED: list[tuple[Perturbation, str, str]] = [
    (Disemvowel(), "Adversarial attacks are harmless.", "dvrsrl ttcks are hrmlss."),
    (Disemvowel(), "aioue eau queue", "aioue eau q"),
    (Disemvowel(), "café CAFÉ cafe\u0301 naïve", "cf CF cf nv"),
    (Disemvowel(min_letters=3), "are", "r"),
    (Disemvowel(vowels="аеиоуыэюя"), "Привет товарищ", "Првт тврщ"),
    (Truncate(), "Adversarial attacks are harmless", "Adversaria attack are harmles"),
    (Truncate(letters=3), "harmless word", "harml wor"),
    (Truncate(keep=2), "are it", "ar it"),
    (Truncate(), "cafe\u0301s don't", "cafe\u0301 don'"),
    (Truncate(), "नमस्ते हैलो", "नमस्ते हैलो"),  # 3 and 2 letters, though 6 and 4 code points
    (Segment(), "a b, c d\ne\tf", "ab, cd\nef"),
    (Segment(), "一 二 ไทย", "一二ไทย"),
    (FullShuffle(), "aaa a 11 abab"[:8], "aaa a 11"),
    (InnerShuffle(), "the axxb abc", "the axxb abc"),
    (Keyboard(), "漢字 123", "漢字 123"),
]


@pytest.mark.parametrize(("perturbation", "before", "after"), FIXED, ids=lambda value: ascii(value)[:30])
def test_what_leaves_no_choice(perturbation: Perturbation, before: str, after: str) -> None:
    assert scuff.perturb(before, perturbation, 1.0) == after


def test_letters_are_clusters_and_connectors_stay() -> None:
    for seed in range(40):
        new = scuff.perturb("mother-in-law's", "full-shuffle", 1, seed=seed)
        assert [at for at, c in enumerate(new) if not c.isalpha()] == [6, 9, 13]
        assert sorted(new) == sorted("mother-in-law's")
        accents = scuff.perturb("e\u0301a\u0300b", "full-shuffle", 1, seed=seed)
        assert "e\u0301" in accents and "a\u0300" in accents and accents != "e\u0301a\u0300b"
        flags = "👨‍👩‍👧 ab"
        assert scuff.perturb(flags, "full-shuffle", 1, seed=seed) == "👨‍👩‍👧 ba"


def test_intrude_keeps_one_symbol_per_word_and_clusters_whole() -> None:
    for seed in range(40):
        new = scuff.perturb("क्षत्रिय", Intrude(symbols=".*"), 1, seed=seed)
        assert new in ("क्ष.त्रि.य", "क्ष*त्रि*य")
        assert scuff.perturb("ab", "intrude", 1, seed=seed) == "ab"
        assert len(scuff.perturb("ab", "intrude(min_letters=2)", 1, seed=seed)) == 3


def test_keyboards() -> None:
    assert len(layouts()) >= 10
    assert all(layout in str(Keyboard.__doc__) for layout in layouts())
    for layout in layouts():
        near = neighbours(layout, "all")
        letters = neighbours(layout)
        assert all(key in near[other] for key in letters for other in letters[key]), "touching is mutual"
        assert all(len(key) == 1 and key not in keys for key, keys in near.items())
    assert "ü" in neighbours("qwertz")["p"] and "Ü" in neighbours("qwertz")["P"]
    assert set(neighbours("azerty")["a"]) == set("zqé")
    assert "1" in neighbours("qwerty", "all")["q"] and "1" not in neighbours("qwerty")["q"]
    assert set(neighbours("turkish")["İ"]) >= {"Ş"} and "ı" in neighbours("turkish")["u"]


def test_no_keyboard_but_letters_at_random() -> None:
    near = neighbours("any")
    assert near == neighbours("any", "all") and len(near) == 52 and "any" in str(Keyboard.__doc__)
    assert all(
        len(set(keys)) == 25 and key not in keys and keys.isupper() == key.isupper() for key, keys in near.items()
    )
    seen = {scuff.perturb("Ab", Keyboard(layout="any", phi=1), 1, seed=seed) for seed in range(200)}
    assert len(seen) > 150 and all(new.istitle() and new[0] != "A" and new[1] != "b" for new in seen)
    assert parse("keyboard(layout='any')").spec == "keyboard(layout='any')"


def test_keyboard_neighbours_are_in_belinkov_and_bisks_list(shared: object) -> None:
    """Their list is wider (it counts keys two rows over); ours must be inside it, up to the two keys they forgot."""
    lines = (shared / "data/natural_errors/keyboard_en.tsv").read_text().splitlines()  # type: ignore[operator]
    theirs = {key: set(near.split()) for key, near in (line.split("\t") for line in lines)}
    ours = neighbours("qwerty", "all")
    missing = {(key, other) for key in theirs for other in ours[key] if other not in theirs[key]}
    assert len(missing) <= 8, missing
    assert sum(len(ours[key]) for key in theirs) > 100


BAD = {
    "keybord": "did you mean keyboard",
    "keyboard(layout='qwertzy')": "did you mean qwertz",
    "keyboard(layout='x')": "hebrew, any for keyboard.layout, got 'x'",
    "keyboard(phi=2)": r"expected a number in \[0, 1\] for keyboard.phi, got 2",
    "keyboard(keys='some')": "expected letters or all",
    "truncate(letters=0)": "expected a whole number above 0 for truncate.letters, got 0",
    "truncate(3)": "expected name",
    "truncate(letter=1)": "expected letters or keep for truncate, got 'letter'",
    "truncate(letters=": "expected name",
    "truncate(letters=__import__('os'))": "expected name",
    "intrude(symbols='')": "expected at least one character",
    "": "expected the name of a perturbation",
    "a+": "expected the name of a perturbation",
}


@pytest.mark.parametrize("spec", BAD, ids=lambda spec: spec or "empty")
def test_wrong_specs_say_what_was_expected(spec: str) -> None:
    with pytest.raises(ValueError, match=BAD[spec]):
        parse(spec)


@pytest.mark.parametrize("level", ["lo", "1.5", -0.1, float("nan"), "", "nan"])
def test_wrong_levels(level: str | float) -> None:
    with pytest.raises(ValueError, match="expected low, mid, high or a number"):
        scuff.perturb("text", "truncate", level)


def test_numbers_of_any_kind_are_the_same_seed() -> None:
    text = "some ordinary words"
    assert scuff.perturb(text, "keyboard", seed=np.int64(3), draw=np.int32(1)) == scuff.perturb(
        text, "keyboard", seed=3, draw=1
    )


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected str for text 1, got int"):
        scuff.perturb(["a", 3], "truncate")  # type: ignore[list-item]
    for ids in ([1, 2, 3], "ab"):
        with pytest.raises(ValueError, match="expected ids for each of 2 texts"):
            scuff.perturb(["a", "b"], "truncate", ids=ids)
    with pytest.raises(ValueError, match="expected at least one perturbation"):
        scuff.Then(())
    with pytest.raises(ValueError, match=r"expected word or text for one-of\.per"):
        scuff.OneOf((Truncate(),), per="txt")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected low, mid, high"):
        scuff.perturb("a", "truncate", None)  # type: ignore[call-overload]
    assert scuff.perturb((t for t in ["hello"]), "truncate", 1) == ["hell"]  # type: ignore[call-overload]


def test_no_strength_is_no_change_whatever_phi() -> None:
    assert scuff.perturb("a b c d", Segment(phi=0.9), 0) == "a b c d"


def test_wrong_selection() -> None:
    with pytest.raises(ValueError, match="expected quota, coin, each, below, edits, all for selection, got 'most'"):
        scuff.perturb("some text", "truncate", selection="most")


def test_specs_with_quotes_and_brackets() -> None:
    perturbation = parse("intrude(symbols='|+)(\\'')|truncate + segment")
    assert perturbation.spec == 'intrude(symbols="|+)(\'")|truncate+segment'
    assert parse(perturbation.spec) == perturbation
