import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infomeans.errors import InputError
from infomeans.naming import Names
from infomeans.runs import Labels, Run

IDS = ["a\rb.png", "=1+1.png", "-5", "'=x", 'plain, "quoted"', "two\nlines", "'s", ""]
NAMED = Names({0: "=cats", 1: "dogs\r"})


def labels_of(ids):
    posteriors = np.tile([[0.25, 0.75], [1.0, 0.0]], (len(ids), 1))[: len(ids)]
    return Labels.of(ids, posteriors, NAMED, stability=posteriors[:, 0])


@pytest.fixture
def written(tmp_path):
    """A table of odd ids, as text and as a file."""
    path = tmp_path / "labels.csv"
    labels_of(IDS).write(path)
    return path


def check(labels, ids=IDS):
    expected = labels_of(ids)
    assert list(labels.ids) == ids
    assert labels.names == expected.names
    assert labels.clusters.tolist() == expected.clusters.tolist()
    assert np.allclose(labels.confidences, expected.confidences)
    assert np.allclose(labels.entropies, expected.entropies, atol=1e-6)
    assert np.allclose(labels.stability, expected.stability)


def test_odd_ids_and_names_are_read_as_they_were(written):
    check(Labels.read(written))
    assert b"\r\n" not in written.read_bytes()


def test_a_spreadsheet_runs_nothing(written):
    with written.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["id"] for row in rows[:4]] == ["a\rb.png", "'=1+1.png", "-5", "''=x"]
    assert rows[1]["name"] == "'=cats"


def test_parquet_has_the_ids_as_they_are(tmp_path):
    labels_of(IDS).write(tmp_path / "labels.parquet")
    assert pq.read_table(tmp_path / "labels.parquet")["id"].to_pylist() == IDS


@given(ids=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=9))
def test_any_ids_are_read_as_they_were(ids, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "labels.csv"
    labels_of(ids).write(path)
    check(Labels.read(path), ids)


def test_half_a_character_becomes_an_escape(tmp_path):
    labels_of(["a\udcffb"]).write(tmp_path / "labels.csv")
    assert list(Labels.read(tmp_path / "labels.csv").ids) == ["a\\udcffb"]


def saved_again(path, delimiter=",", ending="\n", comma=False, encoding="utf-8", more=""):
    """Save the table as a spreadsheet does."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if comma:
        rows = [[row[0], *(cell.replace(".", ",") for cell in row[1:])] for row in rows]
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator=ending).writerows([header, *rows])
        file.write(more)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("delimiter", "comma"), [(",", False), (";", False), (";", True), ("\t", False), ("\t", True)]
)
@pytest.mark.parametrize("more", ["", "\r\n\r\n", "D" * 5 + "\r\n", "D" * 5 + "\r\nD\r\n\r\n"])
def test_what_a_spreadsheet_saved_is_read_as_it_was(written, delimiter, comma, encoding, more):
    more = more.replace("D", delimiter)
    saved_again(written, delimiter, "\r\n", comma, encoding, more)
    check(Labels.read(written))


@pytest.mark.parametrize("more", ["\n", ",,,,,\n", ",,,,,\n,,,,,\n\n", ",,\n"])
def test_empty_lines_at_the_end_do_not_count(written, more):
    with written.open("a", encoding="utf-8") as file:
        file.write(more)
    check(Labels.read(written))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("cluster", "group", r"labels\.csv lacks the column cluster; it has id, group, confidence"),
        ("stability", "entropy", r"labels\.csv has a column twice"),
        ("-5,1,", "-5,x,", r"labels\.csv: the column 'cluster' has 'x' in row 3; a whole number"),
        ("-5,1,", "-5,-1,", r"the column 'cluster' has '-1' in row 3"),
        ("-5,1,", "-5,,", r"the column 'cluster' has '' in row 3"),
        ("-5,1,0.750000,", "-5,1,?,", r"the column 'confidence' has '\?' in row 3; a number"),
        ("-5,1,0.750000,", "-5,1,", r"labels\.csv cannot be read: .*Row #4: Expected 6 columns"),
    ],
)
def test_what_is_damaged_is_named(written, before, after, message):
    text = written.read_bytes().decode()
    assert before in text
    written.write_bytes(text.replace(before, after, 1).encode())
    with pytest.raises(InputError, match=message):
        Labels.read(written)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\0\0\0", b"\xff\xfe", b"id", b"id\n1\n"])
def test_what_is_no_table_is_refused(tmp_path, content):
    (tmp_path / "labels.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"labels\.csv"):
        Labels.read(tmp_path / "labels.csv")


def test_rows_and_clusters_must_be_those_of_the_run(tmp_path):
    config = {"versions": {}, "arguments": {}, "data": {"n_samples": 2}}
    run = Run.create(tmp_path / "run", config)
    run.write_results(["a", "b"], np.eye(2), np.eye(2), {"sizes": [1, 1]})
    table = run.path / "labels.csv"
    text = table.read_text()
    table.write_text(text.replace("b,1", "b,2"))
    with pytest.raises(InputError, match="'cluster' has 2 in row 2; the run has clusters 0 to 1"):
        Run(run.path).labels  # noqa: B018
    table.write_text(text[: text.index("b,1")])
    with pytest.raises(InputError, match="has 1 rows, but the run has 2 samples"):
        Run(run.path).labels  # noqa: B018


def test_rows_that_were_sorted_are_noticed(tmp_path):
    config = {"versions": {}, "arguments": {"n_clusters": 3}, "data": {"n_samples": 30}}
    run = Run.create(tmp_path / "run", config)
    posteriors = np.eye(3)[np.arange(30) % 3]
    run.write_results([f"{i:02}" for i in range(30)], posteriors, posteriors, {"sizes": [10] * 3})
    run.rename(Names({0: "a"}, ((1, 2),), run=run.key))
    assert len(Run(run.path).labels.ids) == 30
    header, *rows = (run.path / "labels.csv").read_text().splitlines()
    rows.sort(key=lambda row: row.split(",")[1])
    (run.path / "labels.csv").write_text("\n".join([header, *rows, ""]))
    with pytest.raises(InputError, match="as if its rows had been sorted"):
        Run(run.path).labels  # noqa: B018
