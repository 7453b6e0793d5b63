"""A real HTTP server on this machine that misbehaves as a test tells it to, and counts what it sees."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Say:
    """A response: JSON, or raw bytes; late, cut off, slow, or none at all."""

    value: Any = None
    status: int = 200
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    stall: float = 0  # seconds before the answer
    drip: float = 0  # seconds after each byte
    cut: int = 0  # bytes at the end that never come
    drop: bool = False  # reset the connection instead


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: Any
    at: float


class Scripted:
    """`script` gets (body, number of times that this body came before) and gives a Say or a JSON value."""

    def __init__(self, script: Callable[[Any, int], Any]) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.peak = self.now = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 5

            def do_POST(self) -> None:
                outer.handle(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 64

            def handle_error(self, *_: Any) -> None:
                pass  # a client that hangs up is what some tests are about

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        with self.lock:
            before = sum(seen.body == body for seen in self.seen)
            self.seen.append(Seen(request.path, dict(request.headers.items()), body, time.monotonic()))
            self.now += 1
            self.peak = max(self.peak, self.now)
        try:
            said = self.script(body, before)
            self.answer(request, said if isinstance(said, Say) else Say(said))
        finally:
            with self.lock:
                self.now -= 1

    def answer(self, request: BaseHTTPRequestHandler, say: Say) -> None:
        if say.stall:
            self.closing.wait(say.stall)
        if say.drop:
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.close_connection = True
            return
        raw = json.dumps(say.value).encode() if say.raw is None else say.raw
        head = [f"HTTP/1.1 {say.status} Said", f"Content-Length: {len(raw)}"]
        head += [f"{name}: {value}" for name, value in say.headers.items()]
        data = "\r\n".join([*head, "", ""]).encode() + raw[: len(raw) - say.cut]
        if say.drip:
            for at in range(len(data)):
                if at > len(data) - len(raw):
                    self.closing.wait(say.drip)
                request.wfile.write(data[at : at + 1])
        else:
            request.wfile.write(data)
        request.close_connection = bool(say.cut or say.drip)

    @property
    def bodies(self) -> list[Any]:
        return [seen.body for seen in self.seen]


@contextmanager
def serving(script: Callable[[Any, int], Any]) -> Iterator[Scripted]:
    server = Scripted(script)
    server.thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.server.shutdown()
        server.server.server_close()  # waits for the threads of requests, so that none outlives its test
        server.thread.join()
