"""Any JSON endpoint as a victim: a template makes the requests, a path finds the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ..text.dataset import TASKS, Task
from .answers import Reader
from .base import OTHER, Column, Outputs, Read
from .remote import Endpoint, whole
from .responses import Failure
from .shapes import BadAnswer, Unfit
from .template import Row, Template, Way

BAD_ROW = (400, 413, 422, 500)  # what servers say when they cannot take one of several texts


class Http(Read):
    """A model behind a URL.

    request: JSON in which "{texts}" stands for a list of `batch` texts, "{text}" for one ("{pairs}", "{firsts}" and
    "{seconds}", or "{first}" and "{second}" for sentence pairs). answer: the path to the answers in the response, such as
    predictions.*.label. scores: whether scores come back; None waits for the first answer. The rest is explained at Endpoint.
    """

    cases_at_once = 500  # answers cost time or money

    def __init__(
        self,
        url: str,
        *,
        task: Task = "single",
        labels: Sequence[str] = (),
        request: str = '{"inputs": "{texts}"}',
        answer: str = "",
        batch: int = 32,
        scores: bool | None = None,
        timeout: float = 30,
        retries: int = 4,
        backoff: float = 0.5,
        concurrency: int = 8,
        rate: float | None = None,
        key_env: str | None = None,
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if task not in TASKS:
            raise ValueError(f"expected one of {', '.join(TASKS)} for http.task, got {task!r}")
        self.endpoint = Endpoint(
            url, timeout=timeout, retries=retries, backoff=backoff, concurrency=concurrency, rate=rate, key_env=key_env,
            key_header=key_header, headers=headers, owner="http",
        )  # fmt: skip
        self.name, self.task, self.labels = f"http:{self.endpoint.address.shown}", task, tuple(labels)
        self._template = Template(request, "http.request")
        self._way = Way(answer, "http.answer", batched=self._template.batched)
        if (task == "text") == bool(labels):
            wanted = "no labels" if labels else "the names of the labels"
            raise ValueError(f"expected {wanted} for http.labels and task {task}, got {list(labels)}")
        self.reader = Reader(task, self.labels, self.name, assumed=OTHER in self.labels, scores=scores)
        self._size = whole(batch, "http.batch") if self._template.batched else 1
        self.rows_at_once = max(256, self._size * concurrency)
        about = [self.endpoint.address.public, task, self.labels, self._template.value, answer]
        self._identity = f"{self.name} {sha256(json.dumps(about).encode()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        return f"Http({self.endpoint.address.shown!r})"

    def __call__(self, *columns: Column) -> Outputs:
        if len(columns) != self._template.columns:
            raise ValueError(f"expected {self._template.columns} columns of texts for http.request, got {len(columns)}")
        rows: list[Row] = list(zip(*columns, strict=True))
        answers: list[Any] = [None] * len(rows)
        problems = [""] * len(rows)
        for at, value in enumerate(self._ask(rows)):
            try:
                if isinstance(value, Unfit):
                    raise value
                if isinstance(value, Failure):
                    problems[at] = f"error: {value.reason}"
                else:
                    answers[at] = self.reader.row(value, len(rows[at][0]) if isinstance(rows[at][0], tuple) else None)
            except (Unfit, BadAnswer) as unfit:
                problems[at] = f"unparsed: {unfit}"
        return self.reader.outputs(answers, problems)

    def _ask(self, rows: Sequence[Row]) -> list[Any]:
        """What came for each row: a value, an Unfit or a Failure. A batch that the server cannot take is asked in halves."""
        out: list[Any] = [None] * len(rows)
        parts = [range(at, min(at + self._size, len(rows))) for at in range(0, len(rows), self._size)]
        while parts:
            responses = self.endpoint.post([self._template.fill([rows[at] for at in part]) for part in parts])
            halves = []
            for part, response in zip(parts, responses, strict=True):
                if isinstance(response, Failure) and response.status in BAD_ROW and len(part) > 1:
                    half = len(part) // 2
                    halves += [part[:half], part[half:]]
                else:
                    out[part.start : part.stop] = self._found(response, len(part))
            parts = halves
        return out

    def _found(self, response: Any, count: int) -> list[Any]:
        if isinstance(response, Failure):
            return [response] * count
        try:
            return self._way.rows(response, count)
        except Unfit as unfit:
            return [unfit] * count
