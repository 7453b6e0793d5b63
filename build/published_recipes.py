"""Writes the table of recipes as published into docs/published.md: python build/published_recipes.py"""

from __future__ import annotations

from pathlib import Path

from scuff.attacks.published import PUBLISHED, Published

PAGE = Path(__file__).parents[1] / "docs" / "published.md"
BEGIN, END = "<!-- recipes: made by build/published_recipes.py -->", "<!-- end -->"


def table() -> str:
    """The recipes in their order."""
    lines = [
        "| recipe | source | parts as published | our default differs | what differs even so |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(name, entry) for name, entry in PUBLISHED.items())])


def _line(name: str, entry: Published) -> str:
    parts = [*entry.perturbations, *([entry.search] if entry.search else []), *entry.constraints]
    shown = [*(f"`{part}`" for part in parts), *(f"no `{part}`" for part in entry.without)]
    cells = (", ".join(shown), "; ".join(entry.differs), "; ".join(entry.remains.values()))
    return f"| `{name}` | {entry.paper}: {entry.where} | {' | '.join(cell or '-' for cell in cells)} |"


def filled(text: str) -> str:
    """The text with the table as it must be."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
