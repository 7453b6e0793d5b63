"""Mixtures: parts of equal size, no example twice in one, the same whatever the order; what specs mean."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.perturbations.keyboard import Keyboard
from scuff.perturbations.names import ZEROE, parse
from scuff.training import Mixture, leave_one_out, low_mid_high
from scuff.training.mixtures import Entry, example_keys, ranked
from strategies import text as any_text

SENTENCE = "the staff were friendly and every room was spotless although breakfast ended rather early"
WORDS = SENTENCE.split()
QUICK = [name for name in (*ZEROE, "typo", "homoglyph") if name not in ("phonetic", "natural")]  # to load
DATA = [(" ".join(random.Random(at).sample(WORDS, 9)) + f" number {at}", at % 3) for at in range(100)]


def mixture(sizes: list[int]) -> Mixture:
    """A mixture of entries with so many strengths each."""
    return Mixture(tuple(Entry(parse(ZEROE[at]), tuple(np.linspace(0, 1, n).tolist())) for at, n in enumerate(sizes)))


def near(counts: Any) -> bool:
    return int(np.ptp(counts)) <= 1


@given(st.integers(1, 10), st.integers(1, 4), st.integers(0, 200), st.integers(0, 90))
def test_all_parts_are_equal_in_every_turn(entries: int, strengths: int, examples: int, turn: int) -> None:
    parts = mixture([strengths] * entries)
    count = np.bincount(parts.spread(np.arange(examples), turn), minlength=entries * strengths)
    table = count.reshape(entries, strengths)
    assert count.sum() == examples
    assert near(count) and near(table.sum(0)) and near(table.sum(1)), "portions, strengths and perturbations"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=7), st.integers(0, 150), st.integers(0, 50))
def test_entries_are_equal_whatever_strengths_they_have(sizes: list[int], examples: int, turn: int) -> None:
    count = np.bincount(mixture(sizes).spread(np.arange(examples), turn), minlength=sum(sizes))
    parts = np.split(count, np.cumsum(sizes)[:-1])
    assert near([part.sum() for part in parts]) and all(near(part) for part in parts)


@given(st.integers(1, 10), st.integers(1, 4), st.integers(0, 1000), st.integers(0, 3))
def test_an_example_meets_every_part_once_before_one_comes_again(
    entries: int, strengths: int, rank: int, round: int
) -> None:
    parts, size = mixture([strengths] * entries), entries * strengths
    met = [int(parts.spread(np.array([rank]), turn)[0]) for turn in range(round * size, (round + 1) * size)]
    assert sorted(met) == list(range(size))
    assert len({part // strengths for part in met[:entries]}) == entries, "first all perturbations"


@given(st.lists(st.text(max_size=3), max_size=40), st.integers(0, 3), st.randoms(use_true_random=False))
def test_ranks_depend_on_the_examples_not_on_their_order(texts: list[str], seed: int, dice: random.Random) -> None:
    order = dice.sample(range(len(texts)), len(texts))
    here, there = ranked(example_keys([texts]), seed), ranked(example_keys([[texts[at] for at in order]]), seed)
    assert sorted(here) == list(range(len(texts)))
    by_text: dict[str, set[int]] = {}
    for at, text in enumerate(texts):
        by_text.setdefault(text, set()).add(int(here[at]))
    for place, at in enumerate(order):
        assert int(there[place]) in by_text[texts[at]], "equal texts may change places among themselves"


@pytest.mark.parametrize(
    ("given_", "spec"),
    [
        ("low-mid-high(keyboard)", "keyboard"),
        ("one-to-one(keyboard(layout='qwertz'))", "keyboard(layout='qwertz')"),
        ("1-1( natural )", "natural"),
        ("keyboard", "keyboard"),
        ("keyboard@low, natural@0.35,clean", "keyboard@0.2,natural@0.35,clean"),
        ("2*clean,keyboard+natural", "2*clean,keyboard+natural"),
        (["clean", ("keyboard", "mid"), Keyboard()], "clean,keyboard@0.5,keyboard"),
        (("keyboard", 0.1), "keyboard@0.1"),
        (("keyboard", "typo"), "keyboard,typo"),
        ([("keyboard", ["low", 0.9]), "typo@0.1/ high"], "keyboard@0.2/0.9,typo@0.1/0.8"),
        ("clean, 2*leave-one-out(visual)", "clean," + ",".join(2 * [name for name in ZEROE if name != "visual"])),
        (Keyboard(), "keyboard"),
        (low_mid_high("typo"), "typo"),
        ("leave-one-out(keyboard)", ",".join(name for name in ZEROE if name != "keyboard")),
        (leave_one_out("keyboard", [Keyboard(), "natural", "typo"]), "natural,typo"),
        ("all", ",".join(ZEROE)),
    ],
)
def test_what_specs_mean(given_: Any, spec: str) -> None:
    found = Mixture.of(given_)
    assert found.spec == spec and Mixture.of(spec).entries == found.entries, "the spec builds it again"


def test_published_options_and_selection() -> None:
    found = Mixture.of("visual(scope='text'),intrude@low", as_published=True)
    assert [entry.selection for entry in found.entries] == ["coin", "coin"]
    assert found.spec == "visual(at_least_one=False),intrude(at_least_one=False)@0.2" and "coin" in found.signature


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("", "expected at least one perturbation for mixture, got none"),
        ([], "expected at least one perturbation for mixture, got none"),
        ("keybord", "did you mean keyboard"),
        ("leave-one-out", r"expected leave-one-out\(PERTURBATION\) for mixture, got 'leave-one-out'"),
        ("leave-one-out(typo)", "expected the name of a perturbation of the mixture, got 'typo'"),
        ("keyboard@loud", "expected low, mid, high or a number"),
        ("keyboard@2", "expected low, mid, high or a number"),
        ("clean@low", "expected clean without a strength for mixture"),
        ("0*clean", "mixture, got 0"),
        ([3], "expected perturbations, as `keyboard@low`"),
        (None, "expected perturbations, as `keyboard@low`"),
    ],
)
def test_wrong_mixtures(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mixture.of(wrong)


def test_tokens() -> None:
    with pytest.raises(ValueError, match=r"keep each token for mixture, .*, got segment@0\.2"):
        Mixture.of("keyboard,segment@low").for_tokens()
    assert Mixture.of("all").for_tokens().spec.count(",") == 8, "a perturbation that nobody named is left out"
    assert "segment" not in Mixture.of("leave-one-out(visual),clean").for_tokens().spec


def traced(**options: Any) -> list[Any]:
    return list(scuff.augment(DATA, trace=True, **options))


def test_augment_in_place_of_the_data() -> None:
    """Thesis 3.4: as many examples as before, none twice, the same number of each perturbation and level."""
    rows = traced(mixture=leave_one_out("keyboard", QUICK), only_perturbed=True)
    assert [row["label"] for row in rows] == [label for _, label in DATA] and len(rows) == 100
    assert [row["scuff_source"] for row in rows] == [str(at) for at in range(100)]
    counts = Counter(row["scuff_dimension"] for row in rows)
    assert len(counts) == 27 and set(counts.values()) == {3, 4}
    levels = Counter(name.partition("@")[2] for name in counts.elements())
    names = Counter(name.partition("@")[0] for name in counts.elements())
    assert near(list(levels.values())) and near(list(names.values())) and set(levels) == {"0.2", "0.5", "0.8"}
    assert all(
        (row["scuff_degree"] > 0) == (row["text"] != before) for row, (before, _) in zip(rows, DATA, strict=True)
    )
    for part in ("visual@0.5", "truncate@0.8"):
        name, _, level = part.partition("@")
        made = {DATA[int(row["scuff_source"])][0]: row["text"] for row in rows if row["scuff_dimension"] == part}
        assert scuff.perturb(list(made), name, float(level)) == list(made.values()), "as `scuff perturb` writes them"


def test_augment_beside_the_data_drops_what_did_not_change() -> None:
    rows = traced(mixture="visual@0,keyboard@high")
    assert len(rows) == 150 and Counter(row["scuff_dimension"] for row in rows) == {None: 100, "keyboard@0.8": 50}
    both = traced(mixture="visual@0,keyboard@high", copies=2)
    assert Counter(row["scuff_source"] for row in both) == {str(at): 2 for at in range(100)}, "each by keyboard once"


def test_augment_exact_shares() -> None:
    for options, size in [({"share": 0.37}, 37), ({"ratio": "3:1"}, 33), ({"ratio": "2:3"}, 150), ({"copies": 2}, 200)]:
        rows = traced(mixture="keyboard,truncate@low", only_perturbed=True, **options)
        parts = Counter(row["scuff_dimension"].partition("@")[0] for row in rows)
        assert len(rows) == size and np.ptp(list(parts.values())) <= 2, "one per copy"
        assert len({(row["scuff_source"], row["scuff_dimension"]) for row in rows}) == size, (
            "no example twice in a part"
        )
    names = ["keyboard@edits", "truncate@edits", "intrude@edits"]
    rows = traced(dimensions=names, share=0.48, exact=True, only_perturbed=True)
    assert Counter(row["scuff_dimension"] for row in rows) == dict.fromkeys(names, 16)
    again = traced(dimensions=names[::-1], share=0.48, exact=True, only_perturbed=True)
    assert again == rows, "whatever order they are named in"
    assert len(traced(dimensions=names, ratio="2:1", exact=True)) == 150


@pytest.mark.parametrize(
    "options", [{"mixture": leave_one_out(None, QUICK)}, {"mixture": "truncate,clean", "share": 0.5, "copies": 2}]
)
def test_augment_does_not_depend_on_order(options: dict[str, Any]) -> None:
    mixed = random.Random(1).sample(DATA, len(DATA))
    here, there = (scuff.augment(data, only_perturbed=True, **options) for data in (DATA, mixed))
    assert sorted(here) == sorted(there) != sorted(scuff.augment(DATA, only_perturbed=True, seed=1, **options))


def test_augment_pairs_ids_and_tokens() -> None:
    pairs = [(text, text, label) for text, label in DATA]
    both = scuff.augment(pairs, mixture="keyboard@high", side="both", only_perturbed=True)
    assert all(one != two != before for (one, two, _), (before, _, _) in zip(both, pairs, strict=True))
    named = [{"text": DATA[0][0], "id": at} for at in range(6)]
    assert (
        len({row["text"] for row in scuff.augment(named, mixture="keyboard@high", id="id", only_perturbed=True)}) == 6
    )
    tokens = [{"tokens": text.split(), "tags": text.split()} for text, _ in DATA]
    rows = scuff.augment(tokens, mixture="intrude,keyboard,visual", only_perturbed=True, trace=True)
    assert [row["tags"] for row in rows] == [row["tags"] for row in tokens]
    assert all(len(row["tokens"]) == len(row["tags"]) for row in rows)
    with pytest.raises(ValueError, match="expected perturbations that keep each token for mixture"):
        scuff.augment(tokens, mixture="segment")


@pytest.mark.parametrize("more", [{"dimensions": ["keyboard"]}, {"tag": "general"}, {"degree": 0.2}, {"each": True}])
def test_a_mixture_or_dimensions(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected a mixture, or dimensions"):
        scuff.augment(DATA, mixture="keyboard", **more)
    with pytest.raises(ValueError, match="expected models inside a mixture"):
        scuff.augment(DATA, mixture="keyboard", mlm="some")


@given(
    st.lists(any_text, unique=True, min_size=1, max_size=9), st.sampled_from(["keyboard", "visual,intrude@low,clean"])
)
def test_no_example_is_there_twice(found: list[str], mixture: str) -> None:
    rows = scuff.augment([{"text": one} for one in found], mixture=mixture, only_perturbed=True, trace=True)
    assert [row["scuff_source"] for row in rows] == [str(at) for at in range(len(found))]
    parts = Counter(row["scuff_dimension"] for row in rows)
    labels = Mixture.of(mixture).labels
    by_name = [
        sum(parts[one] for one in labels if one.startswith(name)) for name in mixture.replace("@low", "").split(",")
    ]
    assert near(by_name) and sum(by_name) == len(found)
