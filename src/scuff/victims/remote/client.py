"""An endpoint that is posted to, by urllib3: retries, a rate, concurrency, a deadline; secrets never show."""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import re
import socket
import threading
import time
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from ...specs import check_count, check_positive
from ...version import __version__
from ..answers import begin
from ..base import StopRun
from .responses import Failure, Response, hide, may_pass, retry_after, understand

KEYS = re.compile("key|token|secret|sig|auth|pass|code", re.IGNORECASE)  # names of values that are secret

LARGEST = 1 << 26  # bytes of a response; no classifier answers with more

LONGEST = 120.0  # seconds that a server may ask us to wait; if it asks for more, the request fails at once

IN_A_ROW = 8  # requests that fail one after the other before we look whether the endpoint still answers at all

SECRET = 8  # letters; a shorter value hides nothing, and blanking it out would damage answers


def _without_query(record: logging.LogRecord) -> bool:
    """Cuts the queries off the URLs that urllib3 logs: some hold keys."""
    if isinstance(record.args, tuple):
        record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
    return True


for _module in ("connection", "connectionpool", "poolmanager", "util.retry"):
    logging.getLogger(f"urllib3.{_module}").addFilter(_without_query)


@dataclass(frozen=True, repr=False)
class Address:
    """Where to post. `url` is whole, `shown` without what may be secret."""

    url: str
    host: str
    port: int
    query: str
    shown: str

    @classmethod
    def of(cls, url: str, owner: str) -> Address:
        """Takes a URL apart. `owner` names the option in error messages, which show neither query nor password."""
        try:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            parts, port = SplitResult("", "", "", "", ""), 0
        if parts.scheme not in ("http", "https") or not parts.hostname or any(c.isspace() for c in parts.netloc):
            shown = "one with an @" if "@" in url else repr(url.split("?")[0])
            raise ValueError(f"expected a URL such as https://host/path for {owner}, got {shown}")
        if "@" in parts.netloc:
            raise ValueError(f"expected a URL without user and password for {owner} (use key_env), got one with them")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        target = quote((parts.path or "/") + f"?{parts.query}" * bool(parts.query), safe="/%:@!$&'()*+,;=~?")
        shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
        return cls(f"{parts.scheme}://{host}:{port}{target}", parts.hostname, port, parts.query, shown)

    @property
    def public(self) -> str:
        """What of the URL tells endpoints apart: all but the values in the query that look like keys."""
        kept = [f"{name}={value}" for name, value in parse_qsl(self.query) if not KEYS.search(name)]
        return "?".join([self.shown, *kept])

    @property
    def secrets(self) -> list[str]:
        """Values in the query: some services want their key there."""
        return [value for _, value in parse_qsl(self.query)]

    def proxy(self) -> SplitResult | None:
        """The proxy that the system's settings name for this host; none for this machine itself."""
        if self._is_here() or proxy_bypass(f"{self.host}:{self.port}"):
            return None
        found = getproxies().get(urlsplit(self.url).scheme)
        if not found:
            return None
        parts = urlsplit(found if "://" in found else f"http://{found}")
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"expected an http:// proxy in the system's settings, got {parts.scheme}://")
        return parts

    def _is_here(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost" or self.host.endswith(".localhost")


class Connections:
    """urllib3's pool for one address. Its threads can be woken, and a response has a deadline and a largest size."""

    def __init__(self, address: Address, timeout: float, size: int) -> None:
        self._url, self._timeout, self._opened = address.url, timeout, list[Any]()
        options: dict[str, Any] = {"timeout": timeout, "maxsize": size, "retries": False}
        if proxy := address.proxy():
            pair = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}"
            login = {"Proxy-Authorization": "Basic " + b64encode(pair.encode()).decode()} if proxy.username else {}
            server = f"http://{proxy.netloc.rpartition('@')[2]}"
            self._pools: urllib3.PoolManager = urllib3.ProxyManager(server, proxy_headers=login, **options)
        else:
            self._pools = urllib3.PoolManager(**options)
        pool = self._pools.connection_from_url(self._url)
        kind = pool.ConnectionCls

        def connection(**options: Any) -> Any:
            self._opened.append(kind(**options))
            return self._opened[-1]

        pool.ConnectionCls = connection  # type: ignore[assignment]

    def post(self, body: bytes, headers: dict[str, str]) -> Response:
        """Raises an HTTPError of urllib3, or TimeoutError if the response is not complete in time."""
        deadline = time.monotonic() + self._timeout
        response = self._pools.urlopen("POST", self._url, False, body=body, headers=headers, preload_content=False)
        parts, size = [], 0
        try:
            while part := response.read1(1 << 16):
                parts.append(part)
                size += len(part)
                if time.monotonic() > deadline:  # the socket's own limit is for each piece only
                    raise TimeoutError
                if size > LARGEST:
                    raise HTTPError(f"answer of more than {LARGEST >> 20} MiB")
        except BaseException:
            response.close()  # what is left of it must not be read as the next response
            raise
        return Response(response.status, response.headers, b"".join(parts))

    def close(self) -> None:
        self._pools.clear()

    def abort(self) -> None:
        """Wakes all threads that wait for a response."""
        for connection in self._opened:
            with suppress(OSError, TypeError):  # closed, or not open yet
                # not SSLSocket's method, which changes what the reading thread uses
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


class Tries(NamedTuple):
    """How often a request is sent again if its texts may be to blame: `again` times, and `late` times after a timeout.

    While nothing listens or the server wants a pause, `retries` alone counts.
    """

    again: int
    late: int


ONCE_MORE = Tries(1, 0)


class Pace:
    """Hands out turns, so that all threads together keep a rate."""

    def __init__(self, rate: float | None) -> None:
        self._gap, self._free, self._lock = 1 / rate if rate else 0.0, 0.0, threading.Lock()

    def turn(self) -> float:
        """Takes the next free turn; returns the seconds until then."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._free)
            self._free = start + self._gap
            return start - now

    def hold(self, seconds: float) -> None:
        """Gives no turn to any thread for so long."""
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)


class EndpointDown(StopRun):
    """An endpoint answers nothing any more, not even what it answered before."""


class Health:
    """Notices when an endpoint is down: nothing listens, or IN_A_ROW requests fail without a success between them.

    Texts may be to blame for the latter, so `look` sends a body again that was answered before, and only if this fails, too,
    the endpoint is down. If nothing was answered before, four times as many requests have to fail.
    """

    def __init__(self) -> None:
        self._failed, self._answered, self._lock = 0, b"", threading.Lock()

    def note(self, body: bytes, failure: Failure | None, look: Callable[[bytes], Any]) -> Failure | None:
        """Counts what became of a request. Returns the failure if the endpoint is down."""
        if failure is None:
            with self._lock:
                self._failed, self._answered = 0, self._answered or body
            return None
        if failure.refused:
            return failure
        if not failure.tells_of_server:
            return None
        with self._lock:
            self._failed, known = self._failed + 1, self._answered
            if self._failed < (IN_A_ROW if known else 4 * IN_A_ROW):
                return None
            self._failed = 0
        again = look(known) if known else failure  # not under the lock, so that other requests can end meanwhile
        return again if isinstance(again, Failure) else None


class Endpoint:
    """A URL that takes JSON and answers with JSON. Redirects are not followed. Once it is down, EndpointDown is raised.

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
        self.address.proxy()  # raises now if it is of a kind that cannot be used
        check_positive(timeout, f"{owner}.timeout")
        check_positive(backoff, f"{owner}.backoff", zero=True)
        check_count(retries, 0, f"{owner}.retries")
        check_count(concurrency, 1, f"{owner}.concurrency")
        if rate is not None:
            check_positive(rate, f"{owner}.rate")
        self.timeout, self.backoff, self.retries, self.concurrency = timeout, backoff, retries, concurrency
        self._pace, self._health = Pace(rate), Health()
        self.key_env, self.key_header, self._headers = key_env, key_header, dict(headers or {})
        for name, value in [(key_header, "-"), *self._headers.items()]:
            if not (_plain(name) and " " not in name and _plain(value)):
                raise ValueError(f"expected printable ASCII for {owner}.headers, got something else for {name!r}")

    def __repr__(self) -> str:
        return f"Endpoint({self.address.shown!r})"

    def post(self, bodies: Sequence[Any], tries: Tries | None = None) -> list[Any]:
        """What the server answers to each body, in their order; a Failure where it does not.

        tries: how often a request is repeated; None: `retries` times.
        """
        tries = tries or Tries(self.retries, self.retries)
        head, secrets = self._head()
        waiting, answered = deque(enumerate(bodies)), SimpleQueue[tuple[int, Any]]()
        stop, many = threading.Event(), min(self.concurrency, len(waiting))
        connections = Connections(self.address, self.timeout, max(1, many))

        def ask(body: bytes, tries: Tries = tries) -> Any:
            return self._ask(connections, body, head, secrets, stop, tries)

        def work() -> None:
            while not stop.is_set():
                try:
                    at, body = waiting.popleft()
                except IndexError:
                    return
                try:
                    answered.put((at, self._watched(json.dumps(body).encode(), ask)))
                except Exception as error:  # the endpoint is down, or a mistake of ours: the caller raises it
                    answered.put((-1, error))

        # daemons: the program can end while one of them still waits for a host that does not answer
        threads = [threading.Thread(target=work, daemon=True) for _ in range(many)]
        out: list[Any] = [None] * len(bodies)
        try:
            for thread in threads:
                thread.start()
            for _ in bodies:
                at, answer = _next(answered)
                if at < 0:
                    raise answer
                out[at] = answer
        except BaseException:  # above all KeyboardInterrupt: nothing more is sent, and no response is waited for
            stop.set()
            connections.abort()
            raise
        finally:
            connections.close()
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

    def _watched(self, body: bytes, ask: Callable[..., Any]) -> Any:
        """Sends one request. Raises EndpointDown if it is the last of many that failed and the endpoint is down."""
        found = ask(body)
        down = self._health.note(
            body, found if isinstance(found, Failure) else None, lambda known: ask(known, ONCE_MORE)
        )
        if down:
            raise EndpointDown(
                f"expected answers from {self.address.shown}, got none any more: {down.reason}; with -o, the same command "
                "goes on once it answers again"
            )
        return found

    def _ask(
        self,
        connections: Connections,
        body: bytes,
        head: dict[str, str],
        secrets: list[str],
        stop: threading.Event,
        tries: Tries,
    ) -> Any:
        """Sends one request until it is answered, fails for good, or has no tries left."""
        failure, wait, late, again = Failure("stopped"), 0.0, 0, 0
        for attempt in range(self.retries + 1):
            if stop.wait(wait) or stop.wait(self._pace.turn()):
                return failure
            asked = 0.0  # seconds that the server wants us to wait
            try:
                response = connections.post(body, head)
                said = understand(response, secrets)
                if not isinstance(said, Failure):
                    return said
                failure, asked = said, retry_after(response.headers)
            except (OSError, HTTPError) as error:
                failure = self._unanswered(error, secrets)
            if not may_pass(failure.status):
                keyless = failure.status in (401, 403) and self.key_env and not self._key()
                return _explain(failure, f"{self.key_env} is not set") if keyless else failure
            late, again = late + failure.late, again + failure.may_be_the_texts
            if late > tries.late or again > tries.again:
                return failure
            if asked > LONGEST:
                return _explain(failure, f"try again in {asked:.0f} s")
            self._pace.hold(asked)
            wait = max(asked, self.backoff * 2**attempt)
        return failure

    def _unanswered(self, error: BaseException, secrets: list[str]) -> Failure:
        """Names the innermost error: urllib3 wraps it in its own."""
        while (inner := error.__cause__ or error.__context__) is not None:
            error = inner
        if isinstance(error, TimeoutError):
            return Failure(f"timeout after {self.timeout:g} s", late=True)
        said, refused = f"{type(error).__name__}: {error}", isinstance(error, ConnectionRefusedError | socket.gaierror)
        return Failure(f"no answer: {begin(hide(said, secrets))}", refused=refused)


def _plain(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable()


def _explain(failure: Failure, why: str) -> Failure:
    return Failure(f"{failure.reason} ({why})", failure.status, failure.body)


def _next(queue: SimpleQueue[tuple[int, Any]]) -> tuple[int, Any]:
    while True:  # with a limit, since Windows does not interrupt a wait without one
        try:
            return queue.get(timeout=0.5)
        except Empty:
            continue
