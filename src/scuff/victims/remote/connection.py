"""One connection to the one host that the user named: no redirects, no proxy between us and this machine."""

from __future__ import annotations

import base64
import http.client
import ipaddress
import re
import socket
import time
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

KEYS = re.compile("key|token|secret|sig|auth|pass|code", re.IGNORECASE)  # names of values that are secret

LARGEST = 1 << 26  # bytes of an answer; what is longer is no answer of a classifier


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(frozen=True, repr=False)
class Address:
    """Where to post. `shown` is the URL without what may be secret."""

    secure: bool
    host: str
    port: int
    path: str
    query: str
    shown: str

    @classmethod
    def of(cls, url: str, owner: str) -> Address:
        """Take a URL apart. `owner` names the option in the message of an error, which shows no query and no password."""
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
        path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
        query = quote(parts.query, safe="/%:@!$&'()*+,;=~?")
        shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
        return cls(parts.scheme == "https", parts.hostname, port, path, query, shown)

    @property
    def target(self) -> str:
        return self.path + ("?" + self.query if self.query else "")

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
        """The proxy that the system's settings name for this host, never one for this machine itself."""
        if self._is_here() or proxy_bypass(f"{self.host}:{self.port}"):
            return None
        found = getproxies().get("https" if self.secure else "http")
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


class Connection:
    """Posts to an address, and stays open between requests."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.address, self.timeout = address, timeout
        self.target = address.target
        self.headers: dict[str, str] = {}
        proxy = address.proxy()
        host, port = (proxy.hostname or "", proxy.port or 80) if proxy else (address.host, address.port)
        kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
        self._inner = kind(host, port, timeout=timeout)
        if proxy:
            self._use(proxy)

    def post(self, body: bytes, headers: dict[str, str]) -> Answer:
        """Raises OSError or HTTPException where no whole answer came in time."""
        deadline = time.monotonic() + self.timeout
        self._inner.request("POST", self.target, body, {**self.headers, **headers})
        response = self._inner.getresponse()
        with response:
            parts, size = [], 0
            while part := response.read1(1 << 16):
                parts.append(part)
                size += len(part)
                if time.monotonic() > deadline:  # the socket's own limit is for each piece only
                    raise TimeoutError
                if size > LARGEST:
                    raise http.client.HTTPException(f"answer of more than {LARGEST >> 20} MiB")
            if response.length:
                raise http.client.IncompleteRead(b"".join(parts), response.length)
        return Answer(response.status, response.headers, b"".join(parts))

    def close(self) -> None:
        self._inner.close()

    def abort(self) -> None:
        """Wake the thread that waits here, from another one."""
        sock = self._inner.sock
        if sock is not None:
            try:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # not SSLSocket's, which changes what the reader uses
            except OSError:
                return  # already closed

    def _use(self, proxy: SplitResult) -> None:
        login = {}
        if proxy.username:
            pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
            login["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        if self.address.secure:
            self._inner.set_tunnel(self.address.host, self.address.port, login)
        else:
            host = f"[{self.address.host}]" if ":" in self.address.host else self.address.host
            self.target, self.headers = f"http://{host}:{self.address.port}{self.target}", login
