"""Names that mean no good: to the terminal, to a spreadsheet, and to the files of a run."""

import csv
import json
import unicodedata

import pytest

from infomeans.runs import Run

EVIL = "\x1b[2J\x1b]0;owned\x07\u202ex\x9b"
IDS = [f"={EVIL}", "-1+1", "@x", "a\rb", "'=quoted", "two\nlines"]


def check(text):
    """Nothing but text and line ends."""
    assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf")} <= {"\n"}


@pytest.fixture
def made(infomeans, blobs, tmp_path):
    """A run on a table with such ids and columns, and its classes."""
    X, classes = blobs
    names = [IDS[i] if i < len(IDS) else f"{i} {IDS[i % len(IDS)]}" for i in range(len(X))]
    rows = [[name, *x, k] for name, x, k in zip(names, X, classes, strict=True)]
    with (tmp_path / f"t{EVIL}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["name", *(f"{EVIL}{i}" for i in range(6)), f"kind {EVIL}"], *rows])
    options = ("--id-column", "name", "--labels", f"kind {EVIL}", "-k", 4, "--method", "kmeans")
    said = infomeans("cluster", file.name, *options, "--out", tmp_path / "run")
    check(said.output)
    assert r"\x1b[2J\x1b]0;owned\x07\u202ex\x9b" in said.output
    return tmp_path / "run", names


def test_the_terminal_shows_control_characters_as_escapes(infomeans, made, tmp_path):
    run, ids = made
    assert list(Run(run).labels.ids) == ids
    (tmp_path / "names.json").write_text(json.dumps({"names": {"0": EVIL, "1": "=1+1"}}))
    check(infomeans("relabel", run, tmp_path / "names.json").output)
    assert list(Run(run).labels.ids) == ids
    assert {EVIL, "=1+1"} < set(Run(run).labels.names)
    said = infomeans("show", run).output
    check(said)
    assert r"\x1b[2J" in said
    check(infomeans("evaluate", run, "--labels", f"kind {EVIL}").output)
    (run / "labels.csv").write_text(f"id,{EVIL}\n1,2\n")
    said = infomeans("show", run, code=2).output
    check(said)
    assert "lacks the column cluster" in said


def test_a_table_that_a_spreadsheet_saved_serves_all_commands(infomeans, made, tmp_path):
    run, ids = made
    (tmp_path / "names.json").write_text(json.dumps({"names": {"0": "=cats"}, "merge": [[1, 2]]}))
    infomeans("relabel", run, tmp_path / "names.json")
    before = {name: infomeans(name, *rest).output for name, *rest in commands(run)}
    with (run / "labels.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    rows = [[row[0], *(cell.replace(".", ",") for cell in row[1:])] for row in rows]
    with (run / "labels.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows([header, *rows, [""] * len(header)])
    assert {name: infomeans(name, *rest).output for name, *rest in commands(run)} == before
    infomeans("relabel", run, tmp_path / "names.json")
    assert list(Run(run).labels.ids) == ids
    assert (run / "labels.csv").read_text().startswith("id,cluster")


def commands(run):
    return [("show", run), ("evaluate", run, "--labels", f"kind {EVIL}")]


def test_the_labels_of_another_run_are_found_by_its_ids(infomeans, made):
    run, _ = made
    said = infomeans("evaluate", run, "--labels", run / "labels.csv", "--key", "cluster").output
    assert "accuracy  1.0000" in said
    assert "scored" not in said
