"""Functions in forked processes, which are spared the imports of a new Python."""

import multiprocessing
import os
import sys

import pytest

FORKS = (
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
)


def forks(test):
    """Mark a test that needs forked processes."""
    for mark in FORKS:
        test = mark(test)
    return test


def start(function, *given, output, **environment):
    """Call a function in a forked process; what it writes goes to the file."""
    where = function, given, output, environment
    process = multiprocessing.get_context("fork").Process(target=_call, args=where)
    process.start()
    return process


def ended(process, timeout=120):
    """The exit code of a process that is to end by itself."""
    process.join(timeout)
    assert process.exitcode is not None, "it took too long"
    return process.exitcode


def command(*arguments):
    """The command as it is called from a shell."""
    from infomeans.cli import app

    app([str(argument) for argument in arguments])


def _call(function, given, output, environment):
    os.environ.update(environment)
    with output.open("a", buffering=1) as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        sys.stdout = sys.stderr = file
        function(*given)
