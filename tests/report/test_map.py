"""The map of the report in a real browser: what it shows, and how it moves."""

import io

import numpy as np
import pytest
from PIL import Image
from tests.report.browsing import DRAWN, shown

SPAN = "stage.width / view.scale"


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
            byId('with-pictures').checked = false;
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
    page.wait_for_function(
        f"() => !tip.hidden && tip.querySelector('.id').innerText === '{lonely}'"
    )
    assert page.locator("#tip .thumb").count() == 1
    page.mouse.move(2, 2)
    page.wait_for_selector("#tip", state="hidden")
    page.mouse.click(x, y)
    page.wait_for_selector("#chosen .id")
    assert page.inner_text("#chosen .id") == str(lonely)
    assert "true class" in page.inner_text("#chosen")
    background = page.eval_on_selector("#chosen .thumb", "e => e.style.backgroundImage")
    assert background.startswith('url("blob:')
    ring = page.wait_for_selector("#plot .ring").bounding_box()
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
    wanted = page.evaluate("i => channels(hueOf(names.root(clusterOf[i])))", lonely)

    def far_off():
        x, y = pixel_of(page, lonely)
        clip = {"x": round(x) - 1, "y": round(y) - 1, "width": 3, "height": 3}
        picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        return np.abs(np.asarray(picture).mean((0, 1)) - wanted).max()

    assert far_off() < 50  # a little of the ground shows through
    page.evaluate("i => { filter.hidden.add(names.root(clusterOf[i])); drawMap(); }", lonely)
    assert far_off() > 50


ALONE = """i => {
    byId('with-pictures').checked = false;
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
    page.wait_for_function("() => painter instanceof PlainPainter && painter.places.length === 240")
    assert "without WebGL" in page.inner_text("#map-note")
    assert page.locator("#plot canvas:not(.film)").count() == 1


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


def test_a_map_that_is_slow_shows_some_points_while_it_moves_and_all_at_rest(page):
    shares = page.evaluate(
        """async () => {
            const shares = [], paint = painter.paint.bind(painter);
            painter.paint = (view, look) => { shares.push(look.share); paint(view, look); };
            share = 0.3;
            move(5, 5);
            await new Promise(done => setTimeout(done, 1500));
            return shares;
        }"""
    )
    assert shares[0] == 0.3
    assert shares[-1] == 1


def test_a_kept_sample_leaves_the_map_as_it_was(page):
    page.evaluate("move(40, 30)")
    before = page.evaluate("[view.x, view.y, view.scale, stage.width, stage.height]")
    page.focus("#plot")
    page.keyboard.press("n")
    page.wait_for_selector("#chosen .id")
    page.wait_for_function("() => waiting === 0")
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
    page.wait_for_function(f"() => {SPAN} < {0.8 * before}")
    page.click("#whole")
    page.wait_for_function(f"() => Math.abs({SPAN} - {before}) < 0.02 * {before}")


def test_wheel_and_drag_zoom_and_move(page):
    page.evaluate("byId('map').scrollIntoView({behavior: 'instant'})")
    before = page.evaluate(SPAN)
    box = page.locator("#plot").bounding_box()
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*centre)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"() => {SPAN} < {0.95 * before}")
    page.wait_for_timeout(600)
    left = page.evaluate("view.x")
    page.mouse.down()
    page.mouse.move(centre[0] + 80, centre[1], steps=5)
    page.mouse.up()
    page.wait_for_function(f"() => view.x < {left}")
    assert page.locator("#chosen .id").count() == 0
    page.click("#whole")
    page.wait_for_function(f"() => Math.abs({SPAN} - {before}) < 1e-3 * {before}")
    page.mouse.dblclick(*centre)
    page.wait_for_function(f"() => {SPAN} < {0.6 * before}")


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
    page.wait_for_function(f"() => scrollY > {before}")
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
    page.click("#cluster-1 .show")
    assert page.evaluate("shown.length > 0 && shown.every(i => inside(toPixel(i)))")
    assert page.locator(".labels span").count() == 1


def test_an_empty_map_says_why(page):
    page.click("#none")
    page.wait_for_selector(".nothing")
    assert page.locator(".labels span").count() == 0
    page.click("#everything")
    assert shown(page) == 120
    assert page.locator(".nothing").is_hidden()


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
    page.wait_for_function(f"() => {SPAN} < {before}")
    page.keyboard.press("0")
    page.wait_for_function(f"() => Math.abs({SPAN} - {before}) < 1e-3 * {before}")
