"""Compares search attacks with TextAttack's: the same victim, goal, recipe and examples, in one run; prints ratios.

  python benchmarks/attack.py [MODEL DATA] [--examples 100] [--recipes deepwordbug pwws] [--rounds 3] [--skip-plain]

The examples are the first that the victim gets right. Each round is a seed: TextAttack (benchmarks/textattack_side.py, in its own
environment) attacks them one by one, Scuff through `scuff.attack`, everything included (pre-flight, run folder, summary, report);
then the limit is measured: the same model on the texts that Scuff has just asked about, ready-made, sorted by length, in full
batches of the best of some sizes, forward only and with tokenising. Both models are loaded and have attacked something before
the clock starts. Wrappers of TextAttack's: `plain` is its default, which pads every text to 512 pieces; `dynamic` pads to the
longest text of a call and is the one to beat. Plain is slow: it runs for --seconds, and if that is too short for all examples,
only its seconds per query are compared, which hardly depend on the texts; its success is not. McNemar's counts are summed over
rounds; the counts of one seed against the next of the same side show how much of them is chance.

What differs between the two sides, beside speed:
- Queries. TextAttack counts the original, every hidden word and every candidate, again where its cache answers (PWWS asks for the
  candidates of the first word twice) and where two candidates are equal. Scuff counts every text of an example once. "seen" is
  what the model got.
- Words. TextAttack's are runs of \\w and ' - _ * @ between blanks without ' - _ * @ at their ends; a candidate is split anew, so
  words can merge or vanish. Scuff's are spans of the original and stay; "_" and "@" end a word. The share of changed words, of
  successes only, counts each side's own words; punctuation is in neither.
- Stop words, which neither side hides or changes. TextAttack: NLTK's English list, case-sensitive, with the pieces of
  contractions ("s", "t", "don"). Scuff: its own list, longer, in any case. --show 20 lists what only one side hides.
- Ranking. TextAttack hides every word that is no stop word. Scuff hides those for which it has a candidate: fewer queries, and
  in PWWS a softmax over fewer words. [UNK] stands for a hidden word on both sides.
- DeepWordBug's draws: one swap, substitution, deletion and insertion of a letter per word on both sides, from other generators,
  so single examples differ from seed to seed on either side. TextAttack: ASCII letters in any case (the victim here is uncased);
  digits and inner - ' are letters, too; insertion before a letter; nothing for words of one character; a draw that changes
  nothing (the same letter, two equal neighbours) is one candidate less. Scuff: another letter in the same case, before or after
  one, always a change where one is possible; words of one letter can be replaced or added to.
- PWWS's candidates. TextAttack: all lemmas of all synsets, as any part of speech, of NLTK's WordNet (offline here: Open English
  WordNet, without named entities), among them the base form of the word itself, not inflected, in WordNet's case, no phrases.
  Scuff: the same of its own table of WordNet 3.0, with very alike adjectives of a cluster, in the case of the
  word. What each side asked is counted below: texts with one word of an original changed. Names are not replaced by either.
- PWWS's order. TextAttack multiplies the softmax of the scores after hiding by the best score that a candidate reaches; Scuff, as
  the paper, by how much that is more than the original's.
- Ties. TextAttack takes the first by text of equal scores; Scuff the first proposed of those within 1e-5, and less than that is
  no gain.
- Floating point. TextAttack's calls hold the candidates of one example, Scuff's those of many by length: scores differ in their
  last digits.
- Beside the search. Scuff writes its run folder and report inside the clock; meaning is measured by chrF (encoder="chrf"), since
  TextAttack's recipes measure none.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

import scuff
from evaluate import bare_model, default_victim, plain_way
from scuff.metrics.interval import Z, wilson
from scuff.victims.open import open_victim

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
PEERS = Path(os.environ.get("SCUFF_PEERS", Path.home() / ".cache/scuff-peers"))
UNKNOWN = "[UNK]"  # stands for a word while its importance is measured
SIZES = (512, 1024, 2048, 4096)  # pieces per batch: the limit is the best of them
ENOUGH = 1000  # texts to measure the limit with
WARM = 10  # examples that Scuff attacks before the clock starts
Side = dict[str, Any]  # as textattack_side.py prints it
Change = tuple[int, int, str, str]  # text, word, old, new
Limit = tuple[float, float, int]  # texts per second, the same with tokenising, pieces per batch


def choose(victim: Any, data: str, count: int) -> list[dict[str, str]]:
    """Returns the first examples that the victim gets right."""
    with (gzip.open if data.endswith(".gz") else open)(data, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found: list[dict[str, str]] = []
    for at in range(0, len(rows), 256):
        some = rows[at : at + 256]
        said = victim([row["text"] for row in some]).answers.argmax(1)
        right = (row for row, number in zip(some, said, strict=True) if victim.labels[number] == row["label"])
        found += [{"text": row["text"], "label": row["label"]} for row in right]
        if len(found) >= count:
            break
    return [{"id": str(at), **row} for at, row in enumerate(found[:count])]


def write(rows: list[dict[str, str]], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def textattack(python: Path, asked: Path, **settings: Any) -> Side:
    """Runs TextAttack's side in its own environment and returns what it printed, with the texts that its model saw."""
    command = [str(python), str(Path(__file__).parent / "textattack_side.py"), "--asked", str(asked)]
    command += [f"--{name}={value}" for name, value in settings.items()]
    where = {"NLTK_DATA": str(SHARED / "data/nltk_data"), "TA_CACHE_DIR": str(PEERS / "ta_cache"), **os.environ}
    done = subprocess.run(command, env=where, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"TextAttack's side failed:\n{done.stderr[-3000:]}")
    side: Side = json.loads(done.stdout.splitlines()[-1])
    side["asked"] = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()]
    return side


def ours(victim: Any, data: Path, recipe: str, seed: int, examples: int, folder: Path) -> Side:
    """Returns the same figures for `scuff.attack` with a loaded model."""
    kind, asked = type(victim), []

    class Noting(kind):  # type: ignore[misc, valid-type]
        def __call__(self, *columns: Sequence[str]) -> Any:
            asked.append(columns[0])
            return kind.__call__(self, *columns)

    victim.__class__ = Noting
    begin = time.perf_counter()
    done = scuff.attack(victim, str(data), recipe, folder, seed=seed, examples=examples, encoder="chrf")
    seconds = time.perf_counter() - begin
    victim.__class__ = kind
    texts = [text for column in asked for text in column]
    each = [
        {"success": line["status"] == "succeeded", "skipped": line["status"] == "skipped", "queries": line["queries"]}
        for line in sorted(done.lines, key=lambda line: int(line["id"]))
    ]
    return {
        "attacked": len(each), "skipped": sum(one["skipped"] for one in each), "examples": each, "seconds": seconds,
        "success": done.summary["success"]["value"], "changed": done.summary["changed"]["mean"],
        "queries": done.summary["queries"]["total"], "mean_queries": done.summary["queries"]["mean"],
        "forwards": len(texts), "calls": len(asked), "victim_seconds": done.timings[-1]["victim_seconds"], "asked": texts,
    }  # fmt: skip


def limits(victim: Any, texts: Sequence[str]) -> Limit:
    """Returns texts per second, forward only and with tokenising, and the pieces per batch at which the model is fastest."""
    distinct = sorted(dict.fromkeys(texts), key=len)
    some = distinct[:: max(1, len(distinct) // ENOUGH)]
    best, size = max((bare_model(victim, some, size), size) for size in {*SIZES, victim.batch_tokens or SIZES[0]})
    return best, len(some) / sum(plain_way(victim, some, size)), size


def single_changes(originals: list[str], asked: Sequence[str]) -> tuple[set[Change], set[Change]]:
    """Returns the changes in asked texts that differ from an original in one word (between blanks): hidden, and replaced."""
    holes = {}
    for at, text in enumerate(originals):
        words = text.split()
        holes.update({(*words[:k], None, *words[k + 1 :]): (at, k, word) for k, word in enumerate(words)})
    hidden: set[Change] = set()
    changed: set[Change] = set()
    for text in asked:
        words = text.split()
        for k, word in enumerate(words):
            hole = holes.get((*words[:k], None, *words[k + 1 :]))
            if hole and word != hole[2]:
                (hidden if UNKNOWN in word else changed).add((*hole, word))
    return hidden, changed


def say_changes(originals: list[str], theirs: Side, scuffs: Side, show: int) -> None:
    """Prints how many words each side hid and replaced, and the most frequent ones that only one side did."""
    both = [single_changes(originals, side["asked"]) for side in (theirs, scuffs)]
    for at, name in enumerate(("TextAttack", "Scuff")):
        (hidden, changed), (other_hidden, other_changed) = both[at], both[1 - at]
        places = len({change[:2] for change in changed})
        per_word = (
            f"{len(changed):,} candidates for {places:,} words of originals, {len(changed) / max(1, places):.2f} each"
        )
        print(f"  {name} asked with {len(hidden):,} words hidden, and for {per_word}")
        for what, mine, other in (("hidden", hidden, other_hidden), ("candidates", changed, other_changed)):
            only = Counter(old if what == "hidden" else f"{old}>{new}" for _, _, old, new in mine - other)
            most = ", ".join(f"{word} {count}" for word, count in only.most_common(show))
            print(f"    only here: {sum(only.values()):,} {what}" + f": {most}" * (show > 0))


def apart(first: Side, second: Side) -> tuple[int, int]:
    """Returns McNemar's counts: examples where only the first, and where only the second succeeds."""
    pairs = [(a["success"], b["success"]) for a, b in zip(first["examples"], second["examples"], strict=True)]
    return pairs.count((True, False)), pairs.count((False, True))


def row(name: str, sides: list[Side], limit: list[float]) -> str:
    """Returns a table row: medians over rounds; success over all rounds, its interval for the number of examples."""
    share, count = mean(side["success"] for side in sides), sides[0]["attacked"] - sides[0]["skipped"]
    low, high = wilson(share, count)
    changed = mean(side["changed"] or 0 for side in sides)
    speed, seen = ([side[what] / side["seconds"] for side in sides] for what in ("queries", "forwards"))
    engine, model = (median(a / b for a, b in zip(rates, limit, strict=True)) for rates in (speed, seen))
    figures = f"{share:.1%} ({low:.0%} to {high:.0%}) | {mean(s['mean_queries'] for s in sides):.1f} | {changed:.1%}"
    times = f"{median(side['seconds'] for side in sides):.1f} | {median(speed):.0f} | {engine:.2f} ({model:.2f})"
    inside = median(side["victim_seconds"] / side["seconds"] for side in sides)
    texts = mean(side["forwards"] / side["calls"] for side in sides)
    return f"| {name} | {count} x {len(sides)} | {figures} | {times} | {inside:.0%} | {texts:.1f} |"


def compare(recipe: str, originals: list[str], sides: dict[str, list[Side]], limit: list[Limit], show: int) -> None:
    """Prints the table of a recipe and the ratios between the sides."""
    forward = [one[0] for one in limit]
    said = ", ".join(f"{bare:.0f} ({whole:.0f} with tokenising, {size} pieces a batch)" for bare, whole, size in limit)
    print(f"\n{recipe}; ready-made texts per second, round by round: {said}\n")
    print(
        "| | examples x rounds | success | queries | words changed | seconds | queries/s | of the limit (texts seen)",
        end="",
    )
    print(" | inside the model | texts a call |\n|---|---|---|---|---|---|---|---|---|---|")
    for name, found in sides.items():
        print(row(name, found, forward[: len(found)]))
    scuffs = sides["Scuff"]
    rate = median(side["seconds"] / side["queries"] for side in scuffs)
    for wrapper in ("dynamic", "plain"):
        for_it = sides.get(f"TextAttack {wrapper}", [])
        if for_it and for_it[0]["attacked"] == scuffs[0]["attacked"]:
            ratio = median(a["seconds"] / b["seconds"] for a, b in zip(for_it, scuffs, strict=False))
            print(f"  wall time, TextAttack {wrapper} over Scuff: {ratio:.1f}")
        if for_it:
            ratio = median(side["seconds"] / side["queries"] for side in for_it) / rate
            print(
                f"  seconds per query, TextAttack {wrapper} over Scuff: {ratio:.1f} ({for_it[0]['attacked']} examples)"
            )
    if theirs := sides.get("TextAttack dynamic"):
        counts = np.sum([apart(a, b) for a, b in zip(theirs, scuffs, strict=True)], axis=0)
        print(f"  only TextAttack succeeds {counts[0]}, only Scuff {counts[1]} times in {len(theirs)} rounds")
        for name, some in (("TextAttack", theirs), ("Scuff", scuffs)):
            if len(some) > 1:
                print(
                    f"  {name}, a seed and the next: {', '.join(f'{a} and {b}' for a, b in map(apart, some, some[1:]))}"
                )
        scuff_asks = np.array([[one["queries"] for one in side["examples"]] for side in scuffs])
        for what, said in (("queries", "TextAttack's queries"), ("seen", "texts that TextAttack's model saw")):
            they_ask = np.array([[one[what] for one in side["examples"]] for side in theirs])
            more = (scuff_asks - they_ask).mean(axis=0)
            print(
                f"  Scuff's queries per example less {said}: {more.mean():+.1f} +- {Z * more.std() / len(more) ** 0.5:.1f}"
            )
        say_changes(originals, theirs[0], scuffs[0], show)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", nargs="*", metavar="MODEL DATA", help="default: the shared victim for sst2, its dev set"
    )
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--recipes", nargs="+", default=["deepwordbug", "pwws"], choices=["deepwordbug", "pwws"])
    parser.add_argument("--wrapper", nargs="+", default=["dynamic", "plain"], choices=["dynamic", "plain"])
    parser.add_argument("--skip-plain", dest="wrapper", action="store_const", const=["dynamic"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="for the plain wrapper, per recipe")
    parser.add_argument("--peer-python", type=Path, default=PEERS / "venv-ta/bin/python")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of torch, on both sides")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--show", type=int, default=0, help="list this many words and candidates that only one side asked about"
    )
    args = parser.parse_args()
    if not args.peer_python.exists():
        sys.exit(
            f"expected TextAttack's Python for --peer-python, got {args.peer_python}: SCUFF_SHARED/peers/make_venvs.sh"
        )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model, data = args.what or default_victim(folder, "dev")
        victim: Any = open_victim(model, "single", (), {"device": args.device, "threads": args.threads})
        rows = choose(victim, data, args.examples)
        few, all_of_them = write(rows[:WARM], folder / "few.jsonl"), write(rows, folder / "examples.jsonl")
        print(f"{len(rows)} examples of {Path(data).name}, {Path(model).name}, {args.threads} threads, {args.device}")
        for recipe in args.recipes:
            common = {
                "model": model,
                "data": all_of_them,
                "recipe": recipe,
                "threads": args.threads,
                "device": args.device,
            }
            sides: dict[str, list[Side]] = {**{f"TextAttack {name}": [] for name in args.wrapper}, "Scuff": []}
            limit = []
            ours(victim, few, recipe, 0, WARM, folder / f"{recipe}-warm")
            for seed in range(args.rounds):
                for wrapper in args.wrapper if seed == 0 else set(args.wrapper) - {"plain"}:
                    stop = {"seconds": args.seconds} if wrapper == "plain" else {}
                    settings = {**common, "wrapper": wrapper, "seed": seed, **stop}
                    sides[f"TextAttack {wrapper}"].append(textattack(args.peer_python, folder / "asked", **settings))
                sides["Scuff"].append(ours(victim, all_of_them, recipe, seed, len(rows), folder / f"{recipe}-{seed}"))
                limit.append(limits(victim, sides["Scuff"][-1]["asked"]))
            compare(recipe, [row["text"] for row in rows], sides, limit, args.show)


if __name__ == "__main__":
    main()
