"""Names the characters of changed texts that nobody can tell by looking: look-alikes, invisible ones, odd spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

UNSEEN = {"Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}  # Unicode categories of what is invisible by itself
MARKS = {"Mn", "Me"}  # those of what stands above, below or around a letter
PICTURES = 0x1F000  # emoji begin here
NAMED = 12  # characters of an example that are named at most
CONTROLS = re.compile(  # that hide or turn text around, and what no file may hold
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def is_unseen(char: str) -> bool:
    """Returns whether a character is invisible, or a space other than the usual one; accents of a letter before them are not."""
    return char not in " \t" and unicodedata.category(char) in UNSEEN


def shown(text: str) -> str:
    """Returns text without control characters, above all those that turn text around: `[U+202E]` stands for each."""
    return CONTROLS.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def named(char: str) -> str:
    """Returns number and name of a character: `U+043E CYRILLIC SMALL LETTER O`."""
    return f"U+{ord(char):04X} {unicodedata.name(char, '(no name)')}"


def is_deceptive(char: str, scripts: set[str]) -> bool:
    """Returns whether a character looks like another one or like nothing: of no script of the original text, a Latin letter
    beyond ASCII, a mark, a space, an invisible one. scripts: of the original text.
    """
    if char.isascii():
        return is_unseen(char) and char != "\n"
    category = unicodedata.category(char)
    if category in UNSEEN | MARKS:
        return True
    if category == "So" and ord(char) > PICTURES:  # looks like nothing else
        return False
    script = script_of(char)
    return script not in scripts or script == "LATIN"


def script_of(char: str) -> str:
    """Returns the first word of a character's name, which is its script for letters; "" if it has no name."""
    return unicodedata.name(char, "").partition(" ")[0]


def scripts_of(text: str) -> set[str]:
    """Returns the scripts of a text's letters."""
    return {script_of(char) for char in set(text)}


def deceptive(original: str, put_in: Iterable[str]) -> list[str]:
    """Returns the deceptive characters of the texts that were put into the original, in order, each once."""
    scripts = scripts_of(original)
    found = dict.fromkeys(char for text in put_in for char in text if char not in original)
    return [char for char in found if is_deceptive(char, scripts)]


def names_of(chars: list[str]) -> list[str]:
    """Returns `о U+043E CYRILLIC SMALL LETTER O` of each character, of many the first ones and how many there are more."""
    unseen = UNSEEN | MARKS
    names = [named(char) if unicodedata.category(char) in unseen else f"{char} {named(char)}" for char in chars]
    return names if len(names) <= NAMED else [*names[:NAMED], f"and {len(names) - NAMED} more"]
