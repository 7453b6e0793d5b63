"""Evaluations: make cases of examples at several degrees, ask the victim about them, compute scores from the saved trials."""

from .dimensions import COLUMNS, Dimension
from .protocol import CASES, Protocol
from .score import DEGREES, degree_weights, final_score
from .settings import EvaluationSettings

__all__ = [
    "CASES",
    "COLUMNS",
    "DEGREES",
    "Dimension",
    "EvaluationSettings",
    "Protocol",
    "degree_weights",
    "final_score",
]
