import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from infomeans.cli import app
from infomeans.demo import Row

BIN = Path(sys.executable).parent


def test_help_works_without_torch():
    code = (
        "import sys; from infomeans.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'torch', 'sklearn', 'numpy'} & set(sys.modules), 'heavy imports'"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "demo" in result.stdout


def test_the_installed_command_lists_the_methods():
    result = subprocess.run([BIN / "infomeans", "methods"], capture_output=True, text=True)
    assert result.returncode == 0
    for slug in ("mi-adm", "sr-kmeans", "depict", "mi-d", "dec", "dcn"):
        assert slug in result.stdout


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.startswith("infomeans ")


def test_an_existing_folder_is_not_overwritten(tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "exists already" in result.output
    assert (tmp_path / "labels.csv").read_text() == "mine"


@pytest.fixture
def quick_demo(monkeypatch):
    """The demo with a fraction of its epochs."""
    from infomeans import demo
    from infomeans.estimators import MIADM, Autoencoder

    monkeypatch.setattr(torch, "set_flush_denormal", lambda _: True)
    monkeypatch.setattr(demo, "Autoencoder", lambda **k: Autoencoder(epochs=3, **k))
    monkeypatch.setattr(demo, "MIADM", lambda *a, **k: MIADM(*a, epochs=2, warmup_epochs=1, **k))


@pytest.mark.usefixtures("quick_demo")
def test_the_demo_compares_four_methods_and_writes_a_run(tmp_path):
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["demo", "--out", str(out)], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    for method in ("kmeans", "autoencoder+kmeans", "graph", "mi-adm"):
        assert method in result.output
    with (out / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1797
    assert list(rows[0]) == ["id", "cluster", "confidence", "entropy"]
    assert {int(row["cluster"]) for row in rows} <= set(range(10))
    metrics = json.loads((out / "metrics.json").read_text())
    assert list(metrics) == ["kmeans", "autoencoder+kmeans", "graph", "mi-adm"]
    assert set(metrics["mi-adm"]) == set(Row.__dataclass_fields__)
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    assert [h["phase"] for h in history] == ["pretrain"] * 3 + ["warm-up"] + ["alternate"] * 2
    assert json.loads((out / "config.json").read_text())["seed"] == 0
    assert sorted(p.name for p in out.iterdir()) == [
        "config.json", "history.jsonl", "labels.csv", "metrics.json",
    ]  # fmt: skip
