import gzip
import zipfile

import pytest

from infomeans.data.files import content, lines, printable, reading
from infomeans.data.memory import Memory
from infomeans.errors import InputError


@pytest.mark.parametrize("error", [PermissionError(13, "no"), FileNotFoundError(2, "no")])
def test_what_the_operating_system_refuses_passes(error):
    with pytest.raises(type(error)), reading("x.csv"):
        raise error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (zipfile.BadZipFile("File is not\na zip file"), "x.npz cannot be read: File is not$"),
        (EOFError(), "x.npz cannot be read: EOFError$"),
        (OSError(22, "Invalid argument"), "x.npz cannot be read: .*Invalid argument$"),
        (InputError("as it is"), "^as it is$"),
    ],
)
def test_whatever_else_is_raised_is_the_inputs_fault(error, message):
    with pytest.raises(InputError, match=message), reading("x.npz"):
        raise error


def test_content_is_unzipped(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(b"text"))
    assert content(tmp_path / "x") == b"text"


def test_lines_end_in_every_way_and_the_last_blank_ones_do_not_count(tmp_path):
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbf a \r\n\nb\xff\n\n\n")
    assert [printable(line) for line in lines(tmp_path / "x")] == ["a", "", "b\\xff"]


def test_what_gets_too_large_when_it_is_unpacked_is_refused(tmp_path):
    bomb = tmp_path / "x.csv.gz"
    bomb.write_bytes(gzip.compress(bytes(2**22)))
    assert len(content(bomb, Memory(2**25))) == 2**22
    message = (
        r"x\.csv\.gz, 4\.0 KiB, unpacks to 4\.0 MiB or more; 128\.0 KiB are allowed, by the memory"
    )
    with pytest.raises(InputError, match=message):
        content(bomb, Memory(2**20))
    # The size at the end is only that of the last part.
    bomb.write_bytes(gzip.compress(bytes(2**22)) + gzip.compress(b"x"))
    with pytest.raises(InputError, match=r"unpacks to 1\.0 MiB or more"):
        content(bomb, Memory(2**20))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_lines_of_other_encodings(tmp_path, encoding):
    (tmp_path / "x").write_bytes("ä\n漢".encode(encoding))
    assert lines(tmp_path / "x") == ["ä", "漢"]


@pytest.mark.parametrize("raw", [b"\xff\xfea", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\xff"])
def test_damaged_text_is_refused(tmp_path, raw):
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(InputError, match="x cannot be read"):
        lines(tmp_path / "x")
