"""Short versions of the campaigns in benchmarks/."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def campaign_of(monkeypatch):
    """The campaign of a script, by its name."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])

    def load(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.campaign

    return load


def test_a_damaged_model_is_refused_or_the_same(campaign_of):
    found = campaign_of("damaged_models")(40, seed=1)
    assert found["bad"] == []
    assert found["counts"]["refused"] > 20


def test_no_command_shows_a_traceback_of_a_damaged_run(campaign_of):
    found = campaign_of("damaged_runs")(12, seed=1)
    assert found["bad"] == []
    assert sum(map(len, found["counts"].values())) > 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_killed_trainings_end_as_others_do(campaign_of, tmp_path, monkeypatch):
    campaign = campaign_of("kills")
    script = campaign.__globals__
    monkeypatch.setitem(script, "cases", lambda inputs: [("table", "mi-adm")])
    found = campaign(tmp_path, script["undisturbed_runs"](tmp_path), 2, seed=1)
    assert found["bad"] == []
    assert found["counts"]["the same"] >= 1
