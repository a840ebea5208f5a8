import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import MagicMock, Mock

import numpy as np
import pytest
from typer.testing import CliRunner

from infomeans import MIADM, Autoencoder
from infomeans.benchmark import experiments, grid
from infomeans.benchmark import job as job_module
from infomeans.benchmark.results_file import Results
from infomeans.cli import app
from infomeans.data import benchmark
from infomeans.errors import InputError
from infomeans.functional import affine
from infomeans.graph.agglomeration import Clusters
from infomeans.training import Record
from infomeans.training.checkpoint import Checkpoint
from infomeans.training.votes import VOTES

KEYS = {
    *("dataset", "method", "seed", "augment", "acc", "nmi", "ari", "seconds"),
    *("pretrain_seconds", "peak_mb", "load1", "commit", "settings", "versions"),
}


def models(cache):
    return {path for path in cache.iterdir() if path.is_dir()}


@pytest.fixture(scope="module")
def row(data_dir, cache):
    return job_module.run_job(grid.make_job("usps", "mi-adm", 0), data_dir, cache, 1)


def test_a_line_has_what_it_takes_to_trust_it(row):
    assert row.keys() >= KEYS
    assert row["pretrain_seconds"] > 0
    assert row["peak_mb"] > 50
    assert row["settings"]["estimator"]["targets"] == "closed"
    assert row["settings"]["training"]["batch_size"] == 100
    assert row["versions"].keys() >= {"infomeans", "torch", "scikit-learn", "scipy"}
    assert len(row["mi_path"]) == len(row["empty_path"]) == sum(row["epochs"].values())
    json.dumps(row)


def test_a_shared_autoencoder_changes_nothing(row, data_dir):
    samples = benchmark("usps", data_dir)
    model = MIADM(3, init="graph", random_state=0).fit(samples.X)
    assert model.history_[-1]["mi"] == row["mi"]
    assert len(model.history_) - sum(row["epochs"].values()) == len(
        [r for r in model.history_ if r["phase"] == "pretrain"]
    )


@pytest.fixture
def broken_off(cache, monkeypatch):
    """Runs a job until it has saved its state so often; what it saved is in the cache."""

    def run(job, data_dir, after):
        save, saved = Checkpoint.save, []

        def save_some(self, state, start):
            if len(saved) == after:
                raise KeyboardInterrupt
            saved.append(state["phase"])
            save(self, state, start)

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "save", save_some)
            with pytest.raises(KeyboardInterrupt):
                job_module.run_job(job, data_dir, cache, 1)

    return run


@pytest.fixture
def other_data(data_dir, tmp_path):
    """A folder with another data set of the same name."""
    with np.load(data_dir / "usps.npz") as file:
        np.savez(tmp_path / "usps.npz", images=file["images"][::-1], labels=file["labels"][::-1])
    return tmp_path


def test_a_run_that_is_broken_off_goes_on(row, data_dir, cache, broken_off, monkeypatch):
    job = grid.make_job("usps", "mi-adm", 0)
    broken_off(job, data_dir, after=5)
    saved = []
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", lambda self, state, start: saved.append(state["phase"]))
        again = job_module.run_job(job, data_dir, cache, 1)
    assert len(saved) == sum(row["epochs"].values()) - 5
    for name in ("acc", "mi", "mi_path", "epochs", "start"):
        assert again[name] == row[name]


def test_other_data_have_an_autoencoder_and_a_state_of_their_own(
    row, data_dir, other_data, cache, broken_off
):
    job, before = grid.make_job("usps", "mi-adm", 0), models(cache)
    job_module.run_job(grid.make_job("usps", "autoencoder+kmeans", 0), other_data, cache, 1)
    assert len(models(cache) - before) == 1
    broken_off(job, other_data, after=2)
    assert job_module.run_job(job, data_dir, cache, 1)["mi_path"] == row["mi_path"]
    assert [path.name for path in cache.iterdir() if path.suffix == ".safetensors"]
    job_module.run_job(job, other_data, cache, 1)


def test_a_state_stays_until_the_line_is_written(row, data_dir, cache, tmp_path, monkeypatch):
    job, results = grid.make_job("usps", "mi-adm", 0), Results(tmp_path / "results.jsonl")
    before = set(cache.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(Results, "append", Mock(side_effect=OSError("full")))
        with pytest.raises(OSError, match="full"):
            job_module.run_job(job, data_dir, cache, 1, results)
    states = set(cache.iterdir()) - before
    assert len(states) == 2
    assert all(state.name.startswith("usps-mi-adm-0-False-") for state in states)
    for _ in range(2):
        job_module.run_job(job, data_dir, cache, 1, results)
    assert [line["mi_path"] for line in results.rows()] == [row["mi_path"]]
    assert not any(state.exists() for state in states)


def test_an_augmented_run_says_how_far_images_go(data_dir, cache, tmp_path, monkeypatch):
    results = Results(tmp_path / "results.jsonl")
    job = grid.make_job("usps", "mi-adm", 0, augment=True)
    line = job_module.run_job(job, data_dir, cache, 1, results)
    assert line["augment"]
    assert line["settings"]["augmentation"] == {
        **affine.LIMITS,
        **VOTES,
        "views": 9,
    }
    assert line["pretrained_by"].keys() >= {"commit", "threads", "versions"}
    assert [path for path in cache.iterdir() if path.name.startswith("usps-0-augment-")]
    assert "### USPS, augmented" in grid.render(results, tmp_path)
    assert (tmp_path / "results-augmented.tex").exists()
    here = job_module._fingerprint(job)
    monkeypatch.setattr(job_module, "LIMITS", {"degrees": 5.0})
    assert job_module._fingerprint(job) != here


@pytest.mark.parametrize("method", ["graph", "graph-embedding"])
def test_an_augmented_graph_looks_at_images(method, data_dir, cache, monkeypatch):
    given = []

    def clusters_and_graph(X, n_clusters, n_neighbors=None, *, images, **others):
        given.append(images)
        return Clusters(np.zeros(len(X), dtype=int), None)

    monkeypatch.setattr("infomeans.start.initial.clusters_and_graph", clusters_and_graph)
    monkeypatch.setattr("infomeans.graph.agglomeration.clusters_and_graph", clusters_and_graph)
    for augment in (False, True):
        job_module.run_job(grid.make_job("usps", method, 0, augment=augment), data_dir, cache, 1)
    assert given[0] is None
    assert given[1].ndim == 4


def test_the_time_before_a_break_counts(row, data_dir, cache, monkeypatch):
    history = [Record("alternate", 0, mi=1.0, seconds=1000.0).as_dict()]
    found = job_module._Found(
        np.zeros(120, dtype=int), start=np.zeros(120, dtype=int), history=history
    )
    monkeypatch.setattr(job_module, "_clusters", lambda *_: found)
    assert (
        job_module.run_job(grid.make_job("usps", "mi-adm", 0), data_dir, cache, 1)["seconds"]
        == 1000
    )


def test_a_line_has_the_information_of_the_epoch_that_a_run_went_back_to():
    history = [Record("alternate", epoch, mi=mi).as_dict() for epoch, mi in enumerate((1, 2, 0))]
    history[-1]["back_to"] = 1
    labels = np.zeros(3, dtype=int)
    line = job_module._Found(labels, start=labels, history=history).more(labels)
    assert (line["mi"], line["went_back"]) == (2, 1)


def test_other_settings_need_another_autoencoder(row, data_dir, cache, monkeypatch):
    before = models(cache)
    monkeypatch.setattr("infomeans.training.settings.PIXELS", 1)
    job_module.run_job(grid.make_job("usps", "autoencoder+kmeans", 0), data_dir, cache, 1)
    assert len(models(cache) - before) == 1


@pytest.mark.parametrize("method", [*grid.METHODS, *grid.BASELINES, *grid.VARIANTS])
def test_every_method_runs(method, data_dir, cache):
    row = job_module.run_job(grid.make_job("usps", method, 0), data_dir, cache, 1)
    assert row["method"] == method
    assert row["acc"] > 0.9
    assert not [path for path in cache.iterdir() if path.suffix == ".safetensors"]


@pytest.fixture
def _in_this_process(monkeypatch):
    """Runs of a grid need no process of their own."""
    monkeypatch.setattr(grid, "call_in_process", lambda function, *given: function(*given))


@pytest.mark.usefixtures("_in_this_process")
def test_what_is_done_is_not_done_again(row, data_dir, cache, tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.append(row)
    said = []
    jobs = grid.plan(["usps"], ["mi-adm", "kmeans"], [0])
    wrong = job_module.Job("usps", "wrong", 0, slug="mi-adm", params={"lam": -1.0})
    failed = grid.run_grid(
        [wrong, *jobs], results, data_dir=data_dir, cache=cache, announce=said.append
    )
    assert failed == [wrong]
    assert said[0].startswith("1 of 3 runs are in")
    assert said[1] == "usps  wrong  seed 0"
    assert "failed: The 'lam' parameter" in said[2]
    assert [r["method"] for r in results.rows()] == ["mi-adm", "kmeans"]
    assert not any("mi-adm" in text for text in said)
    text = grid.render(results, tmp_path)
    assert "| mi-adm | **" in text
    assert "| 0.979 |" in text
    assert (tmp_path / "results.md").read_text() in text
    assert "\\toprule" in (tmp_path / "results.tex").read_text()


@pytest.mark.parametrize("half", ["{", '{"seed": 1, "met', '{"seed": 1, "versions": {"a": "1"}'])
def test_half_a_line_does_not_count(half, tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.append({"seed": 0})
    results.path.write_text(results.path.read_text() + half)
    assert results.rows() == [{"seed": 0}]
    results.append({"seed": 2})
    assert results.rows() == [{"seed": 0}, {"seed": 2}]
    assert results.cut_short() == [2]


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def open_full(path, *_, **__):
        file = MagicMock()
        file.__enter__.return_value.tell.return_value = 0
        file.__enter__.return_value.write.return_value = 3
        return file

    monkeypatch.setattr(Path, "open", open_full)
    monkeypatch.setattr("os.fsync", lambda _: None)
    with pytest.raises(OSError, match="only in part"):
        Results(tmp_path / "results.jsonl").append({"seed": 0})


def test_a_whole_line_without_an_end_counts(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.path.write_text('{"seed": 0}\n{"seed": 1}')
    assert results.rows() == [{"seed": 0}, {"seed": 1}]
    results.append({"seed": 2})
    assert results.rows() == [{"seed": 0}, {"seed": 1}, {"seed": 2}]


def test_several_may_write_at_once(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    long = "x" * 20_000
    with ThreadPoolExecutor(8) as pool:
        for seed in range(400):
            pool.submit(results.append, {"seed": seed, "long": long})
    assert sorted(row["seed"] for row in results.rows()) == [*range(400)]


def test_nothing_that_another_writes_meanwhile_is_removed(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    with results.path.open("ab", buffering=0) as other:
        other.write(b'{"seed": 0, ')
        results.append({"seed": 1})
    assert results.path.read_bytes().startswith(b'{"seed": 0, ')
    assert results.rows() == [{"seed": 1}]


@pytest.mark.usefixtures("_in_this_process")
def test_what_is_asked_for_twice_runs_once(data_dir, cache, tmp_path):
    results = Results(tmp_path / "results.jsonl")
    jobs = grid.plan(["usps"], ["kmeans"], [0, 0])
    grid.run_grid(jobs, results, data_dir=data_dir, cache=cache, announce=print)
    assert len(results.rows()) == 1


def test_a_line_that_is_no_json_is_named(tmp_path):
    (tmp_path / "results.jsonl").write_text('{"seed": 0}\n\nnonsense\n')
    with pytest.raises(InputError, match=r"results\.jsonl, line 3, is not JSON"):
        Results(tmp_path / "results.jsonl").rows()


def test_what_is_done_elsewhere_is_read_from_there(row, tmp_path):
    others = [{"dataset": "digits"}, {"method": "kmeans"}, {"augment": True}]
    for other in ({}, *others):
        Results(tmp_path / "results.jsonl").append({**row, **other})
    for own in ({"acc": 0.0}, {"method": "mi-d"}):
        Results(tmp_path / "adm.jsonl").append({**row, **own})
    lines = experiments.adm_lines(tmp_path)
    assert lines.rows() == [row, {**row, "method": "mi-d"}]
    assert len(lines.done()) == 2
    assert len(experiments.adm_lines(tmp_path, ["digits"]).rows()) == 3


def test_the_plan_leaves_out_what_is_not_there(data_dir):
    jobs = grid.plan(seeds=[0, 1], data_dir=data_dir)
    assert {job.dataset for job in jobs} == {"usps"}
    assert len(jobs) == 2 * len({*grid.METHODS, *grid.BASELINES})
    augmented = grid.plan(seeds=[0], augment=True, data_dir=data_dir)
    assert {job.method for job in augmented} == {*grid.METHODS, *grid.BASELINES} - {"kmeans"}
    with pytest.raises(InputError, match="magic"):
        grid.plan(["usps"], ["magic"])


def test_only_runs_with_the_papers_settings_may_be_cut_short():
    (job,) = grid.plan(["usps"], ["mi-adm"], [0], preset="paper", most_epochs=3)
    assert (job.preset, job.most_epochs) == ("paper", 3)
    with pytest.raises(InputError, match="--most-epochs needs --preset paper"):
        grid.plan(["usps"], ["mi-adm"], [0], most_epochs=3)


def test_without_any_data_there_is_no_plan(tmp_path):
    with pytest.raises(InputError, match=r"None of usps, .* (is|was) \w+\. usps: no file"):
        grid.plan(data_dir=tmp_path)


def test_the_command_runs_the_grid_and_shows_its_table(data_dir, cache, tmp_path):
    arguments = ["--datasets", "usps", "--methods", "kmeans", "--seeds", "0"]
    folders = ["--out", tmp_path, "--data-dir", data_dir, "--cache", cache]
    done = CliRunner().invoke(app, ["benchmark", "results", *arguments, *map(str, folders)])
    assert done.exit_code == 0, done.output
    (line,) = Results(tmp_path / "results.jsonl").rows()
    assert f"ACC {line['acc']:.4f}" in done.output
    assert line["settings"]["estimator"] == {"n_init": 20}


def test_a_geometric_set_is_thinned_out(data_dir):
    samples = job_module.load("usps-geometric", data_dir)
    assert np.unique(samples.labels, return_counts=True)[1].tolist() == [40, 32, 26]


def test_two_processes_may_train_the_same_autoencoder(data_dir, tmp_path, monkeypatch):
    job, samples = grid.make_job("usps", "mi-adm", 0), job_module.load("usps", data_dir)
    fit = Autoencoder.fit

    def meanwhile(self, X):
        monkeypatch.undo()
        job_module.pretrained(job, samples, 3, tmp_path)
        return fit(self, X)

    monkeypatch.setattr(Autoencoder, "fit", meanwhile)
    encoder, trained_by = job_module.pretrained(job, samples, 3, tmp_path)
    assert encoder.transform(samples.X).shape == (len(samples.X), 16)
    assert trained_by["versions"]["torch"]
