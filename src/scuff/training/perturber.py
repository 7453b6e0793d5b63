"""Perturbs batches on the fly, for trainers that are not Scuff's: before tokenising, by seed, epoch and example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from ..data.columns import text_columns
from ..data.dataset import Text
from ..data.formats.base import Record
from ..data.formats.streams import BadInput
from ..isolation import Failures
from ..perturbations.plan import Plan, whole_number
from ..perturbations.protect import Protect
from ..runs.settings import SIDES
from ..specs import check_switch, known_name
from .feeds import check_plans
from .mixtures import Mixture, example_keys, rewritten


@dataclass
class Perturber:
    """Perturbs the texts of a batch by a mixture, and returns the batch in the type that it was given in.

    A dict of lists, as `datasets` hands it to the functions of `map(batched=True)` and `set_transform`, or a list of dicts, as
    `torch` hands it to a collator. Labels and all other columns stay; so does what has no text. What becomes of an example
    depends on its texts (or its id), the seed and the epoch: not on the batch, the order, or the worker process. Parts of the
    mixture are therefore equal in expectation only; `Mixed` and `scuff.augment(mixture=...)`, which know all examples, make them
    exactly equal.

    mixture: as `Mixture.of` reads it. text: the column of texts or tokens, two for a pair; default: by their names. id: the
    column that names an example. epoch: set it by `set_epoch`, as that of a sampler. An example on which a perturbation raises
    stays as it is, and is counted in `failures`. Large batches are faster: each part of the mixture is one call of a few
    milliseconds.
    """

    mixture: Any
    seed: int = 0
    epoch: int = 0
    text: str | Sequence[str] = ()
    side: str = "first"
    id: str | None = None
    protect: Any = ()
    as_published: bool = False
    failures: Failures = field(default_factory=Failures, repr=False, compare=False)

    def __post_init__(self) -> None:
        whole_number(self.seed, "perturber.seed")
        check_switch(self.as_published, "perturber.as_published")
        known_name(self.side, SIDES, "a side")
        self.set_epoch(self.epoch)
        check_plans(self._plans(False), tokens=False)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made of the fields: `datasets` tells by this whether a result in its cache is of the same function."""
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "failures": Failures()}

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the batches to come."""
        self.epoch = whole_number(epoch, "perturber.epoch")

    def __call__(self, batch: Any) -> Any:
        rows, columns = self._rows(batch)
        usable = [at for at, row in enumerate(rows) if all(isinstance(row.get(c), str | list | tuple) for c in columns)]
        if not usable:
            return batch
        some = [rows[at] for at in usable]
        ids = [str(row[self.id]) for row in some] if self.id else None
        texts = [[_text(row[column]) for row in some] for column in columns]
        tokens = not isinstance(texts[0][0], str)
        mixture = self._for_tokens if tokens else self._mixture
        portion = mixture.by_chance(example_keys(texts, ids), self.seed, self.epoch)
        new = rewritten(
            texts,
            portion,
            self._plans(tokens),
            ids=ids,
            sides=SIDES[self.side],
            draw=self.epoch,
            failures=self.failures,
        )
        out = [dict(row) for row in rows]
        for column, values in zip(columns, new, strict=True):
            for at, value in zip(usable, values, strict=True):
                out[at][column] = list(value) if isinstance(value, tuple) else value
        if not isinstance(batch, Mapping):
            return out
        return {**batch, **{column: [row[column] for row in out] for column in columns}}

    def columns(self, rows: Sequence[Record]) -> list[str]:
        """Returns the columns of texts. Raises BadInput if their names do not tell."""
        given = [self.text] if isinstance(self.text, str) else list(self.text)
        found = text_columns("batch", list(rows[0]), given)
        if max(SIDES[self.side]) >= len(found):
            raise BadInput(f"batch: expected two columns of texts for side {self.side}, got {', '.join(found)}")
        return found

    def _rows(self, batch: Any) -> tuple[list[Record], list[str]]:
        if isinstance(batch, Mapping):
            names = list(batch)
            rows = [dict(zip(names, row, strict=True)) for row in zip(*(batch[name] for name in names), strict=True)]
        else:
            rows = list(batch)
        if not rows:
            return [], []
        columns = self.columns(rows)
        if self.id and self.id not in rows[0]:
            raise BadInput(f"batch: expected a column {self.id!r}, got {', '.join(rows[0])}")
        return rows, columns

    @cached_property
    def _mixture(self) -> Mixture:
        return Mixture.of(self.mixture, as_published=self.as_published)

    @cached_property
    def _for_tokens(self) -> Mixture:
        return self._mixture.for_tokens()

    def _plans(self, tokens: bool) -> list[Plan | None]:
        return (self._for_tokens if tokens else self._mixture).plans(self.seed, Protect.of(self.protect))


def _text(value: Any) -> Text:
    return value if isinstance(value, str) else tuple(value)
