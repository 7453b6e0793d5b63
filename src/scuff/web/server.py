"""Starts the server: opens the port, serves until Ctrl-C, and ends cleanly."""

from __future__ import annotations

import errno
import re
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from .app import App
from .guard import LEAST_TOKEN, is_loopback
from .playground import Playground
from .runs import RunsFolder

CONNECTIONS = 64  # at once
PATIENCE = 2  # seconds that open requests get when the server ends


@dataclass(frozen=True)
class Listening:
    """An open port. address: of the page, with the token where one is needed."""

    port: socket.socket
    host: str
    token: str | None

    @property
    def address(self) -> str:
        number = self.port.getsockname()[1]
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        host = everywhere.get(self.host, self.host)
        query = f"?token={self.token}" if self.token else ""
        return f"http://{f'[{host}]' if ':' in host else host}:{number}/{query}"


def listen(host: str, port: int, token: str | None) -> Listening:
    """Opens a port. Where other machines can reach it, a token is needed; without one it is made up.

    Raises ValueError for a token that is too short, OSError, in one line, if the port cannot be opened.
    """
    if token is not None and not re.fullmatch(r"[\w.~-]+", token, re.ASCII):
        raise ValueError("expected letters, digits and _ . ~ - for --token, got something else")
    if not is_loopback(host):
        token = token or secrets.token_urlsafe(24)
        if len(token) < LEAST_TOKEN:
            raise ValueError(
                f"expected at least {LEAST_TOKEN} characters for --token where others can reach the server, got {len(token)}"
            )
    if not 0 <= port <= 65535:
        raise ValueError(f"expected 0 to 65535 for --port, got {port}")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)  # asyncio sends at once only where it reads TCP here
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(where)
            opened.listen(128)
        except OSError:
            opened.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise OSError(f"expected a free port, got {port}, which is in use: --port 0 takes any free one") from None
        raise OSError(
            f"expected an address of this machine for --host, got {host!r}: {error.strerror or error}"
        ) from None
    return Listening(opened, host, token)


class Server(uvicorn.Server):
    """Serves a playground until Ctrl-C, or a request to end; `run` raises KeyboardInterrupt then, after all is closed."""

    def __init__(
        self, listening: Listening, playground: Playground, runs: str | Path, say: Callable[[str], None]
    ) -> None:
        self.listening = listening
        self.handlers = App(playground, RunsFolder(runs), say, lambda: self.should_exit)
        app = self.handlers.guarded(listening.host, listening.token)
        super().__init__(
            uvicorn.Config(
                app, lifespan="off", ws="none", http="h11", loop="asyncio", log_config=None, log_level="critical",
                access_log=False, server_header=False, proxy_headers=False, limit_concurrency=CONNECTIONS,
                timeout_graceful_shutdown=PATIENCE,
            )
        )  # fmt: skip

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        super().run(sockets=[self.listening.port])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.handlers.jobs.close()
        await super().shutdown(sockets)
