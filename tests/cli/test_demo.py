import csv
import json

import pytest

from infomeans.workflows.demo import Row


def test_an_existing_folder_is_not_overwritten(infomeans, tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    result = infomeans("demo", "--out", tmp_path, code=2)
    assert "already exists" in result.output
    assert (tmp_path / "labels.csv").read_text() == "mine"


@pytest.fixture
def quick_demo(monkeypatch):
    """The demo with a fraction of its epochs."""
    from infomeans.estimators import MIADM, Autoencoder
    from infomeans.workflows import demo

    monkeypatch.setattr(demo, "Autoencoder", lambda **k: Autoencoder(epochs=3, **k))
    monkeypatch.setattr(demo, "MIADM", lambda *a, **k: MIADM(*a, epochs=2, warmup_epochs=1, **k))


@pytest.mark.usefixtures("quick_demo")
def test_the_demo_compares_five_methods_and_writes_a_run(infomeans, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("read a second time")

    out = tmp_path / "run"
    for name in ("report.load_model", "findings.open_input"):
        monkeypatch.setattr(f"infomeans.report.{name}", refuse)
    shown = infomeans("demo", "--out", out).output
    methods = ["kmeans", "autoencoder+kmeans", "graph", "graph-embedding", "mi-adm"]
    for method in methods:
        assert method in shown
    assert (out / "report.html").exists()
    with (out / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1797
    assert list(rows[0]) == ["id", "cluster", "confidence", "entropy", "stability", "outlier"]
    assert {int(row["cluster"]) for row in rows} <= set(range(10))
    metrics = json.loads((out / "metrics.json").read_text())
    assert [row["method"] for row in metrics["methods"]] == methods
    assert set(metrics["methods"][0]) == set(Row.__dataclass_fields__)
    assert metrics["acc"] == metrics["methods"][-1]["acc"]
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    assert [h["phase"] for h in history] == ["pretrain"] * 3 + ["warm-up"] + ["alternate"] * 2
    assert json.loads((out / "config.json").read_text())["seed"] == 0
    assert "1,797 samples of 8 x 8" in infomeans("show", out).output
