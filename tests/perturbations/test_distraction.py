"""Irrelevant additions at the end."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.perturbations.blocks import Tally
from scuff.perturbations.distraction import MOST, Distraction, _lists
from scuff.perturbations.plan import Plan
from scuff.text.corpus import Corpus
from scuff.text.random import Rng
from strategies import seed, strength, texts

RESERVED = r"(?:(?:www\.)?example\.(?:com|net|org)|[\w.]+\.(?:example|test|invalid))"


def additions(text: str, count: int = 1, kinds: str = "tautology", seed: int = 0) -> str:
    """What is added to a text."""
    new = scuff.perturb(text, Distraction(kinds=kinds), count / MOST, seed=seed)
    assert new.startswith(text.rstrip()) and new.endswith(text[len(text.rstrip()) :])
    return new[len(text.rstrip()) : len(new) - (len(text) - len(text.rstrip()))]


@given(texts, strength, seed)
def test_the_whole_text_stays_and_what_comes_is_set_off_by_a_space(texts: list[str], p: float, seed: int) -> None:
    for before, after in zip(texts, scuff.perturb(texts, "distraction", p, seed=seed), strict=True):
        kept, white = before.rstrip(), before[len(before.rstrip()) :]
        assert after.startswith(kept) and after.endswith(white)
        added = after[len(kept) : len(after) - len(white)]
        assert added == "" or added.startswith((" ", ", and "))
        assert "  " not in added and not added.endswith(" ")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("A fine film.", r" [A-Z][\w ]+\."),
        ("A fine film .", r" [A-Z][\w ]+ \."),
        ("a fine film .", r" [a-z][a-z ]+ \."),
        ("a fine film . ''", r" [a-z][a-z ]+ \."),
        ("a fine film.\n", r" [a-z][a-z ]+\."),
        ("Is it?  ", r" [A-Z][\w ]+\."),
        ("(It is...)", r" [A-Z][\w ]+\."),
        ("A fine film", r",? and [\w ]+\w"),
        ("a fine , small film", r"(?: ,)? and [a-z ]+\w"),
        ("A fine film,", r" and [\w ]+\w"),
        ("see https://example.org/x", r" and [\w ]+\w"),
        ("wow :)", r" and [\w ]+\w"),
        ("映画。", r" [A-Z][\w ]+\."),
    ],
)
def test_spacing_case_and_punctuation_follow_the_text(text: str, pattern: str) -> None:
    for number in range(40):
        for kind in ("tautology", "sentence"):
            for count in (1, 3, 10):
                added = additions(text, count, kind, seed=number)
                assert re.fullmatch(f"(?:{pattern}){{{count}}}", added), added


def test_addresses_are_on_reserved_domains() -> None:
    for number in range(100):
        for url in additions("A film.", 10, "url", seed=number).split():
            assert re.fullmatch(rf"https?://{RESERVED}/[\w.-]+", url), url
        for handle in additions("A film.", 10, "handle", seed=number).split():
            assert re.fullmatch(rf"@\w+(?:\.(?:example|test)|@{RESERVED})", handle), handle


def test_nothing_is_added_twice() -> None:
    for number in range(50):
        added = re.findall(r"[^.]+\.", additions("A film.", 10, "tautology", seed=number))
        assert len(set(added)) == 10
        assert len(set(additions("A film.", 10, "url", seed=number).split())) == 10


def test_every_kind_and_every_entry_comes() -> None:
    many = " ".join(scuff.perturb(["A film."] * 600, "distraction", 1, ids=range(600)))
    assert all(
        sentence in many.lower() for kind in ("tautology", "sentence") for sentence in map(str.lower, _lists()[kind])
    )
    assert all(part in many for kind in ("host", "page", "name", "server") for part in _lists()[kind])


def test_lists_are_long_and_clean() -> None:
    lists = _lists()
    assert len(lists["tautology"]) >= 25 and len(lists["sentence"]) >= 60
    for entry in lists["tautology"] + lists["sentence"]:
        assert re.fullmatch(r"[a-z][A-Za-z]*(?: [A-Za-z]+)+", entry), entry  # no punctuation, which would need a style
    assert all(len(set(entries)) == len(entries) for entries in lists.values())


def test_words_of_the_data_set_are_added_three_at_a_time() -> None:
    perturbation = Distraction(kinds="words", words=("red", "Blue", "green"))
    for number in range(30):
        added = scuff.perturb("Colours.", perturbation, 0.1, seed=number).removeprefix("Colours. ").split()
        assert len(added) == 3 and set(added) <= {"red", "Blue", "green"}
    assert scuff.perturb("colours", perturbation, 1).islower()
    assert "red" in " ".join(scuff.perturb("A film.", Distraction(words=("red",)), 1, seed=n) for n in range(9))
    assert scuff.parse(perturbation.spec) == perturbation and Distraction(words=["a"]) == Distraction(words=("a",))  # type: ignore[arg-type]


def test_strength_counts_tenths() -> None:
    for p, count in ((0, 0), (0.01, 1), (0.1, 1), (0.25, 3), (1, 10)):
        _, edits = scuff.perturb("A film.", "distraction", p, return_edits=True)
        assert len(edits) == count
        tally = Tally()
        Plan.of("distraction", p, 0, None, ()).texts(["A film.", " \n", "Another one"], tally=tally)
        assert (tally.units, tally.changed_units) == (20, 2 * count)


def test_blank_texts_stay() -> None:
    blank = ["", " ", "\n\t", "\u3000"]
    assert scuff.perturb(blank, "distraction", 1) == blank


@given(texts, seed, st.data())
def test_any_of_the_proposals_can_be_made_in_any_choice(texts: list[str], seed: int, data: st.DataObject) -> None:
    corpus = Corpus.of(texts)
    edits = Distraction().propose(corpus, Rng.of(corpus.keys, seed), k=3)
    assert (np.bincount(edits.row, minlength=len(texts))[[not t.strip() for t in texts]] == 0).all()
    some = edits.where(np.array(data.draw(st.permutations(range(len(edits)))), np.int64)[: len(edits) // 2])
    chosen = some.within(4, Rng.of(corpus.keys, seed))
    after = corpus.apply(chosen)
    for row, before in enumerate(texts):
        mine = chosen.where(chosen.row == row)
        wanted = [new for _, new in sorted(zip(mine.site.tolist(), mine.text.strings(), strict=True))]
        cut = len(before.rstrip())
        assert after.strings()[row] == before[:cut] + "".join(wanted) + before[cut:]
    moved = chosen.carry(corpus.words, corpus.offsets)
    assert after.cut(moved).strings() == corpus.cut(corpus.words).strings()


@pytest.mark.parametrize(
    "spec",
    ["distraction(kinds='noise')", "distraction(kinds=' ')", "distraction(kinds='words')", "distraction(words=(1,))"],
)
def test_wrong_options(spec: str) -> None:
    with pytest.raises(ValueError, match=r"expected .* for distraction\.|expected words"):
        scuff.parse(spec)
