"""Training of translators: it learns, the adversarial loss is eq. (5), substitutions are the best ones, same seed, same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")

from scuff.training.adversarial import AdversarialSources, Resegmentation
from scuff.training.translation import AHEAD, Corpus, Schedule, Training, train_translator
from scuff.translators.network import Batch, Sizes, nll
from scuff.translators.translator import Translator, load
from scuff.translators.vocabulary import UNKNOWN, split
from scuff.victims.substitution import Vocabulary, gains
from translators.tiny import SIZES, pairs, untrained

PAIRS, DEV = pairs(60), pairs(20, seed=9)
SCHEDULE = Schedule(rate=1e-2, epochs=1, batch_tokens=128)


def training(
    adversarial: str | None, alpha: float = 1.0, architecture: str = "lstm", pieces: str = "words"
) -> Training:
    translator = untrained(architecture, pieces)
    return Training(translator, SCHEDULE, PAIRS, DEV, adversarial, alpha, 3, 0)


@pytest.mark.parametrize(("architecture", "epochs", "least"), [("lstm", 4, 60), ("transformer", 8, 35)])
def test_it_learns_to_translate(architecture: str, epochs: int, least: float, tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    schedule = Schedule(rate=1e-2, epochs=epochs, batch_tokens=256, smoothing=0.0)
    metrics = train_translator(
        pairs(400), DEV, tmp_path / "model", architecture=architecture, device="cpu", test=pairs(20, seed=5),
        sizes=Sizes(32, 64, 1, dropout=0.0), schedule=schedule, show=seen.append,
    )  # fmt: skip
    assert metrics["test"]["chrf"] > least and metrics["test"]["chrf_signature"].startswith("nrefs:1|case:mixed")
    assert metrics == json.loads((tmp_path / "model" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["epochs"] == seen and seen[-1]["train_loss"] < seen[0]["train_loss"]
    best = max(seen, key=lambda epoch: epoch["chrf"])
    assert metrics["dev"]["epoch"] == best["epoch"]
    translator = load(tmp_path / "model", device="cpu")
    kept = Training(translator, SCHEDULE, PAIRS, DEV, None, 1, 3, 0).measure()
    assert kept["chrf"] == best["chrf"]  # the best epoch was saved, not the last


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    def weights(folder: str, seed: int) -> bytes:
        options: dict[str, Any] = {"adversarial": "vocabulary", "alpha": 0.5, "sizes": SIZES["lstm"]}
        train_translator(PAIRS, DEV[:3], tmp_path / folder, schedule=SCHEDULE, device="cpu", seed=seed, **options)
        return (tmp_path / folder / "model.safetensors").read_bytes()

    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first = weights("a", 0)
    assert (torch.random.get_rng_state() == before).all()  # the user's randomness is left alone
    torch.rand(3)
    assert weights("b", 0) == first
    assert weights("c", 1) != first


def test_batches_are_full_sorted_and_shuffled() -> None:
    corpus = Corpus(untrained("lstm"), PAIRS)
    batches = corpus.batches(64, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(PAIRS)))
    for rows in batches:
        assert (np.diff(corpus.length[rows]) <= 0).all()
        assert len(rows) * max(corpus.length[rows].max(), corpus.wanted[rows].max()) <= 64
    others = corpus.batches(64, np.random.default_rng(1))
    assert [rows.tolist() for rows in batches] != [rows.tolist() for rows in others]
    assert len(batches) < 12


@pytest.mark.parametrize("kind", ["vocabulary", "swaps"])
@pytest.mark.parametrize("pieces", ["words", "bpe"])
@pytest.mark.parametrize("ahead", [1, 3])
def test_the_loss_is_eq_5(kind: str, pieces: str, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """(1 - alpha) NLL(x, y) + alpha NLL(x_adv, y), whatever number of batches is attacked at once."""
    monkeypatch.setitem(AHEAD, "cpu", ahead)
    alpha = 0.3
    both, only = training(kind, alpha, pieces=pieces), training(kind, 1.0, pieces=pieces)
    batches = both.corpus.batches(128, np.random.default_rng(0))
    order = both.grouped(batches, ahead)
    assert sorted(rows.tolist() for rows in order) == sorted(rows.tolist() for rows in batches)
    with torch.no_grad(), both.network.steady():
        for rows, mixed, changed in zip(order, both.inputs(batches), only.inputs(batches), strict=True):
            clean = both.corpus.take(rows, torch.from_numpy(rows))
            assert mixed[3] == changed[3] == both.corpus.wanted[rows].sum()
            assert changed[2] is None and len(changed[0].ids) == len(rows) and len(mixed[0].ids) == 2 * len(rows)
            wanted = (1 - alpha) * loss(both, *clean).sum() + alpha * loss(both, *changed[:2]).sum()
            assert float((loss(both, *mixed[:2]) * mixed[2]).sum()) == pytest.approx(float(wanted), rel=1e-5)
            assert float(loss(both, *changed[:2]).sum()) != pytest.approx(float(loss(both, *clean).sum()), rel=1e-3)


def loss(run: Training, batch: Batch, target: Any) -> Any:
    return nll(run.network(run.network.embed(batch.ids), batch, target[:, :-1]), target[:, 1:])


def expected(translator: Translator, kind: str, text: str, reference: str) -> dict[int, int]:
    """The three best places of a text and their pieces, one candidate after the other."""
    vectors, source = translator.vectors(), translator.source
    ids = translator.rows([text])[0].ids
    slopes = np.sign(translator.slopes([text], [reference])[0])

    def sort(piece: int) -> tuple[bool, bool]:
        """Whether a piece begins a word, and whether it is a mark."""
        if piece == UNKNOWN:
            return source.kind == "words", False
        return bool(source.begins[piece]), not any(map(str.isalnum, source.surfaces[piece]))

    best = {}
    for place, old in enumerate(ids.tolist()):
        if kind == "swaps":
            candidates = [UNKNOWN] if source.begins[old] and old != UNKNOWN else []
        else:
            candidates = [
                new for new in range(len(source))
                if source.surfaces[new] and new != old and sort(new) == sort(old)
            ]  # fmt: skip
        found = [(float(slopes[place] @ (vectors[new] - vectors[old])), new) for new in candidates]
        if found:
            best[place] = max(found)
    return {place: best[place][1] for place in sorted(best, key=lambda place: -best[place][0])[:3]}


@pytest.mark.parametrize(("kind", "pieces"), [("vocabulary", "words"), ("vocabulary", "bpe"), ("swaps", "words")])
def test_the_best_three_places_are_substituted(kind: str, pieces: str) -> None:
    translator = untrained("lstm", pieces)
    corpus, substitution = Corpus(translator, PAIRS), AdversarialSources(translator, kind, 3)
    rows = corpus.batches(100_000)[0]
    batch, target = corpus.take(rows, torch.from_numpy(rows))
    chosen, piece = substitution.places(batch, target, corpus.wanted[rows])
    for at, row in enumerate(rows.tolist()):
        slow = expected(translator, kind, *PAIRS[row])
        places = torch.nonzero(chosen[at])[:, 0].tolist()
        assert {place: int(piece[at, place]) for place in places} == slow


def test_the_gain_of_a_swap_is_that_of_the_unknown_piece() -> None:
    translator = untrained("transformer")
    vectors, generator = translator.network.vectors(), torch.Generator().manual_seed(0)
    ids = torch.randint(4, len(vectors), (2, 5), generator=generator)
    slopes = torch.randn(2, 5, vectors.shape[1], generator=generator)
    known = AdversarialSources(translator, "swaps")
    gain, _ = known._swap(vectors, ids, slopes)
    all_of_them = gains(vectors, ids, slopes, sign=True)[..., UNKNOWN]
    torch.testing.assert_close(gain, all_of_them.masked_fill(~known.swappable[ids], -torch.inf))


def test_swaps_of_subwords_are_cut_again() -> None:
    """Splicing equals swapping in the text and cutting the whole text again; one swap in each word."""
    translator = untrained("lstm", "bpe")
    texts = [source for source, _ in PAIRS]
    rows = translator.rows(texts)
    source = translator.source
    vocabulary = Vocabulary(source.surfaces, source.begins, source.unknown, translator.vectors())
    swaps = Resegmentation(translator, vocabulary, texts, rows, seed=0)
    chance = np.random.default_rng(0)
    width = max(len(row.ids) for row in rows)
    ids, chosen = np.zeros((len(rows), width), np.int64), np.zeros((len(rows), width), np.bool_)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = row.ids
        chosen[at, : len(row.ids)] = chance.random(len(row.ids)) < 0.4
    changed = 0
    for at, found in enumerate(swaps.splice(np.arange(len(rows)), ids, chosen)):
        slow: list[int] = []
        places = range(swaps.edges[at], swaps.edges[at + 1])
        for word in range(len(split(texts[at]))):
            here = [place for place in places if swaps.word[place] == word]
            hit = next((place for place in here if chosen[at, place - swaps.edges[at]]), None)
            if hit is None:
                slow += [int(ids[at, place - swaps.edges[at]]) for place in here]
            else:
                entry = swaps.entry[hit]
                slow += swaps.flat[swaps.begin[entry] : swaps.begin[entry + 1]].tolist()
        assert found.tolist() == slow
        again = "".join(translator.source.surfaces[piece] or "?" for piece in slow)
        changed += again != "".join(texts[at].split())
    assert changed > 40


def test_seconds_limit_the_epochs(tmp_path: Path) -> None:
    schedule = Schedule(rate=1e-2, epochs=50, batch_tokens=128)
    sizes = SIZES["lstm"]
    metrics = train_translator(
        PAIRS, DEV[:3], tmp_path, seconds=1e-3, schedule=schedule, sizes=sizes, device="cpu"
    )  # fmt: skip
    assert len(metrics["epochs"]) == 1


@pytest.mark.parametrize(("limit", "planned"), [(60, 5), (59.9, 4), (1e6, 9), (3, 1)])
def test_as_many_epochs_are_planned_as_fit(limit: float, planned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time of the first epoch, its measures included; the learning rate then ends at 0 after them."""
    now, plans = [0.0], []

    class Timed(Training):
        def epoch(self, epoch: int, planned: int) -> float:
            plans.append(planned)
            now[0] += 10
            return super().epoch(epoch, planned)

        def measure(self) -> dict[str, float]:
            now[0] += 2
            return super().measure()

    schedule = Schedule(rate=1e-2, epochs=9, batch_tokens=512, patience=9)
    run = Timed(untrained("lstm"), schedule, PAIRS[:9], DEV[:2], None, 1, 3, 0)
    monkeypatch.setattr("scuff.training.translation.time", SimpleNamespace(perf_counter=lambda: now[0]))
    assert [epoch["seconds"] for epoch in run.run(limit, None)] == [10] * planned
    assert plans == [9, *[planned] * (planned - 1)]


def test_epochs_that_become_slow_end_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(0, 10_000))
    run = training(None)
    run.schedule = Schedule(epochs=9, batch_tokens=512, patience=9)
    clock = SimpleNamespace(perf_counter=lambda: float(next(ticks) ** 2))  # each epoch takes longer
    monkeypatch.setattr("scuff.training.translation.time", clock)
    assert 1 < len(run.run(60.0, None)) < int(60 / 9)  # 9: the time until the first epoch was measured


def test_the_learning_rate_rises_and_falls() -> None:
    assert [Schedule(rate=1, warmup=0.5).at(progress) for progress in (0, 0.25, 0.5, 0.75, 1)] == [0, 0.5, 1, 0.5, 0]
    assert [Schedule(rate=1, warmup=0).at(progress) for progress in (0, 0.5, 1)] == [1, 0.5, 0]
    assert [Schedule(rate=1, warmup=1).at(progress) for progress in (0, 0.5, 1)] == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("build", "wrong", "message"),
    [
        (Schedule, {"rate": 0}, "a number above 0 for schedule.rate, got 0"),
        (Schedule, {"epochs": 0}, "a whole number from 1 for schedule.epochs, got 0"),
        (Schedule, {"batch_tokens": 0}, "a whole number from 1 for schedule.batch_tokens, got 0"),
        (Schedule, {"patience": 0}, "a whole number from 1 for schedule.patience, got 0"),
        (Schedule, {"warmup": 1.5}, "a number in [0, 1] for schedule.warmup, got 1.5"),
        (Schedule, {"smoothing": -1}, "a number in [0, 1] for schedule.smoothing, got -1"),
        (Schedule, {"clip": 0}, "a number above 0 for schedule.clip, got 0"),
        (Sizes, {"embedding": 0}, "a whole number from 1 for sizes.embedding, got 0"),
        (Sizes, {"layers": 1.5}, "a whole number from 1 for sizes.layers, got 1.5"),
        (Sizes, {"heads": 0}, "a whole number from 1 for sizes.heads, got 0"),
        (Sizes, {"dropout": 1.0}, "a number in [0, 0.99] for sizes.dropout, got 1.0"),
    ],
)
def test_schedules_and_sizes_are_checked(build: Any, wrong: dict[str, Any], message: str) -> None:
    usual = {"embedding": 4, "hidden": 4, "layers": 1} if build is Sizes else {}
    with pytest.raises(ValueError, match=f"^expected {re.escape(message)}$"):
        build(**{**usual, **wrong})


@pytest.fixture
def no_files(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "model"
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"architecture": "gru"}, "expected one of lstm, transformer for architecture, got 'gru'"),
        ({"pieces": "letters"}, "expected one of words, bpe for pieces, got 'letters'"),
        ({"adversarial": "knn"}, "expected one of None, vocabulary, swaps for adversarial, got 'knn'"),
        ({"alpha": 2.0, "adversarial": "swaps"}, "expected a number above 0 and up to 1 for alpha, got 2.0"),
        ({"alpha": 0, "adversarial": "swaps"}, "expected a number above 0 and up to 1 for alpha, got 0"),
        ({"alpha": 0.5}, "expected vocabulary or swaps for adversarial, since alpha is 0.5, got None"),
        ({"substitutions": 3}, "expected vocabulary or swaps for adversarial, since substitutions is 3, got None"),
        ({"substitutions": 0, "adversarial": "swaps"}, "expected a whole number from 1 for substitutions, got 0"),
        ({"vocabulary": 0}, "expected a whole number from 5 for vocabulary, got 0"),
        ({"vocabulary": 0, "pieces": "bpe"}, "expected a whole number from 1 for vocabulary, got 0"),
        ({"seconds": 0}, "expected a number above 0 for seconds, got 0"),
        ({"seed": -1}, "expected a whole number from 0 for seed, got -1"),
        ({"dev": []}, "expected pairs to train on and a dev part, got 60 and 0"),
    ],
)
def test_wrong_options_are_named(wrong: dict[str, Any], message: str, no_files: Path) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        train_translator(PAIRS, wrong.pop("dev", DEV), no_files, **wrong)
