import gzip
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infomeans.data.delimited import read_delimited
from infomeans.data.tables import Table, read_table
from infomeans.errors import InputError


@pytest.fixture
def parse(tmp_path):
    def read(content, name="x.csv", text=()):
        raw = content if isinstance(content, bytes) else content.encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return read_delimited(path, text).to_pydict()

    return read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv.gz"])
def test_the_delimiter_is_found(parse, delimiter, ending, name):
    lines = [["a", "b c", "d"], ["1", "2.5", "x"], ["3", "-4e1", "y"]]
    content = ending.join(delimiter.join(line) for line in lines) + ending
    assert parse(content, name) == {"a": [1, 3], "b c": [2.5, -40.0], "d": ["x", "y"]}


def test_a_delimiter_within_quotes_does_not_count(parse):
    assert parse('"a;b;c",d\n1,2\n') == {"a;b;c": [1], "d": [2]}


def test_quoted_values_may_hold_anything(parse):
    table = parse("a,b\n" + '1,"x, ""y""\nz"\n' * 100_000)
    assert table == {"a": [1] * 100_000, "b": ['x, "y"\nz'] * 100_000}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_an_empty_line_is_a_missing_value_where_there_is_one_column(parse, ending):
    assert parse(ending.join(["a", "1", "", "2", "", ""])) == {"a": [1, None, 2]}
    assert parse(ending.join(["a,b", "1,2", "", "3,4", ""])) == {"a": [1, 3], "b": [2, 4]}


def test_a_decimal_comma_is_understood_between_semicolons(parse):
    assert parse("a;b\n1,5;2\n-0,25;3\n") == {"a": [1.5, -0.25], "b": [2, 3]}
    assert parse("a;b\n1.5;2\n-0.25;3\n") == {"a": [1.5, -0.25], "b": [2, 3]}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-32", "utf-16-le", "utf-16-be"]
)
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_encodings(parse, encoding, name):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    assert parse(f"{mark}ü,b\n1,é\n".encode(encoding), name) == {"ü": [1], "b": ["é"]}


def test_names_lose_white_space_around_them(parse):
    assert parse("\n a , b\n1, 2\n") == {"a": [1], "b": [2]}


def test_a_header_of_numbers_is_no_header(parse):
    assert parse("1,2.5\n3,4\n") == {"column 1": [1, 3], "column 2": [2.5, 4.0]}
    assert parse("1,5;2\n3;4\n") == {"column 1": [1.5, 3.0], "column 2": [2, 4]}


@pytest.mark.parametrize("first", ["1.5,,2", ",3,4", "NA,1,nan"])
def test_a_first_line_may_lack_numbers(parse, first):
    table = parse(f"{first}\n4,5,6\n")
    assert list(table) == ["column 1", "column 2", "column 3"]
    assert [len(column) for column in table.values()] == [2, 2, 2]


@pytest.mark.parametrize("header", [",0,1,2", "0,1,2"])
def test_columns_that_pandas_has_counted_have_a_header(parse, header):
    table = parse(f"{header}\n{'7,' * header.count(',')}7\n")
    assert list(table.items()) == [(name, [7]) for name in header.split(",")]


def test_columns_asked_for_as_text_keep_their_zeros(parse):
    assert parse("id, n\n007,008\n", text={"id", "n"}) == {"id": ["007"], "n": ["008"]}
    assert parse("007,1\n008,2\n", text={"column 1"}) == {
        "column 1": ["007", "008"],
        "column 2": [1, 2],
    }


def test_a_late_surprise_changes_the_whole_column(parse):
    column = parse("a,b\n" + "1,2\n" * 200_000 + "x,2.5\n")
    assert column["a"][0] == "1"
    assert column["b"][-1] == 2.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "x.csv is empty"),
        (" \n\n", "x.csv is empty"),
        ("a,b\n1\n", "Expected 2 columns, got 1"),
        ("a,b\n1,2,3\n", "Expected 2 columns, got 3"),
    ],
)
def test_what_is_no_table_is_refused(parse, content, message):
    with pytest.raises(InputError, match=message):
        parse(content)


def test_damaged_gzip_is_refused(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 99)[:30])
    with pytest.raises(InputError, match=r"x.csv.gz cannot be read: "):
        read_delimited(tmp_path / "x.csv.gz", ())


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_table_may_be_very_wide(parse, delimiter):
    n = 5_000
    lines = [[f"feature {i}" for i in range(n)], *[["0.1234567890123456"] * n] * 20]
    table = parse("\n".join(map(delimiter.join, lines)))
    assert len(table) == n
    assert table["feature 4999"] == [0.1234567890123456] * 20


def test_the_columns_of_a_wide_table_are_found_soon(tmp_path):
    names = [f"f{i}" for i in range(8_000)]
    (tmp_path / "x.csv").write_text("\n".join(map(",".join, (names, ["1.5"] * len(names)))))
    began = time.perf_counter()
    samples = read_table(Table.in_file(tmp_path / "x.csv"), columns=names)
    # It takes 1 s, and took minutes when every name was looked for in a new list of all of them.
    assert time.perf_counter() - began < 30
    assert samples.shape == (8_000,)


def test_lines_of_delimiters_alone_need_not_be_as_long(parse):
    assert parse("a;b;c\n1;2;3\n;;;;\n;\n") == {"a": [1], "b": [2], "c": [3]}
    with pytest.raises(InputError, match="Row #3: Expected 3 columns, got 2"):
        parse("a,b,c\n1,2,3\n4,5\n")


def test_lines_may_end_with_a_carriage_return_alone(parse):
    assert parse("a,b\r1,x\r2,y\r", text={"a"}) == {"a": ["1", "2"], "b": ["x", "y"]}


def read_or_refuse(folder, raw, name="x.csv"):
    """Read bytes as a table; only an InputError may be raised."""
    path = folder / name
    path.write_bytes(raw)
    try:
        read_table(Table.in_file(path))
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017


@given(raw=st.binary() | st.text("0123456789.,;\t|\r\n\"'aé-+eE NaN\0\ufeff").map(str.encode))
@example(raw=b"\xff\xfe\0")
@example(raw=b'"')
@example(raw=b",\n,\n")
def test_any_bytes_are_read_or_refused(raw, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    read_or_refuse(folder, raw)
    read_or_refuse(folder, gzip.compress(raw), "x.csv.gz")


@given(at=st.integers(0, 60), cut=st.integers(0, 9), put=st.binary(max_size=4))
def test_a_damaged_table_is_read_or_refused(at, cut, put, tmp_path_factory):
    for raw in ('a;b;c\n1,5;2;x\n3;4;"y\nz"\n'.encode("utf-16"), b"a,b\n1,2\n3,4\n5,6\n"):
        folder = tmp_path_factory.mktemp("damaged")
        read_or_refuse(folder, raw[:at] + put + raw[at + cut :])
