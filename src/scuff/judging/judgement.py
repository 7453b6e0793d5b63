"""What a study found, as the public function returns it: the tables in several forms, and the ratings behind them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .findings import Judged, item_rows
from .tables import as_markdown, as_rows, as_text


@dataclass(frozen=True, eq=False)
class Judgement:
    """What raters found. `print(judgement)` shows the tables; `content` has every number, `judged` the ratings themselves."""

    content: dict[str, Any]
    judged: Judged

    def __str__(self) -> str:
        return as_text(self.content)

    @property
    def markdown(self) -> str:
        """The tables, with the papers' figures beside ours."""
        return as_markdown(self.content)

    @property
    def json(self) -> str:
        return json.dumps(self.content, indent=1, ensure_ascii=False) + "\n"

    @property
    def csv(self) -> str:
        """Every item of the study with what it is, all ratings, the decided one and all metrics."""
        return as_rows(item_rows(self.judged))
