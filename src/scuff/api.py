"""The functions of Scuff for Python, with all their keywords: the one file that a user reads.

A part (perturbation, constraint, search, goal, metric, recipe) is given by its name, as `module:Class(option=value)`, or as an
object. Settings have the names of the command line's flags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from .attacks.attack import Attack, Proposals
from .attacks.constraints.base import Constraint
from .attacks.goals import Goal
from .attacks.search.base import Search
from .attacks.setup import AttackSetup, Found
from .data.dataset import Task, joined
from .evaluation.dimensions import Dimension
from .evaluation.setup import EvaluationSetup
from .metrics import Metric
from .perturbations.base import Perturbation
from .perturbations.plan import Plan
from .perturbations.protect import Protect
from .reports import (
    attack_table,
    check_summary,
    comparison_table,
    paper_table,
    score_table,
    write_attack_report,
    write_report,
)
from .runs.folder import Folder
from .runs.run import ATTACK, EVALUATE, Show, check_resumable, compute_again, kind_of, resume_run, silent, start_run
from .runs.run import dry_run as only_preflight
from .runs.schema import AttackLine, AttackSummary, Estimate, EvaluationSummary, RunFile, Timing
from .runs.setup import Say
from .text.edits import Edit
from .training.augmentation import Augmentation

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PerturbKeywords(TypedDict, total=False):
    """Keywords of `perturb`, beside return_edits."""

    seed: int
    draw: int
    selection: str | None
    protect: Sequence[str] | Protect
    ids: Sequence[object] | None


class RunKeywords(TypedDict, total=False):
    """Settings that evaluations and attacks have in common."""

    text: str | Sequence[str]  # column of texts; two for sentence pairs
    label: str | Sequence[str]  # column of labels, tags or translations; several: a 0/1 column each
    id: str | None  # column that names each example
    task: Task | None  # default: by what the columns hold
    format: str | None  # of a file; default: by its name
    split: str | None  # of a Hugging Face data set
    labels: str | Sequence[str]  # names of the model's labels, in its order
    map: dict[str, str]  # labels of the data that the model calls otherwise
    none: str | None  # the model's label for texts without any other (label sets)
    options: dict[str, Any]  # of the model, e.g. {"device": "cpu"}
    predictions: str | Sequence[str]  # files of answers collected before, instead of a model
    examples: int  # how many, sampled in the shares of the labels; default 500
    mlm: str | None  # masked language model for contextual
    encoder: str | None  # sentence encoder, or "chrf"; default: MiniLM if installed
    side: Literal["first", "second", "both"]  # which text of a pair to perturb
    protect: str | Sequence[str]  # what is left alone: "urls", "word:Scuff", ...
    seed: int
    workers: int  # processes
    cache: str | None  # file that keeps the model's answers, for all runs
    max_errors: str | int | float  # a number, or a share such as "5%"
    max_queries: int | None


class EvaluateKeywords(RunKeywords, total=False):
    """Settings of `evaluate`."""

    protocol: Literal["robtest", "zeroe"]
    dimensions: str | Dimension | Perturbation | Sequence[str | Dimension | Perturbation]
    tag: Literal["general", "malicious"] | None
    access: str | Sequence[str]  # what the attacker sees: "rule" (nothing), "score", "gradient"
    degrees: float | Sequence[float]
    cases: int | None  # per example and degree; default 10
    width: float | None  # adaptive: add cases only until intervals are narrower than this
    beta: float  # how much high degrees weigh in the final score
    metric: str | Metric | None  # what the scores are; default: by the task


class AttackKeywords(RunKeywords, total=False):
    """Settings of `attack`."""

    goal: str | Goal | None
    perturbations: str | Perturbation | Proposals | Sequence[str | Perturbation | Proposals]
    search: str | Search | None
    constraint: str | Constraint | Sequence[str | Constraint]  # added, or in place of the recipe's of that name
    without: str | Sequence[str]  # constraints of the recipe that are left out
    vectors: str | None  # file of word vectors or of lists of neighbours
    max_time: float | None  # seconds for the run
    valid: float  # successes that moved more in meaning are not valid; default 0.2


class AugmentKeywords(TypedDict, total=False):
    """Keywords of `augment`."""

    dimensions: str | Sequence[str]
    tag: str | None
    mlm: str | None
    encoder: str | None
    degree: float
    copies: int | None
    share: float | None
    ratio: str | None
    each: bool
    only_perturbed: bool
    trace: bool
    seed: int
    protect: str | Sequence[str]
    text: str | Sequence[str]
    id: str | None
    side: str
    format: str | None
    split: str | None


@dataclass(frozen=True)
class Result:
    """What came of an evaluation. `print(result)` shows the table; `summary` has every number."""

    summary: EvaluationSummary
    folder: str | None

    def __str__(self) -> str:
        return score_table(self.summary)

    @property
    def paper(self) -> str:
        """The scores in the layout of the RobTest paper, as Markdown."""
        return paper_table(self.summary)

    @property
    def average(self) -> float:
        """The mean of all dimensions' final average scores; nan if nothing was answered."""
        return _value(self.summary["overall"]["average"])

    @property
    def worst(self) -> float:
        """The mean of all dimensions' final worst-case scores."""
        return _value(self.summary["overall"]["worst"])

    @property
    def clean(self) -> float:
        """The score on the texts as they are."""
        return _value(self.summary["clean"]["score"])


@dataclass(frozen=True)
class AttackResult:
    """What came of an attack. `print(result)` shows the table; `summary` has every number."""

    summary: AttackSummary
    timings: list[Timing]
    lines: list[AttackLine]  # one per example, as in results.jsonl
    folder: str | None

    def __str__(self) -> str:
        return attack_table(self.summary, self.timings)

    @property
    def paper(self) -> str:
        """The numbers in the layout of the ToxicTrap paper, as Markdown."""
        return comparison_table([(self.summary["data"]["name"], self.summary, self.timings)])

    @property
    def success(self) -> float:
        """The share of attacked examples that were broken; nan if none was attacked."""
        return _value(self.summary["success"])

    @property
    def adversarial(self) -> list[tuple[str, str]]:
        """The texts that were broken: before and after."""
        won = [
            (line["texts"], line["adversarial"])
            for line in self.lines
            if line["status"] == "succeeded" and line["adversarial"]
        ]
        side = next((found["edits"][0][0] for _, found in won), 0)
        return [(joined(texts[side]), joined(found["texts"][side])) for texts, found in won]


def _value(entry: Estimate) -> float:
    return float("nan") if entry["value"] is None else float(entry["value"])


@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[PerturbKeywords],
) -> str: ...
@overload
def perturb(
    texts: Sequence[str],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[PerturbKeywords],
) -> list[str]: ...
@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[PerturbKeywords],
) -> tuple[str, list[Edit]]: ...
@overload
def perturb(
    texts: Sequence[str],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[PerturbKeywords],
) -> tuple[list[str], list[list[Edit]]]: ...
def perturb(
    texts: str | Sequence[str],
    perturbation: str | Perturbation,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
    return_edits: bool = False,
) -> object:
    """Perturb texts: a string in, a string out; a list in, a list out.

    perturbation: a name (`scuff list`), a spec such as "keyboard(layout='qwertz')" or "intrude|segment", or an object.
    level: low, mid, high, or the share of words to change. draw: another number, another random version.
    selection: quota, coin, each, below or edits (see Perturbation.choose). protect: what must stay, e.g. ["urls", "word:Scuff"].
    ids: names of the texts; without them equal texts are perturbed alike. return_edits: also return what was changed.
    """
    plan = Plan.of(perturbation, level, seed, selection, protect)
    changes: list[list[Edit]] = []
    many = [texts] if isinstance(texts, str) else list(texts)
    new = plan.texts(many, ids=ids, draw=draw, edits=changes if return_edits else None)
    if isinstance(texts, str):
        return (new[0], changes[0]) if return_edits else new[0]
    return (new, changes) if return_edits else new


def perturb_tokens(
    sentences: Sequence[Sequence[str]],
    perturbation: str | Perturbation,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
) -> list[list[str]]:
    """Perturb sentences that are cut into tokens: every token stays one token, so that its tag stays right."""
    return Plan.of(perturbation, level, seed, selection, protect).tokens(sentences, ids=ids, draw=draw)


def evaluate(
    model: Any,
    data: Any,
    output: str | Path | None = None,
    *,
    named: bool = False,
    say: Say | None = None,
    show: Show | None = None,
    **settings: Unpack[EvaluateKeywords],
) -> Result:
    """Measure how a model copes with perturbed texts.

    model: a callable (list of texts in, labels or scores out), a scikit-learn or Hugging Face pipeline, a `Victim`, or a name as
    for `scuff evaluate`. data: a file, a data set, a DataFrame or a list of (text, label). output: the run folder, which a second
    call resumes; None keeps nothing on disk. named: output is a folder of runs, in which this one gets a name made of its
    settings. say, show: called with messages and with the progress.

    What is measured: dimensions=["typo-g", "keyboard@edits", Shout()] (default: all of RobTest's that can run) or tag, access
    ("rule", "score", "gradient"), degrees, cases, width, protocol, beta, metric, protect, seed, mlm, encoder, max_queries.
    The data: text, label, id, task, side, examples, format, split. The model: labels, map, none, options, predictions.
    The run: workers, cache, max_errors. `EvaluateKeywords` says what each is.
    """
    setup = EvaluationSetup.open(model, data, settings, None if named else output)
    result = start_run(setup, output, _evaluated, named=named, say=say or silent, show=show)
    return result if output is not None else replace(result, folder=None)


def attack(
    model: Any,
    data: Any,
    recipe: str | Attack = "toxictrap",
    output: str | Path | None = None,
    *,
    named: bool = False,
    say: Say | None = None,
    show: Show | None = None,
    found: Found | None = None,
    **settings: Unpack[AttackKeywords],
) -> AttackResult:
    """Search for texts close to those of the data that a model gets wrong, or takes for benign.

    model, data, output, named, say, show: as for `evaluate`. recipe: toxictrap, tt-textfooler, pwws, ... (`scuff list recipes`),
    "module:function", or an `Attack`. found: called with each success as it comes (not from worker processes).

    Parts in place of the recipe's: goal, perturbations=["embedding(n=50)", Shout()], search="beam", constraint=["chrf"], without=
    ["pos"]. Limits: max_queries (for each example), max_time (seconds), valid. Files and models: vectors, mlm, encoder.
    What is left alone: protect; seed. The data: text, label, id, task, side, examples, format, split. The model: labels, map,
    none, options. The run: workers, cache, max_errors. `AttackKeywords` says what each is.
    """
    setup = AttackSetup.open(model, data, {"recipe": recipe, **settings}, None if named else output, found)
    result = start_run(setup, output, _attacked, named=named, say=say or silent, show=show)
    return result if output is not None else replace(result, folder=None)


def augment(data: Any, **keywords: Unpack[AugmentKeywords]) -> list[Any]:
    """Labelled data with perturbed copies of its examples, for training: a list of dicts, or of tuples if they came as such.

    data: as for `evaluate`. keywords: as for `scuff augment`: dimensions=["typo-g", "keyboard"] or tag, mlm, encoder, degree=0.1
    (never exceeded), copies=1 of a share=1 of the examples, or ratio="1:1" (clean:perturbed), each=False, only_perturbed=False,
    trace=False, seed=0, protect=[], side="first", text, id, format, split.
    """
    return Augmentation(**keywords).rows(data)


def resume(
    folder: str | Path,
    *,
    say: Say | None = None,
    show: Show | None = None,
    found: Found | None = None,
    workers: int | None = None,
    max_errors: str | int | float | None = None,
    cache: str | None = None,
) -> Result | AttackResult:
    """Go on with a run that was interrupted, with the settings that are written in its folder.

    workers, max_errors, cache: settings that do not decide the trials may change. say, show: as for `evaluate`. found: as for
    `attack`.
    """
    changes = {"workers": workers, "max_errors": max_errors, "cache": cache}
    is_attack = kind_of(folder) == ATTACK
    check_resumable(folder, ATTACK if is_attack else EVALUATE)

    def opened(run: RunFile) -> EvaluationSetup | AttackSetup:
        settings = {**run["config"], **{name: value for name, value in changes.items() if value is not None}}
        model, data = run["model"]["spec"], run["data"]["spec"]
        if is_attack:
            return AttackSetup.open(model, data, settings, found=found)
        return EvaluationSetup.open(model, data, settings)

    told: dict[str, Any] = {"say": say or silent, "show": show}
    return (
        resume_run(folder, opened, _attacked, **told) if is_attack else resume_run(folder, opened, _evaluated, **told)
    )


def report(folder: str | Path) -> Result | AttackResult:
    """Compute everything of a run again from its trials, without its model: summary.json, results.jsonl, report.html."""
    if kind_of(folder) == ATTACK:
        return compute_again(AttackSetup, folder, _attacked)
    return compute_again(EvaluationSetup, folder, _evaluated)


def assert_robust(
    model: Any,
    data: Any,
    *,
    min: dict[str, float] | None = None,
    max_drop: float | None = None,
    **settings: Unpack[EvaluateKeywords],
) -> Result:
    """For tests: evaluate, and raise AssertionError with the table if a score is below its minimum.

    min: as for `scuff check`: {"worst": 0.5, "keyboard": 0.8}. max_drop: from the clean score to each dimension's average.
    """
    result = evaluate(model, data, **settings)
    failed = [line for line in check_summary(result.summary, min or {}, max_drop) if not line.passed]
    if failed:
        raise AssertionError(
            "\n".join(["the model is less robust than asked:", *(str(line) for line in failed), str(result)])
        )
    return result


def dry_run(model: Any, data: Any, *, recipe: str | Attack | None = None, say: Say = silent, **settings: Any) -> None:
    """Only the pre-flight of an evaluation, or with a recipe of an attack: two examples, the clean score, the costs."""
    if recipe is None:
        only_preflight(EvaluationSetup.open(model, data, settings), say)
    else:
        only_preflight(AttackSetup.open(model, data, {"recipe": recipe, **settings}), say)


def _evaluated(folder: Folder, summary: EvaluationSummary) -> Result:
    write_report(folder)
    return Result(summary, str(folder.path))


def _attacked(folder: Folder, summary: AttackSummary) -> AttackResult:
    write_attack_report(folder)
    return AttackResult(summary, folder.timings(), list(folder.attack_results()), str(folder.path))
