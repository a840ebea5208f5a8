import json

import numpy as np

from infomeans.metrics import accuracy
from infomeans.runs import Run


def test_labels_with_gaps_score_the_samples_that_have_one(infomeans, blobs, tmp_path):
    X, kinds = blobs
    np.save(tmp_path / "x.npy", X)
    few = [str(kind) if at % 2 else "" for at, kind in enumerate(kinds)]
    (tmp_path / "truth.csv").write_text("\n".join(["kind", *(f'"{kind}"' for kind in few)]))
    out, options = tmp_path / "run", ["--method", "kmeans", "--labels", tmp_path / "truth.csv"]
    said = infomeans("cluster", tmp_path / "x.npy", "-k", 4, *options, "--out", out).output
    assert "on the 100 of 200 samples that have a label" in said
    metrics = json.loads((out / "metrics.json").read_text())
    clusters = Run(out).labels.clusters
    assert metrics["scored"] == 100
    assert metrics["acc"] == accuracy(kinds[1::2], clusters[1::2])
    page = (out / "report.html").read_text()
    assert "on the 100 of 200 samples that have a label" in page
