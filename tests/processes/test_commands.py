"""The command in two processes: the result, an interruption, and errors."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from infomeans.metrics import ari
from infomeans.runs import Run
from tests import forking
from tests.processes.launching import Pair, torchrun

LINE = ["-k", "10", "--embeddings", "--method", "mi-adm", "--set", "init=graph", "--epochs", "2"]


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits.npy"
    np.save(path, load_digits().data[:900])
    return path


def cluster(digits, out, *more):
    return ["cluster", str(digits), *LINE, "--out", str(out), *more]


@pytest.fixture(scope="module")
def whole(digits, tmp_path_factory):
    """A run that nothing interrupts, and what its processes said."""
    folder = tmp_path_factory.mktemp("whole")
    out, said = folder / "run", folder / "said"
    assert Pair(forking.command, *cluster(digits, out), output=said).ended() == [0, 0]
    return Run(out), said.read_text()


@forking.forks
def test_the_first_of_two_processes_alone_shows_progress_and_the_result(whole):
    run, said = whole
    assert run.complete
    assert said.count("samples of 64") == said.count("warm-up: up to") == 1


@forking.forks
def test_two_processes_that_one_of_is_killed_are_resumed_by_one(whole, digits, tmp_path):
    out, said = tmp_path / "interrupted", tmp_path / "said"
    pair = Pair(forking.command, *cluster(digits, out), output=said)
    for _ in range(6000):
        if (out / "checkpoint.safetensors").exists():
            break
        assert all(process.is_alive() for process in pair.processes), said.read_text()
        time.sleep(0.01)
    pair.processes[1].kill()
    assert 0 not in pair.ended()
    assert not Run(out).complete
    resumed = forking.start(
        forking.command, "cluster", "--resume", "--out", out, output=tmp_path / "resumed"
    )
    assert forking.ended(resumed) == 0
    labels = [run.posteriors.argmax(axis=1) for run in (Run(out), whole[0])]
    assert len(labels[0]) == 900
    assert ari(*labels) >= 0.99


def test_one_message_if_all_processes_meet_the_same_error(digits, tmp_path):
    line = cluster(digits, tmp_path / "run", "--set", "batch_size=1000")
    done = torchrun("-m", "infomeans", *line)
    assert done.returncode != 0
    message = "Error: 2 processes are too many for 900 samples in batches of 1000; start at most 1"
    assert done.stderr.count(message) == done.stderr.count("too many") == 1
    assert not (tmp_path / "run").exists()
