"""The toy victims: their data is what it says, they learn it, noise hurts them, and a batch changes nothing."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.data.toy import toy_data
from scuff.victims.base import Access
from scuff.victims.open import open_victim
from scuff.victims.toy import Toy, fit, is_toy_folder, save_toy
from strategies import NASTY
from strategies import texts as nasty_texts

NAMES = ("sentiment", "tone")
SPLITS: tuple[Literal["train", "test"], ...] = ("train", "test")


def accuracy(texts: list[str]) -> float:
    """Of toy:sentiment on its test texts, or on what has become of them."""
    toy = Toy("sentiment")
    said = [toy.labels[at] for at in toy(texts).answers.argmax(1)]
    return float(np.mean([a == b for a, b in zip(said, toy_data("sentiment", "test")[1], strict=True)]))


def area(scores: npt.NDArray[np.float32], wanted: npt.NDArray[np.bool_]) -> float:
    """Under the ROC curve: how often a text with the label scores higher than one without."""
    yes, no = scores[wanted][:, None], scores[~wanted][None]
    return float((yes > no).mean() + (yes == no).mean() / 2)


def macro_area(texts: list[str]) -> float:
    toy = Toy("tone")
    scores, targets = toy(texts).answers, toy_data("tone", "test")[1]
    each = [area(scores[:, at], np.array([label in it for it in targets])) for at, label in enumerate(toy.labels)]
    return float(np.mean(each))


@pytest.mark.parametrize("name", NAMES)
def test_splits_are_large_distinct_and_disjoint(name: str) -> None:
    train, test = (toy_data(name, split)[0] for split in SPLITS)
    assert (len(train), len(test)) == (4000, 1000)
    assert len({text.lower() for text in train + test}) == 5000


@pytest.mark.parametrize("split", SPLITS)
def test_every_label_is_frequent(split: Literal["train", "test"]) -> None:
    targets = toy_data("sentiment", split)[1]
    assert set(targets) == set(Toy("sentiment").labels)
    assert 0.45 < targets.count("positive") / len(targets) < 0.55
    sets = toy_data("tone", split)[1]
    frequent = Counter(label for labels in sets for label in labels)
    assert set(frequent) == set(Toy("tone").labels)
    assert min(frequent.values()) > 0.15 * len(sets)
    several = Counter(min(len(labels), 2) for labels in sets)
    assert min(several[0], several[1], several[2]) > 0.2 * len(sets)


@pytest.mark.parametrize("name", NAMES)
def test_sentences_are_of_all_lengths_and_well_written(name: str) -> None:
    texts = toy_data(name, "train")[0]
    words = [len(text.split()) for text in texts]
    assert sum(n <= 5 for n in words) > 100 and sum(n >= 25 for n in words) > 50
    for text in texts:
        assert text[0].isupper() and text[-1] in ".!?"
        assert not re.search(r"[<>@|*()]|  | [.,;:!?]|\b(\w+) \1\b|\ba [aio]|\ban (?!hour)[^aeiou]", text), text


def test_some_words_are_new_in_the_test_split() -> None:
    for name in NAMES:
        known, asked = ({word for text in toy_data(name, split)[0] for word in text.split()} for split in SPLITS)
        assert len(asked - known) > 20


def test_no_such_data() -> None:
    with pytest.raises(
        ValueError, match="expected toy:sentiment, toy:tone or toy:translate for embedded data, got 'toy:mood'"
    ):
        toy_data("mood", "train")
    with pytest.raises(ValueError, match="expected sentiment, tone or translate for toy, got 'mood'"):
        Toy("mood")


def test_data_can_be_changed_by_its_user() -> None:
    toy_data("tone", "test")[0].clear()
    assert len(toy_data("tone", "test")[0]) == 1000


def test_what_it_says_of_itself() -> None:
    one, other = Toy("sentiment"), Toy("tone")
    assert (one.name, one.task, one.labels) == ("toy:sentiment", "single", ("negative", "positive"))
    assert (other.name, other.task, other.labels) == ("toy:tone", "multi", ("rude", "insult", "threat", "spam"))
    assert one.access == other.access == Access.SCORE
    assert one.identity == Toy("sentiment").identity != other.identity


def test_clean_texts_are_learnt_but_not_perfectly() -> None:
    assert 0.88 < accuracy(toy_data("sentiment", "test")[0]) < 0.98
    assert macro_area(toy_data("tone", "test")[0]) > 0.95


def test_plain_cases() -> None:
    said = Toy("sentiment")(["The room was lovely.", "The room was dreadful."]).answers
    assert said[0].argmax() == 1 and said[1].argmax() == 0
    assert np.allclose(said.sum(1), 1)
    texts = ["Be quiet, you soggy turnip!", "I will hide your left sock.", "I boiled a turnip for supper."]
    tags = Toy("tone")(texts).answers > 0.5
    assert tags.tolist() == [[True, True, False, False], [False, False, True, False], [False] * 4]


@pytest.mark.parametrize("attack", ["full-shuffle", "keyboard", "visual"])
def test_noise_hurts_by_and_by(attack: str) -> None:
    texts = toy_data("sentiment", "test")[0]
    clean, *noisy = (accuracy(scuff.perturb(texts, attack, level)) for level in (0, "low", "mid", "high"))
    assert clean > noisy[0] > noisy[1] > noisy[2]
    assert noisy[0] > 0.7 and noisy[2] < 0.7
    texts = toy_data("tone", "test")[0]
    assert (
        macro_area(texts)
        > macro_area(scuff.perturb(texts, attack, "mid"))
        > macro_area(scuff.perturb(texts, attack, "high"))
    )


@pytest.mark.parametrize("name", NAMES)
def test_training_twice_gives_the_same_weights(name: str) -> None:
    from scuff.victims import toy

    assert np.array_equal(toy._weights(name), toy._weights.__wrapped__(name))


@given(nasty_texts, st.sampled_from(NAMES))
def test_neighbours_in_the_batch_change_nothing(texts: list[str], name: str) -> None:
    toy = Toy(name)
    together = toy(texts)
    assert together.answers.dtype == np.float32 and together.answers.shape == (len(texts), len(toy.labels))
    assert together.answered.all() and np.isfinite(together.answers).all()
    assert ((together.answers >= 0) & (together.answers <= 1)).all()
    for at, text in enumerate(texts):
        assert np.array_equal(toy([text]).answers[0], together.answers[at])


@pytest.mark.parametrize("name", NAMES)
def test_batches_of_any_size_give_the_same_bits(name: str) -> None:
    toy, texts = Toy(name), toy_data(name, "test")[0] + NASTY
    whole = toy(texts).answers
    for size in (1, 7, 64, 333):
        parts = [toy(texts[at : at + size]).answers for at in range(0, len(texts), size)]
        assert np.array_equal(np.concatenate(parts), whole)
    backwards = toy(texts[::-1]).answers[::-1]
    assert np.array_equal(backwards, whole)


def test_case_is_ignored_and_tokens_are_joined() -> None:
    toy = Toy("sentiment")
    plain = toy(["the room was lovely"]).answers
    assert np.array_equal(toy(["The Room was LOVELY"]).answers, plain)
    assert np.array_equal(toy([("the", "room", "was", "lovely")]).answers, plain)


def test_one_column_only() -> None:
    with pytest.raises(ValueError, match="expected one column of texts for toy:tone, got 2"):
        Toy("tone")(["a"], ["b"])


def test_a_trained_toy_is_saved_and_opened_by_its_folder(tmp_path: Path) -> None:
    texts, targets = toy_data("tone", "train")
    weights = fit("tone", [(texts[:200], targets[:200])] * 2, Toy("tone").weights)
    save_toy("tone", weights, tmp_path / "saved")
    opened = open_victim(str(tmp_path / "saved"), "multi", ())
    assert isinstance(opened, Toy) and np.array_equal(opened.weights, weights) and opened.labels == Toy("tone").labels
    assert not np.array_equal(opened(texts[:9]).answers, Toy("tone")(texts[:9]).answers)
    assert opened.identity not in (Toy("tone").identity, "") and is_toy_folder(tmp_path / "saved")
    save_toy("tone", weights, tmp_path / "again")
    assert all(
        (tmp_path / "again" / each.name).read_bytes() == each.read_bytes() for each in (tmp_path / "saved").iterdir()
    )
    assert not is_toy_folder(tmp_path) and not is_toy_folder("toy:tone")
