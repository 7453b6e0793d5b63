"""Models under test. `open_victim` opens any of them; `Query` is the one door through which they are asked."""

from ..huggingface.loading import BadModel
from .base import Access, NotEnoughAccess, Outputs, Victim, require
from .cache import DiskCache
from .open import open_victim
from .plain import Predictions
from .query import BudgetSpent, Query, TooManyErrors

__all__ = [
    "Access", "BadModel", "BudgetSpent", "DiskCache", "NotEnoughAccess", "Outputs", "Predictions", "Query", "TooManyErrors",
    "Victim", "open_victim", "require",
]  # fmt: skip
