"""What the tests in a browser ask of a page."""

DRAWN = "#shown:not(:empty)"
"""Is there when the map has been drawn."""


def shown(page):
    """How many samples the map says it shows."""
    page.wait_for_function("() => waiting === 0")
    return int(page.inner_text("#shown").split(" of ")[0].replace(",", ""))


def merge(page, root, other):
    """Merge two clusters where all samples of one are seen."""
    page.click(f"#cluster-{root} .open")
    page.select_option("#cluster-view select.merge", value=str(other))
    page.click("#cluster-view .join")
    page.click("#cluster-view .close")
