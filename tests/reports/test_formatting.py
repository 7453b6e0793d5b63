"""Markdown: names show as text."""

from __future__ import annotations

import pytest

from scuff.reports.formatting import cell


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b\nc", r"a\|b c"),
        ("<script>x</script>", r"\<script>x\</script>"),
        ("\x1b[2J\u202ea", r"\u001b[2J\u202ea"),
        ("<0.001, toy:sentiment + fast", "<0.001, toy:sentiment + fast"),
    ],
)
def test_a_cell_is_text(text: str, shown: str) -> None:
    assert cell(text) == shown
