"""The search by substitution, in lock step, beside a slow version: one sentence, one place, one piece at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.attacked import NO_LIMITS, attacked, attacking, data_of, outcome, recipe
from scuff.attacks.constraints import Constraint
from scuff.attacks.goals import Goal
from scuff.attacks.outcomes import NOTHING, Limits
from scuff.attacks.search import Slope, Try, parse_search
from scuff.attacks.search.base import Dice, Search, Walk
from scuff.attacks.space import View
from scuff.data.dataset import Task
from scuff.text import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Floats, Mask
from scuff.text.random import Rng
from scuff.victims.base import Access, Column, Outputs, Victim, as_objects
from scuff.victims.query import Query
from scuff.victims.substitution import Located, Vocabulary, clusters, gains, highest, make_oov, rounded, signs

WORDS = [
    "the", "a", "cat", "dog", "sees", "small", "green", "house", "walks", "runs", "home", "garden", "flower",
    "tree", "man", "woman", "child", "book", "reads", "water",
]  # fmt: skip
PIECES = [*WORDS, "s", "ing", "ly", "er"]
SPECIAL = ["<pad>", "<unk>", "</s>"]
TEXTS = [
    "the small cat sees a green house", "a dog runs home", "the woman reads a book", "walking dogs", "cat", "", "   ",
    "the  man\twalks slowly home ", "😀 the dog é runs", "שלום the cat", "the child sees water, the man reads", "flowers",
    "the tree " * 30,
]  # fmt: skip
MODES = [
    "substitution", "substitution(sign=False)", "substitution(within='neighbours', nearest=4)", "substitution(within='swaps')",
    "substitution(n=2, one_shot=True)", "substitution(within='swaps', n=4, one_shot=True, sign=False)",
    "substitution(n=2, beam=2, verify=3)", "substitution(within='swaps', n=3, beam=1, verify=2)",
    "substitution(within='neighbours', n=2, beam=3, verify=5, sign=False)",
]  # fmt: skip


class Reader(Victim):
    """Cuts texts into known words, or known beginnings and endings; says for each text how much of a hidden vector it has.

    Its loss is a smooth function of the mean of its pieces' vectors, so that its slopes are those of the whole text.
    """

    name, task, labels, access = "reader", "text", (), Access.DECISION

    def __init__(self, *, whole: bool = False, unknown: bool = True, longest: int = 40) -> None:
        rng = np.random.default_rng(7)
        self.pieces = [*SPECIAL, *(WORDS if whole else PIECES)]
        self.vectors = rng.normal(size=(len(self.pieces), 6)).astype(np.float32)
        self.hidden = rng.normal(size=(2, 6))
        self.whole, self.longest = whole, longest
        self.has_unknown = unknown
        self.asked: list[int] = []

    def vocabulary(self) -> Vocabulary:
        surfaces = ["" if piece in SPECIAL else piece for piece in self.pieces]
        begins = np.array([piece in WORDS or (self.whole and piece == "<unk>") for piece in self.pieces])
        return Vocabulary(surfaces, begins, 1 if self.has_unknown else -1, self.vectors)

    def cut(self, text: str) -> list[tuple[int, int, int]]:
        out: list[tuple[int, int, int]] = []
        at = 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            stop = next((i for i in range(at, len(text)) if text[i].isspace()), len(text))
            if self.whole:
                word = text[at:stop]
                out.append((self.pieces.index(word) if word in WORDS else 1, at, stop))
                at = stop
                continue
            first = at == 0 or text[at - 1].isspace()
            known = WORDS if first else PIECES[len(WORDS) :]
            match = max(
                (word for word in known if text.startswith(word, at) and at + len(word) <= stop), key=len, default=""
            )
            out.append((self.pieces.index(match), at, at + len(match)) if match else (1, at, at + 1))
            at = out[-1][2]
        return out[: self.longest]

    def located(self, texts: Column) -> list[Located]:
        rows = [np.array(self.cut(str(text)), np.int64).reshape(-1, 3) for text in texts]
        return [Located(row[:, 0], row[:, 1], row[:, 2]) for row in rows]

    def points(self, text: str) -> Floats:
        return np.asarray(self.vectors[[piece for piece, _, _ in self.cut(text)]], np.float64)

    def loss(self, points: Floats, target: str) -> float:
        weight = self.hidden[len(target) % 2]
        place = np.linspace(0.5, 1.5, len(points))[:, None]
        return float(np.tanh((np.tanh(points) * place).sum(0) @ weight / 3)) if len(points) else 0.0

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        self.asked.append(len(texts))
        out = []
        for text, target in zip(texts, targets, strict=True):
            points = self.points(str(text))
            weight, place = self.hidden[len(target) % 2], np.linspace(0.5, 1.5, len(points))[:, None]
            outer = 1 - self.loss(points, target) ** 2
            out.append(outer / 3 * (1 - np.tanh(points) ** 2) * place * weight)
        return out

    def __call__(self, *columns: Column) -> Outputs:
        """Writes its loss, in letters."""
        losses = [self.loss(self.points(str(text)), "") + self.loss(self.points(str(text)), "x") for text in columns[0]]
        return Outputs.of(as_objects([f"{value:.6f}" for value in losses]))


@dataclass(frozen=True)
class Higher(Goal):
    """A higher number than `least`. The target of an example only names its loss."""

    least: float = 0.8

    name: ClassVar[str] = "higher"
    summary: ClassVar[str] = "a higher number"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    def right(self, answers: Any, targets: Any) -> Mask:
        return ~self.judge(answers, targets, np.zeros(0))[1]

    def scores(self, answers: Any) -> Any:
        return answers

    def judge(self, scores: Any, targets: Any, changed: Floats) -> tuple[Floats, Mask]:
        score = np.array([float(text) for text in scores]) / 4 + 0.5
        return score, score > self.least


GOAL = Higher()


@cache
def reader(whole: bool = False, unknown: bool = True) -> Reader:
    return Reader(whole=whole, unknown=unknown)


def run(
    search: str,
    texts: Sequence[str] = TEXTS,
    victim: Reader | None = None,
    limits: Limits = NO_LIMITS,
    constraints: Any = (),
) -> list[Any]:
    victim = victim or reader()
    attack = recipe(search, GOAL, (), *constraints)
    data = data_of(texts, ["y" * (at % 2) for at in range(len(texts))], "text")
    return attacked(victim, data, attack, limits, query=Query(victim))


class Slow:
    """The search of one example, without arrays of examples: loops over places and pieces, and texts as strings."""

    def __init__(self, victim: Reader, text: str, target: str, search: Any, row_key: Any, forbidden: Any = ()) -> None:
        self.victim, self.text, self.target, self.search, self.forbidden = victim, text, target, search, forbidden
        self.rng = Rng.of(row_key, 0, "swaps")
        self.vocabulary, self.passes, self.seen = victim.vocabulary(), 0, {text: self.margin(text)}

    def margin(self, text: str) -> float:
        score = float(self.victim([text]).answers[0]) / 4 + 0.5
        return score if score > GOAL.least else score - 1

    def ask(self, edits: tuple[Any, ...]) -> float:
        text = self.write(edits)
        if text not in self.seen:
            self.seen[text] = self.margin(text)
        return self.seen[text]

    def write(self, edits: Sequence[Any]) -> str:
        out, last = "", 0
        for start, stop, new in sorted(edits):
            out, last = out + self.text[last:start] + new, stop
        return out + self.text[last:]

    def places(self, edits: Sequence[Any]) -> list[int]:
        """For each letter of the changed text, which letter of the original it is; -1 in an edit."""
        out: list[int] = []
        last = 0
        for start, stop, new in sorted(edits):
            out += [*range(last, start), *[-1] * len(new)]
            last = stop
        return out + list(range(last, len(self.text)))

    def offers(self, edits: Sequence[Any], most: int, each: int) -> list[Any]:
        self.passes += 1
        text, where = self.write(edits), self.places(edits)
        (pieces,), (slopes,) = self.victim.located([text]), self.victim.slopes([text], [self.target])
        found = []
        for number, (piece, a, b) in enumerate(zip(*(part.tolist() for part in pieces), strict=True)):
            slope = np.sign(slopes[number]) if self.search.sign else slopes[number]
            if -1 in where[a:b]:
                continue
            start, stop = where[a], where[b - 1] + 1
            old = self.text[start:stop]
            here = []
            for new, vector, order in self.candidates(piece, a == 0 or text[a - 1].isspace(), old, start):
                gain = float((vector - self.vocabulary.vectors[piece]) @ slope)
                if new != old and new not in self.forbidden:
                    here.append((-gain, number, order, (start, stop, new)))
            found += sorted(here)[:each]
        return [edit for *_, edit in sorted(found)[:most]]

    def candidates(self, piece: int, first: bool, old: str, start: int) -> list[Any]:
        vocabulary, unknown = self.vocabulary, self.vocabulary.unknown
        begins, mark = (first if piece == unknown else bool(vocabulary.begins[piece])), not re.search(r"\w", old)
        if self.search.within == "swaps":
            if piece == unknown or not any(letter.isalnum() for letter in old):
                return []
            count = self.search.max_scrambling
            random = [float(self.rng.uniform(np.array([0]), np.array([start * count + at]))[0]) for at in range(count)]
            zero = np.zeros(vocabulary.vectors.shape[1])
            return [(make_oov(old, vocabulary, random), vocabulary.vectors[unknown] if unknown >= 0 else zero, 0)]
        fine = [
            at for at, surface in enumerate(vocabulary.surfaces) if surface and mark == (not re.search(r"\w", surface))
        ]
        if piece == unknown and not any(vocabulary.begins[at] == begins for at in fine):
            begins = not begins
        same = [at for at in fine if vocabulary.begins[at] == begins and at != piece]
        if self.search.within == "neighbours":
            mine = vocabulary.vectors[piece] / np.linalg.norm(vocabulary.vectors[piece])
            same.sort(key=lambda at: -float(vocabulary.vectors[at] @ mine / np.linalg.norm(vocabulary.vectors[at])))
            same = same[: self.search.nearest]
        return [(vocabulary.surfaces[at], vocabulary.vectors[at], at) for at in same]

    def walk(self) -> tuple[Any, ...]:
        search = self.search
        if search.verify:
            return self.verified()
        if search.one_shot:
            edits = tuple(self.offers((), search.n, 1))
        else:
            edits = ()
            for _ in range(search.n):
                found = self.offers(edits, 1, 1)
                if not found:
                    break
                edits = (*edits, *found)
        if edits:
            self.ask(edits)
        return edits

    def verified(self) -> tuple[Any, ...]:
        beam: list[Any] = [()]
        best, most = (), self.seen[self.text]
        for _ in range(self.search.n):
            tried = [
                tuple(sorted((*old, edit)))
                for old in beam
                for edit in self.offers(old, self.search.verify, self.search.verify)
            ]
            tried = list(dict.fromkeys(tried))
            if not tried:
                break
            margin = [self.ask(edits) for edits in tried]
            order = sorted(range(len(tried)), key=lambda at: -margin[at])
            if margin[order[0]] > most + 1e-6:
                best, most = tried[order[0]], margin[order[0]]
            if most > 0:
                return best
            beam = [tried[at] for at in order[: self.search.beam]]
        return best

    def outcome(self) -> tuple[str, int]:
        edits = self.walk()
        return self.write(edits), len(self.seen) + self.passes


@pytest.mark.parametrize("search", MODES)
@pytest.mark.parametrize("whole", [False, True])
def test_lock_step_equals_the_slow_version(search: str, whole: bool) -> None:
    victim = reader(whole)
    changed = 0
    for at, (text, line) in enumerate(zip(TEXTS, run(search, victim=victim), strict=True)):
        status, final, queries, _ = outcome(line)
        slow = Slow(victim, text, "y" * (at % 2), parse_search(search), Corpus.of([text]).keys)
        if slow.seen[text] > 0:
            assert status == "skipped"
            continue
        assert (final, queries) == slow.outcome(), text
        assert status == ("succeeded" if slow.seen[final] > 0 else "failed") and line["reason"] in ("", NOTHING)
        changed += final != text
    assert changed >= 2


@dataclass(frozen=True)
class Never(Constraint):
    """Forbids some words as replacements."""

    words: tuple[str, ...] = ()

    name: ClassVar[str] = "never"
    summary: ClassVar[str] = "forbids some words as replacements"

    def sites(self, corpus: Corpus, edits: Edits) -> Mask:
        return np.array([text not in self.words for text in edits.text.strings()], np.bool_)


@pytest.mark.parametrize("search", [mode for mode in MODES if "swaps" not in mode])
@pytest.mark.parametrize("whole", [False, True])
def test_forbidden_pieces_give_way_to_the_next_best(search: str, whole: bool) -> None:
    """The words that a run without constraints writes are forbidden, then all but three."""
    victim, changed = reader(whole), 0
    lines = run(search, victim=victim)
    best = {new for line in lines if line["adversarial"] for *_, new in line["adversarial"]["edits"]}
    for never in (best, {*PIECES} - {"home", "water", "ing"}):
        for at, (text, line) in enumerate(
            zip(TEXTS, run(search, victim=victim, constraints=[Never(tuple(sorted(never)))]), strict=True)
        ):
            slow = Slow(victim, text, "y" * (at % 2), parse_search(search), Corpus.of([text]).keys, never)
            if slow.seen[text] <= 0:
                assert outcome(line)[1:3] == slow.outcome(), text
                changed += outcome(line)[1] != text
    assert changed >= 2


@pytest.mark.parametrize("search", MODES)
def test_outcomes_do_not_depend_on_other_examples(search: str) -> None:
    together = [outcome(line) for line in run(search)]
    targets = [TEXTS.index(text) % 2 for text in TEXTS]
    for at, text in enumerate(TEXTS):
        pair = [text] if targets[at] == 0 else ["a dog runs home", text]
        assert outcome(run(search, pair)[-1]) == together[at]
    assert [outcome(line) for line in run(search, limits=Limits(block=3))] == together


def test_one_backward_pass_for_all_texts() -> None:
    victim = Reader()
    run("substitution", victim=victim)
    assert (
        len(victim.asked) == 3
        and victim.asked[0] > len(TEXTS) - 4
        and sorted(victim.asked, reverse=True) == victim.asked
    )


@pytest.mark.parametrize("most", [2, 3, 4, 9])
@pytest.mark.parametrize("search", ["substitution", "substitution(n=2, beam=2, verify=3)"])
def test_budgets(search: str, most: int) -> None:
    lines = run(search, limits=Limits(max_queries=most))
    assert all(line["queries"] <= most for line in lines)
    cut = [line for line in lines if line["reason"].startswith("no query was left")]
    assert bool(cut) == (most < 5 or "verify" in search)
    free = [outcome(line) for line in run(search)]
    for line, whole in zip(lines, free, strict=True):
        if line["status"] == "succeeded":
            assert whole[0] == "succeeded" and line["reached"] <= most
        elif not line["reason"]:
            assert outcome(line) == whole


def test_small_budgets_pay_for_a_try() -> None:
    """Gradients are not asked for if no query is left to try what they offer."""
    for most, edits in ((2, 0), (3, 1), (4, 2), (5, 3), (9, 3)):
        for line in run(
            "substitution", ["the small cat sees a green house", "a dog runs home"], limits=Limits(max_queries=most)
        ):
            assert len(line["adversarial"]["edits"] if line["adversarial"] else []) == edits
            assert line["queries"] == (min(most, 5) if edits else 1)
            cut = "no query was left" + " to try a change" * (not edits) if edits < 3 else ""
            assert line["status"] == "succeeded" or line["reason"] == cut


def test_the_budget_that_a_success_needed() -> None:
    """With one query fewer, passes for gradients included, the search does not reach it."""
    search = "substitution(n=3, beam=2, verify=3)"
    won = [(at, line["reached"]) for at, line in enumerate(run(search)) if line["status"] == "succeeded"]
    assert len(won) > 2
    for at, needed in won:
        assert run(search, limits=Limits(max_queries=needed))[at]["status"] == "succeeded"
        assert run(search, limits=Limits(max_queries=needed - 1))[at]["status"] == "failed"


def test_text_outside_an_edit_stays() -> None:
    for search in MODES:
        for text, line in zip(TEXTS, run(search), strict=True):
            if not line["adversarial"]:
                continue
            final, last, out = line["adversarial"]["texts"][0], 0, ""
            assert 1 <= len(line["adversarial"]["edits"]) <= 4
            for _, start, stop, new in sorted(line["adversarial"]["edits"]):
                assert new.strip() == new != "" and not any(map(str.isspace, new)) and new not in SPECIAL
                assert start >= last and text[start:stop] != new and not any(map(str.isspace, text[start:stop]))
                out, last = out + text[last:start] + new, stop
            assert out + text[last:] == final


class Marked(Reader):
    """Knows whole words, and marks as words of their own."""

    def __init__(self) -> None:
        super().__init__(whole=True)
        self.pieces = [*self.pieces, ".", ",", "-", "("]
        self.vectors = np.random.default_rng(3).normal(size=(len(self.pieces), 6)).astype(np.float32)
        self.vectors[-4:] *= 5  # so that marks are what to replace

    def vocabulary(self) -> Vocabulary:
        surfaces = ["" if piece in SPECIAL else piece for piece in self.pieces]
        return Vocabulary(surfaces, np.ones(len(surfaces), np.bool_), 1, self.vectors)

    def cut(self, text: str) -> list[tuple[int, int, int]]:
        found = [(match.group(), *match.span()) for match in re.finditer(r"\w+|[^\w\s]", text)]
        return [(self.pieces.index(word) if word in self.pieces else 1, start, stop) for word, start, stop in found]


def test_a_word_in_place_of_a_mark_stays_apart() -> None:
    texts = ["the cat (dog) runs.", "a small-green house, home.", "man , woman . child"]
    marks = 0
    for line in run("substitution(n=6, sign=False)", texts, Marked()):
        for _, start, stop, new in line["adversarial"]["edits"] if line["adversarial"] else []:
            text = line["texts"][0]
            marks += not text[start].isalnum()
            assert not (text[start - 1 : start].isalnum() and new.isalnum())
            assert not (text[stop : stop + 1].isalnum() and new.isalnum())
    assert marks


def test_constraints_and_protected_words_hold() -> None:
    lines = run("substitution(n=3)", limits=Limits(protect=("word:cat", "word:dog")), constraints=("stop-words",))
    for text, line in zip(TEXTS, lines, strict=True):
        for word in ("cat", "dog", "the", "a"):
            assert outcome(line)[1].split().count(word) >= text.split().count(word)
    assert sum(outcome(line)[1] != text for text, line in zip(TEXTS, lines, strict=True)) > 4
    near = run("substitution(within='swaps')", constraints=("edit-distance(most=3)",))
    free = run("substitution(within='swaps')")
    shorter = [outcome(a)[1] != outcome(b)[1] for a, b in zip(near, free, strict=True)]
    assert any(shorter) and not all(shorter)


def test_swaps_are_unknown_to_the_model() -> None:
    for unknown in (True, False):
        victim = Reader(whole=True, unknown=unknown)
        for line in run("substitution(within='swaps', n=5)", victim=victim):
            for _, start, stop, new in line["adversarial"]["edits"] if line["adversarial"] else []:
                assert new not in victim.vocabulary() and (not unknown or line["texts"][0][start:stop] in WORDS)


def test_a_victim_that_raises_on_a_text() -> None:
    class Picky(Reader):
        def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
            if any("child" in str(text) for text in texts):
                raise RuntimeError("no gradient here")
            return super().slopes(texts, targets)

    lines, usual = run("substitution", victim=Picky()), run("substitution")
    for text, line, other in zip(TEXTS, lines, usual, strict=True):
        if "child" in text:
            assert line["status"] == "error" and "no gradient here" in line["reason"]
        elif line["status"] == "error":  # a text on the way has it
            assert "no gradient here" in line["reason"] and text.strip()
        else:
            assert outcome(line)[:2] == outcome(other)[:2]


def test_gradients_that_are_no_numbers_are_an_error_of_their_text() -> None:
    class Broken(Reader):
        def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
            found = super().slopes(texts, targets)
            return [part * (np.nan if "child" in str(text) else 1) for text, part in zip(texts, found, strict=True)]

    lines = run("substitution(n=1)", victim=Broken())
    for text, line, other in zip(TEXTS, lines, run("substitution(n=1)"), strict=True):
        if "child" in text:
            assert line["status"] == "error" and "expected finite gradients from reader, got nan" in line["reason"]
        else:
            assert outcome(line) == outcome(other)


@dataclass(frozen=True)
class Wrong(Search):
    name: ClassVar[str] = "wrong"
    summary: ClassVar[str] = "yields a Slope, but is no substitution"

    def walk(self, view: View, dice: Dice) -> Walk:
        yield Slope([()], 1, 1)
        return ()


@dataclass(frozen=True)
class Mine(Search):
    name: ClassVar[str] = "mine"
    summary: ClassVar[str] = "a user's own search by gradients"
    needs: ClassVar[Access] = Access.GRADIENT
    slopes: ClassVar[bool] = True

    def walk(self, view: View, dice: Dice) -> Walk:
        (offer,) = yield Slope([()], 1, 1)
        state = tuple(offer.edits)
        yield Try([state])
        return state


def test_a_search_of_ones_own_may_yield_slopes() -> None:
    assert [outcome(line) for line in run(Mine())] == [outcome(line) for line in run("substitution(n=1)")]  # type: ignore[arg-type]


def test_a_slope_of_another_search_is_an_error() -> None:
    from scuff.attacks.attack import Attack

    attack = Attack.of("test", "", GOAL, ("typo",), Wrong())
    lines = attacked(reader(), data_of(["a dog"], [""], "text"), attack)
    assert lines[0]["status"] == "error" and "without slopes = True" in lines[0]["reason"]
    assert attacking(reader(), data_of(["a dog"], [""], "text"), attack).query is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "substitution(within='words')",
            "expected vocabulary, neighbours or swaps for substitution.within, got 'words'",
        ),
        ("substitution(n=0)", "expected a whole number of 1 or more for substitution.n, got 0"),
        ("substitution(beam=4)", "expected verify=4 or more for substitution.beam=4, got 0"),
        (
            "substitution(one_shot=True, verify=3)",
            "expected verify=0 with substitution.one_shot, which verifies nothing, got 3",
        ),
        ("substitution(sign=1)", "substitution.sign"),
    ],
)
def test_wrong_options(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        parse_search(spec)
    assert message in str(error.value)


# ---- the arithmetic ----

words = st.text(st.characters(exclude_categories=("Cs", "Z", "C")), min_size=1, max_size=12)
chances = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=6)


@given(words, st.sets(words, max_size=30), chances)
@settings(max_examples=300, deadline=None)
def test_char_swap_never_returns_a_word_of_the_vocabulary(word: str, known: set[str], random: list[float]) -> None:
    made = make_oov(word, known | {word}, random)
    assert made not in known and made != word
    letters, after = clusters(word), clusters(made)
    if sorted(after) == sorted(letters) and len(letters) > 3:  # swapped: the ends stay
        assert (after[0], after[-1]) == (letters[0], letters[-1])


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map("".join), chances)
@settings(max_examples=200, deadline=None)
def test_char_swap_is_that_of_the_appendix(word: str, random: list[float]) -> None:
    """Appendix A.1, letter by letter, with the same random numbers."""
    known = {
        "".join(letters) for letters in ("abc", "aabc", "abca", "abac", "abaca", "cabab", word, f"{word}{word[-1]}")
    }
    expected, length = word, len(word)
    found = None
    if length > 3:
        for number in random:
            pos = 1 + int(number * (length - 3))
            expected = expected[:pos] + expected[pos + 1] + expected[pos] + expected[pos + 2 :]
            if expected not in known:
                found = expected
                break
    if found is None:
        char = expected[-1]
        while expected in known:
            expected += char
        found = expected
    assert make_oov(word, known, random) == found


def test_letters_with_marks_are_swapped_whole() -> None:
    assert make_oov("cafe\u0301s", set(), [0.9]) == "cae\u0301fs"
    assert make_oov("ab", {"ab", "abb"}, [0.5]) == "abbb"


def test_gains_are_those_of_the_plain_formula() -> None:
    rng = np.random.default_rng(0)
    vectors, ids = rng.normal(size=(9, 4)).astype(np.float32), np.array([[1, 5, 8], [0, 0, 3]])
    slopes = rng.normal(size=(2, 3, 4)).astype(np.float32)
    slopes[0, 0, 0] = 0
    for sign in (False, True):
        found = gains(vectors, ids, slopes, sign)
        assert found.dtype == np.float32 and found.shape == (2, 3, 9)
        for row in range(2):
            for place in range(3):
                slope = np.sign(slopes[row, place]) if sign else slopes[row, place]
                plain = [(vectors[piece] - vectors[ids[row, place]]) @ slope for piece in range(9)]
                np.testing.assert_allclose(found[row, place], plain, atol=1e-5)
        some = gains(vectors, ids, slopes, sign, among=np.array([2, 7]))
        np.testing.assert_allclose(some, found[..., [2, 7]], atol=1e-5)
    assert signs(np.array([-2.0, 0.0, 3.0])).tolist() == [-1, 0, 1]


def test_gains_that_differ_in_their_last_digits_are_equal() -> None:
    """The first piece is taken then, so that batches do not decide."""
    rng = np.random.default_rng(1)
    gain = rng.integers(-9, 9, (50, 40)).astype(np.float32) / 8
    noisy = gain * (1 + rng.uniform(-1e-7, 1e-7, gain.shape)).astype(np.float32)
    assert (noisy != gain).any()
    for count in (1, 3, 12):
        (best, column), (_, other) = highest(rounded(gain), count), highest(rounded(noisy), count)
        assert (column == other).all()
        plain = [sorted(range(40), key=lambda at: (-row[at], at))[:count] for row in gain.tolist()]
        assert column.tolist() == plain
        np.testing.assert_allclose(best, np.take_along_axis(gain, column, 1), rtol=2e-6)
    assert rounded(np.array([-np.inf, 0, 1], np.float32)).tolist() == [-np.inf, 0, 1]


def test_kinds_of_pieces() -> None:
    surfaces = ["", "the", "ing", ".", "(", "\u0301", "a b", "👍", "🏽", "’s", "\u093f", "नि"]
    begins = np.array([piece in ("the", "(", "👍") for piece in surfaces])
    vocabulary = Vocabulary(surfaces, begins, 0, np.zeros((len(surfaces), 2), np.float32))
    found = [[surfaces[at] for at in vocabulary.pieces(kind).tolist()] for kind in range(4)]
    assert found == [["ing", "’s", "नि"], ["the"], ["."], ["(", "👍"]]  # blanks and parts of letters are in none


def test_neighbours_are_of_the_same_kind() -> None:
    vocabulary = reader().vocabulary()
    vectors = vocabulary.vectors
    both = [(begins, vocabulary.nearest(np.arange(len(vectors)), begins, 40)) for begins in (False, True)]
    for piece, begins, near in [(piece, begins, row) for begins, rows in both for piece, row in enumerate(rows)]:
        found = near[near >= 0]
        assert set(found.tolist()) == set(vocabulary.pieces(begins).tolist()) - {piece}
        cosine = vectors[found] @ vectors[piece] / np.linalg.norm(vectors[found], axis=1)
        assert (np.diff(cosine) <= 1e-6).all()
