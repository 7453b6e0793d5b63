"""Attacks: how cases are chosen among the edits that perturbations propose."""

from .cases import Cases, Column
from .dimension import Dimension
from .sample import sample_cases

__all__ = ["Cases", "Column", "Dimension", "sample_cases"]
