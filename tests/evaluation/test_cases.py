"""Random cases: none above the degree, distinct, the same whatever else is asked for, and what the plain attack makes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import scuff
from reference import slow
from scuff.data.dataset import Column, Text
from scuff.evaluation.cases import MORE, PATIENCE, Cases, sample_cases
from scuff.evaluation.dimensions import Dimension
from scuff.metrics.chrf import chrf_distance
from strategies import text as nasty_text

PLAIN = [
    "The quick brown fox jumps over the lazy dog, while seven wizards quietly mix a dozen liquid potions for the queen.",
    "Wonderful weather today", "wonderful", "a", "", "👩‍👩‍👧‍👦 great 👍🏽", "שלום עולם, זה משפט קצר", "I'm fine; you're not.",
]  # fmt: skip
DEGREES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0)
ALWAYS = [name for name in scuff.NAMES if name not in ("embedding", "contextual", "paraphrase")]  # which need a file
UNITS = [name for name in ALWAYS if scuff.parse(name).facts.level != "sentence"]
MEANING = [name for name in ALWAYS if name not in UNITS]
SPECS = [*UNITS, *MEANING, *(f"{name}@edits" for name in UNITS)]
SEQUENCES = ["segment+keyboard", "segment+keyboard@edits", "intrude+full-shuffle@edits"]
MIXED = [*SEQUENCES, "keyboard|truncate"]

every_dimension = pytest.mark.parametrize("spec", [*SPECS, *MIXED])
degrees = st.one_of(st.sampled_from(DEGREES), st.floats(0.01, 1))
few = settings(max_examples=8)


@dataclass(frozen=True)
class Case:
    """One case, for people."""

    example: int
    draw: int
    texts: tuple[Text, ...]
    edits: tuple[tuple[tuple[int, int, str], ...], ...]  # by column: start, stop, new
    reached: float
    distance: float


def listed(cases: Cases) -> list[Case]:
    out = []
    for at in range(len(cases)):
        edits = []
        for column in cases.edits:
            rows = [] if column is None else np.flatnonzero(column.row == at).tolist()
            new = [] if column is None else column.text.strings()
            edits.append(tuple((int(column.start[r]), int(column.stop[r]), new[r]) for r in rows if column is not None))
        texts = tuple(column[at] for column in cases.columns)
        numbers = float(cases.reached[at]), float(cases.distance[at])
        out.append(Case(int(cases.example[at]), int(cases.draw[at]), texts, tuple(edits), *numbers))
    return out


def sample(
    columns: list[list[Text]],
    spec: str,
    degree: float,
    cases: int,
    sides: tuple[int, ...] = (0,),
    first: int = 0,
    seed: int = 0,
    protect: tuple[str, ...] = (),
) -> list[Case]:
    rules = scuff.Protect(protect) if protect else None
    made = [Column.of(column) for column in columns]
    dimension = Dimension.parse(spec)
    options = {"first": first, "seed": seed, "protect": rules, "far": chrf_distance}
    return listed(sample_cases(made, sides, dimension, degree, cases, **options))  # type: ignore[arg-type]


def of_texts(texts: list[str], spec: str, degree: float, cases: int, seed: int = 0, first: int = 0) -> list[Case]:
    return sample([list(texts)], spec, degree, cases, seed=seed, first=first)


def units(text: str, kind: str) -> list[tuple[int, int]]:
    """What a degree is a share of, found without the product's code."""
    words = [(start, start + sum(map(len, letters))) for start, letters in slow.words(text)]
    if kind == "characters":
        return [(at, at + 1) for at, char in enumerate(text) if not regex.match(r"[\p{Zs}\t]", char)]
    if kind == "gaps":
        between = [(stop, start) for (_, stop), (start, _) in itertools.pairwise(words)]
        return [(a, b) for a, b in between if regex.fullmatch(r"[\p{Zs}\t]+", text[a:b])]
    return words


def share_changed(text: str, edits: tuple[tuple[int, int, str], ...], kind: str) -> float:
    """Of the units, those that an edit overlaps; what is inserted also touches what stands right beside it, and what is deleted
    the two that come together.
    """
    found = units(text, kind)
    begins, ends = {a for a, _ in found}, {b for _, b in found}

    def touches(start: int, stop: int, new: str, a: int, b: int) -> bool:
        beside = start == stop or (not new and start in ends and stop in begins)
        return (start <= b and a <= stop) if beside else (start < b and a < stop)

    hit = [any(touches(*edit, a, b) for edit in edits) for a, b in found]
    return sum(hit) / max(len(found), 1)


def slow_cases(text: str, spec: str, degree: float, cases: int, seed: int) -> list[str]:
    """One version after the other, by the plain interface; unfit ones count as the unchanged text."""
    attack, _, measure = spec.partition("@")
    kind = scuff.parse(attack).facts.unit

    def version(draw: int) -> str:
        selection = "edits" if measure else "below"
        options = {"seed": seed, "draw": draw, "selection": selection}
        new, edits = scuff.perturb(text, attack, degree, return_edits=True, **options)  # type: ignore[call-overload]
        changes = tuple((e.start, e.stop, e.new) for e in edits)
        share = Levenshtein.distance(text, new) / max(len(text), 1) if measure else share_changed(text, changes, kind)
        return new if share <= degree + 1e-9 else text

    versions = [version(draw) for draw in range(max(cases * MORE, PATIENCE))]
    if all(new == text for new in versions[:PATIENCE]):
        return [text]
    found: dict[str, int] = {}
    number = -1
    for draw, new in enumerate(versions):
        if new != text and new not in found:
            number = max(number + 1, 0 if draw < PATIENCE else draw // MORE)
            found[new] = number
    return [new for new, number in found.items() if number < cases]


@pytest.mark.parametrize("spec", [*UNITS, *MIXED])  # degrees of characters and of meaning: test_fill
@few
@given(nasty_text, degrees, st.integers(0, 9))
def test_same_as_the_slow_version(spec: str, text: str, degree: float, seed: int) -> None:
    assert [case.texts[0] for case in of_texts([text], spec, degree, 4, seed)] == slow_cases(
        text, spec, degree, 4, seed
    )


@every_dimension
@few
@given(st.lists(nasty_text, max_size=3), degrees, st.integers(0, 9))
def test_what_every_case_holds(spec: str, nasty: list[str], degree: float, seed: int) -> None:
    texts = PLAIN + nasty
    found = of_texts(texts, spec, degree, 5, seed)
    kind = Dimension.parse(spec).perturbation.facts.unit
    for case in found:
        before, after = texts[case.example], str(case.texts[0])
        assert slow.splice(before, list(case.edits[0])) == after, "the edits tell all"
        away = Levenshtein.distance(before, after) / max(len(before), 1)
        assert case.distance == pytest.approx(away)
        share = away if spec.endswith("@edits") else share_changed(before, case.edits[0], kind)
        if spec in MEANING:
            share = float(chrf_distance([before], [after])[0])
        assert case.reached == pytest.approx(share) and share <= degree + 1e-9
    for example, before in enumerate(texts):
        mine = [str(case.texts[0]) for case in found if case.example == example]
        assert 1 <= len(mine) <= 5 and len(set(mine)) == len(mine)
        assert before not in mine or mine == [before]


@every_dimension
@pytest.mark.parametrize("degree", [0.1, 0.3, 0.6])
def test_more_cases_begin_with_the_fewer(spec: str, degree: float) -> None:
    for fewer, more in ((5, 20), (1, 3), (4, 8)):
        begin, rest = of_texts(PLAIN, spec, degree, fewer), of_texts(PLAIN, spec, degree, more, first=fewer)
        whole = of_texts(PLAIN, spec, degree, more)
        assert sorted(begin + rest, key=lambda case: (case.example, case.draw)) == whole


@every_dimension
def test_other_examples_and_their_order_do_not_matter(spec: str) -> None:
    whole = of_texts(PLAIN, spec, 0.3, 4, seed=3)
    backwards = of_texts(PLAIN[::-1], spec, 0.3, 4, seed=3)
    for at, text in enumerate(PLAIN):
        mine = [(case.draw, case.texts, case.reached) for case in whole if case.example == at]
        there = [(c.draw, c.texts, c.reached) for c in backwards if c.example == len(PLAIN) - 1 - at]
        alone = [(case.draw, case.texts, case.reached) for case in of_texts([text], spec, 0.3, 4, seed=3)]
        assert mine == there == alone


@pytest.mark.parametrize("attack", UNITS)
def test_a_case_is_the_plain_attack_of_its_draw(attack: str) -> None:
    for case in of_texts(PLAIN, attack, 0.4, 6, seed=5):
        plain = scuff.perturb(PLAIN[case.example], attack, 0.4, seed=5, draw=case.draw, selection="below")
        assert case.texts == (plain,)
        by_class = scuff.parse(attack)(
            scuff.Corpus.of([PLAIN[case.example]]), 0.4, seed=5, draw=case.draw, selection="below"
        )
        assert by_class.strings() == [plain]


@pytest.mark.parametrize("name", ALWAYS)
@pytest.mark.parametrize("level", [0.2, 0.8])
def test_a_level_is_that_of_perturb(name: str, level: float) -> None:
    found = of_texts(PLAIN, f"{name}@level", level, 1, seed=7)
    assert [case.texts[0] for case in found] == scuff.perturb(PLAIN, name, level, seed=7)
    assert all(case.draw == 0 for case in found)
    more = of_texts(PLAIN, f"{name}@level", level, 4, seed=7)
    assert [case for case in more if case.draw == 0] == found


def test_another_seed_makes_other_cases() -> None:
    one, other = ([case.texts for case in of_texts(PLAIN[:1], "keyboard", 0.5, 5, seed)] for seed in (1, 2))
    assert not set(one) & set(other)


def test_a_degree_is_used_up_where_it_can_be() -> None:
    found = of_texts(PLAIN[:1], "keyboard", 0.3, 10)
    assert len(found) == 10 and all(case.reached == pytest.approx(6 / 21) for case in found), "floor(0.3 * 21) words"
    found = of_texts(PLAIN[:1], "homoglyph@edits", 0.1, 10)
    assert all(0.1 - 2 / len(PLAIN[0]) < case.reached <= 0.1 for case in found)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec != "distraction"])  # which can always add
def test_what_cannot_change_is_one_case_of_its_own(spec: str) -> None:
    for text in ("", "a", "!?", "👍🏽", "  "):
        (case,) = sample([[text]], spec, 0.05, 10)
        assert case.texts == (text,) and case.reached == case.distance == 0 and case.edits == ((),)
        assert sample([[text]], spec, 0.05, 10, first=1) == []


def test_a_text_of_which_no_version_fits_is_one_case_of_its_own() -> None:
    """A join touches two words, so that in a long text all joins together touch more words than the degree allows."""
    text = " ".join(["some", "words"] * 150)
    made = sample_cases([Column.of([text])], (0,), Dimension.parse("segment+segment"), 0.2, 10)
    (case,) = listed(made)
    assert case.texts == (text,) and case.reached == 0 and case.edits == ((),) and made.unfit.tolist() == [10]


def test_unfit_versions_are_counted_once_over_rounds() -> None:
    texts, dimension = PLAIN[:1], Dimension.parse("segment+keyboard")
    counts = [
        int(sample_cases([Column.of(texts)], (0,), dimension, 0.5, upto, first=first).unfit.sum())
        for first, upto in ((0, 4), (4, 8), (0, 8))
    ]
    assert counts[0] + counts[1] >= counts[2] > 0
    assert counts[1] < counts[2]


SENTENCES: list[Text] = [
    ("The", "quick", "brown", "fox", "did", "n't", "jump", "over", "3", "lazy", "dogs", "."), (), ("Yes",), ("👍🏽", "!"),
    ("", "empty", ""),
]  # fmt: skip


@pytest.mark.parametrize("spec", [s for s in [*SPECS, *MIXED] if Dimension.parse(s).perturbation.facts.keeps_tokens])
def test_tokens_stay_aligned(spec: str) -> None:
    found = sample([SENTENCES], spec, 0.3, 6)
    for case in found:
        before, after = SENTENCES[case.example], case.texts[0]
        assert isinstance(after, tuple) and len(after) == len(before)
        assert slow.splice(" ".join(before), list(case.edits[0])) == " ".join(after)
        changed = sum(a != b for a, b in zip(before, after, strict=True))
        words = sum(bool(regex.search(r"[\p{L}\p{N}]", token)) for token in before)
        assert changed <= 0.3 * words + 1e-9 or spec.endswith("@edits")
        assert Levenshtein.distance(" ".join(before), " ".join(after)) <= 0.3 * len(" ".join(before)) or "@" not in spec
    assert {case.example for case in found} == set(range(len(SENTENCES)))
    assert any(case.texts[0] != SENTENCES[0] for case in found if case.example == 0)


def test_tokens_of_a_level_are_those_of_perturb_tokens() -> None:
    for name in ("keyboard", "inner-shuffle", "truncate"):
        found = [list(case.texts[0]) for case in sample([SENTENCES], f"{name}@level", 0.8, 1)]
        assert found == scuff.perturb_tokens([list(tokens) for tokens in SENTENCES], name, 0.8)


PAIRS: list[list[Text]] = [
    ["A man is playing the guitar loudly in front of a crowd", "Two dogs", "same text here twice"],
    ["Somebody makes music", "Nobody is outside in this terrible weather", "same text here twice"],
]


@pytest.mark.parametrize("spec", ["keyboard", "keyboard@edits", "segment", "visual@edits", "segment+keyboard"])
@pytest.mark.parametrize("sides", [(0,), (1,), (0, 1)])
def test_pairs(spec: str, sides: tuple[int, ...]) -> None:
    found = sample(PAIRS, spec, 0.4, 5, sides)
    kind = Dimension.parse(spec).perturbation.facts.unit
    assert {case.example for case in found} == {0, 1, 2}
    assert len({(case.example, case.texts) for case in found}) == len(found)
    for case in found:
        before = [str(column[case.example]) for column in PAIRS]
        for side in (0, 1):
            assert slow.splice(before[side], list(case.edits[side])) == case.texts[side]
            assert side in sides or case.texts[side] == before[side]
        length = sum(len(before[side]) for side in sides)
        away = sum(Levenshtein.distance(before[side], str(case.texts[side])) for side in sides) / length
        assert case.distance == pytest.approx(away)
        total = [len(units(before[side], kind)) for side in sides]
        hit = [share_changed(before[side], case.edits[side], kind) for side in sides]
        share = sum(n * h for n, h in zip(total, hit, strict=True)) / sum(total)
        assert case.reached == pytest.approx(away if "@" in spec else share) and case.reached <= 0.4 + 1e-9
    if sides == (0,):  # the other column does not matter
        alone = sample([PAIRS[0]], spec, 0.4, 5)
        assert [(case.draw, case.texts[0]) for case in found] == [(case.draw, case.texts[0]) for case in alone]


@pytest.mark.parametrize("name", ALWAYS)
def test_protected_text_stays(name: str) -> None:
    text = "Please read https://example.org/page today, dear Scuff friends, and often write to me@example.org about it"
    held = ["https://example.org/page", "Scuff", "me@example.org"]
    found = sample([[text]], name, 1.0, 6, protect=("urls", "emails", "word:scuff"))
    assert all(part in str(case.texts[0]) for case in found for part in held)
    assert all(case.texts[0] != text for case in found) or name == "syntax"  # which knows no way to reword the rest
    whole = scuff.perturb(
        text, name, 1.0, selection="below", protect=["urls", "emails", "word:scuff"], draw=found[0].draw
    )
    assert found[0].texts == (whole,)


def test_names_of_dimensions() -> None:
    for spec in (
        "keyboard",
        "keyboard@edits",
        "keyboard@level",
        "keyboard(layout='qwertz')@edits",
        "segment+keyboard@edits",
    ):
        dimension = Dimension.parse(spec)
        assert dimension.spec == dimension.name == spec and Dimension.parse(dimension.spec) == dimension
    assert Dimension.parse("keyboard").unit == "words" and Dimension.parse("keyboard@edits").unit == "characters"
    assert Dimension.parse("segment@level").unit == "gaps"
    assert Dimension.parse("intrude(symbols='@level')").measure == "units", "a quoted @ belongs to the attack"
    with pytest.raises(ValueError, match="did you mean keyboard"):
        Dimension.parse("keybord@edits")
    with pytest.raises(ValueError, match=r"expected one of @units, .* got '@words' in 'keyboard@words'"):
        Dimension.parse("keyboard@words")


def test_columns_take_rows_in_any_order() -> None:
    column = Column.of(SENTENCES).take(np.array([3, 0, 0, 2]))
    assert column.texts() == [SENTENCES[3], SENTENCES[0], SENTENCES[0], SENTENCES[2]]
    plain = Column.of(list(PLAIN)).take(np.array([1, 1, 0]))
    assert plain.texts() == [PLAIN[1], PLAIN[1], PLAIN[0]]
    assert Column.of([]).texts() == []


@pytest.mark.parametrize(("text", "changes"), [("planet silver yellow", True), ("orange garden castle", False)])
def test_a_text_is_given_ten_draws_to_change(text: str, changes: bool) -> None:
    """Most shuffles go too far; the first that does not is the tenth draw of one text, and the twelfth of the other."""
    found = sample_cases([Column.of([text])], (0,), Dimension.parse("full-shuffle@edits"), 0.1, 1)
    assert (found.columns[0] != [text]) == changes and found.draw.tolist() == [9 if changes else 0]
