"""Protection and combination."""

from __future__ import annotations

import pytest

import scuff
from scuff import OneOf, Only, Protect, Then
from scuff.perturbations.drop import Truncate
from scuff.perturbations.intrude import Intrude
from scuff.perturbations.keyboard import Keyboard
from scuff.perturbations.segment import Segment
from scuff.perturbations.shuffle import InnerShuffle

KINDS = {
    "urls": (
        "see https://example.org/path?q=1, or www.example.com.",
        ["https://example.org/path?q=1", "www.example.com"],
    ),
    "emails": ("write to first.last+tag@mail.example.org today", ["first.last+tag@mail.example.org"]),
    "mentions": ("thanks @some_user and me@example.org", ["@some_user"]),
    "hashtags": ("so #happy_day today", ["#happy_day"]),
    "numbers": ("paid 1,299.50 on 12/03/2024 at 10:30, 5% off", ["1,299.50", "12/03/2024", "10:30", "5%"]),
    "placeholders": (
        "Dear {name}, ${sum} %s <user> [MASK] {{x}}",
        ["{name}", "${sum}", "%s", "<user>", "[MASK]", "{{x}}"],
    ),
    "word:new york": ("In New York, newyork, NEW YORK!", ["New York", "NEW YORK"]),
    "re:[A-Z]{2}\\d+": ("policy AB1234 and AB12", ["AB1234", "AB12"]),
}


@pytest.mark.parametrize("rule", KINDS)
def test_kinds_find_what_they_say(rule: str) -> None:
    text, wanted = KINDS[rule]
    found = sorted(Protect((rule,)).matches(text))
    assert [text[a:b] for a, b in found] == wanted
    for perturbation in ("inner-shuffle", "keyboard", "intrude", "segment", "truncate"):
        new = scuff.perturb(text, perturbation, 1, protect=[rule], selection="quota")
        assert all(part in new for part in wanted)
        assert [new[a:b] for a, b in sorted(Protect((rule,)).matches(new))] == wanted


def test_neighbours_may_not_be_glued_to_what_is_protected() -> None:
    assert scuff.perturb("big cat sat here", Segment(), 1, protect="word:cat") == "big cat sathere"


def test_patterns_that_look_around_are_checked_after_the_edit() -> None:
    # the pattern needs the untouched word before it: perturbing that word would take the protection away
    rule = "re:(?<=amount )\\w+"
    for seed in range(20):
        new = scuff.perturb("the amount payable remains", InnerShuffle(), 1, seed=seed, protect=[rule])
        assert "amount payable" in new and new.endswith(new.split()[-1]) and new.split()[-1] != "remains"


def test_only_what_breaks_a_match_is_taken_back() -> None:
    text = "Dr. Smith met 5 people and 6 cats near 7 large houses with 8 wonderful windows plus 9 doors " * 3
    rules = ["numbers", r"re:(?<=Dr\. )\w+"]
    counts = [len(scuff.perturb(text, "keyboard", 0.5, seed=s, protect=rules, return_edits=True)[1]) for s in range(10)]
    assert min(counts) >= 22


def test_patterns_over_long_texts_take_no_quadratic_time() -> None:
    text = "start " + "wonderful letters " * 4000 + "zebra"
    new = scuff.perturb(text, "keyboard", 1, protect=[r"re:start(?=.*zebra$)"])
    assert new.startswith("start ") and new.endswith("zebra")
    assert len(scuff.perturb("a" * 60_000, "keyboard", protect=["emails"])) == 60_000


def test_words_beside_a_protected_mark_may_change() -> None:
    assert scuff.perturb("hello, there!", Truncate(), 1, protect=["re:[,!]"]) == "hell, ther!"


def test_spans_of_each_text() -> None:
    guard = Protect(spans=(((0, 5),), ()))
    first, second = scuff.perturb(["hello world", "hello world"], InnerShuffle(), 1, protect=guard)
    assert first.startswith("hello ") and first != "hello world" and not second.startswith("hello")
    with pytest.raises(ValueError, match="expected a span inside the 2 characters of text 0"):
        scuff.perturb(["ab"], Truncate(), 1, protect=Protect(spans=(((0, 5),),)))
    with pytest.raises(ValueError, match="expected protected spans for each of 2 texts"):
        scuff.perturb(["ab", "cd"], Truncate(), 1, protect=Protect(spans=((),)))


@pytest.mark.parametrize("rule", ["url", "word:", "re:[", "nonsense"])
def test_wrong_rules(rule: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Protect((rule,))


def test_then_finds_words_where_they_went() -> None:
    perturbation = Then((Intrude(symbols=" ", phi=1.0), Truncate()))
    # intruded words stay single words for what follows: one letter is cut off each, not one off each piece
    assert scuff.perturb("hello world", perturbation, 1) == "h e l l  w o r l "
    assert scuff.perturb("one two", Then((Segment(), Truncate(keep=2))), 1) == "ontw"


def test_then_gives_one_list_of_edits() -> None:
    new, edits = scuff.perturb("hello brave world", Then((Truncate(), Segment())), 1, return_edits=True)
    assert new == "hellbravworl"
    assert [(e.old, e.new) for e in edits] == [
        ("hello", "hell"), (" ", ""), ("brave", "brav"), (" ", ""), ("world", "worl"),
    ]  # fmt: skip


def test_same_perturbation_twice_draws_twice() -> None:
    seen = {scuff.perturb("abcdefghij", Then((InnerShuffle(), InnerShuffle())), 1, seed=s) for s in range(20)}
    assert len(seen) == 20


def test_one_of_per_word_and_per_text() -> None:
    parts = (Truncate(), Intrude(symbols="*", phi=1.0))
    text = " ".join(["hello"] * 8)
    per_word = scuff.perturb([text] * 50, OneOf(parts), 1, ids=range(50))
    assert {word for t in per_word for word in t.split()} == {"hell", "h*e*l*l*o"}
    assert any(len(set(t.split())) == 2 for t in per_word)
    per_text = scuff.perturb([text] * 50, OneOf(parts, per="text"), 1, ids=range(50))
    assert {len(set(t.split())) for t in per_text} == {1} and len(set(per_text)) == 2


def test_only_some_words() -> None:
    perturbation = Only(Keyboard(phi=1.0), ("hashtags", "word:good"))
    new = scuff.perturb("a good day #sunny good", perturbation, 1)
    assert new.split()[0] == "a" and new.split()[2] == "day" and "good" not in new and "sunny" not in new
    half = scuff.perturb("good good good good bad bad bad bad", Only(Truncate(), ("word:good",)), 0.5)
    assert half.split().count("goo") == 2 and half.endswith("bad bad bad bad")
    assert scuff.perturb("a b c d", Only(Segment(), ("re:b c",)), 1) == "a bc d"


NUMBERS = [
    "$40.3M",
    "7.4bn",
    "10k",
    "21st",
    "3/4",
    "12:30",
    "-3.5",
    "50%",
    "1,234.56",
    "€5",
    "100km",
    "12:30pm",
    "3pm",
    "10.30am",
    "1990s",
    "20mph",
    "5kg",
    "16GB",
    "60fps",
    "1080p",
    "30s",
    "5G",
    "3D",
    "30°C",
    "90km/h",
    "2x",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_with_their_units_stay(number: str) -> None:
    text = f"about {number} was paid there"
    new = scuff.perturb(text, "full-shuffle|keyboard", 1.0, protect=["numbers"])
    assert number in new and new != text


def test_edits_of_a_sequence_that_only_touch_stay_apart() -> None:
    text = "Paris is in France today"
    new, edits = scuff.perturb(text, "segment+intrude", 1, return_edits=True)
    assert " " not in new
    assert [edit.old for edit in edits if edit.old != " "] == ["Paris", "France", "today"]
    start, stop = scuff.map_span(edits, 12, 18)
    assert new[start:stop][::2] == "France"


def test_a_token_with_a_blank_changes_and_keeps_it() -> None:
    names = ("keyboard", "typo", "inner-shuffle", "natural", "intrude", "disemvowel", "homoglyph")
    for name in names:
        for seed in range(3):
            ((token, _),) = scuff.perturb_tokens([["New York", "wonderful"]], name, 1, seed=seed)
            assert token != "New York" and token.count(" ") == 1, name


def test_words_with_digits_are_no_numbers() -> None:
    assert not Protect(("numbers",)).matches("gr8 2nite 4ever b4 h2o 2fast")
