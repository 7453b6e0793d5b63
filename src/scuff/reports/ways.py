"""Plain words for what a perturbation does, and which shield mends it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..runs.schema import Cell, DimensionScores
from .formatting import short
from .zeroe import mode

NAME = re.compile(
    r"(?:[^=(]*=)?([\w-]+)(?=$|[(@])"
)  # of the perturbation in a spec, which may have a name of the user's


class Way(NamedTuple):
    """What a perturbation puts into texts, what it does to their words or letters, and the shield that mends it, or ""."""

    noun: str
    done: str
    shield: str


LIKE, SPELT = "normalise", "fast"
WAYS = {
    "typo": Way("typos", "mistyped", SPELT),
    "keyboard": Way("typing slips", "mistyped", SPELT),
    "natural": Way("misspellings that people make", "misspelt", SPELT),
    "phonetic": Way("words spelt as they sound", "spelt as they sound", SPELT),
    "inner-shuffle": Way("shuffled inner letters", "shuffled", SPELT),
    "full-shuffle": Way("shuffled letters", "shuffled", SPELT),
    "disemvowel": Way("missing vowels", "left without vowels", SPELT),
    "truncate": Way("cut-off words", "cut short", SPELT),
    "segment": Way("words run together", "run together", SPELT),
    "intrude": Way("symbols inside words", "split by symbols", SPELT),
    "glyph": Way("look-alike letters", "replaced by look-alikes", LIKE),
    "homoglyph": Way("look-alike letters", "replaced by look-alikes", LIKE),
    "visual": Way("look-alike letters", "replaced by look-alikes", LIKE),
    "invisible": Way("invisible characters", "split by invisible characters", LIKE),
    "synonym": Way("synonyms", "replaced by synonyms", ""),
    "embedding": Way("words near in a vector space", "replaced by near ones", ""),
    "contextual": Way("other words that fit", "replaced by others that fit", ""),
    "inflection": Way("other word forms", "inflected otherwise", ""),
    "syntax": Way("reworded sentences", "reworded", ""),
    "paraphrase": Way("paraphrases", "paraphrased", ""),
    "distraction": Way("irrelevant things added at the end", "followed by irrelevant things", ""),
    "omit": Way("missing words", "left out", ""),
}


def perturbation(spec: str) -> str:
    """Returns the name of the perturbation that a spec stands for: "typo" of `typo@edits`; "" of combinations and own ones."""
    found = NAME.match(spec.partition("*")[2] if re.match(r"\d+\*", spec) else spec)
    return found[1] if found and found[1] in WAYS else ""


def way_of(content: DimensionScores) -> Way:
    """Returns what a dimension does to texts."""
    return WAYS.get(perturbation(content["spec"]), Way(short(content["base"]), "changed", ""))


def changed_so(content: DimensionScores, cell: Cell) -> str:
    """Returns what a case of a dimension at a degree has: "up to 10 % of the letters mistyped (typo-m)"."""
    way, base = way_of(content), short(content["base"])
    degree, name = cell["degree"], f" ({base})" if way.noun != base else ""
    if "@level" in content["spec"] or "@level" in base:
        return f"{way.noun} at level {mode(degree)}{name}"
    if content["unit"] == "meaning":
        return f"{way.noun}, up to {degree:g} away in meaning{name}"
    unit = "letters" if content["unit"] == "characters" else content["unit"]
    return f"up to {100 * degree:.3g} % of the {unit} {way.done}{name}"
