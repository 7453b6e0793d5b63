"""Report pages, tables, Parquet files and the gate for CI, all computed from the files of a run, without its model."""

from .attack import write_attack_report
from .attack_tables import attack_table, comparison_table
from .evaluation import write_report
from .evaluation_tables import paper_table, score_table
from .failure import failure_text
from .gate import check_summary, shield_of
from .live import marked_line
from .meaning import meaning_table, terse_line
from .outcome import junit, markdown
from .parquet import write_parquet
from .verdict import Verdict, verdict_of

__all__ = [
    "Verdict",
    "attack_table",
    "check_summary",
    "comparison_table",
    "failure_text",
    "junit",
    "markdown",
    "marked_line",
    "meaning_table",
    "paper_table",
    "score_table",
    "shield_of",
    "terse_line",
    "verdict_of",
    "write_attack_report",
    "write_parquet",
    "write_report",
]
