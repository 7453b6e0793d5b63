"""Schemathesis against the OpenAPI document: whatever is sent, no answer is a 500, and all have the type that they promise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")

from scuff.web.openapi import document
from scuff.web.playground import Playground
from web.served import Words, serving

MANY = int(os.environ.get("SCUFF_SCHEMATHESIS", "60"))  # requests to each endpoint
# contextual would load a network
CHOICES = {**Playground(Words()).choices, "perturbations": ["keyboard", "visual", "phonetic", "segment", "omit"]}
REFUSED = [400, 401, 403, 404, 405, 413, 415, 422, 429]
CONFIG = schemathesis.Config.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}})
LOADED = schemathesis.openapi.from_dict(document(CHOICES), config=CONFIG)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(Playground(Words()), tmp_path_factory.mktemp("runs")) as address:
        yield address


@pytest.mark.slow
@LOADED.parametrize()
@settings(max_examples=MANY)
def test_no_request_breaks_the_server(case: Any, address: str) -> None:
    answer = case.call(base_url=address, timeout=120)  # machines that run tests are busy
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["error"].startswith("expected ")
    case.validate_response(answer)
