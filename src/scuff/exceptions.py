"""Exceptions on their way from one process to another."""

from __future__ import annotations

import traceback
from multiprocessing.reduction import ForkingPickler

Failure = tuple[Exception, str]  # what was raised, and where


class RemoteTraceback(Exception):
    """Shows where an exception was raised, in another process, as its cause."""

    def __str__(self) -> str:
        return f"\n\nin another process:\n{self.args[0]}"


def failure(error: Exception) -> Failure:
    """Returns what to send for an exception; a RuntimeError in its place if it cannot be rebuilt elsewhere."""
    where = "".join(traceback.format_exception(error))
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return error, where


def raised(error: Exception, where: str) -> Exception:
    """Returns the exception of a failure, to be raised here."""
    error.__cause__ = RemoteTraceback(where)
    return error
