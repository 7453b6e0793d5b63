"""How far raters agree: Krippendorff's alpha, Cohen's and Fleiss' kappa, Kendall's W; and one rating made of several."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..metrics.rank import ranks
from ..text.ragged import Floats, Ints
from .studies import Decide

Level = Literal["nominal", "ordinal"]


def coincidences(values: Floats, count: int) -> Floats:
    """Returns for each item how often each two ratings come together: [items, count, count].

    Each pair of ratings of an item counts 1 / (ratings of the item - 1), as Krippendorff defines it; items with one rating, 0.
    values: ratings from 0 by rater and item, nan where there is none.
    """
    member = (values[:, :, None] == np.arange(count)).sum(0).astype(np.float64)  # [items, count]
    pairs = member[:, :, None] * member[:, None, :]
    at = np.arange(count)
    pairs[:, at, at] -= member
    rated = member.sum(1)
    return np.where(rated[:, None, None] > 1, pairs / np.maximum(rated - 1, 1)[:, None, None], 0.0)


def alpha_of(total: Floats, level: Level) -> Floats:
    """Returns Krippendorff's alpha from a sum of coincidences [..., count, count]; nan if all ratings are the same."""
    often = total.sum(-1)
    number = often.sum(-1)
    far = _distances(often, level)
    observed = (total * far).sum((-1, -2))
    expected = (often[..., :, None] * often[..., None, :] * far).sum((-1, -2)) / np.maximum(number - 1, 1e-12)
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
    return alpha


def _distances(often: Floats, level: Level) -> Floats:
    """Returns Krippendorff's squared distance of each two values, given how often each occurs."""
    count = often.shape[-1]
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(count), (*often.shape, count))
    middle = (
        np.cumsum(often, -1) - often / 2
    )  # differences are the sums from one to the other, half of each at the ends
    squared: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squared


def krippendorff(values: npt.ArrayLike, level: Level, count: int | None = None) -> float:
    """Returns Krippendorff's alpha of ratings by rater and item, nan where there is none (Krippendorff 2011)."""
    given = np.asarray(values, np.float64)
    most = count if count is not None else int(np.nanmax(given)) + 1 if np.isfinite(given).any() else 1
    return float(alpha_of(coincidences(given, most).sum(0), level))


def cohen(one: npt.ArrayLike, other: npt.ArrayLike, count: int, *, squared: bool = False) -> float:
    """Returns Cohen's kappa of two raters on the items that both rated. squared: near ratings count as nearly the same."""
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    both = np.isfinite(first) & np.isfinite(second)
    if not both.any():
        return math.nan
    table = np.zeros((count, count))
    np.add.at(table, (first[both].astype(np.int64), second[both].astype(np.int64)), 1)
    at = np.arange(count)
    weight = (at[:, None] - at) ** 2 if squared else (at[:, None] != at).astype(np.int64)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    wrong = float((weight * expected).sum())
    return 1 - float((weight * table).sum()) / wrong if wrong else math.nan


def fleiss(counts: npt.ArrayLike) -> float:
    """Returns Fleiss' kappa from how many raters gave each rating, by item; all items have as many raters (Fleiss 1971)."""
    table = np.asarray(counts, np.float64)
    raters = table.sum(1)
    if not table.size or (raters != raters[0]).any() or raters[0] < 2:
        return math.nan
    n = raters[0]
    observed = ((table**2).sum(1) - n) / (n * (n - 1))
    expected = float(((table.sum(0) / table.sum()) ** 2).sum())
    return (float(observed.mean()) - expected) / (1 - expected) if expected < 1 else math.nan


def rating_counts(values: Floats, count: int) -> Ints:
    """Returns how many raters gave each rating, of the items that all of them rated: what `fleiss` takes."""
    whole = np.isfinite(values).all(0)
    table: Ints = (values[:, whole, None] == np.arange(count)).sum(0)
    return table


def kendall_w(values: npt.ArrayLike) -> float:
    """Returns Kendall's coefficient of concordance of ranks by rater and thing, with the correction for ties; 1: all agree."""
    each = np.stack([ranks(row) for row in np.asarray(values, np.float64)])
    raters, things = each.shape
    if things < 2:
        return math.nan
    total = each.sum(0)
    spread = float(((total - total.mean()) ** 2).sum())
    ties = 0
    for row in each:
        often = np.unique(row, return_counts=True)[1]
        ties += int((often**3 - often).sum())
    most = raters**2 * (things**3 - things) - raters * ties
    return 12 * spread / most if most else math.nan


def decided(values: Floats, decide: Decide) -> Floats:
    """Returns one rating of each item; nan if it cannot be decided.

    third: what the first two agree on, else what the third says, also where one of the two said nothing (TEAPOT). vote: what
    most say; nan if two ratings have as many (RobTest). mean, median: of all. One rater alone decides.
    """
    if decide == "third":
        return _by_third(values)
    if decide == "vote":
        return _by_vote(values)
    rated = np.isfinite(values).any(0)
    out = np.full(values.shape[1], np.nan)
    out[rated] = (np.nanmean if decide == "mean" else np.nanmedian)(values[:, rated], 0)
    return out


def _by_third(values: Floats) -> Floats:
    check_third(len(values))
    if len(values) == 1:
        return values[0].copy()
    third = values[2] if len(values) == 3 else np.full_like(values[0], np.nan)
    return np.where(values[0] == values[1], values[0], third)  # nan is equal to nothing


def check_third(raters: int) -> None:
    """Raises ValueError if there are too many raters for the rule `third`."""
    if raters > 3:
        raise ValueError(
            f"expected two raters and a third who decides for third, got {raters}: use vote, mean or median"
        )


def _by_vote(values: Floats) -> Floats:
    most = int(np.nanmax(values, initial=0)) + 1
    often = (values[:, :, None] == np.arange(most)).sum(0)
    best = often.max(1)
    clear = (best > 0) & ((often == best[:, None]).sum(1) == 1)
    return np.where(clear, often.argmax(1), np.nan)


def disputed(values: Floats) -> Ints:
    """Returns the items on which the first two raters differ, or which one of them alone has rated: what a third must decide."""
    if len(values) < 2:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.isfinite(values[:2]).any(0) & (values[0] != values[1]))
