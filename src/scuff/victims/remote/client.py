"""An endpoint that is posted to: retries, rate, concurrency, keys that never show."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from http.client import HTTPException
from queue import Empty, SimpleQueue
from typing import Any

from ...version import __version__
from .connection import Address, Connection
from .responses import Failure, begin, hide, may_pass, retry_after, understand


class Pace:
    """Gives out turns, so that all threads together keep a rate."""

    def __init__(self, rate: float | None) -> None:
        self._gap, self._free, self._lock = 1 / rate if rate else 0.0, 0.0, threading.Lock()

    def turn(self) -> float:
        """Take the next free turn: the seconds until then."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._free)
            self._free = start + self._gap
            return start - now

    def hold(self, seconds: float) -> None:
        """No turn for anybody before that."""
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)


LONGEST = 120.0  # seconds that a server may ask us to wait; beyond that we give up at once

SECRET = 8  # letters; a shorter value hides nothing, and blanking it out would damage answers


class Endpoint:
    """A URL that takes JSON and answers with JSON.

    timeout: seconds per attempt. retries: attempts after the first. backoff: seconds before the first retry, doubled for each
    further one. concurrency: requests at a time. rate: requests per second, all threads and calls together. key_env: the
    environment variable that holds the key, sent in key_header (in Authorization as a bearer token). headers: further ones.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 30,
        retries: int = 4,
        backoff: float = 0.5,
        concurrency: int = 8,
        rate: float | None = None,
        key_env: str | None = None,
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        owner: str = "endpoint",
    ) -> None:
        self.address = Address.of(url, f"{owner}.url")
        self.address.proxy()  # says now if it is one that we cannot use
        self.timeout, self.backoff = above(timeout, f"{owner}.timeout"), above(backoff, f"{owner}.backoff", True)
        self.retries, self.concurrency = (
            whole(retries, f"{owner}.retries", 0),
            whole(concurrency, f"{owner}.concurrency"),
        )
        self._pace = Pace(None if rate is None else above(rate, f"{owner}.rate"))
        self.key_env, self.key_header, self._headers = key_env, key_header, dict(headers or {})
        for name, value in [(key_header, "-"), *self._headers.items()]:
            if not (_plain(name) and " " not in name and _plain(value)):
                raise ValueError(f"expected printable ASCII for {owner}.headers, got something else for {name!r}")

    def __repr__(self) -> str:
        return f"Endpoint({self.address.shown!r})"

    def post(self, bodies: Sequence[Any]) -> list[Any]:
        """What the server answers to each body, in their order; a Failure where it does not."""
        head, secrets = self._head()
        waiting, answered = deque(enumerate(bodies)), SimpleQueue[tuple[int, Any]]()
        stop = threading.Event()
        lines = [Connection(self.address, self.timeout) for _ in range(min(self.concurrency, len(waiting)))]

        def work(line: Connection) -> None:
            with closing(line):
                while not stop.is_set():
                    try:
                        at, body = waiting.popleft()
                    except IndexError:
                        return
                    try:
                        answered.put((at, self._ask(line, json.dumps(body).encode(), head, secrets, stop)))
                    except Exception as error:  # a mistake of ours: the caller shall see it
                        answered.put((-1, error))

        # daemons: the program can end while one of them still waits for a host that does not answer
        threads = [threading.Thread(target=work, args=(line,), daemon=True) for line in lines]
        out: list[Any] = [None] * len(bodies)
        try:
            for thread in threads:
                thread.start()
            for _ in bodies:
                at, answer = _next(answered)
                if at < 0:
                    raise answer
                out[at] = answer
        except BaseException:  # above all KeyboardInterrupt: nothing more is sent, and no answer waited for
            stop.set()
            for line in lines:
                line.abort()
            raise
        for thread in threads:
            thread.join()
        return out

    def _head(self) -> tuple[dict[str, str], list[str]]:
        """The headers, and what must not show. The key is read anew each time and kept nowhere."""
        head = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": f"scuff/{__version__}"}
        key = self._key()
        if not _plain(key or "-"):
            raise ValueError(f"expected a key of printable ASCII in {self.key_env}, got something else")
        if key:
            head[self.key_header] = f"Bearer {key}" if self.key_header.lower() == "authorization" else key
        secrets = {key, *self.address.secrets, *" ".join(self._headers.values()).split()}
        return head | self._headers, sorted((part for part in secrets if len(part) >= SECRET), key=len, reverse=True)

    def _key(self) -> str:
        return os.environ.get(self.key_env, "").strip() if self.key_env else ""

    def _ask(
        self, line: Connection, body: bytes, head: dict[str, str], secrets: list[str], stop: threading.Event
    ) -> Any:
        """One request until it is answered, fails for good, or was tried often enough."""
        failure, wait = Failure("stopped"), 0.0
        for attempt in range(self.retries + 1):
            if _sleep(line, wait, stop) or _sleep(line, self._pace.turn(), stop):
                return failure
            asked = 0.0  # seconds that the server wants us to wait
            try:
                answer = line.post(body, head)
                said = understand(answer, secrets)
                if not isinstance(said, Failure):
                    return said
                failure, asked = said, retry_after(answer)
            except TimeoutError:
                failure = Failure(f"timeout after {self.timeout:g} s")
            except (OSError, HTTPException) as error:
                failure = Failure(f"no answer: {begin(hide(f'{type(error).__name__}: {error}', secrets))}")
            line.close()
            if not may_pass(failure.status):
                keyless = failure.status in (401, 403) and self.key_env and not self._key()
                return _explain(failure, f"{self.key_env} is not set") if keyless else failure
            if asked > LONGEST:
                return _explain(failure, f"try again in {asked:.0f} s")
            self._pace.hold(asked)
            wait = max(asked, self.backoff * 2**attempt)
        return failure


def above(value: float, owner: str, zero: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value < math.inf and (value or zero)):
        raise ValueError(f"expected a number {'from' if zero else 'above'} 0 for {owner}, got {value!r}")
    return value


def whole(value: int, owner: str, least: int = 1) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"expected a whole number from {least} for {owner}, got {value!r}")
    return value


def _plain(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable()


def _explain(failure: Failure, why: str) -> Failure:
    return Failure(f"{failure.reason} ({why})", failure.status, failure.body)


def _sleep(line: Connection, seconds: float, stop: threading.Event) -> bool:
    """Whether to stop. A connection that lies idle for long may be gone when it is needed."""
    if seconds > 1:
        line.close()
    return stop.wait(seconds)


def _next(queue: SimpleQueue[tuple[int, Any]]) -> tuple[int, Any]:
    while True:  # with a limit, since Windows does not interrupt one that waits for ever
        try:
            return queue.get(timeout=0.5)
        except Empty:
            continue
