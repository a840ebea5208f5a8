import json

import numpy as np
import pytest

from infomeans.runs import Run


def figures(shown):
    lines = [line.split() for line in shown.splitlines()[:3]]
    return {name: float(value) for name, value in lines}


def test_folders_are_classes(infomeans, run):
    shown = infomeans("evaluate", run, "--labels", "folder").output
    metrics = json.loads((run / "metrics.json").read_text())
    found = figures(shown)
    assert found["accuracy"] == pytest.approx(metrics["acc"], abs=1e-4)
    assert found["NMI"] == pytest.approx(metrics["nmi"], abs=1e-4)
    assert "kind 2" in shown


def test_a_file_of_labels_in_any_order(infomeans, run, tmp_path):
    labels = Run(run).labels
    rows = [f'"{i}",{c}' for i, c in zip(labels.ids, labels.clusters, strict=True)]
    (tmp_path / "truth.csv").write_text("\n".join(["id,class", *reversed(rows)]))
    shown = infomeans("evaluate", run, "--labels", tmp_path / "truth.csv").output
    assert figures(shown) == {"accuracy": 1.0, "NMI": 1.0, "ARI": 1.0}


def test_a_column_of_the_table(infomeans, table, tmp_path):
    options = ["--method", "kmeans", "--columns", "a,b,c,d,e,f", "--out", tmp_path / "run"]
    infomeans("cluster", table, "-k", 4, *options)
    shown = infomeans("evaluate", tmp_path / "run", "--labels", "kind").output
    assert figures(shown)["accuracy"] > 0.95


def test_many_classes_are_summed_up(infomeans, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(300, 3)))
    np.save(tmp_path / "y.npy", rng.integers(0, 30, 300))
    run = tmp_path / "run"
    infomeans("cluster", tmp_path / "x.npy", "-k", 25, "--method", "kmeans", "--out", run)
    shown = infomeans("evaluate", run, "--labels", tmp_path / "y.npy").output
    assert "largest confusions" in shown


def test_labels_that_do_not_fit_are_refused(infomeans, run, tmp_path):
    np.save(tmp_path / "y.npy", np.zeros(7, dtype=int))
    result = infomeans("evaluate", run, "--labels", tmp_path / "y.npy", code=2)
    assert "7" in result.stderr
    assert "120" in result.stderr


def test_a_feature_cannot_judge(infomeans, table, tmp_path):
    infomeans("cluster", table, "-k", 4, "--method", "kmeans", "--out", tmp_path / "run")
    result = infomeans("evaluate", tmp_path / "run", "--labels", "kind", code=2)
    assert "was a feature" in result.stderr


def test_a_table_that_has_changed_is_noticed(infomeans, table, tmp_path):
    copy, run = tmp_path / "table.csv", tmp_path / "run"
    head, *rows = table.read_text().splitlines()
    copy.write_text("\n".join([head, *rows]))
    options = ["--method", "kmeans", "--labels", "kind", "--out", run]
    infomeans("cluster", copy, "-k", 4, *options)
    infomeans("evaluate", run, "--labels", "kind")
    copy.write_text("\n".join([head, *reversed(rows)]))
    assert "has changed" in infomeans("evaluate", run, "--labels", "kind", code=2).stderr


def test_labels_may_count_images_that_were_skipped(infomeans, photos, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for path in sorted(photos.rglob("*.png"))[::6]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "050-broken.png").write_text("no picture")
    names = sorted(path.name for path in folder.iterdir())
    (tmp_path / "truth.txt").write_text("\n".join(str(int(n[:3]) // 40) for n in names))
    options = ["--method", "kmeans", "--out", tmp_path / "run"]
    infomeans("cluster", folder, "-k", 3, *options)
    shown = infomeans("evaluate", tmp_path / "run", "--labels", tmp_path / "truth.txt").output
    assert figures(shown)["accuracy"] > 0.9


def test_labels_with_gaps_score_the_samples_that_have_one(infomeans, run, tmp_path):
    labels = Run(run).labels
    rows = [f'"{i}",{c}' for i, c in zip(labels.ids, labels.clusters, strict=True)]
    (tmp_path / "truth.csv").write_text("\n".join(["id,class", *rows[:97]]))
    shown = infomeans("evaluate", run, "--labels", tmp_path / "truth.csv").output
    assert figures(shown) == {"accuracy": 1.0, "NMI": 1.0, "ARI": 1.0}
    assert "scored on the 97 of 120 samples that have a label" in shown
