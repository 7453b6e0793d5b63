"""Jobs one after the other or in several processes; what they do is not known here."""

from .behind import WriteBehind
from .local import Progress, Work, run_jobs

__all__ = ["Progress", "Work", "WriteBehind", "run_jobs"]
