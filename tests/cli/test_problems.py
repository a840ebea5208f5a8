"""Several mistakes in one call are all reported."""

import pytest


@pytest.fixture
def mistakes(infomeans, tmp_path, monkeypatch):
    """What a call of `cluster` is told, error by error."""
    monkeypatch.chdir(tmp_path)

    def mistakes(*arguments):
        said = infomeans("cluster", *arguments, code=2).stderr.splitlines()
        return [line.removeprefix("Error: ") for line in said if line.startswith("Error: ")]

    return mistakes


def assert_about(said, *wanted):
    assert len(said) == len(wanted), said
    for part in wanted:
        assert any(part in line for line in said), (part, said)


def test_method_device_and_source(mistakes, tmp_path):
    said = mistakes("x.csv", "-k", 3, "--method", "foo", "--set", "lam=abc", "--device", "tpu")
    assert_about(said, "x.csv: no such file", "method 'foo'", "'lam' parameter", "device='tpu'")
    assert list(tmp_path.iterdir()) == []


def test_a_parameter_that_some_method_takes_is_no_mistake_of_its_own(mistakes, table):
    said = mistakes(
        table, "-k", 3, "--method", "magic", "--set", "gamma=2", "--set", "targets=exact"
    )
    assert_about(said, "method 'magic'")
    said = mistakes(table, "-k", 3, "--method", "magic", "--set", "colour=red")
    assert_about(said, "method 'magic'", "No method has a parameter colour")


def test_every_parameter(mistakes, table):
    settings = ["lam=abc", "epochs=-1", "colour=red", "shape=round", "nothing", "lam=2"]
    options = [part for one in settings for part in ("--set", one)]
    said = mistakes(table, *options, "--device", "tpu", "--method", "mi-adm")
    assert_about(
        said,
        "'lam' parameter",
        "'epochs' parameter",
        "mi-adm has no parameter colour, shape;",
        "NAME=VALUE",
        "lam is given twice",
        "device='tpu'",
    )


def test_input_and_folder(mistakes, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file.txt").write_text("mine")
    options = ["--embeddings", "--pretrain-epochs", 3, "--method", "mi-adm", "--set", "lam=-1"]
    said = mistakes("--out", "mine", *options)
    assert_about(
        said,
        "INPUT",
        "mine already exists",
        "no auto-encoder to pretrain",
        "'lam' parameter",
    )


def test_how_to_read_the_input(mistakes, table, tmp_path):
    reading = ["--fit", "bogus", "--impute", "mean", "--labels", "nofile.csv"]
    assert_about(
        mistakes(table, "-k", 2, "--device", "tpu", *reading),
        "device='tpu'",
        "fit='bogus' does not apply",
        "impute='mean' is unknown; 'median' is accepted",
        "has no column 'nofile.csv' for the labels",
    )
    (tmp_path / "notes.doc").write_text("text")
    said = mistakes("notes.doc", "-k", 2, "--device", "tpu")
    assert_about(said, "notes.doc has an unknown format", "device='tpu'")


def test_resuming_and_overwriting(mistakes, run):
    assert_about(
        mistakes("--resume", "--overwrite", "--method", "foo", "--device", "tpu"),
        "--resume continues a run, --overwrite replaces it",
        "--resume needs --out",
        "method 'foo'",
        "device='tpu'",
    )
    contradicting = ["--resume", "--out", run, "-k", 5, "--seed", 7, "--device", "tpu"]
    assert_about(mistakes(*contradicting), "n_clusters 3, not 5", "seed 0, not 7", "device='tpu'")
