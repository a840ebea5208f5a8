import json
import math

from typer.testing import CliRunner

from infomeans.benchmark import experiments, grid
from infomeans.cli import app


def test_every_lambda_is_a_run_of_its_own():
    jobs = experiments.lambda_jobs(["usps"], [0])
    assert [job.params["lam"] for job in jobs] == [0.1, 0.01, 0.001, 0.0001, 0.00001]
    assert len({job.key for job in jobs}) == 5


def test_the_target_step_is_timed_over_samples_and_over_clusters():
    sizes = [(row["n"], row["k"]) for row in experiments.target_step_seconds()]
    assert len({n for n, _ in sizes}) > 2
    assert len({k for _, k in sizes}) > 2


def test_adm_writes_table_and_figure(data_dir, cache, tmp_path):
    results = grid.Results(tmp_path / "adm.jsonl")
    jobs = [grid.make_job("usps", method, 0) for method in ("mi-adm", "mi-d")]
    for job in jobs:
        results.append(grid.run_job(job, data_dir, cache, 1))
    text = experiments.write_adm(results, jobs, tmp_path, data_dir=data_dir, cache=cache)
    assert "| mi-d | **" in text
    epochs = text.split("An epoch of alternation on usps")[1].split("##")[0]
    assert all(float(row.split("|")[2]) > 0 for row in epochs.splitlines() if "| mi-" in row)
    assert epochs.count("| mi-") == 2
    assert "milliseconds" in text
    assert (tmp_path / "adm.png").read_bytes().startswith(b"\x89PNG")


def test_link_follows_both_methods_from_one_start(data_dir, cache, tmp_path):
    arguments = ["benchmark", "link", "--datasets", "usps", "--seeds", "0"]
    folders = ["--out", tmp_path, "--data-dir", data_dir, "--cache", cache]
    result = CliRunner().invoke(app, [*arguments, *map(str, folders)])
    assert result.exit_code == 0, result.output
    (row,) = [json.loads(line) for line in (tmp_path / "link.jsonl").read_text().splitlines()]
    first = row["mi-adm"][0], row["sr-kmeans"][0]
    assert {"mi", "mi_adm_objective", "soft_kmeans_objective", "gap", "acc"} == first[0].keys()
    assert row["agreement"][-1]["acc"] > 0.9
    assert all(math.isfinite(step["gap"]) for step in row["sr-kmeans"])
    assert (tmp_path / "link.png").read_bytes().startswith(b"\x89PNG")
    again = CliRunner().invoke(app, [*arguments, *map(str, folders)])
    assert "seed 0" not in again.output
    assert len((tmp_path / "link.jsonl").read_text().splitlines()) == 1


def test_datasets_are_counted(data_dir):
    result = CliRunner().invoke(app, ["benchmark", "datasets", "--data-dir", str(data_dir)])
    assert "33.33%" in result.output
    assert "no file" in result.output
