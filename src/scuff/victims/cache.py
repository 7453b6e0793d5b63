"""Answers kept on disk, so that an expensive model is asked once: a SQLite file that any number of runs may share."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np

from ..data.dataset import Text
from ..stores import on_this_disk

Key = tuple[Text, ...]

FIND = "SELECT answer, COALESCE(kept, 0) FROM answers WHERE key = ? AND COALESCE(kept, 0) >= ?"


class DiskCache:
    """Answers by the victim's identity and the texts. Problems such as refusals are kept, too; errors are not.

    since: only answers that were kept at this time (in seconds) or later are returned.
    """

    def __init__(self, path: str, since: float = 0) -> None:
        import sqlite3  # most runs have no cache

        self.path, self.since = str(on_this_disk(path, "the cache")), since
        self.upgraded = False  # whether the file was of an earlier version
        self.oldest: float | None = None  # when the oldest answer that was returned was kept
        with self._explained():
            self.file = sqlite3.connect(self.path, timeout=60)
            try:
                self.file.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT, kept REAL) WITHOUT ROWID"
                )
                if "kept" not in [column[1] for column in self.file.execute("PRAGMA table_info(answers)")]:
                    self.file.execute("ALTER TABLE answers ADD COLUMN kept REAL")
                    self.upgraded = True
            except sqlite3.Error:
                self.file.close()
                raise

    def get(self, identity: str, keys: Iterable[Key]) -> dict[Key, tuple[Any, str]]:
        """The answers that are known, by their texts."""
        found = {}
        with self._explained():
            for key in keys:
                row = self.file.execute(FIND, (digest(identity, key), self.since)).fetchone()
                if row:
                    found[key] = _unpacked(row[0])
                    self.oldest = row[1] if self.oldest is None else min(self.oldest, row[1])
        return found

    def put(self, identity: str, answers: dict[Key, tuple[Any, str]]) -> None:
        """Keeps answers; they are on disk when this returns."""
        now = time.time()
        rows = [(digest(identity, key), _packed(*answer), now) for key, answer in answers.items()]
        with self._explained(), self.file:
            self.file.executemany("INSERT OR REPLACE INTO answers (key, answer, kept) VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        self.file.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns errors of SQLite and JSON into one line: the file is damaged, or not a cache."""
        import sqlite3

        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            wanted = "room on the disk" if "disk is full" in str(error) else "a cache file that Scuff wrote"
            raise OSError(f"{self.path}: expected {wanted}, got: {error}") from None


def digest(identity: str, key: Key) -> bytes:
    return blake2b(json.dumps([identity, key]).encode(), digest_size=16).digest()


def _packed(value: Any, problem: str) -> str:
    """JSON with the type of the array, so that it is read back the same to the last bit."""
    if isinstance(value, np.ndarray | np.generic):
        return json.dumps([str(value.dtype), value.tolist(), problem])
    return json.dumps(["", value, problem])


def _unpacked(row: str) -> tuple[Any, str]:
    kind, value, problem = json.loads(row)
    if not kind:
        return value, problem
    array = np.array(value, kind)
    return (array if array.ndim else array[()]), problem
