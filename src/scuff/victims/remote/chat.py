"""A chat model behind an OpenAI-compatible endpoint, used as a classifier."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ...data.dataset import Task, Text
from ...specs import check_count, check_positive
from ..answers import begin
from ..base import Access, Column, Outputs, Victim
from .client import Endpoint
from .http import in_text
from .responses import Failure

REFUSED = "refused"

REFUSAL = re.compile(
    r"(?:unfortunately,? |apologies,? (?:but )?)?(?:"
    r"i(?:'m| am) (?:\w+ )?sorry\b(?! to hear)|sorry,? (?:but )?i\b|i apologi[sz]e|"
    r"i (?:can't|cannot|can not|won't|will not|must decline|decline|refuse)\b(?! help but)|"
    r"i(?:'m| am) (?:unable|not able|not comfortable)|as an ai\b)"
)

DENIED = re.compile(r"(?:\bnot|n't|\bno|\bnon|\bnever|\bneither|\bnor)(?: an?)?[\s\"'*-]*$")

THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)

AROUND = " \t\n\"'`*_#>.,:;!?()[]{}<|~"

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Verdicts:
    """Finds labels in what a model wrote, in any case, with quotes or markdown around them."""

    def __init__(self, labels: Sequence[str], owner: str) -> None:
        self.number = {_bare(label): at for at, label in enumerate(labels)}
        if len(self.number) < len(labels) or not labels or "" in self.number:
            what = "labels that differ in more than case and punctuation"
            raise ValueError(f"expected {what} for {owner}.labels, got {list(labels)}")
        longest_first = sorted(self.number, key=len, reverse=True)  # "hate speech" before "hate"
        self._mention = re.compile("|".join(map(_pattern, longest_first)))

    def one(self, text: str) -> int | str:
        """The number of the label, or a problem."""
        said = _bare(text)
        if said in self.number:
            return self.number[said]
        if REFUSAL.match(said):
            return REFUSED
        found = self._mentioned(said)
        return found.pop() if len(found) == 1 else unparsed(text)

    def several(self, text: str) -> set[int] | str:
        """The numbers of labels with commas between them, an empty set for "none"; or a problem."""
        said = _bare(text)
        parts = [_bare(part) for part in re.split(r"[,;\n]", THOUGHT.sub("", text)) if part.strip()]
        if parts and all(part in self.number for part in parts):
            return {self.number[part] for part in parts}
        if REFUSAL.match(said):
            return REFUSED
        found, none = self._mentioned(said), bool(re.search(r"\bnone\b", said)) and "none" not in self.number
        return found if bool(found) != none else unparsed(text)

    def _mentioned(self, said: str) -> set[int]:
        """The labels that occur as whole words; none if one is negated: "not positive" names no label."""
        found = list(self._mention.finditer(said))
        if any(DENIED.search(said[: mention.start()]) for mention in found):
            return set()
        return {self.number[mention.group()] for mention in found}


def unparsed(text: str) -> str:
    return f"unparsed: {begin(text) or 'nothing'}"


def _bare(text: str) -> str:
    """In lower case, with straight quotes, one blank between words, and no punctuation around."""
    text = THOUGHT.sub("", text).casefold().replace("\u2019", "'").replace("*", "").replace("_", " ").strip()
    text = re.sub(r"(?<=\w)-(?=\w)|\s+", " ", text.removeprefix("- "))
    return text.strip(AROUND) or text


def _pattern(label: str) -> str:
    """A label as a whole word, unless its script has no blanks between words. 4 is not in 4.5, nor 1 in -1."""
    left = (
        "" if UNSPACED.match(label[0]) else r"(?<!\w)(?<!\d[.,])" + (r"(?<![-+\u2212])" if label[0].isdigit() else "")
    )
    right = "" if UNSPACED.match(label[-1]) else r"(?!\w)(?![.,]\d)"
    return left + re.escape(label) + right


ASKS: dict[Task, str] = {
    "single": "Classify the {what}. Answer with exactly one of these labels and nothing else: {labels}",
    "multi": "Which of these labels apply to the {what}: {labels}? Answer with those that apply, with commas between "
    "them, or with none if no label applies, and with nothing else.",
}

SHOWS = {1: ("text", "Text: {text}"), 2: ("pair of texts", "First text: {first}\n\nSecond text: {second}")}


class Chat(Victim):
    """A zero-shot classifier: one question per row; the answer names one label, or any number of them for task multi.

    url: up to and with /v1. prompt: with {text}, or {first} and {second}, and {labels}; the default asks for the labels and
    nothing else. temperature and max_tokens are left out of the request if they are None. The rest is explained at Endpoint.
    """

    cases_at_once = 500  # answers cost time or money
    paid = True

    access = Access.DECISION

    def __init__(
        self,
        url: str,
        model: str,
        *,
        labels: Sequence[str],
        task: Task = "single",
        prompt: str | None = None,
        system: str | None = None,
        temperature: float | None = 0,
        max_tokens: int | None = 16,
        timeout: float = 30,
        retries: int = 4,
        backoff: float = 0.5,
        concurrency: int = 8,
        rate: float | None = None,
        key_env: str | None = "OPENAI_API_KEY",
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if task not in ASKS:
            raise ValueError(f"expected single or multi for chat.task, got {task!r}")
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
        self.rows_at_once = max(256, concurrency)
        self._prompts = {columns: _prompt(prompt, task, columns) for columns in SHOWS}
        self._system = [{"role": "system", "content": system}] if system else []
        self._settings: dict[str, Any] = {"model": model}
        if temperature is not None:
            check_positive(temperature, "chat.temperature", zero=True)
            self._settings["temperature"] = temperature
        if max_tokens is not None:
            check_count(max_tokens, 1, "chat.max_tokens")
            self._settings["max_tokens"] = max_tokens
        self._verdicts = Verdicts(self.labels, "chat")
        about = [self.endpoint.address.public, task, self.labels, self._prompts, system, self._settings]
        self._identity = f"{self.name} {sha256(json.dumps(about).encode()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        return f"Chat({self.name.removeprefix('chat:')!r})"

    def __call__(self, *columns: Column) -> Outputs:
        prompt = self._prompts.get(len(columns), "")
        if not prompt:
            raise ValueError(f"expected as many columns of texts as chat.prompt has, got {len(columns)}")
        rows = list(zip(*columns, strict=True))
        found = [self._read(answer) for answer in self.endpoint.post([self._body(prompt, row) for row in rows])]
        problems = [outcome if isinstance(outcome, str) else "" for outcome in found]
        if self.task == "single":
            return Outputs.of(np.array([n if isinstance(n, int) else -1 for n in found], np.int64), problems)
        sets = np.zeros((len(rows), len(self.labels)), np.bool_)
        for at, outcome in enumerate(found):
            if isinstance(outcome, set):
                sets[at, sorted(outcome)] = True
        return Outputs.of(sets, problems)

    def _body(self, prompt: str, row: tuple[Text, ...]) -> dict[str, Any]:
        known: dict[str, Text] = {"text": row[0], "first": row[0], "second": row[-1], "labels": ", ".join(self.labels)}
        return self._settings | {"messages": [*self._system, {"role": "user", "content": in_text(prompt, known)}]}

    def _read(self, answer: Any) -> int | set[int] | str:
        """The number of a label, a set of numbers, or a problem."""
        if isinstance(answer, Failure):
            return REFUSED if _is_filtered(answer.body) else f"error: {answer.reason}"
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal, reason = message.get("content"), message.get("refusal"), choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError):
            failed = isinstance(answer, dict) and "error" in answer  # some servers answer so with a status of success
            return f"error: {begin(answer)}" if failed else unparsed(answer)
        if refusal or reason == "content_filter":
            return REFUSED
        if isinstance(text, list):  # of parts
            text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
        if not isinstance(text, str) or (self.task == "multi" and reason == "length"):
            return unparsed(text or choice)  # a list that was cut off may miss labels
        return self._verdicts.one(text) if self.task == "single" else self._verdicts.several(text)


def _prompt(prompt: str | None, task: Task, columns: int) -> str:
    """The prompt for so many columns; "" if the user's prompt is for another number."""
    if prompt is not None:
        return prompt if ("{text}" in prompt) == (columns == 1) else ""
    what, shown = SHOWS[columns]
    return f"{ASKS[task].replace('{what}', what)}\n\n{shown}"


def _is_filtered(body: Any) -> bool:
    """Whether Azure's filter refused: it sends an error with this code."""
    error = body.get("error") if isinstance(body, dict) else None
    return isinstance(error, dict) and error.get("code") == "content_filter"
