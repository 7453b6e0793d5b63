"""Look-alikes: learnt, listed and unseen."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest

import scuff
from scuff.perturbations.homoglyph import UNSEEN, Homoglyph, Invisible, look_alikes
from scuff.perturbations.visual import SPACES, Glyph, Visual, _space

N = 8000


@pytest.mark.parametrize("space", SPACES)
def test_every_neighbour_is_equally_likely(space: str) -> None:
    found = Counter(scuff.perturb(["e"] * N, Visual(space=space), 1, ids=range(N)))
    assert len(found) == 20 and "e" not in found
    assert all(abs(count - N / 20) < 5 * (N * 0.05 * 0.95) ** 0.5 for count in found.values())


def test_likeness_is_proportional() -> None:
    choices, weight = _space("vaegan", 20)
    number = int(choices.of(_codes("e"))[0])
    begin, end = choices.near.offsets[number], choices.near.offsets[number + 1]
    weight = np.diff(weight)
    wanted = dict(
        zip(
            map(chr, choices.near.codes[begin:end]), (weight[begin:end] / weight[begin:end].sum()).tolist(), strict=True
        )
    )
    found = Counter(scuff.perturb(["e"] * N, Visual(choice="likeness"), 1, ids=range(N)))
    assert set(found) == set(wanted)
    assert all(abs(found[char] - N * share) < 5 * (N * share) ** 0.5 for char, share in wanted.items())


def _codes(text: str):  # type: ignore[no-untyped-def]
    from scuff.text.corpus import Corpus

    return Corpus.of([text]).codes


def test_share_of_characters_in_a_whole_text() -> None:
    text = "an ordinary sentence of ordinary letters " * 200
    changed = sum(a != b for a, b in zip(text, scuff.perturb(text, "visual", 0.3), strict=True))
    letters = sum(not c.isspace() for c in text)
    assert abs(changed / letters - 0.3) < 0.03
    assert scuff.perturb("漢字 한국 \U0001f600", "visual", 1) == "漢字 한국 \U0001f600"


def test_words_mode_follows_the_quota() -> None:
    text = "plain words stand here and wait to be drawn"
    new = scuff.perturb(text, Visual(scope="words"), 0.5)
    assert sum(a != b for a, b in zip(text.split(), new.split(), strict=True)) == 5


def test_neighbours_never_join_the_letter_before_them() -> None:
    for space in SPACES:
        choices, _ = _space(space, 20)
        assert all(unicodedata.category(chr(code))[0] not in "MCZ" for code in set(choices.near.codes.tolist()))


def test_the_nearest_of_a_letter_are_its_look_alikes() -> None:
    near = {char: scuff.perturb([char] * 50, Visual(neighbours=1), 1, ids=range(50)) for char in "aeopc"}
    assert all(set(found) <= set(look_alikes()[char]) for char, found in near.items())


def test_homoglyphs_are_listed_both_ways_and_never_plain() -> None:
    near = look_alikes()
    assert all(char in near[other] for char, others in near.items() for other in others)
    for seed in range(50):
        new = scuff.perturb("paypal login", Homoglyph(phi=1.0), 1, seed=seed)
        assert all(a == b or (b in near[a] and not b.isascii()) for a, b in zip("paypal login", new, strict=True))


def test_homoglyphs_survive_normalisation_and_keep_the_direction() -> None:
    """Mathematical and right-to-left letters come only where they are asked for: NFKC undoes nothing of the default."""

    def of_each(spec: str, text: str) -> list[str]:
        return [c for seed in range(60) for c in scuff.perturb(text, spec, 1, seed=seed)]

    text = "The quick brown fox jumps over 1,037 lazy dogs; ΑΒΓ Москва"
    new = of_each("homoglyph(phi=1)", text)
    assert all(unicodedata.normalize("NFKC", c) == c and unicodedata.bidirectional(c) not in ("R", "AL") for c in new)
    names = {unicodedata.name(c).split()[0] for c in new if c.isalpha()}
    assert names == {"LATIN", "GREEK", "CYRILLIC"}
    everything = of_each("homoglyph(phi=1, scripts='all')", text)
    assert any("MATHEMATICAL" in unicodedata.name(c) for c in everything)
    assert any(unicodedata.bidirectional(c) in ("R", "AL") for c in everything)
    only = {
        unicodedata.name(c).split()[0]
        for c in of_each("homoglyph(phi=1, scripts='cyrillic')", "paypal")
        if not c.isascii()
    }
    assert only <= {"CYRILLIC", "LATIN"}, "and the letter's own script"
    leftward = scuff.perturb("والله وهو قلبه في البيت", "homoglyph", 1)
    assert leftward != "والله وهو قلبه في البيت" and all(unicodedata.bidirectional(c) in ("AL", "WS") for c in leftward)


def test_look_alikes_that_people_type() -> None:
    """TextBugger's o for 0, l for 1, a for @; ToxicTrap's 1 for l. Nothing but ASCII comes in."""
    found = {scuff.perturb("a loud mob", "homoglyph(scripts='ascii', phi=0)", 1, seed=seed) for seed in range(300)}
    assert all(text.isascii() and sum(map(str.__ne__, text, "a loud mob")) == 3 for text in found), "one letter a word"
    words = {word for text in found for word in text.split()}
    assert words == {"@", "4", "1oud", "|oud", "l0ud", "m0b", "mo8"}
    assert {scuff.perturb("1", "homoglyph(scripts='ascii')", 1, seed=seed) for seed in range(9)} == {"l"}
    both = {scuff.perturb("a", "homoglyph(scripts='ascii cyrillic')", 1, seed=seed) for seed in range(200)}
    assert {"@", "а"} <= both
    assert not any(c.isascii() for c in {scuff.perturb("o", "homoglyph", 1, seed=seed) for seed in range(99)})


def test_the_unseen_can_be_taken_out_again() -> None:
    unseen = set("".join(UNSEEN.values()))
    for seed in range(50):
        new = scuff.perturb("nothing to see here", "invisible", 1, seed=seed)
        assert new != "nothing to see here" and "".join(c for c in new if c not in unseen) == "nothing to see here"
        assert "\u00ad" not in scuff.perturb("nothing to see here", Invisible(kinds="tags"), 1, seed=seed)


@pytest.mark.parametrize("perturbation", [Homoglyph(budget=3), Invisible(budget=3)])
def test_budgets_are_used_up_and_kept(perturbation: scuff.Perturbation) -> None:
    text = "several ordinary words for a small budget"
    for seed in range(40):
        new = scuff.perturb(text, perturbation, 1, seed=seed)
        assert (len(new) - len(text) or sum(a != b for a, b in zip(text, new, strict=True))) == 3
        kept_to = scuff.perturb(text, scuff.Only(perturbation, ("re:.*",)), 1, seed=seed)
        assert (len(kept_to) - len(text) or sum(a != b for a, b in zip(text, kept_to, strict=True))) == 3
    with pytest.raises(ValueError, match="without a budget"):
        scuff.OneOf((perturbation, Visual()))


def test_clusters_stay_whole() -> None:
    for text in ("👩\u200d❤\ufe0f\u200d👨", "🏃\u200d♂\ufe0f", "e\u0301", "\u1112\u1161\u11ab", "1\ufe0f\u20e3"):
        assert scuff.perturb(text, "visual", 1) == text


def test_protected_text_is_not_extended() -> None:
    for seed in range(60):
        for text, kind, part in (("@bob! hi", "mentions", "@bob"), ("see http://x.com, now", "urls", "http://x.com")):
            new = scuff.perturb(text, "visual", 1, seed=seed, protect=[kind])
            assert [new[a:b] for a, b in scuff.Protect((kind,)).matches(new)] == [part]


def test_one_of_and_only_know_the_words_mode_and_phi() -> None:
    text = "The staff were friendly and the room was spotless"
    for seed in range(20):
        new = scuff.perturb(text, "visual|keyboard", 1, seed=seed)
        assert all(a != b for a, b in zip(text.split(), new.split(), strict=True))
    few = scuff.perturb(text, scuff.Only(Visual(phi=0.05), ("re:.*",)), 1)
    assert sum(a != b for a, b in zip(text, few, strict=True)) < 12


def test_glyph_changes_one_letter_of_a_word_or_any_character_of_the_text() -> None:
    text = "The staff were friendly, and the room was spotless!"
    for number in range(20):
        new = scuff.perturb(text, "glyph", 1, seed=number)
        assert all(
            sum(x != y for x, y in zip(a, b, strict=True)) == 1 for a, b in zip(text.split(), new.split(), strict=True)
        )
        every = scuff.perturb(text, Glyph().for_characters(), 1, seed=number, selection="all")
        assert all(a != b or a == " " for a, b in zip(text, every, strict=True))
        some = scuff.perturb(text, Glyph(scope="text"), 0.5, seed=number)
        assert 10 < sum(a != b for a, b in zip(text, some, strict=True)) < 35
    assert Glyph().for_characters().spec == "glyph(scope='text')" and Glyph().facts.unit == "words"
    assert Glyph(scope="text").for_tokens() == Glyph() and Glyph(scope="text").facts.unit == "characters"


@pytest.mark.parametrize(
    "spec",
    [
        "glyph(scope='x')",
        "visual(space='x')",
        "visual(choice='best')",
        "visual(scope='all')",
        "invisible(kinds='ghosts')",
        "visual(neighbours=50)",
        "homoglyph(budget=0)",
        "homoglyph(scripts='')",
        "homoglyph(scripts='latin hebrew')",
        "typo(keep='x')",
        "homoglyph(budget='x')",
        "homoglyph(budget=True)",
    ],
)
def test_wrong_options(spec: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        scuff.parse(spec)
