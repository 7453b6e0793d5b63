"""Inflection: other forms of the words that have some, in their case."""

from __future__ import annotations

import numpy as np
import pytest

import scuff
from scuff.english.inflection import forms
from scuff.perturbations.names import parse
from scuff.text.corpus import Corpus
from scuff.text.random import Rng

INFLECTION = parse("inflection")


def choices(text: str) -> dict[str, set[str]]:
    """What may stand for each word."""
    corpus = Corpus.of([text])
    edits = INFLECTION.propose(corpus, Rng.of(corpus.keys, 0), k=20)
    found: dict[str, set[str]] = {}
    for start, stop, new in zip(edits.start.tolist(), edits.stop.tolist(), edits.text.strings(), strict=True):
        found.setdefault(text[start:stop], set()).add(new)
    return found


def test_by_part_of_speech_and_case() -> None:
    assert choices("She watched the biggest films.") == {
        "watched": {"watch", "watches", "watching"},
        "biggest": {"big", "bigger"},
        "films": {"film"},
    }
    assert choices("Films FOUND OLD AND NEW!")["Films"] == {"Film"} and choices("SHE FOUND OLD THINGS!")["OLD"] == {
        "OLDER",
        "OLDEST",
    }
    assert choices("They can watch it.")["watch"] == {"watched", "watches", "watching"}
    assert choices("My watch stopped.")["watch"] == {"watches"}


def test_names_pronouns_and_modal_verbs_stay() -> None:
    assert choices("Mr. Bush and Paris would, she and I could.") == {}


def test_contractions() -> None:
    assert choices("He doesn’t know, it ISN'T here, you can't.") == {
        "doesn’t": {"don’t", "didn’t"},
        "know": {"knew", "known", "knows", "knowing"},
        "ISN'T": {"AREN'T", "WASN'T", "WEREN'T"},
    }
    assert "s" not in choices("it 's a film") and "re" not in choices("you 're here")


def test_example() -> None:
    assert scuff.perturb("Adversarial attacks are harmless.", "inflection", "low") == INFLECTION.facts.example


@pytest.mark.parametrize("text", ["", " ", "...", "👩‍👩‍👧‍👦", "שלום عالم", "漢字", "\x00\x07", "Ωmega ß"])
def test_what_has_no_forms_stays(text: str) -> None:
    assert scuff.perturb(text, "inflection", 1) == text


def test_forms_are_drawn_evenly() -> None:
    texts = [f"Number {at}: we watched it" for at in range(3000)]
    new = [text.split()[3] for text in scuff.perturb(texts, "inflection", 1)]
    count = np.array([new.count(form) for form in forms("watched", "VBD")])
    assert count.sum() == 3000 and (abs(count - 1000) < 120).all()


def test_tokens_stay_tokens() -> None:
    tokens = [["He", "does", "n't", "like", "dogs"], []]
    new = scuff.perturb_tokens(tokens, "inflection", 1, seed=3)
    assert [len(each) for each in new] == [5, 0] and new[0][0] == "He" and new[0][4] == "dog"
