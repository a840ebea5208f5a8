"""The pages in a real browser: what people see, press and save."""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest
from tests.report.browsing import DRAWN, merge, shown

from infomeans import data
from infomeans.errors import InputError
from infomeans.files import sealed
from infomeans.report import write_report
from infomeans.report.compare import comparison
from infomeans.runs import Run
from infomeans.workflows.request import Request


def test_all_parts_are_there(page):
    parts = page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")
    assert parts == [
        "overview", "clusters", "tree", "map", "doubtful", "strange", "training", "labels", "facts",
    ]  # fmt: skip
    assert "120 samples fall into" in page.inner_text("#overview")
    assert "linear discriminants" in page.inner_text("#map") or "UMAP" in page.inner_text("#map")
    assert page.locator(".card").count() == 3
    assert shown(page) == 120


def test_what_is_taken_out_has_its_name_back(page):
    for number, name in (("0", "A"), ("2", "B")):
        page.fill(f"#cluster-{number} header input", name)
        page.keyboard.press("Tab")
    page.evaluate("keep([...clusterOf].indexOf(2))")
    merge(page, 0, "2")
    assert page.input_value("#cluster-0 header input") == "A + B"
    assert "A + B" in page.inner_text("#chosen")
    page.click("#cluster-0 .parts button >> nth=1")
    assert page.evaluate("names.given") == {"0": "A", "2": "B"}


def test_names_and_merges_are_kept_saved_and_applied(show, image_run, tmp_path):
    run = Run(shutil.copytree(image_run.path, tmp_path / "run"))
    page = show(run.report)
    nasty = "<b>top</b> \"rows\" & 'more'"
    page.fill("#cluster-0 input", nasty)
    page.keyboard.press("Tab")
    merge(page, 0, "2")
    assert page.locator(".card").count() == 2
    assert page.input_value("#cluster-0 header input") == nasty
    assert nasty in page.inner_text("#legend")
    page.reload()
    page.wait_for_selector(DRAWN)
    assert page.locator(".card").count() == 2
    with page.expect_download() as download:
        page.click("#save")
    names = tmp_path / "names.json"
    download.value.save_as(names)
    saved = json.loads(names.read_text())
    assert saved["names"] == {"0": nasty}
    assert saved["merge"] == [[0, 2]]
    run.rename(run.read_names(names))
    assert set(run.labels.clusters.tolist()) <= {0, 1}
    assert nasty in run.labels.names
    again = show(write_report(run, tmp_path / "again.html"))
    assert again.input_value("#cluster-0 header input") == nasty
    assert again.locator(".card").count() == 2
    again.click("#cluster-0 .parts button >> nth=1")
    assert again.locator(".card").count() == 3
    again.click("#reset")
    assert again.input_value("#cluster-0 header input") == ""


def test_what_the_browser_kept_yields_to_a_run_that_was_relabelled(show, image_run, tmp_path):
    run = Run(shutil.copytree(image_run.path, tmp_path / "run"))
    page = show(run.report)
    merge(page, 0, "1")
    assert page.locator(".card").count() == 2
    (tmp_path / "names.json").write_text('{"names": {"2": "other"}}')
    run.rename(run.read_names(tmp_path / "names.json"))
    write_report(run)
    page.reload()
    page.wait_for_selector(DRAWN)
    assert page.locator(".card").count() == 3
    assert page.input_value("#cluster-2 header input") == "other"
    assert "other (2)" in page.inner_text("#per-cluster")


@pytest.mark.parametrize("kept", ['{"a": 1}', "{", '{"names": {"9": "x"}, "merge": [[0, 9]]}'])
def test_what_the_browser_kept_may_be_damaged(show, image_run, kept):
    key = f"infomeans:names:{image_run.key}"
    script = f"localStorage.setItem({json.dumps(key)}, {json.dumps(kept)})"
    assert show(image_run.report, script=script).locator(".card").count() == 3


def test_a_merged_group_is_surer_than_its_parts(page):
    parts = page.evaluate("content.clusters.map(one => one.confidence)")
    for other in ("1", "2"):
        merge(page, 0, other)
    said = page.inner_text("#cluster-0 .measures .value >> nth=1")
    assert float(said.removeprefix("at least ")) > max(parts)
    assert page.locator("#doubtful").is_hidden()
    assert page.locator("nav a[href='#doubtful']").is_hidden()


def test_names_reach_every_card(page):
    page.fill("#cluster-2 header input", "dogs")
    page.keyboard.press("Tab")
    page.click("#cluster-0 .open")
    assert "dogs" in page.inner_text("#cluster-view select.merge")
    assert "dogs (2)" in page.inner_text("#per-cluster")


def test_everything_is_there_in_print(page):
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_selector("#chart-confusion td")
    blank = "all => all.filter(e => !e.style.backgroundImage).length"
    page.wait_for_function("() => document.readyState === 'complete'")
    assert page.eval_on_selector_all("button.thumb", blank) == 0


def test_clusters_of_the_same_name_are_told_apart(page):
    page.fill("#cluster-2 header input", "cluster 0")
    page.keyboard.press("Tab")
    assert "cluster 0 (2)" in page.inner_text("#legend")
    for card in ("#cluster-0", "#cluster-1"):
        page.fill(f"{card} header input", "rows")
        page.keyboard.press("Tab")
    assert "rows (0)" in page.inner_text("#legend")
    assert "rows (1)" in page.inner_text("#legend")


def test_charts_are_there_in_figures(page):
    page.click("#epochs summary")
    page.wait_for_selector("#epochs td")
    assert page.locator("#epochs tbody tr").count() == page.evaluate("records.length")
    page.locator("#chart-confusion").scroll_into_view_if_needed()
    page.wait_for_selector("#chart-confusion td")
    cells = page.eval_on_selector_all("#chart-confusion td", "all => all.map(e => e.innerText)")
    assert sum(int(cell) for cell in cells if cell) == 120


def test_cards_are_sorted(page):
    page.fill("#cluster-2 header input", "aaa")
    page.keyboard.press("Tab")
    page.select_option("#sort", "name")
    ids = page.eval_on_selector_all(".card", "all => all.map(one => one.id)")
    assert ids == ["cluster-2", "cluster-0", "cluster-1"]
    page.select_option("#sort", "size")
    sizes = page.eval_on_selector_all(".card", "all => all.map(one => sizeOf(+one.id.slice(8)))")
    assert sizes == sorted(sizes, reverse=True)


def test_a_thumbnail_opens_its_sample(page):
    page.locator("#unsure button").first.click()
    assert page.locator("dialog[open]").count() == 1
    sample = page.inner_text("dialog .id")
    page.click("#dialog-map")
    assert page.locator("dialog[open]").count() == 0
    assert page.inner_text("#chosen .id") == sample


def test_every_quantity_has_a_chart_of_the_epochs_that_know_it(page):
    titles = page.eval_on_selector_all("#charts .title", "all => all.map(e => e.innerText)")
    assert {"Loss", "I(X;K), nats", "Change of the targets"} <= set(titles)
    assert "warm-up" in page.inner_text("#chart-mi")
    left, right = page.evaluate(
        """() => {
            const line = document.querySelector('#chart-mi polyline').points;
            return [line[0].x, line[line.numberOfItems - 1].x];
        }"""
    )
    assert right - left > 0.6 * 360
    last = page.evaluate("records.length")
    assert f"epoch {last}" in page.inner_text("#chart-mi .now")
    assert page.get_attribute("#chart-mi svg", "aria-label").startswith("I(X;K), nats: from ")
    assert page.locator("#per-cluster tbody tr").count() == 3


def test_light_and_dark(show, image_run):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = show(image_run.report), show(image_run.report, scheme="dark")
    assert light.evaluate(ground) == "rgb(246, 247, 249)"
    assert dark.evaluate(ground) == "rgb(18, 22, 29)"
    light.click("#theme")
    assert light.evaluate(ground) == dark.evaluate(ground)
    light.reload()
    light.wait_for_selector(DRAWN)
    assert light.evaluate(ground) == dark.evaluate(ground)


CONTRAST = """() => {
    const level = (c) => c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
    const bright = (text) => {
        const [r, g, b] = text.match(/[\\d.]+/g).map(Number);
        return 0.2126 * level(r) + 0.7152 * level(g) + 0.0722 * level(b);
    };
    const ground = (e) => {
        const own = e ? getComputedStyle(e).backgroundColor : 'rgb(255, 255, 255)';
        return /, 0\\)$/.test(own) ? ground(e.parentElement) : own;
    };
    const texts = 'p, dt, dd, h1, h2, h3, h4, a, td, th, button:not(.thumb), label, code';
    return [...document.querySelectorAll(texts)].filter(e => e.innerText).map(e => {
        const [dim, clear] = [bright(getComputedStyle(e).color), bright(ground(e))].sort();
        return [e.tagName, e.innerText.slice(0, 30), (clear + 0.05) / (dim + 0.05)];
    }).filter(([, , ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_everything_has_a_name(show, image_run, scheme):
    page = show(image_run.report, scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, img, [role=img]')]
            .filter(e => !(e.ariaLabel || e.alt || e.innerText || e.labels?.length))
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


@pytest.mark.parametrize("width", [390, 1600])
def test_nothing_sticks_out(show, image_run, table_run, width):
    for run in (image_run, table_run):
        page = show(run.report, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(
            """w => [...document.querySelectorAll('section, .card, .panel, #plot, header *')]
                .filter(e => e.getBoundingClientRect().right > w + 1 && !e.closest('nav'))
                .map(e => e.className || e.id || e.tagName)""",
            width,
        )
        assert outside == []


def test_hostile_names_are_only_text(show, table_run):
    page = show(table_run.report)
    assert page.inner_text("h1").startswith("<i>nasty.csv")
    assert "<img src=x onerror=alert(1)>" in page.inner_text("#clusters")
    assert page.locator("#clusters img").count() == 0
    page.click("#cluster-0 .open")
    chip = page.locator("#members .chip").first
    assert chip.inner_text().startswith("</script><b>")
    chip.click()
    assert page.inner_text("dialog .id").startswith("</script><b>")


INJECTED = """<script>window.ran = 1</script><img src="x.png" onerror="window.ran = 2">
<svg onload="window.ran = 3"></svg><a id="bad" href="javascript:window.ran=4">x</a>"""


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_a_script_that_is_put_into_a_page_does_not_run(browser, image_run, tmp_path, kind):
    text = image_run.report.read_text(encoding="utf-8")
    if kind == "comparison":
        text = comparison([image_run, image_run])
    path = tmp_path / "page.html"
    path.write_text(text.replace("<main>", "<main>" + INJECTED), encoding="utf-8")
    page = browser.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    page.wait_for_selector(DRAWN if kind == "report" else "#sankey path")
    page.click("#bad")
    assert page.evaluate("window.ran") is None
    assert sum("Content Security Policy" in text for text in said) >= 4
    page.close()


def test_parts_without_content_are_left_out(show, table_run):
    page = show(table_run.report)
    for part in ("training", "labels"):
        assert page.locator(f"#{part}").count() == 0
        assert page.locator(f"nav a[href='#{part}']").count() == 0


def without_input(run, folder):
    """A copy of the run whose input is gone."""
    copy = Run(shutil.copytree(run.path, folder / "copy"))
    config = json.loads((copy.path / "config.json").read_text())
    config["arguments"]["source"] = str(folder / "gone.npz")
    (copy.path / "config.json").write_text(json.dumps(sealed(config)))
    return Run(copy.path)


def test_a_page_without_its_samples_says_so(show, image_run, tmp_path):
    run = without_input(image_run, tmp_path)
    run.report.unlink()
    page = show(write_report(run))
    assert "cannot be read again" in page.inner_text("#overview")
    assert "cannot be read any more" in page.inner_text("#overview")
    assert page.locator("#labels").count() == 0
    assert page.locator(".card").count() == 3
    assert page.locator(".thumb").count() == 0
    assert page.locator(".chip").count() > 0


def test_a_new_page_keeps_the_pictures_of_an_earlier_one(show, image_run, tmp_path):
    run = without_input(image_run, tmp_path)
    page = show(write_report(run))
    assert "from the earlier report" in page.inner_text("#overview")
    assert page.locator(".mosaic .thumb").count() > 0
    assert page.locator("#labels").count() == 1
    old, new = (path.read_text(encoding="utf-8") for path in (image_run.report, run.report))
    assert old.split('id="sheet-0">')[1] == new.split('id="sheet-0">')[1]


def test_a_page_whose_pictures_cannot_be_kept_stays(image_run, tmp_path):
    run = without_input(image_run, tmp_path)
    old = run.report.read_text(encoding="utf-8").replace('"order":', '"other":')
    run.report.write_text(old, encoding="utf-8")
    with pytest.raises(InputError, match="left as it is"):
        write_report(run)
    assert run.report.read_text(encoding="utf-8") == old
    assert write_report(run, tmp_path / "plain.html").exists()


@pytest.mark.parametrize(("n", "k"), [(20, 2), (400, 100), (12, 1)])
def test_few_and_many_clusters(show, reported, tmp_path, n, k):
    rng = np.random.default_rng(0)
    X = np.eye(k)[np.arange(n) % k] * 9 + rng.normal(0, 0.1, (n, k))
    np.save(tmp_path / "x.npy", X)
    request = Request(str(tmp_path / "x.npy"), k, method="kmeans")
    page = show(reported(request, tmp_path / "run").report)
    assert page.locator(".card").count() == k
    assert shown(page) == n
    looks = page.eval_on_selector_all("#legend svg", "all => all.map(one => one.innerHTML)")
    assert len(set(looks)) == k


def test_of_many_images_a_page_keeps_to_its_size(show, tmp_path, monkeypatch):
    monkeypatch.setattr("infomeans.report.report.MOST_BYTES", 2_400_000)
    rng = np.random.default_rng(0)
    n, k = 7_000, 10
    kinds = (rng.random((k, 28, 28)) < 0.2) * rng.integers(100, 255, (k, 28, 28))
    clusters = rng.integers(0, k, n)
    np.save(tmp_path / "x.npy", kinds.astype(np.uint8)[clusters])
    X = np.load(tmp_path / "x.npy", mmap_mode="r+")
    X[:, ::9, ::7] = rng.integers(0, 90, X[:, ::9, ::7].shape, dtype=np.uint8)
    samples = data.open(tmp_path / "x.npy")
    posteriors = np.eye(k, dtype=np.float32)[clusters] * 0.9 + 0.01
    run = Run.create(tmp_path / "run", fake_config(samples, k))
    embedding = (np.eye(k)[clusters] + rng.normal(0, 0.2, (n, k))).astype(np.float32)
    run.write_results(samples.ids, posteriors, embedding, {"seconds": 1, "mi": 2, "confidence": 1})
    kmeans = Request(str(tmp_path / "x.npy"), k, method="kmeans").estimator()
    kmeans.fit(samples.X[:500].reshape(500, 28, 28)).save(run.model)
    path = write_report(run, data=samples)
    assert 2e6 < path.stat().st_size < 2.5e6
    page = show(path)
    assert shown(page) == n
    page.locator("#legend input").first.uncheck()
    assert shown(page) == n - np.bincount(clusters)[0]


def fake_config(samples, k):
    return {
        "created": "2026-01-02T03:04:05",
        "versions": {"infomeans": "1"},
        "arguments": {"n_clusters": k, "method": "mi-adm", "seed": 0},
        "data": {
            "source": samples.source,
            "fingerprint": samples.fingerprint,
            "sample_shape": list(samples.X.shape[1:]),
            "skipped": [],
        },
    }


def test_classes_that_begin_alike_have_a_row_each(show, reported, stripes, tmp_path):
    images, classes = stripes
    names = [f"a rather long name of a species, number {kind}" for kind in classes]
    np.savez(tmp_path / "stripes.npz", images=images, labels=names)
    reading = {"key": "images", "labels": "labels"}
    request = Request(str(tmp_path / "stripes.npz"), 3, method="kmeans", reading=reading)
    page = show(reported(request, tmp_path / "run").report)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#chart-confusion tbody tr").count() == 3
    cells = page.eval_on_selector_all("#chart-confusion td", "all => all.map(e => e.textContent)")
    assert sum(int(cell) for cell in cells if cell) == 120


def test_many_classes_have_names_that_can_be_read(show, reported, blobs, tmp_path):
    labels = [f"class {i % 100}" for i in range(200)]
    np.savez(tmp_path / "blobs.npz", X=blobs[0], labels=labels)
    reading = {"key": "X", "labels": "labels"}
    request = Request(str(tmp_path / "blobs.npz"), 4, method="kmeans", reading=reading)
    page = show(reported(request, tmp_path / "run").report)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_selector("#chart-confusion tbody th")
    boxes = page.eval_on_selector_all(
        "#chart-confusion tbody th", "all => all.map(e => e.getBoundingClientRect().toJSON())"
    )
    boxes.sort(key=lambda box: box["top"])
    assert len(boxes) > 20
    assert all(above["bottom"] <= below["top"] + 1 for above, below in pairwise(boxes))
