"""How many words of a text a network reads that cuts its input off after so many pieces."""

from __future__ import annotations

import string
from typing import Any

from .words import SEVERAL, added_tokens_hold_blanks, bare, states

PROBE = "one two three"
LETTERS = string.ascii_letters + string.digits


def words_read(tokenizer: Any, max_length: int) -> int | None:
    """Returns how many words of a text can have pieces among the first `max_length`; None if that cannot be told.

    It can be told of fast tokenizers that cut texts at blanks, drop what is behind the last piece, and make at least one piece of
    each word with an ASCII letter or digit.
    """
    if not getattr(tokenizer, "is_fast", False) or tokenizer.truncation_side != "right":
        return None
    backend = tokenizer.backend_tokenizer
    cutter, normal = backend.pre_tokenizer, backend.normalizer
    probe = normal.normalize_str(PROBE) if normal else PROBE
    alone = cutter is not None and len(cutter.pre_tokenize_str(probe)) == len(PROBE.split())
    return max_length if alone and not added_tokens_hold_blanks(backend) and _keeps_letters(backend) else None


def _keeps_letters(backend: Any) -> bool:
    """Whether each ASCII letter and digit has a piece: some tokenizers drop what they do not know, or what is to be replaced."""
    replaced = [one["pattern"] for one in states(backend.normalizer, "normalizers") if one["type"] == "Replace"]
    if any(set(pattern.get("String", "")) & set(LETTERS) for pattern in replaced):
        return False
    if any(pattern.get("Regex", SEVERAL) != SEVERAL for pattern in replaced):  # may take words away, such as addresses
        return False
    with bare(backend):
        try:
            found = backend.encode_batch_fast(list(LETTERS), add_special_tokens=False)
        except Exception:  # of a tokenizer that knows no word for what it does not know
            return False
    return all(map(len, found))
