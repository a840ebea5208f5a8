import os
import socket
import stat
import sys

import pytest

from infomeans.errors import InputError
from infomeans.files import regular, write_atomic


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "labels.csv"
    path.write_text("old")

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr("infomeans.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["labels.csv"]


def test_a_file_has_the_rights_the_user_asks_for(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_atomic(tmp_path / "link.csv", "new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="no such files on Windows")
def test_only_regular_files_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.symlink("pipe", "link")
    os.symlink("/dev/zero", "zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    for name, kind in {"link": "pipe", "zero": "device", "socket": "socket", ".": "folder"}.items():
        with pytest.raises(InputError, match=f"is a {kind}; only regular files are read"):
            regular(tmp_path / name)
    (tmp_path / "file").touch()
    os.symlink("file", "good")
    assert regular(tmp_path / "good") == tmp_path / "good"
    with pytest.raises(FileNotFoundError):
        regular(tmp_path / "missing")
