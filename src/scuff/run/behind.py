"""A run folder that is written to while the work goes on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..evaluate import Folder
from ..evaluate.trials import Arrays

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

WAITING = 2  # parts that may wait to be written, so that memory does not fill up where the disk is slow


class WriteBehind(Folder):
    """Compresses and writes parts in a thread, while the victim is asked about the next ones.

    Whoever looks at the parts waits for those that are on their way; what went wrong with one is raised there, or with the next.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._thread: ThreadPoolExecutor | None = None
        self._coming: list[Future[None]] = []

    def write_part(self, name: str, arrays: Arrays) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._wait(WAITING - 1)
        self._thread = self._thread or ThreadPoolExecutor(1)
        self._coming.append(self._thread.submit(super().write_part, name, arrays))

    def has_part(self, name: str) -> bool:
        self._wait()
        return super().has_part(name)

    def parts(self) -> list[str]:
        self._wait()
        return super().parts()

    def read_part(self, name: str, columns: Iterable[str] | None = None) -> Arrays:
        self._wait()
        return super().read_part(name, columns)

    def settle(self) -> None:
        """Wait until nothing is being written any more; what went wrong with it does not matter now."""
        while self._coming:
            self._coming.pop(0).exception()

    def _wait(self, left: int = 0) -> None:
        while len(self._coming) > left:
            self._coming.pop(0).result()
