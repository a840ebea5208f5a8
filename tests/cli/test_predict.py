import csv
import io

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from infomeans import Autoencoder, data, load
from infomeans.errors import InputError


def test_the_training_images_keep_their_clusters(infomeans, run, photos):
    result = infomeans("predict", run, photos)
    assert result.stdout == without_stability(run / "labels.csv")


def without_stability(path):
    """The text of a table of labels without stability, which new samples do not have."""
    lines = path.read_text().splitlines()
    assert lines[0].endswith(",stability,outlier")
    rows = (line.rsplit(",", 2) for line in lines)
    return "".join(f"{start},{outlier}\n" for start, _, outlier in rows)


def test_a_single_new_image(infomeans, run, photos, tmp_path):
    Image.open(next(photos.rglob("*.png"))).resize((40, 30)).convert("RGB").save(tmp_path / "n.jpg")
    (row,) = csv.DictReader(io.StringIO(infomeans("predict", run, tmp_path / "n.jpg").stdout))
    assert row["id"] == "n.jpg"
    assert row["cluster"] in ("0", "1", "2")


def test_an_array_of_the_same_shape(infomeans, run, stripes, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5, 9, 8), dtype=np.uint8))
    infomeans("predict", run, tmp_path / "x.npy", "--out", tmp_path / "labels.parquet")
    table = pq.read_table(tmp_path / "labels.parquet").to_pydict()
    assert table["id"] == list("01234")
    assert table["cluster"] == load(run).predict(np.zeros((5, 9, 8))).tolist()


def test_another_shape_is_refused(infomeans, run, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5, 10, 10)))
    out = tmp_path / "labels.csv"
    result = infomeans("predict", run, tmp_path / "x.npy", "--out", out, code=2)
    assert "(10, 10)" in result.stderr
    assert "(9, 8)" in result.stderr
    assert not out.exists()


def test_other_columns_are_refused(infomeans, table, tmp_path):
    infomeans("cluster", table, "-k", 2, "--method", "kmeans", "--out", tmp_path / "run")
    (tmp_path / "new.csv").write_text("a,b,c,d,e\n1,2,3,4,5\n")
    result = infomeans("predict", tmp_path / "run", tmp_path / "new.csv", code=2)
    assert "f" in result.stderr
    assert "kind" in result.stderr


def test_columns_are_found_by_name(infomeans, table, tmp_path):
    options = ["--method", "kmeans", "--columns", "a,b", "--id-column", "name"]
    infomeans("cluster", table, "-k", 2, *options, "--out", tmp_path / "run")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    lines = ["b,extra,name,a", *(f"{r['b']},x,{r['name']},{r['a']}" for r in rows)]
    (tmp_path / "new.csv").write_text("\n".join(lines))
    result = infomeans("predict", tmp_path / "run", tmp_path / "new.csv")
    assert result.stdout == (tmp_path / "run" / "labels.csv").read_text()


def test_what_is_no_run_is_refused(infomeans, photos, tmp_path):
    result = infomeans("predict", tmp_path, photos, code=2)
    assert "not a saved model or a run" in result.stderr


def test_a_file_is_not_overwritten_unasked(infomeans, run, photos, tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    infomeans("predict", run, photos, "--out", tmp_path / "labels.csv", code=2)
    assert (tmp_path / "labels.csv").read_text() == "mine"
    infomeans("predict", run, photos, "--out", tmp_path / "labels.csv", "--overwrite")
    assert (tmp_path / "labels.csv").read_text() == without_stability(run / "labels.csv")


def test_a_model_saved_from_python_predicts(infomeans, run, tmp_path):
    load(run).save(tmp_path / "model")
    np.save(tmp_path / "x.npy", np.zeros((2, 9, 8)))
    assert len(infomeans("predict", tmp_path / "model", tmp_path / "x.npy").stdout.split()) == 3


def test_input_is_read_from_python_as_the_run_read_it(run, photos, tmp_path):
    Image.open(next(photos.rglob("*.png"))).resize((40, 30)).convert("RGB").save(tmp_path / "n.jpg")
    assert data.open(tmp_path / "n.jpg", like=run).X.shape == (1, 9, 8)
    load(run).save(tmp_path / "model")
    with pytest.raises(InputError, match="an array"):
        data.open(tmp_path / "n.jpg", like=tmp_path / "model")
    with pytest.raises(InputError, match="not a saved model or a run"):
        data.open(tmp_path / "n.jpg", like=photos)


def test_a_model_without_clusters_is_refused(infomeans, stripes, photos, tmp_path):
    Autoencoder(4, epochs=1, random_state=0).fit(stripes[0]).save(tmp_path / "model")
    for command in (
        ["predict", tmp_path / "model", photos],
        ["export", tmp_path / "model", "--out", tmp_path / "m.onnx"],
    ):
        assert "is not a clusterer" in infomeans(*command, code=2).stderr
