"""What mending a model has won: the shares and differences of Zéroe (eq. 1, 2; thesis eq. 4.1 to 4.3), and what helps against
what.

Scores are those of one metric, where more is better, on the same texts: `clean` of the model before it was mended on texts as
they are, s(0); `before` and `after` on perturbed ones, s(p) and sigma(p). All may be arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats


def left(score: npt.ArrayLike, clean: npt.ArrayLike) -> Floats:
    """Returns s* = s(p) / s(0): the share of the clean score that is left (eq. 1). nan if the clean score is 0 or below."""
    base = np.asarray(clean, np.float64)
    share: Floats = np.asarray(score, np.float64) / np.where(base > 0, base, np.nan)
    return share


def left_by_guessing(lowest: npt.ArrayLike, clean: npt.ArrayLike) -> Floats:
    """Returns s_worst = w / s(0): the red line (thesis eq. 4.2). lowest: the score of always giving the most frequent answer."""
    return left(lowest, clean)


def gain(after: npt.ArrayLike, before: npt.ArrayLike, clean: npt.ArrayLike) -> Floats:
    """Returns Delta = sigma(p) / s(0) - s*(p), what was won by mending, in shares of the clean score (eq. 2).

    At p = none, `before` is the clean score itself, and a loss on clean text is below 0.
    """
    won: Floats = left(after, clean) - left(before, clean)
    return won


def won_back(after: npt.ArrayLike, before: npt.ArrayLike, clean: npt.ArrayLike) -> float:
    """Returns which share of all that the perturbations took was won back, 1 for all of it; nan if they took nothing.

    Unlike `gain` it does not grow with the harm, so that models which lose more and less can be compared.
    """
    lost = 1 - left(before, clean)
    total = float(np.sum(lost))
    return float(np.sum(gain(after, before, clean))) / total if total > 0 else float("nan")


def helping_groups(names: Sequence[str], gains: npt.ArrayLike, *, least: float = 0.0) -> list[list[str]]:
    """Returns groups of perturbations such that training on one of a group helps against the others of it (Zéroe's Figure 3).

    gains: a row for each perturbation that was tested, a column for each that was trained on, in the order of the names. Groups
    are joined, those first that help each other most, while the mean gain between their members, in both directions, is above
    `least`. With the paper's gains for POS these are the three groups of its section 4.3.1.
    """
    table = np.asarray(gains, np.float64)
    if table.shape != (len(names), len(names)):
        raise ValueError(f"expected {len(names)} rows and columns for gains, got {' by '.join(map(str, table.shape))}")
    if not np.isfinite(table).all():
        raise ValueError("expected finite numbers for gains, got others")
    both = (table + table.T) / 2
    groups = [[at] for at in range(len(names))]
    while len(groups) > 1:
        pairs = [(one, other) for one in range(len(groups)) for other in range(one + 1, len(groups))]
        means = [both[np.ix_(groups[one], groups[other])].mean() for one, other in pairs]
        best = int(np.argmax(means))
        if means[best] <= least:
            break
        one, other = pairs[best]
        groups[one] = sorted([*groups[one], *groups.pop(other)])
    return [[names[at] for at in group] for group in groups]
