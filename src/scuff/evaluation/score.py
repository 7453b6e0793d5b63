"""The final score of a dimension from its scores at several degrees (RobTest, section 2.3 and appendix F)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

DEGREES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)

# RobTest, Table 3: the share of cases that three annotators found valid, by column, at the degrees of VALIDITY_DEGREES.
# Syntax has no figure at 0.05: that of 0.1 is used.
VALIDITY_DEGREES = (0.05, 0.1, 0.3, 0.5, 0.8)
VALIDITY = {
    "typo-m": (0.96, 0.94, 0.26, 0.06, 0.02),
    "glyph-m": (1, 0.98, 0.94, 0.86, 0.70),
    "phonetic-m": (1, 1, 1, 1, 0.98),
    "typo-g": (1, 1, 1, 0.82, 0.64),
    "glyph-g": (1, 1, 1, 1, 1),
    "phonetic-g": (1, 1, 1, 1, 0.98),
    "synonym": (0.44, 0.32, 0.20, 0.14, 0.14),
    "contextual": (0.46, 0.44, 0.32, 0.20, 0.06),
    "inflection": (1, 1, 1, 0.98, 0.98),
    "syntax": (0.28, 0.28, 0.06, 0.02, 0),
    "distraction": (0.98, 0.94, 0.94, 0.82, 0.64),
}


Validity = str | tuple[Sequence[float], Sequence[float]]  # a column of Table 3, or degrees and the shares at them


def degree_weights(
    degrees: npt.ArrayLike, *, beta: float = 0.5, published: bool = False, validity: Validity | None = None
) -> npt.NDArray[np.float64]:
    """Returns the weight of each degree in the final score; weights sum to 1 (published: to a little less).

    The options are those of `final_score`. Raises ValueError if beta is not in [0, 1) or validity is no column of Table 3.
    """
    each = np.asarray(degrees, np.float64)
    if not 0 <= beta < 1:
        raise ValueError(f"expected a number in [0, 1) for beta, got {beta!r}")
    if validity is not None:
        if isinstance(validity, str) and validity not in VALIDITY:
            raise ValueError(f"expected {', '.join(VALIDITY)} for validity, got {validity!r}")
        weight = np.interp(each, *((VALIDITY_DEGREES, VALIDITY[validity]) if isinstance(validity, str) else validity))
        return weight / weight.sum() if weight.sum() else np.full(each.size, 1 / max(each.size, 1))
    rank = np.argsort(np.argsort(each))  # 0 for the smallest degree, which weighs most
    weight = (1 - beta) * beta ** rank.astype(np.float64)
    if not published and each.size:
        weight[np.argmax(each)] = beta ** (each.size - 1)  # V1 = theta1: the recursion starts at the highest degree
    return weight


def final_score(
    scores: Mapping[float, float], beta: float = 0.5, published: bool = False, *, validity: Validity | None = None
) -> float:
    """Returns the final score of a dimension, eq. (1) of RobTest, from its scores by degree. Degree 0, if given, is ignored.

    V1 = theta1, Vt = beta V(t-1) + (1 - beta) theta_t, from the highest degree to the lowest. published: start from 0 instead,
    as the paper's tables do (a perfect model then scores 99.2 %). validity: take the weights from a column of the paper's
    Table 3 instead, such as "typo-m", or from degrees and the shares of valid cases that your raters found at them. Raises
    ValueError if there is no degree above 0, or as `degree_weights` does.
    """
    kept = {degree: score for degree, score in scores.items() if degree > 0}
    if not kept:
        raise ValueError("expected scores for at least one degree above 0, got none")
    weight = degree_weights(list(kept), beta=beta, published=published, validity=validity)
    return float(weight @ np.array(list(kept.values()), np.float64))
