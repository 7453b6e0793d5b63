"""The pieces of a translator: words, or subwords by BPE, with their places in the text, and texts made of pieces again.

Words are cut by one pattern for all languages, with nothing lost: the piece of a target word that stands directly behind another
("." in "bushes.") begins with JOINER, so that texts are put together without rules.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..text.ragged import Ints, Mask

# numbers; l' d' qu' before a vowel; 's behind a word; words, with hyphens; any other character
WORD = re.compile(r"\d+(?:[.,]\d+)+|\b\w{1,2}['’](?=\w)|(?<=\w)['’]\w+|\w+(?:-\w+)*|[^\w\s]")

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
PAD, BEGIN, END, UNKNOWN = range(len(SPECIAL))
JOINER, SPACE = "￭", "▁"  # marks of a word: none or a space before it; SPACE is only written by subwords


class Row(NamedTuple):
    """The pieces of a text and their places in it: characters start to stop."""

    ids: Ints
    start: Ints
    stop: Ints


class Words:
    """A vocabulary of words. `pieces`: the special ones first.

    joined: whether words directly behind another are pieces of their own, as the target side needs it.
    """

    kind = "words"
    unknown = UNKNOWN

    def __init__(self, pieces: Sequence[str], joined: bool) -> None:
        self.pieces, self.joined = list(pieces), joined
        self.number = {piece: at for at, piece in enumerate(self.pieces)}
        if tuple(self.pieces[: len(SPECIAL)]) != SPECIAL or len(self.number) != len(self.pieces):
            raise ValueError(f"expected {', '.join(SPECIAL)} and then different pieces in a vocabulary, got others")

    @classmethod
    def learn(cls, texts: Iterable[str], joined: bool, *, size: int, least: int) -> Words:
        """The `size` most frequent words that occur at least `least` times; rarer ones teach what <unk> means."""
        count = Counter(word for text in texts for word, _, _ in split(text, joined))
        words = sorted((word for word in count if count[word] >= least), key=lambda word: (-count[word], word))
        return cls([*SPECIAL, *words[: max(0, size - len(SPECIAL))]], joined)

    def __len__(self) -> int:
        return len(self.pieces)

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """The pieces of each text."""
        return [_row([piece for word in split(text, self.joined) for piece in self.cut(*word)]) for text in texts]

    def cut(self, word: str, start: int, stop: int) -> list[tuple[int, int, int]]:
        """The pieces of a word at this place of a text: number, start, stop."""
        return [(self.number.get(word, UNKNOWN), start, stop)]

    def text(self, pieces: Iterable[str]) -> str:
        """The text that pieces make; one without JOINER has a space before it."""
        return "".join(piece[1:] if piece.startswith(JOINER) else f" {piece}" for piece in pieces).strip()

    def marked(self, word: str) -> str:
        """The piece that a word would be, with a space before it."""
        return word

    @cached_property
    def surfaces(self) -> list[str]:
        """What each piece reads like inside a text; "" for special ones."""
        return ["" if at < len(SPECIAL) else self.surface(at) for at in range(len(self))]

    def surface(self, piece: int) -> str:
        return self.pieces[piece].removeprefix(JOINER) if self.joined else self.pieces[piece]

    @cached_property
    def begins(self) -> Mask:
        """Whether a piece begins a word; punctuation marks and the like do not."""
        return np.array([bool(re.match(r"\w", piece)) for piece in self.pieces], np.bool_)

    def state(self) -> dict[str, Any]:
        """What `of_state` makes it again from, as JSON can hold it."""
        return {"kind": self.kind, "joined": self.joined, "pieces": self.pieces}


class Subwords(Words):
    """A vocabulary of subwords (Sennrich et al. 2016), cut within words. The first piece of a word begins with SPACE or JOINER.

    model: tokenizers' BPE as JSON.
    """

    kind = "bpe"

    def __init__(self, model: str, joined: bool) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(model)
        vocabulary = tokenizer.get_vocab(with_added_tokens=False)
        super().__init__(sorted(vocabulary, key=vocabulary.__getitem__), joined)
        self.model, self._bpe = model, tokenizer.model
        self._known: dict[str, list[tuple[int, int]]] = {}

    @classmethod
    def learn(cls, texts: Iterable[str], joined: bool, *, size: int, least: int) -> Subwords:
        """By `size` operations at most; pairs that occur fewer than `least` times are not merged."""
        from tokenizers import Tokenizer, models, trainers

        words = [_marked(word, joined) for text in texts for word, _, _ in split(text, joined)]
        alphabet = {letter for word in words for letter in word}
        learner = trainers.BpeTrainer(
            vocab_size=size + len(SPECIAL) + len(alphabet), min_frequency=least, special_tokens=list(SPECIAL),
            show_progress=False,
        )  # fmt: skip
        tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL[UNKNOWN]))
        tokenizer.train_from_iterator(words, learner)
        made = json.loads(tokenizer.to_str())
        return cls(json.dumps({**made, "added_tokens": []}, ensure_ascii=False), joined)

    def cut(self, word: str, start: int, stop: int) -> list[tuple[int, int, int]]:
        """As for words. On the source side, a mark that is a piece of its own is left out: it has no place in the text."""
        found = self._known.get(word)
        if found is None:
            # an unknown piece is one character; the library's own places count bytes
            tokens = self._bpe.tokenize(_marked(word, self.joined))
            found = [(token.id, 1 if token.id == UNKNOWN else len(token.value)) for token in tokens]
            if len(self._known) < 1 << 18:
                self._known[word] = found
        out, at = [], start - 1
        for piece, length in found:
            if self.joined or at + length > start:
                out.append((piece, max(at, start), at + length))
            at += length
        return out

    def marked(self, word: str) -> str:
        return SPACE + word

    def text(self, pieces: Iterable[str]) -> str:
        parts = (piece[1:] if piece.startswith(JOINER) else piece.replace(SPACE, " ") for piece in pieces)
        return "".join(parts).strip()

    def surface(self, piece: int) -> str:
        return self.pieces[piece].removeprefix(JOINER if self.pieces[piece].startswith(JOINER) else SPACE)

    @cached_property
    def begins(self) -> Mask:
        return np.array([piece.startswith((SPACE, JOINER)) for piece in self.pieces], np.bool_)

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "joined": self.joined, "model": json.loads(self.model)}


def _marked(word: str, joined: bool) -> str:
    return word if joined and word.startswith(JOINER) else SPACE + word


LEARNERS = {"words": Words, "bpe": Subwords}


def of_state(state: dict[str, Any]) -> Words:
    """A vocabulary from what its `state` returned. Raises ValueError or KeyError for anything else."""
    if not isinstance(state, dict):
        raise ValueError(f"a JSON {'list' if isinstance(state, list) else type(state).__name__}")
    if state["kind"] == "bpe":
        return Subwords(json.dumps(state["model"], ensure_ascii=False), state["joined"])
    return Words(state["pieces"], state["joined"])


def split(text: str, joined: bool = False) -> list[tuple[str, int, int]]:
    """The words of a text, with start and stop; joined: JOINER before a word that stands directly behind another."""
    found = [(match.group(), match.start(), match.end()) for match in WORD.finditer(text)]
    if not joined:
        return found
    stops = [-1, *(stop for _, _, stop in found)]
    return [
        (JOINER + word if start == before else word, start, stop)
        for (word, start, stop), before in zip(found, stops, strict=False)
    ]


def _row(pieces: list[tuple[int, int, int]]) -> Row:
    ids, start, stop = np.array(pieces, np.int64).reshape(-1, 3).T.copy()
    return Row(ids, start, stop)
