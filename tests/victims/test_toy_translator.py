"""toy:translate: its data, how well it translates, that noise breaks it, its gradients, and that a batch changes nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given

import scuff
from scuff.data.grammar import Grammar
from scuff.data.reading import read_dataset
from scuff.data.records import training_records
from scuff.data.toy import toy_data
from scuff.data.toy_pairs import sentence_pair
from scuff.metrics.chrf import chrf
from scuff.victims.open import open_victim
from scuff.victims.substitution import Substitutable, gains
from scuff.victims.toy_translator import (
    END,
    PAD,
    UNK,
    ToyTranslator,
    losses,
    model,
    rows_of,
    target_numbers,
    words_in,
)
from strategies import NASTY
from strategies import texts as nasty_texts

TOY = ToyTranslator()


def texts(sources: list[str]) -> list[str]:
    return TOY(sources).answers.tolist()


def test_a_grammar_of_pairs() -> None:
    grammar = Grammar.parse(
        "s: <a> sieht <b> = <a> sees <b> | <b>\na: er = he | Anna\nb: den Hund = a(n) dog | <c> = an <c>\nc: Esel = ass"
    )
    found = {sentence_pair(grammar, "s", number)[0] for number in range(80)}
    assert found == {
        ("Er sieht den Hund", "He sees a dog"), ("Er sieht Esel", "He sees an ass"), ("Anna sieht den Hund", "Anna sees a dog"),
        ("Anna sieht Esel", "Anna sees an ass"), ("Den Hund", "A dog"), ("Esel", "An ass"),
    }  # fmt: skip


def test_the_data_are_pairs_without_overlap() -> None:
    (train, _), (test, targets) = toy_data("translate", "train"), toy_data("translate", "test")
    assert (len(train), len(test), len({*train, *test})) == (4000, 1000, 5000)
    for text in (*train, *test, *targets):
        assert text[0].isupper() or text[0].isdigit()
        assert text[-1] in ".?" and not re.search(r"[<>@|*()=]|  | [.,?]", text), text
    new = {word for text in test for word in text.split()} - {word for text in train for word in text.split()}
    assert len(new) > 10, "names that were never seen are in the test split"


def test_the_data_are_read_like_any_other() -> None:
    data = read_dataset("toy:translate")
    assert (data.task, data.fields, len(data), data.labels) == ("text", ("source",), 1000, ())
    assert training_records("toy:translate", scuff.data.columns.Columns())[1][0].keys() == {"source", "target"}


def test_clean_texts_are_translated_and_noise_breaks_it() -> None:
    sources, targets = toy_data("translate", "test")
    clean = chrf(texts(sources), targets).mean()
    assert 0.97 < clean < 1
    low, high = (
        chrf(texts(scuff.perturb(sources[:200], "keyboard", level)), targets[:200]).mean() for level in ("low", "high")
    )
    assert clean > low + 0.2 > high + 0.4


def test_word_order_and_unknown_names() -> None:
    found = texts(
        [
            "Ich habe gestern den Brief gelesen.",
            "Jetzt kauft der Mann das alte Fahrrad.",
            "Frau Zwirner wohnt in Quedlinburg.",
        ]
    )
    assert found == [
        "I read the letter yesterday.",
        "Now the man buys the old bicycle.",
        "Mrs Zwirner lives in Quedlinburg.",
    ]


@given(nasty_texts)
def test_neighbours_in_the_batch_change_nothing(some: list[str]) -> None:
    assert texts(some) == [texts([text])[0] for text in some]


def test_batches_of_any_size_and_order_give_the_same_texts() -> None:
    sources = toy_data("translate", "test")[0][:120] + NASTY
    whole = texts(sources)
    for size in (1, 7, 50):
        assert [out for at in range(0, len(sources), size) for out in texts(sources[at : at + size])] == whole
    assert texts(sources[::-1])[::-1] == whole


def test_texts_without_words_and_long_ones() -> None:
    assert texts(["", "  \n"]) == ["", ""]
    assert len(texts(["Hund " * 5000])[0].split()) <= 2 * 128 + 6
    assert texts(["👍"])[0].startswith("👍")


def test_what_it_says_of_itself() -> None:
    victim = open_victim("toy:translate", "text", ())
    assert isinstance(victim, ToyTranslator) and isinstance(victim, Substitutable)
    assert (victim.name, victim.task, victim.labels) == ("toy:translate", "text", ()) and victim.sees_through_files
    with pytest.raises(ValueError, match="expected one column of texts for toy:translate, got 2"):
        victim(["a"], ["b"])


def test_gradients_agree_with_finite_differences() -> None:
    net, sources, targets = model().net, *(part[:6] for part in toy_data("translate", "test"))
    source = rows_of([located.ids.tolist() for located in TOY.located(sources)])
    target = rows_of([[*target_numbers(text, model().target_number), END] for text in targets])
    vectors, known = net.source[source], source != PAD
    _, slopes = losses(net, vectors, known, target)
    rng = np.random.default_rng(1)
    for _ in range(60):
        row = rng.integers(6)
        place = (row, rng.integers(known[row].sum()), rng.integers(vectors.shape[2]))
        ends = []
        for step in (1e-5, -1e-5):
            moved = vectors.copy()
            moved[place] += step
            ends.append(losses(net, moved, known, target)[0][row])
        assert slopes[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-6)


def test_slopes_are_those_of_each_text_alone() -> None:
    sources, targets = (part[:9] for part in toy_data("translate", "test"))
    sources[3] = ""
    together = TOY.slopes(sources, targets)
    for text, target, slopes, located in zip(sources, targets, together, TOY.located(sources), strict=True):
        assert np.array_equal(TOY.slopes([text], [target])[0], slopes) and len(slopes) == len(located.ids)


def test_pieces_and_places() -> None:
    text = "Der  Hudn\tsieht Anna."
    (located,) = TOY.located([text])
    vocabulary = TOY.vocabulary()
    assert [text[a:b] for a, b in zip(located.start, located.stop, strict=True)] == [
        "Der",
        "Hudn",
        "sieht",
        "Anna",
        ".",
    ]
    assert [vocabulary.surfaces[at] for at in located.ids] == ["der", "", "sieht", "anna", "."]
    assert located.ids[1] == vocabulary.unknown == UNK
    assert all(match[0].lower() in vocabulary for match in words_in("der Hund sieht"))
    assert len(vocabulary.surfaces) == len(vocabulary.vectors) == len(vocabulary.begins)


def test_substitutions_by_gradient_beat_random_ones() -> None:
    sources, targets = (part[:200] for part in toy_data("translate", "test"))
    vocabulary, rng = TOY.vocabulary(), np.random.default_rng(0)
    pieces = vocabulary.pieces(True)
    best, random = [], []
    for text, located, slopes in zip(sources, TOY.located(sources), TOY.slopes(sources, targets), strict=True):
        gain = gains(vocabulary.vectors, located.ids, slopes.astype(np.float32), sign=True)[:, pieces]
        for out, (place, piece) in (
            (best, np.unravel_index(gain.argmax(), gain.shape)),
            (random, (rng.integers(len(located.ids)), rng.integers(pieces.size))),
        ):
            out.append(text[: located.start[place]] + vocabulary.surfaces[pieces[piece]] + text[located.stop[place] :])
    assert chrf(texts(best), targets).mean() < chrf(texts(random), targets).mean() - 0.04
