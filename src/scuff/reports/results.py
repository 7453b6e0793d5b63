"""What the public functions return: the numbers of a run, or of a comparison of texts; `print` shows them as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..data.dataset import joined
from ..evaluation.meaning import Columns, MeaningSummary, line_values
from ..runs.folder import BadRun, Folder, Home
from ..runs.schema import AttackLine, AttackSummary, Estimate, EvaluationSummary, Timing
from ..specs import known_name
from .attack_tables import attack_paper, attack_table
from .evaluation_tables import evaluation_paper, score_table
from .examples import MOST, AttackOutcome, EvaluationOutcome, Example, Found, attack_examples, evaluation_examples
from .formatting import percent
from .meaning import meaning_table

if TYPE_CHECKING:
    from .tables import PaperTable
    from .verdict import Verdict


class Examples(Sequence[Example]):
    """Examples of a run: a sequence that shows itself as a table in a notebook. of: how many there are in all."""

    def __init__(self, found: Found) -> None:
        self.found, self.of = found, found.of

    def __len__(self) -> int:
        return len(self.found.examples)

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> Examples: ...
    def __getitem__(self, at: int | slice) -> Example | Examples:
        examples = self.found.examples
        return Examples(replace(self.found, examples=examples[at])) if isinstance(at, slice) else examples[at]

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in Counter(each.outcome for each in self).items())
        return f"<{len(self):,} of {self.of:,} examples{f': {counts}' if counts else ''}>"

    def __str__(self) -> str:
        return "\n".join([f"{len(self):,} of {self.of:,} examples", *map(str, self)])

    def _repr_html_(self) -> str:
        from .notebook import examples_html  # here: it loads what pages are made of

        return examples_html(self.found)

    def to_pandas(self) -> Any:
        """Returns a DataFrame with a row per example. Raises MissingResource without pandas."""
        from .frames import examples_frame

        return examples_frame(self.found)


class SavedRun(ABC):
    """A result whose run is on disk. Reads nothing before it is asked to."""

    folder: str | None
    home: Home | None
    known_verdict: Verdict | None  # if it was made already, for the report

    @property
    def run_files(self) -> Folder:
        """The run folder, a temporary one if none was given. Raises BadRun if the result was made by hand."""
        if self.home is None:
            raise BadRun("expected the result of a run, got one without any files")
        return Folder(self.home.path)

    @cached_property
    def verdict(self) -> Verdict:
        """The run in short: three sentences, a text that broke, what to do next."""
        from .verdict import verdict_of  # here: it loads what pages are made of

        return self.known_verdict or verdict_of(self.run_files)

    @property
    @abstractmethod
    def table(self) -> PaperTable:
        """The numbers as a table in the layout of a paper."""

    @property
    def paper(self) -> str:
        """The numbers in the layout of the paper, RobTest, Zéroe or ToxicTrap, as Markdown."""
        return self.table.markdown()

    def export(
        self,
        *,
        html: str | Path | None = None,
        csv: str | Path | None = None,
        latex: str | Path | None = None,
        paper: str | Path | None = None,
        markdown: str | Path | None = None,
        model_card: str | Path | None = None,
        svg: str | Path | None = None,
        png: str | Path | None = None,
        parquet: str | Path | None = None,
    ) -> dict[str, Path]:
        """Writes the run as files for papers, slides and model hubs. Returns their paths by name.

        html: the page. csv, latex, paper (Markdown): the table in its paper's layout. markdown: the verdict, the table, how to
        repeat it. model_card: for the Hugging Face Hub. svg, png: folders that get every chart. parquet: all trials. A path may
        be - for standard output.
        """
        from .exports import export

        files = {
            "html": html, "csv": csv, "latex": latex, "paper": paper, "markdown": markdown, "model_card": model_card, "svg": svg,
            "png": png, "parquet": parquet,
        }  # fmt: skip
        return export(self.run_files, self.table, files)


@dataclass(frozen=True, repr=False)
class Result(SavedRun):
    """The result of an evaluation. `print(result)` shows the table; `summary` has every number, `verdict` says it in short."""

    summary: EvaluationSummary
    folder: str | None
    home: Home | None = field(default=None, compare=False)
    known_verdict: Verdict | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return score_table(self.summary)

    def __repr__(self) -> str:
        known = {"clean": self.clean, "average": self.average, "worst": self.worst}
        scores = ", ".join(f"{what} {percent(_known(value))}" for what, value in known.items())
        return f"<Result of {_about(self.summary, self.folder)}: {scores} % {self.summary['metric']}>"

    def _repr_html_(self) -> str:
        from .notebook import evaluation_html

        return evaluation_html(self.summary, self.verdict)

    @property
    def table(self) -> PaperTable:
        return evaluation_paper(self.summary)

    @property
    def average(self) -> float:
        """The mean of all dimensions' final average scores; nan if nothing was answered."""
        return _value(self.summary["overall"]["average"])

    @property
    def worst(self) -> float:
        """The mean of all dimensions' final worst-case scores; nan if nothing was answered."""
        return _value(self.summary["overall"]["worst"])

    @property
    def worst_alone(self) -> float:
        """The same of each degree's cases alone, as in RobTest's tables; nan if nothing was answered."""
        alone = self.summary["overall"].get("worst_alone")
        return _value(alone) if alone else float("nan")

    @property
    def clean(self) -> float:
        """The score on the clean texts; nan if none was answered."""
        return _value(self.summary["clean"]["score"])

    def examples(
        self,
        dimension: str | None = None,
        outcome: EvaluationOutcome | None = None,
        label: str | None = None,
        degree: float | None = None,
        most: int | None = MOST,
    ) -> Examples:
        """Returns examples, one for each dimension, with the smallest change that broke them. Shows as a table in a notebook.

        outcome: broken, held, wrong (already when clean) or unanswered, up to this degree, by default the highest. label: what is
        right. most: how many are returned, in the order of the data; None: all. Raises ValueError for what the run does not have.
        """
        return Examples(evaluation_examples(self.run_files, dimension, outcome, label, degree, most))

    def to_pandas(self, rows: Literal["dimensions", "degrees", "cases"] = "dimensions") -> Any:
        """Returns a DataFrame: a row per dimension, or per dimension and degree, or per case (large). Needs pandas."""
        from . import frames

        known_name(rows, dict.fromkeys(("dimensions", "degrees", "cases")), "rows")
        if rows == "cases":
            return frames.cases_frame(self.run_files)
        return (frames.degrees_frame if rows == "degrees" else frames.dimensions_frame)(self.summary)


@dataclass(frozen=True, repr=False)
class AttackResult(SavedRun):
    """The result of an attack. `print(result)` shows the table; `summary` has every number, `verdict` says it in short."""

    summary: AttackSummary
    timings: list[Timing]
    folder: str | None
    home: Home | None = field(default=None, compare=False)
    known_verdict: Verdict | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return attack_table(self.summary, self.timings)

    def __repr__(self) -> str:
        found = self.summary["success"]
        shown = f"{found['count']:,} of {found['of']:,} attacked fell"
        return (
            f"<AttackResult of {self.summary['recipe']['name']} against {_about(self.summary, self.folder)}: {shown}>"
        )

    def _repr_html_(self) -> str:
        from .notebook import attack_html

        return attack_html(self.summary, self.verdict)

    @property
    def table(self) -> PaperTable:
        return attack_paper([(self.summary["data"]["name"], self.summary, self.timings)])

    @cached_property
    def lines(self) -> list[AttackLine]:
        """A line per example, as results.jsonl has them; read when first asked for."""
        return list(self.run_files.attack_results())

    @property
    def success(self) -> float:
        """The share of attacked examples on which the attack succeeded; nan if none was attacked."""
        return _value(self.summary["success"])

    @property
    def adversarial(self) -> list[tuple[str, str]]:
        """A pair of texts for each success: the original and the adversarial one."""
        successes = [
            (line["texts"], line["adversarial"])
            for line in self.run_files.attack_results()
            if line["status"] == "succeeded" and line["adversarial"]
        ]
        side = next((adversarial["edits"][0][0] for _, adversarial in successes), 0)
        return [(joined(texts[side]), joined(adversarial["texts"][side])) for texts, adversarial in successes]

    def examples(
        self, outcome: AttackOutcome | None = None, label: str | None = None, most: int | None = MOST
    ) -> Examples:
        """Returns examples with what the attack made of them. Shows as a table in a notebook.

        outcome: succeeded, failed, skipped or error. label: what is right. most: how many are returned, in the order of the data;
        None: all. Raises ValueError for an outcome or a label that the run does not have.
        """
        return Examples(attack_examples(self.run_files, outcome, label, most))

    def to_pandas(self) -> Any:
        """Returns a DataFrame with a row per example. Needs pandas."""
        from .frames import attack_frame

        return attack_frame(self.run_files)


def _about(summary: EvaluationSummary | AttackSummary, folder: str | None) -> str:
    return f"{summary['model']} on {summary['data']['name']}{f' in {folder}' if folder else ''}"


@dataclass(frozen=True, repr=False)
class MeaningResult:
    """What an attack did to inputs and outputs. `print(result)` shows the table; `summary` has every number.

    columns: an array with a value per text of each of source_likeness (s_src), clean_score, attacked_score, relative_decrease
    (d_tgt), success (S), succeeded, those that there are; `to_pandas()` is a table of them.
    """

    summary: MeaningSummary
    columns: Columns

    def __str__(self) -> str:
        return meaning_table(self.summary)

    def __repr__(self) -> str:
        shares = {
            "source likeness": self.source_likeness,
            "decrease": self.relative_decrease,
            "succeeded": self.succeeded,
        }
        shown = [f"{what} {percent(_known(value))} %" for what, value in shares.items() if value == value]
        return f"<MeaningResult of {self.summary['lines']:,} texts: {', '.join(shown)}>"

    def _repr_html_(self) -> str:
        from .notebook import text_html

        return text_html(str(self))

    @property
    def source_likeness(self) -> float:
        """The mean likeness of attacked to original inputs, s_src; nan if there were none."""
        return self.summary["source_likeness"]["mean"] if "source_likeness" in self.summary else float("nan")

    @property
    def relative_decrease(self) -> float:
        """The mean relative decrease, d_tgt; nan if there were no outputs."""
        return self.summary["relative_decrease"]["mean"] if "relative_decrease" in self.summary else float("nan")

    @property
    def succeeded(self) -> float:
        """The share of texts on which the attack succeeded; nan if one of the halves is not known."""
        return self.summary["succeeded"]["share"] if "succeeded" in self.summary else float("nan")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The numbers of each text."""
        return list(line_values(self.columns))

    def to_pandas(self) -> Any:
        """Returns a DataFrame with a row per text. Needs pandas."""
        from .frames import frame

        return frame(self.columns)


def _value(entry: Estimate) -> float:
    return float("nan") if entry["value"] is None else float(entry["value"])


def _known(value: float) -> float | None:
    return value if value == value else None
