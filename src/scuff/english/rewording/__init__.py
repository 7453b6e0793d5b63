"""Rules that reword English sentences: each finds places in a tagged sentence and says what may stand there instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..tagger import Token
from .clefts import (
    it_cleft,
    not_any,
    predicate_first,
    there_is,
    time_cleft,
    what_cleft,
    what_is,
    what_they_do,
    with_there,
    without_there,
)
from .contraction import contraction, expansion
from .coordination import alike, and_comma, both, commas, coordination
from .fragments import fragment
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
    with_relative,
    with_that,
    without_that,
)
from .order import (
    adverb,
    although,
    but,
    clause_order,
    clause_order_back,
    comment,
    equation,
    hard_to,
    inversion,
    join,
    on_day,
    source,
    to_do,
    to_end,
    to_front,
)
from .positions import after_subject, also, and_verb, before_subject, inside, manner, said_first, said_last, set_off
from .sentence import Rewording, Sentence
from .verbs import active, auxiliary, begins, dative, emphatic, infinitive, particle, passive, seems

Rule = Callable[[Sentence], Iterator[Rewording]]

RULES: tuple[Rule, ...] = (
    contraction, expansion,
    coordination, alike, both, commas, and_comma,
    to_front, to_end, on_day, source, comment, adverb,
    clause_order, clause_order_back, but, although, join,
    after_subject, before_subject, inside, set_off, and_verb, manner, also,
    it_cleft, time_cleft, what_cleft, what_they_do, what_is, predicate_first,
    inversion, equation, hard_to, to_do,
    there_is, with_there, without_there, not_any, fragment,
    apposition, reduced, participle, relative_pronoun, where,
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
