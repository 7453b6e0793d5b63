"""Words left out: which blank goes with them, what always stays."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reference import slow
from scuff.perturbations.omit import Omit
from scuff.text.corpus import Corpus
from scuff.text.random import Rng
from strategies import seed, text, texts

ELIDED = ("tis", "twas", "em", "n", "til", "cause", "bout", "cos", "cuz", "round")
LINE_END = r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"


def without(text: str, perturbation: Omit, seed: int = 0) -> dict[str, str]:
    """The text without each of its words that may go, by the word."""
    corpus = Corpus.of([text])
    edits = perturbation.propose(corpus, Rng.of(corpus.keys, seed))
    words = dict(zip(corpus.words.start.tolist(), corpus.cut(corpus.words).strings(), strict=True))
    words |= {start - 1: word for start, word in words.items() if text[start - 1 : start] in ("'", "’")}
    spans = zip(edits.site.tolist(), edits.start.tolist(), edits.stop.tolist(), strict=True)
    return {words[site]: text[:start] + text[stop:] for site, start, stop in spans}


def slow_wholes(text: str, blanks: set[int]) -> list[tuple[int, int]]:
    """Words with their clitics and apostrophes, one by one."""
    spans = [(start, start + sum(map(len, letters))) for start, letters in slow.words(text)]
    marks = {m.start() for m in regex.finditer(r"\X", text) if m[0] in ("'", "’")}
    free = marks - {i for a, b in spans for i in range(a, b)}

    def is_edge(i: int) -> bool:
        return i in blanks or not 0 <= i < len(text)

    wholes: list[list[int]] = []
    for at, (start, stop) in enumerate(spans):
        word = "".join(c.lower() if len(c.lower()) == 1 else c for c in text[start:stop]).replace("’", "'")
        clitic = slow.is_clitic(text, start, text[start:stop])
        quoted = stop in marks and word != "n"
        led = start - 1 in marks and is_edge(start - 2) and not quoted and word in ELIDED
        if clitic or led:
            free.discard(start - 1)
        if clitic and at and all(i in blanks or i in marks for i in range(spans[at - 1][1], start)):
            wholes[-1][1] = stop
        else:
            wholes.append([start - led, stop + (led and word == "n" and stop in marks)])
    lone = len(free | {i for i, c in enumerate(text) if c == "`"}) == 1
    for whole in wholes:
        stop = whole[1]
        at = stop + (stop in blanks)
        if lone and at in free and text[stop - 1] in "sS" and is_edge(at + 1):
            whole[1] = at + 1
    return [(start, stop) for start, stop in wholes]


def slow_spans(text: str, keep_one: bool) -> list[tuple[int, int]]:
    """What goes with each word, cluster by cluster."""
    blanks = {match.start() for match in regex.finditer(r"\X", text) if regex.fullmatch(r"[\p{Zs}\t]", match[0])}
    found = []
    for start, stop in slow_wholes(text, blanks):
        before, after = start, stop
        while before - 1 in blanks:
            before -= 1
        while after in blanks:
            after += 1
        follows = before < start and before > 0 and not re.match(LINE_END, text[before - 1])
        found.append((before, stop) if follows else (start, after if keep_one else stop))
    return found


apostrophised = st.lists(
    st.sampled_from([
        "it", "'s", "'S", "do", "n't", "N’T", "we", "’re", "'ll", "dogs", "'", "’", "'\u0301", "'em", "'tis", "'n'", "`", "s",
        " ", " ", " ", "  ", " \u0301", "big", "'big", "n", "don't", "dogs'", ",", "\n", "\t",
    ]),
    max_size=14,
).map("".join)  # fmt: skip


@given(st.one_of(text, apostrophised, apostrophised), st.booleans(), seed)
def test_same_as_the_slow_version(text: str, keep_one: bool, seed: int) -> None:
    corpus = Corpus.of([text])
    edits = Omit(keep_one=keep_one).propose(corpus, Rng.of(corpus.keys, seed), k=5)
    found, wanted = list(zip(edits.start.tolist(), edits.stop.tolist(), strict=True)), slow_spans(text, keep_one)
    assert set(found) <= set(wanted) and len(found) == max(len(wanted) - keep_one, 0)
    assert edits.cost.tolist() == [b - a for a, b in found] and not edits.text.codes.size


@pytest.mark.parametrize(
    ("before", "word", "after"),
    [
        ("one two three", "one", "two three"),
        ("one two three", "two", "one three"),
        ("one two three", "three", "one two"),
        ("one two, three.", "two", "one, three."),
        ("one two, three.", "three", "one two,."),
        ("say (one two)", "one", "say (two)"),
        ("say (one two)", "two", "say (one)"),
        ("one  two  three", "two", "one  three"),
        ("    if x", "if", "    x"),
        ("one\ntwo\nthree", "two", "one\n\nthree"),
        ("one\r\ntwo three", "two", "one\r\nthree"),
        ("one\ttwo\tthree", "two", "one\tthree"),
        ("one don't three", "don't", "one three"),
        ("so it 's fine", "it", "so fine"),  # a clitic goes with its word
        ("they do n't care", "do", "they care"),
        ("I ca n’t see", "ca", "I see"),
        ("the dogs' bowl", "dogs", "the bowl"),
        ("James ' dogs", "James", "dogs"),
        ("the 'big dogs' bowl", "dogs", "the 'big' bowl"),  # a quotation mark stays
        ("get 'em now", "em", "get now"),
        ("rock 'n' roll", "n", "rock roll"),
        ("the letter 's' here", "s", "the letter '' here"),
        ("one \u0301two three", "two", "one \u0301three"),  # a blank that carries a mark is not cut off it
    ],
)
def test_which_blank_goes(before: str, word: str, after: str) -> None:
    assert {new for number in range(20) if (new := without(before, Omit(), number).get(word))} == {after}


def test_clitics_never_go_or_stay_alone() -> None:
    for number in range(60):
        new = scuff.perturb("it 's odd that they do n't mind , is n't it ? We 'd say so", "omit", 0.5, seed=number)
        assert not re.search(r"(^|(?<!it|do|is|We) )('s|n't|'d)", new) and not re.search(
            r"'( |$)|\b(it|We|do) (?=odd|mind|say)", new
        )


def test_a_search_may_take_any_words_together() -> None:
    free = Omit(keep_one=False)
    assert without("one two, three", free) == {"one": " two, three", "two": "one, three", "three": "one two,"}
    assert without("one", free) == {"one": ""} and without("one", Omit()) == {}
    corpus = Corpus.of(["one two, three (four five) six\nseven  eight\n"])
    assert corpus.apply(free.propose(corpus, Rng.of(corpus.keys, 0))).strings() == [", ()\n\n"]


@given(texts, seed, st.sampled_from(["quota", "each", "all", "coin"]))
def test_one_word_always_stays(texts: list[str], seed: int, selection: str) -> None:
    corpus = Corpus.of(texts)
    after = Omit()(corpus, 1, seed=seed, selection=selection)
    assert ((after.words.per_row(len(texts)) > 0) == (corpus.words.per_row(len(texts)) > 0)).all()


@given(texts, seed)
def test_line_ends_stay(texts: list[str], seed: int) -> None:
    for before, after in zip(texts, scuff.perturb(texts, "omit", 1, seed=seed), strict=True):
        assert re.findall(LINE_END, before) == re.findall(LINE_END, after)


def test_each_word_stays_equally_often() -> None:
    left = Counter(" ".join(scuff.perturb(["one two three"] * 3000, "omit", 1, ids=range(3000))).split())
    assert set(left) == {"one", "two", "three"} and min(left.values()) > 850


def test_no_double_blanks_come_in() -> None:
    line = "The staff were friendly , the room was spotless and the view of the harbour was worth every penny ."
    for number in range(50):
        new = scuff.perturb(line, "omit", 0.5, seed=number)
        assert "  " not in new and new == new.strip() and len(new.split()) == 20 - 9


def test_example() -> None:
    assert scuff.perturb("Adversarial attacks are harmless.", "omit", "low", seed=2) == Omit.facts.example


def test_huge_text() -> None:
    new = scuff.perturb("word " * 100_000, "omit", 0.5, selection="below")
    assert len(new.split()) == 50_000
