"""A short version of benchmarks/hard_cases.py."""

import runpy
import sys
from pathlib import Path

import pytest

from infomeans.methods import METHODS

FOLDER = Path(__file__).parents[2] / "benchmarks"
SHORT = {"pretrain_epochs": 2, "warmup_epochs": 2, "epochs": 3}
SLOW = ("1 to 1,000", "1 to 10,000", "1, 10, 100, 1,000", "constant channels")


@pytest.fixture(scope="module")
def hard():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(FOLDER), *sys.path])
        return runpy.run_path(str(FOLDER / "hard_cases.py"))


def test_there_are_thirty(hard):
    assert len(hard["CASES"]) == 30


@pytest.mark.parametrize("method", METHODS)
def test_hard_cases_keep_their_clusters_or_say_that_they_do_not(hard, method):
    own = [case for case in hard["CASES"] if case not in SLOW]
    # Every method has other cases; together they have about half of them.
    for case in own[2 * [*METHODS].index(method) :: 2 * len(METHODS)]:
        found = hard["measure"](case, method, 0, **SHORT)
        assert found["outcome"] in ("alive", "warned"), (case, found)


@pytest.mark.parametrize("method", ["mi-adm", "dec"])
def test_an_outlier_leaves_the_other_clusters_alone(hard, method):
    found = hard["measure"]("image of 1e6", method, 0, **SHORT)
    assert found["outcome"] == "alive", found
