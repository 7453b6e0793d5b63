"""What a search chooses from: one edit of each site, whichever, may be applied together."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scuff
from reference import slow
from scuff.perturbations.base import Perturbation
from scuff.perturbations.combine import all_proposals
from scuff.perturbations.homoglyph import Homoglyph
from scuff.perturbations.names import parse
from scuff.perturbations.protect import Protect
from scuff.perturbations.typo import Typo
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from strategies import seed
from strategies import text as nasty_text

SENTENCES = [
    "The film was not good, because the actors were bored.", "Two dogs  are playing in the garden\nand nobody cares",
    "I don't think (really) that it's great.", "",
]  # fmt: skip
SPECS = [
    "typo", "typo(operations='swap', layout='any')", "typo(scope='text')", "typo(scope='text', operations='delete')", "homoglyph",
    "glyph(scope='text')", "intrude(symbols=' ')", "segment", "omit", "omit(keep_one=False)", "syntax", "distraction", "synonym",
    "inflection", "full-shuffle", "keyboard|truncate",
]  # fmt: skip
Parts = list[tuple[Perturbation, int]]

texts = st.lists(st.one_of(nasty_text, st.sampled_from(SENTENCES)), min_size=1, max_size=4)
unions = st.lists(st.tuples(st.sampled_from(SPECS).map(parse), st.integers(1, 4)), min_size=1, max_size=4)
few = settings(max_examples=100)


def of(*specs: str) -> Parts:
    """`3*typo`: three of them."""
    return [(parse(spec.split("*")[-1]), int(spec.split("*")[0]) if "*" in spec else 1) for spec in specs]


def listed(edits: Edits) -> list[list[tuple[int, int, int, str, int]]]:
    """The edits of each row: site, start, stop, what comes in, cost."""
    out = defaultdict(list)
    columns = (edits.row, edits.site, edits.start, edits.stop, edits.text.strings(), edits.cost)
    for row, *rest in zip(*(c if isinstance(c, list) else c.tolist() for c in columns), strict=True):
        out[row].append(tuple(rest))
    return [out[row] for row in range(max(out, default=-1) + 1)]


def slow_sites(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """Widen each edit to the words it changes; then merge what overlaps or begins together, two by two, until nothing moves."""
    words = [(start, start + sum(map(len, letters))) for start, letters in slow.words(text)]
    wide = []
    for a, b in spans:
        hit = [(s, e) for s, e in words if a < e and s < b]
        wide.append([min([a, *(s for s, _ in hit)]), max([b, *(e for _, e in hit)])])
    while True:
        old = [list(span) for span in wide]
        for one, other in itertools.combinations(wide, 2):
            if (one[0] < other[1] and other[0] < one[1]) or one[0] == other[0]:
                one[:] = other[:] = [min(one[0], other[0]), max(one[1], other[1])]
        if wide == old:
            return [start for start, _ in wide]


@few
@given(texts, unions, seed)
def test_sites_are_those_of_the_slow_version(texts: list[str], parts: Parts, seed: int) -> None:
    for text, found in zip(texts, listed(all_proposals(parts, Corpus.of(texts), seed)), strict=False):
        assert [each[0] for each in found] == slow_sites(text, [each[1:3] for each in found])


@few
@given(texts, unions, seed, st.randoms(use_true_random=False))
def test_any_choice_of_one_edit_per_site_can_be_applied(
    texts: list[str], parts: Parts, seed: int, dice: random.Random
) -> None:
    corpus = Corpus.of(texts)
    edits = all_proposals(parts, corpus, seed)
    sites = defaultdict(list)
    for number, place in enumerate(zip(edits.row.tolist(), edits.site.tolist(), strict=True)):
        sites[place].append(number)
    for share in (0.2, 0.6, 1.0):
        chosen = [dice.choice(options) for options in sites.values() if dice.random() <= share]
        new = corpus.apply(edits.where(np.array(chosen, np.int64))).strings()
        changed = {int(edits.row[number]) for number in chosen}
        assert [before != after for before, after in zip(texts, new, strict=True)] == [
            row in changed for row in range(len(texts))
        ]


@pytest.mark.slow
@few
@given(texts, unions, seed, st.randoms(use_true_random=False))
def test_rows_do_not_matter_to_each_other(texts: list[str], parts: Parts, seed: int, dice: random.Random) -> None:
    def found(some: list[str]) -> dict[str, list[tuple[int, int, int, str, int]]]:
        each = listed(all_proposals(parts, Corpus.of(some), seed))
        return dict(itertools.zip_longest(some, each, fillvalue=[]))  # type: ignore[arg-type]

    together, mixed = found(texts), list(texts)
    dice.shuffle(mixed)
    assert found(mixed) == together
    assert all(found([text]) == {text: together[text]} for text in texts)


@few
@given(texts, unions, seed)
def test_all_proposals_of_every_part_are_there_once_in_order(texts: list[str], parts: Parts, seed: int) -> None:
    corpus = Corpus.of(texts)
    edits = all_proposals(parts, corpus, seed)
    place = list(zip(edits.row.tolist(), edits.site.tolist(), strict=True))
    assert place == sorted(place)
    found = [(row, *each[1:4]) for row, all_of in enumerate(listed(edits)) for each in all_of]
    assert len(set(found)) == len(found)
    first, k = parts[0]
    alone = [
        (row, *each[1:4])
        for row, all_of in enumerate(listed(first.proposals(corpus, 0, seed=seed, k=k)))
        for each in all_of
    ]
    assert set(alone) <= set(found)


def test_each_part_has_its_own_number() -> None:
    corpus = Corpus.of(["wonderful"])
    edits = all_proposals(of("2*keyboard", "5*intrude(phi=0.0)"), corpus)
    assert [text.isalpha() for text in edits.text.strings()] == [True] * 2 + [False] * (len(edits) - 2)
    assert 3 < len(edits) <= 7 and set(edits.site.tolist()) == {0}
    both = all_proposals(of("20*typo(operations='delete')", "20*typo(operations='delete')"), corpus)
    assert len(both) == len(set(both.text.strings())) == 9


def test_what_gets_in_the_way_is_one_site() -> None:
    def sites(*specs: str, text: str = "one two. three") -> list[list[int]]:
        return [sorted({each[0] for each in row}) for row in listed(all_proposals(of(*specs), Corpus.of([text])))]

    assert sites("typo", "homoglyph") == [[0, 4, 9]]
    assert sites("typo(scope='text')") == [[0, 4, 9]], "the letters of a word are one site"
    assert sites("typo", "segment") == [[0, 3, 4, 9]], "words and the gaps between them are not"
    assert sites("typo", "omit(keep_one=False)") == [[0, 3, 8]], "a word with the blank before it"
    assert sites("typo", "distraction") == [[0, 4, 9, 14]], "what is added is one site, beside the last word"
    assert sites("typo", "syntax", text="It was not good.") == [[0, 3, 11]], "was not: wasn't"
    assert sites("typo(scope='text', operations='delete')") == [[0, 4, 9]], (
        "by the word, though its first letter never goes"
    )


def test_an_open_rate_changes_one_letter() -> None:
    words = ["wonderful", "harbour"]
    for part in (Homoglyph(), Homoglyph(phi=None), parse("keyboard"), parse("visual(scope='words')")):
        edits = all_proposals([(part, 30)], Corpus.of([" ".join(words)]))
        assert set(edits.cost.tolist()) == {1} and len(edits) > 20
        for start, new in zip(edits.start.tolist(), edits.text.strings(), strict=True):
            assert sum(a != b for a, b in zip(words[start > 0], new, strict=True)) == 1


def test_two_of_a_kind_are_drawn_apart() -> None:
    parts: Parts = [(Typo(operations=kind, layout="any"), 1) for kind in ("replace", "delete")]
    word = "abcdefghij"
    edits = all_proposals(parts, Corpus.of([word] * 300, ids=range(300)))
    first = [next(at for at in range(10) if new[at : at + 1] != word[at]) for new in edits.text.strings()]
    assert 10 < sum(one == other for one, other in zip(first[::2], first[1::2], strict=True)) < 60, (
        "one in ten by chance"
    )


def test_protected_words_stay() -> None:
    text = "The film was good and @me too"
    edits = all_proposals(
        of("typo", "omit(keep_one=False)", "segment"), Corpus.of([text]), 0, Protect(("mentions", "word:good"))
    )
    start, stop = text.index("good"), text.index("good") + 4
    assert len(edits) and all(b <= start or a >= stop for a, b in zip(edits.start, edits.stop, strict=True))


def test_no_parts_no_texts_no_proposals() -> None:
    with pytest.raises(ValueError, match="expected at least one perturbation to propose edits, got none"):
        all_proposals([], Corpus.of(["a"]))
    with pytest.raises(TypeError, match="got a sequence"):
        all_proposals(of("typo+segment"), Corpus.of(["a"]))
    assert not len(all_proposals(of("typo", "syntax", "omit"), Corpus.of([])))
    assert not len(all_proposals(of("typo", "distraction", "omit"), Corpus.of(["", " ", "\n"])))
    assert scuff.perturb("", "omit", 1) == ""
