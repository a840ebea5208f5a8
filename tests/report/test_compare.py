"""The comparison of runs in a real browser."""

import shutil

import numpy as np

from infomeans import data
from infomeans.report.compare import comparison
from infomeans.report.moved import moved
from infomeans.runs import Run
from infomeans.workflows.cluster import cluster
from infomeans.workflows.request import Request


def test_samples_that_moved_are_those_outside_the_best_matching():
    a = np.repeat([0, 1], 10)
    b = np.where(a == 0, 5, 2)
    b[[0, 1, 12]] = [2, 2, 5]
    sure = np.linspace(0.5, 1, 20)
    found = moved([a, b], [sure, sure], 0, 1)
    assert found["partner"] == {0: 5, 1: 2}
    assert found["count"] == 3
    groups = [(g["a"], g["b"], g["count"], g["samples"]) for g in found["groups"]]
    assert groups == [(0, 2, 2, [1, 0]), (1, 5, 1, [12])]


def test_runs_stand_side_by_side(show, image_run, tmp_path):
    request = image_run.config["arguments"]
    other = Request(request["source"], 5, "kmeans", reading=request["reading"])
    second, _ = cluster(other, data.open(other.source, **other.reading), tmp_path / "<b>other")
    third = Run(shutil.copytree(image_run.path, tmp_path / "same"))
    path = tmp_path / "compare.html"
    path.write_text(comparison([image_run, second, third]), encoding="utf-8")
    page = show(path, wait="#sankey path")
    cells = page.eval_on_selector_all(
        "#matrix tbody td[data-share]", "all => all.map(e => +e.innerText)"
    )
    matrix = np.array(cells).reshape(3, 3)
    assert np.allclose(np.diag(matrix), 1)
    assert matrix[0, 2] == 1
    assert np.array_equal(matrix, matrix.T)
    assert "<b>other" in page.inner_text("#overview")
    moved = page.evaluate("between(0, 1).count")
    assert f"{moved} of 120 samples" in page.inner_text("#moved-said")
    assert page.locator("#groups .panel").count() > 0
    page.wait_for_function("() => document.querySelector('#groups .thumb').style.backgroundImage")
    page.locator("#groups .thumb").first.click()
    assert "→" in page.inner_text("#dialog-body")
    page.click("#dialog .close")
    page.select_option("#to", label="same")
    page.wait_for_function("() => document.querySelectorAll('#sankey path').length === 3")
    assert "None" in page.inner_text("#moved-said")


def test_a_table_stands_beside_itself(show, table_run, tmp_path):
    other = Run(shutil.copytree(table_run.path, tmp_path / "run (2)"))
    path = tmp_path / "compare.html"
    runs = [table_run, other, Run(table_run.path / ".." / "run")]
    path.write_text(comparison(runs), encoding="utf-8")
    page = show(path, wait="#sankey path")
    assert page.locator("#from option").all_inner_texts() == ["run", "run (2)", "run (3)"]
    assert "All agree with an adjusted Rand index of 1.000" in page.inner_text("#overview")
    assert page.locator("#sankey path").count() == 4


def test_a_run_stands_beside_itself(show, image_run, tmp_path):
    path = tmp_path / "compare.html"
    path.write_text(comparison([image_run, image_run]), encoding="utf-8")
    page = show(path, wait="#sankey path", width=390)
    assert "run (2)" in page.inner_text("#to")
    assert "None: both have the same clusters" in page.inner_text("#moved-said")
    page.select_option("#to", "0")
    assert "None: both have the same clusters" in page.inner_text("#moved-said")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
