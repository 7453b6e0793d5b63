"""Writes the tables of docs/published.md from the one that --as-published reads: python build/published_page.py"""

from __future__ import annotations

from pathlib import Path

from scuff.perturbations.names import parse
from scuff.perturbations.published import PUBLISHED, ROBTEST, ZEROE, Published

PAGE = Path(__file__).parents[1] / "docs" / "published.md"


def table(paper: str) -> str:
    """The perturbations of a paper."""
    lines = [
        "| name | as published | section | our default differs | what differs even so, or is needed |",
        "|---|---|---|---|---|",
    ]
    lines += [_line(name, entry) for name, entry in PUBLISHED.items() if entry.paper == paper]
    return "\n".join(lines)


def _line(name: str, entry: Published) -> str:
    how = f", {entry.selection}" if entry.selection else ""
    rest = "; ".join(filter(None, [entry.remains, f"needs {entry.needs}" if entry.needs else ""]))
    return f"| `{name}` | `{entry.spec}`{how} | {entry.section} | {entry.differs or '-'} | {rest or '-'} |"


def elsewhere() -> str:
    """What the thesis and the published code say otherwise."""
    lines = ["| name | source | spec |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {source} | `{spec}`, {parse(spec).selection} |"
        for name, entry in PUBLISHED.items()
        for source, spec in entry.elsewhere
    ]
    return "\n".join(lines)


PARTS = {"zeroe": lambda: table(ZEROE), "elsewhere": elsewhere, "robtest": lambda: table(ROBTEST)}


def page(text: str) -> str:
    """The page with the tables as they must be."""
    for name, make in PARTS.items():
        begin, end = f"<!-- {name}: made by build/published_page.py -->", "<!-- end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{make()}\n\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
