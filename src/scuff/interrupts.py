"""Ctrl-C while the command `scuff` starts, before `main` can catch it: one line and exit code 130, no traceback."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import PurePath

COMMANDS = ("scuff", "scuff.exe")


class Resumable(KeyboardInterrupt):
    """Raised for Ctrl-C where the same command goes on from what was done, in the folder that it names."""


def _guard() -> None:
    """Works while everything else is imported. Does nothing where Scuff is a library, or Ctrl-C is ignored."""
    module = sys.argv[:1] == ["-m"] and " -m scuff" in " ".join(sys.orig_argv)  # while Python looks for the package
    if module or (sys.argv[:1] and PurePath(sys.argv[0]).name in COMMANDS):
        with suppress(ValueError):  # not in the main thread
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, _stop)


def started() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt, as usual."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop(number: int, frame: object) -> None:
    with suppress(Exception):
        sys.stderr.write("scuff: interrupted before anything was done\n")
        sys.stderr.flush()
    # an exception would become another error where a library catches it, as NumPy does while it is imported
    os._exit(130)


_guard()
