import errno

import pytest

from infomeans.data.memory import Memory, free_memory, shown
from infomeans.errors import InputError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1GiB", 2**30),
        ("500MB", 500_000_000),
        ("1.5 gib", 3 * 2**29),
        ("64k", 65_536),
        ("4096", 4096),
        (4096, 4096),
    ],
)
def test_sizes_have_the_usual_units(text, size):
    assert Memory.of(text).size == size


@pytest.mark.parametrize("text", ["", "much", "1 XB", "-1GB", "0", "1,5GB", "0.1b", True])
def test_anything_else_is_refused_in_one_line(text):
    with pytest.raises(InputError, match=r"such as 500MB or 1\.5GiB, is accepted") as error:
        Memory.of(text)
    assert len(error.value.problems) == 1
    assert repr(text) in str(error.value)


def test_by_default_it_is_half_of_what_is_free():
    assert Memory.of(None).limit is None
    assert 0.2 * free_memory() < Memory().size < 0.8 * free_memory()


def test_the_parts_of_a_mapped_file_are_left_to_the_system_without_a_limit():
    assert Memory().mapped is None
    assert Memory.of("80MB").mapped == 10_000_000
    assert Memory.of("80GB").mapped == 2**26


@pytest.mark.parametrize(
    ("size", "text"), [(17, "17 bytes"), (2048, "2.0 KiB"), (3 * 2**29, "1.5 GiB")]
)
def test_sizes_are_shown_for_people(size, text):
    assert shown(size) == text


def test_a_full_disk_says_how_much_is_needed(tmp_path, monkeypatch):
    memory = Memory(1000, tmp_path)
    memory.check_disk(1)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("", (), {"free": 2**20})())
    with pytest.raises(OSError, match=r"3\.0 GiB are needed, 1\.0 MiB are free") as error:
        memory.check_disk(3 * 2**30)
    assert error.value.errno == errno.ENOSPC
    assert error.value.filename == str(tmp_path)
