"""More or fewer clusters from a run."""

import json
import shutil

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from infomeans.files import sealed
from infomeans.naming import Names
from infomeans.runs import Run


@pytest.fixture(scope="module")
def begun(tmp_path_factory, photos):
    """A finished run on the images, trained well enough to have groups within groups."""
    from typer.testing import CliRunner

    from infomeans.cli import app

    out = tmp_path_factory.mktemp("recut") / "run"
    quick = ["--pretrain-epochs", "3", "--epochs", "2", "--set", "warmup_epochs=3"]
    result = CliRunner().invoke(app, ["cluster", str(photos), "-k", "3", "--out", str(out), *quick])
    assert result.exit_code == 0, result.output
    return out


def test_finer_parts_one_cluster_and_keeps_the_others(infomeans, begun, tmp_path):
    base = Run(begun)
    said = infomeans("recut", begun, "--finer", "--out", tmp_path / "finer").output
    made = Run(tmp_path / "finer")
    assert "k = 4" in said
    assert made.n_clusters == 4
    assert {record["phase"] for record in made.history} == {"warm-up", "alternate"}
    initial = base.tree.cut(4)[base.tree.leaf]
    assert adjusted_rand_score(initial, made.labels.clusters) > 0.5
    (parted, *_), *_ = base.tree.splits()
    assert set(initial[np.asarray(base.labels.clusters) == parted]) == {parted, 3}


def test_coarser_merges_two(infomeans, begun, tmp_path):
    base = Run(begun)
    infomeans("recut", begun, "--coarser", "--out", tmp_path / "coarser")
    made = Run(tmp_path / "coarser")
    assert made.posteriors.shape[1] == 2
    one, other, _ = base.tree.merges()[0]
    merged = np.isin(base.labels.clusters, [one, other])
    assert adjusted_rand_score(merged, made.labels.clusters) > 0.5


NAMES = {0: "zero", 1: "one", 2: "two"}


@pytest.fixture
def named(begun, tmp_path):
    """The run with names for all clusters, free to change."""
    copied = tmp_path / "named"
    shutil.copytree(begun, copied)
    Run(copied).rename(Names(NAMES, run=Run(copied).key))
    return copied


def test_names_of_clusters_that_stay_are_kept(infomeans, named, tmp_path):
    infomeans("recut", named, "--finer", "--out", tmp_path / "finer")
    (parted, *_), *_ = Run(named).tree.splits()
    assert Run(tmp_path / "finer").names.names == {k: v for k, v in NAMES.items() if k != parted}
    infomeans("recut", named, "--coarser", "--out", tmp_path / "coarser")
    one, other, _ = Run(named).tree.merges()[0]
    (left,) = set(NAMES) - {one, other}
    kept = Run(tmp_path / "coarser").names.names.values()
    assert sorted(kept) == sorted([NAMES[left], f"{NAMES[one]} + {NAMES[other]}"])


def test_merges_of_clusters_that_stay_are_kept(infomeans, named, tmp_path):
    (parted, *_), *_ = Run(named).tree.splits()
    stay = sorted(set(NAMES) - {parted})
    Run(named).rename(Names(NAMES, (tuple(stay),), run=Run(named).key))
    said = infomeans("recut", named, "-k", "3", "--out", tmp_path / "same", code=2).output
    assert "3 clusters already (before merging)" in said
    infomeans("recut", named, "--finer", "--out", tmp_path / "finer")
    assert Run(tmp_path / "finer").names.merge == (tuple(stay),)


def test_a_stopped_recut_is_resumed(infomeans, named, tmp_path):
    out = tmp_path / "again"
    infomeans("recut", named, "-k", "4", "--out", out)
    labels, names = Run(out).labels.clusters, Run(out).names
    (out / "metrics.json").unlink()
    (out / "names.json").unlink()
    infomeans("cluster", "--resume", "--out", out)
    np.testing.assert_array_equal(Run(out).labels.clusters, labels)
    assert Run(out).names == names


def test_a_stopped_recut_needs_the_run_it_began_from(infomeans, named, tmp_path):
    out = tmp_path / "again"
    infomeans("recut", named, "-k", "4", "--out", out)
    (out / "metrics.json").unlink()
    named.rename(tmp_path / "elsewhere")
    said = infomeans("cluster", "--resume", "--out", out, code=2).output
    assert "are needed to go on" in said


def test_a_run_is_not_recut_onto_itself(infomeans, named):
    given = ["recut", named, "--finer", "--out", named, "--overwrite"]
    assert "the run to start from" in infomeans(*given, code=2).output
    assert Run(named).names.names == NAMES


def test_the_current_folder_can_be_recut(infomeans, named, tmp_path, monkeypatch):
    monkeypatch.chdir(named)
    infomeans("recut", ".", "-k", "4")
    assert Run(tmp_path / "named-k4").complete


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken"])
def test_a_damaged_tree_is_named(infomeans, named, content):
    (named / "tree.npz").write_bytes(content)
    assert "tree.npz cannot be read" in infomeans("show", named, code=2).output


def test_the_new_folder_is_named_after_the_run(infomeans, begun, tmp_path):
    copied = tmp_path / "run"
    shutil.copytree(begun, copied)
    infomeans("recut", copied, "-k", "4")
    assert Run(tmp_path / "run-k4").complete
    again = infomeans("recut", copied, "-k", "4", code=2).output
    assert "already holds a run" in again


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "give one of -k, --finer and --coarser"),
        (["-k", "4", "--finer"], "give one of -k, --finer and --coarser"),
        (["-k", "3"], "has 3 clusters already"),
        (["-k", "1000"], "out of reach"),
    ],
)
def test_bad_numbers_are_refused(infomeans, begun, tmp_path, given, words):
    said = infomeans("recut", begun, *given, "--out", tmp_path / "new", code=2).output
    assert words in " ".join(said.split())
    assert not (tmp_path / "new").exists()


def test_changed_data_are_refused(infomeans, begun, photos, tmp_path):
    moved, copied = tmp_path / "photos", tmp_path / "run"
    shutil.copytree(photos, moved)
    shutil.copytree(begun, copied)
    config = json.loads((copied / "config.json").read_text())
    config["arguments"]["source"] = str(moved)
    (copied / "config.json").write_text(json.dumps(sealed(config)))
    next(moved.rglob("*.png")).unlink()
    said = infomeans("recut", copied, "-k", "4", "--out", tmp_path / "new", code=2).output
    assert "the data have changed" in said


def test_runs_without_a_tree_or_a_network_say_so(infomeans, begun, photos, tmp_path):
    copied = tmp_path / "old"
    shutil.copytree(begun, copied)
    (copied / "tree.npz").unlink()
    assert "earlier version" in infomeans("recut", copied, "--finer", code=2).output
    infomeans("cluster", photos, "-k", "3", "--method", "kmeans", "--out", tmp_path / "kmeans")
    said = infomeans("recut", tmp_path / "kmeans", "--finer", code=2).output
    assert "trains no network" in said


def test_the_summary_says_what_would_merge_and_part(infomeans, begun):
    said = infomeans("show", begun).output
    one, other, _ = Run(begun).tree.merges()[0]
    assert f"{one} and {other} would merge next" in said
    assert "would part next" in said
