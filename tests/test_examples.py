"""Every script in examples/ runs as a reader would run it."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
# What a script says at its end if it did what it is there to show.
SAYS = {
    "callbacks": "epochs; the last took",
    "digits": "MIADM",
    "embeddings": "moved embeddings:  (600, 64)",
    "export_onnx": "100.0% of the clusters are those of the model",
    "own_network": "embedding: (537, 16)",
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


def test_every_example_is_there():
    assert {script.stem for script in EXAMPLES} == SAYS.keys()


def test_an_example_is_at_most_a_page_long():
    assert max(len(script.read_text(encoding="utf-8").splitlines()) for script in EXAMPLES) <= 60
