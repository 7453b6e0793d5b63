"""Constraints against slow, obvious versions and other tools, and that a verdict does not depend on the batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import scuff
from scuff.attacks.constraints import CONSTRAINTS, parse_constraint, speech
from scuff.attacks.constraints.base import Constraint
from scuff.attacks.constraints.meaning import Meaning
from scuff.attacks.constraints.speech import PartOfSpeech, windows
from scuff.attacks.constraints.words import Changed, edited_words
from scuff.evaluation.degrees import renumbered
from scuff.metrics.chrf import chrf
from scuff.metrics.meaning import distance_in_meaning
from scuff.resources import MissingResource
from scuff.text.corpus import Corpus
from scuff.text.edits import Edits
from scuff.text.ragged import Mask, Ragged
from strategies import texts

ATTACKS = ["typo", "typo(scope='text')", "homoglyph", "segment", "intrude(symbols=' -.')", "distraction"]
WORDS = ["the", "film", "was", "a", "boring", "story", "run", "runs", "quickly", "good", "they", "watch", "of", "zxqv"]
DEFAULTS = ["stop-words", "min-length", "changed", "edit-distance", "chrf", "pos", "pos(strict=False)"]
WINDOWS = {"meaning(window)": ", window=3", "meaning(skip_short)": ", window=3, skip_short=True"}


def versions(texts: list[str], attack: str, seed: int, many: int = 3) -> tuple[Corpus, Edits]:
    """Several perturbed versions of each text."""
    before = Corpus.of(texts).take(np.repeat(np.arange(len(texts)), many))
    draw = np.tile(np.arange(many), len(texts))
    return before, scuff.parse(attack).edits(before, 0.3, seed=seed, draw=draw).in_order()


def verdict(constraint: Constraint, before: Corpus, edits: Edits, rows: list[int] | None = None) -> Mask:
    """The verdict of a constraint on some versions, when called with these only."""
    if rows is not None:
        place = np.full(len(before), -1)
        place[rows] = np.arange(len(rows))
        before, edits = before.take(np.array(rows, np.int64)), renumbered(edits, place)
    return constraint(before, before.apply(edits), edits)


def swapped(text: str, *swaps: tuple[str, str]) -> tuple[Corpus, Edits]:
    """One text in which some words are replaced."""
    start = np.array([text.index(old) for old, _ in swaps], np.int64)
    stop = start + np.array([len(old) for old, _ in swaps], np.int64)
    row = np.zeros_like(start)
    return Corpus.of([text]), Edits(row, start, stop, Ragged.of([new for _, new in swaps]), start, row + 1).in_order()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("vectors") / "space.txt"
    path.write_text("good 1 0\ngreat 1 0.2\nbad -1 0\nfilm 0 1\nFilm 1 1\nmovie 0.6 0.8\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch, hf = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from huggingface.small import TINY, save, save_wordpieces

    path = tmp_path_factory.mktemp("encoder")
    torch.manual_seed(3)
    return save(hf.BertModel(hf.BertConfig(vocab_size=save_wordpieces(path), **TINY)), path)


@pytest.fixture(scope="module", params=[*DEFAULTS, "word-vectors", "meaning", *WINDOWS])
def constraint(request: pytest.FixtureRequest) -> Constraint:
    name = request.param
    if name.startswith("pos"):
        pytest.importorskip("lemminflect")
    if name == "word-vectors":
        return parse_constraint(f"word-vectors(file={request.getfixturevalue('vectors')!r})")
    if name.startswith("meaning"):
        return parse_constraint(
            f"meaning(encoder={request.getfixturevalue('encoder')!r}, least=0.9{WINDOWS.get(name, '')})"
        )
    return parse_constraint(name)


@given(texts)
def test_unchanged_texts_are_allowed(constraint: Constraint, texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    nothing = scuff.parse("typo").proposals(corpus, 0.5).where(np.empty(0, np.int64))
    assert verdict(constraint, corpus, nothing).tolist() == [True] * len(texts)
    assert constraint.sites(corpus, nothing).size == 0


@given(texts, st.sampled_from(ATTACKS), st.integers(0, 9), st.randoms(use_true_random=False))
def test_verdicts_do_not_depend_on_the_batch(
    constraint: Constraint, texts: list[str], attack: str, seed: int, order: Random
) -> None:
    before, edits = versions([*texts, "The film was good, they watch IT AGAIN. So did I!"], attack, seed)
    together = verdict(constraint, before, edits)
    assert together.dtype == np.bool_ and together.shape == (len(before),)
    rows = list(range(len(before)))
    order.shuffle(rows)
    middle = len(rows) // 3
    speech._known.clear()
    distance_in_meaning.cache_clear()
    assert verdict(constraint, before, edits, rows).tolist() == together[rows].tolist()
    for part in (rows[:middle], rows[middle:]):
        assert verdict(constraint, before, edits, part).tolist() == together[part].tolist()
    some = constraint.sites(before, edits)
    assert some.shape == (len(edits),) and some.dtype == np.bool_


def test_tokens(constraint: Constraint) -> None:
    before, _ = Corpus.of_tokens([["The", "film", "was", "n't", "good", "."], ["No", "-", "one", "!"], []])
    for attack in ("typo", "homoglyph"):
        edits = scuff.parse(attack).edits(before, 0.5).in_order()
        together = verdict(constraint, before, edits)
        assert together.tolist() == [bool(verdict(constraint, before, edits, [row])[0]) for row in range(3)]
        assert together[2]


@given(texts, st.sampled_from(ATTACKS), st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.integers(0, 3))
def test_changed_words_are_counted(texts: list[str], attack: str, share: float, floor: int) -> None:
    before, edits = versions(texts, attack, floor)
    count = [0] * len(before)
    total = before.words.per_row(len(before)).tolist()
    row, at = before.place(before.words.row, before.words.start)
    size = (before.words.stop - before.words.start).tolist()
    for word, begin, length in zip(row.tolist(), at.tolist(), size, strict=True):
        beside = [
            (edits.start[i] - 1, edits.stop[i] + 1)
            if not edits.text.lengths[i] or edits.start[i] == edits.stop[i]
            else (edits.start[i], edits.stop[i])
            for i in np.flatnonzero(edits.row == word)
        ]
        count[word] += any(low < begin + length and begin < high for low, high in beside)
    limits = [max(floor, int(share * words + 1e-9)) for words in total]
    expected = [one <= most for one, most in zip(count, limits, strict=True)]
    assert verdict(Changed(share, floor), before, edits).tolist() == expected


def test_no_site_where_no_word_may_change() -> None:
    corpus = Corpus.of(["nine words are too few for one to change", "but here there are ten of them so one can"])
    edits = scuff.parse("typo").proposals(corpus, 0.5)
    assert (Changed().sites(corpus, edits) == (edits.row == 1)).all()
    assert Changed(floor=1).sites(corpus, edits).all()


@given(texts, st.sampled_from(ATTACKS), st.integers(0, 9))
def test_characters_as_in_other_tools(texts: list[str], attack: str, most: int) -> None:
    before, edits = versions(texts, attack, most)
    old, new = before.strings(), before.apply(edits).strings()
    away = [Levenshtein.distance(a, b) <= most for a, b in zip(old, new, strict=True)]
    assert verdict(parse_constraint(f"edit-distance(most={most})"), before, edits).tolist() == away
    least = 0.05 + most / 10
    found = verdict(parse_constraint(f"chrf(least={least})"), before, edits).tolist()
    for a, b, score, mine in zip(old, new, chrf(new, old), found, strict=True):
        assert mine == (a == b or score >= least) or abs(score - least) < 1e-6


def spared(constraint: str, text: str) -> list[str]:
    """The words that a constraint does not let change."""
    corpus = Corpus.of([text])
    start = corpus.words.start
    edits = Edits(start * 0, start, corpus.words.stop, Ragged.of(["x"] * start.size), start, start * 0 + 1)
    fixed = ~parse_constraint(constraint).sites(corpus, edits)
    return [word for word, stays in zip(corpus.cut(corpus.words).strings(), fixed, strict=True) if stays]


def test_stop_words(tmp_path: Path) -> None:
    text = "I DON’T like THE film, it's too long for them"
    assert spared("stop-words", text) == ["I", "DON’T", "THE", "it's", "too", "for", "them"]
    mine = tmp_path / "mine.txt"
    mine.write_text("Film\n\n  don't \nÜBER\n", encoding="utf-8")
    assert spared(f"stop-words(file={str(mine)!r})", f"{text} über") == ["DON’T", "film", "über"]
    mine.write_text("two words\n")
    with pytest.raises(ValueError, match=r"mine\.txt: line 1: expected one word, got 'two words'"):
        spared(f"stop-words(file={str(mine)!r})", text)
    with pytest.raises(FileNotFoundError, match=r"expected words, one per line, for stop-words\.file, got no file"):
        spared("stop-words(file='nowhere')", text)


def test_stop_words_may_not_be_glued() -> None:
    corpus = Corpus.of(["see the cats run"])
    edits = scuff.parse("segment").proposals(corpus, 1)
    assert parse_constraint("stop-words").sites(corpus, edits).tolist() == [False, False, True]


def test_short_words() -> None:
    assert spared("min-length", "e-m's don't cafe\u0301 cafe x2 long4") == ["e-m's", "x2"]
    assert spared("min-length(letters=1)", "a bc") == []


@pytest.mark.parametrize(
    ("text", "swaps", "strict", "allowed"),
    [
        ("The film was good.", [("film", "movie")], True, True),
        ("The film was good.", [("film", "quickly")], False, False),
        ("They watch the film.", [("watch", "film")], True, True),  # a verb there
        ("He likes to run.", [("likes", "love")], True, True),
        ("The run was good.", [("run", "eaten")], True, False),
        ("The dog barks loudly.", [("barks", "noise")], True, False),
        ("The dog barks loudly.", [("barks", "noise")], False, True),
        ("WE SAW A BORING FILM", [("BORING", "tedious"), ("FILM", "M0VIE")], True, True),
        ("I don't like it.", [("don't", "didn't")], True, True),
        ("A well-known film.", [("well-known", "well-made")], True, True),
        ("The film was good.", [("film", "")], True, False),
        ("The film was good.", [("film was", "movie was")], True, False),  # was is gone
        ("The film was good.", [("film", " ")], True, False),
    ],
)
def test_parts_of_speech(text: str, swaps: list[tuple[str, str]], strict: bool, allowed: bool) -> None:
    pytest.importorskip("lemminflect")
    assert verdict(PartOfSpeech(strict), *swapped(text, *swaps)).tolist() == [allowed]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=14),
    st.dictionaries(st.integers(0, 13), st.sampled_from(WORDS)),
)
def test_parts_of_speech_one_by_one(words: list[str], new: dict[int, str]) -> None:
    tagger = pytest.importorskip("scuff.english.tagger")
    pytest.importorskip("lemminflect")
    new = {at: word for at, word in new.items() if at < len(words)}
    changed = [new.get(at, word) for at, word in enumerate(words)]

    def tag(words: list[str], at: int) -> str:
        low = max(0, at - 4)
        return tagger.UNIVERSAL[tagger.tag_words([words[low : at + 5]])[0][at - low]]

    expected = all(tag(words, at) == tag(changed, at) for at in new)
    before = Corpus.of([" ".join(words)])
    spans = before.words.where(np.array(sorted(new), np.int64))
    text = Ragged.of([new[at] for at in sorted(new)])
    edits = Edits(spans.row, spans.start, spans.stop, text, spans.start, spans.start * 0 + 1)
    assert verdict(PartOfSpeech(), before, edits).tolist() == [expected]


def test_windows() -> None:
    before, edits = swapped(
        "Look, @someone can't go. See e-mail/post now", ("someone", "x y"), ("can't", "ca n't"), ("post", "pst")
    )
    was, number, now = windows(before, before.apply(edits), *edited_words(before, edits))
    first = ("Look", ",", "@someone", "ca", "n't", "go", ".")
    assert was == [((*first[:7],), 2), (first, 3), (("See", "e", "-", "mail", "/", "post", "now")[1:], 4)]
    assert number == [0, 1, 2]
    both = ("Look", ",", "@x", "y", "ca", "n't", "go", ".")
    assert now == [(both, 2), (both, 4), (("e", "-", "mail", "/", "pst", "now"), 4)]


def test_old_windows_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lemminflect")
    monkeypatch.setattr(speech, "REMEMBERED", 1)
    for new, allowed in (("movie", True), ("quickly", False)) * 2:
        assert verdict(PartOfSpeech(), *swapped("The film was good.", ("film", new))).tolist() == [allowed]
        assert len(speech._known) <= 2


@pytest.mark.parametrize(
    ("swap", "allowed"),
    [
        (("good", "great"), True),
        (("good", "GREAT"), True),
        (("good", "bad"), False),
        (("film", "movie"), True),
        (("Film", "movie"), True),
        (("good", "guud"), True),  # unknown
        (("was", "good"), True),
        (("good", ""), False),
    ],
)
def test_word_vectors(vectors: str, swap: tuple[str, str], allowed: bool) -> None:
    near = parse_constraint(f"word-vectors(file={vectors!r}, least=0.79)")
    assert verdict(near, *swapped("Film was a good film", swap)).tolist() == [allowed]


def test_files_of_vectors(tmp_path: Path) -> None:
    with pytest.raises(MissingResource, match=r"needs a file of vectors: word-vectors\(file='FILE'\)"):
        verdict(parse_constraint("word-vectors"), *swapped("good", ("good", "bad")))
    listed = tmp_path / "near.tsv"
    listed.write_text("good\tgreat nice\n")
    with pytest.raises(ValueError, match=r"expected a file of vectors for word-vectors\.file, got lists of neighbours"):
        verdict(parse_constraint(f"word-vectors(file={str(listed)!r})"), *swapped("good", ("good", "bad")))


WAYS: dict[str, Callable[[float], float]] = {
    "cosine": lambda x: x,
    "angular": lambda x: 1 - float(np.arccos(x)) / np.pi,
}


@pytest.mark.parametrize("by", WAYS)
def test_meaning_is_the_similarity_of_the_encoder(encoder: str, by: str) -> None:
    from scuff.huggingface.encoder import Encoder

    before, edits = versions(
        ["the cat sat on a mat", "not a good film, was it?", "", "it is a very bad old film"], "typo", 1
    )
    old, new = before.strings(), before.apply(edits).strings()
    one, other = Encoder.load(encoder)(old), Encoder.load(encoder)(new)
    expected = np.array([WAYS[by](min(1.0, cosine)) for cosine in (one.astype(np.float64) * other).sum(1)])
    far = Meaning(by=by, encoder=encoder)
    found = far.similarity(old, new)
    differ = np.array(old) != np.array(new)
    np.testing.assert_allclose(found[differ], expected[differ], atol=1e-3)
    assert (found[~differ] == 1).all() and differ.any()
    for least in (0.5, 0.8, 0.95, 1.0):
        assert (verdict(Meaning(least, by, encoder), before, edits) == (found >= least)).all()


def test_meaning_in_a_window(encoder: str) -> None:
    text = " ".join(WORDS[:10])
    near, least = Meaning(0.9, "cosine", encoder, window=3), 0.9
    for at, (begin, end) in {0: (0, 3), 1: (0, 3), 5: (4, 7), 9: (7, 10)}.items():
        for new in ("cat", "unbelievable dogs", "bad"):
            parts = WORDS[begin:end], [new if at == i else WORDS[i] for i in range(begin, end)]
            expected = near.similarity(*([" ".join(part)] for part in parts))[0] >= least
            start, swap = len(" ".join(WORDS[:at])) + (at > 0), Ragged.of([new])
            place = np.array([start])
            edits = Edits(place * 0, place, place + len(WORDS[at]), swap, place, place)
            assert verdict(near, Corpus.of([text]), edits)[0] == expected
    whole = Meaning(0.9, "cosine", encoder, window=10)
    before, edits = versions([text], "typo", 2, many=9)
    assert (verdict(whole, before, edits) == verdict(Meaning(0.9, "cosine", encoder), before, edits)).all()


def test_short_texts_can_be_skipped(encoder: str) -> None:
    before, edits = versions([" ".join(WORDS[:length]) for length in (4, 5, 6)], "typo", 2, many=5)
    whole = verdict(Meaning(0.99, "cosine", encoder, window=5), before, edits)
    found = verdict(Meaning(0.99, "cosine", encoder, window=5, skip_short=True), before, edits)
    short = before.words.per_row(len(before)) < 5
    assert found[short].all() and not whole[short].all() and short.any() and (found[~short] == whole[~short]).all()


def test_names() -> None:
    assert list(CONSTRAINTS)[-1] == "meaning" and all(
        kind.name == name and kind.summary for name, kind in CONSTRAINTS.items()
    )


@pytest.mark.parametrize(
    "spec",
    [*CONSTRAINTS, "changed(share=0.2, floor=4)", "stop-words(file='a.txt')", "min-length(letters=2)", "edit-distance(most=0)",
     "chrf(least=0.9)", "pos(strict=False)", "meaning(least=0.9, by='cosine', encoder='x/y', window=15, skip_short=True)",
     "word-vectors(least=0.8, file='v.gz')"],
)  # fmt: skip
def test_specs(spec: str) -> None:
    found = parse_constraint(spec)
    assert found.spec == spec and parse_constraint(found.spec) == found


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("position", "expected the name of a constraint, got 'position'; did you mean"),
        ("pos(tag=1)", "expected strict for pos, got 'tag'"),
        ("pos(strict=1)", "expected True or False for pos.strict, got 1"),
        ("changed(share=2)", r"expected a number in \[0, 1\] for changed.share, got 2"),
        ("changed(floor=-1)", "expected a whole number from 0 for changed.floor, got -1"),
        ("changed(floor=1.5)", "expected a whole number from 0 for changed.floor, got 1.5"),
        ("stop-words(file='')", "expected the name of a file for stop-words.file, got ''"),
        ("min-length(letters=0)", "expected a whole number from 1 for min-length.letters, got 0"),
        ("edit-distance(most=True)", "expected a whole number from 0 for edit-distance.most, got True"),
        ("chrf(least='high')", r"expected a number in \[0, 1\] for chrf.least, got 'high'"),
        ("meaning(by='dot')", "expected angular or cosine for meaning.by, got 'dot'"),
        ("meaning(least=1.1)", r"expected a number in \[0, 1\] for meaning.least, got 1.1"),
        ("meaning(encoder=3)", "expected minilm, a folder or an id for meaning.encoder, got 3"),
        ("meaning(window=-1)", "expected a whole number from 0 for meaning.window, got -1"),
        ("meaning(window=15, skip_short=1)", "expected True or False for meaning.skip_short, got 1"),
        ("meaning(skip_short=True)", "expected a window for meaning.skip_short, .* got none"),
        ("word-vectors(least=None)", r"expected a number in \[-1, 1\] for word-vectors.least, got None"),
        ("word-vectors(file=3)", "expected the name of a file for word-vectors.file, got 3"),
    ],
)  # fmt: skip
def test_wrong_options(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_constraint(spec)
