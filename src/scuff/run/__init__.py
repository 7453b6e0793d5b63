"""Jobs one after the other or in several processes; what they do is not known here."""

from .local import Progress, run_jobs

__all__ = ["Progress", "run_jobs"]
