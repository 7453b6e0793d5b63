"""A chat model behind an OpenAI-compatible endpoint, as a classifier or to write a text for a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ...data.dataset import Task, Text
from ...specs import check_count, check_positive, check_switch, some
from ..answers import begin
from ..base import Access, Column, Outputs, Victim, as_objects
from .client import Endpoint
from .http import in_text
from .logprobs import label_scores
from .responses import Failure
from .words import REFUSED, Verdicts, final, unparsed

ASKS: dict[Task, str] = {
    "single": "Classify the {what}. Answer with exactly one of these labels and nothing else: {labels}",
    "multi": "Which of these labels apply to the {what}: {labels}? Answer with those that apply, with commas between "
    "them, or with none if no label applies, and with nothing else.",
}

SHOWS = {1: ("text", "Text: {text}"), 2: ("pair of texts", "First text: {first}\n\nSecond text: {second}")}


THINKING = 4096  # tokens that a model may need to think before it answers

USUAL = -1  # stands for the usual limit of tokens of the task

TOKENS: dict[Task, int] = {"single": 16, "multi": 16, "text": 1024}


class Chat(Victim):
    """A zero-shot classifier: one question per row; the answer names one label, or any number of them for task multi. For task
    text the answer is a text, as it comes, and the prompt says what is wanted ("Translate into English: {text}").

    url: up to and with /v1. prompt: with {text}, or {first} and {second}, and {labels}; the default asks for the labels and
    nothing else. max_tokens: of an answer, by default 16, for texts 1,024; one that is cut off before it names a label, as of
    models that think first, is asked for again with `thinking` tokens. These and temperature are left out of the request if they
    are None. scores: ask for the `top_logprobs` likeliest tokens, and give a score for each label (see logprobs.py). The rest is
    explained at Endpoint.
    """

    cases_at_once = 500  # answers cost time or money
    paid = True

    access = Access.DECISION
    hint = "; --with scores=true asks for scores"

    def __init__(
        self,
        url: str,
        model: str,
        *,
        labels: Sequence[str] = (),
        task: Task = "single",
        prompt: str | None = None,
        system: str | None = None,
        temperature: float | None = 0,
        max_tokens: int | None = USUAL,
        thinking: int | None = THINKING,
        scores: bool = False,
        top_logprobs: int = 20,
        timeout: float = 30,
        retries: int = 4,
        backoff: float = 0.5,
        concurrency: int = 8,
        rate: float | None = None,
        key_env: str | None = "OPENAI_API_KEY",
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if task not in TOKENS:
            raise ValueError(f"expected single, multi or text for chat.task, got {task!r}")
        if task == "text" and prompt is None:
            raise ValueError(
                "expected a prompt that says what to write, with {text} in it, for chat.prompt and task text, got none: "
                "--with prompt='Translate into English: {text}'"
            )
        if task == "text" and labels:
            raise ValueError(f"expected no labels for chat.labels and task text, got {some(labels)}")
        max_tokens = TOKENS[task] if max_tokens == USUAL else max_tokens
        if prompt is not None and ("{text}" in prompt) == ("{first}" in prompt and "{second}" in prompt):
            raise ValueError(f"expected {{text}}, or {{first}} and {{second}}, in chat.prompt, got {prompt[:60]!r}")
        base, mark, query = url.partition("?")
        base = base.rstrip("/").removesuffix("/chat/completions")
        self.endpoint = Endpoint(
            f"{base}/chat/completions{mark}{query}", timeout=timeout, retries=retries, backoff=backoff,
            concurrency=concurrency, rate=rate, key_env=key_env, key_header=key_header, headers=headers, owner="chat",
        )  # fmt: skip
        shown = self.endpoint.address.shown.removesuffix("/chat/completions")
        self.name, self.task, self.labels = f"chat:{shown}#{model}", task, tuple(labels)
        self.rows_at_once, self.in_flight = max(256, concurrency), concurrency
        self._prompts = {columns: _prompt(prompt, task, columns) for columns in SHOWS}  # texts have one of their own
        self._system = [{"role": "system", "content": system}] if system else []
        self._settings: dict[str, Any] = {"model": model}
        if temperature is not None:
            check_positive(temperature, "chat.temperature", zero=True)
            self._settings["temperature"] = temperature
        if max_tokens is not None:
            check_count(max_tokens, 1, "chat.max_tokens")
            self._settings["max_tokens"] = max_tokens
        if thinking is not None:
            check_count(thinking, 1, "chat.thinking")
        self._thinking, self._limit = thinking, "max_tokens"
        check_switch(scores, "chat.scores")
        if scores:
            check_count(top_logprobs, 1, "chat.top_logprobs")
            if task != "single":
                raise ValueError(
                    f"expected task single for chat.scores, got {task}: sets of labels have no first token"
                )
            self.access, self.hint = Access.SCORE, ""
            self._settings |= {"logprobs": True, "top_logprobs": top_logprobs}
        if task != "text":
            self._verdicts = Verdicts(self.labels, "chat")
        about: list[Any] = [self.endpoint.address.public, task, self.labels, self._prompts, system, self._settings]
        about += [thinking] if thinking != THINKING else []
        self._identity = f"{self.name} {sha256(json.dumps(about).encode()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        return f"Chat({self.name.removeprefix('chat:')!r})"

    def __call__(self, *columns: Column) -> Outputs:
        prompt = self._prompts.get(len(columns), "")
        if not prompt:
            raise ValueError(f"expected as many columns of texts as chat.prompt has, got {len(columns)}")
        rows = list(zip(*columns, strict=True))
        answers = self._ask([self._body(prompt, row) for row in rows])
        if self.task == "text":
            said = [self._said(answer) for answer in answers]
            texts = [None if problem else final(text).strip() for text, problem in said]
            return Outputs.of(as_objects(texts), [problem for _, problem in said])
        found = [self._read(answer) for answer in answers]
        if self.access == Access.SCORE:
            return self._scored(answers, found)
        problems = [outcome if isinstance(outcome, str) else "" for outcome in found]
        if self.task == "single":
            return Outputs.of(np.array([n if isinstance(n, int) else -1 for n in found], np.int64), problems)
        sets = np.zeros((len(rows), len(self.labels)), np.bool_)
        for at, outcome in enumerate(found):
            if isinstance(outcome, set):
                sets[at, sorted(outcome)] = True
        return Outputs.of(sets, problems)

    def _ask(self, bodies: list[dict[str, Any]]) -> list[Any]:
        """The answers of the server. Those that were cut off are asked for again with more tokens."""
        answers = self._post(bodies)
        room, limit = self._thinking, self._settings.get("max_tokens")
        if room is None or limit is None or room <= limit:
            return answers
        cut = [at for at, answer in enumerate(answers) if self._is_cut(answer)]
        for at, answer in zip(cut, self._post([bodies[at] | {"max_tokens": room} for at in cut]), strict=True):
            answers[at] = answer
        return answers

    def _post(self, bodies: list[dict[str, Any]]) -> list[Any]:
        """Posts, under the name that the server has for the limit of tokens: newer models of OpenAI want another."""
        answers = self.endpoint.post([self._named(body) for body in bodies])
        wrong = [at for at, answer in enumerate(answers) if self._limit == "max_tokens" and _wants(answer, OTHER_LIMIT)]
        if wrong:
            self._limit = OTHER_LIMIT
            for at, answer in zip(wrong, self._post([bodies[at] for at in wrong]), strict=True):
                answers[at] = answer
        return answers

    def _named(self, body: dict[str, Any]) -> dict[str, Any]:
        return {self._limit if name == "max_tokens" else name: value for name, value in body.items()}

    def _is_cut(self, answer: Any) -> bool:
        """Whether an answer ended at the limit of tokens before it named a label; a list of labels may always miss some."""
        try:
            choice = answer["choices"][0]
            text = choice["message"].get("content")
        except (LookupError, TypeError, AttributeError):
            return False
        if choice.get("finish_reason") != "length":
            return False
        return self.task != "single" or not (isinstance(text, str) and self._verdicts.begins(text))

    def _scored(self, answers: list[Any], found: list[Any]) -> Outputs:
        """The scores of the labels; a label whose tokens the server does not show counts as certain."""
        scores = np.full((len(found), len(self.labels)), np.nan, np.float32)
        problems = []
        for at, (answer, outcome) in enumerate(zip(answers, found, strict=True)):
            if isinstance(outcome, int):
                logprobs = answer["choices"][0].get("logprobs")
                if not isinstance(logprobs, dict) or not isinstance(logprobs.get("content"), list):
                    outcome = "unparsed: expected logprobs, got none: this server does not give scores"
                else:
                    shares = label_scores(logprobs["content"], self.labels, outcome)
                    scores[at] = np.eye(len(self.labels))[outcome] if shares is None else shares
            problems.append(outcome if isinstance(outcome, str) else "")
        return Outputs.of(scores, problems)

    def _body(self, prompt: str, row: tuple[Text, ...]) -> dict[str, Any]:
        known: dict[str, Text] = {"text": row[0], "first": row[0], "second": row[-1], "labels": ", ".join(self.labels)}
        return self._settings | {"messages": [*self._system, {"role": "user", "content": in_text(prompt, known)}]}

    def _read(self, answer: Any) -> int | set[int] | str:
        """The number of a label, a set of numbers, or a problem."""
        text, problem = self._said(answer)
        if problem:
            return problem
        return self._verdicts.one(text) if self.task == "single" else self._verdicts.several(text)

    def _said(self, answer: Any) -> tuple[str, str]:
        """The text of an answer, and the problem if it has none or was cut off."""
        if isinstance(answer, Failure):
            return "", REFUSED if _is_filtered(answer.body) else f"error: {answer.reason}"
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal, reason = message.get("content"), message.get("refusal"), choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError):
            failed = isinstance(answer, dict) and "error" in answer  # some servers answer so with a status of success
            return "", f"error: {begin(answer)}" if failed else unparsed(answer)
        if refusal or reason == "content_filter":
            return "", REFUSED
        if isinstance(text, list):  # of parts
            text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
        if not isinstance(text, str) or (self.task != "single" and reason == "length"):
            return "", unparsed(text or choice)  # a list that was cut off may miss labels, a text its end
        return text, ""


def _prompt(prompt: str | None, task: Task, columns: int) -> str:
    """The prompt for so many columns; "" if the user's prompt is for another number."""
    if prompt is not None:
        return prompt if ("{text}" in prompt) == (columns == 1) else ""
    what, shown = SHOWS[columns]
    return f"{ASKS[task].replace('{what}', what)}\n\n{shown}"


OTHER_LIMIT = "max_completion_tokens"


def _wants(answer: Any, option: str) -> bool:
    """Whether a server says that it wants another option."""
    return (
        isinstance(answer, Failure) and answer.status in (400, 422) and option in json.dumps(answer.body, default=str)
    )


def _is_filtered(body: Any) -> bool:
    """Whether Azure's filter refused: it sends an error with this code."""
    error = body.get("error") if isinstance(body, dict) else None
    return isinstance(error, dict) and error.get("code") == "content_filter"
