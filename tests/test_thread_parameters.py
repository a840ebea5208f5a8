"""The number of threads that estimators and commands are given."""

import json

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info
from torch import nn
from typer.testing import CliRunner

from infomeans import MIADM, Autoencoder, GraphBaseline, KMeansBaseline, load, threads
from infomeans.cli import app
from infomeans.graph import neighbor_graph, neighbors
from infomeans.model import Scaling
from infomeans.training import Callback

QUICK = {"init": "graph", "pretrain_epochs": 1, "warmup_epochs": 1, "epochs": 1, "random_state": 0}


class Watching(nn.Module):
    """A network that notes how many threads it is computed with."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)
        self.seen = set()

    def forward(self, x):
        self.seen.add(torch.get_num_threads())
        return self.layer(x).tanh()


class Watcher(Callback):
    def __init__(self):
        self.seen = set()

    def on_epoch(self, record):
        self.seen.add(torch.get_num_threads())


def test_estimators_compute_with_the_threads_asked_for(blobs):
    X, _ = blobs
    before, watcher = torch.get_num_threads(), Watcher()
    model = MIADM(4, network=Watching(), n_threads=3, callbacks=[watcher], **QUICK).fit(X)
    assert watcher.seen == {3}
    assert model.n_threads_ == 3
    network = model.network_.module
    network.seen.clear()
    model.set_params(n_threads=2).predict(X)
    assert network.seen == {2}
    network.seen.clear()
    model.set_params(n_threads=5).transform(X)
    assert network.seen == {5}
    assert torch.get_num_threads() == before


def test_a_limit_around_a_fit_counts_as_asked_for(blobs):
    watcher = Watcher()
    with threads.limited(2):
        encoder = Autoencoder(4, epochs=1, callbacks=[watcher], random_state=0).fit(blobs[0])
    assert watcher.seen == {2}
    assert encoder.n_threads_ == 2


def test_a_fit_that_fails_gives_the_threads_back(blobs):
    class Failing(Callback):
        def on_epoch(self, record):
            raise RuntimeError

    before = torch.get_num_threads()
    with pytest.raises(RuntimeError):
        MIADM(4, n_threads=3, callbacks=[Failing()], **QUICK).fit(blobs[0])
    assert torch.get_num_threads() == before
    assert threads.asked() is None


@pytest.mark.parametrize("given", [0, -1, 1.5, "2"])
def test_other_than_positive_numbers_are_refused(blobs, given):
    with pytest.raises(ValueError, match="n_threads"):
        MIADM(4, n_threads=given).fit(blobs[0])


@pytest.mark.parametrize("algorithm", ["tree", "brute force"])
def test_neighbours_are_sought_with_the_threads_asked_for(monkeypatch, algorithm):
    seen = {}

    class Search(neighbors.NearestNeighbors):
        def kneighbors(self):
            openmp = [lib for lib in threadpool_info() if lib["user_api"] == "openmp"]
            seen["jobs"] = self.n_jobs
            seen["openmp"] = {lib["num_threads"] for lib in openmp}
            return super().kneighbors()

    monkeypatch.setattr(neighbors, "NearestNeighbors", Search)
    X = np.random.default_rng(0).normal(size=(50, 3 if algorithm == "tree" else 40))
    before, expected = torch.get_num_threads(), neighbor_graph(X, 5)
    with threads.limited(2):
        found = neighbor_graph(X, 5)
        assert torch.get_num_threads() == 2
    assert seen == {"jobs": 2, "openmp": {2}}
    assert torch.get_num_threads() == before
    assert (found != expected).nnz == 0


@pytest.mark.parametrize("estimator", [KMeansBaseline, GraphBaseline])
def test_baselines_take_them_too(blobs, estimator, monkeypatch):
    before, of_table, seen = torch.get_num_threads(), Scaling.of_table, []

    def watched(data):
        seen.append(threads.asked())
        return of_table(data)

    monkeypatch.setattr(Scaling, "of_table", watched)
    assert estimator(4, n_threads=2).fit(blobs[0]).n_threads_ == 2
    assert seen == [2]
    assert torch.get_num_threads() == before


def test_a_training_goes_on_with_another_number_of_threads(blobs, tmp_path):
    given = {**QUICK, "checkpoint": tmp_path / "state.safetensors"}
    first = MIADM(4, n_threads=1, **given).fit(blobs[0])
    again = MIADM(4, n_threads=2, **given).fit(blobs[0])
    assert again.history_ == first.history_


def test_a_saved_model_does_not_keep_the_threads_of_another_machine(blobs, tmp_path):
    MIADM(4, n_threads=2, **QUICK).fit(blobs[0]).save(tmp_path / "model")
    assert load(tmp_path / "model").n_threads is None


@pytest.fixture
def table(blobs, tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, blobs[0])
    return path


def command(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("given", [["--threads", "2"], []])
def test_a_run_records_its_threads(table, tmp_path, given):
    before, run = torch.get_num_threads(), tmp_path / "run"
    quick = ["--pretrain-epochs", 1, "--epochs", 1, "--set", "warmup_epochs=1"]
    done = command("cluster", table, "-k", 4, "--out", run, *quick, *given)
    assert done.exit_code == 0, done.output
    expected = 2 if given else 1
    assert json.loads((run / "config.json").read_text())["threads"] == expected
    assert json.loads((run / "metrics.json").read_text())["threads"] == expected
    done = command("predict", run, table, "--threads", 2)
    assert done.exit_code == 0, done.output
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("given", [["--threads", "0"], ["--set", "n_threads=2"]])
def test_commands_refuse_other_ways_to_say_it(table, tmp_path, given):
    done = command("cluster", table, "-k", 4, "--out", tmp_path / "run", *given)
    assert done.exit_code == 2
    assert "threads" in done.output
