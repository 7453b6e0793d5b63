"""Measure how readable texts are after each perturbation; write src/scuff/resources/data/readability.json and the tables in docs/.

    python build/readability/table.py carry/glyphs.npz --data SHARED/data     # 10 minutes; glyphs.npz: build/glyphs/render.py
    python build/readability/table.py carry/glyphs.npz --only syntax --published     # after syntax has changed
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
MANIFEST = ROOT / "src/scuff/resources/manifest.toml"
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


class Measure:
    """What measuring needs: the texts, their perturbed versions, a character model and pictures."""

    def __init__(self, glyphs: str, data: Path) -> None:
        with np.load(glyphs) as file:
            self.alike = Pictures(file["codes"], file["images"][0])
        self.model = CharacterModel(read_texts(data / "wikitext/train.jsonl.gz"))
        self.texts = [text for source in SOURCES for text in read_texts(data / source / "dev.jsonl.gz", 100)]
        self.data = data

    def of(self, name: str, **options: Any) -> dict[str, list[float]]:
        """The measures of a perturbation at low, mid and high."""
        begin, spec = time.time(), spec_of(name, self.data)
        found = [self.between(self.texts, perturb(self.texts, spec, level=level, **options)) for level in LEVELS]
        row = {key: [round(level[key], 4) for level in found] for key in MEASURES}
        print(f"{name} {options or ''}: {row} {time.time() - begin:.0f} s", flush=True)
        return row

    def between(self, before: list[str], after: list[str]) -> dict[str, float]:
        return measure(before, after, self.model, self.alike)

    def cases(self, name: str, sentence: str) -> dict[str, float]:
        """Means over versions of one sentence, at high."""
        spec = spec_of(name, self.data)
        after = [perturb(sentence, spec, level="high", seed=seed) for seed in range(CASES)]
        return self.between([sentence] * CASES, after)


def add_ranks(rows: dict[str, dict[str, Any]]) -> None:
    """Sets the rank of each among all at each level, by effort: 1 reads best."""
    whole = [row for row in rows.values() if "missing" not in row]
    by_level = [ranks(np.array([row["effort"][at] for row in whole])).tolist() for at in range(len(LEVELS))]
    for row, found in zip(whole, zip(*by_level, strict=True), strict=True):
        row["rank"] = list(found)


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


def validation(found: dict[str, Any], figures: dict[str, Any], tool: Measure | None) -> dict[str, Any]:
    """Each measure against the raters: on the texts, on Scuff's versions of their sentence, and on the versions that they read.

    tool: None keeps what was measured on the sentence before.
    """
    sentence, raters = figures["sentence"], figures["raters"]
    sides: dict[str, dict[str, dict[str, float]]] = {
        title: {name: {key: rows[name][key][-1] for key in MEASURES} for name in raters}
        for title, rows in (("texts", found["perturbations"]), ("as_published", found.get("as_published")))
        if rows
    }
    out = {key: value for key, value in found.get("validation", {}).items() if key in ("sentence", "versions")}
    if tool:
        sides["sentence"] = {name: tool.cases(name, sentence) for name in raters}
        sides["versions"] = {name: tool.between([sentence], [text]) for name, text in figures["versions"].items()}
    for title, side in sides.items():
        people = np.array([raters[name] for name in side], float).T
        out[title] = {key: agreement(np.array([side[name][key] for name in side]), people) for key in MEASURES}
    people = np.array(list(raters.values()), float).T
    pairs = [float(spearman(a, b)) for a, b in combinations(people, 2)]
    rest = [float(spearman(people[at], np.delete(people, at, 0).mean(0))) for at in range(len(people))]
    out["raters"] = {"pairs": round(float(np.mean(pairs)), 3), "rest": [round(value, 3) for value in rest]}
    return out


def build(args: argparse.Namespace) -> None:
    tool = Measure(args.glyphs, args.data)
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    found: dict[str, Any] = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {"perturbations": {}}
    rows = found["perturbations"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in args.only if args.only is not None else [name for name in NAMES if name not in DEPENDS]:
            rows[name] = tool.of(name)
        if args.published:
            found["as_published"] = {name: tool.of(name, as_published=True) for name in figures["raters"]}
        whole = args.only is None or set(args.only) & set(figures["raters"])
        found["perturbations"] = rows = {name: rows.get(name, {"missing": DEPENDS.get(name, "")}) for name in NAMES}
        add_ranks(rows)
        for name, given in figures["raters"].items():
            rows[name]["raters"] = given
        found["validation"] = validation(found, figures, tool if whole else None)
    found |= {"levels": list(LEVELS), "texts": len(tool.texts), "read_as": round(tool.alike.read_as, 3)}
    found["clean_bits"] = round(float(np.mean([tool.model.bits(text) for text in tool.texts])), 3)
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=False)
    lists = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    TARGET.write_text(f"{lists}\n", encoding="utf-8")
    digest = hashlib.sha256(TARGET.read_bytes()).hexdigest()
    said = MANIFEST.read_text(encoding="utf-8")
    MANIFEST.write_text(
        re.sub(r'(\["readability.json"\].*?sha256 = ")\w*', rf"\g<1>{digest}", said, count=1, flags=re.S),
        encoding="utf-8",
    )
    print(f"{TARGET.stat().st_size} bytes, sha256 {digest}")


def shown_rank(row: dict[str, Any]) -> str:
    """The cells of a perturbation in the reference: the raters' mean rank and the rank by effort at high."""
    people = f"{np.mean(row['raters']):.1f}" if "raters" in row else ""
    return f"{people} | {row['rank'][-1]:g}" if "rank" in row else f"{people} | "


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The tables of docs/readability.md by name."""
    rows = found["perturbations"]
    head = "| perturbation | raters: mean (range) | edits | seen | surprise | as read | effort | rank |"
    theirs = found.get("as_published", {})
    head += " effort as published |" if theirs else ""
    lines = [head, "|" + "---|" * (8 + bool(theirs))]
    order = sorted(rows, key=lambda name: rows[name].get("rank", [99])[-1])
    for name in order:
        row = rows[name]
        if "missing" in row:
            lines.append(f"| `{name}` | | {row['missing']} | | | | | |{' |' * bool(theirs)}")
            continue
        given = row.get("raters")
        people = f"{np.mean(given):.1f} ({min(given)} to {max(given)})" if given else ""
        cells = [f"{100 * row[key][-1]:.0f} %" for key in ("edits", "seen")]
        cells += [f"{round(row[key][-1], 1) + 0.0:+.1f}" for key in ("surprise", "surprise_read")] + [
            f"{row['effort'][-1]:.2f}"
        ]
        lines.append(f"| `{name}` | {people} | {' | '.join(cells)} | {row['rank'][-1]:g} |")
        if theirs:
            lines[-1] += f" {theirs[name]['effort'][-1]:.2f} |" if name in theirs else " |"
    valid = found["validation"]
    titles = {
        "texts": f"our {found['texts']} texts, high",
        "as_published": "the same texts, perturbed as published",
        "sentence": "the raters' sentence, as Scuff perturbs it",
        "versions": "the versions that they read",
    }
    titles = {key: title for key, title in titles.items() if key in valid}
    check = ["| measured on | n | " + " | ".join(MEASURES).replace("_", " ") + " |", "|" + "---|" * (2 + len(MEASURES))]
    for key, title in titles.items():
        cells = [f"{v['rho']:.2f} ({v['low']:.2f} to {v['high']:.2f})" for v in valid[key].values()]
        check.append(f"| {title} | {valid[key]['edits']['n']} | {' | '.join(cells)} |")
    for key, title in titles.items():
        cells = [f"{v['chance']:.3f}" for v in valid[key].values()]
        check.append(f"| chance of such a rho, {title} | {valid[key]['edits']['n']} | {' | '.join(cells)} |")
    pairs, rest = valid["raters"]["pairs"], valid["raters"]["rest"]
    check += [
        "",
        f"Between two of the raters rho is {pairs:.2f} in the mean; between one and the mean of the other four it is",
    ]
    check += [f"{min(rest):.2f} to {max(rest):.2f}."]
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
    parser.add_argument("--only", nargs="*", help="measure only these again, such as those that have changed")
    parser.add_argument("--published", action="store_true", help="also measure the ten that people ranked as published")
    parser.add_argument("--docs", action="store_true", help="only write the tables in docs/")
    args = parser.parse_args()
    if not args.docs:
        build(args)
    write_docs(json.loads(TARGET.read_text()))
