"""Attacks: how cases are chosen among the edits that perturbations propose."""

from .cases import Cases, Column
from .dimension import COLUMNS, SETTINGS, TAGS, Dimension
from .fill import Meaning
from .meaning import distance_in_meaning, usual_meaning
from .oracle import Oracle
from .sample import CANNOT_GO_ON, sample_cases

__all__ = [
    "CANNOT_GO_ON",
    "COLUMNS",
    "SETTINGS",
    "TAGS",
    "Cases",
    "Column",
    "Dimension",
    "Meaning",
    "Oracle",
    "distance_in_meaning",
    "sample_cases",
    "usual_meaning",
]
