"""Scores of labels from the tokens that a chat model weighed: `logprobs` of OpenAI-compatible answers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...text.ragged import Floats
from ..shapes import led_by
from .words import AROUND, bare, thought_ends


def label_scores(content: Any, labels: Sequence[str], said: int) -> Floats | None:
    """The probability of each label, of all labels together; None if the tokens do not show the label that was said.

    content: a list of tokens, each with its logprob and top_logprobs. said: the number of the label in the answer. At the token
    where this label begins, every token that was likely there counts for the labels that begin with it, in equal parts if they
    are several. If the token that was written fits several labels ("not hate", "not sure"), the next one decides between these,
    and so on. Labels that none of the likely tokens begins have 0. The label that was said has the highest score.
    """
    try:
        tokens = [str(entry["token"]) for entry in content]
        weighed = [_weighed(entry) for entry in content]
    except (LookupError, TypeError, ValueError):
        return None
    begin = _begin("".join(tokens), labels[said])
    if begin is None:
        return None
    shares, mass = np.zeros(len(labels)), 1.0
    rest = {number: bare(label) for number, label in enumerate(labels)}
    at, first = 0, True
    for token, likely in zip(tokens, weighed, strict=True):
        inside, at = max(0, begin - at), at + len(token)
        if at <= begin:
            continue
        written = _plain(token[inside:], first)
        for other, share in likely.items():
            if other != token:
                _count(shares, _fitting(_plain(other, first), rest), mass * share)
        fits = _fitting(written, rest)
        mass *= likely[token]
        if said not in fits:
            return None
        if len(fits) == 1:
            break
        rest, first = {number: rest[number][len(written) :] for number in fits}, False
    shares[said] += mass
    return led_by(shares[None] / shares.sum(), [said])[0] if shares[said] > 0 else None


def _weighed(entry: dict[str, Any]) -> dict[str, float]:
    """The probability of each token that was likely at a place, with the one that was written."""
    found = [*(entry.get("top_logprobs") or []), entry]
    return {str(one["token"]): math.exp(min(0.0, float(one["logprob"]))) for one in found}


def _begin(text: str, label: str) -> int | None:
    """Where a label begins in the final answer."""
    flat = "".join(c.lower() if len(c.lower()) == 1 else c for c in text).replace("\u2019", "'")
    pattern = r"[\s_*-]+".join(map(re.escape, bare(label).split(" ")))
    found = re.compile(pattern).search(flat, thought_ends(text))
    return found.start() if found else None


def _plain(token: str, first: bool) -> str:
    """A token as labels are compared; without what stands around it if it is the first."""
    text = re.sub(r"[\s_-]+", " ", token.casefold().replace("\u2019", "'").replace("*", ""))
    return text.strip(AROUND) if first else text.rstrip(AROUND) or " " * text.startswith(" ")


def _fitting(token: str, rest: dict[int, str]) -> list[int]:
    """The labels that a token can continue. A label that is complete fits if no other does."""
    fits = [
        number
        for number, left in rest.items()
        if token and left and (left.startswith(token) or (token.startswith(left) and not token[len(left)].isalnum()))
    ]
    return fits or [number for number, left in rest.items() if not left]


def _count(shares: Floats, fits: list[int], mass: float) -> None:
    for number in fits:
        shares[number] += mass / len(fits)
