import gzip
import zipfile

import pytest

from infomeans.data.files import content, lines, printable, reading
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
