"""What `scuff.compare` returns: runs side by side, with what was won and lost."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

from .compared import Compared, Material
from .comparison import comparison_cell, comparison_page
from .comparison_tables import FIELDS, comparison_markdown, comparison_rows, comparison_table, worse
from .comparison_words import comparison_verdict, comparison_words


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs compared with the first of them. `print(comparison)` shows the table; `content` has every number.

    In a notebook it shows itself; `to_pandas()` is a table with a row for each score of each run.
    """

    material: Material

    def __str__(self) -> str:
        return comparison_table(self.content)

    def __repr__(self) -> str:
        return f"<scuff.Comparison of {len(self.content['runs'])} runs: {self.verdict}>"

    @property
    def content(self) -> Compared:
        """Everything that was found, as `--json` writes it."""
        return self.material.content

    @property
    def verdict(self) -> str:
        """One line: which run is more robust, by how much, and at what price."""
        return comparison_verdict(self.content)

    @property
    def words(self) -> list[str]:
        """More sentences about a pair."""
        return comparison_words(self.content)

    @property
    def worse(self) -> list[str]:
        """What is surely worse than in the first run, a line each; [] if nothing is."""
        return worse(self.content)

    def table(self, width: int) -> str:
        """The table in lines of at most `width` letters."""
        return comparison_table(self.content, width)

    @property
    def html(self) -> str:
        """The page, as one file."""
        return comparison_page(self.material)

    def _repr_html_(self) -> str:
        return comparison_cell(self.material)

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each score of each run. Raises MissingResource if pandas is not installed."""
        from .frames import frame

        return frame(comparison_rows(self.content))[list(FIELDS)]

    @property
    def markdown(self) -> str:
        """The comparison as Markdown, with the tables of RobTest's comparison report."""
        return comparison_markdown(self.material)

    @property
    def csv(self) -> str:
        """A row for each score of each run."""
        out = io.StringIO()
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(comparison_rows(self.content))
        return out.getvalue()

    @property
    def json(self) -> str:
        """Every number."""
        return json.dumps({**self.content, "verdict": self.verdict}, indent=1, ensure_ascii=False) + "\n"
