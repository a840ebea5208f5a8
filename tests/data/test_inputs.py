import subprocess
import sys

import numpy as np
import pytest

from infomeans.data import open as open_samples
from infomeans.data.schema import ArraySchema, ImageSchema, TableSchema
from infomeans.errors import InputError


@pytest.fixture
def table(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    return tmp_path / "x.csv"


@pytest.fixture
def folder(draw, tmp_path, grey):
    return draw("set/a/1.png", grey).parent.parent


def test_importing_the_readers_imports_nothing_heavy():
    code = (
        "import sys, infomeans.data\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'pandas', 'polars', 'h5py', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("folder", {"columns": ["a"]}),
        ("folder", {"impute": "median"}),
        ("folder", {"id_column": "a"}),
        ("folder", {"key": "a"}),
        ("table", {"image_size": 8}),
        ("table", {"fit": "pad"}),
        ("table", {"key": "a"}),
        ("array", {"image_size": 8}),
        ("array", {"id_column": "a"}),
    ],
)
def test_an_option_without_effect_is_refused(request, kind, options):
    source = np.eye(2) if kind == "array" else request.getfixturevalue(kind)
    [name] = options
    with pytest.raises(InputError, match=f"{name}=.* does not apply to"):
        open_samples(source, **options)


def test_what_a_model_was_fitted_with_cannot_be_chosen_again(table, folder):
    with pytest.raises(InputError, match="image_size=9 cannot be changed"):
        open_samples(folder, image_size=9, like=ImageSchema(8, 8, 1, "uint8"))
    with pytest.raises(InputError, match="fit='pad' cannot be changed"):
        open_samples(folder, fit="pad", like=ImageSchema(8, 8, 1, "uint8"))
    with pytest.raises(InputError, match="impute='median' cannot be changed"):
        open_samples(table, impute="median", like=TableSchema(("a",)))


@pytest.mark.parametrize(
    "recipe",
    [ArraySchema((8, 9)), ImageSchema(8, 9, 1, "uint8")],
)
def test_an_array_of_the_right_shape_suits_any_model(recipe):
    assert open_samples(np.zeros((3, 8, 9)), like=recipe).X.shape == (3, 8, 9)
    with pytest.raises(InputError, match=r"of shape \(9, 8\), but .* of shape \(8, 9\)"):
        open_samples(np.zeros((3, 9, 8)), like=recipe)


def test_an_array_suits_a_model_of_a_table():
    assert len(open_samples(np.zeros((3, 2)), like=TableSchema(("a", "b")))) == 3
    colour = ImageSchema(8, 9, 3, "uint8")
    assert len(open_samples(np.zeros((3, 8, 9, 3)), like=colour)) == 3


@pytest.mark.parametrize(
    ("kind", "recipe", "message"),
    [
        ("table", ImageSchema(8, 8, 1, "uint8"), "holds a table, but .* fitted with images"),
        ("table", ArraySchema((2,)), "holds a table, but .* fitted with an array"),
        ("folder", TableSchema(("a",)), "holds images, but .* fitted with a table"),
        ("folder", ArraySchema((8, 8)), "holds images, but .* fitted with an array"),
    ],
)
def test_input_of_another_kind_is_refused(request, kind, recipe, message):
    with pytest.raises(InputError, match=message):
        open_samples(request.getfixturevalue(kind), like=recipe)


def test_labels_may_have_an_id_column_or_key_of_their_own(folder, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("file,x,y\na/1.png,1,2\n")
    samples = open_samples(folder, labels=str(path), id_column="file", key="y")
    assert samples.labels.tolist() == ["2"]
