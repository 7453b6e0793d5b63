"""Measures what shields mend, beside their peers on the same texts: words restored, clean words harmed, people's own errors.

    python benchmarks/restoration.py run --out WORK --peers PEERS     # test parts, all tools; goes on where it stopped
    python benchmarks/restoration.py run --out WORK --part dev --tools fast --groups published clean   # while building
    python benchmarks/restoration.py show --out WORK --part dev       # a short table of what is there
    python benchmarks/restoration.py keep --out WORK                  # numbers to docs/results/shields.json, then the page
    python benchmarks/restoration.py page                             # docs/results/shields.md from docs/results/shields.json

A tool is a name or spec of shields (`normalise+restore`) or a peer (benchmarks/shield_peers.py has the command that makes their
environment). WORK has one file per tool and batch of texts, which is used again as long as tool and texts are the same. Numbers
only, no texts. Needs the shared data (SCUFF_SHARED, default ../shared); dev parts are those for choices, and three domains have
none.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
import restoration_cells as cells
import restoration_detect
import restoration_page as page
import restoration_texts as texts
from restoration_measures import lost, row, words
from restoration_texts import Batch
from scuff.shields import Shield, parse
from scuff.shields.mending import Mending
from scuff.shields.names import CHAINS, NAMES
from scuff.version import __version__

OURS = ("normalise", "fast", "context")
PEERS = (
    "unidecode",
    "anyascii",
    "decancer",
    "ftfy",
    "symspell",
    "symspell-compound",
    "symspell-split",
    "pyspellchecker",
)
TOOLS = ("nothing", *OURS, *PEERS)
GROUPS = ("clean", "published", "ours", "more", "letters", "others", "pairs", "real", "any Unicode", "detect")
SLOW = "pyspellchecker"  # some words a second


def mend_all(shield: Shield, given: Sequence[str]) -> list[str]:
    """Texts through a shield, as `scuff.shield` does it."""
    return Mending(shield).texts(given)


@cache
def peer_process(python: str, owner: int) -> subprocess.Popen[str]:
    """The peers' process of one of our processes: a forked one has to start its own."""
    command = [python, str(Path(__file__).with_name("shield_peers.py"))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask_peers(python: str, asked: dict[str, Any]) -> dict[str, Any]:
    process = peer_process(python, os.getpid())
    assert process.stdin is not None and process.stdout is not None, "both are pipes"
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline() or "{}")
    if not answer:
        raise RuntimeError(f"expected an answer of the peers' process for {asked.get('tool')}, got none")
    return answer


def stamp(tool: str) -> str:
    """Changes when what the tool does may change: our code and tables, or the peers' script."""
    here = Path(__file__).parent
    known = b""
    if tool in PEERS:
        known = (
            (here / "shield_peers.py")
            .read_bytes()
            .partition(b"# ---- lists ----")[0]
            .partition(b"import annotations")[2]
        )
    elif tool != "nothing":
        source = Path(parse.__code__.co_filename).parents[1]
        files = [*sorted((source / "shields").rglob("*.py")), *sorted((source / "text").glob("*.py"))]
        known = b"".join(file.read_bytes() for file in [*files, source / "resources" / "manifest.toml"])
    return sha256(known + (here / "restoration_measures.py").read_bytes()).hexdigest()[:12]


def measure(tool: str, batch: Batch, file: Path, python: str, twice: bool) -> str:
    """Runs a tool on a batch and writes the rows of its texts. twice: also counts texts that a second pass changes."""
    known = json.dumps([stamp(tool), batch.original, batch.attacked, batch.domain, twice], ensure_ascii=False)
    mark = sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if file.is_file() and json.loads(file.read_text(encoding="utf-8"))["mark"] == mark:
        return ""
    given = list(batch.attacked)
    shield = parse(tool) if tool not in ("nothing", *PEERS) else None
    begin = time.perf_counter()
    if shield is not None:
        mended = mend_all(shield, given)
    else:
        mended = given if tool == "nothing" else ask_peers(python, {"tool": tool, "texts": given})["texts"]
    seconds = time.perf_counter() - begin
    again = mend_all(shield, mended) if twice and shield is not None else None
    kept = {
        "mark": mark, "tool": tool, "group": batch.group, "name": batch.name, "level": batch.level,
        "seconds": round(seconds, 3), "domain": batch.domain, "ascii": [text.isascii() for text in batch.original],
        "unstable": None if again is None else sum(one != two for one, two in zip(mended, again, strict=True)),
        "rows": [row(*three) for three in zip(batch.original, given, mended, strict=True)],
    }  # fmt: skip
    if batch.group == "clean":
        kept["sure"] = [sure_harm(*pair) for pair in zip(given, mended, strict=True)]
    file.parent.mkdir(parents=True, exist_ok=True)
    spare = file.with_suffix(f".{os.getpid()}")
    spare.write_text(json.dumps(kept, separators=(",", ":")), encoding="utf-8")
    spare.replace(file)
    return f"{tool}: {batch.file} {seconds:.1f} s"


def sure_harm(original: str, mended: str) -> int:
    """How many words of a clean text are gone that were right for sure, not people's own errors or names."""
    before = words(original)
    return sum(before[at].lower() in texts.real_words() for at in lost(before, words(mended)))


def fuzz(tool: str, count: int, file: Path) -> str:
    """No string may make a shield crash: counts those that do, and those that a second pass changes."""
    given, shield, crashed, unstable = texts.fuzzed(count), parse(tool), 0, 0
    for at in range(0, count, 50):
        some = given[at : at + 50]
        try:
            once = mend_all(shield, some)
            unstable += sum(one != two for one, two in zip(once, mend_all(shield, once), strict=True))
        except Exception:
            crashed += sum(_crashes(shield, text) for text in some)
    kept = {"tool": tool, "group": "any Unicode", "texts": count, "crashed": crashed, "unstable": unstable}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept), encoding="utf-8")
    return f"{tool}: {count} strings of any Unicode, {crashed} crashed, {unstable} changed by a second pass"


def _crashes(shield: Shield, text: str) -> bool:
    try:
        mend_all(shield, [text])
    except Exception as error:
        print(f"{shield.spec} raised {error!r} for {text!a}", file=sys.stderr)
        return True
    return False


# ---- what is to be done ----


def batches(args: argparse.Namespace) -> Iterator[Batch]:
    """Everything that tools are tried on, by group."""
    if "clean" in args.groups:
        yield texts.clean(args.part, args.clean)
    for group, name, level in texts.attacks():
        if group in args.groups and (not args.only or name in args.only):
            yield texts.attacked(args.part, args.pairs if group == "pairs" else args.texts, group, name, level)
    if "real" in args.groups:
        yield from real(args)


def real(args: argparse.Namespace) -> Iterator[Batch]:
    if args.part == "test":  # written or collected for reporting only
        yield texts.disguises()
        yield texts.legitimate()
    lists = {"natural errors": texts.natural_errors(args.part)}
    if args.part == "test" and args.peers:
        lists["codespell"] = texts.shuffled(ask_peers(str(args.peers), {"pairs": "codespell"})["pairs"])
    for name, pairs in lists.items():
        yield texts.errors(name, pairs, args.errors)
        yield texts.in_sentences(name, pairs, args.part, args.errors)


def fewer(tool: str, batch: Batch, args: argparse.Namespace) -> Batch | None:
    """The texts of a batch that a tool sees; None: it does not see this batch."""
    if (
        tool == "symspell-compound" and batch.group == "pairs"
    ):  # half of the time of a whole run, and never the best peer
        return None
    if tool in PEERS and batch.group == "clean":
        batch = batch.part(args.peer_clean)
    if tool == SLOW:
        wanted = (
            batch.name in ("clean", texts.TWINS)
            or batch.group == "real"
            or (batch.group, batch.level) == ("published", 0.5)
        )
        return batch.part(args.slow * (5 if batch.group in ("clean", "real") else 1)) if wanted else None
    return batch


def run(args: argparse.Namespace) -> None:
    tools = [tool for tool in args.tools if available(tool, args)]
    folder = args.out / args.part
    jobs: list[tuple[Any, ...]] = []
    for batch in batches(args):
        for tool in tools:
            some = fewer(tool, batch, args)
            twice = batch.group in ("clean", "published", "real") and tool not in ("nothing", *PEERS)
            if some is not None:
                jobs.append((measure, tool, some, folder / name_of(tool) / some.file, str(args.peers), twice))
    ours = [tool for tool in tools if tool not in ("nothing", *PEERS)]
    if "any Unicode" in args.groups:
        jobs += [(fuzz, tool, args.fuzz, folder / name_of(tool) / "any-Unicode.json") for tool in ours]
    if "detect" in args.groups:
        jobs += restoration_detect.jobs(args, folder, stamp("detect"))
    begin = time.perf_counter()
    jobs.sort(key=lambda job: job[1] != SLOW)  # the longest first
    with ProcessPoolExecutor(args.workers) as pool:
        waiting = [pool.submit(*job) for job in jobs]
        for number, done in enumerate(as_completed(waiting), 1):
            said = done.result()
            if said and (args.verbose or number % 50 == 0):
                print(f"{number}/{len(jobs)}, {time.perf_counter() - begin:.0f} s. {said}", file=sys.stderr, flush=True)
    print(f"{len(jobs)} cells in {time.perf_counter() - begin:.0f} s", file=sys.stderr)


def about(args: argparse.Namespace) -> dict[str, Any]:
    """What the numbers depend on beside the texts."""
    versions = {}
    if args.peers:
        versions = {tool: ask_peers(str(args.peers), {"tool": tool, "texts": []})["version"] for tool in PEERS}
    return {"scuff": __version__, "seed": texts.SEED, "part": args.part, "peers": versions}


def name_of(tool: str) -> str:
    """A tool's folder."""
    return "".join(c if c.isalnum() or c in "-+=" else "_" for c in tool)


def available(tool: str, args: argparse.Namespace) -> bool:
    if tool in PEERS:
        there = args.peers is not None and args.peers.is_file()
        if not there:
            print(f"{tool}: left out, expected the Python of the peers' environment for --peers", file=sys.stderr)
        return there
    if tool == "nothing":
        return True
    try:
        parse(tool)
    except Exception as error:  # a part that is not there yet
        print(f"{tool}: left out, {error}", file=sys.stderr)
        return False
    return tool in CHAINS or tool in NAMES or "+" in tool or "(" in tool or ":" in tool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show", "keep", "page"])
    parser.add_argument("--out", type=Path, default=Path("restoration"), help="folder of what was measured")
    parser.add_argument("--part", choices=["test", "dev"], default="test")
    parser.add_argument("--tools", nargs="+", default=list(TOOLS))
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--only", nargs="+", help="perturbations, or pairs of them")
    parser.add_argument("--peers", type=Path, help="python of the peers' environment")
    parser.add_argument("--texts", type=int, default=40, help="of each domain")
    parser.add_argument("--pairs", type=int, default=10, help="texts of each domain for stacked pairs")
    parser.add_argument("--clean", type=int, default=600, help="clean texts of each domain")
    parser.add_argument("--peer-clean", type=int, default=200, help="clean texts of each domain for peers")
    parser.add_argument("--slow", type=int, default=2, help="texts of each domain for the slowest peer")
    parser.add_argument("--errors", type=int, default=400, help="people's errors of each kind")
    parser.add_argument("--detect", type=int, default=40, help="attacked texts of each domain for the detector")
    parser.add_argument("--fuzz", type=int, default=5000, help="strings of any Unicode")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.what == "run":
        if not (texts.SHARED / "data").is_dir():
            sys.exit(f"needs the shared data in {texts.SHARED} (SCUFF_SHARED)")
        run(args)
    elif args.what == "show":
        print(cells.short(cells.read_cells(args.out / args.part)))
    else:
        if args.what == "keep":
            page.keep(cells.summary(args.out / args.part, TOOLS, about(args)))
        page.write()


if __name__ == "__main__":
    main()
