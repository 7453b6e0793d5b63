"""Models under test. `open_victim` opens any of them; `Query` is the one door through which they are asked.

For a model of your own, a callable will do; a subclass of `Victim` gives more control: see the example in CONTRIBUTING.
"""

from ..data.dataset import Task
from ..huggingface.loading import BadModel
from .base import Access, Column, NotEnoughAccess, Outputs, Victim, as_objects, require
from .cache import DiskCache
from .open import FAMILY, open_victim
from .plain import Predictions
from .query import BudgetSpent, Query, TooManyErrors
from .shielded import Shielded

__all__ = [
    "FAMILY", "Access", "BadModel", "BudgetSpent", "Column", "DiskCache", "NotEnoughAccess", "Outputs", "Predictions", "Query",
    "Shielded", "Task", "TooManyErrors", "Victim", "as_objects", "open_victim", "require",
]  # fmt: skip
