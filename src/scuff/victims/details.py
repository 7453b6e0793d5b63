"""What a model of Hugging Face tells about itself: names of labels, the longest text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..neural.library import BadModel
from ..neural.loading import positions


def label_names(model: Any, count: int, labels: Sequence[str] | None, name: str) -> tuple[str, ...]:
    """The user's names, else the model's own; () where it has only numbers."""
    if labels is not None:
        if len(labels) != count:
            raise BadModel(f"expected {count} labels for {name}, got {len(labels)}: {', '.join(labels)}")
        return tuple(labels)
    if not count:
        return ()
    names = tuple(str(label) for _, label in sorted(model.config.id2label.items()))
    return () if all(re.fullmatch(r"LABEL_\d+", label) for label in names) else names


def longest(model: Any, tokenizer: Any, wanted: int | None, name: str) -> int:
    """As many pieces as model and tokenizer take, 512 where neither says; the user may ask for fewer."""
    known = positions(model)
    if wanted is not None:
        least = tokenizer.num_special_tokens_to_add(pair=True) + 1
        if wanted < least or 0 < known < wanted:
            raise BadModel(f"expected {least} to {known or 'any number'} for max_length of {name}, got {wanted}")
        return wanted
    limits = [limit for limit in (known, tokenizer.model_max_length) if 0 < limit < 1 << 30]
    return min(limits, default=512)
