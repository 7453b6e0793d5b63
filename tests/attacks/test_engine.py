"""The engine: outcomes do not depend on other examples, batches are full, nothing is asked twice, budgets hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

import scuff
from attacks.attacked import LETTERS, Line, Watched, attacked, data_of, outcome, recipe, toy
from scuff.attacks import engine
from scuff.attacks.constraints.base import Constraint
from scuff.attacks.outcomes import Limits
from scuff.data.dataset import Dataset
from scuff.data.toy import toy_data
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Floats, Mask
from scuff.victims.base import Access, Column, NotEnoughAccess, Outputs, Victim, as_objects
from scuff.victims.plain import Plain
from scuff.victims.toy import Toy

SENTIMENT = Toy("sentiment")
SEARCHES = [
    "unk",
    "weighted-saliency",
    "random",
    "beam(width=2)",
    "genetic(population=5, generations=3)",
    "best-of(n=20)",
]
REAL = toy("sentiment", 40)
BAD = [
    "",
    " ",
    "!?",
    "👩‍👩‍👧‍👦👍🏽",
    "שלום עולם, הסרט היה נורא",
    "e\u0301te\u0301 ne\u0301",
    "\x00\r\n\u2028",
    "good",
    "a" * 300,
]
LONG = " ".join(toy_data("sentiment", "test")[0][:400])[:20_000]


def judged(texts: Sequence[str]) -> Dataset:
    """Texts with the labels that the toy gives them, so that all are attacked."""
    said = SENTIMENT(list(texts)).answers.argmax(1)
    return data_of(texts, [SENTIMENT.labels[label] for label in said])


def by_id(lines: list[Line]) -> dict[str, Line]:
    return {line["id"]: line for line in lines}


class Listening:
    """An `ask` that records which texts were asked for which example."""

    def __init__(self, victim: Victim = SENTIMENT) -> None:
        self.victim, self.asked, self.batches = victim, defaultdict[int, list[Any]](list), list[int]()

    def __call__(self, *columns: Column, examples: Sequence[int] | None = None) -> Outputs:
        if examples is not None:
            self.batches.append(len(examples))
            for example, *texts in zip(examples, *columns, strict=True):
                self.asked[example].append(tuple(texts))
        return self.victim(*columns)


@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHES)
def test_outcomes_do_not_depend_on_other_examples(search: str) -> None:
    data = judged([*REAL.columns[0][:24], *BAD])
    plan = recipe(search, "untargeted", LETTERS, "changed(share=0.5)")
    limits = Limits(max_queries=200)
    usual = by_id(attacked(SENTIMENT, data, plan, limits))
    order = list(range(len(data)))
    Random(3).shuffle(order)
    mixed = data.take(np.array(order))
    for block, at_once in ((64, 1), (5, 7), (1, 4096)):
        for some in (data, mixed):
            assert by_id(attacked(SENTIMENT, some, plan, replace(limits, block=block), at_once=at_once)) == usual
    alone = data.take(np.array([7]))
    assert by_id(attacked(SENTIMENT, alone, plan, limits)) == {"7": usual["7"]}


def test_the_seed_decides_random_searches() -> None:
    data = judged(REAL.columns[0])
    plan = recipe("best-of(n=20)")
    first, again, other = (attacked(SENTIMENT, data, plan, Limits(seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_batches_are_full() -> None:
    def mean_batch(at_once: int) -> float:
        victim = Watched(SENTIMENT)
        attacked(victim, judged(REAL.columns[0]), recipe("unk"), at_once=at_once)
        return float(np.mean([len(call) for call in victim.calls[1:]]))

    one_by_one, together = mean_batch(1), mean_batch(4096)
    assert together > 8 * one_by_one


def test_new_examples_start_when_others_finish() -> None:
    """Batches stay about as large as wanted until few examples are left."""
    door = Listening()
    attacked(SENTIMENT, judged(REAL.columns[0] * 3), recipe("unk"), Limits(block=200), ask=door, at_once=60)
    full = door.batches[: len(door.batches) * 3 // 4]
    assert min(full) >= 30 and max(full) < 120


@pytest.mark.parametrize("search", [*SEARCHES, "delete", "greedy", "genetic(population=5, generations=20)"])
@pytest.mark.parametrize("goal", ["untargeted", "reduction"])
def test_nothing_is_asked_twice(search: str, goal: str) -> None:
    texts = [*REAL.columns[0][:12], "It was very very very bad, bad, bad.", "bad bad", "bad", "!"]
    door = Listening()
    perturbations = LETTERS if goal == "untargeted" else ("omit(keep_one=False)",)
    data = judged(texts)
    lines = attacked(SENTIMENT, data, recipe(search, goal, perturbations), ask=door)
    for at, line in enumerate(lines):
        assert max(Counter([(texts[at],), *door.asked[at]]).values()) == 1
        assert line["queries"] == 1 + len(door.asked[at])


def test_memory_does_not_grow_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcome is the same if a text is too long for all its versions to be made at once."""
    data = judged([LONG[:3000], *REAL.columns[0][:3]])
    plan = recipe("unk", "untargeted", LETTERS, "edit-distance(most=40)")
    for limits in (Limits(), Limits(max_queries=150)):
        usual = attacked(SENTIMENT, data, plan, limits)
        door = Listening()
        with monkeypatch.context() as patch:
            patch.setattr(engine, "CHARACTERS", 10_000)
            assert attacked(SENTIMENT, data, plan, limits, ask=door) == usual
        assert max(door.batches) < 50


@pytest.mark.parametrize("search", SEARCHES)
def test_a_long_text(search: str) -> None:
    line = attacked(SENTIMENT, judged([LONG]), recipe(search), Limits(max_queries=40))[0]
    assert line["status"] in ("failed", "succeeded") and line["queries"] <= 40


@pytest.mark.parametrize("search", ["unk", "delete", "best-of(n=9)"])
def test_odd_texts(search: str) -> None:
    data = judged(BAD)
    for line in attacked(SENTIMENT, data, recipe(search, "untargeted", ("typo", "homoglyph"))):
        assert line["status"] in ("failed", "succeeded")
        text = line["texts"][0]
        if text in ("", " ", "!?", "👩‍👩‍👧‍👦👍🏽", "\x00\r\n\u2028"):
            assert outcome(line)[1:3] == (text, 1) and line["reason"] == "nothing can change"
        else:
            assert line["queries"] > 1


MARK = "⁂"  # no perturbation changes it
MARKED = judged([*REAL.columns[0][:6], f"{MARK} The film was bad and boring.", *REAL.columns[0][6:16]])


@dataclass(frozen=True)
class Breaking(Constraint):
    """Raises on texts with a mark, in the check itself or in `similarity`, which is called after the victim was asked."""

    mark: str = ""
    when_measured: bool = False

    name: ClassVar[str] = "breaking"

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        if not self.when_measured and any(self.mark in text for text in before.strings()):
            raise RuntimeError("what is that?")
        return np.ones(len(before), np.bool_)

    def similarity(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        if any(self.mark in text for text in before):
            raise RuntimeError("what is that?")
        return np.ones(len(before))


def assert_one_breaks(lines: list[Line], usual: list[Line], reason: str) -> None:
    """Asserts that only the example with the mark fails; nothing changes for others in its batch, not even their queries."""
    for line, other in zip(lines, usual, strict=True):
        if MARK in line["texts"][0]:
            assert (line["status"], line["reason"], line["adversarial"]) == ("error", reason, None)
        else:
            assert line == other


@pytest.mark.parametrize("search", ["unk", "beam(width=2)"])
@pytest.mark.parametrize("most", [None, 25])
def test_a_constraint_that_raises_on_one_text(search: str, most: int | None) -> None:
    limits = Limits(max_queries=most)
    for when_measured in (False, True):
        fine, breaking = (
            replace(recipe(search), constraints=(Breaking(mark, when_measured),)) for mark in ("no such mark", MARK)
        )
        usual = attacked(SENTIMENT, MARKED, fine, limits)
        reached = usual[6]["status"] == "succeeded"
        lines = attacked(SENTIMENT, MARKED, breaking, limits)
        if reached or not when_measured:
            assert_one_breaks(lines, usual, "error: RuntimeError: what is that?")
    assert reached or most


def test_a_victim_that_raises_on_one_text() -> None:
    usual = attacked(SENTIMENT, MARKED, recipe("unk"))
    original = MARKED.columns[0][6]
    lines = attacked(Watched(SENTIMENT, lambda text: MARK in text and text != original), MARKED, recipe("unk"))
    assert_one_breaks(lines, usual, "error: RuntimeError: the model broke")
    unanswered = attacked(Watched(SENTIMENT, lambda text: MARK in text), MARKED, recipe("unk"))
    assert unanswered[:6] == usual[:6] and unanswered[7:] == usual[7:]
    assert unanswered[6]["status"] == "skipped", "it is not known whether it was right"
    assert unanswered[6]["reason"] == "no answer: error: RuntimeError: the model broke"
    sometimes = Watched(SENTIMENT, lambda text: MARK in text and len(text) < len(original))
    lines = attacked(sometimes, MARKED, recipe("unk"))
    assert lines[:6] == usual[:6] and lines[7:] == usual[7:]
    assert lines[6]["status"] in ("failed", "succeeded") and 0 < lines[6]["unanswered"] < lines[6]["queries"]


@pytest.mark.parametrize("most", [None, 15])
def test_ask_that_raises_for_one_example(most: int | None) -> None:
    class Door(Listening):
        def __call__(self, *columns: Column, examples: Sequence[int] | None = None) -> Outputs:
            if examples is not None and 6 in examples:
                raise KeyError("closed")
            return super().__call__(*columns, examples=examples)

    usual = attacked(SENTIMENT, MARKED, recipe("unk"), Limits(max_queries=most))
    lines = attacked(SENTIMENT, MARKED, recipe("unk"), Limits(max_queries=most), ask=Door())
    assert_one_breaks(lines, usual, "error: KeyError: 'closed'")


class Agreeing(Victim):
    """A victim for pairs: the score of yes is the share of the second text's words that are in the first."""

    name, task, labels, access = "agreeing", "single", ("no", "yes"), Access.SCORE

    def __call__(self, *columns: Column) -> Outputs:
        shares = [
            np.mean([word in first.split() for word in second.split()] or [0.0])
            for first, second in zip(*columns, strict=True)
        ]
        return Outputs.of(np.stack([1 - np.array(shares), shares], 1))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("side", [0, 1])
def test_pairs(search: str, side: int) -> None:
    first = ["a big dog ran over the field", "two men sit on a bench", "cats"]
    second = ["a big dog ran", "men sit", "cats"]
    door = Listening(Agreeing())
    data = data_of(first, ["yes"] * 3, "single", second)
    lines = attacked(Agreeing(), data, recipe(search), Limits(side=side), ask=door)
    assert {line["status"] for line in lines} == {"succeeded"}
    other = (second, first)[side]
    for at, line in enumerate(lines):
        found = line["adversarial"]
        assert found["texts"][1 - side] == other[at] and {edit[0] for edit in found["edits"]} == {side}
        assert {texts[1 - side] for texts in door.asked[at]} == {other[at]}
        assert Agreeing()([found["texts"][0]], [found["texts"][1]]).answers.argmax() == 0


class Tagger(Victim):
    """A victim that tags the nouns of a list."""

    name, task, labels = "tagger", "tokens", ("O", "N")
    nouns = ("dog", "cat", "house", "street", "tree")

    def __call__(self, *columns: Column) -> Outputs:
        return Outputs.of(as_objects([np.array([int(token in self.nouns) for token in text]) for text in columns[0]]))


@pytest.mark.parametrize("search", ["unk", "delete", "greedy", "genetic(population=4, generations=9)", "best-of"])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_tags(search: str, share: float) -> None:
    sentences = [
        ("the", "dog", "saw", "a", "cat", "."),
        ("dog", "house"),
        ("street",),
        ("he", "ran"),
        ("cat", ",", "tree"),
    ]
    targets = [tuple(Tagger.labels[int(token in Tagger.nouns)] for token in tokens) for tokens in sentences]
    nouns = [np.mean([tag == "N" for tag in tags]) for tags in targets]
    lines = attacked(Tagger(), data_of(sentences, targets, "tokens"), recipe(search, f"tags(share={share})"))
    for line, most, tokens in zip(lines, nouns, sentences, strict=True):
        after = line["adversarial"]["texts"][0] if line["adversarial"] else tokens
        assert " ".join(after) == outcome(line)[1] and len(after) == len(tokens)
        wrong = np.mean(
            [(old in Tagger.nouns) != (new in Tagger.nouns) for old, new in zip(tokens, after, strict=True)]
        )
        assert (line["status"] == "succeeded") == (wrong >= share)
        assert line["status"] == "succeeded" or search == "best-of" or most < share
    right = attacked(Tagger(), data_of([("dog",)], [("O",)], "tokens"), recipe(search, "tags"))
    assert (right[0]["status"], right[0]["reason"], right[0]["queries"]) == ("skipped", "already wrong", 0)


@pytest.mark.slow
@pytest.mark.parametrize("search", [*SEARCHES, "delete", "greedy"])
@pytest.mark.parametrize(
    ("goal", "constraints"), [("untargeted", ()), ("untargeted", ("changed(share=0.1)",)), ("reduction", ())]
)
def test_a_budget_succeeds_if_and_only_if_it_is_at_least_reached(
    search: str, goal: str, constraints: tuple[str, ...]
) -> None:
    perturbations = ["omit(keep_one=False)"] if goal == "reduction" else LETTERS
    whole = recipe(search, goal, perturbations, *constraints)
    unlimited = attacked(SENTIMENT, REAL, whole)
    reached = {line["id"]: line["reached"] for line in unlimited}
    assert all(
        (line["status"] == "succeeded") == (line["reached"] is not None) and (line["reached"] or 0) <= line["queries"]
        for line in unlimited
    )
    for most in (2, 5, 9, 14, 20, 35, 60):
        for line in attacked(SENTIMENT, REAL, whole, Limits(max_queries=most)):
            assert (line["status"] == "succeeded") == (0 < (reached[line["id"]] or 0) <= most)


def test_a_success_while_ranking_is_not_lost() -> None:
    """Hiding alpha matters more, so it is changed first; then beta, which alone turns the answer, may no longer change."""

    def model(texts: list[str]) -> list[dict[str, float]]:
        rows = [(set(text.split()), "[UNK]" in text) for text in texts]
        sure = [
            0.95 - (0.4 if hidden else 0.44) * ("alpha" not in words) - 0.47 * ("beta" not in words and not hidden)
            for words, hidden in rows
        ]
        return [{"yes": score, "no": 1 - score} for score in sure]

    text = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    settings: dict[str, Any] = {"perturbations": ["typo"], "constraint": ["changed(share=0.1)"], "encoder": "chrf"}
    found = scuff.attack(model, [(text, "yes")], "deepwordbug", search="weighted-saliency", **settings)
    assert found.success == 1 and "alpha" in found.adversarial[0][1] and "beta" not in found.adversarial[0][1].split()


def deciding(texts: list[str]) -> list[str]:
    return ["positive" if "good" in text.split() else "negative" for text in texts]


DECIDED = [(f"this was a good {thing} and all liked it", "positive") for thing in ("film", "book", "walk")]


def test_a_model_that_only_decides() -> None:
    settings: dict[str, Any] = {"perturbations": ["typo"], "encoder": "chrf"}
    result = scuff.attack(deciding, DECIDED, "deepwordbug", search="best-of", **settings)
    assert result.success == 1 and all("good" not in after.split() for _, after in result.adversarial)
    with pytest.raises(NotEnoughAccess, match=r"score access for the search unk, got .*:deciding, .*--search best-of"):
        scuff.attack(deciding, DECIDED, "deepwordbug", **settings)


def test_best_of_needs_no_scores() -> None:
    """A model without scores is asked the same texts, with the same outcomes."""
    hard = Plain(
        lambda texts: [SENTIMENT.labels[at] for at in SENTIMENT(texts).answers.argmax(1)], "single", SENTIMENT.labels
    )
    data = judged(REAL.columns[0][:20])
    plan = recipe("best-of(n=40)", "untargeted", ("3*typo",))
    soft_lines, hard_lines = (attacked(victim, data, plan) for victim in (SENTIMENT, hard))
    status = [[line["status"] for line in lines] for lines in (soft_lines, hard_lines)]
    assert status[0] == status[1] and "succeeded" in status[0]
    assert [line["queries"] for line in soft_lines] == [line["queries"] for line in hard_lines]


def test_searches_end_when_time_is_up() -> None:
    clock = iter([False] * 4 + [True] * 1000)
    data = judged(REAL.columns[0][:16])
    whole = attacked(SENTIMENT, data, recipe("beam(width=2)"), at_once=200)
    lines = attacked(SENTIMENT, data, recipe("beam(width=2)"), at_once=200, late=lambda: next(clock))
    cut = [line for line in lines if line["reason"] == "no time was left"]
    assert cut and all(line["status"] == "failed" for line in cut)
    for line, other in zip(lines, whole, strict=True):
        assert line in cut or line == other
        assert line["queries"] <= other["queries"]
    best_seen = [line for line in cut if line["adversarial"]]
    assert best_seen and min(line["queries"] for line in cut) == 1


def test_no_time_at_all() -> None:
    result = scuff.attack(
        "toy:sentiment",
        "toy:sentiment",
        "deepwordbug",
        examples=30,
        max_time=1e-9,
        encoder="chrf",
        perturbations=["typo"],
    )
    assert result.success == 0 and result.summary["queries"]["cut"] == result.summary["success"]["of"] > 20


def test_scuff_attack_gives_the_same_lines() -> None:
    """`scuff.attack` has the same outcomes as the engine alone, though its blocks have another size."""
    settings: dict[str, Any] = {
        "perturbations": list(LETTERS),
        "search": "unk",
        "without": ["stop-words", "edit-distance"],
    }
    data = list(zip(*toy_data("sentiment", "test"), strict=True))[:40]
    result = scuff.attack("toy:sentiment", data, "deepwordbug", encoder="chrf", **settings)
    mine = attacked(SENTIMENT, toy("sentiment", 40), recipe("unk"))
    assert [outcome(line) for line in result.lines] == [outcome(line) for line in mine]
