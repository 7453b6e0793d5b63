"""What the papers' raters found, typed from the papers once: stands beside what ours find."""

from __future__ import annotations

from ..evaluation.score import VALIDITY, VALIDITY_DEGREES

# TEAPOT, Tables 3, 8 and 9: Pearson's correlation of metrics with people's judgement. A star: significantly better than the next
# best. French is the source side, English the target side.
TABLE_3 = {
    "source": {"BLEU": "0.415", "METEOR": "0.440", "chrF": "0.586*"},
    "target": {"BLEU": "0.357", "METEOR": "0.478*", "chrF": "0.497"},
}
TABLE_8 = {
    1: {"BLEU": "0.351", "METEOR": "0.352", "chrF": "0.486*"},
    2: {"BLEU": "0.403", "METEOR": "0.424", "chrF": "0.588*"},
    3: {"BLEU": "0.334", "METEOR": "0.393", "chrF": "0.560*"},
}
TABLE_9 = {
    "unconstrained": {"BLEU": "0.274", "METEOR": "0.572", "chrF": "0.599"},
    "charswap": {"BLEU": "0.274", "METEOR": "0.319", "chrF": "0.383"},
    "knn": {"BLEU": "0.534", "METEOR": "0.584", "chrF": "0.606"},
}
OURS = {
    "vocabulary": "unconstrained",
    "swaps": "charswap",
    "neighbours": "knn",
}  # constraints of our search `substitution`

ALIKE = 4  # a pair rated so or higher means the same
SHARE_ABOVE = 0.9  # of those pairs have a chrF above CHRF_ABOVE


def published_correlation(by: str, value: object, side: str, metric: str) -> str:
    """Returns the paper's correlation as it prints it; "" if it has none. by: all, edits or attack."""
    row: dict[str, str] = {}
    if by == "all":
        row = TABLE_3.get(side, {})
    elif side == "source" and by == "edits" and isinstance(value, int):
        row = TABLE_8.get(value, {})
    elif side == "source" and by == "attack":
        name = str(value).lower()
        row = TABLE_9.get(next((paper for ours, paper in OURS.items() if ours in name), name), {})
    return next((figure for name, figure in row.items() if name.lower() == metric.lower()), "")


def published_share(dimension: str, degree: float) -> float | None:
    """Returns the share of valid cases in RobTest's Table 3; None if it has no figure for the dimension and degree."""
    column = VALIDITY.get(dimension.partition("@")[0])
    if column is None or degree not in VALIDITY_DEGREES or (dimension == "syntax" and degree == VALIDITY_DEGREES[0]):
        return None
    return column[VALIDITY_DEGREES.index(degree)]
