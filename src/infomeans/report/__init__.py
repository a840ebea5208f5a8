"""Pages to look at: the report of a run, and runs side by side."""

from infomeans.report.report import write_report

__all__ = ["write_report"]
