"""Pages, tables and gates, computed from the files of a run alone."""
