"""Files that exceed the memory give the same samples as files that fit."""

import io
import json
import subprocess
import sys
import tarfile

import h5py
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from infomeans import MIADM, data
from infomeans.data import rows as rows_module
from infomeans.data.memory import Memory
from infomeans.data.rows import MappedRows
from infomeans.errors import InputError

SMALL = "4kB"
QUICK = {"init": "graph", "pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 1, "random_state": 0}


@pytest.fixture
def images(stripes):
    return (255 * np.clip(stripes[0], 0, 1)).astype(np.uint8)


@pytest.fixture
def folder(images, tmp_path):
    path = tmp_path / "png"
    path.mkdir()
    for i, image in enumerate(images):
        Image.fromarray(image).save(path / f"{i:03}.png")
    return path


def png(image):
    content = io.BytesIO()
    Image.fromarray(image).save(content, "png")
    return content.getvalue()


def write_tar(path, files):
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.fixture
def tars(images, stripes, tmp_path):
    path = tmp_path / "shards"
    path.mkdir()
    for shard in range(3):
        files = {}
        for i in range(40 * shard, 40 * shard + 40):
            files[f"{i:03}.png"] = png(images[i])
            files[f"{i:03}.cls"] = str(stripes[1][i]).encode()
        write_tar(path / f"{shard}.tar", files)
    return path


def write_hdf5(path, array, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, **options)
    return path


@pytest.fixture
def table(blobs):
    return pa.table({f"f{i}": column for i, column in enumerate(blobs[0].astype(np.float32).T)})


@pytest.fixture
def parts(table, tmp_path):
    path = tmp_path / "parts"
    path.mkdir()
    for i in range(4):
        parquet.write_table(table.slice(50 * i, 50), path / f"{i}.parquet", row_group_size=20)
    return path


def assert_same(found, expected):
    np.testing.assert_array_equal(found.X, expected)
    assert found.rows.dtype == expected.dtype
    some = np.array([7, 0, len(expected) - 1])
    np.testing.assert_array_equal(found.batch(some), expected[some])


def assert_stored(found):
    assert isinstance(found.rows, MappedRows)
    assert found.rows.held == 0


@pytest.mark.parametrize("memory", [None, SMALL])
def test_images_of_a_folder_and_of_archives_are_those_of_the_array(images, folder, tars, memory):
    one, other = data.open(folder, memory=memory), data.open(tars, memory=memory)
    for found in (one, other):
        assert_same(found, images)
        assert isinstance(found.rows, MappedRows) == bool(memory)
    assert one.fingerprint == data.open(folder).fingerprint
    assert other.fingerprint == data.open(tars).fingerprint


def test_all_formats_give_the_same_clusters_as_the_array(images, folder, tars, tmp_path):
    np.save(tmp_path / "x.npy", images)
    write_hdf5(tmp_path / "x.h5", images)
    plain = MIADM(3, **QUICK).fit(images)
    for source in (folder, tars, tmp_path / "x.npy", tmp_path / "x.h5"):
        model = MIADM(3, **QUICK).fit(data.open(source, memory="1GB"))
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        np.testing.assert_array_equal(model.predict_proba(images), plain.predict_proba(images))


def test_a_fit_from_files_with_little_memory_finds_the_same_clusters(
    images, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(rows_module, "BLOCK", 8)
    plain = MIADM(3, **QUICK).fit(images)
    small = data.open(folder, memory=6_000)
    assert_stored(small)
    windows = []
    build = rows_module.Rows.window
    monkeypatch.setattr(
        rows_module.Rows, "window", lambda *a: windows.append(build(*a)) or windows[-1]
    )
    model = MIADM(3, **QUICK).fit(small)
    assert len(windows) == 1
    assert windows[0].size < len(images)
    assert windows[0].size * 72 <= 3_000
    # Once in every epoch, and once to look for outliers.
    assert windows[0].reads <= (len(model.history_) + 1) * windows[0].n_blocks
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    again = MIADM(3, **QUICK).fit(data.open(folder, memory=6_000))
    np.testing.assert_array_equal(again.predict_proba(images), model.predict_proba(images))


def test_images_are_decoded_once_for_all_epochs(folder, monkeypatch):
    from infomeans.data import decoding

    decoded, decode = [], decoding._plain
    monkeypatch.setattr(decoding, "_plain", lambda *a: decoded.append(1) or decode(*a))
    monkeypatch.setattr(rows_module, "BLOCK", 8)
    found = data.open(folder, memory=6_000)
    MIADM(3, **QUICK).fit(found)
    assert len(decoded) == len(found) == 120


def test_images_of_several_sizes_and_modes_are_stored_as_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "mixed"
    folder.mkdir()
    for i in range(20):
        shape = [(12, 10), (20, 16, 3), (140, 150)][i % 3]
        Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(folder / f"{i}.png")
    (folder / "damaged.png").write_bytes(b"no image")
    small, large = data.open(folder, memory=SMALL), data.open(folder)
    assert_stored(small)
    assert_same(small, large.X)
    assert small.skipped == large.skipped
    assert small.fingerprint == large.fingerprint


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "u1"])
def test_npy_stays_in_its_file_if_it_does_not_fit(images, tmp_path, order, dtype):
    np.save(tmp_path / "x.npy", np.asarray(images.astype(dtype), order=order))
    small, large = (data.open(tmp_path / "x.npy", memory=memory) for memory in (SMALL, None))
    assert_stored(small)
    assert not isinstance(large.rows, MappedRows)
    assert_same(small, large.X)
    assert small.fingerprint == large.fingerprint


@pytest.mark.parametrize(
    "options", [{}, {"chunks": (7, 9, 8)}, {"chunks": (16, 9, 8), "compression": "gzip"}]
)
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "u1"])
def test_hdf5_stays_in_a_file_if_it_does_not_fit(images, tmp_path, options, dtype):
    path = write_hdf5(tmp_path / "x.h5", images.astype(dtype), **options)
    small, large = data.open(path, memory=SMALL), data.open(path)
    assert_stored(small)
    assert not isinstance(large.rows, MappedRows)
    assert_same(small, large.X)
    assert small.fingerprint == large.fingerprint


@pytest.mark.parametrize("memory", [None, SMALL])
def test_parquet_in_parts_is_the_whole_table(table, parts, tmp_path, blobs, memory):
    parquet.write_table(table, tmp_path / "x.parquet")
    expected = blobs[0].astype(np.float32)
    pattern = f"{parts}/*.parquet"
    for source in (tmp_path / "x.parquet", parts, pattern):
        found = data.open(source, memory=memory)
        assert isinstance(found.rows, MappedRows) == bool(memory)
        assert_same(found, expected)
        assert found.names == table.column_names
        assert found.fingerprint == data.open(tmp_path / "x.parquet").fingerprint


def test_a_table_in_files_has_ids_labels_medians_and_ignored_columns(tmp_path):
    n = 300
    values = [None if i % 7 == 0 else i for i in range(n)]
    table = pa.table(
        {
            "name": [f"n{i}" for i in range(n)],
            "kind": [str(i % 3) for i in range(n)],
            "a": pa.array(values, pa.int16()),
            "b": pa.array(np.linspace(0, 1, n)),
            "empty": pa.array([None] * n, pa.float32()),
            "text": ["x"] * n,
        }
    )
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=40)
    how = {"id_column": "name", "labels": "kind", "impute": "median"}
    small, large = (data.open(tmp_path / "x.parquet", memory=m, **how) for m in (SMALL, None))
    assert_stored(small)
    assert_same(small, large.X)
    assert small.schema == large.schema
    assert small.ids == large.ids
    assert small.ignored == large.ignored
    np.testing.assert_array_equal(small.labels, large.labels)
    with pytest.raises(InputError, match=r"missing or infinite values in a \(43\)"):
        data.open(tmp_path / "x.parquet", memory=SMALL, id_column="name", labels="kind")


def test_files_with_other_columns_are_named(table, parts):
    parquet.write_table(table.drop_columns(["f1"]), parts / "9.parquet")
    with pytest.raises(InputError, match=r"9\.parquet and .*0\.parquet have different columns: f1"):
        data.open(parts)


def test_a_damaged_row_group_is_named_with_its_row(table, tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(table, path, row_group_size=100, use_dictionary=False, compression="gzip")
    start = parquet.read_metadata(path).row_group(1).column(0).data_page_offset
    raw = bytearray(path.read_bytes())
    raw[start : start + 200] = b"\xff" * 200
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"x\.parquet (from row|cannot be read)"):
        data.open(path, memory=SMALL)


def test_a_damaged_chunk_is_named_with_its_rows(images, tmp_path):
    path = write_hdf5(tmp_path / "x.h5", images, chunks=(40, 9, 8), fletcher32=True)
    with h5py.File(path) as file:
        place = file["x"].id.get_chunk_info(1).byte_offset
    raw = bytearray(path.read_bytes())
    raw[place : place + 100] = b"\xff" * 100
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"x\.h5, rows 0 to 119, cannot be read"):
        data.open(path, memory=SMALL)


def test_labels_of_archives_are_for_scoring(tars, stripes, tmp_path, images):
    found = data.open(tars)
    assert found.labels.tolist() == stripes[1].astype(str).tolist()
    assert found.ids[0] == "0/000"
    one = data.open(tars / "1.tar")
    assert one.ids[:2] == ["040", "041"]
    assert len(data.open(f"{tars}/[01].tar")) == 80
    files = {}
    for i in range(8):
        files[f"a/{i}.png"] = png(images[i])
        files[f"a/{i}.json"] = json.dumps({"label": i % 2, "n": i}).encode()
    write_tar(tmp_path / "j.tar", files)
    assert data.open(tmp_path / "j.tar").labels.tolist() == list("01010101")
    captions = {k.replace("json", "txt"): v for k, v in files.items()}
    write_tar(tmp_path / "t.tar", captions)
    assert data.open(tmp_path / "t.tar").labels is None


def test_other_labels_take_the_place_of_those_in_the_archives(tars, tmp_path):
    (tmp_path / "labels.txt").write_text("\n".join(["x", "y"] * 60))
    found = data.open(tars, labels=str(tmp_path / "labels.txt"))
    assert set(found.labels) == {"x", "y"}


def test_archives_with_damage_are_named(tars, images, tmp_path):
    broken = tars / "1.tar"
    broken.write_bytes(broken.read_bytes()[:20_000])
    with pytest.raises(InputError, match=r"1\.tar cannot be read after '1/\d+', its sample \d+"):
        data.open(tars)
    (tmp_path / "no.tar").write_bytes(b"x" * 2000)
    with pytest.raises(InputError, match=r"no\.tar cannot be read: .*not compressed is accepted"):
        data.open(tmp_path / "no.tar")
    write_tar(tmp_path / "two.tar", {"1.png": png(images[0]), "1.seg.png": png(images[1])})
    with pytest.raises(InputError, match=r"'1' has two images, 1\.png and 1\.seg\.png"):
        data.open(tmp_path / "two.tar")
    write_tar(tmp_path / "none.tar", {"1.cls": b"3"})
    with pytest.raises(InputError, match=r"none\.tar holds no images"):
        data.open(tmp_path / "none.tar")


def test_a_sample_without_a_picture_is_left_out(images, tmp_path):
    files = {f"{i}.png": png(images[i]) for i in range(9)}
    write_tar(tmp_path / "x.tar", {**files, "9.cls": b"3", "10.png": b"damaged"})
    found = data.open(tmp_path / "x.tar")
    assert found.skipped == [("9", "no image among its files"), ("10", "not an image")]
    assert_same(found, images[:9])


def test_input_that_is_not_read_in_parts_must_fit(images, tmp_path):
    np.savez(tmp_path / "x.npz", x=images)
    with pytest.raises(InputError, match=r"x\.npz, which is not read in parts, needs 8\.4 KiB"):
        data.open(tmp_path / "x.npz", memory=SMALL)
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 3000)
    with pytest.raises(InputError, match=r"x\.csv, which is not read in parts as \.parquet"):
        data.open(tmp_path / "x.csv", memory=SMALL)


def test_a_disk_that_is_full_says_how_much_the_images_need(folder, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("", (), {"free": 5000})())
    with pytest.raises(OSError, match=r"8\.4 KiB are needed, 4\.9 KiB are free"):
        data.open(folder, memory=SMALL)


def test_nothing_is_left_on_disk(folder, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    found = data.open(folder, memory=Memory(4000, place))
    assert_stored(found)
    assert list(place.iterdir()) == []
    assert found.X.sum() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_memory_of_a_process_is_bounded(tmp_path):
    """Fingerprint, checks, an order and its batches of 100 MB hold a part of it."""
    path = tmp_path / "x.npy"
    array = np.lib.format.open_memmap(path, "w+", np.float32, (400_000, 64))
    for first in range(0, len(array), 100_000):
        array[first : first + 100_000] = first
    array.flush()
    del array
    program = """
import sys, torch, numpy as np
from infomeans import data
from infomeans.data.rows import LazyFeed
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(x for x in lines if x.startswith("VmHWM")).split()[1]) / 1024
found = data.open(sys.argv[1], memory=sys.argv[2])
prepare = lambda samples: torch.tensor(np.asarray(samples))
prepare(found.batch([0]))
before = peak()
found.fingerprint
feed = found.feed(prepare)
assert isinstance(feed, LazyFeed)
for index in feed.order()[:200_000].split(1000):
    feed.batch(index)
for block in feed.blocks():
    pass
print(peak() - before)
"""
    limit = 20
    run = [sys.executable, "-c", program, str(path), f"{limit}MiB"]
    used = float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    # The order itself takes 8 bytes per sample, several times over.
    assert used < limit + 30
