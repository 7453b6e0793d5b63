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
    """Whether a word with an ASCII letter or digit has a piece: some tokenizers drop what they do not know, or what is to be
    replaced.
    """
    with bare(backend):
        try:
            normalizers = states(backend.normalizer, "normalizers")
            splitters = states(backend.pre_tokenizer, "pretokenizers")
            found = backend.encode_batch_fast(list(LETTERS), add_special_tokens=False)
        except Exception:  # of a part written in Python; of a tokenizer that knows no word for what it does not know
            return False
    replaced = [one for one in normalizers if one["type"] == "Replace"]
    return (
        all(map(len, found))
        and not any(map(_takes_letters, replaced))
        and not any(one["type"] == "Split" and one["behavior"] == "Removed" for one in splitters)
        and _knows_letters(backend)
    )


def _takes_letters(replace: dict[str, Any]) -> bool:
    """Whether a normalizer may take ASCII letters or whole words away, such as addresses."""
    ((kind, pattern),) = replace["pattern"].items()
    if kind == "Regex":
        return pattern != SEVERAL or replace["content"] not in (" ", "▁")
    return bool(set(pattern) & set(LETTERS))


def _knows_letters(backend: Any) -> bool:
    """Whether letters have pieces wherever in a word they stand; BPE without a piece for the unknown drops others."""
    model = backend.model
    if type(model).__name__ != "BPE" or model.unk_token is not None or model.byte_fallback:
        return True
    before, behind = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    forms = {a + letter + b for letter in LETTERS for a in ("", before) for b in ("", behind)}
    return all(backend.token_to_id(form) is not None for form in forms)
