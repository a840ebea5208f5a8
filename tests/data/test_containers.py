import gzip
import struct
import sys

import h5py
import numpy as np
import pytest

from infomeans.data import open as open_samples
from infomeans.data.schema import ArraySchema
from infomeans.errors import InputError

X = np.arange(24, dtype=np.float32).reshape(4, 3, 2)


def idx(array, code):
    head = struct.pack(">HBB", 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def write_hdf5(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name.replace("__", "/")] = array


def test_npy(tmp_path):
    np.save(tmp_path / "x.npy", X)
    samples = open_samples(tmp_path / "x.npy")
    np.testing.assert_array_equal(samples.X, X)
    assert samples.ids == ["0", "1", "2", "3"]
    assert samples.schema == ArraySchema((3, 2))


def test_the_only_array_of_samples_in_an_npz_is_taken(tmp_path):
    objects = np.array([{}, None, 1, 2])
    np.savez(tmp_path / "x.npz", labels=np.arange(4), pixels=X, notes=objects)
    samples = open_samples(tmp_path / "x.npz")
    np.testing.assert_array_equal(samples.X, X)
    assert samples.schema == ArraySchema((3, 2), "pixels")


def test_of_several_arrays_the_key_chooses(tmp_path):
    np.savez(tmp_path / "x.npz", train=X, test=X[:2], y=np.arange(4))
    assert len(open_samples(tmp_path / "x.npz", key="test")) == 2
    with pytest.raises(InputError, match=r"holds train \(4, 3, 2\), test .* y \(4,\); name one"):
        open_samples(tmp_path / "x.npz")
    with pytest.raises(InputError, match="there is no 'z'"):
        open_samples(tmp_path / "x.npz", key="z")


def test_a_model_remembers_the_key(tmp_path):
    np.savez(tmp_path / "x.npz", train=X, test=X[:2])
    np.savez(tmp_path / "one.npz", other=X[:3])
    recipe = open_samples(tmp_path / "x.npz", key="test").schema
    assert len(open_samples(tmp_path / "x.npz", like=recipe)) == 2
    assert len(open_samples(tmp_path / "one.npz", like=recipe)) == 3


def test_hdf5_names_arrays_by_their_path(tmp_path):
    write_hdf5(tmp_path / "x.h5", deep__pixels=X, labels=np.arange(4), nothing=h5py.Empty("f"))
    samples = open_samples(tmp_path / "x.h5")
    np.testing.assert_array_equal(samples.X, X)
    assert samples.schema == ArraySchema((3, 2), "deep/pixels")
    write_hdf5(tmp_path / "two.hdf5", a__x=X, b__x=X[:1])
    assert len(open_samples(tmp_path / "two.hdf5", key="b/x")) == 1
    with pytest.raises(InputError, match=r"holds a/x \(4, 3, 2\), b/x \(1, 3, 2\); name one"):
        open_samples(tmp_path / "two.hdf5")


def test_without_h5py_a_message_says_what_to_install(tmp_path, monkeypatch):
    write_hdf5(tmp_path / "x.h5", x=X)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"pip install 'infomeans\[hdf5\]'"):
        open_samples(tmp_path / "x.h5")


@pytest.mark.parametrize("name", ["train-images-idx3-ubyte", "x.idx", "x"])
@pytest.mark.parametrize("zipped", [False, True])
def test_idx_is_known_by_its_first_bytes(tmp_path, name, zipped):
    raw = idx(X.astype(np.uint8), 8)
    path = tmp_path / (f"{name}.gz" if zipped else name)
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    samples = open_samples(path)
    np.testing.assert_array_equal(samples.X, X)
    assert samples.X.dtype == np.uint8


@pytest.mark.parametrize(
    ("code", "dtype"), [(9, np.int8), (11, np.int16), (12, np.int32), (13, np.float32), (14, float)]
)
def test_idx_of_every_type_comes_in_native_byte_order(tmp_path, code, dtype):
    (tmp_path / "x").write_bytes(idx(X.astype(dtype), code))
    read = open_samples(tmp_path / "x").X
    assert read.dtype == dtype
    assert read.dtype.isnative
    np.testing.assert_array_equal(read, X)


def test_npy_of_the_other_byte_order_becomes_native(tmp_path):
    np.save(tmp_path / "x.npy", X.astype(">f4"))
    assert open_samples(tmp_path / "x.npy").X.dtype == np.float32


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.arange(5), r"shape \(5,\); at least one sample and two dimensions"),
        (np.float64(3), r"shape \(\); at least"),
        (np.zeros((0, 3)), r"shape \(0, 3\); at least one sample"),
        (np.zeros((3, 0)), r"shape \(3, 0\); at least"),
        (np.array([["a", "b"]]), "values of type <U1; numbers"),
        (np.ones((2, 2), complex), "values of type complex128; numbers"),
        (np.zeros((2, 2), "datetime64[s]"), "values of type datetime64"),
        (np.array([[1, {}]], dtype=object), "Object arrays cannot be loaded"),
        (np.array([[1.0, np.nan], [1, 2]]), "NaN or infinity in the samples 0;"),
    ],
)
def test_arrays_that_are_no_samples_are_refused(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match=message) as caught:
        open_samples(tmp_path / "x.npy")
    assert "\n" not in str(caught.value)
    assert "x.npy" in str(caught.value)


def test_objects_in_an_npz_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.array([[1, {}]], dtype=object))
    with pytest.raises(InputError, match="values of type object"):
        open_samples(tmp_path / "x.npz", key="x")


def damaged(tmp_path, name):
    """The first two thirds of a good file."""
    path = tmp_path / name
    if name.endswith("npy"):
        np.save(path, X)
    elif name.endswith("npz"):
        np.savez(path, x=X)
    elif name.endswith("h5"):
        write_hdf5(path, x=np.random.default_rng(0).random((99, 99)))
    else:
        raw = idx(X, 13)
        path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    return path


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.h5", "x-idx3-float", "x-idx3-float.gz"])
def test_damaged_files_are_refused_in_one_line(tmp_path, name):
    with pytest.raises(InputError, match=f"{name} cannot be read: ") as caught:
        open_samples(damaged(tmp_path, name))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.h5"])
def test_garbage_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"garbage" * 50)
    with pytest.raises(InputError, match=f"{name} cannot be read: "):
        open_samples(tmp_path / name)


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_an_empty_file_is_called_empty(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=f"{name} is empty"):
        open_samples(tmp_path / name)
