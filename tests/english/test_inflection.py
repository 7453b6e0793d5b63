"""Lemmas and forms: real words only."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scuff.english import inflection
from scuff.english.inflection import FAMILY, cased_like, forms, inflected, lemma
from scuff.resources import MissingResource
from strategies import text


@pytest.mark.parametrize(
    ("word", "base", "others"),
    [
        ("watched/VBD", "watch", "watch watches watching"),
        ("Films/NNS", "film", "film"),
        ("film/NN", "film", "films"),
        ("is/VBZ", "be", "am are be been being was were"),
        ("have/VBP", "have", "had has having"),
        ("done/VBN", "do", "did do does doing"),
        ("best/JJS", "good", "better good"),
        ("well/RB", "well", "best better"),
        ("free/JJ", "free", "freer freest"),
        ("funny/JJ", "funny", "funnier funniest"),
        ("men/NNS", "man", "man"),
        ("area/NN", "area", "areas"),
        ("left/VBD", "leave", "leave leaves leaving"),
        ("found/VBD", "find", "find finding finds"),
        ("found/VB", "found", "founded founding founds"),
        ("saw/VBD", "see", "see seeing seen sees"),
        ("wake/VB", "wake", "wakes waking woke woken"),
        ("cut/VBD", "cut", "cuts cutting"),
        ("controlled/VBN", "control", "control controlling controls"),
        ("travelled/VBD", "travel", "travel traveling travels"),
        ("animated/JJ", "animated", ""),  # not a form of "animate": an adjective
        ("beautiful/JJ", "beautiful", ""),
        ("modern/JJ", "modern", ""),
        ("correctly/RB", "correctly", ""),
        ("wrong/JJ", "wrong", ""),
        ("news/NN", "news", ""),
        ("blogged/VBD", "blog", ""),  # not in the dictionary: a guess is good enough for a lemma only
        ("can/MD", "can", ""),
        ("Paris/NNP", "paris", ""),
        ("s/VBZ", "s", ""),
    ],
)
def test_forms(word: str, base: str, others: str) -> None:
    word, _, tag = word.partition("/")
    assert lemma(word, tag) == base
    assert forms(word, tag) == others.split()


def test_inflected() -> None:
    assert inflected("view", "VBD") == inflected("view", "VBN") == "viewed"
    assert [inflected("be", tag) for tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")] == (
        ["be", "are", "is", "was", "been", "being"]
    )
    assert inflected("child", "NNS") == "children" and inflected("sheep", "NNS") == "sheep"
    assert inflected("true", "JJR") == "truer" and inflected("quickly", "RB") == "quickly"
    assert (
        inflected("beautiful", "JJR") is None and inflected("view", "NNP") is None and inflected("qzx", "NNS") is None
    )


@example("é", "RBR")
@example("'s", "NNS")
@given(text | st.sampled_from(["mice", "geese", "ran", "largest", "O.K."]), st.sampled_from([*FAMILY, "NNP", "", "?"]))
def test_any_word_and_tag(word: str, tag: str) -> None:
    others = forms(word, tag)
    assert others == sorted(set(others)) and word.lower() not in others
    assert lemma(word, tag).islower() or not word.lower().islower()


def test_forms_lead_back_to_each_other() -> None:
    for word, tag, other in (("run", "VB", "VBD"), ("mouse", "NN", "NNS"), ("big", "JJ", "JJS"), ("far", "RB", "RBR")):
        form = inflected(word, other)
        assert form in forms(word, tag) and form is not None
        assert lemma(form, other) == word and word in forms(form, other)


def test_case() -> None:
    assert [cased_like("view", old) for old in ("Watch", "WATCH", "watch", "I", "wAtch", "", "李")] == (
        ["View", "VIEW", "view", "View", "view", "view", "view"]
    )
    assert cased_like("", "X") == ""


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    inflection._library.cache_clear()
    with pytest.raises(MissingResource, match=r"expected the package lemminflect.*scuff\[english\]"):
        forms("unheard-of-so-far", "NN")
    inflection._library.cache_clear()
