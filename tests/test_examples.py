"""Every script in examples/ runs as a reader would run it."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
# What a script says at its end if it did what it is there to show.
SAYS = {
    "callbacks": "epochs; the last took",
    "digits": "MIADM",
    "embeddings": "moved embeddings:  (600, 64)",
    "export_onnx": "100.0% of the clusters are those of the model",
    "own_network": "embedding: (901, 16)",
    "predict": "doubtful:",
    "resume": "same labels as without the break: True",
    "table": "grower",
}


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr()
    assert printed.err == ""
    assert SAYS[script.stem] in printed.out


def test_an_example_runs_in_a_new_process(tmp_path):
    script = EXAMPLES[0].with_name("table.py")
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=one_thread, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert SAYS["table"] in done.stdout


def test_every_example_is_there():
    assert {script.stem for script in EXAMPLES} == SAYS.keys()


def test_an_example_is_at_most_a_page_long():
    assert max(len(script.read_text(encoding="utf-8").splitlines()) for script in EXAMPLES) <= 60
