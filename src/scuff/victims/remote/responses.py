"""What a server's response means: JSON, or a failure in few words without secrets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from ..answers import begin

HIDDEN = "***"


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]  # names in any case
    body: bytes


@dataclass(frozen=True)
class Failure:
    """Why a request has no answer: in short and, where the server said something, its status and words."""

    reason: str
    status: int = 0
    body: Any = None
    late: bool = False  # a timeout
    refused: bool = False  # nothing listens there

    @property
    def may_be_the_texts(self) -> bool:
        """Whether other texts may be answered: not if nothing listens, it wants a key or a pause, or is not there."""
        return not self.refused and self.status not in (401, 404, 405, 407, 410, 429) and not 300 <= self.status < 400

    @property
    def tells_of_server(self) -> bool:
        """Whether it may mean that nothing is answered any more: not if the server says that it cannot take these texts."""
        return self.status not in (400, 413, 422)


def understand(response: Response, secrets: Sequence[str]) -> Any:
    """The JSON of a response, or a Failure. Secrets that the server sent back are blanked out."""
    status, headers, raw = response
    is_json = True
    try:
        body = hide(json.loads(raw), secrets)
    except (ValueError, RecursionError):
        is_json, body = False, hide(raw.decode(errors="replace"), secrets)
    if 200 <= status < 300:
        return body if is_json else Failure(f"not JSON: {begin(body) or 'nothing'}", status, body)
    moved = headers.get("Location", "") if 300 <= status < 400 else ""
    said = f"moved to {hide(moved.split('?')[0], secrets)}" if moved else body
    return Failure(f"status {status}: {begin(said)}".rstrip(": "), status, body)


def hide(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value without the secrets. Works on its strings, not its bytes: JSON can write a letter in several ways."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, list):
        return [hide(item, secrets) for item in value] if secrets else value
    if isinstance(value, dict):
        return {hide(key, secrets): hide(item, secrets) for key, item in value.items()} if secrets else value
    return value


def may_pass(status: int) -> bool:
    """Whether a retry may help. It may if the status is success but the body is no JSON."""
    return status < 300 or status >= 500 or status in (408, 425, 429)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the server wants us to wait, 0 if it does not say."""
    text = headers.get("Retry-After", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = Retry().parse_retry_after(text)  # a date
        except (InvalidHeader, ValueError, OverflowError):
            return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
