"""Visual and Glyph: characters that look alike."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np

from ..resources import load
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Codes, Ints, Ragged, bounds
from ..text.random import Rng
from .base import Facts, Perturbation
from .words import Choices, Scoped, Substitute

SPACES = ("vaegan", "ices", "dces")


@cache
def _space(name: str, count: int) -> tuple[Choices, Ints]:
    """The nearest characters in a space, and the running sum of their likeness (1 to 255) over all choices."""
    with np.load(io.BytesIO(load("visual.npz"))) as file:
        codes = file["codes"]
        near = (file[name][:count] + codes[None] * (file[name][:count] > 0)).T
        alike = 255 - np.cumsum(file[f"{name}_likeness"][:count].astype(np.int64), axis=0).T
    number = np.zeros(0x10001, np.int64)
    found = (near > 0).sum(1)
    rows = np.flatnonzero(found)
    number[codes[rows]] = np.arange(1, rows.size + 1)
    flat = near[rows] > 0
    options = Ragged(near[rows][flat].astype(np.uint32), np.append(0, bounds(found[rows])))
    return Choices((number, options)), bounds(alike[rows][flat])


@dataclass(frozen=True)
class Visual(Substitute, Scoped):
    """Replace each character with probability phi by one of the 20 that look most like it.

    `space`: vaegan, learnt like that of the paper (default, and the best by Unicode's list of confusables:
    docs/visual.md), ices, raw pixels, or dces, Unicode names. `choice`: uniform (paper), or by likeness (published
    code). `scope="text"` takes every character of the text by itself, as the thesis does; `scope="words"` the letters
    of selected words, as the paper does, each with probability phi: at least one of them or, with `at_least_one=False`
    (the paper), maybe none.
    """

    phi: float | None = None
    space: str = "vaegan"
    choice: str = "uniform"
    scope: str = "text"
    neighbours: int = 20
    at_least_one: bool = True

    name: ClassVar[str] = "visual"
    selection: ClassVar[str] = "each"
    facts: ClassVar[Facts] = Facts(
        summary="replace characters by look-alikes",
        paper="Zéroe 3.2, 3.3, A.1; thesis 3.2.2; after Eger et al. 2019 (VIPER)",
        example="Ädversarial åttackş are harmlėss.",
        tags=("malicious",),
        scripts="all but Chinese characters and Korean syllables",
        unit="characters",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, known in {"space": SPACES, "choice": ("uniform", "likeness")}.items():
            if getattr(self, option) not in known:
                raise ValueError(f"expected {', '.join(known)} for {self.name}.{option}, got {getattr(self, option)!r}")
        if self.neighbours > 20:
            raise ValueError(f"expected 1 to 20 for {self.name}.neighbours, got {self.neighbours!r}")

    def for_tokens(self) -> Visual:
        return replace(self, scope="words")

    def choices(self) -> Choices:
        return _space(self.space, self.neighbours)[0]

    def draw(self, choices: Choices, number: Ints, row: Ints, place: Ints, rng: Rng) -> Codes:
        if self.choice == "uniform":
            return super().draw(choices, number, row, place, rng)
        weight = _space(self.space, self.neighbours)[1]
        first, last = choices.near.offsets[number], choices.near.offsets[number + 1]
        aim = weight[first] + rng.stream("key").uniform(row, place) * (weight[last] - weight[first])
        return choices.near.codes[np.searchsorted(weight, aim, "right") - 1]

    def strike(self, corpus: Corpus, rng: Rng) -> Edits:
        number = self.choices().of(corpus.codes)
        number[corpus.tail] = number[corpus.tail - 1] = 0  # part of a cluster: an emoji, a letter with its mark
        at = np.flatnonzero(number)
        row, place = corpus.place(np.searchsorted(corpus.offsets, at, "right") - 1, at)
        new = Ragged(self.draw(self.choices(), number[at], row, place, rng), np.arange(at.size + 1))
        return Edits(row, place, place + 1, new, place, np.ones_like(row))

    def pick(self, corpus: Corpus, edits: Edits, p: float, rng: Rng, selection: str, total: Ints) -> Edits:
        own = self.phi is not None and self.scope == "text" and p and selection not in ("below", "edits", "all")
        rate = self.phi if own and self.phi is not None else p
        return super().pick(corpus, edits, rate, rng, selection, total)


@dataclass(frozen=True)
class Glyph(Visual):
    """Replace one letter of a word by one of the 20 characters that look most like it.

    RobTest's general form. Where a degree is a share of the characters (`glyph@edits`, its malicious form), and with
    `scope="text"`, every character of the text can change by itself. Options as those of `visual`.
    """

    phi: float | None = 0.0
    scope: str = "words"

    name: ClassVar[str] = "glyph"
    selection: ClassVar[str] = "quota"
    facts: ClassVar[Facts] = replace(
        Visual.facts,
        summary="replace one letter of a word by a look-alike",
        paper="RobTest (Chen et al. 2023) 2.1, C; after Eger et al. 2019",
        example="Adversârial attacks are ḩarmless.",
        tags=("general", "malicious"),
        unit="words",
    )

    def at(self, p: float) -> Perturbation:
        """Changes one letter a word; with `scope="text"` a share of all characters, the strength."""
        return replace(self, phi=p) if self.scope == "text" and not self.phi else super().at(p)

    def for_characters(self) -> Glyph:
        return replace(self, scope="text")
