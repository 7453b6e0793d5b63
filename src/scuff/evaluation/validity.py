"""Predicts whether the cases of a run are valid, by degree, grammar, similarity and perplexity (RobTest, section 4.3, Figure 5).

A case is valid if people still read the original's label and meaning from it. Each measure gives every case a number that is high
where it predicts a valid case. Whether that is so only people can say: RobTest's Table 3 has the share of valid cases by column
and degree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data.dataset import Text
from ..english.grammar import new_faults
from ..metrics.fluency import CharacterModel, masked_perplexity
from ..metrics.meaning import distance_in_meaning, usual_meaning
from ..metrics.rank import ranks
from ..runs.display import Shown
from ..runs.folder import Arrays, Folder
from ..text.ragged import Floats, Ints
from ..text.random import mix, name_bits
from .evaluation import Evaluation
from .score import VALIDITY, VALIDITY_DEGREES
from .setup import EvaluationSetup

LEVELS = 5  # as in the paper's Figure 5


@dataclass(frozen=True, eq=False)
class SampledCases:
    """Cases of a run, one per row, with their originals. dimension, degree: numbers in the run's protocol."""

    before: list[str]
    after: list[str]
    dimension: Ints
    degree: Ints
    example: Ints
    reached: Floats

    def __len__(self) -> int:
        return len(self.before)


def open_run(run: Evaluation | str | Path) -> Evaluation:
    """Returns the evaluation in a run folder, which need not have its model."""
    return run if isinstance(run, Evaluation) else EvaluationSetup.read(Folder(run))


def sample_trials(run: Evaluation | str | Path, each: int, *, broken: bool = True, seed: int = 0) -> SampledCases:
    """Returns up to `each` changed cases of every cell of a run, drawn by chance, at most one of an example while there are more.

    run: an evaluation, or its folder. broken: only cases that the victim got wrong and whose clean text it got right, as the
    paper showed its annotators.
    """
    run = open_run(run)
    right = run.table().clean_score == 1
    chosen: list[tuple[tuple[int, int], int, int, str, int]] = []  # cell, turn of its example, chance, part, case
    for name in run.folder.parts():
        if name.startswith("clean"):
            continue
        part = run.folder.read_part(name)
        changed = np.bincount(part["edit_case"], minlength=part["example"].size) > 0
        wanted = changed & (part["problem"] == 0)
        if broken:
            wanted &= right[part["example"]] & (part["score"] < 1)
        chosen += _drawn(part, np.flatnonzero(wanted), name, each, seed)
    kept, count = [], Counter[tuple[int, int]]()
    for row in sorted(chosen):
        count[row[0]] += 1
        if count[row[0]] <= each:
            kept.append(row)
    return _read(run, kept)


def _drawn(
    part: Arrays, rows: Ints, name: str, each: int, seed: int
) -> Iterator[tuple[tuple[int, int], int, int, str, int]]:
    """Yields rows of a part in a random order of their own, each with its turn among those of its example and cell."""
    example, draw = (part[column][rows].astype(np.uint64) for column in ("example", "draw"))
    chance = mix(mix(example + name_bits("validity", seed)) + draw)
    turns = Counter[tuple[int, int, int]]()
    for at in np.argsort(chance, kind="stable").tolist():
        case = int(rows[at])
        cell = int(part["dimension"][case]), int(part["degree"][case])
        key = (*cell, int(part["example"][case]))
        if turns[key] < each:
            yield cell, turns[key], int(chance[at]), name, case
            turns[key] += 1


def _read(run: Evaluation, chosen: Sequence[tuple[tuple[int, int], int, int, str, int]]) -> SampledCases:
    """Reads the texts of chosen cases, part by part."""
    texts, reached, example = [""] * len(chosen), np.zeros(len(chosen)), np.zeros(len(chosen), np.int64)
    for name in sorted({row[3] for row in chosen}):
        part = run.folder.read_part(name)
        shown = Shown(part, run.data, run.truth)
        for at, (*_, where, case) in enumerate(chosen):
            if where == name:
                texts[at] = " ".join(_words(text) for text in shown.texts(case))
                reached[at], example[at] = part["reached"][case], part["example"][case]
    before = [" ".join(_words(column[at]) for column in run.data.columns) for at in example.tolist()]
    cells = np.array([row[0] for row in chosen], np.int64).reshape(-1, 2)
    return SampledCases(before, texts, cells[:, 0], cells[:, 1], example, reached)


def _words(text: Text) -> str:
    return text if isinstance(text, str) else " ".join(text)


def predicted_validity(
    cases: SampledCases, *, encoder: str | None = None, mlm: str | None = None, clean: Sequence[str] = ()
) -> dict[str, Floats]:
    """Returns a number for each case by each measure; the higher, the more likely it is valid.

    degree: how near a case is to its original, by the measured degree of its dimension. grammar: minus the mistakes that the
    original does not have (`english/grammar.py`). similarity: of meaning, by the encoder (chrf: without one; default: MiniLM if
    installed). perplexity: minus the logarithm of the pseudo-perplexity by a masked language model; without one, of the
    perplexity of its characters by what `clean` texts (else the originals) look like.
    """
    far = distance_in_meaning(encoder or usual_meaning())
    measures: dict[str, Callable[[], Floats]] = {
        "degree": lambda: 1 - cases.reached,
        "grammar": lambda: -new_faults(cases.before, cases.after).astype(np.float64),
        "similarity": lambda: 1 - far(cases.before, cases.after),
        "perplexity": lambda: (
            -np.log(
                masked_perplexity(cases.after, mlm)
                if mlm
                else CharacterModel.learn(clean or cases.before).perplexity(cases.after)
            )
        ),
    }
    return {name: measure() for name, measure in measures.items()}


def validity_levels(predicted: Floats, count: int = LEVELS) -> Ints:
    """Returns the level of each case, from 0 for the least valid: groups of about the same size, equal numbers in one group."""
    share = (ranks(predicted) - 0.5) / max(predicted.size, 1)
    return np.minimum((share * count).astype(np.int64), count - 1)


def published_validity(run: Evaluation | str | Path, cases: SampledCases) -> Floats:
    """Returns the share of valid cases that RobTest's Table 3 has for each case's column and degree; nan if it has none."""
    run, out = open_run(run), np.full(len(cases), np.nan)
    for dimension in np.unique(cases.dimension).tolist():
        column, rows = run.protocol.validity(dimension), cases.dimension == dimension
        if column is not None:
            degrees = np.array(run.protocol.degrees)[cases.degree[rows]]
            out[rows] = np.interp(degrees, VALIDITY_DEGREES, VALIDITY[column])
    return out
