"""Put a model and data in, get robustness scores and a run folder: the conductor of all rooms."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ..evaluate import Evaluation, Folder, NoAnswers
from ..evaluate.score import final_score
from ..report import check_summary, paper_table, score_table, write_report
from .config import Config
from .measuring import Measuring
from .preflight import Say, preflight, silent
from .reopen import EVALUATE, named_run, open_worker
from .rounds import Show, begun, do_rounds


@dataclass(frozen=True)
class Result:
    """What came of an evaluation. `print(result)` shows the table."""

    summary: dict[str, Any]
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
        config = Config.of(**settings)
        if output is not None and not named:
            Folder(output).usable()  # before a model is opened or asked
        session = Measuring.of(model, data, config)
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
    session = Measuring.of(model, data, Config.of(**settings))
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
    session = Measuring.of(run["model"]["spec"], run["data"]["spec"], Config.of(**{**run["config"], **changes}))
    try:
        preflight(session, silent)  # whose answers to the clean texts are used
        return _run(session, Folder(folder), say or silent, show)
    finally:
        session.close()


def _run(session: Measuring, folder: Folder, say: Say, show: Show | None) -> Result:
    with begun(session, folder) as (run, behind):
        work = session.evaluation(behind)
        do_rounds(session, work, chain([work.clean_jobs()], work.rounds()), open_worker, say, show)
        return Result(_finished(work, run), str(folder.path))


def _finished(work: Evaluation, run: dict[str, Any]) -> dict[str, Any]:
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


def _value(entry: dict[str, Any]) -> float:
    """nan where nothing was answered."""
    return float("nan") if entry["value"] is None else float(entry["value"])
