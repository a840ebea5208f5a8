import os
import shutil
import sys

import pytest

from infomeans.data.listing import files_in, files_matching, images_listed_in
from infomeans.errors import InputError


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def ids(listing):
    return [name for _, name in listing]


def test_nested_images_come_in_the_order_of_their_relative_paths(tmp_path):
    touch(tmp_path, "b.png", "a/2.JPG", "a/10.tiff", "B.webp", "a/x/1.pgm", "a.gif")
    listing = files_in(tmp_path)
    assert ids(listing) == ["B.webp", "a.gif", "a/10.tiff", "a/2.JPG", "a/x/1.pgm", "b.png"]
    assert all(os.path.samefile(path, tmp_path / name) for path, name in listing)


def test_hidden_files_and_other_files_are_left_out(tmp_path):
    touch(tmp_path, "1.png", ".2.png", ".git/3.png", "notes.txt", "png", "4.png.bak")
    assert ids(files_in(tmp_path)) == ["1.png"]


def test_pictures_that_may_not_be_read_are_listed_all_the_same(tmp_path):
    names = ["1.HEIC", "2.avif", "3.CR2", "4.svg", "5.jfif"]
    touch(tmp_path, *names, "6.mov")
    assert ids(files_in(tmp_path)) == names
    assert ids(files_matching(f"{tmp_path}/*")) == names


not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="no such files on Windows")


@pytest.mark.parametrize(
    "name",
    [
        "a b.png",
        "a,b.png",
        "ä漢😀.png",
        pytest.param("a'\"b.png", marks=not_on_windows),
        pytest.param("a\nb.png", marks=not_on_windows),
    ],
)
def test_odd_names_are_ids_as_they_are(tmp_path, name):
    touch(tmp_path, name)
    assert ids(files_in(tmp_path)) == [name]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep names as Unicode")
def test_names_that_are_not_utf8_become_escapes(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9.png", "wb"):
        pass
    [(path, name)] = files_in(tmp_path)
    assert name == "caf\\xe9.png"
    assert os.path.exists(path)


def test_linked_folders_are_followed_but_not_in_circles(tmp_path):
    touch(tmp_path, "data/1.png", "elsewhere/2.png")
    (tmp_path / "data/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data/circle").symlink_to(tmp_path / "data")
    (tmp_path / "elsewhere/up").symlink_to(tmp_path / "data")
    left_out = []
    assert ids(files_in(tmp_path / "data", left_out)) == ["1.png", "link/2.png"]
    assert left_out == [(name, "a link to what is read already") for name in ("circle", "link/up")]


def test_folders_that_link_to_each_other_are_read_once(tmp_path):
    for folder in "abcde":
        touch(tmp_path, f"{folder}/{folder}.png")
        for other in set("abcde") - {folder}:
            (tmp_path / folder / f"to-{other}").symlink_to(tmp_path / other)
    for find in (files_in, lambda place, out: files_matching(f"{place}/**/*.png", out)):
        left_out = []
        assert ids(find(tmp_path, left_out)) == [f"{name}/{name}.png" for name in "abcde"]
        assert len(left_out) == 20


def test_a_file_is_read_once_and_hard_links_are_files(tmp_path):
    touch(tmp_path, "b/1.png", "elsewhere.png")
    (tmp_path / "b/a.png").symlink_to("1.png")
    (tmp_path / "b/x.png").symlink_to(tmp_path / "elsewhere.png")
    (tmp_path / "b/y.png").symlink_to(tmp_path / "elsewhere.png")
    os.link(tmp_path / "b/1.png", tmp_path / "b/2.png")
    for find in (files_in, lambda place, out: files_matching(f"{place}/*.png", out)):
        left_out = []
        assert ids(find(tmp_path / "b", left_out)) == ["1.png", "2.png", "x.png"]
        assert [name for name, _ in left_out] == ["a.png", "y.png"]


def test_the_folder_that_no_link_leads_to_gives_the_name(tmp_path):
    touch(tmp_path, "z/1.png")
    (tmp_path / "a").symlink_to("z")
    assert ids(files_in(tmp_path)) == ["z/1.png"]
    assert ids(files_matching(f"{tmp_path}/*/*.png")) == ["z/1.png"]


def test_a_link_to_itself_is_listed_like_a_broken_one(tmp_path):
    touch(tmp_path, "1.png")
    (tmp_path / "self.png").symlink_to("self.png")
    assert ids(files_in(tmp_path)) == ["1.png", "self.png"]


@not_on_windows
def test_a_broken_link_is_listed_and_a_pipe_is_not(tmp_path):
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere.png")
    os.mkfifo(tmp_path / "pipe.png")
    assert ids(files_in(tmp_path)) == ["gone.png"]


def test_a_folder_without_images_is_refused(tmp_path):
    touch(tmp_path, "notes.txt")
    with pytest.raises(InputError, match=r"holds no images; accepted are \.png, \.jpg"):
        files_in(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("set/*.png", ["1.png", "2.png"]),
        ("set/[1]*", ["1.png"]),
        ("set/**/*.png", ["1.png", "2.png", "deep/3.png"]),
        ("s?t/*/*.png", ["set/deep/3.png"]),
        ("**/deep/*.png", ["set/deep/3.png"]),
        ("set/**", ["1.png", "2.png", "deep/3.png"]),
        ("**/.hid*/**/*.png", ["set/.hidden/4.png"]),
    ],
)
def test_ids_of_a_pattern_start_after_its_fixed_part(tmp_path, monkeypatch, pattern, expected):
    touch(tmp_path, "set/1.png", "set/2.png", "set/deep/3.png", "set/1.txt", "set/.hidden/4.png")
    assert ids(files_matching(str(tmp_path / pattern))) == expected
    monkeypatch.chdir(tmp_path)
    listing = files_matching(pattern)
    assert ids(listing) == expected
    assert all(os.path.exists(path) for path, _ in listing)


def test_a_pattern_that_matches_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match="matches no image"):
        files_matching(str(tmp_path / "*.png"))


def test_a_list_names_images_relative_to_itself(tmp_path):
    touch(tmp_path, "a/1.png", "2.png")
    shutil.move(tmp_path / "2.png", tmp_path / "two words.png")
    file = tmp_path / "list.txt"
    file.write_text(f"\ufeff# mine\r\ntwo words.png\r\n\n  a/1.png\n{tmp_path}/a/1.png\nno.png")
    listing = images_listed_in(file)
    assert ids(listing) == ["two words.png", "a/1.png", f"{tmp_path}/a/1.png", "no.png"]
    assert [os.path.exists(path) for path, _ in listing] == [True, True, True, False]


def test_a_list_may_name_files_that_are_not_utf8(tmp_path):
    name = b"caf\xe9.png"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
        pass
    (tmp_path / "list.txt").write_bytes(name)
    [(path, text)] = images_listed_in(tmp_path / "list.txt")
    assert os.path.exists(path)
    assert text == "caf\\xe9.png"


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("# none\n", "lists no image")])
def test_a_list_of_nothing_is_refused(tmp_path, text, message):
    (tmp_path / "list.lst").write_text(text)
    with pytest.raises(InputError, match=message):
        images_listed_in(tmp_path / "list.lst")
