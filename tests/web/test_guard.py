"""No other page, name or machine drives the server: Host, Origin, token, sizes, headers."""

from __future__ import annotations

import pytest

from scuff.web.guard import LARGEST, is_loopback
from scuff.web.playground import Playground
from web.served import HERE, app_of, client_of

TOKEN = "a-token-of-24-characters"
BODY = {"texts": ["good"]}


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8421", "127.0.0.1", "localhost:9999", "[::1]:8421", "LOCALHOST", "127.5.6.7"]
)
def test_own_names(playground: Playground, host: str) -> None:
    client = client_of(app_of(playground))
    assert client.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8421", "192.168.0.7", "0.0.0.0", "", "a@127.0.0.1",
     "127.0.0.1:8421/x", "[::1", "localhost:x", "127.0.0.1 evil"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/page.js", "/api/about", "/api/predict", "/nothing"])
def test_foreign_names_are_refused(playground: Playground, host: str, path: str) -> None:
    """A page whose name was made to point here (DNS rebinding) sends that name."""
    client = client_of(app_of(playground))
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 403 and "Host" in answer.json()["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},  # another program on this machine
        {"origin": "http://127.0.0.1:8421.evil.example"},
        {"origin": "file://"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a form that another page posts
    ],
)
def test_foreign_pages_are_refused(playground: Playground, headers: dict[str, str]) -> None:
    client = client_of(app_of(playground))
    answer = client.post("/api/predict", json=BODY, headers=headers)
    assert answer.status_code == 403 and "own pages" in answer.json()["error"]
    if "origin" in headers:
        assert client.get("/api/about", headers=headers).status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_own_pages_and_programs_may_ask(playground: Playground) -> None:
    client = client_of(app_of(playground))
    for headers in ({}, {"origin": HERE, "sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        assert client.post("/api/predict", json=BODY, headers=headers).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200  # a link from elsewhere opens the page


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_can_send_is_refused(playground: Playground, kind: str) -> None:
    client = client_of(app_of(playground))
    answer = client.post("/api/predict", content=b'{"texts": ["good"]}', headers={"content-type": kind})
    assert answer.status_code == 415 and "application/json" in answer.json()["error"]


def test_a_token_is_needed_where_one_is_set(playground: Playground) -> None:
    client = client_of(app_of(playground), token=TOKEN)
    for path in ("/", "/api/about", "/page.js", "/runs/x/report.html"):
        answer = client.get(path)
        assert answer.status_code == 401 and "token" in answer.json()["error"]
    for wrong in ("", "x", TOKEN[:-1], f"{TOKEN}x", "ü"):
        assert client.get("/", params={"token": wrong}).status_code == 401
        assert client.get("/", headers={"authorization": f"Bearer {wrong}".encode()}).status_code == 401
        assert client.get("/", headers={"cookie": f"scuff-token-80={wrong}".encode()}).status_code == 401
    assert client.get("/api/about", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    first = client.get("/", params={"token": TOKEN, "a": "b"})
    assert (first.status_code, first.headers["location"]) == (303, "/?a=b")  # the token leaves the address
    assert {"HttpOnly", "SameSite=Strict"} <= set(first.headers["set-cookie"].split("; "))
    assert client.get("/").status_code == 200  # by the cookie
    assert client.post("/api/predict", json=BODY, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.get(f"{HERE}//evil.example/?token={TOKEN}").headers["location"].startswith("/evil.example")
    odd = client.get(f"{HERE}/runs/a%23%C3%A9%0D%0A/report.html?token={TOKEN}")  # as quoted as before
    assert odd.headers["location"] == "/runs/a%23%C3%A9%0D%0A/report.html"


def test_cookies_of_other_programs_on_the_host_do_not_matter(playground: Playground) -> None:
    client = client_of(app_of(playground), token=TOKEN)
    client.headers["host"] = "127.0.0.1:8421"
    first = client.get("/", params={"token": TOKEN})
    assert first.headers["set-cookie"].startswith(f"scuff-token-8421={TOKEN};")
    client.cookies.clear()
    for others in ('a={"b": 1, "c": [2]}; ', 'x[y]=b c; "; ', "scuff-token-8422=another-server; =;;"):
        cookies = f"{others}scuff-token-8421={TOKEN}"
        assert client.get("/api/about", headers={"cookie": cookies}).status_code == 200, others
    assert client.get("/api/about", headers={"cookie": f"scuff-token-8422={TOKEN}"}).status_code == 401


def test_names_of_a_server_for_others(playground: Playground) -> None:
    """An address cannot be rebound; a name must be our own."""
    client = client_of(app_of(playground), host="0.0.0.0", token=TOKEN)
    known = {"authorization": f"Bearer {TOKEN}"}
    for host, status in (("192.168.0.7:8421", 200), ("localhost", 200), ("evil.example", 403)):
        assert client.get("/api/about", headers={"host": host, **known}).status_code == status
    named = client_of(app_of(playground), host="box.example", token=TOKEN)
    assert named.get("/api/about", headers={"host": "box.example:80", **known}).status_code == 200


def test_every_answer_has_security_headers(playground: Playground) -> None:
    client = client_of(app_of(playground))
    refused = client.get("/", headers={"host": "evil.example"})
    for answer in (
        client.get("/"),
        client.get("/api/about"),
        client.get("/nothing"),
        client.post("/api/predict"),
        refused,
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


def test_large_requests_are_refused(playground: Playground) -> None:
    client = client_of(app_of(playground))
    answer = client.post("/api/predict", content=b" " * (LARGEST + 1), headers={"content-type": "application/json"})
    assert answer.status_code == 413 and "1,048,576 bytes" in answer.json()["error"]
    parts = (b" " * 100_000 for _ in range(12))  # without Content-Length
    answer = client.post("/api/predict", content=parts, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_loopback() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.1.2.3", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "localhost.evil.example", "")))
