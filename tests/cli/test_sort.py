"""Pictures sorted into folders."""

import json
import shutil

import numpy as np
import pytest

from infomeans.files import sealed
from infomeans.runs import Run


@pytest.fixture
def pictures(run, photos, tmp_path):
    """A run and its pictures, free to change."""
    folder, copied = tmp_path / "photos", tmp_path / "run"
    shutil.copytree(photos, folder)
    shutil.copytree(run, copied)
    config = json.loads((copied / "config.json").read_text())
    config["arguments"]["source"] = str(folder)
    (copied / "config.json").write_text(json.dumps(sealed(config)))
    return copied, folder


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_picture_is_copied_into_the_folder_of_its_cluster(infomeans, pictures, tmp_path):
    run, photos = pictures
    before = {path: path.read_bytes() for path in files(photos)}
    said = infomeans("sort", run, "--into", tmp_path / "sorted").output
    labels = Run(run).labels
    assert f"{len(labels.ids)} pictures in 3 folders" in said
    assert {path: path.read_bytes() for path in files(photos)} == before
    for cluster in range(3):
        own = files(tmp_path / "sorted" / f"cluster-{cluster}")
        ids = [i for i, c in zip(labels.ids, labels.clusters, strict=True) if c == cluster]
        names = sorted(path.name.split("-", 1)[1] for path in own)
        assert names == sorted(id_.rsplit("/", 1)[1] for id_ in ids)
        assert all(not path.is_symlink() for path in own)


def test_the_most_typical_comes_first_and_doubtful_and_strange_ones_are_apart(
    infomeans, pictures, tmp_path
):
    run, _ = pictures
    made = Run(run)
    stability = np.where(np.arange(len(made.labels.ids)) % 10, 1.0, 0.1)
    outliers = np.where(np.arange(len(made.labels.ids)) % 7 == 1, 0.99, 0.98)
    made.write_results(
        made.labels.ids,
        made.posteriors,
        made.embedding,
        made.metrics,
        stability=stability,
        outliers=outliers,
    )
    said = infomeans("sort", run, "--into", tmp_path / "sorted").output
    strange = {
        path.name.split("-", 1)[1] for path in files(tmp_path / "sorted") if "strange" in path.parts
    }
    ids = np.array(made.labels.ids)[outliers == 0.99]
    assert strange == {id_.rsplit("/", 1)[1] for id_ in ids}
    assert f"and {len(ids)} strange" in said
    apart = files(tmp_path / "sorted" / "cluster-0" / "doubtful")
    labels, z = Run(run).labels, Run(run).embedding
    expected = {
        id_.rsplit("/", 1)[1]
        for id_, cluster, stable, outlier in zip(
            labels.ids, labels.clusters, labels.stability, labels.outliers, strict=True
        )
        if cluster == 0 and stable < 0.5 and outlier < 0.99
    }
    assert {path.name.split("-", 1)[1] for path in apart} == expected
    first = min((tmp_path / "sorted" / "cluster-0").glob("*.png")).name.split("-", 1)[1]
    names = [id_.rsplit("/", 1)[1] for id_ in labels.ids]
    far = np.linalg.norm(z - z[labels.clusters == 0].mean(axis=0), axis=1)
    rank = np.argsort(far[labels.clusters == 0]).tolist()
    at = np.flatnonzero(labels.clusters == 0).tolist().index(names.index(first))
    assert rank.index(at) < len(rank) / 2


def test_links_names_and_merges(infomeans, pictures, tmp_path):
    run, photos = pictures
    names = {"names": {"0": "../up/and:away", "2": "Zebra"}, "merge": [[1, 2]]}
    (tmp_path / "names.json").write_text(json.dumps(names))
    infomeans("relabel", run, tmp_path / "names.json")
    infomeans("sort", run, "--into", tmp_path / "sorted", "--link")
    assert {path.name for path in (tmp_path / "sorted").iterdir()} == {"_up_and_away", "Zebra"}
    links = list((tmp_path / "sorted").rglob("*.png"))
    assert links
    assert all(path.is_symlink() and photos in path.resolve().parents for path in links)


def test_a_folder_that_is_not_empty_is_refused(infomeans, pictures, tmp_path):
    run, _ = pictures
    target = tmp_path / "mine"
    target.mkdir()
    (target / "file.txt").write_text("mine")
    assert "is not empty" in infomeans("sort", run, "--into", target, code=2).output
    assert files(tmp_path / "mine") == [target / "file.txt"]


def test_missing_pictures_are_said(infomeans, pictures, tmp_path):
    run, photos = pictures
    gone = files(photos)[0]
    gone.unlink()
    said = infomeans("sort", run, "--into", tmp_path / "sorted")
    assert "1 picture is no longer there" in said.output
    assert gone.name in said.output
    for path in files(photos):
        path.rename(path.with_name(f"renamed {path.name}"))
    refused = infomeans("sort", run, "--into", tmp_path / "other", code=2)
    assert "nothing was sorted" in " ".join(refused.output.split())
    assert not list(tmp_path.glob("*other*"))


@pytest.mark.parametrize("where", ["photos/sorted", "run/sorted", "."])
def test_folders_that_would_be_read_again_are_refused(infomeans, pictures, where, monkeypatch):
    run, _ = pictures
    (run.parent / "empty").mkdir()
    monkeypatch.chdir(run.parent / "empty" if where == "." else run.parent)
    assert "name a" in infomeans("sort", run, "--into", where, code=2).output


def test_names_that_differ_little_and_long_names(infomeans, pictures, tmp_path):
    run, _ = pictures
    names = {"0": "a_b-2", "1": "a/b", "2": "a:b"}
    for given in (names, {str(k): chr(0x1F600) * 80 for k in range(3)}):
        (tmp_path / "names.json").write_text(json.dumps({"names": given}))
        infomeans("relabel", run, tmp_path / "names.json")
        target = tmp_path / f"sorted {len(given['0'])}"
        infomeans("sort", run, "--into", target)
        assert len(list(target.iterdir())) == 3
        assert len(files(target)) == len(Run(run).labels.ids)


def test_a_table_has_nothing_to_sort(infomeans, table, tmp_path):
    infomeans("cluster", table, "-k", 3, "--method", "kmeans", "--out", tmp_path / "run")
    said = infomeans("sort", tmp_path / "run", "--into", tmp_path / "sorted", code=2)
    assert "no image files" in said.output
