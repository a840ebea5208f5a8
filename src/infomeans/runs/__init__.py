"""Run folders: writing and reading them."""

from infomeans.runs.labels import Labels, entropies
from infomeans.runs.places import check_file, check_free, check_table, free_folder, is_run
from infomeans.runs.run import Run

__all__ = [
    "Labels",
    "Run",
    "check_file",
    "check_free",
    "check_table",
    "entropies",
    "free_folder",
    "is_run",
]
