import json
import os
import re
import shutil

import numpy as np
import pytest

from infomeans import data
from infomeans.files import sealed
from infomeans.report import selection, write_report
from infomeans.report.compare import comparison
from infomeans.runs import Run
from infomeans.workflows.cluster import cluster
from infomeans.workflows.request import Request


def content(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text.split('id="content">')[1].split("</script>")[0])


def test_a_page_needs_nothing_from_elsewhere(image_run):
    text = image_run.report.read_text(encoding="utf-8")
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', text)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy
    assert str(image_run.path.parent) not in text


def test_a_page_weighs_little_more_than_its_samples(image_run):
    text = image_run.report.read_text(encoding="utf-8")
    assert len(text) - len(json.dumps(content(image_run.report))) < 120_000


def test_the_same_run_gives_the_same_page(image_run, tmp_path):
    pages = [write_report(image_run, tmp_path / name).read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]


def test_of_too_many_samples_the_page_keeps_those_it_speaks_of(image_run, tmp_path, monkeypatch):
    whole = content(write_report(image_run, tmp_path / "whole.html"))
    monkeypatch.setattr(selection, "MOST_POINTS", 110)
    path = write_report(image_run, tmp_path / "some.html")
    some = content(path)
    assert "of the 120 samples" in path.read_text(encoding="utf-8")
    assert some["n"] == 120
    assert len(some["ids"]) <= 110
    for before, after in zip(whole["clusters"], some["clusters"], strict=True):
        assert [some["ids"][i] for i in after["typical"]] == [str(i) for i in before["typical"]]


def test_without_its_labels_a_page_still_has_its_pictures(image_run, tmp_path):
    run = Run(shutil.copytree(image_run.path, tmp_path / "run"))
    config = json.loads((run.path / "config.json").read_text())
    config["arguments"]["reading"]["labels"] = str(tmp_path / "gone.csv")
    (run.path / "config.json").write_text(json.dumps(sealed(config)))
    page = content(write_report(Run(run.path)))
    assert page["thumbs"]
    assert page["classes"] is None


def test_classes_that_changed_are_noticed(image_run, tmp_path):
    samples = data.open(image_run.config["arguments"]["source"], key="images")
    other = data.open(samples.X, labels=np.arange(120) % 2)
    path = write_report(image_run, tmp_path / "page.html", data=other)
    assert "classes have changed" in path.read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="names are not bytes there")
def test_names_that_are_no_text_break_nothing(tmp_path, reported):
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    np.save(folder / "x.npy", np.eye(20))
    request = Request(str(folder / "x.npy"), 2, method="kmeans")
    run = reported(request, folder / "run")
    page = comparison([run, reported(request, tmp_path / "run")])
    assert "xff/run" in page
    page.encode()
    assert run.report.exists()


@pytest.mark.parametrize("layout", ["grey", "channels first", "16 bit", "colour"])
def test_images_of_every_kind(tmp_path, layout, stripes):
    images, _ = stripes
    tidy = (images - images.min()) / np.ptp(images)
    X = {
        "grey": tidy,
        "channels first": np.stack([tidy] * 3, axis=1),
        "16 bit": (65535 * tidy).astype(np.uint16),
        "colour": np.stack([(255 * tidy).astype(np.uint8)] * 3, axis=-1),
    }[layout]
    np.save(tmp_path / "x.npy", X)
    request = Request(str(tmp_path / "x.npy"), 3, method="kmeans")
    run, _ = cluster(request, data.open(request.source), tmp_path / "run")
    page = content(write_report(run))
    assert (page["thumbs"]["width"], page["thumbs"]["height"]) == (8, 9)
    assert all(page["prototypes"]["images"])


def test_two_runs_of_the_same_second_are_not_one(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(20))
    request = Request(str(tmp_path / "x.npy"), 2, method="kmeans")
    samples = data.open(request.source)
    a, b = (cluster(request, samples, tmp_path / name)[0] for name in "ab")
    assert a.key != b.key
    assert a.key == Run(a.path).key


def test_runs_on_other_contents_are_compared_with_a_warning(tmp_path):
    runs = []
    for number in (1, 2):
        np.save(tmp_path / f"{number}.npy", number * np.eye(20))
        request = Request(str(tmp_path / f"{number}.npy"), 2, method="kmeans")
        runs.append(cluster(request, data.open(request.source), tmp_path / f"run{number}")[0])
    assert "compare with care" in comparison(runs)
