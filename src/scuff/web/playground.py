"""`Playground`: one victim, and what can be done with a text in front of it: predict, perturb, shield."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np

from ..attacks.attack import Attack
from ..attacks.recipes import FAMILY as RECIPES
from ..attacks.settings import AttackSettings
from ..attacks.setup import check_access
from ..data.dataset import Text
from ..data.formats.base import lone_surrogate
from ..isolation import reason_of
from ..perturbations.base import Perturbation
from ..perturbations.contextual import Contextual
from ..perturbations.names import FAMILY as PERTURBATIONS
from ..perturbations.names import parse
from ..perturbations.paraphrase import Paraphrase
from ..perturbations.plan import Plan
from ..reports.characters import deceptive, names_of
from ..reports.page import marked
from ..resources import MissingResource, load
from ..runs.display import in_words, said
from ..shields.mending import Mending
from ..shields.names import CHAINS
from ..shields.names import FAMILY as SHIELDS
from ..specs import known_name
from ..text.corpus import Corpus
from ..text.edits import Edit
from ..text.ragged import Floats
from ..version import __version__
from ..victims.base import Column, Outputs, Victim
from ..victims.query import Query
from ..victims.shielded import Shielded
from ..victims.truth import Truth
from .clock import Clock
from .messages import (
    LONGEST,
    LONGEST_ATTACKED,
    MOST_TEXTS,
    AboutAnswer,
    Answer,
    Change,
    Mended,
    Part,
    PerturbAnswer,
    PerturbRequest,
    PredictAnswer,
    PredictRequest,
    Refused,
    Row,
    ShieldAnswer,
    ShieldRequest,
)

REMEMBERED = 1 << 14  # answers of the model
MOST_SCORES = 20  # of the likeliest labels
GOALS = {"text": "decrease(against='output')", "tokens": "tags"}  # of tasks that most recipes are not made for
QUICK = 0.05  # seconds: a perturbation that takes longer for a sentence does not follow the typing


class Door(Query):
    """The door to a victim, or to the same one behind a shield, for many threads: one asks at a time."""

    def __init__(self, victim: Victim, lock: RLock) -> None:
        super().__init__(victim, remember=REMEMBERED)
        self.lock = lock

    def __call__(self, *columns: Column) -> Outputs:
        with self.lock:
            return super().__call__(*columns)

    def saliency(self, *columns: Column, **more: Any) -> list[Floats]:
        with self.lock:
            return super().saliency(*columns, **more)

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        with self.lock:
            return super().slopes(texts, targets)


@dataclass(eq=False)
class Playground:
    """A victim with its door, and the parts that requests may name.

    Requests name parts, they never describe them: a spec could name a file or a module. own: specs of more perturbations that
    the user of the command line offers. shield_spec: of the shield that is offered first. vectors: a file for recipes that need
    one.
    """

    victim: Victim
    own: Sequence[str] = ()
    shield_spec: str = "fast"
    vectors: str | None = None
    lock: RLock = field(default_factory=RLock)
    slow: set[str] = field(default_factory=set)  # names of perturbations

    def __post_init__(self) -> None:
        self._doors: dict[str | None, Door] = {None: Door(self.victim, self.lock)}
        self.truth = Truth(self.victim.task, tuple(self.victim.labels), np.zeros(0, np.int64))
        self.perturbations: dict[str, Perturbation] = {}
        self.missing: dict[str, str] = {}
        for spec in (*PERTURBATIONS.members(), *self.own):
            try:
                self.perturbations[spec] = parse(spec)
                if _has_network(self.perturbations[spec]):
                    self.slow.add(spec)
            except MissingResource as error:
                self.missing[spec] = str(error)
        self.shields = {
            name: Mending.of(name) for name in dict.fromkeys((self.shield_spec, *CHAINS, *SHIELDS.members()))
        }

    def warm(self) -> AboutAnswer:
        """Uses every part once, so that tables are loaded before the first request, and finds out which are missing or slow.
        Returns what there is.
        """
        text = load("demo.txt").decode().splitlines()[0]
        for name in self.quick:
            perturbation = self.perturbations[name]
            try:
                self._edits(perturbation, Corpus.of([text]), 0.5, 0)
                if min(self._seconds(perturbation, text + blank) for blank in (" ", "  ", "   ")) > QUICK:
                    self.slow.add(name)
            except MissingResource as error:
                self.missing[name] = str(error)
        clock = Clock(600.0)
        self.perturb(PerturbRequest(text, shield=self.shield_spec, marked=True, predict=False), clock)
        self.ask([text], clock)
        return self.about

    # the model

    def row(self, text: str) -> Text:
        """Returns a text as the victim takes it: taggers take tokens, here what stands between blanks."""
        return tuple(text.split()) if self.victim.task == "tokens" else text

    def ask(self, texts: Sequence[str], clock: Clock) -> list[Answer]:
        """Returns the model's answers, all texts in one batch. Raises Refused if the model gives none that can be used."""
        with clock.holding(self.lock):
            try:
                outputs = self.door()([self.row(text) for text in texts])
            except Exception as error:
                raise Refused(502, f"expected answers from {self.victim.name}, got {reason_of(error)}") from error
        return [self.answer(outputs, at) for at in range(len(outputs))]

    def door(self, shield: str | None = None) -> Door:
        """Returns the door to the victim behind a shield, by default behind none."""
        if shield not in self._doors:
            self._doors[shield] = Door(Shielded(self.victim, self.mending(str(shield)).shield), self.lock)
        return self._doors[shield]

    def answer(self, outputs: Outputs, at: int) -> Answer:
        """Returns one of the victim's answers by names."""
        if outputs.problem[at]:
            return {"said": None, "labels": [], "scores": None, "problem": str(outputs.problem[at])}
        value = outputs.answers[at]
        named = said(value, self.truth)
        words = in_words(named)
        labels = (
            [named["label"]] if isinstance(named, dict) else list(map(str, named)) if isinstance(named, list) else []
        )
        scores = None
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            best = np.argsort(-value, kind="stable")[:MOST_SCORES]
            scores = {self.truth.labels[i]: round(float(value[i]), 4) for i in np.sort(best).tolist()}
        return {"said": words if words != "" else "no label", "labels": labels, "scores": scores, "problem": None}

    # requests

    def predict(self, asked: PredictRequest, clock: Clock) -> PredictAnswer:
        texts = asked.texts
        for text in texts:
            whole(text)
        if asked.shield is not None:
            texts = self.mending(asked.shield).texts(texts)
        return {"answers": self.ask(texts, clock)}

    def perturb(self, asked: PerturbRequest, clock: Clock) -> PerturbAnswer:
        """Perturbs a text in every way that is asked for, then asks the model about all of these texts at once."""
        whole(asked.text)
        if asked.shield is not None:
            self.mending(asked.shield)  # refuses before any work
        names = asked.perturbations if asked.perturbations is not None else self.quick
        corpus = Corpus.of([asked.text])  # one for all, since its words and letters are found only once
        rows = [self._perturbed(name, corpus, asked, clock) for name in dict.fromkeys(names)]
        texts = [asked.text, *(row["text"] for row in rows)]
        mended = self._mended(texts, asked.shield, asked.marked) if asked.shield is not None else [None] * len(texts)
        answers: Sequence[Answer | None] = [None] * len(texts)
        if asked.predict:
            seen = [one["text"] if one else text for one, text in zip(mended, texts, strict=True)]
            answers = self.ask(seen, clock)
        first = answers[0]
        for row, answer, repaired in zip(rows, answers[1:], mended[1:], strict=True):
            row["answer"], row["mended"] = answer, repaired
            row["changed"] = bool(first and answer and first["said"] is not None and answer["said"] != first["said"])
        return {"answer": first, "mended": mended[0], "rows": rows}

    def shield(self, asked: ShieldRequest, clock: Clock) -> ShieldAnswer:
        whole(asked.text)
        name = self.shield_spec if asked.shield is None else asked.shield
        (mended,) = self._mended([asked.text], name, asked.marked)
        before = after = None
        if asked.predict:
            before, after = self.ask([asked.text, mended["text"]], clock)
        return {"shield": name, "mended": mended, "before": before, "after": after}

    @cached_property
    def about(self) -> AboutAnswer:
        """What requests may name, and the limits. It is not known before `warm` what is slow."""
        return {
            "version": __version__,
            "model": self.victim.name,
            "task": self.victim.task,
            "labels": list(self.victim.labels),
            "live": not self.victim.paid,
            "perturbations": [
                self._part(name, self._summary(name), self.missing.get(name), name not in self.slow)
                for name in (*PERTURBATIONS.members(), *self.own)
            ],
            "shields": [self._part(name, mending.shield.spec) for name, mending in self.shields.items()],
            "shield": self.shield_spec,
            "recipes": [self._recipe(name) for name in RECIPES.members()],
            "limits": {"text": LONGEST, "attacked_text": LONGEST_ATTACKED, "texts": MOST_TEXTS},
        }

    @property
    def choices(self) -> dict[str, list[str]]:
        """The names that requests may use, by kind."""
        return {
            "perturbations": [name for name in self.perturbations if name not in self.missing],
            "shields": list(self.shields),
            "recipes": list(RECIPES.members()),
            "labels": list(self.victim.labels),
        }

    @property
    def quick(self) -> list[str]:
        """The names of the perturbations that follow the typing."""
        return [name for name in self.perturbations if name not in self.missing and name not in self.slow]

    # parts

    def _part(self, name: str, summary: str, missing: str | None = None, quick: bool = True) -> Part:
        return {"name": name, "summary": summary, "missing": missing, "quick": quick}

    def _summary(self, name: str) -> str:
        found = self.perturbations.get(name) or PERTURBATIONS.members().get(name)
        return found.facts.summary if found else name

    def _recipe(self, name: str) -> Part:
        recipe, missing = RECIPES.build(name), None
        try:
            if not (self.vectors and _encodes(recipe)):  # else a sentence encoder would be loaded only for this list
                self.attack(name)
        except (MissingResource, ValueError) as error:
            missing = str(error)
        return self._part(name, recipe.paper, missing)

    def attack(self, recipe: str) -> tuple[Attack, str]:
        """Returns the attack of a recipe, ready for this victim, and how meaning is measured: by chrF, unless the recipe itself
        loads an encoder, which takes seconds. Raises ValueError or MissingResource if it cannot be run.
        """
        encoder = None if _encodes(RECIPES.build(recipe)) else "chrf"
        settings = AttackSettings.of(
            recipe=recipe, vectors=self.vectors, encoder=encoder, goal=GOALS.get(self.victim.task)
        )
        attack = settings.make_attack()
        attack = replace(attack, goal=attack.goal.ready(self.victim.task, self.victim.labels))
        check_access(attack, self.victim, self.victim.task)
        return attack, settings.meaning

    def mending(self, name: str) -> Mending:
        try:
            return self.shields[known_name(name, self.shields, "a shield")]
        except ValueError as error:
            raise Refused(422, str(error)) from None

    def _mended(self, texts: Sequence[str], shield: str, with_marks: bool) -> list[Mended]:
        repairs: list[list[Any]] = []
        new = self.mending(shield).texts(texts, edits=repairs)
        return [
            {
                "text": after,
                "repairs": [change(one, one.kinds) for one in found],
                "marked": marked(before, [(one.start, one.stop, one.new) for one in found]) if with_marks else "",
            }
            for before, after, found in zip(texts, new, repairs, strict=True)
        ]

    def _perturbed(self, name: str, corpus: Corpus, asked: PerturbRequest, clock: Clock) -> Row:
        """Returns the text after one perturbation. One that raises leaves it as it is, and says why."""
        clock.check()
        perturbation = self._perturbation(name)
        text, edits, problem = asked.text, [], None  # type: tuple[str, list[Edit], str | None]
        try:
            text, edits = self._edits(perturbation, corpus, asked.strength, asked.seed)
        except MissingResource as error:
            problem = str(error)
        except Exception as error:  # a perturbation of a user's own may raise anything
            problem = reason_of(error).removeprefix("error: ")
        marks = marked(asked.text, [(one.start, one.stop, one.new) for one in edits]) if asked.marked else ""
        return {
            "perturbation": name, "text": text, "edits": [change(one) for one in edits], "marked": marks,
            "characters": odd_characters(asked.text, (one.new for one in edits)), "answer": None, "changed": False,
            "mended": None, "problem": problem,
        }  # fmt: skip

    def _perturbation(self, name: str) -> Perturbation:
        if name in self.missing:
            raise Refused(422, self.missing[name])
        try:
            return self.perturbations[known_name(name, self.perturbations, "a perturbation")]
        except ValueError as error:
            raise Refused(422, str(error)) from None

    def _seconds(self, perturbation: Perturbation, text: str) -> float:
        begin = time.perf_counter()
        self._edits(perturbation, Corpus.of([text]), 0.5, 0)
        return time.perf_counter() - begin

    def _edits(self, perturbation: Perturbation, corpus: Corpus, strength: float, seed: int) -> tuple[str, list[Edit]]:
        """Returns the only text of a corpus after a perturbation, and its edits."""
        edits, listed = Plan(perturbation, strength, seed).changes(corpus, slice(0, 1), 0, None)
        return corpus.apply(edits).strings()[0], listed()[0]


def _encodes(recipe: Attack) -> bool:
    """Whether a recipe loads a sentence encoder."""
    return any(constraint.name == "meaning" for constraint in recipe.constraints)


def _has_network(perturbation: Perturbation) -> bool:
    """Whether a perturbation would load a network, which takes many seconds. Raises MissingResource if it has none."""
    if isinstance(perturbation, Contextual):
        return bool(perturbation.settled())
    return isinstance(perturbation, Paraphrase) and bool(perturbation.model)


def change(edit: Any, kinds: Sequence[str] = ()) -> Change:
    return {"start": edit.start, "stop": edit.stop, "old": edit.old, "new": edit.new, "kinds": list(kinds)}


def odd_characters(text: str, new: Iterable[str]) -> list[str]:
    """Returns the names of characters that were put into a text and cannot be told by looking."""
    return names_of(deceptive(text, new))


def whole(text: str) -> None:
    """Raises Refused if a text holds half a character."""
    if half := lone_surrogate(text):
        where = f"U+{ord(half):04X} at character {text.index(half):,}"
        raise Refused(422, f"expected Unicode text, got the lone surrogate {where}")
