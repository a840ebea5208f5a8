import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from infomeans.data import open as open_samples
from infomeans.data.schema import Schema, TableSchema
from infomeans.errors import InputError


@pytest.fixture
def csv(tmp_path):
    def write(content, name="x.csv"):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write


def test_numeric_columns_are_features_and_the_others_are_named(csv):
    path = csv("a,name,b,day,none\n1,x,2.5,2024-01-01,\n3,y,4,2024-01-02,\n")
    samples = open_samples(path)
    np.testing.assert_array_equal(samples.X, [[1, 2.5], [3, 4]])
    assert samples.names == ["a", "b"]
    assert samples.ids == ["0", "1"]
    assert samples.ignored == [("name", "text"), ("day", "date32[day]"), ("none", "empty")]
    assert samples.schema == TableSchema(("a", "b"))


def test_parquet_of_all_numeric_types(tmp_path):
    table = pa.table(
        {
            "int": pa.array([1, -2], pa.int8()),
            "big": pa.array([1, 2], pa.uint64()),
            "half": pa.array(np.array([1, 2], np.float16)),
            "yes": [True, False],
            "money": [decimal.Decimal("1.25"), decimal.Decimal("2.50")],
            "when": [datetime.datetime(2024, 1, 1)] * 2,
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "vector": [[1.0], [2.0]],
        }
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    samples = open_samples(tmp_path / "x.parquet")
    assert samples.names == ["int", "big", "half", "yes", "money"]
    np.testing.assert_array_equal(samples.X, [[1, 1, 1, 1, 1.25], [-2, 2, 2, 0, 2.5]])
    assert [name for name, _ in samples.ignored] == ["when", "kind", "vector"]
    assert dict(samples.ignored)["kind"] == "text"


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("float32", np.float32), ("int16", np.float32), ("int32", float), ("float64", float)],
)
def test_single_precision_is_enough_for_what_it_holds_exactly(tmp_path, kind, dtype):
    parquet.write_table(pa.table({"a": pa.array([1, 2]).cast(kind)}), tmp_path / "x.parquet")
    assert open_samples(tmp_path / "x.parquet").X.dtype == dtype


def test_columns_are_taken_in_the_order_given(csv):
    samples = open_samples(csv("a,b,c,d\n1,2,3,x\n4,5,6,y\n"), columns=["c", "a"])
    np.testing.assert_array_equal(samples.X, [[3, 1], [6, 4]])
    assert samples.names == ["c", "a"]


def test_an_id_column_gives_the_ids_as_they_stand_and_is_no_feature(csv):
    samples = open_samples(csv("n,a\n007,1\n010,2\n"), id_column="n")
    assert samples.ids == ["007", "010"]
    assert samples.names == ["a"]
    assert samples.schema.id_column == "n"


def test_a_column_without_a_name_is_no_feature(csv):
    samples = open_samples(csv(",a\n0,5\n1,6\n"))
    assert samples.names == ["a"]
    assert samples.ignored == [("column 1", "no name")]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            "a,b\n1,2\n",
            {"columns": ["a", "z"]},
            "lacks columns that --columns needs: z; it has .* a, b",
        ),
        ("a,b\n1,x\n", {"columns": ["b"]}, r"columns that are not numeric: b \(text\)"),
        ("a,b\n1,\n", {"columns": ["b"]}, r"columns that are not numeric: b \(empty\)"),
        ("a,b\n1,2\n", {"columns": ["a"], "id_column": "a"}, "a, which holds the ids"),
        ("a,b\n1,2\n", {"columns": ["a"], "labels": "a"}, "a, which holds the ids or the labels"),
        ("a,b\n1,2\n", {"id_column": "z"}, "no column 'z' for the ids, but a, b"),
        ("a,b\n1,2\n1,3\n", {"id_column": "a"}, "the id '1' occurs 2 times"),
        ("a,b\n1,2\n,3\n", {"id_column": "a"}, "'a' of the ids lacks 1 of 2 values"),
        ("a,b\n1,2\n", {"labels": "z"}, "no column 'z' for the labels, but a, b; a file or 'fold"),
        ("a,b,a\n1,2,3\n", {}, "more than one column named a"),
        ("a,b\n", {}, "has no rows"),
        ("a,b\nx,y\n", {}, r"no numeric column .* a \(text\), b \(text\)"),
        ("a,b\n1,2\n", {"labels": "a", "id_column": "b"}, r"no numeric .* b \(ids or labels\)"),
        ("a,b\n1,2\n", {"impute": "mean"}, "impute='mean' is unknown; 'median' is accepted"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(csv, content, options, message):
    with pytest.raises(InputError, match=message) as caught:
        open_samples(csv(content), **options)
    assert "\n" not in str(caught.value)


MISSING = "a,b,c,d,e\n1,,inf,NA,1\n2,5,1,,1\n6,7,2,,\n"


def test_missing_and_infinite_values_are_refused_by_column(csv):
    with pytest.raises(InputError, match=r"values in b \(1\), c \(1\), e \(1\); .*--impute median"):
        open_samples(csv(MISSING))


def test_many_columns_with_missing_values_are_not_all_named(csv):
    names = [f"n{i}" for i in range(9)]
    path = csv(f"a,{','.join(names)}\n1,{','.join('1' * 9)}\n2{',' * 9}\n")
    with pytest.raises(InputError, match=r"n0 \(1\), n1 \(1\), n2 \(1\) and 6 more;"):
        open_samples(path)


def test_medians_of_the_present_values_take_their_place(csv):
    samples = open_samples(csv(MISSING), impute="median")
    assert samples.names == ["a", "b", "c", "e"]
    np.testing.assert_array_equal(samples.X, [[1, 6, 1.5, 1], [2, 5, 1, 1], [6, 7, 2, 1]])
    assert samples.schema.medians == (2.0, 6.0, 1.5, 1.0)
    assert samples.ignored == [("d", "empty")]


def test_a_column_of_labels_is_no_feature(csv):
    samples = open_samples(csv("a,kind,b\n1,01,2\n3,2,4\n"), labels="kind")
    assert samples.names == ["a", "b"]
    assert samples.labels.tolist() == ["01", "2"]


def like(samples):
    return Schema.from_json(samples.schema.to_json())


def test_a_new_table_is_read_like_the_old_one(csv):
    old = open_samples(csv("n,b,a\nx,,1\ny,2,3\nz,4,4\n"), id_column="n", impute="median")
    new = open_samples(csv("a,extra,b,n\n,t,7,p\n8,t,,q\n", "new.csv"), like=like(old))
    np.testing.assert_array_equal(new.X, [[7, 3], [3, 8]])
    assert new.ids == ["p", "q"]
    assert new.names == ["b", "a"]
    without_ids = open_samples(csv("a,b\n1,\n", "less.csv"), like=like(old))
    np.testing.assert_array_equal(without_ids.X, [[3, 1]])
    assert without_ids.ids == ["0"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\n1\n", "lacks columns that the model needs: b; it has the columns a"),
        ("a,b\n1,x\n", r"the model names columns that are not numeric: b \(text\)"),
        (
            "a,b\n1,\n2,3\n",
            r"missing or infinite values in b \(1\); .*trained without",
        ),
    ],
)
def test_a_new_table_that_does_not_suit_the_old_one_is_refused(csv, content, message):
    old = open_samples(csv("a,b\n1,2\n"))
    with pytest.raises(InputError, match=message):
        open_samples(csv(content, "new.csv"), like=like(old))


def test_frames_of_pandas_have_their_index_as_ids():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [0.5, 1.5]}, index=["p", "q"])
    samples = open_samples(frame)
    np.testing.assert_array_equal(samples.X, [[1, 0.5], [2, 1.5]])
    assert samples.ids == ["p", "q"]
    assert samples.ignored == [("b", "text")]
    assert samples.source == "DataFrame"
    assert open_samples(frame.reset_index(drop=True)).ids == ["0", "1"]
    assert open_samples(frame[["a"]].iloc[1:].rename_axis("a b")).ids == ["q"]


def test_an_index_of_several_levels_is_neither_ids_nor_features():
    index = pd.MultiIndex.from_tuples([(1, 2), (1, 3)], names=["m", "n"])
    samples = open_samples(pd.DataFrame({"a": [5, 6]}, index=index))
    assert samples.names == ["a"]
    assert samples.ids == ["0", "1"]


def test_parquet_written_by_pandas_keeps_its_index(tmp_path):
    pd.DataFrame({"a": [1, 2]}, index=[10, 20]).to_parquet(tmp_path / "x.parquet")
    samples = open_samples(tmp_path / "x.parquet")
    assert samples.ids == ["10", "20"]
    assert samples.names == ["a"]


def test_frames_of_polars():
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [None, 1.5]})
    samples = open_samples(frame, impute="median", id_column="b")
    np.testing.assert_array_equal(samples.X, [[1, 1.5], [2, 1.5]])
    assert samples.ids == ["x", "y"]
    assert open_samples(frame, columns=["a"], labels="b").labels.tolist() == ["x", "y"]


def test_a_frame_that_cannot_be_converted_is_refused():
    with pytest.raises(InputError, match="DataFrame cannot be read"):
        open_samples(pd.DataFrame({"a": [1, "x"]}))


@pytest.mark.parametrize("content", [b"", b"PAR1 garbage PAR1"])
def test_damaged_parquet_is_refused(tmp_path, content):
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"x.parquet cannot be read: "):
        open_samples(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("name", "values", "likely"),
    [
        ("id", [17, 4, 99, 5], True),
        ("customer_id", [17, 4, 99, 5], True),
        ("n", [3, 1, 2, 4], True),
        ("n", [17, 4, 99, 5], False),
        ("id", [17, 4, 17, 5], False),
        ("id", [0.5, 4, 17, 5], False),
        ("paid", [17, 4, 99, 5], False),
    ],
)
def test_features_that_look_like_ids_are_known(csv, name, values, likely):
    rows = "\n".join(f"{value},{number % 2}.5" for number, value in enumerate(values))
    samples = open_samples(csv(f"{name},b\n{rows}\n"))
    assert samples.likely_ids() == [name] * likely
