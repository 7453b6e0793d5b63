"""A Hugging Face network that is trained, with its tokenizer and device: what all heads share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import torch

from ..huggingface.loading import BadModel, first_line, padding, quiet
from ..resources.checksums import folder_digest
from ..specs import some
from ..text.ragged import Ints
from .batching import Row, joined_rows

IGNORED = -100  # the target of pieces that have none, and of padding: losses leave it out


@dataclass(eq=False)
class Network:
    """A network on its device. source: the folder or id that it was opened from. max_length: pieces of a text that it sees."""

    source: str
    model: Any
    tokenizer: Any
    max_length: int
    device: Any

    @property
    def identity(self) -> str:
        """What it was opened from: a hash of the folder, or the id."""
        return folder_digest(Path(self.source)) if Path(self.source).is_dir() else self.source

    @property
    def width(self) -> int:
        """How many numbers the vector of a piece has."""
        return int(self.model.get_input_embeddings().weight.shape[1])

    @property
    def weights(self) -> int:
        """How many numbers the network consists of."""
        return sum(weight.numel() for weight in self.model.parameters())

    @cached_property
    def fill(self) -> dict[str, int]:
        """The arrays that the network takes, each with its padding value."""
        takes = signature(type(self.model).forward).parameters
        types = {"token_type_ids": self.tokenizer.pad_token_type_id} if "token_type_ids" in takes else {}
        return {"input_ids": padding(self.model, self.tokenizer), **types}

    def batch(self, rows: Sequence[Row], length: Ints, step: int) -> dict[str, Any]:
        """Arrays of some rows, the longest first, for the network; `target` among them, if the rows have one for each piece."""
        fill = {**self.fill, "target": IGNORED}
        return dict(
            joined_rows(rows, length, fill, self.tokenizer.padding_side == "left", step, self.max_length).inputs
        )

    def save(self, out: str | Path) -> None:
        """Writes a Hugging Face folder."""
        with quiet():
            self.model.save_pretrained(out, state_dict=self.state())
            self.tokenizer.save_pretrained(out)

    def state(self) -> dict[str, Any]:
        """The weights that are written."""
        return dict(self.model.state_dict())


@contextmanager
def opening(start: str | Path, where: Any, seed: int, wanted: str) -> Iterator[None]:
    """Quiet, with the chance that a new head is made by; errors of the libraries become BadModel with one line."""
    try:
        with quiet(), torch.random.fork_rng([where] if where.type == "cuda" else []):
            torch.manual_seed(seed)
            yield
    except BadModel:
        raise
    except OSError as error:
        raise BadModel(
            f"expected the folder or the id of a model within reach, got {start}: {first_line(error)}"
        ) from None
    except (ValueError, RuntimeError, ImportError, KeyError, TypeError, AttributeError) as error:
        raise BadModel(f"expected {wanted}, got {start}: {first_line(error)}") from None


def check_encoder(model: Any, missing: Sequence[str], start: str | Path) -> None:
    """Raises BadModel if the encoder itself lacks weights; a pooler may be new."""
    prefix = f"{model.base_model_prefix}."
    lacking = sorted(key for key in missing if key.startswith(prefix) and "pooler" not in key)
    if lacking:
        raise BadModel(f"expected an encoder with trained weights, got {start}, which lacks {some(lacking, 2)}")
