"""Reading images, tables and arrays as data sets."""

from infomeans.data.benchmarks import benchmark
from infomeans.data.dataset import Dataset
from infomeans.data.inputs import open  # noqa: A004
from infomeans.data.labels import find_labels

__all__ = ["Dataset", "benchmark", "find_labels", "open"]
