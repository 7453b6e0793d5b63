"""Attacks on one text, each in a thread of its own, with the events that show what they try."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice
from threading import Lock, Thread
from typing import Any, TypedDict

import numpy as np

from ..attacks.campaign import AttackedBlock, Campaign
from ..attacks.outcomes import STATUS, SUCCEEDED, Limits
from ..attacks.recipes import FAMILY as RECIPES
from ..data.dataset import Dataset, Target, Text, joined
from ..isolation import reason_of
from ..reports.page import marked
from ..resources import MissingResource
from ..runs.display import edited
from ..runs.folder import Folder
from ..runs.trials import Ask
from ..specs import known_name
from ..text.edits import Edit
from ..victims.base import Outputs, StopRun, as_objects
from ..victims.truth import Truth
from .clock import Clock
from .messages import Answer, AttackAnswer, AttackRequest, AttackState, Outcome, Refused
from .playground import Playground, change, odd_characters, whole

RUNNING = 2  # attacks at once
KEPT = 16  # attacks whose outcome can still be asked for
EVENTS = 1000  # of an attack; later tries are counted, not told
SHOWN = 12  # tries of a batch that are told


class Word(TypedDict):
    """A word that was changed: where it stands in the original, and what became of it."""

    start: int
    stop: int
    new: str


class Tried(TypedDict):
    """A text that was tried. score: of the label that the model gave to the original, null if it gives no scores."""

    words: list[Word]
    said: str | None
    score: float | None


class Cancelled(StopRun):
    """The user cancelled the attack."""


class AttackJob:
    """One attack on one text. `events` are (name, data), in order: clean, then tried, again and again, then done or error."""

    def __init__(self, playground: Playground, asked: AttackRequest) -> None:
        self.playground, self.asked = playground, asked
        self.id = secrets.token_hex(8)
        self.clock, self.door = Clock(asked.seconds), playground.door(asked.shield)
        self.events: list[tuple[str, Any]] = []
        self.queries = 0
        self.state: AttackState = "running"
        self.outcome: Outcome | None = None
        self.original = " ".join(asked.text.split()) if playground.victim.task == "tokens" else asked.text

    def answer(self) -> AttackAnswer:
        most = self.asked.max_queries
        return {
            "id": self.id, "state": self.state, "queries": self.queries, "max_queries": most, "outcome": self.outcome,
        }  # fmt: skip

    def run(self) -> None:
        """Runs the attack to its end. Never raises: what goes wrong is its outcome."""
        state: AttackState = "error"
        event: tuple[str, Any]
        try:
            self.outcome = self._attacked()
            state, event = self.outcome["state"], ("done", self.outcome)
        except Cancelled:
            state, event = "cancelled", ("done", {"state": "cancelled", "queries": self.queries})
        except BaseException as error:  # also SystemExit of a model: a job that never ends would block others
            reason = str(error) if isinstance(error, Refused | ValueError | MissingResource) else reason_of(error)
            event = ("error", {"error": reason})
        self.events.append(event)
        self.state = state  # last: who waits for another state finds all events

    def _attacked(self) -> Outcome:
        """Attacks the text as a run attacks a block of one example."""
        playground, asked = self.playground, self.asked
        attack, meaning = playground.attack(asked.recipe)
        task, labels = playground.victim.task, tuple(playground.victim.labels)
        text = playground.row(self.original)
        clean = self._ask([text])
        before = playground.answer(clean, 0)
        if before["said"] is None:
            raise Refused(502, f"expected an answer to the text, got {before['problem']}")
        self.events.append(("clean", {"answer": before, "max_queries": asked.max_queries}))
        data = Dataset("playground", task, ((text,),), (self._target(before),), ("0",), known=labels)
        truth = Truth.of(data, labels, {})
        limits = Limits(seed=asked.seed, max_queries=asked.max_queries, meaning=meaning)
        campaign = Campaign(
            Folder("."), data, truth, attack, limits, self._watched(before), self.door.saliency, playground.victim.unknown,
            playground.victim.rows_at_once, lambda: not self.clock.left, query=self.door,
        )  # fmt: skip
        block = AttackedBlock(campaign, np.arange(1), clean)
        block.part()
        return self._outcome(block, before)

    def _target(self, before: Answer) -> Target:
        """Returns what counts as right: the label of the request, else what the model said."""
        task = self.playground.victim.task
        if task == "text":
            return ""
        right = [self.asked.label] if self.asked.label is not None else before["labels"]
        return right[0] if task == "single" else tuple(right)

    def _ask(self, *columns: Sequence[Text]) -> Outputs:
        if self.clock.stopped:
            raise Cancelled("cancelled")
        return self.door(*columns)

    def _watched(self, before: Answer) -> Ask:
        """Returns what asks the victim and tells what was tried."""

        def ask(*columns: Sequence[Text]) -> Outputs:
            outputs = self._ask(*columns)
            self.queries += len(outputs)
            if len(self.events) < EVENTS:
                tries = [self._tried(text, outputs, at, before) for at, text in islice(enumerate(columns[0]), SHOWN)]
                self.events.append(("tried", {"queries": self.queries, "count": len(outputs), "tries": tries}))
            return outputs

        return ask

    def _tried(self, text: Text, outputs: Outputs, at: int, before: Answer) -> Tried:
        answer = self.playground.answer(outputs, at)
        first = before["labels"][0] if before["labels"] else ""
        score = (answer["scores"] or {}).get(first)
        return {"words": changed_words(self.original, joined(text)), "said": answer["said"], "score": score}

    def _outcome(self, block: AttackedBlock, before: Answer) -> Outcome:
        edits = block.edits.in_order()
        places = zip(edits.start.tolist(), edits.stop.tolist(), edits.text.strings(), strict=True)
        spans = list(places) if block.status[0] == SUCCEEDED else []
        outputs = Outputs.of(as_objects([block.answers[0]])) if spans else None
        return {
            "state": STATUS[int(block.status[0])],
            "reason": block.reason[0],
            "queries": max(self.queries, int(block.queries[0])),
            "text": str(edited(self.original, spans)),
            "edits": [change(Edit(start, stop, self.original[start:stop], new)) for start, stop, new in spans],
            "marked": marked(self.original, spans),
            "characters": odd_characters(self.original, (new for _, _, new in spans)),
            "before": before,
            "after": self.playground.answer(outputs, 0) if outputs else before,
        }


class AttackJobs:
    """All attacks of a server, the last ones that are done among them."""

    def __init__(self, playground: Playground) -> None:
        self.playground = playground
        self._jobs: dict[str, AttackJob] = {}
        self._lock = Lock()

    def start(self, asked: AttackRequest) -> AttackJob:
        """Starts an attack. Raises Refused: 422 for what cannot be attacked, 429 if too many are running."""
        whole(asked.text)
        try:
            known_name(asked.recipe, RECIPES.members(), "a recipe")
            if asked.label is not None:
                known_name(asked.label, dict.fromkeys(self.playground.victim.labels), "a label")
        except ValueError as error:
            raise Refused(422, str(error)) from None
        with self._lock:
            if sum(job.state == "running" for job in self._jobs.values()) >= RUNNING:
                raise Refused(429, f"expected at most {RUNNING} attacks at once, got one more: wait, or cancel one")
            job = AttackJob(self.playground, asked)
            done = [name for name, one in self._jobs.items() if one.state != "running"]
            for name in done[: max(0, len(self._jobs) + 1 - KEPT)]:
                del self._jobs[name]
            self._jobs[job.id] = job
        Thread(target=job.run, daemon=True).start()  # a daemon: a model that hangs must not keep the server from ending
        return job

    def find(self, name: str) -> AttackJob:
        """Raises Refused with status 404 if there is no such attack."""
        job = self._jobs.get(name)
        if job is None:
            raise Refused(404, f"expected the id of one of the last {KEPT} attacks, got {name[:40]!r}")
        return job

    def cancel(self, name: str) -> AttackJob:
        """Stops an attack before its next question to the model."""
        job = self.find(name)
        job.clock.stop()
        return job

    def close(self) -> None:
        for job in self._jobs.values():
            job.clock.stop()


def changed_words(before: str, after: str) -> list[Word]:
    """Returns the words of a text that are others in another text: what stands between blanks, aligned from both ends."""
    old, new = _spans(before), _spans(after)
    a, b = [before[start:stop] for start, stop in old], [after[start:stop] for start, stop in new]
    first = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    last = 0
    while last < min(len(a), len(b)) - first and a[-1 - last] == b[-1 - last]:
        last += 1
    matcher = SequenceMatcher(None, a[first : len(a) - last], b[first : len(b) - last], autojunk=False)
    out: list[Word] = []
    for kind, left, right, begin, end in matcher.get_opcodes():
        if kind != "equal":
            places = old[first + left : first + right]
            start = places[0][0] if places else (old[first + left - 1][1] if first + left else 0)
            out.append(
                {
                    "start": start,
                    "stop": places[-1][1] if places else start,
                    "new": " ".join(b[first + begin : first + end]),
                }
            )
    return out


def _spans(text: str) -> list[tuple[int, int]]:
    """Returns where the pieces between blanks stand."""
    out, at = [], 0
    for piece in text.split():
        start = text.index(piece, at)
        at = start + len(piece)
        out.append((start, at))
    return out
