import csv
import json
import shutil
import sys

import numpy as np
import pytest
from PIL import Image


def labels(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_unreadable_images_are_named_and_counted(infomeans, photos, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    good = sorted(photos.rglob("*.png"))
    for path in good[:30]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "cut.png").write_bytes(good[0].read_bytes()[:60])
    (folder / "words.png").write_text("no picture")
    options = ["-k", 2, "--method", "kmeans"]
    shown = infomeans("cluster", folder, *options, "--out", tmp_path / "run").stderr
    assert "2 images left out: " in shown
    assert "cut.png" in shown
    assert "words.png" in shown
    assert len(labels(tmp_path / "run" / "labels.csv")) == 30
    refused = infomeans("cluster", folder, *options, "--out", tmp_path / "b", "--strict", code=2)
    assert "words.png" in refused.stderr
    assert not (tmp_path / "b").exists()


def test_heic_beside_other_images_is_named_with_what_reads_it(
    infomeans, photos, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    folder, out = tmp_path / "photos", tmp_path / "run"
    shutil.copytree(photos / "kind 0", folder)
    for number in range(7):
        (folder / f"IMG_{number}.HEIC").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
    said = "7 images left out: IMG_0.HEIC, IMG_1.HEIC"
    why = "(reading HEIC needs pip install 'infomeans[heic]')"
    shown = infomeans("cluster", folder, "-k", 2, "--method", "kmeans", "--out", out)
    for text in (shown.stderr, " ".join(infomeans("show", out).stdout.split())):
        assert said.removeprefix("7 images left out: ") in text
        assert why in text
    assert f"Warning: {said}" in shown.stderr
    assert len(json.loads((out / "config.json").read_text())["data"]["skipped"]) == 7
    assert "IMG_0.HEIC" in (out / "report.html").read_text()


@pytest.fixture
def holiday(tmp_path):
    """Photos of which some are upright."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "holiday"
    folder.mkdir()
    for number in range(20):
        shape = (24, 32, 3) if number % 4 else (32, 24, 3)
        pixels = rng.integers(0, 256, shape, dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
    return folder


@pytest.mark.parametrize("fit", [None, "pad"])
def test_the_fit_of_images_is_said_recorded_and_kept(infomeans, holiday, tmp_path, fit):
    out = tmp_path / "run"
    chosen = ["--fit", fit] if fit else []
    shown = infomeans("cluster", holiday, "-k", 2, "--method", "graph", "--out", out, *chosen)
    assert ("cropped to their centre; see --fit" in shown.stderr) is (fit is None)
    assert json.loads((out / "config.json").read_text())["data"]["fit"] == (fit or "crop")
    again = tmp_path / "again.csv"
    assert "--fit" not in infomeans("predict", out, holiday, "--out", again).stderr
    assert labels(again) == labels(out / "labels.csv")


def test_an_unknown_fit_is_refused(infomeans, holiday):
    refused = infomeans("cluster", holiday, "-k", 2, "--fit", "zoom", code=2)
    assert "fit='zoom' is unknown; pad, crop, stretch are accepted" in refused.stderr


def test_little_memory_is_kept_to_and_recorded(infomeans, photos, tmp_path, monkeypatch):
    from infomeans.data import rows

    monkeypatch.setattr(rows, "BLOCK", 8)
    out = tmp_path / "run"
    quick = ("--pretrain-epochs", 1, "--epochs", 1, "--set", "warmup_epochs=1")
    infomeans("cluster", photos, "-k", 3, "--out", out, "--memory", "6000", *quick)
    assert json.loads((out / "config.json").read_text())["memory"] == 6000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]
    little, plenty = tmp_path / "little.csv", tmp_path / "plenty.csv"
    infomeans("predict", out, photos, "--memory", "6kB", "--out", little)
    infomeans("predict", out, photos, "--out", plenty)
    for one, other in zip(labels(little), labels(plenty), strict=True):
        assert (one["id"], one["cluster"]) == (other["id"], other["cluster"])


@pytest.mark.parametrize("command", ["cluster", "predict", "recut"])
def test_an_amount_of_memory_that_is_none_is_one_line(infomeans, run, photos, command):
    given = {"cluster": [photos], "predict": [run, photos], "recut": [run, "--finer"]}[command]
    said = infomeans(command, *given, "--memory", "plenty", code=2).stderr
    assert said.count("\n") == 1
    assert "'plenty' (--memory) is not an amount of memory" in said


def test_too_little_memory_says_how_much_is_needed(infomeans, photos, tmp_path):
    out = tmp_path / "run"
    said = infomeans("cluster", photos, "-k", 3, "--out", out, "--memory", "2kB", code=2).stderr
    assert "2.0 KiB, is too small: a batch of 120 samples needs 84.4 KiB" in said.replace("\n", "")
    assert not out.exists()
