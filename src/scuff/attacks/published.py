"""How the papers have each recipe: the parts that take the place of ours, and what differs even so.

This table is the one place that says it: `--as-published`, `scuff attack --parts` and docs/published.md read it. Where a paper
is silent its published code decides, or, for those whose code is part of it, TextAttack's.

Two things need no entry. Proposals are made once, for the original text, and a word gets one edit: for lists of neighbours and
synonyms, which depend on the word alone, that is what the papers do; a masked language model sees the sentence, so an attack with
one has the deviation `CONTEXT`. Random letters are drawn once for each word: by us before the search, by the others when its turn
comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from .attack import Attack, Proposals
from .constraints import parse_constraint
from .search import parse_search

ENCODER = "sentence similarity by MiniLM, where the paper has the Universal Sentence Encoder"
TAGGER = "parts of speech by Scuff's own tagger; the paper's are by another"
CONTEXT = "contextual proposes words once, for the original text; the paper's model sees the text as it is by then"

AS_PUBLISHED = "; as published"  # begins what `Attack.paper` says of it
NAMES = {"transform": "the changes"}  # of parts, where files have another

LETTERS = "typo(operations='{}', layout='any')"
INNER = "typo(operations='{}', layout='any', keep='ends')"
BLANK = "intrude(symbols=' ', min_letters=2, phi=0.0)"
TYPED = (
    "a letter becomes a look-alike that people type (0 for o, 1 for l, @ for a) or its neighbour on the keyboard; ours becomes a "
    "look-alike of Unicode, five of them tried"
)
NEAREST = "embedding(n={}, tagger=False)"


@dataclass(frozen=True)
class Published:
    """How a paper has a recipe.

    paper, where: the source, and what part of it says so. perturbations, search: in place of the recipe's; empty: as they are.
    constraints: in place of the recipe's of the same name. without: constraints that the paper does not have. differs: what our
    default does otherwise, a clause for each of these parts. remains: deviations that are left, by part, as in
    `Attack.deviations`.
    """

    paper: str
    where: str
    perturbations: tuple[str, ...] = ()
    search: str = ""
    constraints: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    remains: Mapping[str, str] = field(default_factory=dict)

    def of(self, recipe: Attack) -> Attack:
        """The recipe as the paper has it."""
        new = {constraint.name: constraint for constraint in map(parse_constraint, self.constraints)}
        kept = [new.get(constraint.name, constraint) for constraint in recipe.constraints]
        return replace(
            recipe,
            paper=f"{recipe.paper}{AS_PUBLISHED}: {self.where}",
            perturbations=tuple(map(Proposals.parse, self.perturbations)) or recipe.perturbations,
            search=parse_search(self.search) if self.search else recipe.search,
            constraints=tuple(constraint for constraint in kept if constraint.name not in self.without),
            deviations=dict(self.remains),
        )


TEXTFOOLER = Published(
    "Jin et al. 2020", "algorithm 1, and its code for windows and thresholds",
    remains={
        "meaning": f"{ENCODER}; compared with the original text, the paper compares with the step before",
        "pos": TAGGER,
    },
)  # fmt: skip
TEXTBUGGER = Published(
    "Li et al. 2019", "the five bugs",
    (BLANK, INNER.format("delete"), INNER.format("swap"), "homoglyph(scripts='ascii')", "keyboard(phi=0.0)", NEAREST.format(5)),
    differs=(
        "the first and the last letter of a word stay; ours may go or be swapped",
        TYPED,
    ),
    remains={
        "meaning": ENCODER, "search": "all words of the text are ranked at once; the paper ranks sentences first",
    },
)  # fmt: skip
PWWS = Published(
    "Ren et al. 2019", "3.2, eq. 3 to 8", without=("stop-words",), differs=("stop words may change, too",),
    remains={
        "transform": "names are not replaced by other names of their kind, as in TextAttack",
        "search": "the replacement of a word is chosen when its turn comes, as in TextAttack; the paper chooses all of them "
        "on the original text",
    },
)  # fmt: skip
PUBLISHED: dict[str, Published] = {
    "toxictrap": Published(
        "Bespalov et al. 2023", "2.1 to 2.4, Table 1",
        (*(LETTERS.format(kind) for kind in ("insert", "delete", "swap")), "5*homoglyph(scripts='all')", NEAREST.format(20)),
        constraints=("changed(share=0.1)", "meaning(least=0.84)"),
        differs=(
            "a tenth of the words at most, without a floor; in ours four words always may",
            "whole texts are compared at 0.84, however short; ours compares windows of 15 words and leaves shorter texts alone",
            "look-alikes of all of Unicode, mathematical letters too; ours are Latin, Greek and Cyrillic",
        ),
        remains={"meaning": ENCODER, "pos": TAGGER},
    ),
    "a2t": Published(
        "Yoo and Qi 2021", "algorithm 1, and its code", search="gradient(norm='l1')",
        differs=("words matter by the L1 norm of the loss's gradient; in ours by integrated gradients from a masked text",),
        remains={"meaning": "sentence similarity by MiniLM, where the paper has DistilBERT trained on STS-B", "pos": TAGGER},
    ),
    "textfooler": TEXTFOOLER,
    "pwws": PWWS,
    "deepwordbug": Published(
        "Gao et al. 2018", "combined score, edit distance 30", search="head-tail", without=("stop-words",),
        differs=(
            "words matter by what they add to the text before them and to the text behind them; in ours by [UNK] in their place",
            "stop words may change, too",
        ),
        remains={
            "transform": "of four kinds of changes the best is taken at each word; the paper has each kind by itself",
            "search": "the model is asked after each word; the paper changes the first m words at once",
        },
    ),
    "textbugger": TEXTBUGGER,
    "tt-a2t": Published(
        "Bespalov et al. 2023", "Table 14", search="gradient(norm='l1')", constraints=("changed(share=0.1)",),
        differs=(
            "words matter by the L1 norm of the loss's gradient (2.4); in ours by integrated gradients from a masked text",
            "a tenth of the words at most, without a floor; in ours four words always may",
        ),
        remains={"pos": TAGGER},
    ),
    "tt-textfooler": replace(
        TEXTFOOLER, paper="Bespalov et al. 2023", where="Table 14; windows as in TextFooler's code, which it revises"
    ),
    "tt-pwws": Published("Bespalov et al. 2023", "Table 14", remains=PWWS.remains),
    "tt-deepwordbug": Published("Bespalov et al. 2023", "Table 14"),
    "tt-textbugger": replace(
        TEXTBUGGER, paper="Bespalov et al. 2023", where="Table 14 and its note on look-alikes and keys, by their words",
        perturbations=(
            *(LETTERS.format(kind) for kind in ("insert", "delete", "swap")), "5*homoglyph(scripts='ascii')",
            "5*keyboard(phi=0.0)", NEAREST.format(5),
        ),
        differs=(
            "a random letter comes in, as the row says; ours is a blank, as in TextBugger, which the row may mean", TYPED,
        ),
        remains={"meaning": ENCODER},
    ),
    "input-reduction": Published(
        "Feng et al. 2018", "beam search, five texts wide", search="beam(width=5)",
        differs=("words matter anew after each one that is left out, and five texts go on; in ours their order is that in the "
                 "whole text",),
        remains={"search": "the search goes on through texts whose answer has changed; the paper ends there"},
    ),
    "teapot": Published(
        "Michel et al. 2019", "3.1 and 3.2, eq. 2 to 4, appendix A.1",
        remains={
            "search": "at most three swaps in a word, whose number appendix A.1 leaves open; a piece is replaced once, and the "
            "text is cut into pieces anew after each, while the paper replaces subwords of the original segmentation",
        },
    ),
    "hotflip": Published(
        "Ebrahimi et al. 2018", "section 5.1, words",
        search="substitution(n=2, sign=False, beam=10, verify=10)",
        differs=("any word of the vocabulary is looked at; ours are the 50 nearest in the model's embeddings",),
        remains={
            "pos": TAGGER,
            "search": "the texts of the beam are compared by the model's answers; the paper's by the gradient alone",
        },
    ),
}  # fmt: skip


def as_published(recipe: Attack, name: str) -> Attack:
    """The recipe as its paper has it. name: as the user gave it. Raises ValueError for a recipe of no paper here."""
    if recipe.name not in PUBLISHED:
        raise ValueError(f"expected one of {', '.join(PUBLISHED)} for as_published, got {name!r}")
    return PUBLISHED[recipe.name].of(recipe)


def but_for(recipe: Attack, parts: Iterable[str]) -> str:
    """What heads a recipe of which the user chose some parts. recipe: ours. parts: names, as in `Attack.deviations`."""
    return f"{recipe.paper}{AS_PUBLISHED} but for {', '.join(NAMES.get(part, part) for part in parts)}"
