"""The pages in a real browser: what people see, press and save."""

import io
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from infomeans import data
from infomeans.jobs import Request, cluster
from infomeans.report import write_report
from infomeans.report.compare import comparison
from infomeans.runs import Run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SWITCHES = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
]
DRAWN = "#shown:not(:empty)"
SPAN = "stage.width / view.scale"
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed (Debian: apt-get install chromium)"
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
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


def shown(page):
    page.wait_for_function("waiting === 0")
    return int(page.inner_text("#shown").split(" of ")[0].replace(",", ""))


def test_all_parts_are_there(page):
    parts = page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")
    assert parts == ["overview", "map", "clusters", "doubtful", "training", "labels"]
    assert "120 samples fall into" in page.inner_text("#overview")
    assert "linear discriminants" in page.inner_text("#map") or "UMAP" in page.inner_text("#map")
    assert page.locator(".card").count() == 3
    assert page.locator(".card img").count() == 3
    assert shown(page) == 120


def test_the_map_filters_by_cluster_confidence_and_class(page):
    page.locator("#legend input").first.uncheck()
    left = shown(page)
    assert 0 < left < 120
    page.click("#none")
    assert shown(page) == 0
    page.click("#all")
    assert shown(page) == 120
    page.select_option("#class", label="2")
    assert shown(page) == 40
    page.select_option("#class", value="wrong")
    assert shown(page) == page.evaluate(
        "[...clusterOf].filter((c, i) => content.matched[c] !== classOf[i]).length"
    )
    page.select_option("#class", value="")
    page.evaluate("byId('high').value = 0.5; byId('high').dispatchEvent(new Event('input'))")
    assert shown(page) == page.evaluate("[...confidenceOf].filter(c => c <= 0.505).length")


def pixel_of(page, sample):
    """Where a sample lies in the window."""
    return page.evaluate(
        """i => {
            const box = plot.getBoundingClientRect(), [left, top] = toPixel(i);
            return [box.left + plot.clientLeft + left, box.top + plot.clientTop + top];
        }""",
        sample,
    )


LONELY = """() => {
    const far = (i, j) => i === j ? Infinity : Math.hypot(X[i] - X[j], Y[i] - Y[j]);
    const room = [...X].map((_, i) => Math.min(...[...X].map((_, j) => far(i, j))));
    const most = Math.max(...room);
    return [room.indexOf(most), most];
}"""


def look_at(page, sample, room):
    """Bring the map into view, and a sample into its middle with nothing near."""
    page.evaluate(
        """([i, room]) => {
            byId('map').scrollIntoView({behavior: 'instant'});
            Object.assign(view, {x: X[i], y: Y[i], scale: stage.height / (8 * room)});
            isWhole = false;
            written = [];
            labels.replaceChildren();
            paintMap();
        }""",
        [sample, room],
    )


def test_pointing_shows_a_sample_and_clicking_keeps_it(page):
    lonely, room = page.evaluate(LONELY)
    look_at(page, lonely, room)
    x, y = pixel_of(page, lonely)
    page.mouse.move(x - 30, y)
    page.mouse.move(x, y, steps=5)
    page.wait_for_function(f"!tip.hidden && tip.querySelector('.id').innerText === '{lonely}'")
    assert page.locator("#tip .thumb").count() == 1
    page.mouse.move(2, 2)
    page.wait_for_selector("#tip", state="hidden")
    page.mouse.click(x, y)
    page.wait_for_selector("#chosen .id")
    assert page.inner_text("#chosen .id") == str(lonely)
    assert "true class" in page.inner_text("#chosen")
    background = page.eval_on_selector("#chosen .thumb", "e => e.style.backgroundImage")
    assert background.startswith('url("blob:')
    ring = page.locator("#plot .ring").bounding_box()
    assert ring["x"] + ring["width"] / 2 == pytest.approx(x, abs=1)
    assert ring["y"] + ring["height"] / 2 == pytest.approx(y, abs=1)


NO_WEBGL = """HTMLCanvasElement.prototype.getContext = (original => function (kind, ...rest) {
    return kind.startsWith('webgl') ? null : original.call(this, kind, ...rest);
})(HTMLCanvasElement.prototype.getContext);"""


@pytest.mark.parametrize("script", [None, NO_WEBGL])
def test_a_point_has_the_colour_of_its_cluster_with_and_without_webgl(show, image_run, script):
    page = show(image_run.report, script=script)
    assert ("without WebGL" in page.inner_text("#map-note")) == bool(script)
    lonely, room = page.evaluate(LONELY)
    look_at(page, lonely, room)
    wanted = page.evaluate("i => channels(colourOf(names.root(clusterOf[i])))", lonely)

    def far_off():
        x, y = pixel_of(page, lonely)
        clip = {"x": round(x) - 1, "y": round(y) - 1, "width": 3, "height": 3}
        picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        return np.abs(np.asarray(picture).mean((0, 1)) - wanted).max()

    assert far_off() < 50  # a little of the ground shows through
    page.evaluate("i => { filter.hidden.add(names.root(clusterOf[i])); drawMap(); }", lonely)
    assert far_off() > 50


ALONE = """i => {
    labels.replaceChildren();
    written = [];
    const square = SIGN_NAMES.indexOf('square');
    painter.set(Float32Array.of(X[i], Y[i]), Uint8Array.of(255, 0, 0, square));
    paintMap();
}"""


@pytest.mark.parametrize("script", [None, NO_WEBGL])
def test_points_stand_where_the_page_takes_them_to_be(show, image_run, script):
    page = show(image_run.report, script=script)
    page.evaluate("byId('map').scrollIntoView({behavior: 'instant'}); zoom(1.3, 40, 90)")
    box = page.locator("#plot").bounding_box()
    ends = """['max', 'min'].map(end => {
        const seen = [...X].filter((_, i) => inside(toPixel(i)));
        return [...X].indexOf(Math[end](...seen));
    })"""
    for sample in page.evaluate(ends):
        page.evaluate(ALONE, sample)
        picture = Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")
        red, green, blue = np.moveaxis(np.asarray(picture, dtype=float), -1, 0)
        ink = (red - (green + blue) / 2) * (red - green > 60)
        rows, columns = np.indices(ink.shape)
        x, y = (((axis + 0.5) * ink).sum() / ink.sum() for axis in (columns, rows))
        wanted = pixel_of(page, sample)
        assert [np.floor(box["x"]) + x, np.floor(box["y"]) + y] == pytest.approx(wanted, abs=1)


def test_a_lost_graphics_card_leaves_a_plain_map(page):
    page.evaluate("painter.gl.getExtension('WEBGL_lose_context').loseContext()")
    page.wait_for_function("painter instanceof PlainPainter && painter.places.length === 240")
    assert "without WebGL" in page.inner_text("#map-note")
    assert page.locator("#plot canvas").count() == 1


INKED = """() => {
    const copy = make('canvas', {width: painter.canvas.width, height: painter.canvas.height});
    const context = copy.getContext('2d');
    context.drawImage(painter.canvas, 0, 0);
    return context.getImageData(0, 0, copy.width, copy.height).data.some(value => value > 0);
}"""
FITS = """() => {
    const {width, height} = painter.canvas.getBoundingClientRect();
    return [painter.canvas.width / width, painter.canvas.height / height];
}"""


def test_the_map_is_painted_at_once_when_its_size_changes(page):
    inked = page.evaluate(
        f"() => {{ plot.style.height = '300px'; measure(); return ({INKED})(); }}"
    )
    assert inked
    assert page.evaluate(FITS) == pytest.approx([1, 1], abs=0.01)


def test_a_kept_sample_leaves_the_map_as_it_was(page):
    page.evaluate("move(40, 30)")
    before = page.evaluate("[view.x, view.y, view.scale, stage.width, stage.height]")
    page.focus("#plot")
    page.keyboard.press("n")
    page.wait_for_selector("#chosen .id")
    page.wait_for_function("waiting === 0")
    after = page.evaluate("[view.x, view.y, view.scale, stage.width, stage.height]")
    assert after == before


def test_paper_has_a_whole_and_undistorted_map(page):
    page.click("#none")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown(page) == 0  # what was just asked for is not forgotten
    assert page.evaluate("stage.width") == pytest.approx(638, abs=1)
    assert page.evaluate(FITS) == pytest.approx([3, 3], abs=0.01)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("stage.width") > 638


def test_a_button_that_was_let_go_elsewhere_drags_no_more(page):
    moved = page.evaluate(
        """() => {
            plot.setPointerCapture = () => {};
            const send = (kind, x, buttons) => plot.dispatchEvent(new PointerEvent(kind, {
                pointerId: 1, pointerType: 'mouse', isPrimary: true, buttons, clientX: x}));
            send('pointerdown', 100, 1);
            send('pointermove', 150, 1);
            const before = view.x;
            send('pointermove', 300, 0);
            return [before, view.x, pointers.size];
        }"""
    )
    assert moved[0] == moved[1]
    assert moved[2] == 0


def test_the_browsers_own_keys_are_left_alone(page):
    page.evaluate("""() => {
        window.taken = [];
        addEventListener('keydown', e => taken.push([e.key, e.defaultPrevented]));
    }""")
    page.focus("#plot")
    page.keyboard.press("Control+0")
    page.keyboard.press("n")
    taken = page.evaluate("taken")
    assert ["0", False] in taken
    assert ["n", True] in taken


def test_buttons_zoom_where_there_is_no_wheel(page):
    before = page.evaluate(SPAN)
    page.click("#nearer")
    page.wait_for_function(f"{SPAN} < {0.8 * before}")
    page.click("#whole")
    page.wait_for_function(f"Math.abs({SPAN} - {before}) < 0.02 * {before}")


def test_wheel_and_drag_zoom_and_move(page):
    page.evaluate("byId('map').scrollIntoView({behavior: 'instant'})")
    before = page.evaluate(SPAN)
    box = page.locator("#plot").bounding_box()
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*centre)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"{SPAN} < {0.95 * before}")
    page.wait_for_timeout(600)
    left = page.evaluate("view.x")
    page.mouse.down()
    page.mouse.move(centre[0] + 80, centre[1], steps=5)
    page.mouse.up()
    page.wait_for_function(f"view.x < {left}")
    assert page.locator("#chosen .id").count() == 0
    page.click("#whole")
    page.wait_for_function(f"Math.abs({SPAN} - {before}) < 1e-3 * {before}")
    page.mouse.dblclick(*centre)
    page.wait_for_function(f"{SPAN} < {0.6 * before}")


def test_what_is_under_the_pointer_stays_there_when_zooming(page):
    before = page.evaluate("toPixel(5)")
    page.evaluate("([x, y]) => zoom(3, x, y)", before)
    assert page.evaluate("toPixel(5)") == pytest.approx(before, abs=0.01)
    ends = page.evaluate("[1e9, 1e-9].map(f => { zoom(f); return view.scale / stage.scale; })")
    assert ends == pytest.approx([200, 1])


def test_two_fingers_zoom(page):
    before = page.evaluate(SPAN)
    page.evaluate(
        """() => {
            plot.setPointerCapture = () => {};
            const box = plot.getBoundingClientRect(), y = box.top + 200;
            const send = (kind, pointerId, x) => plot.dispatchEvent(new PointerEvent(
                kind, {pointerId, pointerType: 'touch', clientX: box.left + x, clientY: y}));
            send('pointerdown', 1, 150);
            send('pointerdown', 2, 250);
            send('pointermove', 2, 350);
            send('pointerup', 2, 350);
            send('pointermove', 1, 190);
            send('pointerup', 1, 190);
        }"""
    )
    assert page.evaluate(SPAN) == pytest.approx(before / 2)
    assert page.locator("#chosen .id").count() == 0


def test_the_page_scrolls_on_where_the_map_cannot_get_smaller(page):
    page.evaluate("byId('map').scrollIntoView({behavior: 'instant'})")
    box, before = page.locator("#plot").bounding_box(), page.evaluate("scrollY")
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.wheel(0, 300)
    page.wait_for_function(f"scrollY > {before}")
    assert page.evaluate("view.scale === stage.scale && isWhole")


def test_a_finger_that_scrolls_the_page_leaves_the_map_alone(page):
    page.evaluate(
        """() => {
            plot.setPointerCapture = () => {};
            const send = (kind, y) => plot.dispatchEvent(new PointerEvent(kind, {
                pointerId: 1, pointerType: 'touch', isPrimary: true, clientX: 200, clientY: y}));
            send('pointerdown', 300);
            send('pointermove', 280);
            send('pointercancel', 280);
        }"""
    )
    assert page.evaluate("isWhole && view.y === up.middle")


def test_a_tap_shows_the_sample_where_it_is(browser, image_run):
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(image_run.report.absolute().as_uri())
    page.wait_for_selector(DRAWN)
    lonely, room = page.evaluate(LONELY)
    look_at(page, lonely, room)
    page.touchscreen.tap(*pixel_of(page, lonely))
    page.wait_for_selector("#tip")
    assert page.inner_text("#tip .id") == page.inner_text("#chosen .id") == str(lonely)
    context.close()


def test_a_card_shows_its_cluster_wherever_one_was(page):
    page.evaluate("zoom(50, 5, 5)")
    page.locator("#cluster-1 footer button").first.click()
    assert page.evaluate("shown.length > 0 && shown.every(i => inside(toPixel(i)))")
    assert page.locator(".labels span").count() == 1


def test_an_empty_map_says_why(page):
    page.click("#none")
    page.wait_for_selector(".nothing")
    assert page.locator(".labels span").count() == 0
    page.click("#everything")
    assert shown(page) == 120
    assert page.locator(".nothing").is_hidden()


def test_what_is_taken_out_has_its_name_back(page):
    for number, name in (("0", "A"), ("2", "B")):
        page.fill(f"#cluster-{number} header input", name)
        page.keyboard.press("Tab")
    page.evaluate("keep([...clusterOf].indexOf(2))")
    page.select_option("#cluster-0 select.merge", value="2")
    page.click("#cluster-0 .join")
    assert page.input_value("#cluster-0 header input") == "A + B"
    assert "A + B" in page.inner_text("#chosen")
    page.click("#cluster-0 .parts button >> nth=1")
    assert page.evaluate("names.given") == {"0": "A", "2": "B"}


def test_labels_do_not_cover_each_other(page):
    page.evaluate(
        """() => {
            written.forEach(one => { one.centre = [across.middle, up.middle]; });
            paintMap();
        }"""
    )
    boxes = page.evaluate(
        """() => written.map(one => one.label).filter(one => one.style.visibility === 'visible')
            .map(one => one.getBoundingClientRect().toJSON())"""
    )
    assert len(boxes) == 3
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            assert (
                one["right"] < other["left"]
                or other["right"] < one["left"]
                or one["bottom"] < other["top"]
                or other["bottom"] < one["top"]
            )


def test_the_keyboard_does_what_the_mouse_does(page):
    page.focus("#plot")
    page.keyboard.press("n")
    first = page.inner_text("#chosen .id")
    page.keyboard.press("n")
    assert page.inner_text("#chosen .id") != first
    page.keyboard.press("p")
    assert page.inner_text("#chosen .id") == first
    before = page.evaluate(SPAN)
    page.keyboard.press("+")
    page.wait_for_function(f"{SPAN} < {before}")
    page.keyboard.press("0")
    page.wait_for_function(f"Math.abs({SPAN} - {before}) < 1e-3 * {before}")


def test_names_and_merges_are_kept_saved_and_applied(show, image_run, tmp_path):
    run = Run(shutil.copytree(image_run.path, tmp_path / "run"))
    page = show(run.report)
    nasty = "<b>top</b> \"rows\" & 'more'"
    page.fill("#cluster-0 input", nasty)
    page.keyboard.press("Tab")
    page.select_option("#cluster-0 select.merge", value="2")
    page.click("#cluster-0 .join")
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
    page.select_option("#cluster-0 select.merge", value="1")
    page.click("#cluster-0 .join")
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
        page.select_option("#cluster-0 select.merge", value=other)
        page.click("#cluster-0 .join")
    said = page.inner_text("#cluster-0 .hint")
    assert float(said.removeprefix("mean confidence at least ")) > max(parts)
    assert "no sample is in doubt" in page.inner_text("#doubtful")
    assert page.locator("#pairs .panel").count() == 0


def test_names_reach_every_card(page):
    page.fill("#cluster-2 header input", "dogs")
    page.keyboard.press("Tab")
    assert "dogs" in page.inner_text("#cluster-0 select.merge")
    assert "dogs (2)" in page.inner_text("#per-cluster")


def test_everything_is_there_in_print(page):
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_selector("#chart-confusion .main-svg")
    blank = "all => all.filter(e => !e.style.backgroundImage).length"
    page.wait_for_function("document.readyState === 'complete'")
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
    page.click("#confusion summary")
    page.wait_for_selector("#confusion td")
    cells = page.eval_on_selector_all("#confusion td", "all => all.map(e => e.innerText)")
    assert sum(int(cell) for at, cell in enumerate(cells) if at % 4) == 120


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


def test_charts_come_when_they_are_looked_at(page):
    assert page.evaluate("typeof Plotly") == "undefined"
    for part in ("loss", "information", "change", "confusion"):
        page.locator(f"#chart-{part}").scroll_into_view_if_needed()
        page.wait_for_selector(f"#chart-{part} .main-svg")
    assert "warm-up" in page.inner_text("#chart-loss")
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
    chip = page.locator(".chip").first
    assert chip.inner_text().startswith("</script><b>")
    chip.click()
    assert page.inner_text("dialog .id").startswith("</script><b>")
    assert "does not train" in page.inner_text("#training")
    assert "No labels were given" in page.inner_text("#labels")


def test_a_page_without_its_samples_says_so(show, image_run, tmp_path):
    run = Run(shutil.copytree(image_run.path, tmp_path / "run"))
    config = json.loads((run.path / "config.json").read_text())
    config["arguments"]["source"] = str(tmp_path / "gone.npz")
    (run.path / "config.json").write_text(json.dumps(config))
    page = show(write_report(Run(run.path)))
    assert "cannot be read as it was" in page.inner_text("#overview")
    assert "cannot be read any more" in page.inner_text("#labels")
    assert page.locator(".card").count() == 3
    assert page.locator(".card img").count() == 3
    assert page.locator(".thumb").count() == 0
    assert page.locator(".chip").count() > 0


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


def test_seventy_thousand_images_fit_in_a_page(show, tmp_path):
    rng = np.random.default_rng(0)
    n, k = 70_000, 10
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
    path = write_report(run, samples=samples)
    assert path.stat().st_size < 25e6
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


def test_runs_stand_side_by_side(show, image_run, tmp_path):
    request = image_run.config["arguments"]
    other = Request(request["source"], 5, "kmeans", reading=request["reading"])
    second = cluster(other, data.open(other.source, **other.reading), tmp_path / "<b>other")
    third = Run(shutil.copytree(image_run.path, tmp_path / "same"))
    path = tmp_path / "compare.html"
    path.write_text(comparison([image_run, second, third]), encoding="utf-8")
    page = show(path, wait="#matrix")
    cells = page.eval_on_selector_all(
        "#matrix tbody td[data-share]", "all => all.map(e => +e.innerText)"
    )
    matrix = np.array(cells).reshape(3, 3)
    assert np.allclose(np.diag(matrix), 1)
    assert matrix[0, 2] == 1
    assert np.array_equal(matrix, matrix.T)
    assert "<b>other" in page.inner_text("#overview")
    page.locator("#sankey").scroll_into_view_if_needed()
    page.wait_for_selector("#sankey .sankey-link")
    page.select_option("#to", label="same")
    page.wait_for_function("document.querySelectorAll('#sankey .sankey-link').length === 3")
