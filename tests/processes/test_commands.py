"""The command in two processes: the result, an interruption, and errors."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from infomeans.metrics import ari
from infomeans.runs import Run
from tests.processes.launching import launch, torchrun

LINE = ["-k", "10", "--embeddings", "--method", "mi-adm", "--set", "init=graph", "--epochs", "2"]


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits.npy"
    np.save(path, load_digits().data[:900])
    return path


def cluster(digits, out, *more):
    return ["-m", "infomeans", "cluster", str(digits), *LINE, "--out", str(out), *more]


def test_two_processes_that_one_of_is_killed_are_resumed_by_one(digits, tmp_path):
    interrupted, whole = tmp_path / "interrupted", tmp_path / "whole"
    with launch(*cluster(digits, interrupted)) as running:
        children = _wait_for(lambda: (interrupted / "checkpoint.safetensors").exists(), running)
        os.kill(children[1], signal.SIGKILL)
        assert running.wait(timeout=120) != 0
    assert not Run(interrupted).complete
    arguments = [sys.executable, "-m", "infomeans", "cluster", "--resume", "--out"]
    subprocess.run([*arguments, str(interrupted)], check=True, timeout=300)
    done = torchrun(*cluster(digits, whole))
    assert done.returncode == 0, done.stderr
    # The first process alone shows progress and the result.
    assert done.stdout.count("samples of 64") == done.stderr.count("warm-up: up to") == 1
    labels = [Run(folder).posteriors.argmax(axis=1) for folder in (interrupted, whole)]
    assert len(labels[0]) == 900
    assert ari(*labels) >= 0.99


def test_one_message_if_all_processes_meet_the_same_error(digits, tmp_path):
    done = torchrun(*cluster(digits, tmp_path / "run", "--set", "batch_size=1000"))
    assert done.returncode != 0
    message = "Error: 2 processes are too many for 900 samples in batches of 1000; start at most 1"
    assert done.stderr.count(message) == done.stderr.count("too many") == 1
    assert not (tmp_path / "run").exists()


def _wait_for(condition, running):
    """Wait, and return the processes that torchrun has started."""
    for _ in range(1200):
        if condition():
            listed = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(running.pid)], capture_output=True, text=True
            )
            return [int(pid) for pid in listed.stdout.split()]
        assert running.poll() is None, "it ended too early"
        time.sleep(0.1)
    raise AssertionError("it took too long")
