"""Words and subwords: nothing of a text is lost, places are right, texts come back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("tokenizers")

from scuff.translators.vocabulary import SPECIAL, UNKNOWN, Subwords, Words, of_state, split

TEXTS = [
    "Ein Mann mit T-Shirt, 3,5 m groß (rot).", "l'eau d’un homme", "The man's dog isn't \"big\".", "He wears a hat.",
]  # fmt: skip


def both(joined: bool) -> list[Words]:
    return [kind.learn(TEXTS, joined, size=300, least=1) for kind in (Words, Subwords)]


def test_words_are_cut_as_readers_would() -> None:
    cut = [word for text in TEXTS[:3] for word, _, _ in split(text)]
    assert cut[:12] == ["Ein", "Mann", "mit", "T-Shirt", ",", "3,5", "m", "groß", "(", "rot", ")", "."]
    assert cut[12:16] == ["l'", "eau", "d’", "un"]
    assert cut[17:] == ["The", "man", "'s", "dog", "isn", "'t", '"', "big", '"', "."]


@given(st.text(alphabet="ab é'’-.,3 \n☃e\u0301(", max_size=30))
def test_places_cover_all_but_white_space(text: str) -> None:
    for vocabulary in both(joined=False):
        row = vocabulary.rows([text])[0]
        assert "".join(text[a:b] for a, b in zip(row.start, row.stop, strict=True)) == "".join(text.split())
        for piece, start, stop in zip(*(part.tolist() for part in row), strict=True):
            assert piece == UNKNOWN or vocabulary.surfaces[piece] == text[start:stop]


def test_texts_come_back_from_their_pieces() -> None:
    for vocabulary in both(joined=True):
        for text, row in zip(TEXTS, vocabulary.rows(TEXTS), strict=True):
            assert vocabulary.text(vocabulary.pieces[piece] for piece in row.ids) == text


def test_rare_words_are_unknown_and_the_size_is_kept() -> None:
    words = Words.learn(["a a a b b c", "a c d"], False, size=len(SPECIAL) + 2, least=2)
    assert words.pieces[len(SPECIAL) :] == ["a", "b"]  # c is as frequent as b and comes later
    assert words.rows(["c a d"])[0].ids.tolist() == [UNKNOWN, len(SPECIAL), UNKNOWN]


def test_special_pieces_have_no_surface_and_kinds_differ() -> None:
    words, subwords = both(joined=False)
    for vocabulary in (words, subwords):
        assert vocabulary.surfaces[: len(SPECIAL)] == [""] * len(SPECIAL)
        assert [
            piece for piece in vocabulary.pieces[len(SPECIAL) :] if not vocabulary.surfaces[vocabulary.number[piece]]
        ] in ([], ["▁"])
    assert words.begins[words.number["Mann"]] and not words.begins[words.number["."]]
    assert subwords.begins[subwords.number["▁Mann"]] and not subwords.begins[subwords.number["a"]]


def test_more_operations_make_fewer_pieces() -> None:
    few, many = (Subwords.learn(TEXTS, False, size=size, least=1) for size in (5, 80))
    assert len(few.rows(TEXTS)[0].ids) > len(many.rows(TEXTS)[0].ids)


def test_learning_twice_gives_the_same_subwords() -> None:
    one, other = (Subwords.learn(TEXTS * 5, True, size=40, least=1) for _ in range(2))
    assert one.state() == other.state()


def test_states_make_them_again() -> None:
    for vocabulary in both(joined=True):
        again = of_state(json.loads(json.dumps(vocabulary.state())))
        assert again.pieces == vocabulary.pieces
        assert [row.ids.tolist() for row in again.rows(TEXTS)] == [row.ids.tolist() for row in vocabulary.rows(TEXTS)]


def test_a_vocabulary_without_its_special_pieces_is_refused() -> None:
    with pytest.raises(ValueError, match="expected <pad>"):
        Words(["a", "b"], False)
