"""Names of clusters and labels with gaps, in a real browser."""

import json
import shutil

import numpy as np
from tests.report.browsing import merge, shown

from infomeans.report import write_report
from infomeans.runs import Run
from infomeans.workflows.request import Request


def test_names_of_merged_clusters_come_back_as_they_were_typed(show, image_run, tmp_path):
    run, names = Run(shutil.copytree(image_run.path, tmp_path / "run")), tmp_path / "names.json"
    page = show(run.report)
    for number, name in (("0", "boots + clogs"), ("2", "shoes")):
        page.fill(f"#cluster-{number} header input", name)
        page.keyboard.press("Tab")
    merge(page, 0, "2")
    for number in range(2):
        with page.expect_download() as download:
            page.click("#save")
        download.value.save_as(names)
        assert json.loads(names.read_text())["names"] == {"0": "boots + clogs", "2": "shoes"}
        run.rename(run.read_names(names))
        assert "boots + clogs + shoes" in run.labels.names
        page = show(write_report(run, tmp_path / f"{number}.html"))
        assert page.input_value("#cluster-0 header input") == "boots + clogs + shoes"
    page.click("#cluster-0 .parts button >> nth=1")
    assert page.input_value("#cluster-0 header input") == "boots + clogs"
    assert page.input_value("#cluster-2 header input") == "shoes"


def test_a_name_that_was_typed_for_a_group_stays_with_the_group(page):
    page.fill("#cluster-0 header input", "boots")
    page.keyboard.press("Tab")
    for other in ("1", "2"):
        merge(page, 0, other)
    page.fill("#cluster-0 header input", "shoes")
    page.keyboard.press("Tab")
    page.click("#cluster-0 .parts button >> nth=0")
    assert page.input_value("#cluster-0 header input") == "boots"
    assert page.input_value("#cluster-1 header input") == "shoes"
    page.click("#cluster-1 .parts button >> nth=1")
    assert page.evaluate("names.given") == {"0": "boots", "1": "shoes"}


def test_a_group_can_lose_its_name(page):
    for number in ("0", "2"):
        page.fill(f"#cluster-{number} header input", f"row {number}")
        page.keyboard.press("Tab")
    merge(page, 0, "2")
    page.fill("#cluster-0 header input", "")
    page.keyboard.press("Tab")
    assert page.evaluate("names.given") == {}
    assert "cluster 0" in page.inner_text("#legend")


def test_samples_without_a_label_have_no_class(show, reported, stripes, tmp_path):
    images, classes = stripes
    few = [f"kind {kind}" if at % 3 else "" for at, kind in enumerate(classes)]
    np.savez(tmp_path / "stripes.npz", images=images, labels=few)
    reading = {"key": "images", "labels": "labels"}
    request = Request(str(tmp_path / "stripes.npz"), 3, method="kmeans", reading=reading)
    page = show(reported(request, tmp_path / "run").report)
    assert "on the 80 of 120 samples that have a label" in page.inner_text("#labels")
    page.evaluate("keep(0)")
    assert "true class" not in page.inner_text("#chosen")
    page.evaluate("keep(1)")
    assert "true class kind 0" in page.inner_text("#chosen")
    page.select_option("#class", "0")
    assert shown(page) == 26
    page.select_option("#class", "wrong")
    differ = page.evaluate("classOf.filter((c, i) => content.matched[clusterOf[i]] !== c).length")
    assert shown(page) == differ - 40
