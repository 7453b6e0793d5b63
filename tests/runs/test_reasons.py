"""Why cases have no answer, in few words."""

from __future__ import annotations

import pytest

from scuff.runs.reasons import brief, in_brief, tally


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("error: timeout after 30 s", "timed out after 30 s"), ("error: timeout after 0.5 s", "timed out after 0.5 s"),
        ("error: status 500: you said: a text", "status 500"), ("error: status 401", "status 401"),
        ("error: status 429: no (try again in 3600 s)", "status 429"), ("error: not JSON: <html>a text", "not JSON"),
        ("error: no answer: ConnectionResetError: [Errno 104] x", "connection failed (ConnectionResetError)"),
        ("error: ValueError: cannot take: a text", "ValueError"), ("error: KeyError", "KeyError"),
        ("error: scores that are no numbers", "scores that are no numbers"), ("error: a text of a user", "other errors"),
        ('error: {"error": "a text"}', "other errors"), ("refused", "refused"), ("unparsed: a text", "unparsed"),
        ("unanswered", "unanswered"), ("no answer: error: status 502: a text", "status 502"), ("no answer: refused", "refused"),
        ("no answer: unparsed: a text", "unparsed"), ("a text", "other errors"),
    ],
)  # fmt: skip
def test_no_text_is_left(reason: str, kind: str) -> None:
    assert brief(reason) == kind


def test_counts_are_bounded() -> None:
    found = in_brief({f"error: status {500 + n}: {words}": n + 1 for n in range(9) for words in ("a", "b")})
    assert list(found.items())[:2] == [("status 508", 18), ("status 507", 16)] and sum(found.values()) == 90
    assert tally(found).endswith(", 10 status 504, 20 for other reasons") and tally(found).count(",") == 5
