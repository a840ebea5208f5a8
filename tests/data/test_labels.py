import gzip
import struct

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from infomeans.data import find_labels
from infomeans.data import open as open_samples
from infomeans.errors import InputError

IDS = ["cats/1.png", "cats/2.png", "dogs/1.png"]
KINDS = ["cat", "cat", "dog"]


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def test_folders_are_labels():
    assert find_labels("folder", [*IDS, "a/b/x.png"]).tolist() == ["cats", "cats", "dogs", "b"]


def test_an_image_outside_every_folder_has_no_label():
    assert find_labels("folder", [*IDS, "4.png"]).tolist() == ["cats", "cats", "dogs", ""]


def test_a_flat_folder_has_no_labels_and_the_message_says_what_to_do():
    message = (
        r"labels='folder' .* '1.png' and the other 2 are not in one; leave labels out or give a"
    )
    with pytest.raises(InputError, match=message):
        find_labels("folder", ["1.png", "2.png", "3.png"])


def test_labels_in_order(tmp_path, file):
    np.save(tmp_path / "x.npy", KINDS)
    np.save(tmp_path / "column.npy", np.array([[3], [1], [2]]))
    np.savez(tmp_path / "x.npz", y=KINDS, X=np.eye(3))
    parquet.write_table(pa.table({"y": KINDS}), tmp_path / "x.parquet")
    with h5py.File(tmp_path / "x.h5", "w") as hdf5:
        hdf5["deep/y"] = KINDS
    for name in ("x.npy", "x.npz", "x.parquet", "x.h5"):
        labels = find_labels(str(tmp_path / name), IDS)
        assert labels.tolist() == KINDS
        assert labels.dtype.kind == "U"
    assert find_labels(str(tmp_path / "column.npy"), IDS).tolist() == ["3", "1", "2"]
    assert find_labels(file("x.txt", "cat\r\ncat\ndog\n\n"), IDS).tolist() == KINDS
    assert find_labels(file("x.csv", "kind\ncat\ncat\ndog\n"), IDS).tolist() == KINDS
    assert find_labels(file("n.csv", "3\n1\n2\n"), IDS).tolist() == ["3", "1", "2"]
    idx = struct.pack(">HBBI", 0, 8, 1, 3) + bytes([7, 2, 1])
    assert find_labels(file("y-idx1-ubyte.gz", gzip.compress(idx)), IDS).tolist() == list("721")


def test_labels_are_joined_by_id(file):
    table = "id,kind\ndogs/1.png,dog\nother,cow\ncats/2.png,cat\ncats/1.png,cat\n"
    assert find_labels(file("x.csv", table), IDS).tolist() == KINDS
    named = table.replace("id,", "file,")
    assert find_labels(file("y.csv", named), IDS, id_column="file").tolist() == KINDS


def test_ids_keep_their_zeros_when_joined(file):
    assert find_labels(file("x.tsv", "id\tk\n010\tb\n007\ta\n"), ["007", "010"]).tolist() == [
        "a", "b",
    ]  # fmt: skip


def test_of_several_columns_or_arrays_the_key_chooses(tmp_path, file):
    path = file("x.csv", "id,a,b\n1,x,p\n0,y,q\n")
    assert find_labels(path, ["0", "1"], key="b").tolist() == ["q", "p"]
    with pytest.raises(
        InputError, match="has the columns id, a, b; one column of labels is accepted"
    ):
        find_labels(path, ["0", "1"])
    np.savez(tmp_path / "x.npz", a=[1, 2], b=[3, 4])
    assert find_labels(str(tmp_path / "x.npz"), ["0", "1"], key="b").tolist() == ["3", "4"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", "a\nb\n", "gives 2 labels for 3 samples"),
        ("x.txt", "", "is empty"),
        ("x.csv", "id,k\nq,a\n", "any of the 3 samples: their ids are cats/1.png, .* file q"),
        ("x.csv", 'k\nNA\nNaN\n""\n', "x.csv.* gives no label for any of the 3 samples"),
        ("x.csv", "id,k\nq,a\nq,b\n", "more than one label for the same id"),
        ("x.csv", "id,k\n,a\nr,b\n", "'id' of the ids lacks 1 of 2"),
        ("x.csv", "id\nq\n", "has the columns id; one column of labels"),
        ("x.xyz", "what?", "has an unknown format; accepted are .txt"),
        ("x.npy", "what?", "x.npy cannot be read"),
    ],
)
def test_labels_that_do_not_fit_are_refused(file, name, content, message):
    with pytest.raises(InputError, match=message):
        find_labels(file(name, content), IDS)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.eye(3), r"labels of shape \(3, 3\)"),
        (np.full(3, np.nan), "x.npy.* gives no label for any of the 3 samples"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match=message):
        find_labels(str(tmp_path / "x.npy"), IDS)


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.txt", "a\n\nb\n", ["a", "", "b"]),
        ("x.txt", "\na\nb\n", ["", "a", "b"]),
        ("x.txt", "a\r\nb\r\n\r\n", ["a", "b", ""]),
        ("x.csv", "kind\na\n\nb\n", ["a", "", "b"]),
        ("x.csv", "kind\n7\nNA\n8\n", ["7", "", "8"]),
        ("x.csv", "kind\na\nNA\nb\n", ["a", "", "b"]),
        ("x.csv", "id,k\ncats/1.png,a\n", ["a", "", ""]),
        ("x.csv", "id,k\ncats/1.png,\ndogs/1.png,b\n", ["", "", "b"]),
    ],
)
def test_a_file_may_lack_some_labels(file, name, content, found):
    assert find_labels(file(name, content), IDS).tolist() == found


@pytest.mark.parametrize(
    ("array", "found"),
    [
        ([1.0, np.nan, 2.0], ["1.0", "", "2.0"]),
        (["a", "", "b"], ["a", "", "b"]),
        (["a", None, "b"], ["a", "", "b"]),
        (["a", np.nan, "b"], ["a", "", "b"]),
        (pd.Series([1, None, 2], dtype="Int64"), ["1", "", "2"]),
    ],
)
def test_an_array_may_lack_some_labels(array, found):
    assert open_samples(np.zeros((3, 2)), labels=array).labels.tolist() == found


def test_a_column_of_the_source_may_lack_some_labels(file):
    path = file("x.csv", "a,kind\n1,01\n2,\n3,NA\n")
    assert open_samples(path, labels="kind").labels.tolist() == ["01", "", ""]
    frame = pd.DataFrame({"a": [1, 2], "kind": ["p", None]})
    assert open_samples(frame, labels="kind").labels.tolist() == ["p", ""]
    with pytest.raises(InputError, match="'kind' gives no label for any of the 2 samples"):
        open_samples(frame.assign(kind=[None, None]), labels="kind")


def test_a_column_or_array_of_the_source(tmp_path, file):
    path = file("x.csv", "a,kind\n1,01\n2,1\n")
    assert find_labels("kind", ["0", "1"], source=path).tolist() == ["01", "1"]
    frame = pd.DataFrame({"a": [1, 2], "kind": ["p", "q"]})
    assert find_labels("kind", ["0", "1"], source=frame).tolist() == ["p", "q"]
    np.savez(tmp_path / "x.npz", X=np.eye(2), y=[5, 6], z=[1, 2])
    source = tmp_path / "x.npz"
    assert find_labels("y", ["0", "1"], source=source).tolist() == ["5", "6"]
    with pytest.raises(InputError, match=r"holds X \(2, 2\), y .*; there is no 'w'"):
        find_labels("w", ["0", "1"], source=source)


def test_a_file_comes_before_a_column(tmp_path, file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file("y.txt", "from\nfile\n")
    samples = open_samples(file("x.csv", "a,y.txt\n1,from\n2,column\n"), labels="y.txt")
    assert samples.labels.tolist() == ["from", "file"]


def test_labels_that_are_nowhere_are_refused(draw, tmp_path, grey):
    with pytest.raises(InputError, match="labels='kind': there is no such file"):
        find_labels("kind", IDS)
    draw("a/1.png", grey)
    with pytest.raises(
        InputError, match="labels='kind' is not a file; for images a file or 'folder'"
    ):
        open_samples(tmp_path, labels="kind")


@pytest.fixture
def images(draw, tmp_path, grey):
    """Three images, of which the second cannot be read."""
    draw("set/a/1.png", grey)
    (tmp_path / "set/a/2.png").write_text("text")
    draw("set/b/3.png", grey)
    return tmp_path / "set"


def test_images_take_labels_of_all_kinds(images, file):
    assert open_samples(images, labels="folder").labels.tolist() == ["a", "b"]
    joined = file("x.csv", "name,kind\nb/3.png,z\na/2.png,y\na/1.png,x\n")
    samples = open_samples(images, labels=joined, id_column="name")
    assert samples.labels.tolist() == ["x", "z"]


def test_labels_in_order_count_skipped_images_or_not(images, file):
    assert open_samples(images, labels=file("3.txt", "x\ny\nz")).labels.tolist() == ["x", "z"]
    assert open_samples(images, labels=file("2.txt", "x\nz")).labels.tolist() == ["x", "z"]
    with pytest.raises(InputError, match="gives 4 labels for 2 samples"):
        open_samples(images, labels=file("4.txt", "x\ny\nz\nw"))


def test_arrays_take_labels_by_key_or_file(tmp_path, file):
    np.savez(tmp_path / "x.npz", X=np.eye(2), Z=np.eye(2), y=[5, 6])
    assert open_samples(tmp_path / "x.npz", key="Z", labels="y").labels.tolist() == ["5", "6"]
    np.savez(tmp_path / "y.npz", y=[7, 8])
    samples = open_samples(tmp_path / "x.npz", key="Z", labels=str(tmp_path / "y.npz"))
    assert samples.labels.tolist() == ["7", "8"]
    path = file("y.txt", "p\nq")
    assert open_samples(np.eye(2), labels=path).labels.tolist() == ["p", "q"]


def test_labels_may_be_an_array():
    X = np.zeros((3, 2))
    assert open_samples(X, labels=np.array([2, 0, 1])).labels.tolist() == ["2", "0", "1"]
    with pytest.raises(InputError, match="2 labels for 3 samples"):
        open_samples(X, labels=["a", "b"])
