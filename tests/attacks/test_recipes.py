"""Recipes: the constants of their papers, specs that are read back, and settings that replace parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scuff
from attacks.attacked import changes, part
from scuff.attacks.attack import ALL, Attack, Proposals
from scuff.attacks.constraints import CONSTRAINTS, parse_constraint
from scuff.attacks.goals import parse_goal
from scuff.attacks.recipes import RECIPES, find_recipe
from scuff.attacks.search import parse_search
from scuff.attacks.settings import AttackSettings
from scuff.resources import MissingResource

FIVE = ["a2t", "textfooler", "pwws", "deepwordbug", "textbugger"]
LETTERS = {kind: f"typo(operations='{kind}', layout='any')" for kind in ("insert", "delete", "swap", "replace")}


def test_the_recipes() -> None:
    assert set(RECIPES) == {
        "toxictrap",
        "input-reduction",
        "teapot",
        "hotflip",
        *FIVE,
        *(f"tt-{name}" for name in FIVE),
    }


@pytest.mark.parametrize("name", RECIPES)
def test_specs_are_read_back(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name and recipe.paper and (recipe.deviations or name == "tt-deepwordbug")
    specs: dict[str, Any] = recipe.specs
    assert parse_goal(specs["goal"]) == recipe.goal and parse_search(specs["search"]) == recipe.search
    assert tuple(map(Proposals.parse, specs["transform"])) == recipe.perturbations
    assert tuple(map(parse_constraint, specs["constraints"])) == recipe.constraints
    again = Attack.of(
        name, recipe.paper, specs["goal"], specs["transform"], specs["search"], specs["constraints"], recipe.deviations
    )
    assert again == recipe and again.specs == specs


@pytest.mark.parametrize("name", FIVE)
def test_the_five_extensions_differ_in_their_goal_and_as_the_paper_says(name: str) -> None:
    """ToxicTrap, Table 14: TT-Dbug ranks by deletion, TT-A2T has no limit on word vectors."""
    original, extended = find_recipe(name).specs, find_recipe(f"tt-{name}").specs
    assert (original.pop("goal"), extended.pop("goal")) == ("untargeted", "toxictrap")
    if name == "deepwordbug":
        assert (original.pop("search"), extended.pop("search")) == ("unk", "delete")
    if name == "a2t":
        original["constraints"] = [spec for spec in original["constraints"] if not spec.startswith("word-vectors")]
    assert original == extended


def embedding(recipe: Attack) -> Any:
    found = [part.perturbation for part in recipe.perturbations if part.perturbation.name == "embedding"]
    assert len(found) == 1
    return found[0]


def test_toxictrap_has_the_constants_of_its_paper() -> None:
    """2.2, 2.3, Table 1: N = 20; 10 % of the words, 0.84, part of speech; unk; random insert, delete, neighbour swap."""
    recipe = find_recipe("toxictrap")
    assert embedding(recipe).neighbours == 20 and recipe.search.name == "unk" and recipe.goal.spec == "toxictrap"
    assert (part(recipe, "changed").share, part(recipe, "changed").floor) == (0.1, 4)
    assert (part(recipe, "meaning").least, part(recipe, "meaning").by, part(recipe, "pos").strict) == (
        0.84,
        "angular",
        True,
    )
    assert changes(recipe) == [LETTERS["insert"], LETTERS["delete"], LETTERS["swap"], "5*homoglyph"]
    assert "four words" in recipe.deviations["changed"]


def test_a2t_has_the_constants_of_its_paper() -> None:
    recipe = find_recipe("a2t")
    assert embedding(recipe).neighbours == 20 and changes(recipe) == [] and recipe.search.name == "gradient"
    assert (part(recipe, "changed").share, part(recipe, "changed").floor) == (0.1, 4)
    assert (part(recipe, "meaning").least, part(recipe, "meaning").by) == (0.9, "cosine")
    assert part(recipe, "word-vectors").least == 0.8 and part(recipe, "pos").strict


def test_textfooler_has_the_constants_of_its_paper() -> None:
    recipe = find_recipe("textfooler")
    assert embedding(recipe).neighbours == 50 and changes(recipe) == [] and recipe.search.name == "delete"
    meaning = part(recipe, "meaning")
    assert (meaning.least, meaning.by, meaning.window, meaning.skip_short) == (0.84, "angular", 15, True)
    assert part(recipe, "word-vectors").least == 0.5 and not part(recipe, "pos").strict


def test_pwws_has_no_constant() -> None:
    recipe = find_recipe("pwws")
    assert changes(recipe) == ["synonym(loose=True)"] and recipe.search.name == "weighted-saliency"
    assert [constraint.name for constraint in recipe.constraints] == ["stop-words"]


def test_deepwordbug_has_the_constants_of_its_paper() -> None:
    recipe = find_recipe("deepwordbug")
    assert changes(recipe) == [LETTERS[kind] for kind in ("swap", "replace", "delete", "insert")]
    assert recipe.search.name == "unk" and part(recipe, "edit-distance").most == 30
    assert {part.count for part in recipe.perturbations} == {1}


def test_textbugger_has_the_constants_of_its_paper() -> None:
    recipe = find_recipe("textbugger")
    assert embedding(recipe).neighbours == 5 and recipe.search.name == "delete"
    assert changes(recipe)[1:] == [LETTERS["delete"], LETTERS["swap"], "5*homoglyph"]
    blank: Any = recipe.perturbations[0].perturbation
    assert (blank.name, blank.symbols, blank.min_letters, blank.phi) == ("intrude", " ", 2, 0)  # one blank in a word
    assert (part(recipe, "meaning").least, part(recipe, "meaning").by) == (0.8, "cosine")


def test_input_reduction() -> None:
    recipe = find_recipe("input-reduction")
    assert (changes(recipe), recipe.search.name) == (["omit(keep_one=False)"], "delete")
    assert recipe.goal.open_ended and not recipe.constraints


@pytest.mark.parametrize("name", [*FIVE, "toxictrap"])
def test_stop_words_stay(name: str) -> None:
    """In all recipes (Table 14); the cheap constraints come first."""
    names = [constraint.name for constraint in find_recipe(name).constraints]
    assert names[0] == "stop-words" and len(set(names)) == len(names)


@pytest.mark.parametrize("name", RECIPES)
def test_settings_fill_in_what_a_recipe_lacks(name: str, attack_of: Any, vectors: str) -> None:
    recipe = attack_of(name)
    assert recipe.specs["search"] == find_recipe(name).specs["search"]
    for attack in (each.perturbation for each in recipe.perturbations if each.perturbation.name == "embedding"):
        assert attack.file == vectors
    for constraint in recipe.constraints:
        assert constraint.name != "word-vectors" or constraint.file == vectors
        assert constraint.name != "meaning" or constraint.encoder == "chrf"
    order = [list(CONSTRAINTS).index(constraint.name) for constraint in recipe.constraints]
    assert order == sorted(order)


def test_settings_replace_every_part(attack_of: Any) -> None:
    usual = attack_of("toxictrap")
    assert attack_of("toxictrap", search="beam(width=3)").specs == {**usual.specs, "search": "beam(width=3)"}
    assert attack_of("toxictrap", goal="untargeted").specs == {**usual.specs, "goal": "untargeted"}
    specs = attack_of("toxictrap", transform=["3*typo", "synonym"]).specs
    assert specs == {**usual.specs, "transform": ["3*typo", "synonym"]}
    specs = attack_of("toxictrap", without=["pos", "changed"]).specs
    left = [spec for spec in usual.specs["constraints"] if not spec.startswith(("pos", "changed"))]
    assert specs == {**usual.specs, "constraints": left} and len(left) == 2
    assert attack_of("toxictrap", **{"no-pos": True, "without": "changed"}).specs == specs
    specs = attack_of(
        "toxictrap", constraint=["changed(share=0.3)", "min-length(letters=5)"], without=["meaning"]
    ).specs
    assert specs["constraints"] == ["stop-words", "min-length(letters=5)", "changed(share=0.3)", "pos"]
    assert attack_of("toxictrap", transform="embedding(n=50)").perturbations[0].perturbation.neighbours == 50


def test_replaced_parts_are_a_deviation(attack_of: Any) -> None:
    usual, other = attack_of("deepwordbug"), attack_of("deepwordbug", search="greedy", without=["stop-words"])
    assert list(usual.deviations) == ["search"] and "[UNK]" in usual.deviations["search"]
    assert other.deviations == {"other": "chosen otherwise: search, no stop-words"}, "what no longer holds is not said"
    assert attack_of("deepwordbug", without=["pos"]).deviations == usual.deviations, "it has none"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"recipe": "toxitrap"}, "expected the name of a recipe, got 'toxitrap'; did you mean toxictrap"),
        ({"search": "bim"}, "expected the name of a search, got 'bim'; did you mean beam"),
        ({"goal": "harm"}, "expected the name of a goal, got 'harm'; known are untargeted"),
        ({"transform": ["typos"]}, "expected the name of a perturbation, got 'typos'; did you mean typo"),
        (
            {"transform": ["segment+typo"]},
            "expected perturbations that a search can choose from word by word, got the sequence",
        ),
        ({"perturbations": ["0*typo"]}, "expected 1 or more proposals, got '0*typo'"),
        ({"constraint": ["changed(share=2)"]}, "expected a number in [0, 1] for changed.share, got 2"),
        ({"without": ["poss"]}, "expected the name of a constraint, got 'poss'; did you mean pos"),
        ({"side": "both"}, "expected first or second for side, got both: a search changes one text of a pair"),
        ({"max_time": 0}, "expected a number above 0 for max_time, got 0"),
        ({"valid": 1.5}, "expected a number in [0, 1] for valid, got 1.5"),
        ({"max_queries": 0}, "expected 1 or more for max_queries, got 0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        AttackSettings.of(**{"recipe": "deepwordbug", **settings}).make_attack()
    assert message in str(error.value)


@pytest.mark.parametrize(
    "name", ["toxictrap", "a2t", "tt-a2t", "textfooler", "tt-textfooler", "textbugger", "tt-textbugger"]
)
def test_the_error_without_word_vectors_says_what_to_do(name: str) -> None:
    with pytest.raises(MissingResource, match=r"--vectors FILE") as error:
        AttackSettings.of(recipe=name).make_attack()
    line = str(error.value)
    assert "\n" not in line and line.startswith(f"{name} needs word vectors")
    assert all(word in line for word in ("counter-fitted", "tt-pwws", "deepwordbug", "--perturbations"))


def test_what_runs_without_word_vectors() -> None:
    """Everything that the error names."""
    pytest.importorskip("lemminflect")
    for name in ("tt-pwws", "tt-deepwordbug", "pwws", "deepwordbug", "input-reduction"):
        AttackSettings.of(recipe=name).make_attack()
    AttackSettings.of(
        recipe="toxictrap", perturbations=["typo", "homoglyph", "synonym"], without=["meaning"]
    ).make_attack()


def test_a_constraint_on_word_vectors_says_how_to_leave_it_out(vectors: str) -> None:
    pytest.importorskip("lemminflect")
    settings: dict[str, Any] = {"recipe": "textfooler", "perturbations": ["typo"], "encoder": "chrf"}
    with pytest.raises(MissingResource, match=r"word-vectors needs word vectors: --vectors FILE.*--no-word-vectors"):
        AttackSettings.of(**settings).make_attack()
    AttackSettings.of(**settings, without=["word-vectors"]).make_attack()
    AttackSettings.of(**settings, vectors=vectors).make_attack()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        AttackSettings.of(recipe="toxictrap", vectors=str(tmp_path / "nowhere.txt"), encoder="chrf").make_attack()


@pytest.mark.parametrize(
    ("spec", "count", "again"),
    [
        ("typo", 1, "typo"),
        ("synonym", ALL, "synonym"),
        ("3*typo", 3, "3*typo"),
        (" 2 * homoglyph ", 2, "2*homoglyph"),
        ("1*typo(operations='swap')", 1, "typo(operations='swap')"),
        ("5*synonym", 5, "5*synonym"),
    ],
)
def test_how_many_proposals(spec: str, count: int, again: str) -> None:
    proposals = Proposals.parse(spec)
    assert (proposals.count, proposals.spec) == (count, again) and Proposals.parse(again) == proposals


@pytest.mark.parametrize("name", ["tt-deepwordbug", "tt-pwws", "tt-textfooler", "toxictrap", "textbugger"])
def test_recipes_run(name: str, vectors: str) -> None:
    """From one line of Python, on label sets."""
    pytest.importorskip("lemminflect")
    result = scuff.attack("toy:tone", "toy:tone", name, examples=20, vectors=vectors, encoder="chrf", max_queries=60)
    status = result.summary["status"]
    assert sum(status.values()) == 20 and status["error"] == 0 and 0 < result.summary["success"]["of"] < 21
    assert result.summary["recipe"]["name"] == name and max(line["queries"] for line in result.lines) <= 60


def test_a_file_with_too_few_neighbours_is_a_deviation(tmp_path: Path) -> None:
    (tmp_path / "near.tsv").write_text("good\tfine decent great\nfilm\tmovie\n")
    few = AttackSettings.of(
        recipe="textbugger", vectors=str(tmp_path / "near.tsv"), without=["meaning"], encoder="chrf"
    )
    assert few.make_attack().deviations["neighbours"].endswith("near.tsv lists at most 3 neighbours of a word, not 5")
    enough = AttackSettings.of(
        recipe="deepwordbug", perturbations=[f"embedding(file={str(tmp_path / 'near.tsv')!r}, n=3)"], encoder="chrf"
    )
    assert "neighbours" not in enough.make_attack().deviations
