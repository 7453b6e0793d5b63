"""Measures `scuff perturb` and `scuff shield` on big files: lines per second of 1 and 2 workers, and the peak of memory.

    python benchmarks/lines.py                          # 200,000 lines
    python benchmarks/lines.py --lines 1000000 10000000 # memory of the second should be that of the first
    python benchmarks/lines.py --command perturb --workers 1 2 4

The file has real texts of the shared data, or else the embedded ones, again and again, each line with words of its own. Memory is
that of all processes together (PSS: what processes share counts once), looked up several times a second.
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
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
COMMANDS = {
    "perturb": ["perturb", "-p", "keyboard", "-l", "mid"],
    "shield": ["shield", "--shield", "fast"],
    "augment": ["augment", "--dimensions", "typo-g", "keyboard", "--text", "text"],
}
LOOK = 0.1  # seconds between two looks at the memory


def real_texts(count: int = 50_000) -> list[str]:
    """Returns texts of news, tweets and films, one line each; without the shared data, the embedded reviews."""
    texts = []
    for task in ("agnews", "davidson", "sst2"):
        path = SHARED / "data" / task / "train.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                texts += [json.loads(line)["text"] for line in islice(lines, count // 3)]
    if not texts:
        from scuff.data.toy import toy_dataset

        texts = [str(text) for text in toy_dataset("toy:sentiment", "train").columns[0]]
    return [" ".join(text.split()) for text in texts]


def write_lines(path: Path, lines: int, table: bool) -> None:
    """Writes so many lines, no two of them equal. table: as CSV, with an id and a label."""
    texts = real_texts()
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write("id,text,label\n" if table else "")
        for number in range(lines):
            turn, at = divmod(number, len(texts))
            text = f"{texts[at]} Seen {turn} times by reader{number % 997}."
            quoted = '"' + text.replace('"', '""') + '"'
            out.write(f"{number},{quoted},{number % 2}\n" if table else f"{text}\n")


def processes(root: int) -> Iterator[int]:
    """Yields a process and all that it has started."""
    yield root
    try:
        children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from processes(int(child))


def memory(root: int) -> int:
    """Returns the kilobytes that a process and all that it has started hold."""
    total = 0
    for process in processes(root):
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return total


def seconds_of(process: int) -> float:
    """Returns the seconds that a process has computed."""
    try:
        found = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


def measured(command: list[str]) -> tuple[float, float, int]:
    """Runs a command. Returns its seconds, those that all its processes computed, and the peak of its memory in kilobytes."""
    began, peak, used = time.perf_counter(), 0, {}  # type: float, int, dict[int, float]
    running = subprocess.Popen([sys.executable, "-m", "scuff", *command], stderr=subprocess.DEVNULL)
    while running.poll() is None:
        peak = max(peak, memory(running.pid))
        used |= {process: seconds_of(process) or used.get(process, 0.0) for process in processes(running.pid)}
        time.sleep(LOOK)
    if running.returncode:
        raise SystemExit(f"expected exit code 0 of scuff {' '.join(command)}, got {running.returncode}")
    return time.perf_counter() - began, sum(used.values()), peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[200_000])
    parser.add_argument("--command", nargs="+", choices=COMMANDS, default=["perturb", "shield"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--table", action="store_true", help="CSV, not a text per line; always for augment")
    parser.add_argument("--folder", help="where the files are written and removed; default: the temporary folder")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print(
        f"{'command':8} {'lines':>11} {'workers':>7} {'seconds':>8} {'lines/s':>9} {'per worker':>10} {'CPU s':>8} {'peak MB':>8}"
    )
    for command in args.command:
        for lines in args.lines:
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                table = args.table or command == "augment"
                source, target = (Path(folder, f"{name}.{'csv' if table else 'txt'}") for name in ("in", "out"))
                write_lines(source, lines, table)
                digests, first = set(), 0.0
                for workers in args.workers:
                    flags = ["-o", str(target), "--workers", str(workers), "-q"]
                    seconds, used, peak = measured([*COMMANDS[command], str(source), *flags])
                    speed = lines / seconds
                    first = first or speed / workers
                    share = f"{speed / workers / first:.0%}"
                    print(
                        f"{command:8} {lines:11,} {workers:7} {seconds:8.1f} {speed:9,.0f} {share:>10} {used:8.1f} "
                        f"{peak / 1024:8.0f}",
                        flush=True,
                    )
                    with open(target, "rb") as out:
                        digest = sha256()
                        while block := out.read(1 << 20):
                            digest.update(block)
                    digests.add(digest.hexdigest())
                if len(digests) > 1:
                    raise SystemExit("expected the same bytes for any number of workers, got others")


if __name__ == "__main__":
    main()
