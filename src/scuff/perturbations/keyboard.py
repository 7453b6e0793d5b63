"""Keyboard: letters replaced by neighbours on a keyboard."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from string import ascii_lowercase, ascii_uppercase
from typing import ClassVar, Literal

from ..resources import load
from .base import Facts
from .words import Choices, Substitute

ROW_START = (0.0, 1.5, 1.75, 1.25)  # where the first key of each row sits, in key widths: ISO 9995 stagger
ANY = "any"  # no keyboard: every letter from a to z touches every other


def layouts() -> dict[str, list[str]]:
    """The rows of keys of each layout."""
    found: dict[str, list[str]] = json.loads(load("keyboards.json"))
    return found


@cache
def neighbours(layout: str, keys: Literal["letters", "all"] = "letters", owner: str = "keyboard") -> dict[str, str]:
    """Each letter with the keys that touch its own, upper-case letters with upper-case ones. `owner`: for the error message."""
    if layout == ANY:
        return {key: letters.replace(key, "") for letters in (ascii_uppercase, ascii_lowercase) for key in letters}
    known = layouts()
    if layout not in known:
        near = get_close_matches(layout, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"expected one of {', '.join([*known, ANY])} for {owner}.layout, got {layout!r}{hint}")
    at = {
        key: (row, ROW_START[row] + column)
        for row, line in enumerate(known[layout])
        for column, key in enumerate(line)
        if key != " "
    }

    def touch(one: str, other: str) -> bool:
        (row, x), (other_row, other_x) = at[one], at[other]
        away = abs(x - other_x)
        return away == 1 if row == other_row else abs(row - other_row) == 1 and away < 1

    near_keys = {
        key: "".join(other for other in at if touch(key, other) and (keys == "all" or other.isalpha()))
        for key in at
        if key.isalpha()
    }
    upper = {key: "İ" if key == "i" and "ı" in at else key.upper() for key in near_keys}
    upper = {key: other for key, other in upper.items() if len(other) == 1 and other != key}
    near_upper = {  # σ and ς have one capital, which is not its own neighbour
        upper[key]: "".join(upper[k] for k in near_keys[key] if k in upper and upper[k] != upper[key]) for key in upper
    }
    return {key: near for key, near in {**near_upper, **near_keys}.items() if near}


@cache
def touching(layout: str, keys: Literal["letters", "all"] = "letters") -> Choices:
    """The neighbours of all letters as a table."""
    return Choices({ord(key): near for key, near in neighbours(layout, keys).items()})


@dataclass(frozen=True)
class Keyboard(Substitute):
    """Replace each letter of a word with probability phi by a letter on a key that touches its own, at least one.

    With `at_least_one=False` a chosen word may get none, as the paper has it. Case is kept. Only letters come in, as the
    paper says ("adjacent letters"); the key lists of Belinkov and Bisk that its code uses hold digits and punctuation too:
    `keys="all"`. The code changes exactly one letter: `phi=0`. Layouts:
    qwerty, qwertz, azerty, dvorak, colemak, spanish, italian, portuguese, swedish, danish, czech, turkish, russian,
    ukrainian, greek, hebrew; and `any`, in which every letter from a to z touches every other: letters at random.
    """

    phi: float | None = None
    layout: str = "qwerty"
    keys: Literal["letters", "all"] = "letters"
    at_least_one: bool = True

    name: ClassVar[str] = "keyboard"
    facts: ClassVar[Facts] = Facts(
        summary="replace letters by neighbours on the keyboard",
        paper="Zéroe 3.2; thesis 3.3.1; after Belinkov and Bisk 2018",
        example="Adverssrial attaxks are harmless.",
        scripts="those with a layout: Latin, Cyrillic, Greek, Hebrew",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keys not in ("letters", "all"):
            raise ValueError(f"expected letters or all for keyboard.keys, got {self.keys!r}")
        neighbours(self.layout, self.keys)

    def choices(self) -> Choices:
        return touching(self.layout, self.keys)
