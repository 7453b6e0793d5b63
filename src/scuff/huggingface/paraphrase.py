"""Paraphrases of texts, by a sequence-to-sequence model that was trained for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from .batches import EvenPieces, encode, padded_length, run_evenly
from .loading import Loaded, load


class Paraphraser:
    """Rewords texts by beam search, which draws nothing at random. `load` opens one."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded

    @classmethod
    def load(cls, name: str, device: str = "auto") -> Paraphraser:
        """Loads a Hugging Face model by folder or id; keeps it loaded."""
        return _load(name, device)

    @property
    def identity(self) -> str:
        """Differs for different weights."""
        return self.loaded.digest

    def __call__(
        self, texts: Sequence[str], *, beams: int = 4, prefix: str = "", longest: int = 128
    ) -> list[list[str]]:
        """For each text up to `beams` others, all different and none the text itself, the likeliest first.

        prefix: what the model expects before a text ("paraphrase: "). longest: pieces of a paraphrase at most; one that does not
        end within them is left out. A text of more pieces than the model takes has none, because half a text says something else.
        """
        found: list[list[str]] = [[] for _ in texts]
        if not len(texts):
            return found
        pieces = encode(self.loaded.tokenizer, [[prefix + text for text in texts]], 1 << 30)
        fit = np.flatnonzero(pieces.length <= padded_length(self.loaded))
        rows = np.split(pieces.flat["input_ids"], pieces.start[1:-1])
        short = EvenPieces.of({"input_ids": [rows[at].tolist() for at in fit.tolist()]})
        parts = run_evenly(self.loaded, short, lambda inputs, _: self._search(inputs, beams, longest), share=beams)
        for at, written in zip(short.order.tolist(), chain.from_iterable(parts), strict=True):
            text = int(pieces.order[fit[at]])
            found[text] = [new for new in dict.fromkeys(map(str.strip, written)) if new and new != texts[text].strip()]
        return found

    def _search(self, inputs: dict[str, Any], beams: int, longest: int) -> list[list[str]]:
        """What the model writes for each row, "" for what does not end."""
        written = self.loaded.model.generate(
            **inputs, do_sample=False, num_beams=beams, num_return_sequences=beams, max_new_tokens=longest
        )
        texts = self.loaded.tokenizer.batch_decode(written, skip_special_tokens=True)
        ends = np.atleast_1d(self.loaded.model.generation_config.eos_token_id).tolist()
        whole = [any(end in row for end in ends) for row in written[:, 1:].tolist()]
        kept = [text if complete else "" for text, complete in zip(texts, whole, strict=True)]
        return [kept[at : at + beams] for at in range(0, len(kept), beams)]


@cache
def _load(name: str, device: str) -> Paraphraser:
    return Paraphraser(load(name, "AutoModelForSeq2SeqLM", "a model that writes text for text", device=device))
