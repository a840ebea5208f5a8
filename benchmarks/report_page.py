"""The report of 70,000 images: its size, how soon it shows, and how smoothly it moves.

    python benchmarks/report_page.py --data-dir DATA [--dataset mnist-full] [--chromium PATH]

The clusters are those of K-means; the page does not depend on the method. The overview counts as
shown when the first text is painted, the map when it is drawn. A frame is the time between two
steps of dragging, after the page has settled how many points it draws meanwhile. When the map
rests, all points are drawn; that is timed until their pixels can be read. Chromium runs without a
graphics card here, so a machine with one is faster. Needs playwright and a chromium with WebGL.
"""

import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

from common import append, machine, parser
from playwright.sync_api import sync_playwright

from infomeans.data import benchmark
from infomeans.report import write_report
from infomeans.workflows.cluster import cluster
from infomeans.workflows.request import Request

SWITCHES = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
DRAG = """async () => {
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let frame = 0; frame < 90; frame++) {
        move(frame % 2 ? 3 : 4, 1);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
    }
    return [times.slice(30).sort((a, b) => a - b)[30], share];
}"""
WHOLE = """async () => {
    const pixel = new Uint8Array(4), times = [], gl = painter.gl;
    for (let frame = 0; frame < 20; frame++) {
        const began = performance.now();
        paintMap();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        times.push(performance.now() - began);
        await new Promise(requestAnimationFrame);
    }
    return times.sort((a, b) => a - b)[10];
}"""


def main() -> None:
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--dataset", default="mnist-full")
    arguments.add_argument("--chromium", default=shutil.which("chromium"))
    options = arguments.parse_args()
    samples = benchmark(options.dataset, options.data_dir)
    k = len(set(samples.labels))
    before = machine()
    with tempfile.TemporaryDirectory() as folder:
        request = Request(options.dataset, k, "kmeans", params={"n_init": 1})
        run, estimator = cluster(request, samples, Path(folder) / "run")
        began = time.perf_counter()
        path = write_report(run, data=samples, estimator=estimator)
        row = {
            "dataset": options.dataset,
            "n": len(samples),
            "write_seconds": time.perf_counter() - began,
            "megabytes": path.stat().st_size / 1e6,
            **opened(path, options.chromium),
            "machine": before,
        }
    print(
        f"{row['n']:,} samples: {row['megabytes']:.1f} MB in {row['write_seconds']:.0f} s, "
        f"overview after {row['overview_seconds']:.1f} s, map after {row['map_seconds']:.1f} s, "
        f"frames of {row['frame_ms']:.0f} ms with {row['share_while_moving']:.0%} of the points, "
        f"all in {row['all_points_ms']:.0f} ms"
    )
    append("report_page.jsonl", row)


def opened(path: Path, chromium: str) -> dict[str, float]:
    """Seconds until overview and map are shown, medians of three; milliseconds of drawing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        views, paints = [], []
        for _ in range(3):
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            began = time.perf_counter()
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("#shown:not(:empty)")
            views.append(time.perf_counter() - began)
            page.wait_for_load_state()
            painted = "performance.getEntriesByName('first-contentful-paint')[0]"
            page.wait_for_function(f"() => {painted}")
            paints.append(page.evaluate(f"{painted}.startTime / 1000"))
            frame, share = page.evaluate(DRAG)
            whole = page.evaluate(WHOLE)
            page.close()
        browser.close()
    return {
        "overview_seconds": median(paints),
        "map_seconds": median(views),
        "frame_ms": frame,
        "share_while_moving": share,
        "all_points_ms": whole,
    }


if __name__ == "__main__":
    main()
