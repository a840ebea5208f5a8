import os
import sys

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset

from infomeans.data import open as open_samples
from infomeans.data.containers import Arrays
from infomeans.data.images import Images
from infomeans.data.sources import locate
from infomeans.data.tables import Table
from infomeans.errors import InputError


class Stream(IterableDataset):
    def __iter__(self):
        return iter([torch.zeros(2)])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x.PNG", Images), ("x.jpeg", Images), ("x.Csv", Table), ("x.tsv.gz", Table),
        ("x.parquet", Table), ("x.npy", Arrays), ("x.NPZ", Arrays), ("x.h5", Arrays),
    ],
)  # fmt: skip
def test_a_file_is_what_its_suffix_says(tmp_path, name, kind):
    (tmp_path / name).touch()
    assert isinstance(locate(tmp_path / name), kind)
    assert isinstance(locate(str(tmp_path / name)), kind)


def test_one_image_is_one_sample(draw, grey):
    samples = open_samples(draw("a b.png", grey))
    assert samples.ids == ["a b.png"]
    np.testing.assert_array_equal(samples.X, [grey])


def test_a_folder_a_pattern_and_a_list_hold_the_same_images(draw, tmp_path, grey):
    draw("set/1.png", grey)
    draw("set/2.png", grey + 1)
    (tmp_path / "set/all.txt").write_text("1.png\n2.png\n3.png\n")
    folder = open_samples(tmp_path / "set")
    pattern = open_samples(f"{tmp_path}/set/*.png")
    listed = open_samples(tmp_path / "set/all.txt")
    assert folder.fingerprint == pattern.fingerprint == listed.fingerprint
    assert listed.skipped == [("3.png", "No such file or directory")]


def test_an_image_listed_twice_is_refused(draw, tmp_path, grey):
    draw("1.png", grey)
    (tmp_path / "all.lst").write_text("1.png\n1.png\n")
    with pytest.raises(InputError, match=r"'1.png' occurs 2 times"):
        open_samples(tmp_path / "all.lst")


def test_a_path_that_exists_is_no_pattern(draw, tmp_path, grey):
    draw("[a]/1.png", grey)
    assert open_samples(tmp_path / "[a]").ids == ["1.png"]


@pytest.mark.parametrize("array", [np.eye(3), torch.eye(3), np.eye(3, dtype=bool)])
def test_arrays_and_tensors(array):
    samples = open_samples(array)
    np.testing.assert_array_equal(samples.X, np.eye(3))
    assert samples.source == type(array).__name__


@pytest.mark.parametrize(
    "source", [[1, 2], (1, 2), 7, None, {1, 2}, iter([]), b"x.csv", {"a": 1}, Stream()]
)
def test_other_objects_are_refused(source):
    with pytest.raises(InputError, match=f"type {type(source).__name__} is not accepted"):
        open_samples(source)


def test_a_missing_path_is_refused_with_what_else_it_could_be(tmp_path):
    with pytest.raises(InputError, match=r"gone.csv: no such file .* \(usps, mnist-test"):
        open_samples(tmp_path / "gone.csv")
    with pytest.raises(InputError, match="no such file"):
        open_samples("a\0b")


@pytest.mark.parametrize("content", [b"", b"hello", b"\0\0\x07\x01", b"\x1f\x8bnot gzip"])
def test_a_file_of_no_known_format_is_refused(tmp_path, content):
    path = tmp_path / "data.xyz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"data.xyz (has an unknown format; .*\.csv|cannot be)"):
        open_samples(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes on Windows")
@pytest.mark.parametrize("name", ["x.png", "x.csv", "x.csv.gz", "x.npy", "x.txt", "x.tar", "x"])
def test_pipes_and_devices_are_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="is a pipe; only regular files are read"):
        locate(tmp_path / name)
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is a device"):
        open_samples(tmp_path / "zero.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes on Windows")
@pytest.mark.parametrize("suffix", [".parquet", ".tar"])
def test_a_part_that_is_a_pipe_is_refused(tmp_path, suffix):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "set").mkdir()
    (tmp_path / f"set/1{suffix}").symlink_to("../pipe")
    with pytest.raises(InputError, match="is a pipe; only regular files are read"):
        locate(tmp_path / "set")
