"""Recipes: named attacks, each with the goal, perturbations, search and constraints of a paper.

Each is one small function with the paper's constants; `deviations` says where it differs from the paper. In all of them edits are
proposed once, for the original text, a word gets at most one edit, and constraints compare with the original.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ..specs import Family
from .attack import Attack
from .goals import ToxicTrap
from .search import parse_search

MINILM = "sentence similarity by MiniLM, where the paper has the Universal Sentence Encoder"
GRADIENT = "words matter by the gradient along the way from a masked text; the paper takes the norm of the gradient"
ONCE = (
    "at most three swaps in a word, whose number appendix A.1 leaves open; a piece is replaced once, and the text is cut into "
    "pieces anew after each, while the paper replaces subwords of the original segmentation"
)

TEXTFOOLERS_MEANING = "meaning(least=0.84, window=15, skip_short=True)"
RANDOM_LETTERS = "typo(operations='{}', layout='any')"


def toxictrap() -> Attack:
    return Attack.of(
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


def a2t() -> Attack:
    return Attack.of(
        "a2t", "A2T (Yoo and Qi 2021)", "untargeted", ("embedding(n=20, tagger=False)",), "gradient",
        ("stop-words", "changed(share=0.1, floor=4)", "pos", "word-vectors(least=0.8)", "meaning(least=0.9, by='cosine')"),
        {
            "meaning": "sentence similarity by MiniLM, where the paper has DistilBERT trained on STS-B",
            "search": GRADIENT,
        },
    )  # fmt: skip


def textfooler() -> Attack:
    return Attack.of(
        "textfooler", "TextFooler (Jin et al. 2020)", "untargeted", ("embedding(n=50, tagger=False)",), "delete",
        ("stop-words", "pos(strict=False)", "word-vectors(least=0.5)", TEXTFOOLERS_MEANING),
        {"meaning": MINILM},
    )  # fmt: skip


def pwws() -> Attack:
    return Attack.of(
        "pwws", "PWWS (Ren et al. 2019)", "untargeted", ("synonym(loose=True)",), "weighted-saliency", ("stop-words",),
        {"transform": "names are not replaced by other names of their kind, as in TextAttack"},
    )  # fmt: skip


def deepwordbug() -> Attack:
    return Attack.of(
        "deepwordbug", "DeepWordBug (Gao et al. 2018)", "untargeted",
        tuple(RANDOM_LETTERS.format(kind) for kind in ("swap", "replace", "delete", "insert")), "unk",
        ("stop-words", "edit-distance(most=30)"),
        {"search": "words matter by what [UNK] in their place does, as in TextAttack; the paper scores them from both sides"},
    )  # fmt: skip


def textbugger() -> Attack:
    return Attack.of(
        "textbugger", "TextBugger (Li et al. 2019)", "untargeted",
        (
            "intrude(symbols=' ', min_letters=2, phi=0.0)", RANDOM_LETTERS.format("delete"), RANDOM_LETTERS.format("swap"),
            "5*homoglyph", "embedding(n=5, tagger=False)",
        ),
        "delete", ("stop-words", "meaning(least=0.8, by='cosine')"),
        {"meaning": MINILM, "transform": "the first and the last letter of a word may go or be swapped, too"},
    )  # fmt: skip


def input_reduction() -> Attack:
    return Attack.of(
        "input-reduction", "Feng et al. 2018", "reduction", ("omit(keep_one=False)",), "delete", (),
        {"search": "words go in the order of their importance in the whole text, not anew after each"},
    )  # fmt: skip


def teapot() -> Attack:
    return Attack.of(
        "teapot", "TEAPOT (Michel et al. 2019), CharSwap", "decrease", (), "substitution(within='swaps')", (),
        {"search": ONCE},
    )  # fmt: skip


def hotflip() -> Attack:
    return Attack.of(
        "hotflip", "HotFlip (Ebrahimi et al. 2018), words", "untargeted", (),
        "substitution(within='neighbours', n=2, sign=False, beam=10, verify=20, nearest=50)",
        ("stop-words", "pos", "word-vectors(least=0.8)"),
        {
            "search": "of the 50 nearest words in the model's embeddings the 20 best by the gradient are tried, and the 10 best "
            "texts go on; the paper's beam search goes by the gradient alone",
        },
    )  # fmt: skip


def extended(original: Callable[[], Attack]) -> Attack:
    """A recipe of the literature with ToxicTrap's goal and the other changes of ToxicTrap's Table 14."""
    found = original()
    if original is a2t:  # in the table its sentence encoder is MiniLM, and it has no limit on word vectors
        kept = tuple(constraint for constraint in found.constraints if constraint.name != "word-vectors")
        found = replace(found, constraints=kept, deviations={"search": GRADIENT})
    elif original is deepwordbug:
        found = replace(found, search=parse_search("delete"), deviations={})
    return replace(found, name=f"tt-{found.name}", paper=f"ToxicTrap, Table 14; {found.paper}", goal=ToxicTrap())


ORIGINALS = (a2t, textfooler, pwws, deepwordbug, textbugger)

RECIPES: dict[str, Callable[[], Attack]] = {
    "toxictrap": toxictrap,
    **{f"tt-{original.__name__}": partial(extended, original) for original in ORIGINALS},
    **{original.__name__: original for original in ORIGINALS},
    "input-reduction": input_reduction,
    "teapot": teapot,
    "hotflip": hotflip,
}
FAMILY: Family[Attack] = Family("a recipe", "scuff.recipes", Attack, RECIPES)
find_recipe = FAMILY.build
