"""Changed text with its changes marked, safe to put into a page."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Any


def visible(text: str) -> str:
    """Escaped; characters without a picture are shown as their numbers, line ends as marks."""
    out = []
    for char in text:
        if char == "\n":
            out.append('<span class="unseen">↵</span>')
        elif unicodedata.category(char) in ("Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp") and char != "\t":
            out.append(f'<span class="unseen">{ord(char):04X}</span>')
        else:
            out.append(escape(char))
    return "".join(out)


def marked(text: str, edits: list[list[Any]], most: int = 600) -> str:
    """A text with what was deleted and inserted; `edits` are (start, stop, new) in order. A long text is cut."""
    out: list[str] = []
    at = shown = 0
    for start, stop, new in edits:
        kept = text[at:start]
        if len(kept) > 160:  # far between changes: keep what stands beside them
            kept = (kept[:60] if out else "") + " … " + kept[-80:]
        out += [visible(kept), f"<del>{visible(text[start:stop])}</del>" if stop > start else ""]
        out.append(f"<ins>{visible(new)}</ins>" if new else "")
        at, shown = stop, shown + len(kept) + stop - start + len(new)
        if shown > most:
            return "".join(out) + " …"
    rest = text[at:]
    return "".join(out) + visible(rest if len(rest) <= 200 else rest[:160] + " …")
