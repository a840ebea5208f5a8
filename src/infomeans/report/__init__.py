"""HTML pages: the report of a run, and the comparison of runs."""

from infomeans.report.report import write_report

__all__ = ["write_report"]
