"""The functions of Scuff for Python, with all their keywords: the one file that a user reads."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from .attacks.campaign import Campaign
from .attacks.settings import AttackSettings
from .attacks.setup import AttackSetup, Found, _begin, open_attack_worker, reopen_attack
from .data.dataset import joined
from .evaluation.evaluation import Evaluation
from .evaluation.score import final_score
from .evaluation.settings import EvaluationSettings
from .evaluation.setup import EvaluationSetup, open_worker, preflight, reopen
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
from .runs.folder import BadRun, Folder, NoAnswers
from .runs.preflight import Say, silent
from .runs.resume import ATTACK, EVALUATE, Show, begun, do_rounds, is_attack, named_run
from .runs.schema import AttackLine, AttackSummary, Estimate, EvaluationSummary, RunFile, Timing
from .text.edits import Edit

if TYPE_CHECKING:
    from typing_extensions import Unpack


PerturbationSpec = str | Perturbation


class PerturbOptions(TypedDict, total=False):
    """Keyword arguments of `perturb`."""

    seed: int
    draw: int
    selection: str | None
    protect: Sequence[str] | Protect
    ids: Sequence[object] | None


@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    attack: PerturbationSpec,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **options: Unpack[PerturbOptions],
) -> str: ...


@overload
def perturb(
    texts: Sequence[str],
    attack: PerturbationSpec,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **options: Unpack[PerturbOptions],
) -> list[str]: ...


@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    attack: PerturbationSpec,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **options: Unpack[PerturbOptions],
) -> tuple[str, list[Edit]]: ...


@overload
def perturb(
    texts: Sequence[str],
    attack: PerturbationSpec,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **options: Unpack[PerturbOptions],
) -> tuple[list[str], list[list[Edit]]]: ...


def perturb(
    texts: str | Sequence[str],
    attack: PerturbationSpec,
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

    attack: a name (`scuff list`), a spec such as "keyboard(layout='qwertz')" or "intrude|segment", or a Perturbation.
    level: low, mid, high, or the share of words to attack. draw: another number, another random version.
    selection: quota, coin, each, below or edits (see Perturbation.choose). protect: what must stay, e.g. ["urls", "word:Scuff"].
    ids: names of the texts; without them equal texts are perturbed alike. return_edits: also what was changed.
    """
    plan = Plan.of(attack, level, seed, selection, protect)
    changes: list[list[Edit]] = []
    many = [texts] if isinstance(texts, str) else list(texts)
    new = plan.texts(many, ids=ids, draw=draw, edits=changes if return_edits else None)
    if isinstance(texts, str):
        return (new[0], changes[0]) if return_edits else new[0]
    return (new, changes) if return_edits else new


def perturb_tokens(
    sentences: Sequence[Sequence[str]],
    attack: PerturbationSpec,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
) -> list[list[str]]:
    """Perturb sentences that are cut into tokens: every token stays one token, so that its tag stays right."""
    return Plan.of(attack, level, seed, selection, protect).tokens(sentences, ids=ids, draw=draw)


@dataclass(frozen=True)
class AttackResult:
    """What came of an attack. `print(result)` shows the table."""

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
        value = self.summary["success"]["value"]
        return float("nan") if value is None else float(value)

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


@dataclass(frozen=True)
class Result:
    """What came of an evaluation. `print(result)` shows the table."""

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
        """The mean of all dimensions' final average scores."""
        return _value(self.summary["overall"]["average"])

    @property
    def worst(self) -> float:
        """The mean of all dimensions' final worst-case scores."""
        return _value(self.summary["overall"]["worst"])

    @property
    def clean(self) -> float:
        return _value(self.summary["clean"]["score"])


class Evaluate:
    """`scuff.evaluate(model, data)`; the room of the same name hides behind it, so what people look for there is here, too."""

    final_score = staticmethod(final_score)

    def __call__(
        self,
        model: Any,
        data: Any,
        output: str | Path | None = None,
        *,
        named: bool = False,
        say: Say | None = None,
        show: Show | None = None,
        **settings: Any,
    ) -> Result:
        """Measure how a model copes with perturbed texts.

        model: a callable, scikit-learn or Hugging Face pipeline, or a name as for `scuff evaluate`. data: a file, data set,
        DataFrame or list of (text, label). output: the run folder, which a second call resumes; None keeps nothing on disk.
        settings: as for `scuff evaluate`, e.g. dimensions=["keyboard"], cases=20, examples=200. say, show: where messages and
        progress go. named: output is a folder of runs, in which this one gets a name made of its settings.
        """
        config = EvaluationSettings.of(**settings)
        if output is not None and not named:
            Folder(output).usable()  # before a model is opened or asked
        session = EvaluationSetup.of(model, data, config)
        say = say or silent
        try:
            preflight(session, say)
            if output is not None:
                folder = Path(output) / session.folder_name if named else output
                return _run(session, Folder(folder), say, show)
            with tempfile.TemporaryDirectory(prefix="scuff-") as temporary:
                return Result(_run(session, Folder(Path(temporary) / "run"), say, show).summary, None)
        finally:
            session.close()


evaluate = Evaluate()


def dry_run(model: Any, data: Any, *, say: Say, **settings: Any) -> None:
    """Only the pre-flight of an evaluation: two examples, the clean score, the costs. Nothing is written."""
    session = EvaluationSetup.of(model, data, EvaluationSettings.of(**settings))
    try:
        preflight(session, say)
    finally:
        session.close()


def resume_evaluation(
    folder: str | Path,
    *,
    say: Say | None = None,
    show: Show | None = None,
    **changes: Any,
) -> Result:
    """Go on with an evaluation that was interrupted, with the settings that are written in its folder.

    changes: those that do not decide the trials: workers, max_errors, cache.
    """
    run = named_run(folder, EVALUATE)
    session = EvaluationSetup.of(
        run["model"]["spec"], run["data"]["spec"], EvaluationSettings.of(**{**run["config"], **changes})
    )
    try:
        preflight(session, silent)  # whose answers to the clean texts are used
        return _run(session, Folder(folder), say or silent, show)
    finally:
        session.close()


def _run(session: EvaluationSetup, folder: Folder, say: Say, show: Show | None) -> Result:
    with begun(session, folder) as (run, behind):
        work = session.evaluation(behind)
        do_rounds(session, work, chain([work.clean_jobs()], work.rounds()), open_worker, say, show)
        return Result(_finished(work, run), str(folder.path))


def _finished(work: Evaluation, run: RunFile) -> EvaluationSummary:
    summary = work.finish(run)
    write_report(work.folder)
    if not summary["answered"]:
        reason = next(iter(summary["problems"]), "nothing")
        raise NoAnswers(f"expected answers to some of {summary['queries']['cases']:,} cases, got none: {reason}")
    return summary


def assert_robust(
    model: Any,
    data: Any,
    *,
    min: dict[str, float] | None = None,
    max_drop: float | None = None,
    **settings: Any,
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


def _value(entry: Estimate) -> float:
    """nan where nothing was answered."""
    return float("nan") if entry["value"] is None else float(entry["value"])


def attack(
    model: Any,
    data: Any,
    recipe: str = "toxictrap",
    output: str | Path | None = None,
    *,
    named: bool = False,
    say: Say | None = None,
    show: Show | None = None,
    found: Found | None = None,
    **settings: Any,
) -> AttackResult:
    """Search for texts close to those of the data that a model gets wrong, or takes for benign.

    model, data, output, say, show, named: as for `scuff.evaluate`. recipe: toxictrap, tt-textfooler, pwws, ...; its parts can be
    chosen one by one. settings: as for `scuff attack`, e.g. search="beam", transform=["embedding(n=50)"], without=["pos"],
    vectors="FILE", max_queries=200. found: called with each success as it comes (not from worker processes).
    """
    config = AttackSettings.of(recipe=recipe, **settings)
    if output is not None and not named:
        Folder(output).usable()  # before a model is opened or asked
    session = AttackSetup.of(model, data, config)
    try:
        _begin(session, say or silent, found)
        if output is not None:
            return _run_attack(session, Folder(Path(output) / session.folder_name if named else output), say, show)
        with tempfile.TemporaryDirectory(prefix="scuff-") as temporary:
            done = _run_attack(session, Folder(Path(temporary) / "run"), say, show)
            return AttackResult(done.summary, done.timings, done.lines, None)
    finally:
        session.close()


def dry_attack(model: Any, data: Any, *, say: Say, **settings: Any) -> None:
    """Only the pre-flight of an attack. Nothing is written."""
    session = AttackSetup.of(model, data, AttackSettings.of(**settings))
    try:
        _begin(session, say, None)
    finally:
        session.close()


def resume_attack(
    folder: str | Path, *, say: Say | None = None, show: Show | None = None, found: Found | None = None, **changes: Any
) -> AttackResult:
    """Go on with an attack that was interrupted, with the settings that are written in its folder.

    changes: those that do not decide the trials: workers, max_errors, cache.
    """
    run = named_run(folder, ATTACK)
    config = AttackSettings.of(**{**run["config"], **changes})
    session = AttackSetup.of(run["model"]["spec"], run["data"]["spec"], config)
    try:
        _begin(session, silent, found)
        return _run_attack(session, Folder(folder), say, show)
    finally:
        session.close()


def report_attack(folder: str | Path) -> AttackResult:
    """Compute everything of an attack again from its trials."""
    work = reopen_attack(str(folder))
    jobs = [*work.clean_jobs(), *work.jobs()]
    if left := work.left(jobs):
        raise BadRun(
            f"{folder}: expected a finished run, got {len(left)} of {len(jobs)} blocks left to do: "
            f"`scuff attack --resume {folder}` goes on"
        )
    return _attack_finished(work, work.folder.run())


def _run_attack(session: AttackSetup, folder: Folder, say: Say | None, show: Show | None) -> AttackResult:
    with begun(session, folder) as (run, behind):
        work = session.attacking(behind)
        opened = open_attack_worker if session.reopens else None
        do_rounds(session, work, (work.clean_jobs(), work.jobs()), opened, say or silent, show)
        done = _attack_finished(work, run)
    status, attacked = done.summary["status"], done.summary["success"]["of"]
    if attacked and status["error"] == attacked:
        raise NoAnswers(
            f"expected answers to some of {attacked:,} attacks, got none: {next(iter(done.summary['problems']))}"
        )
    return done


def _attack_finished(work: Campaign, run: RunFile) -> AttackResult:
    summary = work.finish(run)
    write_attack_report(work.folder)
    lines = list(work.folder.attack_results())
    return AttackResult(summary, work.folder.timings(), lines, str(work.folder.path))


def resume(folder: str | Path, **options: Any) -> Result | AttackResult:
    """Go on with a run that was interrupted, with the settings that are written in its folder.

    options: say and show, as for `scuff.evaluate`, and settings that do not decide the trials: workers, max_errors, cache.
    """
    return resume_attack(folder, **options) if is_attack(folder) else resume_evaluation(folder, **options)


def report(folder: str | Path) -> Result | AttackResult:
    """Compute everything of a run again from its trials, without its model: summary.json, results.jsonl, report.html."""
    return report_attack(folder) if is_attack(folder) else _report_evaluation(folder)


def _report_evaluation(folder: str | Path) -> Result:
    opened = Folder(folder)
    run = opened.run()
    work = reopen(str(folder))
    for jobs in chain([work.clean_jobs()], work.rounds()):
        if left := work.left(jobs):
            raise BadRun(
                f"{folder}: expected a finished run, got {len(left)} of {len(jobs)} blocks left to do: "
                f"`scuff evaluate --resume {folder}` goes on"
            )
    summary = work.finish(run)
    write_report(opened)
    return Result(summary, str(folder))
