"""Every search in the engine, with all examples in lock step, against a slow, obvious version that takes one text at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from attacks.attacked import LETTERS, Line, attacked, data_of, outcome, recipe, toy
from reference import searches, slow
from reference.searches import Game, Option, played
from scuff.attacks.attack import Attack
from scuff.attacks.constraints.base import Constraint
from scuff.attacks.outcomes import Limits
from scuff.attacks.search import SEARCHES, parse_search
from scuff.attacks.search.base import Dice, Search, View
from scuff.attacks.search.ranked import Rank, Ranked
from scuff.data.toy import LABELS
from scuff.perturbations.combine import all_proposals
from scuff.text.corpus import Corpus
from scuff.text.ragged import Floats
from scuff.text.random import Rng
from scuff.victims.base import Access, Column, Outputs, Victim
from scuff.victims.toy import Toy

EXAMPLES = 30  # that are attacked, at least; others are skipped
SIZE = {"sentiment": 32, "tone": 60}
SLOW: dict[str, Callable[[Game], searches.Choice]] = {
    "unk": searches.hidden_first,
    "delete": searches.hidden_first,
    "head-tail(weight=0.5)": partial(searches.head_and_tail, weight=0.5),
    "weighted-saliency": searches.weighted_saliency,
    "gradient": searches.by_gradient,
    "random": searches.at_random,
    "greedy": searches.beam,
    "beam(width=3)": partial(searches.beam, width=3),
    "genetic(population=6, generations=4)": partial(searches.genetic, population=6, generations=4, temperature=0.3),
    "best-of(n=30, share=0.4)": partial(searches.best_of, n=30, share=0.4),
}
every_search = pytest.mark.parametrize("search", SLOW)


class Remembered(Toy):
    """A toy that keeps its answers, which makes the slow versions faster; they do not depend on the batch."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.said: dict[str, list[float]] = {}

    def __call__(self, *columns: Column) -> Outputs:
        outputs = super().__call__(*columns)
        self.said.update(zip(columns[0], outputs.answers.astype(np.float64).tolist(), strict=True))
        return outputs

    def scores(self, text: str) -> list[float]:
        if text not in self.said:
            self([text])
        return self.said[text]


TOYS = {name: Remembered(name) for name in LABELS}


def untargeted(scores: list[float], target: list[str]) -> tuple[float, bool]:
    right = scores[LABELS["sentiment"].index(target[0])]
    return 1 - right, right < max(scores)


def toxictrap(scores: list[float], target: list[str]) -> tuple[float, bool]:
    """For a model without a label for benign texts: every label has to go."""
    return sum(1 - score for score in scores) / len(scores), all(score < 0.5 for score in scores)


def any_label(scores: list[float], target: list[str]) -> tuple[float, bool]:
    sure = [score if label in target else 1 - score for score, label in zip(scores, LABELS["tone"], strict=True)]
    wrong = [(score > 0.5) != (label in target) for score, label in zip(scores, LABELS["tone"], strict=True)]
    return 1 - min(sure), any(wrong)


def reduction(scores: list[float], target: list[str], changed: float) -> tuple[float, bool]:
    right = scores[LABELS["sentiment"].index(target[0])]
    there = right == max(scores) and 0 < changed < 1
    return (0.99 * changed + 0.01 * right if there else right), there


Judge = Callable[..., tuple[float, bool]]


@cache
def count(text: str) -> int:
    return len(slow.words(text))


def allowed(constraints: Sequence[str], original: str, text: str, changed: int) -> bool:
    """Whether the constraints allow one text."""
    words = count(original)
    rules = {
        "changed(share=0.2)": changed <= math.floor(0.2 * words + 1e-9),
        "changed(floor=2)": changed <= max(2, math.floor(0.1 * words + 1e-9)),
        "edit-distance(most=2)": Levenshtein.distance(original, text) <= 2,
    }
    return all(rules[constraint] for constraint in constraints)


@cache
def sites_of(text: str, perturbations: tuple[str, ...], constraints: tuple[str, ...], seed: int) -> list[list[Option]]:
    """The edits at each site as plain tuples."""
    corpus = Corpus.of([text])
    parts = recipe("unk", "untargeted", perturbations, *constraints)
    edits = all_proposals([(part.perturbation, part.count) for part in parts.perturbations], corpus, seed)
    for constraint in parts.constraints:
        edits = edits.where(constraint.sites(corpus, edits))
    found: dict[int, list[Option]] = {}
    for site, *option in zip(
        *(f.tolist() for f in (edits.site, edits.start, edits.stop)), edits.text.strings(), strict=True
    ):
        found.setdefault(site, []).append(tuple(option))
    return list(found.values())


@dataclass(frozen=True)
class Duel:
    """The same attack, run by the engine and by the slow version."""

    name: str  # of the toy
    goal: str
    judge: Judge
    search: str
    perturbations: tuple[str, ...] = LETTERS
    constraints: tuple[str, ...] = ()
    most: int | None = None
    seed: int = 0
    like: Callable[[str, str], float] | None = None

    @property
    def recipe(self) -> Attack:
        return recipe(self.search, self.goal, self.perturbations, *self.constraints)

    def slow(self, line: Line) -> tuple[str, str, int, float | None]:
        text, target = line["texts"][0], line["target"]
        target = [target] if isinstance(target, str) else target

        def margin(text: str, changed: float) -> float:
            open_ended = (changed,) if self.goal == "reduction" else ()
            score, reached = self.judge(TOYS[self.name].scores(text), target, *open_ended)
            return max(score, 1e-9) if reached else min(score - 1, 0)

        rng = Rng.of(Corpus.of([text]).keys, self.seed, "search", self.recipe.search.spec)
        game = Game(
            text, sites_of(text, self.perturbations, self.constraints, self.seed), margin,
            partial(allowed, self.constraints, text), Dice(rng, 0), "[UNK]" if self.recipe.search.hidden else "",
            partial(self.like, text) if self.like else None, self.most or math.inf, self.goal == "reduction",
        )  # fmt: skip
        game.importance = [importance(text, a, b) for a, b in self.spans(game)]
        if self.search == "gradient":
            game.most -= 1
        final, reached, queries = played(game, SLOW[self.search])
        queries += self.search == "gradient"
        status = "succeeded" if reached > 0 else "failed"
        return status, final, queries, None if final == text else round(reached, 4)

    @staticmethod
    def spans(game: Game) -> list[tuple[int, int]]:
        return [(min(a for a, _, _ in site), max(b for _, b, _ in site)) for site in game.sites]

    def fight(self, extra: tuple[Constraint, ...] = ()) -> list[Line]:
        """Asserts that all outcomes agree. Returns the engine's lines of the attacked examples."""
        full = self.recipe
        full = replace(full, constraints=(*full.constraints, *extra))
        limits = Limits(seed=self.seed, max_queries=self.most)
        lines = attacked(TOYS[self.name], toy(self.name, SIZE[self.name]), full, limits, saliency=saliency)
        tried = [line for line in lines if line["status"] != "skipped"]
        assert len(tried) >= EXAMPLES
        assert [outcome(line) for line in tried] == [self.slow(line) for line in tried]
        if self.most is not None:
            assert max(line["queries"] for line in tried) <= self.most
        return tried


class Sure(Victim):
    """A victim that answers negative to everything."""

    name, task, labels, access = "sure", "single", LABELS["sentiment"], Access.SCORE

    def __call__(self, *columns: Column) -> Outputs:
        return Outputs.of(np.array([[0.9, 0.1]] * len(columns[0])))


def importance(text: str, start: int, stop: int) -> float:
    """A number that depends on the word, instead of gradients, which toys do not have."""
    return sum(map(ord, text[start:stop].strip(" ,.!?"))) * 37 % 101 / 100


def saliency(
    *columns: Sequence[str], side: int, words: Sequence[Sequence[tuple[int, int]]], **_: object
) -> list[Floats]:
    return [
        np.array([importance(text, *span) for span in spans]) for text, spans in zip(columns[side], words, strict=True)
    ]


def test_every_search_has_a_slow_version() -> None:
    """That of `substitution`, which proposes its own edits, is in test_substitution.py."""
    assert [*(search.partition("(")[0] for search in SLOW), "substitution"] == list(SEARCHES)


@every_search
def test_single_label(search: str) -> None:
    Duel("sentiment", "untargeted", untargeted, search).fight()


@every_search
def test_label_sets(search: str) -> None:
    Duel("tone", "toxictrap", toxictrap, search).fight()


@pytest.mark.slow
@every_search
def test_constraints(search: str) -> None:
    Duel("sentiment", "untargeted", untargeted, search, constraints=("changed(share=0.2)",)).fight()
    both = ("changed(floor=2)", "edit-distance(most=2)")
    Duel("tone", "untargeted", any_label, search, constraints=both, seed=1).fight()


@pytest.mark.parametrize(
    ("search", "most"),
    [(search, 2 if search == "gradient" and most == 1 else most) for search in SLOW for most in (1, 7, 30)],
)
def test_budgets(search: str, most: int) -> None:
    """The pass for gradients counts as a query."""
    lines = Duel("sentiment", "untargeted", untargeted, search, most=most).fight()
    cut = [line for line in lines if line["reason"].startswith("no query was left")]
    assert cut and {line["reason"] for line in cut} <= {"no query was left", "no query was left to try a change"}
    assert most > 2 or all(line["reason"] == "no query was left to try a change" for line in cut)
    assert most < 30 or any(line["reason"] == "no query was left" for line in cut)
    assert all(line["queries"] == most for line in cut)
    assert most > 2 or not any(line["adversarial"] for line in lines)


@every_search
@pytest.mark.parametrize("most", [None, 15])
def test_an_open_ended_goal(search: str, most: int | None) -> None:
    """Words are left out as long as the answer stays: a search goes on after a success, and no text becomes empty."""
    omit = ("omit(keep_one=False)",)
    lines = Duel("sentiment", "reduction", reduction, search, omit, most=most).fight()
    assert all(line["adversarial"]["texts"][0].strip(" .,!?") for line in lines if line["adversarial"])


@pytest.mark.parametrize("search", ["unk", "delete", "weighted-saliency", "best-of(n=30, share=0.4)"])
def test_edits_of_letters_and_of_gaps(search: str) -> None:
    """If an edit changes part of a word, the whole word is hidden; if it touches no word, what it replaces."""
    Duel("sentiment", "untargeted", untargeted, search, ("2*typo(scope='text')", "segment")).fight()


def resemblance(before: str, after: str) -> float:
    """A similarity by common letters."""
    return sum(map(str.isascii, after)) / len(after) - abs(len(before) - len(after)) / 100


@dataclass(frozen=True)
class Alike(Constraint):
    """A constraint that allows everything and measures similarity."""

    name: ClassVar[str] = "alike"

    def similarity(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        return np.array(list(map(resemblance, before, after)))


@every_search
def test_the_most_similar_of_several_successes_wins(search: str) -> None:
    Duel("sentiment", "untargeted", untargeted, search, like=resemblance).fight((Alike(),))


@every_search
def test_texts_in_which_nothing_can_change(search: str) -> None:
    data = data_of(["", "!?", "👍🏽 👩‍👩‍👧‍👦", "xqzv : 𝔘"], ["negative"] * 4)
    lines = attacked(Sure(), data, recipe(search, "untargeted", ["synonym(loose=True)"]), saliency=saliency)
    assert {(line["status"], line["reason"]) for line in lines} == {("failed", "nothing can change")}
    assert {line["queries"] for line in lines} == {2 if search == "gradient" else 1}


@dataclass(frozen=True)
class Own(Ranked):
    """A user's search by gradients, with an option that only it knows."""

    norm: float = 2.0

    name: ClassVar[str] = "own"
    needs: ClassVar[Access] = Access.GRADIENT

    def rank(self, view: View, dice: Dice) -> Rank:
        assert view.importance is not None
        return view.importance**self.norm
        yield


@pytest.mark.parametrize(
    ("search", "norms"),
    [(Own(), set()), (parse_search("gradient"), set()), (parse_search("gradient(norm='l1')"), {"l1"})],
)
def test_the_norm_of_gradients_is_that_of_a_search_that_declares_it(search: Search, norms: set[str]) -> None:
    asked: set[object] = set()

    def gradients(*columns: Sequence[str], **options: Any) -> list[Floats]:
        asked.update({options["norm"]} if "norm" in options else ())
        return saliency(*columns, **options)

    attack = replace(recipe("gradient", "untargeted", ["synonym(loose=True)"]), search=search)
    lines = attacked(TOYS["sentiment"], toy("sentiment", 4), attack, saliency=gradients)
    assert asked == norms and any(line["queries"] > 2 for line in lines)


@pytest.mark.parametrize(
    "option", ["beam(width=0)", "genetic(population=1.5)", "genetic(generations=0)", "best-of(n=0)"]
)
def test_impossible_numbers_of_searches(option: str) -> None:
    name, number = option[:-1].split("(")[0], option[:-1].split("=")
    with pytest.raises(
        ValueError, match=rf"expected a whole number above 0 for {name}\.{number[0].split('(')[1]}, got"
    ):
        parse_search(option)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("genetic(temperature=0)", r"expected a number in \[1e-06, 1e\+06\] for genetic\.temperature, got 0"),
        ("best-of(share=1.5)", r"expected a number in \[1e-06, 1\] for best-of\.share, got 1\.5"),
        ("gready", r"expected the name of a search, got 'gready'; did you mean greedy"),
        ("unk(n=3)", r"expected no option for unk, got 'n'"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_search(spec)


@every_search
def test_specs_are_read_back(search: str) -> None:
    assert parse_search(search).spec == search
    assert parse_search(parse_search(search).spec) == parse_search(search)
