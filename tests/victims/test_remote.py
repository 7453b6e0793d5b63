"""The transport against a server that fails in every way we could think of."""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.client import HTTPMessage
from itertools import pairwise
from typing import Any

import pytest

from scuff.victims.answers import begin
from scuff.victims.remote.client import Address, Endpoint, EndpointDown
from scuff.victims.remote.responses import Failure, may_pass, retry_after
from victims.scripted import Say, Scripted, serving

KEY = "sk-test/+secret=="


def endpoint(server: Scripted, path: str = "/", **options: Any) -> Endpoint:
    return Endpoint(server.url + path, **{"timeout": 5, "backoff": 0.01, "retries": 2, **options})


def reasons(answers: list[Any]) -> list[str]:
    return [answer.reason if isinstance(answer, Failure) else "" for answer in answers]


def test_answers_come_in_order_whatever_finishes_first() -> None:
    texts = ['a "quote"', "two\nlines", "tab\t\\ back\x00slash", "😀👩‍👩‍👧", "שלום עולם", "e\u0301", "", "half \ud800"]
    bodies = [{"n": n, "text": texts[n % 8]} for n in range(40)]
    with serving(lambda body, _: Say(body, stall=0.02 if body["n"] % 3 == 0 else 0)) as server:
        assert endpoint(server).post(bodies) == bodies
        assert endpoint(server, concurrency=1).post(bodies) == bodies
        assert endpoint(server).post([]) == []
        assert server.seen[0].headers["User-Agent"].startswith("scuff/")
        assert "Authorization" not in server.seen[0].headers


FAULTS = {
    "status 500: out of order": Say(raw=b"out of\r\norder", status=500),
    "status 503: {\"error\": \"busy\"}": Say({"error": "busy"}, status=503),
    "status 502: <html><body> <h1>Bad Gateway</h1>": Say(raw=b"<html><body>\n<h1>Bad Gateway</h1>", status=502),
    "status 408": Say(raw=b"", status=408),
    "status 425": Say(raw=b"", status=425),
    "status 429": Say(raw=b"", status=429, headers={"Retry-After": "0"}),
    "timeout after 0.2 s": Say({}, stall=0.4),
    "timeout after 0.2 s ": Say({"slow": "slow"}, drip=0.1),
    "not JSON: \ufffd\ufffd garbage": Say(raw=b"\xff\xfe\x00 \x1bgarbage"),
    "not JSON: {\"answer\": [1, 2": Say(raw=b'{"answer": [1, 2'),
    "not JSON: nothing": Say(raw=b""),
    "not JSON: <!doctype html>": Say(raw=b"<!doctype html>", headers={"Content-Type": "text/html"}),
    "not JSON: " + "[" * 100: Say(raw=b"[" * 200_000),
    "no answer: IncompleteRead": Say({"answer": 1234}, cut=3),
    "no answer: ": Say(drop=True),
}  # fmt: skip


@pytest.mark.parametrize("reason", FAULTS)
def test_faults_that_pass_and_faults_that_stay(reason: str) -> None:
    """One body fails once, one always, the others never: only the second has no answer, after all its retries."""

    def script(body: str, before: int) -> Any:
        return FAULTS[reason] if body == "bad" or (body == "shaky" and before == 0) else [body]

    with serving(script) as server:
        one = endpoint(server, timeout=0.2 if reason.startswith("timeout") else 5)
        found = one.post(["good", "bad", "shaky", "fine"])
        assert found[:1] + found[2:] == [["good"], ["shaky"], ["fine"]]
        assert isinstance(found[1], Failure) and found[1].reason.startswith(reason.strip())
        assert "\x1b" not in found[1].reason and len(found[1].reason) < 130
        assert server.bodies.count("bad") == 3 and server.bodies.count("shaky") == 2 and len(server.seen) == 7


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 413, 422])
def test_faults_that_are_not_retried(status: int) -> None:
    with serving(lambda body, _: Say(raw=b"x" * 500, status=status)) as server:
        assert reasons(endpoint(server).post([1])) == [f"status {status}: " + "x" * 100]
        assert len(server.seen) == 1


def test_redirects_are_told_and_not_followed() -> None:
    with serving(lambda body, _: []) as other:
        moved = {"Location": other.url + f"/new?key={KEY}"}
        with serving(lambda body, _: Say(raw=b"", status=308, headers=moved)) as server:
            assert reasons(endpoint(server).post([1])) == [f"status 308: moved to {other.url}/new"]
        assert not other.seen


def test_nothing_listens() -> None:
    with serving(lambda body, _: None) as server:
        pass
    begun = time.monotonic()
    with pytest.raises(EndpointDown, match=r"got none any more: no answer: ConnectionRefusedError") as caught:
        endpoint(server, concurrency=1).post(list(range(100)))
    assert time.monotonic() - begun < 1, "after the retries of the first request"
    assert "\n" not in str(caught.value)


def test_retry_after_is_honoured_by_all_threads() -> None:
    def script(body: int, before: int) -> Any:
        return Say(status=429, headers={"Retry-After": "0.2"}) if body == 0 and before == 0 else Say(body, stall=0.03)

    with serving(script) as server:
        assert endpoint(server, concurrency=2).post(list(range(6))) == list(range(6))
        first, again = (seen.at for seen in server.seen if seen.body == 0)
        assert again - first >= 0.2
        assert sum(seen.at - first < 0.18 for seen in server.seen) <= 4, "the other thread waits, too"


def test_retry_after_as_a_date_and_one_that_is_too_long() -> None:
    for date in (datetime.now(timezone.utc) + timedelta(seconds=60), datetime(2020, 1, 1, tzinfo=timezone.utc)):
        headers = HTTPMessage()
        headers["Retry-After"] = format_datetime(date, usegmt=True)
        assert (58 < retry_after(headers) <= 60) == (date.year > 2020)
    with serving(lambda body, n: Say(raw=b"no", status=429, headers={"Retry-After": "3600"})) as server:
        assert reasons(endpoint(server).post([1])) == ["status 429: no (try again in 3600 s)"]
        assert len(server.seen) == 1
    with serving(lambda body, n: [Say(status=429, headers={"Retry-After": "soon"}), body][n]) as server:
        assert endpoint(server).post([1]) == [1]


def test_delays_double() -> None:
    with serving(lambda body, _: Say(status=500)) as server:
        endpoint(server, backoff=0.04, retries=3).post([1])
        at = [seen.at for seen in server.seen]
        gaps = [later - earlier for earlier, later in pairwise(at)]
        assert [0.04 * 2**n <= gap < 0.04 * 2**n + 0.2 for n, gap in enumerate(gaps)] == [True] * 3, gaps


@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrency(concurrency: int) -> None:
    with serving(lambda body, _: Say(body, stall=0.02)) as server:
        endpoint(server, concurrency=concurrency).post(list(range(12)))
        assert server.peak == concurrency


def test_rate_over_threads_and_calls() -> None:
    with serving(lambda body, n: Say(status=500) if body == 3 and n == 0 else body) as server:
        one = endpoint(server, rate=40, concurrency=4)
        assert one.post(list(range(5))) + one.post([5, 6, 7]) == list(range(8))
        assert len(server.seen) == 9, "a retry counts"
        at = sorted(seen.at for seen in server.seen)
        assert at[-1] - at[0] >= 8 / 40 - 0.03


def test_connections_are_kept_open() -> None:
    with serving(lambda body, _: body) as server:
        accepted = []
        accept = server.server.get_request
        server.server.get_request = lambda: accepted.append(1) or accept()  # type: ignore[method-assign]
        endpoint(server, concurrency=2).post(list(range(20)))
        assert len(accepted) <= 2


def test_the_key_is_sent_and_never_shows(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY + "\n")
    escaped = KEY.replace("/", "\\/").replace("+", "\\u002b")
    says = [
        Say(raw=f"bad key {KEY}".encode(), status=401),
        Say(raw=f'{{"error": "bad key {escaped}"}}'.encode(), status=403),
        Say(raw=f"<p>{'x' * 90}{KEY}".encode(), status=400),
        Say({"echo": KEY, KEY: [KEY]}),
        Say(raw=KEY.encode()),
    ]
    with serving(lambda body, _: says[body]) as server:
        one = endpoint(
            server, f"/?api_key={KEY}", key_env="SECRET_KEY", headers={"X-Other": f"Token {KEY}2"}, retries=0
        )
        found = one.post(range(5))
        assert all(seen.headers["Authorization"] == f"Bearer {KEY}" for seen in server.seen)
        assert all(seen.headers["X-Other"] == f"Token {KEY}2" for seen in server.seen)
        assert server.seen[0].path == f"/?api_key={KEY}"
        everything = repr(
            [found, one, vars(one), one.address, one.address.shown, one.address.public, capfd.readouterr()]
        )
        everything = everything.replace(repr(one._headers), "")
        assert found[3] == {"echo": "***", "***": ["***"]} and "secret" not in everything
        other = endpoint(server, key_env="SECRET_KEY", key_header="x-api-key")
        other.post([3])
        assert server.seen[-1].headers["x-api-key"] == KEY and "Authorization" not in server.seen[-1].headers


def test_a_key_that_is_missing_or_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    with serving(lambda body, _: Say(raw=b"who?", status=401)) as server:
        one = endpoint(server, key_env="SECRET_KEY")
        assert reasons(one.post([1])) == ["status 401: who? (SECRET_KEY is not set)"]
        assert "Authorization" not in server.seen[0].headers
        for key in ("sk-sécret", "sk-sec\nret", "sk-sec\x00ret"):
            monkeypatch.setattr("os.environ", {"SECRET_KEY": key})
            with pytest.raises(ValueError, match="expected a key of printable ASCII in SECRET_KEY") as caught:
                one.post([1])
            assert "ret" not in str(caught.value)
        assert len(server.seen) == 1


def test_a_short_key_does_not_damage_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "EMPTY")
    with serving(lambda body, _: body) as server:
        assert endpoint(server, key_env="SECRET_KEY").post(["EMPTY shelves"]) == ["EMPTY shelves"]


def test_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the environment names is used, but never between us and this machine."""
    for name in ("no_proxy", "NO_PROXY", "http_proxy", "HTTP_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    with serving(lambda body, _: "through the proxy") as proxy, serving(lambda body, _: "straight") as server:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pw@"))
        assert endpoint(server).post([1]) == ["straight"]
        assert Endpoint("http://host.invalid/a?b=c", retries=0).post([1]) == ["through the proxy"]
        assert proxy.seen[0].path == "http://host.invalid:80/a?b=c"
        assert proxy.seen[0].headers["Proxy-Authorization"] == "Basic bWU6cHc="
    assert Address.of("https://host.invalid", "x").proxy() is None
    assert Address.of("http://a.localhost", "x").proxy() is None and Address.of("http://[::1]:8", "x").proxy() is None
    monkeypatch.setenv("http_proxy", "socks5://me:pw@127.0.0.1:1")
    with pytest.raises(ValueError, match=r"expected an http:// proxy in the system's settings, got socks5://$"):
        Endpoint("http://host.invalid")


def test_a_tunnel_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the proxy of an https address sees is the host alone."""
    for name in ("no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        seen: list[bytes] = []

        def refuse() -> None:
            with proxy.accept()[0] as line:
                seen.append(line.recv(1 << 16))
                line.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        monkeypatch.setenv("https_proxy", f"http://me:p%40w@127.0.0.1:{proxy.getsockname()[1]}")
        found = Endpoint(f"https://host.invalid/a?key={KEY}", retries=0, timeout=5).post([1])
        thread.join()
    assert reasons(found)[0].startswith("no answer: OSError: Tunnel connection failed: 403 Forbidden")
    assert seen[0].startswith(b"CONNECT host.invalid:443 HTTP/1.") and b"secret" not in seen[0]
    assert b"Proxy-Authorization: Basic bWU6cEB3\r\n" in seen[0]


def test_an_answer_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scuff.victims.remote.client.LARGEST", 1 << 20)
    with serving(lambda body, _: "x" * (body << 20)) as server:
        assert reasons(endpoint(server, retries=0).post([0, 2])) == [
            "",
            "no answer: HTTPError: answer of more than 1 MiB",
        ]


def test_what_urllib3_logs_holds_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    """It logs URLs: all of them when asked to, and those of servers with broken headers in any case."""
    caplog.set_level(logging.DEBUG)
    with serving(lambda body, _: Say(body, headers={"bad header": "x"})) as server:
        assert endpoint(server, f"/path?api_key={KEY}").post([1]) == [1]
    assert "/path" in caplog.text and "Failed to parse headers" in caplog.text and "secret" not in caplog.text


def test_interrupt_ends_at_once() -> None:
    """Ctrl-C while requests hang and others wait for their retry: no more is sent, and we do not wait for any of it."""
    with serving(lambda body, _: Say(status=500) if body % 2 else Say(body, stall=5)) as server:
        one = endpoint(server, timeout=30, backoff=10, concurrency=4)
        interrupt = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        interrupt.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            one.post(list(range(100)))
        assert time.monotonic() - begun < 1
        interrupt.join()
        sent = len(server.seen)
        wait_until = time.monotonic() + 3
        while any("(work)" in thread.name for thread in threading.enumerate()):
            assert time.monotonic() < wait_until, "expected the threads to end"
            time.sleep(0.01)
        assert sent == len(server.seen) <= 4


def test_a_program_ends_while_requests_hang() -> None:
    code = "import sys, os, signal, threading; from scuff.victims.remote.client import Endpoint\n"
    code += "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
    code += "Endpoint(sys.argv[1], timeout=60).post([1, 2, 3])"
    with serving(lambda body, _: Say(body, stall=20)) as server:
        begun = time.monotonic()
        done = subprocess.run([sys.executable, "-c", code, server.url], capture_output=True, timeout=15, text=True)
        assert "KeyboardInterrupt" in done.stderr and time.monotonic() - begun < 5


def test_our_own_mistakes_are_raised() -> None:
    with serving(lambda body, _: body) as server, pytest.raises(TypeError, match="not JSON serializable"):
        endpoint(server).post([1, object(), 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "expected a number above 0 for endpoint.timeout, got 0"),
        ({"timeout": float("inf")}, "expected a number above 0 for endpoint.timeout, got inf"),
        ({"retries": -1}, "expected a whole number from 0 for endpoint.retries, got -1"),
        ({"concurrency": 0}, "expected a whole number from 1 for endpoint.concurrency, got 0"),
        ({"rate": "fast"}, "expected a number above 0 for endpoint.rate, got 'fast'"),
        ({"backoff": -1}, "expected a number from 0 for endpoint.backoff, got -1"),
        ({"headers": {"X": "secret\n"}}, "expected printable ASCII for endpoint.headers, got something else for 'X'"),
        ({"url": "ftp://host"}, "expected a URL such as https://host/path for endpoint.url, got 'ftp://host'"),
        ({"url": "host?key=secret"}, "expected a URL such as https://host/path for endpoint.url, got 'host'"),
        (
            {"url": "http://me:secret/@d"},
            "expected a URL such as https://host/path for endpoint.url, got one with an @",
        ),
        ({"url": "http://[bad"}, "expected a URL such as https://host/path for endpoint.url, got 'http://[bad'"),
        ({"url": "https://me:secret@host"}, "expected a URL without user and password for endpoint.url"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        Endpoint(**{"url": "http://127.0.0.1", **options})
    assert str(caught.value).startswith(message) and "secret" not in str(caught.value)


def test_what_is_shown_and_what_is_kept() -> None:
    address = Address.of("https://host/a path/ü?version=2&api_key=abc", "x")
    assert address.shown == "https://host/a path/ü"
    assert address.url == "https://host:443/a%20path/%C3%BC?version=2&api_key=abc"
    assert Address.of("http://[::1]/x?a=b?", "x").url == "http://[::1]:80/x?a=b?"
    assert address.public == "https://host/a path/ü?version=2" and address.port == 443
    assert begin({"a": "\ud800\x07é"}) == '{"a": " \\u0007é"}'
    assert [may_pass(status) for status in (0, 200, 302, 404, 429, 500)] == [True, True, False, False, True, True]
