import csv
import json
import os
import shutil
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from infomeans.errors import InputError
from infomeans.naming import Names
from infomeans.runs import Labels, Run, check_free, check_table, free_folder

CONFIG = {"versions": {"infomeans": "9.0"}, "arguments": {}, "data": {}, "seed": 3}


IDS = ['a,"b"', "c\nd"]
POSTERIORS = np.array([[1.0, 0.0], [0.25, 0.75]])


def test_a_free_folder_is_found(tmp_path):
    name = str(tmp_path / "run")
    assert free_folder(name).name == "run"
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert free_folder(name).name == "run-3"


def test_labels_come_with_confidence_and_entropy(tmp_path):
    Labels.of(["0", "1"], POSTERIORS).write(tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().splitlines() == [
        "id,cluster,confidence,entropy",
        "0,0,1.000000,0.000000",
        "1,1,0.750000,0.562335",
    ]


def test_outlier_scores_have_a_column(tmp_path):
    run = Run.create(tmp_path / "run", CONFIG)
    scores = {"stability": np.ones(2), "outliers": np.array([0.25, 1.0])}
    run.write_results(IDS, POSTERIORS, np.eye(2), {}, parquet=True, **scores)
    for again in (Run(tmp_path / "run"), run):
        again.rename(Names({0: "first"}, run=again.key))
        assert Run(tmp_path / "run").labels.outliers.tolist() == [0.25, 1.0]
    lines = (tmp_path / "run" / "labels.csv").read_text().splitlines()
    assert lines[0] == "id,cluster,confidence,entropy,stability,outlier,name"
    assert lines[1].endswith(",1.000000,0.2500,first")
    table = pq.read_table(tmp_path / "run" / "labels.parquet").to_pydict()
    assert table["outlier"] == [0.25, 1.0]


def test_a_run_reads_back_what_was_written(tmp_path):
    run = Run.create(tmp_path / "run", CONFIG)
    assert not run.complete
    run.write_history([{"epoch": 0}, {"epoch": 1}])
    run.write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.5}, parquet=True)
    again = Run(tmp_path / "run")
    assert again.complete
    assert again.config["seed"] == 3
    assert again.history == [{"epoch": 0}, {"epoch": 1}]
    assert again.metrics == {"mi": 0.5}
    assert again.labels.ids == IDS
    assert np.array_equal(again.posteriors, POSTERIORS)
    assert again.labels.clusters.tolist() == [0, 1]
    assert np.array_equal(again.embedding, np.eye(2))
    table = pq.read_table(tmp_path / "run" / "labels.parquet").to_pydict()
    assert list(table) == ["id", "cluster", "confidence", "entropy"]
    assert table["id"] == IDS
    assert table["confidence"] == [1.0, 0.75]


def test_a_run_is_overwritten_only_when_asked(tmp_path):
    Run.create(tmp_path / "run", CONFIG).write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.5})
    with pytest.raises(InputError, match="already holds a run"):
        Run.create(tmp_path / "run", CONFIG)
    assert Run(tmp_path / "run").metrics == {"mi": 0.5}
    run = Run.create(tmp_path / "run", {**CONFIG, "seed": 4}, overwrite=True)
    assert run.config["seed"] == 4
    assert not run.complete
    run.write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.7})
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_that_fails_gives_back_what_it_was_to_replace(tmp_path):
    Run.create(tmp_path / "run", CONFIG).write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.5})
    Run.create(tmp_path / "run", {**CONFIG, "seed": 4}, overwrite=True).give_up()
    assert Run(tmp_path / "run").metrics == {"mi": 0.5}
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_complete_run_outlives_two_that_were_to_replace_it(tmp_path):
    path = tmp_path / "run"
    Run.create(path, CONFIG).write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.5})
    Run.create(path, {**CONFIG, "seed": 4}, overwrite=True)  # and is broken off
    last = Run.create(path, {**CONFIG, "seed": 5}, overwrite=True)
    assert last.config["seed"] == 5
    last.give_up()
    assert Run(path).metrics == {"mi": 0.5}
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_of_runs_that_are_not_complete_the_last_is_kept(tmp_path):
    for seed in (1, 2):
        Run.create(tmp_path / "run", {**CONFIG, "seed": seed}, overwrite=True)
    Run.create(tmp_path / "run", {**CONFIG, "seed": 3}, overwrite=True).give_up()
    assert Run(tmp_path / "run").config["seed"] == 2


def test_a_run_that_only_waits_aside_is_not_lost(tmp_path):
    path = tmp_path / "run"
    Run.create(path, CONFIG).write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.5})
    Run.create(path, CONFIG, overwrite=True)
    shutil.rmtree(path)
    with pytest.raises(InputError, match=r"old run is in .*\.run\.replaced"):
        Run.create(path, CONFIG)
    Run.create(path, CONFIG, overwrite=True).give_up()
    assert Run(path).metrics == {"mi": 0.5}


def test_the_folder_one_is_in_can_be_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Run.create(Path(), CONFIG).write_results(IDS, POSTERIORS, np.eye(2), {"mi": 0.5})
    assert Run(tmp_path).metrics == {"mi": 0.5}
    with pytest.raises(InputError, match="is the current folder"):
        Run.create(Path(), CONFIG, overwrite=True)


def test_a_link_to_a_run_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "run"
    link.symlink_to(tmp_path / "disk" / "real", target_is_directory=True)
    for mi in (0.5, 0.6, 0.7):
        run = Run.create(link, CONFIG, overwrite=True)
        run.write_results(IDS, POSTERIORS, np.eye(2), {"mi": mi})
        run.leave()
    assert link.is_symlink()
    assert Run(tmp_path / "disk" / "real").metrics == {"mi": 0.7}
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["real"]


def test_what_a_broken_write_left_behind_is_no_reason_to_refuse(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".config.json.1a2b").touch()
    Run.create(tmp_path / "run", CONFIG)


def test_a_folder_that_is_no_run_is_never_overwritten(tmp_path):
    (tmp_path / "config.json").write_text('{"mine": 1}')
    with pytest.raises(InputError, match="not a run folder"):
        check_free(tmp_path, overwrite=True)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_what_is_no_run_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is not a run folder"):
        Run(tmp_path / name)


def test_a_run_of_a_newer_version_is_refused(tmp_path):
    Run.create(tmp_path / "run", CONFIG)
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "format": 99}))
    with pytest.raises(InputError, match=r"format 99 by infomeans 9\.0.*newer"):
        Run(tmp_path / "run")


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format": 1}'])
def test_a_damaged_config_is_no_run(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(InputError, match="is not a run folder"):
        Run(tmp_path)


def test_damaged_metrics_are_named(tmp_path):
    run = Run.create(tmp_path / "run", CONFIG)
    run.write_results(IDS, POSTERIORS, np.eye(2), {})
    (tmp_path / "run" / "metrics.json").write_text("{")
    with pytest.raises(InputError, match=r"metrics\.json is damaged"):
        run.metrics  # noqa: B018


def test_tables_go_to_files_of_known_kinds(tmp_path):
    with pytest.raises(InputError, match=r"\.csv and \.parquet"):
        check_table(tmp_path / "labels.xlsx", overwrite=False)
    with pytest.raises(InputError, match="does not exist"):
        check_table(tmp_path / "nowhere" / "labels.csv", overwrite=False)
    (tmp_path / "labels.csv").touch()
    with pytest.raises(InputError, match="already exists"):
        check_table(tmp_path / "labels.csv", overwrite=False)
    check_table(tmp_path / "labels.csv", overwrite=True)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "dec"),
        ({"embeddings": True}, "dec on embeddings"),
        ({"params": {"augment": True}}, "dec, augmented"),
    ],
)
def test_a_run_says_what_its_method_was_told(told, said, tmp_path):
    config = {**CONFIG, "arguments": {"method": "dec", **told}}
    assert Run.create(tmp_path / "run", config).method == said


def test_labels_that_are_streamed_have_the_same_bytes(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    ids = [*IDS, *(f"é {i}" for i in range(98))]
    posteriors, scores = rng.dirichlet(np.ones(3), 100), rng.random(100)
    named = Names({0: 'a "b"'}, ((1, 2),))
    labels = Labels.of(ids, posteriors, named, scores, scores)
    labels.write(tmp_path / "whole.csv")
    monkeypatch.setattr("infomeans.runs.labels.ROWS", 7)
    again = Labels.of(ids, posteriors, named, scores, scores)
    again.write(tmp_path / "parts.csv")
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert sum(1 for _ in again.csv()) > 10
    with (tmp_path / "parts.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["id", "cluster", "confidence", "entropy", "stability", "outlier", "name"]
    for row, id_, cluster, p in zip(rows, ids, labels.clusters, posteriors, strict=True):
        sure = f"{(p[0] if cluster == 0 else p[1] + p[2]):.6f}"
        assert row[:3] == [id_, str(cluster), sure]
        assert row[6] == ('a "b"' if cluster == 0 else "1")


def test_labels_are_read_by_columns(tmp_path):
    n = 20_000
    posteriors = np.eye(2)[np.arange(n) % 2]
    Labels.of([f"sample {i}" for i in range(n)], posteriors).write(tmp_path / "labels.csv")
    Labels.read(tmp_path / "labels.csv")  # imports
    tracemalloc.start()
    labels = Labels.read(tmp_path / "labels.csv")
    clusters, example = labels.clusters, labels.ids[n - 1]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * n  # a list of ids alone would take more
    assert example == f"sample {n - 1}"
    assert clusters.tolist() == [0, 1] * (n // 2)
    assert labels.ids == [f"sample {i}" for i in range(n)]
    assert labels.ids[:2] == ["sample 0", "sample 1"]


def test_writing_labels_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("infomeans.runs.labels.ROWS", 1000)
    n = 20_000
    labels = Labels.of([str(i) for i in range(n)], np.eye(2)[np.arange(n) % 2])
    tracemalloc.start()
    labels.write(tmp_path / "labels.csv")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * n


def test_arrays_of_a_run_are_mapped(tmp_path):
    run = Run.create(tmp_path / "run", CONFIG)
    run.write_results(IDS, POSTERIORS, np.empty((2, 0)), {})
    again = Run(tmp_path / "run")
    assert isinstance(again.posteriors.base, np.memmap)
    assert again.embedding.shape == (2, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes on Windows")
@pytest.mark.parametrize("name", ["labels.csv", "metrics.json", "names.json", "history.jsonl"])
def test_a_pipe_in_a_run_is_refused(tmp_path, name):
    run = Run.create(tmp_path / "run", CONFIG)
    run.write_results(IDS, POSTERIORS, np.eye(2), {})
    (run.path / name).unlink(missing_ok=True)
    os.mkfifo(run.path / name)
    with pytest.raises(InputError, match="is a pipe; only regular files are read"):
        getattr(Run(run.path), name.partition(".")[0])


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes on Windows")
def test_a_pipe_is_no_config(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(InputError, match="is not a run folder"):
        Run(tmp_path)
