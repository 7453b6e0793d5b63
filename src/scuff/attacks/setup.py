"""Opens an attack: checks that settings, data and victim fit together, describes the plan, and makes the campaign."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from ..data.dataset import Dataset, Task
from ..perturbations.languages import warn_of_language
from ..runs.display import said
from ..runs.folder import BadRun, Folder, NoAnswers
from ..runs.inputs import saved_data
from ..runs.preflight import costs, look
from ..runs.progress import Forecast
from ..runs.schema import AttackSummary, RecipeFacts, RunPlan
from ..runs.settings import Settings
from ..runs.setup import Output, Say, Setup
from ..text.edits import Edits
from ..text.ragged import Ints
from ..victims.base import Access, NotEnoughAccess, Victim
from ..victims.query import Query
from ..victims.shielded import Shielded, unshielded
from ..victims.substitution import gives_slopes
from ..victims.truth import Truth
from .attack import Attack
from .campaign import USUAL, Campaign
from .forecast import forecast_attack
from .goals import Decrease, Goal
from .goals.texts import REFERENCE
from .outcomes import AWARE, SEARCHES_AGAINST, UNAWARE, Limits
from .search.base import Search
from .settings import DEFAULT, PLAIN, TOXICTRAP, AttackSettings

LARGEST = 1024  # examples of a block
FEW = 50  # queries of an example, a low guess: towards the end of a block batches are small, so that it should be large
SMALLEST, LARGEST_SHARED, BLOCKS = 32, 256, 64  # examples of a block, and blocks, if many workers ask one victim
LEAST_LOOK = 32  # examples that are looked at together, at least

Found = Callable[[dict[str, Any]], None]  # called with each success


@dataclass(eq=False)
class AttackSetup(Setup):
    """A setup whose plan is an attack."""

    settings: AttackSettings
    attack: Attack = field(kw_only=True)
    found: Found | None = None
    by_default: bool = False  # whether the user named no recipe
    applies: int | None = None  # with --attacked: to how many of the examples the goal applies

    kind: ClassVar[str] = "attack"
    bare: ClassVar[bool] = True
    settings_class: ClassVar[type[Settings]] = AttackSettings

    @classmethod
    def open(
        cls, model: Any, source: Any, given: Mapping[str, Any], output: Output = None, found: Found | None = None
    ) -> AttackSetup:
        settings = AttackSettings.of(**given)
        if found and not settings.alone:
            what = settings.workers if settings.workers and settings.workers > 1 else f"engine {settings.engine}"
            raise ValueError(f"expected 1 worker where successes are shown as they come, got {what}")
        attack = settings.make_attack()
        if settings.predictions:
            raise BadRun(
                "expected a model for an attack, got predictions: a search asks about texts that nobody knows yet"
            )
        opened = cls.opened(model, source, settings, output)
        victim, data = opened["victim"], opened["data"]
        if settings.column >= len(data.columns):
            raise ValueError(f"expected data with two texts for side second, got {len(data.columns)} column")
        if settings.attacker == UNAWARE and not isinstance(victim, Shielded):
            raise ValueError("expected a shield for attacker unaware, got none: --shield SPEC")
        joins = [part.spec for part in attack.perturbations if not part.perturbation.facts.keeps_tokens]
        if data.task == "tokens" and joins:
            raise ValueError(f"expected perturbations that keep each token for tagging data, got {', '.join(joins)}")
        warn_of_language([part.perturbation for part in attack.perturbations], data.strings(), stacklevel=3)
        attack = replace(attack, goal=attack.goal.ready(data.task, opened["truth"].labels))
        _check_references(attack.goal, data)
        if victim.access == Access.DECISION:  # only its answers show whether it gives scores
            first = Query(victim)(*data.take(range(min(4, len(data)))).columns)
            if not first.answered.any():
                raise BadRun(f"{victim.name}: expected answers, got {first.problem[0]}")
        check_access(attack, victim, data.task)
        if attack.search.slopes and len(data.columns) > 1:
            raise ValueError(f"expected data with one text for the search {attack.search.name}, got pairs of texts")
        if attack.search.needs == Access.GRADIENT and settings.max_queries == 1:
            raise ValueError(
                f"expected 2 or more for max_queries with the search {attack.search.name}, got 1: a gradient is a query, too"
            )
        begun, applies = time.monotonic(), None
        if settings.attacked is not None:
            opened["query"].max_errors = settings.error_limit(len(data))
            doors = [opened["query"]]
            if settings.attacker == UNAWARE:
                doors.append(Query(unshielded(victim), max_errors=settings.error_limit(len(data))))
            rows, applies = look_for(settings.attacked, attack.goal, doors, data, opened["truth"], settings.seed)
            data = opened["data"] = data.take(rows)
            opened["truth"] = opened["truth"].take(rows)
        by_default = given.get("recipe") == DEFAULT
        setup = cls(**opened, begun=begun, attack=attack, found=found, by_default=by_default, applies=applies)
        setup.ready(len(data) * USUAL)
        return setup

    @classmethod
    def sampled(cls, whole: Dataset, settings: Settings) -> Dataset:
        """With --attacked all examples, unless the user says how many to look at: `open` chooses among them."""
        free = isinstance(settings, AttackSettings) and settings.attacked is not None and settings.examples is None
        return whole if free else super().sampled(whole, settings)

    @property
    def sampling(self) -> str:
        return super().sampling if self.settings.attacked is None else f"until {self.applies:,} could be attacked"

    @classmethod
    def read(cls, folder: Folder) -> Campaign:
        run = folder.run()
        data, truth = saved_data(folder, run, Settings(map=run["key"]["map"], none=run["key"]["none"]))
        attacker = str(run["key"].get("attacker", AWARE)) if "shield" in run else None
        return Campaign(folder, data, truth, None, Limits.of(run["key"]), attacker=attacker)

    @classmethod
    def reopen(cls, bare: Campaign, threads: int, door: Any = None) -> AttackSetup:
        run = bare.folder.run()
        opened = cls.opened_again(run, bare.data, bare.truth, len(bare.data) * USUAL, threads, door)
        return cls(**opened, attack=opened["settings"].make_attack())

    def work(self, folder: Folder) -> Campaign:
        most = self.settings.max_time
        late = (lambda: time.monotonic() - self.begun > most) if most else None
        campaign = Campaign(
            folder, self.data, self.truth, self.attack, self.limits, self.ask, self.query.saliency, self.victim.unknown,
            self.victim.rows_at_once, late, self._live if self.found else None, self.query, reads=self.victim.reads,
        )  # fmt: skip
        if not isinstance(self.victim, Shielded):
            return campaign
        alone = self.unshielded_query
        alone.identity, alone.cache = f"{self.query.identity} without its shield", self.query.cache
        campaign = replace(
            campaign, attacker=self.settings.attacker, ask_unshielded=self._ask_unshielded, mend=self.victim.mended
        )
        if self.settings.attacker == AWARE:
            return campaign
        bare = unshielded(self.victim)
        return replace(
            campaign, ask=self._ask_unshielded, judge=self.ask, saliency=alone.saliency, query=alone, reads=bare.reads
        )

    @cached_property
    def unshielded_query(self) -> Query:
        """The door to the model without its shield."""
        door = Query(unshielded(self.victim), max_errors=self.query.max_errors)
        door.tell = lambda count: self.query.tell(count) if self.query.tell else None
        return door

    @property
    def doors(self) -> list[Query]:
        return [self.query, *([self.unshielded_query] if "unshielded_query" in vars(self) else [])]

    def _ask_unshielded(self, *columns: Any) -> Any:
        """As `ask`, without the shield."""
        try:
            return self.unshielded_query(*columns)
        finally:
            self.unshielded_query.forget()

    @property
    def limits(self) -> Limits:
        """The settings that decide trials, and a size of blocks with which the victim's batches are full."""
        settings, most = self.settings, max(1, min(LARGEST, self.victim.cases_at_once // FEW))
        if self.victim.serves:  # all workers share its batches, so blocks may be small; there must be enough for all
            most = min(LARGEST_SHARED, max(SMALLEST, -(-len(self.data) // BLOCKS)))
        blocks = -(-len(self.data) // most)
        size = -(-len(self.data) // max(1, blocks))  # blocks of one size, since a small one would have small batches
        return Limits(
            settings.seed, settings.column, settings.protect, settings.max_queries, settings.meaning, settings.valid, size
        )  # fmt: skip

    def plan(self) -> dict[str, Any]:
        limits = self.limits
        return {
            "kind": "attack", "recipe": self.attack.name, **self.attack.specs, **self._attacker(), "seed": limits.seed,
            "side": limits.side, "protect": list(limits.protect), "max_queries": limits.max_queries,
            "max_time": self.settings.max_time,
            "meaning": limits.meaning, "most": limits.most, "block": limits.block,
        }  # fmt: skip

    def about(self) -> RunPlan:
        attack, deviations = self.attack, list(self.attack.deviations.values())
        recipe = {"name": attack.name, "paper": attack.paper, **attack.in_full, "deviations": deviations}
        return {"recipe": cast(RecipeFacts, recipe)}

    def shown_plan(self) -> dict[str, Any]:
        specs = {name: part if isinstance(part, str) else ",".join(part) for name, part in self.attack.specs.items()}
        budget = {"max_queries": self.settings.max_queries} if self.settings.max_queries else {}
        return {"recipe": self.attack.name, **specs, **self._attacker(), **budget, "seed": self.settings.seed}

    def _attacker(self) -> dict[str, str]:
        """The attacker, if it is not the usual one."""
        return {"attacker": UNAWARE} if self.settings.attacker == UNAWARE else {}

    def check_answers(self, summary: AttackSummary) -> None:
        attacked = summary["success"]["of"]
        if attacked and summary["status"]["error"] == attacked:
            reason = next(iter(summary["problems"]))
            raise NoAnswers(f"expected answers to some of {attacked:,} attacks, got none: {reason}")

    def preflight(self, say: Say) -> float:
        each, specs = look(self, say), self.attack.in_full
        plain = self.by_default and self.attack.name == PLAIN and self.data.task != "text"
        why = f"; the default, because no word vectors are given (--vectors FILE: {TOXICTRAP})" if plain else ""
        say(f"recipe  {self.attack.name}: {self.attack.paper}{why}")
        say(f"        goal {specs['goal']}; search {specs['search']}")
        changes = ", ".join(specs["transform"])
        say(f"        changes {self.attack.search.candidates.summary if self.attack.search.slopes else changes}")
        say(f"        keeps {', '.join(specs['constraints']) or 'nothing'}")
        if self.shield:
            say(f"        attacker {SEARCHES_AGAINST[self.settings.attacker]}")
        for deviation in self.attack.deviations.values():
            say(f"        unlike the paper: {deviation}")
        return each

    def forecast(self, say: Say, each: float) -> Forecast:
        forecast = forecast_attack(self, self.work(Folder(".")), each)
        if self.applies is not None:
            few = " in all" if self.applies != self.settings.attacked else ""
            say(
                f"attack  {self.applies:,} of {len(self.data):,} examples looked at{few}: those that the goal applies to"
            )
        say(f"plan    {len(self.data):,} examples: about {forecast.queries:,} queries, {costs(forecast)}")
        return forecast

    def _live(self, example: int, edits: Edits, before: Any, after: Any) -> None:
        """Calls `found` with a success, in the form of results.jsonl."""
        assert self.found is not None
        texts = [column[example] for column in self.data.columns]
        places = zip(edits.start.tolist(), edits.stop.tolist(), edits.text.strings(), strict=True)
        self.found(
            {
                "id": self.data.ids[example],
                "texts": texts,
                "edits": [[self.settings.column, start, stop, new] for start, stop, new in places],
                "before": said(before, self.truth),
                "after": said(after, self.truth),
            }
        )


def look_for(
    wanted: int, goal: Goal, doors: Sequence[Query], data: Dataset, truth: Truth, seed: int
) -> tuple[Ints, int]:
    """Looks at examples in the order of `Dataset.ranked` until there are `wanted` that the goal applies to, by the answers
    through all doors.

    Returns the numbers of all that were looked at, sorted, and to how many of them the goal applies. Asks about more at once
    than it may need, but drops those after the last one wanted: so neither batches nor workers decide which examples these are.
    Raises BadRun if the first ones have no answers.
    """
    order, found, looked = data.ranked(seed), 0, 0
    while looked < len(data) and found < wanted:
        rows = order[looked : looked + max(LEAST_LOOK, 2 * (wanted - found))]
        fits = np.arange(rows.size)
        for query in doors:
            outputs = query(*data.take(rows).columns)
            if not looked and not outputs.answered.any():
                raise BadRun(f"{query.victim.name}: expected answers, got {outputs.problem[0]}")
            fits = fits[outputs.answered[fits]]
            if fits.size:
                some = outputs.take(fits)
                fits = fits[np.equal(goal.skips(some, goal.aims(truth.targets[rows[fits]], some.answers)), "")]
        last = int(fits[wanted - found - 1]) + 1 if found + fits.size >= wanted else rows.size
        found, looked = found + int((fits < last).sum()), looked + last
    return np.sort(order[:looked]), found


def _check_references(goal: Goal, data: Dataset) -> None:
    """Raises BadRun if a goal compares with references and the data has none."""
    if isinstance(goal, Decrease) and goal.against == REFERENCE and not data.referenced.any():
        raise BadRun(
            f"{data.name}: expected references for the goal decrease, got none: --label NAME names their column; "
            "--goal \"decrease(against='output')\" compares with the model's own texts for the original sources"
        )


def check_access(attack: Attack, victim: Victim, task: Task) -> None:
    """Raises NotEnoughAccess or ValueError, naming another search, if the victim has too little access for search or goal."""
    search: Search = attack.search
    if search.slopes:
        _check_slopes(search, victim, task)
    elif task == "text":  # the score of a text guides a search as scores of labels do
        if search.needs > Access.SCORE:
            raise ValueError(
                f"expected a search without gradients for texts, got {search.name}: --search unk, delete or beam"
            )
    elif task == "tokens":  # the share of wrong tags guides a search as scores do
        if search.needs > Access.SCORE or search.cuts:
            what = "without gradients" if search.needs > Access.SCORE else "that cuts no text"
            raise ValueError(
                f"expected a search {what} for tagging data, got {search.name}: --search unk, delete or beam"
            )
    elif victim.access < search.needs:
        needs, gives = search.needs.name.lower(), victim.access.name.lower()
        other = "best-of needs only decisions" if victim.access < Access.SCORE else "unk or delete need only scores"
        raise NotEnoughAccess(
            f"expected a model with {needs} access for the search {search.name}, got {victim.name}, which has {gives} access: "
            f"--search {other}{victim.hint}"
        )
    if victim.access < attack.goal.needs:
        raise NotEnoughAccess(
            f"expected a model that gives scores for {attack.goal.spec}, got {victim.name}, which only decides"
        )


def _check_slopes(search: Search, victim: Victim, task: Task) -> None:
    """Raises NotEnoughAccess or ValueError if a search by substitution does not fit the victim or the data."""
    if task == "tokens":
        raise ValueError(f"expected data with a text or labels for the search {search.name}, got tagging data")
    if not gives_slopes(victim):
        gives = victim.access.name.lower()
        gives = "no gradients for substitutions" if gives == "gradient" else f"{gives} access"
        raise NotEnoughAccess(
            f"expected a model with gradient access for the search {search.name}, got {victim.name}, which has {gives}: "
            f"--search unk, delete or beam{victim.hint}"
        )
