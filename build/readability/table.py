"""Measure how readable texts are after each perturbation; write src/scuff/resources/data/readability.json and the tables in docs/.

    python build/readability/table.py carry/glyphs.npz --data SHARED/data     # 10 minutes; glyphs.npz: build/glyphs/render.py
    python build/readability/table.py --docs                                  # only the tables, from the data file

Texts: the first 100 of the dev parts of SST-2, AG News and WikiText; the character model learns WikiText's training part. No rank of a
person was used to make a measure.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))
from measure import CharacterModel, Pictures, measure

from scuff import perturb
from scuff.perturbations import LEVELS, NAMES

TARGET = ROOT / "src/scuff/resources/data/readability.json"
FIGURES = ROOT / "benchmarks/papers/figures/readability.json"
PAGE, REFERENCE = ROOT / "docs/readability.md", ROOT / "docs/reference/perturbations.md"
SOURCES = ("sst2", "agnews", "wikitext")
MEASURES = ("edits", "surprise", "seen", "surprise_read", "effort")
CASES = 20  # versions of the raters' sentence per perturbation
DEPENDS = {"paraphrase": "depends on the model that you give"}
Floats = npt.NDArray[np.float64]


def read_texts(path: Path, count: int | None = None) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    return texts[:count]


def spec_of(name: str, data: Path) -> str:
    return f"embedding(file={str(data / 'counterfitted/neighbours.tsv.gz')!r})" if name == "embedding" else name


def measured(
    texts: list[str], names: list[str], data: Path, model: CharacterModel, alike: Pictures
) -> dict[str, dict[str, Any]]:
    """Per perturbation the measures at low, mid and high, and its rank among all at each level: 1 reads best."""
    rows: dict[str, dict[str, Any]] = {}
    for name in names:
        begin = time.time()
        spec = spec_of(name, data)
        found = [measure(texts, perturb(texts, spec, level=level, seed=0), model, alike) for level in LEVELS]
        rows[name] = {key: [round(level[key], 4) for level in found] for key in MEASURES}
        print(f"{name}: {rows[name]} {time.time() - begin:.0f} s", flush=True)
    for at in range(len(LEVELS)):
        order = ranks(np.array([row["effort"][at] for row in rows.values()]))
        for row, rank in zip(rows.values(), order.tolist(), strict=True):
            row.setdefault("rank", []).append(rank)
    return rows


def ranks(values: Floats) -> Floats:
    """Along the last axis 1 for the least; equal values share the mean of their ranks."""
    one, other = values[..., :, None], values[..., None, :]
    return (other < one).sum(-1) + ((other == one).sum(-1) + 1) / 2


def spearman(a: Floats, b: Floats) -> Floats:
    """Along the last axis; 0 where all are equal."""
    x, y = ranks(a), ranks(b)
    x, y = x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)
    size = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    return np.asarray((x * y).sum(-1) / np.where(size > 0, size, 1))


def agreement(values: Floats, people: Floats, seed: int = 0) -> dict[str, float | int]:
    """Spearman's rho, a 95 % interval (5,000 resamples of perturbations and raters), and how often any order does as well.

    people: raters x perturbations.
    """
    rng = np.random.default_rng(seed)
    n, times = values.size, 5000
    rho = float(spearman(values, people.mean(0)))
    at, who = rng.integers(0, n, (times, n)), rng.integers(0, len(people), (times, len(people)))
    means = people[who].mean(1)  # times x perturbations
    low, high = np.quantile(spearman(values[at], np.take_along_axis(means, at, 1)), (0.025, 0.975)).tolist()
    other = spearman(rng.permuted(np.tile(values, (times, 1)), axis=1), people.mean(0))
    chance = (1 + int((np.abs(other) >= abs(rho) - 1e-12).sum())) / (times + 1)
    return {"n": n, "rho": round(rho, 3), "low": round(low, 3), "high": round(high, 3), "chance": round(chance, 4)}


def validation(
    rows: dict[str, dict[str, Any]], figures: dict[str, Any], data: Path, model: CharacterModel, alike: Pictures
) -> dict[str, Any]:
    """Each measure against the raters: on the texts, on Scuff's versions of their sentence, and on the versions that they read."""
    sentence, raters = figures["sentence"], figures["raters"]
    many = [sentence] * CASES
    own = {}
    for name in raters:
        after = [perturb(sentence, spec_of(name, data), level="high", seed=seed) for seed in range(CASES)]
        own[name] = measure(many, after, model, alike)
    theirs = {name: measure([sentence], [version], model, alike) for name, version in figures["versions"].items()}
    texts = {name: {key: rows[name][key][-1] for key in MEASURES} for name in raters}
    out: dict[str, Any] = {}
    for title, found in (("texts", texts), ("sentence", own), ("versions", theirs)):
        people = np.array([raters[name] for name in found], float).T
        out[title] = {key: agreement(np.array([found[name][key] for name in found]), people) for key in MEASURES}
    people = np.array(list(raters.values()), float).T
    pairs = [float(spearman(a, b)) for a, b in combinations(people, 2)]
    rest = [float(spearman(people[at], np.delete(people, at, 0).mean(0))) for at in range(len(people))]
    out["raters"] = {"pairs": round(float(np.mean(pairs)), 3), "rest": [round(value, 3) for value in rest]}
    return out


def build(glyphs: str, data: Path) -> None:
    with np.load(glyphs) as file:
        alike = Pictures(file["codes"], file["images"][0])
    model = CharacterModel(read_texts(data / "wikitext/train.jsonl.gz"))
    texts = [text for source in SOURCES for text in read_texts(data / source / "dev.jsonl.gz", 100)]
    figures = json.loads(FIGURES.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = measured(texts, [name for name in NAMES if name not in DEPENDS], data, model, alike)
        valid = validation(rows, figures, data, model, alike)
    for name, why in DEPENDS.items():
        rows[name] = {"missing": why}
    for name, given in figures["raters"].items():
        rows[name]["raters"] = given
    found = {
        "levels": list(LEVELS),
        "texts": len(texts),
        "clean_bits": round(float(np.mean([model.bits(text) for text in texts])), 3),
        "read_as": round(alike.read_as, 3),
        "perturbations": {name: rows[name] for name in NAMES},
        "validation": valid,
    }
    text = json.dumps(found, indent=1, ensure_ascii=False)
    TARGET.write_text(re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n")
    print(f"{TARGET.stat().st_size} bytes, sha256 {hashlib.sha256(TARGET.read_bytes()).hexdigest()}")


def shown_rank(row: dict[str, Any]) -> str:
    """The cells of a perturbation in the reference: the raters' mean rank and the rank by effort at high."""
    people = f"{np.mean(row['raters']):.1f}" if "raters" in row else ""
    return f"{people} | {row['rank'][-1]:g}" if "rank" in row else f"{people} | "


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The tables of docs/readability.md by name."""
    rows = found["perturbations"]
    head = "| perturbation | raters: mean (range) | edits | seen | surprise | as read | effort | rank |"
    lines = [head, "|" + "---|" * 8]
    order = sorted(rows, key=lambda name: rows[name].get("rank", [99])[-1])
    for name in order:
        row = rows[name]
        if "missing" in row:
            lines.append(f"| `{name}` | | {row['missing']} | | | | | |")
            continue
        given = row.get("raters")
        people = f"{np.mean(given):.1f} ({min(given)} to {max(given)})" if given else ""
        cells = [f"{100 * row[key][-1]:.0f} %" for key in ("edits", "seen")]
        cells += [f"{row[key][-1]:+.1f}" for key in ("surprise", "surprise_read")] + [f"{row['effort'][-1]:.2f}"]
        lines.append(f"| `{name}` | {people} | {' | '.join(cells)} | {row['rank'][-1]:g} |")
    valid = found["validation"]
    titles = {
        "texts": f"our {found['texts']} texts, high",
        "sentence": "the raters' sentence, as Scuff perturbs it",
        "versions": "the versions that they read",
    }
    check = ["| measured on | n | " + " | ".join(MEASURES).replace("_", " ") + " |", "|" + "---|" * (2 + len(MEASURES))]
    for key, title in titles.items():
        cells = [f"{v['rho']:.2f} ({v['low']:.2f} to {v['high']:.2f})" for v in valid[key].values()]
        check.append(f"| {title} | {valid[key]['edits']['n']} | {' | '.join(cells)} |")
    for key, title in titles.items():
        cells = [f"{v['chance']:.3f}" for v in valid[key].values()]
        check.append(f"| chance of such a rho, {title} | {valid[key]['edits']['n']} | {' | '.join(cells)} |")
    return {"measures": "\n".join(lines), "validation": "\n".join(check)}


def write_docs(found: dict[str, Any]) -> None:
    page = PAGE.read_text()
    for name, table in tables(found).items():
        begin = f"<!-- {name}: made by build/readability/table.py -->"
        page = re.sub(
            rf"{re.escape(begin)}.*?<!-- end -->",
            lambda _, b=begin, t=table: f"{b}\n\n{t}\n\n<!-- end -->",
            page,
            flags=re.S,
        )
    PAGE.write_text(page)
    lines = REFERENCE.read_text().splitlines(keepends=True)
    for at, line in enumerate(lines):
        named = re.match(r"\| `([a-z-]+)` \| (.*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", line)
        if named and named[1] in found["perturbations"]:
            lines[at] = f"| `{named[1]}` | {named[2]} | {shown_rank(found['perturbations'][named[1]])} | {named[5]} |\n"
    REFERENCE.write_text("".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("glyphs", nargs="?")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--docs", action="store_true", help="only write the tables in docs/")
    args = parser.parse_args()
    if not args.docs:
        build(args.glyphs, args.data)
    write_docs(json.loads(TARGET.read_text()))
