"""Measures the speed of shields beside their peers, in one run on the same texts: characters and words per second, loading.

    python benchmarks/shields.py --peers PEERS              # prints tables; --json FILE writes them, too
    python benchmarks/shields.py --peers PEERS --keep       # ... and puts them into docs/results/shields.md

One core, text in to text out, the processor's time (so that other programs do not count), the median of some parts of the texts,
none seen before, after a warm-up; `context` on two cores as well. Loading, by the clock: from the start of a process to the first
mended text. PEERS is the python of the peers' environment (benchmarks/shield_peers.py has the command that makes it). Needs the
shared data (SCUFF_SHARED, default ../shared). Letters of other scripts are put in for Latin ones, since no such texts are there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
import restoration_page as page
from restoration import mend_all
from restoration_measures import words
from restoration_texts import SEED, SHARED, domain, natural_errors
from scuff.perturbations.plan import Plan
from scuff.shields import parse

NORMALISERS = ("unidecode", "anyascii", "decancer", "ftfy")
SPELLERS = ("symspell", "symspell-compound", "symspell-split", "pyspellchecker")
CHARACTERS = 1_500_000
FAST, NORMALISE, TIMES, CONTEXT = (
    1.0,
    20.0,
    3.0,
    5000,
)  # aims: million characters, the same, times every peer, words on two cores
SCRIPTS = (
    "абвгдежзийклмнопрстуфхцчшщ", "αβγδεζηθικλμνξοπρστυφχψως", "אבגדהוזחטיכלמנסעפצקרשתםןף", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "अआइईउऊएकखगघचछजटठडतथदधनपफबमय",
)  # fmt: skip


def english() -> list[str]:
    texts = [text for name in ("news", "Wikipedia", "reviews") for text in domain(name, "train")]
    random.Random(SEED).shuffle(texts)
    return texts


def kinds() -> dict[str, list[str]]:
    """Texts by kind, each of about CHARACTERS characters."""
    plain = enough([text for text in english() if text.isascii()])
    accented = []
    for name in ("multi30k_fr_en", "multi30k_cs_en", "multi30k_de_en"):
        with gzip.open(SHARED / "data" / name / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
            column = [json.loads(line) for line in lines]
        accented += [row["source" if not row["source"].isascii() else "target"] for row in column[:12_000]]
    random.Random(SEED).shuffle(accented)
    part = enough(plain, CHARACTERS // 3)
    attacked = [
        text for spec in ("homoglyph", "visual", "invisible") for text in Plan.of(spec, 0.5, SEED, None, ()).texts(part)
    ]
    other = []
    for number, text in enumerate(plain):
        script = SCRIPTS[number % len(SCRIPTS)]
        other.append(text.lower().translate({97 + at: script[at % len(script)] for at in range(26)}))
    return {"ASCII": plain, "accented": enough(accented), "attacked": attacked, "other scripts": other}


def enough(texts: Sequence[str], characters: int = CHARACTERS) -> list[str]:
    """The first texts that have so many characters together."""
    out, size = [], 0
    for text in texts:
        if size >= characters:
            break
        out.append(text)
        size += len(text)
    return out


def noisy(characters: int) -> list[str]:
    """English, half of whose words are changed by one of the ten perturbations of Zéroe."""
    some = enough(english(), characters)
    spec = "inner-shuffle|full-shuffle|intrude|disemvowel|truncate|keyboard|natural|phonetic|homoglyph"
    return Plan.of(spec, 0.5, SEED, None, ()).texts(some)


def misspelt(count: int) -> list[str]:
    """Errors of people, each a text of its own."""
    return [error for error, _ in natural_errors("dev")[:count]]


def seconds_of(spec: str, texts: Sequence[str], turns: int) -> float:
    """The processor's seconds for all texts, from the median of some parts, none of which was seen before, after a warm-up."""
    shield, whole = parse(spec), sum(map(len, texts))
    rates = []
    for turn in range(turns + 1):
        part = texts[turn :: turns + 1]
        begin = time.process_time()
        mend_all(shield, part)
        rates.append(sum(map(len, part)) / (time.process_time() - begin))
    return whole / statistics.median(rates[1:])


class Peers:
    """Fresh processes of the peers, which time their own calls."""

    def __init__(self, python: Path) -> None:
        self.command = [str(python), str(Path(__file__).with_name("shield_peers.py"))]

    def seconds(self, tool: str, texts: Sequence[str], turns: int = 3) -> float:
        asked = json.dumps({"tool": tool, "texts": list(texts)})
        lines = subprocess.run(
            self.command, input="\n".join([asked] * turns), capture_output=True, text=True, check=True
        )
        return statistics.median(json.loads(line)["seconds"] for line in lines.stdout.splitlines())

    def load(self, tool: str) -> float:
        begin = time.perf_counter()
        self.seconds(tool, ["Warm up, plaese."], 1)
        return time.perf_counter() - begin


# ---- our shields in processes of their own: loading, and two cores ----


def child(spec: str, characters: int) -> None:
    """Says when a shield is loaded; then, when told, how long it takes for some words."""
    shield = parse(spec)
    mend_all(shield, ["Warm up, plaese, with h3lp."])
    print("loaded", flush=True)
    texts = noisy(characters)
    count = sum(len(words(text)) for text in texts)
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.process_time()
    mend_all(shield, texts)
    print(json.dumps({"words": count, "seconds": time.process_time() - begin}), flush=True)


def children(spec: str, cores: Sequence[int], characters: int) -> tuple[float, float]:
    """Words per second of a process on each core, all at the same time, and the seconds to load the first."""
    started, load = [], 0.0
    for core in cores:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, __file__, "--child", spec, "--characters", str(characters)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, [core])
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        process.stdout.readline()
        load = load or time.perf_counter() - begin
        process.stdout.readline()
        started.append((process.stdin, process))
    for told, _ in started:
        told.write("go\n")
        told.flush()
    answers = [json.loads(process.communicate()[0]) for _, process in started]
    return sum(answer["words"] / answer["seconds"] for answer in answers), load


# ---- tables ----


def normalisers(peers: Peers, turns: int) -> tuple[dict[str, Any], list[list[Any]]]:
    head = ["normalisers, M chars/s", "`normalise`", *(f"`{name}`" for name in NORMALISERS), "times the fastest peer"]
    rows, aims = [], []
    slowest = least = float("inf")
    for kind, texts in kinds().items():
        size = sum(map(len, texts)) / 1e6
        ours = size / seconds_of("normalise", texts, turns)
        theirs = [size / peers.seconds(name, texts) for name in NORMALISERS]
        rows.append([kind, *(f"{rate:.1f}" for rate in (ours, *theirs)), f"{ours / max(theirs):.1f}"])
        slowest, least = min(slowest, ours), min(least, ours / max(theirs))
        if kind == "ASCII":
            aims.append(["`normalise`, clean ASCII, M chars/s", f"{NORMALISE:.0f}", f"{ours:.1f}", ours >= NORMALISE])
    aims.append(
        ["`normalise`, slowest kind of text, M chars/s", f"{NORMALISE:.0f}", f"{slowest:.1f}", slowest >= NORMALISE]
    )
    aims.append(
        ["`normalise`, times the fastest peer, worst kind of text", f"{TIMES:.0f}", f"{least:.1f}", least >= TIMES]
    )
    return {"head": head, "rows": rows}, aims


def chains(turns: int) -> tuple[dict[str, Any], list[list[Any]]]:
    rows, aims = [], []
    for kind, texts in (("clean", enough(english())), ("half of the words changed", noisy(CHARACTERS // 2))):
        size, count = sum(map(len, texts)) / 1e6, sum(len(words(text)) for text in texts)
        for spec in ("deobfuscate", "restore", "fast"):
            took = seconds_of(spec, texts, turns)
            rows.append([f"`{spec}`, {kind}", f"{size / took:.2f}", f"{count / took:,.0f}"])
            if spec == "fast":
                aims.append([f"`fast`, {kind}, M chars/s", f"{FAST:.0f}", f"{size / took:.2f}", size / took >= FAST])
    return {"head": ["chains, one core", "M chars/s", "words/s"], "rows": rows}, aims


def context(characters: int) -> tuple[dict[str, Any], list[list[Any]]]:
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0, 1]
    rows, rate = [], 0.0
    for name, some in (("one core", cores[:1]), ("two cores, a process on each", cores[:2])):
        rate, load = children("context", some, characters)
        rows.append([f"`context`, half of the words changed, {name}", f"{rate:,.0f}", f"{load:.2f}"])
    aims = [["`context`, two cores, words/s", f"{CONTEXT:,}", f"{rate:,.0f}", rate >= CONTEXT]]
    return {"head": ["context", "words/s", "seconds to load"], "rows": rows}, aims


def spellers(peers: Peers, turns: int, there: Sequence[str]) -> dict[str, Any]:
    many, some, few = misspelt(24_000), misspelt(3000), misspelt(60)
    cores = sorted(os.sched_getaffinity(0))[:1] if hasattr(os, "sched_getaffinity") else [0]
    rows = []
    for spec in there:
        texts = some if spec == "context" else many
        took = seconds_of(spec, texts, turns)
        _, load = children(spec, cores, 1000)
        rows.append([f"`{spec}`", f"{len(texts) / took:,.0f}", f"{load:.2f}"])
    for name in SPELLERS:
        texts = few if name == "pyspellchecker" else many
        rate = len(texts) / peers.seconds(name, texts, 1)
        rows.append([f"`{name}`", f"{rate:,.0f}", f"{peers.load(name):.2f}"])
    return {"head": ["misspelt words, one core", "words/s", "seconds to load"], "rows": rows}


def with_earlier(found: dict[str, Any]) -> dict[str, Any]:
    """What was found, and the tables and aims of earlier runs that this one did not measure."""
    before = page.read().get("speed", {"tables": [], "aims": []})
    tables = {made["head"][0]: made for made in (*before["tables"], *found["tables"])}
    aims = {aim[0]: aim for aim in (*before["aims"], *found["aims"])}
    return {**found, "tables": list(tables.values()), "aims": list(aims.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="python of the peers' environment")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the tables to this file, too")
    parser.add_argument("--keep", action="store_true", help="put the tables into docs/results/shields.md; others stay")
    parser.add_argument("--characters", type=int, default=150_000, help="for `context`")
    parser.add_argument("--only", nargs="+", choices=["normalisers", "chains", "context", "spellers"])
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child, args.characters)
        return
    if not (SHARED / "data").is_dir():
        sys.exit(f"needs the shared data in {SHARED} (SCUFF_SHARED)")
    if args.peers is None or not args.peers.is_file():
        sys.exit(
            "needs the python of the peers' environment for --peers: benchmarks/shield_peers.py says how to make it"
        )
    wanted, peers = args.only or ["context", "normalisers", "chains", "spellers"], Peers(args.peers)
    tables, aims = [], []
    if "context" in wanted:  # before this process is bound to one core
        made, more = context(args.characters)
        tables.append(made)
        aims += more
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the peers' processes, too: all on the same core
    if "normalisers" in wanted:
        made, more = normalisers(peers, args.turns)
        tables.insert(0, made)
        aims = more + aims
    if "chains" in wanted:
        made, more = chains(args.turns)
        tables.append(made)
        aims += more
    if "spellers" in wanted:
        tables.append(spellers(peers, args.turns, ("fast", "context")))
    found = {"tables": tables, "aims": aims, "python": platform.python_version(), "date": time.strftime("%Y-%m-%d")}
    print("\n\n".join(page.table(made["head"], made["rows"]) for made in tables))
    print("\n" + page.table(["aim", "at least", "found", "met"], [[*map(str, aim)] for aim in aims]))
    if args.json:
        args.json.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if args.keep:
        page.keep({"speed": with_earlier(found)})
        page.write()


if __name__ == "__main__":
    main()
