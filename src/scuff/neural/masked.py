"""Words that fit into a gap of a text: a masked language model (Devlin et al., NAACL 2019)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..text.ragged import Ints
from .even import EvenPieces, room, run
from .library import BadModel
from .loading import Loaded, load

INNER = "##"  # marks pieces that do not begin a word (WordPiece)
FIRST = ("Ġ", "▁")  # or these mark those that do (byte-level pairs, SentencePiece)
SPARE = 8  # words more than wanted, so that ties at the end are settled by the words and not by the device
Word = tuple[str, float]


class MaskedModel:
    """Fills gaps by whole words. `load` opens one."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        if loaded.tokenizer.mask_token_id is None or not loaded.tokenizer.is_fast:
            raise BadModel(f"expected a fast tokenizer with a mask, got {type(loaded.tokenizer).__name__} of {loaded.name}")
        if not self.words[0].size:
            raise BadModel(f"expected whole words among the pieces of {loaded.name}, got none")

    @classmethod
    def load(cls, name: str, device: str = "auto") -> MaskedModel:
        """By folder or id of a Hugging Face model; one that is open stays open."""
        return _load(name, device)

    @property
    def identity(self) -> str:
        """Tells the weights apart."""
        return self.loaded.digest

    @cached_property
    def words(self) -> tuple[Ints, list[str]]:
        """The pieces that are words of letters: their numbers and what they stand for."""
        tokenizer = self.loaded.tokenizer
        vocabulary = sorted((number, piece) for piece, number in tokenizer.get_vocab().items())
        mark = next((mark for mark in FIRST if any(piece.startswith(mark) for _, piece in vocabulary)), "")
        numbers, words = [], []
        for number, piece in vocabulary:
            if number in tokenizer.all_special_ids or (not piece.startswith(mark) if mark else piece.startswith(INNER)):
                continue
            word = tokenizer.convert_tokens_to_string([piece]).strip() if mark else piece
            if word.isalpha():
                numbers.append(number)
                words.append(word)
        return np.array(numbers, np.int64), words

    def fill(self, texts: Sequence[str], spans: Sequence[tuple[int, int, int]], top: int) -> list[list[Word]]:
        """For each (number of a text, start, stop) the `top` words that fit there best, with their log probabilities.

        The model sees one mask instead of the span, and as much text around it as it takes.
        """
        if not spans:
            return []
        rows, place = self._masked(texts, spans)
        pieces = EvenPieces.of({"input_ids": rows})
        place = place[pieces.order]  # in the order of the pieces, as `run` counts
        parts = run(self.loaded, pieces, lambda inputs, at: self._best(inputs, place[at], top))
        best = np.concatenate([part.cpu().numpy() for part in parts])
        words = self.words[1]
        found: list[list[Word]] = [[] for _ in spans]
        for row, (scores, numbers) in zip(pieces.order.tolist(), best.round(3).tolist(), strict=True):
            each = [(words[int(number)], score) for number, score in zip(numbers, scores, strict=True)]
            found[row] = sorted(each, key=lambda word: (-word[1], word[0]))[:top]
        return found

    def _masked(self, texts: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> tuple[list[list[int]], Ints]:
        """The pieces around each span, with a mask in its place, and where the mask is."""
        before, behind = self.loaded.frame
        size = room(self.loaded) - len(before) - len(behind) - 1
        lead = " " if self.words_have_spaces else ""  # so that the first word looks like every other
        known: dict[int, tuple[list[int], list[int], list[int]]] = {}
        wanted = sorted({text for text, _, _ in spans})
        encoded = self._encode([lead + texts[text] for text in wanted])
        for text, one in zip(wanted, encoded, strict=True):
            known[text] = one.ids, [start for start, _ in one.offsets], [stop for _, stop in one.offsets]
        rows, place = [], np.empty(len(spans), np.int64)
        for row, (text, start, stop) in enumerate(spans):
            ids, starts, stops = known[text]
            first, last = bisect_right(stops, start + len(lead)), bisect_left(starts, stop + len(lead))
            right = min(len(ids) - last, max(size // 2, size - first))  # what one side does not need the other gets
            left = min(first, size - right)
            mask = self.loaded.tokenizer.mask_token_id
            rows.append([*before, *ids[first - left : first], mask, *ids[last : last + right], *behind])
            place[row] = len(before) + left
        return rows, place

    @cached_property
    def words_have_spaces(self) -> bool:
        """Whether the pieces that begin a word hold the space before it."""
        return self.words[1][0] != self.loaded.tokenizer.convert_ids_to_tokens(int(self.words[0][0]))

    def _encode(self, texts: list[str]) -> Any:
        backend = self.loaded.tokenizer.backend_tokenizer
        backend.no_padding()
        backend.no_truncation()
        return backend.encode_batch(texts, add_special_tokens=False)

    def _best(self, inputs: dict[str, Any], place: Ints, top: int) -> Any:
        """Of each row the best words: their scores and their numbers among `words`."""
        import torch

        model = self.loaded.model
        device = model.device
        at = torch.from_numpy(place).to(device)

        def only_masks(_module: Any, _inputs: Any, output: Any) -> Any:
            """The head multiplies by the whole vocabulary, which costs more than all the layers before; one place suffices."""
            output["last_hidden_state"] = output["last_hidden_state"][torch.arange(len(at), device=device), at, None]
            return output

        hook = model.base_model.register_forward_hook(only_masks)
        try:
            logits = model(**inputs).logits[:, 0].float()
        finally:
            hook.remove()
        numbers = torch.from_numpy(self.words[0]).to(device)
        best = logits.log_softmax(-1)[:, numbers].topk(min(top + SPARE, len(numbers)))
        return torch.stack([best.values, best.indices.float()], 1)  # numbers below 2**24 are exact


@cache
def _load(name: str, device: str) -> MaskedModel:
    return MaskedModel(load(name, "AutoModelForMaskedLM", "a masked language model", device=device))
