import gzip
import struct

import h5py
import numpy as np
import pytest

from infomeans.data import benchmark
from infomeans.data import open as open_samples
from infomeans.data.schema import ArraySchema
from infomeans.errors import InputError


@pytest.fixture(autouse=True)
def _no_folder_of_ones_own(monkeypatch):
    monkeypatch.delenv("INFOMEANS_DATA", raising=False)


def images(n, *shape):
    return np.random.default_rng(0).integers(0, 256, (n, *shape), dtype=np.uint8)


def test_images_and_features_of_an_npz(tmp_path):
    X = images(6, 16, 16)
    np.savez(tmp_path / "usps.npz", images=X, labels=np.arange(6) % 2, view=np.arange(6))
    samples = benchmark("usps", tmp_path)
    np.testing.assert_array_equal(samples.X, X)
    assert samples.labels.tolist() == ["0", "1"] * 3
    assert samples.source == "usps"
    assert samples.schema == ArraySchema((16, 16))
    np.savez(tmp_path / "pendigits.npz", features=X[:, 0].astype(float), labels=np.arange(6))
    assert benchmark("pendigits", str(tmp_path)).X.shape == (6, 16)


def test_mnist_test_is_the_end_of_mnist(tmp_path):
    labels = np.r_[np.zeros(60_000, int), 3, 4]
    X = np.zeros((60_002, 1, 1), np.uint8)
    X[60_001] = 9
    np.savez(tmp_path / "mnist.npz", images=X, labels=labels)
    samples = benchmark("mnist-test", tmp_path)
    assert samples.X.ravel().tolist() == [0, 9]
    assert samples.labels.tolist() == ["3", "4"]
    assert len(benchmark("mnist-full", tmp_path)) == 60_002
    np.savez(tmp_path / "mnist.npz", images=X[:9], labels=labels[:9])
    with pytest.raises(InputError, match=r"mnist-test in .* has 0 samples"):
        benchmark("mnist-test", tmp_path)


@pytest.mark.parametrize("suffix", [".h5", ".hdf5"])
def test_channels_of_hdf5_come_last_or_vanish(tmp_path, suffix):
    X = images(5, 3, 8, 9)
    for stem, data in (("frgc", X), ("cmu_pie", X[:, :1])):
        with h5py.File(tmp_path / f"{stem}{suffix}", "w") as file:
            file["data"] = data
            file["labels"] = np.arange(5.0)[:, None]
    samples = benchmark("frgc", tmp_path)
    np.testing.assert_array_equal(samples.X[1, :, :, 2], X[1, 2])
    assert samples.labels.tolist() == ["0", "1", "2", "3", "4"]
    np.testing.assert_array_equal(benchmark("cmu-pie", tmp_path).X, X[:, 0])


@pytest.mark.parametrize("mark", ["-", "."])
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_mnist_in_its_four_files(tmp_path, mark, zipped):
    X, classes = images(5, 4, 4), np.arange(5, dtype=np.uint8)
    for part, rows in (("train", slice(3)), ("t10k", slice(3, 5))):
        for what, array in ((f"images{mark}idx3", X[rows]), (f"labels{mark}idx1", classes[rows])):
            head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            raw = head + array.tobytes()
            path = tmp_path / f"{part}-{what}-ubyte{zipped}"
            path.write_bytes(gzip.compress(raw) if zipped else raw)
    full, test = benchmark("mnist-full", tmp_path), benchmark("mnist-test", tmp_path)
    np.testing.assert_array_equal(full.X, X)
    np.testing.assert_array_equal(test.X, X[3:])
    assert full.labels.tolist() == list("01234")
    assert test.labels.tolist() == list("34")
    (tmp_path / f"train-labels{mark}idx1-ubyte{zipped}").unlink()
    assert len(benchmark("mnist-test", tmp_path)) == 2
    with pytest.raises(InputError, match="mnist-full: no file found in"):
        benchmark("mnist-full", tmp_path)


def test_the_folder_may_come_from_the_environment(tmp_path, monkeypatch):
    np.savez(tmp_path / "usps.npz", images=images(2, 16, 16), labels=[0, 1])
    monkeypatch.setenv("INFOMEANS_DATA", str(tmp_path))
    assert len(benchmark("usps")) == 2


def test_a_missing_file_is_described(tmp_path):
    with pytest.raises(InputError) as caught:
        benchmark("mnist-full", tmp_path)
    for part in (
        str(tmp_path), "mnist.npz (images or features, labels)", "mnist.h5 or .hdf5",
        "train-images-idx3-ubyte[.gz]", "https://",
    ):  # fmt: skip
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("name", "folder", "message"),
    [
        ("cifar", ".", "'cifar' is not a benchmark; choose one of usps, mnist-test"),
        ("usps", None, r"--data-dir .* INFOMEANS_DATA"),
        ("usps", "/no/such/folder", "/no/such/folder, the folder for usps, is not a folder"),
    ],
)
def test_what_is_no_benchmark_is_refused(name, folder, message):
    with pytest.raises(InputError, match=message):
        benchmark(name, folder)


def test_samples_and_labels_must_agree(tmp_path):
    np.savez(tmp_path / "usps.npz", images=images(3, 16, 16), labels=[0, 1])
    with pytest.raises(InputError, match="has 3 samples and 2 labels"):
        benchmark("usps", tmp_path)


def test_open_knows_benchmarks_by_name(tmp_path, monkeypatch):
    np.savez(tmp_path / "usps.npz", images=images(2, 16, 16), labels=[0, 1])
    samples = open_samples("usps", data_dir=tmp_path)
    assert samples.labels.tolist() == ["0", "1"]
    with pytest.raises(InputError, match="image_size=8 does not apply to usps"):
        open_samples("usps", data_dir=tmp_path, image_size=8)
    with pytest.raises(InputError, match=r"shape \(16, 16\), but the model .* shape \(8,\)"):
        open_samples("usps", data_dir=tmp_path, like=ArraySchema((8,)))


def test_a_path_comes_before_a_benchmark(draw, tmp_path, grey, monkeypatch):
    draw("usps/1.png", grey)
    monkeypatch.chdir(tmp_path)
    assert open_samples("usps").ids == ["1.png"]
