"""Candidates by numbers: texts, touched words and constraints are those that the arrays of the texts give."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scuff.attacks.candidates import Candidates
from scuff.attacks.constraints import parse_constraint
from scuff.attacks.constraints.base import Constraint, allowed_by
from scuff.attacks.constraints.words import Changed
from scuff.attacks.search.base import EVEN, FEW, _few_highest_first, highest_first
from scuff.attacks.space import Space, State
from scuff.data.dataset import Column
from scuff.perturbations.combine import all_proposals
from scuff.perturbations.names import parse
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Mask
from scuff.text.reading import Reading
from strategies import text as nasty

MANY = [parse(spec) for spec in ("typo(operations='delete insert swap', layout='any')", "segment", "omit", "homoglyph")]


def space_of(texts: list[str], cuts: bool = True, reads: int | None = None) -> Space:
    columns = [Column.of(texts)]
    edits = all_proposals([(part, 2) for part in MANY], columns[0].corpus, 3, None)
    return Space.of(columns, 0, edits, "", cuts, reads)


def drawn(space: Space, random: Random, most: int = 4) -> Candidates:
    """Random states: some edits at random sites, or a site that is hidden, or a cut."""
    rows: list[int] = []
    states: list[State] = []
    for row in range(len(space.column.corpus)):
        sites = range(int(space.sites_of[row]), int(space.sites_of[row + 1]))
        for _ in range(3 if sites else 0):
            some = sorted(random.sample(sites, min(len(sites), random.randint(1, most))))
            picked = tuple(random.randrange(space.begins[site], space.begins[site + 1]) for site in some)
            sites_in_all = len(space.begins) - 1
            alone = (len(space.edits) + sites_in_all * random.randint(0, 4) + some[0],)
            rows.append(row)
            states.append(alone if random.random() < 0.3 else picked)
    return Candidates(space, np.array(rows, np.int64), states)


def alone(found: Candidates) -> list[Candidates]:
    """Each candidate by itself, without those whose edits overlap, which raise."""
    each = [Candidates(found.space, found.rows[at : at + 1], [state]) for at, state in enumerate(found.states)]
    fine = []
    for one in each:
        try:
            _ = one.after
        except ValueError:
            assert not one.simple
        else:
            fine.append(one)
    return fine


@settings(max_examples=25)
@given(st.lists(nasty, min_size=1, max_size=4), st.integers(0, 1000))
def test_what_numbers_tell_is_what_texts_tell(texts: list[str], seed: int) -> None:
    space = space_of(texts)
    for one in alone(drawn(space, Random(seed))):
        tried = one.tried
        assert one.texts == tried.before.texts(tried.edits)
        assert one.pairs == (tried.before.corpus.strings(), one.after.strings())
        assert one.changed.tolist() == tried.changed().tolist()
        for spec in ("changed(share=0.3, floor=1)", "edit-distance(most=2)", "stop-words"):
            constraint = parse_constraint(spec)
            plain = constraint(tried.before.corpus, one.after, tried.edits)
            assert allowed_by(constraint, one).tolist() == plain.tolist()


def near(found: Candidates, random: Random) -> Candidates:
    """Each state with others that differ from it in one edit, as searches try them, or have one edit less."""
    rows: list[int] = []
    states: list[State] = []
    for row, state in zip(found.rows.tolist(), found.states, strict=True):
        at, (begins, edit) = 0, (found.space.begins, state[0])
        if edit < len(found.space.edits):
            at = random.randrange(len(state))
            site = int(np.searchsorted(begins, state[at], "right")) - 1
            options = range(begins[site], begins[site + 1])
            some = [(*state[:at], one, *state[at + 1 :]) for one in options]
        else:
            some = [state]
        some += [less for less in (state[:-1], state[1:]) if less]
        rows += [row] * len(some)
        states += some
    return Candidates(found.space, np.array(rows, np.int64), states)


@given(st.integers(0, 1000))
def test_candidates_together_are_as_each_alone(seed: int) -> None:
    space = space_of(["one good film, and another", "", "so so, really not bad at all", "x"])
    one_by_one = alone(near(drawn(space, Random(seed), 3), Random(seed)))
    rows = np.concatenate([one.rows for one in one_by_one])
    whole = Candidates(space, rows, [one.states[0] for one in one_by_one])
    assert whole.texts == [one.texts[0] for one in one_by_one]
    assert whole.touched.tolist() == [int(one.touched[0]) for one in one_by_one]
    some = np.arange(rows.size) % 3 == 1
    assert whole.take(some).texts == [text for text, kept in zip(whole.texts, some, strict=True) if kept]


PLAIN = [
    "The quick brown fox, they say, jumps over the lazy dog; and the dog barks at it.", "see www.some-site.org/a-b_c.html now!",
    "WE SAW A BORING FILM. It was not good at all", "I don't like e-mail/post @some_one can't read", "go", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Vectors of the words of PLAIN, of these words with a letter less, and of words that become one."""
    path = tmp_path_factory.mktemp("vectors") / "space.txt"
    words = dict.fromkeys(word for text in PLAIN for word in re.findall(r"\w+", text.lower()))
    less = [word[:at] + word[at + 1 :] for word in words for at in range(len(word)) if len(word) > 1]
    numbers = np.random.default_rng(1).normal(size=(len(words) + len(less), 3)).round(3)
    names = dict.fromkeys([*words, *less])
    path.write_text("".join(f"{name} {x} {y} {z}\n" for name, (x, y, z) in zip(names, numbers.tolist(), strict=False)))
    return str(path)


@given(st.integers(0, 10_000), st.sampled_from(["pos", "pos(strict=False)", "word-vectors"]), st.integers(2, 12))
def test_edits_near_each_other_are_judged_together(listed: str, seed: int, name: str, most: int) -> None:
    """Whatever was judged before, and in whatever company, a text gets the verdict that it gets as a text."""
    pytest.importorskip("lemminflect")
    constraint = parse_constraint(f"word-vectors(file={listed!r}, least=0.3)" if name == "word-vectors" else name)
    space, random = space_of(PLAIN), Random(seed)
    for _ in range(3):
        each = [one for one in alone(near(drawn(space, random, most), random)) if one.simple]
        together = Candidates(space, np.concatenate([one.rows for one in each]), [one.states[0] for one in each])
        plain = [constraint(one.tried.before.corpus, one.after, one.tried.edits).tolist() for one in each]
        assert together.simple
        assert [[verdict] for verdict in allowed_by(constraint, together).tolist()] == plain


@settings(max_examples=25)
@given(st.lists(nasty, min_size=1, max_size=3), st.integers(0, 1000), st.integers(0, 5))
def test_of_long_texts_is_written_what_the_victim_reads(texts: list[str], seed: int, reads: int) -> None:
    texts = [" ".join([text, "and so on", text, "a ! b 😀 c"]) for text in texts]
    space = space_of(texts, reads=reads)
    reading = Reading.of(space.column.corpus, reads)
    for one in alone(drawn(space, Random(seed))):
        whole = one.after.strings()[0]
        seen = one.texts[0]
        assert seen == (reading.first(whole) if reading.long[one.rows[0]] else whole)
        assert one.pairs[1] == [whole], "constraints get the whole text"


@dataclass(frozen=True)
class Never(Changed):
    """A user's class that overrides `__call__` alone."""

    name: ClassVar[str] = "never"

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        return np.zeros(len(before), np.bool_)


def test_a_constraint_that_overrides_call_alone_is_asked_by_it() -> None:
    found = drawn(space_of(["one good film"]), Random(1), 1)
    assert not allowed_by(Never(), found).any()
    assert allowed_by(Changed(share=1.0), found).all()
    assert allowed_by(Constraint(), found).all()  # type: ignore[abstract, unused-ignore]


@given(st.lists(st.sampled_from([-np.inf, -1.0, -1 + EVEN / 2, -1 + 2 * EVEN, 0.0, 0.3]), max_size=2 * FEW))
def test_few_margins_are_ranked_as_many(margin: list[float]) -> None:
    values: Any = np.array(margin, np.float64)
    padded = np.append(values, np.full(FEW + 1, -5.0))  # so many that arrays sort them, none near another
    assert highest_first(values).tolist() == _few_highest_first(margin)
    if -np.inf not in margin:
        assert highest_first(padded)[: values.size].tolist() == _few_highest_first(margin)


@pytest.mark.parametrize("number", [10**6, -(10**6)])
def test_an_edit_that_there_is_not(number: int) -> None:
    space = space_of(["one good film"])
    with pytest.raises(IndexError):
        _ = Candidates(space, np.zeros(1, np.int64), [(number,)]).texts
