"""The setup of an evaluation: opens model and data, chooses the protocol, says the costs, and reopens a run for workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..metrics import Metric, parse_metric
from ..perturbations.languages import warn_of_language
from ..runs.folder import BadRun, Folder, NoAnswers
from ..runs.inputs import saved_data
from ..runs.preflight import costs, in_brackets, look
from ..runs.progress import Forecast
from ..runs.schema import EvaluationSummary, PublishedFacts, RunPlan
from ..runs.settings import Settings
from ..runs.setup import Output, Say, Setup
from ..victims.base import Access, require
from ..victims.query import Query
from .evaluation import Evaluation
from .forecast import forecast_evaluation
from .judged import read_judged
from .plan import make_protocol
from .protocol import Protocol
from .published import published_facts
from .settings import EvaluationSettings


@dataclass(eq=False)
class EvaluationSetup(Setup):
    """A model, data and settings with the protocol of an evaluation. left_out: dimensions that cannot run, with reasons."""

    settings: EvaluationSettings
    protocol: Protocol = field(default_factory=Protocol)
    left_out: dict[str, str] = field(default_factory=dict)
    published: PublishedFacts | None = None

    kind: ClassVar[str] = "evaluate"
    settings_class: ClassVar[type[Settings]] = EvaluationSettings
    makes_alone: ClassVar[bool] = True

    @classmethod
    def open(cls, model: Any, source: Any, given: Mapping[str, Any], output: Output = None) -> EvaluationSetup:
        settings = EvaluationSettings.of(**given)
        if settings.validity:
            read_judged(settings.validity)  # raises before the model is opened
        opened = cls.opened(model, source, settings, output)
        victim, data = opened["victim"], opened["data"]
        if data.task == "text" and not data.referenced.any():
            raise BadRun(
                f"{data.name}: expected references for an evaluation, got none: --label NAME names their column; "
                "`scuff attack` does without: --goal \"decrease(against='output')\""
            )
        metric = _metric(settings)
        if (settings.guided or metric) and victim.access == Access.DECISION:
            Query(victim)(*data.take(range(min(4, len(data)))).columns)  # only its answers show whether it gives scores
        if metric:
            metric.check(data.task, opened["truth"].labels, victim.access >= Access.SCORE)
        protocol, left_out = make_protocol(settings, data, victim.cases_at_once, victim.access)
        require(victim, protocol.needs, "this protocol")
        warn_of_language([dimension.perturbation for dimension in protocol.parsed], data.strings(), stacklevel=3)
        opened["query"].max_queries = settings.max_queries
        published = published_facts(settings, protocol, data) if settings.as_published else None
        setup = cls(**opened, protocol=protocol, left_out=left_out, published=published)
        setup.ready(protocol.queries(data))
        return setup

    @classmethod
    def read(cls, folder: Folder) -> Evaluation:
        run = folder.run()
        key: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in run["key"].items()
        }
        protocol = Protocol(**{name: key[name] for name in Protocol.__dataclass_fields__ if name in key})
        settings = EvaluationSettings.of(**{**run["config"], "shield": None})  # whose files may be gone
        data, truth = saved_data(folder, run, settings)
        return Evaluation(folder, data, protocol, truth, metric=_metric(settings))

    @classmethod
    def reopen(cls, bare: Evaluation, threads: int, door: Any = None) -> EvaluationSetup:
        run, queries = bare.folder.run(), bare.protocol.queries(bare.data)
        return cls(**cls.opened_again(run, bare.data, bare.truth, queries, threads, door), protocol=bare.protocol)

    def work(self, folder: Folder) -> Evaluation:
        return Evaluation(
            folder, self.data, self.protocol, self.truth, self.ask, self.victim.mask, self.query.saliency, _metric(self.settings),
            self.victim.reads,
        )  # fmt: skip

    def plan(self) -> dict[str, Any]:
        return {**self.protocol.asdict(), **({"metric": self.settings.metric} if self.settings.metric else {})}

    def shown_plan(self) -> dict[str, Any]:
        protocol, measures = self.protocol, [dimension.measure for dimension in self.protocol.parsed]
        return {
            "dimensions": ",".join(protocol.dimensions), "degrees": ",".join(f"{degree:g}" for degree in protocol.degrees),
            "cases": protocol.cases, "seed": protocol.seed, **({"meaning": protocol.meaning} if "meaning" in measures else {}),
            **({"width": f"{protocol.width:g}"} if protocol.width else {}),
            **({"rounding": protocol.rounding} if protocol.rounding != "down" else {}),
            **({"select": ",".join(map(str, protocol.selections))} if protocol.selections else {}),
            **({"final": "from 0"} if protocol.final_from_zero else {}),
            **({"validity": protocol.judged["name"]} if protocol.judged else {}),
        }  # fmt: skip

    def about(self) -> RunPlan:
        return {"left_out": self.left_out, **({"published": self.published} if self.published else {})}

    @property
    def sides(self) -> tuple[int, ...]:
        return self.protocol.sides

    def check_answers(self, summary: EvaluationSummary) -> None:
        if not summary["answered"]:
            reason = next(iter(summary["problems"]), "nothing")
            raise NoAnswers(f"expected answers to some of {summary['queries']['cases']:,} cases, got none: {reason}")

    def preflight(self, say: Say) -> float:
        return look(self, say)

    def forecast(self, say: Say, each: float) -> Forecast:
        protocol = self.protocol
        forecast = forecast_evaluation(self, protocol, each)
        most = protocol.queries(self.data)
        parts = f"{len(protocol.dimensions)} dimensions x {len(protocol.degrees)} degrees x {protocol.cases} cases"
        left_out = in_brackets("; left out: ", self.left_out)
        queries = f"about {forecast.queries:,} queries" + (
            f" (at most {most:,})" if most > 1.2 * forecast.queries else ""
        )
        say(f"plan    {parts}: {queries}, {costs(forecast)}{left_out}")
        return forecast


def _metric(settings: EvaluationSettings) -> Metric | None:
    return parse_metric(settings.metric) if settings.metric else None
