"""The embedded data, and its grammars: what their format means, that sentences depend on seed and number alone."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.data.columns import Columns
from scuff.data.reading import read_dataset
from scuff.data.records import training_records
from scuff.data.toy import Grammar, toy_data

PETS = Grammar.parse("""
# a comment
pet: <small> and <big> | 3* <small>

small: a mouse | a(n) ant | a(n) useful flea
  # another, in the middle of a rule
  | a(n) <very> odd newt
big: an ox
very: | rather | so
""")


def texts(grammar: Grammar, start: str, count: int = 300, seed: int = 0) -> list[str]:
    return [grammar.sentence(start, number, seed).text for number in range(count)]


@pytest.mark.parametrize(("name", "task"), [("sentiment", "single"), ("tone", "multi")])
def test_embedded_data_is_read_like_any_other(name: str, task: str) -> None:
    data = read_dataset(f"toy:{name}", Columns(split="train"))
    texts, targets = toy_data(name, "test")
    assert (data.name, data.task, data.fields, data.skipped) == (f"toy:{name}", task, ("text",), {})
    assert data.columns == (tuple(texts),) and data.targets == tuple(targets) and data.ids[-1] == "999"
    called, records = training_records(f"toy:{name}", Columns())
    assert called == f"toy:{name}" and [list(row.values()) for row in records] == [
        list(pair) for pair in zip(*toy_data(name, "train"), strict=True)
    ]
    assert records[0].keys() == {"text", "label"} and not {row["text"] for row in records} & set(texts)


def test_unknown_embedded_data_is_refused() -> None:
    with pytest.raises(
        ValueError, match="expected toy:sentiment, toy:tone or toy:translate for embedded data, got 'toy:film'"
    ):
        read_dataset("toy:film")


def test_sentences_are_those_of_the_grammar() -> None:
    assert set(texts(PETS, "big")) == {"An ox"}
    assert set(texts(PETS, "small")) == {
        "A mouse",
        "An ant",
        "A useful flea",
        "An odd newt",
        "A rather odd newt",
        "A so odd newt",
    }


def test_sentences_begin_with_a_capital() -> None:
    grammar = Grammar.parse("talk: oh dear! who is there? nobody. <it>\nit: only an e-mail at 3.15")
    assert grammar.sentence("talk", 0).text == "Oh dear! Who is there? Nobody. Only an e-mail at 3.15"


def test_a_sentence_knows_the_rules_that_made_it() -> None:
    for number in range(50):
        text, rules = PETS.sentence("pet", number)
        assert {"pet", "small"} <= rules
        assert ("big" in rules) == ("ox" in text)


def test_weights_are_kept() -> None:
    n = 4000
    counts = Counter(texts(Grammar.parse("x: a | 2* b | c | 4* d"), "x", n))
    for text, share in {"A": 1 / 8, "B": 2 / 8, "C": 1 / 8, "D": 4 / 8}.items():
        assert abs(counts[text] - n * share) < 5 * (n * share * (1 - share)) ** 0.5


def test_at_stands_for_each_word_in_turn() -> None:
    grammar = Grammar.parse("@: cat dog\nall: it said <@-noise> | nothing\ncat-noise: miaow\ndog-noise: woof")
    assert set(texts(grammar, "all")) == {"It said miaow", "It said woof", "Nothing"}
    grammar = Grammar.parse("@: cat dog\nold-@: an old @")
    assert [grammar.sentence(f"old-{pet}", 0).text for pet in ("cat", "dog")] == ["An old cat", "An old dog"]


@given(st.integers(0, 2**63), st.integers(-5, 2**40))
def test_seed_and_number_decide(number: int, seed: int) -> None:
    again = Grammar(dict(reversed(PETS.rules.items())))
    assert PETS.sentence("pet", number, seed) == again.sentence("pet", number, seed)


def test_seeds_and_numbers_are_independent() -> None:
    grammar = Grammar.parse("x: <d><d><d><d><d><d>\nd: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9")
    seen = {text for seed in range(30) for text in texts(grammar, "x", 30, seed)}
    assert len(seen) > 890  # 900 of a million


def test_long_sentences_do_not_run_out_of_draws() -> None:
    grammar = Grammar.parse(f"x: {'<d>' * 500}\nd: 0 | 1")
    text = grammar.sentence("x", 0).text
    assert len(text) == 500 and 180 < text.count("0") < 320


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: x\nb", "expected 'name: alternative | alternative' in a grammar, got 'b'"),
        ("a: <b>", "expected a rule for <b> in a grammar, got none"),
        ("a: x | <b>\nb: y <a>", "expected rules that end, got <a>, which leads back to itself"),
        ("a: x\na: y", "expected one rule <a> in a grammar, got two"),
    ],
)
def test_bad_grammars_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Grammar.parse(text)


def test_an_unknown_start_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a rule of the grammar to start from, got 'cow'"):
        PETS.sentence("cow", 0)
