"""What restoration is measured by: words of the original that are back in the mended text, in order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from scuff.metrics.interval import percentile_interval, resamples

WORD = re.compile(r"\w+(?:['’-]\w+)*")
# of a row, which is of one text
COLUMNS = ("words", "restored", "changed", "mended", "harmed", "noisy", "left", "exact", "alike", "texts")
RESAMPLES, SEED = 500, 0
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def words(text: str) -> list[str]:
    """The words of a text, in their case. Both apostrophes are one, so that no tool is charged for that."""
    return WORD.findall(text.replace("’", "'"))


def lost(original: Sequence[str], after: Sequence[str]) -> set[int]:
    """Which words of the original are not in the longest common subsequence of words."""
    if list(original) == list(after):
        return set()
    return {op.src_pos for op in LCSseq.editops(original, after) if op.tag == "delete"}


def row(original: str, attacked: str, mended: str) -> list[int]:
    """The counts of one text.

    words: of the original; restored: of these, in the mended text; changed: not in the attacked text; mended: of the changed
    ones, in the mended text; harmed: in the attacked, not in the mended text; noisy: words of the attacked text that are not of
    the original; left: of the noisy ones, still in the mended text; exact: the whole text is back, byte for byte; alike: the
    same but for case.
    """
    true, seen, now = words(original), words(attacked), words(mended)
    changed, missing = lost(true, seen), lost(true, now)
    noisy = lost(seen, true)
    return [
        len(true), len(true) - len(missing), len(changed), len(changed - missing), len(missing - changed),
        len(noisy), len(noisy - lost(seen, now)), int(mended == original), int(mended.lower() == original.lower()), 1,
    ]  # fmt: skip


def shares(rows: Ints) -> dict[str, float]:
    """Shares of a cell from the rows of its texts; nan where there is nothing to divide by."""
    total = dict(zip(COLUMNS, rows.sum(0).tolist(), strict=True))
    return {
        "restored": _over(total["restored"], total["words"]), "mended": _over(total["mended"], total["changed"]),
        "changed": _over(total["changed"], total["words"]), "exact": _over(total["exact"], total["texts"]),
        "alike": _over(total["alike"], total["texts"]),
        "harmed": _over(total["harmed"], total["words"] - total["changed"]), "left": _over(total["left"], total["noisy"]),
    }  # fmt: skip


def _over(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def interval(cells: Sequence[Ints], part: str = "restored", whole: str = "words") -> tuple[float, float]:
    """95 % interval of the mean over cells of a share. Texts are resampled; the cells have the same texts in the same order."""
    draws = resamples(len(cells[0]), SEED, RESAMPLES).astype(np.float64)
    over, under = COLUMNS.index(part), COLUMNS.index(whole)
    means: Floats = np.mean([(draws @ rows[:, over]) / np.maximum(draws @ rows[:, under], 1) for rows in cells], 0)
    return percentile_interval(means)


def auc(clean: npt.ArrayLike, attacked: npt.ArrayLike) -> float:
    """The chance that an attacked text scores above a clean one; ties count half."""
    low, high = np.sort(np.asarray(clean, np.float64)), np.asarray(attacked, np.float64)
    below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    return float(below.sum() / 2 / (low.size * high.size))
