"""Measures how honest the pre-flight is: the time that it announces over the time that the run then takes.

  python benchmarks/preflight.py [--only NAME ...]

Runs of many kinds: embedded, scikit-learn and Hugging Face models, a function that loads slowly, an endpoint; by rules and by
scores; evaluations and attacks. The aim: nine of ten announcements within a factor of 1.5. The time runs from the line `plan` to
the end of the report; models are opened before. Nothing else should use the machine meanwhile. Runs of Hugging Face models need
torch, transformers and the project's shared models; they are left out without them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from scuff.data.toy import toy_dataset
from scuff.runs.progress import Progress

AIM = 1.5
LEAST = 1.0  # seconds: what takes less is announced as this
SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))


@cache
def restored(name: str) -> str:
    """Returns the folder of a shared model."""
    folder = Path(tempfile.mkdtemp())
    subprocess.run([sys.executable, SHARED / "models" / "restore.py", folder, name], check=True, capture_output=True)
    return str(folder / name)


def data(name: str, split: str = "test") -> str:
    found = sorted((SHARED / "data" / name).glob(f"{split}*.gz"))
    return str(found[0])


@cache
def fitted() -> Any:
    """Returns a scikit-learn pipeline that was trained on the embedded data."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    toy = toy_dataset("toy:sentiment", "train")
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())
    return model.fit(list(toy.columns[0]), list(toy.targets))


def loads_slowly() -> Callable[[list[str]], Any]:
    """Returns a function that loads its model at its first call."""
    loaded: list[Any] = []

    def model(texts: list[str]) -> Any:
        if not loaded:
            time.sleep(5)
            loaded.append(fitted())
        return loaded[0].predict_proba(texts)

    return model


@cache
def endpoint() -> str:
    """Starts a server that answers a batch after 20 ms; returns its address."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = asked["inputs"] if isinstance(asked, dict) else asked
            time.sleep(0.02)
            answers = fitted().predict(texts).tolist()
            out = json.dumps([{"label": str(label)} for label in answers]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/predict"


TOY, LABELS = "toy:sentiment", ["negative", "positive"]
CHARACTERS = ["typo-m", "glyph-m", "keyboard", "truncate"]

# name: (command, model, data, settings)
RUNS: dict[str, tuple[str, Callable[[], Any], Callable[[], Any], dict[str, Any]]] = {
    "toy, characters": ("evaluate", lambda: TOY, lambda: TOY, {"dimensions": CHARACTERS}),
    "toy, by scores": (
        "evaluate",
        lambda: TOY,
        lambda: TOY,
        {"dimensions": CHARACTERS, "access": ["score"], "examples": 60},
    ),
    "toy, words": (
        "evaluate",
        lambda: TOY,
        lambda: TOY,
        {"dimensions": ["synonym", "inflection", "syntax"], "examples": 200},
    ),
    "scikit-learn": ("evaluate", fitted, lambda: TOY, {"dimensions": CHARACTERS, "labels": LABELS, "examples": 200}),
    "loads slowly": (
        "evaluate",
        loads_slowly,
        lambda: TOY,
        {"dimensions": ["keyboard"], "labels": LABELS, "examples": 100},
    ),
    "endpoint": (
        "evaluate",
        endpoint,
        lambda: TOY,
        {"dimensions": ["keyboard", "truncate"], "labels": LABELS, "examples": 60},
    ),
    "toy, deepwordbug": ("attack", lambda: TOY, lambda: TOY, {"recipe": "deepwordbug"}),
    "toy, pwws": ("attack", lambda: TOY, lambda: TOY, {"recipe": "pwws"}),
    "scikit-learn, deepwordbug": ("attack", fitted, lambda: TOY, {"recipe": "deepwordbug", "labels": LABELS}),
}
REAL: dict[str, tuple[str, Callable[[], Any], Callable[[], Any], dict[str, Any]]] = {
    "sst2, keyboard": ("evaluate", lambda: restored("sst2"), lambda: data("sst2"), {"dimensions": ["keyboard"], "examples": 40}),
    "sst2, all, few": ("evaluate", lambda: restored("sst2"), lambda: data("sst2"), {"examples": 5, "cases": 4}),
    "sst2, by scores": (
        "evaluate", lambda: restored("sst2"), lambda: data("sst2"),
        {"dimensions": ["typo-g", "synonym"], "access": ["score"], "examples": 10, "cases": 5},
    ),
    "sst2, sentences": (
        "evaluate", lambda: restored("sst2"), lambda: data("sst2"),
        {"dimensions": ["syntax", "distraction"], "examples": 10, "cases": 4},
    ),
    "ud_ewt, zeroe": ("evaluate", lambda: restored("ud_ewt"), lambda: data("ud_ewt"), {"protocol": "zeroe", "examples": 60}),
    "sst2, deepwordbug": ("attack", lambda: restored("sst2"), lambda: data("sst2"), {"recipe": "deepwordbug", "examples": 60}),
    "sst2, pwws": ("attack", lambda: restored("sst2"), lambda: data("sst2"), {"recipe": "pwws", "examples": 40}),
    "davidson, tt-deepwordbug": (
        "attack", lambda: restored("davidson"), lambda: data("davidson"), {"recipe": "tt-deepwordbug", "examples": 60},
    ),
}  # fmt: skip


def measured(command: str, model: Any, source: Any, settings: dict[str, Any]) -> tuple[float, float, str]:
    """Runs one. Returns the seconds that were announced, those that it took, and the plan's line."""
    planned: dict[str, Any] = {}

    def say(message: str) -> None:
        if message.startswith("plan"):
            planned.update(at=time.perf_counter(), line=message.removeprefix("plan").strip())

    def show(progress: Progress) -> None:
        if progress.forecast.seconds:
            planned["forecast"] = progress.forecast

    with tempfile.TemporaryDirectory() as folder:
        run = scuff.evaluate if command == "evaluate" else scuff.attack
        run(model, source, output=str(Path(folder) / "run"), say=say, show=show, **settings)
    return planned["forecast"].total, time.perf_counter() - planned["at"], planned["line"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only runs whose name has one of these words in it")
    args = parser.parse_args()
    runs = {**RUNS, **(REAL if (SHARED / "models").is_dir() else {})}
    ratios = []
    print(f"{'run':26}{'announced':>11}{'took':>9}{'ratio':>8}")
    for name, (command, model, source, settings) in runs.items():
        if args.only and not any(word in name for word in args.only):
            continue
        announced, took, line = measured(command, model(), source(), settings)
        ratios.append(max(announced, LEAST) / max(took, LEAST))
        print(f"{name:26}{announced:9.1f} s{took:7.1f} s{ratios[-1]:8.2f}   {line}", flush=True)
    within = np.mean([1 / AIM <= ratio <= AIM for ratio in ratios])
    print(f"\nwithin a factor of {AIM:g}: {within:.0%} of {len(ratios)} (aim: 90 %)")


if __name__ == "__main__":
    main()
