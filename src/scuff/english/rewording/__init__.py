"""Rules that reword English sentences: each finds places in a tagged sentence and says what may stand there instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..tagger import Token
from .attributes import and_one, attributive, full_of, relative, that_has, without_that_is
from .clefts import (
    it_cleft,
    no_more,
    not_any,
    place_first,
    predicate_first,
    seldom,
    so_that_is,
    there_is,
    time_cleft,
    what_cleft,
    what_is,
    what_it_is_like,
    what_they_do,
    with_there,
    without_there,
)
from .complements import (
    all_float,
    among,
    by_doing,
    fails_to,
    going_to,
    in_order_to,
    it_takes,
    less_than,
    manages,
    noun_is,
    one,
    purpose,
    said_who,
    seems_that,
    seems_to,
    such_a,
    there_are,
)
from .contraction import contraction, expansion, spoken
from .coordination import alike, and_comma, as_well_as, both, commas, coordination, lists, not_only
from .fragments import fragment, without_frame, without_it
from .nouns import (
    all_of,
    apposition,
    genitive,
    participle,
    possessive,
    reduced,
    relative_pronoun,
    so_that,
    where,
    which_is,
    with_relative,
    with_that,
    without_that,
)
from .order import (
    adverb,
    although,
    but,
    clause_front,
    clause_order,
    clause_order_back,
    comment,
    equation,
    hard_to,
    however,
    inversion,
    join,
    on_day,
    semicolon,
    source,
    to_do,
    to_end,
    to_front,
)
from .positions import (
    after_be,
    after_subject,
    also,
    and_verb,
    before_subject,
    brackets,
    dashes,
    inside,
    manner,
    said_first,
    said_last,
    set_off,
)
from .sentence import Rewording, Sentence
from .verbs import active, auxiliary, begins, dative, emphatic, infinitive, particle, passive, seems

Rule = Callable[[Sentence], Iterator[Rewording]]

RULES: tuple[Rule, ...] = (
    contraction, expansion, spoken,
    coordination, alike, both, commas, and_comma, lists, as_well_as, not_only,
    to_front, to_end, on_day, source, comment, adverb,
    clause_order, clause_order_back, clause_front, but, although, however, join, semicolon,
    after_subject, after_be, before_subject, inside, set_off, and_verb, manner, also, dashes, brackets,
    it_cleft, time_cleft, what_cleft, what_it_is_like, what_they_do, what_is, predicate_first, so_that_is, place_first,
    inversion, equation, hard_to, to_do,
    there_is, with_there, without_there, not_any, no_more, seldom, fragment, without_frame, without_it,
    relative, and_one, attributive, full_of, without_that_is, that_has,
    seems_that, seems_to, it_takes, fails_to, less_than, among, one, all_float, purpose, there_are,
    said_who, noun_is, by_doing, manages, going_to, such_a, in_order_to,
    apposition, which_is, reduced, participle, relative_pronoun, where,
    without_that, with_that, with_relative, so_that,
    said_first, said_last,
    active, passive,
    auxiliary, emphatic, seems, begins, infinitive, particle, dative,
    genitive, possessive, all_of,
)  # fmt: skip


def rewordings(text: str, tokens: list[Token]) -> Iterator[tuple[Rule, Rewording]]:
    """Yields every rewording that a rule finds in a text, with the rule."""
    for sentence in Sentence.all_of(text, tokens):
        for rule in RULES:
            for found in rule(sentence):
                yield rule, found
