"""Pages, tables and gates, from a run's files alone."""

from .gate import Line, check_summary, junit, markdown
from .html import write_report
from .tables import score_table

__all__ = ["Line", "check_summary", "junit", "markdown", "score_table", "write_report"]
