"""Translators of `scuff.training.translation` as victims, with gradients for substitutions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..data.dataset import Task, joined
from ..huggingface.loading import BadModel, libraries
from ..resources.checksums import folder_digest
from ..text.ragged import Floats
from .base import Access, Column, Outputs, Victim, as_objects
from .substitution import Located, Vocabulary


class TranslatorVictim(Victim):
    """The translator of a folder. beam: width of the search, 1 is greedy. batch_tokens: rows x longest row of a batch."""

    task: Task = "text"
    access = Access.DECISION  # its gradients are for substitutions (`slopes`), not for the importance of words
    sees_through_files = True
    unknown = "<unk>"

    def __init__(
        self, folder: str | Path, *, device: str = "auto", beam: int = 1, batch_tokens: int | None = None
    ) -> None:
        libraries()
        from ..translators.translator import load

        if beam < 1:
            raise BadModel(f"expected 1 or more for beam of {folder}, got {beam}")
        if batch_tokens is not None and batch_tokens < 1:
            raise BadModel(f"expected 1 or more for batch_tokens of {folder}, got {batch_tokens}")
        self.name, self.folder, self.beam, self._tokens = str(folder), Path(folder).expanduser(), beam, batch_tokens
        self.translator = load(folder, device=device)
        if self.translator.device.type == "cuda":
            self.rows_at_once, self.cases_at_once = 8192, 1 << 16  # a few seconds of work

    def __call__(self, *columns: Column) -> Outputs:
        if len(columns) != 1:
            raise ValueError(f"expected one column of texts for {self.name}, got {len(columns)}")
        texts = [joined(text) for text in columns[0]]
        return Outputs.of(as_objects(self.translator.translate(texts, beam=self.beam, batch_tokens=self._tokens)))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        pieces = self.translator.source
        return Vocabulary(pieces.surfaces, pieces.begins, pieces.unknown, self.translator.vectors())

    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    def located(self, texts: Column) -> list[Located]:
        return [Located(*row) for row in self.translator.rows([joined(text) for text in texts])]

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        sources, references = [joined(text) for text in texts], [joined(target) for target in targets]
        return self.translator.slopes(sources, references, batch_tokens=self._tokens)

    @cached_property
    def _digest(self) -> str:
        return folder_digest(self.folder)

    @property
    def identity(self) -> str:
        """The digest of the folder, and what changes the answers."""
        return f"{self._digest}:text:{self.beam}"
