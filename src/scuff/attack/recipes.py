"""Recipes: a goal, what may be changed and how, what must stay, and a search, as a paper put them together.

Each is one small function with the paper's constants; `deviations` names where it leaves the paper. All keep to one edit at each
word, look at the original text only, and propose once, on the original.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from ..text.calls import checked, spec_of
from .constraints import Constraint, parse_constraint
from .goals import Goal, ToxicTrap, parse_goal
from .search import Search, parse_search
from .transform import Transform

MINILM = "sentence similarity by MiniLM, where the paper has the Universal Sentence Encoder"
GRADIENT = "words matter by the gradient along the way from a masked text; the paper takes the norm of the gradient"
TEXTFOOLERS_MEANING = "meaning(least=0.84, window=15, skip_short=True)"
RANDOM_LETTERS = "typo(operations='{}', layout='any')"


@dataclass(frozen=True)
class Recipe:
    name: str
    paper: str
    goal: Goal
    transform: tuple[Transform, ...]
    search: Search
    constraints: tuple[Constraint, ...] = ()
    deviations: dict[str, str] = field(
        default_factory=dict
    )  # by the part that they are about: goal, search, a constraint, ...

    @classmethod
    def of(
        cls, name: str, paper: str, goal: str, transform: tuple[str, ...], search: str, constraints: tuple[str, ...],
        deviations: dict[str, str] | None = None,
    ) -> Recipe:  # fmt: skip
        parts = tuple(map(Transform.parse, transform)), parse_search(search), tuple(map(parse_constraint, constraints))
        return cls(name, paper, parse_goal(goal), *parts, deviations or {})

    @property
    def specs(self) -> dict[str, str | list[str]]:
        """Its parts by name: what decides a run."""
        return self._told(full=False)

    @property
    def in_full(self) -> dict[str, str | list[str]]:
        """The same with every option, for people."""
        return self._told(full=True)

    def _told(self, full: bool) -> dict[str, str | list[str]]:
        return {
            "goal": spec_of(self.goal, full), "transform": [part.in_full if full else part.spec for part in self.transform],
            "search": spec_of(self.search, full), "constraints": [spec_of(part, full) for part in self.constraints],
        }  # fmt: skip


def toxictrap() -> Recipe:
    return Recipe.of(
        "toxictrap", "ToxicTrap (Bespalov et al. 2023), Table 1", "toxictrap",
        (*(RANDOM_LETTERS.format(kind) for kind in ("insert", "delete", "swap")), "5*homoglyph", "embedding(n=20, tagger=False)"),
        "unk", ("stop-words", "changed(share=0.1, floor=4)", "pos", TEXTFOOLERS_MEANING),
        {
            "meaning": f"{MINILM}; in windows, and not in texts of under 15 words, as in TextFooler, whose threshold it is: "
            "the paper does not say",
            "changed": "four words may change in texts of fewer than fifty, as in A2T: the paper's Table 5 has 19 % of the words "
            "changed in tweets under its limit of 10 %",
        },
    )  # fmt: skip


def a2t() -> Recipe:
    return Recipe.of(
        "a2t", "A2T (Yoo and Qi 2021)", "untargeted", ("embedding(n=20, tagger=False)",), "gradient",
        ("stop-words", "changed(share=0.1, floor=4)", "pos", "word-vectors(least=0.8)", "meaning(least=0.9, by='cosine')"),
        {
            "meaning": "sentence similarity by MiniLM, where the paper has DistilBERT trained on STS-B",
            "search": GRADIENT,
        },
    )  # fmt: skip


def textfooler() -> Recipe:
    return Recipe.of(
        "textfooler", "TextFooler (Jin et al. 2020)", "untargeted", ("embedding(n=50, tagger=False)",), "delete",
        ("stop-words", "pos(strict=False)", "word-vectors(least=0.5)", TEXTFOOLERS_MEANING),
        {"meaning": MINILM},
    )  # fmt: skip


def pwws() -> Recipe:
    return Recipe.of(
        "pwws", "PWWS (Ren et al. 2019)", "untargeted", ("synonym(loose=True)",), "weighted-saliency", ("stop-words",),
        {"transform": "names are not replaced by other names of their kind, as in TextAttack"},
    )  # fmt: skip


def deepwordbug() -> Recipe:
    return Recipe.of(
        "deepwordbug", "DeepWordBug (Gao et al. 2018)", "untargeted",
        tuple(RANDOM_LETTERS.format(kind) for kind in ("swap", "replace", "delete", "insert")), "unk",
        ("stop-words", "edit-distance(most=30)"),
        {"search": "words matter by what [UNK] in their place does, as in TextAttack; the paper scores them from both sides"},
    )  # fmt: skip


def textbugger() -> Recipe:
    return Recipe.of(
        "textbugger", "TextBugger (Li et al. 2019)", "untargeted",
        (
            "intrude(symbols=' ', min_letters=2, phi=0.0)", RANDOM_LETTERS.format("delete"), RANDOM_LETTERS.format("swap"),
            "5*homoglyph", "embedding(n=5, tagger=False)",
        ),
        "delete", ("stop-words", "meaning(least=0.8, by='cosine')"),
        {"meaning": MINILM, "transform": "the first and the last letter of a word may go or be swapped, too"},
    )  # fmt: skip


def input_reduction() -> Recipe:
    return Recipe.of(
        "input-reduction", "Feng et al. 2018", "reduction", ("omit(keep_one=False)",), "delete", (),
        {"search": "words go in the order of their importance in the whole text, not anew after each"},
    )  # fmt: skip


def extended(original: Callable[[], Recipe]) -> Recipe:
    """ToxicTrap, Table 14: a recipe of the literature with ToxicTrap's goal, and what else the table changes."""
    found = original()
    if original is a2t:  # whose sentence encoder is MiniLM there, and which has no limit on word vectors
        kept = tuple(constraint for constraint in found.constraints if constraint.name != "word-vectors")
        found = replace(found, constraints=kept, deviations={"search": GRADIENT})
    elif original is deepwordbug:
        found = replace(found, search=parse_search("delete"), deviations={})
    return replace(found, name=f"tt-{found.name}", paper=f"ToxicTrap, Table 14; {found.paper}", goal=ToxicTrap())


ORIGINALS = (a2t, textfooler, pwws, deepwordbug, textbugger)
RECIPES: dict[str, Callable[[], Recipe]] = {
    "toxictrap": toxictrap,
    **{f"tt-{original.__name__}": partial(extended, original) for original in ORIGINALS},
    **{original.__name__: original for original in ORIGINALS},
    "input-reduction": input_reduction,
}


def find_recipe(name: str) -> Recipe:
    """A recipe by its name; a wrong one suggests the near ones."""
    return RECIPES[checked(name, RECIPES, "a recipe")]()
