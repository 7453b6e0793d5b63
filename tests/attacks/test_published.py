"""Recipes as published: the parts that their papers have, what remains, the page's table, and runs that say so."""

from __future__ import annotations

import importlib.util
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import scuff
from attacks.attacked import changes, part
from scuff.attacks.attack import ALL, Attack, Proposals
from scuff.attacks.published import CONTEXT, PUBLISHED, as_published
from scuff.attacks.recipes import RECIPES, find_recipe
from scuff.attacks.settings import AttackSettings
from scuff.text.corpus import Corpus


def published(name: str) -> Attack:
    return as_published(find_recipe(name), name)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_says_how_its_paper_has_it(name: str) -> None:
    entry, usual, made = PUBLISHED[name], find_recipe(name), published(name)
    assert made.name == name and made.goal == usual.goal and made.paper == f"{usual.paper}; as published: {entry.where}"
    assert made.deviations == dict(entry.remains) and set(PUBLISHED) == set(RECIPES)
    assert bool(entry.differs) == (made.specs != usual.specs), "differences are named if there are some"
    named = {"goal", "transform", "search", *(constraint.name for constraint in made.constraints)}
    assert set(made.deviations) <= named and {c.name for c in made.constraints} <= {c.name for c in usual.constraints}
    again = Attack.of(
        name,
        made.paper,
        made.goal,
        made.specs["transform"],
        made.search.spec,
        made.specs["constraints"],
        made.deviations,
    )
    assert again == made


def test_what_remains_is_less_or_more_exact() -> None:
    """Parts that are now as published are no deviation; new entries are about what a default does not claim to have."""
    gone = {
        "toxictrap": "changed",
        "a2t": "search",
        "tt-a2t": "search",
        "textbugger": "transform",
        "tt-textbugger": "transform",
    }
    for name, what in gone.items():
        assert what in find_recipe(name).deviations and what not in published(name).deviations


def test_toxictrap_in_the_words_of_its_paper() -> None:
    """2.3: 10 % of the words; angular similarity 0.84. A tweet of nine words has then none to change."""
    recipe = published("toxictrap")
    assert (part(recipe, "changed").share, part(recipe, "changed").floor) == (0.1, 0)
    assert part(recipe, "meaning").spec == "meaning" and part(recipe, "meaning").least == 0.84
    assert changes(recipe)[-1] == "5*homoglyph(scripts='all')"


def test_the_published_searches() -> None:
    """ToxicTrap 2.4, A2T: the L1 norm. DeepWordBug: both sides. Input reduction: anew after each word."""
    found = {name: published(name).search.spec for name in RECIPES}
    assert {name for name, search in found.items() if search == "gradient(norm='l1')"} == {"a2t", "tt-a2t"}
    assert found["deepwordbug"] == "head-tail" and found["tt-deepwordbug"] == "delete"
    assert found["input-reduction"] == "beam(width=5)"


@pytest.mark.parametrize(("name", "most", "ends"), [("textbugger", 1, 2), ("tt-textbugger", 5, 0)])
def test_textbugger_as_published_types_its_look_alikes(name: str, most: int, ends: int) -> None:
    """Sub-C: visually similar characters (0 for o, 1 for l, @ for a) or keys that touch. In TextBugger a blank comes in, and the
    first and last letter stay; ToxicTrap's Table 14 says "Random Character Insertion" and nothing of the ends.
    """
    parts = {part.perturbation.spec: part.count for part in published(name).perturbations}
    assert parts["homoglyph(scripts='ascii')"] == parts["keyboard(phi=0.0)"] == most
    assert sum("keep='ends'" in spec for spec in parts) == ends and "homoglyph" not in parts
    assert any("symbols=' '" in spec for spec in parts) == (name == "textbugger")
    assert ("typo(operations='insert', layout='any')" in parts) == (name == "tt-textbugger")


@pytest.mark.parametrize(("name", "kept"), [("pwws", []), ("deepwordbug", []), ("tt-pwws", ["stop-words"])])
def test_stop_words_are_spared_where_the_paper_spares_them(name: str, kept: list[str]) -> None:
    """Table 14 spares them in all recipes; PWWS and DeepWordBug did not."""
    assert [c.name for c in published(name).constraints if c.name == "stop-words"] == kept


def test_parts_that_are_given_stay_as_published_or_not(attack_of: Any) -> None:
    made = attack_of("toxictrap", as_published=True, search="beam(width=3)", constraint=["changed(share=0.3)"])
    assert made.search.spec == "beam(width=3)" and part(made, "changed").share == 0.3
    assert part(made, "meaning").window == 0
    assert made.paper.endswith("; as published but for search, changed, meaning"), "chrF is another measure"
    assert made.deviations["other"] == (
        "chosen otherwise: search beam(width=3) (published: unk), changed(share=0.3) (published: changed), "
        "meaning(encoder='chrf') (published: meaning)"
    )
    assert "by another" in made.deviations["pos"], "what remains is told"
    assert attack_of("toxictrap", as_published=False).specs == attack_of("toxictrap").specs


def test_no_part_of_the_users_passes_for_published(attack_of: Any) -> None:
    """What stands in the place of a published part, and what holds the search back, is told; what is still true stays told."""
    steps = PUBLISHED["deepwordbug"].remains["search"]
    given = attack_of(
        "deepwordbug", as_published=True, search="random", perturbations=["visual"], without=["edit-distance"]
    )
    assert given.paper == "DeepWordBug (Gao et al. 2018); as published but for the changes, search, edit-distance"
    assert "changes visual (published: typo(operations='swap'" in given.deviations["other"]
    assert given.deviations["other"].endswith(
        "search random (published: head-tail), no edit-distance (published: edit-distance)"
    )
    assert given.deviations["search"] == steps and "transform" not in given.deviations
    held = attack_of("deepwordbug", as_published=True, search="unk", max_queries=50)
    assert held.paper.endswith("; as published but for search, max-queries")
    assert (
        held.deviations["other"].endswith(", at most 50 queries for each text") and held.deviations["search"] == steps
    )
    assert "search" not in attack_of("deepwordbug", as_published=True, search="genetic").deviations
    ours = attack_of("deepwordbug", search="random", max_queries=50)
    assert ours.deviations == {"other": "chosen otherwise: search"} and "published" not in ours.paper


def test_the_shown_source_of_loose_synonyms_is_the_one_taken() -> None:
    """Identity and proposals are those of older runs; only what is shown names WordNet."""
    recipe = published("pwws")
    [shown] = recipe.in_full["transform"]
    assert "source='wordnet', loose=True" in shown and recipe.specs["transform"] == ["synonym(loose=True)"]
    texts = ["The big film was a great bank of Fine jokes, watched twice.", "He set the table and ran."]
    corpus, specs = Corpus.of(texts), ("synonym(loose=True)", shown)
    ours, named = (Proposals.parse(spec).perturbation.proposals(corpus, 0.0, k=ALL) for spec in specs)
    assert list(ours.text.strings()) == list(named.text.strings()) and len(ours.text) > 20
    assert ours.start.tolist() == named.start.tolist() and ours.row.tolist() == named.row.tolist()
    assert "source='scuff'" in Proposals.parse("synonym").in_full


def test_words_of_a_language_model_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scuff.attacks.settings._try", lambda attack: None)  # no model at hand
    monkeypatch.setattr("scuff.perturbations.contextual.Contextual.settled", lambda self: self)
    given: dict[str, Any] = {"recipe": "tt-pwws", "perturbations": ["contextual(mlm='x')"], "encoder": "chrf"}
    assert AttackSettings.of(**given, as_published=True).make_attack().deviations["proposals"] == CONTEXT
    assert "proposals" not in AttackSettings.of(**given).make_attack().deviations


def test_the_page_has_the_table() -> None:
    path = Path(__file__).parents[2] / "build" / "published_recipes.py"
    spec = importlib.util.spec_from_file_location("published_recipes", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.PAGE.read_text(encoding="utf-8")
    assert module.filled(text) == text, "run build/published_recipes.py"
    assert all(f"| `{name}` |" in text for name in RECIPES)


def test_a_recipe_of_no_paper_cannot_be_as_published() -> None:
    own = Attack.of("mine", "", "untargeted", ["typo"], "unk")
    with pytest.raises(ValueError, match=r"expected one of toxictrap, .* for as_published, got '__main__:mine'"):
        AttackSettings.of(recipe=own, as_published=True)


@pytest.mark.parametrize("name", ["deepwordbug", "tt-textbugger", "toxictrap", "input-reduction"])
def test_published_recipes_run_and_resume(name: str, vectors: str, tmp_path: Path) -> None:
    """The run, its table and its report say that the recipe is as published, and what differs even so."""
    pytest.importorskip("lemminflect")
    toy = "toy:sentiment" if name in ("deepwordbug", "input-reduction") else "toy:tone"
    given: dict[str, Any] = {"examples": 12, "vectors": vectors, "encoder": "chrf", "as_published": True}
    given["max_queries"] = 60
    result = scuff.attack(toy, toy, name, tmp_path / "run", **given)
    told = result.summary["recipe"]
    but = "; as published but for" + (
        " meaning," if "meaning" in PUBLISHED[name].remains else ""
    )  # chrF is another measure
    assert told["paper"].endswith(f"{but} max-queries") and told["search"].startswith(published(name).search.name)
    left = [text for part, text in PUBLISHED[name].remains.items() if part != "meaning"]  # chrF is another measure
    page = unescape((tmp_path / "run" / "report.html").read_text())
    for where in (" ".join(str(result).split()), page):
        assert f"{but} max-queries" in where and "at most 60 queries" in where and all(text in where for text in left)
    assert f"As published{but.removeprefix('; as published')} max-queries (" in page and 'id="recipe"' in page
    assert set(left) <= set(told["deviations"])
    again = scuff.resume(tmp_path / "run")
    assert again.summary == result.summary
