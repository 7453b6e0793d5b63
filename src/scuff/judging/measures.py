"""What ratings are compared with: every metric of texts that is installed, the edit distance, and a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..metrics import METRICS, Metric, parse_metric
from ..metrics.edit import edit_distance
from ..metrics.meaning import CHRF, distance_in_meaning, usual_meaning
from ..resources import MissingResource
from ..text.ragged import Floats

EDITS = "edit similarity"


def measure_pairs(
    before: Sequence[str], after: Sequence[str], *, metrics: Sequence[str] = (), encoder: str | None = None
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Returns how alike the two texts of each pair are by each measure, and the measures that are left out, with reasons.

    Every metric of texts is used, BLEU and METEOR where they are installed; `metrics` adds specs of
    others, which must not be missing. The edit similarity is 1 - edit distance / length of the longer text.
    """
    found: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    wanted = {name: kind for name, kind in METRICS.items() if "text" in kind.tasks}
    for spec in dict.fromkeys([*wanted, *metrics]):
        try:
            metric = parse_metric(spec)
            found[metric.title or spec] = _scored(metric, before, after)
        except (LookupError, OSError) as error:  # not installed
            if spec in metrics:
                raise
            left_out[spec] = str(error)
    longest = np.maximum([max(len(one), len(other)) for one, other in zip(before, after, strict=True)], 1)
    found[EDITS] = 1 - edit_distance(before, after) / longest
    name = encoder or usual_meaning()
    if name != CHRF:
        try:
            found[f"encoder {name}"] = 1 - distance_in_meaning(name)(before, after)
        except MissingResource as error:
            if encoder:
                raise
            left_out[name] = str(error)
    return found, left_out


def _scored(metric: Metric, before: Sequence[str], after: Sequence[str]) -> Floats:
    """Returns the score of each single pair, which need not be a share. Raises ValueError if the metric has none."""
    answers, targets = np.empty(len(after), object), np.empty(len(before), object)
    answers[:], targets[:] = list(after), list(before)
    found = np.asarray(metric.values(answers, targets), np.float64)
    if found.shape != (len(after),) or not np.isfinite(found).all():
        what = f"the shape {found.shape}" if found.shape != (len(after),) else "one that is no number"
        raise ValueError(f"expected a number per text from {metric.spec}, got {what}")
    return found
