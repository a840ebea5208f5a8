import numpy as np
import pytest

from infomeans.runs import free_folder, write_atomic, write_run


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "labels.csv"
    path.write_text("old")

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr("infomeans.runs.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["labels.csv"]


def test_a_free_folder_is_found(tmp_path):
    name = str(tmp_path / "run")
    assert free_folder(name).name == "run"
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert free_folder(name).name == "run-3"


def test_labels_come_with_confidence_and_entropy(tmp_path):
    posteriors = np.array([[1.0, 0.0], [0.25, 0.75]])
    write_run(tmp_path, posteriors, [], {}, {})
    assert (tmp_path / "labels.csv").read_text().splitlines() == [
        "id,cluster,confidence,entropy",
        "0,0,1.000000,0.000000",
        "1,1,0.750000,0.562335",
    ]
