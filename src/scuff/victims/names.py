"""Which label a model means by a name or a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import OTHER
from .shapes import BadAnswer

NUMBER = re.compile(r"-?\d+")
LONGEST = 60  # letters of a label's name; what is longer is no label but talk


class Names:
    """The labels of a model. assumed: they are those of the data, in no order that the model knows."""

    def __init__(self, labels: Sequence[str], name: str, assumed: bool) -> None:
        self.name, self.labels = name, tuple(labels)
        self.named = tuple(label for label in labels if label != OTHER)
        self.number = {label.strip().casefold(): at for at, label in enumerate(labels)}
        if len(self.number) < len(self.labels):
            raise ValueError(f"expected labels that differ in more than case for {name}, got {', '.join(labels)}")
        self.ordered = not assumed or self.named == tuple(map(str, range(len(self.named))))
        self.strange = ""  # the last name that is none of the labels

    def number_of(self, label: Any) -> int | None:
        """By name; a number that is no name is the place in the labels, where they have an order."""
        if isinstance(label, bool | np.bool_):
            label = str(bool(label)) if str(bool(label)).casefold() in self.number else int(label)
        if not isinstance(label, str | int | np.integer):
            return None
        name = str(label).strip()
        found = self.number.get(name.casefold())
        if found is not None:
            return found
        if not isinstance(label, str):
            if not all(map(NUMBER.fullmatch, self.named)):
                if not self.ordered:
                    raise self.nameless()
                return int(label) if 0 <= label < len(self.named) else None
            # labels that are numbers are names, never places
            if label == 0 and self.named == tuple(map(str, range(1, len(self.named) + 1))):
                raise BadAnswer(
                    f"expected one of {', '.join(self.named)} from {self.name}, got 0: does it count from 0?"
                )
        self.strange = name
        return self.number.get(OTHER) if len(name) <= LONGEST and "\n" not in name else None

    def nameless(self) -> BadAnswer:
        return BadAnswer(
            f"expected names for the labels that {self.name} only numbers, got none: give them in its order with --labels "
            f"(the data has {', '.join(self.named)})"
        )
