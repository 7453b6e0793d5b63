"""Data sets: samples that are fair and depend on nothing but seed and ids, a digest that sees everything, labels by name."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.data.dataset import Dataset, Target, Task, align, shares


def made(targets: list[Target], task: Task = "single", ids: list[str] | None = None) -> Dataset:
    names = tuple(ids or [f"id{at}" for at in range(len(targets))])
    texts = tuple(("some", f"tokens{name}") if task == "tokens" else f"text of {name}" for name in names)
    return Dataset("made", task, (texts,), tuple(targets), names)


def slow_shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Hare's quota with exact fractions: what is left over goes to the largest remainders, then to the larger group."""
    total = sum(sizes.values())
    exact = {name: Fraction(size * count, total) for name, size in sizes.items()}
    out = {name: share.numerator // share.denominator for name, share in exact.items()}
    while sum(out.values()) < count:
        left = [name for name in sizes if out[name] == exact[name].numerator // exact[name].denominator]
        out[max(left, key=lambda name: (exact[name] - out[name], sizes[name], [-ord(c) for c in name]))] += 1
    return out


labels = st.sampled_from("abcd")


@given(st.dictionaries(labels, st.integers(1, 40), min_size=1), st.integers(0, 60))
def test_shares_are_those_of_the_largest_remainder(sizes: dict[str, int], count: int) -> None:
    count = min(count, sum(sizes.values()))
    counter: Counter[Hashable] = Counter()
    counter.update(sizes)
    found = shares(counter, count)
    assert found == slow_shares(sizes, count)
    assert sum(found.values()) == count
    for name, size in sizes.items():
        assert abs(found[name] - size * count / sum(sizes.values())) < 1 and found[name] <= size


@given(st.lists(labels, min_size=1, max_size=80), st.integers(1, 90), st.integers(0, 2**40), st.randoms())
def test_a_sample_is_fair_and_knows_no_order(
    targets: list[str], count: int, seed: int, shuffler: random.Random
) -> None:
    data = made(list(targets))
    sample = data.sample(count, seed)
    assert len(sample) == min(count, len(data))
    fair, got = slow_shares(Counter(targets), len(sample)), Counter(sample.targets)
    if len(sample) < len(set(targets)) or all(fair.values()):
        assert +got == +Counter(fair)
    else:
        assert set(got) == set(targets), "no label is lost where there are places for all"
    rows = [data.ids.index(name) for name in sample.ids]
    assert rows == sorted(rows), "examples stay in their order"
    for name, target, text in zip(sample.ids, sample.targets, sample.columns[0], strict=True):
        at = data.ids.index(name)
        assert (target, text) == (data.targets[at], data.columns[0][at])
    order = list(range(len(data)))
    shuffler.shuffle(order)
    assert set(data.take(np.array(order)).sample(count, seed).ids) == set(sample.ids)


def test_another_seed_is_another_sample() -> None:
    data = made(["x", "y"] * 500)
    one, other = set(data.sample(100, 1).ids), set(data.sample(100, 2).ids)
    assert data.sample(100, 1).ids == data.sample(100, 1).ids
    assert 0 < len(one & other) < 40, "about 10 of 100 are in both by chance"


def test_every_example_is_drawn_equally_often() -> None:
    data = made(["x"] * 30 + ["y"] * 10)
    drawn = Counter(name for seed in range(800) for name in data.sample(8, seed).ids)
    assert len(drawn) == 40 and all(100 < count < 230 for count in drawn.values()), "160 each, give or take 13"


def test_a_large_enough_count_gives_everything() -> None:
    data = made(["x", "y", "x"])
    assert data.sample(3, 0) is data and data.sample(10**9, 5) is data


def test_a_sample_of_label_sets_keeps_their_shares_whatever_their_order() -> None:
    sets: list[Target] = [("a", "b"), ("b", "a")] * 10 + [()] * 20
    assert Counter(tuple(sorted(t)) for t in made(sets, "multi").sample(10, 0).targets) == {("a", "b"): 5, (): 5}


def test_texts_and_tags_are_one_group() -> None:
    for task in ("text", "tokens"):
        targets: list[Target] = [("A", "B") if task == "tokens" else str(at) for at in range(50)]
        assert len(made(targets, task).sample(20, 0)) == 20  # type: ignore[arg-type]


def test_what_else_is_known_goes_with_a_sample() -> None:
    data = replace(made(["x", "y"] * 5), skipped={"no label": 3}, known=("x", "y", "z"))
    assert data.sample(2, 0).skipped == {"no label": 3} and data.sample(2, 0).labels == ("x", "y", "z")


def test_labels_are_sorted_numbers_by_size() -> None:
    assert made(["10", "9", "b", "1", "B", "a"]).labels == ("1", "9", "10", "B", "a", "b")
    assert made([("b", "a"), (), ("c",)], "multi").labels == ("a", "b", "c")
    assert made([("X", "A"), ("A", "A")], "tokens").labels == ("A", "X")
    assert made(["some text"], "text").labels == ()
    assert replace(made(["b", "a"]), known=("b", "a", "c")).labels == ("b", "a", "c"), "the source's own order"


def test_take() -> None:
    data = made(["x", "y", "z"])
    assert data.take(range(1, 3)).targets == ("y", "z") == data.take(np.array([1, 2])).targets
    assert data.take(range(0)).columns == ((),)


def test_columns_are_of_one_length() -> None:
    with pytest.raises(AssertionError, match="one length"):
        Dataset("d", "single", (("a",),), ("x", "y"), ("0",))
    with pytest.raises(AssertionError, match="one length"):
        Dataset("d", "single", (("a",), ("b",)), ("x",), ("0",))


BASE = Dataset("d", "single", (("one", "two"), ("three", "four")), ("x", "y"), ("0", "1"), ("a", "b"))
OTHERS = {
    "text": replace(BASE, columns=(("one", "two "), ("three", "four"))),
    "second column": replace(BASE, columns=(("one", "two"), ("threeé", "four"))),
    "sides": replace(BASE, columns=BASE.columns[::-1]),
    "target": replace(BASE, targets=("x", "z")),
    "order of targets": replace(BASE, targets=("y", "x")),
    "id": replace(BASE, ids=("0", "2")),
    "task": replace(BASE, task="text"),
    "order": BASE.take(np.array([1, 0])),
    "fewer": BASE.take(range(1)),
    "tokens": replace(BASE, columns=((("one",), ("two",)), ("three", "four"))),
    "where texts end": replace(BASE, columns=(("onet", "wo"), ("three", "four"))),
}


@pytest.mark.parametrize("what", OTHERS)
def test_the_digest_changes_with_everything_that_counts(what: str) -> None:
    assert OTHERS[what].digest != BASE.digest
    assert len({data.digest for data in OTHERS.values()}) == len(OTHERS)


def test_the_digest_does_not_change_with_the_rest() -> None:
    assert replace(BASE, name="other", skipped={"no label": 1}).digest == BASE.digest
    assert made(["x"], ids=["\ud83d"]).digest != made(["x"], ids=["\ud83e"]).digest, "any string can be hashed"


def test_labels_line_up_by_name() -> None:
    assert align(["neg", "pos"], ["pos", "neg"], {}) == {"neg": 1, "pos": 0}
    assert align(["Negative", "POSITIVE"], ["negative", "positive"], {}) == {"Negative": 0, "POSITIVE": 1}
    assert align(["sci-tech", "world news"], ["World_News", "Sports", "Sci_Tech"], {}) == {
        "sci-tech": 2,
        "world news": 0,
    }
    assert align(["Straße"], ["STRASSE"], {}) == {"Straße": 0}
    assert align([], ["a"], {}) == {}, "data may hold no label at all: every set is empty"


def test_a_mapping_renames_labels_of_the_data() -> None:
    assert align(["0", "1"], ["negative", "positive"], {"0": "negative", "1": "Positive"}) == {"0": 0, "1": 1}
    assert align(["good", "negative"], ["negative", "positive"], {"good": "positive"}) == {"good": 1, "negative": 0}
    with pytest.raises(ValueError, match="good has no counterpart"):
        align(["good", "negative"], ["negative", "positive"], {"good": "great"})


def test_numbers_mean_the_models_numbers_where_no_name_is_equal() -> None:
    assert align(["0", "1"], ["negative", "positive"], {}) == {"0": 0, "1": 1}
    assert align(["0", "1"], ["LABEL_0", "LABEL_1"], {}) == {"0": 0, "1": 1}
    assert align(["1", "2"], ["2", "1"], {}) == {"1": 1, "2": 0}, "names come first"
    with pytest.raises(
        ValueError, match=r"expected labels that the model knows \(negative, positive\), got 0, 1, 2 in the data"
    ):
        align(["0", "1", "2"], ["negative", "positive"], {})
    with pytest.raises(ValueError, match="1 has no counterpart"):
        align(["0", "1"], ["0", "positive"], {})


def test_a_mismatch_shows_both_lists() -> None:
    with pytest.raises(ValueError, match="got good, pos in the data") as caught:
        align(["good", "pos"], ["neg", "neutral", "pos"], {})
    message = str(caught.value)
    assert "(neg, neutral, pos)" in message and "good has no counterpart" in message and "--map" in message
    assert "\n" not in message
    with pytest.raises(ValueError, match="a, b have no counterpart"):
        align(["a", "b"], ["x", "y"], {})
    with pytest.raises(ValueError, match="it names none"):
        align(["a"], [], {})


def test_two_labels_never_mean_the_same() -> None:
    with pytest.raises(ValueError, match="expected each label of the model once"):
        align(["good", "pos"], ["neg", "pos"], {"good": "pos"})
    with pytest.raises(ValueError, match="two labels of the data mean the same"):
        align(["Pos", "pos"], ["neg", "pos"], {})
