"""Predicts whether the cases of a run are valid, by degree, grammar, similarity and perplexity (RobTest, section 4.3, Figure 5).

A case is valid if people still read the original's label and meaning from it. Each measure gives every case a number that is high
where it predicts a valid case. Whether that is so only people can say: RobTest's Table 3 has the share of valid cases by column
and degree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..data.dataset import Text
from ..english.grammar import new_faults
from ..metrics.fluency import CharacterModel, masked_perplexity
from ..metrics.meaning import distance_in_meaning, usual_meaning
from ..metrics.rank import ranks
from ..runs.display import Shown, said
from ..runs.folder import Folder
from ..runs.schema import Answer
from ..text.ragged import Floats, Ints
from ..text.random import mix, name_bits
from .evaluation import Evaluation
from .score import VALIDITY, VALIDITY_DEGREES
from .setup import EvaluationSetup

LEVELS = 5  # as in the paper's Figure 5


@dataclass(frozen=True, eq=False)
class SampledCases:
    """Cases of a run, one per row, with their originals and answers. dimension, degree: numbers in the run's protocol."""

    before: list[str]
    after: list[str]
    dimension: Ints
    degree: Ints
    example: Ints
    reached: Floats
    answers: list[Answer] = field(default_factory=list)

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
    names, found = find_cases(run, broken=broken)
    return read_cases(run, names, _drawn(found, each, seed))


def find_cases(run: Evaluation, *, broken: bool) -> tuple[list[str], Ints]:
    """Returns the names of the parts of a run, and dimension, degree, example, draw, number of the part and case of each changed
    case that has an answer: [6, cases]. broken: as for `sample_trials`.
    """
    right = run.table().clean_score == 1
    names, found = [name for name in run.folder.parts() if not name.startswith("clean")], []
    for at, name in enumerate(names):
        part = run.folder.read_part(name)
        changed = np.bincount(part["edit_case"], minlength=part["example"].size) > 0
        wanted = changed & (part["problem"] == 0)
        if broken:
            wanted &= right[part["example"]] & (part["score"] < 1)
        rows = np.flatnonzero(wanted)
        place = [part[column][rows].astype(np.int64) for column in ("dimension", "degree", "example", "draw")]
        found.append(np.stack([*place, np.full(rows.size, at), rows]))
    return names, np.concatenate(found, 1) if found else np.empty((6, 0), np.int64)


def _drawn(rows: Ints, each: int, seed: int) -> Ints:
    """Returns up to `each` rows of every cell, in random order; the second of an example comes after the first of all others.

    rows, result: dimension, degree, example, draw, number of the part, case, each of all rows.
    """
    dimension, degree, example, draw, part, case = rows
    chance = mix(mix(example.astype(np.uint64) + name_bits("validity", seed)) + draw.astype(np.uint64))
    turn = _turns(np.lexsort((case, part, chance, example, degree, dimension)), rows[:3])
    order = np.lexsort((case, part, chance, turn, degree, dimension))
    return rows[:, order[_turns(order, rows[:2])[order] < each]]


def _turns(order: Ints, keys: Ints) -> Ints:
    """Returns how many rows with the same keys come before each row in an order in which these are together."""
    same = keys[:, order]
    begins = np.flatnonzero(np.r_[True, (same[:, 1:] != same[:, :-1]).any(0)])
    turn = np.empty(order.size, np.int64)
    turn[order] = np.arange(order.size) - np.repeat(begins, np.diff(np.r_[begins, order.size]))
    return turn


def read_cases(run: Evaluation, names: Sequence[str], chosen: Ints) -> SampledCases:
    """Reads the texts of chosen cases, part by part. names, chosen: as `find_cases` returns them."""
    dimension, degree, example, _, parts, cases = chosen
    texts, reached = [""] * cases.size, np.zeros(cases.size)
    answers: list[Answer] = [None] * cases.size
    for number in np.unique(parts).tolist():
        part = run.folder.read_part(names[number])
        shown = Shown(part, run.data, run.truth)
        for at in np.flatnonzero(parts == number).tolist():
            texts[at] = " ".join(_words(text) for text in shown.texts(int(cases[at])))
            reached[at] = part["reached"][cases[at]]
            answers[at] = said(shown.answers[int(cases[at])], run.truth)
    before = [" ".join(_words(column[at]) for column in run.data.columns) for at in example.tolist()]
    return SampledCases(before, texts, dimension, degree, example, reached, answers)


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
