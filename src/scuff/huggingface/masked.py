"""A masked language model that proposes words for a gap in a text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..text.ragged import Ints
from .batches import EvenPieces, padded_length, run_evenly
from .loading import BadModel, Loaded, load

TextSpan = tuple[int, int, int]  # the number of a text, start, stop


class Place(NamedTuple):
    """The pieces of a span and those around it."""

    before: list[int]
    inside: list[int]
    behind: list[int]


def places(
    loaded: Loaded, texts: Sequence[str], spans: Sequence[TextSpan], size: int, *, lead: str = ""
) -> list[Place]:
    """The pieces of each span and `size` of them around it, as many on each side if there are enough. Encodes each text once.

    lead: goes before every text, such as a space, so that its first word has the same pieces as elsewhere.
    """
    wanted = sorted({text for text, _, _ in spans})
    encoded = _backend(loaded).encode_batch([lead + texts[text] for text in wanted], add_special_tokens=False)
    known = {
        text: (one.ids, [start for start, _ in one.offsets], [stop for _, stop in one.offsets])
        for text, one in zip(wanted, encoded, strict=True)
    }
    found = []
    for text, start, stop in spans:
        ids, starts, stops = known[text]
        first, last = bisect_right(stops, start + len(lead)), bisect_left(starts, stop + len(lead))
        last = max(first, last)  # what the tokenizer drops, such as a control character, has no pieces
        right = min(len(ids) - last, max(size // 2, size - first))  # one side gets what the other does not need
        left = min(first, size - right)
        found.append(Place(ids[first - left : first], ids[first:last], ids[last : last + right]))
    return found


def _backend(loaded: Loaded) -> Any:
    """The fast tokenizer without padding and truncation. Raises BadModel if the tokenizer is a slow one."""
    if not loaded.tokenizer.is_fast:
        raise BadModel(f"expected a fast tokenizer for {loaded.name}, got {type(loaded.tokenizer).__name__}")
    backend = loaded.tokenizer.backend_tokenizer
    backend.no_padding()  # some tokenizers are stored with both
    backend.no_truncation()
    return backend


INNER = "##"  # marks pieces that do not begin a word (WordPiece)
FIRST = ("Ġ", "▁")  # or these mark those that do (byte-level pairs, SentencePiece)
SPARE = 8  # more words than wanted are found, so that ties at the end are settled by the words and not by the device


class MaskedModel:
    """Fills gaps by whole words. `load` opens one.

    original: the model reads the whole text before the text with the gap, which makes words of another meaning less likely (Qiang
    et al., AAAI 2020); otherwise the text with the gap alone.
    """

    def __init__(self, loaded: Loaded, original: bool = True) -> None:
        self.loaded, self.original = loaded, original
        if loaded.tokenizer.mask_token_id is None:
            raise BadModel(f"expected a tokenizer with a mask for {loaded.name}, got one without")
        if not self.words:
            raise BadModel(f"expected whole words among the pieces of {loaded.name}, got none")

    @classmethod
    def load(cls, name: str, device: str = "auto", *, original: bool = True) -> MaskedModel:
        """Loads a Hugging Face model by folder or id; keeps it loaded."""
        return _open(name, device, original)

    @property
    def identity(self) -> str:
        """Differs for different weights."""
        return self.loaded.digest

    @cached_property
    def words(self) -> dict[int, str]:
        """The pieces that are whole words of letters, by their number."""
        return whole_words(self.loaded.tokenizer)

    def fill(self, texts: Sequence[str], spans: Sequence[TextSpan], top: int) -> list[list[tuple[str, float]]]:
        """For each span the `top` words that fit there best, with their log probabilities."""
        if not spans:
            return []
        rows, place = self._masked(texts, spans)
        pieces = EvenPieces.of({"input_ids": rows})
        place = place[pieces.order]  # in the order of `pieces`, as run_evenly counts rows
        parts = run_evenly(self.loaded, pieces, lambda inputs, at: self._best(inputs, place[at], top))
        best = np.concatenate([part.cpu().numpy() for part in parts]).astype(np.float64).round(3)
        words = list(self.words.values())
        found: list[list[tuple[str, float]]] = [[] for _ in spans]
        for row, (scores, numbers) in zip(pieces.order.tolist(), best.tolist(), strict=True):
            each = [(words[int(number)], score) for number, score in zip(numbers, scores, strict=True)]
            found[row] = sorted(each, key=lambda word: (-word[1], word[0]))[:top]
        return found

    def log_likelihood(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], Ints]:
        """The sum over a text's pieces of the log probability of each one where it alone is hidden (Salazar et al., ACL 2020),
        and how many pieces each text has. exp(-sum / pieces) is its pseudo-perplexity.
        """
        before, behind = self.loaded.frame(1)
        size = padded_length(self.loaded) - len(before) - len(behind)
        encoded = [one.ids for one in _backend(self.loaded).encode_batch(list(texts), add_special_tokens=False)]
        total, count = np.zeros(len(texts)), np.array([len(ids) for ids in encoded], np.int64)
        rows, text, hidden, place = [], [], [], []
        for number, ids in enumerate(encoded):
            for at, piece in enumerate(ids):
                left = max(0, min(at - size // 2, len(ids) - size))  # a long text is seen in part
                seen = ids[left : left + size]
                rows.append(
                    [*before, *seen[: at - left], self.loaded.tokenizer.mask_token_id, *seen[at - left + 1 :], *behind]
                )
                text.append(number)
                hidden.append(piece)
                place.append(len(before) + at - left)
        if rows:
            pieces = EvenPieces.of({"input_ids": rows})
            at_mask, wanted = np.array(place)[pieces.order], np.array(hidden)[pieces.order]
            parts = run_evenly(
                self.loaded, pieces, lambda inputs, at: self._likelihood(inputs, at_mask[at], wanted[at])
            )
            found = np.concatenate([part.cpu().numpy() for part in parts]).astype(np.float64)
            np.add.at(total, np.array(text)[pieces.order], found)
        return total, count

    def _likelihood(self, inputs: dict[str, Any], place: Ints, piece: Ints) -> Any:
        """The log probability of a piece at one place of each row."""
        import torch

        logits = self._at_masks(inputs, place).log_softmax(-1)
        return logits.gather(1, torch.from_numpy(piece).to(logits.device)[:, None])[:, 0]

    def _masked(self, texts: Sequence[str], spans: Sequence[TextSpan]) -> tuple[list[list[int]], Ints]:
        """The pieces around each span, with a mask in its place, and where the mask is."""
        tokenizer, marks = self.loaded.tokenizer, self.loaded.frame(2 if self.original else 1)
        size = (padded_length(self.loaded) - sum(map(len, marks)) - 1) // (len(marks) - 1)
        first = tokenizer.convert_ids_to_tokens(next(iter(self.words)))
        lead = " " if first.startswith(FIRST) else ""  # so that the first word has the same pieces as elsewhere
        rows, place = [], np.empty(len(spans), np.int64)
        for row, (before, inside, behind) in enumerate(places(self.loaded, texts, spans, size, lead=lead)):
            whole = [*before, *inside, *behind][:size]
            if before and tokenizer.convert_ids_to_tokens(before[-1]) in FIRST:  # the mask stands for the space, too
                before = before[:-1]
            begin = [*marks[0], *whole, *marks[1]] if self.original else marks[0]
            rows.append([*begin, *before, tokenizer.mask_token_id, *behind, *marks[-1]])
            place[row] = len(begin) + len(before)
        return rows, place

    def _best(self, inputs: dict[str, Any], place: Ints, top: int) -> Any:
        """The best words of each row: their scores, and their numbers among `words`."""
        import torch

        logits = self._at_masks(inputs, place)
        numbers = torch.tensor([number for number in self.words if number < logits.shape[1]], device=logits.device)
        best = logits.log_softmax(-1)[:, numbers].topk(min(top + SPARE, len(numbers)))
        return torch.stack([best.values, best.indices.float()], 1)  # whole numbers are exact up to 2**24

    def _at_masks(self, inputs: dict[str, Any], place: Ints) -> Any:
        """The scores of all pieces at one place of each row."""
        import torch

        model = self.loaded.model
        row, at = torch.arange(len(place), device=model.device), torch.from_numpy(place).to(model.device)

        def only_masks(_module: Any, _inputs: Any, output: Any) -> Any:
            """Keeps the masks alone: the head multiplies by the vocabulary, which takes longer than all layers before it."""
            output["last_hidden_state"] = output["last_hidden_state"][row, at, None]
            return output

        hook = model.base_model.register_forward_hook(only_masks)
        try:
            return model(**inputs).logits[:, 0].float()
        finally:
            hook.remove()


def whole_words(tokenizer: Any) -> dict[int, str]:
    """The pieces that are words of letters, by number, whichever way the tokenizer marks where words begin."""
    vocabulary = sorted((number, piece) for piece, number in tokenizer.get_vocab().items())
    special = set(tokenizer.all_special_ids)
    mark = next((mark for mark in FIRST if any(piece.startswith(mark) for _, piece in vocabulary)), "")
    found = {}
    for number, piece in vocabulary:
        if number in special or (not piece.startswith(mark) if mark else piece.startswith(INNER)):
            continue
        word = tokenizer.convert_tokens_to_string([piece]).strip() if mark else piece  # byte-level pieces are no text
        if word.isalpha():
            found[number] = word
    return found


@cache
def _open(name: str, device: str, original: bool) -> MaskedModel:
    return MaskedModel(_load(name, device), original)


@cache
def _load(name: str, device: str) -> Loaded:
    return load(name, "AutoModelForMaskedLM", "a masked language model", device=device)
