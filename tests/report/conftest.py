import shutil

import numpy as np
import pytest
from tests.report.browsing import DRAWN

from infomeans import data
from infomeans.report import write_report
from infomeans.workflows.cluster import cluster
from infomeans.workflows.request import Request

SWITCHES = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--disable-background-networking",
]


def reported(request, out):
    """A run with its report."""
    samples = data.open(request.source, **request.reading)
    run, estimator = cluster(request, samples, out)
    write_report(run, data=samples, estimator=estimator)
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


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield started
        started.close()


@pytest.fixture
def show(browser):
    """Open a page in a window of its own; any error of a script fails the test."""
    windows, errors = [], []

    def show(path, *, width=1400, scheme="light", wait=DRAWN, script=None):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        windows.append(context)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("dialog", lambda dialog: dialog.accept())
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and errors.append(m.text))
        page.goto(path.absolute().as_uri())
        page.wait_for_selector(wait)
        return page

    yield show
    for context in windows:
        context.close()
    assert errors == []


@pytest.fixture
def page(show, image_run):
    return show(image_run.report)
