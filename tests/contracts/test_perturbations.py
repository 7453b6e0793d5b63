"""What every perturbation must hold. A new one joins by its line in scuff.perturbations.names.NAMES, a user's own by a spec."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reference import slow, slow_respell
from scuff.perturbations import blocks
from scuff.perturbations.base import LEVELS, Perturbation
from scuff.perturbations.blocks import Tally
from scuff.perturbations.names import NAMES, parse
from scuff.perturbations.plan import Plan
from scuff.text.corpus import Corpus
from scuff.text.random import Rng
from strategies import seed, strength, text, texts

slow.PERTURBATIONS |= {"natural": slow_respell.natural, "phonetic": slow_respell.phonetic}
WHOLE = {"segment": slow.segment, "visual": slow.visual}
ERRORS = Path(__file__).parents[1] / "reference" / "errors.tsv"
NEAR = Path(__file__).parents[1] / "reference" / "neighbours.tsv"
GIVEN = {"embedding": f"embedding(file={str(NEAR)!r})"}  # perturbations that need a file
# random text would take these minutes: their tests are in tests/perturbations and tests/huggingface
NETWORKS = ("contextual", "paraphrase")
SHIPPED = [GIVEN.get(name, name) for name in NAMES if name not in NETWORKS]
OWN = ["contracts.own:Shout", "contracts.own:Shout(loud=True)", "contracts.own:EchoWord"]
SPECS = [*SHIPPED, *OWN]
COMBINED = [
    *SPECS,
    f"natural(errors={str(ERRORS)!r}, listed=True)",
    f"natural(errors={str(ERRORS)!r})",
    "visual(scope='words', choice='likeness')",
    "visual(scope='words', at_least_one=False)",
    "keyboard(at_least_one=False)",
    "intrude(at_least_one=False)",
    "phonetic(listed=True, choice='best')",
    "homoglyph(budget=2)",
    "intrude|truncate|segment",
    "inner-shuffle+segment+keyboard",
    "disemvowel|intrude+full-shuffle|truncate",
    "typo(scope='text')",
    "glyph(scope='text')",
    "phonetic(slight=True)",
    "phonetic(phi=0.7)",
    "synonym(multiword=True, fit=0)",
    f"embedding(file={str(NEAR)!r}, tagger=False)",
    "distraction(words=('red', 'Blue'))",
    "keyboard+distraction+typo",
    "distraction|truncate",
    "keyboard|contracts.own:Shout",
    "contracts.own:EchoWord+contracts.own:Shout",
]

perturbations = pytest.mark.parametrize("perturbation", [parse(spec) for spec in SPECS], ids=lambda a: a.name)
all_perturbations = pytest.mark.parametrize("perturbation", [parse(spec) for spec in COMBINED], ids=lambda a: a.name)
selections = st.sampled_from([None, "quota", "coin", "each"])


@all_perturbations
@given(texts, seed)
def test_zero_strength_is_identity(perturbation: Perturbation, texts: list[str], seed: int) -> None:
    assert scuff.perturb(texts, perturbation, 0, seed=seed) == texts


@all_perturbations
@given(texts, strength, seed, selections)
def test_edits_tell_all(
    perturbation: Perturbation, texts: list[str], p: float, seed: int, selection: str | None
) -> None:
    """Text outside the edits is identical, the edits give the output, and they invert; each really changes something."""
    new, edits = scuff.perturb(texts, perturbation, p, seed=seed, selection=selection, return_edits=True)
    for before, after, changes in zip(texts, new, edits, strict=True):
        assert slow.splice(before, [(e.start, e.stop, e.new) for e in changes]) == after
        assert all(before[e.start : e.stop] == e.old != e.new for e in changes)
    corpus = Corpus.of(texts)
    raw = perturbation.edits(corpus, p, seed=seed, selection=selection)
    assert corpus.apply(raw).apply(raw.inverse(corpus)).strings() == texts


@all_perturbations
@given(texts, strength, seed, st.integers(1, 40), st.randoms())
def test_neither_order_nor_blocks_nor_neighbours_matter(
    perturbation: Perturbation, texts: list[str], p: float, seed: int, block: int, shuffler: random.Random
) -> None:
    wanted = dict(zip(texts, scuff.perturb(texts, perturbation, p, seed=seed), strict=True))
    shuffled = texts * 2
    shuffler.shuffle(shuffled)
    usual, blocks.BLOCK = blocks.BLOCK, block
    try:
        assert scuff.perturb(shuffled, perturbation, p, seed=seed) == [wanted[text] for text in shuffled]
    finally:
        blocks.BLOCK = usual


@pytest.mark.parametrize("name", [name for name in SPECS if name in WHOLE or name in slow.PERTURBATIONS])
@given(text, strength, seed, st.integers(0, 3))
def test_same_as_the_slow_version(name: str, text: str, p: float, seed: int, draw: int) -> None:
    fast = scuff.perturb(text, name, p, seed=seed, draw=draw)
    if name in WHOLE:
        assert fast == WHOLE[name](text, p, seed, draw)
    else:
        assert fast == slow.perturb(text, name, p, seed, draw)


@perturbations
@given(text, strength, seed)
def test_quota_is_met_or_everything_was_tried(perturbation: Perturbation, text: str, p: float, seed: int) -> None:
    corpus = Corpus.of([text])
    rng = Rng.for_draws(corpus.keys, 0, seed, perturbation.name)
    able = len(perturbation.propose(corpus, rng).within(None, rng))  # of edits that overlap only one can be made
    total = len(perturbation.units(corpus))
    chosen = perturbation.edits(corpus, p, seed=seed, selection="quota")
    assert len(chosen) == min(able, math.ceil(total * p - 1e-9))


@perturbations
@given(text, seed)
def test_stronger_levels_hit_what_weaker_ones_hit(perturbation: Perturbation, text: str, seed: int) -> None:
    sites = [
        set(perturbation.edits(Corpus.of([text]), p, seed=seed, selection="quota").site.tolist())
        for p in LEVELS.values()
    ]
    assert sites[0] <= sites[1] <= sites[2]


@all_perturbations
@given(st.lists(st.lists(text, max_size=5), max_size=4), strength, seed)
def test_tokens_stay_tokens(perturbation: Perturbation, sentences: list[list[str]], p: float, seed: int) -> None:
    if not perturbation.facts.keeps_tokens:
        with pytest.raises(ValueError, match="expected a perturbation that keeps each token"):
            scuff.perturb_tokens(sentences, perturbation, p, seed=seed)
        return
    new, edits = scuff.perturb_tokens(sentences, perturbation, p, seed=seed, return_edits=True)
    assert list(map(len, new)) == list(map(len, sentences))
    for before, after, changes in zip(sentences, new, edits, strict=True):
        for token, perturbed in zip(before, after, strict=True):
            assert bool(perturbed) == bool(token)
            assert sum(map(str.isspace, perturbed)) == sum(
                map(str.isspace, token)
            )  # no separator of any format comes in
        assert slow.splice(" ".join(before), [(e.start, e.stop, e.new) for e in changes]) == " ".join(after)
    if p == 0:
        assert new == sentences


MARKS = ["\ufe0f", "\u200d", "\u0301", "\u0308\u0301", "\u20e3", "\U000e0100"]
CONTRACTED = [
    "isn't",
    "don’t",
    "we're",
    "I'm",
    "dogs'",
    "'tis",
    "rock'n'roll",
    "e-mail",
    "cat",
    "The",
    "is",
    "not",
    "it",
]
marked = st.tuples(st.sampled_from(CONTRACTED), st.integers(1, 9), st.sampled_from(["", *MARKS])).map(
    lambda found: found[0][: found[1]] + found[2] + found[0][found[1] :]
)


@all_perturbations
@given(st.lists(marked, min_size=2, max_size=8).map(" ".join), strength, seed)
def test_clusters_are_never_cut(perturbation: Perturbation, text: str, p: float, seed: int) -> None:
    """Marks, joiners and variation selectors stay with the letter or the apostrophe that they stand behind."""
    _, edits = scuff.perturb(text, perturbation, p, seed=seed, return_edits=True)
    inside = set(Corpus.of([text]).tail.tolist())
    assert not inside & {place for edit in edits for place in (edit.start, edit.stop)}


@perturbations
@given(texts, seed)
def test_proposing_k_gives_up_to_k_different_edits_per_site(
    perturbation: Perturbation, texts: list[str], seed: int
) -> None:
    corpus = Corpus.of(texts)
    edits = perturbation.at(0.5).propose(corpus, Rng.of(corpus.keys, seed), k=4)
    found: dict[tuple[int, int], list[str]] = {}
    for row, site, new in zip(edits.row.tolist(), edits.site.tolist(), edits.text.strings(), strict=True):
        found.setdefault((row, site), []).append(new)
    assert all(len(new) <= 4 and len(set(new)) == len(new) for new in found.values())


@all_perturbations
@given(texts, strength, seed)
def test_protected_text_stays(perturbation: Perturbation, texts: list[str], p: float, seed: int) -> None:
    rules = ["urls", "emails", "mentions", "hashtags", "numbers", "placeholders", "word:quick", "re:[A-Z][a-z]+(?= )"]
    guard = scuff.Protect(tuple(rules))
    new = scuff.perturb(texts, perturbation, p, seed=seed, protect=rules)
    for before, after in zip(texts, new, strict=True):
        held, now = ([text[a:b] for a, b in sorted(guard.matches(text))] for text in (before, after))
        assert all(now.count(part) >= held.count(part) for part in held)


@pytest.mark.parametrize("perturbation", [parse(spec) for spec in [*SHIPPED, *NETWORKS]], ids=lambda a: a.name)
def test_facts_and_spec(perturbation: Perturbation) -> None:
    facts = perturbation.facts
    assert facts.summary and facts.paper and facts.example and facts.scripts
    assert facts.level in ("char", "word", "sentence") and set(facts.tags) <= {"general", "malicious"} and facts.tags
    assert parse(perturbation.spec) == perturbation
    assert type(perturbation).__doc__


def test_tally_of_a_sequence_counts_words() -> None:
    tally = Tally()
    Plan.of("segment+inner-shuffle", 1, 0, None, ()).texts(["some plain words here"], tally=tally)
    assert (tally.units, tally.changed_units) == (4, 4)


@perturbations
def test_tally_counts_what_was_done(perturbation: Perturbation) -> None:
    texts = ["the quick brown fox jumps over the lazy dog", "", "the World"]
    tally = Tally()
    new = Plan.of(perturbation, "mid", 1, "quota", ()).texts(texts, tally=tally)
    assert tally.texts == 3 and tally.changed_texts == sum(a != b for a, b in zip(texts, new, strict=True))
    assert (
        tally.units
        == {"gaps": 9, "words": 11, "characters": 43, "additions": 20, "sentences": 2}[perturbation.facts.unit]
    )
    assert 0 < tally.changed_units <= tally.units
