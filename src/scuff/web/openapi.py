"""The endpoints for other programs, as a table; the OpenAPI document and its page are made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import Any

from ..version import __version__
from .messages import (
    AboutAnswer,
    AttackAnswer,
    AttackRequest,
    Failure,
    PerturbAnswer,
    PerturbRequest,
    PredictAnswer,
    PredictRequest,
    RunsAnswer,
    Schemas,
    ShieldAnswer,
    ShieldRequest,
)

REFUSALS = {
    400: "no JSON",
    401: "the token is missing",
    403: "Host or Origin is not this server",
    404: "there is no such attack or run",
    408: "the request came too slowly",
    413: "the request or a text is too long",
    415: "the content type is not application/json",
    422: "a key is unknown, missing, of another type, or out of bounds",
    429: "too many requests at once",
    502: "the model gave no answers",
    504: "the time is up",
}
ALWAYS = (401, 403)  # whatever is asked
OF_BODIES = (400, 408, 413, 415, 422, 429)


@dataclass(frozen=True)
class Endpoint:
    """One endpoint. name: of the function that answers, and of the operation. more: refusals that it may answer with."""

    method: str
    path: str
    name: str
    about: str
    request: type | None
    answer: type | None  # None: server-sent events
    status: int = 200
    more: tuple[int, ...] = ()


ENDPOINTS = (
    Endpoint("GET", "/api/about", "about", "The model, the parts that requests may name, the limits.", None, AboutAnswer),
    Endpoint(
        "POST", "/api/predict", "predict", "Ask the model about texts.", PredictRequest, PredictAnswer, 200, (502, 504)
    ),
    Endpoint(
        "POST", "/api/perturb", "perturb", "Perturb a text in many ways, and ask the model about all of them in one batch.",
        PerturbRequest, PerturbAnswer, 200, (502, 504),
    ),
    Endpoint("POST", "/api/shield", "shield", "Mend a text.", ShieldRequest, ShieldAnswer, 200, (502, 504)),
    Endpoint("POST", "/api/attack", "attack", "Start an attack on a text.", AttackRequest, AttackAnswer, 202),
    Endpoint("GET", "/api/attack/{id}", "attack_state", "How an attack stands.", None, AttackAnswer, 200, (404,)),
    Endpoint(
        "GET", "/api/attack/{id}/events", "attack_events",
        "Server-sent events of an attack: `clean`, then `tried` again and again, then `done` or `error`.", None, None, 200,
        (404, 429),
    ),
    Endpoint("DELETE", "/api/attack/{id}", "cancel", "Cancel an attack.", None, AttackAnswer, 200, (404,)),
    Endpoint("GET", "/api/runs", "runs", "The runs in the runs folder.", None, RunsAnswer),
)  # fmt: skip


def document(choices: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Returns the OpenAPI document. choices: the names of parts that requests may name, by kind."""
    schemas = Schemas(choices)
    failure = _content(schemas.of(Failure))
    paths: dict[str, dict[str, Any]] = {}
    for end in ENDPOINTS:
        kinds = (*ALWAYS, *(OF_BODIES if end.request else ()), *end.more)
        operation: dict[str, Any] = {
            "operationId": end.name,
            "summary": end.about,
            "responses": {
                str(end.status): {"description": "the answer", **_answer(end, schemas)},
                **{str(kind): {"description": REFUSALS[kind], **failure} for kind in sorted(kinds)},
            },
        }
        if "{id}" in end.path:
            operation["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
        if end.request:
            operation["requestBody"] = {"required": True, **_content(schemas.of(end.request))}
        paths.setdefault(end.path, {})[end.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Scuff", "version": __version__, "description": "Perturb, predict, attack and shield texts."},
        "paths": paths,
        "components": {"schemas": schemas.named, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _answer(end: Endpoint, schemas: Schemas) -> dict[str, Any]:
    if end.answer is None:
        return {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
    return _content(schemas.of(end.answer))


def rows() -> str:
    """Returns the endpoints as rows of a table, for the page about them."""
    return "\n".join(
        f"<tr><th scope=row><code>{end.method} {escape(end.path)}</code></th><td>{_markup(end.about)}</td>"
        f"<td>{_keys(end)}</td></tr>"
        for end in ENDPOINTS
    )


def _keys(end: Endpoint) -> str:
    """Returns the keys of a request, with what each is."""
    if end.request is None:
        return ""
    lines = (f"<code>{each.name}</code>: {_markup(each.metadata['about'])}" for each in fields(end.request))
    return "<br>".join(lines)


def _markup(text: str) -> str:
    return re.sub(r"`(.*?)`", r"<code>\1</code>", escape(text))
