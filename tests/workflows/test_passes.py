"""Nothing is read, hashed, embedded or parsed a second time."""

from collections import Counter

import numpy as np
import pytest
import torch

from infomeans.cli.report import leave_report
from infomeans.cli.show import summarise
from infomeans.data import Dataset
from infomeans.data.dataset import row_numbers
from infomeans.data.memory import Memory
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import ArraySchema
from infomeans.networks import DenoisingAutoencoder
from infomeans.workflows.cluster import cluster
from infomeans.workflows.request import Request

QUICK = {"pretrain_epochs": 2, "warmup_epochs": 2, "epochs": 2}


class CountedRows(ArrayRows):
    """Counts how often the samples are gone through."""

    def __init__(self, array):
        super().__init__(array)
        self.passes, self.picked = 0, []

    def batch(self, index):
        self.picked.append(len(index))
        return super().batch(index)

    def blocks(self, size=1024):
        self.passes += 1
        return super().blocks(size)

    def whole(self):
        self.passes += 1
        return super().whole()


def counted(array):
    return Dataset(CountedRows(array), row_numbers(len(array)), ArraySchema(array.shape[1:]), "x")


@pytest.fixture
def data(stripes):
    return counted((255 * np.clip(stripes[0], 0, 1)).astype(np.uint8))


@pytest.fixture
def vectors(blobs):
    return counted(blobs[0])


@pytest.fixture
def clean_rows(monkeypatch):
    """Samples that went through an encoder without noise."""
    seen, forward = [], DenoisingAutoencoder.forward

    def counted(self, x):
        seen.append(len(x))
        return forward(self, x)

    monkeypatch.setattr(DenoisingAutoencoder, "forward", counted)
    return seen


def test_a_run_reads_hashes_and_embeds_its_samples_once(data, clean_rows, tmp_path):
    run, estimator = cluster(Request("stripes", 3, params=QUICK), data, tmp_path / "run")
    assert_read(data, chooses=True)
    epochs = Counter(record["phase"] for record in estimator.history_)
    # One pass for the start, one after every epoch of clustering, one for the result.
    passes = 1 + epochs["warm-up"] + epochs["alternate"] + 1
    assert sum(n for n in clean_rows if n > 1) == passes * len(data)
    assert run.config["data"]["fingerprint"] == data.fingerprint


@pytest.mark.parametrize("method", ["mi-adm", "kmeans", "graph"])
def test_a_run_on_vectors_reads_them_no_more_often(method, vectors, tmp_path):
    params = QUICK if method == "mi-adm" else {}
    cluster(Request("blobs", 4, method, params=params), vectors, tmp_path / "run")
    assert_read(vectors, chooses=method == "mi-adm")


def assert_read(data, *, chooses):
    # One pass for the fingerprint, one for the scaling, one for the tensor that is trained on, one
    # for copies.
    assert data.rows.passes == 4
    # The size of one sample tells whether that tensor fits into memory. The choice of the start
    # looks at the raw samples once, or at some of them.
    # Neighbours are compared to find near-duplicates.
    near = [len(data)] * 4
    assert data.rows.picked == ([1, len(data), *near] if chooses else [1])


@pytest.mark.parametrize("method", ["mi-adm", "graph"])
def test_what_is_shown_after_a_run_is_not_read_back(method, data, tmp_path, monkeypatch):
    params = QUICK if method == "mi-adm" else {}
    run, estimator = cluster(Request("stripes", 3, method, params=params), data, tmp_path / "run")

    def refuse(*_, **__):
        raise AssertionError("read a second time")

    for name in ("numpy.load", "infomeans.runs.labels.Labels.read"):
        monkeypatch.setattr(name, refuse)
    monkeypatch.setattr("infomeans.report.report.load_model", refuse)
    monkeypatch.setattr("infomeans.report.findings.open_input", refuse)
    summarise(run)
    leave_report(run, data, estimator)
    assert run.report.exists()


def test_a_fit_of_mapped_and_of_decoded_samples_ends_like_one_in_memory(
    stripes, tmp_path, monkeypatch
):
    from infomeans import MIADM
    from infomeans.data import rows

    images = (255 * np.clip(stripes[0], 0, 1)).astype(np.uint8)
    np.save(tmp_path / "x.npy", images)
    mapped = rows.MappedRows(np.load(tmp_path / "x.npy", mmap_mode="r"))
    decoded = rows.DecodedRows(lambda index: images[index], images.shape, images.dtype)
    plain = MIADM(3, random_state=0, **QUICK).fit(images)
    monkeypatch.setattr(rows, "BLOCK", 32)
    memory = Memory(24_000)
    for kind in (mapped, decoded):
        assert isinstance(kind.feed(lambda x: torch.tensor(x).float(), memory), rows.LazyFeed)
        data = Dataset(kind, row_numbers(120), ArraySchema((9, 8)), "stripes", memory=memory)
        model = MIADM(3, random_state=0, **QUICK).fit(data)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        posteriors = plain.predict_proba(images)
        np.testing.assert_allclose(model.predict_proba(data), posteriors, atol=0.01)
        assert data.fingerprint == Dataset.of_array(images).fingerprint
