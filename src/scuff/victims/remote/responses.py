"""What a server's response means: JSON, or a failure in few words, free of keys."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from .connection import Answer

SHOWN = 100  # characters of what a server said that go into a message

HIDDEN = "***"


@dataclass(frozen=True)
class Failure:
    """Why a request has no answer: in short and, where the server said something, its status and words."""

    reason: str
    status: int = 0
    body: Any = None


def understand(answer: Answer, secrets: Sequence[str]) -> Any:
    """The JSON of an answer, or a Failure. Secrets that the server sent back are blanked out."""
    is_json = True
    try:
        body = hide(json.loads(answer.body), secrets)
    except (ValueError, RecursionError):
        is_json, body = False, hide(answer.body.decode(errors="replace"), secrets)
    if 200 <= answer.status < 300:
        return body if is_json else Failure(f"not JSON: {begin(body) or 'nothing'}", answer.status, body)
    moved = answer.headers.get("Location", "") if 300 <= answer.status < 400 else ""
    said = f"moved to {hide(moved.split('?')[0], secrets)}" if moved else body
    return Failure(f"status {answer.status}: {begin(said)}".rstrip(": "), answer.status, body)


def hide(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value without the secrets. Its strings, not its bytes: JSON can write a letter in several ways."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, list):
        return [hide(item, secrets) for item in value] if secrets else value
    if isinstance(value, dict):
        return {hide(key, secrets): hide(item, secrets) for key, item in value.items()} if secrets else value
    return value


def begin(value: Any) -> str:
    """The beginning of a value on one line that is safe to print."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        text = "something nested too deep"
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * SHOWN]).split())
    return text[:SHOWN]


def may_pass(status: int) -> bool:
    """Whether it is worth asking again. A status of success with something else than JSON is."""
    return status < 300 or status >= 500 or status in (408, 425, 429)


def retry_after(answer: Answer) -> float:
    """Seconds that the server wants us to wait, 0 where it does not say."""
    text = answer.headers.get("Retry-After", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            until = parsedate_to_datetime(text)
        except (TypeError, ValueError):
            return 0.0
        now = datetime.now(timezone.utc)
        seconds = (until.replace(tzinfo=until.tzinfo or timezone.utc) - now).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
