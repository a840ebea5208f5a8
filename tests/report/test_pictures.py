"""Pictures in a real browser: mosaics, the map, all members, one by itself."""

import io

import numpy as np
import pytest
from PIL import Image
from tests.report.browsing import DRAWN

from infomeans.plots.palette import COLOURS, DARK
from infomeans.report import write_report
from infomeans.runs import Run
from infomeans.workflows.request import Request

PAINTED = "document.querySelector('.mosaic .thumb').style.backgroundImage"


@pytest.mark.parametrize(("width", "least"), [(1400, 3), (390, 1)])
def test_the_first_screen_has_a_mosaic_of_each_cluster(show, image_run, width, least):
    page = show(image_run.report, width=width)
    page.wait_for_function(f"() => {PAINTED}")
    bottoms = page.eval_on_selector_all(
        ".mosaic", "all => all.map(one => one.getBoundingClientRect().bottom)"
    )
    assert len(bottoms) == 3
    assert sum(bottom < 900 for bottom in bottoms) >= least
    assert bottoms[0] < page.evaluate("byId('map').getBoundingClientRect().top")
    of = page.eval_on_selector_all(
        "#cluster-1 .mosaic .thumb", "all => all.map(one => clusterOf[one.dataset.sample])"
    )
    assert len(of) > 5
    assert set(of) == {1}


def test_a_thumbnail_shows_its_own_sample(page, stripes):
    sample = page.evaluate("membersOf(0)[3]")
    page.evaluate(f"openLarge({sample}, [{sample}])")
    drawn = "document.querySelector('#dialog canvas').getContext('2d')"
    page.wait_for_function(
        f"() => {drawn}.getImageData(0, 0, 8, 9).data.some(v => v > 0 && v < 255)"
    )
    pixels = page.evaluate(f"[...{drawn}.getImageData(0, 0, 8, 9).data]")
    grey = np.array(pixels).reshape(9, 8, 4)[..., 0].ravel()
    likeness = [np.corrcoef(grey, image.ravel())[0, 1] for image in stripes[0]]
    assert np.argmax(likeness) == sample


def test_a_small_picture_shows_its_own_sample_too(page, stripes):
    page.click("#cluster-1 .open")
    thumb = page.locator("#members .thumb").nth(4)
    page.wait_for_function(
        "() => document.querySelectorAll('#members .thumb')[4].style.backgroundImage"
    )
    page.wait_for_timeout(200)
    seen = Image.open(io.BytesIO(thumb.screenshot())).convert("L").resize((8, 9), Image.BOX)
    grey = np.asarray(seen, dtype=float).ravel()
    likeness = [np.corrcoef(grey, image.ravel())[0, 1] for image in stripes[0]]
    assert np.argmax(likeness) == int(thumb.get_attribute("data-sample"))


@pytest.fixture(scope="module")
def large_run(tmp_path_factory, reported):
    """K-means on 600 images in two clusters."""
    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(0)
    X = rng.random((600, 8, 8)) + np.where(np.arange(600) % 2, 3, 0)[:, None, None]
    np.save(folder / "x.npy", X)
    return reported(Request(str(folder / "x.npy"), 2, method="kmeans"), folder / "run")


def test_all_members_load_as_one_scrolls(show, large_run):
    page = show(large_run.report)
    page.click("#cluster-0 .open")
    first = page.locator("#members .thumb").count()
    assert 0 < first < 300
    page.wait_for_timeout(300)
    assert page.locator("#members .thumb").count() < 300
    while page.locator("#members .thumb").count() < 300:
        before = page.locator("#members .thumb").count()
        page.evaluate("clusterView.scrollTop = clusterView.scrollHeight")
        page.wait_for_function(
            f"() => document.querySelectorAll('#members .thumb').length > {before}", timeout=5000
        )
    members = page.eval_on_selector_all("#members .thumb", "all => all.map(e => e.dataset.sample)")
    assert len(set(members)) == 300
    assert "all 300 are shown" in page.inner_text("#members-end")
    page.select_option("#members-order", "id")
    ids = page.eval_on_selector_all("#members .thumb", "all => all.map(e => +e.title)")
    assert ids == sorted(ids)


def test_samples_are_found_by_id(page):
    page.fill("#search", "11")
    titles = page.eval_on_selector_all("#results button", "all => all.map(e => e.title)")
    assert titles == ["11", "110", "111", "112", "113", "114", "115", "116", "117", "118", "119"]
    page.press("#search", "Enter")
    assert page.inner_text("#dialog .id") == "11"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#dialog .id") == "110"
    page.keyboard.press("Escape")
    page.fill("#search", "nothing")
    assert "No sample" in page.inner_text("#found")


@pytest.fixture(scope="module")
def photo_run(tmp_path_factory, reported, stripes):
    """K-means on picture files with names that mean no good."""
    folder = tmp_path_factory.mktemp("photos")
    (folder / "pictures" / "a#b").mkdir(parents=True)
    images, _ = stripes
    scaled = (255 * (images - images.min()) / np.ptp(images)).astype(np.uint8)
    for number, image in enumerate(scaled):
        large = Image.fromarray(image).resize((80, 90))
        large.save(folder / "pictures" / "a#b" / f"%41 'x' &amp; {number:03}.png")
    return reported(Request(str(folder / "pictures"), 3, method="kmeans"), folder / "run")


def test_a_picture_opens_large_and_as_the_original(show, photo_run):
    page = show(photo_run.report)
    page.locator(".mosaic .thumb").first.click()
    page.wait_for_selector("#dialog img")
    assert page.evaluate("document.querySelector('#dialog img').naturalWidth") == 80
    assert page.locator("#dialog img").bounding_box()["width"] > 200
    assert "Original, 80" in page.inner_text("#dialog a")


def test_without_the_original_the_thumbnail_opens_large(show, photo_run, tmp_path):
    moved = tmp_path / "elsewhere.html"
    moved.write_bytes(photo_run.report.read_bytes())
    context = show(moved).context.browser.new_context()
    page = context.new_page()
    page.goto(moved.as_uri())
    page.wait_for_selector(DRAWN)
    page.locator(".mosaic .thumb").first.click()
    page.wait_for_timeout(300)
    assert page.locator("#dialog img").count() == 0
    assert page.locator("#dialog canvas").bounding_box()["width"] > 200
    context.close()


ON_THE_MAP = "placed.length"


def test_pictures_stand_on_the_map_when_one_looks_nearer(show, large_run):
    page = show(large_run.report)
    page.evaluate("byId('map').scrollIntoView({behavior: 'instant'})")
    assert page.evaluate(ON_THE_MAP) == 0
    page.evaluate("zoom(4, ...toPixel(0))")
    page.wait_for_function(f"() => {ON_THE_MAP} > 3")
    sample, left, top = page.evaluate("placed.find(([, x, y]) => inside([x + 9, y + 9]))")
    assert page.evaluate("([x, y]) => nearest([x + 2, y + 2])", [left, top]) == sample
    clear = """placed.every(([i, x, y]) => placed.every(([j, u, v]) => i === j
        || Math.abs(x - u) >= placed.size[0] || Math.abs(y - v) >= placed.size[1]))"""
    assert page.evaluate(clear)
    page.click("#with-pictures")
    page.wait_for_function(f"() => {ON_THE_MAP} === 0")


def level(colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(
    ("scheme", "colours", "least"), [("light", COLOURS, 2.0), ("dark", DARK, 3.0)]
)
def test_colours_of_clusters_stand_out(show, image_run, scheme, colours, least):
    page = show(image_run.report, scheme=scheme)
    paper = level(page.evaluate("colour('paper')"))
    for one in colours:
        dim, clear = sorted([level(one), paper])
        assert (clear + 0.05) / (dim + 0.05) > least, one
    used = page.evaluate("[0, 1, 2].map(hueOf)")
    assert used == list(colours[:3])
    sign = page.evaluate("getComputedStyle(document.querySelector('#cluster-1 path')).fill")
    assert sign == f"rgb({', '.join(str(int(colours[1][i : i + 2], 16)) for i in (1, 3, 5))})"


def test_each_bar_shows_the_number_beside_it(page):
    widths = page.eval_on_selector_all(
        "#cluster-0 .bar span", "all => all.map(e => parseFloat(e.style.width))"
    )
    share, sure = page.evaluate("[content.clusters[0].share, content.clusters[0].confidence]")
    assert widths == pytest.approx([100 * share, 100 * sure])


@pytest.fixture(scope="module")
def wine(tmp_path_factory, reported):
    """K-means on a table with units: two kinds of wine."""
    folder = tmp_path_factory.mktemp("wine")
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    columns = np.column_stack([13 + kind + rng.normal(0, 0.1, 60), rng.normal(40, 3, 60), kind])
    lines = ["bottle,alcohol,ash,sweet"]
    lines += [f"b{i},{a:.3f},{b:.3f},{int(c)}" for i, (a, b, c) in enumerate(columns)]
    (folder / "wine.csv").write_text("\n".join(lines) + "\n")
    request = Request(str(folder / "wine.csv"), 2, method="kmeans", reading={"id_column": "bottle"})
    return reported(request, folder / "run")


def test_cards_of_tables_speak_in_words_and_units(show, wine):
    page = show(wine.report)
    dry = page.evaluate("clusterOf[0]")
    words = page.eval_on_selector_all(
        f"#cluster-{dry} .words", "all => all.map(e => e.innerText.trim())"
    )
    alcohol = next(said for said in words if said.startswith("alcohol"))
    low, overall = float(alcohol.split()[2]), float(alcohol.split()[-1].strip(")"))
    assert alcohol.split()[1] == "low:"
    assert low == pytest.approx(13.0, abs=0.1)
    assert overall == pytest.approx(13.5, abs=0.1)
    assert "sweet less often: 0% (all 50%)" in words
    ends = page.eval_on_selector_all(
        f"#cluster-{dry} .scale >> nth=0 >> span", "all => all.map(e => e.innerText)"
    )
    assert len(ends) == 2
    assert not any(said.startswith("ash") for said in words)
    assert page.locator(".card .chip").count() == 0
    page.click(f"#cluster-{dry} .open")
    assert page.locator("#members tbody tr").count() == 30


@pytest.mark.parametrize("width", [390, 1400])
def test_opened_parts_stick_out_nowhere(show, image_run, wine, width):
    for run in (image_run, wine):
        page = show(run.report, width=width)
        page.click("#cluster-0 .open")
        page.locator("#members button").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for one in ("#cluster-view", "#dialog"):
            box = page.locator(one).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert page.evaluate(f"document.querySelector('{one}').scrollWidth") <= box["width"]
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_the_navigation_is_whole_and_the_map_large(show, image_run, width):
    page = show(image_run.report, width=width)
    boxes = page.eval_on_selector_all(
        "nav a", "all => all.map(one => one.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == 8
    assert all(box["left"] >= 0 and box["right"] <= width for box in boxes)
    plot = page.locator("#plot").bounding_box()
    assert plot["width"] > 0.9 * width
    assert 0.8 < plot["height"] / plot["width"] < 1.3


def test_strange_samples_are_shown_if_they_have_scores(show, image_run, tmp_path):
    run = Run(image_run.path)
    scores = np.linspace(0, 1, 120)
    object.__setattr__(run.labels, "outliers", scores)
    page = show(write_report(run, tmp_path / "page.html"))
    said = page.eval_on_selector_all("#strangest figure", "all => all.map(e => e.innerText)")
    assert said[0].startswith("1.00")
    first = page.eval_on_selector_all("#strangest button", "all => all.map(e => e.title)")
    assert first[:3] == ["119", "118", "117"]
    assert page.locator("nav a[href='#strange']").count() == 1
