"""The network of tier `context`: its features, its answers (those of torch, the same in any batch), what becomes of them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.resources import HERE, manifest
from scuff.shields import Corpus
from scuff.shields.lexicon import lexicon
from scuff.shields.restore import Restore
from scuff.shields.restore import features as ft
from scuff.shields.restore.candidates import candidates
from scuff.shields.restore.network import FILE, LENGTHS, Network, network, windows
from scuff.shields.restore.units import Units
from scuff.text.ragged import Ragged

ROOT = Path(__file__).parents[2]
NOISY = [
    "Teh qiuck bronw fox jmups oevr the lzay dog.",
    "I thnk that's a well-knwon film, isn't it?",
    "",
    "!?",
    "Th mst bautiful cty n th wrld",
    "word " * 150,
]


def read(texts: list[str]) -> tuple[Any, Any, Units]:
    units = Units.of(Corpus.of(texts))
    noisy = units.text
    lacked = np.flatnonzero(~lexicon().known(noisy))
    found = candidates(noisy.take(lacked))
    found = type(found)(lacked[found.of], found.word, found.channel, found.kind)
    flag, asked = network().read(noisy, np.arange(len(noisy)), found, units.spans.row, *units.gaps())
    return flag, asked, units


# ---- features ----

WORDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), max_size=6)


@given(WORDS)
def test_features_of_a_word_do_not_depend_on_other_words(words: list[str]) -> None:
    rows, first = ft.features(Ragged.of(words))
    for at, word in enumerate(words):
        alone = ft.features(Ragged.of([word]))[0]
        assert Counter(rows[first[at] : first[at + 1]].tolist()) == Counter(alone.tolist())
    assert rows.max(initial=0) < ft.ROWS


@given(st.text("abcdefgh", min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_a_shuffled_word_keeps_the_features_of_its_letters(word: str, dice: Any) -> None:
    letters = list(word)
    dice.shuffle(letters)
    bags = [
        sorted(row for row in ft.features(Ragged.of([each]))[0].tolist() if row < ft.BEGIN)
        for each in (word, "".join(letters))
    ]
    assert bags[0] == bags[1]


def test_hints_name_the_words_that_noise_can_have_come_from() -> None:
    noisy = ["hello", "hlelo", "ehlol", "bcs", "harmles", "hellp", "xqzzyw"]
    words = network().keys.words.strings()
    hints = [
        [words[number] for number in row if number >= 0] for row in network().keys.hints(Ragged.of(noisy)).tolist()
    ]
    assert all("hello" in hints[at] for at in (0, 1, 2, 5)) and hints[0][0] == "hello"
    assert "harmless" in hints[4]
    assert not hints[6]


def slow_near(noisy: str, words: set[str]) -> set[str]:
    def shorter(word: str) -> set[str]:
        return {word} | {word[:at] + word[at + 1 :] for at in range(len(word))}

    return {word for word in words if shorter(word) & shorter(noisy)}


@given(st.text("abc", min_size=1, max_size=5))
def test_near_words_share_what_is_left_without_a_letter(noisy: str) -> None:
    words = ["abc", "bca", "cab", "aab", "b", "ccc"]
    hints = ft.Keys(Ragged.of(words)).hints(Ragged.of([noisy]))[0, -ft.NEAR :].tolist()
    found, near = {words[at] for at in hints if at >= 0}, slow_near(noisy, set(words))
    assert found <= near and (len(found) == min(len(near), ft.NEAR))


def test_units_part_hyphens_and_possessives() -> None:
    units = Units.of(Corpus.of(["It's O'Neill's well-known dog.", "", "a--b"]))
    assert units.text.strings() == ["It", "O'Neill", "well", "known", "dog", "a", "b"]
    before, after = units.gaps()
    assert before[3] == after[2] == ft.gaps(Ragged.of(["-"]))[0]
    assert after[0] == ft.gaps(Ragged.of(["'s "]))[0] and after[4] == ft.gaps(Ragged.of(["."]))[0]


# ---- answers ----


@given(st.lists(st.integers(1, 400), min_size=1, max_size=8))
def test_windows_answer_for_every_word_once(counts: list[int]) -> None:
    count = np.array(counts)
    first = np.cumsum(count) - count
    seen = np.zeros(count.sum(), np.int64)
    text = np.repeat(np.arange(count.size), count)
    for length, start, size, low, high in windows(first, count):
        assert length in LENGTHS and (size <= length).all() and (high <= size).all()
        for a, n, b, c in zip(start, size, low, high, strict=True):
            assert np.unique(text[a : a + n]).size == 1, "a window stays inside its text"
            seen[a + b : a + c] += 1
    assert (seen == 1).all()


def test_a_text_is_read_the_same_alone_and_in_any_batch() -> None:
    texts = [*NOISY, "Ohter txets stadn here.", "one"]
    flag, asked, units = read(texts)
    for order in (list(range(len(texts)))[::-1], [1], [5], [4, 0]):
        other_flag, other_asked, other = read([texts[at] for at in order])
        mine = np.concatenate([np.flatnonzero(units.spans.row == at) for at in order])
        assert (flag[mine] == other_flag).all() and (asked[mine] == other_asked).all()
        assert (network().best(asked)[0][mine] == network().best(other_asked)[0]).all()
        assert other.text.strings() == [units.text.strings()[at] for at in mine]


def test_the_best_words_are_those_of_a_full_sort() -> None:
    net = network()
    asked = read(NOISY)[1][:50]
    words, scores = net.best(asked, 8)
    for query, found, score in zip(asked, words, scores, strict=True):
        every = net.weights["words"][: net.size] @ query + net.weights["common"][: net.size]
        assert np.allclose(np.sort(every)[::-1][:8], score, atol=2e-3)
        assert np.allclose(every[found], score, atol=2e-3)
    which = np.repeat(np.arange(len(asked)), 8)
    assert np.allclose(net.scores(asked, which, words.ravel()), scores.ravel(), atol=2e-3)


@pytest.mark.slow
def test_numpy_answers_as_torch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT / "build/shields"))
    import context
    import context_training as training
    import noise

    net = network()
    twin = training.Network().eval()
    twin.load_state_dict({name: torch.from_numpy(value) for name, value in net.weights.items()})
    pieces = [piece for text in NOISY[:5] for piece in noise._cut(text)]
    number = {word: at for at, word in enumerate(net.keys.words.strings())}
    batch = context.batch_of(pieces, [list(words) for words, _, _ in pieces], 32, net.keys, number)
    with torch.no_grad():
        flag, asked = twin(training.on(batch, "cpu"))
    real = batch.word >= 0
    mine_flag, mine_asked, _ = read(NOISY[:5])
    assert np.abs(flag.numpy()[real] - mine_flag).max() < 2e-3  # torch reads shares in half precision
    assert np.abs(asked.numpy()[real] - mine_asked).max() < 1e-4 * np.abs(mine_asked).max()
    for name in ("context", "noise", "context_training"):
        sys.modules.pop(name)


# ---- what ships ----


def test_the_shipped_weights_are_small() -> None:
    assert (HERE / "data" / FILE).stat().st_size < 10_000_000
    assert manifest()[FILE]["licence"]
    assert network().size == 49152


def test_weights_of_another_lexicon_are_refused() -> None:
    import io

    with np.load(io.BytesIO((HERE / "data" / FILE).read_bytes())) as file:
        found = {name: file[name] for name in file.files if name in ("words", "words.scale")}
    out = io.BytesIO()
    np.savez(out, lexicon=np.uint64(1), **found)
    with pytest.raises(ValueError, match="expected the lexicon"):
        Network.of(out.getvalue())


SHIELD = SimpleNamespace(context=Restore(tier="context"))


@pytest.mark.parametrize(
    ("noisy", "meant"),
    [
        ("The wheather is beautful todya.", "The weather is beautiful today."),
        ("She wnet to the hsopital yesetrday.", "She went to the hospital yesterday."),
        ("Th gvrnmnt hs nt yt dcdd.", "The government has not yet decided."),
        ("I recieved a leter form my mother.", "I received a letter from my mother."),
        ("THE GOVERMENT SIAD THAT TAXSE WILL RISE.", "THE GOVERNMENT SAID THAT TAXES WILL RISE."),
    ],
)
def test_context_mends(noisy: str, meant: str) -> None:
    assert SHIELD.context(Corpus.of([noisy])).strings() == [meant]


@pytest.mark.parametrize(
    "text",
    [
        "The weather is beautiful today, and nobody knows why.",
        "See https://example.org/hsopital or write to jhon@exmaple.com.",
        "Das ist ein ganz gewöhnlicher deutscher Satz ohne Fehler.",
        "Mr Okonkwo-Baird flew to Zürich on flight LX317.",
        "",
        "🙂 ... 12,345",
    ],
)
def test_context_leaves_what_is_right(text: str) -> None:
    assert SHIELD.context(Corpus.of([text])).strings() == [text]


def test_context_gives_the_same_text_alone_and_in_any_batch() -> None:
    texts = [*NOISY, "Ohter txets stadn here.", "one"]
    together = SHIELD.context(Corpus.of(texts)).strings()
    assert SHIELD.context(Corpus.of(texts[::-1])).strings() == together[::-1]
    assert [SHIELD.context(Corpus.of([text])).strings()[0] for text in texts] == together


@given(st.text(max_size=60))
def test_context_survives_any_text(text: str) -> None:
    once = SHIELD.context(Corpus.of([text]))
    assert len(once) == 1
