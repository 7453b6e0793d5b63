"""Every rule of rewording rewords its examples, leaves other sentences alone, and holds for any text."""

from __future__ import annotations

import pytest
from hypothesis import given

from english.reworded import CHANGED, LEFT, any_text, reworded
from scuff.english.rewording import RULES, rewordings
from scuff.english.tagger import tagged


@pytest.mark.parametrize(("rule", "before", "after"), CHANGED)
def test_rewords(rule: str, before: str, after: str) -> None:
    assert after in reworded(rule, before)


@pytest.mark.parametrize(("rule", "text"), LEFT)
def test_leaves_alone(rule: str, text: str) -> None:
    assert not reworded(rule, text)


def test_every_rule_has_an_example() -> None:
    assert {rule for rule, *_ in CHANGED} == {rule.__name__ for rule in RULES}


def test_other_ones_stay_last() -> None:
    assert reworded("lists", "He likes apples, pears and other fruits.") == ["He likes pears, apples and other fruits."]


def test_headlines_are_no_sentences() -> None:
    """A headline may run on into the sentence; nothing may go to the front of both."""
    text = "Oracle Profit Rises Oracle Corp. reported a profit on Tuesday."
    assert not reworded("to_front", text)
    text = "Oil prices bubble to record high The company won a prize on Tuesday."
    assert reworded("to_front", text) == ["Oil prices bubble to record high On Tuesday, the company won a prize."]


@given(any_text)
def test_any_text(text: str) -> None:
    """Each rewording is inside the text and changes it."""
    for _, found in rewordings(text, tagged([text])[0]):
        assert 0 <= found.start < found.stop <= len(text)
        assert text[found.start : found.stop] != found.new and found.new == found.new.strip()
