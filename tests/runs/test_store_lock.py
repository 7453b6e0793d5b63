"""The lock of a run in a store: one process at a time, and none that is dead keeps others out."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import scuff
from buckets import DATA, FEW, S3_ONLY, STORES, keyword, wait_for
from scuff.runs import store
from scuff.runs.folder import BadRun, CannotWrite, Folder, WriteBehind
from scuff.runs.store import StoreLock
from scuff.stores import StorePath, as_path

pytest.importorskip("fsspec", reason="needs fsspec: pip install 'scuff[stores]'")


@pytest.mark.parametrize("place", STORES, indirect=True)
def test_one_process_at_a_time(place: str) -> None:
    folder = Folder(place)
    with folder.locked():
        for _ in range(2):
            with pytest.raises(
                BadRun, match="expected a run that nobody works on, got one that another process is busy"
            ):
                scuff.evaluate(keyword, DATA, place, **FEW)
    with pytest.raises(RuntimeError), folder.locked():
        raise RuntimeError
    with folder.locked():
        pass


@pytest.mark.parametrize("place", ["memory", "shared", *S3_ONLY], indirect=True)
def test_a_dead_lock_is_taken_over_by_one(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_path(place)
    assert isinstance(path, StorePath)
    path.make()
    ended = subprocess.Popen(["true"])
    ended.wait()
    lock = json.loads(StoreLock(path)._content())
    for change in ({"process": ended.pid}, {"machine": "other", "time": time.time() - store.DEAD - 1}):
        (path / "lock").write(json.dumps({**lock, **change}).encode())
        with (
            pytest.warns(UserWarning, match=r"takes over the lock of process \d+ on .*, heard of \d+ seconds ago"),
            Folder(place).locked(),
        ):
            assert json.loads((path / "lock").read())["process"] == os.getpid()
        assert path.names() == []
    (path / "lock").write(b"{")  # of no known owner
    with pytest.warns(UserWarning, match="takes over the lock"), Folder(place).locked():
        pass
    for alive in ({"machine": "other", "time": time.time() - store.DEAD + 60}, {"process": os.getpid()}):
        (path / "lock").write(json.dumps({**lock, **alive}).encode())
        with pytest.raises(BadRun, match=r"busy with: process \d+ on .*, heard of \d+ seconds ago; if it has died"):
            Folder(place).locked().__enter__()
    # another one reads the lock of a dead process, and is slower
    dead = {**lock, "time": 0.0}
    (path / "lock").write(json.dumps(dead).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Folder(place).locked():
            with pytest.raises(BadRun, match="busy with: process"):
                StoreLock(path)._take_over(dead)
            (path / f"lock-{lock['owner']}.part").write(b"{}")  # or takes it over at this moment
            with pytest.raises(BadRun, match="if nothing works on it, delete"):
                StoreLock(path)._take_over(dead)


@pytest.mark.parametrize("place", ["memory", *S3_ONLY], indirect=True)
def test_who_lost_the_lock_writes_no_more(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BEAT", 0.02)
    path, folder = as_path(place), WriteBehind(place)
    assert isinstance(path, StorePath)
    with folder.locked():
        begun = json.loads((path / "lock").read())["time"]
        wait_for(lambda: json.loads((path / "lock").read())["time"] > begun, "the lock is renewed")
        folder.write_part("a", {"score": np.zeros(3)})
        assert folder.parts() == ["a"]
        other = {**json.loads((path / "lock").read()), "owner": "other", "process": 7, "host": "elsewhere"}
        (path / "lock").write(json.dumps(other).encode())
        assert folder.files.lock  # type: ignore[attr-defined]
        lock: StoreLock = folder.files.lock  # type: ignore[attr-defined]
        again = json.dumps(other).encode()  # this process may just have found its own, and write it
        wait_for(lambda: lock.lost or (path / "lock").write(again), "the loss is noticed")
        with pytest.raises(CannotWrite, match="got one that process 7 on elsewhere took over"):
            folder.write_json("summary.json", {})
        folder.write_part("b", {"score": np.zeros(3)})
        with pytest.raises(CannotWrite, match="process 7"):
            folder.parts()
    assert json.loads((path / "lock").read())["owner"] == "other", "the lock of another is not deleted"
    assert list(path.files()) == ["lock", "trials/a.npz"]


@pytest.mark.slow
@pytest.mark.parametrize("place", S3_ONLY, indirect=True)
def test_of_many_at_once_one_gets_the_lock(place: str) -> None:
    """Of a new run, and of one whose process is dead."""
    path, together = as_path(place), threading.Barrier(8)
    assert isinstance(path, StorePath)

    def take(_: int) -> str:
        lock = StoreLock(path)
        together.wait()
        try:
            lock._take()
        except BadRun as error:
            return str(error)
        return ""

    for turn in range(4):
        with warnings.catch_warnings(), ThreadPoolExecutor(8) as threads:
            warnings.simplefilter("ignore")
            found = list(threads.map(take, range(8)))
        assert found.count("") == 1 and all("expected a run that nobody works on" in why for why in found if why), found
        lock = {**json.loads((path / "lock").read()), "time": float(turn)}
        (path / "lock").write(json.dumps(lock).encode())
    assert path.names() == ["lock"]
