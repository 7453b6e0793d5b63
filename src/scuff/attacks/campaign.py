"""An attack on a whole data set: jobs that attack one block of examples each, and the results computed from what they write.

A job writes a part, arrays with one row per example, into the run folder; `Campaign.finish` computes summary.json and
results.jsonl from all parts. `engine.py` runs the searches, `outcomes.py` computes the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..data.dataset import Column, Dataset, Text, joined
from ..isolation import isolated
from ..metrics.chrf import chrf_likeness
from ..metrics.meaning import distance_in_meaning
from ..perturbations.base import Perturbation
from ..perturbations.combine import all_proposals
from ..perturbations.protect import Protect
from ..runs.folder import Arrays, Folder
from ..runs.pack import pack_answers, pack_edits, pack_texts, unpack_answers, unpack_texts
from ..runs.reasons import in_brief
from ..runs.schema import AttackSummary, RunFile
from ..runs.trials import Ask, CleanTexts, Job
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Floats, Ints, Mask
from ..victims.base import Access, Outputs, as_objects
from ..victims.query import Query
from ..victims.truth import Truth
from .attack import Attack
from .constraints.base import Constraint
from .engine import NO_CHANGE, NO_QUERY, Engine, Pursuit
from .outcomes import ERROR, FAILED, HELD, NO_ANSWER, NOTHING, SKIPPED, SUCCEEDED, Limits, attack_summary, result_lines
from .space import Space, State, Tried
from .substitutes import Substitutes
from .tradeoff import halves, measure_of

USUAL = 100  # a guess at the queries of an example, before any was attacked
UNSHIELDED = "unshielded"  # begins the names of parts with the answers to clean texts without the shield
NO_MARGIN = "error: expected a number from the goal, got nan"


class AttackedBlock:
    """One block of examples under attack: decides which are attacked, runs their searches, and holds the outcomes.

    Arrays and lists have one entry per example of the block; `attacked` holds the places of those that are attacked.
    """

    def __init__(self, run: Campaign, rows: Ints, clean: Outputs | None = None) -> None:
        """rows: the examples. clean: the answers of the model that the search asks to the original texts of the run; default:
        those in its folder.
        """
        assert run.ask is not None and run.attack is not None
        clean = run.searched if clean is None else clean
        self.run, self.rows, self.ask, self.attack = run, rows, run.ask, run.attack
        self.clean = run.clean if run.judge else clean  # of the model under test
        self.goal = self.attack.goal.ready(run.truth.task, run.truth.labels)
        self.status = np.full(rows.size, FAILED, np.int8)
        self.reason: list[str] = [""] * rows.size
        self.queries, self.reached = np.zeros((2, rows.size), np.int64)
        self.unanswered: list[list[str]] = [[] for _ in range(rows.size)]  # the reason of each missing answer
        self.margin = np.full(rows.size, np.nan)
        self.answers, self.edits = (
            list(self.clean.take(rows).answers),
            Edits.join([]),
        )  # of the outcomes, in order of rows
        self._states: dict[int, State] = {}  # the outcomes, by place
        self.found = np.zeros(rows.size, np.bool_)
        self.aims = self.judged_aims = self._choose(self.clean.take(rows))
        if run.judge:
            self.aims = self._choose(clean.take(rows), "without the shield: ")
        self.attacked = np.flatnonzero(self.status == FAILED)
        self.queries[self.attacked] = 1

    def _choose(self, clean: Outputs, where: str = "") -> Any:
        """Decides by a model's answers which examples cannot be attacked, and computes their margins. Returns the aims of the
        goal. where: begins the reasons.
        """
        for at, problem in enumerate(clean.problem.tolist()):
            if problem and self.status[at] == FAILED:
                self.status[at], self.reason[at] = SKIPPED, f"{NO_ANSWER}: {problem}"
        fine = np.flatnonzero(self.status == FAILED)
        aims = self.goal.aims(self.run.truth.take(self.rows).targets, clean.answers)
        self.margin[fine] = self.goal(clean.take(fine), aims[fine], np.zeros(fine.size))
        for at, reason in zip(fine.tolist(), self.goal.skips(clean.take(fine), aims[fine]).tolist(), strict=True):
            if reason:
                self.status[at], self.reason[at] = SKIPPED, where + reason
            elif np.isnan(self.margin[at]):
                self.status[at], self.reason[at] = ERROR, NO_MARGIN
        return aims

    def part(self) -> Arrays:
        """Runs the searches and returns the arrays to write."""
        columns = [Column.of(column) for column in self.run.data.take(self.rows).columns]
        mine = [column.take(self.attacked) for column in columns]
        if self.attacked.size:
            self._search(mine)
        all_edits = self.edits
        if self.run.judge:
            self._judge(columns, all_edits)
        corpus = columns[self.run.limits.side].corpus
        before, after = corpus.strings(), corpus.apply(all_edits).strings()
        distance = np.zeros(len(corpus))
        if (edited := np.unique(all_edits.row)).size:
            far = distance_in_meaning(self.run.limits.meaning)
            distance[edited] = far([before[at] for at in edited.tolist()], [after[at] for at in edited.tolist()])
        return {
            "example": self.rows.astype(np.int32), "status": self.status, "queries": self.queries.astype(np.int32),
            "reached": self.reached.astype(np.int32),
            "unanswered": np.array(list(map(len, self.unanswered)), np.int32), "margin": self.margin, "distance": distance,
            "changed": Tried(columns[self.run.limits.side], all_edits).changed(), **self._lost(), **self._halves(before, after),
            **self._mended(columns[self.run.limits.side], all_edits),
            **pack_texts("reason", self.reason), **pack_answers(self._stacked_answers()),
            **pack_edits([(self.run.limits.side, 0, all_edits)]),
        }  # fmt: skip

    def _halves(self, before: list[str], after: list[str]) -> Arrays:
        """What is left of the source and of the score of the model's text, if the task has texts; {} otherwise."""
        if self.run.truth.task != "text":
            return {}
        clean, targets = self.clean.take(self.rows).answers.tolist(), self.run.truth.take(self.rows).targets
        measure = measure_of(self.goal, bool(self.run.data.referenced.any()))
        return halves(measure, targets, clean, self.answers, before, after)

    def _judge(self, columns: list[Column], edits: Edits) -> None:
        """Asks the shielded model about the texts that an unaware attacker found. Only those that fool it, too, are successes."""
        assert self.run.judge is not None
        side = self.run.limits.side
        rows = np.intersect1d(np.unique(edits.row), np.flatnonzero(self.status != ERROR))
        self.found = self.status == SUCCEEDED
        if not rows.size:
            return
        tried = Tried(columns[side], edits).take(rows)
        texts = [
            tried.before.texts(tried.edits) if at == side else c.take(rows).texts() for at, c in enumerate(columns)
        ]
        outputs = self.run.judge(*texts)
        kept = [chrf_likeness(tried.before.corpus.strings(), tried.after.strings())] if self.goal.weighs_source else []
        margin = self.goal(outputs, self.judged_aims[rows], tried.changed(), *kept)
        for at, value, answer, problem in zip(
            rows.tolist(), margin.tolist(), outputs.answers, outputs.problem.tolist(), strict=True
        ):
            if problem or np.isnan(value):
                self.status[at], self.reason[at], self.reached[at] = ERROR, problem or NO_MARGIN, 0
                continue
            self.margin[at], self.answers[at] = value, answer
            if self.found[at] and value <= 0:
                self.status[at], self.reason[at], self.reached[at] = FAILED, HELD, 0
            elif self.found[at] and self.run.live:
                found = edits.where(edits.row == at)
                self.run.live(int(self.rows[at]), found, self.clean.answers[self.rows[at]], answer)

    def _mended(self, column: Column, edits: Edits) -> Arrays:
        """What a shielded model saw of the outcomes, "" where its shield changed nothing, and what an unaware attacker found; {}
        without a shield.
        """
        if self.run.mend is None:
            return {}
        shown = [""] * self.rows.size
        rows = np.unique(edits.row)
        tried = Tried(column, edits).take(rows)
        texts = tried.before.texts(tried.edits) if rows.size else []
        for at, text, mended in zip(rows.tolist(), texts, self.run.mend(texts), strict=True):
            shown[at] = joined(mended) if mended != text else ""
        return {**pack_texts("mended", shown), **({"found": self.found} if self.run.judge else {})}

    def _lost(self) -> Arrays:
        """Why queries had no answer, in few words, and how many; {} if all had one."""
        kinds = in_brief(Counter(chain.from_iterable(self.unanswered)))
        if not kinds:
            return {}
        return {**pack_texts("lost", list(kinds)), "lost_count": np.array(list(kinds.values()), np.int32)}

    def _stacked_answers(self) -> Any:
        """The answers as one array of the type that the victim's answers have."""
        kind = self.clean.answers
        return as_objects(self.answers) if kind.dtype == object else np.array(self.answers, kind.dtype)

    def _search(self, columns: list[Column]) -> None:
        """Proposes edits, searches, and records the outcomes. columns: of the attacked examples only."""
        run, limits, attack = self.run, self.run.limits, self.attack
        protect = Protect(limits.protect) if limits.protect else None
        corpus, parts = columns[limits.side].corpus, [(part.perturbation, part.count) for part in attack.perturbations]
        proposed = self._each_alone(corpus, lambda corpus: self._proposed(corpus, parts, protect))
        unknown = run.unknown if attack.search.hidden else ""
        space = Space.of(columns, limits.side, proposed, unknown, attack.search.cuts, run.reads)
        aims = self.aims[self.attacked]
        engine = Engine(
            space, self.goal, attack.search, attack.constraints, self._ask, aims, limits.seed, limits.max_queries,
            run.at_once, run.late,
        )  # fmt: skip
        importance = None
        if attack.search.slopes:
            engine.substitutes = self._substitutes(space, aims, protect)
        elif attack.search.needs == Access.GRADIENT:
            importance = self._importance(space, aims)
        rows = [at for at in range(self.attacked.size) if not self.reason[self.attacked[at]]]
        for pursuit in engine.run(rows, self.margin[self.attacked[rows]], importance):
            self._record(pursuit, space)
        self.edits = self._outcomes(space)

    def _outcomes(self, space: Space) -> Edits:
        """The edits of all outcomes."""
        places = sorted(self._states)
        states = [self._states[at] for at in places]
        number = np.fromiter(chain.from_iterable(states), np.int64)
        row = np.repeat(np.array(places, np.int64), np.fromiter(map(len, states), np.int64, len(states)))
        found = replace(space.numbered(number), row=row)
        return found.in_order() if self.attack.search.slopes else found

    def _ask(self, *columns: Any, examples: Any) -> Outputs:
        """Asks the victim and keeps the reasons of missing answers: a model that fails on every new text must not look robust."""
        outputs = self.ask(*columns)
        for place in np.flatnonzero(~outputs.answered).tolist():
            self.unanswered[self.attacked[examples[place]]].append(str(outputs.problem[place]))
        return outputs

    def _proposed(self, corpus: Corpus, parts: list[tuple[Perturbation, int]], protect: Protect | None) -> Edits:
        """The edits that a search may use: all proposals that no constraint forbids."""
        if self.attack.search.slopes:  # it proposes its own
            return Edits.join([])
        proposed = all_proposals(parts, corpus, self.run.limits.seed, protect)
        for constraint in self.attack.constraints:
            proposed = proposed.where(constraint.sites(corpus, proposed))
        return proposed

    def _each_alone(self, corpus: Corpus, propose: Callable[[Corpus], Edits]) -> Edits:
        """Proposals for all texts. If a perturbation raises on a text, that text has none and its status is an error."""

        def some(rows: Sequence[int]) -> Edits:
            if len(rows) == len(corpus):
                return propose(corpus)
            at = np.array(rows, np.int64)
            found = propose(corpus.take(at))
            return replace(found, row=at[found.row])

        def failed(row: int, reason: str) -> Edits:
            self._fail(row, reason)
            return Edits.join([])

        parts = isolated(range(len(corpus)), some, failed)
        return parts[0] if len(parts) == 1 else Edits.join(parts)

    def _fail(self, at: int, reason: str) -> None:
        """Records an error. at: the place among the attacked examples."""
        self.status[self.attacked[at]], self.reason[self.attacked[at]] = ERROR, reason

    def _substitutes(self, space: Space, aims: Any, protect: Protect | None) -> Substitutes:
        """What finds substitutions; protected text and the constraints' `sites` hold for them as for proposals."""
        assert self.run.query is not None, "a victim without gradients is not asked for them"
        constraints = [part for part in self.attack.constraints if type(part).sites is not Constraint.sites]

        def allowed(corpus: Corpus, edits: Edits) -> Mask:
            fine = np.ones(len(edits), np.bool_)
            if protect:
                fine &= ~edits.hitting(protect.find(corpus), corpus.offsets)
            for constraint in constraints:
                left = np.flatnonzero(fine)
                fine[left] = constraint.sites(corpus, edits.where(left))
            return fine

        filters = allowed if protect or constraints else None
        references = self.goal.references(aims)
        return Substitutes(space, self.attack.search, self.run.query, references, filters, self.run.limits.seed)

    def _importance(self, space: Space, aims: Any) -> dict[int, Floats]:
        """The importance of each site, by attacked example: one backward pass, which counts as a query."""
        assert self.run.saliency is not None, "a victim without gradients is not asked for them"
        spans = list(zip(*(place.tolist() for place in space.spans), strict=True))
        words = [spans[a:b] for a, b in zip(space.sites_of[:-1].tolist(), space.sites_of[1:].tolist(), strict=True)]
        texts = [column.texts() for column in space.columns]
        more = {"norm": norm} if (norm := self.attack.search.gradient_norm) else {}
        weights = self.goal.weights(aims)
        found = self.run.saliency(*texts, side=space.side, words=words, weights=weights, steps=1, **more)
        self.queries[self.attacked] += 1
        return dict(enumerate(found))

    def _record(self, pursuit: Pursuit, space: Space) -> None:
        """Records the outcome of a search. It is an error if the victim answered no text that could have been the outcome."""
        at = int(self.attacked[pursuit.view.row])
        self.queries[at] += pursuit.queries + pursuit.passes - 1
        if pursuit.failed:
            return self._fail(pursuit.view.row, pursuit.failed)
        problems = self.unanswered[at] + [NO_MARGIN] * pursuit.unjudged
        none_answered = pursuit.asked and not pursuit.answered
        if problems and (none_answered or len(problems) >= pursuit.queries - 1):
            return self._fail(pursuit.view.row, problems[0])
        self.margin[at] = pursuit.margin
        self.reason[at] = _why_ended(pursuit)
        if pursuit.state:
            before, self.answers[at] = self.answers[at], pursuit.answer
            self._states[at] = pursuit.state
            if pursuit.margin > 0:
                self.status[at], self.reason[at], self.reached[at] = SUCCEEDED, "", pursuit.reached
                if self.run.live and not self.run.judge:
                    edits = space.numbered(np.array(pursuit.state))
                    edits = edits.in_order() if pursuit.passes else edits
                    self.run.live(int(self.rows[at]), edits, before, pursuit.answer)
        return None


def _why_ended(pursuit: Pursuit) -> str:
    """Why a search ended without a success. One whose queries did not reach a first change says nothing of the victim."""
    if not pursuit.asked and pursuit.reason == NO_QUERY:
        return NO_CHANGE
    return pursuit.reason or ("" if pursuit.asked else NOTHING)


Live = Callable[[int, Edits, Any, Any], None]  # example, its edits, the answer before, the answer after


@dataclass(eq=False)
class Campaign:
    """Everything that decides the trials of an attack.

    attack: None if the run is only read. ask, saliency: call the model that the search asks; None if the run is only read.
    unknown: the victim's unknown token. at_once: texts of a batch, about. late: tells whether time is up. live: called with each
    success. query: the door to that model, for searches that substitute by its gradients. reads: how many words of a text it
    reads at most; None: all.

    If the victim has a shield: attacker, aware or unaware of it. ask_unshielded: asks the model without its shield. mend: what
    the shield makes of texts. judge: asks the shielded model, if the attacker is unaware, so that `ask` does not.
    """

    folder: Folder
    data: Dataset
    truth: Truth
    attack: Attack | None
    limits: Limits
    ask: Ask | None = None
    saliency: Callable[..., list[Floats]] | None = None
    unknown: str = "[UNK]"
    at_once: int = 2048
    late: Callable[[], bool] | None = None
    live: Live | None = None
    query: Query | None = None
    attacker: str | None = None
    ask_unshielded: Ask | None = None
    mend: Callable[[Sequence[Text]], list[Text]] | None = None
    judge: Ask | None = None
    reads: int | None = None

    def jobs(self) -> list[Job]:
        """One job per block of examples."""
        size, total = self.limits.block, len(self.data)
        blocks = [range(start, min(start + size, total)) for start in range(0, total, size)]
        return [Job(f"attack-{at:05}", rows, queries=USUAL * len(rows)) for at, rows in enumerate(blocks)]

    def rounds(self) -> Iterator[list[Job]]:
        """All jobs in one round: none depends on the results of others. Before it, the clean texts without the shield."""
        if self.attacker:
            yield self._unshielded_texts.jobs()
        yield self.jobs()

    @property
    def _unshielded_texts(self) -> CleanTexts:
        return CleanTexts(self.folder, self.data, self.truth, self.ask_unshielded, UNSHIELDED)

    def make(self, job: Job) -> None:
        """Makes nothing: a search needs its victim for every step."""

    def do(self, job: Job, made: Any = None) -> None:
        """Attacks a block of examples and writes its part."""
        if job.name.startswith(UNSHIELDED):
            self._unshielded_texts.do(job)
        else:
            self.folder.write_part(job.name, AttackedBlock(self, np.arange(job.rows.start, job.rows.stop)).part())

    @cached_property
    def clean(self) -> Outputs:
        """The victim's answers to the original texts, read from the run folder."""
        return self._answers("clean")

    @cached_property
    def unshielded(self) -> Outputs:
        """Those of the model without its shield."""
        return self._answers(UNSHIELDED)

    @property
    def searched(self) -> Outputs:
        """Those of the model that the search asks."""
        return self.unshielded if self.judge else self.clean

    def _answers(self, begin: str) -> Outputs:
        parts = []
        for name in self.folder.parts():
            if name.startswith(begin):
                arrays = self.folder.read_part(name)
                reasons = as_objects(["", *unpack_texts("reason", arrays)])
                parts.append(Outputs(unpack_answers(arrays), reasons[arrays["problem"]]))
        return Outputs.join(parts)

    def finish(self, run: RunFile) -> AttackSummary:
        """Computes results.jsonl and summary.json from the parts, writes both, and returns the summary."""
        parts = [self.folder.read_part(job.name) for job in self.jobs()]
        lines = result_lines(self.data, self.truth, self.clean, parts, self.limits)
        kept = [np.where(part["status"] == SUCCEEDED, "", "not broken").astype(object) for part in parts]
        settled = Outputs.join([Outputs(unpack_answers(part), why) for part, why in zip(parts, kept, strict=True)])
        lost: Counter[str] = Counter()
        for part in parts:
            if "lost_count" in part:
                lost.update(dict(zip(unpack_texts("lost", part), part["lost_count"].tolist(), strict=True)))
        alone = self.unshielded if self.attacker else None
        summary = attack_summary(run, self.data, self.truth, self.clean, settled, self.limits, lines, lost, alone)
        self.folder.write_lines("results.jsonl", lines)
        self.folder.write_json("summary.json", summary)
        return summary
