"""How many words of a text a network reads that cuts its input off after so many pieces."""

from __future__ import annotations

from typing import Any

PROBE = "one two three"


def words_read(tokenizer: Any, max_length: int) -> int | None:
    """Returns how many words of a text can have pieces among the first `max_length`; None if that cannot be told.

    It can be told of fast tokenizers that cut texts at blanks and drop what is behind the last piece: each word with an ASCII
    letter or digit has one piece at least then.
    """
    if not getattr(tokenizer, "is_fast", False) or tokenizer.truncation_side != "right":
        return None
    cutter = tokenizer.backend_tokenizer.pre_tokenizer
    alone = cutter is not None and len(cutter.pre_tokenize_str(PROBE)) == len(PROBE.split())
    return max_length if alone else None
