"""Stores for run folders by URL: file://, memory://, a shared disk that fsspec reaches, and S3, by a server of moto's here."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from buckets import DATA, MODEL, Requests, shared_disk
from scuff.victims.base import Victim


@pytest.fixture(scope="session")
def s3_server() -> Iterator[tuple[str, Requests]]:
    """An S3 server on this machine."""
    pytest.importorskip("s3fs", reason="needs s3fs: pip install s3fs")
    server_module = pytest.importorskip("moto.server", reason="needs moto: pip install 'moto[s3,server]'")
    requests, log = Requests(), logging.getLogger("werkzeug")
    log.addHandler(requests)
    log.setLevel(logging.INFO)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}", requests
    server.stop()
    log.removeHandler(requests)


@pytest.fixture
def s3(s3_server: tuple[str, Requests], monkeypatch: pytest.MonkeyPatch) -> Iterator[Requests]:
    """The environment of S3, and what its server is asked for. It has a bucket of the name `bucket`."""
    about = {
        "ENDPOINT_URL": s3_server[0],
        "ACCESS_KEY_ID": "key",
        "SECRET_ACCESS_KEY": "secret",
        "DEFAULT_REGION": "us-east-1",
    }
    for name, value in about.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    import fsspec

    stores = fsspec.get_filesystem_class("s3")
    stores.clear_instance_cache()  # fsspec keeps a store with the environment in which it was first opened
    bucket = fsspec.filesystem("s3")
    if not bucket.exists("bucket"):
        bucket.mkdir("bucket")
    s3_server[1].take()
    yield s3_server[1]
    stores.clear_instance_cache()


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty folder in a store; the current folder has model.py and data.jsonl."""
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'scuff[stores]'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Victim, "cases_at_once", 20)  # small blocks
    Path("model.py").write_text(MODEL)
    Path("data.jsonl").write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in DATA))
    if request.param == "shared":
        fsspec.register_implementation("shared", shared_disk(), clobber=True)
    if request.param == "s3":
        request.getfixturevalue("s3")
    name = f"{request.param}-{tmp_path.name}"
    yield {
        "file": f"file://{tmp_path}/{name}", "memory": f"memory://{name}", "shared": f"shared://{tmp_path}/{name}",
        "s3": f"s3://bucket/{name}",
    }[request.param]  # fmt: skip
    if request.param == "memory":
        fsspec.filesystem("memory").store.clear()
