"""chrF of single translations, by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class MissingMetric(LookupError):
    """A metric's package is not installed; the message is the command that installs it."""


def chrf(outputs: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
    """Sentence chrF (Popović, 2015), in [0, 1]."""
    try:
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise MissingMetric("expected sacrebleu for translations, got none: pip install 'scuff[translation]'") from None
    metric = CHRF()
    found = (
        metric.sentence_score(output, [reference]).score for output, reference in zip(outputs, references, strict=True)
    )
    return np.fromiter(found, np.float64, len(outputs)) / 100
