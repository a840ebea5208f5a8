import numpy as np
import pytest

from infomeans import data
from infomeans.jobs import Request, cluster
from infomeans.report import write_report


def reported(request, out):
    """A run with its report."""
    samples = data.open(request.source, **request.reading)
    run = cluster(request, samples, out)
    write_report(run, samples=samples)
    return run


@pytest.fixture(scope="session", name="reported")
def reported_():
    return reported


@pytest.fixture(scope="session")
def image_run(tmp_path_factory, stripes):
    """A short run of MI-ADM on images with known classes."""
    folder = tmp_path_factory.mktemp("images")
    images, classes = stripes
    np.savez(folder / "stripes.npz", images=images, labels=classes)
    reading = {"key": "images", "labels": "labels"}
    params = {"pretrain_epochs": 8, "warmup_epochs": 2, "epochs": 4}
    request = Request(str(folder / "stripes.npz"), 3, reading=reading, params=params)
    return reported(request, folder / "run")


@pytest.fixture(scope="session")
def table_run(tmp_path_factory, blobs):
    """K-means on a table whose names mean no good."""
    folder = tmp_path_factory.mktemp("tables")
    X, _ = blobs
    header = "name,<img src=x onerror=alert(1)>,b,c,d,e,f"
    rows = [f"</script><b>{number}</b>," + ",".join(map(str, row)) for number, row in enumerate(X)]
    path = folder / "<i>nasty.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    request = Request(str(path), 4, method="kmeans", reading={"id_column": "name"})
    return reported(request, folder / "run")
