import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import pairs_of_rows
from typer.testing import CliRunner

from infomeans import functional as IF
from infomeans.benchmark import experiments, grid
from infomeans.benchmark.results_file import Results
from infomeans.cli import app
from infomeans.data import Dataset
from infomeans.data.dataset import row_numbers
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import ArraySchema


def test_every_lambda_is_a_run_of_its_own():
    jobs = experiments.lambda_jobs(["usps"], [0])
    assert [job.params["lam"] for job in jobs] == [0.1, 0.01, 0.001, 0.0001, 0.00001]
    assert len({job.key for job in jobs}) == 5


def test_unbalanced_runs_come_with_and_without_the_true_shares(stripes, monkeypatch):
    images, _ = stripes
    labels = np.repeat(["a", "b", "c"], [60, 40, 20])
    samples = Dataset(
        ArrayRows(images), row_numbers(120), ArraySchema((9, 8)), "mnist-test", labels=labels
    )
    monkeypatch.setattr(experiments, "load", lambda name, data_dir: samples)
    jobs = experiments.adm_jobs(["mnist-test", "usps"], [0, 1], None)
    assert len({job.key for job in jobs}) == len(jobs)
    shares = {job.method: job.params.get("sizes") for job in jobs if "geometric" in job.dataset}
    assert shares == {
        **dict.fromkeys(["mi-adm", "mi-d", "sr-kmeans"], "equal"),
        **{key: [1 / 2, 1 / 3, 1 / 6] for key in ["mi-adm-prior", "mi-d-prior"]},
    }
    assert not [job for job in experiments.adm_jobs(["usps"], [0], None) if "sizes" in job.params]


@given(pairs_of_rows())
def test_the_entropy_term_is_all_that_is_left_out_of_mi_adm(pair):
    p, q = pair
    job = grid.make_job("usps", "mi-adm-without-entropy", 0)
    without = IF.mi_adm_objective(q, p) - IF.conditional_entropy(q) / 2
    assert (job.slug, job.params["targets"]) == ("depict", "exact")
    assert math.isclose(IF.depict_objective(q, p, job.params["gamma"]), without, abs_tol=1e-12)


def test_times_say_where_they_were_measured(data_dir, cache):
    line = experiments.times("usps", data_dir=data_dir, cache=cache)
    assert all(line["epochs"][name] > 0 for name in ("mi-adm", "mi-d"))
    assert all(row["milliseconds"] > 0 for row in line["steps"])
    assert {"threads", "load1", "commit", "cpu"} <= line.keys()


def line_of(job, **more):
    """A line that such a run could have left."""
    row = {"dataset": job.dataset, "method": job.method, "seed": job.seed, "augment": False}
    path = {"mi_path": [0.5, 1.0, 1.5], "epochs": {"warm-up": 1, "alternate": 2}}
    return {**row, "acc": 0.9, "nmi": 0.8, "commit": "abc", **path, **more}


def invoked(name, *options):
    result = CliRunner().invoke(app, ["benchmark", name, "--seeds", "0", *map(str, options)])
    assert result.exit_code == 0, result.output
    return result.output


def test_adm_takes_over_what_is_done_and_times_only_when_told(
    data_dir, cache, tmp_path, monkeypatch
):
    for job in experiments.adm_jobs(["usps"], [0], data_dir):
        known = "results" if job.method in ("mi-adm", "mi-d") else "adm"
        Results(tmp_path / f"{known}.jsonl").append(line_of(job))
    elsewhere = grid.make_job("mnist-full", "mi-d", 0)
    Results(tmp_path / "results.jsonl").append(line_of(elsewhere))
    time = {
        "dataset": "usps",
        "threads": 2,
        "load1": 0.25,
        "commit": "abc",
        "epochs": {"mi-adm": 1.234, "mi-d": 2},
        "steps": [{"n": 7, "k": 3, "milliseconds": 0.5}],
    }
    monkeypatch.setattr(experiments, "times", lambda dataset, **_: {**time, "dataset": dataset})
    options = ["--datasets", "usps", "--out", tmp_path, "--data-dir", data_dir, "--cache", cache]
    without = invoked("adm", *options)
    assert "milliseconds" not in without
    assert not (tmp_path / "adm-times.jsonl").exists()
    output = invoked("adm", *options, "--times")
    text = (tmp_path / "adm.md").read_text()
    assert text in output
    assert text.count("**0.900**") == len(experiments.AGAINST) + 1
    assert "### MNIST-full" in text
    for line in ("| mi-adm | 1.23    |", "| 7       | 3        | 0.50         |"):
        assert line in text
    assert "with 2 threads, a load of 0.25 before" in text
    assert (tmp_path / "adm.png").read_bytes().startswith(b"\x89PNG")


def test_lambda_has_a_row_for_each(data_dir, cache, tmp_path):
    results = Results(tmp_path / "lambda.jsonl")
    for job in experiments.lambda_jobs(["usps"], [0]):
        results.append(line_of(job))
    output = invoked("lambda", "--out", tmp_path, "--data-dir", data_dir, "--cache", cache)
    assert output.count("| **0.900** | one seed |") == 5
    assert "sr-kmeans-1e-05" in output


def test_link_follows_both_methods_from_one_start(data_dir, cache, tmp_path):
    arguments = ["benchmark", "link", "--datasets", "usps", "--seeds", "0"]
    folders = ["--out", tmp_path, "--data-dir", data_dir, "--cache", cache]
    result = CliRunner().invoke(app, [*arguments, *map(str, folders)])
    assert result.exit_code == 0, result.output
    (row,) = [json.loads(line) for line in (tmp_path / "link.jsonl").read_text().splitlines()]
    assert row.keys() >= {"lam", "threads", "load1", "commit", "versions"}
    assert row["agreement"][-1]["acc"] > 0.9
    for name in ("mi-adm", "sr-kmeans"):
        for step in row[name]:
            assert 0 < step["mi"] < math.log(3) + 1e-6
            # Minus what the prototypes explain of 16 features between -1 and 1.
            assert -16 < 3 * row["lam"] * step["kmeans"] < -0.1
            # Exact for clusters of equal mass, which these nearly are.
            rest = step["information"] - step["kmeans"] - step["gap"]
            assert abs(rest) < 0.005 * step["gap"]
    assert (tmp_path / "link.png").read_bytes().startswith(b"\x89PNG")
    again = CliRunner().invoke(app, [*arguments, *map(str, folders)])
    assert "seed 0" not in again.output
    assert len((tmp_path / "link.jsonl").read_text().splitlines()) == 1


def test_datasets_are_counted_beside_the_paper(data_dir, tmp_path):
    arguments = ["benchmark", "datasets", "--data-dir", data_dir, "--out", tmp_path]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert "33.33 %" in result.output
    text = (tmp_path / "datasets.md").read_text()
    text = re.sub(" +", " ", text)
    assert "| USPS | here | 120 | 3 | 1 x 9 x 8 | 33.33 % | 33.33 % |" in text
    assert "| | paper | 11,000 | 10 | 1 x 16 x 16 | 10 % | 10 % |" in text
    assert "| CMU-PIE | here | no file |" in text


def test_without_a_folder_there_are_the_digits(tmp_path, monkeypatch):
    monkeypatch.delenv("INFOMEANS_DATA", raising=False)
    result = CliRunner().invoke(app, ["benchmark", "datasets", "--out", str(tmp_path)])
    assert "1,797" in result.output


def test_datasets_without_any_file_write_nothing(tmp_path):
    arguments = ["benchmark", "datasets", "--data-dir", tmp_path, "--out", tmp_path / "out"]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 2
    assert "usps: no file found in" in result.stderr
    assert not (tmp_path / "out").exists()


def test_figures_are_missed_before_anything_runs(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr("infomeans.cli.benchmark.find_spec", lambda name: None)
    for name in ("adm", "link"):
        folders = ["--out", tmp_path, "--data-dir", data_dir, "--cache", tmp_path]
        result = CliRunner().invoke(app, ["benchmark", name, *map(str, folders)])
        assert result.exit_code == 2
        assert "pip install 'infomeans[plots]'" in result.stderr
        assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["results", "--seeds", "-1"], "--seeds -1: whole numbers from 0 to 4294967295"),
        (["results", "--seeds", "4294967296"], "whole numbers from 0 to 4294967295"),
        (["link", "--lam", "0"], "--lam 0 must be a number above 0"),
        (["link", "--lam", "nan"], "--lam nan must be a number above 0"),
        (["link", "--datasets", "usps,bogus"], "'bogus' is not a benchmark"),
        (["results", "--datasets", "usps,bogus"], "'bogus' is not a benchmark"),
        (["adm"], "cmu-pie: no file found in"),
        (["adm", "--datasets", "usps,cmu-pie"], "cmu-pie: no file found in"),
        (["results", "--augment", "--methods", "kmeans"], "'kmeans' has no use for --augment"),
        (["results", "--augment", "--datasets", "pendigits"], "'pendigits' holds vectors"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(arguments, says, data_dir, tmp_path):
    folders = ["--out", tmp_path, "--data-dir", data_dir, "--cache", tmp_path / "cache"]
    result = CliRunner().invoke(app, ["benchmark", *arguments, *map(str, folders)])
    assert result.exit_code == 2
    assert says in result.stderr
    assert not [*tmp_path.iterdir()]
