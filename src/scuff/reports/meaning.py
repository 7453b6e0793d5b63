"""The numbers of `scuff meaning` as a table for people, and as a line for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evaluation.meaning import MeaningSummary
from .formatting import many

ROWS = {
    "source_likeness": "source likeness (s_src)",
    "clean_score": "score before (s_tgt)",
    "attacked_score": "score under attack",
    "output_likeness": "likeness of outputs",
    "relative_decrease": "relative decrease (d_tgt)",
    "success": "success (S = s_src + d_tgt)",
    "succeeded": "succeeded",
}
WIDTH = max(map(len, ROWS.values()))
HEAD = f"{'':{WIDTH}}  {'mean':>8}  {'95 % interval':^18}  {'deviation':>9}  {'5 %':>8}  {'95 %':>8}"

WITHOUT_WIDTH = (
    "An interval without width: all lines have the same value, so resampling them cannot tell how sure it is."
)


def meaning_table(summary: MeaningSummary, scale: float = 1) -> str:
    """Returns all numbers as a table. scale: what scores are multiplied by."""
    lines = [many(summary["lines"], "line"), "", HEAD, *_rows(summary, summary, scale)]
    if "other" in summary:
        lines += ["", "the other attack", *_rows(summary["other"], summary, scale)]
        lines += ["", f"{'this attack less the other':{WIDTH}}  {'mean':>8}  {'95 % interval':^18}  {'p':>9}"]
        for name, entry in summary["comparison"].items():
            factor, p = (100 if name == "succeeded" else scale), entry["p"]
            shown = f"{p:9.3f}" if p >= 0.001 else f"{'< 0.001':>9}"
            what = f"{ROWS[name]}, %" if name == "succeeded" else ROWS[name]
            lines.append(f"{what:{WIDTH}}  {_value(entry['difference'], factor)}  {_interval(entry, factor)}  {shown}")
    lines.append("")
    if narrow := _without_width(summary):
        lines.append(f"{', '.join(narrow)}: {WITHOUT_WIDTH}")
    for name in ("source_metric", "target_metric"):
        if metric := summary.get(name):
            signature = f": {metric['signature']}" if metric["signature"] else ""  # type: ignore[index]
            lines.append(f"{name.partition('_')[0]}: {metric['title']}{signature}")  # type: ignore[index]
    return "\n".join(lines)


def _without_width(summary: MeaningSummary) -> list[str]:
    """The rows of which an interval has no width."""
    found = []
    other, comparison = summary.get("other", {}), summary.get("comparison", {})
    for part, of in ((summary, ""), (other, " of the other attack"), (comparison, ", difference")):
        for name, entry in part.items():
            if name in ROWS and entry["interval"][1] - entry["interval"][0] < 1e-12:  # type: ignore[index]
                found.append(f"{ROWS[name].partition(' (')[0]}{of}")
    return found


def _rows(entries: Mapping[str, Any], summary: MeaningSummary, scale: float) -> list[str]:
    lines = []
    for name, title in ROWS.items():
        entry = entries.get(name)
        if entry is None:
            continue
        if name == "succeeded":
            of = f"{entry['count']:,} of {summary['lines']:,}"
            title = f"{title} (S > {summary['threshold']:g}), %"
            lines.append(f"{title:{WIDTH}}  {_value(entry['share'], 100)}  {_interval(entry, 100)}  {of}")
            continue
        spread = f"{_value(entry['deviation'], scale):>9}  {_value(entry['p5'], scale)}  {_value(entry['p95'], scale)}"
        lines.append(f"{title:{WIDTH}}  {_value(entry['mean'], scale)}  {_interval(entry, scale)}  {spread}")
    return lines


def _value(value: float | None, scale: float) -> str:
    return f"{'-':>8}" if value is None else f"{value * scale:8.{_digits(scale)}f}"


def _interval(entry: Any, scale: float) -> str:
    low, high = (f"{value * scale:.{_digits(scale)}f}" for value in entry["interval"])
    return f"{f'[{low}, {high}]':^18}"


def _digits(scale: float) -> int:
    return 4 if scale < 10 else 2


def terse_line(summary: MeaningSummary, scale: float = 1) -> str:
    """Returns the means of s_src and d_tgt and the share that succeeded, those that there are, with tabs between them."""
    found = [summary[name]["mean"] for name in ("source_likeness", "relative_decrease") if name in summary]
    found += [summary["succeeded"]["share"]] if "succeeded" in summary else []
    return "\t".join(f"{value * scale:.{_digits(scale) + 1}f}" for value in found)
