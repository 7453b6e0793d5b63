"""The words for a change between two runs, which comparisons, hardenings and their tables share: won, lost, not decided."""

from __future__ import annotations

from ..runs.proof import Change

UNCLEAR, WON, LOST = "not decided", "won", "lost"
LEVEL = 0.05  # of tests
KEPT = 0.01  # a score that is surely not lower by more than this is kept


def verdict(change: Change, *, lower_is_better: bool = False) -> str:
    """Whether a score was won or lost: its interval is beside 0 and p, where it was tested, below LEVEL; else nobody knows."""
    low, high = change["interval"]
    p = change.get("p")
    if low is None or high is None or low <= 0 <= high or (p is not None and p >= LEVEL):
        return UNCLEAR
    return WON if (low > 0) != lower_is_better else LOST


def points(change: Change) -> str:
    """The difference in points with its interval: +3.1 [+1.2, +5.0]."""
    low, high = change["interval"]
    return f"{signed(change['difference'])} [{signed(low)}, {signed(high)}]"


def signed(value: float | None) -> str:
    return "-" if value is None else f"{round(100 * value, 1) + 0.0:+.1f}"  # + 0.0: no minus before a zero


def p_value(p: float | None) -> str:
    """p as it is printed: 0.034; below 0.001 as such; a dash for None, which was not tested."""
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
