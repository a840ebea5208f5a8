"""A small part of the campaign in benchmarks/hostile_inputs.py."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hostile_inputs.py"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory work on Linux alone")
def test_damaged_files_are_read_or_refused():
    spec = importlib.util.spec_from_file_location("hostile_inputs", SCRIPT)
    hostile = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hostile)
    found = hostile.campaign(images=80, tables=40, seed=1)
    assert found["bad"] == []
    outcomes = [outcome for counts in found["counts"].values() for outcome in counts]
    assert set(outcomes) == {"read", "refused"}
