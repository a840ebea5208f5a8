"""Export of models to ONNX, for programs without torch."""

from __future__ import annotations

import copy
import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from infomeans.errors import InputError
from infomeans.files import write_atomic
from infomeans.model.model import Model


def to_onnx(model: Any, path: str | Path) -> None:
    """Write a fitted model as an ONNX graph.

    The input `samples` is a float32 array in the layout given to fit, with any number of samples.
    The outputs are `embedding` and `posteriors`.

    Parameters
    ----------
    model : fitted clusterer, or Model
        The model to export.
    path : path
        File to write.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> from infomeans import KMeansBaseline
    >>> from infomeans import export
    >>> X = load_iris().data
    >>> model = KMeansBaseline(3, random_state=0).fit(X)
    >>> export.to_onnx(model, "iris.onnx")
    >>> session = onnxruntime.InferenceSession("iris.onnx")
    >>> (posteriors,) = session.run(["posteriors"], {"samples": X.astype(np.float32)})
    >>> bool((posteriors.argmax(axis=1) == model.labels_).all())
    True
    """
    if importlib.util.find_spec("onnxscript") is None:
        raise InputError("Export needs onnx and onnxscript: pip install 'infomeans[onnx]'.")
    pipeline: Model = copy.deepcopy(getattr(model, "model_", model)).eval()
    pipeline.strangeness = None
    if pipeline.images:
        pipeline.scaling.scale.clamp_(max=torch.finfo(torch.float32).max)
        pipeline.scaling.float()
    example = torch.zeros(2, *pipeline.shape)
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
    """Silence the exporter, which reports missing packages that are not needed."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
