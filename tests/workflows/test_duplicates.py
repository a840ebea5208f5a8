"""Samples that are there twice."""

import csv

import numpy as np
import pytest
from sklearn.datasets import load_digits

from infomeans import MIADM
from infomeans.data import Dataset, copies
from infomeans.runs import Run
from infomeans.workflows.cluster import cluster
from infomeans.workflows.duplicates import find_duplicates
from infomeans.workflows.request import Request

QUICK = {"pretrain_epochs": 2, "warmup_epochs": 2, "epochs": 1}


@pytest.fixture(scope="module")
def images():
    """Digits with 20 exact copies, and 20 copies with a little noise."""
    rng, digits = np.random.default_rng(0), load_digits().images[:200]
    near = digits[20:40] + rng.normal(size=(20, 8, 8)) * 0.05
    return np.concatenate([digits, digits[:20], near])


def groups_of(found):
    return {tuple(group.tolist()) for group in found.groups}


def test_every_exact_copy_is_found(images):
    found = find_duplicates(Dataset.of_array(images))
    assert groups_of(found) == {(i, 200 + i) for i in range(20)}
    assert found.exact.sum() == 40


def test_near_duplicates_are_found_among_neighbours(images):
    model = MIADM(10, random_state=0, **QUICK).fit(images)
    found = find_duplicates(Dataset.of_array(images), model.fitted_.neighbors)
    assert {(i, 200 + i) for i in range(20)} <= groups_of(found)
    near = {(20 + i, 220 + i) for i in range(20)}
    assert len(near & groups_of(found)) >= 18
    assert len(found.groups) <= 42
    assert found.exact.sum() == 40


def test_three_copies_are_one_group_and_none_are_no_group():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]])
    assert groups_of(find_duplicates(Dataset.of_array(rows))) == {(0, 2, 3)}
    found = find_duplicates(Dataset.of_array(np.arange(10.0)[:, None]))
    assert found.groups == []
    assert found.as_dict() == {"groups": 0, "samples": 0, "exact": 0}


def test_copies_are_found_across_the_parts_that_are_compared(monkeypatch):
    monkeypatch.setattr(copies, "ROWS", 7)
    rows = np.random.default_rng(0).integers(0, 12, size=(100, 1)).astype(float)
    first = {value: at for at, value in reversed([*enumerate(rows[:, 0].tolist())])}
    found = copies.first_copies(Dataset.of_array(rows))
    assert found.tolist() == [first[value] for value in rows[:, 0].tolist()]


def test_all_copies(tmp_path):
    found = find_duplicates(Dataset.of_array(np.ones((6, 2))), np.zeros((6, 2), dtype=int))
    assert groups_of(found) == {(0, 1, 2, 3, 4, 5)}


@pytest.mark.parametrize("method", ["mi-adm", "graph"])
def test_a_run_lists_them(images, tmp_path, method):
    np.save(tmp_path / "images.npy", images)
    params = QUICK if method == "mi-adm" else {}
    request = Request(str(tmp_path / "images.npy"), 10, method, params=params)
    data = Dataset.of_array(images)
    run, _ = cluster(request, data, tmp_path / "run")
    assert run.metrics["duplicates"]["exact"] == 40
    with (tmp_path / "run" / "duplicates.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows if row["exact"] == "True"} == {
        data.ids[i] for i in [*range(20), *range(200, 220)]
    }
    assert Run(tmp_path / "run").complete


def test_without_copies_there_is_no_file(blobs, tmp_path):
    data = Dataset.of_array(blobs[0])
    run, _ = cluster(Request("array", 4, "kmeans"), data, tmp_path / "run")
    assert "duplicates" not in run.metrics
    assert not (tmp_path / "run" / "duplicates.csv").exists()
