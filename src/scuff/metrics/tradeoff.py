"""The trade-off of an attack on a model that writes text (Michel et al., 2019, section 2.1): was the input's meaning changed, or
the model broken? Both halves belong into a report; their sum alone hides which of the two an attack did.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats, Mask

THRESHOLD = 1.0  # more was destroyed in the output than in the input
ZERO_ONE_THRESHOLD = (
    1.8  # with right or wrong answers the decrease is 0 or 1, so this asks for a source likeness above 0.8
)


def relative_decrease(base: npt.ArrayLike, attacked: npt.ArrayLike) -> Floats:
    """Returns d_tgt, equation (1): the share of its score that each output has lost under attack, in [0, 1].

    base, attacked: likeness to the reference of the outputs before and under attack, 0 or more. 0 where the score did not fall,
    so also where it was 0 before; nan where one of the two is nan.
    """
    before, after = np.asarray(base, np.float64), np.asarray(attacked, np.float64)
    if (before < 0).any() or (after < 0).any():
        raise ValueError(f"expected scores of 0 or more, got {min(before.min(), after.min()):g}")
    fell = after < before
    lost = np.where(fell, before - after, 0) / np.where(fell, before, 1)
    return np.where(np.isnan(before) | np.isnan(after), np.nan, lost)


def success(source: npt.ArrayLike, decrease: npt.ArrayLike) -> Floats:
    """Returns S = s_src + d_tgt of each attack, in [0, 2]. source: likeness of the attacked input to the original one."""
    return np.asarray(source, np.float64) + np.asarray(decrease, np.float64)


def succeeded(source: npt.ArrayLike, decrease: npt.ArrayLike, threshold: float = THRESHOLD) -> Mask:
    """Returns which attacks have destroyed more of the output's meaning than of the input's: S > threshold."""
    return np.asarray(success(source, decrease) > threshold, np.bool_)
