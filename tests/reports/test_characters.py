"""Characters that nobody can tell by looking have names; those that turn text around are shown as text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given

from reports.page import Page
from scuff.reports.characters import NAMED, deceptive, names_of, shown
from scuff.reports.page import Example, environment, marked
from strategies import text as nasty_text


@pytest.mark.parametrize(
    ("original", "new", "names"),
    [
        ("a good one", "о", ["о U+043E CYRILLIC SMALL LETTER O"]),
        ("a good one", "\u200b", ["U+200B ZERO WIDTH SPACE"]),
        ("a good one", "\u2009", ["U+2009 THIN SPACE"]),
        ("a good one", "\u0323", ["U+0323 COMBINING DOT BELOW"]),
        ("a good one", "ù", ["ù U+00F9 LATIN SMALL LETTER U WITH GRAVE"]),
        ("a good one", "xyz 1!", []),
        ("a good one 😀", "😁", []),
        ("добрый день", "о", []),
        ("добрый день", "о" + "c", []),
        ("schön", "ö", []),
    ],
)
def test_names(original: str, new: str, names: list[str]) -> None:
    assert names_of(deceptive(original, [new])) == names


def test_many_are_counted() -> None:
    letters = [chr(code) for code in range(0x430, 0x430 + NAMED + 5)]
    assert names_of(letters)[-1] == "and 5 more" and len(names_of(letters)) == NAMED + 1


def test_a_name_is_there_for_eyes_and_ears() -> None:
    page = Page(f"<p>{marked('good', [(1, 2, 'о')])}</p>")
    assert ("abbr", {"title": "U+043E CYRILLIC SMALL LETTER O"}) in page.tags
    example = Example("", ["good", "bad"], [(0, 1, 2, "о"), (1, 0, 0, "\u200d")])
    assert example.characters == ["о U+043E CYRILLIC SMALL LETTER O", "U+200D ZERO WIDTH JOINER"]


@given(nasty_text)
def test_plain_text_in_a_template_turns_nothing_around(text: str) -> None:
    """Neither markup nor control characters come through, wherever a template writes a text."""
    page = Page(environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text))
    assert not page.open and [tag for tag, _ in page.tags] == ["p"]
    assert page.text("p.") == shown(text) == page.tags[0][1]["title"]
    assert not any(unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
                   for char in shown(text))  # fmt: skip
