"""Requests are checked key by key; what is wrong is told in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.web.messages import (
    LONGEST,
    AttackRequest,
    PerturbAnswer,
    PerturbRequest,
    PredictRequest,
    Refused,
    Schemas,
    read,
)


@pytest.mark.parametrize(
    ("kind", "content", "status", "why"),
    [
        (PerturbRequest, b"{", 400, "expected a JSON object"),
        (PerturbRequest, b"\xff{}", 400, "expected a JSON object"),
        (PerturbRequest, b'{"text": "a", "strength": NaN}', 400, "NaN is no JSON"),
        (PerturbRequest, b"[" * 100_000, 400, "expected a JSON object"),
        (PerturbRequest, b"[]", 422, "expected a JSON object, got a list"),
        (PerturbRequest, b"{}", 422, "expected text (the text to perturb), got none"),
        (PerturbRequest, b'{"text": 5}', 422, "expected a string for text, got a number"),
        (PerturbRequest, b'{"text": "a", "level": 1}', 422, "expected text, perturbations, strength"),
        (PerturbRequest, b'{"text": "a", "strength": 1.5}', 422, "expected at most 1 for strength, got 1.5"),
        (PerturbRequest, b'{"text": "a", "strength": true}', 422, "expected a number for strength, got true or false"),
        (PerturbRequest, b'{"text": "a", "strength": 1e999}', 422, "expected a finite number for strength"),
        (PerturbRequest, b'{"text": "a", "seed": 1.5}', 422, "expected a whole number for seed"),
        (PerturbRequest, b'{"text": "a", "seed": -1}', 422, "expected at least 0 for seed, got -1"),
        (PerturbRequest, b'{"text": "a", "seed": %s}' % (b"9" * 400), 422, "got a larger one"),
        (PerturbRequest, b'{"text": "a", "seed": %s}' % (b"9" * 5000), 400, "expected a JSON object"),
        (PerturbRequest, b'{"text": "a", "marked": 1}', 422, "expected true or false for marked"),
        (PerturbRequest, b'{"text": "a", "perturbations": [1]}', 422, "a string for perturbations[0], got a number"),
        (PerturbRequest, b'{"text": "a", "perturbations": []}', 422, "at least 1 entries for perturbations, got 0"),
        (PredictRequest, b'{"texts": "a"}', 422, "expected a list for texts, got a string"),
        (AttackRequest, b'{"text": ""}', 422, "expected at least 1 characters for text, got 0"),
    ],
)
def test_what_is_wrong_is_told(kind: Any, content: bytes, status: int, why: str) -> None:
    with pytest.raises(Refused) as refused:
        read(kind, content)
    assert refused.value.status == status and why in str(refused.value)


def test_a_text_may_be_as_long_as_the_limit_and_no_longer() -> None:
    assert len(read(PerturbRequest, json.dumps({"text": "ü" * LONGEST}).encode()).text) == LONGEST
    with pytest.raises(Refused, match="at most 20,000 characters for text, got 100,000") as refused:
        read(PerturbRequest, json.dumps({"text": "a" * 100_000}).encode())
    assert refused.value.status == 413


def test_defaults_and_null() -> None:
    assert read(PerturbRequest, b'{"text": "a", "shield": null, "strength": 1}') == PerturbRequest("a", strength=1.0)
    assert read(PerturbRequest, b'{"text": "a", "seed": 7.0}').seed == 7
    assert read(AttackRequest, b'{"text": "a"}').recipe == "deepwordbug"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), st.lists, max_leaves=5
)


@given(st.dictionaries(st.sampled_from(["text", "strength", "seed", "shield", "perturbations", "x"]), JSON) | JSON)
def test_any_json_is_read_or_refused(content: Any) -> None:
    found: PerturbRequest | Refused
    try:
        found = read(PerturbRequest, json.dumps(content).encode())
    except Refused as refused:
        found = refused
    if isinstance(found, Refused):
        assert found.status in (400, 413, 422) and str(found).startswith("expected ")
    else:
        assert 0 <= found.strength <= 1 and isinstance(found.text, str)


def test_schemas_name_every_key() -> None:
    schemas = Schemas({"shields": ["fast"]})
    assert schemas.of(PerturbAnswer) == {"$ref": "#/components/schemas/PerturbAnswer"}
    assert set(schemas.named) == {"PerturbAnswer", "Answer", "Mended", "Change", "Row"}
    schemas.of(PerturbRequest)
    found = schemas.named["PerturbRequest"]
    strength, shield = found["properties"]["strength"], found["properties"]["shield"]
    assert found["required"] == ["text"]
    assert (strength["minimum"], strength["maximum"], strength["default"]) == (0, 1, 0.5)
    assert shield["anyOf"] == [{"type": "string", "enum": ["fast"]}, {"type": "null"}]
