"""How the papers have each perturbation: the options that make ours behave so, and what no option can do.

This table is the one place that says it: `--as-published`, `scuff describe` and docs/published.md read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, overload

from ..resources import MissingResource
from ..specs import parse_call, split_outside
from .base import Perturbation
from .combine import OneOf, Only, Then
from .names import FAMILY, parse

ZEROE, ROBTEST = "Zéroe", "RobTest"
COIN = "coin"  # Zéroe 3.1: words in random order, a coin of p about each, until a share p is perturbed


@dataclass(frozen=True)
class Published:
    """How a paper has a perturbation.

    spec: with the options that differ from our defaults. paper, section: where it is described. differs: what our default does
    otherwise. remains: what differs even so. selection: how the paper chooses words, where that is not our default. elsewhere:
    the spec of another source (the thesis, the published code) where that says something else. needs: what a user must give.
    """

    spec: str
    paper: str
    section: str
    differs: str = ""
    remains: str = ""
    selection: str | None = None
    elsewhere: tuple[tuple[str, str], ...] = ()
    needs: str = ""

    @property
    def source(self) -> str:
        """Paper and section."""
        return f"{self.paper} {self.section}"


def _zeroe(spec: str, differs: str = "", **more: Any) -> Published:
    return Published(spec, ZEROE, more.pop("section", "3.2"), differs, selection=more.pop("selection", COIN), **more)


def _robtest(spec: str, differs: str = "", **more: Any) -> Published:
    return Published(spec, ROBTEST, "2.1; published code", differs, **more)


CODE, THESIS = "published code", "thesis 3.3.1"
_ALONE = "each letter changes with probability phi by itself, so a chosen word may stay; ours changes at least one"

# By name; phonetic-m and phonetic-g are RobTest's columns of a perturbation that Zéroe has, too.
PUBLISHED: dict[str, Published] = {
    "inner-shuffle": _zeroe(
        "inner-shuffle",
        remains="ours always gives another word if there is one; the paper does not say, its code gives up after ten tries",
    ),
    "full-shuffle": _zeroe(
        "full-shuffle",
        remains="ours always gives another word if there is one; the paper does not say, its code gives up after ten tries",
        elsewhere=((THESIS, "full-shuffle(min_letters=3)"), (CODE, "full-shuffle(min_letters=3)")),
    ),
    "intrude": _zeroe(
        "intrude(at_least_one=False)",
        "each gap gets a symbol with probability phi by itself, so a chosen word may stay; ours gets at least one",
        remains="the printed list of symbols lacks _ and ~, which the paper's examples use: ours has both; tagging data gets no "
        "blanks, which would cut tokens in two",
        elsewhere=((CODE, "intrude(min_letters=2)"),),
    ),
    "disemvowel": _zeroe("disemvowel", elsewhere=((CODE, "disemvowel(min_letters=3)"),)),
    "truncate": _zeroe(
        "truncate(keep=2)",
        "words of 3 letters are cut, too; ours leaves 3",
        elsewhere=((THESIS, "truncate"), (CODE, "truncate")),
    ),
    "segment": _zeroe("segment", selection=None, remains="no word is joined across punctuation or a line end"),
    "keyboard": _zeroe(
        "keyboard(at_least_one=False)",
        _ALONE,
        remains="case is kept",
        elsewhere=((CODE, "keyboard(phi=0, keys='all')"),),
    ),
    "natural": _zeroe(
        "natural(listed=True)",
        "a word is replaced by an error of the list, and words that it lacks stay; ours misspells those by learnt statistics",
        remains="the list is ours, of 2,500 words: that of Belinkov and Bisk (12,908 words) has no licence; who has it gives it, "
        "natural(errors='en.tsv'), and then all of it is as in the paper but that the case of the word is kept",
    ),
    "phonetic": _zeroe(
        "phonetic(listed=True, choice='best')",
        "one respelling a word, always the same, and none for words outside the lexicon (4.4: few words changed overall); ours "
        "draws among up to 8, and respells all other words by rules",
        section="3.2, 3.3, 4.4",
        remains="the paper's one answer is often the word itself, which then stays: our table has only other spellings, so far "
        "more words change; the lexicon is free, not Combilex",
    ),
    "visual": _zeroe(
        "visual(scope='words', at_least_one=False)",
        "words are chosen first, and then each letter of a chosen word is replaced with probability phi (4.4: doubly "
        "parametrised); ours takes every character of the text with that probability, as the thesis",
        section="3.2, 3.3, 4.4",
        remains="the space of likeness is trained otherwise (docs/visual.md); marks and right-to-left letters",
        elsewhere=((THESIS, "visual"), (CODE, "visual(choice='likeness')")),
    ),
    "typo": _robtest(
        "typo(layout='any')", "letters that come in are any letters; ours are neighbours on the keyboard"
    ),
    "glyph": _robtest("glyph", remains="the space of likeness is ours (docs/visual.md); the paper does not say which it takes"),
    "phonetic-g": _robtest(
        "phonetic(slight=True)", remains="ANTHRO's spellings, which people wrote, are not at hand: ours are made by models"
    ),
    "phonetic-m": _robtest("phonetic", remains="as phonetic-g"),
    "synonym": _robtest(
        "synonym(source='wordnet', loose=True)",
        "every lemma of every WordNet synset of the word, as any part of speech, whatever the sentence; ours are pairs of a list "
        "of its own that mean the same in nearly every sentence",
        remains="HowNet may not be shipped: who has it gives a file, synonym(source='hownet.tsv')",
    ),
    "contextual": _robtest(
        "contextual(original=False, loose=True)",
        "the likeliest words of a masked language model, whatever they are; ours must keep the tag, be no opposite and, where an "
        "encoder is at hand, be alike",
        needs="a masked language model: contextual(mlm='FOLDER_OR_ID'), or --mlm of evaluate, attack and augment",
    ),
    "inflection": _robtest("inflection"),
    "syntax": _robtest(
        "paraphrase",
        "a trained model rewords the sentence; ours does by rules",
        needs="a trained paraphraser, a sequence-to-sequence model: paraphrase(model='FOLDER_OR_ID')",
    ),
    "distraction": _robtest(
        "distraction", remains="the whole text is kept (the code keeps its first sentence) and the words that come in are neutral"
    ),
}  # fmt: skip


@overload
def as_published(perturbation: str, column: str | None = ...) -> str: ...
@overload
def as_published(perturbation: Perturbation, column: str | None = ...) -> Perturbation: ...
@overload
def as_published(perturbation: str | Perturbation, column: str | None = ...) -> str | Perturbation: ...
def as_published(perturbation: str | Perturbation, column: str | None = None) -> str | Perturbation:
    """Returns the perturbation as its paper has it: a spec for a spec, an object for an object.

    Options that the user wrote stay as they are (of an object: those that are not at their default). What no paper of ours has,
    such as a class of the user's own, is returned as it is. column: RobTest's name, where a perturbation has two papers.
    """
    if isinstance(perturbation, str):
        sequence = (split_outside(part, "|") for part in split_outside(perturbation, "+"))
        return "+".join("|".join(_merged(single, column) for single in parts) for parts in sequence)
    return _rebuilt(perturbation, column)


def check_at_hand(perturbation: str | Perturbation) -> None:
    """Raises MissingResource for a perturbation in whose place its paper has one that works only with a model of the user's."""
    for part in _parts(parse(perturbation)):
        entry = PUBLISHED.get(part.name)
        if entry and parse_call(entry.spec)[0] != part.name:
            raise MissingResource(f"{part.name} as published is {entry.needs}")


def published_selection(perturbation: str | Perturbation, column: str | None = None) -> str | None:
    """Returns how the paper chooses words; None where that is our default, or where parts differ."""
    entries = [PUBLISHED.get(column or part.name) for part in _parts(parse(perturbation))]
    known = {entry.selection if entry else None for entry in entries}
    return known.pop() if len(known) == 1 else None


def _parts(perturbation: Perturbation) -> Iterable[Perturbation]:
    if isinstance(perturbation, Then | OneOf):
        for part in perturbation.parts:
            yield from _parts(part)
    elif isinstance(perturbation, Only):
        yield from _parts(perturbation.part)
    else:
        yield perturbation


def _merged(spec: str, column: str | None) -> str:
    """One spec, with the published options that it does not name. Raises ValueError if it is wrong, as `parse` does."""
    name, own = parse_call(spec)
    FAMILY.build(spec)
    entry = PUBLISHED.get(column or name)
    if entry is None:
        return spec.strip()
    theirs, options = parse_call(entry.spec)
    if theirs != name and own:
        raise ValueError(f"expected {name} without options as published ({entry.spec}), got {spec.strip()!r}")
    options = {**{option: value for option, value in options.items() if option not in own}, **own}
    return theirs + (f"({', '.join(f'{option}={value!r}' for option, value in options.items())})" if options else "")


def _rebuilt(perturbation: Perturbation, column: str | None) -> Perturbation:
    if isinstance(perturbation, Then | OneOf):
        parts = tuple(_rebuilt(part, column) for part in perturbation.parts)
        return replace(perturbation, parts=parts)
    if isinstance(perturbation, Only):
        return replace(perturbation, part=_rebuilt(perturbation.part, column))
    entry = PUBLISHED.get(column or perturbation.name)
    if entry is None or FAMILY.shipped.get(perturbation.name) is not type(perturbation):
        return perturbation
    theirs, options = parse_call(entry.spec)
    own = {
        field.name
        for field in fields(perturbation)
        if field.default is not MISSING and getattr(perturbation, field.name) != field.default
    }
    if theirs != perturbation.name:
        if own:
            raise ValueError(
                f"expected {perturbation.name} without options as published ({entry.spec}), got {perturbation.spec!r}"
            )
        return parse(entry.spec)
    changes = {option: value for option, value in options.items() if option not in own}
    return replace(perturbation, **changes)
