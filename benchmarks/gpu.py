"""Measures how busy attacks and evaluations keep a GPU, beside the limits of the same machine, and where the time goes.

  python benchmarks/gpu.py MODEL DATA [DATA ...] [--workers 15] [--recipes deepwordbug pwws] [--examples 20000]
  python benchmarks/gpu.py MODEL DATA --only robtest --robtest 1000 100       (examples and cases; 0: not at all)
  python benchmarks/gpu.py MODEL DATA --only same --same 1 4 16               (the same bytes for any number of workers?)

For each recipe: `scuff.attack` in this process, whose victim notes the texts; the pure forward pass of these texts (ready on the
GPU, in the same shapes, all of them full, as CUDA graphs); cutting them into pieces; the search with all answers known by heart
(both without start and report, which a run with one query per example takes, too); and `scuff.attack` with workers that ask this
process. Queries a second are *sustained*: from the first request of a worker to the last answer; `whole` has the start of workers
and the report in it. The share is that of the pure forward pass. Workers' time is split into search (with making texts),
tokenising and waiting. Prints JSON lines, and then a table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from scuff.evaluation.dimensions import COLUMNS
from scuff.huggingface.batches import encode
from scuff.huggingface.loading import answering
from scuff.metrics.meaning import usual_meaning
from scuff.victims.base import Outputs
from scuff.victims.huggingface import Transformer, load

NOTED = 1000  # examples whose texts are the sample for the limits
REPLAYS = 20
Row = dict[str, Any]


def say(rows: list[Row], **row: Any) -> Row:
    """Prints a row of results and keeps it."""
    rows.append(row)
    print(json.dumps(row), flush=True)
    return row


def read(files: Sequence[str]) -> list[dict[str, Any]]:
    """All examples of some files."""
    out = []
    for file in files:
        with gzip.open(file, "rt") if file.endswith(".gz") else open(file, encoding="utf-8") as lines:
            out += [json.loads(line) for line in lines]
    return out


def noting(victim: Transformer, known: dict[str, Any], replay: bool) -> type:
    """A class of victims that note their answers or, if replay, know them by heart."""
    kind = type(victim)

    class Noting(kind):  # type: ignore[misc, valid-type]
        def __call__(self, *columns: Sequence[str]) -> Outputs:
            if replay and all(text in known for text in columns[0]):
                return Outputs.of(np.stack([known[text] for text in columns[0]]))
            found: Outputs = kind.__call__(self, *columns)
            known.update(zip(columns[0], found.answers, strict=True))
            return found

    return Noting


def attacked(model: Any, data: Any, recipe: str, folder: Path, examples: int, **more: Any) -> tuple[float, Any]:
    """Seconds and result of an attack. Meaning is measured by chrF, so that no second network runs."""
    begin = time.perf_counter()
    done = scuff.attack(model, data, recipe, folder, examples=examples, encoder="chrf", **more)
    return time.perf_counter() - begin, done


def forward_limit(victim: Transformer, texts: Sequence[str]) -> tuple[float, dict[int, float]]:
    """Texts a second of the network alone, and the seconds of a batch of each width."""
    import torch

    stream, pieces = victim.stream, encode(victim.tokenizer, [texts], victim.max_length)
    width = np.array(stream.widths)[np.searchsorted(stream.widths, pieces.length)]
    each, total = {}, 0.0
    with answering(victim.model):
        for wide in stream.widths:
            if not (rows := int((width == wide).sum())):
                continue
            shape = stream.shape(wide)
            _replay(shape)
            torch.cuda.synchronize() if shape.input.is_cuda else None
            begin = time.perf_counter()
            for _ in range(REPLAYS if shape.input.is_cuda else 1):
                _replay(shape)
            torch.cuda.synchronize() if shape.input.is_cuda else None
            each[wide] = (time.perf_counter() - begin) / (REPLAYS if shape.input.is_cuda else 1)
            total += rows / (shape.rows - 1) * each[wide]
    return len(texts) / total, each


def _replay(shape: Any) -> None:
    if shape.graph is None:
        shape._pass()
    else:
        shape.graph.replay()


def recipe_rows(
    rows: list[Row], victim: Transformer, data: Any, recipe: str, args: argparse.Namespace, folder: Path
) -> None:
    """Measures one recipe."""
    kind, known = type(victim), dict[str, Any]()
    few = min(NOTED, args.examples)
    victim.__class__ = noting(victim, known, replay=False)
    attacked(victim, data, recipe, folder / "warm", few)
    alone, _ = attacked(victim, data, recipe, folder / "noted", few)
    victim.__class__ = noting(victim, known, replay=True)
    start, _ = attacked(victim, data, recipe, folder / "start", few, max_queries=1)
    heart, again = attacked(victim, data, recipe, folder / "heart", few)
    victim.__class__ = kind
    queries = again.summary["queries"]["total"]
    texts = list(known)
    limit, each = forward_limit(victim, texts)
    begin = time.perf_counter()
    for at in range(0, len(texts), 2048):
        encode(victim.tokenizer, [texts[at : at + 2048]], victim.max_length)
    cutting = len(texts) / (time.perf_counter() - begin)
    pieces = np.mean(encode(victim.tokenizer, [texts], victim.max_length).length)
    say(
        rows, what="limits", recipe=recipe, texts=len(texts), pieces=round(float(pieces), 1), forward=round(limit),
        tokenise=round(cutting), by_heart=round(queries / (heart - start)), one_process=round(queries / (alone - start)),
        milliseconds={str(wide): round(1e3 * seconds, 3) for wide, seconds in each.items()}, batch_tokens=victim.batch_tokens,
        backend=victim.backend,
    )  # fmt: skip
    for workers in args.workers:
        before = dict(victim.stream.sent)
        seconds, done = attacked(victim, data, recipe, folder / f"run-{workers}", args.examples, workers=workers)
        timing: Any = done.timings[-1]
        service, asked = timing["service"], timing["service"]["asked_seconds"]
        sent = {wide: count - before[wide] for wide, count in victim.stream.sent.items() if count > before[wide]}
        gpu = sum(count * each.get(wide, 0.0) for wide, count in sent.items())
        in_victim, waited = timing["victim_seconds"], service["waited_seconds"]
        say(
            rows, what="attack", recipe=recipe, workers=workers, examples=args.examples, queries=timing["queries"],
            sustained=round(service["rows"] / asked), whole=round(timing["queries"] / seconds), seconds=round(seconds, 1),
            share=round(service["rows"] / asked / limit, 3), asked_seconds=asked, gpu_busy=round(gpu / asked, 3),
            batches_full=_fill(victim, sent, service["rows"]), workers_search=round(1 - in_victim / (workers * asked), 3),
            workers_tokenise=round((in_victim - waited) / (workers * asked), 3),
            workers_wait=round(waited / (workers * asked), 3), rows_a_request=round(service["rows"] / service["requests"]),
            victim_seconds=in_victim, service=service, batches={str(wide): count for wide, count in sent.items()},
        )  # fmt: skip


def _fill(victim: Transformer, sent: dict[int, int], rows: float) -> float:
    """Which share of the rows of all batches were texts."""
    return round(rows / max(1, sum(count * (victim.stream.rows_of(wide) - 1) for wide, count in sent.items())), 3)


def robtest(rows: list[Row], model: str, data: Any, args: argparse.Namespace, folder: Path) -> None:
    """RobTest's protocol by rules."""
    examples, cases = args.robtest
    for workers in args.workers[-1:]:
        begin = time.perf_counter()
        scuff.evaluate(
            model, data, folder / "robtest", dimensions=args.columns, examples=examples, cases=cases, access=["rule"],
            workers=workers, encoder=args.encoder, options={"device": args.device},
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        timing = json.loads((folder / "robtest" / "timings.json").read_text())[-1]
        say(
            rows, what="robtest", workers=workers, examples=examples, cases=cases, columns=len(args.columns),
            seconds=round(seconds, 1), queries=timing["queries"], whole=round(timing["queries"] / seconds), timing=timing,
        )  # fmt: skip


def digest(folder: Path) -> str:
    """Of all files of a run but timings.json, and run.json, which says how many workers there were."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name not in ("timings.json", "run.json")
    )
    return sha256(b"".join(sha256(path.name.encode() + path.read_bytes()).digest() for path in files)).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data", nargs="+", help="JSON lines, perhaps compressed")
    parser.add_argument("--workers", type=int, nargs="+", default=[max(2, (os.cpu_count() or 2) - 1)])
    parser.add_argument("--recipes", nargs="*", default=["deepwordbug", "pwws"])
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--robtest", type=int, nargs=2, default=(1000, 100), metavar=("EXAMPLES", "CASES"))
    parser.add_argument("--columns", nargs="+", default=list(COLUMNS))
    parser.add_argument(
        "--encoder", default=usual_meaning(), help="measures degrees of meaning: minilm, chrf or a folder"
    )
    parser.add_argument(
        "--same", type=int, nargs="*", default=[1, 4, 16], help="numbers of workers to compare the bytes of"
    )
    parser.add_argument(
        "--only", nargs="+", default=["recipes", "same", "robtest"], choices=["recipes", "same", "robtest"]
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch-tokens", type=int)
    parser.add_argument("--out", help="a file for the JSON lines")
    args = parser.parse_args()
    rows: list[Row] = []
    data = read(args.data)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if "recipes" in args.only:
            victim = load(args.model, "single", device=args.device, batch_tokens=args.batch_tokens)
            for recipe in args.recipes:
                recipe_rows(rows, victim, data, recipe, args, folder / recipe)
        for recipe in args.recipes if "same" in args.only else ():
            found = {}
            for workers in args.same:
                place = folder / f"same-{recipe}-{workers}"
                attacked(args.model, data, recipe, place, 400, workers=workers, options={"device": args.device})
                found[workers] = digest(place)
            say(rows, what="same bytes", recipe=recipe, same=len(set(found.values())) == 1, digests=found)
        if "robtest" in args.only and args.robtest[0]:
            robtest(rows, args.model, data, args, folder)
    if args.out:
        Path(args.out).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    print(
        "\n| what | workers | queries/s | share of the forward pass | search | tokenise | wait | GPU busy | batches full |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        if row["what"] == "limits":
            print(f"| {row['recipe']}: pure forward pass | | {row['forward']:,} | 1 | | | | | |")
            print(f"| {row['recipe']}: tokenising, one process | | {row['tokenise']:,} | | | | | | |")
            print(f"| {row['recipe']}: search by heart, one process | | {row['by_heart']:,} | | | | | | |")
            print(f"| {row['recipe']}: one process | 1 | {row['one_process']:,} | | | | | | |")
        elif row["what"] == "attack":
            parts = [
                row[name]
                for name in ("share", "workers_search", "workers_tokenise", "workers_wait", "gpu_busy", "batches_full")
            ]
            print(
                f"| {row['recipe']}, sustained | {row['workers']} | {row['sustained']:,} | {' | '.join(map(str, parts))} |"
            )
        elif row["what"] == "robtest":
            print(f"| RobTest, {row['seconds']} s | {row['workers']} | {row['whole']:,} | | | | | | |")
        else:
            print(
                f"| {row['recipe']}: same bytes for {', '.join(map(str, row['digests']))} workers: {row['same']} |"
                + " |" * 8
            )
    sys.exit(0 if all(row.get("same", True) for row in rows) else 1)


if __name__ == "__main__":
    main()
