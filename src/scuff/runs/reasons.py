"""Why cases have no answer, in few words for tables and reports: no texts, no words of a server, no messages of exceptions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

MOST = 5  # reasons that a line names; the rest is one number

# what `victims/` and `isolation.py` write after "error: ", and the words for it
KNOWN: tuple[tuple[str, str], ...] = (
    (r"timeout after ([\d.]+ s)", r"timed out after \1"),
    (r"(status \d+)\b.*", r"\1"),
    (r"no answer: (\w+):.*", r"connection failed (\1)"),
    (r"not JSON\b.*", "not JSON"),
    (r"(scores that are no numbers|the model's scores are nan)", r"\1"),
    (r"(\w+)(?:: .*)?", r"\1"),  # an exception
)


def brief(reason: str) -> str:
    """Returns the kind of a reason: "timed out after 30 s", "status 500", "ValueError", "refused", ..."""
    kind, _, words = reason.removeprefix("no answer: ").partition(": ")
    if kind != "error":
        return kind if kind in ("refused", "unparsed", "unanswered") else "other errors"
    for pattern, short in KNOWN:
        if found := re.fullmatch(pattern, words, re.DOTALL):
            return found.expand(short)
    return "other errors"


def in_brief(reasons: Mapping[str, int]) -> dict[str, int]:
    """Returns how often each kind of reason occurs, the most frequent first. reasons: how often each reason occurs."""
    found: Counter[str] = Counter()
    for reason, count in reasons.items():
        found[brief(reason)] += count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def tally(kinds: Mapping[str, int]) -> str:
    """Returns the most frequent kinds with their counts: "10 timed out after 30 s, 2 status 500"."""
    first = list(kinds.items())[:MOST]
    rest = sum(kinds.values()) - sum(count for _, count in first)
    return ", ".join(
        [*(f"{count:,} {kind}" for kind, count in first), *([f"{rest:,} for other reasons"] if rest else [])]
    )
