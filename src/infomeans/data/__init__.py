"""From what people have to samples: images, tables and arrays."""

from infomeans.data.benchmarks import benchmark
from infomeans.data.labels import find_labels
from infomeans.data.opening import open  # noqa: A004
from infomeans.data.samples import Samples

__all__ = ["Samples", "benchmark", "find_labels", "open"]
