"""Text that LaTeX prints as it is, with any engine and without further packages."""

from __future__ import annotations

import unicodedata

SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "`": "{`}",
    "–": "--", "—": "---", "…": r"\ldots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "\u00a0": "~", "→": r"$\to$",
    "β": r"$\beta$", "×": r"$\times$", "±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}",
    "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ı": r"\i{}",
}  # fmt: skip
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".", "\u0308": '"',
    "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def latex(text: str) -> str:
    """Returns text with every sign that LaTeX would read as a command escaped; what its fonts lack as its number: [U+0416]."""
    return "".join(map(_character, unicodedata.normalize("NFC", text)))


def _character(char: str) -> str:
    if char in SIGNS:
        return SIGNS[char]
    if " " <= char <= "~":
        return char
    if char in "\n\t\r":
        return " "
    parted = unicodedata.normalize("NFD", char)
    base, mark = parted[0], parted[1:]
    if mark in ACCENTS and base.isascii() and base.isalpha():
        letter = f"\\{base}" if base in "ij" else base
        return f"\\{ACCENTS[mark]}{{{letter}}}"
    return f"{{[}}U+{ord(char):04X}{{]}}"
