"""The command line without a number of clusters."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from infomeans.runs import Run


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    path = tmp_path_factory.mktemp("groups") / "groups.npy"
    np.save(path, make_blobs(300, centers=5, n_features=6, random_state=0)[0])
    return path


@pytest.mark.parametrize("k", [[], ["-k", "auto"]], ids=["left out", "auto"])
def test_the_number_is_found_and_said(infomeans, groups, tmp_path, k):
    out = tmp_path / "run"
    said = infomeans("cluster", groups, *k, "--method", "graph", "--out", out).output
    assert "k = 5 (found)" in said
    assert "5, found in 100% of random selections too" in " ".join(said.split())
    assert Run(out).n_clusters == Run(out).metrics["number"]["best"] == 5
    assert "5, found in 100%" in Run(out).report.read_text(encoding="utf-8")


def test_bounds_and_a_name(infomeans, groups, tmp_path):
    out = tmp_path / "run"
    infomeans("cluster", groups, "--k-max", 3, "--method", "graph", "--out", out)
    assert Run(out).n_clusters <= 3
    assert "the most that is allowed" in infomeans("show", out).output
    names = tmp_path / "names.json"
    names.write_text('{"names": {"0": "first"}}')
    assert "1 named" in infomeans("relabel", out, names).output


def test_few_samples_or_copies_are_one_line(infomeans, tmp_path):
    np.save(tmp_path / "few.npy", np.random.default_rng(0).normal(size=(19, 3)))
    np.save(tmp_path / "copies.npy", np.ones((50, 3)))
    for name, words in (("few", "n_samples=19 is too few"), ("copies", "all samples are the same")):
        for method in ("graph", "mi-adm"):
            options = ["--method", method, "--out", tmp_path / "o"]
            said = infomeans("cluster", tmp_path / f"{name}.npy", *options, code=2)
            assert words in " ".join(said.output.split())
            assert not (tmp_path / "o").exists()


def test_a_run_that_fails_leaves_other_files_alone(infomeans, groups, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".precious").write_text("mine")
    options = ["--method", "graph", "--k-min", 250, "--out", tmp_path / "mine"]
    assert "k_min=250" in infomeans("cluster", groups, *options, code=2).output
    assert [path.name for path in (tmp_path / "mine").iterdir()] == [".precious"]


def test_bounds_of_a_given_number(infomeans, groups):
    said = infomeans("cluster", groups, "-k", 3, "--k-min", 2, code=2).output
    assert "--k-min and --k-max bound the number that is found" in said
