"""A search attack opened and checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..attack.recipes import Recipe
from ..attack.search import Search
from ..evaluate import BadRun, Folder
from ..evaluate.attacking import Attacking, Limits
from ..evaluate.results import said
from ..text import Edits
from ..text.dataset import Task
from ..victims import Access, NotEnoughAccess, Query, Victim
from .preflight import duration
from .recipe import AttackConfig
from .session import Session

USUAL = 100  # queries of an example, before anything is known
LARGEST, IN_STEP = 1024, 64  # examples of a block; of a victim's cases at once, texts of one example


@dataclass(eq=False)
class Searching(Session):
    """A session whose plan is a recipe."""

    config: AttackConfig
    recipe: Recipe = field(kw_only=True)
    found: Callable[[dict[str, Any]], None] | None = None  # is told each success

    @classmethod
    def of(cls, model: Any, source: Any, config: AttackConfig) -> Searching:
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
        joins = [part.spec for part in recipe.transform if not part.attack.facts.keeps_tokens]
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

    def about(self) -> dict[str, Any]:
        recipe = self.recipe
        named = {
            "name": recipe.name,
            "paper": recipe.paper,
            **recipe.in_full,
            "deviations": list(recipe.deviations.values()),
        }
        return {"recipe": named}

    def shown_plan(self) -> dict[str, Any]:
        specs = {name: part if isinstance(part, str) else ",".join(part) for name, part in self.recipe.specs.items()}
        budget = {"max_queries": self.config.max_queries} if self.config.max_queries else {}
        return {"recipe": self.recipe.name, **specs, **budget, "seed": self.config.seed}

    def attacking(self, folder: Folder) -> Attacking:
        most = self.config.max_time
        late = (lambda: time.monotonic() - self.begun > most) if most else None
        return Attacking(
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
