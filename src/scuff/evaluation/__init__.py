"""Evaluation: cases at several degrees, and every number computed from the trials on disk."""

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
