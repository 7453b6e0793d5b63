"""Pages, tables and gates, from a run's files alone."""

from .attack_page import write_attack_report
from .attacked import attack_table
from .compared import comparison_table
from .gate import Line, check_summary, junit, markdown
from .html import write_report
from .live import marked_line
from .paper import paper_table
from .tables import score_table

__all__ = [
    "Line", "attack_table", "check_summary", "comparison_table", "junit", "markdown", "marked_line", "paper_table", "score_table",
    "write_attack_report", "write_report",
]  # fmt: skip
