"""The types of the files in a run folder, which the code that writes them and the code that reads them share.

A tuple is a list of that length in JSON. Some keys have older names than the code uses: `setting` is the access, `draw` the
number of a random draw, `config` holds settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict, final, get_args

from ..data.dataset import Task
from ..victims.identity import ModelProbe

SCHEMA = 1  # the version of run.json and summary.json; a file of another version is refused

Texts = Sequence[str | Sequence[str]]  # of an example, by column; a text that is cut into tokens is a list of them
Target = str | Sequence[str]  # a label or a text; a set of labels, or a tag per token
Edit = tuple[int, int, int, str]  # column, start, stop, new text

AccessName = Literal["rule", "score", "gradient"]
Status = Literal["skipped", "failed", "succeeded", "error"]
Problem = Literal["error", "refused", "unparsed", "unanswered"]
PROBLEMS: tuple[Problem, ...] = get_args(Problem)  # why a case has no answer


class _LabelAnswer(TypedDict):
    label: str


@final
class LabelAnswer(_LabelAnswer, total=False):
    """One label, with its score where the model gives scores."""

    score: float


Answer = LabelAnswer | list[str | None] | str | None  # a label; a set of labels, or a tag per token; a text; no answer


class Estimate(TypedDict):
    """A number with its 95 % interval; None where nothing is known."""

    value: float | None
    interval: list[float | None]


class _Empty(TypedDict, total=False):
    empty: int  # examples with an empty text, if there are some


class DataFacts(_Empty):
    """The data in summary.json. skipped: rows that were left out, by reason."""

    name: str
    digest: str
    skipped: dict[str, int]


class RecipeFacts(TypedDict):
    """An attack: its recipe and the specs of its parts, with all options. deviations: from the recipe's paper."""

    name: str
    paper: str
    goal: str
    transform: list[str]
    search: str
    constraints: list[str]
    deviations: list[str]


# run.json


class _Key(TypedDict):
    scuff: str
    model: str
    labels: list[str]
    data: str
    map: dict[str, str]
    none: str | None


class _Blocks(TypedDict, total=False):
    all_queries: bool  # not in runs of older versions, whose blocks were cut by their cases alone


class JudgedWeights(TypedDict):
    """Shares of valid cases that raters found (`scuff judge`): for each dimension degree and share, in the order of degrees.

    name: of the kit, with how many raters.
    """

    name: str
    dimensions: dict[str, list[list[float]]]


class _Choices(TypedDict, total=False):
    """Options of a protocol that are written only where they are not at their default."""

    rounding: Literal["down", "up"]  # of the number of words or characters that a degree stands for
    selections: list[str | None]  # of each dimension: how words are chosen where a degree is a strength
    final_from_zero: bool  # the final score begins at 0, as in RobTest's tables
    judged: JudgedWeights  # what weighs the degrees in by_validity, in place of RobTest's Table 3


class ProtocolFacts(_Blocks, _Choices):
    """The protocol of an evaluation."""

    dimensions: list[str]
    degrees: list[float]
    cases: int
    seed: int
    sides: list[int]
    protect: list[str]
    width: float | None
    beta: float
    meaning: str
    at_once: int


class _Parts(TypedDict, total=False):
    parts: dict[str, str]  # digests of the files of a user's own parts


class _Files(TypedDict, total=False):
    files: dict[str, str]  # digests of the files and models that settings name


class _Shield(TypedDict, total=False):
    shield: str  # its spec, where the model has one


AttackerName = Literal["aware", "unaware"]


class _Attacker(TypedDict, total=False):
    attacker: AttackerName  # where it is not the usual one, aware


class _Metric(TypedDict, total=False):
    metric: str  # where it is not the usual one of the task


@final
class EvaluationKey(_Key, ProtocolFacts, _Metric, _Shield, _Parts, _Files):
    """Everything that decides the trials of an evaluation."""


@final
class AttackKey(_Key, _Shield, _Attacker, _Parts, _Files):
    """Everything that decides the trials of an attack."""

    kind: Literal["attack"]
    recipe: str
    goal: str
    transform: list[str]
    search: str
    constraints: list[str]
    seed: int
    side: int
    protect: list[str]
    max_queries: int | None
    max_time: float | None
    meaning: str
    most: float
    block: int


class RunModel(TypedDict):
    """The model of a run. spec: the name by which it can be opened again; None if it was an object or may hold a key."""

    spec: str | None
    name: str
    access: str


class RunData(TypedDict):
    """The data of a run. spec: as for the model. total: examples before sampling. known: all labels, also those not sampled."""

    spec: str | None
    name: str
    task: Task
    fields: Sequence[str]
    digest: str
    total: int
    skipped: dict[str, int]
    known: Sequence[str]


class PublishedFacts(TypedDict):
    """The paper whose protocol a run follows (`as_published`). sets: what that decided. differs: where the run leaves it."""

    paper: str
    section: str
    sets: list[str]
    differs: list[str]


class AsPublished(TypedDict, total=False):
    """Only of runs that were asked to be as published."""

    published: PublishedFacts


class ShieldFacts(TypedDict):
    """The shield in front of the model. mended: examples with a clean text that it changes."""

    spec: str
    mended: int


class HasShield(TypedDict, total=False):
    shield: ShieldFacts  # only of models with a shield


class RunPlan(AsPublished, total=False):
    """Entries of run.json that only an evaluation (left_out: dimensions, with reasons) or only an attack (recipe) has."""

    left_out: dict[str, str]
    recipe: RecipeFacts


class Since(TypedDict, total=False):
    """Entries of run.json that earlier versions did not write; began_in is not in that of a run in a store."""

    probe: ModelProbe
    began_in: (
        str  # the folder in which the run was started, as seen from the run folder: relative paths are meant from there
    )


class RunFile(RunPlan, HasShield, Since):
    """run.json. key: decides the trials. config: settings that differ from the defaults. reader: the state of the victim.

    Files of earlier versions have neither probe nor began_in; those in a store have no began_in.
    """

    schema: int
    signature: str
    key: EvaluationKey | AttackKey
    model: RunModel
    data: RunData
    config: dict[str, Any]
    versions: dict[str, str]
    batch_tokens: int | None
    reader: Any


# examples.jsonl and timings.json


class ExampleLine(TypedDict):
    """A line of examples.jsonl."""

    id: str
    texts: Texts
    target: Target


class ServiceTiming(TypedDict, total=False):
    """What the service did that workers asked, if there was one: see `victims/service.py`."""

    service: dict[str, float]


class Timing(ServiceTiming):
    """An entry of timings.json: one for each time that a run was started or resumed."""

    seconds: float
    victim_seconds: float
    queries: int
    queries_per_second: float | None
    workers: int


# an evaluation


class ProblemCounts(TypedDict):
    """Cases without an answer, by problem."""

    error: int
    refused: int
    unparsed: int
    unanswered: int


class Reasons(TypedDict, total=False):
    """Why cases have no answer, in few words and with their counts, if there are such cases: see `reasons.py`."""

    reasons: dict[str, int]


class AucScore(TypedDict, total=False):
    """Macro AUC, where the model gives scores."""

    auc: Estimate


class CleanScores(AucScore, ProblemCounts, Reasons):
    """The scores of the clean texts. chance, majority: the scores of guessing, and of always giving the most frequent answer."""

    score: Estimate
    examples: int
    answered: int
    chance: float | None
    majority: float | None


class WorstAlone(TypedDict, total=False):
    """The worst score of each degree alone, as RobTest's tables have it; not in summaries of older versions."""

    worst_alone: Estimate


class Pair(WorstAlone):
    """The final average and worst score."""

    average: Estimate
    worst: Estimate


class _Judged(TypedDict, total=False):
    judged: str  # whose ratings weigh the degrees, where it is not the paper's Table 3


class ByValidity(Pair, _Judged):
    """Final scores weighted by the shares of cases that annotators found valid. column: of RobTest's Table 3, or of `judged`."""

    column: str


class Broken(TypedDict):
    """The share of the examples answered right when clean (`of`) that some case broke."""

    rate: float | None
    interval: list[float | None]
    of: int


class LeftShare(TypedDict, total=False):
    """Zéroe's s*, only of its protocol: the score (`RedLine.metric`) divided by the clean one."""

    left: Estimate


class Cell(AucScore, ProblemCounts, WorstAlone, LeftShare):
    """The scores and counts of a dimension at one degree.

    worst: over all cases up to this degree. relative: the average divided by the clean score. reached: the mean measured degree.
    cases_each: per example. unfit: draws above the degree, which were discarded.
    """

    degree: float
    average: Estimate
    worst: Estimate
    relative: float | None
    success: Broken
    reached: float | None
    edit_distance: float | None
    examples: int
    unchanged_examples: int
    cases: int
    cases_each: float | None
    unchanged: int
    unfit: int


class _ByValidity(TypedDict, total=False):
    by_validity: ByValidity


class DimensionScores(_ByValidity, WorstAlone):
    """The scores of a dimension with one access (`setting`)."""

    spec: str
    base: str
    setting: AccessName
    tag: str
    unit: str
    level: str
    average: Estimate
    worst: Estimate
    degrees: list[Cell]


class Harm(TypedDict):
    """The share of the clean score that a dimension leaves at the highest degree."""

    dimension: str
    left: float | None


class RedLine(TypedDict):
    """The score of a model without any understanding, and what that is of the clean score (Zéroe, Figure 1; thesis, eq. 4.2:
    s_worst). metric: `auc` if label sets are scored by it, else `score`. None where it is not defined.
    """

    metric: Literal["score", "auc"]
    score: float | None
    left: float | None


class HasRedLine(TypedDict, total=False):
    red_line: RedLine  # only of Zéroe's protocol


class Scores(Reasons, HasRedLine):
    """The entries of summary.json that are computed from the trials. problems: the most frequent reasons in full, also of clean
    texts, with their counts.
    """

    clean: CleanScores
    overall: Pair
    dimensions: dict[str, DimensionScores]
    harm: list[Harm]
    answered: int
    problems: dict[str, int]


class CaseCounts(TypedDict):
    """How many cases were made, were planned, and were not needed by an adaptive run (saved)."""

    cases: int
    planned: int
    saved: int


@final
class EvaluationSummary(Scores, AsPublished, HasShield):
    """summary.json of an evaluation."""

    schema: int
    signature: str
    model: str
    data: DataFacts
    task: Task
    metric: str
    protocol: ProtocolFacts
    left_out: dict[str, str]
    queries: CaseCounts


class Case(TypedDict):
    """A case and its answer. draw: the random draw that made it; reached: its measured degree."""

    draw: int
    reached: float
    texts: Texts
    edits: list[Edit]
    score: float | None
    answer: Answer


class Failure(Case):
    """The case that broke an example at the smallest degree."""

    degree: float


class ScoredAnswer(TypedDict):
    """The answer to a clean text."""

    score: float | None
    answer: Answer


class _Alone(TypedDict, total=False):
    worst_alone: list[float | None]  # not in files of older versions


class DimensionLine(_Alone):
    """The scores of an example in a dimension, by degree. broken_by: the first case that scored lower than the clean text."""

    average: list[float | None]
    worst: list[float | None]
    broken_by: Failure | None


class EvaluationLine(ExampleLine):
    """A line of results.jsonl of an evaluation."""

    clean: ScoredAnswer
    dimensions: dict[str, DimensionLine]


# an attack


class LabelScores(TypedDict, total=False):
    """The score of each label, for tasks with label sets and models that give scores."""

    scores: dict[str, float]


class Answered(LabelScores):
    """The answer to a clean text."""

    answer: Answer


class Mended(TypedDict, total=False):
    mended: str  # the changed text as the model saw it, where a shield mended it; tokens joined by blanks


class Adversarial(Answered, Mended):
    """The texts that a search ended with. valid: whether they are close enough in meaning."""

    texts: Texts
    edits: list[Edit]
    margin: float
    changed: float
    similarity: float
    valid: bool


class Halves(TypedDict):
    """Both halves of an attack on a text-to-text model (Michel et al. 2019, 2.1), and their sum, the success S.

    source: chrF of the attacked source against the original. before, after: the score of the model's text for each. decrease: the
    share of the score that is lost. An attack without an outcome has 1, its score twice, and 0. None: no answer, or no
    reference.
    """

    source: float | None
    before: float | None
    after: float | None
    decrease: float | None
    success: float | None


class TradeoffLine(TypedDict, total=False):
    tradeoff: Halves  # only of attacked texts of text-to-text models


class FoundLine(TypedDict, total=False):
    found: bool  # only of unaware attackers: whether the text that was found fools the model without its shield


class AttackLine(ExampleLine, TradeoffLine, FoundLine):
    """A line of results.jsonl of an attack. reached: the query that first succeeded."""

    status: Status
    reason: str
    clean: Answered
    queries: int
    reached: int | None
    unanswered: int
    adversarial: Adversarial | None


class Share(Estimate):
    """A share of the attacked texts, with its interval: `count` of `of`."""

    count: int
    of: int


class ValidShare(Share):
    """Successes that moved at most `most` in meaning."""

    measure: str
    most: float


class Unscored(TypedDict, total=False):
    unscored: int  # attacked texts without a reference, if the data has others: left out of the means


class Tradeoff(Unscored):
    """Means over `of` attacked texts of a text-to-text model, see `Halves`. metric: what scores the model's text; against:
    what that is compared with, reference or output. succeeded: the share with S above the threshold.
    """

    metric: str
    source_metric: str
    against: str
    threshold: float
    of: int
    source: Estimate
    before: Estimate
    after: Estimate
    decrease: Estimate
    success: Estimate
    succeeded: Share


class HasTradeoff(TypedDict, total=False):
    tradeoff: Tradeoff  # only of text-to-text models


class _Survival(TypedDict, total=False):
    found: Share  # attacks that succeed against the model without its shield
    survived: Share  # of these, the ones that succeed against the shielded model, too


class AttackShield(ShieldFacts, _Survival):
    """A shielded model under attack. attacker: aware searches against the shielded model, unaware against the model without its
    shield. clean: the clean score without the shield. found, survived: only of unaware attackers.
    """

    attacker: AttackerName
    clean: Estimate


class HasAttackShield(TypedDict, total=False):
    shield: AttackShield  # only of models with a shield


class _Early(TypedDict, total=False):
    early: int  # absent in older runs


class QueryCounts(_Early, Reasons):
    """Queries per attacked text. cut: attacks that ran out of queries or time; early: of these, the ones that ran out of time,
    or of queries before any change was tried; untried: attacks that had nothing to try.
    """

    mean: float | None
    median: float | None
    total: int
    limit: int | None
    cut: int
    unanswered: int
    untried: int


class Mean(TypedDict):
    """A mean over successes; None if there are none."""

    mean: float | None


class Similarity(Mean):
    """The mean similarity in meaning over successes, and what measured it."""

    measure: str


class Curve(TypedDict):
    """The share of attacked texts that are not yet broken (left) after so many queries each."""

    queries: list[int]
    left: list[float | None]


class LabelCounts(TypedDict):
    """How many texts of a label were attacked (of), and how many with success (count)."""

    of: int
    count: int


class Replacement(TypedDict):
    """A replaced text, its replacement, and how many successes have it."""

    old: str
    new: str
    count: int


@final
class AttackSummary(HasTradeoff, HasAttackShield):
    """summary.json of an attack."""

    schema: int
    kind: Literal["attack"]
    signature: str
    model: str
    data: DataFacts
    task: Task
    recipe: RecipeFacts
    examples: int
    clean: Estimate
    after: Estimate
    success: Share
    valid: ValidShare
    unanswered: int
    status: dict[Status, int]
    skipped: dict[str, int]
    problems: dict[str, int]
    queries: QueryCounts
    changed: Mean
    similarity: Similarity
    curve: Curve
    labels: dict[str, LabelCounts]
    words: list[Replacement]


Summary = EvaluationSummary | AttackSummary  # `"kind" in summary` tells which

# the columns of a part of the trials, and the types of their numbers

_REASONS = {"reason_bytes": "uint8", "reason_offsets": "int64"}
_EDITS = {
    "edit_case": "int32", "edit_column": "uint8", "edit_start": "int32", "edit_stop": "int32", "edit_text_bytes": "uint8",
    "edit_text_offsets": "int64",
}  # fmt: skip
CASE_COLUMNS = {
    "example": "int32", "dimension": "int16", "degree": "int16", "draw": "int32", "reached": "float64",
    "distance": "float64", "score": "float32", "problem": "int32", **_REASONS, **_EDITS,
}  # fmt: skip
UNFIT_COLUMN = {"unfit": "int32"}  # not of the clean texts: dimension, degree, and number of draws that were discarded
ATTACK_COLUMNS = {
    "example": "int32", "status": "int8", "queries": "int32", "reached": "int32", "unanswered": "int32",
    "margin": "float64", "distance": "float64", "changed": "float64", **_REASONS, **_EDITS,
}  # fmt: skip
TEXT_COLUMNS = {
    "source_likeness": "float64",
    "score_before": "float64",
    "score_after": "float64",
}  # only of attacks on texts
SHIELD_COLUMNS = {
    "mended_bytes": "uint8",
    "mended_offsets": "int64",
}  # only of shielded models: what they saw, if mended
UNAWARE_COLUMN = {"found": "bool"}  # only of unaware attackers
LOST_COLUMNS = {  # only of attacks in which a query had no answer: the kinds of reasons, and how many queries each has
    "lost_bytes": "uint8", "lost_offsets": "int64", "lost_count": "int32",
}  # fmt: skip
ANSWER_COLUMNS: tuple[dict[str, str], ...] = (  # a part has one of these, by the kind of its answers
    {"scores": "float32"}, {"sets": "bool"}, {"label": "int32"}, {"tags": "int16", "tags_offsets": "int64"},
    {"answer_bytes": "uint8", "answer_offsets": "int64"},
)  # fmt: skip
