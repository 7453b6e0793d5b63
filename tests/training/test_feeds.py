"""Feeds: labels stay, epochs are fresh, parts are equal, and the same epoch has the same bytes however it is asked for."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.data.dataset import Dataset
from scuff.perturbations import Corpus, Ints, Mask, Ragged, Rng, WordPerturbation, blocks
from scuff.training import Ahead, Clean, Feed, Mixed
from strategies import texts

SENTENCE = "the staff were friendly and every room was spotless although breakfast ended rather early"
WORDS = SENTENCE.split()
TEXTS = tuple(" ".join(random.Random(at).sample(WORDS, 8)) + f" {at}" for at in range(50))


def dataset(columns: Any = (TEXTS,), task: Any = "single", targets: Any = None) -> Dataset:
    size = len(columns[0])
    targets = tuple("pos" if at % 3 else "neg" for at in range(size)) if targets is None else targets
    names = ("text",) if len(columns) == 1 else ("first", "second")
    return Dataset("d", task, columns, targets, tuple(str(at) for at in range(size)), names)


TOKENS = dataset((tuple(tuple(text.split()) for text in TEXTS),), "tokens", tuple(tuple(t.split()) for t in TEXTS))
PAIRS = dataset((TEXTS, TEXTS))
SETS = dataset(task="multi", targets=tuple(("a", "b")[: at % 3] for at in range(50)))


def test_clean_data_is_the_data() -> None:
    feed: Feed = Clean(dataset())
    assert feed.epoch(0) is feed.epoch(7) is feed.data and feed.data.digest in feed.identity


@pytest.mark.parametrize("data", [dataset(), SETS, PAIRS, TOKENS], ids=["label", "sets", "pairs", "tags"])
def test_only_texts_change(data: Dataset) -> None:
    feed = Mixed(data, "keyboard,intrude@high,visual@0.5")
    for number in range(3):
        made = feed.epoch(number)
        assert (made.targets, made.ids, made.task, made.fields) == (data.targets, data.ids, data.task, data.fields)
        assert sum(new != old for new, old in zip(made.columns[0], data.columns[0], strict=True)) > 40
    if data is TOKENS:
        assert all(len(new) == len(old) for new, old in zip(made.columns[0], data.columns[0], strict=True))
    if data is PAIRS:
        assert made.columns[1] == data.columns[1], "the other side"


@pytest.mark.parametrize("side", ["second", "both"])
def test_sides_of_pairs(side: str) -> None:
    made = Mixed(PAIRS, "keyboard@high", side=side).epoch(0)
    assert (made.columns[0] == TEXTS) == (side == "second")
    assert all(new != old for new, old in zip(made.columns[1], TEXTS, strict=True))
    if side == "both":
        assert all(one != two for one, two in zip(*made.columns, strict=True)), "equal texts of a pair differ then"


def test_every_epoch_is_fresh_and_has_equal_parts() -> None:
    feed = Mixed(dataset(), "keyboard,intrude@mid,clean,truncate")
    seen = [feed.portions(number) for number in range(4)]
    for portion in seen:
        names = Counter(feed.parts.labels[at].partition("@")[0] for at in portion.tolist())
        assert sorted(names.values()) == [12, 12, 13, 13]
    entries = np.array([[feed.parts.labels[at].partition("@")[0] for at in portion.tolist()] for portion in seen])
    assert all(len(set(entries[:, at])) == 4 for at in range(50)), "all of them in four epochs"
    epochs = [feed.epoch(number).columns[0] for number in (0, 4)]
    assert sum(one != two for one, two in zip(*epochs, strict=True)) > 25, "new noise where the part is the same"
    still = Mixed(dataset(), "keyboard,intrude@mid", fresh=False)
    assert still.epoch(0).columns == still.epoch(5).columns == Mixed(dataset(), "keyboard,intrude@mid").epoch(0).columns


@given(texts, st.sampled_from(["keyboard", "visual,clean", "segment@high,intrude"]), st.integers(0, 5))
def test_same_bytes_whatever_is_asked_first(found: list[str], mixture: str, number: int) -> None:
    data = dataset((tuple(found),))
    whole = Mixed(data, mixture).epoch(number).columns[0]
    feed = Mixed(data, mixture)
    feed.epoch(number + 1)
    rows = np.array(random.Random(number).sample(range(len(found)), len(found)), np.int64)
    for row in rows.tolist():
        assert feed.texts(np.array([row]), number)[0] == [whole[row]], "alone"
    assert feed.texts(rows, number)[0] == [whole[row] for row in rows.tolist()], "in another order"
    mixed = Mixed(data.take(rows), mixture).epoch(number)
    assert sorted(mixed.columns[0]) == sorted(whole), "the data in another order"


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Mixed(PAIRS, "keyboard,visual@low,intrude", side="both", beside=True)
    whole = [feed.epoch(number).digest for number in range(4)]
    ahead = Ahead(Mixed(PAIRS, "keyboard,visual@low,intrude", side="both", beside=True), last=3)
    assert [ahead.epoch(number).digest for number in (0, 1, 2, 3)] == whole and ahead.identity == feed.identity
    assert [ahead.epoch(number).digest for number in (2, 0, 3)] == [whole[2], whole[0], whole[3]], "in any order"
    monkeypatch.setattr(blocks, "BLOCK", 200)
    assert feed.epoch(3).digest == whole[3]


def test_an_error_in_the_thread_is_raised() -> None:
    class Broken(Clean):
        def epoch(self, number: int) -> Dataset:
            if number:
                raise OSError("no more")
            return self.data

    ahead = Ahead(Broken(dataset()))
    assert ahead.epoch(0) is ahead.data
    with pytest.raises(OSError, match="no more"):
        ahead.epoch(1)


def test_copies_beside_clean_examples() -> None:
    data = dataset((("12 + 3", *TEXTS[1:]),))
    made = Mixed(data, "keyboard@high", beside=True).epoch(2)
    assert made.columns[0][:50] == data.columns[0] and made.targets[:50] == data.targets
    assert len(made) == 99 and made.targets[50:] == data.targets[1:], "what did not change is not there twice"
    assert len(set(made.ids)) == 99 and made.ids[50] == "1~2"
    assert set(made.columns[0]) >= set(Mixed(data, "keyboard@high").epoch(2).columns[0])


def test_it_is_what_augment_writes() -> None:
    pairs = [(text, f"{text} indeed", "x") for text in TEXTS]
    data = dataset((TEXTS, tuple(second for _, second, _ in pairs)), targets=("x",) * 50)
    rows = scuff.augment(pairs, mixture="keyboard,visual@low", side="both", only_perturbed=True, seed=3)
    made = Mixed(data, "keyboard,visual@low", side="both", seed=3).epoch(0)
    assert [row[:2] for row in rows] == list(zip(*made.columns, strict=True))


def test_the_identity_tells_feeds_apart() -> None:
    feeds = [
        Mixed(dataset(), "keyboard"), Mixed(dataset(), "keyboard@low"), Mixed(dataset(), "keyboard", seed=1),
        Mixed(dataset(), "keyboard", fresh=False), Mixed(dataset(), "keyboard", beside=True), Mixed(PAIRS, "keyboard"),
        Mixed(PAIRS, "keyboard", side="both"), Mixed(dataset(), "keyboard", protect=["urls"]),
        Mixed(dataset(), "keyboard", as_published=True), Mixed(dataset().take(np.arange(9)), "keyboard"),
    ]  # fmt: skip
    names = [feed.identity for feed in feeds]
    assert len(set(names)) == len(names) and not any("\n" in name for name in names)
    assert Mixed(dataset(), "low-mid-high(keyboard)").identity == names[0]


def test_protected_text_stays() -> None:
    data = dataset((tuple(f"{text} see https://example.org/{at}" for at, text in enumerate(TEXTS)),))
    made = Mixed(data, "intrude@high", protect="urls").epoch(1)
    assert all(f"https://example.org/{at}" in text for at, text in enumerate(made.columns[0]))


@dataclass(frozen=True)
class Fussy(WordPerturbation):
    """Shouts, but raises on texts with a 7 in them."""

    def able(self, corpus: Corpus) -> Mask:
        if any("7" in text for text in corpus.strings()):
            raise LookupError("seven")
        return np.ones(len(corpus.words), np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        new = [word.upper() + "!" for word in corpus.cut(corpus.words.where(which)).strings()]
        return Ragged.of(new), np.array([len(word) for word in new], np.int64)


def test_an_example_that_a_perturbation_raises_on_stays() -> None:
    feed = Mixed(dataset(), [(Fussy(), 1.0)])
    made = feed.epoch(0).columns[0]
    assert [new == old for new, old in zip(made, TEXTS, strict=True)] == ["7" in text for text in TEXTS]
    assert feed.failures.count == 5 and "example 7: " in feed.failures.lines[0] and "seven" in feed.failures.lines[0]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (TOKENS, {"mixture": "segment"}, "expected perturbations that keep each token for mixture, .*, got segment$"),
        (dataset(), {"mixture": "keyboard", "side": "both"}, "expected two columns of texts for side both, got text"),
        (PAIRS, {"mixture": "keyboard", "side": "left"}, "expected the name of a side, got 'left'"),
        (dataset(), {"mixture": "keyboard", "beside": 1}, "expected True or False for feed.beside, got 1"),
        (dataset(), {"mixture": "embedding(file='/nowhere')"}, "nowhere"),
    ],
)
def test_what_cannot_work_is_refused_before_the_first_epoch(data: Dataset, options: Any, message: str) -> None:
    with pytest.raises((ValueError, OSError), match=message) as raised:
        Mixed(data, **options)
    assert "\n" not in str(raised.value)


def test_no_data() -> None:
    empty = replace(dataset(), columns=((),), targets=(), ids=())
    assert len(Mixed(empty, "keyboard").epoch(0)) == 0
