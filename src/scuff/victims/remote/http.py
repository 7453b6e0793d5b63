"""Any JSON endpoint as a victim: a template makes the requests, a path finds the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ...data.dataset import TASKS, Task, Text, joined
from ...specs import check_count, some
from ..answers import BadAnswer, Read, Reader, Unfit, begin
from ..base import OTHER, Column, Outputs
from .client import ONCE_MORE, Endpoint, Tries
from .responses import Failure

MARK = re.compile(r"\{(texts?|pairs|firsts?|seconds?)\}")

KINDS = ({"text"}, {"texts"}, {"pairs"}, {"first", "second"}, {"firsts", "seconds"})  # what a request can have

MANY = {"texts", "pairs", "firsts", "seconds"}  # marks for a list of texts

Row = tuple[Text, ...]


class Template:
    """A request: JSON in which strings such as "{texts}" stand for the texts. `batched`: it holds several rows."""

    def __init__(self, request: str, owner: str) -> None:
        try:
            self.value = json.loads(request) if isinstance(request, str) else request
        except ValueError as error:
            raise ValueError(f"expected JSON for {owner}, got {request[:60]!r}: {error}") from None
        strings = list(_strings(self.value))
        found = {mark for string in strings for mark in MARK.findall(string)}
        if found not in KINDS:
            known = ", ".join(" with ".join(f"{{{mark}}}" for mark in sorted(kind)) for kind in KINDS)
            raise ValueError(f"expected one of {known} in {owner}, got {', '.join(sorted(found)) or request[:60]!r}")
        self.batched, self.columns = bool(found & MANY), 1 if found <= {"text", "texts"} else 2
        inside = [string for string in strings if self.batched and MARK.search(string) and not MARK.fullmatch(string)]
        if inside:
            raise ValueError(
                f"expected a list such as {{texts}} as a string of its own for {owner}, got {inside[0][:60]!r}"
            )

    def fill(self, rows: Sequence[Row]) -> Any:
        """The body of a request for these rows; one row if the template is not batched."""
        known: dict[str, Any] = {"texts": [row[0] for row in rows], "text": rows[0][0], "pairs": rows}
        known |= {"firsts": known["texts"], "first": known["text"]}
        known |= {"seconds": [row[-1] for row in rows], "second": rows[0][-1]}
        return _filled(self.value, known)


def in_text(template: str, known: dict[str, Text]) -> str:
    """Replaces {name} in a text. All at once: what looks like a mark inside a replacement stays."""
    return re.sub(r"\{(\w+)\}", lambda mark: joined(known[mark[1]]) if mark[1] in known else mark[0], template)


def _filled(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, str):
        whole = MARK.fullmatch(value)
        return known[whole[1]] if whole else in_text(value, known)
    if isinstance(value, list):
        return [_filled(item, known) for item in value]
    return {key: _filled(item, known) for key, item in value.items()} if isinstance(value, dict) else value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


class AnswerPath:
    """Where the answers are in a response: a path such as predictions.*.label of keys, places in lists, and * for each row.

    Without *, the path leads to the list of answers if a request holds several rows, to the answer if it holds one.
    """

    def __init__(self, path: str, owner: str, *, batched: bool) -> None:
        steps = path.split(".") if path else []
        if "" in steps or steps.count("*") > 1:
            raise ValueError(
                f"expected keys and places with dots between, and at most one *, for {owner}, got {path!r}"
            )
        at = steps.index("*") if "*" in steps else len(steps)
        self.to_rows, self.in_row, self.listed = steps[:at], steps[at + 1 :], batched or "*" in steps

    def rows(self, response: Any, count: int) -> list[Any]:
        """The answer to each row, or an Unfit if the path leads nowhere in that row. Raises Unfit if there are no rows."""
        found = _follow(response, self.to_rows)
        if not self.listed:
            return [found]
        if not isinstance(found, list) or len(found) != count:
            size = f"{len(found)} in {begin(found)}" if isinstance(found, list) else begin(found)
            raise Unfit(f"expected a list of {count} answers, got {size}")
        out: list[Any] = []
        for row in found:
            try:
                out.append(_follow(row, self.in_row))
            except Unfit as unfit:
                out.append(unfit)
        return out


def _follow(value: Any, steps: Sequence[str]) -> Any:
    at = value
    for step in steps:
        try:
            at = at[int(step)] if isinstance(at, list) else at[step] if isinstance(at, dict) else None
        except (LookupError, ValueError):
            at = None
        if at is None:
            raise Unfit(f"expected something at {'.'.join(steps)}, got {begin(value)}")
    return at


PARTS = (
    8  # into which a batch that fails is cut: as many as are asked at a time, so a text stands alone after few rounds
)


class Http(Read):
    """A model behind a URL.

    request: JSON in which "{texts}" stands for a list of `batch` texts, "{text}" for one ("{pairs}", "{firsts}" and
    "{seconds}", or "{first}" and "{second}" for sentence pairs). answer: the path to the answers in the response, such as
    predictions.*.label. scores: whether scores come back; None: see the first answer. The rest is explained at Endpoint.
    """

    cases_at_once = 500  # answers cost time or money
    paid = True

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
        self._path = AnswerPath(answer, "http.answer", batched=self._template.batched)
        if (task == "text") == bool(labels):
            wanted = "no labels" if labels else "the names of the labels"
            raise ValueError(f"expected {wanted} for http.labels and task {task}, got [{some(map(repr, labels))}]")
        self.reader = Reader(task, self.labels, self.name, assumed=OTHER in self.labels, scores=scores)
        check_count(batch, 1, "http.batch")
        self._size = batch if self._template.batched else 1
        self.in_flight = self._size * concurrency
        self.rows_at_once = max(256, self.in_flight)
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
        """The value, Unfit or Failure for each row. A batch that is not answered is cut into parts, and so on, until a text that
        the server cannot take stands alone.

        A batch of up to 64 texts needs two more rounds for that, in which nothing is repeated after a timeout: a text that hangs
        costs four timeouts. All parts are sent together, `concurrency` at a time: `isolated` would send one after the other.
        """
        out: list[Any] = [None] * len(rows)
        parts = [range(at, min(at + self._size, len(rows))) for at in range(0, len(rows), self._size)]
        tries = Tries(self.endpoint.retries, 1) if self._size > 1 else None
        while parts:
            responses = self.endpoint.post([self._template.fill([rows[at] for at in part]) for part in parts], tries)
            smaller = []
            for part, response in zip(parts, responses, strict=True):
                found = self._found(response, len(part))
                if isinstance(found, Failure | Unfit):
                    if len(part) > 1 and (isinstance(found, Unfit) or found.may_be_the_texts):
                        size = -(-len(part) // PARTS)
                        smaller += [part[at : at + size] for at in range(0, len(part), size)]
                    found = [found] * len(part)
                out[part.start : part.stop] = found
            parts, tries = smaller, ONCE_MORE
        return out

    def _found(self, response: Any, count: int) -> list[Any] | Failure | Unfit:
        """What a response means for each of its rows; a Failure or Unfit if it means nothing for any."""
        if isinstance(response, Failure):
            return response
        try:
            return self._path.rows(response, count)
        except Unfit as unfit:
            return unfit
