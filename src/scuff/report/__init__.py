"""Pages, tables and gates, from a run's files alone."""

from .gate import Line, check_summary, junit, markdown
from .html import write_report
from .paper import paper_table
from .tables import score_table

__all__ = ["Line", "check_summary", "junit", "markdown", "paper_table", "score_table", "write_report"]
