"""Who may ask: Host, Origin and token of every request are checked, and every answer gets security headers.

Host: a page of another site may let its own name point to this machine (DNS rebinding); its requests carry that name. Origin and
Sec-Fetch-Site: browsers say which page a request comes from, so that no other page can drive the server (CSRF).
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from secrets import compare_digest
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .messages import Refused

COOKIE = "scuff-token"  # and the port: browsers send the cookies of a host to all of its ports
LARGEST = 1 << 20  # bytes of a request
LEAST_TOKEN = 16  # characters, where others can reach the server

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether a name or address stands for this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """Lets requests through to an app. host: that the server listens on. token: that requests must carry; None for none."""

    app: ASGIApp
    host: str
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
        guarded = _with_headers(send)
        try:
            headers = Headers(scope=scope)
            self._check_origin(headers, scope["method"])
            if self.token is not None and (elsewhere := self._check_token(headers, scope)):
                return await _redirect(guarded, *elsewhere)
            _check_size(headers)
        except Refused as refused:
            return await answer_refused(guarded, refused)
        return await self.app(scope, receive, guarded)

    def _check_origin(self, headers: Headers, method: str) -> None:
        """Raises Refused if Host is no name of this server, or if another page sent the request."""
        given = headers.getlist("host")
        name = _name(given[0]) if len(given) == 1 else None
        if name is None or not self._is_own(name):
            shown = given[0][:60] if given else ""
            raise Refused(403, f"expected the name or address of this server as Host, got {shown!r}")
        for origin in headers.getlist("origin"):
            if origin.casefold() not in (f"http://{given[0]}".casefold(), f"https://{given[0]}".casefold()):
                raise Refused(403, f"expected requests of this server's own pages, got Origin {origin[:60]!r}")
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        if site not in ("none", "same-origin") and not (mode == "navigate" and method in ("GET", "HEAD")):
            raise Refused(403, f"expected requests of this server's own pages, got Sec-Fetch-Site {site[:20]!r}")

    def _is_own(self, name: str) -> bool:
        """Whether a Host is this server. An address cannot be rebound; of names only those that we know are ours."""
        if is_loopback(name):
            return True
        if is_loopback(self.host):
            return False
        try:
            ip_address(name)
            return True
        except ValueError:
            return name in (self.host.casefold(), socket.gethostname().casefold())

    def _check_token(self, headers: Headers, scope: Scope) -> tuple[str, str] | None:
        """Raises Refused without the token: in Authorization, in the cookie of the page, or as ?token=... of the first page.

        Returns, for the last of these, where to go without it, and the cookie to keep.
        """
        assert self.token is not None
        cookie = f"{COOKIE}-{urlsplit('//' + headers['host']).port or 80}"
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        for name, value in query:
            if name == "token" and scope["method"] == "GET" and _same(value, self.token):
                rest = urlencode([pair for pair in query if pair[0] != "token"])
                return quote(scope["path"]) + (f"?{rest}" if rest else ""), f"{cookie}={self.token}"
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.casefold() == "bearer" and _same(value.strip(), self.token):
            return None
        for one in headers.get("cookie", "").split(";"):  # those of other programs on this host may be of any form
            name, _, value = one.strip().partition("=")
            if name == cookie and _same(value, self.token):
                return None
        raise Refused(401, "expected the token that `scuff serve` printed: open the address with ?token=..., or send it as "
                      "Authorization: Bearer TOKEN")  # fmt: skip


def _name(host: str) -> str | None:
    """Returns the name in a Host header, without its port; None if it is none."""
    try:
        parts = urlsplit(f"//{host}")
        more = parts.username is not None or parts.path or parts.query or parts.fragment
        return None if more or parts.port == 0 else parts.hostname  # a port that is no number raises
    except ValueError:
        return None


def _same(given: str, token: str) -> bool:
    """Compares in a time that does not tell how much is right."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), token.encode("utf-8", "surrogatepass"))


def _check_size(headers: Headers) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST:
        raise Refused(413, f"expected a request of at most {LARGEST:,} bytes, got {length[:20]}")


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent


async def answer_refused(send: Send, refused: Refused) -> None:
    body = json.dumps({"error": str(refused)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _redirect(send: Send, where: str, cookie: str) -> None:
    """Sends to a quoted path and sets a cookie. A token has no character that would need quotes."""
    path = "/" + where.lstrip("/")  # never //elsewhere
    headers = [
        (b"location", path.encode()), (b"set-cookie", f"{cookie}; Path=/; HttpOnly; SameSite=Strict".encode()),
        (b"content-length", b"0"),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
