"""What tests of the playground share: a client of the app, and a real server in a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from scuff.victims.base import Access, Column, Outputs, Victim
from scuff.web.app import App
from scuff.web.playground import Playground
from scuff.web.runs import RunsFolder
from scuff.web.server import Server, listen

HERE = "http://127.0.0.1:8421"
TEXT = "The staff were friendly, the soup was excellent and we will gladly come back."


class Words(Victim):
    """A model whose answers a test can hold up: good words against bad ones."""

    task, labels, access, name = "single", ("bad", "good"), Access.SCORE, "words"
    rows_at_once = 4

    def __init__(self) -> None:
        self.hold: Any = None  # called before each batch
        self.asked: list[int] = []  # rows of each batch

    def __call__(self, *columns: Column) -> Outputs:
        self.asked.append(len(columns[0]))
        if self.hold:
            self.hold()
        good = [
            sum(word in ("good", "great", "fine", "nice") for word in str(text).lower().split()) for text in columns[0]
        ]
        sure = 1 / (1 + np.exp(1.0 - 2 * np.array(good, np.float64)))
        return Outputs.of(np.stack([1 - sure, sure], 1))


def app_of(playground: Playground, runs: str | Path = "no-such-folder") -> App:
    return App(playground, RunsFolder(runs), lambda message: None)


def client_of(app: App, *, host: str = "127.0.0.1", token: str | None = None, at: str = HERE) -> TestClient:
    return TestClient(app.guarded(host, token), base_url=at, raise_server_exceptions=False, follow_redirects=False)


def events_of(text: str) -> list[tuple[str, Any]]:
    """The events of a stream: (name, data)."""
    found = []
    for block in filter(None, text.split("\n\n")):
        parts = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if parts:
            found.append((parts["event"], json.loads(parts["data"])))
    return found


@contextmanager
def serving(playground: Playground, runs: str | Path, **options: Any) -> Iterator[str]:
    """A server on a free port. Yields the address of its page."""
    listening = listen("127.0.0.1", 0, options.get("token"))
    server = Server(listening, playground, runs, lambda message: None)
    thread = Thread(target=server.run)
    thread.start()
    try:
        yield listening.address
    finally:
        server.should_exit = True
        thread.join(20)
        listening.port.close()
        assert not thread.is_alive(), "the server did not end"
