"""An attack opened and checked: its pre-flight and its workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ..data.dataset import Task
from ..runs.display import said
from ..runs.folder import BadRun, Folder
from ..runs.jobs import Work
from ..runs.preflight import Say, duration, look
from ..runs.resume import Worker, open_again, saved_data
from ..runs.schema import RecipeFacts, RunPlan
from ..runs.setup import Setup
from ..text.edits import Edits
from ..victims.base import Access, NotEnoughAccess, Victim
from ..victims.query import Query
from .attack import Attack
from .campaign import Campaign
from .outcomes import Limits
from .search.base import Search
from .settings import AttackSettings

USUAL = 100  # queries of an example, before anything is known

LARGEST, IN_STEP = 1024, 64  # examples of a block; of a victim's cases at once, texts of one example


@dataclass(eq=False)
class AttackSetup(Setup):
    """A session whose plan is a recipe."""

    config: AttackSettings
    recipe: Attack = field(kw_only=True)
    found: Callable[[dict[str, Any]], None] | None = None  # is told each success

    @classmethod
    def of(cls, model: Any, source: Any, config: AttackSettings) -> AttackSetup:
        """Open everything; whatever does not fit together is told here."""
        recipe = config.recipe_for()
        if config.predictions:
            raise BadRun(
                "expected a model for an attack, got predictions: a search asks about texts that nobody knows yet"
            )
        opened = cls.opened(model, source, config)
        victim, data = opened["victim"], opened["data"]
        if config.column >= len(data.columns):
            raise ValueError(f"expected data with two texts for side second, got {len(data.columns)} column")
        joins = [part.spec for part in recipe.transform if not part.perturbation.facts.keeps_tokens]
        if data.task == "tokens" and joins:
            raise ValueError(f"expected transformations that keep each token for tagging data, got {', '.join(joins)}")
        recipe = replace(recipe, goal=recipe.goal.ready(data.task, opened["truth"].labels))
        if victim.access == Access.DECISION:
            found = Query(victim)(
                *data.take(range(min(4, len(data)))).columns
            )  # whether it gives scores shows in its answers
            if not found.answered.any():
                raise BadRun(f"{victim.name}: expected answers, got {found.problem[0]}")
        _check_access(recipe.search, victim, data.task)
        if victim.access < recipe.goal.needs:
            raise NotEnoughAccess(
                f"expected a model that gives scores for {recipe.goal.spec}, got {victim.name}, which only decides"
            )
        if recipe.search.needs == Access.GRADIENT and config.max_queries == 1:
            raise ValueError(
                "expected 2 or more for max_queries with the search gradient, got 1: a gradient is a query, too"
            )
        session = cls(**opened, recipe=recipe)
        session.ready(len(data) * USUAL)
        return session

    @property
    def limits(self) -> Limits:
        config, most = self.config, max(1, min(LARGEST, self.victim.cases_at_once // IN_STEP))
        blocks = -(-len(self.data) // most)
        size = -(-len(self.data) // max(1, blocks))  # all of one size: small ones have small batches
        return Limits(
            config.seed, config.column, config.protect, config.max_queries, config.meaning, config.valid, size
        )

    def plan(self) -> dict[str, Any]:
        limits = self.limits
        return {
            "kind": "attack", "recipe": self.recipe.name, **self.recipe.specs, "seed": limits.seed, "side": limits.side,
            "protect": list(limits.protect), "max_queries": limits.max_queries, "max_time": self.config.max_time,
            "meaning": limits.meaning, "most": limits.most, "block": limits.block,
        }  # fmt: skip

    def about(self) -> RunPlan:
        recipe = self.recipe
        named = {
            "name": recipe.name,
            "paper": recipe.paper,
            **recipe.in_full,
            "deviations": list(recipe.deviations.values()),
        }
        return {"recipe": cast(RecipeFacts, named)}

    def shown_plan(self) -> dict[str, Any]:
        specs = {name: part if isinstance(part, str) else ",".join(part) for name, part in self.recipe.specs.items()}
        budget = {"max_queries": self.config.max_queries} if self.config.max_queries else {}
        return {"recipe": self.recipe.name, **specs, **budget, "seed": self.config.seed}

    def attacking(self, folder: Folder) -> Campaign:
        most = self.config.max_time
        late = (lambda: time.monotonic() - self.begun > most) if most else None
        return Campaign(
            folder, self.data, self.truth, self.recipe, self.limits, self.ask, self.query.saliency, self.victim.unknown,
            self.victim.rows_at_once, late, self._live if self.found else None,
        )  # fmt: skip

    def _live(self, example: int, edits: Edits, before: Any, after: Any) -> None:
        """Tell of a success as results.jsonl does."""
        assert self.found is not None
        texts = [column[example] for column in self.data.columns]
        places = zip(edits.start.tolist(), edits.stop.tolist(), edits.text.strings(), strict=True)
        self.found(
            {
                "id": self.data.ids[example],
                "texts": texts,
                "edits": [[self.config.column, start, stop, new] for start, stop, new in places],
                "before": said(before, self.truth),
                "after": said(after, self.truth),
            }
        )

    def costs(self, say: Callable[[str], None], each: float) -> None:
        specs = self.recipe.in_full
        say(f"recipe  {self.recipe.name}: {self.recipe.paper}")
        say(f"        goal {specs['goal']}; search {specs['search']}")
        say(f"        changes {', '.join(specs['transform'])}")
        say(f"        keeps {', '.join(specs['constraints']) or 'nothing'}")
        for deviation in self.recipe.deviations.values():
            say(f"        unlike the paper: {deviation}")
        most = min(USUAL, self.config.max_queries or USUAL)
        about = duration(each * most * len(self.data))
        say(
            f"plan    {len(self.data):,} examples; {most} queries each would take the model about {about}; constraints take more"
        )


def _check_access(search: Search, victim: Victim, task: Task) -> None:
    """A search that needs more than the model tells is refused, with one that would do."""
    if task == "tokens":  # of tags the share that is wrong guides as scores do
        if search.needs > Access.SCORE:
            raise ValueError(
                f"expected a search without gradients for tagging data, got {search.name}: --search unk, delete or beam"
            )
    elif victim.access < search.needs:
        needs, gives = search.needs.name.lower(), victim.access.name.lower()
        other = "best-of needs only decisions" if victim.access < Access.SCORE else "unk or delete need only scores"
        raise NotEnoughAccess(
            f"expected a model with {needs} access for the search {search.name}, got {victim.name}, which has {gives} access: "
            f"--search {other}"
        )


Found = Callable[[dict[str, Any]], None]


def _begin(session: AttackSetup, say: Say, found: Found | None) -> None:
    if found and session.config.workers > 1:
        raise ValueError(f"expected 1 worker where successes are shown as they come, got {session.config.workers}")
    session.costs(say, look(session, say, USUAL * len(session.data)))
    session.found = found


def reopen_attack(path: str) -> Campaign:
    """An attack from its folder, without its victim: what numbers are made from."""
    folder = Folder(path)
    run = folder.run()
    data, truth = saved_data(folder, run, AttackSettings.of(**run["config"]))
    return Campaign(folder, data, truth, None, Limits.of(run["key"]))


def open_attack_worker(path: str, whole: bool, threads: int) -> Work:
    """An attack from its folder, in a worker process; always whole: nothing of it can be done without its victim."""
    assert whole
    bare = reopen_attack(path)
    run = bare.folder.run()
    config = AttackSettings.of(**run["config"])
    opened = open_again(run, config, bare.data, bare.truth, len(bare.data) * USUAL, threads)
    session = AttackSetup(**opened, recipe=config.recipe_for())
    return Worker(session.attacking(bare.folder), session)
