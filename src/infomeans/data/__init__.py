"""Reading images, tables and arrays as data sets."""

from infomeans.data.benchmarks import benchmark
from infomeans.data.dataset import Dataset
from infomeans.data.inputs import open  # noqa: A004
from infomeans.data.labels import find_labels
from infomeans.data.rows import ArrayRows, DecodedRows, Rows
from infomeans.data.schema import ArraySchema

__all__ = [
    "ArrayRows",
    "ArraySchema",
    "Dataset",
    "DecodedRows",
    "Rows",
    "benchmark",
    "find_labels",
    "open",
]
