"""Guided cases against a slow, obvious version; what the victim is asked, and that it is asked once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

import scuff
from scuff.data.dataset import Column
from scuff.data.toy import toy_data
from scuff.evaluation.cases import sample_cases
from scuff.evaluation.dimensions import Dimension
from scuff.evaluation.guided import DIGITS, TRIES, Oracle, Pool
from scuff.metrics.chrf import chrf_distance
from scuff.text.random import Rng
from scuff.victims.base import Outputs
from scuff.victims.toy import Toy

TEXTS, LABELS = (column[:12] for column in toy_data("sentiment", "test"))
TARGETS = np.array([["negative", "positive"].index(label) for label in LABELS])


class Asked:
    """The toy victim, and everything that it was asked."""

    def __init__(self) -> None:
        self.victim, self.texts = Toy("sentiment"), list[str]()

    def __call__(self, *columns: Sequence[Any], examples: Sequence[int] | None = None) -> Outputs:
        self.texts += columns[0]
        return self.victim(*columns)


def sure(texts: list[str], targets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return Toy("sentiment")(texts).answers[np.arange(len(texts)), targets].astype(np.float64)


def oracle_for(ask: Asked, texts: list[str] = TEXTS, targets: Any = TARGETS) -> Oracle:
    return Oracle([Column.of(texts)], (0,), ask, lambda out, rows: out.answers[np.arange(len(rows)), targets[rows]])


def guided(spec: str, degree: float, cases: int = 6, texts: list[str] = TEXTS, targets: Any = TARGETS) -> Any:
    oracle = oracle_for(Asked(), texts, targets)
    dimension = Dimension.parse(spec)
    return sample_cases([Column.of(texts)], (0,), dimension, degree, cases, seed=3, far=chrf_distance, oracle=oracle)


def importance(text: str, target: int) -> dict[int, float]:
    """By the start of each word: what leaving the word out takes off the score, one word at a time."""
    words = scuff.Corpus.of([text]).words
    clean = sure([text], np.array([target]))[0]
    without = [text[:a] + text[b:] for a, b in zip(words.start.tolist(), words.stop.tolist(), strict=True)]
    hidden = [sure([each], np.array([target]))[0] for each in without]
    return {start: round(clean - s, DIGITS) for start, s in zip(words.start.tolist(), hidden, strict=True)}


@pytest.mark.parametrize("spec", ["keyboard(phi=0)@score", "truncate@score", "phonetic@score"])
@pytest.mark.parametrize("degree", [0.1, 0.3])
def test_same_as_the_slow_version(spec: str, degree: float) -> None:
    """Per version: for each word the best of the proposals it looks at; words in order of importance; up to the degree."""
    found = guided(spec, degree)
    attack = Dimension.parse(spec).perturbation
    oracle = oracle_for(Asked())
    pool: Pool = oracle.pools(attack, "score", 8, seed=3, degree=degree, protect=None)[0]  # type: ignore[assignment]
    for at in range(len(found)):
        example, draw = int(found.example[at]), int(found.draw[at])
        text, target = TEXTS[example], int(TARGETS[example])
        corpus = scuff.Corpus.of([text])
        rng, zero = Rng.for_draws(corpus.keys, draw, 3, attack.name, "score"), np.zeros(1, np.int64)
        matters, clean = importance(text, target), sure([text], np.array([target]))[0]
        mine = [i for i in range(len(pool.edits)) if pool.edits.row[i] == example]
        new = pool.edits.text.strings()
        best = {}
        for site in sorted({int(pool.edits.site[i]) for i in mine}):
            here = [i for i in mine if pool.edits.site[i] == site]
            looked = []
            for turn in range(TRIES):
                looked.append(here[int(rng.stream("look", turn).below(len(here), zero, np.array([site]))[0])])
            gains = []
            for i in looked:
                start, stop = int(pool.edits.start[i]), int(pool.edits.stop[i])
                gains.append(round(clean - sure([text[:start] + new[i] + text[stop:]], np.array([target]))[0], DIGITS))
            winner = max(range(TRIES), key=lambda turn: (gains[turn], -turn))
            tie = int(rng.stream("tie").bits(zero, np.array([site]))[0])
            if gains[winner] >= 0:
                best[site] = (gains[winner] == 0, -matters[site], tie, looked[winner])
        order = sorted(best.values())[: int(degree * len(matters) + 1e-9)]
        after = text
        for *_, i in sorted(order, key=lambda each: -pool.edits.start[each[-1]]):
            after = after[: pool.edits.start[i]] + new[i] + after[pool.edits.stop[i] :]
        assert found.columns[0][at] == after


@pytest.mark.parametrize("spec", ["keyboard", "keyboard@edits", "visual@edits", "inner-shuffle", "keyboard|truncate"])
def test_scores_hurt_more_than_rules_and_keep_the_degree(spec: str) -> None:
    rules = sample_cases([Column.of(TEXTS)], (0,), Dimension.parse(spec), 0.3, 10, seed=3, far=chrf_distance)
    found = guided(f"{spec}@score", 0.3, 10)
    means = [sure([str(text) for text in cases.columns[0]], TARGETS[cases.example]).mean() for cases in (rules, found)]
    assert means[1] < means[0] - 0.05
    assert (found.reached <= 0.3 + 1e-9).all()
    if spec.endswith("@edits"):
        for example, after in zip(found.example.tolist(), found.columns[0], strict=True):
            assert Levenshtein.distance(TEXTS[example], after) <= 0.3 * len(TEXTS[example])


def test_cases_are_distinct_and_the_first_do_not_depend_on_their_number() -> None:
    many, few = guided("keyboard@score", 0.3, 12), guided("keyboard@score", 0.3, 4)
    keys = list(zip(many.example.tolist(), many.columns[0], strict=True))
    assert len(set(keys)) == len(keys) > 12 * 8
    first = {(e, d): t for e, d, t in zip(many.example.tolist(), many.draw.tolist(), many.columns[0], strict=True)}
    for example, draw, text in zip(few.example.tolist(), few.draw.tolist(), few.columns[0], strict=True):
        assert first[example, draw] == text


def test_other_examples_do_not_matter() -> None:
    whole = guided("keyboard@score", 0.4)
    for at in (0, 5):
        alone = guided("keyboard@score", 0.4, texts=TEXTS[at : at + 1], targets=TARGETS[at : at + 1])
        assert alone.columns[0] == [t for e, t in zip(whole.example.tolist(), whole.columns[0], strict=True) if e == at]


def test_everything_is_asked_once_for_all_degrees_and_dimensions() -> None:
    ask = Asked()
    oracle = oracle_for(ask)
    for degree in (0.1, 0.3, 0.6):
        sample_cases([Column.of(TEXTS)], (0,), Dimension.parse("truncate@score"), degree, 5, oracle=oracle)
    words = len(scuff.Corpus.of(TEXTS).words)
    able = int((scuff.Corpus.of(TEXTS).letters.count > 3).sum())  # truncate has one proposal for each of these
    assert len(ask.texts) == len(TEXTS) + words + able
    sample_cases([Column.of(TEXTS)], (0,), Dimension.parse("keyboard(phi=0)@score"), 0.3, 5, oracle=oracle)
    assert len(ask.texts) <= len(TEXTS) + words + able + 8 * words


def test_a_victim_without_an_answer_guides_by_chance() -> None:
    def dumb(*columns: Sequence[str], examples: Any = None) -> Outputs:
        return Outputs.failed(len(columns[0]), "error: no")

    oracle = Oracle([Column.of(TEXTS)], (0,), dumb, lambda out, rows: np.full(len(rows), np.nan))
    found = sample_cases([Column.of(TEXTS)], (0,), Dimension.parse("keyboard@score"), 0.3, 5, oracle=oracle)
    assert len(found) > 5 * 10 and (found.reached <= 0.3 + 1e-9).all()


def test_texts_without_words_are_cases_of_their_own() -> None:
    texts, targets = ["", "!?", "👍🏽", "fine day"], np.zeros(4, np.int64)
    found = guided("keyboard@score", 0.5, texts=texts, targets=targets)
    assert [t for e, t in zip(found.example.tolist(), found.columns[0], strict=True) if e < 3] == texts[:3]


def test_sequences_cannot_be_guided() -> None:
    with pytest.raises(ValueError, match="chosen one by one"):
        Dimension.parse("segment+keyboard@score")
    with pytest.raises(ValueError, match="chosen one by one"):
        Dimension.parse("keyboard@level@score")


def test_two_columns() -> None:
    second = [text.upper() for text in TEXTS]

    def ask(*columns: Sequence[Any], examples: Any = None) -> Outputs:
        return Toy("sentiment")([f"{a} {b}" for a, b in zip(*columns, strict=True)])

    columns = [Column.of(TEXTS), Column.of(second)]
    oracle = Oracle(columns, (0, 1), ask, lambda out, rows: out.answers[np.arange(len(rows)), TARGETS[rows]])
    found = sample_cases(columns, (0, 1), Dimension.parse("keyboard@score"), 0.3, 4, oracle=oracle)
    assert any(a != TEXTS[e] for e, a in zip(found.example.tolist(), found.columns[0], strict=True))
    assert any(b != second[e] for e, b in zip(found.example.tolist(), found.columns[1], strict=True))
    assert (found.reached <= 0.3 + 1e-9).all()


def test_protected_text_survives_guided_edits_of_whole_sentences() -> None:
    texts = ["This was a good day.", "They were bad days."]
    oracle = oracle_for(Asked(), texts, np.zeros(2, np.int64))
    rules = scuff.Protect((r"re:day(?=\.$)",))
    found = sample_cases(
        [Column.of(texts)], (0,), Dimension.parse("distraction@score"), 0.6, 4, far=chrf_distance, oracle=oracle,
        protect=rules,
    )  # fmt: skip
    assert {t for e, t in zip(found.example.tolist(), found.columns[0], strict=True) if e == 0} == {texts[0]}


def test_edits_between_words_matter_as_the_words_do() -> None:
    oracle = oracle_for(Asked())
    pool = oracle.pools(scuff.parse("segment"), "score", 8, seed=3, degree=0.5, protect=None)[0]
    assert pool is not None and (pool.importance != 0).mean() > 0.5


def test_scores_count_to_the_third_digit() -> None:
    """Another batch may change the last digits of a score, which must not change the order of words; a thousandth does."""
    scores = {"one two three": 0.9, " two three": 0.6542, "one  three": 0.6538, "one two ": 0.6551}

    def ask(*columns: Sequence[str], examples: Any = None) -> Outputs:
        return Outputs.of(np.array([[scores[text], 0.0] for text in columns[0]]))

    oracle = Oracle([Column.of(["one two three"])], (0,), ask, lambda out, rows: out.answers[:, 0])
    assert oracle.importance("score", 0).tolist() == [0.246, 0.246, 0.245]
