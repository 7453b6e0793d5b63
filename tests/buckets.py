"""Stores for tests of run folders by URL: a small run, its files, and who counts the requests of an S3 server."""

from __future__ import annotations

import json
import logging
import re
import time
from pathlib import Path
from typing import Any

import pytest

from scuff.stores import as_path

DATA = [(f"a {word} day, number {n}", label) for n in range(20) for word, label in (("good", "yes"), ("bad", "no"))]
FEW: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.3], "cases": 2}
S3_ONLY = [pytest.param("s3", marks=pytest.mark.slow)]
STORES = ["file", "memory", "shared", *S3_ONLY]
MODEL = """import time
def predict(texts):
    time.sleep(0.01 * len(texts))
    return ['yes' if 'good' in text else 'no' for text in texts]
"""


def keyword(texts: list[str]) -> list[str]:
    return ["yes" if "good" in text else "no" for text in texts]


class Requests(logging.Handler):
    """Counts what a server is asked for, by method and kind: PUT, GET, HEAD, LIST, POST."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        found = re.search(r'"(?:\x1b\[\d+m)?([A-Z]+) (\S+)', record.getMessage())
        if found:
            self.seen.append("LIST" if "list-type" in found[2] else found[1])

    def take(self) -> dict[str, int]:
        found = {kind: self.seen.count(kind) for kind in set(self.seen)}
        self.seen.clear()
        return found


def shared_disk() -> type[Any]:
    """A file system of fsspec that is no object store."""
    from fsspec.implementations.local import LocalFileSystem

    class SharedDisk(LocalFileSystem):  # type: ignore[misc, no-any-unimported]
        protocol = "shared"

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return str(super()._strip_protocol(path.removeprefix("shared://")))

    return SharedDisk


def content(folder: str) -> dict[str, bytes]:
    """All files of a run, without what differs from run to run: times, the lock, and the way back to where it began."""
    path = as_path(folder)
    if isinstance(path, Path):
        found = {str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()}
    else:
        found = {name: (path / name).read() for name in path.files()}
    run = json.loads(found["run.json"])
    run.pop("began_in", None)
    found["run.json"] = json.dumps(run).encode()
    return {name: raw for name, raw in found.items() if name not in ("timings.json", "lock")}


def wait_for(true: Any, what: str) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)
