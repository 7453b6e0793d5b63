"""Methods of hardening: their specs, and which perturbations count as seen."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.perturbations.names import NAMES, parse
from scuff.training.methods import (
    METHODS,
    Augment,
    OnAttacks,
    Plm,
    Shielding,
    is_seen,
    parse_method,
    parse_methods,
    sorts_of,
)

MADE = st.one_of(
    st.builds(
        Augment, st.sampled_from(["", "keyboard", "keyboard@0.3, 2*clean", "leave-one-out(visual)"]), st.booleans()
    ),
    st.builds(Plm, st.sampled_from(["", "all", "visual, intrude@low"]), st.integers(0, 5)),
    st.builds(OnAttacks, st.sampled_from(["deepwordbug", "deepwordbug, pwws"]), st.floats(0.01, 1)),
    st.builds(Shielding, st.sampled_from(["fast", "normalise+restore(tier='context')"])),
)


@given(st.lists(MADE, min_size=1, max_size=4, unique_by=lambda method: method.name))
def test_specs_read_as_they_were(methods: list[Augment]) -> None:
    assert parse_methods(",".join(method.spec for method in methods)) == tuple(methods)
    assert parse_methods([method.spec for method in methods]) == tuple(methods)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("augmnt", "expected the name of a method, got 'augmnt'; did you mean augment?"),
        ("augment(keybord)", "expected the name of a perturbation, got 'keybord'; did you mean keyboard"),
        ("augment(klean=False)", "expected the name of an option of augment, got 'klean'; did you mean clean?"),
        ("augment(clean=7)", "expected True or False for augment.clean, got '7'"),
        ("attack(deepwordbug, gamma=2)", "for attack.gamma, got 2"),
        ("plm(", "expected plm(...) for a method"),
        ("shield,shield(fast)", "expected each method once"),
        ("", "expected at least one of augment, plm, pp, attack, shield"),
    ],
)
def test_wrong_methods_are_one_line(spec: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        parse_methods(spec)
    assert "\n" not in str(caught.value)


def test_what_is_of_a_trained_sort_counts_as_seen() -> None:
    keyboard, visual, phonetic = map(parse, ("keyboard", "visual", "phonetic"))
    assert is_seen(parse("typo"), [keyboard]) and is_seen(parse("keyboard(layout='qwertz')"), [keyboard])
    assert is_seen(parse("homoglyph"), [visual]) and not is_seen(phonetic, [keyboard, visual])
    assert is_seen(parse("keyboard|synonym"), [keyboard]) and not is_seen(keyboard, [])
    assert all(sorts_of(kind()) for name, kind in NAMES.items() if name != "embedding")


def test_recipes_tell_what_they_train_on() -> None:
    found = parse_method("attack(deepwordbug)").perturbations(tokens=False)
    assert {each.name for each in found} == {"typo"} and METHODS["shield"].trains is False
