"""What a run in a bucket costs: requests by kind, bytes, and time, beside the same run on the disk.

  python benchmarks/stores.py                    an S3 server of moto's on this machine, 30 ms for each request
  python benchmarks/stores.py --delay 0 --blocks 8 64

Needs `pip install 'scuff[stores]' s3fs 'moto[s3,server]'`. The server runs in this process: counts and bytes are exact, times
are about right where the delay is most of them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import scuff
from scuff.runs.folder import Folder
from scuff.victims.base import Victim

KINDS = ("PUT", "GET", "LIST", "HEAD", "DELETE")
CASES = 20  # of a block
MODEL = "def predict(texts):\n    return ['yes' if 'good' in text else 'no' for text in texts]\n"


class Counted:
    """An application of WSGI whose requests are counted and take longer."""

    def __init__(self, application: Any, delay: float) -> None:
        self.application, self.delay = application, delay
        self.requests: Counter[str] = Counter()
        self.up = self.down = 0

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        time.sleep(self.delay)
        query, kind = environ.get("QUERY_STRING", ""), environ["REQUEST_METHOD"]
        kind = "LIST" if "list-type" in query else "DELETE" if query == "delete" else kind
        self.requests[kind] += 1
        self.up += int(environ.get("CONTENT_LENGTH") or 0) if kind == "PUT" else 0
        for part in self.application(environ, start):
            self.down += len(part) if kind == "GET" else 0
            yield part

    def take(self) -> tuple[Counter[str], int, int]:
        found = self.requests, self.up, self.down
        self.requests, self.up, self.down = Counter(), 0, 0
        return found


def serve(delay: float) -> Counted:
    """Starts an S3 server with an empty bucket, and sets the environment for it."""
    import logging

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = Counted(DomainDispatcherApplication(create_backend_app), delay)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    import fsspec

    fsspec.filesystem("s3").mkdir("bucket")
    return application


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.03, help="seconds for each request; default 0.03")
    parser.add_argument("--blocks", type=int, nargs="+", default=[8, 64], help="blocks of the runs; default 8 64")
    args = parser.parse_args()
    server = serve(args.delay)
    Victim.cases_at_once = CASES
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        Path("model.py").write_text(MODEL)
        print(
            f"{'':24}{'blocks':>8}"
            + "".join(f"{kind:>8}" for kind in KINDS)
            + "   kB up  kB down  seconds  on the disk"
        )
        for blocks in args.blocks:
            data = [
                (f"a {'good' if n % 2 else 'bad'} day, number {n}", "yes" if n % 2 else "no")
                for n in range(10 * blocks)
            ]
            for workers in (1, 2):
                settings: dict[str, Any] = {
                    "dimensions": ["keyboard"], "degrees": [0.3], "cases": 2, "workers": workers, "examples": len(data),
                }  # fmt: skip
                seconds = []
                server.take()
                for place in (f"s3://bucket/{blocks}-{workers}", f"{blocks}-{workers}"):
                    begun = time.perf_counter()
                    scuff.evaluate("model.py:predict", data, place, **settings)
                    seconds.append(time.perf_counter() - begun)
                show(server, f"evaluate, {workers} worker{'s' if workers > 1 else ''}", place, seconds)
            begun = time.perf_counter()
            scuff.report(f"s3://bucket/{blocks}-1")
            begun, there = time.perf_counter(), time.perf_counter() - begun
            scuff.report(f"{blocks}-1")
            show(server, "report", f"{blocks}-1", [there, time.perf_counter() - begun])


def show(server: Counted, what: str, local: str, seconds: list[float]) -> None:
    requests, up, down = server.take()
    counts = "".join(f"{requests[kind]:8,}" for kind in KINDS)
    parts = len(Folder(local).parts())
    print(f"{what:24}{parts:8,}{counts}{up / 1000:8.1f}{down / 1000:9.1f}{seconds[0]:9.2f}{seconds[1]:13.2f}")


if __name__ == "__main__":
    main()
