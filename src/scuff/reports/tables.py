"""A table in the layout of a paper, and its forms: Markdown, LaTeX with booktabs, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..data.sheets import harmless
from ..runs.schema import Estimate
from .formatting import cell, markdown_row, percent, spread
from .latex import latex

PAGE = 40  # rows of a LaTeX table that fit on a page
NARROW = 12  # letters of the name of a column that stand on one line
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # a table that is too wide is made smaller


@dataclass(frozen=True)
class Value:
    """A number in a table: as it is printed, and itself with its interval, in the unit of the table."""

    text: str
    value: float | None = None
    interval: tuple[float | None, float | None] | None = None


Entry = str | Value


def in_percent(entry: Estimate, digits: int = 1, *, shows_interval: bool = False) -> Value:
    """Returns an estimate in percent."""
    low, high = (None if end is None else 100 * end for end in entry["interval"])
    value = entry["value"]
    text = spread(entry) if shows_interval else percent(value, digits)
    return Value(text, None if value is None else 100 * value, (low, high))


def texts(row: Sequence[Entry]) -> list[str]:
    """Returns a row as it is printed."""
    return [each.text if isinstance(each, Value) else each for each in row]


@dataclass(frozen=True)
class PaperTable:
    """A table. named: how many columns, the first ones, are names; the others are numbers.

    Rows of one group have the same first cell, which is printed once.
    """

    head: Sequence[str]
    named: int
    rows: Sequence[Sequence[Entry]]
    caption: str = ""
    note: str = ""

    def _printed(self) -> Iterator[tuple[bool, list[str]]]:
        """Yields whether a group begins, and a row as it is printed."""
        before = None
        for row in self.rows:
            first, *rest = texts(row)
            yield first != before, ["" if first == before else first, *rest]
            before = first

    def markdown(self) -> str:
        """Returns caption, table and note as Markdown."""
        rule = "|" + "---|" * self.named + "---:|" * (len(self.head) - self.named)
        lines = [cell(self.caption), ""] if self.caption else []
        lines += [markdown_row(self.head), rule, *(markdown_row(row) for _, row in self._printed())]
        return "\n".join([*lines, *(["", self.note] if self.note else [])]) + "\n"

    def latex(self) -> str:
        """Returns the table for a document that uses booktabs and graphicx; or, if it is longer than a page, longtable."""
        long = len(self.rows) > PAGE
        columns = "l" * self.named + "r" * (len(self.head) - self.named)
        head = " & ".join(map(_latex_head, self.head)) + r" \\"
        body, groups = [], 0
        for begins, row in self._printed():
            groups += begins
            body += [r"\addlinespace"] if begins and groups > 1 and self._grouped else []
            body.append(_latex_row(row))
        caption = [f"\\caption{{{latex(self.caption)}}}"] if self.caption else []
        note = [rf"\par\medskip\footnotesize {latex(self.note)}"] if self.note else []
        if long:
            top = [r"\toprule", head, r"\midrule"]
            return _lines(
                r"% \usepackage{booktabs,longtable}", r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
                f"\\begin{{longtable}}{{{columns}}}", *(f"{line}\\\\" for line in caption), *top, r"\endfirsthead", *top,
                r"\endhead", *body, r"\bottomrule", r"\end{longtable}", *(rf"\noindent{line}" for line in note), r"\endgroup",
            )  # fmt: skip
        return _lines(
            r"% \usepackage{booktabs,graphicx}", r"\begin{table}", r"\centering\small", *caption, FITTED,
            f"\\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}}",
            *note, r"\end{table}",
        )  # fmt: skip

    @property
    def _grouped(self) -> bool:
        """Whether some group has several rows."""
        firsts = [texts(row)[0] for row in self.rows]
        return len(set(firsts)) < len(firsts)

    def csv(self) -> str:
        """Returns the table as CSV: every name in every row, numbers as they were computed, each with its interval's ends."""
        wide = {
            at for row in self.rows for at, each in enumerate(row) if isinstance(each, Value) and each.interval is not None
        }  # fmt: skip
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        ends = [(title, f"{title} low", f"{title} high") for title in self.head]
        writer.writerow([name for at, names in enumerate(ends) for name in (names if at in wide else names[:1])])
        for row in self.rows:
            cells: list[str] = []
            for at, each in enumerate(row):
                if isinstance(each, Value):
                    low, high = each.interval or (None, None)
                    cells += [_number(each.value), *([_number(low), _number(high)] if at in wide else [])]
                else:
                    cells += [harmless(each) if each != "-" else "", *(["", ""] if at in wide else [])]
            writer.writerow(cells)
        return out.getvalue()


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _latex_head(name: str) -> str:
    """Returns the name of a column, on two lines if it is long."""
    words = name.split(" ")
    if len(name) <= NARROW or len(words) == 1:
        return latex(name)
    cut = min(range(1, len(words)), key=lambda at: abs(len(" ".join(words[:at])) - len(" ".join(words[at:]))))
    return f"\\shortstack{{{latex(' '.join(words[:cut]))}\\\\{latex(' '.join(words[cut:]))}}}"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(latex, cells)) + r" \\"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"
