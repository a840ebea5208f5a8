"""Models for programs that have no torch."""

from __future__ import annotations

import copy
import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from infomeans.data.arrays import channel_axis
from infomeans.errors import InputError
from infomeans.estimators.base import SampleClusterer
from infomeans.files import write_atomic


class Pipeline(nn.Module):
    """The whole model: samples as they were given to fit, in; embedding and posteriors out.

    Parameters
    ----------
    model : SampleClusterer
        Fitted.
    """

    def __init__(self, model: SampleClusterer) -> None:
        super().__init__()
        images = len(model._sample_shape) > 1
        self.scaling = copy.deepcopy(model.scaling_).float() if images else model.scaling_
        self.assignment = model._assignment()

    def forward(self, samples: Tensor) -> tuple[Tensor, Tensor]:
        """Embedding (n, d) and posteriors (n, K) of samples in the fitted layout."""
        axis = channel_axis(samples.shape)
        x = samples if axis is None else samples.movedim(axis, 1)
        x = x[:, None] if x.ndim == 3 else x
        x = self.scaling(x.to(self.scaling.shift.dtype)).float()
        made: tuple[Tensor, Tensor] = self.assignment(x)
        return made


def to_onnx(model: SampleClusterer, path: str | Path) -> None:
    """Write a fitted model as an ONNX graph.

    Its input `samples` is an array of float32 in the layout given to fit, of any number of
    samples; its outputs are `embedding` and `posteriors`.

    Parameters
    ----------
    model : SampleClusterer
        Fitted.
    path : path

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> from infomeans import KMeansBaseline
    >>> from infomeans.export import to_onnx
    >>> X = load_iris().data
    >>> model = KMeansBaseline(3, random_state=0).fit(X)
    >>> to_onnx(model, "iris.onnx")
    >>> session = onnxruntime.InferenceSession("iris.onnx")
    >>> (posteriors,) = session.run(["posteriors"], {"samples": X.astype(np.float32)})
    >>> bool((posteriors.argmax(axis=1) == model.labels_).all())
    True
    """
    if importlib.util.find_spec("onnxscript") is None:
        raise InputError("Exporting needs onnx and onnxscript: pip install 'infomeans[onnx]'.")
    pipeline = Pipeline(model).eval()
    example = torch.zeros(2, *model._sample_shape)
    with TemporaryDirectory() as folder, _quiet():
        written = Path(folder) / "model.onnx"
        torch.onnx.export(
            pipeline,
            (example,),
            written,
            input_names=["samples"],
            output_names=["embedding", "posteriors"],
            dynamic_shapes=({0: torch.export.Dim("n")},),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
        write_atomic(Path(path), written.read_bytes())


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter speaks of packages that are not needed."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
