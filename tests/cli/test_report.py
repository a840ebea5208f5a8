import json
import shutil

import pytest

from infomeans.files import sealed
from infomeans.runs import Run


@pytest.fixture
def own(run, tmp_path):
    """A copy of the finished run."""
    return shutil.copytree(run, tmp_path / "own")


def test_a_run_has_its_report(run):
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_a_report_goes_where_it_is_sent(infomeans, own, tmp_path):
    (own / "report.html").unlink()
    assert "report.html" in infomeans("report", own).output
    page = (own / "report.html").read_text()
    infomeans("report", own, "--out", tmp_path / "page.html", "--projection", "pca")
    assert "principal components" in (tmp_path / "page.html").read_text()
    assert "https://" not in page.split("<script>")[0]
    said = infomeans("report", own, "--out", tmp_path / "page.html", code=2).output
    assert "already exists" in said
    infomeans("report", own, "--out", tmp_path / "page.html", "--overwrite")


def test_what_a_report_has_to_do_without_is_said(infomeans, own):
    config = json.loads((own / "config.json").read_text())
    config["arguments"]["source"] = str(own / "gone")
    (own / "config.json").write_text(json.dumps(sealed(config)))
    said = infomeans("report", own).stderr
    assert "cannot be read again" in said
    assert "from the earlier report" in said


def test_a_report_opens_in_the_browser(infomeans, own, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert "browser" not in infomeans("report", own, "--open").output
    assert opened == [(own / "report.html").as_uri()]


@pytest.mark.parametrize("command", ["report", "compare"])
def test_where_no_browser_opens_the_path_is_said(infomeans, own, tmp_path, monkeypatch, command):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    out = tmp_path / "page.html"
    runs = [own] if command == "report" else [own, own]
    said = infomeans(command, *runs, "--out", out, "--open").output
    assert f"No browser could be opened; open {out} yourself" in " ".join(said.split())


def test_what_cannot_be_reported_is_said_in_one_line(infomeans, own, tmp_path):
    assert "not a run folder" in infomeans("report", tmp_path, code=2).output
    assert "auto, lda, pca, umap" in infomeans("report", own, "--projection", "x", code=2).output
    (own / "metrics.json").unlink()
    assert "is not complete" in infomeans("report", own, code=2).output


def test_clusters_are_named_and_merged_in_the_labels(infomeans, own, tmp_path):
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"names": {"1": "top & <b>"}, "merge": [[1, 2]]}))
    said = infomeans("relabel", own, names).output
    assert "1 named, 1 merged away: 2 clusters" in said
    assert set(Run(own).labels.names) == {"0", "top & <b>"}
    assert "top & <b>" in infomeans("show", own).output
    judged = infomeans("evaluate", own, "--labels", "folder").output
    assert "of 2 clusters, after merging" in judged
    assert "top & <b> (1)" in judged
    assert "scores before merging" in infomeans("show", own).output
    infomeans("report", own)


def test_new_samples_are_named_and_merged_too(infomeans, own, photos, tmp_path):
    (tmp_path / "names.json").write_text('{"names": {"0": "all"}, "merge": [[0, 1, 2]]}')
    infomeans("relabel", own, tmp_path / "names.json")
    infomeans("predict", own, photos / "kind 0", "--out", tmp_path / "new.csv")
    lines = (tmp_path / "new.csv").read_text().splitlines()
    assert lines[0] == "id,cluster,confidence,entropy,outlier,name"
    assert {line.rsplit(",", 1)[1] for line in lines[1:]} == {"all"}


def test_a_report_that_fails_leaves_the_run_as_it_is(infomeans, table, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no ink")

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.report.write_report", fail)
        said = infomeans("cluster", table, "-k", 3, "--method", "kmeans", "--out", out).output
    assert "could not be written: no ink" in said
    assert Run(out).complete
    infomeans("cluster", "--resume", "--out", out)
    assert Run(out).report.exists()


def test_names_that_do_not_fit_change_nothing(infomeans, own, tmp_path):
    before = (own / "labels.csv").read_bytes()
    names = tmp_path / "names.json"
    names.write_text('{"names": {"7": "seven"}}')
    assert "clusters 0 to 2" in infomeans("relabel", own, names, code=2).output
    assert "is not a file" in infomeans("relabel", own, tmp_path / "none", code=2).output
    assert (own / "labels.csv").read_bytes() == before


def test_runs_are_compared(infomeans, own, run, tmp_path, table):
    out = tmp_path / "compare.html"
    infomeans("compare", run, own, "--out", out)
    assert "adjusted Rand index of 1.000" in out.read_text()
    assert "already exists" in infomeans("compare", run, own, "--out", out, code=2).output
    infomeans("cluster", table, "-k", 3, "--method", "kmeans", "--out", tmp_path / "other")
    other = infomeans("compare", run, tmp_path / "other", "--out", tmp_path / "x.html", code=2)
    assert "have different samples" in other.output
    alone = infomeans("compare", run, "--out", tmp_path / "x.html", code=2)
    assert "at least two runs" in alone.output
    assert not (tmp_path / "x.html").exists()
    infomeans("compare", run, run, "--out", tmp_path / "x.html")
    assert "adjusted Rand index of 1.000" in (tmp_path / "x.html").read_text()
