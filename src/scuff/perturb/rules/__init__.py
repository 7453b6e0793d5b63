"""Rules that reword English sentences: each finds places in a tagged sentence and says what may stand there instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...language.tagger import Token
from .adjectives import and_comma, commas
from .clefts import it_cleft, predicate_first, time_cleft, what_cleft, what_is, what_they_do
from .contraction import contraction, expansion
from .coordination import alike, both, coordination
from .existence import not_any, there_is, with_there, without_there
from .fragments import fragment
from .fronting import adverb, comment, on_day, source, to_end, to_front
from .inversion import equation, hard_to, inversion, to_do
from .nouns import all_of, genitive, possessive
from .order import although, but, clause_order, clause_order_back, join
from .positions import after_subject, also, and_verb, before_subject, inside, manner, set_off
from .relatives import apposition, participle, reduced, relative_pronoun, where
from .reporting import said_first, said_last
from .sentence import Rewording, Sentence
from .that import so_that, with_relative, with_that, without_that
from .verbs import auxiliary, begins, dative, emphatic, infinitive, particle, seems
from .voice import active, passive

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
    """All that the rules find in a text."""
    for sentence in Sentence.all_of(text, tokens):
        for rule in RULES:
            for found in rule(sentence):
                yield rule, found
