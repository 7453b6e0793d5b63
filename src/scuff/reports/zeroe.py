"""Tables of a run of Zéroe's protocol: its Table 6, with what is left of the clean score (s*) and the red line (s_worst)."""

from __future__ import annotations

from ..evaluation.published import LEVEL_NAMES
from ..runs.schema import Cell, DimensionScores, Estimate, EvaluationSummary, RedLine
from .formatting import UNKNOWN, percent
from .groups import groups
from .tables import Entry, PaperTable, Value, in_percent, texts

# the paper's names and order, by the name of the perturbation
NAMES = {
    "full-shuffle": "Full-Swap", "inner-shuffle": "Inner-Swap", "intrude": "Intrude", "disemvowel": "Disemvowel",
    "truncate": "Truncate", "segment": "Segment", "keyboard": "Keyboard-Typo", "natural": "Natural Noise",
    "phonetic": "Phonetic", "visual": "Visual",
}  # fmt: skip


def is_zeroe(summary: EvaluationSummary) -> bool:
    """Returns whether a run has Zéroe's protocol."""
    return "red_line" in summary


def red_line(summary: EvaluationSummary) -> RedLine:
    """Returns the red line of a run; without any value if it has another protocol."""
    none: RedLine = {"metric": "score", "score": None, "left": None}
    return summary.get("red_line", none)


def measure(summary: EvaluationSummary) -> str:
    """Returns the name of what s* is computed from."""
    return "macro AUC" if red_line(summary)["metric"] == "auc" else summary["metric"]


def red_line_words(summary: EvaluationSummary) -> str:
    """Returns the red line in words; "" if there is none."""
    red, what = red_line(summary), measure(summary)
    if red["score"] is None:
        return ""
    how = "cannot tell the labels apart" if red["metric"] == "auc" else "always gives the most frequent answer"
    return (
        f"red line: a model that {how} has {what} {percent(red['score'])}, which is {percent(red['left'])} % of the clean one "
        "(s_worst; Zéroe 4.2, thesis eq. 4.2)"
    )


def score_of(summary: EvaluationSummary, at: Cell) -> Estimate:
    """Returns the score of a cell that s* is computed from."""
    if red_line(summary)["metric"] == "auc":
        return at.get("auc", UNKNOWN)
    return at["average"]


def mode(degree: float) -> str:
    """Returns the name of a level, or else the strength."""
    return LEVEL_NAMES.get(degree, f"{degree:g}")


def _named(base: str) -> str:
    """Returns the paper's name of a perturbation without options of the user's, else its own name."""
    plain = base.removesuffix("@level")
    return NAMES.get(plain, plain)


def level_rows(summary: EvaluationSummary, content: DimensionScores) -> list[list[str]]:
    """Returns a row per level: its name, the score, s* and the interval of s*."""
    return [texts(row) for row in _level_values(summary, content)]


def _level_values(summary: EvaluationSummary, content: DimensionScores) -> list[list[Entry]]:
    return [
        [mode(at["degree"]), _score(summary, score_of(summary, at)), *_left(at.get("left", UNKNOWN))]
        for at in content["degrees"]
    ]


def level_head(summary: EvaluationSummary) -> list[str]:
    return ["Mode", "AUCROC" if red_line(summary)["metric"] == "auc" else summary["metric"].title(), "s*", "95 % of s*"]


def zeroe_paper(summary: EvaluationSummary) -> PaperTable:
    """Returns all perturbations in the layout and order of the paper's Table 6."""
    red, clean = red_line(summary), summary["clean"]
    by_auc = red["metric"] == "auc" and "auc" in clean
    caption = (
        f"{summary['model']} on {summary['data']['name']}: {measure(summary)}"
        f"{'' if by_auc else ' in %'}, {clean['examples']:,} examples"
    )
    rows: list[list[Entry]] = [
        ["None", "-", _score(summary, clean["auc"] if by_auc else clean["score"]), Value("1.000", 1.0), "-"]
    ]
    order = list(NAMES.values())
    for name, content in sorted(
        ((_named(base), content) for base, content in _contents(summary)),
        key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order),
    ):
        rows += [[name, *row] for row in _level_values(summary, content)]
    alone = [_score(summary, _bare(red["score"])), *_left(_bare(red["left"]))]
    rows.append(["Red line", "-", *alone])
    return PaperTable(["Attack", *level_head(summary)], 2, rows, caption, zeroe_note(summary))


def _bare(value: float | None) -> Estimate:
    return {"value": value, "interval": [None, None]}


def _contents(summary: EvaluationSummary) -> list[tuple[str, DimensionScores]]:
    return [(base, summary["dimensions"][next(iter(names.values()))]) for base, names in groups(summary).items()]


def zeroe_note(summary: EvaluationSummary) -> str:
    """Returns a sentence on what the columns and the last row are."""
    how = (
        "an AUC of one half"
        if red_line(summary)["metric"] == "auc"
        else "always the most frequent answer (over tokens for tags)"
    )
    return f"s*: the score divided by the clean one (eq. 1). Red line: {how}; its s* is s_worst (thesis, eq. 4.2)."


def _score(summary: EvaluationSummary, entry: Estimate) -> Value:
    """Returns a score as the paper prints it: accuracies in percent, areas from 0 to 1."""
    return _share(entry) if red_line(summary)["metric"] == "auc" else in_percent(entry, 2)


def _left(entry: Estimate) -> list[Entry]:
    """Returns s* and its interval."""
    low, high = entry["interval"]
    known = entry["value"] is not None and low is not None and high is not None
    return [_share(entry), f"{low:.3f} to {high:.3f}" if known else "-"]


def _share(entry: Estimate) -> Value:
    value, (low, high) = entry["value"], entry["interval"]
    return Value("-" if value is None else f"{value:.3f}", value, (low, high))
