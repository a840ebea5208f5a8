import numpy as np
import onnxruntime
import pytest

from infomeans import DCN, DEC, MIADM, GraphBaseline, KMeansBaseline, SRKMeans
from infomeans.model.export import to_onnx

QUICK = {"init": "graph", "pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 2, "random_state": 0}


def run_onnx(path, X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["embedding", "posteriors"], {"samples": X.astype(np.float32)})


# The other methods have the posteriors of MI-ADM.
@pytest.mark.parametrize(
    ("cls", "network"),
    [
        *((cls, None) for cls in (SRKMeans, DEC, DCN)),
        *((MIADM, network) for network in ("auto", "residual")),
    ],
)
def test_the_graph_says_what_the_model_says(cls, network, blobs, tmp_path):
    X, _ = blobs
    model = cls(4, network=network, **QUICK).fit(X)
    to_onnx(model, tmp_path / "model.onnx")
    embedding, posteriors = run_onnx(tmp_path / "model.onnx", X)
    np.testing.assert_allclose(embedding, model.transform(X), atol=1e-4)
    np.testing.assert_allclose(posteriors, model.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize(("layout", "augment"), [("last", False), ("first", True)])
def test_colour_images_in_both_layouts(layout, augment, stripes, tmp_path):
    images, _ = stripes
    colour = np.stack([images, 1 - images, images**2], axis=3)
    X = {"last": colour, "first": np.moveaxis(colour, 3, 1)}[layout]
    model = MIADM(3, augment=augment, **QUICK).fit(X)
    to_onnx(model, tmp_path / "model.onnx")
    for n in (1, 120):
        embedding, posteriors = run_onnx(tmp_path / "model.onnx", X[:n])
        np.testing.assert_allclose(embedding, model.transform(X[:n]), atol=1e-4)
        np.testing.assert_allclose(posteriors, model.predict_proba(X[:n]), atol=1e-3)


def test_the_baseline_of_a_graph(stripes, tmp_path):
    images, _ = stripes
    model = GraphBaseline(3).fit(images)
    to_onnx(model, tmp_path / "model.onnx")
    _, posteriors = run_onnx(tmp_path / "model.onnx", images)
    np.testing.assert_allclose(posteriors, model.predict_proba(images), atol=1e-3)


def test_the_command_writes_the_file(tmp_path, stripes):
    from typer.testing import CliRunner

    from infomeans.cli import app

    images, _ = stripes
    model = KMeansBaseline(3, random_state=0).fit(images)
    model.save(tmp_path / "model")
    out = tmp_path / "model.onnx"
    arguments = ["export", str(tmp_path / "model"), "--format", "onnx", "--out", str(out)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    np.testing.assert_allclose(run_onnx(out, images)[1], model.predict_proba(images), atol=1e-3)
    assert CliRunner().invoke(app, arguments).exit_code == 2
    arguments[3] = "pdf"
    assert CliRunner().invoke(app, arguments).exit_code == 2
