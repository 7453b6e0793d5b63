"""The tables of docs/results/shields.md, from the numbers in docs/results/shields.json."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
PAGE, DATA = RESULTS / "shields.md", RESULTS / "shields.json"
MADE, END = "<!-- {}: made by benchmarks/restoration.py -->", "<!-- end -->"
TEN = {"context": 0.95, "fast": 0.85}  # aims: words restored, mean of the ten
# measured in November 2026, before these shields existed: words restored, mean of Zéroe's ten
QUOTED = {
    "nothing": ("unshielded", 57), "symspell": ("symspell", 72), "pyspellchecker": ("pyspellchecker", 72),
    "symspell-split": ("symspell with unidecode and compound splitting", 75),
}  # fmt: skip
ELSEWHERE = {"ScRNN": 61, "BERT-Defense (minutes per document)": 88}
LETTERS = {"decancer": 88, "unidecode": 38, "anyascii": 38, "ftfy": 3}  # the same: exact text back, 30 % of the letters
Kept = dict[str, Any]


def read() -> Kept:
    kept: Kept = json.loads(DATA.read_text(encoding="utf-8"))
    return kept


def keep(kept: Kept) -> None:
    """Writes numbers, one entry in a line. What was not measured now stays: tools, groups, and what another script measured."""
    before = read() if DATA.is_file() else {}
    text = json.dumps(merged(before, kept), ensure_ascii=False, separators=(",", ":"))
    DATA.write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")


def merged(before: Kept, kept: Kept) -> Kept:
    """Entries of both, at every depth; of the same ones the new."""
    out = dict(before)
    for name, value in kept.items():
        both = isinstance(value, dict) and isinstance(out.get(name), dict)
        out[name] = merged(out[name], value) if both else value
    return out


def write() -> None:
    """Puts every table into its place in the page."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")


def filled(page: str, kept: Kept) -> str:
    for name, make in TABLES.items():
        begin = MADE.format(name)
        before, mark, rest = page.partition(begin)
        if not mark:
            raise ValueError(f"expected {begin} in {PAGE.name}, got none")
        page = before + f"{begin}\n\n{make(kept)}\n\n" + END + rest.partition(END)[2]
    return page


# ---- pieces ----


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(value: float | None, digits: int = 1) -> str:
    if value is None or value != value:
        return "-"
    shown = f"{100 * value:.{digits}f}"
    return shown if value == 1 or float(shown) < 100 else f"{100 - 10**-digits:.{digits}f}"  # 100 means all of them


def best(values: Sequence[float | None], digits: int = 1, largest: bool = True) -> list[str]:
    """Values as percentages, the best in bold."""
    known = [value for value in values if value is not None]
    top = (max if largest else min)(known, default=None)
    shown = [percent(value, digits) for value in values]
    return [f"**{text}**" if text == percent(top, digits) and text != "-" else text for text in shown]


def with_interval(cell: Kept | None, what: str = "restored", digits: int = 1) -> str:
    if cell is None:
        return "-"
    low, high = (percent(side, digits) for side in cell["interval"])
    return f"{percent(cell[what], digits)} [{low}, {high}]"


def tools(kept: Kept, slow: bool = True) -> list[str]:
    return [tool for tool in kept["about"]["tools"] if slow or tool != "pyspellchecker"]


def mean(kept: Kept, tool: str, group: str, level: str = "all") -> Kept | None:
    found: Kept | None = kept["means"].get(tool, {}).get(group, {}).get(level)
    return found


def value(cell: Kept | None, what: str = "restored") -> float | None:
    return None if cell is None else cell[what]


# ---- tables ----


def sizes(kept: Kept) -> str:
    about = kept["about"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(about["peers"].items()) if "-" not in name)
    rows = [[name, f"{texts:,}", f"{words:,}", what] for name, (texts, words, what) in about["sizes"].items()]
    said = f"Scuff {about['scuff']}, seed {about['seed']}, {about['part']} parts" + (
        f"; {versions}." if versions else "."
    )
    return table(["group", "texts", "words", "what"], rows) + "\n\n" + _wrapped(said)


def _wrapped(prose: str) -> str:
    return "\n".join(textwrap.wrap(prose, 100))


def aims(kept: Kept) -> str:
    """Every aim that numbers here decide."""
    rows = []

    def add(what: str, aim: float, found: float | None, shown: str) -> None:
        verdict = "-" if found is None else "met" if found >= aim else "**missed**"
        rows.append([what, f"{100 * aim:.4g} %", shown, verdict])

    def add_mean(what: str, aim: float, tool: str, group: str, level: str) -> None:
        cell = mean(kept, tool, group, level)
        add(f"{what}, words restored by `{tool}`", aim, value(cell), with_interval(cell))

    for tool, aim in TEN.items():
        for level, said in (("all", "mean of three strengths"), ("0.2", "0.2"), ("0.5", "0.5"), ("0.8", "0.8")):
            add_mean(f"ten perturbations as published, {said}", aim, tool, "published", level)
    for tool in TEN:
        for level, count in kept["about"]["pair levels"].items():
            add_mean(f"{count} stacked pairs, strength {level} each", 0.9, tool, "pairs", level)
    for tool in ("normalise", *TEN):
        found = _worst_clean(kept, tool)
        if found:
            told = f"{percent(1 - found[1], 3)} ({found[0]}); all: {percent(1 - _all_clean(kept, tool), 3)}"
            add(f"clean words left alone by `{tool}`, worst domain", 0.999, 1 - found[1], told)
    same = kept["clean ascii"].get("normalise")
    add("clean ASCII texts identical after `normalise`", 1.0, same, percent(same, 2))
    for name in ("homoglyph", "invisible"):
        cells = kept["cells"]["more"].get(name, {})
        low = min((cell["normalise"]["restored"] for cell in cells.values() if "normalise" in cell), default=None)
        add(f"{name}, words restored by `normalise`, worst strength", 0.999, low, percent(low, 2))
    for what, least, got, met in kept.get("speed", {}).get("aims", ()):
        rows.append([what, least, got, "met" if met else "**missed**"])
    return table(["what", "aim", "found", "verdict"], rows)


def _worst_clean(kept: Kept, tool: str) -> tuple[str, float] | None:
    found = [(name, row[tool]["harmed"]) for name, row in kept["clean"].items() if tool in row]
    return max(found, key=lambda pair: pair[1], default=None)


def _all_clean(kept: Kept, tool: str) -> float:
    """The share of harmed words of all domains together."""
    cells = [row[tool] for row in kept["clean"].values() if tool in row]
    return float(sum(cell["harmed"] * cell["words"] for cell in cells) / sum(cell["words"] for cell in cells))


def quoted(kept: Kept) -> str:
    """Figures measured before, beside ours."""
    rows = []
    levels = ("0.2", "0.5", "0.8")
    for tool in tools(kept):
        told = str(QUOTED[tool][1]) if tool in QUOTED else "-"
        found = [mean(kept, tool, group, level) for group in ("published", "ours") for level in (*levels, "all")]
        shown = [with_interval(cell) if at == 3 else percent(value(cell)) for at, cell in enumerate(found)]
        rows.append([f"`{tool}`", told, *shown])
    rows += [[name, str(figure), "not run here", *["-"] * 7] for name, figure in ELSEWHERE.items()]
    head = ["tool", "measured before", *(f"as published, {level}" for level in (*levels, "mean"))]
    head += [f"our defaults, {level}" for level in (*levels, "mean")]
    return table(head, rows)


def group_table(group: str) -> Callable[[Kept], str]:
    def make(kept: Kept) -> str:
        some = tools(kept, slow=group in ("published", "letters"))
        rows = []
        for name, levels in kept["cells"][group].items():
            for level, cell in levels.items():
                rows.append([f"{name} {level}", *best([value(cell.get(tool)) for tool in some])])
        return table(["perturbation, strength", *(f"`{tool}`" for tool in some)], rows)

    return make


def letters(kept: Kept) -> str:
    """30 % of the letters: words restored and exact text back, beside figures measured before."""
    some = tools(kept)
    rows = []
    for name, levels in kept["cells"]["letters"].items():
        cell = levels["0.3"]
        for what, shown in (
            ("restored", "words restored"),
            ("exact", "exact text"),
            ("alike", "exact text but for case"),
        ):
            rows.append([f"{name}: {shown}", *best([value(cell.get(tool), what) for tool in some])])
    rows.append(["measured before: exact text", *(str(LETTERS.get(tool, "-")) for tool in some)])
    return table(["look-alikes for 30 % of the letters", *(f"`{tool}`" for tool in some)], rows)


def pairs(kept: Kept) -> str:
    some = [tool for tool in ("nothing", "symspell-split", "fast", "context") if tool in tools(kept)]
    levels = list(kept["about"]["pair levels"])
    rows = [
        [name, *(text for level in levels for text in best([value(found[level].get(tool)) for tool in some]))]
        for name, found in kept["cells"]["pairs"].items()
    ]
    rows.append(["**mean**", *(percent(value(mean(kept, tool, "pairs", level))) for level in levels for tool in some)])
    return table(["pair", *(f"`{tool}` {level}" for level in levels for tool in some)], rows)


def changed(kept: Kept) -> str:
    """Of the words that the perturbation changed, those restored; of the others, those harmed."""
    some = tools(kept, slow=False)[1:]
    rows = []
    for group, shown in (("published", "ten as published"), ("ours", "ten, our defaults"), ("pairs", "pairs")):
        for level in kept["means"]["nothing"].get(group, {}):
            if level != "all":
                cells = [mean(kept, tool, group, level) for tool in some]
                rows.append(
                    [f"{shown}, {level}: changed words restored", *best([value(cell, "mended") for cell in cells])]
                )
                rows.append(
                    [
                        f"{shown}, {level}: other words harmed",
                        *best([value(cell, "harmed") for cell in cells], 2, False),
                    ]
                )
    return table(["", *(f"`{tool}`" for tool in some)], rows)


def by_domain(kept: Kept) -> str:
    some = tools(kept, slow=False)
    rows = [[name, *best([row.get(tool) for tool in some])] for name, row in kept["domains"].items()]
    return table(["domain", *(f"`{tool}`" for tool in some)], rows)


def clean(kept: Kept) -> str:
    some = tools(kept)[1:]
    rows = []
    for name, row in kept["clean"].items():
        harmed = [row.get(tool) for tool in some]
        rows.append([f"{name}: words changed", *best([value(cell, "harmed") for cell in harmed], 2, False)])
        rows.append([f"{name}: right words changed", *best([value(cell, "sure") for cell in harmed], 3, False)])
        rows.append([f"{name}: texts identical", *best([value(cell, "exact") for cell in harmed])])
    return table(["domain", *(f"`{tool}`" for tool in some)], rows)


def errors(kept: Kept) -> str:
    """People's errors: restored / changed to another word / left."""
    some = [tool for tool in tools(kept) if tool not in ("nothing", "normalise", *LETTERS)]  # those mend no spelling
    rows = []
    for name, kinds in kept["real"].items():
        if name not in ("disguises", "legitimate"):
            for kind, row in kinds.items():
                cells = [row.get(tool) for tool in some]
                rows.append([f"{name}: {kind} ({row['nothing']['texts']})", *(_three(cell) for cell in cells)])
    return table(["errors (how many)", *(f"`{tool}`" for tool in some)], rows)


def _three(cell: Kept | None) -> str:
    if cell is None:
        return "-"
    return " / ".join(
        percent(part, 0) for part in (cell["mended"], max(0.0, 1 - cell["mended"] - cell["left"]), cell["left"])
    )


def listed(name: str, what: str, per: str) -> Callable[[Kept], str]:
    """A table of a list by kind, and of all of it: a share of words or of texts."""

    def make(kept: Kept) -> str:
        some = tools(kept)
        kinds = kept["real"].get(name, {})
        rows = [
            [f"{kind} ({row['nothing']['texts']})", *best([value(row.get(tool), what) for tool in some], 0)]
            for kind, row in kinds.items()
        ]
        found = [[row[tool] for row in kinds.values() if tool in row] for tool in some]
        whole = [
            sum(cell[what] * cell[per] for cell in cells) / sum(cell[per] for cell in cells) for cells in found if cells
        ]
        rows += [["**all**", *best(whole, 1)]] if len(whole) == len(some) else []
        return table(["kind (how many)", *(f"`{tool}`" for tool in some)], rows)

    return make


def twice(kept: Kept) -> str:
    rows = []
    for tool, row in kept["twice"].items():
        fuzzed = kept["any Unicode"].get(tool)
        parts = [
            f"{percent(1 - unstable / count, 2)} of {count:,}"
            for unstable, count in (row.get(group, (0, 0)) for group in ("clean", "published", "real")) if count
        ]  # fmt: skip
        told = ["-", "-"] if fuzzed is None else [
            f"{percent(1 - fuzzed['unstable'] / fuzzed['texts'], 2)} of {fuzzed['texts']:,}", f"{fuzzed['crashed']:,}"
        ]  # fmt: skip
        rows.append([f"`{tool}`", *parts, *["-"] * (3 - len(parts)), *told])
    return table(
        ["shield", "clean texts", "attacked texts", "people's own", "strings of any Unicode", "of these crashed"], rows
    )


def detect(kept: Kept) -> str:
    found = kept.get("detect")
    if not found:
        return "Not measured yet."
    head = ["perturbation, strength", *found["domains"], *(f"found at {rate}" for rate in found["rates"])]
    rows = []
    for name, row in found["rows"].items():
        areas = [f"{row['auc'][domain]:.3f}" if domain in row["auc"] else "-" for domain in found["domains"]]
        rows.append([name, *areas, *(percent(share) for share in row["found"])])
    alarms = [[f"clean {domain}", *(percent(rate, 2) for rate in rates)] for domain, rates in found["alarms"].items()]
    return (
        table(head, rows)
        + "\n\nFalse alarms on clean text, by domain:\n\n"
        + table(["domain", *found["rates"]], alarms)
    )


def speed(kept: Kept) -> str:
    found = kept.get("speed")
    if not found:
        return "Not measured yet."
    return "\n\n".join(table(part["head"], part["rows"]) for part in found["tables"])


TABLES: dict[str, Callable[[Kept], str]] = {
    "sizes": sizes, "aims": aims, "quoted": quoted, "published": group_table("published"), "ours": group_table("ours"),
    "more": group_table("more"), "others": group_table("others"),
    "letters": letters, "pairs": pairs, "changed": changed, "domains": by_domain, "clean": clean,
    "legitimate": listed("legitimate", "exact", "texts"), "errors": errors,
    "disguises": listed("disguises", "restored", "words"), "twice": twice,
    "detect": detect, "speed": speed,
}  # fmt: skip
